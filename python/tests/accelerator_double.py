# SPDX-License-Identifier: Apache-2.0
"""A double of an accelerator: torch.<kind> with an asynchronous queue, in place of the real module.

    with Accelerator("cuda") as gpu:
        gpu.launch(0.010)            # returns at once; the work takes 10 ms of the device's time
        x = gpu.tensor(torch.ones(3))
        x.cpu()                      # waits for the queue, as a copy to the host does

Work is elapsed time: an item ends its duration after the later of its launch and the end of the item before it. A
launch waits while QUEUE items are in the queue, as CUDA's does.
Events have the device's own clock, with another origin, and with `clock_rate` another speed. `synchronize_waits=False`
is a driver whose synchronize() returns at once; `events=False` has none; `fail_at=n` makes the n-th item fail, after
which every call that waits raises, as a lost CUDA context does. `copy_s`: a copy of that many seconds for each number,
every second one of twice that, as copies to pageable memory vary.
"""

import collections
import time
import types
from unittest import mock

import torch

if hasattr(torch, "compile"):
    import torch._dynamo  # noqa: F401, which looks for functions of the real modules when it is imported

from deepclock import _accelerator

QUEUE = 64


class Tensor(torch.Tensor):
    """Data in the host's memory that belongs to the double's device; each operation on it is an item of the queue."""

    @property
    def device(self):
        return torch.device(self.accelerator.kind, self.accelerator.index)

    def __deepcopy__(self, memo):
        return self.accelerator.tensor(self)

    @classmethod
    def __torch_function__(cls, func, types_, args=(), kwargs=None):
        name = getattr(func, "__name__", "")
        mine = next((a for a in _flat((args, kwargs or {})) if isinstance(a, Tensor) and hasattr(a, "accelerator")), None)
        accelerator = mine.accelerator if mine is not None else None
        if accelerator is not None and name in ("cpu", "item", "tolist", "numpy"):
            accelerator.wait()
            accelerator.transfer(mine)
        result = super().__torch_function__(func, types_, args, kwargs or {})
        if name in ("cpu", "item", "tolist", "numpy"):
            return result.as_subclass(torch.Tensor) if isinstance(result, torch.Tensor) else result
        if accelerator is not None and name not in ("__get__", "__set__", "detach", "numel", "element_size", "dim", "size"):
            accelerator.launch(accelerator.operation_s)
        for tensor in _flat(result):
            if isinstance(tensor, Tensor):
                tensor.accelerator = accelerator
        return result


def _flat(value):
    return _accelerator.tensors_in(value)


class Module(types.SimpleNamespace):
    """torch.<kind>: what is not here, and would not need a device, is that of the real one."""

    def __getattr__(self, name):
        if name == "Event" or "mem" in name or "rng_state" in name:
            raise AttributeError(name)
        return getattr(object.__getattribute__(self, "_real"), name)


class Event:
    def __init__(self, accelerator, enable_timing):
        self.accelerator, self.timing, self.at = accelerator, enable_timing, None

    def record(self, stream=None):
        if stream is not None and stream is not self.accelerator.stream:
            raise AssertionError("the event is recorded in the stream of another device")
        self.at = self.accelerator.now() if self.accelerator.events == "elsewhere" else self.accelerator.end()

    def synchronize(self):
        self.accelerator.wait_until(self.at)

    def elapsed_time(self, end):
        if not (self.timing and end.timing):
            raise RuntimeError("the events have no timing")
        if self.accelerator.now() < end.at:
            raise RuntimeError("the event has not completed")
        return (self.accelerator.clock(end.at) - self.accelerator.clock(self.at)) * 1e3


