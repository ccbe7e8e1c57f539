# SPDX-License-Identifier: Apache-2.0
"""A dispatch mode that computes the cost of every aten call while it is entered."""

import sys
import typing
import os

import torch

from . import _price
from ._dispatch import ITSELF, Mode
from ._operators import Unpriced, shape_of, tensors_in

_OWN = (os.path.dirname(os.path.abspath(__file__)) + os.sep,
        os.path.dirname(os.path.abspath(torch.__file__)) + os.sep, "<")
_DECOMPOSE_DEPTH = 8
_NOTHING = ("Identity",)  # what neither computes nor moves anything


class Call(typing.NamedTuple):
    """One call that computes or moves something."""
    name: str     # "aten.addmm"
    price: _price.Price
    phase: str
    path: str     # the module
    line: str     # of the model's own code: "/models/net.py:17"; "": none
    out: tuple    # (dtype, shape) of its first result
    held: tuple   # storages of the tensors that it reads


def storage_of(t):
    """Which memory it is, of views too; also of tensors without memory."""
    try:
        storage = t.untyped_storage() if hasattr(t, "untyped_storage") else t.storage()
        return storage._cdata
    except (RuntimeError, NotImplementedError, AttributeError):
        return id(t)


def _line():
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith(_OWN):
            return f"{name}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _first(out):
    for t in tensors_in(out):
        try:
            return str(t.dtype).replace("torch.", ""), shape_of(t)
        except Unpriced:
            break
    return None


def _gradients_on_meta(func, args, kwargs):
    """PyTorch 1.13 has no backward of a convolution on tensors without memory; None: it is
    another call."""
    a = _price.bind(func, args, kwargs, None)
    if a.name_ != "convolution_backward" or a.input.device.type != "meta":
        return None
    likes = (a.input, a.weight, a.input.new_empty(a.bias_sizes or (a.grad_output.shape[1],)))
    return tuple(torch.empty_like(t) if wanted else None for t, wanted in zip(likes, a.output_mask))


def _on_meta(value):
    if isinstance(value, torch.Tensor):
        return torch.empty_strided(value.shape, value.stride(), dtype=value.dtype, device="meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_on_meta(v) for v in value)
    if isinstance(value, dict):
        return {k: _on_meta(v) for k, v in value.items()}
    return torch.device("meta") if isinstance(value, torch.device) else value


class Counter(Mode):
    """Calls `seen(Call)` for each aten call except views and pure allocations.

    phase: a text that is stored with the calls. `writes` False: a call that would change more than one number in place
    gets its cost and is not run. `path()` returns the module.
    """

    def __init__(self, seen, path=lambda: "", depth=0):
        super().__init__()
        self.seen, self.path, self.phase = seen, path, "forward"
        self.writes = True
        self._depth = depth

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        out = self.opened(func, types, args, kwargs)
        if out is not ITSELF:
            return out
        try:
            out = self.run(func, args, kwargs) if self.writes else self._kept(func, args, kwargs)
        except NotImplementedError:
            out = _gradients_on_meta(func, args, kwargs)
            if out is None:
                raise
        price = None if hasattr(func, "_schema") and _price.is_view(func) else self._price(func, args, kwargs, out)
        if price and price.types != _NOTHING:
            self.seen(Call(_price.name_of(func), price, self.phase, self.path(),
                           _line() if self._depth == 0 else "", _first(out),
                           tuple(storage_of(t) for t in tensors_in((args, kwargs)))))
        return out

    def _price(self, func, args, kwargs, out):
        price = _price.price(func, args, kwargs, out)
        if price.types or self._depth >= _DECOMPOSE_DEPTH or not hasattr(func, "_schema"):
            return price
        return self._decomposed(func, args, kwargs, out) or price

    def _decomposed(self, func, args, kwargs, out):
        """The cost of a call without a row, by PyTorch's table of decompositions, on meta tensors; None: it has no
        decomposition."""
        make = torch._decomp.decomposition_table.get(func)
        if make is None or any(t.is_nested for t in tensors_in((args, kwargs))):
            return None
        parts = []
        try:
            with torch.no_grad(), Counter(parts.append, depth=self._depth + 1):
                make(*_on_meta(args), **_on_meta(kwargs))
        except Exception:  # whatever a decomposition raises: the cost of the call stays unknown
            return None
        if any(c.price.macs is None or c.price.flops is None for c in parts):
            return None
        read, write = _price.bytes_of((args, kwargs)), _price.bytes_of(out)
        return _price.Price(tuple(dict.fromkeys(t for c in parts for t in c.price.types)),
                            sum(c.price.macs for c in parts), sum(c.price.flops for c in parts),
                            read, write)

    def _kept(self, func, args, kwargs):
        """Runs the call unless it writes to tensors of more than one number; then its result is what
        it would have written to."""
        written = _price.written(func, args, kwargs) if hasattr(func, "_schema") else []
        if not written or all(t.numel() <= 1 for t in tensors_in(written)):
            return func(*args, **kwargs)
        n = len(func._schema.returns)
        return None if n == 0 else written[0] if n == 1 else tuple(written[:n])
