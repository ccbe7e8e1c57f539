# SPDX-License-Identifier: Apache-2.0
"""Makes the record of recorded allocations: tables of functions and lines, and the tree of call paths."""

import functools
import glob
import os
import re
import runpy

import deepclock

from ._record import Record

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_BRIEF_ROWS = 12
# Weights of a path, in the order of _heap_stop().
_WEIGHTS = [("at_peak", "at peak", "B"), ("allocated", "allocated", "B"), ("allocations", "allocations", "1"),
            ("temporary", "temporary", "1"), ("held", "held at end", "B"), ("blocks", "blocks held", "1")]
_N = len(_WEIGHTS)


# As in src/profiler/python/python_library.c: the standard library, and installed packages.
_LIBRARY = re.compile(r"^<frozen |^<__array_function__ internals>|/(site|dist)-packages/|/lib(64)?/python3\.\d+t?/")


@functools.lru_cache(maxsize=None)
def _installed(directory):
    """Returns whether the top-level package of the directory is installed: next to it is an installer's manifest."""
    def is_package(path):
        return os.path.isfile(os.path.join(path, "__init__.py"))

    if not is_package(directory):
        return False
    while is_package(directory) and directory != os.path.dirname(directory):
        directory = os.path.dirname(directory)
    return bool(glob.glob(os.path.join(glob.escape(directory), "*.dist-info")))


def is_library(file):
    return bool(_LIBRARY.search(file)) or (file.startswith("/") and _installed(os.path.dirname(file)))


class Paths:
    """Call paths with non-zero weights, without the frames of this package that lead to a script."""

    def __init__(self, functions, paths):
        own = [file.startswith(_HERE) or file in ("<frozen runpy>", runpy.__file__) for _, file, _ in functions]
        total = [list(weights) for _, _, _, *weights in paths]
        for i in range(len(paths) - 1, 0, -1):  # children follow their parents
            parent = paths[i][0]
            if parent >= 0:
                total[parent] = [a + b for a, b in zip(total[parent], total[i])]
        self.functions = [*functions, ("(deepclock)", "", 0)]
        self.nodes = []  # (parent or -1, function, line)
        self.own, self.total = [], []
        index, ours = {}, [0] * _N
        for i, (parent, function, line, *weights) in enumerate(paths):
            if not any(total[i]):
                continue
            above = index.get(parent, -1)
            if own[function] and above == -1:  # frames that lead to a script, and work for it
                ours = [a + b for a, b in zip(ours, weights)]
                continue
            index[i] = len(self.nodes)
            self.nodes.append((above, function, line))
            self.own.append(weights)
            self.total.append(total[i])
        if any(ours):
            self.nodes.append((-1, len(functions), 0))
            self.own.append(ours)
            self.total.append(ours)

    def user(self, i):
        """Returns the nearest line of the user's code on the path, or the path's own line without one."""
        at = i
        while at >= 0:
            _, function, line = self.nodes[at]
            file = self.functions[function][1]
            if file and not is_library(file):
                return file, line, function
            at = self.nodes[at][0]
        _, function, line = self.nodes[i]
        return self.functions[function][1], line, function

    def again(self, i):
        """Returns whether the path is recursive: inside another call of the same function."""
        function = self.nodes[i][1]
        above = self.nodes[i][0]
        while above >= 0:
            if self.nodes[above][1] == function:
                return True
            above = self.nodes[above][0]
        return False


def _functions(b, paths):
    sums = {}
    for i, (_, function, _) in enumerate(paths.nodes):
        row = sums.setdefault(function, [0] * (_N + 1))
        for k, weight in enumerate(paths.own[i]):
            row[k] += weight
        if not paths.again(i):
            row[_N] += paths.total[i][0]
    rows = []
    for function, row in sums.items():
        name, file, line = paths.functions[function]
        rows.append([name, row[0], row[_N], *row[1:_N], file or None, line or None])
    _ranked(b, "memory/functions", "Functions by their bytes at the peak; total: including callees", rows,
            [("name", "function", None), _WEIGHTS[0], ("total", "total", "B"), *_WEIGHTS[1:],
             ("file", "file", None), ("line", "line", "1")], [1, 2, 4, 6])
    return rows


