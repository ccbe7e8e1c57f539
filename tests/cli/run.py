#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the real program: each AREA/CASE.sh in an empty directory, and compares its output with the files
in the directory of the script (CASE.out, CASE.err: missing means empty; CASE.exit: missing means 0).

  run.py --program build/deepclock                 all cases, results as TAP
  run.py --program build/deepclock bench/          cases with this prefix
  run.py --program build/deepclock --update zoo/   write the output as the expected output
  run.py --program build/deepclock --heavy         only the slow cases; --light: only the others

A case is a shell script. It finds the program as `deepclock`, the tools of lib/ in PATH, and
may end with status 77 after printing why it is skipped. A slow case, which takes many seconds on two
processors, begins with the line '# heavy'. Text that differs from run to run or from
machine to machine is scrubbed from the output by the list SCRUB below.
"""

import argparse
import difflib
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import limit  # noqa: E402

SKIPPED = 77

# (pattern, replacement), applied in this order. Case scripts print only the relevant part.
SCRUB = [
    (r"\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?( UTC)?", "DATE"),
    (r"\b[0-9a-f]{32}\b", "ID"),
    (r'\b(deepclock|library)( |": ")\d+\.\d+\.\d+(-rc\d+)?', r"\1\2VERSION"),
    (r"\b\d+(\.\d+)? (ns|us|µs|μs|ms|s|min)\b", "TIME"),
    (r"\binterrupted in run [\d,]+", "interrupted in run N"),
    (r"==\d+==[^\n]*\n", ""),
    # Other load on the machine.
    (r"(?m)^(deepclock|warning): (other programs used|the hypervisor gave)[^\n]*\n(  [^\n]*\n)*", ""),
]

# Variables that would change the output of the program or the files that it finds.
UNSET = ["NO_COLOR", "COLUMNS", "LANG", "LC_CTYPE", "LANGUAGE", "CDPATH", "ENV", "BASH_ENV",
         # Caches and data: they go below HOME, which is the empty directory.
         "XDG_CACHE_HOME", "XDG_DATA_HOME", "DEEPCLOCK_DB"]


def scrub(text, scratch, more):
    text = text.replace(HERE, "TESTS")
    for path, name in [(os.path.realpath(scratch), "SCRATCH"), (scratch, "SCRATCH")] + more:
        text = text.replace(path, name)
    for pattern, name in SCRUB:
        text = re.sub(pattern, name, text)
    return text


def expected(case, kind):
    try:
        with open(case + "." + kind, encoding="utf-8") as f:
            return f.read()
    except FileNotFoundError:
        return "0\n" if kind == "exit" else ""


def environment(args, scratch):
    env = {k: v for k, v in os.environ.items() if k not in UNSET}
    env.update(LC_ALL="C.UTF-8", TERM="dumb", HOME=scratch, TMPDIR=scratch, TESTS=HERE, PYTHONUNBUFFERED="1")
    env["PATH"] = os.pathsep.join([os.path.dirname(args.program), os.path.join(HERE, "lib"), env["PATH"]])
    for pair in args.env:
        key, _, value = pair.partition("=")
        env[key] = value
    return env


def without_figures(text):
    """Removes the figures after an expected False, which explain it."""
    return re.sub(r"(?m)(: False) \(.*\)$", r"\1", text)


def run(case, args):
    """Returns the exit status and scrubbed output of one case, and whether it was skipped."""
    with tempfile.TemporaryDirectory(prefix="deepclock-cli-") as scratch:
        # A separate session: nothing depends on the terminal that the tests run on, and processes that the
        # case leaves running are found by the session.
        with subprocess.Popen(["sh", case + ".sh"], cwd=scratch, env=environment(args, scratch),
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as p:
            why = ""
            try:
                out, err = p.communicate(timeout=limit.SECONDS)
            except subprocess.TimeoutExpired:
                why = limit.time_up(os.path.relpath(case, HERE), limit.kill_session(p.pid)) + "\n"
                try:
                    out, err = p.communicate(timeout=5)
                except subprocess.TimeoutExpired as e:  # a process that left the session holds its output open
                    out, err = e.stdout or b"", e.stderr or b""
            limit.kill_session(p.pid)
        got = {
            "out": scrub(out.decode("utf-8", "backslashreplace"), scratch, args.named),
            "err": scrub(err.decode("utf-8", "backslashreplace"), scratch, args.named) + why,
            "exit": "none\n" if why else f"{p.returncode}\n",
        }
        return got, p.returncode == SKIPPED


def differences(case, got):
    lines = []
    for kind in ("exit", "err", "out"):
        want = expected(case, kind)
        if want not in (got[kind], without_figures(got[kind])):
            lines += difflib.unified_diff(
                want.splitlines(), got[kind].splitlines(), f"expected {kind}", f"got {kind}", lineterm=""
            )
    return lines


def update(case, got):
    for kind, empty in (("out", ""), ("err", ""), ("exit", "0\n")):
        path = case + "." + kind
        if got[kind] != empty:
            with open(path, "w", encoding="utf-8") as f:
                f.write(without_figures(got[kind]))
        elif os.path.exists(path):
            os.remove(path)


def heavy(case):
    with open(os.path.join(HERE, case + ".sh"), encoding="utf-8") as f:
        return f.readline() == "# heavy\n"


def cases(args):
    found = []
    for area in sorted(os.listdir(HERE)):
        folder = os.path.join(HERE, area)
        if area == "lib" or not os.path.isdir(folder):
            continue
        for name in sorted(os.listdir(folder)):
            if name.endswith(".sh"):
                found.append(f"{area}/{name[:-3]}")
    return [n for n in found if (not args.prefixes or n.startswith(tuple(args.prefixes)))
            and not n.startswith(tuple(args.without))
            and not (args.light if heavy(n) else args.heavy)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--named", action="append", default=[], metavar="TEXT=NAME", type=lambda t: tuple(t.rsplit("=", 1)),
                        help="text of the output that is replaced by a name")
    parser.add_argument("--without", action="append", default=[], metavar="CASE")
    parser.add_argument("--light", action="store_true")
    parser.add_argument("--heavy", action="store_true")
    parser.add_argument("prefixes", nargs="*", metavar="CASE")
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    limit.ordinary_signals()

    names = cases(args)
    failed = 0
    print(f"1..{len(names)}")
    for number, name in enumerate(names, 1):
        case = os.path.join(HERE, name)
        began = time.monotonic()
        got, skipped = run(case, args)
        took = f"{time.monotonic() - began:.1f} s"
        if skipped:
            print(f"ok {number} - {name} # SKIP {got['out'].strip()}", flush=True)
            continue
        if args.update:
            update(case, got)
        lines = differences(case, got)
        failed += bool(lines)
        print(f"{'not ok' if lines else 'ok'} {number} - {name}", flush=True)
        for line in lines:
            print(f"# {line}")
        print(f"# {took}", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
