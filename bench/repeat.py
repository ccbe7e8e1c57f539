#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does the interval of a default run hold what other runs find, now and later? Each model is measured N times by
'deepclock bench' and as often with --processes 1, in random order at random times, under changing load. An interval
should contain the grand median, that of the medians of all these runs; the same of the medians of their undisturbed runs.

  repeat.py [--program build/deepclock] [-n 2] [--within 0] [--load 2] [--max-time 10s] [--least SHARE] [--single N]
            [--peers N] [--apart TIME --keep DIR] [MODEL...]

  -n 40 --within 2h zoo:simplenet zoo:mobilenet_v2 zoo:resnet18 zoo:resnet50 zoo:bert_mini

makes 40 runs of each kind over two hours. --load: maximum number of busy loops next to it; their number changes every 1 to 20
seconds, and is 0 as often as each other. --least: exits with 1 if default runs hold it less often for some model.

--peers N: N runs each of pyperf and hyperfine at random times among them, both with a session of the Python package
onnxruntime (PYTHONPATH=build/onnxruntime:build/pyperf). Their interval is what they print, mean +- standard deviation, and it
should contain the median of what the same tool found in all its runs.

--apart 1h --keep DIR: the records of the default runs are kept in DIR, and each is compared by 'deepclock compare OLD NEW' with
the first of the same model that is at least so much later; each record is in one pair at most.
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
SESSION = """
import numpy, onnxruntime, sys
o = onnxruntime.SessionOptions()
o.intra_op_num_threads = int(sys.argv[2])
s = onnxruntime.InferenceSession(sys.argv[1], o, providers=["CPUExecutionProvider"])
kinds = {"tensor(float)": "float32", "tensor(int64)": "int64"}
x = {i.name: numpy.ones([d if isinstance(d, int) else 1 for d in i.shape], kinds[i.type]) for i in s.get_inputs()}
"""
PEER_RUNS = 20  # of the program that hyperfine starts
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


def bench_record(program, model, words, path):
    """Returns {value, lo, hi, level, processes, took, undisturbed} of one run, whose record is in path; lo None: it has no interval.
    undisturbed: value, lo and hi of the median of the undisturbed runs, where the record has it with an interval, or None."""
    begin = time.monotonic()
    subprocess.run([program, "bench", *model.split(), *words, "--save", path, "--no-history", "--quiet"],
                   check=True, stdout=subprocess.DEVNULL)
    took = time.monotonic() - begin
    with open(path, encoding="utf-8") as f:
        record = json.load(f)
    metrics = {m["tag"]: m for m in record["metrics"]}
    m, alone = metrics["latency/median"], metrics.get("latency/undisturbed", {})
    starts = next(f["value"] for f in record["facts"] if (f["section"], f["key"]) == ("method", "processes"))
    return {"value": m["value"], "lo": m.get("lo"), "hi": m.get("hi"), "level": m.get("level"), "processes": starts, "took": took,
            "undisturbed": {key: alone[key] for key in ("value", "lo", "hi")} if alone.get("lo") is not None else None}


