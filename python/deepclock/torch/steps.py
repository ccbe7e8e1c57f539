# SPDX-License-Identifier: Apache-2.0
"""A training step taken apart.

    with deepclock.torch.steps(total=200) as s:
        for images, labels in s(loader):
            with s.to_device:
                images, labels = images.to(device), labels.to(device)
            with s.forward:
                scores = model(images)
            with s.loss:
                loss = criterion(scores, labels)
            with s.backward:
                loss.backward()
            with s.optimiser:
                optimiser.step()
                optimiser.zero_grad()
    print(s.record)

or, without a word inside the loop, `deepclock.torch.steps(module=model, optimizer=optimiser)`.

One clock runs: it is read where a part begins or ends, and what passed since it was last read
belongs to the part that was open. So the parts of a step add up to its wall time, to the
nanosecond, and a part inside another part is counted once, in the inner one.

A device that computes on its own is waited for at the end of each part in every second step, and
at the end of the step alone in the others. The first kind measures what each part takes; the second
kind how long a step takes, and whether the program or the device is what the other waits for.
"""

import operator
import random
import threading
from time import perf_counter_ns as now

import deepclock

from .. import _compiled
from .._deepclock import start
from . import (_device, _step_count, _step_hooks, _step_line, _step_report, _step_wait,
               _step_workers)

#: The parts in the order in which they are shown, with their titles.
PARTS = {
    "data": "waiting for data",
    "to_device": "host to device",
    "forward": "forward",
    "loss": "loss",
    "backward": "backward",
    "optimiser": "optimiser",
    "other": "other",
    "deepclock": "taking it apart",
}
_INDEX = {name: i for i, name in enumerate(PARTS)}
_NAMES = tuple(PARTS)
_DATA, _OTHER, _OWN = _INDEX["data"], _INDEX["other"], _INDEX["deepclock"]


class Step:
    """One step: nanoseconds by part, in the order of PARTS, which add up to `wall_ns`."""

    __slots__ = ("at_ns", "compiled", "items", "parts_ns", "used", "wait_ns", "whole", "workers_ns")

    def __init__(self, at_ns, whole):
        self.at_ns = at_ns
        self.compiled = None  # what torch.compile compiled during the steps
        self.items = 0  # the first axis of the batch's first tensor
        self.parts_ns = [0] * len(PARTS)
        self.used = None  # CPU times of its parts, where they were read
        self.wait_ns = 0  # for the device, after the program had submitted everything
        self.whole = whole  # the device was waited for at the end alone
        self.workers_ns = None  # processor time of the loader's processes during the steps

    @property
    def wall_ns(self):
        return sum(self.parts_ns)


class _Part:
    """`with s.forward:` - may be entered any number of times, also inside another part."""

    __slots__ = ("_enter", "_leave", "_index")

    def __init__(self, owner, index):
        self._enter, self._leave, self._index = owner._enter, owner._leave, index

    def __enter__(self):
        self._enter(self._index)
        return self

    def __exit__(self, *exc):
        self._leave()


