#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage of the interval from k starts with unequal numbers of runs: one value per start, as in deepclock,
compared with weights by the error within each (Paule and Mandel; Hartung and Knapp). Needs NumPy.

  starts.py [HISTORIES]     20000; the table of docs/reference/validation.md
"""

import sys

import numpy

T = {2: 12.7062, 3: 4.30265, 5: 2.77645, 10: 2.26216, 25: 2.06390}  # Student's t, 97.5 %, k - 1
rng = numpy.random.default_rng(1)


def between(y, v):
    """Returns Paule and Mandel's variance between starts, by bisection."""
    lo, hi = numpy.zeros(len(y)), y.var(axis=1, ddof=1) * 10 + 1e-9

    def excess(var):
        w = 1 / (v + var[:, None])
        mean = (w * y).sum(1) / w.sum(1)
        return (w * (y - mean[:, None]) ** 2).sum(1) > y.shape[1] - 1

    none = ~excess(lo)
    for _ in range(60):
        mid = (lo + hi) / 2
        more = excess(mid)
        lo, hi = numpy.where(more, mid, lo), numpy.where(more, hi, mid)
    return numpy.where(none, 0, (lo + hi) / 2)


def covered(k, spread, histories):
    """Coverage of 0 by unweighted and by weighted intervals; ratio of the weighted widths to the unweighted."""
    n = numpy.exp(rng.uniform(numpy.log(50), numpy.log(2000), (histories, k)))
    within = numpy.sqrt(300 / n)
    y = spread * rng.standard_normal((histories, k)) + within * rng.standard_normal((histories, k))
    v = within ** 2 * rng.chisquare(20, (histories, k)) / 20  # estimated with 20 degrees of freedom
    limit = T[k]
    once = limit * y.std(axis=1, ddof=1) / numpy.sqrt(k)
    w = 1 / (v + between(y, v)[:, None])
    mean = (w * y).sum(1) / w.sum(1)
    weighted = limit * numpy.sqrt((w * (y - mean[:, None]) ** 2).sum(1) / (k - 1) / w.sum(1))
    return (abs(y.mean(1)) <= once).mean(), (abs(mean) <= weighted).mean(), numpy.median(weighted) / numpy.median(once)


def main():
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    print("| starts | spread | once | weighted | width, weighted over once |\n|---|---|---|---|---|")
    for k in T:
        for spread in (0, 1, 3):
            once, weighted, width = covered(k, spread, histories)
            print(f"| {k} | {spread} | {100 * once:.1f} | {100 * weighted:.1f} | {width:.2f} |")


if __name__ == "__main__":
    main()
