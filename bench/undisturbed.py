#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What does 'compare --undisturbed' do to false alarms and to power on a busy machine? Comparisons of a model with itself,
and with a larger image, by all runs and by the undisturbed ones, in random order, each opened once, beside
busy processes.

  undisturbed.py [--program build/deepclock] [-n 20] [--busy 2] [--max-time 6s] [--model "zoo:squeezenet1_1 --threads 1"]
                 [--sizes 102,106]

A busy process computes and sleeps in turns, each for an exponential time of mean 0.3 s. --sizes: those of the image; of 102
and 106 squeezenet1_1 has 72.6 and 76.5 million MACs (5.4 % more), of 212 and 224 334.4 and 349.2 (4.4 % more). Prints the table of
docs/reference/validation.md.
"""

import argparse
import os
import random
import subprocess
import sys

from alarms import compare

BUSY = """import random, time
while True:
    end = time.monotonic() + random.expovariate(1 / 0.3)
    while time.monotonic() < end: pass
    time.sleep(random.expovariate(1 / 0.3))"""


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="build/deepclock")
    parser.add_argument("-n", type=int, default=20)
    parser.add_argument("--busy", type=int, default=2)
    parser.add_argument("--max-time", default="6s")
    parser.add_argument("--model", default="zoo:squeezenet1_1 --threads 1")
    parser.add_argument("--sizes", default="102,106")
    args = parser.parse_args()
    first, second = args.sizes.split(",")
    program, (model, *options) = os.path.abspath(args.program), args.model.split()
    jobs = [(against, way) for against in (first, second) for way in ("", "--undisturbed")] * args.n
    random.Random(1).shuffle(jobs)
    results = {job: [] for job in jobs}
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(args.busy)]
    try:
        for seed, (against, way) in enumerate(jobs, 1):
            subjects = [model, "--vary", f"image-size={first},{second}"]
            if against == first:
                subjects = [model, model, "--image-size", first]
            words = [*subjects, *options, "--keep-sessions", "--no-history"] + ([way] if way else [])
            results[against, way].append(compare(program, words, seed, args.max_time))
    finally:
        for process in busy:
            process.kill()
            process.wait()
    print(f"| size {first} with | by | slower | faster | same | undecided | rounds | median ratio |\n|---|---|---|---|---|---|---|---|")
    for (against, way), rows in results.items():
        known = sorted(r[2]["value"] for r in rows if "value" in r[2])
        print(f"| {against} | {'`--undisturbed`' if way else 'all runs'} |",
              *(f"{sum(r[0] == verdict for r in rows)} |" for verdict in ("slower", "faster", "same", "undecided")),
              f"{sum(r[3] for r in rows) / len(rows):.1f} |", f"{known[len(known) // 2]:.3f} |" if known else "- |")


if __name__ == "__main__":
    main()
