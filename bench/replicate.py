#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage of intervals on this machine: models are measured in windows of one process and in many starts, and
intervals of the same quantity are compared:

  windows  the medians of two windows, one after the other, agree when they differ by no more than the root
           of the sum of their half widths' squares: with correct coverage, 95 % do
  starts   any 5 starts against the mean of the others: their interval (of their mean, by Student's t)
           covers it in 95 %, less the effect of that mean's own uncertainty

  PYTHONPATH=build/python bench/replicate.py [--program build/deepclock] [--time 60s] [--starts 30]
                                             [--start-time 1s] [MODEL...]
"""

import argparse
import itertools
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import time

import deepclock

SIZES = 300, 1000, 3000
SUBSETS = 2000
MODELS = "zoo:simplenet", "zoo:mobilenet_v2 --image-size 64", "zoo:squeezenet1_1 --image-size 64"


def measured(program, model, duration, folder):
    """Returns the latencies after the warm-up, in ns, and the record."""
    path = os.path.join(folder, "record.json")
    subprocess.run([program, "bench", *model.split(), "--time", duration, "--save", path, "--no-history", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    record = deepclock.load(path)
    s = record.series["latency"]
    return list(s.values)[s.warmup:], record


def agree(a, b):
    low, high = sorted((a, b), key=lambda e: e.value)
    return high.value - low.value <= math.hypot(high.value - high.lo, low.hi - low.value)


def share(found):
    return f"{100 * sum(found) / len(found):.0f} % of {len(found)}" if found else "-"


def windows(values, n):
    """Agreement of adjacent windows, of all and of the unmarked; share of marked windows."""
    all_of = [deepclock.estimate(values[i:i + n]) for i in range(0, len(values) - n + 1, n)]
    pairs = [p for p in itertools.pairwise(all_of) if all(e.lo is not None for e in p)]
    return ([agree(*p) for p in pairs], [agree(*p) for p in pairs if not any(e.narrow for e in p)],
            [bool(e.narrow) for e in all_of])


def starts(records, seed):
    """How often the interval of 5 starts, and that of a single start, covers the mean of the others."""
    of = random.Random(seed)
    medians = [float(r["latency/median"]) for r in records]
    five, one = [], []
    for _ in range(SUBSETS if len(medians) > 5 else 0):
        chosen = set(of.sample(range(len(medians)), 5))
        rest = [m for i, m in enumerate(medians) if i not in chosen]
        e = deepclock.estimate([medians[i] for i in chosen], "mean")
        five.append(e.lo <= sum(rest) / len(rest) <= e.hi)
    for i, r in enumerate(records):
        m = r["latency/median"]
        rest = sum(medians[:i] + medians[i + 1:]) / (len(medians) - 1)
        one.append(m.lo is not None and m.lo <= rest <= m.hi)
    return five, one, (max(medians) - min(medians)) / (sum(medians) / len(medians))


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--program", default="build/deepclock")
    p.add_argument("--time", default="60s", help="of the process that is cut in windows")
    p.add_argument("--starts", type=int, default=30)
    p.add_argument("--start-time", default="1s")
    p.add_argument("--save", help="what came of it, as JSON")
    p.add_argument("model", nargs="*", default=MODELS)
    a = p.parse_args()
    told = []
    print("| model | windows of | neighbours agree | of those not marked | marked | 5 starts hold the rest's mean "
          "| one start does | starts differ by |\n|---|---|---|---|---|---|---|---|", flush=True)
    sums = {}
    with tempfile.TemporaryDirectory() as folder:
        for model in a.model:
            values, record = measured(a.program, model, a.time, folder)
            records = [measured(a.program, model, a.start_time, folder)[1] for _ in range(a.starts)]
            five, one, spread = starts(records, len(told))
            for n in SIZES:
                every, plain, marked = windows(values, n)
                first = n == SIZES[0]
                print(f"| {model} | {n} | {share(every)} | {share(plain)} | {share(marked)} | "
                      + (f"{share(five)} | {share(one)} | {100 * spread:.1f} %" if first else " | | ") + " |", flush=True)
                for key, found in ("every", every), ("plain", plain), ("marked", marked):
                    sums.setdefault(key, []).extend(found)
            sums.setdefault("five", []).extend(five)
            sums.setdefault("one", []).extend(one)
            told.append({"model": model, "medians": [float(r["latency/median"]) for r in records],
                         "cpu": record.facts["host/cpu"].value})
        print(f"| all | | {share(sums['every'])} | {share(sums['plain'])} | {share(sums['marked'])} | {share(sums['five'])} "
              f"| {share(sums['one'])} | |")
    print(f"\n{time.strftime('%Y-%m-%d', time.gmtime())}, {record.facts['host/cpu'].value}, "
          f"{record.facts['host/cpus_online'].value} processors, {record.facts['host/hypervisor'].value or 'no hypervisor'}")
    if a.save:
        with open(a.save, "w") as f:
            json.dump(told, f)


if __name__ == "__main__":
    sys.exit(main())
