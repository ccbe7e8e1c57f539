# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock trace SCRIPT: `deepclock trace -- python SCRIPT`, including blocking calls of threads."""

from . import _deepclock, _script

# Options of the program that are not in the library's tables.
_OTHERS = (("format", "f", True), ("out", "o", True), ("save", "s", True), ("colour", "", True), ("db", "", True),
           ("commit", "", True))


def main(words):
    return become("trace", words)


def become(command, words):
    """Splits the program's options from the script, and executes the program."""
    rows = [*_deepclock._option_rows(command), *_OTHERS]
    takes_value = {mark for name, letter, value in rows if value for mark in ("--" + name, letter and "-" + letter)}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] != "--" and words[at][:2] not in ("-m", "-c"):
        at += 2 if words[at] in takes_value else 1
    if at >= len(words) or words[at] == "--":
        return _script.command([command, *words])
    return _script.command([command, *words[:at], "--", *_script.interpreter(), *words[at:]])
