# SPDX-License-Identifier: Apache-2.0
"""deepclock: how fast a deep-learning model, a function or a program runs, correctly.

    import deepclock
    record = deepclock.bench(f, x)
    print(record)                      # the answer, with its interval and all warnings
    record["latency/median"].value     # nanoseconds
"""

import importlib as _importlib
import os as _os
import sys as _sys
from typing import TYPE_CHECKING as _TYPE_CHECKING

from . import _recorder as _recorder

_recorder.share()
_flags = _sys.getdlopenflags()
_sys.setdlopenflags(_flags | _os.RTLD_GLOBAL)
try:
    from ._deepclock import *  # noqa: F403  (the extension has the list)
    from ._deepclock import __version__
except ModuleNotFoundError as _error:
    if _error.name != __name__ + "._deepclock":
        raise
    from . import _other_python

    raise ImportError(_other_python.message(_os.path.dirname(__file__)), name=_error.name) from None
finally:
    _sys.setdlopenflags(_flags)
from .counting import count as count
from .heap import memory as memory
from .laps import lap as lap
from .tracing import ranks as ranks, trace as trace
from .tuning import tuned_session as tuned_session

if not _TYPE_CHECKING:  # its type is the extension's
    from ._statement import bench as bench

if _TYPE_CHECKING:
    from . import callbacks as callbacks, torch as torch

_LAZY = ("callbacks", "torch")


def __getattr__(name):
    # Modules that need large packages are imported on first use.
    if name in _LAZY:
        return _importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'deepclock' has no attribute '{name}'")


def load_ipython_extension(shell):
    """%load_ext deepclock"""
    from . import notebook

    notebook.load(shell)


def unload_ipython_extension(shell):
    """%unload_ext deepclock"""
    from . import notebook

    notebook.unload(shell)
