# SPDX-License-Identifier: Apache-2.0
"""Profiles some steps of a loop that is not one's own.

    with deepclock.torch.profiling(model, schedule=deepclock.torch.schedule(wait=2, warmup=1, active=3)) as p:
        for batch in loader:
            train(model, batch)
            p.step()
    print(p.record)

Wait steps run as they are, with one reading of the clock; they are the reference of profiled steps. In warm-up
and active steps a dispatch mode is around each aten call, as in profile(). The cost of calls is computed in the first
warm-up step.
"""

import collections
import contextlib
import functools
import threading
import typing
from time import perf_counter_ns as now

import torch

import deepclock

from . import _backward, _device, _price, _step_hooks
from ._call import hinted, name_of, plain, uncompiled
from ._inference import shape_text
from ._modules import Modules, calls
from ._operators import tensors_in
from ._profile_memory import Memory
from ._profile_report import Times, record_of
from ._profile_timer import OTHER, Timer, overhead_of
from .profile import Count, Counting, limits


class Schedule(typing.NamedTuple):
    """Cycles of wait, warm-up and active steps; repeat=0: until the block ends."""
    wait: int
    warmup: int
    active: int
    repeat: int

    def kind(self, step):
        """Of the step with this number, from 0 on: "wait", "warmup", "active" or "after"."""
        length = self.wait + self.warmup + self.active
        cycle, at = divmod(step, length)
        if self.repeat and cycle >= self.repeat:
            return "after"
        return "wait" if at < self.wait else "warmup" if at < self.wait + self.warmup else "active"


