# SPDX-License-Identifier: Apache-2.0
"""PyTorch's ranges on deepclock's timeline, and deepclock's zones on PyTorch's."""

import contextlib
import threading

import torch
from torch.autograd.profiler import record_function

from . import _deepclock


class _Followed:
    """Makes ranges of record_function zones while at least one user follows them."""

    def __init__(self):
        self._lock, self._followers, self._undo = threading.Lock(), 0, None

    def begin(self):
        with self._lock:
            self._followers += 1
            if self._followers == 1:
                self._undo = self._patch()

    def end(self):
        with self._lock:
            self._followers -= 1
            if self._followers == 0:
                record_function.__enter__, record_function.__exit__ = self._undo

    @staticmethod
    def _patch():
        enter, leave = record_function.__enter__, record_function.__exit__

        def followed_enter(range_):
            result = enter(range_)
            if not getattr(_own, "is_hidden", False):
                range_.__dict__["deepclock_zone"] = True
                with _mirror.paused():
                    _deepclock.push(range_.name)
            return result

        def followed_exit(range_, *raised):
            if range_.__dict__.pop("deepclock_zone", False):
                with _mirror.paused():
                    _deepclock.pop()
            return leave(range_, *raised)

        record_function.__enter__, record_function.__exit__ = followed_enter, followed_exit
        return enter, leave


class _Mirror(threading.local):
    """Called with the name of each zone that starts on this thread, and with None when one ends."""

    def __init__(self):
        self.open, self.is_paused = [], False

    def __call__(self, name):
        if self.is_paused:
            return
        if name is not None:
            handle = torch.ops.profiler._record_function_enter_new(name, None)
            self.open.append(handle)
        elif self.open:  # else the zone started before the mirror
            torch.ops.profiler._record_function_exit._RecordFunction(self.open.pop())

    def paused(self):
        return _Paused(self)


class _Paused:
    def __init__(self, mirror):
        self._mirror = mirror

    def __enter__(self):
        self._before, self._mirror.is_paused = self._mirror.is_paused, True

    def __exit__(self, *raised):
        self._mirror.is_paused = self._before


followed = _Followed()
_mirror = _Mirror()
_own = threading.local()
_users = 0


@contextlib.contextmanager
def hidden():
    """While entered, ranges on this thread are no zones: those of what deepclock itself measures."""
    _own.is_hidden = True
    try:
        yield
    finally:
        _own.is_hidden = False


class ranges:
    """While entered, zones are ranges of torch.profiler, and ranges of torch.profiler.record_function are zones.

        with deepclock.torch.ranges(), torch.profiler.profile() as p:
            with deepclock.zone("forward"): ...

    deepclock.trace() follows record_function without it, if torch was imported before. Zones in
    coroutines, and ranges that start() began, are not shown to torch.profiler.
    """

    def __enter__(self):
        global _users
        followed.begin()
        _users += 1
        _deepclock._zone_mirror(_mirror)
        return self

    def __exit__(self, *raised):
        global _users
        _users -= 1
        if _users == 0:
            _deepclock._zone_mirror(None)
            while _mirror.open:  # zones that are still open
                _mirror(None)
        followed.end()
