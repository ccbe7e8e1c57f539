# SPDX-License-Identifier: Apache-2.0
"""Compares the ways in which PyTorch can run a module: the time to prepare it, its first call and the calls after, the
number of calls after which it has paid off, and whether its outputs agree."""

import contextlib
import copy
import functools
import math
import os

import tempfile
import warnings
from time import perf_counter_ns as now

import torch

import deepclock

from . import _device, _mode_ort
from ._call import checked
from ._inference import inference, name_of, shape_text
from .._record import Record, cell, ended, keeping, kept, raise_early

#: Number of first calls of each mode that are timed separately: TorchScript optimises in the second call.
FIRST_CALLS = 3
SEED = 1
#: |b - a| <= rtol (rms(a) + |a|), as `deepclock accuracy` has it.
TOLERANCE = {torch.float64: 1e-7, torch.float16: 1e-2, torch.bfloat16: 8e-2, torch.float32: 1e-3}


class Absent(Exception):
    """This mode cannot run the module; the text is the reason."""


def modes(module, *inputs, named=None, which=None, threads=None, rtol=None, title=None, **options):
    """Compares eager execution with torch.inference_mode ("inference_mode"), weights and images in another
    order ("channels_last"), torch.compile ("compile"), TorchScript ("trace", "script"), torch.export ("export") and
    ONNX Runtime on what torch.onnx exports ("onnxruntime"); if `which` names them, also with a copy of the module in
    "bfloat16" and the modes "compile-reduce-overhead" and "compile-max-autotune" of torch.compile.

    During the comparison the module is in eval mode and without gradients. Each mode is prepared from scratch (caches of
    torch.compile on the disk are not used) and called three times, each time after the same seed of PyTorch's random
    numbers, whose state is afterwards as before; then all that could be prepared
    are timed in rounds of random order, as deepclock.compare() does, whose options are taken
    (max_time, rounds, margin, save, db, ...).

    which   names of the modes; "all" is every one; eager is always among them
    rtol    tolerance of the outputs; default: by their types

    Returns a Record with the table `modes`: prepare, first_call, call (with its interval), ratio (to
    eager, with its interval), pays_back (calls after which it has taken less than eager would),
    max_difference, verdict, outputs. A mode that fails has the reason in place of its numbers.
    """
    checked(module)
    named, keep = dict(named or {}), keeping(options, title)
    asked = list(DEFAULT if which is None else MODES if which == "all" else [which] if isinstance(which, str) else which)
    unknown = [name for name in asked if name not in MODES]
    if unknown:
        raise deepclock.ArgumentError(f"there is no mode '{unknown[0]}': give {', '.join(MODES)}")
    asked = ["eager", *(name for name in asked if name != "eager")]
    where = _device.device_of(module, (inputs, named))
    run = _Run(module, _device.moved(inputs, where), _device.moved(named, where), where, rtol)
    with inference(module, threads), _device.random_kept(where), tempfile.TemporaryDirectory(
            prefix="deepclock-modes-") as run.directory:
        tried = [_tried(run, name) for name in asked]
        timed = [t for t in tried if t.why is None]
        compared = _compared(run, timed, options)
        record = _record(run, tried, compared, f"deepclock.torch.modes {name_of(module)}")
    return kept(record, keep)


class _Run:
    def __init__(self, module, args, named, where, rtol):
        self.module, self.args, self.named, self.where, self.rtol = module, args, named, where, rtol
        self.wait = _device.waiter(where) or (lambda: None)
        self.directory, self.expected = None, None
        self.random = ""  # why the outputs of two calls differ

    def call(self, function, args, named):
        def once():
            result = function(*args, **named)
            self.wait()
            return result
        return once


class _Tried:
    """The result of one mode."""

    def __init__(self, name):
        self.name = name
        self.why = None  # it is absent
        self.subject, self.options = None, {}  # for deepclock.compare()
        self.prepare_ns, self.first_ns = 0, []
        self.difference, self.agrees, self.tolerance = None, None, ""


# --- the modes: each gives a function that is called as the module is, or (function, args, named)

def _eager(run):
    return run.module


def _inference_mode(run):
    return torch.inference_mode()(run.module)


