# SPDX-License-Identifier: Apache-2.0
"""Common code of the tests of the Python package."""

import atexit
import importlib
import os
import shutil
import sys
import tempfile
import unittest

import deepclock
from deepclock import _program

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))
import limit  # noqa: E402

# A separate history and cache: tests leave nothing in the user's directories.
_SCRATCH = tempfile.mkdtemp(prefix="deepclock-python-")
atexit.register(shutil.rmtree, _SCRATCH, ignore_errors=True)
os.environ["XDG_DATA_HOME"] = _SCRATCH
os.environ["XDG_CACHE_HOME"] = _SCRATCH


class Case(unittest.TestCase):
    """A test with a scratch directory and a time limit: a signal ends a test that hangs, also within a measurement."""

    def run(self, result=None):
        heavy = os.environ.get("DEEPCLOCK_TEST_TORCH")
        with limit.Limit(self.id(), limit.HEAVY_SECONDS if heavy else limit.SECONDS):
            return super().run(result)

    def setUp(self):
        self._folder = tempfile.TemporaryDirectory(prefix="deepclock-python-")
        self.addCleanup(self._folder.cleanup)
        self.folder = self._folder.name

    def path(self, name):
        return os.path.join(self.folder, name)


def short(**options):
    """Options of a very short measurement."""
    return {"runs": 20, "warmup": 2, "no_history": True, **options}


needs_model = unittest.skipUnless(_program.onnxruntime(), "ONNX Runtime is not there")


def needs(module, what):
    """Imports the module, or skips the whole file with a message. $DEEPCLOCK_TEST_TORCH: the directory of a
    PyTorch to use instead of the interpreter's."""
    other = os.environ.get("DEEPCLOCK_TEST_TORCH")
    if other and not os.path.isdir(other):
        print("1..0 # skip PyTorch 2 is not there: 'make test-all' fetches it")
        sys.exit(0)
    if other and other not in sys.path:
        sys.path.insert(0, other)
    try:
        return importlib.import_module(module)
    except ImportError as e:
        print(f"1..0 # skip {what} is not there: {e}")
        sys.exit(0)


def work(n=200):
    return sum(range(n))


def main():
    limit.ordinary_signals()
    program = unittest.main(exit=False, verbosity=1, testRunner=unittest.TextTestRunner(stream=sys.stdout))
    sys.exit(0 if program.result.wasSuccessful() and program.result.testsRun else 1)


__all__ = ["Case", "deepclock", "limit", "main", "needs", "needs_model", "short", "work"]
