# SPDX-License-Identifier: Apache-2.0
"""The record of a profile: operators, tables, and the tree of modules, in times of one run."""

import typing

import torch

import deepclock

from . import _device
from ._inference import is_training
from ._modules import frame_of
from ._profile_timer import OTHER, ModuleTime
from .._record import Record, cell, si

_BRIEF_ROWS = 12
#: From this perturbation on, times differ much from the plain run.
_DISTURBED = 1.5
_NO_TIME = "it took no time that the clock shows"


class Times(typing.NamedTuple):
    """Of plain and of profiled runs, ns; `without` deepclock's own code."""
    plain: list
    profiled: list
    without: list
    ratio: list       # of profiled runs to plain ones
    how_plain: str
    how_ratio: str


class _Row:
    """Calls of one name in one module and phase, of one run; `excess`: what recording adds to their time, ns."""

    def __init__(self, key, timed, excess, count, held, roof):
        self.path, self.phase, self.name = key
        self.calls, self.ns = timed
        self.excess = self.calls * excess
        self.known = count is None or not count.why
        self.why = "" if count is None else count.why
        self.macs = count.macs if count else 0
        self.flops = count.flops if count else 0
        self.params = count.params if count else 0
        self.read_bytes = count.read_bytes if count else 0
        self.write_bytes = count.write_bytes if count else 0
        self.allocated = count.allocated if count else 0
        self.at_peak, self.stays = (held.at_peak, held.stays) if held else (0, 0)
        self.type = count.types[0] if count and len(count.types) == 1 else self.name
        self.of = None
        if roof and count and self.known and self.calls:
            each = self.calls
            self.of = roof(self.flops / each, (self.read_bytes + self.write_bytes) / each, count.dtype)

    @property
    def least(self):
        """The time that the roof allows all calls, ns; None: not known."""
        return self.of.least_ns * self.calls if self.of and self.of.least_ns is not None else None

    @property
    def title(self):
        return self.name if self.phase == "forward" else f"{self.phase}: {self.name}"


class _Sum:
    """A sum of rows; a number with an unknown part is None."""

    def __init__(self, rows):
        rows = list(rows)
        self.calls = sum(r.calls for r in rows)
        self.ns = sum(r.ns for r in rows)
        self.allocated = sum(r.allocated for r in rows)
        self.at_peak = sum(r.at_peak for r in rows)
        self.stays = sum(r.stays for r in rows)
        self.why = next((f"{r.name}: {r.why}" for r in rows if not r.known), "")
        self.macs = None if self.why else sum(r.macs for r in rows)
        self.flops = None if self.why else sum(r.flops for r in rows)
        timed = [r for r in rows if r.flops]
        self.least = None if self.why or any(r.least is None for r in timed) else sum(r.least for r in timed)
        self.busy = sum(r.ns for r in timed)

    def held(self, memory):
        """At the peak, stays."""
        return [cell(None if memory.why else value, memory.why) for value in (self.at_peak, self.stays)]

    def cells(self, why):
        """MACs, FLOP/s, of roof: over the time of what computes."""
        rate = 1e9 * self.flops / self.busy if self.flops and self.busy else None
        roof = self.least / self.busy if self.least and self.busy else None
        return [cell(self.macs, self.why), cell(rate, self.why or "it computes nothing"),
                cell(roof, why or self.why or "it computes nothing, or its bytes are not known")]


_HELD = [("at_peak", "at peak", "B"), ("stays", "stays", "B")]
_RATES = [("macs", "MACs", "1"), ("rate", "FLOP/s", "FLOP/s"), ("roof", "of roof", "1")]


