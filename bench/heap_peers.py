#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of 'deepclock memory' on programs that mostly allocate, compared with heaptrack, memray and the
program alone.

  heap_peers.py BUILD [ALLOCATIONS [ROUNDS]]

Three programs: lists of blocks that are written to, ten calls deep; a loop of malloc() and free() only; a Python
program with blocks of a kilobyte, twenty calls deep. All profilers of a program run in turns. Ratios are within a
round: CPU time of the program and its profiler over that of the program alone (median, minimum to maximum), and
resident memory likewise. Exits with 1 if deepclock makes the lists more than 3 times slower. A profiler that is not
installed is left out, and named. memray (--native: with C stacks) is for Python only; it is also searched in
BUILD/memray (pip install --target).
"""
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

LIMIT = 3.0
SCRIPT = """
import sys
def make(n):
    return bytearray(n)
def deep(d, times):
    if d:
        return deep(d - 1, times)
    for _ in range(times):
        make(1000)
deep(20, int(sys.argv[1]))
"""


def measured(command, environment=None):
    """Returns CPU seconds and peak resident bytes of a command and its children."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"heap_peers: {' '.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def recorded(command, folder):
    """Checks that the profiler records the program's allocations."""
    path = os.path.join(folder, "run.json")
    subprocess.run([*command[:3], "--save", path, *command[3:]], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    with open(path, encoding="utf-8") as file:
        metrics = {m["tag"]: m for m in json.load(file)["metrics"]}
    if "value" not in metrics["memory/allocations"]:
        sys.exit(f"heap_peers: {metrics['memory/allocations']['absent']}")


def memray(build):
    """Returns the environment to run memray in; None: not installed."""
    environment = dict(os.environ, PYTHONPATH=os.path.join(build, "memray"))
    found = subprocess.run([sys.executable, "-m", "memray", "--version"], env=environment, capture_output=True, check=False)
    return environment if found.returncode == 0 else None


def compare(title, work, ways, rounds):
    ratios = {name: [] for name in ways}
    memory = dict.fromkeys(ways, 0)
    for _ in range(rounds):
        alone, own = measured(work)
        for name, (command, environment) in ways.items():
            took, peak = measured(command, environment)
            ratios[name].append(took / alone)
            memory[name] = max(memory[name], peak)
    print(f"{title}, {rounds} rounds; alone {alone:.2f} s, {own / 2**20:.1f} MiB resident")
    for name, found in ratios.items():
        print(f"  {name:18} {statistics.median(found):6.2f} times the CPU time ({min(found):.2f} to {max(found):.2f}), "
              f"{memory[name] / 2**20:.1f} MiB resident at most")
    return statistics.median(ratios["deepclock memory"])


def main():
    build = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 5
    with tempfile.TemporaryDirectory() as folder:
        def ways(work, script=None):
            all_of_it = {"deepclock memory": ([os.path.join(build, "deepclock"), "memory", "--quiet", "--", *work], None)}
            if shutil.which("heaptrack"):
                all_of_it["heaptrack"] = (["heaptrack", "-o", os.path.join(folder, "trace"), *work], None)
            else:
                print("heaptrack is not installed (apt: heaptrack)")
            if script and memray(build):
                all_of_it["memray --native"] = ([sys.executable, "-m", "memray", "run", "--native", "-f", "-o",
                                                 os.path.join(folder, "memray.bin"), *script], memray(build))
            elif script:
                print("memray is not installed (pip: memray)")
            return all_of_it

        program = os.path.join(build, "bench", "bench_heap_work")
        lists = [program, str(n)]
        script = [os.path.join(folder, "blocks.py"), str(n // 20)]
        with open(script[0], "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        recorded([os.path.join(build, "deepclock"), "memory", "--quiet", "--", program, "1000"], folder)
        ratio = compare(f"{n:,} blocks in lists", lists, ways(lists), rounds)
        loop = [program, str(n), "loop"]
        compare(f"{n:,} times malloc() and free()", loop, ways(loop), rounds)
        python = [sys.executable, *script]
        compare(f"Python, {n // 20:,} blocks", python, ways(python, script), rounds)
    return ratio > LIMIT


if __name__ == "__main__":
    sys.exit(main())
