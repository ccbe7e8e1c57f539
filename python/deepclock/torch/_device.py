# SPDX-License-Identifier: Apache-2.0
"""The device of a module and of tensors, and the facts about it.

Devices other than the CPU compute while the program continues (_accelerator.py), so a clock that is read without
synchronization shows the time of enqueueing.
"""

import collections.abc
import copy
import platform

import torch

import deepclock

from .._accelerator import found, in_use, module_of, tensors_in, waiter  # noqa: F401


def mapped(value, change):
    """The same structure with `change(t)` in place of each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, collections.abc.Mapping):
        return _mapping(value, {key: mapped(member, change) for key, member in value.items()})
    if isinstance(value, torch.nn.utils.rnn.PackedSequence):  # its batch sizes are always on the CPU
        return type(value)(change(value.data), value.batch_sizes,
                           *(mapped(member, change) for member in (value.sorted_indices, value.unsorted_indices)))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(member, change) for member in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(member, change) for member in value)
    return value


def _mapping(like, members):
    """Returns the members in a mapping of the type of `like`, as a module may read `x.logits` of an output of
    transformers; a dict if that cannot be copied."""
    if type(like) is dict:
        return members
    try:
        made = copy.copy(like)
        for key, member in members.items():
            made[key] = member
    except Exception:  # one that cannot be written, or refuses to be copied in ways of its type
        return members
    return made


def moved(value, device):
    """The same structure with its tensors on the device."""
    return mapped(value, lambda t: t.to(device))


def device_of(module, inputs=()):
    """The device of the first parameter or buffer; of a function: of its first tensor."""
    if isinstance(module, torch.nn.Module):
        for tensor in (*module.parameters(), *module.buffers()):
            return tensor.device
    for tensor in tensors_in(inputs):
        return tensor.device
    return torch.device("cpu")


def device_in_use():
    """The device of a program that names none: an accelerator on which it has begun to work, or the CPU."""
    return in_use() or torch.device("cpu")


def random_kept(where):
    """A context after which the random numbers of the CPU and of the device are in their former state."""
    if where.type == "cuda":
        return torch.random.fork_rng(devices=[where])
    if hasattr(module_of(where), "get_rng_state") and hasattr(torch, "accelerator"):
        return torch.random.fork_rng(devices=[where], device_type=where.type)
    return torch.random.fork_rng(devices=[])


def checked(asked, where):
    """Raises ArgumentError if a device is requested on which the module is not."""
    if asked is None:
        return
    asked = found(asked)
    if asked.type != where.type or asked.index not in (None, where.index):
        raise deepclock.ArgumentError(
            f"the module is on '{where}', not on '{asked}': move it there with .to('{asked}')")


def autocast_of(device):
    """The type to which torch.autocast, which belongs to a thread, casts on this device; None: it is off."""
    kind = device.type
    try:
        try:
            return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else None
        except (AttributeError, TypeError):  # before PyTorch 2.4
            if kind == "cpu":
                return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None
            return torch.get_autocast_gpu_dtype() if kind == "cuda" and torch.is_autocast_enabled() else None
    except RuntimeError:  # a device without autocast
        return None


def _tf32():
    try:
        return torch.backends.cuda.matmul.allow_tf32
    except RuntimeError:  # the program has set the newer fp32_precision
        return torch.backends.cuda.matmul.fp32_precision == "tf32"


def facts(device):
    """What ran it, as (section, key, value) of a record."""
    yield "engine", "name", "torch"
    yield "engine", "version", torch.__version__
    yield "engine", "device", str(device)
    if device.type == "cpu":
        yield "engine", "threads", torch.get_num_threads()
        yield "engine", "interop_threads", torch.get_num_interop_threads()
    else:
        module = module_of(device)
        if hasattr(module, "get_device_name"):
            yield "device", "name", module.get_device_name(device)
    if device.type == "cuda":
        yield "engine", "cuda", torch.version.cuda or torch.version.hip or "unknown"
        yield "engine", "cudnn_benchmark", torch.backends.cudnn.benchmark
        yield "engine", "tf32", _tf32()
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        yield "engine", "rank", torch.distributed.get_rank()
        yield "engine", "world_size", torch.distributed.get_world_size()
    yield "engine", "deterministic", torch.are_deterministic_algorithms_enabled()
    yield "engine", "default_dtype", str(torch.get_default_dtype()).replace("torch.", "")
    if autocast_of(device) is not None:
        yield "engine", "autocast", str(autocast_of(device)).replace("torch.", "")
    yield "engine", "python", platform.python_version()
