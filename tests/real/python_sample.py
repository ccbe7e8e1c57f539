#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Samples of Python programs: functions of known shares, native frames below Python frames, processes, a running
program. Prints TAP.

  python_sample.py --program build/deepclock
"""

import importlib.util
import json
import math
import multiprocessing
import os
import subprocess
import sys

from common import Skipped, arguments, expect, fact, installed, limit, run
from python_frames import interpreters

# heavy() does 7 parts of the work, light() 3; the processor may make one of them dearer, so the program measures their times.
# Rounds of random length: with a fixed one, near half the time between samples, all samples would hit the
# same part of a round.
SHARES = """
import sys
from time import thread_time
def heavy(n):
    s = 0
    for i in range(7 * n): s += i * i
def light(n):
    s = 0
    for i in range(3 * n): s += i * i
class Work:
    chance, heavy, light = 1, 0, 0
    def both(self):
        for _ in range(10):
            self.chance = (self.chance * 1664525 + 1013904223) % 2**32
            begin = thread_time()
            heavy(1 + self.chance // 2**16 % 2000)
            between = thread_time()
            light(1 + self.chance // 2**16 % 2000)
            self.heavy += between - begin
            self.light += thread_time() - between
def main(seconds):
    import time
    work, end = Work(), time.process_time() + seconds
    while time.process_time() < end:
        work.both()
    print("share", work.heavy / (work.heavy + work.light), flush=True)
if __name__ == "__main__":
    print(flush=True)
    main(float(sys.argv[1]))
"""

CHILD = """
import multiprocessing, shares
if __name__ == "__main__":
    multiprocessing.set_start_method(%r)
    child = multiprocessing.Process(target=shares.main, args=(0.6,))
    child.start()
    child.join()
"""

TRAIN = """
import torch, torch.nn as nn
torch.set_num_threads(1)
def step(model, opt, x, y):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    opt.step()
def main():
    model = nn.Sequential(nn.Linear(64, 512), nn.GELU(), nn.LayerNorm(512), nn.Linear(512, 10))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(64, 64), torch.randint(0, 10, (64,))
    for _ in range(800): step(model, opt, x, y)
main()
"""


def write(name, text):
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return os.path.abspath(name)


def sample(program, *words):
    """Samples a program and returns the record."""
    words = [*program, "sample", "--quiet", "--save", "sample.json", *words] if isinstance(program, list) else \
        [program, "sample", "--quiet", "--save", "sample.json", *words]
    env = {**os.environ, "LD_PRELOAD": ""}
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, env=env)
    expect(done.returncode == 0, done.stderr)
    with open("sample.json", encoding="utf-8") as f:
        record = json.load(f)
    record["share"] = next((float(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("share")), 0.7)
    return record


def paths(record):
    """Returns (names of the frames, outermost first; samples) of each call path."""
    tree = next(t for t in record["trees"] if t["name"] == "samples")
    known = []
    for parent, frame, samples, *_ in tree["nodes"]:
        known.append(((known[parent][0] if parent >= 0 else ()) + (tree["frames"][frame]["name"],), samples))
    return known


def seen(record, *functions):
    """Returns the number of samples below all of these functions."""
    return sum(n for path, n in paths(record) if all(any(f in name for name in path) for f in functions))


def shares(record, least=100):
    heavy, light = seen(record, "heavy"), seen(record, "light")
    n = heavy + light
    expect(n >= least, (heavy, light))
    # Five standard errors; four times this for samples taken in batches.
    bound = 5 * math.sqrt(0.7 * 0.3 / n) * (4 if fact(record, "sample", "python_late") else 1)
    expect(abs(heavy / n - record["share"]) < bound, (heavy, light, record["share"], bound))
    return n


def known_shares(program, python):
    script = write("shares.py", SHARES)
    record = sample(program, "--", python, script, "1")
    n = shares(record)
    samples, inexact = fact(record, "sample", "python_samples"), fact(record, "sample", "python_inexact")
    expect(samples >= n and fact(record, "sample", "python_late") == 0, samples)
    expect(inexact <= 0.05 * samples, (inexact, samples))
    below = max(n for path, n in paths(record)
                if [name.split(".")[-1] for name in path] == ["<module>", "main", "both", "heavy"])
    expect(below >= 0.2 * n, (below, n))
    expect(seen(record, "_PyEval_EvalFrameDefault") == 0, "calls of the evaluator are replaced")
    # The shares are the same when the interpreter's own functions are shown.
    more = sample(program, "--interpreter", "--", python, script, "0.7")
    shares(more)
    expect(any("Py" in name for path, _ in paths(more) for name in path[-1:]), "the interpreter's own are there")


def children(program, python):
    write("shares.py", SHARES)
    for method in multiprocessing.get_all_start_methods():
        record = sample(program, "--", python, write("start.py", CHILD % method))
        expect(fact(record, "sample", "processes") >= 2, method)
        shares(record, 50)


def attached(program, python):
    script = write("shares.py", SHARES)
    with subprocess.Popen([python, script, "60"], stdout=subprocess.PIPE) as process:
        try:
            process.stdout.readline()
            try:
                record = sample(program, "--pid", str(process.pid), "--time", "3s")
            except AssertionError as e:
                if "perf_event" in str(e):
                    raise Skipped("this user may not attach: " + str(e)[:80]) from e
                raise
        finally:
            process.kill()
    shares(record)
    expect(fact(record, "sample", "python_late") == fact(record, "sample", "python_samples"), "all are read later")
    expect([n for n in record["notes"] if n["code"] == "sample-python-late"], "a note says so")


def command(program, package):
    """python -m deepclock sample uses the same Python."""
    if not os.path.isdir(package):
        raise Skipped("the package was not built")
    script = write("shares.py", SHARES)
    os.environ["PYTHONPATH"] = package
    try:
        done = subprocess.run([sys.executable, "-m", "deepclock", "--version"], capture_output=True, check=False)
        if done.returncode:
            raise Skipped(f"the package is not built for {sys.executable}")
        record = sample([sys.executable, "-m", "deepclock"], script, "1")
    finally:
        del os.environ["PYTHONPATH"]
    shares(record)


def torch(program):
    if importlib.util.find_spec("torch") is None:
        raise Skipped("no PyTorch")
    record = sample(program, "--", sys.executable, write("train.py", TRAIN))
    in_step = seen(record, "step")
    both = sum(n for path, n in paths(record) if "step" in path and any("at::" in name for name in path))
    print(f"# {both:.0f} of {in_step:.0f} samples in step() have aten functions below Python's")
    expect(in_step >= 100 and both >= 0.4 * in_step, (both, in_step))
    linear = [path for path, _ in paths(record) if "Linear.forward" in path]
    expect(any("at::" in name for path in linear for name in path[path.index("Linear.forward"):]), linear[:3])
    expect(any(path[:3] == ("<module>", "main", "step") for path in linear), linear[:3])


def py_spy(program):
    """The share equals py-spy's within the error of both."""
    found = installed("py_spy/bin/py-spy")
    if not os.path.exists(found):
        raise Skipped("no py-spy: 'make test-all' fetches it")
    script = write("shares.py", SHARES)
    subprocess.run([found, "record", "-r", "250", "-f", "raw", "-o", "spy.txt", "--", sys.executable, script, "2"],
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    heavy = light = 0
    with open("spy.txt", encoding="utf-8") as f:
        for line in f:
            stack, n = line.rsplit(" ", 1)
            heavy += int(n) * ("heavy" in stack)
            light += int(n) * ("light" in stack)
    record = sample(program, "--", sys.executable, script, "2")
    n = shares(record)
    ours, theirs = seen(record, "heavy") / n, heavy / (heavy + light)
    print(f"# heavy: {ours:.3f} of {n}, py-spy {theirs:.3f} of {heavy + light}")
    expect(abs(ours - theirs) < 6 * math.sqrt(0.21 / n + 0.21 / (heavy + light)), (ours, theirs))


def py_spy_read(program):
    """A file of py-spy is read with the sums of the file."""
    found = installed("py_spy/bin/py-spy")
    if not os.path.exists(found):
        raise Skipped("no py-spy: 'make test-all' fetches it")
    script = write("shares.py", SHARES)
    for form, name in (("speedscope", "spy.json"), ("raw", "spy.folded")):
        subprocess.run([found, "record", "-r", "250", "-f", form, "-o", name, "--", sys.executable, script, "1"],
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open("spy.json", encoding="utf-8") as f:
        spy = json.load(f)
    frames = [frame["name"] for frame in spy["shared"]["frames"]]
    taken = [([frames[i] for i in s], w) for p in spy["profiles"] for s, w in zip(p["samples"], p["weights"])]
    with open("spy.folded", encoding="utf-8") as f:
        lines = [line.rsplit(" ", 1) for line in f]
    folded = [([part.split(" (")[0] for part in stack.split(";")], int(n)) for stack, n in lines]
    for path, stacks, weight, scale in (("spy.json", taken, "time", 1e9), ("spy.json", [(s, 1) for s, _ in taken], "samples", 1),
                                        ("spy.folded", folded, "samples", 1)):
        out = subprocess.run([program, "report", path, "--format", "json"], stdout=subprocess.PIPE, check=True).stdout
        record = json.loads(out)
        tree = record["trees"][0]
        column = [c["key"] for c in tree["columns"]].index(weight)
        total = sum(node[2 + column] for node in tree["nodes"])
        whole = scale * sum(w for _, w in stacks)
        expect(stacks and math.isclose(total, whole, rel_tol=1e-9), (path, total, whole))
        names = [c["key"] for c in record["tables"][0]["columns"]]
        for function in ("heavy", "light"):
            row = next(r for r in record["tables"][0]["rows"] if r[0] == function)
            own = scale * sum(w for s, w in stacks if s and s[-1] == function)
            inside = scale * sum(w for s, w in stacks if function in s)
            if weight == "samples" and path == "spy.json":
                expect(row[names.index("samples")] == own, (function, row, own))
            else:
                expect(math.isclose(row[names.index("self")], own, rel_tol=1e-9), (path, function, row, own))
                expect(math.isclose(row[names.index("total")], inside, rel_tol=1e-9), (path, function, row, inside))
    print(f"# {len(taken)} samples, {len(folded)} folded stacks")


def main():
    args = arguments(__doc__)
    package = os.path.join(os.path.dirname(args.program), "python")
    newest = {version: path for version, path in interpreters() if version >= (3, 9)}
    cases = [(f"known shares {v[0]}.{v[1]}", lambda p=p: known_shares(args.program, p)) for v, p in newest.items()]
    cases += [("children", lambda: children(args.program, sys.executable)),
              ("attached", lambda: attached(args.program, sys.executable)),
              ("python -m deepclock sample", lambda: command(args.program, package)),
              ("torch", lambda: torch(args.program)),
              ("py-spy", lambda: py_spy(args.program)),
              ("py-spy's files", lambda: py_spy_read(args.program))]
    return run(cases, args.prefixes, seconds=limit.SECONDS)


if __name__ == "__main__":
    sys.exit(main())
