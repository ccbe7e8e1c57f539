# SPDX-License-Identifier: Apache-2.0
"""How long the loop's thread waits in each part of a step: neither it nor a thread that works for it runs.

    waiting = wall time - CPU time of the thread - its run delay (runnable, but without a core)
              - CPU time of other threads, beyond those that compute together with this one

The threads of PyTorch's pool run while the loop's thread runs, so up to `threads` - 1 times its CPU time is
theirs. CPU time of other threads beyond that is work that the loop's thread waits for, as in a separate engine. At the end of an operator the loop's thread also waits for threads of the pool that have no core: their
longest run delay is subtracted.
"""

import os
import threading
import time

import torch

#: Steps from this length on are all sampled, else each `_EACH`-th.
_LONG_NS = 5_000_000
_EACH = 8


class Used:
    """Sums by part: wall time, CPU time of the loop's thread, of the process, and the run delay; ns."""

    def __init__(self, parts):
        self.of = [[0, 0, 0, 0] for _ in range(parts)]
        self.pool_delay = 0


class Clock:
    """Belongs to the thread that makes it. `is_known` is false where the kernel has no run delays."""

    def __init__(self):
        self._own = self._open(threading.get_native_id())
        self.is_known = self._own is not None
        self._last, self._pool_last = None, {}

    @staticmethod
    def _open(thread):
        try:
            return open(f"/proc/self/task/{thread}/schedstat", "rb", buffering=0)
        except OSError:
            return None

    def close(self):
        if self._own is not None:
            self._own.close()

    def wanted(self, steps):
        """Whether the next step is sampled: all long ones, some of the short ones."""
        return self.is_known and (len(steps) % _EACH == 0 or steps[-1].wall_ns > _LONG_NS)

    def begin(self, at):
        self._pool_last = self._pool()
        self._last = self._read(at)

    def add(self, used, part, at):
        now = self._read(at)
        sums = used.of[part]
        for i, (new, old) in enumerate(zip(now, self._last)):
            sums[i] += new - old
        self._last = now

    def end(self, used):
        now = self._pool()
        used.pool_delay = max((now[t] - self._pool_last.get(t, now[t]) for t in now), default=0)

    def _read(self, at):
        return at, time.thread_time_ns(), time.process_time_ns(), _delay(self._own)

    def _pool(self):
        """{thread: run delay} of the other threads."""
        found, own = {}, str(threading.get_native_id())
        for thread in os.listdir("/proc/self/task"):
            file = self._open(thread) if thread != own else None
            if file is not None:
                with file:
                    found[thread] = _delay(file)
        return found


def _delay(file):
    try:
        return int(os.pread(file.fileno(), 64, 0).split()[1])
    except (OSError, IndexError, ValueError):  # the thread has ended
        return 0


def shares(steps, parts):
    """(waiting as a share of the time of each part, of how many steps); ({}, 0): not known."""
    seen = [s for s in steps if s.used is not None]
    if not seen:
        return {}, 0
    together = torch.get_num_threads() - 1
    wall, waits = [0] * len(parts), [0.0] * len(parts)
    for step in seen:
        own = []
        for i, (took, thread, process, delay) in enumerate(step.used.of):
            others = max(0, process - thread - together * thread)
            wall[i] += took
            own.append(max(0, took - thread - delay - others))
        left = max(0, sum(own) - step.used.pool_delay) / (sum(own) or 1)
        for i, ns in enumerate(own):
            waits[i] += ns * left
    return {name: waits[i] / wall[i] if wall[i] else 0.0 for i, name in enumerate(parts)}, len(seen)