class steps:
    """Takes the steps of a training loop apart.

    total       expected number of steps, for the live line; default: the length of the iterated object
    module, optimizer
                find the parts without a `with` in the loop: hooks on the module's forward and
                the optimizer's step(), and on backward; undone at the end of the block. The loss
                is the time between the end of forward and the start of backward
    device      the computing device ("cuda:1"); default: the module's, or the accelerator that the
                program has begun to use, or the CPU
    warmup      steps at the beginning that are reported separately; the first is shown alone. In the
                second one PyTorch's operators are counted, unless `operators` is false
    live        a line while it runs; default: on a terminal
    seed        of the order in which the two kinds of steps take turns, on a device

    While a timeline is recorded, each step is a zone "step", its parts are zones of their names, and
    the wait for its data is a zone before it.

    After the block `record` has the result, `steps` the single steps. Left by an
    exception, the record has the complete steps, and is `incomplete`.
    """

    def __init__(self, total=None, *, module=None, optimizer=None, device=None, warmup=2,
                 operators=True, live=None, seed=1):
        if total is not None and not hasattr(total, "__index__"):
            raise deepclock.ArgumentError(f"total is the number of steps, not {type(total).__name__}: "
                                          "steps(total=100, module=net)")
        if warmup < 1:
            raise deepclock.ArgumentError(f"warmup={warmup}: the first step is never like the others; 1 or more")
        self.total, self.warmup = None if total is None else operator.index(total), warmup
        self.steps, self.record = [], None
        self.outside_ns = 0  # in the block, and in no step
        self.other_backward_ns = 0  # of networks that are not `module`; it is in the part "other"
        self._module, self._optimizer = module, optimizer
        self._device = None if device is None else _device.found(device)
        if self._device is None and module is not None:
            self._device = _device.device_of(module)
        self._wait, self._device_known = None, False
        self._operators, self._counted = operators and warmup > 1, None
        self._random = random.Random(seed)
        self._pair = []
        self._line = _step_line.Line(live)
        self._workers = _step_workers.Workers()
        self._hooks = None
        self._step, self._open, self._last, self._thread = None, [], 0, None
        self._start, self._zones = start, []  # on the timeline, while one is recorded: the step, and its open parts
        self._loops, self._entered = 0, 0  # loops begun; parts entered in complete steps
        self._batches = False  # a loader gave one
        self._left = False  # a loop ended in the middle of its last step
        for name, index in _INDEX.items():
            if name not in ("data", "other", "deepclock"):
                setattr(self, name, _Part(self, index))
        self.optimizer, self.h2d = self.optimiser, self.to_device

    # --- the block

    def __enter__(self):
        if self._thread is not None:
            raise RuntimeError("this block has been entered before: make a new steps()")
        self._thread = threading.get_ident()
        self._usage = _step_wait.Clock()
        if self._module is not None or self._optimizer is not None:
            self._hooks = _step_hooks.Hooks(self, self._module, self._optimizer)
            self._hooks.set()
        self._began = self._last = now()
        return self

    def __exit__(self, kind, error, trace):
        self._abandon()
        self._loops += 1
        if kind is not None and self._left:  # the exception had looked like a `break`
            self.outside_ns += self.steps.pop().wall_ns
        if self._hooks:
            self._hooks.undo()
        self._line.end()
        self._usage.close()
        if self.steps:
            self.record = _step_report.record_of(self, error)
        elif kind is None:
            raise deepclock.ArgumentError(f"no step was taken: {self._why_none()}")

    def _why_none(self):
        if self._batches:
            return "the loop ended before a part of the first step"
        return "the loader gave no batch" if self._loops > 1 else "iterate over `s(loader)` inside the block"

    def __call__(self, batches):
        """Yields the batches. A step lasts from the request of its batch until the request of the next one."""
        if self._thread is None or self.record is not None:
            raise RuntimeError("steps are taken inside its `with` block")
        return self._iterate(batches)

    def _iterate(self, batches):
        self._abandon()  # a loop that was left, and whose iterator is still there
        self._loops += 1
        loop, self._left = self._loops, False
        self._begin(batches)
        taken = False
        try:
            iterator = iter(batches)
            self._workers.of(batches, iterator)
            while True:
                try:
                    batch = next(iterator)
                except StopIteration:
                    return
                self._read(_OWN)
                self._zones_end()
                self._zones.append(self._start("step"))
                self._step.items = _items(batch)
                self._read(_OTHER)
                taken = self._batches = True
                yield batch
                if loop != self._loops:
                    raise RuntimeError("another loop was begun inside this one: its steps and these "
                                       "cannot both be taken apart")
                self._end()
                taken = False
                self._begin(None)
        except GeneratorExit:
            # `break`: a step when anything was done with the batch.
            if taken and loop == self._loops and any(self._step.parts_ns[_DATA + 1:_OTHER]):
                self._end()
                self._left = True
            raise
        finally:
            if loop == self._loops:
                self._abandon()

    # --- the clock

    def _read(self, then):
        """What passed since the last reading belongs to the open part; then `then` is open."""
        at = now()
        if self._step is not None:
            self._step.parts_ns[self._open[-1]] += at - self._last
            if self._step.used is not None:
                self._usage.add(self._step.used, self._open[-1], at)
            self._open[-1] = then
        else:
            self.outside_ns += at - self._last
        self._last = at

    def _enter(self, index):
        if self._step is None or threading.get_ident() != self._thread:
            return
        self._read(self._open[-1])
        self._open.append(index)
        self._zones.append(self._start(_NAMES[index]))
        self._step_entered += 1

    def _leave(self):
        if self._step is None or threading.get_ident() != self._thread or len(self._open) < 2:
            return
        if self._wait is not None and not self._step.whole:
            self._wait()
        self._read(self._open[-1])
        self._open.pop()
        self._zones.pop().end()

    def _zones_end(self):
        while self._zones:
            self._zones.pop().end()

    def _spent(self, name):
        """What a part of this step has until now; for _move()."""
        step, at = self._step, _INDEX[name]
        if step is None:
            return None
        self._read(self._open[-1])
        return step, step.parts_ns[at], list(step.used.of[at]) if step.used is not None else None

    def _move(self, name, spent):
        """What the part got since _spent() belongs to "other"."""
        now_ = self._spent(name)
        if spent is None or now_ is None or spent[0] is not now_[0]:
            return
        step, at, took = spent[0], _INDEX[name], now_[1] - spent[1]
        step.parts_ns[at] -= took
        step.parts_ns[_OTHER] += took
        self.other_backward_ns += took
        for i, ns in enumerate(spent[2] or ()):
            less = step.used.of[at][i] - ns
            step.used.of[at][i] -= less
            step.used.of[_OTHER][i] += less

    def _begin(self, batches):
        """Where the step before ended, or, at the beginning of a loop, now."""
        if batches is not None:
            self._read(_OWN)
        step = Step(self._last - self._began, False)
        step.whole = self._next_is_whole()
        self._step, self._open, self._step_entered = step, [_OWN], 0
        self._zones.append(self._start(_NAMES[_DATA]))  # the step's zone follows, when there is a batch
        if self._hooks:
            self._hooks.begin()
        if batches is not None and hasattr(batches, "__len__"):
            self._line.expect(len(self.steps) + len(batches) if self.total is None else self.total)
        if self._operators and len(self.steps) == 1:
            self._counted = _step_count.Counter()
            self._counted.begin()
        self._workers_at = self._workers.cpu_ns()
        self._compiled_at = _compiled.mark()
        if len(self.steps) >= self.warmup and self._wait is None and self._usage.wanted(self.steps):
            step.used = _step_wait.Used(len(PARTS))
            self._usage.begin(self._last)
        self._read(_DATA)

    def _end(self):
        step = self._step
        if self._wait is not None:
            self._read(_OTHER)
            before = self._last
            self._wait()
            self._read(_OTHER)
            step.wait_ns = self._last - before
        self._read(_OWN)
        self._zones_end()
        del self._open[1:]  # parts that were left open
        self._open[0] = _OWN
        if self._counted is not None and len(self.steps) == 1:
            self._counted.end()
        step.compiled = _compiled.since(self._compiled_at)
        if self._workers_at is not None:
            cpu = self._workers.cpu_ns()
            step.workers_ns = None if cpu is None else cpu - self._workers_at
        if not self._device_known:
            self._device = self._device or _device.device_in_use()
            self._wait = _device.waiter(self._device)
            self._device_known = True
        self._line.step(len(self.steps) + 1, self._last - self._began, step)
        self._entered += self._step_entered
        self._read(_OWN)
        if step.used is not None:
            self._usage.end(step.used)
            self._read(_OWN)
        self._step = None
        self.steps.append(step)

    def _abandon(self):
        """Adds the time of an incomplete step to the time outside of steps."""
        self._read(_OWN)
        self._zones_end()
        if self._step is not None:
            if self._counted is not None and len(self.steps) == 1:
                self._counted.end()
                self._counted = None
            self.outside_ns += self._step.wall_ns
            self._step, self._open = None, []

    def _next_is_whole(self):
        """Steps of both kinds in pairs of random order, once it is known that there is a device."""
        if self._wait is None or len(self.steps) < self.warmup:
            return False
        if not self._pair:
            self._pair = [True, False]
            self._random.shuffle(self._pair)
        return self._pair.pop()


def _items(batch):
    for tensor in _device.tensors_in(batch):
        return tensor.shape[0] if tensor.dim() else 1
    return 0


class _NoZone:
    __slots__ = ()

    def __init__(self, name):
        pass

    def end(self):
        pass


def part_cost_ns(times):
    """Returns the time of an empty `with s.forward: pass`, without waiting for a device."""
    scratch = steps(operators=False, live=False)
    scratch._start = _NoZone  # the timeline shows the program's parts alone
    scratch.__enter__()
    batches = scratch._iterate([None])
    next(batches)
    begin = now()
    for _ in range(times):
        with scratch.forward:
            pass
    took = now() - begin
    batches.close()
    scratch._usage.close()
    return took / times
