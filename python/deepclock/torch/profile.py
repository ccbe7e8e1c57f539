# SPDX-License-Identifier: Apache-2.0
"""Attributes the time of a module to its modules and aten calls, forward and backward.

Runs are made in pairs of a plain and a profiled one, in alternating order. In a profiled run a dispatch mode
intercepts each aten call, and a wrapper each call of a module; their own time is subtracted (_profile_timer.py).
The rest adds up to the run.
"""

import contextlib
import functools
import operator
import signal
import threading
import time

import torch

import deepclock

from .._record import saved, saving
from . import _backward, _device, _price, _profile_memory
from ._call import arguments, hinted, name_of, plain, seconds, uncompiled
from ._counter import Counter, storage_of
from ._inference import inference, shape_text, threads_checked
from ._modules import Modules, calls
from ._operators import tensors_in
from ._profile_report import Times, record_of
from ._profile_timer import Timer, overhead_of

_RUNS_LEAST, _RUNS_MOST, _WARMUP = 5, 200, 2


class Count:
    """The work of all calls of one name in one module in one run."""

    def __init__(self):
        self.calls = self.macs = self.flops = self.params = self.read_bytes = self.write_bytes = self.allocated = 0
        self.why, self.types, self.dtype = "", (), "float32"

    def add(self, price):
        self.calls += 1
        for key in ("macs", "flops", "read_bytes", "write_bytes"):
            setattr(self, key, getattr(self, key) + (getattr(price, key) or 0))
        self.types = price.types or self.types
        if price.macs is None or price.flops is None:
            self.why = self.why or price.why or "not known"


class Counting(Counter):
    """Computes the cost of calls, and the bytes of the tensors that they create. A parameter belongs to the first call that
    reads it."""

    def __init__(self, modules):
        super().__init__(lambda call: None)
        self.of = {}
        self._params = {storage_of(t): t.numel() for _, t, parameter in modules.held() if parameter}

    def _price(self, func, args, kwargs, out):
        price = super()._price(func, args, kwargs, out)
        key = self.path(), self.phase, _price.name_of(func)
        count = self.of.setdefault(key, Count())
        count.add(price)
        count.params += sum(self._params.pop(storage_of(t), 0) for t in tensors_in((args, kwargs)))
        had = {storage_of(t) for t in tensors_in((args, kwargs))}
        for t in tensors_in(out):
            if storage_of(t) not in had:
                had.add(storage_of(t))
                count.allocated += t.numel() * t.element_size()
            count.dtype = str(t.dtype).replace("torch.", "")
        return price


class _Nothing(contextlib.nullcontext):
    phase = ""


class _Work:
    """A run, plain, profiled or counted."""

    command, unit = "profile", "run"
    alike = True  # each run does the same

    def __init__(self, module, args, kwargs, backward, loss, wait):
        self.module, self.args, self.kwargs = module, args, kwargs
        self.name = name_of(module)
        self.inputs = [shape_text(t) for t in tensors_in((args, kwargs))]
        self.backward, self.loss = backward, loss
        self.wait = wait or (lambda: None)
        self.modules = Modules(module)
        self.timer = Timer(self.modules, wait)
        self.timer.nodes.wanted = backward
        self._parameters = list(module.parameters()) if isinstance(module, torch.nn.Module) else []

    def _clean(self):
        for p in self._parameters:
            p.grad = None
        self.wait()

    def plain(self):
        self._clean()
        begin = time.perf_counter_ns()
        output = self.module(*self.args, **self.kwargs)
        if self.backward:
            goals, gradients = _backward._goal(output, self.loss, _Nothing(), _Nothing())
            torch.autograd.backward(goals, gradients)
        self.wait()
        return time.perf_counter_ns() - begin

    def profiled(self):
        """(how long it took, without deepclock's own code)."""
        timer = self.timer
        self._clean()
        begin = time.perf_counter_ns()
        with timer.running, timer:
            timer.open()
            output = self.module(*self.args, **self.kwargs)
            if not self.backward:
                without = timer.close()
        if self.backward:
            _backward.run(output, self.loss, timer, timer.nodes, timer.running)
            without = timer.close()
        return time.perf_counter_ns() - begin, without

    def counted(self):
        """{(path, phase, name): Count}"""
        counting, nodes = Counting(self.modules), _backward.Nodes()

        def enter(path, given):
            if self.backward and counting.phase == "forward":
                nodes.label(given, running.path)

        def leave(path, result):
            if self.backward and counting.phase == "forward":
                nodes.label(result, path)
        self._clean()
        running = calls(self.modules, enter, leave)
        counting.path = lambda: running.path if running.stack else None
        with running, counting:
            output = self.module(*self.args, **self.kwargs)
        if self.backward:
            _backward.run(output, self.loss, counting, nodes, running)
        return counting.of


