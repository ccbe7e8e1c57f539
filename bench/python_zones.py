#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of a named range in Python: deepclock's, compared with a pair of empty C functions, and with
PyPI's nvtx, viztracer and torch.profiler.record_function if installed.

  PYTHONPATH=build/python:build/bench python_zones.py

All are measured in turn, in one process; figures are CPU time of the thread minus an empty loop's;
ratios are within a round (median, minimum to maximum). The empty pair, and the same pair that stores a clock
reading in each call, are in python_pair.c; the latter is a lower bound of a recorded range. Exits with 1 if
a limit is missed: not recorded at most 1.5 times the empty pair, recorded at most 1.5 times the pair that
reads the clock.
"""

import importlib
import os
import statistics
import sys
import tempfile
import time

import python_pair

import deepclock

ROUNDS, PAIRS, PEER_PAIRS = 41, 20000, 1000  # a peer's pair takes up to 10 us
LIMIT = 1.5


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

    yield "torch record_function, not recorded", record
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
            absent.append(str(error))
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


def line(name, times, base):
    ratios = [t / b for t, b in zip(times, base) if b > 0]
    print(f"  {name:42} {statistics.median(times):8.1f} ns   {statistics.median(ratios):5.2f}   "
          f"{min(ratios):.2f} to {max(ratios):.2f}")
    return statistics.median(ratios)


def main():
    found, absent = peers()
    for loop in [*OWN.values(), *(loop for _, loop in found)]:
        took(loop)
    off = measured({**OWN, **dict(found)}, ROUNDS)
    with tempfile.TemporaryDirectory() as folder:
        with deepclock.trace(os.path.join(folder, "out.pftrace"), buffer="256MiB") as t:
            on = measured(OWN, ROUNDS)
    dropped = t.record.facts["trace/dropped_events"].value
    print(f"a named range in Python {sys.version.split()[0]}, {ROUNDS} rounds of {PAIRS} in turn, beside an "
          "empty pair of C functions")
    line("an empty pair", off["empty"], off["empty"])
    line("the same that reads the clock", off["clock"], off["empty"])
    held = line("deepclock push, pop, not recorded", off["by hand"], off["empty"]) <= LIMIT
    line("deepclock push, pop, recorded", on["by hand"], on["empty"])
    line("with deepclock.zone, not recorded", off["block"], off["empty"])
    line("with deepclock.zone, recorded", on["block"], on["empty"])
    for name, times in (("not recorded", off), ("recorded", on)):
        line(f"@deepclock.zone, {name}, beyond the call",
             [a - b for a, b in zip(times["decorated"], times["called"])], times["empty"])
    for name, _ in found:
        line(name, off[name], off["empty"])
    for why in absent:
        print(f"  skipped: {why}")
    ratio = statistics.median(a / b for a, b in zip(on["by hand"], on["clock"]))
    held &= ratio <= LIMIT
    print(f"  recorded, by hand: {ratio:.2f} of the pair that reads the clock; events dropped: {dropped}; limits: "
          f"{LIMIT} both, {'held' if held else 'MISSED'}")
    return 0 if held else 1


if __name__ == "__main__":
    sys.exit(main())
