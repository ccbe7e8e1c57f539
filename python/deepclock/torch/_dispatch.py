# SPDX-License-Identifier: Apache-2.0
"""Which aten calls a dispatch mode counts as one: the calls that PyTorch runs as one kernel.

All other calls are decomposed, so that the mode receives their parts: composite operators, wrapper
subclasses of tensors (nested tensors of the layout torch.jagged, distributed tensors), torch.cond and
while_loop.
"""

import functools

import torch
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

from . import _price

#: The call is a single operator.
ITSELF = object()

is_wrapper = getattr(_python_dispatch, "is_traceable_wrapper_subclass_type", lambda t: False)
_KEYS = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")
_EXPLICIT = [getattr(torch._C.DispatchKey, key) for key in _KEYS if hasattr(torch._C.DispatchKey, key)]


class Mode(TorchDispatchMode):
    """Base class: __torch_dispatch__() calls opened() first."""

    supports_higher_order_operators = True

    def opened(self, func, types, args, kwargs):
        """The result of a decomposed call, whose parts this mode has received; ITSELF if it is one kernel; NotImplemented if a subclass of tensors has to run it."""
        if not hasattr(func, "_schema"):
            return self._higher_order(func, args, kwargs)
        if any(map(is_wrapper, types)):
            return NotImplemented
        if _price.has_row(func):
            return ITSELF
        with self:
            out = func.decompose(*args, **kwargs)
        if out is not NotImplemented:
            return out
        key = _explicit_key(func)
        if key is None:
            return ITSELF
        with self:
            return func._op_dk(key, *args, **kwargs)

    def _higher_order(self, func, args, kwargs):
        name = func.name()
        if name == "cond" and not _on_meta(args[0]):
            predicate, true_fn, false_fn, operands = args
            with self:
                return (true_fn if predicate else false_fn)(*operands)
        if name == "while_loop" and not any(map(_on_meta, args[2])):
            with self:
                return func.py_kernels[_EXPLICIT[0]](*args, **kwargs)
        return ITSELF


    @staticmethod
    def run(func, args, kwargs):
        """Runs a call that is ITSELF."""
        if not hasattr(func, "_schema") and func.name() == "cond" and _on_meta(args[0]):
            return args[1](*args[3])  # the results of both branches are alike
        return func(*args, **kwargs)


def _on_meta(value):
    return isinstance(value, torch.Tensor) and value.device.type == "meta"


@functools.lru_cache(maxsize=None)
def _explicit_key(func):
    """The dispatch key of the only kernel, if that calls other operators on every device; else None."""
    has = functools.partial(torch._C._dispatch_has_kernel_for_dispatch_key, func.name())
    if any(map(has, ("CPU", "CUDA", "Meta"))):
        return None
    return next((key for key in _EXPLICIT if has(key.name)), None)
