# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock memory SCRIPT: what its objects need of memory."""

import os

from . import _script, heap
from .line_memory import LineMemory
from .lines import Watch


def chosen(names):
    """Whether a code object is of one of the functions or files named."""
    files = {os.path.realpath(name) for name in names if name.endswith(".py")}
    functions = set(names)
    return lambda code: (code.co_name in functions or getattr(code, "co_qualname", None) in functions
                         or bool(files) and os.path.realpath(code.co_filename) in files)


def main(words):
    parser = _script.parser("memory", "What the objects of a Python script need of memory: peak, allocations, what is "
                            "held at the end; by function, line and call path of Python.")
    parser.add_argument("-l", "--lines", metavar="NAME", action="append", default=[],
                        help="each line of that function, or of that file (NAME.py), as a table memory/source: the "
                        "resident set, what the line added, the most inside it; can be given again")
    script = _script.split(parser, words)
    if script is None:
        return _script.command(["memory", *words])
    recording = heap.memory()
    recording._title = "python -m deepclock memory " + script.title[len("python "):]
    watch = None

    def end():
        if watch:
            watch.end()
            recording._lines_told = LineMemory(watch)
        recording.stop()
        _script.show(recording.record, script.options)

    _script.at_exit(end)
    recording.start()
    if script.options.lines:
        watch = Watch(choose=chosen(script.options.lines), heap=recording._number)
        watch.begin()
    try:
        _script.run(script)
    except SystemExit as e:
        if e.code == 130:
            recording._raised = KeyboardInterrupt
        raise
