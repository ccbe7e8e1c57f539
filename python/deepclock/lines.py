# SPDX-License-Identifier: Apache-2.0
"""Profiles lines of Python functions with their callees: number of runs, time, memory.

The events are counted in C (_Lines). From Python 3.12 on sys.monitoring reports them, which slows down only the
watched functions. Before 3.12 a trace function does, which slows down each line of any Python function. Most of the
overhead of watching a line is outside its time; watching_ns() measures the part inside.
"""

import dis
import inspect
import sys
import threading

from . import _deepclock


def code_of(function):
    """Returns the code of a function or method, also a decorated one."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        raise TypeError(f"{function!r} has no lines of Python")
    return code


def span(code):
    """Returns the first and the last line of the code."""
    found = [line for _, line in dis.findlinestarts(code) if line] + [code.co_firstlineno]
    return min(found), max(found)


class Watch:
    """Watches lines of code objects: of `codes`, or of those for which choose(code) is true at their first call. heap:
    the number of a recording of Python's allocations, 0: none; None: memory is not read."""

    def __init__(self, codes=(), choose=None, heap=None):
        self.codes = set(codes)
        self._choose = choose
        self._watch = (_Monitored if hasattr(sys, "monitoring") else _Traced)()
        self._lines = _deepclock._Lines(self._wanted, getattr(self._watch, "disable", None))
        self.tells_peaks = heap is not None and self._lines.reads(heap)

    def _wanted(self, code):
        if code not in self.codes:
            if self._choose is None or not self._choose(code):
                return None
            self.codes.add(code)
            self._watch.adds(code)
        return span(code)

    def begin(self):
        self._watch.begin(self._lines, self.codes, self._choose is not None)

    def end(self):
        self._watch.end(self.codes)

    def rows(self):
        """Returns the row of _Lines of each line that ran, in source order."""
        return sorted((row for row in self._lines.rows() if row[2] or row[1] != row[0].co_firstlineno),
                      key=lambda row: (row[0].co_filename, row[0].co_firstlineno, row[1]))


class Lines(Watch):
    """`with Lines(f, g) as lines: ...`, then `lines.rows()`."""

    def __init__(self, *functions):
        super().__init__(code_of(f) for f in functions)

    def __enter__(self):
        self.begin()
        return self

    def __exit__(self, *raised):
        self.end()

    def rows(self):
        """Returns (code, line, number of runs, nanoseconds) of each line, in source order."""
        return [row[:4] for row in super().rows()]

    @staticmethod
    def watching_ns():
        """Returns the overhead of watching within the time of an empty line."""
        def nothing():
            a = 0
            a = 0
            a = 0
            a = 0
            return a

        best = None
        for _ in range(20):
            with Lines(nothing) as watched:
                nothing()
            each = sum(ns for _, _, n, ns in watched.rows()) / 5
            best = each if best is None else min(best, each)
        return best


class _Monitored:
    def __init__(self):
        self.disable = sys.monitoring.DISABLE
        e = sys.monitoring.events
        self._of_code = e.LINE | e.PY_RESUME | e.PY_RETURN | e.PY_YIELD
        self._everywhere = e.PY_UNWIND | e.PY_THROW  # events that cannot be set for single code objects
        self._all = False

    def begin(self, lines, codes, all_):
        monitoring = sys.monitoring
        e = monitoring.events
        self.tool = next((i for i in (2, 3, 4, 1, 5, 0) if monitoring.get_tool(i) is None), None)
        if self.tool is None:
            raise RuntimeError("all six tool ids of sys.monitoring are in use")
        monitoring.use_tool_id(self.tool, "deepclock")
        calls = {e.PY_START: lines.starts, e.PY_RESUME: lines.resumes, e.LINE: lines.line, e.PY_RETURN: lines.leaves,
                 e.PY_YIELD: lines.leaves, e.PY_UNWIND: lines.leaves, e.PY_THROW: lines.resumes}
        self._events = list(calls)
        for event, call in calls.items():
            monitoring.register_callback(self.tool, event, call)
        self._all = all_
        if all_:
            monitoring.restart_events()
        for code in codes:
            self.adds(code)
        monitoring.set_events(self.tool, self._everywhere | (e.PY_START if all_ else 0))

    def adds(self, code):
        start = 0 if self._all else sys.monitoring.events.PY_START
        sys.monitoring.set_local_events(self.tool, code, self._of_code | start)

    def end(self, codes):
        monitoring = sys.monitoring
        monitoring.set_events(self.tool, 0)
        for code in codes:
            monitoring.set_local_events(self.tool, code, 0)
        for event in self._events:  # else they hold the lines until another tool has this number
            monitoring.register_callback(self.tool, event, None)
        monitoring.free_tool_id(self.tool)


class _Traced:
    def begin(self, lines, codes, all_):
        self.lines, self.before, self.hook_before = lines, sys.gettrace(), threading._trace_hook  # gettrace() is of 3.10
        threading.settrace(lines.joins)
        lines.trace()

    def adds(self, code):
        pass

    def end(self, codes):
        # Another trace function that was set meanwhile stays.
        if sys.gettrace() is self.lines:
            sys.settrace(self.before)
        if threading._trace_hook == self.lines.joins:
            threading.settrace(self.hook_before)
        self.lines.untrace()
