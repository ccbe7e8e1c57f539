#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of sampling at about 1 kHz: fixed work of a C program and a Python program, plain and under each installed
sampler, in rounds of random order. Ratios are within a round, of the program's own CPU time; printed below each are the
elapsed time, the samples per second of CPU time, and the share of samples in the function that does 70 % of the work.

  sample_cost.py DEEPCLOCK PROGRAM EVENT_ALONE [ROUNDS]

Peers: perf, py-spy, and gperftools' libprofiler.so.0 (also in $LD_LIBRARY_PATH).
"""

import glob
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import rows

LIMIT, RATE = 1.015, "997"
PEERS = {"perf": "apt-get install linux-perf", "py-spy": "pip install py-spy",
         "gperftools": "apt-get install libgoogle-perftools4"}
SCRIPT = """
import time
def heavy():
    s = 0
    for i in range(7000): s += i * i
def light():
    s = 0
    for i in range(3000): s += i * i
begin = time.perf_counter()
for _ in range(1000):
    heavy()
    light()
print("took", int(time.process_time() * 1e9), int((time.perf_counter() - begin) * 1e9))
"""


def of_record(_):
    with open("run.json", encoding="utf-8") as f:
        record = json.load(f)
    rows = {r[0]: r[1] for r in next(t for t in record["tables"] if t["name"] == "functions")["rows"]}
    both = rows.get("heavy", 0) + rows.get("light", 0)
    return sum(rows.values()), rows.get("heavy", 0) / both if both else None


def of_folded(_):
    found = {"heavy": 0, "light": 0, "": 0}
    with open("spy.txt", encoding="utf-8") as f:
        for stack, n in (line.rsplit(" ", 1) for line in f):
            for name in found:
                found[name] += int(n) * (name in stack)
    return found[""], found["heavy"] / max(1, found["heavy"] + found["light"])


def of_words(stderr):
    """Returns the number of samples that perf or gperftools prints."""
    found = re.search(r"\((\d+) samples\)|bytes = (\d+)/", stderr)
    return (int(found[1] or found[2]), None) if found else (None, None)


def runs(words, more):
    done = subprocess.run([*words, "true"], capture_output=True, check=False, env=dict(os.environ, **more))
    return done.returncode == 0


def ways_of(deepclock, python, event_alone):
    """Returns {name: (words before the program, more environment, reader of the samples)}."""
    ways = {"plain": ([], {}, None)}
    for by in ("in-process", "timer", "perf"):
        words = [deepclock, "sample", "--quiet", "--rate", RATE, "--source", by, "--save", "run.json", "--no-history", "--"]
        if runs(words, {}):
            ways[f"deepclock, {by}"] = (words, {}, of_record)
    if runs([event_alone, RATE], {}):
        ways["the kernel's event alone"] = ([event_alone, RATE], {}, None)
    if shutil.which("perf") and runs(["perf", "record", "-o", "p"], {}):
        for graph in ("fp", "dwarf"):
            ways[f"perf record, {graph}"] = (
                ["perf", "record", "-o", "p", "-e", "cpu-clock", "-F", RATE, "--call-graph", graph], {}, of_words)
    if python and shutil.which("py-spy"):
        ways["py-spy"] = (["py-spy", "record", "-r", RATE, "-f", "raw", "-o", "spy.txt", "--"], {}, of_folded)
    folders = [*filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(":")), *glob.glob("/usr/lib/*/")]
    for library in [p for f in folders for p in glob.glob(f + "/libprofiler.so.0")][:1]:
        if not python:
            ways["gperftools"] = ([], {"LD_PRELOAD": library, "CPUPROFILE": "gp", "CPUPROFILE_FREQUENCY": RATE}, of_words)
    return ways


def run(way, command):
    words, more, _ = way
    done = subprocess.run([*words, *command], capture_output=True, text=True, check=True, env=dict(os.environ, **more))
    line = next(l for l in done.stdout.splitlines() if l.startswith("took "))
    return [int(n) for n in line.split()[1:3]] + [done.stderr]


def compare(title, ways, command, rounds):
    ratios, rates, shares = ({name: [] for name in ways} for _ in range(3))
    names = list(ways)
    for _ in range(rounds):
        random.shuffle(names)
        took = {}
        for name in names:
            cpu, wall, stderr = took[name] = run(ways[name], command)
            read = ways[name][2]
            n, share = read(stderr) if read else (None, None)
            if n is not None:
                rates[name].append(n / (cpu / 1e9))
            if share is not None:
                shares[name].append(share)
        for name in names:
            ratios[name].append([took[name][i] / took["plain"][i] for i in (0, 1)])
    work = f"sampling a {title} program at 1 kHz"
    for name in ways:
        if name == "plain":
            continue
        peer = None if name == "deepclock, in-process" else name
        cpu, wall = ([r[i] for r in ratios[name]] for i in (0, 1))
        most = LIMIT if name.startswith("deepclock") else None
        if peer and most:  # another way of deepclock
            rows.put(f"{work}, {name.split()[1]}", cpu, "times plain, CPU", most=most)
        else:
            rows.put(work, cpu, "times plain, CPU", peer=peer, most=most)
        rate = f"{statistics.median(rates[name]):.0f}" if rates[name] else "?"
        share = f"{100 * statistics.mean(shares[name]):.1f} %" if shares[name] else "?"
        print(f"    {statistics.median(wall):.4f} times the time, {rate} samples a second of CPU time, {share} in the 70 %",
              flush=True)
    for name, bring in PEERS.items():
        if not any(name in way for way in ways) and (name == "py-spy") <= (title == "Python"):
            rows.absent(work, name, bring)


def main():
    deepclock, program, event_alone = (os.path.abspath(p) for p in sys.argv[1:4])
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else rows.rounds(21)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("script.py", "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        compare("C", ways_of(deepclock, False, event_alone), [program, "timed", "20" if rows.QUICK else "400"], rounds)
        compare("Python", ways_of(deepclock, True, event_alone), [sys.executable, "script.py"], rounds)
        os.chdir("/")
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
