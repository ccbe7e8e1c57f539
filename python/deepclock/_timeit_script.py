# SPDX-License-Identifier: Apache-2.0
"""python -m deepclock timeit: measures a statement, with the options and the result line of `python -m timeit`, and the
median with its interval."""

import argparse
import gc
import importlib
import itertools
import sys
import time
import traceback

from . import _accelerator, _deepclock, _script, _statement

_UNITS = {"nsec": 1e-9, "usec": 1e-6, "msec": 1e-3, "sec": 1.0}
_REPEAT = 5                          # timeit's
_RUN_S, _REPEATED_S = 500e-6, 0.2    # minimum time of a run of loops; with -r as in timeit
_ALL_S = 1.2
_RAW_MAX = 100


def _parser():
    p = argparse.ArgumentParser(
        prog="python -m deepclock timeit", allow_abbrev=False,
        usage="python -m deepclock timeit [-n N] [-r N] [-s SETUP] [-u UNIT] [-p] [-v] [--save FILE] [STATEMENT ...]",
        description="Measures a statement, as python -m timeit, with its answer and the median with its 95 % interval. "
                    "Several statements are lines. Garbage collection is off during it.")
    p.add_argument("-n", "--number", type=_count, metavar="N", help="how often the statement runs in each run; by default often "
                   "enough for the clock")
    p.add_argument("-r", "--repeat", type=int, metavar="N", help="number of runs (default: the number that fits into a second, "
                   "with -n 5)")
    p.add_argument("-s", "--setup", action="append", default=[], help="runs once before the statement; may be repeated")
    p.add_argument("-p", "--process", action="store_true", help="CPU time of the process instead of wall time")
    p.add_argument("-u", "--unit", choices=_UNITS, metavar="UNIT", help="unit of the times: nsec, usec, msec or sec")
    p.add_argument("-v", "--verbose", action="count", default=0, help="also the time of each run; again: more digits")
    p.add_argument("--device", metavar="DEVICE", help="accelerator of PyTorch on which the statement works, as cuda: each run "
                   "ends with its work")
    p.add_argument("--save", metavar="FILE", help="keep the record in FILE, as JSON: times of whole runs")
    p.add_argument("statement", nargs=argparse.REMAINDER, help="(default: pass)")
    return p


def _count(text):
    if int(text) < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return int(text)


def _numbers():
    """Yields 1, 2, 5, 10, ..."""
    for power in itertools.count():
        for digit in (1, 2, 5):
            yield digit * 10 ** power


def _auto(make, least, clock, wait, verbose, text):
    for number in _numbers():
        run = make(number)
        began = clock()
        run()
        wait()
        took = clock() - began
        if verbose:
            print(f"{number} loop{'s' * (number != 1)} -> {text(took)}")
        if took >= least:
            return number, run


def _process(run, runs):
    """Returns CPU seconds of each run, the estimate of their median, and whether Ctrl-C came before the last one."""
    values, began, interrupted = [], time.perf_counter(), False
    try:
        while len(values) < runs if runs else time.perf_counter() - began < _ALL_S:
            start = time.process_time()
            run()
            values.append(time.process_time() - start)
    except KeyboardInterrupt:
        if not values:
            raise
        interrupted = True
    return values, _deepclock.estimate([value * 1e9 for value in values]), interrupted


def _per_loop(record, note, number, text):
    """Returns the text of a note on runs of `number` loops; the times of two groups of runs become those of a loop."""
    if note.code != "two-modes":
        return note.text
    fact = {key: record.facts["samples/" + key].value for key in ("mode_low", "mode_low_share", "mode_high", "mode_high_share")}
    groups = (f"{100 * fact[mode + '_share']:.0f} % near {text(fact[mode] / 1e9 / number)}" for mode in ("mode_low", "mode_high"))
    return f"the samples fall into two groups, {' and '.join(groups)}, between which the median can jump"


def main(words):
    p = _parser()
    options = p.parse_args(words)
    if options.process and options.save:
        p.error("-p makes no record that --save could keep: the record has CPU time as cpu/time without it")
    if options.process and options.device:
        p.error("-p measures the CPU's time, and --device a device's")
    statement = options.statement[1:] if options.statement[:1] == ["--"] else options.statement
    statement = "\n".join(statement) or "pass"
    digits = 3 + max(0, options.verbose - 1)

    def text(seconds):
        unit = options.unit or next((u for u, s in reversed(_UNITS.items()) if seconds >= s), "nsec")
        return f"{seconds / _UNITS[unit]:.{digits}g} {unit}"

    names = {"__name__": "__main__", "__builtins__": __builtins__}
    try:
        body, setup = _statement.parse(statement), _statement.parse("\n".join(options.setup))
        gc_was_on = gc.isenabled()
        gc.disable()
        try:
            return _measured(options, body, setup, names, statement, text)
        finally:
            if gc_was_on:
                gc.enable()
    except KeyboardInterrupt:
        print("deepclock: interrupted before a run was measured", file=sys.stderr)
        return 130
    except _deepclock.Error as error:
        print(f"deepclock: {error}", file=sys.stderr)
    except SyntaxError as error:
        traceback.print_exception(type(error), error, None)
    except Exception as error:
        traceback.print_exception(type(error), error, _script._theirs(error.__traceback__))
    return 1


def _measured(options, body, setup, names, title, text):
    def make(number):
        return _statement.function(body, setup, names, title, number)

    if options.device:
        importlib.import_module("torch")
    device = _accelerator.opened(options.device or "cpu")
    wait = device.synchronize if device else lambda: None
    wait()
    repeat = max(1, options.repeat) if options.repeat is not None else _REPEAT if options.number else None
    if options.number:
        number, run = options.number, make(options.number)
    else:
        number, run = _auto(make, _REPEATED_S if repeat else _RUN_S,
                            time.process_time if options.process else time.perf_counter, wait, options.verbose, text)
    if options.process:
        seconds, median, cut = _process(run, repeat)
        doubt, interrupted = "", 130 if cut else 0
    else:
        how_long = {"runs": repeat, "warmup": 1} if repeat else _statement.BRIEF
        record = _deepclock.bench(run, title=f"python -m deepclock timeit {title!r}", no_history=True, save=options.save,
                                  device=options.device, **how_long)
        seconds = [value / 1e9 for value in record.series["latency"].measured]
        median = record["latency/median"]
        interrupted = 130 if record.incomplete else 0
        doubt = _statement.doubt(record, "--save FILE", lambda note: _per_loop(record, note, number, text))
    if not seconds:
        raise KeyboardInterrupt
    if options.verbose:
        raw = ", ".join(map(text, seconds)) if len(seconds) <= _RAW_MAX else f"{len(seconds):,} of them"
        print(f"raw times: {raw}\n")
    print(f"{number} loop{'s' * (number != 1)}, best of {len(seconds)}: {text(min(seconds) / number)} per loop")
    ends = f"(no interval: {(median.how or 'too few runs').replace('no interval: ', '', 1)})"
    if median.lo is not None:
        ends = f"[{text(median.lo / 1e9 / number)}, {text(median.hi / 1e9 / number)}], {median.level:.0%} interval"
    print(f"median {text(median.value / 1e9 / number)} per loop {ends}")
    if doubt:
        print(doubt)
    return interrupted
