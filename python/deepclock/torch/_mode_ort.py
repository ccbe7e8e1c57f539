# SPDX-License-Identifier: Apache-2.0
"""A module exported to ONNX and run by deepclock's own engine, ONNX Runtime."""

import importlib.util
import os
import pathlib
from time import perf_counter_ns as now

import torch

import deepclock

from . import _device


def try_mode(run, t, absent):
    """Sets the result; `absent` is the exception for a mode that is not available, with the reason."""
    if run.where.type != "cpu":
        raise absent(f"the module is on '{run.where}', and this runs on the CPU")
    tensors = list(_device.tensors_in(run.args))
    if run.named or any(not isinstance(value, torch.Tensor) for value in run.args):
        raise absent("only modules whose inputs are tensors by position are exported here")
    if torch.__version__ >= "2" and importlib.util.find_spec("onnxscript") is None:
        raise absent("torch.onnx.export needs the package onnxscript, which is not installed")
    if importlib.util.find_spec("numpy") is None:
        raise absent("inputs are passed by NumPy, which is not installed")
    names = [f"input{i}" for i in range(len(tensors))]
    path = os.path.join(run.directory, "module.onnx")
    begin = now()
    _export(run.module, run.args, path, names)
    t.prepare_ns = now() - begin
    t.options = {"input": _inputs(run.directory, names, tensors), "threads": torch.get_num_threads()}
    first = deepclock.bench_model(path, runs=2, warmup=1, no_history=True, quiet=True, **t.options)
    opened = sum(first[tag].value or 0 for tag in ("time/session", "time/library"))
    t.prepare_ns += int(opened)
    t.first_ns = [int(first["time/first_run"].value)]
    t.subject = pathlib.Path(path)
    _agreement(run, t, path, names)


def _export(module, args, path, names):
    outputs = {"input_names": names}
    if torch.__version__ >= "2":
        torch.onnx.export(module, args, path, dynamo=True, **outputs)
    else:
        torch.onnx.export(module, args, path, opset_version=16, **outputs)


def _inputs(directory, names, tensors):
    import numpy

    told = []
    for name, tensor in zip(names, tensors):
        path = os.path.join(directory, name + ".npy")
        numpy.save(path, tensor.detach().cpu().numpy())
        told.append(f"{name}={path}")
    return told


class _Expected(torch.nn.Module):
    """Eager's outputs as a model of the same inputs, so that deepclock can compare with them."""

    def __init__(self, outputs):
        super().__init__()
        self.n = len(outputs)
        for i, value in enumerate(outputs):
            self.register_buffer(f"output{i}", value.detach().clone())

    def forward(self, *inputs):
        nothing = sum(x.reshape(-1)[:1].sum().float() for x in inputs) * 0
        return tuple(getattr(self, f"output{i}") + nothing.to(getattr(self, f"output{i}").dtype)
                     for i in range(self.n))


def _agreement(run, t, path, names):
    expected = list(_device.tensors_in(run.expected))
    if any(x.isnan().any() or x.isinf().any() for x in run.args if x.is_floating_point()):
        raise RuntimeError("inputs that are not finite are not compared")
    reference = os.path.join(run.directory, "expected.onnx")
    _export(_Expected(expected).eval(), run.args, reference, names)
    record = deepclock.compare({"eager": pathlib.Path(reference), "onnxruntime": t.subject}, check_outputs=True,
                               rounds=6, trial="1us", no_history=True, quiet=True, **t.options)
    t.difference = record["difference/max_abs"].value
    verdict = record.facts["difference/verdict"].value
    t.agrees = verdict in ("identical", "close")
    t.tolerance = "that of deepclock accuracy"
