#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the tests of a build directory and prints as the last line 'N passed, N failed, N skipped'.

  run_tests.py BUILD                              all except the suite 'heavy'
  run_tests.py BUILD --all                        all
  run_tests.py BUILD [--suite NAME] [TEST ...]    these
  run_tests.py --self-test

Counts cases, not programs: every line of a program's TAP output is a case; a program without TAP is
one. Shows the output of failed tests. With DEEPCLOCK_COUNTS=FILE the counts are added to FILE, so
that several runs can be summed. A test that makes or changes a file in the source tree fails the
run.
"""

import json
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CASE = re.compile(r"^\s*(ok|not ok)\b(?P<rest>.*)$")
NONE = re.compile(r"^1\.\.0\s*#\s*skip(?P<why>.*)$", re.IGNORECASE)


def excused(test):
    """Old versions of cmocka write "not ok N # SKIP", which Meson treats as a failure. Nothing else is
    excused: a program that ends before its plan is Meson's ERROR."""
    return (test["result"] == "FAIL" and test["returncode"] == 0
            and re.search(r"^\s*not ok\b.*#\s*skip", test.get("stdout", ""), re.I | re.M) is not None)


def cases(test):
    """Returns (passed, failed, skipped) of one program's log entry."""
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
    good = test["result"] in ("OK", "EXPECTEDFAIL") or excused(test)
    if passed + failed + skipped == 0:
        if test["result"] == "SKIP" or any(map(NONE.match, test.get("stdout", "").splitlines())):
            return 0, 0, 1
        return int(good), int(not good), 0
    if not good and test["result"] != "SKIP" and failed == 0:
        failed = 1  # it crashed or timed out after its last line
    return passed, failed, skipped


def show(test):
    print(f"--- {test['name']}: {test['result']}")
    for stream in ("stdout", "stderr"):
        text = test.get(stream, "").strip()
        if text:
            # Passed cases and their comments are not shown.
            lines = [l for l in text.splitlines() if not re.match(r"\s*(ok\b|# \d+\.\d+ s$)", l)]
            print("\n".join(lines[-200:]))


def skips(test):
    for line in test.get("stdout", "").splitlines():
        if NONE.match(line):
            yield NONE.match(line)["why"].strip()
        m = CASE.match(line)
        if m and re.search(r"#\s*skip", m["rest"], re.IGNORECASE):
            yield m["rest"].strip()


def aborted(status, tests):
    """Meson's exit status is the number of failures. If the log does not explain it, Meson ended before
    its tests."""
    return status != 0 and not any(cases(t)[1] for t in tests) and status != sum(map(excused, tests))


def tree(root):
    """Returns {source file: size and time of the last change}, without build directories, .git and swap
    files of editors."""
    found = {}
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
        for name in names:
            if not re.search(r"(\.sw.|~)$", name):
                path = os.path.join(folder, name)
                s = os.stat(path, follow_symlinks=False)
                found[os.path.relpath(path, root)] = (s.st_size, s.st_mtime_ns)
    return found


def touched(before, after):
    """Returns the files that were made, changed or removed."""
    return sorted(p for p in before.keys() | after.keys() if before.get(p) != after.get(p))


def sanitized(build):
    """Returns whether the build has a sanitizer. Sanitizers reserve signals, preloading and memory limits, so
    some cases cannot run there; the plain build runs them."""
    try:
        with open(os.path.join(build, "meson-info", "intro-buildoptions.json"), encoding="utf-8") as f:
            return any(o["name"] == "b_sanitize" and o["value"] not in ("none", [], "") for o in json.load(f))
    except OSError:
        return False


def skips_fail(environment):
    """Returns whether a skipped test counts as a failure."""
    return environment.get("CI", "").lower() not in ("", "0", "false")