def _converted(run, convert, **options):
    """A copy of the module, and its inputs."""
    module = copy.deepcopy(run.module).to(**options) if isinstance(run.module, torch.nn.Module) else run.module
    return module, _device.mapped(run.args, convert), _device.mapped(run.named, convert)


def _channels_last(run):
    if not any(t.dim() == 4 for t in _device.tensors_in((run.args, run.named))):
        raise Absent("no input has the four dimensions of images")
    return _converted(run, lambda t: t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t,
                      memory_format=torch.channels_last)


def _bfloat16(run):
    return _converted(run, lambda t: t.to(torch.bfloat16) if t.is_floating_point() else t, dtype=torch.bfloat16)


def _export(run):
    if not hasattr(torch, "export"):
        raise Absent(f"PyTorch {torch.__version__} has no torch.export, which came with 2.1")
    if not isinstance(run.module, torch.nn.Module):
        raise Absent("torch.export takes an nn.Module")
    return torch.export.export(run.module, run.args, run.named).module()


def _compile(run, mode=None):
    if not hasattr(torch, "compile"):
        raise Absent(f"PyTorch {torch.__version__} has no torch.compile, which came with 2.0")
    torch._dynamo.reset()
    return torch.compile(run.module, mode=mode)


def _trace(run):
    if run.named:
        raise Absent("torch.jit.trace takes no arguments by keyword")
    return torch.jit.trace(run.module, run.args, check_trace=False)


def _script(run):
    return torch.jit.script(run.module)


#: None: no function of Python, but a model that deepclock's engine runs.
MODES = {"eager": _eager, "inference_mode": _inference_mode, "channels_last": _channels_last,
         "bfloat16": _bfloat16, "compile": _compile,
         "compile-reduce-overhead": functools.partial(_compile, mode="reduce-overhead"),
         "compile-max-autotune": functools.partial(_compile, mode="max-autotune"),
         "trace": _trace, "script": _script, "export": _export, "onnxruntime": None}
#: bfloat16 computes with fewer digits, and the other two compile for minutes: they run on request only.
DEFAULT = [m for m in MODES if m not in ("bfloat16", "compile-reduce-overhead", "compile-max-autotune")]


def _tried(run, name):
    t = _Tried(name)
    try:
        with _quiet(), _no_caches():
            if MODES[name] is None:
                _mode_ort.try_mode(run, t, Absent)
            else:
                _try_function(run, t, MODES[name])
    except Exception as e:  # a module that a mode cannot run fails in the mode's own ways
        if name == "eager":
            raise
        t.why = str(e) if isinstance(e, Absent) else _reason(e)
    return t


def _try_function(run, t, build):
    begin = now()
    function = build(run)
    t.prepare_ns = now() - begin if t.name != "eager" else 0
    once = run.call(*(function if isinstance(function, tuple) else (function, run.args, run.named)))
    results = []
    for i in range(FIRST_CALLS):
        torch.manual_seed(SEED + (run.expected is None and i == 1))
        begin = now()
        results.append(once())
        t.first_ns.append(now() - begin)
    t.subject, result = once, results[-1]
    if run.expected is None:
        run.expected = result
        run.random = _random(results, run.rtol)
    t.difference, t.agrees, t.tolerance = difference(run.expected, result, run.rtol)


def _random(results, rtol):
    """Why two calls differ: of eager's results the second one is after another seed, the third after the first's."""
    repeats = difference(results[0], results[2], rtol)[1]
    return "the module draws random numbers" if repeats and not difference(results[0], results[1], rtol)[1] else ""


def difference(expected, result, rtol=None):
    """(largest absolute difference, whether all is within the tolerance, the tolerance in words)"""
    a, b = list(_device.tensors_in(expected)), list(_device.tensors_in(result))
    if len(a) != len(b) or any(x.shape != y.shape for x, y in zip(a, b)):
        return math.inf, False, "outputs of other shapes"
    largest, agrees, told = 0.0, True, set()
    for x, y in zip(a, b):
        tolerance = rtol if rtol is not None else max(TOLERANCE.get(x.dtype, 0.0), TOLERANCE.get(y.dtype, 0.0))
        told.add(f"{tolerance:g}")
        wide = torch.complex128 if x.is_complex() else torch.float64
        x, y = x.detach().to("cpu", wide), y.detach().to("cpu", wide)
        if x.numel() == 0:
            continue
        same = (x == y) | (x.isnan() & y.isnan())
        apart = torch.where(same, torch.zeros_like(x.abs()), (x - y).abs())
        rms = x.abs().square().mean().sqrt()
        largest = max(largest, apart.max().item()) if not apart.isnan().any() else math.inf
        agrees = agrees and bool((apart <= tolerance * (rms + x.abs())).logical_or(same).all())
    return largest, agrees, f"rtol {', '.join(sorted(told))} of an element and of all their root mean square"


