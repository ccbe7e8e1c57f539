# SPDX-License-Identifier: Apache-2.0
"""Where progress is shown when nobody says: a line on a terminal, or in a notebook."""

import sys


def show(always):
    """A function that is called with a Progress, at last with None; None: nobody would see it."""
    stream = sys.stderr
    if not (always or (stream is not None and stream.isatty())):
        return None

    def line(progress):
        text = "" if progress is None else f"{progress.phase:10}  {progress.runs:,} runs"
        stream.write("\r\033[K" + text)
        stream.flush()
    return line
