# SPDX-License-Identifier: Apache-2.0
"""Measures the effect of the classic mistakes of benchmarking on the result for a module."""

import copy
import math
from time import perf_counter_ns as now

import torch

import deepclock

from . import _device
from ._call import checked, seconds
from ._inference import inference, name_of
from .bench import module_facts
from .._record import Amended, cell, ended, keeping, kept

#: Mistakes of PyTorch: key, what, why, remedy.
_SAYS = {
    "gradients-on": ("the module runs with gradients on", "autograd stores what a backward pass would need",
                     "measure inference under torch.no_grad() or torch.inference_mode()"),
    "training-mode": ("the module is in training mode", "dropout and batch statistics compute something else",
                      "call module.eval() first"),
    "inputs-inside": ("inputs are made within the clock", "random numbers and their memory are not the module's work",
                      "make inputs before the clock starts"),
    "binding-inside": ("inputs are moved to the device within the clock", "the transfer is added to the module's work",
                       "move inputs before; measure transfers apart"),
    "no-sync": ("the clock stops when the work is launched, not when it is done",
                "the call returns before the device has computed", "synchronise before the clock stops"),
    "compile-inside": ("torch.compile within the loop: the first call counts in the mean of 10",
                       "compiling happens once, calls happen often", "report the first call as a separate number"),
}
_ORDER = ("harm", "not resolved", "no harm here", "not measured")


def pitfalls(module, *inputs, named=None, threads=None, device=None, title=None, only=None, skip=None, **options):
    """Shows how far each classic mistake moves the number: the mistakes of `deepclock pitfalls` that are possible with a function,
    and of PyTorch gradients on, training mode, inputs made or moved within the clock, no synchronisation, and
    torch.compile in the loop.

    The other options are as for `deepclock pitfalls`: time (for each mistake), margin, save, ...; only and skip are
    keys; ArgumentError if the module is on another device than `device`. Returns a Record with the table pitfalls/mistakes and a metric pitfalls/KEY for each.
    """
    checked(module)
    named, asked = dict(named or {}), keeping(options)
    where = _device.device_of(module, (inputs, named))
    _device.checked(device, where)
    wait = _device.waiter(where) or (lambda: None)
    args, kwargs = _device.moved((inputs, named), where)

    def honest():
        module(*args, **kwargs)
        wait()
    chosen, own = _chosen(only, skip)
    with inference(module, threads):
        theirs = deepclock.pitfalls(honest, no_history=True, **own, title=title or
                                    f"deepclock.torch.pitfalls {name_of(module)}", **options)
        out = Amended(theirs)
        if not theirs.incomplete:
            made, absent = _mistakes(module, (inputs, named), (args, kwargs), where, wait)
            made = {key: made[key] for key in made if key in chosen}
            found, early = _compared(out, honest, made, options)
            if "no-sync" in chosen and "no-sync" not in absent and not early:
                found["no-sync"] = _not_synchronised(lambda: module(*args, **kwargs), where, options)
            if "compile-inside" in chosen and not early:
                _compiled(module, args, kwargs, wait, found, absent)
            _amend(out, found, {key: absent[key] for key in chosen if key in absent}, only)
    out.facts(module_facts(module, where, inputs, named, _device.waiter(where)))
    return kept(out.finish(), asked)


def _chosen(only, skip):
    """Returns the requested mistakes of this module, and the options of the library for its own."""
    def listed(value):
        return [] if value is None else value.split(",") if isinstance(value, str) else list(value)
    only_, skip_ = listed(only), listed(skip)
    chosen = [key for key in _SAYS if (not only_ or key in only_) and key not in skip_]
    theirs = [key for key in only_ if key not in _SAYS] or (["mean-of-5"] if only_ else [])
    skipped = [key for key in skip_ if key not in _SAYS or key.endswith("inside") and key != "compile-inside" or key == "no-sync"]
    return chosen, {name: ",".join(keys) for name, keys in (("only", theirs), ("skip", skipped)) if keys}


def _mistakes(module, host, there, where, wait):
    """The mistaken calls by key, and why others cannot be made."""
    args, kwargs = there
    made, absent = {}, {}

    def gradients():
        with torch.enable_grad():
            module(*args, **kwargs)
        wait()
    made["gradients-on"] = gradients
    try:
        training = copy.deepcopy(module).train() if isinstance(module, torch.nn.Module) else None  # its statistics change
    except Exception as e:  # in the module's own ways
        training, absent["training-mode"] = None, f"the module cannot be copied: {type(e).__name__}: {_line(e)}"
    else:
        if training is None:
            absent["training-mode"] = "a function has no mode"
    if training is not None:
        def in_training():
            training(*args, **kwargs)
            wait()
        made["training-mode"] = in_training
    if any(t.is_floating_point() for t in _device.tensors_in(there)):
        def inside():
            new, other = _device.mapped(there, lambda t: torch.randn_like(t) if t.is_floating_point() else t)
            module(*new, **other)
            wait()
        made["inputs-inside"] = inside
    else:
        absent["inputs-inside"] = "no input has floating-point numbers"
    if where.type in ("cpu", "meta"):
        absent["binding-inside"] = "the module is on the CPU: nothing is moved"
        absent["no-sync"] = "the CPU has computed when the call returns"
    else:
        cpu = _device.moved(host, torch.device("cpu"))

        def moving():
            new, other = _device.moved(cpu, where)
            module(*new, **other)
            wait()
        made["binding-inside"] = moving
    return made, absent


