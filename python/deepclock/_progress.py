# SPDX-License-Identifier: Apache-2.0
"""Where progress is shown when nobody says: a line on a terminal, or below a notebook's cell."""

import locale
import shutil
import sys

from ._deepclock import progress_text


def _terminal(stream):
    utf8 = "utf" in (getattr(stream, "encoding", None) or locale.getpreferredencoding(False)).lower()

    def line(progress):
        width = max(shutil.get_terminal_size().columns - 1, 20)
        text = "" if progress is None else progress_text(progress, utf8, width)
        stream.write("\r\033[K" + text)
        stream.flush()
    return line


def _notebook():
    """In place of the line before it, and gone at the end."""
    from IPython.display import display  # it is imported already

    handle = None

    def line(progress):
        nonlocal handle
        text = {"text/plain": "" if progress is None else progress_text(progress, True, 100)}
        if handle is None:
            if progress is not None:
                handle = display(text, raw=True, display_id=True)
        else:
            handle.update(text, raw=True)
    return line


def _in_notebook():
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython and hasattr(ipython, "get_ipython") else None
    return shell is not None and hasattr(shell, "kernel")


def show(always):
    """A function that is called with a Progress, at last with None; None: nobody would see it."""
    if _in_notebook():
        return _notebook()
    stream = sys.stderr
    if stream is None or not (always or stream.isatty()):
        return None
    return _terminal(stream)
