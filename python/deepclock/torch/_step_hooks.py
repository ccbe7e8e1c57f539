# SPDX-License-Identifier: Apache-2.0
"""Finds the parts of a training step automatically: hooks and wrappers, all of them undone.

    forward     hooks before and after the module's forward
    loss        from there until backward begins
    backward    torch.autograd.backward(), which Tensor.backward() calls, where it reaches an output of the
                module; else it belongs to another network
    optimiser   the optimizer's step() and zero_grad()
    to_device   Tensor.to() and the method of the device's name, as Tensor.cuda(), that moved something; only where the
                module is on a device
"""

import functools
import threading
import types

import torch

from . import _device
from ._backward import opened
from ._operators import tensors_in


class Hooks:
    def __init__(self, owner, module, optimizer):
        self._owner, self._module = owner, module
        # Accelerate's optimisers wrap another optimiser, whose step() they call when gradients are complete.
        inner = getattr(optimizer, "optimizer", None)
        self._optimizer = inner if isinstance(inner, torch.optim.Optimizer) else optimizer
        self._undo = []
        self._ended = False
        self._in_loss = False
        self._depth = 0  # of backward() inside backward(), as of checkpoints
        self._outputs_known = False  # of the module: of which node each is
        self._reached = False  # the module's outputs, by the backward pass that runs

    def set(self):
        if self._module is not None:
            self._module_hooks()
            kind = _device.device_of(self._module).type
            for name in {"to", "cuda", kind} if kind != "cpu" else ():
                if hasattr(torch.Tensor, name):
                    self._patch(torch.Tensor, name, self._moving)
        self._patch(torch.autograd, "backward", self._backward)
        if self._optimizer is not None:
            for name in ("step", "zero_grad"):
                self._method(self._optimizer, name)

    def undo(self):
        self._loss_ends()
        self._ended = True
        while self._undo:
            self._undo.pop()()

    def begin(self):
        """A step begins, in which no part is open."""
        self._in_loss = False

    # --- parts

    def _loss_ends(self):
        if self._in_loss:
            self._in_loss = False
            self._owner.loss.__exit__()

    def _module_hooks(self):
        owner = self._owner

        def before(*_):
            self._loss_ends()
            owner.forward.__enter__()

        def after(_, given, output):
            owner.forward.__exit__()
            self._follow(output)
            if torch.is_grad_enabled():
                self._in_loss = True
                owner.loss.__enter__()

        self._undo.append(self._module.register_forward_pre_hook(before).remove)
        self._undo.append(self._module.register_forward_hook(after).remove)

    def _backward(self, original):
        @functools.wraps(original)
        def backward(*args, **kwargs):
            if self._ended:
                return original(*args, **kwargs)
            self._loss_ends()
            if self._depth or self._module is None or threading.get_ident() != self._owner._thread:
                with self._owner.backward:
                    return original(*args, **kwargs)
            self._depth, self._reached = 1, False
            spent = self._owner._spent("backward")
            try:
                with self._owner.backward:
                    return original(*args, **kwargs)
            finally:
                self._depth = 0
                if self._outputs_known and not self._reached:
                    self._owner._move("backward", spent)
        return backward

    def _follow(self, output):
        """A backward pass that does not reach an output of the module belongs to another network."""
        tensors = list(tensors_in(opened(output)))
        self._outputs_known = self._outputs_known or bool(tensors)
        for t in tensors:
            if t.grad_fn is not None:
                t.grad_fn.register_prehook(self._reach)

    def _reach(self, _):
        self._reached = True

    def _moving(self, original):
        @functools.wraps(original)
        def move(tensor, *args, **kwargs):
            if self._ended or not self._moves(tensor, original.__name__, args, kwargs):
                return original(tensor, *args, **kwargs)
            with self._owner.to_device:
                return original(tensor, *args, **kwargs)
        return move

    @staticmethod
    def _moves(tensor, name, args, kwargs):
        """Whether Tensor.to(...), .cuda(...) or another such method moves it from the CPU to a device."""
        if tensor.device.type != "cpu":
            return False
        to = kwargs.get("device", kwargs.get("other", args[0] if args else None))
        if isinstance(to, torch.Tensor):
            to = to.device
        return (name != "to" or isinstance(to, int)
                or isinstance(to, (str, torch.device)) and torch.device(to).type != "cpu")

    # --- wrappers, which call the original alone once they are undone: others may have wrapped them meanwhile

    def _patch(self, holder, name, wrap):
        """Replaces a function of a module or a class for the duration of the block."""
        own, original = vars(holder).get(name), getattr(holder, name)
        self._put(holder, name, wrap(original), None if own is None else original)

    def _method(self, thing, name):
        """Replaces a method of one object; schedulers read its __self__ and __func__."""
        had, original = vars(thing).get(name), getattr(thing, name)

        @functools.wraps(original)
        def wrapped(_, *args, **kwargs):
            if self._ended:
                return original(*args, **kwargs)
            self._loss_ends()
            with self._owner.optimiser:
                return original(*args, **kwargs)

        self._put(thing, name, types.MethodType(wrapped, thing), had)

    def _put(self, holder, name, made, before):
        """Sets an attribute; undo() sets the one before, None: deletes it, unless another one has been set since."""
        def undo():
            if vars(holder).get(name) is not made:
                return
            if before is None:
                delattr(holder, name)
            else:
                setattr(holder, name, before)

        setattr(holder, name, made)
        self._undo.append(undo)
