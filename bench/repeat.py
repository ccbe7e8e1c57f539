#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the interval of a default run hold what other runs find, now and later? Each model is measured N times by
'deepclock bench' and as often with --processes 1, in random order at random times, under changing load. An interval
should contain the grand median, that of the medians of all these runs.

  repeat.py [--program build/deepclock] [-n 2] [--within 0] [--load 2] [--max-time 10s] [--least SHARE] [MODEL...]

  -n 40 --within 2h zoo:simplenet zoo:mobilenet_v2 zoo:resnet18 zoo:resnet50 zoo:bert_mini

makes 40 runs of each kind over two hours. --load: maximum number of busy loops next to it; their number changes every 1 to 20
seconds, and is 0 as often as each other. --least: exits with 1 if default runs hold it less often for some model.
"""

import argparse
import json
import math
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import rows

MODELS = "zoo:simplenet", "zoo:mobilenet_v2 --image-size 64"
KINDS = {"default": [], "--processes 1": ["--processes", "1"]}
UNITS = {"ms": 1e-3, "s": 1, "m": 60, "h": 3600, "": 1}


def seconds(text):
    found = re.fullmatch(r"([\d.]+)(ms|s|m|h|)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"'{text}' is no time, such as 90s or 2h")
    return float(found[1]) * UNITS[found[2]]


class Load:
    """Busy loops, 0 to `most` of them, changed at random times until the end of the 'with' block."""

    def __init__(self, most, rng):
        self.most, self.rng, self.ended, self.loops = most, rng, threading.Event(), []
        self.thread = threading.Thread(target=self.change)

    def change(self):
        while not self.ended.wait(self.rng.uniform(1, 20)):
            self.stop()
            self.loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(self.rng.randint(0, self.most))]

    def stop(self):
        for loop in self.loops:
            loop.kill()
            loop.wait()
        self.loops = []

    def __enter__(self):
        self.thread.start()

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()
        self.stop()


def measured(program, model, words, max_time, directory):
    """Returns {value, lo, hi, level, processes, took} of one run; lo None: it has no interval."""
    path = os.path.join(directory, "record.json")
    begin = time.monotonic()
    subprocess.run([program, "bench", *model.split(), *words, "--max-time", max_time, "--save", path, "--no-history", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - begin
    with open(path) as f:
        record = json.load(f)
    m = next(m for m in record["metrics"] if m["tag"] == "latency/median")
    starts = next(f["value"] for f in record["facts"] if (f["section"], f["key"]) == ("method", "processes"))
    return {"value": m["value"], "lo": m.get("lo"), "hi": m.get("hi"), "level": m.get("level"), "processes": starts, "took": took}


def summary(runs, grand):
    """The cells of a row: starts, share that holds the grand median, half-width, deviation, seconds."""
    with_interval = [r for r in runs if r["lo"] is not None]
    held = [r["lo"] <= grand <= r["hi"] for r in with_interval]
    half = [(r["hi"] - r["lo"]) / 2 / r["value"] for r in with_interval]
    return {"several": sum(r["processes"] > 1 for r in runs), "n": len(runs), "held": sum(held) / len(held) if held else math.nan,
            "half": statistics.median(half) if half else math.nan,
            "off": statistics.median(abs(r["value"] / grand - 1) for r in runs), "took": statistics.median(r["took"] for r in runs)}


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--program", default="build/deepclock")
    p.add_argument("-n", type=int, default=rows.rounds(2), help="runs of each model and kind")
    p.add_argument("--within", type=seconds, default=0, help="time over which they are spread")
    p.add_argument("--load", type=int, default=2, help="most busy loops beside them")
    p.add_argument("--max-time", default="1s" if rows.QUICK else "10s", help="of deepclock bench")
    p.add_argument("--least", type=float, help="share of default intervals that must hold the grand median")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--save", help="all results, as JSON")
    p.add_argument("model", nargs="*", default=MODELS[:1] if rows.QUICK else MODELS)
    a = p.parse_args()
    rng = random.Random(a.seed)
    todo = [(model, kind) for model in a.model for kind in KINDS for _ in range(a.n)]
    rng.shuffle(todo)
    times = sorted(rng.uniform(0, a.within) for _ in todo)
    results = {key: [] for key in todo}
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, Load(a.load, random.Random(a.seed + 1)):
        for at, (model, kind) in zip(times, todo):
            time.sleep(max(0, begin + at - time.monotonic()))
            results[model, kind].append(measured(a.program, model, KINDS[kind], a.max_time, directory))
    print("| model | runs | of several starts | hold the grand median | half-width | off by | took |\n|---|---|---|---|---|---|---|")
    least = 1
    for model in a.model:
        grand = statistics.median(r["value"] for kind in KINDS for r in results[model, kind])
        for kind in KINDS:
            s = summary(results[model, kind], grand)
            least = min(least, s["held"]) if kind == "default" else least
            print(f"| {model} | {kind} | {s['several']} of {s['n']} | {100 * s['held']:.0f} % | {100 * s['half']:.1f} % "
                  f"| {100 * s['off']:.1f} % | {s['took']:.1f} s |")
    for kind in KINDS:
        off = [abs(r["value"] / statistics.median(r["value"] for k in KINDS for r in results[model, k]) - 1)
               for model in a.model for r in results[model, kind]]
        rows.put(f"a median under changing load, {kind} run", off, "of the grand median, off by")
    print(f"\n{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} processors, up to {a.load} busy loops, "
          f"{time.monotonic() - begin:.0f} s")
    if a.save:
        with open(a.save, "w") as f:
            json.dump([{"model": model, "kind": kind, "runs": runs} for (model, kind), runs in results.items()], f)
    return a.least is not None and least < a.least


if __name__ == "__main__":
    sys.exit(main())
