#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench --trace, opened by the engine of Perfetto's own UI: measured runs equal the record's, operators of a
real ONNX Runtime are inside their runs. Prints TAP.

  bench_trace.py --program build/deepclock [CASE...]
"""

import collections
import json
import subprocess

from common import Skipped, arguments, expect, fact, need_engine, run
from trace_formats import ask_perfetto

PROGRAM = ""
SLICES = "select s.id, coalesce(s.parent_id, -1), s.name, s.ts, s.dur, t.tid, s.category from slice s join thread_track k on" \
         " s.track_id = k.id join thread t using (utid) order by s.ts, s.id"
ERRORS = "select name, value from stats where severity in ('error', 'data_loss') and value > 0"
Slice = collections.namedtuple("Slice", "id parent name ts dur tid category")


def record(*words):
    done = subprocess.run([PROGRAM, *words, "--quiet", "--format", "json"], capture_output=True, text=True, timeout=300)
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def traced(*words):
    """Returns the record, and the trace's slices by their ids."""
    r = record("bench", "--trace", "t.pftrace", "--warmup", "5", *words)
    slices, errors = ask_perfetto("t.pftrace", SLICES, ERRORS)
    expect(errors == [], errors)
    return r, {s[0]: Slice(*s) for s in slices}


def around(slices, s):
    """Returns the names of the enclosing slices, outermost first."""
    path = []
    while s.parent != -1:
        s = slices[s.parent]
        path.insert(0, s.name)
    return path


def measured_runs_are_the_samples():
    r, slices = traced("--engine", "null", "--engine-option", "ns=50000", "--runs", "300", "zoo:simplenet")
    latency = next(s for s in r["series"] if s["tag"] == "latency")
    samples = latency["values"][latency["warmup"]:]
    runs = [s for s in slices.values() if s.name == "run"]
    expect(len(runs) == len(samples) == 300, (len(runs), len(samples)))
    for got, want in zip(runs, samples):
        # The two clocks differ by two clock readings at the beginning and two at the end.
        expect(abs(got.dur - want) <= 20 + want * 1e-3, f"{got.dur} ns, not {want}")
        expect(around(slices, got) == ["bench zoo:simplenet", "measure"], around(slices, got))


def operators_are_in_their_runs(*words):
    r, slices = traced("--runs", "20", *words)
    runs = [s for s in slices.values() if s.name == "profiled run"]
    inside = {s.id: [] for s in runs}
    for s in slices.values():
        if "profiled run" not in around(slices, s):
            continue
        top = s
        while top.parent not in inside:
            top = slices[top.parent]
        inside[top.parent].append(s)
        expect(slices[s.parent].ts <= s.ts and s.ts + s.dur <= slices[s.parent].ts + slices[s.parent].dur, s)
    n = fact(r, "trace", "profiled_runs")
    expect(len(runs) == n >= 2, (len(runs), n))
    expect({s.category for ops in inside.values() for s in ops} == {"operator"}, "another category")
    expect(sum(map(len, inside.values())) == fact(r, "trace", "operators") > 0, fact(r, "trace", "operators"))
    # Each run has one operator for each node of the executed graph, and all runs have the same operators.
    ops = record("profile", "--no-roofs", "--no-memory", "--runs", "5", "--profile-runs", "3", *words)["ops"]
    ops = [o for o in ops if o["type"] != "(engine)"]  # the gaps between operators, if any
    names = {tuple(sorted(s.name for s in ops)) for ops in inside.values()}
    expect(len(names) == 1 and len(next(iter(names))) == len(ops), (len(ops), [len(x) for x in names]))
    for one in runs:
        expect(around(slices, one)[-1] == "profiled runs", around(slices, one))
        took = sum(s.dur for s in inside[one.id] if s.parent == one.id)
        expect(took <= one.dur, f"operators of {took} ns in a run of {one.dur} ns")
    return r, slices


def operators_of_a_classifier():
    need_engine(PROGRAM)
    operators_are_in_their_runs("--threads", "1", "--image-size", "64", "zoo:resnet18")


def operators_with_several_threads():
    need_engine(PROGRAM)
    operators_are_in_their_runs("--threads", "2", "zoo:simplenet")


def operators_side_by_side():
    """Operators run on other threads, and are on the tracks of these threads."""
    need_engine(PROGRAM)
    r, slices = traced("--runs", "5", "--threads", "1", "--interop-threads", "2", "zoo:bert_mini")
    own = {s.tid for s in slices.values() if s.name == "profiled run"}
    others = [s for s in slices.values() if s.tid not in own]
    if fact(r, "engine", "execution") == "sequential":
        raise Skipped("this ONNX Runtime runs nothing side by side")
    inside = [s for s in slices.values() if "profiled run" in around(slices, s)]
    expect(len(own) == 1 and len(others) + len(inside) == fact(r, "trace", "operators"), (own, len(others), len(inside)))
    runs = [(s.ts, s.ts + s.dur) for s in slices.values() if s.name == "profiled run"]
    for s in others:
        expect(any(begin <= s.ts and s.ts + s.dur <= end for begin, end in runs), s)


if __name__ == "__main__":
    args = arguments(__doc__)
    PROGRAM = args.program
    run([(f.__name__, f) for f in (measured_runs_are_the_samples, operators_of_a_classifier,
                                   operators_with_several_threads, operators_side_by_side)], args.prefixes)
