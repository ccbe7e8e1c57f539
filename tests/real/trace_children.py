#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs of several processes, recorded by `deepclock trace`, opened by Perfetto's own engine: a C program
that forks, a shell script, Python's multiprocessing. Prints TAP.

  trace_children.py --program build/deepclock
"""

import json
import os
import subprocess
import sys

import trace_formats
from common import Skipped, arguments, expect, installed, run

PYTHON = """
import multiprocessing, sys, time
sys.path.insert(0, sys.argv[1])
import nvtx

def work(n):
    for _ in range(n):
        with nvtx.annotate("work"):
            time.sleep(0.001)

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[2])
    with nvtx.annotate("whole"):
        children = [context.Process(target=work, args=(n,)) for n in (3, 4)]
        for c in children:
            c.start()
        for c in children:
            c.join()
"""
SLICES = ("select p.pid, s.name, count(*), min(s.ts), max(s.ts + s.dur) from slice s "
          "join thread_track t on s.track_id = t.id join thread using (utid) join process p using (upid) "
          "group by 1, 2")
ERRORS = "select name, value from stats where severity = 'error' and value > 0"


def trace(program, *command):
    """Returns the record, and Perfetto's slices: for each process and name their number, start and end."""
    done = subprocess.run([program, "trace", "--save", "run.json", "--", *command], capture_output=True, text=True,
                          timeout=300)
    expect(os.path.exists("run.json"), done.stderr)
    with open("run.json", encoding="utf-8") as f:
        record = json.load(f)
    left = [n for n in os.listdir(".") if n.endswith(".pftrace")]
    expect(left == ["trace.pftrace"], left)
    slices, errors = trace_formats.ask_perfetto("trace.pftrace", SLICES, ERRORS)
    expect(not errors, errors)
    found = {}
    for pid, name, calls, begin, end in slices:
        found.setdefault(pid, {})[name] = calls, begin, end
    table = next(t for t in record["tables"] if t["name"] == "processes")
    expect({row[1] for row in table["rows"]} >= set(found), (table["rows"], found))
    return record, found


def covers(found, name, children, inner):
    """The parent's zone around its wait covers the zones of its children. Python may start helper processes."""
    parent = next(p for p in found.values() if name in p)
    _, begin, end = parent[name]
    others = [p for p in found.values() if name not in p and inner in p]
    expect(len(others) == children, found)
    for p in others:
        expect(begin <= p[inner][1] and p[inner][2] <= end, (begin, end, p))
    return parent, others


def forks(program, zones):
    record, found = trace(program, zones, "forks")
    parent, others = covers(found, "wait", 8, "step")
    expect(parent["step"][0] == 20 and all(p["step"][0] == p["forward"][0] == 1 for p in others), found)
    expect(not record.get("incomplete"), record["notes"])


def script(program, zones):
    _, found = trace(program, "sh", "-c", '"$0"; "$0" & "$0" & wait', zones)
    expect(sorted(p["step"][0] for p in found.values() if "step" in p) == [20] * 3, found)


def python(program, how):
    package = installed("nvtx")
    if subprocess.run([sys.executable, "-c", "import sys; sys.path.insert(0, sys.argv[1]); import nvtx", package],
                      capture_output=True).returncode != 0:
        raise Skipped("no nvtx for this Python: 'make test-all' fetches it")
    with open("program.py", "w", encoding="utf-8") as f:
        f.write(PYTHON)
    _, found = trace(program, sys.executable, "program.py", package, how)
    _, others = covers(found, "whole", 2, "work")
    expect(sorted(p["work"][0] for p in others) == [3, 4], found)


def main():
    args = arguments(__doc__)
    program = args.program
    zones = os.path.join(os.path.dirname(os.path.abspath(program)), "tests", "zones", "zone_program")
    run([("trace_children/forks", lambda: forks(program, zones)),
         ("trace_children/script", lambda: script(program, zones)),
         ("trace_children/multiprocessing_fork", lambda: python(program, "fork")),
         ("trace_children/multiprocessing_spawn", lambda: python(program, "spawn"))],
        args.prefixes)


if __name__ == "__main__":
    main()
