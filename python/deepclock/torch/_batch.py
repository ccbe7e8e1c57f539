# SPDX-License-Identifier: Apache-2.0
"""Inputs of any batch, made from the inputs of one call or by a function.

    make = maker((images,), {"mask": mask})
    args, named = make(64)
"""

import collections.abc

import torch

import deepclock

from . import _device


def maker(example, named=None, function=None):
    """make(batch) -> (args, named). ArgumentError where there is nothing to make them from."""
    if function is not None:
        if example or named or not callable(function):
            raise deepclock.ArgumentError("inputs= is a function of the batch size, in place of inputs: "
                                          "inputs=lambda batch: torch.randn(batch, 3, 224, 224)")
        return _Function(function)
    return _Example(tuple(example), dict(named or {}))


class _Function:
    how = "made by the function inputs= for each batch"

    def __init__(self, function):
        self._function = function

    def __call__(self, batch):
        made = self._function(batch)
        if isinstance(made, collections.abc.Mapping):
            return (), dict(made)
        return made if isinstance(made, tuple) else (made,), {}


class _Example:
    """Items are repeated in their order: batch 5 of items a, b is a, b, a, b, a."""

    def __init__(self, args, named):
        first = next(_device.tensors_in((args, named)), None)
        if first is None or first.dim() == 0:
            raise deepclock.ArgumentError("no input is a tensor with a first axis, which would be the batch: give "
                                          "inputs=, a function of the batch size")
        self.items = first.shape[0]
        if self.items == 0:
            raise deepclock.ArgumentError("the first input has no items that could be repeated")
        self._given = args, named
        fixed = sum(not self._is_batched(t) for t in _device.tensors_in(self._given))
        self.how = (f"the {self.items} items that were given, repeated"
                    + (f"; {fixed} inputs of another first axis as they are" if fixed else ""))

    def _is_batched(self, tensor):
        return tensor.dim() > 0 and tensor.shape[0] == self.items

    def __call__(self, batch):
        def repeated(tensor):
            if not self._is_batched(tensor):
                return tensor
            return tensor.index_select(0, (torch.arange(batch) % self.items).to(tensor.device))
        with torch.no_grad():
            return _device.mapped(self._given, repeated)
