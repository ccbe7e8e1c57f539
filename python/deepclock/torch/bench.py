# SPDX-License-Identifier: Apache-2.0
"""Measures the latency of a module for its inputs."""

import torch

import deepclock

from . import _device
from ._call import checked
from ._inference import inference, mode_of, name_of, shape_text
from .._record import Amended, ended, keeping, kept


def bench(module, *inputs, named=None, transfers=False, threads=None, device=None, items=None, title=None, **options):
    """Measures module(*inputs, **named) as `deepclock bench` measures a model.

    During the measurement the module is in eval mode and without gradients, and afterwards as it was. It computes
    where its parameters are; the inputs are moved there before the clock runs, and each run ends when the device has
    ended its work, as deepclock.bench(..., device=) measures it.

    inputs     tensors of any shape, also in nested lists, tuples and dicts; `named` by keyword
    transfers  time apart what moving the inputs there and the outputs back takes (metrics
               transfer/to_device and transfer/from_device, ns)
    threads    torch.set_num_threads() during it; default: unchanged
    device     for a check: ArgumentError if the module is on another device
    items      that one run processes, for throughput/items; default: the first axis of the first
               tensor

    The other options are as for deepclock.bench(), by the names of the command line: runs,
    precision, max_time, warmup, statistic, save, db, ... Returns a Record. Exceptions of the module are raised.
    """
    checked(module)
    named, asked = dict(named or {}), keeping(options, title)
    where = _device.device_of(module, (inputs, named))
    _device.checked(device, where)
    wait = _device.waiter(where)
    there = _device.moved(inputs, where)
    named_there = _device.moved(named, where)
    tensors = list(_device.tensors_in((inputs, named)))
    if items is None:
        items = tensors[0].shape[0] if tensors and tensors[0].dim() > 0 else 1
    with inference(module, threads):
        call, args = called(module, there, named_there)
        record = deepclock.bench(call, *args, items=items, device=where, no_history=True, **options)
        out = Amended(record)
        out.command(f"deepclock.torch.bench {name_of(module)}")
        out.facts(module_facts(module, where, inputs, named, wait))
        if transfers:
            _transfers(out, module, (inputs, named), (there, named_there), where, wait, options, record.incomplete)
    return kept(out.finish(), asked)


def called(module, args, named, wait=None):
    """Returns a run, which waits for the device unless `wait` is None, and its arguments: the module itself if
    nothing has to be added."""
    if wait is None and not named:
        return module, args
    if wait is None:
        return lambda *args: module(*args, **named), args

    def run(*args):
        module(*args, **named)
        wait()
    wait()
    return run, args


def module_facts(module, where, inputs, named, wait):
    is_module = isinstance(module, torch.nn.Module)
    yield "subject", "kind", "PyTorch module" if is_module else "PyTorch function"
    yield "subject", "name", name_of(module)
    for i, tensor in enumerate(_device.tensors_in(inputs)):
        yield "subject", f"input/{i}", shape_text(tensor)
    for name, value in named.items():
        for tensor in _device.tensors_in(value):
            yield "subject", f"input/{name}", shape_text(tensor)
    if is_module:
        yield "subject", "parameters", sum(p.numel() for p in module.parameters())
        yield "subject", "mode", mode_of(module)
    yield "subject", "gradients", "no_grad"
    yield from _device.facts(where)
    if wait is None:
        yield "method", "enclosed", "one call of the module; the CPU has computed when it returns"
        yield "method", "transfers", "none: the module is on the CPU"
    else:
        yield "method", "enclosed", "one call of the module, and waiting until the device has computed"
        yield "method", "transfers", "inputs were on the device before the clock ran; outputs stay there"


def _transfers(out, module, here, there, where, wait, options, early):
    """What moving takes, each direction measured as the module is. early: the measurement has been interrupted."""
    if wait is None or early:
        why = "the module is on the CPU: nothing is moved" if wait is None else "the measurement was interrupted before"
        out.metric("transfer/to_device", None, "ns", why=why)
        out.metric("transfer/from_device", None, "ns", why=why)
        return
    result = module(*there[0], **there[1])
    host = _device.moved(here, torch.device("cpu"))
    for tag, value, to in (("to_device", host, where), ("from_device", result, torch.device("cpu"))):
        def move(value=value, to=to):
            _device.moved(value, to)
            wait()
        size = sum(t.numel() * t.element_size() for t in _device.tensors_in(value))
        moved = deepclock.bench(move, no_history=True, **options)
        ended(out, moved)
        m = moved["latency/median"]
        out.metric(f"transfer/{tag}", m.value, "ns", f"median of {moved['runs/count'].value} times {size} "
                   "bytes from pageable memory", m.lo, m.hi, m.level)
