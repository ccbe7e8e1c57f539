# SPDX-License-Identifier: Apache-2.0
"""Shows a record as an HTML page with figures: below a notebook's cell, or in the browser."""

import errno
import html
import os
import pathlib
import sys
import tempfile
import warnings
import webbrowser

from ._deepclock import AbsentError, ArgumentError, _figures, _file_replace, _keep

_HEIGHT = 700  # in pixels, in a notebook; the page scrolls
_OTHERS = (".pdf", ".eps", ".ps", ".jpg", ".jpeg", ".webp", ".gif", ".tiff")  # pictures that cannot be drawn


def _in_notebook():
    """Returns whether this is a Jupyter kernel, not IPython on a terminal."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return shell is not None and getattr(shell, "kernel", None) is not None


def _cell(page):
    from IPython.display import display

    # Raw data, because IPython warns about an HTML() that starts with a frame, and IFrame() takes URLs only.
    frame = (f'<iframe srcdoc="{html.escape(page)}" width="100%" height="{_HEIGHT}" '
             'sandbox="allow-scripts allow-popups allow-downloads" style="border:0"></iframe>')
    display({"text/html": frame, "text/plain": "a page with charts"}, raw=True)


def draw(record, html_path, directory, sources, source_root):
    """Writes the page and figures that the options html, sources, source_root and figures request."""
    if html_path is not None:
        page = record.report("html", sources=sources, source_root=source_root)
        _file_replace(html_path, page.encode("utf-8", "surrogateescape"))
    if directory is None:
        return
    try:
        figures(record, directory)
    except AbsentError as error:  # of one figure: the record is not lost for it
        warnings.warn(f"the figure is not drawn: {error}", RuntimeWarning, stacklevel=2)


def check(html_path, directory):
    """Called before a measurement with the options html and figures, either may be None: raises what would fail after it
    with any record."""
    from ._record import Record

    nothing = Record("").finish()
    if html_path is not None:
        nothing.report("html")  # without d3 there is no page
    if directory is None:
        return
    path = os.path.abspath(os.fsdecode(directory))
    if _is_one(path):
        try:
            _figures(nothing, os.path.splitext(os.path.basename(path))[0])
        except AbsentError:
            pass  # the name is known
        _keep(None, save=path)
        return
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    if not os.path.isdir(path):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path)
    if not os.access(path, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), path)


def _is_one(path):
    """Returns whether the path is that of one figure's file, not of a directory."""
    ending = os.path.splitext(os.path.basename(path))[1]
    if ending in _OTHERS and not os.path.isdir(path):
        raise ArgumentError(f"figures={path!r}: figures are .svg or .png")
    return ending in (".svg", ".png") and not os.path.isdir(path)


def figures(record, path):
    """Draws every figure into a directory, or one into the file of its name, as `deepclock report --figures` does; returns
    their names."""
    path = os.fsdecode(path)
    name, ending = os.path.splitext(os.path.basename(path))
    if _is_one(path):
        svg, png, why = _figures(record, name)[name]
        if ending == ".png" and png is None:
            raise AbsentError(why)
        _file_replace(path, svg if ending == ".svg" else png)
        return [name]
    os.makedirs(path, exist_ok=True)
    drawn = _figures(record)
    for name, (svg, png, why) in drawn.items():
        _file_replace(os.path.join(path, name + ".svg"), svg)
        if png is not None:
            _file_replace(os.path.join(path, name + ".png"), png)
    reasons = {why for _, _, why in drawn.values() if why}
    if reasons:
        warnings.warn("no PNG, only SVG: " + "; ".join(sorted(reasons)), RuntimeWarning, stacklevel=3)
    return sorted(drawn)


def _page_name():
    """Returns the path of the page, the same as for `deepclock view`: in a private directory, replaced by the next
    page. Without a home directory: in a new directory."""
    cache, home = os.environ.get("XDG_CACHE_HOME", ""), os.environ.get("HOME", "")
    base = cache if cache.startswith("/") else os.path.join(home, ".cache")
    folder = os.path.join(base, "deepclock", "view")
    try:
        if not base.startswith("/"):
            raise OSError("neither XDG_CACHE_HOME nor HOME is set")
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise OSError(f"{folder} cannot be written")
    except OSError:
        folder = tempfile.mkdtemp(prefix="deepclock-")
    return os.path.join(folder, "report.html")


def show(record, path=None):
    page = record.report("html")
    if path is None:
        path = _page_name()
    path = os.path.abspath(os.fsdecode(path))
    _file_replace(path, page.encode("utf-8", "surrogateescape"))
    if _in_notebook():
        _cell(page)
    else:
        webbrowser.open(pathlib.Path(path).as_uri())
    return path
