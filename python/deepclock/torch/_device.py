# SPDX-License-Identifier: Apache-2.0
"""Where a module computes, and how to wait until it has.

Devices other than the CPU compute while the program goes on, so a clock that is read without
waiting shows how long it took to ask.
"""

import functools
import platform

import torch


def tensors_in(value):
    """Every tensor in nested tuples, lists and dicts, in order."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from tensors_in(member)
    elif isinstance(value, (tuple, list)):
        for member in value:
            yield from tensors_in(member)


def mapped(value, change):
    """The same structure with `change(t)` in place of each tensor."""
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, dict):
        return {key: mapped(member, change) for key, member in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(mapped(member, change) for member in value))
    if isinstance(value, (tuple, list)):
        return type(value)(mapped(member, change) for member in value)
    return value


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
    """The device of a program that names none: an accelerator that it has begun to use, or the
    CPU."""
    for kind in ("cuda", "xpu"):
        module = getattr(torch, kind, None)
        if module is not None and hasattr(module, "is_initialized") and module.is_initialized():
            return torch.device(kind, module.current_device())
    return torch.device("cpu")


def waiter(device):
    """Returns a function that waits until the device has finished all submitted work; None: calls
    are synchronous, as on the CPU."""
    if device.type in ("cpu", "meta"):
        return None
    module = getattr(torch, device.type, None)
    if module is None or not hasattr(module, "synchronize"):
        raise ValueError(
            f"PyTorch {torch.__version__} has no torch.{device.type}.synchronize(), and without "
            f"waiting for it the device '{device}' cannot be timed")
    if device.type == "mps":
        return module.synchronize
    return functools.partial(module.synchronize, device)


def facts(device):
    """What ran it, as (section, key, value) of a record."""
    yield "engine", "name", "torch"
    yield "engine", "version", torch.__version__
    yield "engine", "device", str(device)
    if device.type == "cpu":
        yield "engine", "threads", torch.get_num_threads()
        yield "engine", "interop_threads", torch.get_num_interop_threads()
    else:
        module = getattr(torch, device.type)
        if hasattr(module, "get_device_name"):
            yield "device", "name", module.get_device_name(device)
    if device.type == "cuda":
        yield "engine", "cuda", torch.version.cuda or torch.version.hip or "unknown"
        yield "engine", "cudnn_benchmark", torch.backends.cudnn.benchmark
        yield "engine", "tf32", torch.backends.cuda.matmul.allow_tf32
    if torch.distributed.is_available() and torch.distributed.is_initialized():
        yield "engine", "rank", torch.distributed.get_rank()
        yield "engine", "world_size", torch.distributed.get_world_size()
    yield "engine", "deterministic", torch.are_deterministic_algorithms_enabled()
    yield "engine", "default_dtype", str(torch.get_default_dtype()).replace("torch.", "")
    yield "engine", "python", platform.python_version()
