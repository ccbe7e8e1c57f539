#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes one allocation and one write of each command fail, or all from the Nth on.

  faults.py --program build/deepclock --library build/tests/faults/libfaults.so [--points N] [--seed N] [COMMAND]

Whatever fails, a command exits with a documented status, prints the reason in one or two lines, leaves no partial
file, and its report with status 0 equals the report without a fault.
"""

import argparse
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(1, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import limit  # noqa: E402

STATUSES = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 130}
FINE = {0, 4}  # 4: inconclusive
NUMBER = re.compile(r"[\d.,]+( ?[nµmkMGT]?[sBF]\b)?")

COMMANDS = {
    "version": "version",
    "help": "help notes",
    "zoo": "zoo",
    "zoo-out": "zoo simplenet -o out.onnx",
    "inspect": "inspect zoo:simplenet",
    "cost": "cost zoo:simplenet --save out.json --no-history",
    "bench": "bench zoo:simplenet --engine null --runs 60 --warmup 2 --quiet --no-history --save out.json",
    "bench-history": "bench zoo:simplenet --engine null --runs 60 --warmup 2 --quiet",
    "processes": "bench zoo:simplenet --engine null --runs 20 --warmup 2 --processes 2 --quiet --no-history --save out.json",
    "command": "bench --runs 3 --warmup 1 --quiet --no-history --save out.json -- true",
    "compare": "compare zoo:simplenet --engine null --vary batch=1,2 --rounds 6 --max-time 300ms --quiet --no-history --save out.json",
    "throughput": "throughput zoo:simplenet --engine null --batch 1,2 --max-time 300ms --quiet --no-history --save out.json",
    "generate": "generate zoo:llama_mini --engine null --requests 6 --new-tokens 3 --quiet --no-history --save out.json",
    "load": "load zoo:simplenet --engine null --rate 500 --requests 60 --quiet --no-history --save out.json",
    "json": "report run.json --format json -o out.json",
    "text": "report run.json",
    "csv": "report run.json --format csv",
    "markdown": "report run.json --format markdown",
    "html": "report run.json -o out.html",
    "figures": "report run.json --figures out",
    "diff": "report --diff sample.json sample.json",
    "tree": "report sample.json --by function",
    "flame": "report sample.json --format folded",
    "pprof": "report sample.json -o out.pb.gz",
    "trace": "report trace.json",
    "history": "history list",
    "history-show": "history list --format json",
    "import": "history import run.json",
    # sample and memory are not among them: elfutils ends the program if an allocation fails (SECURITY.md).
    "pitfalls": "pitfalls --help",
}


def prepare(program, folder):
    def run(*words):
        subprocess.run([program, *words], cwd=folder, env=environment(folder), check=True, capture_output=True)
    run("bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "2", "--quiet", "--save", "run.json")
    run("sample", "--quiet", "--no-history", "--save", "sample.json", "--", "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
    with open(os.path.join(folder, "trace.json"), "w", encoding="utf-8") as f:
        json.dump({"traceEvents": [dict(name=f"n{i % 7}", ph="X", ts=10 * i, dur=5, pid=1, tid=i % 3) for i in range(300)]}, f)


def environment(folder):
    env = dict(os.environ, HOME=folder, XDG_DATA_HOME=folder + "/data", XDG_CACHE_HOME=folder + "/cache", TMPDIR=folder)
    for name in list(env):
        if name.startswith(("FAULT_", "DEEPCLOCK_")):
            del env[name]
    return env


def attempt(a, ready, words, kind, at, on):
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ready, folder, dirs_exist_ok=True)
        env = environment(folder)
        env.update(LD_PRELOAD=a.library, FAULT_PROGRAM=a.program, FAULT_KIND=kind, FAULT_AT=str(at), FAULT_ON="1" if on else "0",
                   FAULT_COUNT=folder + "/count")
        before = set(os.listdir(folder))
        with subprocess.Popen([a.program, *words.split()], cwd=folder, env=env, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, start_new_session=True) as p:
            try:
                out, err = p.communicate(timeout=limit.SECONDS)
            except subprocess.TimeoutExpired:
                killed = limit.kill_session(p.pid)
                return dict(status="hangs", out="", err="\n".join(killed.values()), files={}, count=0)
        files = {}
        for name in sorted(set(os.listdir(folder)) - before - {"count", "data", "cache"}):
            path = os.path.join(folder, name)
            files[name] = open(path, "rb").read() if os.path.isfile(path) else sorted(os.listdir(path))
        count = 0
        if os.path.exists(folder + "/count"):
            count = int(open(folder + "/count").read() or 0)
        return dict(status=p.returncode, out=out.decode(errors="replace"), err=err.decode(errors="replace"),
                    files=files, count=count)


# Commands whose report is the same each time, except for its numbers.
STEADY = {"version", "help", "zoo", "inspect", "cost", "text", "csv", "markdown", "diff", "tree", "flame", "trace", "pitfalls"}


def form(text):
    return NUMBER.sub("#", text)


def fault(name, got, good):
    """Returns what is wrong with it, or None."""
    if got["status"] == "hangs":
        return "hangs"
    if got["status"] < 0:
        return f"ended by {signal.Signals(-got['status']).name}"
    if got["status"] not in STATUSES:
        return f"status {got['status']}"
    if got["status"] not in FINE and not got["err"].strip():
        return f"status {got['status']} without a word"
    if len(got["err"]) > 1500:
        return "a long complaint"
    for path, data in got["files"].items():
        if path not in good["files"]:
            return f"left {path}"
        if path.endswith(".json"):
            try:
                json.loads(data)
            except ValueError:
                return f"tore {path}"
        elif isinstance(data, bytes) and abs(len(data) - len(good["files"][path])) > 0.2 * len(data) + 100:
            return f"tore {path}: {len(data)} bytes of {len(good['files'][path])}"
    if got["status"] in FINE:
        if set(got["files"]) != set(good["files"]):
            return f"status 0 without {sorted(set(good['files']) - set(got['files']))}"
        said = got["err"].strip() or got["out"].count("warning") > good["out"].count("warning")
        if name in STEADY and not said and abs(len(form(got["out"])) - len(form(good["out"]))) > 60:
            return "status 0 and another report, without a word"
    return None


def tell(i, name, found):
    """Prints one case as TAP, with its faults. Returns whether there were any."""
    print("not ok" if found else "ok", i, "-", name)
    for line in found:
        print("#", line.replace("\n", "\n#   "))
    sys.stdout.flush()
    return bool(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True, type=os.path.abspath)
    parser.add_argument("--library", required=True, type=os.path.abspath)
    parser.add_argument("--points", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("commands", nargs="*")
    a = parser.parse_args()
    limit.ordinary_signals()
    dice = random.Random(a.seed)
    asked = a.commands or list(COMMANDS)
    print(f"1..{len(asked)}")
    bad = 0
    tried = dict.fromkeys(("malloc", "write"), 0)
    with tempfile.TemporaryDirectory() as ready:
        prepare(a.program, ready)
        for i, name in enumerate(asked, 1):
            found = []
            for kind in ("malloc", "write"):
                good = attempt(a, ready, COMMANDS[name], kind, 0, False)
                if good["status"] not in FINE:
                    found.append(f"without a fault: status {good['status']}: {good['err'].strip()[-200:]}")
                    break
                n = good["count"]
                points = sorted(set(dice.sample(range(1, n + 1), min(n, a.points))))
                for at in points:
                    on = dice.random() < 0.3
                    got = attempt(a, ready, COMMANDS[name], kind, at, on)
                    tried[kind] += 1
                    why = fault(name, got, good)
                    if why:
                        found.append(f"{kind} {at} of {n}{' and on' if on else ''}: {why}: {got['err'].strip()[-300:]}")
            bad += tell(i, name, found)
    print(f"# {tried['malloc']} failed allocations, {tried['write']} failed writes")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