def _lines(b, paths):
    sums = {}
    for (_, function, line), weights in zip(paths.nodes, paths.own):
        row = sums.setdefault((paths.functions[function][1], line, function), [0] * _N)
        for k, weight in enumerate(weights):
            row[k] += weight
    rows = [[f"{os.path.basename(file)}:{line}" if file else paths.functions[function][0], *row,
             paths.functions[function][0], file or None, line or None]
            for (file, line, function), row in sums.items() if any(row)]
    _ranked(b, "memory/lines", "Lines by their bytes at the peak", rows,
            [("name", "line", None), *_WEIGHTS, ("function", "function", None), ("file", "file", None),
             ("line", "line", "1")], [1, 3, 5, 7])


def _most_by_user(paths):
    """Returns bytes and name of the line that held most at the peak, with library callees; user lines come first."""
    sums = {}
    for i, weights in enumerate(paths.own):
        place = paths.user(i)
        sums[place] = sums.get(place, 0) + weights[0]
    (file, line, function), held = max(sums.items(), default=(("", 0, 0), 0),
                                       key=lambda item: (not is_library(item[0][0]) and bool(item[0][0]), item[1]))
    name = paths.functions[function][0] if held else ""
    return held, f"{os.path.basename(file)}:{line} ({name})" if file else name


def _ranked(b, name, title, rows, columns, brief):
    rows.sort(key=lambda row: (-row[1], -row[2], row[0]))
    told = [[{"absent": "no frame of Python"} if cell is None else cell for cell in row] for row in rows]
    b.table(name, title, columns, told, brief, range(min(len(rows), _BRIEF_ROWS)))


def _tree(b, paths):
    b.tree("allocations", "Allocations by call path of Python", _WEIGHTS,
           [(parent, _frame(paths.functions[function], line), weights)
            for (parent, function, line), weights in zip(paths.nodes, paths.own)])


def _frame(function, line):
    name, file, start = function
    return name, file, line, start


def record_of(told, title, raised, pair_ns, lines_told=None):
    """Makes the Record from the result of _heap_stop(). raised: the name of what ended the block, or None."""
    totals, functions, all_paths = told
    paths = Paths(functions, all_paths)
    b = Record(title)
    b.fact("subject", "kind", "python")
    b.fact("memory", "domains", "raw, mem, obj: requests to Python's allocators; direct allocations of C libraries "
           "are not included")
    for domain in ("raw", "mem", "obj"):
        b.fact("memory", f"allocated_{domain}", totals[domain], "B")
    b.fact("memory", "lost", totals["lost"], "1")
    b.fact("memory", "own_bytes", totals["own"], "B")
    b.fact("memory", "own_time", round(totals["allocations"] * pair_ns), "ns")
    b.fact("memory", "method", "wrappers of Python's allocators (PyMem_SetAllocator); own_time is estimated: the "
           "number of allocations times the overhead of one with its release, in a trial with a stack of a few frames")
    how = "requested bytes of the blocks allocated since the start"
    b.metric("memory/heap_peak", totals["peak"], "B", how)
    b.metric("memory/heap_held", totals["held"], "B", how)
    b.metric("memory/allocated", totals["allocated"], "B", "a block that is resized counts again")
    b.metric("memory/allocations", totals["allocations"], "1", "a block that is resized counts again")
    b.metric("memory/temporary", totals["temporary"], "1", "freed before the next allocation")
    if lines_told:  # the requested table is first
        lines_told.tables(b)
    _functions(b, paths)
    _lines(b, paths)
    _tree(b, paths)
    if totals["cut"]:
        b.note("memory-cut", "another tool put Python's allocators back as they were before deepclock's, and what came "
               "then is not counted: stop tools like tracemalloc in the reverse order of their start")
        b.incomplete()
    if totals["lost"]:
        b.note("memory-blocks", f"there was no memory to keep {totals['lost']} blocks: sums are too small")
    if raised is not None:
        b.note("memory-raised", f"{raised} ended it")
        b.incomplete()
    text = deepclock.bytes_text
    answer = f"{text(totals['peak'])} at the peak"
    held, name = _most_by_user(paths)
    if held:
        answer += f", {text(held)} of it by {name}"
    answer += f"; {text(totals['held'])} held at the end; {totals['allocations']:,} allocations"
    b.answer(lines_told.answer() or f"none of the lines ran; {answer}" if lines_told else answer)
    return b.finish()
