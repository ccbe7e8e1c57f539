# SPDX-License-Identifier: Apache-2.0
"""What the steps measured, as a record: table `steps`, a series for each part, what bounds a step."""

import deepclock

from .. import _compiled
from . import _device, _step_bound, _step_count, _step_wait
from .._record import Record, cell

#: Repetitions of the test that measures entering and leaving a part.
_TRIED = 1000
#: Rows of the short report.
_BRIEF = 5
#: Steps of a series at most, as a record can be read with.
_STORED = 1 << 17


def record_of(owner, error):
    """The Record of a steps() block that has ended, with the exception that ended it or None."""
    from .steps import PARTS

    steps = owner.steps
    warmup = min(owner.warmup, len(steps) - 1)
    steady = steps[warmup:]
    apart = [s for s in steady if not s.whole] or steady
    whole = [s for s in steady if s.whole]
    evidence = _evidence(owner, apart, whole, list(PARTS))
    evidence.waits, looked_at = _step_wait.shares(apart, list(PARTS))
    bound = _step_bound.bound_of(evidence)
    wall = _estimate([s.wall_ns for s in whole or apart])
    out = Record("deepclock.torch.steps")
    for section, key, value in (
            ("subject", "kind", "training steps"),
            ("subject", "name", _name_of(owner._module)),
            *_device.facts(owner._device),
            ("method", "clock", "CLOCK_MONOTONIC"),
            ("method", "enclosed", "from requesting a batch to requesting the next one"),
            ("method", "parts", _how_apart(owner)),
            ("method", "warmup_rule", f"the first {warmup} of {len(steps)} steps are apart"),
            ("plan", "total", owner.total),
            ("plan", "warmup", owner.warmup),
            ("steps", "bound", bound.by),
            ("steps", "bound_rule", bound.rule),
            ("steps", "operators", evidence.operators),
            ("steps", "empty_operator_ns", evidence.empty_operator_ns),
            ("steps", "loader_workers", evidence.workers),
            ("steps", "looked_at_for_waiting", looked_at),
            ("result", "answer", f"a step takes {deepclock.time_text(wall['value'])}"
                                 f"{_interval_text(wall)}; {bound.sentence}")):
        if value is not None:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            out.fact(section, key, value, ("ns" if key.endswith("_ns") else "1") if number else None)
    out.metric("steps/wall", unit="ns", **wall)
    out.metric("steps/first", float(steps[0].wall_ns), "ns", "the first step")
    out.metric("steps/count", len(steps), "1", f"{warmup} of them apart")
    out.metric("steps/outside", float(owner.outside_ns), "ns",
               "in the block and in no step: between the loops, batches that were given up")
    _parts(out, list(PARTS.items()), apart, steps[0], evidence.waits, owner)
    _costs(out, owner, apart, whole, evidence)
    _series(out, list(PARTS), steps, warmup)
    _compilations(out, steps)
    out.note("step-bound", f"{bound.sentence}: {bound.remedy}", "info")
    for other in [*bound.others, *_also(owner, apart, list(PARTS))]:
        out.note("step-also", other, "info")
    if error is not None:
        out.incomplete()
        out.note("interrupted", f"the block ended by {type(error).__name__}: the record has the "
                                f"{len(steps)} steps that were complete", "error")
    return out.finish()


def _compilations(out, steps):
    """What torch.compile compiled in the steps, the first ones included."""
    compiled = _compiled.together(step.compiled for step in steps)
    if compiled:
        again = [i + 1 for i, step in enumerate(steps) if step.compiled and step.compiled.again]
        where = ", ".join(map(str, again[:_BRIEF])) + (" and later ones" if len(again) > _BRIEF else "")
        _compiled.note(out, compiled, f"in step{'s' * (len(again) > 1)} {where} of {len(steps)}")


def _also(owner, apart, names):
    """What the parts alone do not show."""
    at = names.index("optimiser")
    with_it = [s.wall_ns for s in apart if s.parts_ns[at]]
    without = [s.wall_ns for s in apart if not s.parts_ns[at]]
    if with_it and without:
        took, less = (deepclock.time_text(_estimate(walls)["value"]) for walls in (with_it, without))
        yield (f"the optimiser ran in {len(with_it)} of {len(apart)} steps, as gradients were accumulated: a step with it "
               f"takes {took}, one without it {less}")
    if owner.other_backward_ns:
        share = owner.other_backward_ns / sum(s.wall_ns for s in owner.steps)
        yield (f"backward() of other networks than {_name_of(owner._module)} takes {100 * share:.0f} % of the steps and "
               "is in the part 'other'")


def _estimate(values, statistic="median"):
    """As the members of a metric."""
    e = deepclock.estimate(values, statistic)
    return {"value": e.value, "lo": e.lo, "hi": e.hi, "level": e.level, "how": e.how}


def _interval_text(e):
    return f" ({deepclock.time_text(e['lo'])} to {deepclock.time_text(e['hi'])})" if e["lo"] is not None else ""


def _name_of(module):
    return "a training loop" if module is None else type(module).__qualname__


def _how_apart(owner):
    if owner._wait is None:
        return "each nanosecond belongs to the part that was open; nothing is waited for"
    return ("each nanosecond belongs to the part that was open; the device is waited for at the end "
            "of each part in one half of the steps, at the end of the step in the other")


