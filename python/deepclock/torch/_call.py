# SPDX-License-Identifier: Apache-2.0
"""Calls of a module with the inputs that a user gives."""

import collections.abc
import contextlib
import difflib
import functools
import inspect
import math
import re

import torch

import deepclock


def arguments(module, inputs, named=None):
    """(args, kwargs) of the call `module(*inputs, **named)`.

    A tuple alone is the positional arguments. A dict alone is the keyword arguments, as
    tokenizers make them, unless `forward` takes none of its names: then it is the only argument.
    """
    kwargs = dict(named or {})
    if len(inputs) == 1 and isinstance(inputs[0], tuple) and not hasattr(inputs[0], "_fields"):
        return inputs[0], kwargs
    if len(inputs) == 1 and isinstance(inputs[0], collections.abc.Mapping) and inputs[0]:
        names = inputs[0].keys()
        if all(isinstance(n, str) for n in names) and _takes(module, names):
            return (), {**inputs[0], **kwargs}
    return inputs, kwargs


_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(name, value):
    """A time option as the command line takes it ("250ms", "5s"), a number of seconds or a timedelta; above 0."""
    if hasattr(value, "total_seconds"):
        value = value.total_seconds()
    elif type(value).__name__ == "timedelta64":
        value = float(value / type(value)(1, "s"))
    elif hasattr(value, "dtype") and hasattr(value, "item"):
        value = value.item()  # of NumPy
    if isinstance(value, str):
        found = re.fullmatch(r"\s*([-+.\d]+(?:[eE][-+]?\d+)?)\s*([a-zµ]*)\s*", value)
        try:
            value = float(found[1]) * _UNITS[found[2]]
        except (TypeError, ValueError, KeyError):
            raise deepclock.ArgumentError(f"{name}={value!r} is not a time: give seconds, or a text such as "
                                          "\"250ms\" or \"5s\"") from None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
        raise deepclock.ArgumentError(f"{name} is a time above 0 in seconds, or a text such as \"5s\"; not {value!r}")
    return float(value)


def _takes(module, names):
    try:
        parameters = inspect.signature(getattr(module, "forward", module)).parameters
    except (TypeError, ValueError):
        return True
    return (any(p.kind is p.VAR_KEYWORD for p in parameters.values())
            or all(n in parameters for n in names))


def checked(module):
    """Returns the module; ArgumentError if it is neither a module nor a function."""
    if isinstance(module, type) and issubclass(module, torch.nn.Module):
        raise deepclock.ArgumentError(f"{module.__name__} is a class: give a module of it, {module.__name__}(...)")
    if not callable(module):
        raise deepclock.ArgumentError(f"a module or a function is measured, not {type(module).__name__}")
    return module


def hinted(function):
    """`function` with the nearest name in its message for an unknown option."""
    names = [p.name for p in inspect.signature(function).parameters.values() if p.kind is p.KEYWORD_ONLY]

    @functools.wraps(function)
    def call(*args, **options):
        for name in options:
            if name not in names:
                nearest = difflib.get_close_matches(name, names, 1)
                raise TypeError(f"{function.__name__}() has no option '{name}'"
                                + (f"; did you mean '{nearest[0]}'?" if nearest else ""))
        return function(*args, **options)

    return call


def plain(module):
    """The module that torch.compile() wraps, which has the same calls; any other as it is."""
    module = checked(module)
    while hasattr(module, "_orig_mod"):
        module = module._orig_mod
    return module


def uncompiled():
    """Returns a context in which parts that torch.compile() wraps run uncompiled."""
    compiler = getattr(torch, "compiler", None)
    return (compiler.set_stance("force_eager") if hasattr(compiler, "set_stance")
            else contextlib.nullcontext())


def name_of(module):
    """Returns the name in reports."""
    if hasattr(module, "forward"):
        return getattr(module, "original_name", type(module).__name__)
    return getattr(module, "__qualname__", type(module).__name__)
