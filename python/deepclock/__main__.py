# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock: the command-line program."""

import os
import sys

from . import _program


def main():
    path = _program.path()
    if path is None:
        print("deepclock: the program deepclock is not where the package was installed, "
              "nor on the PATH: install the package anew", file=sys.stderr)
        return 1
    os.execv(path, ["deepclock", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
