# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock ranks SCRIPT: `deepclock ranks -- python SCRIPT`, with the collectives of torch.distributed."""

import os

from . import _trace_script

_SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_ranks_site")


def main(words):
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = _SITE + (os.pathsep + before if before else "")
    return _trace_script.become("ranks", words)
