#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The first lines of docs/c.md measure a function and print the result: they are compiled and run unchanged.
Prints TAP.

  five_lines.py --program build/deepclock
"""

import os
import re
import subprocess

from common import arguments, expect, limit, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = ""
PROGRAM = """#include <deepclock/deepclock.h>

static int work(void *arg)
{
	volatile double sum = 0;

	(void)arg;
	for (int i = 1; i < 20000; i++)
		sum = sum + 1.0 / i;
	return 0;
}

int main(void)
{
%s	dck_record_free(record);
	return 0;
}
"""


def lines():
    with open(os.path.join(ROOT, "docs/c.md"), encoding="utf-8") as f:
        return re.search(r"^```c\n(.*?)^```$", f.read(), re.M | re.S)[1].rstrip("\n").split("\n")


def five():
    expect(len(lines()) == 5, lines())


def measure_and_print():
    with open("five.c", "w", encoding="utf-8") as f:
        f.write(PROGRAM % "".join(f"\t{line}\n" for line in lines()))
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c99", "-Wall", "-Wextra", "-Werror", "-I", os.path.join(ROOT, "include"),
                    "five.c", "-o", "five", "-L", BUILD, "-Wl,-rpath," + BUILD, "-ldeepclock"], check=True)
    done = subprocess.run(["./five"], capture_output=True, text=True)
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    # Beside much other work the latencies may have no level that an interval could hold.
    expect(re.search(r"^  median +[\d.,]+ [mnu]?s  (\[|\(no interval\))", done.stdout.replace("\u00b5", "u"), re.M), done.stdout)


CASES = [("they are five", five), ("they compile, run and print", measure_and_print)]

if __name__ == "__main__":
    args = arguments(__doc__)
    BUILD = os.path.dirname(args.program)
    run(CASES, args.prefixes, seconds=limit.SECONDS)
