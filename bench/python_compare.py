#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error rates of deepclock.compare() of functions: the same function twice, and a function with 3 % more work.
Prints counts of the verdicts.

  PYTHONPATH=build/python python_compare.py [TIMES]     20; 100 takes about a quarter of an hour
"""

import collections
import sys

import rows

import deepclock

SHARE = "of the comparisons"
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


def shares(counts, *wanted):
    """Returns 1 for each of these verdicts and 0 for each other."""
    return [float(verdict in wanted) for verdict in counts.elements()]


def main():
    times = int(sys.argv[1]) if len(sys.argv) > 1 else rows.rounds(20)
    same, planted = verdicts(times, WORK), verdicts(times, round(WORK * PLANTED))
    rows.put("the same Python function twice: found different", shares(same, "faster", "slower"), SHARE, most=0,
             now=(same["faster"] + same["slower"]) / times)
    rows.put("3 % more work: found slower", shares(planted, "slower"), SHARE, least=0.9, now=planted["slower"] / times)
    rows.put("3 % more work: called faster", shares(planted, "faster"), SHARE, most=0, now=planted["faster"] / times)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
