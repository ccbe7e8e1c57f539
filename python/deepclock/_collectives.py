# SPDX-License-Identifier: Apache-2.0
"""Collective operations of torch.distributed as zones "collective:NAME", from the call until the result is there.

The functions of torch.distributed are wrapped. DistributedDataParallel reduces gradients without them, in C++, unless it
has a communication hook: it gets PyTorch's own default hook, which computes the same by torch.distributed.all_reduce().
This module imports no torch; it is installed while torch is imported, or later.
"""

import functools
import importlib.abc
import importlib.machinery
import inspect
import sys
import threading
import time

from ._deepclock import counter, start

PREFIX = "collective:"
NAMES = ("all_gather", "all_gather_into_tensor", "_all_gather_base", "all_reduce", "all_reduce_coalesced", "all_to_all",
         "all_to_all_single", "barrier", "broadcast", "gather", "reduce", "reduce_scatter", "reduce_scatter_tensor",
         "_reduce_scatter_base", "scatter")
_DISTRIBUTED, _PARALLEL = "torch.distributed", "torch.nn.parallel.distributed"


def install():
    """Wraps the functions of torch.distributed, now or when it is imported; a second call changes nothing."""
    for name, wrap in _MODULES.items():
        if name in sys.modules and not getattr(sys.modules[name].__spec__, "_initializing", False):
            wrap(sys.modules[name])
        elif not any(isinstance(one, _Finder) and one.name == name for one in sys.meta_path):
            sys.meta_path.insert(0, _Finder(name, wrap))


class _Finder(importlib.abc.MetaPathFinder):
    """Wraps one module directly after its import."""

    def __init__(self, name, wrap):
        self.name, self.wrap = name, wrap

    def find_spec(self, name, path, target=None):
        if name != self.name:
            return None
        sys.meta_path.remove(self)
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader, self.wrap)
        return spec


class _Loader(importlib.abc.Loader):
    def __init__(self, inner, wrap):
        self._inner, self._wrap = inner, wrap

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def create_module(self, spec):
        return self._inner.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._inner
        self._inner.exec_module(module)
        self._wrap(module)


def _wrap_distributed(dist):
    if not getattr(dist, "is_available", lambda: False)():
        return
    inner = sys.modules.get("torch.distributed.distributed_c10d")
    for name in NAMES:
        function = getattr(dist, name, None)
        if function is None or hasattr(function, "_deepclock_collective"):
            continue
        recorded = _recorded(dist, name, function)
        setattr(dist, name, recorded)
        if getattr(inner, name, None) is function:
            setattr(inner, name, recorded)


def _recorded(dist, name, function):
    title, place = PREFIX + name.lstrip("_"), _place_of_group(function)

    @functools.wraps(function)
    def collective(*args, **kwargs):
        group = args[place] if len(args) > place else kwargs.get("group")
        if not _on_host(dist, args, kwargs, group):
            return function(*args, **kwargs)
        _delay.begin()
        opened = start(title + _ranks_of(dist, group))
        try:
            work = function(*args, **kwargs)
        except BaseException:
            opened.end()
            raise
        if hasattr(work, "wait"):
            work = _ends_with(work, opened)
        else:  # it has ended, or this rank is not in the group
            opened.end()
        _delay.end()
        return work

    collective._deepclock_collective = True
    return collective


def _place_of_group(function):
    """Returns the number of positional arguments before `group`."""
    try:
        names = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        names = []
    return names.index("group") if "group" in names else sys.maxsize


class _Delay(threading.local):
    """For how long this thread was ready and had no processor outside of collectives, as a counter of the trace, in ns: the
    kernel's schedstat, read at most twice a millisecond."""

    EVERY_NS = 1_000_000

    def __init__(self):
        self.sum, self.last, self.read_ns = 0, None, 0

    @staticmethod
    def _now():
        try:
            with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
                return int(file.read(128).split()[1])
        except (OSError, ValueError, IndexError):
            return None

    def begin(self):
        now = self._now() if self.last is not None else None
        if now is not None:
            self.sum += max(now - self.last, 0)
            counter("run queue outside of collectives", self.sum)
        self.last = None

    def end(self):
        ns = time.monotonic_ns()
        if ns - self.read_ns >= self.EVERY_NS:
            self.last, self.read_ns = self._now(), ns


_delay = _Delay()


def _ends_with(work, opened):
    """Ends the range when the work has ended. Returns the work, or a stand-in for it."""
    try:
        work.get_future().add_done_callback(lambda _: opened.end())
    except (AttributeError, RuntimeError):  # a backend without futures
        return _Work(work, opened)
    return work


class _Work:
    """Work whose end is seen when the program waits for it."""

    def __init__(self, work, opened):
        self._work, self._opened = work, opened

    def __getattr__(self, name):
        return getattr(self._work, name)

    def wait(self, *args, **kwargs):
        try:
            return self._work.wait(*args, **kwargs)
        finally:
            self._opened.end()


def _on_host(dist, args, kwargs, group):
    """Returns whether the operation runs on the host: a call for a device only enqueues it."""
    first = next(iter(args), None) if args else next((v for k, v in kwargs.items() if "tensor" in k or "put" in k), None)
    while isinstance(first, (list, tuple)) and first:
        first = first[0]
    if hasattr(first, "device"):
        return first.device.type == "cpu"
    try:
        return dist.get_backend(group) != "nccl"
    except (RuntimeError, ValueError):  # no process group yet: the call reports it
        return False


def _ranks_of(dist, group):
    """Returns " of ranks 0, 2" for a group that is not all of the job: operations of other groups are not one with it."""
    if group is None or group is getattr(dist.group, "WORLD", None) or not hasattr(dist, "get_process_group_ranks"):
        return ""
    try:
        ranks = dist.get_process_group_ranks(group)
    except (AttributeError, KeyError, RuntimeError, ValueError):
        return ""
    return "" if len(ranks) == dist.get_world_size() else " of ranks " + ", ".join(map(str, ranks))


def _wrap_parallel(module):
    parallel = module.DistributedDataParallel
    if hasattr(parallel, "_deepclock_collective"):
        return
    forward, register = parallel.forward, parallel.register_comm_hook
    parallel._deepclock_collective = True

    @functools.wraps(register)
    def registered(self, *args, **kwargs):
        self.__dict__["_deepclock_hooked"] = True
        return register(self, *args, **kwargs)

    @functools.wraps(forward)
    def forwarded(self, *args, **kwargs):
        if not self.__dict__.get("_deepclock_hooked"):
            self.__dict__["_deepclock_hooked"] = True
            _hook_default(self, register)
        return forward(self, *args, **kwargs)

    parallel.register_comm_hook, parallel.forward = registered, forwarded


def _hook_default(model, register):
    from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook

    if next(model.parameters()).device.type == "cpu":
        register(model, None, allreduce_hook)


_MODULES = {_DISTRIBUTED: _wrap_distributed, _PARALLEL: _wrap_parallel}
