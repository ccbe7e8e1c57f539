#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of memory profilers of Python: deepclock.memory, tracemalloc and memray, and deepclock.memory.lines and
memory_profiler, all in turns in one process.

  PYTHONPATH=build/python python_memory.py

Figures are CPU times over the plain ones of the same round. Limits: deepclock.memory with whole stacks at most the
overhead of tracemalloc with one frame on the program that allocates most; deepclock.memory.lines at most a fifth of
memory_profiler.
"""

import os
import sys
import tempfile
import time
import tracemalloc

import rows

import deepclock

ROUNDS = 21


def texts(n=60000):
    """Hardly anything but allocations."""
    kept = [str(i) * 3 for i in range(n)]
    return len(kept)


class Node:
    def __init__(self, depth):
        self.below = [Node(depth - 1) for _ in range(3)] if depth else []


def objects():
    """Objects of objects, made by functions that call themselves."""
    return Node(8)


def deep(n=60):
    """Allocations below sixty calls."""
    return deep(n - 1) if n else len([{i: [i]} for i in range(20000)])


def sums(n=300000):
    """Arithmetic: numbers that come and go."""
    total = 0
    for i in range(n):
        total += i * i
    return total


def plain(work):
    begin = time.process_time()
    work()
    return time.process_time() - begin


def ours(work):
    with deepclock.memory():
        return plain(work)


def traced(frames):
    def run(work):
        tracemalloc.start(frames)
        try:
            return plain(work)
        finally:
            tracemalloc.stop()
    return run


def by_memray(work):
    import memray

    with tempfile.TemporaryDirectory() as folder:
        with memray.Tracker(os.path.join(folder, "out"), trace_python_allocators=True):
            return plain(work)


def lined(python):
    def run(work):
        with deepclock.memory.lines(work, python=python):
            return plain(work)
    return run


def by_memory_profiler(work):
    import memory_profiler

    watched = memory_profiler.LineProfiler(backend="psutil")(work)
    return plain(watched)


HEAP = {"deepclock.memory, whole stacks": ours, "tracemalloc, 1 frame": traced(1),
        "tracemalloc, 100 frames": traced(100), "memray, Python's allocators": by_memray}
LINES = {"deepclock.memory.lines": lined(True), "deepclock.memory.lines, resident set alone": lined(False),
         "memory_profiler": by_memory_profiler}


def lines_of_one(n=2000):
    """Lines that do little."""
    total = 0
    for i in range(n):
        a = i + 1
        total += a
    return total


def compare(work, methods, rounds):
    """Puts a row for each method; returns their ratios by round."""
    ratios, missing = {}, {}
    for i in range(rounds):
        base = min(plain(work) for _ in range(3))
        for name in (list(methods), list(reversed(list(methods))))[i % 2]:
            if name in missing:
                continue
            try:
                ratios.setdefault(name, []).append(methods[name](work) / base)
            except ImportError as error:
                missing[name] = f"pip install {error.name}"
    ours, *_ = methods
    title = f"{ours}: {work.__doc__.strip().rstrip('.').lower()}"
    for name in methods:
        peer = None if name == ours else name
        if name in missing:
            rows.absent(title, name, missing[name])
        else:
            rows.put(title, ratios[name], "times plain, CPU", peer=peer)
    return ratios


def beside(ratios, a, b, most):
    """Puts the row of a's overhead over b's, by round, if b is installed."""
    if b in ratios:
        rows.put(f"{a} beside {b}", [x / y for x, y in zip(ratios[a], ratios[b])], "times its time", most=most)


def main():
    n = rows.rounds(ROUNDS)
    for work in (texts, objects, deep, sums):
        ratios = compare(work, HEAP, n)
        if work is texts:
            beside(ratios, *list(HEAP)[:2], 1)
    beside(compare(lines_of_one, LINES, n), "deepclock.memory.lines", "memory_profiler", 0.2)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
