#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the next 'deepclock compare' confirms the last: repeated comparisons of the same subjects, alternately
with rounds in fresh processes and in one process.

  compare_starts.py --program build/deepclock [--commands 16] [--rounds 16] SUBJECT... [OPTION...]

For each of the two it prints the median half-width of the intervals, how many hold the median of all rounds of
all commands, and the variance of the commands' mean log ratios over the one that the scatter of their rounds
explains (F): 1 if commands differ no more than rounds do.
"""

import argparse
import json
import math
import statistics
import subprocess
import sys

PLACES = {"fresh processes": [], "one process": ["--processes", "1"]}


def compare(program, words, rounds, seed):
    run = subprocess.run([program, "compare", *words, "--rounds", str(rounds), "--order-seed", str(seed),
                          "--format", "json", "--quiet"], stdout=subprocess.PIPE, check=False)
    if run.returncode not in (0, 3, 4):
        sys.exit(f"compare_starts: 'compare' ended with exit status {run.returncode}")
    record = json.loads(run.stdout)
    first, second = [s["values"] for s in record["series"] if s["tag"].startswith("compare/rounds/")][:2]
    ratio = next(m for m in record["metrics"] if m["tag"] == "compare/ratio")
    return ratio["lo"], ratio["hi"], [math.log(b / a) for a, b in zip(first, second)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--commands", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=16)
    args, words = parser.parse_known_args()
    found = {place: [] for place in PLACES}
    for seed in range(1, args.commands + 1):
        for place, options in PLACES.items():
            found[place].append(compare(args.program, [*words, *options], args.rounds, seed))
    for place, all_of in found.items():
        truth = math.exp(statistics.median(x for _, _, rounds in all_of for x in rounds))
        explained = statistics.mean(statistics.variance(rounds) for _, _, rounds in all_of) / args.rounds
        f = statistics.variance(statistics.mean(rounds) for _, _, rounds in all_of) / explained
        half = statistics.median((hi / lo) ** 0.5 - 1 for lo, hi, _ in all_of)
        held = sum(lo <= truth <= hi for lo, hi, _ in all_of)
        print(f"{place}: half-width {100 * half:.2g} %, {held} of {len(all_of)} hold {truth:.4g}, F {f:.2f}")


if __name__ == "__main__":
    main()
