#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that are annotated with ITT are recorded unchanged, by ITT's own code: a Python program with
the package ittapi, and PyTorch, whose oneDNN is annotated. Prints TAP.

  itt_python.py --program build/deepclock
"""

import json
import os
import subprocess
import sys

from common import Skipped, arguments, expect, installed, need_torch, run, skip_all

PROGRAM = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
import ittapi

@ittapi.task("work", domain="mine")
def work():
    with ittapi.task("inner", domain="mine"):
        time.sleep(0.0001)

def steps(number):
    ittapi.thread_set_name(f"worker {number}")
    for i in range(50):
        with ittapi.task("step", domain="other"):
            work()

threads = [threading.Thread(target=steps, args=(i,)) for i in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
first = ittapi.overlapped_task("first", domain="mine")
second = ittapi.overlapped_task("second", domain="mine")
for i in range(3):
    first.begin()
    time.sleep(0.001)
    second.begin()
    time.sleep(0.001)
    first.end()
    time.sleep(0.001)
    second.end()
with ittapi.event("event"):
    time.sleep(0.001)
"""

TORCH = """
import torch
m = torch.nn.Conv2d(64, 64, 3, padding=1).eval()
x = torch.randn(4, 64, 28, 28)
with torch.no_grad():
    for i in range(20):
        m(x)
"""


def number(cell):
    return cell.get("value") if isinstance(cell, dict) else cell


def rows_of(program, file):
    text = subprocess.run([program, "report", file, "--format", "json"],
                          capture_output=True, text=True, check=True).stdout
    table = next(t for t in json.loads(text)["tables"] if t["name"] == "zones")
    keys = [c["key"] for c in table["columns"]]
    return {r[0]: dict(zip(keys, map(number, r))) for r in table["rows"]}


def by_environment(program, command):
    library = os.path.join(os.path.dirname(program), "libdeepclock.so")
    return subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "INTEL_LIBITTNOTIFY64": library,
                               "DEEPCLOCK_TRACE": "out.pftrace"})


def by_trace(program, command):
    return subprocess.run([program, "trace", "--no-waits", "-o", "out.pftrace", "--", *command],
                          capture_output=True, text=True)


def recorded(program, package, how):
    with open("program.py", "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    done = how(program, [sys.executable, "program.py", package])
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    rows = rows_of(program, "out.pftrace")
    calls = {name: r["calls"] for name, r in rows.items()}
    expect(calls == {"other:step": 150, "mine:work": 150, "mine:inner": 150, "mine:first": 3,
                     "mine:second": 3, "event": 1}, calls)
    expect(rows["mine:inner"]["min"] >= 100000, rows)
    expect(rows["other:step"]["total"] >= rows["mine:work"]["total"], rows)
    expect(rows["other:step"]["self"] < rows["other:step"]["total"], rows)
    expect(rows["mine:first"]["min"] >= 2000000 and rows["mine:second"]["min"] >= 2000000, rows)
    with open("out.pftrace", "rb") as f:
        trace = f.read()
    for i in range(3):
        expect(f"worker {i}".encode() in trace, f"no thread 'worker {i}'")


def of_onednn(program):
    torch, _ = need_torch()
    if not torch.backends.mkldnn.is_available():
        raise Skipped("PyTorch is built without oneDNN")
    with open("torch_program.py", "w", encoding="utf-8") as f:
        f.write(TORCH)
    done = by_trace(program, [sys.executable, "torch_program.py"])
    if done.returncode != 0 and "recorded nothing" in done.stderr:
        raise Skipped("this PyTorch's oneDNN is built without ITT")
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    rows = rows_of(program, "out.pftrace")
    expect(rows["dnnl::primitive::execute:convolution"]["calls"] == 20, rows)


def main():
    args = arguments(__doc__)
    package = installed("ittapi")
    if not os.path.isdir(os.path.join(package, "ittapi")):
        skip_all("there is no package ittapi", "it")
    if subprocess.run([sys.executable, "-c",
                       "import sys; sys.path.insert(0, sys.argv[1]); import ittapi", package],
                      capture_output=True).returncode != 0:
        skip_all("the package ittapi does not work with this Python", "it")
    run([("ranges of Python threads", lambda: recorded(args.program, package, by_environment)),
         ("the same by 'deepclock trace'", lambda: recorded(args.program, package, by_trace)),
         ("oneDNN inside PyTorch", lambda: of_onednn(args.program))], args.prefixes)


if __name__ == "__main__":
    main()
