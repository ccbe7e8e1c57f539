# SPDX-License-Identifier: Apache-2.0
"""The number of operators that PyTorch runs in a step, and the overhead of one without work.

Both are counted in the same way, so their product is what a step of as many operators takes when
each of them computes on a single number: the share of Python, of the dispatcher and of autograd.
"""

import sys
from time import perf_counter_ns as now

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .. import _torch_ranges


class _Mode(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.n = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.n += 1
        return function(*args, **(kwargs or {}))


class Counter:
    """Counts between begin() and end(), on this thread and in its backward passes."""

    def __init__(self):
        self.operators = None  # not known
        self._mode = None

    def begin(self):
        # Compiled code is left as it is: under a mode it would run uncompiled.
        if not _compiles():
            self._mode = _Mode()
            self._mode.__enter__()

    def end(self):
        if self._mode is not None:
            self._mode.__exit__(None, None, None)
            self.operators, self._mode = self._mode.n, None


def _compiles():
    """Whether torch.compile has compiled anything in this program."""
    dynamo = sys.modules.get("torch._dynamo.utils")
    return bool(dynamo and dynamo.counters["stats"].get("unique_graphs"))


def empty_operator_ns():
    """The time of a training step of a network of single numbers, by its operators. The state of the random numbers is
    restored, and a timeline that is recorded does not show its ranges."""
    with torch.random.fork_rng(devices=[]), torch.enable_grad(), _torch_ranges.hidden():
        layers = (part for _ in range(4) for part in (torch.nn.Linear(1, 1), torch.nn.ReLU()))
        net = torch.nn.Sequential(*layers)
        optimiser = torch.optim.Adam(net.parameters())
        one = torch.ones(1, 1)

        def step():
            optimiser.zero_grad()
            net(one).mean().backward()
            optimiser.step()

        for _ in range(10):
            step()
        times = []
        for _ in range(40):
            begin = now()
            step()
            times.append(now() - begin)
        mode = _Mode()
        with mode:
            step()
    return sorted(times)[len(times) // 2] / mode.n
