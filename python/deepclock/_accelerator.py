# SPDX-License-Identifier: Apache-2.0
"""Accelerators of PyTorch (CUDA, XPU, MPS, and any that registers as `torch.<name>`): synchronization, events, and
whether a function leaves work on one. Does not import PyTorch.

Calls on such a device return before their work has ended, so a clock that is read without synchronization shows the
time of enqueueing.
"""

import collections.abc
import functools
import sys
import time

from . import _deepclock, _record

_TRIALS = 15
_LEFT_SHARE = 0.05  # of a call with its work, as for the barriers of an engine (src/measure/device_times.c)
_LEFT_LEAST_NS = 3e3  # the first wait after a call may take longer by this than the one after it
_CHECK_NS = 500e6


class Device:
    """A device that calls do not wait for. `no_events`: the reason why it has no events with times; None: it has."""

    def __init__(self, device):
        torch, module = sys.modules["torch"], module_of(device)
        self.device = device
        self.synchronize = waiter(device)
        self.waits = f"torch.{device.type}.synchronize()"
        self.waits_and_copies = f"{self.waits} and a copy of a number of each result to the host"
        self._event, self.no_events = _events(torch, module, device)
        self.facts = {"device": str(device), "library": f"torch {torch.__version__}"}
        self.hardware = _optional(module, "get_device_name", device)

    def begin(self):
        """Enqueues an event, and returns it."""
        event = self._event()
        _record_event(event, self.device)
        return event

    def end(self, begin):
        """Enqueues a second event, waits for it, and returns the time between both in nanoseconds."""
        event = self.begin()
        event.synchronize()
        return begin.elapsed_time(event) * 1e6

    def copy(self, value, numbers=None):
        """Copies the tensors on the device in nested tuples, lists and dicts to the host, or with numbers=1 the last
        number of each; returns the bytes of these tensors."""
        size = 0
        for tensor in tensors_in(value):
            if tensor.device.type != self.device.type:
                continue
            size += tensor.numel() * tensor.element_size()
            tensor = tensor.detach()
            if numbers and tensor.numel() and tensor.layout is sys.modules["torch"].strided:
                tensor = tensor[(-1,) * tensor.dim()]
            tensor.cpu()
        return size


def tensors_in(value):
    """Yields every tensor in nested tuples, lists and mappings, in order."""
    if isinstance(value, sys.modules["torch"].Tensor):
        yield value
    elif isinstance(value, collections.abc.Mapping):
        for member in value.values():
            yield from tensors_in(member)
    elif isinstance(value, (tuple, list)):
        for member in value:
            yield from tensors_in(member)


def found(name):
    """Returns the torch.device of a name such as "cuda:1", or of a torch.device; ArgumentError if this machine or this
    PyTorch has none."""
    torch = sys.modules.get("torch")
    if torch is None:
        raise _deepclock.ArgumentError(
            f"device={str(name)!r}: the devices of functions are those of PyTorch, which is not imported: import torch first")
    try:
        device = torch.device(name)
    except (RuntimeError, TypeError) as e:
        raise _deepclock.ArgumentError(f"device={name!r}: {_sentence(e)}") from None
    if device.type in ("cpu", "meta"):
        return device
    module = module_of(device)
    if module is None or not getattr(module, "is_available", lambda: True)():
        raise _deepclock.ArgumentError(f"device={str(name)!r}: PyTorch {torch.__version__} finds no such device here")
    return device


def opened(name):
    """Returns the Device of a name such as "cuda:1"; None: "cpu", whose calls end with their work."""
    device = None if name == "cpu" else found(name)
    return None if device is None or device.type in ("cpu", "meta") else Device(_numbered(device, module_of(device)))


def _numbered(device, module):
    """Returns the device with its number; MPS devices have none."""
    if device.index is not None or device.type == "mps":
        return device
    number = _optional(module, "current_device")
    return device if number is None else sys.modules["torch"].device(device.type, number)


def module_of(device):
    """Returns torch.cuda, torch.xpu, ...; None: this PyTorch has none."""
    return getattr(sys.modules["torch"], device.type, None)


def waiter(device):
    """Returns a function that waits until the device has finished all submitted work; None: calls are synchronous,
    as on the CPU."""
    if device.type in ("cpu", "meta"):
        return None
    torch, module = sys.modules["torch"], module_of(device)
    if not hasattr(module, "synchronize"):
        raise _deepclock.ArgumentError(
            f"PyTorch {torch.__version__} has no torch.{device.type}.synchronize(), and without "
            f"waiting for it the device '{device}' cannot be timed")
    return module.synchronize if device.type == "mps" else functools.partial(module.synchronize, device)


