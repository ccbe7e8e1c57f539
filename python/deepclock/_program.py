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
    places = (os.path.join(HERE, "..", "..", "deepclock"),                             # in a build directory
              os.path.join(HERE, "..", "..", "..", "..", "bin", "deepclock"),          # PREFIX/lib/python3/site-packages
              os.path.join(HERE, "..", "bin", "deepclock"))                            # pip install --target
    for place in places:
        if os.path.isfile(place) and os.access(place, os.X_OK):
            return os.path.realpath(place)  # resolves a link to the package
    return shutil.which("deepclock")


# What differs between runtimes: the variables with which a user names the library, the one through which this module
# does, the package, the library in it, and the directory next to the program.
_RUNTIMES = {
    "onnxruntime": (("DEEPCLOCK_ORT", "ORT_DYLIB_PATH"), "DEEPCLOCK_PYTHON_ORT", "capi", "libonnxruntime.so*", "ort"),
    "openvino": (("DEEPCLOCK_OPENVINO",), "DEEPCLOCK_PYTHON_OPENVINO", "libs", "libopenvino_c.so*", "openvino"),
    "ai_edge_litert": (("DEEPCLOCK_LITERT",), "DEEPCLOCK_PYTHON_LITERT", "", "libLiteRt.so", "litert"),
    "onnxruntime_genai": (("DEEPCLOCK_GENAI",), "DEEPCLOCK_PYTHON_GENAI", "", "libonnxruntime-genai.so", "genai"),
}


def library(package):
    """Returns the library of this interpreter's package "onnxruntime", "openvino", "ai_edge_litert" or "onnxruntime_genai", which is
    not imported, or of the program's directory; None: not found, or the environment names one."""
    variables, _, inside, pattern, own = _RUNTIMES[package]
    if any(os.environ.get(name) for name in variables):
        return None
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        for found in sorted(glob.glob(os.path.join(glob.escape(folder), inside, pattern))):
            return found
    program = path()
    beside = program and sorted(glob.glob(os.path.join(glob.escape(os.path.dirname(program)), own, pattern)))
    return beside[0] if beside else None


def onnxruntime():
    """Returns ONNX Runtime's library: see library()."""
    return library("onnxruntime")


def libraries_offer():
    """Passes these files to the library, for this process and the programs that it starts. The library checks the
    files' write permissions; os.environ does not change."""
    for package, (_, variable, *_) in _RUNTIMES.items():
        found = library(package)
        if found:
            os.putenv(variable, os.path.abspath(found))
