# SPDX-License-Identifier: Apache-2.0
"""How long the lines of a few Python functions take, with what they call.

From Python 3.12 on by sys.monitoring: only those functions become slower, by a call of Python for
each line. Before by sys.settrace: each call of any Python function becomes slower too. Most of what a line
costs to be watched is outside of its time; what is inside is measured and told: watching_ns().
"""

import dis
import inspect
import sys
import threading
import time


def code_of(function):
    """The code of a function, a method, or of what decorators have wrapped around one."""
    function = inspect.unwrap(getattr(function, "__func__", function))
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None:
        raise TypeError(f"{function!r} has no lines of Python")
    return code


class Lines:
    """`with Lines(f, g) as lines: ...`, then `lines.rows()`."""

    def __init__(self, *functions):
        self.codes = {code_of(f) for f in functions}
        self.spent = {}  # (code, line): [calls, ns]
        self._open = threading.local()

    def __enter__(self):
        self._watch = (_Monitored if hasattr(sys, "monitoring") else _Traced)(self)
        self._watch.begin()
        return self

    def __exit__(self, *raised):
        self._watch.end()

    def rows(self):
        """(code, line, how often it ran, nanoseconds), in the order of the source."""
        return sorted(((code, line, n, ns) for (code, line), (n, ns) in self.spent.items()),
                      key=lambda row: (row[0].co_filename, row[0].co_firstlineno, row[1]))

    @staticmethod
    def watching_ns():
        """How much longer a line that does nothing takes while it is watched, in its own time."""
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

    # What both ways tell. A frame that is open is [code, line, since when].

    def _stack(self):
        try:
            return self._open.stack
        except AttributeError:
            self._open.stack = []
            return self._open.stack

    def _charge(self, frame, now):
        if frame[1] is not None:
            self.spent[frame[0], frame[1]][1] += now - frame[2]

    def enters(self, code, line=None):
        if line is not None:
            self.spent.setdefault((code, line), [0, 0])
        self._stack().append([code, line, time.perf_counter_ns()])

    def line(self, code, line):
        now = time.perf_counter_ns()
        stack = self._stack()
        if not stack or stack[-1][0] is not code:
            return  # it had begun before
        frame = stack[-1]
        self._charge(frame, now)
        self.spent.setdefault((code, line), [0, 0])[0] += 1
        frame[1] = line
        frame[2] = time.perf_counter_ns()

    def leaves(self, code):
        now = time.perf_counter_ns()
        stack = self._stack()
        if stack and stack[-1][0] is code:
            self._charge(stack.pop(), now)


class _Monitored:
    def __init__(self, lines):
        self.lines = lines
        self.starts = {code: list(dis.findlinestarts(code)) for code in lines.codes}

    def begin(self):
        monitoring, lines = sys.monitoring, self.lines
        e = monitoring.events
        self.tool = next((i for i in (2, 3, 4, 1, 5, 0) if monitoring.get_tool(i) is None), None)
        if self.tool is None:
            raise RuntimeError("all six tools that Python has room for are in use")
        monitoring.use_tool_id(self.tool, "deepclock")
        here = {
            e.PY_START: lambda code, offset: lines.enters(code),
            e.PY_RESUME: lambda code, offset: lines.enters(code, self.line_at(code, offset)),
            e.PY_RETURN: lambda code, offset, value: lines.leaves(code),
            e.PY_YIELD: lambda code, offset, value: lines.leaves(code),
            e.LINE: lines.line,
        }
        # These are told of all code or of none.
        everywhere = {
            e.PY_UNWIND: lambda code, offset, error: code in lines.codes and lines.leaves(code),
            e.PY_THROW: lambda code, offset, error: code in lines.codes and
            lines.enters(code, self.line_at(code, offset)),
        }
        for event, call in {**here, **everywhere}.items():
            monitoring.register_callback(self.tool, event, call)
        monitoring.set_events(self.tool, sum(everywhere))
        for code in lines.codes:
            monitoring.set_local_events(self.tool, code, sum(here))

    def end(self):
        monitoring = sys.monitoring
        monitoring.set_events(self.tool, 0)
        for code in self.lines.codes:
            monitoring.set_local_events(self.tool, code, 0)
        monitoring.free_tool_id(self.tool)

    def line_at(self, code, offset):
        line = None
        for start, number in self.starts[code]:
            if start > offset:
                break
            line = number
        return line


class _Traced:
    def __init__(self, lines):
        self.lines = lines

    def begin(self):
        self.before = sys.gettrace()
        threading.settrace(self.call)
        sys.settrace(self.call)

    def end(self):
        sys.settrace(self.before)
        threading.settrace(self.before)

    def call(self, frame, event, arg):
        if event != "call" or frame.f_code not in self.lines.codes:
            return None
        resumed = frame.f_lasti > 0 and frame.f_code.co_flags & inspect.CO_GENERATOR
        self.lines.enters(frame.f_code, frame.f_lineno if resumed else None)
        return self.local

    def local(self, frame, event, arg):
        if event == "line":
            self.lines.line(frame.f_code, frame.f_lineno)
        elif event == "return":
            self.lines.leaves(frame.f_code)
        return self.local
