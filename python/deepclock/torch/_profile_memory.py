# SPDX-License-Identifier: Apache-2.0
"""Attributes the device memory of a run to modules and aten calls: the peak, and the memory that stays allocated.

One run under PyTorch's own profiler, whose memory events contain each block that its allocator gives and takes back.
Ranges around each call of a module and each aten call attribute an allocation. Blocks are tracked from then on, which
gives the bytes that a call leaves allocated, and its share of the peak.
"""

import contextlib
import os

import torch

from . import _backward, _price
from ._dispatch import ITSELF, Mode
from ._modules import calls

_NAME = "deepclock:"
_RUN, _FORWARD_ENDED = ("run",), ("forward ended",)
NO_CALL = "(no aten call)"


class Held:
    """Bytes of one aten call in one module and phase: of all its blocks, of those allocated at the peak, and of those
    still allocated at the end of the forward pass."""
    __slots__ = ("taken", "at_peak", "stays")

    def __init__(self):
        self.taken = self.at_peak = self.stays = 0


class Memory:
    """ops: {(path, phase, name): Held}, modules: {path: the peak of a call of it above the bytes at its start}, peak
    and stays of the whole run; why: the reason if it is absent."""

    def __init__(self, why=""):
        self.ops, self.modules = {}, {}
        self.peak = self.stays = None
        self.why = why


class _Range:
    """A range of the profiler, which takes no memory of the device as record_function of 1.13 does."""

    def __init__(self, key, keys):
        self._name = f"{_NAME}{keys.setdefault(key, len(keys))}"

    def __enter__(self):
        self._handle = torch.ops.profiler._record_function_enter_new(self._name, None)

    def __exit__(self, *raised):
        torch.ops.profiler._record_function_exit._RecordFunction(self._handle)


class _Marking(Mode):
    """A range around each aten call, as Timer and Counter see them."""

    def __init__(self):
        super().__init__()
        self.keys = {}  # of ranges: number
        self.phase, self.path = "forward", lambda: None

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = self.opened(func, types, args, kwargs)
        if out is not ITSELF:
            return out
        with _Range((self.path(), self.phase, _price.name_of(func)), self.keys):
            return func(*args, **kwargs)


@contextlib.contextmanager
def _silent():
    """Suppresses Kineto's messages on stderr about its start and a missing GPU."""
    before = os.environ.get("KINETO_LOG_LEVEL")
    os.environ.setdefault("KINETO_LOG_LEVEL", "99")
    try:
        yield
    finally:
        if before is None:
            del os.environ["KINETO_LOG_LEVEL"]


def measured(work, where):
    """Memory of one run of `work`, on the device `where`."""
    if where.type != "cpu":
        return Memory(f"the memory of '{where.type}' is not followed: that of the CPU is")
    if torch._C._autograd._profiler_enabled():  # a second profiler ends it silently in 2.x
        return Memory("PyTorch's profiler runs already")
    work._clean()
    profiler = torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True)
    with _silent():
        try:
            profiler.start()
        except (RuntimeError, AssertionError) as e:
            return Memory(f"PyTorch's profiler does not begin: {(str(e) or 'no reason').splitlines()[0]}")
        try:
            keys = _run(work)
        finally:
            profiler.stop()
    try:
        events = profiler.profiler.kineto_results.experimental_event_tree()
    except AttributeError:
        return Memory("this PyTorch does not report single blocks")
    return _followed(_in_time(events, where.type), {n: key for key, n in keys.items()})


def _run(work):
    marking, nodes = _Marking(), _backward.Nodes()
    open_ = []

    def enter(path, given):
        open_.append(_Range((path, marking.phase), marking.keys))
        open_[-1].__enter__()
        if work.backward and marking.phase == "forward":
            nodes.label(given, running.path)

    def leave(path, result):
        if work.backward and marking.phase == "forward":
            nodes.label(result, path)
        open_.pop().__exit__()

    running = calls(work.modules, enter, leave)
    marking.path = lambda: running.path if running.stack else None
    with _Range(_RUN, marking.keys):
        with running, marking:
            output = work.module(*work.args, **work.kwargs)
        with _Range(_FORWARD_ENDED, marking.keys):
            pass
        if work.backward:
            _backward.run(output, work.loss, marking, nodes, running)
    return marking.keys


def _in_time(events, device):
    """(time, order, kind, value): ranges of ours as they begin (+1) and end (-1) with their number, blocks (0) with
    (address, bytes)."""
    found = []
    todo = list(reversed(events))
    while todo:
        event = todo.pop()
        if isinstance(event, tuple):
            found.append((event[0], len(found), -1, event[1]))
            continue
        name = event.name if isinstance(event.name, str) else event.name()
        if name == "[memory]":
            block = event.extra_fields
            if torch.device(block.device).type == device:
                found.append((event.start_time_ns, len(found), 0, (block.ptr, block.alloc_size)))
            continue
        if name.startswith(_NAME):
            number = int(name[len(_NAME):])
            found.append((event.start_time_ns, len(found), 1, number))
            todo.append((event.end_time_ns, number))
        todo += reversed(event.children)
    found.sort(key=lambda one: one[:2])
    return found


class _Open:
    """A running call of a module: the bytes allocated at its start, and the peak since."""
    __slots__ = ("path", "had", "most")

    def __init__(self, path, had):
        self.path, self.had, self.most = path, had, had


def _followed(events, keys):
    memory = Memory()
    memory.peak = memory.stays = 0
    ops, modules, changes = [], [], []
    blocks = {}  # address: (key, bytes)
    held = running = peak_at = 0
    for _, _, kind, value in events:
        if kind == 0:
            change = _block(memory, blocks, *value, _owner(ops, modules)) if running else None
            if change:
                changes.append(change)
                held += change[1]
                for module in modules[-1:]:
                    module.most = max(module.most, held)
                if held > memory.peak:
                    memory.peak, peak_at = held, len(changes)
            continue
        key = keys[value]
        if len(key) == 3:
            ops.append(key) if kind > 0 else ops.pop()
        elif len(key) == 2 and kind > 0:
            modules.append(_Open(key, held))
        elif len(key) == 2:
            _closed(memory, modules)
        elif key == _RUN:
            running = kind > 0
        elif kind > 0:  # the forward pass has ended
            memory.stays = held
            for of, size in blocks.values():
                memory.ops[of].stays += size
    for of, size in changes[:peak_at]:
        memory.ops[of].at_peak += size
    return memory


def _owner(ops, modules):
    """Whose a block is that is taken now."""
    if ops:
        return ops[-1]
    path, phase = modules[-1].path if modules else (None, "forward")
    return path, phase, NO_CALL


def _block(memory, blocks, address, size, owner):
    """(key, bytes) of a block that was allocated or, below 0, freed; None: it existed before."""
    if size > 0:
        blocks[address] = owner, size
        memory.ops.setdefault(owner, Held()).taken += size
        return owner, size
    if address not in blocks:
        return None
    owner, size = blocks.pop(address)
    return owner, -size


def _closed(memory, modules):
    call = modules.pop()
    path, phase = call.path
    if phase == "forward":
        memory.modules[path] = max(memory.modules.get(path, 0), call.most - call.had)
    for above in modules[-1:]:
        above.most = max(above.most, call.most)
