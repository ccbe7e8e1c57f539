#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A case that hangs fails, with its name, and what it started ends with it. Prints TAP.

  limit_test.py PROGRAM       of cmocka, whose case 'hangs' does
"""

import os
import re
import subprocess
import sys
import time

import limit


def gone(pid):
    for _ in range(300):
        if pid not in limit.processes():
            return True
        time.sleep(0.1)
    return False


def of_python():
    child = None
    try:
        with limit.Limit("a case", 1):
            with subprocess.Popen(["sleep", "1000"]) as child:
                child.wait()
    except limit.TimeUp as e:
        said = str(e)
    assert said == "a case: still running after 1 s and killed\n  running: sleep 1000", said
    assert gone(child.pid)
    with limit.Limit("another", 1):
        pass


def of_cmocka():
    done = subprocess.run([sys.argv[1]], env={**os.environ, "CASE_SECONDS": "1", "CMOCKA_MESSAGE_OUTPUT": "TAP"},
                          capture_output=True, text=True, start_new_session=True, check=False)
    assert done.returncode != 0 and "\nhangs: still running after 1 s and killed\n" in done.stderr, done
    assert gone(int(re.search(r"child (\d+)", done.stdout)[1]))


def main():
    cases = [of_python, of_cmocka]
    failed = 0
    limit.ordinary_signals()
    print(f"1..{len(cases)}")
    for i, case in enumerate(cases, 1):
        try:
            with limit.Limit(case.__name__):
                case()
            print(f"ok {i} - {case.__name__}")
        except (AssertionError, limit.TimeUp) as e:
            print(f"not ok {i} - {case.__name__}\n# {e!r}")
            failed += 1
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
