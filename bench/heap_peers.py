#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of 'deepclock memory' on programs that mostly allocate, compared with heaptrack, memray and the
program alone.

  heap_peers.py BUILD [ALLOCATIONS [ROUNDS]]

Three programs: lists of blocks that are written to, ten calls deep; a loop of malloc() and free() only; a Python
program with blocks of a kilobyte, twenty calls deep. All profilers of a program run in turns. Ratios are within a
round: CPU time of the program and its profiler over that of the program alone, and resident memory likewise.
'deepclock memory --sample 512KiB' is measured with ten times the work, less a run without work: starting it and its report take a
tenth of a second, which is a separate row.
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
    """Puts the rows of a program; ways: {name: (command, environment)}, or the command that installs the peer."""
    present = {name: way for name, way in ways.items() if not isinstance(way, str)}
    ratios, memory = ({name: [] for name in present} for _ in range(2))
    for _ in range(n):
        alone, own = measured(command)
        for name, way in present.items():
            took, peak = measured(*way)
            ratios[name].append(took / alone)
            memory[name].append(peak / own)
    for name, way in ways.items():
        peer = None if name == OURS else name
        if isinstance(way, str):
            rows.absent(work, name, way)
            continue
        rows.put(work, ratios[name], "times the program alone, CPU", peer=peer, most=None if peer else most)
        rows.put(work + ", memory", memory[name], "times the program alone, resident", peer=peer)


def compare_sampled(build, work, command, n, most):
    """The same for sampled allocations, without what a run costs that allocates once: its number is 1."""
    watched = [os.path.join(build, "deepclock"), "memory", "--quiet", *SAMPLE, "--"]
    nothing = ["1" if word.isdigit() else word for word in command]
    ratios, fixed = [], []
    for _ in range(n):
        (own, _), (ours, _), (own_none, _), (ours_none, _) = map(measured, (command, [*watched, *command], nothing, [*watched, *nothing]))
        ratios.append((ours - ours_none) / (own - own_none))
        fixed.append(ours_none - own_none)
    rows.put(work, ratios, "times the program alone, CPU", most=most)
    rows.put(work + ", start and report", fixed, "s of CPU")


def main():
    build = sys.argv[1]
    n = int(sys.argv[2]) if len(sys.argv) > 2 else rows.QUICK and 100_000 or 5_000_000
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else rows.rounds(21)
    with tempfile.TemporaryDirectory() as folder:
        def ways(work, script=None):
            peers = {OURS: ([os.path.join(build, "deepclock"), "memory", "--quiet", "--", *work],),
                     "heaptrack": (["heaptrack", "-o", os.path.join(folder, "trace"), *work],)
                                  if shutil.which("heaptrack") else "apt-get install heaptrack"}
            if script:
                peers["memray --native"] = ([sys.executable, "-m", "memray", "run", "--native", "-f", "-o",
                                             os.path.join(folder, "memray.bin"), *script], memray(build)) \
                                           if memray(build) else "pip install memray"
            return peers

        program = os.path.join(build, "bench", "bench_heap_work")
        script = [os.path.join(folder, "blocks.py"), str(n // 20)]
        with open(script[0], "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        recorded([os.path.join(build, "deepclock"), "memory", "--quiet", "--", program, "1000"], folder)
        for work, command, most in (("lists of allocated blocks", [program, str(n)], 1.5),
                                    ("malloc and free in a loop", [program, str(n), "loop"], 2.5)):
            compare(work, command, ways(command), rounds, most)
        python = [sys.executable, *script]
        compare("allocations in Python", python, ways(python, script), rounds, 2.5)
        for work, command, most in (("lists of allocated blocks", [program, str(10 * n)], 1.1),
                                    ("malloc and free in a loop", [program, str(10 * n), "loop"], 1.3),
                                    ("allocations in Python", [*python[:2], str(10 * n // 20)], 1.1)):
            compare_sampled(build, work + ", --sample 512KiB", command, rounds, most)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
