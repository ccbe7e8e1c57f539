# SPDX-License-Identifier: Apache-2.0
"""Ensures one recorder per process where several copies exist; imported before the extension is loaded.

The extension contains a copy of the recorder, and so does libdeepclock_zones.so or libdeepclock.so, which
C modules may be linked with and which NVTX loads if `deepclock trace` names it. All copies use the copy whose symbols (ext/exported.map) are first in the process's global scope: a library that is already
loaded becomes global here, and __init__.py makes the extension global, so that libraries loaded later
use its recorder.
"""

import os

_OURS = ("libdeepclock_zones.so", "libdeepclock.so")


def _loaded():
    """Returns the paths of such libraries in the process."""
    try:
        with open("/proc/self/maps", encoding="utf-8", errors="surrogateescape") as f:
            names = {line.rstrip("\n").partition("/")[2] for line in f if "libdeepclock" in line}
    except OSError:
        return []
    return ["/" + name for name in sorted(names) if os.path.basename(name).startswith(_OURS)]


def share():
    for path in _loaded():
        import ctypes

        try:
            ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        except OSError:  # its file was removed
            continue
