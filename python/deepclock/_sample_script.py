# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock sample SCRIPT: `deepclock sample -- python SCRIPT`, with this Python."""

from . import _trace_script


def main(words):
    return _trace_script.become("sample", words)
