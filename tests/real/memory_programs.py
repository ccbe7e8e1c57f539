#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepclock memory on real programs: its totals equal to the byte those of a library that is preloaded after it and
counts the same calls independently (heap_witness.c), and those of Valgrind and heaptrack, which run the program again.

  memory_programs.py --program build/deepclock --witness FILE.so [CASE...]
"""

import glob
import json
import os
import re
import shutil
import struct
import subprocess
import sys

import common as c

CPP = r"""
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>
template <typename T> struct Shelf {
    std::map<int, std::vector<T>> rows;
    __attribute__((noinline)) void fill(int n) {
        for (int i = 0; i < n; i++)
            rows[i % 50].push_back(T(1 + i % 100, 'x'));
    }
};
namespace leaking { __attribute__((noinline)) char *lose(int n) { char *p = new char[n]; p[0] = 1; return p; } }
char *volatile lost;
int main() {
    std::vector<std::thread> all;
    for (int t = 0; t < 4; t++)
        all.emplace_back([t] {
            Shelf<std::string> shelf;
            for (int i = 0; i < 5; i++)
                shelf.fill(2000);
            lost = leaking::lose(1000 + t);
        });
    for (auto &t : all)
        t.join();
}
"""
PYTHON = """
import json, sqlite3, zlib
db = sqlite3.connect(":memory:")
db.execute("create table t(a, b)")
for i in range(2000):
    db.execute("insert into t values(?, ?)", (i, "x" * i))
text = json.dumps(db.execute("select a, b from t").fetchall())
zlib.compress(text.encode())
rows = bytearray(50_000_000)
rows = None
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")))
"""
# Blocks allocated at the ends of many kinds of calls; and the stack of each, from Python itself.
STACKS = """
import json, random, sys, threading
random.seed(int(sys.argv[1]))
told, size = [], [100_000]
def note(n):
    f, chain = sys._getframe(1), []
    while f:
        chain.append((getattr(f.f_code, "co_qualname", f.f_code.co_name), f.f_lineno))
        f = f.f_back
    told.append([n + 1, chain[::-1]])
def leaf():
    size[0] += 1
    b = bytearray(size[0]); note(size[0])
def plain(d):
    go(d)
    go(d)
def generator(d):
    go(d)
    yield 1
    go(d)
def from_generator(d):
    for _ in generator(d):
        leaf()
class Shape:
    def method(self, d):
        go(d)
    def __lt__(self, other):
        go(self.d)
        return True
def callback(d):
    shapes = [Shape(), Shape()]
    shapes[0].d = shapes[1].d = d
    sorted(shapes)
def mapped(d):
    list(map(lambda x: go(x), [d, d]))
def made(d):
    exec(compile("\\n" * (size[0] % 7) + "def run():\\n go(d)\\nrun()", "made", "exec"), {"go": go, "d": d})
def go(d):
    if d < 5:
        random.choice([plain, from_generator, Shape().method, callback, mapped, made])(d + 1)
    leaf()
def threaded():
    go(3)
for _ in range(10):
    go(0)
for _ in range(5):
    t = threading.Thread(target=threaded)
    t.start()
    t.join()
print(json.dumps(told))
"""
# Blocks of NumPy: held by a global of the script, freed before its end, and from a function of NumPy in Python.
NUMPY = """
import numpy as np
KEPT = []
def keep():
    for _ in range(5):
        KEPT.append(np.ones(500_000))
def peak():
    a = np.zeros(10_000_000)
    b = np.full(5_000_000, 1.0)
    return a.sum() + b.sum()
keep()
peak()
"""
TORCH = """
import torch
KEPT = []
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(1000, 2000)
    def forward(self, x):
        return torch.relu(
            self.a(x))
net = Net()
for _ in range(3):
    KEPT.append(net(torch.ones(1000, 1000)).detach())