@hinted
def profile(module, *inputs, named=None, backward=False, loss=None, runs=None, max_time=2.0, threads=None,
            device=None, roofs=None, save=None):
    """Attributes the time of `module(*inputs, **named)` to its modules and aten calls.

    module: an nn.Module or any callable, on the device that it has; inputs as the module takes them, as
    for cost(). Without a backward pass it runs in eval mode and without gradients; with one in the
    mode that it has.
    backward: the backward pass too, from ones for each floating output, from the scalar that
    `loss(output)` gives, or from `output.loss`. Gradients, buffers and random numbers are restored.
    runs: profiled runs, each next to a plain one; default: the number that `max_time` ("5s", or a number of
    seconds) holds, 5 to 200. threads: torch.set_num_threads() during the profile. device: for a check, ArgumentError if
    the module is on another device.
    roofs: the record of `deepclock machine`, with which rates are compared; True: measured unless cached (seconds);
    None: if cached; False: none. save: a file for the record, as JSON.

    Returns a Record: tables profile/modules and profile/operators, the tree `modules` (each node's own
    time; it adds up to a run), operators with their times, latency/mean of the plain runs,
    profile/perturbation (what profiling makes of it). Times are means of the faster half of the runs. On a device other than
    the CPU each aten call is waited for, so that nothing overlaps.

    Ctrl-C while runs are profiled returns the record until then, which is incomplete; a second one, or one before
    that, is a KeyboardInterrupt. Raises what the module raises; ArgumentError where a loss cannot be made.
    """
    if runs is not None:
        if isinstance(runs, bool) or not hasattr(runs, "__index__") or operator.index(runs) < 1:
            raise deepclock.ArgumentError("runs is a whole number from 1 on")
        runs = operator.index(runs)
    max_time = seconds("max_time", max_time)
    module = plain(module)
    saving(save)
    backward = backward or loss is not None
    where = _device.device_of(module, (inputs, named or {}))
    _device.checked(device, where)
    args, kwargs = arguments(module, inputs, named)
    args, kwargs = _device.moved(args, where), _device.moved(kwargs, where)
    mode = _training(threads) if backward else inference(module, threads)
    work = _Work(module, args, kwargs, backward, loss, _device.waiter(where))
    with _backward.kept(module, None), mode, uncompiled():
        for _ in range(_WARMUP):
            took = work.plain()
        took += work.profiled()[0]
        counted = work.counted()
        memory = _profile_memory.measured(work, where)
        work.timer.__init__(work.modules, _device.waiter(where))
        work.timer.nodes.wanted = backward
        if runs is None:
            runs = int(max(_RUNS_LEAST, min(_RUNS_MOST, max_time * 1e9 / max(took, 1))))
        times = _run(work, runs)
        overhead = overhead_of(_device.waiter(where))
        used = torch.get_num_threads()
        machine, why = (None, f"the module runs on '{where}': the machine's limits apply to its CPU"
                        ) if where.type != "cpu" else limits(roofs, used)
    roof = functools.partial(deepclock.roof, machine, threads=used) if machine else None
    return saved(record_of(work, counted, memory, times, overhead, roof, why, where,
                           functools.partial(_interrupted, len(times.plain), runs)), save)


def _interrupted(runs, wanted, b):
    """Adds to the Record that Ctrl-C came, if it did."""
    if runs < wanted:
        b.incomplete()
        b.note("interrupted", f"Ctrl-C: the record has the {runs} of {wanted} runs that were complete", "error")


def limits(asked, threads):
    """(record of the machine's limits, "") or (None, why)."""
    if asked is False:
        return None, "roofs=False"
    if asked is not None and asked is not True:
        return asked, ""
    try:
        return deepclock.machine(threads=threads, cached_only=asked is None, quiet=True), ""
    except deepclock.Error as e:
        if asked is None:
            return None, "the machine's limits are not known: roofs=True or `deepclock machine` measures them"
        return None, f"deepclock machine failed: {e}"


def _until_interrupted(runs):
    """range(runs), but Ctrl-C ends it after the run in which it comes, so that no run is incomplete; a second Ctrl-C is
    a KeyboardInterrupt."""
    default = signal.getsignal(signal.SIGINT)
    came = []
    takes = threading.current_thread() is threading.main_thread() and default is signal.default_int_handler

    def handler(number, frame):
        if came:
            default(number, frame)
        came.append(number)

    if takes:
        signal.signal(signal.SIGINT, handler)
    try:
        for i in range(runs):
            yield i
            if came:
                return
    finally:
        if takes:
            signal.signal(signal.SIGINT, default)


def _run(work, runs):
    times = []  # (plain, profiled, that without deepclock's own code)
    for i in _until_interrupted(runs):
        if i % 2:
            profiled, without = work.profiled()
            times.append((work.plain(), profiled, without))
        else:
            took = work.plain()
            times.append((took, *work.profiled()))
    plain_, profiled, without = map(list, zip(*times))
    return Times(plain_, profiled, without, [t[1] / t[0] for t in times], "plain runs, each next to a profiled one",
                 "median of a profiled run, including deepclock's code, over the adjacent plain one")


@contextlib.contextmanager
def _training(threads):
    threads, before = threads_checked(threads), torch.get_num_threads()
    try:
        if threads is not None:
            torch.set_num_threads(threads)
        with torch.enable_grad():
            yield
    finally:
        torch.set_num_threads(before)
