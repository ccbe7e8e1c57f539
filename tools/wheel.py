#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the Python package's wheel and prints its platform, by auditwheel's verdict.

  wheel.py DIR [TREE]     make wheel

The wheel is for the Python that runs this. Without auditwheel (`pip install auditwheel`) it prints so. Exits
with 1 if the wheel could not be built, or needs libraries that not every Linux system has.
"""

import glob
import importlib.util
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def build(python, tree, folder, env=None):
    """Returns (path of the wheel or None if the build failed, pip's output). `python` has pip."""
    for old in glob.glob(os.path.join(glob.escape(folder), "deepclock-*.whl")):
        os.remove(old)
    ran = subprocess.run([python, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", "-w", folder, tree],
                         env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    made = glob.glob(os.path.join(glob.escape(folder), "deepclock-*.whl"))
    return (made[0] if ran.returncode == 0 and made else None), ran.stdout


def verdict(wheel, env=None):
    """Returns (platform tag, auditwheel's output); "": auditwheel is not installed."""
    if importlib.util.find_spec("auditwheel") is None:
        return "", "auditwheel is not installed: 'pip install auditwheel'"
    ran = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(r'consistent\s+with\s+the\s+following\s+platform\s+tag:\s+"([^"]*)"', ran.stdout)
    return found[1] if found else "unknown", ran.stdout


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    folder, tree = sys.argv[1], sys.argv[2] if len(sys.argv) == 3 else ROOT
    os.makedirs(folder, exist_ok=True)
    wheel, told = build(sys.executable, tree, folder)
    if wheel is None:
        sys.exit(told[-4000:] + "wheel: it could not be built")
    tag, told = verdict(wheel)
    print(told.strip())
    print(f"wheel: {wheel}" + (f": {tag}" if tag else ""))
    return 0 if not tag or tag.startswith("manylinux") else 1


if __name__ == "__main__":
    sys.exit(main())