def self_test():
    def entry(result, status, *lines):
        return {"name": "x:unit / x", "result": result, "returncode": status,
                "stdout": "".join(line + "\n" for line in lines)}

    old_skip = entry("FAIL", 0, "1..2", "ok 1 - a", "not ok 2 # SKIP b")
    for what, test, expected in [
        ("all good", entry("OK", 0, "1..2", "ok 1 - a", "ok 2 - b"), (2, 0, 0)),
        ("no TAP", entry("OK", 0), (1, 0, 0)),
        ("no TAP, failed", entry("FAIL", 1), (0, 1, 0)),
        ("a failed case", entry("FAIL", 1, "1..2", "ok 1 - a", "not ok 2 - b"), (1, 1, 0)),
        ("a failed and a skipped case",
         entry("FAIL", 1, "1..2", "not ok 1 - a", "not ok 2 # SKIP b"), (0, 1, 1)),
        ("a skipped case", entry("OK", 0, "1..2", "ok 1 - a", "ok 2 - b # SKIP why"), (1, 0, 1)),
        ("a skipped case of old cmocka", old_skip, (1, 0, 1)),
        ("all skipped", entry("SKIP", 0, "1..0 # skip why"), (0, 0, 1)),
        ("a skipped program", entry("SKIP", 77), (0, 0, 1)),
        ("a crash", entry("ERROR", -11, "1..3", "ok 1 - a"), (1, 1, 0)),
        ("a leak after the last case", entry("ERROR", 1, "1..1", "ok 1 - a"), (1, 1, 0)),
        ("out of time", entry("TIMEOUT", -9, "1..2", "ok 1 - a # SKIP"), (0, 1, 1)),
        ("short of its plan", entry("ERROR", 0, "1..3", "ok 1 - a"), (1, 1, 0)),
        ("short of its plan, with a skip",
         entry("ERROR", 0, "1..3", "ok 1 - a", "not ok 2 # SKIP b"), (1, 1, 1)),
    ]:
        if cases(test) != expected:
            yield f"self-test: {what}: expected {expected}, got {cases(test)}"
    good, bad = entry("OK", 0), entry("FAIL", 1)
    for what, status, tests, expected in [
        ("all good", 0, [good], False), ("a failure", 1, [good, bad], False),
        ("an excused one", 1, [good, old_skip], False), ("killed", -9, [good], True),
        ("killed after an excused one", 137, [good, old_skip], True), ("unexplained", 1, [good], True),
    ]:
        if aborted(status, tests) != expected:
            yield f"self-test: Meson's exit status, {what}: expected {expected}"
    for value, expected in [(None, False), ("", False), ("false", False), ("0", False), ("true", True), ("1", True)]:
        if skips_fail({} if value is None else {"CI": value}) != expected:
            yield f"self-test: CI={value}: expected {expected}"
    with tempfile.TemporaryDirectory() as root:
        def write(name, text):
            os.makedirs(os.path.join(root, os.path.dirname(name)), exist_ok=True)
            with open(os.path.join(root, name), "w", encoding="utf-8") as f:
                f.write(text)

        for name in ("a.c", "sub/b.c", ".ci/run", "build/c", "build-x/d", ".git/e", "sub/.f.swp"):
            write(name, "")
        before = tree(root)
        if set(before) != {"a.c", "sub/b.c", ".ci/run"} or touched(before, tree(root)):
            yield f"self-test: the files of a tree: {before}"
        os.remove(os.path.join(root, "a.c"))
        for name in ("sub/b.c", ".left", "build/left"):
            write(name, "x")
        if touched(before, tree(root)) != [".left", "a.c", "sub/b.c"]:
            yield f"self-test: what tests touched: {touched(before, tree(root))}"


def main():
    if sys.argv[1:] == ["--self-test"]:
        wrong = list(self_test())
        print("\n".join(wrong) or "run_tests: self-test ok")
        sys.exit(1 if wrong else 0)
    build, *more = sys.argv[1:]
    selected = {(): ["--no-suite", "heavy"], ("--all",): []}.get(tuple(more), more)
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP", PYTHONDONTWRITEBYTECODE="1")
    log = os.path.join(build, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.remove(log)
    before = tree(ROOT)
    # Many tests wait more than they compute, the heavy ones also for the network and for programs that they start.
    # Only the dependencies of these tests are built.
    beside = (3 if more == ["--all"] and not sanitized(build) else 2) * len(os.sched_getaffinity(0))
    more_options = ["--num-processes", str(beside)] + ([] if selected is more else ["--no-rebuild"])
    run = subprocess.run(["meson", "test", "-C", build, "--quiet", *more_options, *selected], env=env,
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
    if not tests or aborted(run.returncode, tests):
        print(run.stdout)
        print(f"meson test ended with status {run.returncode}, which no test explains" if tests
              else "no test was run")
        total[1] += 1
    if selected is not more and not any(":unit" in test["name"] for test in tests):
        print("no unit test was built: is libcmocka-dev installed?")
        total[1] += 1
    changes = touched(before, tree(ROOT))
    if changes:
        print("while the tests ran, files in the tree of sources were made, changed or removed:", *changes)
        total[1] += 1
    if total[2] and sanitized(build):
        print(f"{total[2]} cases cannot be had under a sanitizer, as said above; the plain build runs them")
        total[2] = 0
    if total[2] and skips_fail(os.environ):
        print("CI is set: tests that are skipped count as failed")
        total[1:] = [total[1] + total[2], 0]
    if not more:
        print("the heavy references were left out: 'make test-all' compares with them too")
    counts_file = os.environ.get("DEEPCLOCK_COUNTS")
    if counts_file:
        with open(counts_file, "a", encoding="utf-8") as f:
            print(*total, file=f)
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""))
    sys.exit(1 if total[1] else 0)


if __name__ == "__main__":
    main()
