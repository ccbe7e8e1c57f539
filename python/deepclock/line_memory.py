# SPDX-License-Identifier: Apache-2.0
"""Memory of each line of Python functions: `@deepclock.memory.lines`, `with deepclock.memory.lines(f) as m:`."""

import functools
import inspect
import linecache
import os
import sys
import types
from typing import Any, Callable, List, Optional

from . import _deepclock
from .lines import Watch, code_of


_BRIEF_ROWS = 8  # rows of a short report


class LineMemory:
    """Results: rows, a text, tables of a record."""

    def __init__(self, watch, python=True):
        self.rows = [Row(*row) for row in watch.rows()]
        self.tells_peaks = watch.tells_peaks
        self.python = python  # Python's allocators were measured

    def codes(self):
        seen = []
        for row in self.rows:
            if row.code not in seen:
                seen.append(row.code)
        return seen

    def text(self):
        """Returns a table for each function, in the format of memory_profiler."""
        told = [self._of(code) for code in self.codes()]
        return "\n\n".join(told) if told else "none of these lines ran"

    def _of(self, code):
        rows = {row.line: row for row in self.rows if row.code is code}
        most = max(row.resident for row in rows.values())
        text = [f"{_name(code)}: {_deepclock.bytes_text(most)} resident at most, "
                f"{os.path.basename(code.co_filename)}:{code.co_firstlineno}",
                f"{'line':>6} {'memory':>10} {'increment':>11} {'peak':>10} {'Python':>11} {'its peak':>10} {'runs':>9}  source"]
        for line in range(min(code.co_firstlineno, *rows), max(code.co_firstlineno, *rows) + 1):
            row = rows.get(line)
            told = " " * 66
            if row:
                peak = _signed(row.peak) if self.tells_peaks else "-"
                python = (_signed(row.python_added), _signed(row.python_peak)) if self.python else ("-", "-")
                told = (f"{_signed(row.resident):>10} {_signed(row.added):>11} {peak:>10} {python[0]:>11} {python[1]:>10} "
                        f"{row.runs:>9,}")
            text.append(f"{line:>6} {told}  {linecache.getline(code.co_filename, line).rstrip()}".rstrip())
        return "\n".join(text)

    def answer(self):
        """Returns the line that added most to the resident set, or to Python's objects; "" if no line ran."""
        if not self.rows:
            return ""
        row = max(self.rows, key=lambda row: (row.added, row.peak, row.python_added))
        text = _deepclock.bytes_text
        place = f"{os.path.basename(row.code.co_filename)}:{row.line} ({_name(row.code)})"
        what = f"the most: {text(row.added)}" if row.added > 0 else \
            f"the most of Python's objects: {_signed(row.python_added)}"
        told = f"{place} adds {what} in {row.runs:,} run{'s' * (row.runs != 1)}"
        if self.tells_peaks:
            inside = max(self.rows, key=lambda row: row.peak)
            if inside.peak and (inside is not row or text(inside.peak) != _signed(row.added)):
                told += f", and {text(inside.peak)} for a while inside " \
                        f"{'it' if inside is row else os.path.basename(inside.code.co_filename) + ':' + str(inside.line)}"
        return f"{told}; {text(max(row.resident for row in self.rows))} resident at most"

    def tables(self, b):
        """Adds the table memory/source to a record builder."""
        no_peak = {"absent": "this system does not report the peak of the resident set"}
        no_python = {"absent": "Python's allocators were not measured"}
        rows = [[f"{os.path.basename(row.code.co_filename)}:{row.line}", row.resident, row.added,
                 row.peak if self.tells_peaks else no_peak, row.python_added if self.python else no_python,
                 row.python_peak if self.python else no_python, row.runs, row.ns,
                 _source(row), _name(row.code), row.code.co_filename, row.line] for row in self.rows]
        b.table("memory/source", "Memory by line: resident at its end, added and most inside by all its runs and one run",
                [("name", "line", None), ("memory", "memory", "B"), ("increment", "increment", "B"),
                 ("peak", "peak", "B"), ("python", "Python", "B"), ("python_peak", "its peak", "B"),
                 ("occurrences", "occurrences", "1"), ("time", "time", "ns"), ("source", "source", None),
                 ("function", "function", None), ("file", "file", None), ("line", "line", "1")], rows,
                [1, 2, 3, 4, 6, 8], self._brief())

    def _brief(self):
        """Returns the rows of a short report: the largest ones, in source order."""
        heaviest = sorted(range(len(self.rows)), key=lambda i: (-max(self.rows[i].added, self.rows[i].peak),
                                                                -self.rows[i].python_added, i))
        return sorted(heaviest[:_BRIEF_ROWS])


