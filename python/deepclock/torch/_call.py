# SPDX-License-Identifier: Apache-2.0
"""How a module is called with the inputs that a user gives."""

import collections.abc
import contextlib
import inspect

import torch


def arguments(module, inputs, named=None):
    """(args, kwargs) of the call `module(*inputs, **named)`.

    A tuple alone is the positional arguments. A dict alone is the keyword arguments, as
    tokenizers make them, unless `forward` takes none of its names: then it is the one argument.
    """
    kwargs = dict(named or {})
    if len(inputs) == 1 and isinstance(inputs[0], tuple) and not hasattr(inputs[0], "_fields"):
        return inputs[0], kwargs
    if len(inputs) == 1 and isinstance(inputs[0], collections.abc.Mapping) and inputs[0]:
        names = inputs[0].keys()
        if all(isinstance(n, str) for n in names) and _takes(module, names):
            return (), {**inputs[0], **kwargs}
    return inputs, kwargs


def _takes(module, names):
    try:
        parameters = inspect.signature(getattr(module, "forward", module)).parameters
    except (TypeError, ValueError):
        return True
    return (any(p.kind is p.VAR_KEYWORD for p in parameters.values())
            or all(n in parameters for n in names))


def plain(module):
    """The module that torch.compile() wraps, which has the same calls; any other as it is."""
    while hasattr(module, "_orig_mod"):
        module = module._orig_mod
    return module


def uncompiled():
    """Parts that torch.compile() wraps run as they are written."""
    compiler = getattr(torch, "compiler", None)
    return (compiler.set_stance("force_eager") if hasattr(compiler, "set_stance")
            else contextlib.nullcontext())


def name_of(module):
    """What a report calls it."""
    if hasattr(module, "forward"):
        return getattr(module, "original_name", type(module).__name__)
    return getattr(module, "__qualname__", type(module).__name__)
