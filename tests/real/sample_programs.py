#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""deepclock sample on programs of the distribution and of compilers: which code has the time, by symbol
name, or by address if there are no symbols.

  sample_programs.py --program build/deepclock [CASE...]
"""

import json
import os
import re
import shutil
import subprocess

import common as c

# Rounds of random length, 0 to 2 times a mean of about a millisecond: with rounds of constant length, samples of
# nearly the same period would alias, and the shares would be biased.
CHANCE = """
#include <cstdint>
struct Chance {
    uint32_t state = 1;
    long thousandths() {
        state = state * 1664525 + 1013904223;
        return (state >> 16) % 2000;
    }
};
"""

CPP = CHANCE + r"""
#include <thread>
#include <vector>
volatile uint64_t sink;
template <typename T, int N> struct Mixer {
    __attribute__((noinline)) void turn(long steps) {
        T x = N;
        for (long i = 0; i < steps; i++)
            x = x * 6364136223846793005ULL + N;
        sink = x;
    }
};
namespace outer { namespace {
__attribute__((noinline)) void seventy(long n) { Mixer<uint64_t, 7>().turn(7 * n); sink = sink + 1; }
__attribute__((noinline)) void thirty(long n) { Mixer<uint64_t, 3>().turn(3 * n); sink = sink + 1; }
} }
int main() {
    std::vector<std::thread> all;
    for (int t = 0; t < 3; t++)
        all.emplace_back([] {
            Chance chance;
            for (int i = 0; i < 200; i++) {
                const long n = 100 * chance.thousandths();
                outer::seventy(n);
                outer::thirty(n);
            }
        });
    for (auto &t : all)
        t.join();
}
"""

args = c.arguments(__doc__)


def sources():
    """Returns the usable sampling sources."""
    found = []
    for by in ("perf", "timer"):
        done = subprocess.run([args.program, "sample", "--quiet", "--source", by, "--", "true"], capture_output=True,
                              check=False)
        if done.returncode == 0:
            found.append(by)
    if not found:
        raise c.Skipped("neither perf_event nor a timer can be used here")
    return found


def sample(by, *command, more=()):
    subprocess.run([args.program, "sample", "--quiet", "--source", by, "--save", "run.json", *more, "--", *command],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open("run.json", encoding="utf-8") as file:
        record = json.load(file)
    table = next(t for t in record["tables"] if t["name"] == "functions")
    keys = [column["key"] for column in table["columns"]]
    return record, [dict(zip(keys, row)) for row in table["rows"]]


def share_of(rows, wanted):
    """Returns the wanted rows' share of the time in user mode: page faults cost what the machine's other guests leave."""
    own = [row for row in rows if row["name"] != "[kernel]"]
    return sum(row["self"] for row in own if wanted(row)) / sum(row["self"] for row in own)


def in_module(name):
    return lambda row: str(row.get("module", "")).startswith(name)


def need(program):
    if not shutil.which(program):
        raise c.Skipped(f"{program} is not installed")


def xz():
    need("xz")
    with open("data", "wb") as file:
        for i in range(60000):
            file.write(b"%d squared is %d\n" % (i, i * i))
    for by in sources():
        record, rows = sample(by, "xz", "-6", "-k", "-c", "data")
        c.expect(share_of(rows, in_module("liblzma")) > 0.7, f"{by}: {rows[:8]}")
        # Functions are distinguished, with or without names. The C runtime's start-up code in .text has neither
        # symbols nor unwind tables: at most some samples, at the page faults of its first run.
        names = {row["name"] for row in rows if in_module("liblzma")(row) and row["self"] > 0}
        c.expect(len(names) > 2, f"{by}: {names}")
        unknown = share_of(rows, lambda row: row["name"] == "[unknown]")
        c.expect(unknown < 0.05, f"{by}: {unknown} of the time in unknown functions")
        c.expect(c.fact(record, "sample", "stacks_failed") < 0.1 * c.fact(record, "sample", "samples") + 5, by)


CLASSES = CHANCE + r"""
volatile uint64_t sink;
volatile int which = 1;
volatile long size;
#define WORK(n) do { uint64_t x = 1; for (long i = 0; i < (n); i++) x = x * 6364136223846793005ULL + 1; sink = x; } while (0)
namespace shapes {
struct Shape {
    virtual void zero() = 0;
    virtual void turn() = 0;
    virtual void draw() { WORK(300 * size); }
};
template <typename T> struct Round : Shape {
    void zero() override { sink = sizeof(T); }
    void turn() override { WORK(700 * size); }
};
struct Square : Round<double> { void zero() override { sink = 7; } };
struct Other : Shape { void zero() override { sink = 8; } void turn() override { sink = 9; } };
struct Fourth : Other { void zero() override { sink = 11; } };
struct Third : Other { void draw() override { sink = 10; } };
}
int main() {
    shapes::Square square; shapes::Third other; shapes::Round<double> round; shapes::Fourth fourth;
    shapes::Shape *all[] = {&other, &square, &round, &fourth};
    Chance chance;
    for (int i = 0; i < 600; i++) { size = chance.thousandths(); all[which]->turn(); all[which]->draw(); all[which]->zero(); all[0]->zero(); all[which - 1]->draw(); }
}
"""


def openssl():
    need("openssl")
    for by in sources():
        _, rows = sample(by, "openssl", "speed", "-seconds", "1", "-bytes", "8192", "sha256")
        c.expect(share_of(rows, in_module("libcrypto")) > 0.7, f"{by}: {rows[:3]}")


def cpp(strip=False):
    need("g++")
    with open("mix.cpp", "w", encoding="utf-8") as file:
        file.write(CPP)
    subprocess.run(["g++", "-O2", "-g", "-pthread", "mix.cpp", "-o", "mix"], check=True)
    if strip:
        subprocess.run(["strip", "mix"], check=True)
    for by in sources():
        record, rows = sample(by, "./mix")
        if strip:
            c.expect(share_of(rows, lambda row: row["name"].startswith("mix+0x")) > 0.8, f"{by}: {rows[:4]}")
            continue
        # GCC gives functions of an anonymous namespace no linkage name: their scopes are read from DWARF.
        total = {row["name"].removeprefix("outer::(anonymous namespace)::"): row["total"] for row in rows}
        whole = total["seventy"] + total["thirty"]
        n = c.fact(record, "sample", "samples")
        c.expect(abs(total["seventy"] / whole - 0.7) < 5 * (0.21 / n) ** 0.5, f"{by}: {total} of {n}")
        c.expect("main::{lambda}::operator()" in total, f"{by}: {sorted(total)}")
        mixers = [row["name"] for row in rows if "Mixer<" in row["name"] and "turn" in row["name"]]
        c.expect(len(mixers) >= 2, f"{by}: templates by name: {[row['name'] for row in rows]}")
        c.expect(c.fact(record, "sample", "threads") >= 3, by)


def engine():
    """Assembly kernels have no unwind tables, the library no symbols; the operators' classes have names (RTTI)."""
    c.need_engine(args.program)
    for by in sources():
        record, rows = sample(by, args.program, "bench", "zoo:resnet18", "--runs", "20", "--threads", "1", "--no-progress",
                              "--no-history")
        c.expect(share_of(rows, in_module("libonnxruntime")) > 0.5, f"{by}: {rows[:4]}")
        conv = sum(row["total"] for row in rows if re.match(r"onnxruntime::[\w:]*Conv\w*(<float>)?::\(virtual", row["name"]))
        print(f"# {by}: {conv / c.fact(record, 'sample', 'time'):.2f} of the time below the classes of convolutions")
        c.expect(conv > 0.5 * sum(row["self"] for row in rows if in_module("libonnxruntime")(row)), f"{by}: {rows[:8]}")


