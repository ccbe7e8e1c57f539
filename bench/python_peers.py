#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of deepclock's timed loop on a run of a Python function, compared with bare calls from C, timeit,
pyperf and torch.utils.benchmark, in turns: nanoseconds per run of an empty function.

  PYTHONPATH=build/python:build/bench python_peers.py

"beyond two clock readings" is the CPU time of a loop iteration, which has a reading before and after the run,
minus a bare call and two readings; "in a sample" is a sample minus a bare call and one reading. Exits with 1 if
the former is 30 ns or more. Both are without the statistics between slices of runs. pyperf times in separate
processes.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import timeit

import python_pair

import deepclock

ROUNDS, MOST_NS, CALLS = 7, 30.0, 100_000
BEYOND = "deepclock beyond two clock readings"


def nothing():
    pass


def ours():
    """Returns (ns of a sample, ns of a loop iteration, ns of a clock reading)."""
    r = deepclock.bench(nothing, time="100ms", warmup=1000, group=1, no_history=True, quiet=True)
    return (r["latency/median"].value, r["cpu/time"].value,
            r.facts["method/clock_cost"].value)


def torch_timer():
    from torch.utils.benchmark import Timer

    return Timer("nothing()", globals={"nothing": nothing}).timeit(CALLS).median * 1e9


def pyperf_timeit():
    import pyperf

    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "out.json")
        subprocess.run([sys.executable, "-m", "pyperf", "timeit", "--quiet", "--processes", "1", "--values", "5",
                        "--warmups", "1", "--loops", str(CALLS), "-o", path, "-s", "def nothing(): pass",
                        "nothing()"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return pyperf.Benchmark.load(path).mean() * 1e9


def peer(rows, name, measure):
    try:
        rows.setdefault(name, []).append(measure())
    except ImportError as error:
        rows[name] = str(error)


def main():
    rows = {}
    for _ in range(ROUNDS):
        bare = 1e9 * min(python_pair.calls(nothing, 1000) for _ in range(CALLS // 1000))
        sample, run, clock = ours()
        for name, value in (("bare calls from C", bare), ("deepclock, a turn of the loop", run),
                            (BEYOND, run - bare - 2 * clock), ("deepclock beyond one reading, in a sample",
                                                               sample - bare - clock),
                            ("timeit", min(timeit.repeat(nothing, number=CALLS, repeat=5)) / CALLS * 1e9)):
            rows.setdefault(name, []).append(value)
        peer(rows, "torch.utils.benchmark", torch_timer)
        peer(rows, "pyperf timeit", pyperf_timeit)
    for name, values in rows.items():
        print(f"{name:42}" + (f" skipped: {values}" if isinstance(values, str) else
                              f"{statistics.median(values):8.1f} ns  [{min(values):.1f}, {max(values):.1f}]"))
    return 0 if statistics.median(rows[BEYOND]) < MOST_NS else 1


if __name__ == "__main__":
    sys.exit(main())
