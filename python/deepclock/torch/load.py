# SPDX-License-Identifier: Apache-2.0
"""Measures a module under load: requests on several streams, or at given times."""

import contextlib

import torch

import deepclock

from . import _device
from ._call import checked
from ._inference import inference, name_of
from .bench import module_facts
from .._record import Amended, keeping, kept


def load(module, *inputs, named=None, threads=None, device=None, items=None, title=None, **options):
    """Measures module(*inputs, **named) under load, as `deepclock load` does: a request is a call, and with several
    `streams` several threads call the module at once.

    During the measurement the module is in eval mode and without gradients; inputs are where its parameters are, and each
    request waits for the device; ArgumentError if `device` is another device. `threads` is torch.set_num_threads(), `items` the items of a request (default: the
    first axis of the first tensor). The other options are as for `deepclock load`: rate, slo, find_peak, streams,
    scenario, arrivals, time, max_time, save, ... Returns a Record; record.verdict is the verdict on the limits (slo).
    """
    checked(module)
    named, asked = dict(named or {}), keeping(options, title)
    where = _device.device_of(module, (inputs, named))
    _device.checked(device, where)
    wait = _device.waiter(where)
    args, kwargs = _device.moved((inputs, named), where)
    if items is None:
        items = next((t.shape[0] for t in _device.tensors_in((inputs, named)) if t.dim() > 0), 1)

    cast = _device.autocast_of(where)

    def request():
        with torch.no_grad(), casting(where, cast):  # which belong to a thread
            return module(*args, **kwargs)
    with inference(module, threads):
        out = Amended(deepclock.bench_load(request, items=items, device=where, no_history=True, **options))
        out.command(f"deepclock.torch.load {name_of(module)}")
        out.facts(module_facts(module, where, inputs, named, wait))
    return kept(out.finish(), asked)


def casting(device, to):
    """A context of torch.autocast to this type; to None: none."""
    return torch.autocast(device.type, to) if to is not None else contextlib.nullcontext()
