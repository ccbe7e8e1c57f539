#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What deepclock's timed loop adds to a run of a Python function, beside timeit and torch.utils.benchmark,
in one process and in turns: nanoseconds per run of a function that does nothing.

"beyond clocks" is what a run alone between two clock readings takes longer than one of 10,000 between
them, less one reading: below 30 ns, or this exits with 1.
"""

import statistics
import sys
import timeit

import deepclock

ROUNDS, MOST_NS = 7, 30.0


def nothing():
    pass


def ours(group):
    r = deepclock.bench(nothing, time="50ms", warmup=1000, group=group, no_history=True, quiet=True)
    return r["latency/min"].value, r.facts["method/clock_cost"].value


def torch_timer():
    from torch.utils.benchmark import Timer
    return Timer("nothing()", globals={"nothing": nothing}).timeit(100_000).median * 1e9


def main():
    rows = {"deepclock, 10,000 runs between readings": [], "deepclock, each run between readings": [],
            "beyond clocks": [], "timeit": []}
    torch = []
    for _ in range(ROUNDS):
        many, one = ours(10_000), ours(1)
        for row, value in zip(rows.values(), (many[0], one[0], one[0] - many[0] - one[1],
                                              min(timeit.repeat(nothing, number=10_000, repeat=10)) * 1e5)):
            row.append(value)
        try:
            torch.append(torch_timer())
        except ImportError:
            pass
    for name, values in (*rows.items(), ("torch.utils.benchmark", torch)):
        print(f"{name:42}" + (f"{statistics.median(values):8.1f} ns  [{min(values):.1f}, {max(values):.1f}]"
                              if values else " skipped: it is not installed"))
    return 0 if statistics.median(rows["beyond clocks"]) < MOST_NS else 1


if __name__ == "__main__":
    sys.exit(main())
