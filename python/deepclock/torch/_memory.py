# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of runs, and makes allocations beyond a budget fail.

    m = of(device)
    with m.limited(budget):       # bytes; 0: no limit
        ...                       # MemoryError, or the device's own error
    m.peak()
"""

import contextlib
import ctypes
import gc
import resource

import torch

#: Bytes that a process may allocate besides tensors: stacks, arenas of malloc.
SLACK = 64 << 20
_WORDS = ("out of memory", "can't allocate memory", "not enough memory", "std::bad_alloc", "Cannot allocate memory")


def of(device):
    return _Resident() if device.type in ("cpu", "meta") else _OfDevice(device)


def wants_memory(error):
    """Returns whether an exception reports a failed allocation."""
    kinds = [MemoryError] + [kind for kind in (getattr(torch, "OutOfMemoryError", None),
                                               getattr(torch.cuda, "OutOfMemoryError", None)) if kind]
    return isinstance(error, tuple(kinds)) or (
        isinstance(error, RuntimeError) and any(word in str(error) for word in _WORDS))


def _status():
    """VmRSS, VmHWM, VmData of this process in bytes."""
    with open("/proc/self/status") as f:
        lines = (line.split() for line in f)
        return {words[0][:-1]: int(words[1]) * 1024 for words in lines if words[0] in ("VmRSS:", "VmHWM:", "VmData:")}


class _Resident:
    """The resident set of the process, with Python and PyTorch in it."""
    default = 0  # the library's default: the resident and nearly all free memory
    what = "resident set of the process"

    def __init__(self):
        try:
            self._trim = ctypes.CDLL(None).malloc_trim
        except (OSError, AttributeError):
            self._trim = None

    @contextlib.contextmanager
    def limited(self, budget):
        """Allocations beyond the budget fail inside the block, in all threads."""
        gc.collect()
        if self._trim:
            self._trim(0)
        with contextlib.suppress(OSError):
            with open("/proc/self/clear_refs", "w") as f:
                f.write("5")  # resets the peak
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        now = _status()
        most = now["VmData"] + max(budget - now["VmRSS"], 0) + SLACK
        if budget and all(limit == resource.RLIM_INFINITY or most < limit for limit in (soft, hard)):
            # Threads that cannot start end the process: PyTorch's start before.
            torch.ones(1 << 17).exp_()
            torch.mm(torch.ones(64, 64), torch.ones(64, 64))
            resource.setrlimit(resource.RLIMIT_DATA, (most, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

    def peak(self):
        return _status()["VmHWM"]


class _OfDevice:
    """Tensors in the memory of a device, as PyTorch's allocator counts them."""

    def __init__(self, device):
        self.device = device
        self.module = getattr(torch, device.type)
        self.what = f"tensors on '{device}' (torch.{device.type}.max_memory_allocated)"
        self.default = sum(self._free()) if hasattr(self.module, "mem_get_info") else 0

    def _free(self):
        return self.module.mem_get_info(self.device)[0], self.module.memory_reserved(self.device)

    @contextlib.contextmanager
    def limited(self, budget):
        gc.collect()
        self.module.empty_cache()
        if hasattr(self.module, "reset_peak_memory_stats"):
            self.module.reset_peak_memory_stats(self.device)
        bounded = budget and hasattr(self.module, "set_per_process_memory_fraction")
        if bounded:
            total = self.module.mem_get_info(self.device)[1]
            self.module.set_per_process_memory_fraction(min(1.0, budget / total), self.device)
        try:
            yield
        finally:
            if bounded:
                self.module.set_per_process_memory_fraction(1.0, self.device)

    def peak(self):
        known = getattr(self.module, "max_memory_allocated", None)
        return known(self.device) if known else 0
