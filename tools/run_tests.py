#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs all tests of a build folder and closes with one line, 'N passed, N failed, N skipped'.

  run_tests.py BUILD [--suite NAME] [TEST ...]

Counts cases, not programs: every line of a program's TAP output is one; a program without TAP is
one. Shows the output of what failed. With DEEPCLOCK_COUNTS=FILE the counts are added to FILE, so
that several runs can be summed.
"""

import json
import os
import re
import subprocess
import sys

CASE = re.compile(r"^\s*(ok|not ok)\b(?P<rest>.*)$")
NONE = re.compile(r"^1\.\.0\s*#\s*skip(?P<why>.*)$", re.IGNORECASE)


def cases(test):
    """(passed, failed, skipped) of one program's log entry."""
    passed = failed = skipped = 0
    for line in test.get("stdout", "").splitlines():
        m = CASE.match(line)
        if not m:
            continue
        if re.search(r"#\s*skip", m["rest"], re.IGNORECASE):
            skipped += 1
        elif m[1] == "ok":
            passed += 1
        else:
            failed += 1
    # Old versions of cmocka write "not ok N # SKIP", which Meson takes for a failure.
    good = test["result"] in ("OK", "EXPECTEDFAIL") or (skipped and test["returncode"] == 0)
    if passed + failed + skipped == 0:
        if test["result"] == "SKIP" or any(map(NONE.match, test.get("stdout", "").splitlines())):
            return 0, 0, 1
        return int(good), int(not good), 0
    if not good and test["result"] != "SKIP" and failed == 0:
        failed = 1  # it crashed, or ran out of time, after its last line
    return passed, failed, skipped


def show(test):
    print(f"--- {test['name']}: {test['result']}")
    for stream in ("stdout", "stderr"):
        text = test.get(stream, "").strip()
        if text:
            # Cases that passed, and what they said of themselves, are no news.
            lines = [l for l in text.splitlines() if not re.match(r"\s*(ok\b|# \d+\.\d+ s$)", l)]
            print("\n".join(lines[-200:]))


def skips(test):
    for line in test.get("stdout", "").splitlines():
        if NONE.match(line):
            yield NONE.match(line)["why"].strip()
        m = CASE.match(line)
        if m and re.search(r"#\s*skip", m["rest"], re.IGNORECASE):
            yield m["rest"].strip()


def main():
    build, *more = sys.argv[1:]
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    run = subprocess.run(["meson", "test", "-C", build, "--no-rebuild", "--quiet", *more], env=env,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        with open(log, encoding="utf-8") as f:
            tests = [json.loads(line) for line in f]
    except FileNotFoundError:
        tests = []
    total = [0, 0, 0]
    for test in tests:
        counts = cases(test)
        total = [a + b for a, b in zip(total, counts)]
        if counts[1]:
            show(test)
        for line in skips(test):
            print(f"skipped: {test['name']}: {line}")
        if counts == (0, 0, 1) and not list(skips(test)):
            print(f"skipped: {test['name']}: {test.get('stdout', '').strip().splitlines()[-1:] or ''}")
    if not tests:
        print(run.stdout)
        total[1] += 1
    if not more and not any(":unit" in test["name"] for test in tests):
        print("no unit test was built: is libcmocka-dev installed?")
        total[1] += 1
    counts_file = os.environ.get("DEEPCLOCK_COUNTS")
    if counts_file:
        with open(counts_file, "a", encoding="utf-8") as f:
            print(*total, file=f)
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
