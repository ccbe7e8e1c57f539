#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reports as pages in headless Chromium: no error in the console, the right number of marks, the right values.

  pages.py --program build/deepclock [CASE...]

A case is a function in cases_*.py whose name begins with 'case_'. It receives the program as `run(...)`, in an empty
directory, and fails by assert; or raises unittest.SkipTest.
"""

import argparse
import glob
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import unittest

import browser

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(1, os.path.dirname(HERE))
import limit  # noqa: E402


class Program:
    def __init__(self, path):
        self.path = os.path.abspath(path)

    def __call__(self, *words, status=0):
        r = subprocess.run([self.path, *words], capture_output=True, text=True)
        assert r.returncode == status, (words, r.returncode, r.stderr)
        return r.stdout

    def record(self, name, *words):
        """Runs a measuring command; returns the record and the page that it wrote."""
        self(*words, "--quiet", "--save", name + ".json", "--html", name + ".html", "--no-history")
        with open(name + ".json", encoding="utf-8") as f:
            return json.load(f), name + ".html"

    @staticmethod
    def compile(text, name):
        """Compiles NAME.c to ./NAME, with debugging information."""
        with open(name + ".c", "w", encoding="utf-8") as f:
            f.write(text)
        if not shutil.which("cc"):
            raise unittest.SkipTest("there is no C compiler")
        subprocess.run(["cc", "-g", "-O1", "-o", name, name + ".c"], check=True)


def all_cases():
    for path in sorted(glob.glob(os.path.join(HERE, "cases_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        for name, case in vars(module).items():
            if name.startswith("case_"):
                yield name[5:], case


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    cases = [(name, case) for name, case in all_cases() if not args.cases or name in args.cases]
    limit.ordinary_signals()
    why = browser.missing()
    print(f"1..{len(cases)}")
    failed = 0
    run = Program(args.program)
    for i, (name, case) in enumerate(cases, 1):
        if why:
            print(f"ok {i} - {name} # SKIP {why}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                with limit.Limit(name, limit.HEAVY_SECONDS):
                    case(run)
                print(f"ok {i} - {name}", flush=True)
            except unittest.SkipTest as reason:
                print(f"ok {i} - {name} # SKIP {reason}", flush=True)
            except Exception:
                failed += 1
                print(f"not ok {i} - {name}")
                print("# " + traceback.format_exc().replace("\n", "\n# "), flush=True)
            os.chdir("/")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
