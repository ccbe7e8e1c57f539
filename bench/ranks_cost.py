#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `deepclock ranks` costs a job of MPI whose steps take 10 ms: the same job with and without, one after the other in random
order, as ratios of each round.

  ranks_cost.py BUILD [ROUNDS]

Of two ranks the first decile of the step times counts, since other programs only add time; of one rank, which waits for nobody,
also the processor time of the program with its recorder. A step has three ranges and a collective. Not in `make bench`: it needs
mpicc.
"""

import os
import random
import subprocess
import sys
import tempfile

import ranks_cases
import rows

STEPS, SPIN_MS = 150, 10
LIMIT = 1.01


def measured(launcher, program, build, n, with_ranks):
    """Returns the figures that the program prints, by name."""
    before = [os.path.join(build, "deepclock"), "ranks", "--no-history", "--quiet", "--"] if with_ranks else []
    p = subprocess.run([launcher, "-n", str(n), *before, program, str(STEPS), "0", str(SPIN_MS), "-1", "forward", "0", "1"],
                       env=ranks_cases.ENV, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=True)
    words = next(line for line in p.stdout.splitlines() if line.startswith("median ")).split()
    return dict(zip(words[::2], map(float, words[1::2])))


def main(build, rounds=20):
    build = os.path.abspath(build)
    with tempfile.TemporaryDirectory() as scratch:
        program = ranks_cases.compiled(build, "mpicc.mpich", os.path.join(scratch, "program"))
        for n, figures in ((2, {"fast": "step of 10 ms under ranks, of two ranks"}),
                           (1, {"fast": "step of 10 ms under ranks, of one rank", "cpu": "processor time of the same"})):
            ratios = {figure: [] for figure in figures}
            for _ in range(rows.rounds(int(rounds))):
                of = {}
                for with_ranks in random.sample([False, True], 2):
                    of[with_ranks] = measured("mpiexec.mpich", program, build, n, with_ranks)
                for figure, values in ratios.items():
                    values.append(of[True][figure] / of[False][figure])
            for figure, work in figures.items():
                rows.put(work, ratios[figure], "times without", most=LIMIT)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
