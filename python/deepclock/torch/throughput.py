# SPDX-License-Identifier: Apache-2.0
"""The batch size at which a module processes the most items per second."""

import contextlib
import copy

import torch

import deepclock

from .._deepclock import _throughput
from . import _batch, _device, _memory
from ._call import checked
from ._inference import inference, name_of
from .bench import called, module_facts
from .._record import Amended, keeping, kept


def throughput(module, *example, inputs=None, named=None, threads=None, device=None, title=None, **options):
    """Searches the batch size that gives the most items per second, as `deepclock throughput` does for models: the
    batch grows until more gives nothing, does not fit into memory or breaks `slo`; then sizes around the best are
    compared in rounds of random order.

    example    inputs of one call, from which the inputs of a batch are made: the items of each tensor are repeated
               whose first axis has the size of the first tensor's; `named` by keyword
    inputs     a function in place of `example`: inputs(batch) returns a tensor, a tuple of arguments or a dict of
               arguments by keyword
    memory     that a measurement may have, as "2GiB": on the CPU the resident set of the process (default: the resident
               and nearly all free memory), elsewhere the device's memory; a batch that needs more ends the growth
    threads    torch.set_num_threads(); several, as (1, 2, 4), are all searched
    device     for a check: ArgumentError if the module is on another device

    The other options are as for `deepclock throughput`: batch, min_batch, max_batch, slo, statistic, precision,
    rounds, point_time, max_time, seed, save, ... Each trial is made in this process, the module in eval mode and
    without gradients. Returns a Record with the metrics throughput/best, throughput/best_batch and
    throughput/knee_batch and the table throughput/points. What the module raises at the first size is raised.
    """
    checked(module)
    asked = keeping(options, title)
    make = _batch.maker(example, named, inputs)
    where = _device.device_of(module, make(1))
    _device.checked(device, where)
    with inference(module):
        trials = _Trials(module, make, where)
        out = Amended(_throughput(trials, threads=threads, **options))
        out.command(f"deepclock.torch.throughput {name_of(module)}")
    out.facts((section, key, threads if key == "threads" and threads else value)
              for section, key, value in module_facts(module, where, *make(1), trials.wait)
              if key != "threads" or isinstance(threads, (int, type(None))))
    out.fact("method", "memory", trials.memory.what)
    out.fact("method", "inputs", make.how)
    return kept(out.finish(), asked)


class _Trials:
    """What the search of the library runs (python/ext/batches.c)."""

    def __init__(self, module, make, where):
        self.module, self.make, self.where = module, make, where
        self.memory = _memory.of(where)
        self.memory_bytes = self.memory.default
        self.wait = _device.waiter(where)
        self.budget, self.before = 0, torch.get_num_threads()
        self.open = contextlib.ExitStack()

    def prepare(self, batch, threads, memory_bytes):
        self.budget = memory_bytes
        torch.set_num_threads(threads or self.before)
        self.open.enter_context(self.memory.limited(memory_bytes))
        args, named = _device.moved(self.make(batch), self.where)
        call, args = called(self.module, args, named, self.wait)
        return (call, *args)

    def finish(self, error):
        self.open.close()
        torch.set_num_threads(self.before)
        peak = self.memory.peak()
        if error is not None and _memory.wants_memory(error):
            return peak, "memory", _sentence(error)
        if error is not None:
            return peak, "error", f"{type(error).__name__}: {_sentence(error)}"
        if self.budget and peak > self.budget:
            return peak, "memory", (f"it had {peak / 2**20:,.0f} MiB, more than the "
                                    f"{self.budget / 2**20:,.0f} MiB of the budget")
        return peak, None, None

    def flops(self, batch):
        try:
            args, named = _device.moved(self.make(batch), torch.device("meta"))
            found = deepclock.torch.cost(_without_memory(self.module), *args, named=named)["cost/flops"].value
        except Exception:  # a module that cannot run without memory: its operations are not counted
            found = None
        return float("nan") if found is None else float(found)


def _sentence(error):
    return " ".join(str(error).split())[:300] or type(error).__name__


def _without_memory(module):
    """A copy on the device `meta`, whose parameters are never copied."""
    memo = {}
    for tensor in (*module.parameters(), *module.buffers()):
        there = tensor.detach().to("meta")
        memo[id(tensor)] = (torch.nn.Parameter(there, tensor.requires_grad) if isinstance(tensor, torch.nn.Parameter)
                            else there)
    return copy.deepcopy(module, memo)
