#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Coverage of the interval from k starts with unequal numbers of runs: one value per start, as in deepclock,
compared with weights by the error within each (Paule and Mandel; Hartung and Knapp). Needs NumPy.

  starts.py [HISTORIES]     20000; the tables of docs/reference/validation.md

The second table has the median start, by order statistics as in deepclock and by Student's t.
"""

import math
import sys

import numpy

T = {2: 12.7062, 3: 4.30265, 5: 2.77645, 6: 2.57058, 10: 2.26216, 25: 2.06390, 30: 2.04523}  # Student's t, 97.5 %, k - 1
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


# Levels of starts with median 0; at: from 0 to 1 over the starts of a history.
MODELS = {
    "normal": lambda shape, at: rng.standard_normal(shape),
    "heavy tails (t, 2 degrees of freedom)": lambda shape, at: rng.standard_t(2, shape),
    "two modes, 30 % far above": lambda shape, at: rng.random(shape) + numpy.where(rng.random(shape) < 0.3, 20, -0.5 / 0.7),
    "drift over the starts, 4 standard deviations": lambda shape, at: 4 * (at - 0.5) + rng.standard_normal(shape),
    "1 of 30 takes twice as long": lambda shape, at: numpy.where(rng.random(shape) < 1 / 30, 100,
                                                                 rng.standard_normal(shape)) - 0.0432,
}
def ranks(k):
    """The rank of the sign test's interval at 95 %, and its level."""
    below = numpy.cumsum([math.comb(k, i) for i in range(k + 1)]) / 2 ** k
    r = max(1, int((below <= 0.025).sum()))
    return r, 1 - 2 * below[r - 1]


def median_covered(model, k, histories):
    y = numpy.sort(MODELS[model]((histories, k), (numpy.arange(k) + 0.5) / k), axis=1)
    r, level = ranks(k)
    order = (y[:, r - 1] <= 0) & (0 <= y[:, k - r])
    half = T[k] * y.std(axis=1, ddof=1) / numpy.sqrt(k)
    return level, order.mean(), (abs(y.mean(1)) <= half).mean()


def main():
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    print("| starts | spread | once | weighted | width, weighted over once |\n|---|---|---|---|---|")
    for k in 2, 3, 5, 10, 25:
        for spread in (0, 1, 3):
            once, weighted, width = covered(k, spread, histories)
            print(f"| {k} | {spread} | {100 * once:.1f} | {100 * weighted:.1f} | {width:.2f} |")
    print("\n| levels of starts | starts | level | order statistics | Student's t, 95 % |\n|---|---|---|---|---|")
    for model in MODELS:
        for k in 5, 6, 10, 30:
            level, order, student = median_covered(model, k, histories)
            print(f"| {model} | {k} | {100 * level:.1f} | {100 * order:.1f} | {100 * student:.1f} |")


if __name__ == "__main__":
    main()