def _reason(e):
    """The first sentence of a message that may be long."""
    lines = [line.strip() for line in str(e).splitlines() if line.strip()]
    text = " ".join(lines[:2]) if lines else "no reason was given"
    return f"{type(e).__name__}: {text}"[:240]


@contextlib.contextmanager
def _quiet():
    """What compilers and exporters print belongs to no measurement."""
    with warnings.catch_warnings(), open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(
            nowhere), contextlib.redirect_stderr(nowhere):
        warnings.simplefilter("ignore")
        yield


@contextlib.contextmanager
def _no_caches():
    """Disables torch.compile's cache on the disk, with which a second measurement would differ from the first."""
    try:
        from torch._inductor import config
        patch = config.patch(force_disable_caches=True)
    except (ImportError, AttributeError, KeyError):
        patch = contextlib.nullcontext()
    with patch:
        yield


# --- calls, in rounds

def _compared(run, timed, options):
    """{mode: its times by rounds}, with the Record of the comparison; of one mode, of its measurement."""
    if len(timed) == 1:
        record = deepclock.bench(timed[0].subject, **_bench_options(options))
        return record, {timed[0].name: record.series["latency"].measured.tolist()}
    extra = {}
    for t in timed:
        extra.update(t.options)
    record = deepclock.compare({t.name: t.subject for t in timed}, no_history=True, **extra, **options)
    series = record.series
    if f"compare/rounds/{timed[0].name}" not in series:
        raise_early(record)
    return record, {t.name: list(series[f"compare/rounds/{t.name}"].values) for t in timed}


def _bench_options(options):
    return {"no_history": True, **{k: v for k, v in options.items() if k in ("max_time", "level", "progress", "quiet", "no_progress")}}


def _record(run, tried, compared, title):
    measured, rounds = compared
    comparison = measured if len(rounds) > 1 else None
    out = Record(title)
    out.fact("subject", "kind", "PyTorch module")
    out.fact("subject", "name", name_of(run.module))
    for i, tensor in enumerate(_device.tensors_in((run.args, run.named))):
        out.fact("subject", f"input/{i}", shape_text(tensor))
    for section, key, value in _device.facts(run.where):
        number = isinstance(value, int) and not isinstance(value, bool)
        out.fact(section, key, value, "1" if number else None)
    out.fact("method", "enclosed", "one call, and waiting for the device where there is one")
    out.fact("method", "order", "rounds of random order" if comparison else "one mode alone")
    out.fact("method", "caches", "each mode is prepared from scratch; no caches on the disk")
    if comparison:
        for key in ("margin", "level"):
            fact = comparison.facts.get(f"compare/{key}") or comparison.facts.get(f"plan/{key}")
            if fact is not None and fact.value is not None:
                out.fact("plan", key, fact.value, "1")
    rows = [_row(t, tried[0], comparison, rounds, run.random) for t in tried]
    out.answer(_answer(rows))
    out.table("modes", "Ways to run it", [
        ("mode", "mode", None), ("prepare", "prepare", "ns"), ("first_call", "first call", "ns"),
        ("call", "call", "ns"), ("ratio", "to eager", "1"), ("verdict", "verdict", None),
        ("pays_back", "pays back after", "1"), ("max_difference", "max. diff.", "1"), ("outputs", "outputs", None),
        ("tolerance", "tolerance", None)],
        [list(row.values()) for row in rows], summary_columns=[1, 2, 3, 4, 6, 8],
        summary_rows=[i for i, t in enumerate(tried) if t.why is None])
    for t in tried:
        if t.why is not None:
            out.note("mode-absent", f"{t.name} is absent: {t.why}", "info")
        elif not t.agrees and run.random:
            out.note("outputs-differ", f"{run.random}, and {t.name} draws others after the same seed: its outputs cannot "
                                       "be compared with eager's", "info")
        elif not t.agrees:
            out.note("outputs-differ", f"the outputs of {t.name} differ from eager's by up to {t.difference:.3g}, "
                                       f"outside the tolerance ({t.tolerance})", "error")
        if t.why is None:
            out.series(f"modes/{t.name}", "ns", rounds[t.name])
    for note in comparison.notes if comparison else ():
        out.note(note.code, note.text, note.severity)
    if comparison is None:
        ended(out, measured)
    elif comparison.incomplete:
        out.incomplete()
    return out.finish()