class Accelerator:
    def __init__(self, kind="cuda", index=0, *, synchronize_waits=True, events=True, clock_rate=1.0, fail_at=None,
                 initialized=True, operation_s=1e-4, copy_s=0.0):
        self.kind, self.index = kind, index
        self.synchronize_waits, self.events, self.clock_rate = synchronize_waits, events, clock_rate
        self.fail_at, self.initialized, self.operation_s = fail_at, initialized, operation_s
        self.copy_s, self.copies = copy_s, 0
        self.until = self.launched = self.synchronized = 0
        self.stream = object()
        self.pending = collections.deque()  # when each item ends
        self._patches = []

    def __deepcopy__(self, memo):
        return self

    # --- the queue

    @staticmethod
    def now():
        return time.perf_counter()

    def end(self):
        """When the items in the queue will have ended."""
        return max(self.now(), self.until)

    def transfer(self, tensor):
        self.copies += 1
        time.sleep(self.copy_s * tensor.numel() * (1 + self.copies % 2))

    def launch(self, seconds):
        self.until = self.end() + seconds
        self.launched += 1
        self.pending.append(self.until)
        if len(self.pending) > QUEUE:
            self.wait_until(self.pending.popleft())

    def wait_until(self, at):
        time.sleep(max(0.0, at - self.now()))
        while self.now() < at:
            pass
        if self.fail_at is not None and self.launched >= self.fail_at:
            raise RuntimeError(f"{self.kind.upper()} error: an illegal memory access was encountered")

    def wait(self):
        self.wait_until(self.until)

    def clock(self, at):
        return 1e6 + at * self.clock_rate

    def tensor(self, data):
        tensor = data.detach().clone().as_subclass(Tensor)
        tensor.accelerator = self
        return tensor

    # --- torch.<kind>

    def _synchronize(self, device=None):
        if device is not None and torch.device(device) != torch.device(self.kind, self.index):
            raise AssertionError(f"synchronize({device}) on {self.kind}:{self.index}")
        self.synchronized += 1
        if self.synchronize_waits:
            self.wait()

    def __enter__(self):
        real = getattr(torch, self.kind, None)
        module = Module(
            _real=real, is_available=lambda: True, is_initialized=lambda: self.initialized, current_device=lambda: self.index,
            synchronize=self._synchronize, get_device_name=lambda device=None: "a double",
            current_stream=lambda device=None: self.stream, OutOfMemoryError=getattr(real, "OutOfMemoryError", MemoryError),
            empty_cache=lambda: None)
        if self.kind == "mps":
            module = Module(_real=None, is_available=lambda: True, synchronize=lambda: self._synchronize(),
                            empty_cache=lambda: None,
                            current_allocated_memory=lambda: 4096 * self.initialized)
        if self.events:
            module.Event = lambda enable_timing=False: Event(self, enable_timing)
        self._patch(torch, self.kind, module)
        if hasattr(torch, "accelerator"):
            self._patch(torch.accelerator, "current_accelerator", lambda check_available=False: torch.device(self.kind))
        if not self.events and hasattr(torch, "Event"):
            self._patch(torch, "Event", mock.Mock(side_effect=RuntimeError("no event of this type")))
        to = torch.Tensor.to
        self._patch(torch.Tensor, "to", lambda tensor, *args, **kwargs: self._to(to, tensor, *args, **kwargs))
        _accelerator._in_use_opened.cache_clear()
        return self

    def __exit__(self, *exception):
        while self._patches:
            self._patches.pop().stop()
        _accelerator._in_use_opened.cache_clear()

    def _patch(self, holder, name, value):
        patch = mock.patch.object(holder, name, value, create=True)
        patch.start()
        self._patches.append(patch)

    def _to(self, to, tensor, *args, **kwargs):
        where = kwargs.get("device", args[0] if args else None)
        if not isinstance(where, (str, torch.device)):
            return to(tensor, *args, **kwargs)
        where = torch.device(where)
        if isinstance(tensor, Tensor):
            return tensor if where.type == self.kind else tensor.cpu()
        if where.type != self.kind:
            return to(tensor, *args, **kwargs)
        moved = self.tensor(tensor)
        self.launch(self.operation_s)
        return moved