class Plain:
    """Times of profiled runs as shares of plain ones, which are shorter: the overhead of recording is subtracted from
    each aten call, and the time between the calls is scaled to the rest of the plain run."""

    def __init__(self, ns, rows, modules):
        self.ns = ns
        inside = sum(map(self._less, rows))
        self._inside = min(1.0, ns / inside) if inside else 1.0
        between = sum(time.between for time in modules.values())
        self._between = max(0.0, ns - self._inside * inside) / between if between else 0.0

    @staticmethod
    def _less(row):
        return max(0.0, row.ns - row.excess)

    def share(self, rows, between=0.0):
        """Returns the share of aten calls and of the time between them."""
        if not self.ns:
            return None
        return (self._inside * sum(map(self._less, rows)) + self._between * between) / self.ns


def _chosen(values, alike):
    """Indices of the runs that count: the faster half of runs that are alike, in which other programs took the fewest
    cores; else all."""
    order = sorted(range(len(values)), key=values.__getitem__)
    return order[:(len(values) + 1) // 2] if alike else order


def _merged(runs):
    """{key: (calls, ns)} of a mean run, in the order of the first calls."""
    keys = dict.fromkeys(key for run in runs for key in run)
    return {key: tuple(sum(run[key][at] for run in runs if key in run) / len(runs) for at in range(2)) for key in keys}


def _modules_merged(runs):
    """{path: ModuleTime} of a mean run."""
    merged = {path: ModuleTime() for path in runs[0]}
    for path, time in merged.items():
        for name in ModuleTime.__slots__:
            setattr(time, name, sum(getattr(run[path], name) for run in runs) / len(runs))
    return merged


def _below(path, other):
    return path is not OTHER and other is not OTHER and (
        path == "" or other == path or other.startswith(path + "."))


def _modules_table(b, work, rows, memory, modules, plain, why):
    columns = [("module", "module", None), ("class", "class", None), ("calls", "calls", "1"),
               ("forward", "forward", "ns"), ("self", "self", "ns"), ("backward", "backward", "ns"),
               ("share", "share", "1"), *_RATES, ("allocated", "allocated", "B"), ("peak", "peak", "B"), *_HELD]
    lines = []
    for path, time in modules.items():
        if path is OTHER or not (time.calls or any(_below(path, r.path) for r in rows)):
            continue
        class_ = work.modules.classes[path]
        all_ = [r for r in rows if _below(path, r.path)]
        own = sum(r.ns for r in all_ if r.path == path and r.phase == "forward")
        back = sum(r.ns for r in all_ if r.phase == "backward") if work.backward else None
        between = sum(t.between for p, t in modules.items() if _below(path, p))
        sums = _Sum(all_)
        lines.append([path or "(all)", class_.__name__ if class_ else "function", time.calls,
                      time.total, time.between + own, cell(back, "no backward pass"),
                      cell(plain.share(all_, between), _NO_TIME),
                      *sums.cells(why), sums.allocated,
                      cell(memory.modules.get(path), memory.why or "no call of it was recorded"), *sums.held(memory)])
    order = sorted(range(len(lines)), key=lambda i: -lines[i][4])
    b.table("profile/modules", "Time by module: forward with all in it, self without its modules, backward by its"
            " aten calls", columns, lines, [3, 4, 5, 6, 8, 11, 13] if work.backward else [3, 4, 6, 8, 11], sorted(order[:_BRIEF_ROWS]))


def _operators_table(b, rows, memory, plain, why):
    columns = [("operator", "operator", None), ("calls", "calls", "1"), ("self", "self", "ns"),
               ("share", "share", "1"), *_RATES, ("allocated", "allocated", "B"), *_HELD]
    by_title = {}
    for r in rows:
        by_title.setdefault(r.title, []).append(r)
    lines, shares = [], {title: plain.share(of) or 0 for title, of in by_title.items()}
    for title, of in by_title.items():
        s = _Sum(of)
        lines.append([title, s.calls, s.ns, cell(plain.share(of), _NO_TIME), *s.cells(why),
                      s.allocated, *s.held(memory)])
    lines.sort(key=lambda line: (-shares[line[0]], -line[2]))
    b.table("profile/operators", "Time by aten call", columns, lines)
    return lines


def _tree(b, work, rows, memory, modules):
    """Nodes' own times: what a module does between its calls, and its aten calls below it. They add
    up to the run."""
    held = [] if memory.why else _HELD
    columns = [("calls", "calls", "1"), ("macs", "MACs", "1"), ("allocated", "allocated", "B"), *held,
               ("self", "self", "ns")]

    def weights(calls, ns, *more):
        return [calls, *(more or (0,) * 4)[:2 + len(held)], ns]

    nodes, index = [], {OTHER: -1}
    for path, time in modules.items():
        if path is OTHER:
            nodes.append((-1, "(outside the module)", weights(time.calls, time.between)))
            continue
        class_ = work.modules.classes[path]
        label = class_.__name__ if class_ else work.name
        name = path.rpartition(".")[2]
        parent = -1
        if path:
            above = path.rpartition(".")[0]
            while above not in index:
                above = above.rpartition(".")[0]
            parent = index[above]
        index[path] = len(nodes)
        nodes.append((parent, frame_of(f"{name} ({label})" if name else label, class_),
                      weights(time.calls, time.between)))
    for r in rows:
        nodes.append((index[r.path], r.title, weights(r.calls, r.ns, r.macs if r.known else 0, r.allocated,
                                                        r.at_peak, r.stays)))
    b.tree("modules", "Modules and their aten calls, each alone", columns, nodes)


def _ops(b, work, rows, why):
    for r in rows:
        if not r.calls:
            continue
        where = f"{r.path}.{r.title}" if r.path else r.title
        class_ = work.modules.classes[r.path] if r.path is not OTHER else None
        rate = 1e9 * r.flops / r.ns if r.known and r.flops and r.ns else None
        unknown = r.why or "not known"
        b.op(where, r.type if r.phase == "forward" else r.title, scope=(r.path or "").replace(".", "/") or None,
             class_=f"{class_.__module__}.{class_.__qualname__}" if class_ else None,
             macs=r.macs if r.known else unknown, flops=r.flops if r.known else unknown,
             params=r.params, weight_bytes=0, read_bytes=r.read_bytes, write_bytes=r.write_bytes, time=r.ns,
             rate="it computes nothing" if rate is None else
             "above the roof" if r.of and r.of.attainable and rate > r.of.attainable else rate,
             roof=why or _attainable(r), bound=r.of.bound if r.of else None)


def _attainable(r):
    if r.known and not r.flops:
        return "it computes nothing"
    return r.of.attainable if r.of and r.of.attainable is not None else "not known"


def _facts(b, work, where, runs, profiled, without, overhead):
    b.fact("subject", "kind", "module")
    b.fact("subject", "name", work.name)
    b.fact("subject", "producer", f"pytorch {torch.__version__}")
    for i, text in enumerate(work.inputs):
        b.fact("subject", f"input/{i}", text)
    training = is_training(work.module)
    b.fact("subject", "mode", ("training" if training else "evaluation") if work.backward else "evaluation")
    b.fact("subject", "gradients", "computed" if work.backward else "off (torch.no_grad)")
    for section, key, value in _device.facts(where):
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        b.fact(section, key, value, "1" if number else None)
    b.fact("profile", "runs", runs, "1")
    b.fact("profile", "time_profiled", profiled, "ns")
    b.fact("profile", "time_of_deepclock", profiled - without, "ns")
    b.fact("profile", "call_overhead", overhead.call, "ns")
    b.fact("profile", "list_overhead", overhead.list, "ns")
    b.fact("profile", "method", "a dispatch mode around each aten call, and a wrapper around each call "
           "of a module; their overhead is subtracted")
    b.fact("profile", "shares", "of the plain run: each aten call less profile/call_overhead and profile/list_overhead "
           "for each argument that is a list, and the time between the calls scaled to the rest"
           + ("; times are of the faster half of the runs" if work.alike else ""))


def _metrics(b, work, times, explained, rows, memory, why):
    mean = _estimated(b, "latency/mean", "ns", times.plain, "mean", times.how_plain)
    perturbation = _estimated(b, "profile/perturbation", "1", times.ratio, "median", times.how_ratio)
    b.metric("profile/coverage", explained, "1", "time inside aten calls over that of the profiled run without "
             "deepclock's own code")
    s = _Sum(rows)
    b.metric("cost/macs", s.macs, "1", "of all phases", why=s.why)
    b.metric("cost/flops", s.flops, "FLOP", "of all phases", why=s.why)
    b.metric("cost/params", work.modules.params(), "1",
             "parameters of all modules, each once", why="it is not a module")
    rate = 1e9 * s.flops / mean if s.flops and mean else None
    b.metric("profile/flop_rate", rate, "FLOP/s", "cost/flops over latency/mean", why=s.why or "it computes nothing")
    b.metric("profile/attainable", s.least, "ns", "calls that compute, each at its roof",
             why=why or s.why or "bytes of some call are not known")
    b.metric("memory/activation_peak", memory.peak, "B", "blocks of PyTorch's allocator, beyond those that were "
             "there before the run; one run under its profiler", why=memory.why)
    b.metric("memory/activations", memory.stays, "B", "of these blocks, those still allocated at the end of the forward "
             "pass", why=memory.why)
    b.series("latency", "ns", times.plain)
    b.series("profile/latency", "ns", times.profiled)
    return perturbation, s.flops


def _estimated(b, tag, unit, values, statistic, how):
    try:
        e = deepclock.estimate([float(v) for v in values], statistic=statistic)
        b.metric(tag, e.value, unit, how, e.lo, e.hi, e.level)
        return e.value
    except deepclock.AbsentError:
        middle = sum(values) / len(values) if statistic == "mean" else sorted(values)[len(values) // 2]
        b.metric(tag, middle, unit, how)
        return middle


def record_of(work, counted, memory, times, overhead, roof, why, where, more=None):
    """more: a function that adds to the Record before it is finished."""
    runs = len(times.profiled)
    chosen, quick = _chosen(times.without, work.alike), _chosen(times.plain, work.alike)

    def mean(values, at):
        return sum(values[i] for i in at) / len(at)
    timed = _merged([work.timer.runs[i] for i in chosen])
    modules = _modules_merged([work.timer.module_runs[i] for i in chosen])
    timed.update((key, (0, 0)) for key in memory.ops if key not in timed)
    rows = [_Row(key, one, overhead.of(work.timer.lists.get(key[2], 0)), counted.get(key), memory.ops.get(key), roof)
            for key, one in timed.items()]
    profiled, wall = mean(times.profiled, chosen), mean(times.without, chosen)
    b = Record(f"deepclock.torch.{work.command}({work.name})")
    _facts(b, work, where, runs, profiled, wall, overhead)
    plain = Plain(mean(times.plain, quick), rows, modules)
    metrics = _metrics(b, work, times, sum(r.ns for r in rows) / wall if wall else None, rows, memory, why)
    _ops(b, work, rows, why)
    lines = _operators_table(b, rows, memory, plain, why)
    _modules_table(b, work, rows, memory, modules, plain, why)
    _tree(b, work, rows, memory, modules)
    if lines:
        perturbation, flops = metrics
        at = f" at {si(1e9 * flops / plain.ns)}FLOP/s" if flops and plain.ns else ""
        of = " (mean of the faster half)" if work.alike else ""
        text = (f"{lines[0][0]} takes {100 * plain.share(r for r in rows if r.title == lines[0][0]):.0f} % of a "
                f"{work.unit} of {deepclock.time_text(plain.ns)}{at}{of}; profiling makes it {perturbation:.2f} times as long")
        b.answer(text + (", so times of short calls are too long" if perturbation > _DISTURBED else ""))
    if more:
        more(b)
    return b.finish()
