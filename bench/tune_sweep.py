#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'deepclock tune' against a sweep of the full grid in the same time, on this machine.

  tune_sweep.py --program build/deepclock [--repetitions 10] [--budget 60] [--pairs 12] [--seed 1]
                [--space threads=1,2 --space spin=0,1 ...] [--log FILE] MODEL... [-- OPTION...]

The sweep is what scripts do: every combination of the values, one after the other, each in one fresh process for
an equal share of the time, and the smallest median is its answer. Both search the same space, in random order. Then both
answers and the default are measured again in fresh processes, in rounds of random order: the median of the ratios
of their medians, with the interval of the sign test at 95 %. 'beats': tune's answer is shown to be faster; 'loses':
slower; 'equals': neither, or the same configuration. MODEL is what 'deepclock bench' takes; options of it follow --.

Each repetition is a line of JSON in the log (default: tune_sweep.jsonl); a run that was ended continues behind the last one.
Fails if tune loses in more than one of ten repetitions of a model, or names an answer that is slower than the default.
"""

import argparse
import itertools
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time

USUAL = ["threads=1", "opt=extended,basic,none", "spin=0", "arena=0", "mem_pattern=0", "denormals=flush"]


def record_of(program, command, words):
    """Returns the record that a command writes; None: it failed."""
    done = subprocess.run([program, command, *words, "--format", "json", "--quiet", "--no-history"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False)
    try:
        return json.loads(done.stdout)
    except ValueError:
        return None


def fact(record, section, key):
    return next(f.get("value") for f in record["facts"] if (f["section"], f["key"]) == (section, key))


class Subject:
    """A model with its options and the space of its configurations."""

    def __init__(self, program, model, options, space):
        self.program, self.model, self.options, self.space = program, model, options, space
        text = subprocess.run([program, "bench", "--help"], stdout=subprocess.PIPE, check=True, text=True).stdout
        self.model_options = {w.strip(",")[2:] for w in text.split() if w.startswith("--")}

    def words(self, configuration):
        words = [*self.options]
        for key, value in configuration:
            words += [f"--{key}", value] if key in self.model_options else ["--engine-option", f"{key}={value}"]
        return [*words, self.model]

    def median(self, configuration, seconds):
        """Returns the median of the runs of a fresh process, ns; None: it failed."""
        limit = f"{max(seconds, 0.01):.3f}s"
        record = record_of(self.program, "bench", ["--time", limit, "--max-warmup", f"{max(seconds / 2, 0.01):.3f}s",
                                                   "--processes", "1", *self.words(configuration)])
        return record and next((m.get("value") for m in record["metrics"] if m["tag"] == "latency/median"), None)

    def sweep(self, budget):
        """Measures every combination once; returns the luckiest one, and how many were measured."""
        lists = [[None, *values] for _, values in self.space]
        grid = [tuple((key, value) for (key, _), value in zip(self.space, values) if value is not None)
                for values in itertools.product(*lists)]
        end, start, best, measured = time.monotonic() + budget, 0.5, (math.inf, ()), 0
        for i, configuration in enumerate(grid):
            begin = time.monotonic()
            if begin >= end:
                break
            share = (end - begin) / (len(grid) - i)
            seconds = max(0.01, (share - start) / 1.5)  # half as much warm-up as measuring, as tune's trials have at most
            median = self.median(configuration, seconds)
            start = max(0, time.monotonic() - begin - 1.5 * seconds)
            measured += median is not None
            if median is not None and median < best[0]:
                best = (median, configuration)
        return best[1], measured, len(grid)

    def tune(self, budget, seed):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("".join(f"{key}={','.join(values)}\n" for key, values in self.space))
            file.flush()
            record = record_of(self.program, "tune", ["--space", file.name, "--max-time", f"{budget}s", "--seed", str(seed),
                                                      *self.options, self.model])
        if not record:
            sys.exit(f"tune_sweep: 'deepclock tune {self.model}' failed")
        text = fact(record, "tune", "configuration")
        return () if text == "default" else tuple(tuple(word.split("=", 1)) for word in text.split())

    def rounds(self, configurations, pairs, seconds, rng):
        """Returns for each configuration the medians of its fresh processes, a row for each round."""
        rows = []
        for _ in range(pairs):
            order = rng.sample(range(len(configurations)), len(configurations))
            row = {i: self.median(configurations[i], seconds) for i in order}
            if all(row.values()):
                rows.append([row[i] for i in range(len(configurations))])
        return rows


def ratio_of(rows, a, b):
    """Returns median and 95 % interval (sign test) of the ratio of column a to column b; no interval below 6 rows."""
    ratios = sorted(row[a] / row[b] for row in rows)
    n, rank, below = len(ratios), 0, 0.0
    while rank < n // 2 and 2 * (below + math.comb(n, rank) / 2 ** n) <= 0.05:
        below += math.comb(n, rank) / 2 ** n
        rank += 1
    if not ratios:
        return math.nan, 0, math.inf
    return (statistics.median(ratios), *((ratios[rank - 1], ratios[n - rank]) if rank else (0, math.inf)))


def verdict_of(ratio):
    return "beats" if ratio[2] < 1 else "loses" if ratio[1] > 1 else "equals"


def repetition(subject, number, options):
    rng = random.Random(f"{options.seed} {subject.model} {number}")
    searches = {}
    for name in rng.sample(["tune", "sweep"], 2):
        begin = time.monotonic()
        found = subject.tune(options.budget, number) if name == "tune" else subject.sweep(options.budget)
        searches[name] = (found, time.monotonic() - begin)
    tuned, (swept, measured, size) = searches["tune"][0], searches["sweep"][0]
    rows = subject.rounds([tuned, swept, ()], options.pairs, options.seconds, rng)
    to_sweep = (1, 1, 1) if set(tuned) == set(swept) else ratio_of(rows, 0, 1)
    to_default = ratio_of(rows, 0, 2) if tuned else (1, 1, 1)
    return {"model": subject.model, "repetition": number, "tune": tuned, "sweep": swept, "verdict": verdict_of(to_sweep),
            "time_over_sweep": to_sweep, "time_over_default": to_default, "slower_than_default": to_default[1] > 1,
            "tune_s": searches["tune"][1], "sweep_s": searches["sweep"][1], "grid": size, "measured": measured,
            "rounds": len(rows)}


def text_of(configuration):
    return " ".join(f"{key}={value}" for key, value in configuration) or "default"


def show(done):
    x = done["time_over_sweep"]
    print(f"{done['model']:24} {done['repetition']:3} {done['verdict']:7} {x[0]:5.2f} [{x[1]:.2f}, {x[2]:.2f}]"
          f"  tune: {text_of(done['tune'])}; sweep: {text_of(done['sweep'])} ({done['measured']} of {done['grid']})", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", default="build/deepclock")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--budget", type=float, default=60, help="of each search, seconds")
    parser.add_argument("--pairs", type=int, default=12, help="rounds in which both answers are measured again")
    parser.add_argument("--seconds", type=float, default=0.5, help="measuring time of a process in these rounds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--space", action="append", metavar="OPTION=VALUE,VALUE", help="default: " + ", ".join(USUAL))
    parser.add_argument("--log", default="tune_sweep.jsonl")
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser.add_argument("models", nargs="+")
    options, model_options = parser.parse_args(words[:at]), words[at + 1:]
    space = [(line.split("=", 1)[0], line.split("=", 1)[1].split(",")) for line in options.space or USUAL]
    done = []
    if os.path.exists(options.log):
        with open(options.log, encoding="utf-8") as file:
            done = [json.loads(line) for line in file if line.endswith("\n")]
    print("model, repetition, verdict, time over the sweep's answer [95 %]", flush=True)
    for one in done:
        show(one)
    for number, model in itertools.product(range(1, options.repetitions + 1), options.models):
        if any((one["model"], one["repetition"]) == (model, number) for one in done):
            continue
        one = repetition(Subject(options.program, model, model_options, space), number, options)
        with open(options.log, "a", encoding="utf-8") as file:
            file.write(json.dumps(one) + "\n")
        show(one)
        done.append(one)
    failed = False
    for model in options.models:
        mine = [one for one in done if one["model"] == model]
        counts = {word: sum(one["verdict"] == word for one in mine) for word in ("beats", "equals", "loses")}
        slower = sum(one["slower_than_default"] for one in mine)
        failed |= counts["loses"] > len(mine) / 10 or slower > 0
        print(f"{model}: tune beats or equals the sweep in {counts['beats'] + counts['equals']} of {len(mine)} repetitions "
              f"(beats in {counts['beats']}); {slower} of its answers are slower than the default")
    return failed


if __name__ == "__main__":
    sys.exit(main())