def _optional(module, name, *args):
    """Calls a function that a module may lack or refuse; None: it did."""
    try:
        return getattr(module, name)(*args)
    except (AttributeError, NotImplementedError, RuntimeError, TypeError):
        return None


# --- events


def _events(torch, module, device):
    """Returns (a function that creates an event, None), or (None, why events are unavailable)."""
    ways = [functools.partial(getattr(owner, "Event"), *args, enable_timing=True)
            for owner, args in ((module, ()), (getattr(module, "event", None), ()), (torch, (str(device),)))
            if hasattr(owner, "Event")]
    why = f"PyTorch {torch.__version__} has no events of '{device.type}'"
    for way in ways:
        try:
            begin, end = way(), way()
            _record_event(begin, device)
            _record_event(end, device)
            end.synchronize()
            begin.elapsed_time(end)
            return way, None
        except (AttributeError, NotImplementedError, RuntimeError, TypeError) as e:
            why = f"the events of '{device.type}' give no times: {_sentence(e)}"
    return None, why


def _record_event(event, device):
    """Enqueues the event after the work in the current stream of the device."""
    stream = _optional(module_of(device), "current_stream", device) if device.type != "mps" else None
    if stream is None:
        event.record()
    else:
        event.record(stream)


# --- the device that a program uses


def in_use():
    """Returns an accelerator that the program has started to use; None: none, or PyTorch is not imported."""
    torch = sys.modules.get("torch")
    if torch is None or not hasattr(torch, "device"):  # being imported
        return None
    kinds = ["cuda", "xpu"]
    current = _optional(getattr(torch, "accelerator", None), "current_accelerator")
    if current is not None and current.type not in kinds:
        kinds.append(current.type)
    for kind in kinds:
        module = getattr(torch, kind, None)
        if hasattr(module, "synchronize") and _optional(module, "is_initialized"):
            return _numbered(torch.device(kind), module)
    if _optional(getattr(torch, "mps", None), "current_allocated_memory"):
        return torch.device("mps", 0)
    return None


@functools.lru_cache(None)
def _in_use_opened(device):
    return Device(device)


def span():
    """Enqueues an event on the accelerator in use. Returns a function that waits for the work enqueued since, and
    returns its seconds, None if the device has no events; None: no accelerator is in use."""
    device = in_use()
    if device is None:
        return None
    device = _in_use_opened(device)
    begin = None if device.no_events else device.begin()

    def end():
        if begin is not None:
            return device.end(begin) / 1e9
        device.synchronize()
        return None
    return end


# --- work that is left when a function returns


def noted(record, functions):
    """Returns the record, with a note if work of a function, (callable, args), is left on an accelerator when the
    function returns."""
    device = in_use() if not record.incomplete else None
    if device is None:
        return record
    for function, args in functions:
        text = _left(device, function, args)
        if text:
            out = _record.Amended(record)
            out.note("device-not-awaited", text)
            return out.finish()
    return record


def _left(device, function, args):
    """Returns the text of the note, or None."""
    wait, now = waiter(device), time.perf_counter_ns
    name = f"torch.{device.type}.synchronize()"
    trials = []
    began = now()
    try:
        wait()
        while len(trials) < _TRIALS and (not trials or now() - began < _CHECK_NS):
            times = [now()]
            for step in (lambda: function(*args), wait, wait):
                step()
                times.append(now())
            trials.append([after - before for before, after in zip(times, times[1:])])
    except KeyboardInterrupt:  # the record is complete without the note
        return None
    except Exception as e:  # of the work that was left, or of a function that cannot be called once more
        return f"{name} after the measurement: {type(e).__name__}: {_sentence(e)}; {_remedy(device)}"
    # While other programs delay a call, the work may end: the third of the trials with the shortest calls counts.
    trials = sorted(trials)[:max(1, len(trials) // 3)]
    call, left, idle = (sorted(values)[len(values) // 2] for values in zip(*trials))
    if left - idle <= max(_LEFT_SHARE * (call + left), idle, _LEFT_LEAST_NS):
        return None
    return (f"a call returns after {_deepclock.time_text(call)}, and {name} takes another "
            f"{_deepclock.time_text(left)}: the time is that of enqueueing work on '{device}', not of the work; "
            f"{_remedy(device)}")


def _remedy(device):
    return f"device=\"{device.type}\" waits for the device in each run"


def _sentence(error):
    return " ".join(str(error).split())[:200] or type(error).__name__