class Row:
    """A line: resident bytes at its end (maximum of its runs), the sum of increases of all runs, the largest peak of
    one run above its start; and the same for Python's allocators."""

    __slots__ = ("code", "line", "runs", "ns", "resident", "added", "peak", "python_added", "python_peak")
    code: types.CodeType
    line: int
    runs: int
    ns: int
    resident: int
    added: int
    peak: int
    python_added: int
    python_peak: int

    def __init__(self, *values: Any) -> None:
        for name, value in zip(self.__slots__, values):
            setattr(self, name, value)


def _name(code):
    return getattr(code, "co_qualname", code.co_name)


def _source(row):
    return linecache.getline(row.code.co_filename, row.line).strip()


def _signed(n):
    return f"-{_deepclock.bytes_text(-n)}" if n < 0 else _deepclock.bytes_text(n)


class lines:
    """Memory of each line of functions, with what they call.

        @deepclock.memory.lines
        def f(): ...                                     # each call prints a table to stderr, also one that raises

        with deepclock.memory.lines(f, Net.forward) as m:
            ...
        print(m)                                         # and m.record, table "memory/source"

    For each line: the resident set at its end, what it added, its peak, and the same of what
    was requested from Python's own allocators (exact; python=False leaves it out, and costs less).

    The resident set is the whole process's: what other threads allocate during a line is included. A function that runs already
    is watched from its next call on.
    """

    def __init__(self, *functions: Callable[..., Any], python: bool = True) -> None:
        if not functions:
            raise TypeError("deepclock.memory.lines needs functions")
        self._codes = [code_of(f) for f in functions]
        self._python = python
        self._watch = self._heap = self._told = None
        self._open = 0
        functools.update_wrapper(self, functions[0], updated=())

    def __enter__(self) -> "lines":
        if self._watch is not None:
            raise _deepclock.ArgumentError("these lines are watched already")
        self._told = None
        if self._python:
            self._heap = _deepclock._heap_start()
        self._watch = Watch(self._codes, heap=self._heap or 0)
        try:
            self._watch.begin()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(self, *raised: Any) -> None:
        self._watch.end()
        self._end()

    def _end(self):
        watch, heap, self._watch, self._heap = self._watch, self._heap, None, None
        if heap:
            _deepclock._heap_stop(heap)
        self._told = LineMemory(watch, self._python)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.__wrapped__
        if isinstance(function, (staticmethod, classmethod)):
            function = function.__func__
        if inspect.isgeneratorfunction(function) or inspect.iscoroutinefunction(function) or \
                inspect.isasyncgenfunction(function):
            raise TypeError(f"{function.__qualname__} goes on after its call: with deepclock.memory.lines(it) as m: ...")
        if self._watch is not None:  # recursive, or running in another thread
            return function(*args, **kwargs)
        try:
            with self:
                return function(*args, **kwargs)
        finally:
            if self._told is not None:
                print(self, file=sys.stderr)

    def __get__(self, instance, owner=None):
        if isinstance(self.__wrapped__, classmethod):
            instance = owner
        return self if instance is None or isinstance(self.__wrapped__, staticmethod) else types.MethodType(self, instance)

    def __str__(self):
        if self._told is None:
            return f"deepclock.memory.lines({', '.join(map(_name, self._codes))})"
        return self._told.text()

    __repr__ = __str__

    @property
    def rows(self) -> Optional[List[Row]]:
        """A Row for each line that ran; None before."""
        return self._told and self._told.rows

    @property
    def record(self) -> "Optional[_deepclock.Record]":
        """The Record; None before its end."""
        if self._told is None:
            return None
        from ._record import Record

        b = Record("deepclock.memory.lines()")
        b.fact("subject", "kind", "python")
        b.fact("subject", "name", ", ".join(map(_name, self._codes)))
        b.fact("memory", "method", "the resident set (/proc/self/statm) and the clock at each event of a line"
               + (", Python's allocators as deepclock.memory reads them" if self._python else ""))
        self._told.tables(b)
        return b.finish()
