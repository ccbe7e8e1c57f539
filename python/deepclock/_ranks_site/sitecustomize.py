# SPDX-License-Identifier: Apache-2.0
"""Imported by an interpreter that python -m deepclock ranks started: records collectives of torch.distributed. The
sitecustomize that this one hides runs too."""

import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))
_package = os.path.dirname(os.path.dirname(_here))
sys.path[:] = [folder for folder in sys.path if os.path.abspath(folder or ".") != _here]


def _collectives():
    """Imports the package without a place in sys.path, if it has none."""
    if importlib.util.find_spec("deepclock") is None:
        sys.path.append(_package)
    from deepclock import _collectives

    _collectives.install()


try:
    _collectives()
except ImportError:  # an interpreter of another version, which the program started
    pass
_theirs = importlib.machinery.PathFinder.find_spec("sitecustomize")
if _theirs is not None:
    _module = importlib.util.module_from_spec(_theirs)
    sys.modules["sitecustomize"] = _module
    _theirs.loader.exec_module(_module)
