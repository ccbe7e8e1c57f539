#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Python program that is annotated with the package nvtx is recorded unchanged, through the library
that NVTX loads: every range with its domain, its calls and its time. Prints TAP.

  nvtx_python.py --program build/deepclock
"""

import json
import os
import subprocess
import sys

from common import arguments, expect, installed, run, skip_all

PROGRAM = """
import sys, threading, time
sys.path.insert(0, sys.argv[1])
import nvtx

@nvtx.annotate("work", color="blue", domain="mine")
def work(n):
    with nvtx.annotate("inner", payload=n):
        time.sleep(0.0001)

def steps():
    for i in range(50):
        with nvtx.annotate("step"):
            work(i)
        nvtx.mark("done")

threads = [threading.Thread(target=steps) for _ in range(3)]
for t in threads:
    t.start()
for t in threads:
    t.join()
for i in range(3):
    nvtx.push_range("first", domain="one", category="crossing")
    time.sleep(0.001)
    nvtx.push_range("second", domain="two")
    time.sleep(0.001)
    nvtx.pop_range(domain="one")
    time.sleep(0.001)
    nvtx.pop_range(domain="two")
r = nvtx.start_range("apart")
time.sleep(0.01)
nvtx.end_range(r)
"""


def by_environment(program, command):
    library = os.path.join(os.path.dirname(program), "libdeepclock.so")
    return subprocess.run(command, capture_output=True, text=True,
                          env={**os.environ, "NVTX_INJECTION64_PATH": library,
                               "DEEPCLOCK_TRACE": "out.pftrace"})


def by_trace(program, command):
    return subprocess.run([program, "trace", "--no-waits", "-o", "out.pftrace", "--", *command],
                          capture_output=True, text=True)


def number(cell):
    return cell["value"] if isinstance(cell, dict) else cell


def zones_of(program, package, how):
    with open("program.py", "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    done = how(program, [sys.executable, "program.py", package])
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    text = subprocess.run([program, "report", "out.pftrace", "--format", "json"],
                          capture_output=True, text=True, check=True).stdout
    table = next(t for t in json.loads(text)["tables"] if t["name"] == "zones")
    keys = [c["key"] for c in table["columns"]]
    rows = {r[0]: dict(zip(keys, r)) for r in table["rows"]}
    return rows, {name: number(r["calls"]) for name, r in rows.items()}


def captured(program, package, name, want, absent):
    def how(program, command):
        return subprocess.run([program, "trace", "--no-waits", "-o", "out.pftrace", "--capture-range", name,
                               "--", *command], capture_output=True, text=True)

    _, calls = zones_of(program, package, how)
    expect(all(calls.get(k) == n for k, n in want.items()), calls)
    expect(not absent & set(calls), calls)


def recorded(program, package, how):
    rows, calls = zones_of(program, package, how)
    expect(calls == {"step": 150, "mine:work": 150, "inner": 150, "apart": 1, "one:first": 3,
                     "two:second": 3}, calls)
    for name in ("one:first", "two:second"):
        expect(number(rows[name]["min"]) >= 2000000, rows[name])
    with open("out.pftrace", "rb") as f:
        expect(b"crossing" in f.read(), "no category")
    expect(number(rows["inner"]["min"]) >= 100000, rows["inner"])
    expect(number(rows["step"]["total"]) >= number(rows["mine:work"]["total"]), rows)
    expect(number(rows["apart"]["total"]) >= 10000000, rows["apart"])


def main():
    args = arguments(__doc__)
    package = installed("nvtx")
    if not os.path.isdir(os.path.join(package, "nvtx")):
        skip_all("there is no package nvtx", "it")
    if subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import nvtx",
                       package], capture_output=True).returncode != 0:
        skip_all("the package nvtx does not work with this Python", "it")
    run([("ranges of Python threads", lambda: recorded(args.program, package, by_environment)),
         ("the same by 'deepclock trace'", lambda: recorded(args.program, package, by_trace)),
         ("only while a range of a domain is open, on any of three threads",
          lambda: captured(args.program, package, "work@mine", {"mine:work": 150, "inner": 150},
                           {"one:first", "two:second", "apart"})),
         ("only while a range is open that crosses another domain's",
          lambda: captured(args.program, package, "two:second", {"two:second": 3},
                           {"one:first", "mine:work", "apart", "step"})),
         ("only while a range is open that any thread may end",
          lambda: captured(args.program, package, "apart", {"apart": 1},
                           {"one:first", "mine:work", "step"}))],
        args.prefixes)


if __name__ == "__main__":
    main()
