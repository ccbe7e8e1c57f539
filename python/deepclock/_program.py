# SPDX-License-Identifier: Apache-2.0
"""Where the program deepclock is, which measures in fresh processes."""

import functools
import glob
import importlib.util
import os
import shutil

HERE = os.path.dirname(os.path.abspath(__file__))


@functools.lru_cache(maxsize=None)
def path():
    """Its path, or None."""
    places = (os.path.join(HERE, "bin", "deepclock"),          # of a wheel
              os.path.join(HERE, "..", "..", "deepclock"))     # of a build directory
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.realpath(place)  # of a link to the package, not beside the link
    return shutil.which("deepclock")


def onnxruntime():
    """ONNX Runtime's library in the package of this interpreter, which is not imported, or beside the
    program; None where there is none, or the environment names one."""
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
    """The library finds that file, in this process and in the programs that it starts: it checks who may
    write to it, and os.environ stays as it is."""
    library = onnxruntime()
    if library:
        os.putenv("DEEPCLOCK_PYTHON_ORT", os.path.abspath(library))