def _evidence(owner, apart, whole, names):
    wall = sum(s.wall_ns for s in apart)
    share = {name: sum(s.parts_ns[i] for s in apart) / wall for i, name in enumerate(names)}
    workers_ns = [s for s in apart + whole if s.workers_ns is not None]
    counter = owner._counted
    evidence = _step_bound.Evidence(
        wall_ns=wall / len(apart), share=share, workers=owner._workers.count,
        is_loader=owner._workers.is_loader)
    if workers_ns and owner._workers.count:
        evidence.workers_busy = sum(s.workers_ns for s in workers_ns) / (
            owner._workers.count * sum(s.wall_ns for s in workers_ns))
    if counter is not None and counter.operators and owner._wait is None:
        evidence.operators = counter.operators
        computing = [names.index(p) for p in _step_bound.COMPUTING]
        evidence.computing_ns = _estimate([sum(s.parts_ns[i] for i in computing) for s in apart])["value"]
        evidence.empty_operator_ns = _step_count.empty_operator_ns()
    if whole:
        wall = sum(s.wall_ns for s in whole)
        evidence.wait_share = sum(s.wait_ns for s in whole) / wall
        evidence.whole_share = {name: sum(s.parts_ns[i] for s in whole) / wall
                                for i, name in enumerate(names)}
    return evidence


def _parts(out, parts, apart, first, waits, owner):
    """A row for each part: its total adds up to the steps' wall time exactly. The median is over the steps that have
    the part."""
    total = sum(s.wall_ns for s in apart)
    rows = []
    unknown = ("the device computes at the same time" if owner._wait is not None else
               "the kernel shows no run delay of threads" if not owner._usage.is_known else
               "no step was sampled: there were too few")
    for i, (name, title) in enumerate([*parts, ("step", "step")]):
        values = [s.wall_ns if name == "step" else s.parts_ns[i] for s in apart]
        here = first.wall_ns if name == "step" else first.parts_ns[i]
        having = [v for v in values if v] or values
        median = _estimate(having)
        waiting = sum(waits[n] * r[3] for n, r in zip(waits, rows)) if name == "step" else waits.get(name)
        rows.append([name, title, sum(values), sum(values) / total, sum(values) / len(values),
                     cell(median["value"], None, median["lo"], median["hi"], median["level"]), here,
                     sum(map(bool, values)), cell(waiting if waits else None, unknown)])
        if name != "step":
            out.metric(f"steps/{name}", unit="ns", **median)
    out.table("steps", f"Parts of {len(apart)} training steps",
              [("part", "part", None), ("what", "what", None), ("total", "total", "ns"),
               ("share", "share", "1"), ("mean", "mean", "ns"), ("median", "median", "ns"),
               ("first", "first step", "ns"), ("steps", "in steps", "1"), ("waits", "waits", "1")],
              rows, summary_columns=[1, 3, 5, 6, 8],
              summary_rows=sorted(sorted(range(len(parts)), key=lambda i: -rows[i][2])[:_BRIEF]))


def _costs(out, owner, apart, whole, evidence):
    """What taking apart costs: measured where it is more than readings of the clock."""
    if whole:
        ratio = (_estimate([s.wall_ns for s in apart])["value"]
                 / _estimate([s.wall_ns for s in whole])["value"])
        out.metric("steps/cost", ratio - 1, "1",
                   "steps in which each part was waited for, over those waited for once, less 1")
    else:
        from .steps import part_cost_ns
        parts = owner._entered / len(owner.steps)
        own = sum(s.parts_ns[-1] for s in apart) / len(apart)
        out.metric("steps/cost", (parts * part_cost_ns(_TRIED) + own) / evidence.wall_ns, "1",
                   f"{parts:.1f} parts of a step at what an empty one takes, and the row "
                   "'deepclock', over a step")
    out.metric("steps/workers_busy", evidence.workers_busy, "1",
               "processor time of the loader's processes over their number and wall time",
               why="the batches are made in the program itself" if evidence.workers == 0
               else "their processor time is not known")
    items = [s.items for s in apart]
    if all(items):
        per_item = _estimate([s.wall_ns / s.items for s in whole or apart])
        rate = {"lo": None, "hi": None, "level": None}
        if per_item["lo"]:
            rate = {"lo": 1e9 / per_item["hi"], "hi": 1e9 / per_item["lo"], "level": per_item["level"]}
        out.metric("throughput/items", 1e9 / per_item["value"], "items/s",
                   "items over the median step's time", **rate)


def _series(out, names, steps, warmup):
    apart = [s for s in steps if not s.whole]
    every = -(-len(apart) // _STORED)
    if every > 1:
        apart, warmup = apart[::every], -(-warmup // every)
        out.fact("method", "series", f"one of {every} steps, evenly; all other numbers are of all steps")
    at_ns = [s.at_ns for s in apart]
    out.series("steps/wall", "ns", [s.wall_ns for s in apart], warmup, at_ns)
    for i, name in enumerate(names):
        out.series(f"steps/{name}", "ns", [s.parts_ns[i] for s in apart], warmup, at_ns)
    whole = [s for s in steps if s.whole]
    whole = whole[::-(-len(whole) // _STORED) or 1]
    if whole:
        out.series("steps/whole", "ns", [s.wall_ns for s in whole], 0, [s.at_ns for s in whole])
