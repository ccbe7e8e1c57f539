#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often ci/compare_commits.py finds a commit that does 5 % more work, and how often it calls one slower that does the same:
on a repository made here, whose program counts in awk, in random order.

  commits.py --program build/deepclock [--rounds 20] [--slower 5] [--budget 30s]

Prints both shares with their exact 95 % interval (Clopper and Pearson). Fails if an unchanged commit was called slower, or a
slower one was not found.
"""

import argparse
import os
import random
import subprocess
import sys
import tempfile

from alarms import share

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COUNT = 400000


def git(*words):
    own = [word for key in ("name", "email") for word in ("-c", f"user.{key}=deepclock")]
    return subprocess.run(["git", *own, *words], check=True, capture_output=True, text=True).stdout.strip()


def commit(count):
    with open("app", "w", encoding="utf-8") as f:
        f.write(f"#!/bin/sh\nexec awk 'BEGIN {{ for (i = 0; i < {count}; i++) x += i }}'\n")
    os.chmod("app", 0o755)
    git("add", "app")
    git("commit", "-q", "--allow-empty", "-m", str(count))
    return git("rev-parse", "HEAD")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--slower", type=float, default=5, metavar="PERCENT")
    parser.add_argument("--budget", default="30s")
    args = parser.parse_args()
    script = [sys.executable, os.path.join(ROOT, "ci", "compare_commits.py"), "--program", os.path.abspath(args.program),
              "--command", "./app", "--min-change", "1%", "--undecided", "fail"]
    jobs = ["unchanged", "slower"] * args.rounds
    random.Random(1).shuffle(jobs)
    found = {"unchanged": [], "slower": []}
    with tempfile.TemporaryDirectory() as where:
        os.chdir(where)
        git("init", "-q", ".")
        base = commit(COUNT)
        heads = {"unchanged": commit(COUNT), "slower": commit(round(COUNT * (1 + args.slower / 100)))}
        for seed, job in enumerate(jobs, 1):
            git("checkout", "-q", heads[job])
            done = subprocess.run([*script, "--base", base, "--budget", args.budget, "--options", f"--order-seed {seed}"],
                                  capture_output=True, text=True, check=False)
            if done.returncode not in (0, 3, 4):
                sys.exit(f"commits: exit status {done.returncode}: {done.stderr}")
            found[job].append(done.returncode)
    silent, alarms = (args.rounds - found["unchanged"].count(3), found["slower"].count(3))
    print(f"unchanged: not called slower {share(silent, args.rounds)[2]}; undecided {found['unchanged'].count(4)}")
    print(f"{args.slower:g} % slower: found {share(alarms, args.rounds)[2]}; undecided {found['slower'].count(4)}")
    return silent < args.rounds or alarms < args.rounds


if __name__ == "__main__":
    sys.exit(main())