class Peers:
    """pyperf and hyperfine on the same networks, as files in a directory."""

    KINDS = "pyperf", "hyperfine"

    def __init__(self, program, models, directory):
        self.directory, self.files = directory, {}
        self.timed, self.looped = os.path.join(directory, "timed.py"), os.path.join(directory, "looped.py")
        with open(self.timed, "w", encoding="utf-8") as f:
            f.write(f"import sys\nwords = sys.argv[1:3]\ndel sys.argv[1:3]\nimport pyperf\n"
                    f"r = pyperf.Runner(program_args=('{self.timed}', *words))\nflags = sys.argv[1:]\nsys.argv[1:] = words\n{SESSION}\n"
                    f"sys.argv[1:] = flags\nr.bench_func('run', s.run, None, x)\n")
        with open(self.looped, "w", encoding="utf-8") as f:
            f.write(f"{SESSION}\nfor _ in range({PEER_RUNS}):\n    s.run(None, x)\n")
        for i, model in enumerate(models):
            words, path = model.split(), os.path.join(directory, f"{i}.onnx")
            threads = words.index("--threads") if "--threads" in words else None
            self.files[model] = path, "0" if threads is None else words[threads + 1]
            if threads is not None:
                del words[threads:threads + 2]
            subprocess.run([program, "zoo", words[0].removeprefix("zoo:"), *words[1:], "-o", path], check=True, stdout=subprocess.DEVNULL)

    def measured(self, model, kind):
        begin = time.monotonic()
        mean, deviation, starts = getattr(self, kind)(os.path.join(self.directory, "peer.json"), *self.files[model])
        return {"value": mean * 1e9, "lo": (mean - deviation) * 1e9, "hi": (mean + deviation) * 1e9, "level": None,
                "processes": starts, "took": time.monotonic() - begin}

    def pyperf(self, path, *words):
        import pyperf
        if os.path.exists(path): # which pyperf does not replace
            os.unlink(path)
        subprocess.run([sys.executable, self.timed, *words, "--fast", "--quiet", "--inherit-environ", "PYTHONPATH", "-o", path],
                       check=True, stdout=subprocess.DEVNULL)
        benchmark = pyperf.Benchmark.load(path)
        return benchmark.mean(), benchmark.stdev(), benchmark.get_nrun()

    def hyperfine(self, path, *words):
        subprocess.run(["hyperfine", "--shell=none", "--style", "none", "--export-json", path,
                        " ".join([sys.executable, self.looped, *words])], check=True, stdout=subprocess.DEVNULL)
        with open(path, encoding="utf-8") as f:
            found = json.load(f)["results"][0]
        return found["mean"], found["stddev"], len(found["times"])


def summary(runs, grand):
    """The cells of a row: starts, share that holds the grand median, half-width, deviation, seconds."""
    with_interval = [r for r in runs if r["lo"] is not None]
    held = [r["lo"] <= grand <= r["hi"] for r in with_interval]
    half = [(r["hi"] - r["lo"]) / 2 / r["value"] for r in with_interval]
    return {"several": sum(r["processes"] > 1 for r in runs), "n": len(runs), "held": sum(held) / len(held) if held else math.nan,
            "half": statistics.median(half) if half else math.nan,
            "off": statistics.median(abs(r["value"] / grand - 1) for r in runs), "took": statistics.median(r["took"] for r in runs)}


def apart(a, results):
    """Compares default runs of the same model that are a.apart seconds apart, and counts the verdicts."""
    print(f"\n| model | pairs {a.apart:.0f} s apart | same | undecided | slower or faster |\n|---|---|---|---|---|")
    for model in a.model:
        left = sorted(results[model, "default"], key=lambda r: r["started"])
        verdicts = []
        while left:
            old = left.pop(0)
            new = next((r for r in left if r["started"] >= old["started"] + a.apart), None)
            if not new:
                continue
            left.remove(new)
            run = subprocess.run([a.program, "compare", old["record"], new["record"], "--format", "json", "--quiet"],
                                 stdout=subprocess.PIPE, check=False)
            record = json.loads(run.stdout)
            verdicts.append(next(f["value"] for f in record["facts"] if (f["section"], f["key"]) == ("compare", "verdict")))
        print(f"| {model} | {len(verdicts)} | {verdicts.count('same')} | {verdicts.count('undecided')} "
              f"| {verdicts.count('slower') + verdicts.count('faster')} |")


def undisturbed_of(runs):
    """Returns the runs with the median of their undisturbed runs, where it has an interval."""
    return [{**r, **r["undisturbed"]} for r in runs if r["undisturbed"]]


def row_put(model, kind, runs, grand):
    s = summary(runs, grand)
    print(f"| {model} | {kind} | {s['several']} of {s['n']} | {100 * s['held']:.0f} % | {100 * s['half']:.1f} % "
          f"| {100 * s['off']:.1f} % | {s['took']:.1f} s |")
    return s


