#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepclock's report on a file of torch.profiler, compared with the profiler's own table of the same run.
Prints TAP; without PyTorch all cases are skipped with the reason.

  torch_profiler.py --program build/deepclock [CASE...]

$DEEPCLOCK_TEST_TORCH is the directory of a PyTorch other than the interpreter's own.
"""

import gzip
import json
import os
import subprocess
import sys

from common import Skipped, arguments, expect, run

PROGRAM = ""


def pytorch():
    other = os.environ.get("DEEPCLOCK_TEST_TORCH")
    if other and not os.path.isdir(other):
        raise Skipped("PyTorch 2 is not there: 'make test-all' fetches it")
    if other and other not in sys.path:
        sys.path.insert(0, other)
    try:
        import torch
    except ImportError:
        raise Skipped("no PyTorch")
    return torch


def profiled(**options):
    """Returns a file of three training steps, and calls and self microseconds from the profiler's own table."""
    torch = pytorch()
    from torch import nn
    from torch.profiler import ProfilerActivity, profile

    torch.set_num_threads(1)
    model = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 30 * 30, 10))
    x = torch.randn(4, 3, 32, 32)
    model(x).sum().backward()
    with profile(activities=[ProfilerActivity.CPU], **options) as p:
        for _ in range(3):
            model(x).sum().backward()
    p.export_chrome_trace("trace.json")
    if options.get("record_shapes"):
        return "trace.json", [(e.key, e.input_shapes, e.count) for e in p.key_averages(group_by_input_shape=True)]
    return "trace.json", {e.key: (e.count, e.self_cpu_time_total) for e in p.key_averages()}


def record_of(path, *options):
    return json.loads(subprocess.run([PROGRAM, "report", path, "--format", "json", *options], check=True, capture_output=True,
                                     text=True).stdout)


def table(record, name):
    found = next((t for t in record["tables"] if t["name"] == name), None)
    return {row[0]: row[1:] for row in found["rows"]} if found else None


def misplaced(path, names):
    """Returns operators whose self time in the profiler's table differs from that by nesting. With times in whole
    microseconds a call may seem to end after its parent. The table then counts it as a child of the
    parent's parent, whose self time may even be negative."""
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    events = [e for e in (trace if isinstance(trace, list) else trace["traceEvents"])
              if e.get("ph") == "X" and e["name"] in names]
    found, stacks = set(), {}
    for e in sorted(events, key=lambda e: (e["ts"], -e["ts"] - e["dur"])):
        stack, late = stacks.setdefault((e["pid"], e["tid"]), []), False
        while stack and (e["ts"] >= stack[-1][1] or e["ts"] + e["dur"] > stack[-1][1]):
            name, end = stack.pop()
            if e["ts"] < end:
                found.add(name)
                late = True
        if late and stack:
            found.add(stack[-1][0])
        stack.append((e["name"], e["ts"] + e["dur"]))
    return found


def operators_are_those_of_the_profiler():
    path, want = profiled()
    got = table(record_of(path), "operators")
    without = misplaced(path, want)
    mine = total = 0
    for name, (calls, self_us) in want.items():
        expect(name in got, f"{name} is missing")
        # A recursive call counts once in the profiler.
        expect(got[name][0] >= calls, f"{name}: {got[name][0]} calls, the profiler says {calls}")
        if name in without:
            continue
        # Older versions write whole microseconds.
        expect(abs(got[name][1] / 1000 - self_us) <= 3 * got[name][0] + 1,
               f"{name}: {got[name][1]} ns of its own, the profiler says {self_us} us")
        total += self_us
        mine += got[name][1] / 1000
    print(f"# {len(want)} operators, {len(without)} of them with a call that seems to end after what it is in")
    expect(len(without) < len(want) / 2, f"of few operators both have the time: {without}")
    expect(abs(mine - total) <= 0.02 * total + len(want), f"all operators: {mine} us, the profiler says {total}")


def a_compressed_file_says_the_same():
    path, _ = profiled()
    with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as to:
        to.write(file.read())
    expect(table(record_of(path), "zones") == table(record_of(path + ".gz"), "zones"), "another table")


def modules_hold_their_backward_operators():
    path, _ = profiled(with_stack=True)
    record = record_of(path)
    modules = table(record, "modules")
    expect(modules is not None, "no table of modules")
    expect(set(modules) == {"Sequential_0", "Conv2d_0", "ReLU_0", "Flatten_0", "Linear_0"}, f"modules: {list(modules)}")
    for name in ("Conv2d_0", "Linear_0"):
        expect(modules[name][0] == 3 and modules[name][3] > 0, f"{name}: {modules[name]}")
    expect(modules["Sequential_0"][2] >= sum(modules[n][2] for n in modules if n != "Sequential_0"), "forward")
    tree = next(t for t in record["trees"] if t["name"] == "modules")
    expect(all(n[3] >= 0 for n in tree["nodes"]), "times of their own below zero")


def sizes(shape):
    """Formats sizes as deepclock does: a list of sizes, or of tensors."""
    if not shape:
        return "-"
    if isinstance(shape[0], (list, tuple)):
        return "[" + ", ".join(map(sizes, shape)) + "]"
    return "x".join(map(str, shape))


def operators_by_the_shapes_of_their_inputs():
    path, want = profiled(record_shapes=True)
    record = record_of(path, "--input-shapes")
    got = table(record, "operators")
    calls = {}
    for key, shapes, count in want:
        told = [sizes(s) for s in shapes]
        while told and told[-1] == "-":
            told.pop()
        name = f"{key}({', '.join(told)})" if told else key
        calls[name] = calls.get(name, 0) + count
    for name, n in calls.items():
        expect(name in got, f"{name} is missing: {sorted(got)}")
        # A recursive call counts once in the profiler.
        expect(got[name][0] >= n, f"{name}: {got[name][0]} calls, the profiler says {n}")
    expect(sum("(" in name for name in got) > 5, f"few have shapes: {sorted(got)}")


def cases():
    """Returns the cases: a file of a PyTorch without Kineto, such as Debian's 1.13, has neither modules nor shapes."""
    of_all = [operators_are_those_of_the_profiler, a_compressed_file_says_the_same]
    try:
        kineto = pytorch().autograd.kineto_available()
    except Skipped:
        kineto = False
    return of_all + ([modules_hold_their_backward_operators, operators_by_the_shapes_of_their_inputs] if kineto else [])


if __name__ == "__main__":
    args = arguments(__doc__)
    PROGRAM = args.program
    run([(f.__name__, f) for f in cases()], args.prefixes)
