#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends one or two signals to each command at random moments.

  signals.py --program build/deepclock [--times N] [--seed N] [COMMAND]

Whenever the signal arrives, a command ends soon, with a documented status or by this signal, prints at most a
few lines, and leaves no partial file, no directory and no process.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from faults import environment, limit, prepare, tell

MODEL = "zoo:simplenet --engine null --quiet"
WORK = "-- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'"
COMMANDS = {
    "bench": f"bench {MODEL} --max-time 300ms --save out.json -o out.txt",
    "processes": f"bench {MODEL} --max-time 100ms --processes 2 --save out.json",
    "command": "bench --quiet --runs 20 --save out.json -- true",
    "compare": f"compare {MODEL} --vary batch=1,2 --rounds 6 --save out.json --html out.html",
    "throughput": f"throughput {MODEL} --batch 1,2 --save out.json",
    "load": f"load {MODEL} --rate 500 --requests 100 --save out.json",
    "memory": f"memory --quiet --save out.json {WORK}",
    "sample": f"sample --quiet --save out.json {WORK}",
    "count": f"count --quiet --save out.json {WORK}",
    "trace": f"trace --quiet --save out.json {WORK}",
    "cost": "cost zoo:resnet50 --save out.json",
    "report": "report run.json -o out.json",
    "html": "report run.json -o out.html",
    "figures": "report run.json --figures out",
    "import": "history import run.json",
}
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def below(folder):
    """Returns the processes whose working directory is this directory."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{pid}/cwd") == folder:
                found.append(open(f"/proc/{pid}/cmdline").read().replace("\0", " "))
        except OSError:
            pass
    return found


def left(folder, before):
    """Returns what a command left behind by mistake, or None."""
    for name in sorted(set(os.listdir(folder)) - before):
        path = os.path.join(folder, name)
        if name in ("data", "cache"):
            continue
        if not name.startswith("out") and not name.startswith("trace.pftrace"):
            return f"left {name}"
        if name.endswith(".json"):
            try:
                json.load(open(path, encoding="utf-8"))
            except ValueError:
                return f"tore {name}"
        elif name == "out.html" and not open(path, encoding="utf-8").read().rstrip().endswith("</html>"):
            return f"tore {name}"
    return None


def fault(program, words, ready, dice, came):
    """Returns what is wrong with one attempt, or None. came: receives the signals that reached a process."""
    with tempfile.TemporaryDirectory() as folder:
        folder = os.path.realpath(folder)
        shutil.copytree(ready, folder, dirs_exist_ok=True)
        before = set(os.listdir(folder))
        sent = [dice.choice(SIGNALS) for _ in range(dice.choice((1, 1, 2)))]
        p = subprocess.Popen(["/bin/sh", "-c", f"exec '{program}' {words}"], cwd=folder, env=environment(folder),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in sent:
            time.sleep(dice.choice((0.02, 0.1, 0.6)) * dice.random())
            if p.poll() is None:
                p.send_signal(number)
                came.append(number)
        try:
            _, err = p.communicate(timeout=limit.SECONDS)
        except subprocess.TimeoutExpired:
            p.kill()
            p.communicate()
            return f"{sent}: hangs"
        err = err.decode(errors="replace")
        if p.returncode not in (0, 4, 130) and -p.returncode not in sent:
            if not (p.returncode == 1 and err.strip()):
                return f"{sent}: status {p.returncode}: {err.strip()[-300:]}"
        if len(err) > 1500 or "anitizer" in err:
            return f"{sent}: a long complaint: {err[-600:]}"
        until = time.monotonic() + limit.SECONDS
        while (goes_on := below(folder)) and time.monotonic() < until:
            time.sleep(0.05)
        if goes_on:
            return f"{sent}: goes on: {goes_on}"
        why = left(folder, before)
        return why and f"{sent}: status {p.returncode}: {why}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--times", type=int, default=2)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    parser.add_argument("commands", nargs="*")
    a = parser.parse_args()
    dice = random.Random(a.seed)
    asked = a.commands or list(COMMANDS)
    limit.ordinary_signals()
    print(f"# seed {a.seed}\n1..{len(asked)}")
    bad = 0
    came = []
    with tempfile.TemporaryDirectory() as ready:
        prepare(a.program, ready)
        for i, name in enumerate(asked, 1):
            found = [w for w in (fault(a.program, COMMANDS[name], ready, dice, came) for _ in range(a.times)) if w]
            bad += tell(i, name, found)
    print(f"# {len(came)} signals")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
