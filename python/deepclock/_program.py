# SPDX-License-Identifier: Apache-2.0
"""Finds the program deepclock, which measures in fresh processes."""

import functools
import glob
import importlib.util
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.lru_cache(maxsize=None)
def path():
    """Returns the program's path, or None."""
    places = (os.path.join(HERE, "bin", "deepclock"),          # in a wheel
              os.path.join(HERE, "..", "..", "deepclock"))     # in a build directory
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.realpath(place)  # resolves a link to the package
    return shutil.which("deepclock")


def onnxruntime():
    """Returns ONNX Runtime's library of this interpreter's package, which is not imported, or of the program's
    directory; None: not found, or the environment names one."""
    if os.environ.get("DEEPCLOCK_ORT") or os.environ.get("ORT_DYLIB_PATH"):
        return None
    try:
        spec = importlib.util.find_spec("onnxruntime")
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for library in sorted(glob.glob(os.path.join(glob.escape(folder), "capi", "libonnxruntime.so*"))):
            return library
    program = path()
    beside = program and sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(program)), "ort",
                                                       "libonnxruntime.so*")))
    return beside[0] if beside else None


def onnxruntime_offer():
    """Passes that file to the library, for this process and the programs that it starts. The library checks the
    file's write permissions; os.environ does not change."""
    library = onnxruntime()
    if library:
        os.putenv("DEEPCLOCK_PYTHON_ORT", os.path.abspath(library))
