# SPDX-License-Identifier: Apache-2.0
"""Finds the parts of a training step by itself: hooks and wrappers, all of them undone.

    forward     hooks before and after the module's forward
    loss        from there until backward begins
    backward    torch.autograd.backward(), which Tensor.backward() calls
    optimiser   the optimizer's step() and zero_grad()
    to_device   Tensor.to() and .cuda() that moved something; only where the module is on a device
"""

import functools
import types

import torch

from . import _device


class Hooks:
    def __init__(self, owner, module, optimizer):
        self._owner, self._module, self._optimizer = owner, module, optimizer
        self._undo = []
        self._in_loss = False

    def set(self):
        if self._module is not None:
            self._module_hooks()
            if _device.device_of(self._module).type != "cpu":
                for name in ("to", "cuda"):
                    self._patch(torch.Tensor, name, self._moving)
        self._patch(torch.autograd, "backward", self._backward)
        if self._optimizer is not None:
            for name in ("step", "zero_grad"):
                self._method(self._optimizer, name)

    def undo(self):
        self._loss_ends()
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

        def after(*_):
            owner.forward.__exit__()
            if torch.is_grad_enabled():
                self._in_loss = True
                owner.loss.__enter__()

        self._undo.append(self._module.register_forward_pre_hook(before).remove)
        self._undo.append(self._module.register_forward_hook(after).remove)

    def _backward(self, original):
        @functools.wraps(original)
        def backward(*args, **kwargs):
            self._loss_ends()
            with self._owner.backward:
                return original(*args, **kwargs)
        return backward

    def _moving(self, original):
        @functools.wraps(original)
        def move(tensor, *args, **kwargs):
            if not self._moves(tensor, original.__name__, args, kwargs):
                return original(tensor, *args, **kwargs)
            with self._owner.to_device:
                return original(tensor, *args, **kwargs)
        return move

    @staticmethod
    def _moves(tensor, name, args, kwargs):
        """Whether Tensor.to(...) or .cuda(...) takes it from the CPU to a device."""
        if tensor.device.type != "cpu":
            return False
        to = kwargs.get("device", kwargs.get("other", args[0] if args else None))
        if isinstance(to, torch.Tensor):
            to = to.device
        return (name == "cuda" or isinstance(to, int)
                or isinstance(to, (str, torch.device)) and torch.device(to).type != "cpu")

    # --- wrappers

    def _patch(self, holder, name, wrap):
        """A function of a module or a class, for as long as the block lasts."""
        own = name in vars(holder)
        original = getattr(holder, name)
        setattr(holder, name, wrap(original))
        self._undo.append(functools.partial(setattr, holder, name, original) if own
                          else functools.partial(delattr, holder, name))

    def _method(self, thing, name):
        """A method of one object; schedulers ask for its __self__ and __func__."""
        had = vars(thing).get(name)
        original = getattr(thing, name)

        @functools.wraps(original)
        def wrapped(_, *args, **kwargs):
            self._loss_ends()
            with self._owner.optimiser:
                return original(*args, **kwargs)

        setattr(thing, name, types.MethodType(wrapped, thing))
        self._undo.append(functools.partial(setattr, thing, name, had) if had is not None
                          else functools.partial(delattr, thing, name))
