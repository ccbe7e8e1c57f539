# SPDX-License-Identifier: Apache-2.0
"""Common code of the checks of this directory: finding files, reading C, running as a test.

A check is a function of a directory that yields one message per violation. `run` makes a program of
it: exit status 0 and 'NAME: ok', or each message on a line and 1. With --self-test the program
checks bad samples and fails unless every violation is found.
"""

import os
import re
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SKIPPED = re.compile(r"^(build.*|\.git|\.cache|__pycache__|.*\.egg-info)$")


def files(root, *endings):
    """Returns the paths below root with one of these extensions, relative to it and sorted."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if not SKIPPED.match(f)]
        found += [os.path.relpath(os.path.join(folder, n), root) for n in names
                  if n.endswith(endings)]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as f:
        return f.read()


TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code(text):
    """Returns C code without comments and the contents of literals; line numbers do not change."""
    def blank(m):
        mark = m[0][0] if m[0][0] in "\"'" else ""
        return mark + "\n" * m[0].count("\n") + (mark or " ")
    return TOKEN.sub(blank, text)


def tree(where, samples):
    """Writes {path: text} below `where`."""
    for path, text in samples.items():
        full = os.path.join(where, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)
    return where


def misses(check, cases):
    """cases: (name, {path: text}, words of the expected message or None for no violation). Yields a message for each
    case whose result differs."""
    for what, samples, expected in cases:
        with tempfile.TemporaryDirectory() as where:
            found = list(check(tree(where, samples)))
        if expected is None and found:
            yield f"self-test: {what}: should pass, but: {found[0]}"
        if expected is not None and (len(found) != 1 or expected not in found[0]):
            yield f"self-test: {what}: expected one sentence with '{expected}', got {found}"


def run(check, self_test):
    name = os.path.splitext(os.path.basename(sys.argv[0]))[0]
    testing = "--self-test" in sys.argv
    args = [a for a in sys.argv[1:] if a != "--self-test"]
    violations = list(self_test(*args) if testing else check(*args))
    for sentence in violations:
        print(sentence)
    if not violations:
        print(f"{name}: {'self-test ' if testing else ''}ok")
    sys.exit(1 if violations else 0)
