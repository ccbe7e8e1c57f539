#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Alarms of 'deepclock history trend' compared with other change-point detectors on the same simulated series
(tests/accuracy/changes.c), each tested on each of 90 days: rate of false alarms, and of steps detected in time.

  python3 -m venv V; V/bin/pip install ruptures; V/bin/pip install apache-otava
  V/bin/python bench/trend_peers.py [--series build/tests/accuracy/accuracy_changes] [--times 100]

PELT: least squares, segments of 3 or more, penalty 3 log(n) times the variance (ruptures). Hunter: defaults,
p <= 0.001 (apache-otava, formerly Hunter). E-divisive: Hunter's former method, 100 permutations, p <= 0.05.
"""

import argparse
import math
import statistics
import subprocess
import sys

import numpy
import ruptures
from otava.analysis import compute_change_points, compute_change_points_orig


def pelt(x):
    middle = statistics.median(x)
    spread = 1.4826 * statistics.median(abs(v - middle) for v in x)
    search = ruptures.Pelt(model="l2", min_size=3, jump=1)
    return len(search.fit_predict(numpy.array(x), pen=3 * math.log(len(x)) * spread**2)) > 1


def hunter(x):
    return bool(compute_change_points(x)[0])


def divisive(x):
    return bool(compute_change_points_orig(x, max_pvalue=0.05)[0])


PEERS = {"PELT": pelt, "Hunter": hunter, "E-divisive": divisive}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--series", default="build/tests/accuracy/accuracy_changes")
    p.add_argument("--times", type=int, default=100)
    p.add_argument("--peers", nargs="*", default=list(PEERS), choices=PEERS)
    a = p.parse_args()
    made = subprocess.run([a.series, "--series", str(a.times)], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {}
    for line in made.splitlines():
        name, at, within, alarm, *values = line.split(";")
        at, within, x = int(at), int(within), [float(v) for v in values]
        days = range(at + 1, at + within + 1) if at else range(8, len(x) + 1)
        of = found.setdefault(name + (f", within {within}" if at else ", false in 90 days"), {})
        of.setdefault("deepclock", []).append(alarm != "0")
        for peer in a.peers:
            of.setdefault(peer, []).append(any(PEERS[peer](x[:n]) for n in days))
    print(f"| of {a.times} series each | deepclock | {' | '.join(a.peers)} |\n|---|---|{'---|' * len(a.peers)}")
    for name, of in found.items():
        print(f"| {name} | {' | '.join(f'{100 * sum(alarms) / len(alarms):.0f} %' for alarms in of.values())} |")


if __name__ == "__main__":
    sys.exit(main())