"""
args = c.arguments(__doc__, ("--witness", {"required": True}))
args.witness = os.path.abspath(args.witness)


def need(program):
    if not shutil.which(program):
        raise c.Skipped(f"{program} is not installed")


def memory(*command, witness=True):
    """Returns the record, its metrics, the program's output, and the witness's counters of the same calls (or None)."""
    environment = dict(os.environ)
    if witness:
        environment.update(WITNESS=os.getcwd(), LD_PRELOAD=args.witness)
    with subprocess.Popen([args.program, "memory", "--quiet", "--save", "run.json", "--", *command], env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        out, err = process.communicate()
    c.expect(process.returncode == 0, err.decode())
    with open("run.json", encoding="utf-8") as file:
        record = json.load(file)
    metrics = {m["tag"].removeprefix("memory/"): m.get("value") for m in record["metrics"]}
    if metrics["heap_peak"] is None:
        raise c.Skipped(next(m["absent"] for m in record["metrics"] if m["tag"] == "memory/heap_peak"))
    # deepclock itself has one too.
    seen = [name for name in glob.glob("*.witness") if name != f"{process.pid}.witness"]
    c.expect(len(seen) == witness, seen)
    for name in seen:
        with open(name, "rb") as file:
            seen = dict(zip(("allocations", "bytes", "frees", "live", "peak"), struct.unpack("5q", file.read())))
    return record, metrics, out.decode(errors="replace"), seen or None


def rows_of(record, name):
    table = next(t for t in record["tables"] if t["name"] == name)
    keys = [column["key"] for column in table["columns"]]
    return [dict(zip(keys, row)) for row in table["rows"]]


def agree(record, metrics, seen):
    threads = c.fact(record, "memory", "threads")
    c.expect((metrics["allocations"], metrics["allocated"]) == (seen["allocations"], seen["bytes"]), (metrics, seen))
    c.expect(metrics["heap_leaked"] + metrics["heap_runtime"] == seen["live"], (metrics, seen))
    # Each of several threads may batch a part of the peak before it updates the total, and the order of simultaneous
    # allocations differs between the two.
    most = threads * (seen["peak"] >> 12) + 32768 if threads > 1 else 0
    c.expect(abs(metrics["heap_peak"] - seen["peak"]) <= most, (metrics["heap_peak"], seen["peak"], threads))
    c.expect(c.fact(record, "memory", "unseen") == 0, "allocations inside of a hook")
    # Each byte has a path: the tables add up to the whole.
    for column, tag in (("allocations", "allocations"), ("bytes", "allocated"), ("leaked", "heap_leaked")):
        c.expect(sum(row[column] for row in rows_of(record, "memory/lines")) == metrics[tag], column)


def share(record, column, module):
    rows = rows_of(record, "memory/functions")
    return sum(row[column] for row in rows if str(row.get("module", "")).startswith(module)) / sum(
        row[column] for row in rows)


def data():
    with open("data", "wb") as file:
        for i in range(5000):
            file.write(b"%d squared is %d\n" % (i, i * i))
    return "data"


def xz():
    need("xz")
    record, metrics, _, seen = memory("xz", "-6", "-T1", "-k", "-c", data())
    agree(record, metrics, seen)
    c.expect(share(record, "bytes", "liblzma") > 0.9, rows_of(record, "memory/functions"))


def openssl():
    need("openssl")
    record, metrics, _, seen = memory("openssl", "dgst", "-sha256", data())
    agree(record, metrics, seen)
    c.expect(share(record, "allocations", "libcrypto") > 0.7, rows_of(record, "memory/functions")[:4])


def python():
    record, metrics, out, seen = memory(sys.executable, "-S", "-c", PYTHON)
    agree(record, metrics, seen)
    c.expect(metrics["heap_peak"] > 50_000_000, metrics)
    c.expect(share(record, "allocations", "libsqlite3") > 0.1, rows_of(record, "memory/functions")[:4])
    highest = 1024 * int(re.search(r"VmHWM:\s*(\d+) kB", out).group(1))
    c.expect(highest <= metrics["peak_rss"] < 1.2 * highest, (highest, metrics["peak_rss"]))


def python_stacks():
    """The Python frames of each block equal those that Python itself reports."""
    record, metrics, out, _ = memory(sys.executable, "-S", "-c", STACKS, "1", witness=False)
    tree = next(t for t in record["trees"] if t["name"] == "allocations")
    size = 2 + next(i for i, column in enumerate(tree["columns"]) if column["key"] == "bytes")
    found = {}
    for node in tree["nodes"]:
        chain, at = [], node
        while True:
            frame = tree["frames"][at[1]]
            if frame.get("file") and not frame.get("module"):  # a Python frame
                chain.append([frame["name"], frame["line"]])
            if at[0] < 0:
                break
            at = tree["nodes"][at[0]]
        key = json.dumps(chain[::-1])
        found[key] = found.get(key, 0) + node[size]
    told = {}
    for size, chain in json.loads(out.split("\n", 1)[0]):  # deepclock's answer follows
        key = json.dumps(chain)
        told[key] = told.get(key, 0) + size
    c.expect(len(told) > 200, len(told))
    for key, size in told.items():
        c.expect(found.get(key) == size, (key, size, found.get(key)))


# Bytes of each line of the script at the peak, and those not freed at the end of the script.
MEMRAY = """
import collections, json, os
import memray
reader = memray.FileReader("memray.bin")
told = []
for records in (reader.get_high_watermark_allocation_records(), reader.get_leaked_allocation_records()):
    lines = collections.Counter()
    for r in records:
        if r.size > 100_000:  # pools of Python's small objects are beside the point
            line = next((line for _, file, line in r.stack_trace() if os.path.basename(file) == "script.py"), 0)
            lines[line] += r.size
    told.append(lines)