def report(a, results, took):
    """Prints the tables; returns the exit status."""
    print("| model | runs | of several starts | hold the grand median | half-width | off by | took |\n|---|---|---|---|---|---|---|")
    least = 1
    for model in a.model:
        grand = statistics.median(r["value"] for kind in KINDS for r in results.get((model, kind), ()))
        for kind in (k for k in (*KINDS, *Peers.KINDS) if (model, k) in results):
            runs = results[model, kind]
            s = row_put(model, kind, runs, grand if kind in KINDS else statistics.median(r["value"] for r in runs))
            least = min(least, s["held"]) if kind == "default" else least
        alone = {kind: undisturbed_of(results[model, kind]) for kind in KINDS if (model, kind) in results}
        if all(alone.values()):
            grand = statistics.median(r["value"] for runs in alone.values() for r in runs)
            row_put(model, "default, undisturbed runs", alone["default"], grand)
    for kind in {kind for _, kind in results} & {*KINDS}:
        off = [abs(r["value"] / statistics.median(r["value"] for k in KINDS for r in results.get((model, k), ())) - 1)
               for model in a.model for r in results[model, kind]]
        rows.put(f"a median under changing load, {kind} run", off, "of the grand median, off by")
    print(f"\n{time.strftime('%Y-%m-%d', time.gmtime())}, {os.cpu_count()} processors, up to {a.load} busy loops, "
          f"{took:.0f} s")
    if a.apart:
        apart(a, results)
    return a.least is not None and least < a.least


def main():
    p = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    p.add_argument("--program", default="build/deepclock")
    p.add_argument("-n", type=int, default=rows.rounds(2), help="runs of each model and kind")
    p.add_argument("--within", type=seconds, default=0, help="time over which they are spread")
    p.add_argument("--load", type=int, default=2, help="most busy loops beside them")
    p.add_argument("--max-time", help="of deepclock bench, if not the default", default="1s" if rows.QUICK else None)
    p.add_argument("--least", type=float, help="share of default intervals that must hold the grand median")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--save", help="all results, as JSON")
    p.add_argument("--single", type=int, help="runs of each model with --processes 1, if not as many")
    p.add_argument("--peers", type=int, default=0, help="runs of each model with each other tool")
    p.add_argument("--apart", type=seconds, help="compare default runs that are so far apart")
    p.add_argument("--keep", help="directory for the records of default runs")
    p.add_argument("model", nargs="*", default=MODELS[:1] if rows.QUICK else MODELS)
    a = p.parse_args()
    rng = random.Random(a.seed)
    todo = [(model, kind) for model in a.model for kind in KINDS
            for _ in range(a.n if kind == "default" or a.single is None else a.single)]
    todo += [(model, kind) for model in a.model for kind in Peers.KINDS for _ in range(a.peers)]
    rng.shuffle(todo)
    times = sorted(rng.uniform(0, a.within) for _ in todo)
    results = {key: [] for key in todo}
    limit = ["--max-time", a.max_time] if a.max_time else []
    if a.keep:
        os.makedirs(a.keep, exist_ok=True)
    begin = time.monotonic()
    with tempfile.TemporaryDirectory() as directory, Load(a.load, random.Random(a.seed + 1)):
        peers = Peers(a.program, a.model, directory) if a.peers else None
        for i, (at, (model, kind)) in enumerate(zip(times, todo)):
            time.sleep(max(0, begin + at - time.monotonic()))
            started = time.monotonic() - begin
            if kind in KINDS:
                path = os.path.join(a.keep if a.keep and kind == "default" else directory, f"{i}.json" if a.keep else "record.json")
                result = bench_record(a.program, model, KINDS[kind] + limit, path)
                result["record"] = path if a.keep and kind == "default" else None
            else:
                result = peers.measured(model, kind)
            results[model, kind].append({**result, "started": started})
            if a.save:
                with open(a.save, "w", encoding="utf-8") as f:
                    json.dump([{"model": model, "kind": kind, "runs": runs} for (model, kind), runs in results.items()], f)
    return report(a, results, time.monotonic() - begin)


if __name__ == "__main__":
    sys.exit(main())