@hinted
def schedule(*, wait=2, warmup=1, active=3, repeat=1):
    """Which steps of a loop profiling() profiles: cycles of `wait` plain steps, `warmup` steps under the profiler that
    are discarded, and `active` recorded steps. repeat: cycles; 0: until the block ends.

    The first step of a loop takes longer than the others, so wait=1 alone compares with that step, unless another cycle
    follows or the loop continues.
    """
    for name, value, least in (("wait", wait, 1), ("warmup", warmup, 0), ("active", active, 1), ("repeat", repeat, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            why = ": profiled steps are compared with the wait steps" if name == "wait" else ""
            raise deepclock.ArgumentError(f"{name}={value!r}: a whole number from {least} on{why}")
    return Schedule(wait, warmup, active, repeat)


class _Phase:
    """`with` it: aten calls belong to this phase."""

    def __init__(self, owner, name):
        self._owner, self._name = owner, name
        self._before = []

    def __enter__(self):
        if threading.get_ident() == self._owner._thread:
            self._before.append(self._owner._phase(self._name))

    def __exit__(self, *exception):
        if threading.get_ident() == self._owner._thread:
            self._owner._back(*self._before.pop())


class _Parts:
    """What the hooks of a step enter."""

    def __init__(self, owner):
        self._thread = owner._thread
        self.backward, self.optimiser = _Phase(owner, "backward"), _Phase(owner, "optimizer")


class _CountingLoop:
    """The same marks as Timer's, without times."""

    def __init__(self, modules, inputs):
        self.mode, self.nodes = Counting(modules), _backward.Nodes()
        self.running = calls(modules, self._enter, self._leave)
        self.mode.path = lambda: self.running.path if self.running.stack else OTHER
        self._inputs = inputs

    def _enter(self, path, given):
        if path == "" and not self._inputs:
            self._inputs += [shape_text(t) for t in tensors_in(given)]
        if self.mode.phase == "forward":
            self.nodes.label(given, self.running.path)

    def _leave(self, path, result):
        if self.mode.phase == "forward":
            self.nodes.label(result, path)


class _Total:
    """Timers of single steps added up."""

    def __init__(self):
        self.runs, self.module_runs, self.lists = [], [], {}
        self.views = set()  # names of calls that compute nothing and have no cost

    def add(self, timer):
        self.views.update(name for func, name in timer.names.items() if hasattr(func, "_schema") and _price.is_view(func))
        self.runs += timer.runs
        self.module_runs += timer.module_runs
        self.lists.update(timer.lists)


class profiling:
    """Where the time of a training or inference loop's steps goes, by module and by aten call.

    module      whose parts are distinguished; None: aten calls alone
    schedule    deepclock.torch.schedule(wait=, warmup=, active=, repeat=)
    optimizer   aten calls in its step() and zero_grad() are shown as "optimizer: ..."
    roofs       as for profile()

    step() ends a step. After the block `record` is a Record as of profile(), of the active steps; None without one. After an exception it has the complete active steps, and is `incomplete`. Nothing
    of a step is changed, except that modules of torch.compile run uncompiled in warm-up and active steps.
    """

    command, unit = "profiling", "step"
    alike = False  # an optimizer may run in some of the steps

    def __init__(self, module=None, *, schedule=None, optimizer=None, roofs=None):
        if schedule is not None and not isinstance(schedule, Schedule):
            raise deepclock.ArgumentError("schedule is what deepclock.torch.schedule(wait=2, warmup=1, active=3) returns")
        self.schedule = schedule or globals()["schedule"]()
        self.module = plain(module) if module is not None else None
        self.record = None
        self.name = "loop" if module is None else name_of(self.module)
        self.inputs = []  # of the module, in the step that is counted
        self.backward = False  # whether a backward pass ran
        self.modules = Modules(self.module)
        self.timer = _Total()
        self._optimizer, self._roofs = optimizer, roofs
        self._counted = None
        self._plain, self._profiled, self._without = [], [], []
        self._n, self._after = 0, 0
        self._thread, self._open = None, None
        self._ended = False
        self._mode = self._nodes = self._running = None

    # --- the block

    def __enter__(self):
        if self._thread is not None:
            raise RuntimeError("this block has been entered before: make a new profiling()")
        self._thread = threading.get_ident()
        self._where = _device.device_of(self.module) if self.module is not None else _device.device_in_use()
        self._wait = _device.waiter(self._where)
        self._begin()
        return self

    def step(self):
        """Ends a step."""
        if self._ended:
            raise RuntimeError("step() was called after the end of the `with` block")
        if self._thread != threading.get_ident():
            raise RuntimeError("steps end in the thread that entered the `with` block")
        if self._running is not None and self._running.stack:
            raise RuntimeError("step() was called inside a call of the module")
        if self._kind == "after" and self._after >= self.schedule.active:
            return
        if self._wait is not None:
            self._wait()
        if self._kind == "active":
            timer = self._mode
            without = timer.close()
            self._profiled.append(now() - self._began)
            self._without.append(without)
            self._end()
            self.timer.add(timer)
        else:
            took = now() - self._began
            counting = self._mode if isinstance(self._mode, Counting) else None
            self._end()
            if counting is not None:
                self._counted = counting.of
            elif self._kind in ("wait", "after"):
                self._plain.append(took)
                self._after += self._kind == "after"
        self._n += 1
        self._begin()

    def __exit__(self, kind, error, trace):
        self._ended = True
        self._end()
        if self._profiled and self._plain:
            self.record = self._finish(error)
        elif kind is None:
            raise deepclock.ArgumentError(
                f"no active step has ended: step() was called {self._n} times, and the first active step is number "
                f"{self.schedule.wait + self.schedule.warmup + 1} (schedule: wait={self.schedule.wait}, "
                f"warmup={self.schedule.warmup}, active={self.schedule.active})")

    # --- a step

    def _begin(self):
        self._kind = self.schedule.kind(self._n)
        if self._kind in ("warmup", "active"):
            self._set(self._kind == "warmup" and self._counted is None)
        self._began = now()
        if isinstance(self._mode, Timer):
            self._mode.open()

    def _set(self, counting):
        if counting:
            loop = _CountingLoop(self.modules, self.inputs)
            self._mode, self._nodes, self._running = loop.mode, loop.nodes, loop.running
        else:
            timer = Timer(self.modules, self._wait)
            timer.nodes.wanted = True
            self._mode, self._nodes, self._running = timer, timer.nodes, timer.running
        self._open = contextlib.ExitStack()
        hooks = _step_hooks.Hooks(_Parts(self), None, self._optimizer)
        self._open.callback(hooks.undo)
        hooks.set()
        self._open.enter_context(uncompiled())
        self._open.enter_context(self._running)
        self._open.enter_context(self._mode)

    def _end(self):
        if self._open is not None:
            self._open.close()
        self._open = self._mode = self._nodes = self._running = None

    def _phase(self, name):
        mode, nodes, running = self._mode, self._nodes, self._running
        before = mode, mode.phase, mode.path
        if name == "backward" and mode.phase != name:
            self.backward = True
            nodes.path = OTHER  # calls of the loss belong to no module
            nodes.watch()
            mode.path = lambda: running.path or nodes.path
        mode.phase = name
        return before

    def _back(self, mode, phase, path):
        mode.phase, mode.path = phase, path

    # --- the record

    def _finish(self, error):
        used = torch.get_num_threads()
        machine, why = limits(self._roofs, used) if self._where.type == "cpu" else (
            None, f"the loop runs on '{self._where}': the machine's limits apply to its CPU")
        roof = functools.partial(deepclock.roof, machine, threads=used) if machine else None
        cold = len(self._plain) == 1
        steady = self._plain if cold else self._plain[1:]
        middle = sorted(steady)[len(steady) // 2]
        times = Times(steady, self._profiled, self._without, [ns / middle for ns in self._profiled],
                      "steps without a profiler" + ("" if cold else ", but for the first"),
                      "median of a profiled step, deepclock's own code included, over the median of a plain one")
        more = functools.partial(self._more, error=error, cold=cold)
        return record_of(self, self._counts(), Memory("the memory of a loop is not followed: that of profile() is"),
                         times, overhead_of(self._wait), roof, why, self._where, more)

    def _counts(self):
        """{key: Count} of a mean step: the calls of an active step, with the cost of the calls in the counted step."""
        counts = {}
        calls_of = collections.Counter()
        for run in self.timer.runs:
            calls_of.update({key: n for key, (n, _) in run.items()})
        for key, n in calls_of.items():
            if key[2] in self.timer.views:
                continue
            counts[key] = count = Count()
            seen = (self._counted or {}).get(key)
            if seen is None:
                count.why = ("no warm-up step, in which calls are counted" if self._counted is None else
                             "it was not called in the step that was counted")
                continue
            of = n / len(self._profiled) / seen.calls
            for name in ("macs", "flops", "read_bytes", "write_bytes", "allocated"):
                setattr(count, name, _scaled(getattr(seen, name), of))
            count.params = seen.params
            count.calls, count.why, count.types, count.dtype = seen.calls, seen.why, seen.types, seen.dtype
        return counts

    def _more(self, b, error, cold):
        for name, value in self.schedule._asdict().items():
            b.fact("plan", name, value, "1")
        b.fact("profile", "steps", self._n, "1")
        b.fact("profile", "plain_steps", len(self._plain) - (not cold), "1")
        if cold:
            b.note("profile-cold-step", "the only step without a profiler is the first of the loop, which is longer than the "
                   "others: shares and perturbation are too small; give schedule(wait=2, ...)", "warning")
        if error is not None:
            b.incomplete()
            b.note("interrupted", f"the block ended by {type(error).__name__}: the record has the "
                                  f"{len(self._profiled)} active steps that were complete", "error")


def _scaled(value, by):
    return value if by == 1 else round(value * by)