print(json.dumps(told))
"""


def memray_lines(environment):
    """Returns memray's bytes by line, (at the peak, held at the end), or None if memray is not installed."""
    environment = dict(environment)
    environment["PYTHONPATH"] = f"{os.path.dirname(args.program)}/memray:{environment.get('PYTHONPATH', '')}"
    if subprocess.run([sys.executable, "-c", "import memray"], env=environment, capture_output=True, check=False).returncode:
        return None
    subprocess.run([sys.executable, "-m", "memray", "run", "-q", "-f", "-o", "memray.bin", "script.py"], env=environment,
                   capture_output=True, check=True)
    out = subprocess.run([sys.executable, "-c", MEMRAY], env=environment, capture_output=True, check=True, text=True).stdout
    return [{int(line): size for line, size in told.items()} for told in json.loads(out)]


def python_lines(text, **variables):
    """Runs a script; returns the bytes of its lines at the peak and at the end, and checks that the answer names the
    first."""
    with open("script.py", "w", encoding="utf-8") as file:
        file.write(text)
    environment = dict(os.environ, **variables)
    if subprocess.run([sys.executable, "-c", text.split("\n")[1]], env=environment, capture_output=True,
                      check=False).returncode:
        raise c.Skipped(f"'{text.split(chr(10))[1]}' does not work here")
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        record, _, _, _ = memory(sys.executable, "script.py", witness=False)
    finally:
        os.environ.clear()
        os.environ.update(before)
    rows = [row for row in rows_of(record, "memory/lines") if str(row.get("file")).endswith("script.py")]
    first = rows_of(record, "memory/lines")[0]
    c.expect(f"of it by {first['name']}" in c.fact(record, "result", "answer"), c.fact(record, "result", "answer"))
    peer = memray_lines(environment)
    found = {row["line"]: row["peak"] for row in rows}, {row["line"]: row["held"] for row in rows}
    for of, told in zip(found, peer or ()):
        for line, size in told.items():
            if size > 2_000_000 and line > 2:  # the import's bytes include small blocks
                c.expect(abs(of.get(line, 0) - size) < 0.01 * size + 4096, (line, size, found, peer))
    return found


def numpy():
    """NumPy's blocks are charged to the user's lines: five arrays of 4 MB held, 80 MB by zeros(), 40 by full()."""
    peak, held = python_lines(NUMPY)
    for line, at_peak, at_end in ((6, 20e6, 20e6), (8, 80e6, 0), (9, 40e6, 0)):
        c.expect(abs(peak[line] - at_peak) < 0.01 * at_peak + 4096, (line, peak))
        c.expect(abs(held[line] - at_end) < 0.01 * at_end + 4096, (line, held))


