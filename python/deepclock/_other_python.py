# SPDX-License-Identifier: Apache-2.0
"""The message where the extension was built for other versions of Python than the one that runs."""

import importlib.machinery
import os
import platform
import re
import sys

OLDEST = (3, 9)


def _text(tag):
    """Returns "CPython 3.11 on x86_64-linux-gnu" of "cpython-311-x86_64-linux-gnu"."""
    parts = re.match(r"cpython-(\d)(\d+)(t?)-(.*)", tag)
    return f"CPython {parts[1]}.{parts[2]}{parts[3]} on {parts[4]}" if parts else tag


def message(package):
    """Returns why the extension is not found in the directory of the package, and what to do."""
    names = [re.match(r"_deepclock\.(.+)\.so$", name) for name in sorted(os.listdir(package))]
    built = [_text(m[1]) for m in names if m]
    own = _text(importlib.machinery.EXTENSION_SUFFIXES[0].strip(".").rpartition(".")[0])
    ours = own if own.startswith("CPython") else f"{platform.python_implementation()} {platform.python_version()}"
    remedy = (f"run it with that Python, or install it for this one: {sys.executable} -m pip install DIRECTORY "
              "of deepclock's source" if built else
              f"install it: {sys.executable} -m pip install DIRECTORY of deepclock's source")
    if sys.version_info < OLDEST:
        remedy = f"run it with CPython {OLDEST[0]}.{OLDEST[1]} or newer"
    return (f"deepclock in {package} was built for {', '.join(built)}, and this is {ours}: {remedy}" if built else
            f"deepclock in {package} has no extension: {remedy}")
