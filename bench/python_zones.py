#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of a named range in Python: deepclock's, compared with a pair of empty C functions, and with
PyPI's nvtx, viztracer and torch.profiler.record_function if installed.

  PYTHONPATH=build/python:build/bench python_zones.py

All are measured in turn, in one process; figures are CPU time of the thread minus an empty loop's; ratios are within a
round. The empty pair, and the same pair that stores a clock reading in each call, are in python_pair.c; the latter is a
lower bound of a recorded range.
"""

import importlib
import os
import sys
import tempfile
import time

import python_pair
import rows

import deepclock

ROUNDS, PAIRS, PEER_PAIRS = 41, 20000, 1000  # a peer's pair takes up to 10 us


def nothing(n):
    for _ in range(n):
        pass


def empty(n, begin=python_pair.begin, end=python_pair.end):
    for _ in range(n):
        begin("forward")
        end()


def clock(n, begin=python_pair.begin_timed, end=python_pair.end_timed):
    for _ in range(n):
        begin("forward")
        end()


def by_hand(n, begin=deepclock.push, end=deepclock.pop):
    for _ in range(n):
        begin("forward")
        end()


def block(n, zone=deepclock.zone):
    for _ in range(n):
        with zone("forward"):
            pass


def called(n):
    for _ in range(n):
        plain()


def decorated(n):
    for _ in range(n):
        zoned()


def plain():
    pass


zoned = deepclock.zone("forward")(plain)


OWN = {"nothing": nothing, "empty": empty, "clock": clock, "by hand": by_hand, "block": block,
       "called": called, "decorated": decorated}


# --- peers: (name, loop), or the reason of absence


def peer_nvtx():
    nvtx = importlib.import_module("nvtx")

    def push(n, begin=nvtx.push_range, end=nvtx.pop_range):
        for _ in range(n):
            begin("forward")
            end()

    def annotate(n, zone=nvtx.annotate):
        for _ in range(n):
            with zone("forward"):
                pass

    yield "nvtx push_range, pop_range (no tool)", push
    yield "with nvtx.annotate (no tool)", annotate


def peer_torch():
    profiler = importlib.import_module("torch.profiler")

    def record(n, zone=profiler.record_function):
        for _ in range(n):
            with zone("forward"):
                pass

    def recorded(n):
        with profiler.profile(activities=[profiler.ProfilerActivity.CPU]):
            begin = time.thread_time_ns()
            record(n)
            return time.thread_time_ns() - begin

    yield "torch record_function", record
    yield "torch record_function, recorded", recorded


def peer_viztracer():
    viztracer = importlib.import_module("viztracer")
    tracer = viztracer.VizTracer(verbose=0, tracer_entries=PEER_PAIRS * 8)

    def events(n):
        tracer.start()
        begin = time.thread_time_ns()
        for _ in range(n):
            with tracer.log_event("forward"):
                pass
        took = time.thread_time_ns() - begin
        tracer.stop()
        tracer.clear()
        return took

    def functions(n):
        tracer.start()
        begin = time.thread_time_ns()
        called(n)
        took = time.thread_time_ns() - begin
        tracer.stop()
        tracer.clear()
        return took

    yield "with viztracer's log_event, recorded", events
    yield "viztracer: a function call, recorded", functions


def peers():
    found, absent = [], []
    for peer in (peer_nvtx, peer_torch, peer_viztracer):
        try:
            found += list(peer())
        except ImportError as error:
            absent.append(error.name)
    return found, absent


# --- rounds


def took(loop):
    n = PAIRS if loop in OWN.values() else PEER_PAIRS
    begin = time.thread_time_ns()
    told = loop(n)
    return (told or time.thread_time_ns() - begin) / n


def measured(loops, rounds):
    """Returns the times of each loop, measured in turn."""
    times = {name: [] for name in loops}
    for _ in range(rounds):
        for name, loop in loops.items():
            times[name].append(took(loop))
    return {name: [t - free for t, free in zip(ts, times["nothing"])] for name, ts in times.items()}


def ratios(times, base):
    return [t / b for t, b in zip(times, base) if b > 0]


def main():
    found, absent = peers()
    n = rows.rounds(ROUNDS)
    for loop in [*OWN.values(), *(loop for _, loop in found)]:
        took(loop)
    off = measured({**OWN, **dict(found)}, n)
    with tempfile.TemporaryDirectory() as folder:
        with deepclock.trace(os.path.join(folder, "out.pftrace"), buffer="256MiB") as t:
            on = measured(OWN, n)
    dropped = t.record.facts["trace/dropped_events"].value
    print(f"a named range in Python {sys.version.split()[0]}, {n} rounds of {PAIRS} in turn; events dropped: {dropped}")
    empty, clock = "times an empty pair of C functions", "times a pair that reads the clock"
    rows.put("a zone in Python, not recorded", ratios(off["by hand"], off["empty"]), empty, most=1.5)
    rows.put("a zone in Python, recorded", ratios(on["by hand"], on["clock"]), clock, most=1.2)
    rows.put("a zone in Python, with deepclock.zone, not recorded", ratios(off["block"], off["empty"]), empty)
    rows.put("a zone in Python, with deepclock.zone, recorded", ratios(on["block"], on["clock"]), clock)
    for name, times in (("not recorded", off), ("recorded", on)):
        beyond = [a - b for a, b in zip(times["decorated"], times["called"])]
        rows.put(f"@deepclock.zone, {name}, beyond the call", ratios(beyond, times["empty"]), empty)
    for name, _ in found:
        recorded = name.endswith(", recorded")
        rows.put("a zone in Python, " + ("recorded" if recorded else "not recorded"),
                 ratios(off[name], off["clock" if recorded else "empty"]), clock if recorded else empty, peer=name)
    for name in absent:
        rows.absent("a zone in Python, not recorded", name, f"pip install {name}")
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