def _row(t, eager, comparison, rounds, random):
    if t.why is not None:
        missing = cell(None, t.why)
        return {"mode": t.name, **dict.fromkeys(
            ("prepare", "first_call", "call", "ratio"), missing), "verdict": "absent", "pays_back": missing,
            "max_difference": missing, "outputs": "absent", "tolerance": ""}
    call = deepclock.estimate(rounds[t.name])
    row = {"mode": t.name, "prepare": t.prepare_ns if t is not eager else cell(None, "nothing is prepared"),
           "first_call": t.first_ns[0], "call": cell(call.value, None, call.lo, call.hi, call.level),
           "ratio": cell(None, "the others are compared with it"), "verdict": "baseline",
           "pays_back": cell(None, "the others are compared with it")}
    if t is not eager:
        table = comparison.tables["compare/alternatives"]
        at = table["subject"].index(t.name)
        ratio, less = table.cell(at, "ratio"), table.cell(at, "difference")
        row["ratio"] = cell(ratio.value, ratio.absent, ratio.lo, ratio.hi, ratio.level)
        row["verdict"] = table["verdict"][at]
        row["pays_back"] = _pays_back(t, eager, rounds, less, row["verdict"])
    row["max_difference"] = (t.difference if t.difference is not None and math.isfinite(t.difference)
                             else cell(None, "the outputs have other shapes, or are not numbers"))
    row["outputs"] = "agree" if t.agrees else "random" if random else "differ"
    row["tolerance"] = t.tolerance
    return row


def _pays_back(t, eager, rounds, less, verdict):
    """Calls after which preparing and the first calls are made up for by what each call saves."""
    if verdict != "faster":
        return cell(None, "its calls are not faster than eager's")
    spent = t.prepare_ns + _more(t, rounds) - _more(eager, rounds)
    if spent <= 0:
        return 1
    calls = [math.ceil(spent / -d) if d is not None and d < 0 else None
             for d in (less.value, less.lo, less.hi)]
    if None in calls:
        return cell(calls[0], "what a call saves is not known well enough")
    return cell(calls[0], None, calls[1], calls[2], less.level)


def _more(t, rounds):
    """What the first calls took beyond ordinary ones."""
    return sum(t.first_ns) - len(t.first_ns) * deepclock.estimate(rounds[t.name]).value


def _answer(rows):
    def value(row, key):
        return row[key].get("value") if isinstance(row[key], dict) else row[key]

    faster = [row for row in rows if row["verdict"] == "faster" and row["outputs"] in ("agree", "random")]
    if not faster:
        def listed(verdict):
            return ", ".join(f"{row['mode']} {value(row, 'ratio'):.3g} times" if value(row, "ratio") else row["mode"]
                             for row in rows if row["verdict"] == verdict)
        call = f"whose call takes {deepclock.time_text(value(rows[0], 'call'))}"
        if listed("faster"):
            return f"no mode with eager's outputs was shown to be faster than eager, {call} (other outputs: {listed('faster')})"
        if listed("undecided"):
            return (f"no mode was shown to be faster than eager, {call} (undecided: {listed('undecided')}; more rounds "
                    "decide it: give more max_time, or rounds)")
        timed = any(row["verdict"] in ("slower", "same") for row in rows)
        return f"no {'mode is faster' if timed else 'other mode could be timed'} than eager, {call}"
    best = min(faster, key=lambda row: value(row, "ratio"))
    text = (f"{best['mode']} is the fastest: {deepclock.time_text(value(best, 'call'))} a call, "
            f"{value(best, 'ratio'):.3g} times eager's")
    back = value(best, "pays_back")
    return f"{text}; it pays back after {back:,} calls" if back is not None else text
