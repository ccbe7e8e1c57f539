#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of `deepclock report`, relative to the trace that it reads: of traces as programs write them, and of traces
in which each event has its own thread, process, name or counter, of which the page draws each. Prints TAP.

  report_memory.py --program build/deepclock [CASE...]
"""

import itertools
import json
import os
import subprocess
import sys

import common

FILE_BYTES = 6 << 20
MOST, MOST_DRAWN = 10, 14
# A process begins with the resident memory of the one that it was forked from, so a small one starts the program.
LAUNCHER = """
import os, resource, sys
pid = os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ)
status = os.waitpid(pid, 0)[1]
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024)
sys.exit(status != 0)
"""


def complete(i, **more):
    return {"ph": "X", "pid": 1, "tid": 1, "name": f"f{i % 50}", "ts": i * 10, "dur": 5, **more}


def operator(i):
    return complete(i, cat="cpu_op", name=f"aten::op{i % 60}",
                    args={"External id": i, "Sequence number": i, "Input Dims": [[i % 64, 3, 224, 224]]})


def kernel(i):
    return complete(i, cat="kernel" if i % 2 else "cuda_runtime", pid=i % 2, name=f"kernel{i % 200}", args={"External id": i})


EVENTS = {
    "ranges of a few threads": (MOST, lambda i: complete(i, tid=i % 8)),
    "operators": (MOST, operator),
    "kernels": (MOST, kernel),
    "nested ranges": (MOST, lambda i: {"ph": "X", "pid": 1, "tid": 1, "name": f"n{i % 100}", "ts": i, "dur": 10**9 - 2 * i}),
    "begins without ends": (MOST, lambda i: {"ph": "B", "pid": 1, "tid": i % 64, "name": f"n{i % 7}", "ts": i}),
    "marks of one name each": (MOST_DRAWN, lambda i: {"ph": "i", "pid": 1, "tid": 1, "name": f"mark {i}", "ts": i, "s": "t"}),
    "a thread for each": (MOST_DRAWN, lambda i: complete(i, tid=i)),
    "a process for each": (MOST_DRAWN, lambda i: complete(i, pid=i)),
    "an operator's thread for each": (MOST_DRAWN, lambda i: {**operator(i), "tid": i}),
    "a name for each": (MOST_DRAWN, lambda i: complete(i, name=f"function number {i}")),
    "a counter for each": (MOST_DRAWN, lambda i: {"ph": "C", "pid": 1, "name": f"c{i}", "ts": i, "args": {"v": i}}),
}


def trace(path, event):
    """Writes a trace of about FILE_BYTES; returns its size."""
    lines, size = [], 0
    for i in itertools.count():
        lines.append(json.dumps(event(i)))
        size += len(lines[-1])
        if size > FILE_BYTES:
            break
    with open(path, "w", encoding="utf-8") as f:
        f.write('{"traceEvents": [\n' + ",\n".join(lines) + "\n]}\n")
    return os.path.getsize(path)


def peak(program, path, form):
    done = subprocess.run([sys.executable, "-S", "-c", LAUNCHER, program, "report", "--format", form, "--out", "out." + form, path],
                          capture_output=True, text=True, check=False)
    common.expect(done.returncode == 0, done.stderr)
    return int(done.stdout)


def case(program, drawn, event):
    def of_a_trace():
        with open("none.json", "w", encoding="utf-8") as f:
            f.write('{"traceEvents": []}')
        size = trace("trace.json", event)
        for form, most in (("json", MOST), ("html", drawn)):
            times = (peak(program, "trace.json", form) - peak(program, "none.json", form)) / size
            print(f"# {form}: {times:.1f} times the file")
            common.expect(times <= most, f"{form}: {times:.1f} times the file, at most {most}")
    return of_a_trace


if __name__ == "__main__":
    args = common.arguments(__doc__)
    common.run([(name, case(args.program, drawn, event)) for name, (drawn, event) in EVENTS.items()], args.prefixes)
