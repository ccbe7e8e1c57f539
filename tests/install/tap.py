# SPDX-License-Identifier: Apache-2.0
"""Checks of a script as lines of TAP."""


class Checks:
    """Each call prints a check, and of a failed one the end of its output; end() prints the plan and returns the exit status."""

    def __init__(self):
        self.passed = []

    def __call__(self, name, right, told=""):
        self.passed.append(right)
        print(f"{'' if right else 'not '}ok {len(self.passed)} - {name}", flush=True)
        for line in ("" if right else told[-3000:]).splitlines():
            print("#", line)
        return right

    def end(self):
        print(f"1..{len(self.passed)}")
        return 0 if all(self.passed) else 1
