# SPDX-License-Identifier: Apache-2.0
"""Times aten calls and modules while they run, on a clock that excludes deepclock's own code."""

import time
import typing

import torch

from . import _price
from ._backward import Nodes
from ._dispatch import ITSELF, Mode
from ._modules import Modules, calls

now = time.perf_counter_ns
OTHER = None  # the module of what runs outside of all modules


class ModuleTime:
    """Of all calls of a module: with all in them, in its own code between calls, inside aten calls of
    its own; ns."""
    __slots__ = ("calls", "total", "between")

    def __init__(self):
        self.calls = self.total = self.between = 0


class Timer(Mode):
    """Times runs: `module_runs` has for each run {path: ModuleTime}, `runs` {(path, phase, name of the call):
    [calls, ns]} in the order of the first calls; `lists` has how many arguments of a call of this name are lists.

    wait: a function that waits for the device, called after each aten call; None: nothing to wait for.
    """

    def __init__(self, modules, wait):
        super().__init__()
        self._paths = [OTHER, *modules.classes]
        self.modules = {}  # of the open run
        self.runs, self.module_runs, self._ops, self.lists = [], [], {}, {}
        self.spent = 0  # in code of this file
        self.phase, self.path = "forward", None
        self.nodes = TimedNodes(self)
        self.running = calls(modules, self._enter, self._leave)
        self._wait = wait
        self.names = {}  # of aten calls
        self._frames = []  # [begin, ns of modules and aten calls inside]

    # --- modules

    def open(self):
        """Starts the time outside the module; close() ends it."""
        self.phase, self.path = "forward", self._around
        self.modules = {path: ModuleTime() for path in self._paths}
        self._frames, self._ops = [[now() - self.spent, 0]], {}

    def close(self):
        """Returns how long that was, ns."""
        (begin, inside), = self._frames
        took = now() - self.spent - begin
        other = self.modules[OTHER]
        other.calls += 1
        other.total += took
        other.between += took - inside
        self.runs.append(self._ops)
        self.module_runs.append(self.modules)
        return took

    def _around(self):
        return self.running.path if self.running.stack else OTHER

    def _enter(self, path, given):
        entered = now()
        self.modules[path].calls += 1
        if self.phase == "forward" and self.nodes.wanted:
            Nodes.label(self.nodes, given, self.running.path)
        self._frames.append([entered - self.spent, 0])
        self.spent += now() - entered

    def _leave(self, path, result):
        entered = now()
        begin, inside = self._frames.pop()
        took = entered - self.spent - begin
        module = self.modules[path]
        module.total += took
        module.between += took - inside
        self._frames[-1][1] += took
        if self.phase == "forward" and self.nodes.wanted:
            Nodes.label(self.nodes, result, path)
        self.spent += now() - entered

    # --- aten calls

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        entered = now()
        kwargs = kwargs or {}
        out = self.opened(func, types, args, kwargs)
        if out is not ITSELF:
            return out
        begin = now()
        self.spent += begin - entered
        out = func(*args, **kwargs)
        if self._wait:
            self._wait()
        end = now()
        name = self.names.get(func)
        if name is None:
            name = self.names[func] = _price.name_of(func)
            self.lists[name] = sum(isinstance(value, (list, tuple)) for value in (*args, *kwargs.values()))
        key = self.path(), self.phase, name
        row = self._ops.get(key)
        if row is None:
            row = self._ops[key] = [0, 0]
        row[0] += 1
        row[1] += end - begin
        self._frames[-1][1] += end - begin
        self.spent += now() - end
        return out


class Overhead(typing.NamedTuple):
    """By how much the recorded time of an aten call exceeds what the call takes without a profiler, ns: of any call,
    and for each argument that is a list, which PyTorch converts twice."""
    call: float
    list: float

    def of(self, lists):
        return self.call + lists * self.list


def overhead_of(wait, rounds=60, calls_=15):
    """Measured on a call on one number and on a view of it, two of whose arguments are lists: with and without a
    Timer in turns, the least of the rounds, which other programs lengthen."""
    one, timer = torch.ones(1), Timer(Modules(None), wait)
    functions = one.neg_, lambda: one.as_strided([1], [1])
    plain, timed = ([], []), ([], [])
    with torch.no_grad():
        for _ in range(rounds):
            for i, function in enumerate(functions):
                begin = now()
                for _ in range(calls_):
                    function()
                plain[i].append(now() - begin)
                with timer.running, timer:
                    timer.open()
                    for _ in range(calls_):
                        function()
                    timer.close()
                timed[i].append(sum(ns for _, ns in timer.runs[-1].values()))
    call, with_lists = (max(0, min(timed[i]) - min(plain[i])) / calls_ for i in range(2))
    return Overhead(call, max(0, with_lists - call) / sum(timer.lists.values()))


class TimedNodes(Nodes):
    """Nodes whose own time is subtracted."""

    def __init__(self, timer):
        super().__init__()
        self._timer = timer
        self.wanted = False

    def label(self, value, path):
        entered = now()
        super().label(value, path)
        self._timer.spent += now() - entered

    def watch(self):
        entered = now()
        super().watch()
        self._timer.spent += now() - entered
