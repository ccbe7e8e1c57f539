# SPDX-License-Identifier: Apache-2.0
"""Counts the backward pass and the optimiser's step, and restores all state after them."""

import contextlib
import inspect

import torch

from deepclock import _deepclock
from deepclock._accelerator import in_use, module_of

from ._operators import tensors_in


class Nodes:
    """To which module each node of autograd's graph belongs, so that its backward calls do too."""

    def __init__(self):
        self._path_of = {}
        self.path = ""  # of the node that runs

    def label(self, value, path):
        """Nodes between `value` and those that have a path already get this one."""
        path_of = self._path_of
        todo = [t.grad_fn for t in tensors_in(opened(value)) if t.grad_fn is not None]
        while todo:
            node = todo.pop()
            if node in path_of:
                continue
            path_of[node] = path
            todo += [n for n, _ in node.next_functions if n is not None]

    def watch(self):
        for node, path in self._path_of.items():
            node.register_prehook(lambda gradients, path=path: self._runs(path))
        self._path_of = {}

    def _runs(self, path):
        self.path = path


def opened(value):
    """Outputs may be objects with attributes, as in transformers."""
    if hasattr(value, "__dict__") and not isinstance(value, (torch.Tensor, dict, list, tuple)):
        return list(vars(value).values())
    return value


def _goal(output, loss, counter, running):
    """The tensors that the backward pass begins at, and their gradients."""
    if loss is not None:
        counter.phase = "loss"
        with running, counter:
            goals = [loss(output)]
    elif isinstance(getattr(output, "loss", None), torch.Tensor):
        goals = [output.loss]
    else:
        goals = [t for t in tensors_in(opened(output)) if t.requires_grad]
    if not goals or any(not isinstance(t, torch.Tensor) or not t.requires_grad for t in goals):
        raise _deepclock.ArgumentError(
            "no gradient can be counted: no output, and no loss, depends on a parameter or an input "
            "that requires one")
    return goals, [torch.ones_like(t) for t in goals]


def run(output, loss, counter, nodes, running):
    """Counts the backward pass of `output`."""
    goals, gradients = _goal(output, loss, counter, running)
    nodes.label(goals, "")
    nodes.watch()
    counter.phase = "backward"
    counter.path = lambda: running.path or nodes.path
    with running, counter:  # checkpoints call modules again
        torch.autograd.backward(goals, gradients)


def check_optimizer(optimizer):
    """ArgumentError if step() requires a closure: the number of its calls depends on values."""
    step_ = getattr(optimizer, "step", None)
    closure = inspect.signature(step_).parameters.get("closure") if step_ is not None else None
    if closure is not None and closure.default is inspect.Parameter.empty:
        raise _deepclock.ArgumentError(
            f"a step of {type(optimizer).__name__} calls a closure, and how often depends on values: count "
            "forward and backward with loss= and without optimizer=, and multiply by the calls of the closure")


def step(optimizer, counter):
    """Counts one step, without its writes to parameters."""
    counter.phase, counter.path, counter.writes = "optimizer", lambda: "", False
    with counter:
        optimizer.step()


def _numbers_of(value):
    """Clones of what holds one number: steps are counted on, also while nothing else is written."""
    return [(t, t.detach().clone()) for t in tensors_in(value) if t.numel() == 1]


def _generators():
    """(read, write) of each generator of random numbers that a module may use."""
    yield torch.get_rng_state, torch.set_rng_state
    device = in_use()
    for ending in ("_all", "") if device is not None else ():
        pair = [getattr(module_of(device), f"{verb}_rng_state{ending}", None) for verb in ("get", "set")]
        if all(pair):
            yield pair
            return


@contextlib.contextmanager
def kept(module, optimizer):
    """Buffers, gradients, random numbers, the optimiser and its state are afterwards as before."""
    is_module = isinstance(module, torch.nn.Module)
    parameters = list(module.parameters()) if is_module else []
    for group in optimizer.param_groups if optimizer is not None else ():
        parameters += [p for p in group["params"] if not any(p is q for q in parameters)]
    buffers = [(m, dict(m._buffers.items()), {k: t.detach().clone() for k, t in m._buffers.items()
                                              if t is not None})
               for m in module.modules()] if is_module else []
    gradients = [(p, p.grad) for p in parameters]
    random = [(write, read()) for read, write in _generators()]
    back = _optimizer_kept(optimizer, parameters) if optimizer is not None else None
    for p in parameters:
        p.grad = None
    try:
        yield
    finally:
        for p, g in gradients:
            p.grad = g
        with torch.no_grad():
            for m, names, values in buffers:
                if not isinstance(m, torch.jit.ScriptModule):  # in one, no buffer is replaced
                    m._buffers.clear()
                    m._buffers.update(names)
                for k, value in values.items():
                    if names[k].shape == value.shape and names[k].device.type != "meta":
                        names[k].copy_(value)
        for write, state in random:
            write(state)
        if back:
            back()


def _optimizer_kept(optimizer, parameters):
    """Returns what puts it back."""
    members = dict(optimizer.__dict__)
    state = {p: dict(s) for p, s in optimizer.state.items()}
    groups = [dict(g) for g in optimizer.param_groups]
    numbers = _numbers_of([parameters, list(state.values())])

    def back():
        optimizer.__dict__.clear()
        optimizer.__dict__.update(members)
        optimizer.state.clear()
        optimizer.state.update(state)
        for group, was in zip(optimizer.param_groups, groups):
            group.clear()
            group.update(was)
        with torch.no_grad():
            for t, value in numbers:
                if t.device.type != "meta":
                    t.copy_(value)
    return back
