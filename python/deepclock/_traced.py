# SPDX-License-Identifier: Apache-2.0
"""Compilations of a TensorFlow, JAX or Numba function during a measurement, from the function's own counter; imports none
of them. torch.compile is in _compiled.py."""

import functools
import types
import typing

from . import _compiled

# framework: (attribute that only its functions have, number of compilations, what needs a new one)
_COUNTERS = {
    "TensorFlow": ("experimental_get_tracing_count", lambda f: f.experimental_get_tracing_count(), "shape, type or Python number"),
    "JAX": ("_cache_size", lambda f: f._cache_size(), "shape or type"),
    "Numba": ("nopython_signatures", lambda f: len(f.signatures), "type"),
}


class Traced(typing.NamedTuple):
    """A function and its number of compilations: until mark(), and since then."""
    framework: str
    function: typing.Any
    before: int
    times: int

    @property
    def again(self):
        """Compilations after its first one."""
        return self.times - (self.before == 0)


def _named_by(f):
    """Returns what a function reaches by one name: its closure, its globals, the arguments of a partial."""
    if isinstance(f, functools.partial):
        return [f.func, *f.args]
    f = getattr(f, "__func__", f)
    code, names = getattr(f, "__code__", None), getattr(f, "__globals__", {})
    if not isinstance(code, types.CodeType):  # also of a proxy, which has any attribute
        return []
    cells = []
    for cell in getattr(f, "__closure__", None) or ():
        try:
            cells.append(cell.cell_contents)
        except ValueError:  # not assigned yet
            pass
    return cells + [names[name] for name in code.co_names if name in names]


def _count(function):
    """Returns the framework of a compiled function and its number of compilations; None: not such a function."""
    for framework, (attribute, count, _) in _COUNTERS.items():
        if hasattr(type(function), attribute):  # on the type: a module or a mock has any attribute
            return framework, count(function)
    return None


def mark(f):
    """Returns f, and the functions that f names, as far as they are compiled ones, for since()."""
    found = {id(one): (one, _count(one)) for one in [f, *_named_by(f)]}
    return [Traced(count[0], one, count[1], 0) for one, count in found.values() if count]


def since(begin):
    """Returns the functions that were compiled since mark() returned `begin`."""
    now = [one._replace(times=_count(one.function)[1] - one.before) for one in begin]
    return [one for one in now if one.times > 0]


def note(out, traced, when):
    """Writes the facts, and a warning about repeated compilations, into a record builder."""
    out.fact("compiled", "times", sum(one.times for one in traced), "1")
    out.fact("compiled", "again", sum(one.again for one in traced), "1")
    for one in traced:
        if one.again:
            name = getattr(one.function, "__name__", "a function")
            out.note("recompiled", f"{one.framework} compiled {name} again {_compiled.times_text(one.again)} {when}: it does so for each new "
                                   f"{_COUNTERS[one.framework][2]} of an argument")
