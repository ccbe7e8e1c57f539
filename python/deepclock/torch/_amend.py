# SPDX-License-Identifier: Apache-2.0
"""A record that was measured, and what only Python knows of it."""

from .._deepclock import _keep
from .._record import Amended

__all__ = ["Amended", "keeping", "kept"]

_KEEPING = ("save", "db", "commit", "no_history")


def keeping(options, title=None):
    """Takes the options out that state where a record is kept, since it is finished later than it is measured; and
    its title."""
    return {"title": title, **{name: options.pop(name) for name in _KEEPING if name in options}}


def kept(record, asked):
    return _keep(record, **asked)