def classes():
    """Virtual functions of a stripped program are named by their class."""
    need("g++")
    with open("classes.cpp", "w", encoding="utf-8") as file:
        file.write(CLASSES)
    subprocess.run(["g++", "-O2", "-fPIE", "-pie", "-s", "classes.cpp", "-o", "classes"], check=True)
    for by in sources():
        record, rows = sample(by, "./classes")
        total = {row["name"]: row["total"] for row in rows}
        n, own, inherited = c.fact(record, "sample", "samples"), "shapes::Round<double>::(virtual 1)", "shapes::Shape::(virtual 2)"
        c.expect(own in total and inherited in total, f"{by}: {sorted(total)}")
        share = total[own] / (total[own] + total[inherited])
        c.expect(abs(share - 0.7) < 5 * (0.21 / n) ** 0.5, f"{by}: {share} of {n}")


def go():
    need("go")
    with open("main.go", "w", encoding="utf-8") as file:
        file.write("""package main

var sink uint64

//go:noinline
func heavy(n int) { x := uint64(1); for i := 0; i < n; i++ { x = x*6364136223846793005 + 1 }; sink = x }

func main() { for i := 0; i < 200; i++ { heavy(2000000) } }
""")
    environment = dict(os.environ, GOCACHE=os.path.abspath("cache"), GOFLAGS="-mod=mod", GO111MODULE="off")
    subprocess.run(["go", "build", "-o", "main", "main.go"], check=True, env=environment)
    if "perf" not in sources():
        raise c.Skipped("perf_event cannot be used here, and nothing is put into a static program")
    # Another linker than Go's puts the table of functions among other data, where strip leaves it.
    outside = ["go", "build", "-buildmode=pie", "-ldflags=-linkmode=external", "-o", "outside", "main.go"]
    if subprocess.run(outside, check=False, env=environment, stderr=subprocess.DEVNULL).returncode == 0:
        subprocess.run(["strip", "outside"], check=True)
    for program in [name for name in ("main", "outside") if os.path.exists(name)]:
        _, rows = sample("perf", f"./{program}")
        c.expect(share_of(rows, lambda row: row["name"] == "main.heavy") > 0.8, f"{program}: {rows[:4]}")
        c.expect(max(row["total"] for row in rows if row["name"] == "main.main") > 0.8 * sum(row["self"] for row in rows),
                 f"{program}: {rows[:4]}")


c.run([("xz", xz), ("openssl", openssl), ("cpp", cpp), ("cpp_stripped", lambda: cpp(strip=True)),
       ("engine", engine), ("classes", classes), ("go", go)], args.prefixes)
