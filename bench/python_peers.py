#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of deepclock's timed loop on a run of a Python function, compared with bare calls from C, timeit,
pyperf and torch.utils.benchmark, in turns: nanoseconds per run of an empty function.

  PYTHONPATH=build/python:build/bench python_peers.py

"beyond two clock readings" is the CPU time of a loop iteration, which has a reading before and after the run, minus a
bare call and two readings, without the statistics between slices of runs. pyperf times in separate processes.
"""

import os
import subprocess
import sys
import tempfile
import timeit

import python_pair
import rows

import deepclock

ROUNDS, CALLS = 21, 100_000
MOST_NS, MOST_TIMEIT = 30.0, 1.05


def nothing():
    pass


def ours(**options):
    """Returns (ns of a run, CPU ns of a loop iteration, ns of a clock reading)."""
    r = deepclock.bench(nothing, time="100ms", warmup=1000, no_history=True, quiet=True, **options)
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


def by_timeit():
    return min(timeit.repeat(nothing, number=CALLS, repeat=5)) / CALLS * 1e9


PEERS = {"torch.utils.benchmark": torch_timer, "pyperf timeit": pyperf_timeit}


def main():
    took, missing = {}, {}
    for _ in range(rows.rounds(ROUNDS)):
        bare = 1e9 * min(python_pair.calls(nothing, 1000) for _ in range(CALLS // 1000))
        sample, run, clock = ours(group=1)
        grouped = ours()[0]
        base = by_timeit()
        now = {"grouped": grouped / base, "sample": sample / base, "beyond": run - bare - 2 * clock,
               "bare calls from C": bare / base}
        for name, measure in PEERS.items():
            if name not in missing:
                try:
                    now[name] = measure() / base
                except ImportError as error:
                    missing[name] = f"pip install {error.name}"
        for name, value in now.items():
            took.setdefault(name, []).append(value)
    work, unit = "an empty Python function", "times timeit's time"
    rows.put("the timed loop of a Python function", took.pop("beyond"), "ns beyond two clock readings", most=MOST_NS)
    rows.put(work, took.pop("grouped"), unit, most=MOST_TIMEIT)
    one = took.pop("sample")
    for name, values in took.items():
        rows.put(work, values, unit, peer=name)
    for name, bring in missing.items():
        rows.absent(work, name, bring)
    # Each sample is of one run, and contains a clock reading.
    rows.put(f"{work}, group=1", one, unit)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
