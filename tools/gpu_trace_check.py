#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `deepclock trace --cuda` on an NVIDIA GPU with the times that programs measure by CUDA's events.

  gpu_trace_check.py PROGRAM native [WORK]   tests/real/cuda_work.cu, built here by nvcc if WORK does not name it
  gpu_trace_check.py PROGRAM torch           a model of PyTorch, and torch.profiler inside the recording

PROGRAM: deepclock. Prints each comparison; exit status 1: one does not hold. tools/gpu_check.sh runs it.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCE = os.path.join(HERE, "..", "tests", "real", "cuda_work.cu")
ROUNDS = 3
failed = 0

TORCH = """
import json, torch
torch.manual_seed(0)
x = torch.randn(4096, 4096, device="cuda")
model = torch.nn.Sequential(*[torch.nn.Linear(4096, 4096) for _ in range(4)]).cuda()
for _ in range(3):
    model(x)
torch.cuda.synchronize()
a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
torch.cuda.nvtx.range_push("steps")
a.record()
for _ in range(20):
    torch.cuda.nvtx.range_push("forward")
    y = model(x)
    torch.cuda.nvtx.range_pop()
b.record()
torch.cuda.synchronize()
torch.cuda.nvtx.range_pop()
print(json.dumps({"ms": a.elapsed_time(b)}))
"""

PROFILER = """
import torch
from torch.profiler import ProfilerActivity, profile
x = torch.randn(1024, 1024, device="cuda")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as p:
    for _ in range(10):
        x @ x
    torch.cuda.synchronize()
kernels = sum(e.device_type == torch.autograd.DeviceType.CUDA for e in p.events())
print("kernels in torch.profiler:", kernels)
for _ in range(10):
    x @ x
torch.cuda.synchronize()
"""


def skip(why):
    print("skipped:", why)
    sys.exit(0)


def check(text, holds):
    global failed
    failed += not holds
    print(("ok      " if holds else "FAILED  ") + text)


def near(text, value, expected, share):
    ratio = value / expected if expected else float("nan")
    check(f"{text}: {value:.6g}, expected {expected:.6g} (ratio {ratio:.4f})", abs(ratio - 1) <= share)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    if "skipped:" in done.stdout:
        skip(done.stdout.split("skipped:", 1)[1].strip())
    if done.returncode != 0:
        print(done.stdout[-2000:], done.stderr[-2000:])
        sys.exit(1)
    return done.stdout


def answer_of(output):
    return json.loads(next(line for line in output.splitlines() if line.startswith("{")))


def record_of(program, options, command, trace="trace.pftrace"):
    """Runs it under trace; returns what it printed, and its record."""
    output = run([program, "trace", *options, "--quiet", "-o", trace, "--save", "trace.json.record", "--", *command])
    with open("trace.json.record", encoding="utf-8") as f:
        return output, json.load(f)


def rows_of(record, name):
    table = next((t for t in record.get("tables", []) if t["name"] == name), None)
    if not table:
        return {}
    keys = [c["key"] for c in table["columns"]]
    return {row[0]: dict(zip(keys, row)) for row in table["rows"]}


def value(cell):
    return cell if isinstance(cell, (int, float)) else cell.get("value", 0) if isinstance(cell, dict) else 0


def facts(record):
    for f in record["facts"]:
        if "cuda" in f["key"] or f["key"] in ("dropped_events", "moved_events", "events", "recorder_cpu", "file_size"):
            print("       ", f["section"] + "/" + f["key"], f.get("value", f.get("absent")))
    for n in record["notes"]:
        print("        note", n["code"], n["text"][:300])


def fact(record, key):
    return next((f.get("value") for f in record["facts"] if f["key"] == key), None)


def arrows(program):
    """Kernels that begin before their call began, of the arrows in the file."""
    with open("chrome.json", "w", encoding="utf-8") as f:
        subprocess.run([program, "report", "trace.pftrace", "--quiet", "--format", "chrome"], stdout=f, check=True, timeout=100)
    with open("chrome.json", encoding="utf-8") as f:
        events = json.load(f)
    events = events["traceEvents"] if isinstance(events, dict) else events
    begins = {e["id"]: e["ts"] for e in events if e["ph"] == "s"}
    ends = [(e["id"], e["ts"]) for e in events if e["ph"] == "f"]
    lags = [ts - begins[i] for i, ts in ends if i in begins]
    check(f"arrows: {len(ends)}, {len(ends) - len(lags)} of them without a begin", len(ends) == len(lags) > 0)
    early = [lag for lag in lags if lag < -20]
    check(f"kernels that begin over 20 us before their call: {len(early)}, the earliest {min(lags, default=0):.1f} us, "
          f"median lag {statistics.median(lags) if lags else 0:.1f} us", not early)


