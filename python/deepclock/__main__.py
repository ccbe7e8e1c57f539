# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock: the command-line program; if a script follows one of the commands below, it runs in this
interpreter."""

import importlib
import sys

from . import _script

# Command: the module whose main(words) runs a script under it.
SCRIPTS = {
    "count": "_count_script",
    "memory": "_heap_script",
    "ranks": "_ranks_script",
    "sample": "_sample_script",
    "timeit": "_timeit_script",
    "trace": "_trace_script",
}


def main():
    words = sys.argv[1:]
    if words and words[0] in SCRIPTS:
        return importlib.import_module("." + SCRIPTS[words[0]], __package__).main(words[1:])
    return _script.command(words)


if __name__ == "__main__":
    _code = main()
    if _code:  # without a call of sys.exit(), which might be counted
        sys.exit(_code)
