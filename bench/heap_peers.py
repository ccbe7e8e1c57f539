#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of 'deepclock memory' on programs that mostly allocate, compared with heaptrack, memray and the
program alone.

  heap_peers.py BUILD [ALLOCATIONS [ROUNDS]]

Three programs: lists of blocks that are written to, ten calls deep; a loop of malloc() and free() only; a Python
program with blocks of a kilobyte, twenty calls deep. All profilers of a program run in turns. Ratios are within a
round: CPU time of the program and its profiler over that of the program alone, both less a run that allocates once, since
starting a profiler and its report take up to a tenth of a second, which is a separate row; and peak resident memory.
'deepclock memory --sample 512KiB' is measured with ten times the work.
memray (--native: with C stacks) is for Python only; it is also searched in BUILD/memray (pip install --target).
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile

import rows

OURS = "deepclock memory"
SAMPLE = ["--sample", "512KiB"]
N = "N"
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


def compare(work, command, ways, n, most):
    """Puts the rows of a program without what a run costs that allocates once: its number is 1, and a row has that cost.
    ways: {name: (command in front, environment)}, or the command that installs the peer."""
    present = {name: way for name, way in ways.items() if not isinstance(way, str)}
    nothing = ["1" if word.isdigit() else word for word in command]
    ratios, memory, fixed = ({name: [] for name in present} for _ in range(3))
    for _ in range(n):
        (own, own_peak), (own_none, _) = measured(command), measured(nothing)
        for name, (front, environment) in present.items():
            first = 1 if front[0] == command[0] else 0  # a module of the interpreter runs the script
            took, peak = measured([*front, *command[first:]], environment)
            took_none, _ = measured([*front, *nothing[first:]], environment)
            ratios[name].append((took - took_none) / (own - own_none))
            memory[name].append(peak / own_peak)
            fixed[name].append(took_none - own_none)
    for name, way in ways.items():
        peer = None if name == OURS else name
        if isinstance(way, str):
            rows.absent(work, name, way)
            continue
        rows.put(work, ratios[name], "times the program alone, CPU", peer=peer, most=None if peer else most)
        rows.put(work + ", memory", memory[name], "times the program alone, resident", peer=peer)
        rows.put(work + ", start and report", fixed[name], "s of CPU", peer=peer)


def main():
    build = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else rows.QUICK and 100_000 or 5_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else rows.rounds(21)
    with tempfile.TemporaryDirectory() as folder:
        ours = [os.path.join(build, "deepclock"), "memory", "--quiet"]
        peers = {"heaptrack": (["heaptrack", "-o", os.path.join(folder, "trace")], None)
                              if shutil.which("heaptrack") else "apt-get install heaptrack"}
        of_python = {"memray --native": ([sys.executable, "-m", "memray", "run", "--native", "-f", "-o",
                                          os.path.join(folder, "memray.bin")], memray(build))
                                        if memray(build) else "pip install memray"}
        program = os.path.join(build, "bench", "bench_heap_work")
        script = os.path.join(folder, "blocks.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        recorded([*ours, "--", program, "1000"], folder)
        for work, command, share, most, most_sampled in (
                ("lists of allocated blocks", [program, N], 1, 1.5, 1.1),
                ("malloc and free in a loop", [program, N, "loop"], 1, 2.5, 1.3),
                ("allocations in Python", [sys.executable, script, N], 4, 2.5, 1.1)):
            def times(factor, words=command, share=share):
                return [str(factor * n // share) if word is N else word for word in words]

            python = command[0] == sys.executable
            compare(work, times(1), {OURS: ([*ours, "--"], None), **peers, **(of_python if python else {})}, rounds, most)
            compare(f"{work}, {' '.join(SAMPLE)}", times(10), {OURS: ([*ours, *SAMPLE, "--"], None)}, rounds, most_sampled)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
