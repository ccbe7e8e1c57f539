#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error rates of deepclock.compare() of functions: the same function twice, and a function with 3 % more work.
Prints counts of the verdicts.

  PYTHONPATH=build/python python_compare.py [TIMES]     20; 100 takes about a quarter of an hour

Exits with 1 if identical functions get a verdict once, if the slower function is reported as faster, or if
fewer than nine of ten planted differences are found.
"""

import collections
import sys

import deepclock

WORK, PLANTED = 2000, 1.03  # iterations of a Python loop, about 30 us


def looping(n):
    def loop():
        for _ in range(n):
            pass

    return loop


def verdicts(times, n):
    """Counts the verdicts on a function and one with n iterations."""
    counts = collections.Counter()
    for i in range(times):
        r = deepclock.compare({"a": looping(WORK), "b": looping(n)}, max_time=10, order_seed=i + 1,
                              no_history=True, quiet=True)
        counts[r.verdict] += 1
    return counts


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    same, planted = verdicts(times, WORK), verdicts(times, round(WORK * PLANTED))
    for name, counts in (("the same function twice", same), ("3 % more work", planted)):
        print(f"{name}, {times} times: " + ", ".join(f"{verdict} {n}" for verdict, n in counts.most_common()))
    told = same["faster"] + same["slower"]
    found = planted["slower"]
    print(f"told apart though identical: {told} of {times}; planted 3 % found: {found} of {times}")
    return 0 if not told and not planted["faster"] and 10 * found >= 9 * times else 1


if __name__ == "__main__":
    sys.exit(main())