def native(program, work):
    if not work:
        nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
        if not os.path.exists(nvcc):
            skip("there is no nvcc")
        work = os.path.abspath("cuda_work")
        subprocess.run([nvcc, "-O2", "-arch=native", "-o", work, SOURCE], check=True, timeout=100)
    plain = [answer_of(run([work])) for _ in range(ROUNDS)]
    traced = [answer_of(record_of(program, [], [work], "plain.pftrace")[0]) for _ in range(ROUNDS)]
    with_cuda = []
    for _ in range(ROUNDS):
        output, record = record_of(program, ["--cuda"], [work])
        with_cuda.append(answer_of(output))
    said = with_cuda[-1]
    facts(record)
    device, zones = rows_of(record, "device_zones"), rows_of(record, "zones")
    for name, row in list(device.items())[:12]:
        print("       ", name[:80], {k: value(v) for k, v in row.items() if k in ("calls", "total", "share", "bytes", "rate")})
    get = lambda rows, name, key: value(rows.get(name, {}).get(key, 0))  # noqa: E731
    for name, calls in (("spin<float>", said["long"]), ("tiny", said["tiny"]), ("node", said["nodes"]),
                        ("copy host to device", said["copies"]), ("copy device to host", said["copies"]), ("set memory", 1)):
        check(f"{name}: {get(device, name, 'calls')} of {calls} ranges", get(device, name, "calls") == calls)
    near("sum of the long kernels against events, ms", get(device, "spin<float>", "total") / 1e6, said["long_ms"], 0.05)
    near("copies to the device against events, ms", get(device, "copy host to device", "total") / 1e6, said["to_ms"], 0.1)
    near("copies to the host against events, ms", get(device, "copy device to host", "total") / 1e6, said["from_ms"], 0.1)
    near("bytes to the device", get(device, "copy host to device", "bytes"), said["bytes"] * said["copies"], 0)
    near("device time of the zone 'long'", get(zones, "long", "device"), get(device, "spin<float>", "total"), 0.001)
    near("device time of the zone 'graph'", get(zones, "graph", "device"), get(device, "node", "total"), 0.001)
    near("device time of the zone 'tiny'", get(zones, "tiny", "device"), get(device, "tiny", "total"), 0.001)
    check(f"calls named cudaLaunchKernel: {get(zones, 'cudaLaunchKernel', 'calls')}",
          get(zones, "cudaLaunchKernel", "calls") >= said["tiny"])
    check(f"lost: {fact(record, 'cuda_dropped')} records, {fact(record, 'dropped_events')} events, without a call: "
          f"{fact(record, 'cuda_without_call')}",
          fact(record, "cuda_dropped") == 0 and fact(record, "dropped_events") == 0 and fact(record, "cuda_without_call") == 0)
    arrows(program)
    median = lambda answers, key: statistics.median(a[key] for a in answers)  # noqa: E731
    for key, text in (("tiny_launch_s", "a launch"), ("tiny_s", "a small kernel")):
        us = [1e6 * median(answers, key) / said["tiny"] for answers in (plain, traced, with_cuda)]
        print(f"        {text}: {us[0]:.2f} us alone, {us[1]:.2f} us under trace ({us[1] / us[0]:.2f} times), "
              f"{us[2]:.2f} us with --cuda ({us[2] / us[0]:.2f} times)")


def torch(program):
    if subprocess.run([sys.executable, "-c", "import torch; assert torch.cuda.is_available()"], capture_output=True,
                      check=False).returncode:
        skip("PyTorch with CUDA")
    alone = answer_of(run([sys.executable, "-c", TORCH]))
    output, record = record_of(program, ["--cuda"], [sys.executable, "-c", TORCH])
    said = answer_of(output)
    facts(record)
    device, zones = rows_of(record, "device_zones"), rows_of(record, "zones")
    for name, row in list(device.items())[:8]:
        print("       ", name[:100], {k: value(v) for k, v in row.items() if k in ("calls", "total", "share")})
    steps, forward = (value(zones.get(n, {}).get("device", 0)) for n in ("steps", "forward"))
    near("device time of 'steps' against events, ms", steps / 1e6, said["ms"], 0.1)
    near("device time of 'forward' in 'steps'", forward, steps, 0.01)
    print(f"        20 steps: {alone['ms']:.2f} ms alone, {said['ms']:.2f} ms recorded")
    arrows(program)
    output, record = record_of(program, ["--cuda"], [sys.executable, "-c", PROFILER])
    print("        inside the recording,", next((x for x in output.splitlines() if x.startswith("kernels in")), "torch.profiler: none"))
    facts(record)


def main():
    program, what = os.path.abspath(sys.argv[1]), sys.argv[2]
    if what == "native":
        native(program, os.path.abspath(sys.argv[3]) if len(sys.argv) > 3 and os.path.exists(sys.argv[3]) else None)
    else:
        torch(program)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
