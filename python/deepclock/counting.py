# SPDX-License-Identifier: Apache-2.0
"""How often and how long, for each function of Python and each in C that it calls:
`with deepclock.count() as c: ...`, `deepclock.count(f, *args)`, `python -m deepclock count SCRIPT`."""

import functools as _functools
import inspect as _inspect
import marshal as _marshal
import operator as _operator
import os as _os
import sys as _sys
import threading as _threading
import time as _time
import types as _types
from typing import Any, Callable, Optional, overload as _overload

from . import _deepclock

_METHOD = ("sys.monitoring: each call's beginning and end, in C" if _sys.version_info >= (3, 12)
           else "a profile function in C: each call's beginning and end")


class counting:
    """Counts the calls of all threads while its block runs, by their call paths.

    `builtins=False` leaves functions in C out; `top` is the number of functions in the record's table, `sort` their order,
    in pstats' words too ("cumulative", "calls"). After the block: `record`, with the table "functions" and the tree "calls", `stats` and `dump_stats(path)` for pstats.

    A process counts once at a time: ArgumentError where it does already. Before Python 3.12 threads that neither ran at
    the beginning nor were started by `threading` are not counted, and a profiler that starts inside the block takes its
    thread over: the record is then incomplete. What forked children call until the
    block ends is counted too; in a child the block's own record has the child's calls alone.
    """

    def __init__(self, *, builtins: bool = True, top: Optional[int] = None, title: Optional[str] = None,
                 sort: str = "self") -> None:
        words = _deepclock._count_sorts()
        if sort not in words:
            raise _deepclock.ArgumentError(f"sort={sort!r}: the orders of functions are {', '.join(words)}")
        if top is not None and not (hasattr(top, "__index__") and 0 <= _operator.index(top) < 1 << 63):
            raise _deepclock.ArgumentError(f"top={top!r}: the number of functions, 0 for all")
        if title is not None and not isinstance(title, str):
            raise TypeError(f"title is a str, not {type(title).__name__}")
        self._builtins, self._title, self._sort = builtins, title, sort
        self._top = 0 if top is None else _operator.index(top)
        self._began = self._elapsed = None
        self._price = (0.0, 0.0)
        self._functions = self._threads = self._record = None
        self._incomplete = False

    def __enter__(self) -> "counting":
        return self.start()

    def __exit__(self, *raised: Any) -> None:
        self.stop(raised[0] is not None and issubclass(raised[0], KeyboardInterrupt))

    def start(self) -> "counting":
        """Starts, as entering the block does; returns the object itself."""
        self._price = _price(self._builtins)
        self._start()
        return self

    def _start(self):
        self._functions = self._threads = self._record = None
        _at_fork()
        self._began = _time.perf_counter_ns()
        if _sys.version_info < (3, 12):
            self._threads_before = _threading._profile_hook  # getprofile() is of 3.10
            _threading.setprofile(_deepclock._count_thread)
        try:
            _deepclock._count_start(self._builtins)
        except BaseException:
            self._began = None
            if _sys.version_info < (3, 12):
                _threading.setprofile(self._threads_before)
            raise

    def stop(self, incomplete: bool = False) -> "Optional[_deepclock.Record]":
        """Stops, as leaving the block does; returns the record. incomplete: it was interrupted."""
        if self._began is not None:
            self._stop()
            self._incomplete = incomplete
            self._record = self._made()
        return self._record

    def _stop(self):
        _deepclock._count_stop(counting._stop.__code__, counting.stop.__code__, counting.__exit__.__code__)
        if _sys.version_info < (3, 12):
            _threading.setprofile(self._threads_before)
        self._elapsed, self._began = _time.perf_counter_ns() - self._began, None
        self._functions = _deepclock._count_functions()
        if _deepclock._count_folder() is not None:
            _children_read(_deepclock._count_folder(), self._functions)
        self._threads = None

    @property
    def record(self) -> "Optional[_deepclock.Record]":
        """The Record; None before the end."""
        return self._record

    def _made(self):
        frames = {number: _frame(what) for number, (what, _) in self._functions.items()}
        title = _bytes_of(self._title or " ".join(_sys.argv))
        record = _deepclock._count_record(frames, title, _METHOD, self._elapsed, *self._price, self._incomplete,
                                          self._top, self._sort)
        self._threads = _deepclock._count_paths()
        return record

    @property
    def stats(self) -> "dict[tuple[str, int, str], Any]":
        """What pstats.Stats has as `stats`: {(file, line, name): (primitive calls, calls, own time, time, callers)}, in
        seconds, as cProfile makes it. pstats.Stats(c) reads it."""
        labels = {number: _label(what) for number, (what, _) in (self._functions or {}).items()}
        stats, edges = {}, {}
        for paths in self._threads or ():
            for path in paths[1:]:
                _stats_add(paths, path, labels, stats, edges)
        for (caller, callee), (calls, primitive, own, whole) in edges.items():
            stats[callee][4][caller] = (calls, primitive, own, whole)
        return {label: (primitive, calls, own, whole, callers)
                for label, (calls, primitive, own, whole, callers) in stats.items()}

    def dump_stats(self, path: Any) -> None:
        """Writes a file for pstats.Stats(path) and other readers of this format."""
        _deepclock._file_replace(path, _marshal.dumps(self.stats))

    @stats.setter
    def stats(self, _):
        pass  # pstats.Stats() assigns an empty dict

    def create_stats(self) -> None:
        """Called by pstats.Stats(c); `stats` exists already."""


