# SPDX-License-Identifier: Apache-2.0
"""Compares a module on several devices, or with other numbers of threads, types or layouts."""

import copy
import itertools
import math
import operator

import torch

import deepclock

from . import _batch, _device
from ._call import checked
from ._inference import inference, name_of
from .bench import module_facts
from .modes import difference
from .._record import Amended, cell, keeping, kept

_LAYOUTS = {"contiguous": torch.contiguous_format, "channels_last": torch.channels_last}
_CHUNK = 256  # labelled items at a time


def devices(module, *example, inputs=None, named=None, devices=None, threads=None, dtype=None, layout=None, batch=None,
            labels=None, target_names=None, transfers=True, rtol=None, title=None, **options):
    """Compares a module in several settings, measured in rounds of random order as deepclock.compare() does, whose
    options are taken (max_time, rounds, margin, save, ...). The first setting is the baseline.

    example    inputs of one call; `named` by keyword; `inputs` a function inputs(batch), as in torch.throughput
    devices    ["cpu", "cuda"]; default: the module's device
    threads    [1, 2]: torch.set_num_threads()
    dtype      ["float32", "bfloat16"], of parameters and inputs; layout ["contiguous", "channels_last"]
    batch      [1, 8, 64]: the comparison at each of these, and the batch from which another setting is faster
    labels     of the items of `example`: the predictions (highest score) of each setting are judged by them
    transfers  a device other than the CPU is measured twice, also with inputs moved to it and outputs moved back

    A setting uses a copy of the module if it needs a different one. Outputs are compared with the first setting's, within rtol or the tolerance of `deepclock accuracy`.

    Returns a Record: with `batch` the table compare/over and metrics compare/crossover, else compare/alternatives;
    the table devices/outputs; with labels devices/predictions and devices/classes.
    """
    checked(module)
    asked, make = keeping(options), _batch.maker(example, named, inputs)
    sizes = _sizes(batch)
    where = _device.device_of(module, make(1))
    before = torch.get_num_threads()
    with inference(module):
        try:
            all_ = _settings(module, where, devices, threads, dtype, layout)
            run = {}
            for s in all_:
                run[s.name] = s.run
                if transfers and s.wait is not None:
                    run[s.name + " with transfers"] = s.run_with_transfers
            if len(run) < 2:
                raise deepclock.ArgumentError("one setting alone has nothing to compare with: give several devices, "
                                              "threads, dtype or layout")

            def ready(size):
                given = make(int(size))
                for s in all_:
                    s.feed(*given)
            items = getattr(make, "items", 1)
            if sizes:
                options.update(over="batch=" + ",".join(map(str, sizes)), _over_next=ready)
            else:
                ready(items)
            record = deepclock.compare(run, no_history=True, title=title or
                                       f"deepclock.torch.devices {name_of(module)}", **options)
            out = Amended(record)
            if not record.incomplete:
                if sizes:
                    out.answer(_answer(out, list(run), sizes))
                _outputs(out, all_, sizes or [items], ready, rtol)
                if labels is not None:
                    _predictions(out, all_, make(items), labels, target_names)
        finally:
            torch.set_num_threads(before)
    out.facts((section, key, value) for section, key, value in module_facts(module, where, *make(1), all_[0].wait)
              if (section, key) not in (("engine", "device"), ("engine", "threads")))
    out.without("compare", "subject/")  # names of deepclock's own functions
    out.fact("method", "inputs", make.how)
    out.fact("engine", "settings", ", ".join(s.name for s in all_))
    return kept(out.finish(), asked)


def _sizes(batch):
    """Returns the list of batch sizes of a number, a text ("1,8,64"), or an iterable of numbers; empty of None."""
    given = () if batch is None else batch.split(",") if isinstance(batch, str) else batch
    try:
        given = (operator.index(given),)
    except TypeError:
        pass  # several
    try:
        sizes = [int(n) if isinstance(n, str) else operator.index(n) for n in given]
    except (TypeError, ValueError):
        sizes = [0]
    if any(n < 1 for n in sizes):
        raise deepclock.ArgumentError(f"batch={batch!r:.60}: a list of sizes, whole numbers from 1 on")
    return sizes


class _Setting:
    def __init__(self, name, module, where, threads, dtype, layout):
        self.name, self.module, self.where = name, module, where
        self._threads, self._dtype, self._layout = threads, dtype, layout
        self.wait = _device.waiter(where)
        self.args, self.named, self._host = (), {}, ((), {})
        self.run = self._once if self.wait is None and threads is None else self._fully

    def _given(self, t):
        if self._dtype is not None and t.is_floating_point():
            t = t.to(self._dtype)
        if self._layout is not None and t.dim() == 4:
            t = t.contiguous(memory_format=self._layout)
        return t

    def feed(self, args, named):
        self._host = _device.mapped((args, named), lambda t: self._given(t).cpu())
        self.args, self.named = _device.moved(self._host, self.where)

    def _once(self):
        return self.module(*self.args, **self.named)

    def _fully(self):
        if self._threads is not None and torch.get_num_threads() != self._threads:
            torch.set_num_threads(self._threads)
        result = self.module(*self.args, **self.named)
        if self.wait is not None:
            self.wait()
        return result

    def run_with_transfers(self):
        args, named = _device.moved(self._host, self.where)
        return _device.moved(self.module(*args, **named), torch.device("cpu"))  # waits for the copies


