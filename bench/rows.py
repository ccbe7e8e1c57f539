# SPDX-License-Identifier: Apache-2.0
"""Rows of the table of `make bench`, as rows.h for C: one for each work and way, with the value of every round.

    rows.put("malloc and free in a loop", ratios, "times the program alone", most=2.5)
    rows.put("malloc and free in a loop", theirs, "times the program alone", peer="heaptrack")
    rows.absent("malloc and free in a loop", "heaptrack", "apt-get install heaptrack")
    sys.exit(rows.status())

DEEPCLOCK_BENCH_ROWS: the file that rows are appended to, as lines of JSON, for table.py. DEEPCLOCK_BENCH_QUICK: a run
of few rounds, in which no limit counts.
"""

import json
import os
import statistics

QUICK = "DEEPCLOCK_BENCH_QUICK" in os.environ
QUICK_ROUNDS, MISSED = 2, 3
_missed = []


def rounds(n):
    """Returns n, or a few in a quick run."""
    return min(n, QUICK_ROUNDS) if QUICK else n


def value_of(row):
    """Returns the value of a row that has rounds: the median, unless the row has another."""
    return row["now"] if "now" in row else statistics.median(row["values"])


def held(row):
    """Returns whether a row is within its limits; None: it has none, or no value."""
    if not row["values"] or not ("most" in row or "least" in row):
        return None
    return row.get("least", float("-inf")) <= value_of(row) <= row.get("most", float("inf"))


def _append(row):
    if os.environ.get("DEEPCLOCK_BENCH_ROWS"):
        with open(os.environ["DEEPCLOCK_BENCH_ROWS"], "a", encoding="utf-8") as f:
            f.write(json.dumps(row) + "\n")


def put(work, values, unit, peer=None, most=None, least=None, now=None):
    """Prints a row as a line, and appends it to the file."""
    more = {"peer": peer, "most": most, "least": least, "now": now}
    row = {"work": work, "unit": unit, "values": list(values), **{k: v for k, v in more.items() if v is not None}}
    _append(row)
    _missed.append(held(row) is False)
    print(f"  {work}{', ' + peer if peer else ''}: {value_of(row):.4g} ({min(values):.4g} to {max(values):.4g}) "
          f"{unit}{': MISSED' if _missed[-1] else ''}", flush=True)


def absent(work, peer, bring):
    """A peer that is not installed, and the command that installs it."""
    _append({"work": work, "unit": "", "values": [], "peer": peer, "absent": bring})
    print(f"  {work}, {peer}: absent: {bring}", flush=True)


def status():
    """Returns the exit status: 3 if a row missed its limit, 0 otherwise and in a quick run."""
    return MISSED if any(_missed) and not QUICK else 0
