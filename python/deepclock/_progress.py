# SPDX-License-Identifier: Apache-2.0
"""The default display of progress: a line on a terminal, or below a notebook's cell."""

import locale
import shutil
import sys
import time

from ._deepclock import progress_text, time_text


def _terminal(stream):
    utf8 = "utf" in (getattr(stream, "encoding", None) or locale.getpreferredencoding(False)).lower()

    def line(progress):
        width = max(shutil.get_terminal_size().columns - 1, 20)
        text = "" if progress is None else progress_text(progress, utf8, width)
        stream.write("\r\033[K" + text)
        stream.flush()
    return line


class LiveOutput:
    """A progress callback that shows a line in the output of a notebook's cell, replacing the previous line."""

    def __init__(self):
        self._shown = None
        self._began_ns = time.monotonic_ns()

    def __call__(self, progress):
        # A Progress is not final: reports are dropped, warm-up is in them. The record has the runs.
        text = f"ended after {time_text(time.monotonic_ns() - self._began_ns)}" if progress is None else \
            progress_text(progress, True, 100)
        self._show(text, progress is not None)

    def _show(self, text, begins):
        from IPython.display import display  # already imported by the notebook

        if self._shown is not None:
            self._shown.update({"text/plain": text}, raw=True)
        elif begins:
            self._shown = display({"text/plain": text}, raw=True, display_id=True)

    def ends(self, text):
        """Leaves the text in the output; returns false if nothing was shown."""
        self._show(text, False)
        return self._shown is not None


def live_output():
    """Returns a LiveOutput in a notebook, else None."""
    return LiveOutput() if _in_notebook() else None


def _in_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def show(always):
    """Returns a callback for each Progress, and for None at the end; returns None without a display."""
    if _in_notebook():
        return LiveOutput()
    stream = sys.stderr
    if stream is None or not (always or is_terminal(stream)):
        return None
    return _terminal(stream)


def is_terminal(stream):
    """Returns whether a stream, or what a program has put in its place, is a terminal."""
    try:
        return stream.isatty()
    except (AttributeError, ValueError):  # none, or closed
        return False