def _not_synchronised(call, where, options):
    """Returns the library's own row: each run is waited for outside the clock, so that the device's queue does not fill
    and delay launches, and runs of others."""
    own = {key: options[key] for key in ("time", "margin", "level", "progress", "quiet") if key in options}
    r = Amended(deepclock.pitfalls(call, device=where, only="no-sync", no_history=True, **own))
    return next(row for t in r._o["tables"] if t["name"] == "pitfalls/mistakes" for row in t["rows"] if row[0] == "no-sync")[1:5]


def _compared(out, honest, made, options):
    """({key: (number, honest, ratio cell, verdict)}, in rounds with the honest call; whether they ended early)."""
    if not made:
        return {}, False
    extra = {"max_time": (1 + len(made)) * seconds("time", 1.0 if options.get("time") is None else options["time"])}
    extra.update({key: options[key] for key in ("margin", "level", "progress", "quiet") if key in options})
    try:
        record = deepclock.compare({"honest": honest, **made}, no_history=True, **extra)
    except KeyboardInterrupt:  # before the first round
        out.incomplete()
        out.note("interrupted", "Ctrl-C: the mistakes of PyTorch's were not measured", "error")
        return {}, True
    early = ended(out, record)
    if "compare/alternatives" not in record.tables:  # without a whole round
        return {}, early
    table, found = record.tables["compare/alternatives"], {}
    times = dict(zip(table["subject"], table["time" if "time" in [c.key for c in table.columns] else "median"]))
    for i, key in enumerate(table["subject"]):
        if key == "honest":
            continue
        ratio, verdict = table.cell(i, "ratio"), table["verdict"][i]
        found[key] = (times[key], times["honest"], cell(ratio.value, ratio.absent, ratio.lo, ratio.hi, ratio.level),
                      {"same": "no harm here", "undecided": "not resolved"}.get(verdict, "harm"))
    return found, early


def _compiled(module, args, kwargs, wait, found, absent):
    if not hasattr(torch, "compile"):
        absent["compile-inside"] = f"PyTorch {torch.__version__} has no torch.compile, which came with 2.0"
        return
    try:
        compiled = torch.compile(module)
        begin = now()
        compiled(*args, **kwargs)
        wait()
        first = now() - begin
    except Exception as e:  # in the compiler's own ways
        absent["compile-inside"] = f"{type(e).__name__}: {_line(e)}"
        return

    def later():
        compiled(*args, **kwargs)
        wait()
    median = deepclock.bench(later, max_time="500ms", no_history=True, quiet=True)["latency/median"].value
    mean = (first + 9 * median) / 10
    found["compile-inside"] = (mean, median, mean / median, "harm" if mean > 1.1 * median else "not resolved")


def _line(error):
    """Returns the first line of its message."""
    return str(error).strip().partition("\n")[0][:160]


def _amend(out, found, absent, only):
    """Merges these rows with the library's, the worst first."""
    new = {key: [key, number, honest, ratio, verdict] for key, (number, honest, ratio, verdict) in found.items()}
    for key, why in absent.items():
        new[key] = [key, *[cell(None, why)] * 3, "not measured"]
    table = next(t for t in out._o["tables"] if t["name"] == "pitfalls/mistakes")
    rows = [row for row in table["rows"] if row[0] not in new and (not only or row[0] in only)] + list(new.values())

    def factor(row):
        value = row[3].get("value") if isinstance(row[3], dict) else row[3]
        return value

    def place(row):
        value = factor(row)
        return _ORDER.index(row[4]), -abs(math.log(value)) if value else -math.inf if value == 0 else 0
    table["rows"] = rows = sorted(rows, key=place)
    for key, row in new.items():
        ratio = row[3] if isinstance(row[3], dict) else {"value": row[3]}
        out.metric(f"pitfalls/{key}", ratio.get("value"), "1", "the number that the mistake gives over the honest one",
                   ratio.get("lo"), ratio.get("hi"), ratio.get("level"), ratio.get("absent"))
    remedies = [[key, _SAYS[key][0], cell(None, "compared in rounds"), *_SAYS[key][1:]] for key, row in new.items()
                if row[4] == "harm"]
    there = next((t for t in out._o["tables"] if t["name"] == "pitfalls/remedies"), None)
    if there:
        there["rows"] = [row for row in there["rows"] if row[0] not in new] + remedies
    harm = [row for row in rows if row[4] == "harm"]
    if harm:
        worst = factor(harm[0])
        told = ("it gives 0" if not worst else f"{worst:.3g} times the honest value" if worst > 1
                else f"{1 / worst:.3g} times too little")
        none = sum(row[4] == "no harm here" for row in rows)
        rest = len(rows) - len(harm) - none
        out.answer(f"the worst mistake here is {harm[0][0]}: {told}; {len(harm)} of {len(rows)} mistakes "
                   f"{'does' if len(harm) == 1 else 'do'} harm, {none} {'does' if none == 1 else 'do'} not"
                   + (f", {rest} {'is' if rest == 1 else 'are'} undecided or cannot be made here" if rest else ""))