def _settings(module, where, devices, threads, dtype, layout):
    """Every combination, the last axis changing fastest."""
    def listed(value):
        return [None] if value is None else [value] if isinstance(value, (str, int, torch.dtype, torch.device)) else list(value)

    found = []
    for device, n, kind, form in itertools.product(*map(listed, (devices, threads, dtype, layout))):
        if form is not None and form not in _LAYOUTS:
            raise deepclock.ArgumentError(f"there is no layout '{form}': give contiguous or channels_last")
        if isinstance(kind, str):
            if not isinstance(getattr(torch, kind, None), torch.dtype):
                raise deepclock.ArgumentError(f"PyTorch has no type '{kind}': give float32, bfloat16, float16 or float64")
            kind = getattr(torch, kind)
        there = where if device is None else _device.found(device)
        words = [str(there) if device is not None else None, f"{n} thread{'s' if n != 1 else ''}" if n is not None else None,
                 str(kind).replace("torch.", "") if kind is not None else None, form]
        name = ", ".join(word for word in words if word) or str(there)
        found.append(_Setting(name, _copy(module, there, where, kind, _LAYOUTS.get(form)), there, n, kind,
                              _LAYOUTS.get(form)))
    return found


def _copy(module, there, where, dtype, layout):
    if not isinstance(module, torch.nn.Module):
        return module
    change = {name: value for name, value in (("device", there if there != where else None), ("dtype", dtype),
                                              ("memory_format", layout)) if value is not None}
    return copy.deepcopy(module).to(**change) if change else module


def _answer(out, names, sizes):
    """The answer: which setting is faster at which sizes."""
    record = out.finish()
    rows, told = list(record.tables["compare/over"]), []
    for name in names[1:]:
        fact = record.facts["compare/crossover" + (f"/{name}" if len(names) > 2 else "")]
        ahead = {word: [row["value"] for row in rows if row["subject"] == name and row["verdict"] == word]
                 for word in ("faster", "slower", "same")}
        if fact.value is not None:
            told.append(f"{name} is {fact.value}")
        else:
            told += [f"{name} is {'as fast' if word == 'same' else word} at batch {', '.join(at)}"
                     for word, at in ahead.items() if at] or [f"no difference shown for {name}"]
    return f"compared with {names[0]}: {'; '.join(told)}"


def _outputs(out, all_, sizes, ready, rtol):
    rows, differ = [], []
    for size in sizes:
        ready(size)
        state = torch.get_rng_state()
        expected = all_[0].run()
        for s in all_[1:]:
            torch.set_rng_state(state)
            largest, agrees, tolerance = difference(expected, s.run(), rtol)
            rows.append([str(size), s.name, largest if math.isfinite(largest) else cell(None, tolerance),
                         "agree" if agrees else "differ", tolerance])
            if not agrees:
                differ.append(f"{s.name} at batch {size} (by up to {largest:.3g}, {tolerance})")
    if rows:
        out.table("devices/outputs", f"Outputs against {all_[0].name}", [
            ("batch", "batch", None), ("setting", "setting", None), ("max_difference", "max. diff.", "1"),
            ("outputs", "outputs", None), ("tolerance", "tolerance", None)], rows, summary_columns=[1, 2, 3])
    if differ:
        out.note("outputs-differ", f"outputs differ from {all_[0].name}: {'; '.join(differ[:3])}"
                 + (f" and {len(differ) - 3} more" if len(differ) > 3 else "") + _tf32(all_), "error")


def _tf32(all_):
    """Why outputs of CUDA may differ from the CPU's by 1e-3: PyTorch computes convolutions in TF32 by default."""
    owners = {"cudnn": torch.backends.cudnn, "cuda.matmul": torch.backends.cuda.matmul}
    try:
        flags = [f"torch.backends.{name}.allow_tf32" for name, owner in owners.items() if owner.allow_tf32]
    except RuntimeError:  # set by the newer fp32_precision
        return ""
    if not flags or not any(s.where.type == "cuda" for s in all_):
        return ""
    return (f"; CUDA computes in TF32, which has 10 bits of the 23 of a fraction, while {' and '.join(flags)} is True: "
            "set it to False for FP32")


def _scores(s, given, items):
    """The first output for all labelled items, some at a time."""
    def part(begin):
        def cut(t):
            return t[begin:begin + _CHUNK] if t.dim() > 0 and t.shape[0] == items else t
        s.feed(*_device.mapped(given, cut))
        return next(_device.tensors_in(s.run())).float().cpu()
    return torch.cat([part(begin) for begin in range(0, items, _CHUNK)])


def _predictions(out, all_, given, labels, target_names):
    items = next(_device.tensors_in(given)).shape[0]
    scores = {s.name: _scores(s, given, items) for s in all_}
    if any(x.dim() != 2 for x in scores.values()):
        raise deepclock.ArgumentError("labels= are compared with scores, one row for each item and one column for each "
                                      f"class; the first output has the shape {tuple(next(iter(scores.values())).shape)}")
    options = {"labels": labels, "target_names": target_names, "no_history": True, "quiet": True}
    rows, classes = [], []
    for name, values in scores.items():
        one = deepclock.accuracy(predictions=values, **options)
        m = one["accuracy/overall"]
        changed = int((values.argmax(1) != scores[all_[0].name].argmax(1)).sum())
        rows.append([name, cell(m.value, None, m.lo, m.hi, m.level), changed])
        out.metric(f"accuracy/overall/{name}", m.value, "1", m.how, m.lo, m.hi, m.level)
        for row in one.tables["accuracy/classes"]:
            classes.append([*list(row.values())[:1], name, *list(row.values())[1:]])
    columns = [(c.key, c.title, c.unit or None) for c in one.tables["accuracy/classes"].columns]
    out.table("devices/predictions", "Predictions against labels", [
        ("setting", "setting", None), ("accuracy", "accuracy", "1"), ("changed", "changed", "1")], rows)
    out.table("devices/classes", "Classes", [columns[0], ("setting", "setting", None), *columns[1:]], classes)
