#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the purpose of every command of an installed program: it records an allocation, a zone, a named sample.

  every_command.py PROGRAM PYTHON [CC]     the installed deepclock, and the Python that has the package; CC: the compiler,
                                           or a directory in which compile_programs() has been

A command of the program that is missing in the table below is a failure.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = """#include <stdlib.h>
#include <string.h>
#include <unistd.h>

__attribute__((noinline)) long work(void)
{
\tvolatile long sum = 0;
\tfor (long i = 0; i < 60000000; i++)
\t\tsum += i;
\treturn sum;
}

__attribute__((noinline)) char *keep(size_t n) { return memset(malloc(n), 1, n); }

int main(int argc, char **argv)
{
\tchar *kept = keep(argc > 1 ? 3000000 : 1);
\tif (argc > 1 && *argv[1] != 'm')
\t\twork();
\tusleep(20000);
\treturn kept == NULL;
}
"""
SCRIPT = """import deepclock
with deepclock.zone("forward"):
    sum(range(1000))
"""


def compile_programs(folder, cc):
    """Compiles the programs to profile."""
    with open(os.path.join(folder, "work.c"), "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    for name, more in (("work", []), ("counted", ["-finstrument-functions"])):
        subprocess.run([*cc, "-g", "-O1", *more, "work.c", "-o", name], cwd=folder, check=True)


class Installed:
    """Runs the commands, in a directory with programs to profile."""

    def __init__(self, program, python, cc, folder, env):
        self.program, self.python, self.folder, self.env = program, python, folder, env
        with open(os.path.join(folder, "zones.py"), "w", encoding="utf-8") as f:
            f.write(SCRIPT)
        if os.path.isdir(cc[0]):
            shutil.copytree(cc[0], folder, dirs_exist_ok=True)
        else:
            compile_programs(folder, cc)

    def run(self, *words, status=0):
        ran = subprocess.run([self.program, *words], cwd=self.folder, env=self.env, capture_output=True, text=True,
                             check=False, timeout=120)
        assert ran.returncode == status, f"{' '.join(words)}: {ran.returncode}\n{ran.stdout}{ran.stderr}"
        return ran.stdout

    def record(self, *words, status=0):
        self.run(words[0], "--quiet", "--save", "run.json", *words[1:], status=status)
        with open(os.path.join(self.folder, "run.json"), encoding="utf-8") as f:
            return json.load(f)

    def holds(self, file):
        with open(os.path.join(self.folder, file), encoding="utf-8") as f:
            return f.read()


def value(record, tag):
    return next((m.get("value") for m in record["metrics"] if m["tag"] == tag), None)


def fact(record, section, key):
    return next(f["value"] for f in record["facts"] if (f["section"], f["key"]) == (section, key))


def column(record, table, key):
    t = next(t for t in record["tables"] if t["name"] == table)
    at = [c["key"] for c in t["columns"]].index(key)
    return [row[at]["value"] if isinstance(row[at], dict) and "value" in row[at] else row[at] for row in t["rows"]]


SHORT = ("--runs", "5", "--warmup", "1")
MODEL = "zoo:simplenet"
FEW = (MODEL, "--threads", "1", "--quiet", "--no-history")

# Command: whether it fulfilled its purpose.
COMMANDS = {
    "bench": lambda i: value(i.record("bench", *SHORT, "--", "./work", "m"), "latency/median") > 20e6
    and value(i.record("bench", MODEL, *SHORT), "latency/median") > 0,
    "throughput": lambda i: column(i.record("throughput", *FEW, "--batch", "1", "--max-time", "1s"), "throughput/points",
                                   "throughput")[0] > 0,
    "load": lambda i: value(i.record("load", *FEW, "--rate", "200", "--time", "500ms"), "latency/median") > 0,
    "generate": lambda i: value(i.record("generate", "zoo:llama_mini", "--requests", "2", "--new-tokens", "4", "--prompt-length",
                                         "8", "--quiet", "--no-history"), "generate/ttft/8x1") > 0,
    "compare": lambda i: fact(i.record("compare", "--rounds", "12", "cmd:sleep 0.01", "cmd:sleep 0.1", status=3), "compare",
                              "verdict") == "slower",
    "tune": lambda i: len(column(i.record("tune", *FEW, "--only", "spin", "--trial", "10ms", "--max-time", "5s"),
                                 "tune/configurations", "configuration")) == 2,
    "accuracy": lambda i: value(i.record("accuracy", MODEL, MODEL), "difference/max_abs") == 0,
    "cost": lambda i: value(i.record("cost", "zoo:resnet18"), "cost/macs") == 1814073344,
    "inspect": lambda i: "1x784" in i.run("inspect", MODEL),
    "pitfalls": lambda i: len(i.record("pitfalls", "--time", "20ms", "--only", "one-sample,mean-of-5", "--", "./work",
                                       "m")["tables"][0]["rows"]) >= 2,
    "profile": lambda i: i.record("profile", *FEW, "--max-time", "1s")["ops"][0]["time"] is not None,
    "trace": lambda i: any(n.startswith("wait: ") for n in column(i.record("trace", "-o", "t.pftrace", "--", "./work", "m"),
                                                                  "zones", "name"))
    and "forward" in column(i.record("trace", "-o", "z.pftrace", "--", i.python, "zones.py"), "zones", "name"),
    "sample": lambda i: "work" in column(i.record("sample", "--", "./work", "s"), "functions", "name"),
    "memory": lambda i: value(r := i.record("memory", "--", "./work", "m"), "memory/heap_leaked") >= 3000000
    and any("keep" in str(name) for name in column(r, "memory/functions", "name")),
    "count": lambda i: "work" in column(i.record("count", "--", "./counted", "c"), "functions", "name"),
    "overhead": lambda i: [r > 0 for r in column(i.record("overhead", "--rounds", "2", "--", "./counted", "o"), "overhead",
                                                 "ratio")] == [True] * 6,
    "ranks": lambda i: value(i.record("ranks", "--step", "forward", "--", i.python, "zones.py"), "ranks/step") > 0,
    "machine": lambda i: value(i.record("machine", "--quick"), "bandwidth/dram_read/all") != 0,
    "history": lambda i: len(json.loads(i.run("history", "list", "--format", "json"))) > 0,
    "report": lambda i: "deepclock" in (i.run("report", "run.json", "-o", "run.html") or i.holds("run.html")),
    "view": lambda i: ".html" in i.run("view", "run.json"),
    "zoo": lambda i: (i.run("zoo", "simplenet", "-o", "s.onnx"), os.path.getsize(os.path.join(i.folder, "s.onnx")) > 100)[1],
    "engines": lambda i: re.search("^ort,usable,true", i.run("engines", "ort", "--format", "csv"), re.M),
    "help": lambda i: "latency/median" in i.run("help", "metrics"),
    "version": lambda i: i.run("version").startswith("deepclock "),
    "completion": lambda i: "complete" in i.run("completion", "bash"),
    "man": lambda i: (os.mkdir(os.path.join(i.folder, "man")), i.run("man", "man"),
                      ".TH" in i.holds("man/deepclock-bench.1"))[2],
}


def commands(text):
    """Returns the commands that the program's help lists."""
    return re.findall(r"^  ([a-z]+) +[a-z]", text.split("Commands:")[1].split("\n\n")[0], re.M)


def every(program, python, cc, env, check):
    """Calls check(what, right, told) for each command."""
    with tempfile.TemporaryDirectory(prefix="deepclock-commands-") as folder:
        env = {**env, "XDG_DATA_HOME": folder, "XDG_CACHE_HOME": folder, "TMPDIR": folder, "PATH": "/usr/bin:/bin"}
        installed = Installed(program, python, cc, folder, env)
        listed = commands(installed.run("help"))
        check("each command of the program is tried", sorted(listed) == sorted(COMMANDS),
              f"{sorted(set(listed) ^ set(COMMANDS))}")
        for name, does in COMMANDS.items():
            told = ""
            try:
                right = bool(does(installed))
            except (AssertionError, OSError, LookupError, TypeError, StopIteration, subprocess.SubprocessError) as e:
                right, told = False, f"{type(e).__name__}: {e}"
            check(f"{name} does what it is for", right, told)


def main():
    failed = []

    def check(what, right, told=""):
        failed.append(not right)
        print(f"{'' if right else 'not '}ok {len(failed)} - {what}" + "".join(f"\n# {s}" for s in told.splitlines()), flush=True)
    every(sys.argv[1], sys.argv[2], sys.argv[3:] or ["cc"], dict(os.environ), check)
    print(f"1..{len(failed)}")
    return 1 if any(failed) else 0


if __name__ == "__main__":
    sys.exit(main())
