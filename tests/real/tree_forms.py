#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The trees of a record in formats of other programs, opened by these programs: a random record, whose
sums in the program must equal the sums computed here. Prints TAP.

  tree_forms.py --program build/deepclock [CASE...]
"""

import gzip
import json
import os
import random
import re
import shutil
import subprocess
import sys

from common import Skipped, arguments, expect, run, written

PROGRAM = ""
KEYS = [("calls", "1"), ("time", "ns"), ("bytes", "B")]
CALLS, TIME, BYTES = range(3)
NAMES = ["main", "fib", "operator()(int, char)", "a;b", "größe", "tab\there", "fn=(1) trick", "x" * 300, "<lambda>"]
FILES = [None, "src/main.c", "a b.py"]
MODULES = [None, "prog", "libblas.so.3"]


class Tree:
    """Frames, nodes, and the results expected from them."""

    def __init__(self, name, seed, size=400, huge=False):
        rng = random.Random(seed)
        self.name, self.frames = name, []
        for _ in range(25):
            frame = {"name": rng.choice(NAMES), "file": rng.choice(FILES), "module": rng.choice(MODULES)}
            start = rng.choice([0, 10, 20])
            frame.update({"start_line": start, "line": start + rng.randrange(9) if start else 0})
            self.frames.append({k: v for k, v in frame.items() if v})
        self.frames.append({"name": "(no file)"})
        self.nodes = []
        for i in range(size):
            parent = rng.choice([-1, i - 1, rng.randrange(i)]) if i else -1
            scale = 2**45 if huge else 10**6
            self.nodes.append([parent, rng.randrange(len(self.frames)), rng.randrange(9), rng.randrange(scale),
                               rng.randrange(4096)])

    def path(self, node):
        found = []
        while node >= 0:
            found.append(self.nodes[node][1])
            node = self.nodes[node][0]
        return tuple(reversed(found))

    def total(self):
        totals = [list(n[2:]) for n in self.nodes]
        for i in reversed(range(len(self.nodes))):
            if self.nodes[i][0] >= 0:
                for k in range(3):
                    totals[self.nodes[i][0]][k] += totals[i][k]
        return totals

    def json(self):
        return {"name": self.name, "title": self.name.title(),
                "columns": [{"key": k, "title": k, "unit": u} for k, u in KEYS],
                "frames": self.frames, "nodes": self.nodes}

    def written(self, form, path, *others, options=()):
        record = {"schema": 1, "deepclock": "0.1.0", "id": "0", "command": "prog",
                  "trees": [t.json() for t in (self, *others)]}
        with open("record.json", "w", encoding="utf-8") as f:
            json.dump(record, f)
        subprocess.run([PROGRAM, "report", "record.json", "--format", form, "-o", path, *options], check=True,
                       timeout=120)
        return path


def python_function(frame):
    """Returns the key of a function in pstats: file, line, name."""
    return (frame.get("file") or frame.get("module") or "~", frame.get("start_line") or frame.get("line") or 0,
            written(frame["name"]))


def sums(pairs):
    found = {}
    for key, value in pairs:
        found[key] = found.get(key, 0) + value
    return found


def folded():
    t = Tree("calls", 1)
    for weight, options in ((TIME, ()), (BYTES, ("--weight", "bytes")), (CALLS, ("--weight", "calls"))):
        with open(t.written("folded", "t.folded", options=options), encoding="utf-8", newline="") as f:
            lines = [text.rsplit(" ", 1) for text in f.read().split("\n")[:-1]]
        got = sums((path, int(n)) for path, n in lines)
        want = sums((";".join(written(t.frames[f]["name"], ";") for f in t.path(i)), n[2 + weight])
                    for i, n in enumerate(t.nodes) if n[2 + weight])
        expect(got == want, f"{KEYS[weight]}: {len(got)} paths, not {len(want)}")


def speedscope():
    """speedscope needs a browser, so only the fields of its schema are checked."""
    trees = Tree("calls", 1), Tree("memory", 2)
    with gzip.open(trees[0].written("speedscope", "t.speedscope.json.gz", trees[1]), "rt", encoding="utf-8") as f:
        got = json.load(f)
    frames = got["shared"]["frames"]
    expect([p["name"] for p in got["profiles"]] == [f"{t.name.title()}: {k}" for t in trees for k, _ in KEYS], "names")
    expect([p["unit"] for p in got["profiles"]] == 2 * ["none", "nanoseconds", "bytes"], "units")
    for p, (t, weight) in zip(got["profiles"], [(t, w) for t in trees for w in range(3)]):
        expect(sum(p["weights"]) == p["endValue"] == sum(n[2 + weight] for n in t.nodes), p["name"])
        found = sums((tuple((frames[f]["name"], frames[f].get("file")) for f in s), w)
                     for s, w in zip(p["samples"], p["weights"]))
        want = sums((tuple((written(t.frames[f]["name"]), t.frames[f].get("file")) for f in t.path(i)), n[2 + weight])
                    for i, n in enumerate(t.nodes) if n[2 + weight])
        expect(found == want, f"other weights in {p['name']}")


def pstats_by_python():
    import pstats
    t = Tree("calls", 1)
    got = pstats.Stats(t.written("pstats", "t.pstats")).stats
    total = t.total()
    want, edges = {}, {}
    for i, n in enumerate(t.nodes):
        path = [python_function(t.frames[f]) for f in t.path(i)]
        for key, table in ((path[-1], want), (tuple(path[-2:]), edges)):
            f = table.setdefault(key, [0, 0, 0.0, 0.0])
            f[1] += n[2 + CALLS]
            f[2] += n[2 + TIME] / 1e9
            if path[-1] not in path[:-1]:
                f[0] += n[2 + CALLS]
                f[3] += total[i][TIME] / 1e9
    expect(set(got) == set(want), "other functions")
    for key, numbers in want.items():
        *found, callers = got[key]
        expect(all(abs(a - b) < 1e-9 for a, b in zip(found, numbers)), (key, found, numbers))
        for caller, (calls, primitive, own, seconds) in callers.items():
            edge = edges[caller, key]
            expect(all(abs(a - b) < 1e-9 for a, b in zip((primitive, calls, own, seconds), edge)), (caller, key))
        expect(len(callers) == len([e for e in edges if len(e) == 2 and e[1] == key]), key)


def program(name, package):
    if not shutil.which(name):
        raise Skipped(f"no {name}: install {package}")
    return name


def callgrind_by_annotate():
    t = Tree("calls", 1)
    t.written("callgrind", "t.callgrind")
    done = subprocess.run([program("callgrind_annotate", "valgrind"), "--inclusive=yes", "--threshold=100",
                           "--show-percs=no", "--auto=no", "t.callgrind"], capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0 and not done.stderr, done.stderr)
    expect(int(re.search(r"([\d,]+) .*PROGRAM TOTALS", done.stdout)[1].replace(",", "")) ==
           sum(n[2 + TIME] for n in t.nodes), "other sum")
    total, outermost, called = t.total(), {}, {}
    for i in range(len(t.nodes)):
        path = [(t.frames[f]["name"], t.frames[f].get("file")) for f in t.path(i)]
        level = path.count(path[-1])
        name, file = path[-1]
        key = f"{file or '???'}:{written(name)}" + (f"'{level}" if level > 1 else "")
        # For a function with callers, that program shows the sum over its callers, without outermost calls.
        if len(path) > 1:
            called[key] = called.get(key, 0) + total[i][TIME]
        else:
            outermost[key] = outermost.get(key, 0) + total[i][TIME]
    want = {**outermost, **called}
    got = sums((m[2], int(m[1].replace(",", "")))
               for m in re.finditer(r"^\s*([\d,]+) +(.*?) \[.*?\]$", done.stdout, re.MULTILINE))
    wrong = {n: v for n, v in want.items() if got.get(n) != v}
    expect(not wrong, f"{len(wrong)} functions differ, such as {list(wrong.items())[:2]}: {list(got.items())[:3]}")


def go(*words):
    env = dict(os.environ, HOME=os.getcwd(), PPROF_TMPDIR=os.getcwd())
    done = subprocess.run([program("go", "golang-go"), "tool", "pprof", *words], capture_output=True, text=True,
                          timeout=120, env=env)
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def pprof_by_go():
    trees = Tree("calls", 1), Tree("memory", 2, huge=True)
    trees[0].written("pprof", "t.pb.gz", trees[1])
    raw = go("-raw", "t.pb.gz")
    types = re.search(r"^Samples:\n(.*)$", raw, re.MULTILINE)[1]
    expect(types == "calls/count time/nanoseconds[dflt] bytes/bytes "
           "memory/calls/count memory/time/nanoseconds memory/bytes/bytes", types)
    samples, _, rest = raw.partition("Locations")
    places = {int(m[1]): m[2]
              for m in re.finditer(r"^ +(\d+): 0x0 (.*? s=\d+)(?:\(\))?$", rest, re.MULTILINE)}
    mappings = {m[2]: int(m[1]) for m in re.finditer(r"^(\d+): 0x0/0x0/0x0 (\S+) ", rest, re.MULTILINE)}

    def place(f):
        module = f"M={mappings[f['module']]} " if "module" in f else ""
        return f"{module}{written(f['name'])} {f.get('file', '')}:{f.get('line', 0)} s={f.get('start_line', 0)}"

    found = {}
    for m in re.finditer(r"^ +((?:-?\d+ +){5}-?\d+): ([\d ]+)$", samples, re.MULTILINE):
        path = tuple(places[int(i)] for i in reversed(m[2].split()))
        values = [int(v) for v in m[1].split()]
        found[path] = [a + b for a, b in zip(found.get(path, [0] * 6), values)]
    want = {}
    for at, t in enumerate(trees):
        for i, n in enumerate(t.nodes):
            if any(n[2:]):
                path = tuple(place(t.frames[f]) for f in t.path(i))
                values = [0] * 6
                values[3 * at:3 * at + 3] = n[2:]
                want[path] = [a + b for a, b in zip(want.get(path, [0] * 6), values)]
    missing = [p for p in want if found.get(p) != want[p]]
    expect(not missing, f"{len(missing)} of {len(want)} paths differ, such as {missing[:1]}: {list(found.items())[:2]}")


CASES = {
    "folded: every path with its own weight": folded,
    "speedscope: a profile for each weight of each tree": speedscope,
    "pstats: Python's own code sees every function and its callers": pstats_by_python,
    "callgrind: callgrind_annotate adds up to the same": callgrind_by_annotate,
    "pprof: go tool pprof sees every weight of every path": pprof_by_go,
}


def main():
    global PROGRAM
    options = arguments(__doc__)
    PROGRAM = options.program
    run(list(CASES.items()), options.prefixes)


if __name__ == "__main__":
    sys.exit(main())