@_overload
def count(*, builtins: bool = ..., top: Optional[int] = ..., title: Optional[str] = ..., sort: str = ...) -> counting: ...


@_overload
def count(function: Callable[..., object], /, *args: Any, **kwargs: Any) -> "_deepclock.Record": ...


def count(*function: Any, **kwargs: Any) -> Any:
    """Counts calls: `with deepclock.count() as c:` a block (options: see `counting`); count(f, *args, **kwargs) a call
    of f, and returns the record; after Ctrl-C that of the calls until then, which is incomplete."""
    if not function:
        return counting(**kwargs)
    function, *args = function
    if not callable(function):
        raise TypeError(f"count() takes a function and its arguments, or nothing for a block: not "
                        f"{type(function).__name__}")
    _runs_checked(function)
    c = counting(title=getattr(function, "__qualname__", type(function).__qualname__))
    try:
        with c:
            function(*args, **kwargs)
    except KeyboardInterrupt:
        if c.record is None:
            raise
    return c.record


def _runs_checked(function):
    """TypeError, as of bench(), for a function whose call runs nothing of it."""
    kinds = (function, type(function).__call__)  # a function's is of no kind
    if any(map(_inspect.iscoroutinefunction, kinds)):
        raise TypeError("a call of a coroutine function runs nothing of it: count a function that runs it, such as "
                        "lambda: asyncio.run(f())")
    if any(_inspect.isgeneratorfunction(kind) or _inspect.isasyncgenfunction(kind) for kind in kinds):
        raise TypeError("a call of a generator function runs nothing of it: count a function that goes through it")


def _stats_add(paths, path, labels, stats, edges):
    number, parent, calls, again, own, whole = path
    label = labels.get(number)
    if not calls or label is None:
        return
    primitive, caller = calls - again, paths[parent][0] if parent else None
    # A call is primitive if no other call of the function is open; on an edge, if no call of that edge is.
    inside = edge_inside = False
    above = parent
    while above:
        function, next_above = paths[above][:2]
        if function == number:
            inside = True
            edge_inside |= bool(next_above) and paths[next_above][0] == caller
        above = next_above
    row = stats.setdefault(label, [0, 0, 0.0, 0.0, {}])
    row[0] += calls
    row[2] += own / 1e9
    if not inside:
        row[1] += primitive
        row[3] += whole / 1e9
    if caller in labels:
        edge = edges.setdefault((labels[caller], label), [0, 0, 0.0, 0.0])
        edge[0] += calls
        edge[2] += own / 1e9
        if not edge_inside:
            edge[1] += primitive
            edge[3] += whole / 1e9


