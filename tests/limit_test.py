#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A case that hangs fails, with its name, and its child processes end with it. Prints TAP.

  limit_test.py PROGRAM       of unit tests, whose only file is hangs.c
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
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


def of_cmocka(*names):
    with tempfile.TemporaryFile("w+") as out:  # a process left running would hold a pipe open
        status = subprocess.run([sys.argv[1], *names], env={**os.environ, "CASE_SECONDS": "1", "CMOCKA_MESSAGE_OUTPUT": "TAP"},
                                stdout=out, stderr=subprocess.STDOUT, start_new_session=True, check=False).returncode
        out.seek(0)
        text = out.read()
    assert status != 0 and "\nhangs: still running after 1 s and killed\n" in text, (status, text)
    return status, text, int(re.search(r"child (\d+)", text)[1])


def of_one_file():
    _, _, child = of_cmocka("hangs")
    assert gone(child)


def of_all_files():
    status, text, child = of_cmocka()
    os.kill(child, signal.SIGKILL)  # a grandchild, which leads no process group
    assert status == 1 and text.endswith("\nhangs: failed\n"), (status, text)


def of_no_file():
    done = subprocess.run([sys.argv[1], "other"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stdout == "" and "hangs" in done.stderr.splitlines()[1], done


def main():
    cases = [of_python, of_one_file, of_all_files, of_no_file]
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
