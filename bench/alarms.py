#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Error rates of 'deepclock compare' on this machine: comparisons of identical code, and of work that is
slower by a known share, in random order.

  alarms.py --program build/deepclock --plugin build/plugins/example/example.so
            [--aa 200] [--planted 100] [--slower 2 5] [--max-time 4s] [--subject zoo:simplenet]

Identical code: SUBJECT against itself, and the plug-in's dense layer against itself, half each. Planted:
the dense layer with that many per cent more rows, and so more arithmetic. Shares are printed with their
exact 95 % interval (Clopper and Pearson). Fails if the rate of false alarms is significantly above 5 %,
or if less than 95 % of the slowdowns of 5 % and more are found.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time

ROWS = 200


def compare(program, words, seed, max_time):
    run = subprocess.run([program, "compare", *words, "--order-seed", str(seed), "--max-time", max_time,
                          "--format", "json", "--quiet"], stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 3, 4):
        sys.exit(f"alarms: {' '.join(words)} ended with exit status {run.returncode}")
    record = json.loads(run.stdout)
    facts = {(f["section"], f["key"]): f.get("value") for f in record["facts"]}
    ratio = next(m for m in record["metrics"] if m["tag"] == "compare/ratio")
    return facts["compare", "verdict"], run.returncode, ratio, facts["method", "rounds"]


def beta_below(x, k, n):
    """P(B >= k) of a binomial B with n trials and probability x."""
    total, term = 0.0, (1 - x) ** n
    for i in range(n + 1):
        total += term if i >= k else 0
        term *= (n - i) / (i + 1) * x / (1 - x) if x < 1 else 0
    return total


def solve(f, target):
    lo, hi = 0.0, 1.0
    for _ in range(60):
        mid = (lo + hi) / 2
        lo, hi = (mid, hi) if f(mid) < target else (lo, mid)
    return lo


def share(k, n):
    low = 0.0 if k == 0 else solve(lambda x: beta_below(x, k, n), 0.025)
    high = 1.0 if k == n else solve(lambda x: beta_below(x, k + 1, n), 0.975)
    return low, high, f"{k} of {n} ({100 * k / n:.1f} %, 95 % interval {100 * low:.1f} to {100 * high:.1f} %)"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--aa", type=int, default=200)
    parser.add_argument("--planted", type=int, default=100)
    parser.add_argument("--slower", type=float, nargs="*", default=[2, 5], metavar="PERCENT")
    parser.add_argument("--max-time", default="4s")
    parser.add_argument("--subject", default="zoo:simplenet")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    program = os.path.abspath(args.program)
    dense = ["plugin:" + os.path.abspath(args.plugin), "--engine-option", "size=64"]

    jobs = [("identical", [args.subject, args.subject])] * (args.aa // 2)
    jobs += [("identical", [dense[0], dense[0], *dense[1:], "--dim", f"N={ROWS}"])] * (args.aa - args.aa // 2)
    for percent in args.slower:
        rows = round(ROWS * (1 + percent / 100))
        jobs += [(f"{100 * rows / ROWS - 100:g} % slower",
                  [*dense, "--vary", f"dim=N={ROWS},N={rows}"])] * args.planted
    random.Random(args.seed).shuffle(jobs)

    results, begin = {}, time.monotonic()
    for seed, (kind, words) in enumerate(jobs, 1):
        verdict, code, ratio, rounds = compare(program, words, seed, args.max_time)
        results.setdefault(kind, []).append((verdict, code, ratio, rounds))
        took = time.monotonic() - begin
        if sys.stderr.isatty():
            print(f"\r{seed} of {len(jobs)}, {took * (len(jobs) - seed) / seed / 60:.0f} min left ", end="",
                  file=sys.stderr)
    failed = False
    for kind in sorted(results):
        rows = results[kind]
        print(f"{kind}: {len(rows)} comparisons, {sum(r[3] for r in rows) / len(rows):.0f} rounds on average")
        for verdict in ("slower", "faster", "same", "undecided"):
            k = sum(r[0] == verdict for r in rows)
            if k:
                print(f"  {verdict:10} {share(k, len(rows))[2]}")
        print(f"  ratio      median {sorted(r[2]['value'] for r in rows)[len(rows) // 2]:.4f}")
        if kind == "identical":
            wrong = sum(r[0] in ("slower", "faster") for r in rows)
            missed = sum("lo" in r[2] and not r[2]["lo"] <= 1 <= r[2]["hi"] for r in rows)
            low, _, text = share(wrong, len(rows))
            print(f"  false alarms {text}; exit status 3: {sum(r[1] == 3 for r in rows)};"
                  f" intervals without 1: {missed}")
            failed |= low > 0.05
        elif float(kind.split()[0]) >= 5:
            _, high, _ = share(sum(r[0] == "slower" for r in rows), len(rows))
            failed |= high < 0.95
    print(f"took {(time.monotonic() - begin) / 60:.1f} min")
    return failed


if __name__ == "__main__":
    sys.exit(main())
