# SPDX-License-Identifier: Apache-2.0
"""Puts a module into the state in which it is measured: eval mode, no gradients, a number of threads; restores its
state afterwards."""

import contextlib
import operator

import torch

import deepclock

from ._operators import sizes_text


@contextlib.contextmanager
def inference(module, threads=None):
    threads = threads_checked(threads)
    training = []
    if isinstance(module, torch.nn.Module):
        training = [(part, part.training) for part in module.modules() if hasattr(part, "training")]
    before = torch.get_num_threads()
    changed = False
    try:
        if training and hasattr(module, "training"):  # frozen ones have no mode: they are in that of evaluation
            changed = _evaluates(module)
        if threads is not None:
            torch.set_num_threads(threads)
        with torch.no_grad():
            yield
    finally:
        torch.clear_autocast_cache()  # of weights that were cast without gradients, with which training would go on
        if threads is not None:
            torch.set_num_threads(before)
        if changed and training[0][1]:
            module.train()  # which may do more than set its parts' modes, as LoRA takes its weights apart again
        for part, was in training:
            part.training = was


def _evaluates(module):
    """Puts the module into eval mode; False: what torch.export made has the mode of its export, and refuses any."""
    try:
        module.eval()
    except NotImplementedError:
        return False
    return True


def threads_checked(threads):
    """The number for torch.set_num_threads(), None where none was given; ArgumentError for what is not one."""
    if threads is None:
        return None
    if isinstance(threads, bool) or not hasattr(threads, "__index__") or operator.index(threads) < 1:
        raise deepclock.ArgumentError(f"threads is a whole number above 0, not {threads!r}")
    return operator.index(threads)


def mode_of(module):
    """In which mode the module is measured in inference()."""
    return "that of its export" if "train" in vars(module) else "eval"


def is_training(module):
    return isinstance(module, torch.nn.Module) and getattr(module, "training", False)


def name_of(module):
    """The class of a module, the name of a function."""
    named = module if hasattr(module, "__qualname__") else type(module)
    return named.__qualname__


def shape_text(tensor):
    """As the command line writes it: float32 1x3x224x224."""
    return f"{str(tensor.dtype).replace('torch.', '')} {sizes_text(tensor) or 'scalar'}"