@_functools.lru_cache(maxsize=None)
def _at_fork():
    # Both hooks are C functions, so that the program's counts do not include them.
    _os.register_at_fork(before=_functools.partial(_deepclock._count_before_fork, _folder),
                         after_in_child=_deepclock._count_after_fork)


def _folder():
    """Makes a directory for the counts of forked processes, in shared memory if large enough; None: it failed."""
    import shutil
    import tempfile

    memory = "/dev/shm"
    try:
        if "TMPDIR" in _os.environ or shutil.disk_usage(memory).free < 2 << 30:
            memory = None
    except OSError:
        memory = None
    try:
        return tempfile.mkdtemp(prefix="deepclock-", dir=memory)
    except OSError:
        return None


_MARK = 48  # bits of an address; above them the number of a forked process


def _children_read(folder, functions):
    """Reads the counts of forked processes: files PID.N, one per thread, and next to the first file of each process the
    names of its functions."""
    import shutil

    names = [{}]
    for pid, n in sorted(tuple(map(int, name.split("."))) for name in _os.listdir(folder) if not name.endswith(".names")):
        path = _os.path.join(folder, f"{pid}.{n}")
        first = _os.path.exists(path + ".names")
        if first:
            names.append(_names_read(path + ".names"))
        _deepclock._count_child(path, len(names) - 1 << _MARK, first)
    shutil.rmtree(folder, ignore_errors=True)
    for number in {path[0] for paths in _deepclock._count_paths() for path in paths[1:]}:
        if number >> _MARK:
            own = number & (1 << _MARK) - 1
            what = names[number >> _MARK].get(own) or functions.get(own, (None,))[0]
            if what is not None:
                functions[number] = (what, None)


def _names_read(path):
    with open(path, encoding="utf-8", errors="replace") as file:
        fields = file.read().split("\0")[:-1]
    return {int(number): _types.SimpleNamespace(co_name=name, co_qualname=qualified, co_filename=source,
                                                co_firstlineno=int(line)) if source else name
            for number, line, name, qualified, source in zip(*[iter(fields)] * 5)}


def _bytes_of(text):
    """Returns the text as the record has it, without what it cannot have."""
    text = text.replace("\0", "?")
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _label(what):
    """Returns cProfile's name of a function."""
    return ("~", 0, what) if isinstance(what, str) else (what.co_filename, what.co_firstlineno, what.co_name)


def _frame(what):
    """Returns (name, file, line) for the record."""
    if isinstance(what, str):
        return (what[1:-1] if what.startswith("<") and what.endswith(">") else what, None, 0)
    return (getattr(what, "co_qualname", what.co_name), what.co_filename, what.co_firstlineno)


def _empty():
    pass


def _many(f, n):
    for _ in range(n):
        f()


_CALLS = 1000


def _price(builtins):
    """Measures the overhead of counting an empty call: (in its own time, in its caller's), in ns, before counting."""
    best = [float("inf")] * 2
    inside = 0.0
    for counted in (0, 1):
        for _ in range(4):
            c = counting(builtins=builtins)
            if counted:
                c._start()
            try:
                begin = _time.perf_counter_ns()
                _many(_empty, _CALLS)
                took = _time.perf_counter_ns() - begin
            finally:
                if counted:
                    c._stop()
            if counted:
                if took < best[1]:
                    number = next((k for k, (what, _) in c._functions.items() if what is _empty.__code__), None)
                    inside = sum(p[4] for paths in _deepclock._count_paths() for p in paths[1:] if p[0] == number)
            best[counted] = min(best[counted], took)
    cost = max(0.0, (best[1] - best[0]) / _CALLS)
    share = min(1.0, inside / best[1]) if best[1] else 0.0
    return cost * share, cost * (1 - share)
