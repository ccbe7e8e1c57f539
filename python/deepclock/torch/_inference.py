# SPDX-License-Identifier: Apache-2.0
"""Puts a module into the state in which it is measured: eval mode, no gradients, a number of threads; restores its
state afterwards."""

import contextlib

import torch

from ._operators import sizes_text


@contextlib.contextmanager
def inference(module, threads=None):
    training = []
    if isinstance(module, torch.nn.Module):
        training = [(part, part.training) for part in module.modules() if hasattr(part, "training")]
        if hasattr(module, "training"):  # frozen ones have no mode: they are in that of evaluation
            module.eval()
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        with torch.no_grad():
            yield
    finally:
        if threads is not None:
            torch.set_num_threads(before)
        for part, was in training:
            part.training = was


def is_training(module):
    return isinstance(module, torch.nn.Module) and getattr(module, "training", False)


def name_of(module):
    """The class of a module, the name of a function."""
    named = module if hasattr(module, "__qualname__") else type(module)
    return named.__qualname__


def shape_text(tensor):
    """As the command line writes it: float32 1x3x224x224."""
    return f"{str(tensor.dtype).replace('torch.', '')} {sizes_text(tensor) or 'scalar'}"
