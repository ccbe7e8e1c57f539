# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock memory SCRIPT: memory of the script's Python objects."""

import builtins
import os
import shlex
import sys
import threading

from . import _script, heap
from .line_memory import LineMemory
from .lines import Watch, code_of


def chosen(names):
    """Returns a predicate: whether a code object belongs to one of the named functions or files. Its attribute `missing`
    is the set of names of which none was found."""
    files = {os.path.realpath(name): name for name in names if name.endswith(".py")}
    functions = set(names)

    def choose(code):
        of = {code.co_name, getattr(code, "co_qualname", None)} & functions
        if files and os.path.realpath(code.co_filename) in files:
            of.add(files[os.path.realpath(code.co_filename)])
        choose.missing -= of
        return bool(of)
    choose.missing = set(names)
    return choose


class _Lines:
    """The lines of the functions that --lines names, and of those that the script decorates with a bare @profile, as
    for memory_profiler and kernprof."""

    def __init__(self, names, recording):
        self._named, self._recording = chosen(names), recording
        self._profiled = set()
        self._watch = None
        if names:
            self._begin()
        builtins.profile = self.profile

    def _begin(self):
        self._watch = Watch(choose=lambda code: code in self._profiled or self._named(code), heap=self._recording._number)
        self._watch.begin()

    def profile(self, function=None, **_):
        if function is None:  # @profile(precision=4)
            return self.profile
        self._profiled.add(code_of(function))
        if self._watch is None:
            self._begin()
        return function

    def missing(self):
        """Returns the names of which no function was called."""
        return sorted(self._named.missing)

    def end(self):
        """Returns the LineMemory, or None if no function is watched."""
        if self._watch is None:
            return None
        self._watch.end()
        return LineMemory(self._watch)


def main(words):
    parser = _script.parser("memory", "The memory of the objects of a Python script: peak, allocations, bytes "
                            "held at the end; by function, line and call path of Python.")
    parser.add_argument("-l", "--lines", metavar="NAME", action="append", default=[],
                        help="each line of that function, or of that file (NAME.py), as a table memory/source: the "
                        "resident set, what the line added, the most inside it; can be given again. Functions that the script "
                        "decorates with @profile, which needs no import, are among them")
    script = _script.split(parser, words)
    if script is None:
        return _script.command(["memory", *words])
    recording = heap.memory()
    recording._title = " ".join(["python -m deepclock memory", *(f"--lines {shlex.quote(name)}" for name in script.options.lines),
                                 script.title[len("python "):]])
    lines = None

    def end():
        for name in lines.missing() if lines else ():
            print(f"deepclock: --lines {name}: no function of that name was found among those that ran", file=sys.stderr)
        if lines:
            recording._lines_told = lines.end()
        if script.interrupted:
            recording._raised = script.interrupted
        recording.stop()
        return _script.show(recording.record, script.options)

    _script.at_exit(script, end)
    recording.start()
    lines = _Lines(script.options.lines, recording)
    try:
        _script.run(script)
    except SystemExit as e:
        if e.code not in (None, 0) or not lines.missing():
            raise
    for thread in threading.enumerate() if lines.missing() else ():  # one of these may call it
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    return 1 if lines.missing() else 0