def torch():
    """The same for PyTorch, below three functions of its modules: relu's result is held, the linear layer's freed."""
    folder = os.path.join(os.path.dirname(args.program), "torch2")
    peak, held = python_lines(TORCH, PYTHONPATH=folder) if os.path.isdir(folder) else python_lines(TORCH)
    c.expect(abs(held[9] - 3 * 8e6) < 0.01 * 24e6, held)
    c.expect(abs(held[7] - 8e6) < 0.01 * 8e6, held)  # weights
    c.expect(peak[10] >= 8e6 and held[10] < peak[10] - 7.9e6, (peak, held))


def cpp():
    need("g++")
    with open("shelf.cpp", "w", encoding="utf-8") as file:
        file.write(CPP)
    subprocess.run(["g++", "-O2", "-g", "-pthread", "shelf.cpp", "-o", "shelf"], check=True)
    record, metrics, _, seen = memory("./shelf")
    agree(record, metrics, seen)
    lines = {row["name"]: row["leaked"] for row in rows_of(record, "memory/lines") if row["leaked"]}
    c.expect(list(lines.values()) == [4 * 1000 + 6] and "lose" in list(lines)[0], lines)
    fill = [row for row in rows_of(record, "memory/functions") if "Shelf<" in row["name"] and "fill" in row["name"]]
    c.expect(len(fill) == 1 and fill[0]["allocations"] > 4 * 9000 * 0.8, fill)


def engine():
    c.need_engine(args.program)
    record, metrics, _, seen = memory(args.program, "bench", "zoo:squeezenet1_1", "--runs", "3", "--warmup", "1",
                                "--no-progress", "--no-history")
    agree(record, metrics, seen)
    c.expect(share(record, "bytes", "libonnxruntime") > 0.5, rows_of(record, "memory/functions")[:4])


def valgrind():
    need("valgrind")
    need("xz")
    command = ["xz", "-0", "-T1", "-k", "-c", data()]
    done = subprocess.run(["valgrind", "--run-libc-freeres=no", *command], capture_output=True, check=True)
    told = done.stderr.decode().replace(",", "")
    _, metrics, _, _ = memory(*command, witness=False)
    allocations, freed, size = map(int, re.search(r"usage: (\d+) allocs (\d+) frees (\d+) bytes", told).groups())
    at_exit = int(re.search(r"in use at exit: (\d+) bytes", told).group(1))
    c.expect((metrics["allocations"], metrics["allocated"]) == (allocations, size), (metrics, told))
    c.expect(metrics["heap_leaked"] + metrics["heap_runtime"] == at_exit and freed < allocations, (metrics, at_exit))


def heaptrack():
    """heaptrack also counts a few of its allocations, and prints four digits."""
    need("heaptrack")
    need("xz")
    command = ["xz", "-6", "-T1", "-k", "-c", data()]
    subprocess.run(["heaptrack", "-o", "trace", *command], check=True, capture_output=True)
    told = subprocess.run(["heaptrack_print", *glob.glob("trace*")], check=True, capture_output=True, text=True).stdout
    _, metrics, _, _ = memory(*command, witness=False)
    calls = int(re.search(r"calls to allocation functions: (\d+)", told).group(1))
    peak = float(re.search(r"peak heap memory consumption: ([\d.]+)M", told).group(1)) * 1e6
    c.expect(0 <= calls - metrics["allocations"] <= 10, (calls, metrics["allocations"]))
    c.expect(abs(peak - metrics["heap_peak"]) < 0.005 * peak, (peak, metrics["heap_peak"]))


c.run([("xz", xz), ("openssl", openssl), ("python", python), ("python_stacks", python_stacks),
       ("numpy", numpy), ("torch", torch), ("cpp", cpp), ("engine", engine),
       ("valgrind", valgrind), ("heaptrack", heaptrack)], args.prefixes)
