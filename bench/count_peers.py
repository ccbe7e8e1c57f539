#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of counting calls, compared with other call counters.

  count_peers.py BUILD [--python | --c] [ROUNDS]

Python: deepclock.count, cProfile, a profile function in Python (sys.setprofile), and yappi if installed, in turns in
one process, under each installed interpreter with headers, for which the extension is compiled here; beside them a hook
in C that only reads the clock (python_pair.c), by the interface of the interpreter that costs least. CPU time of the
work alone. C: `deepclock count` of a program built with -finstrument-functions, with exact and with sampled times, -pg
(gprof: no clock, but samples), uftrace and callgrind if installed; CPU time of all processes. Beside them the least that
such a program costs: hooks that do nothing, and hooks that only read the time stamp counter, twice a call, as exact times
need (count_floor.c). Ratios are within a round.
"""

import cProfile
import gc
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import rows

HERE = os.path.dirname(os.path.abspath(__file__))
WORKER, FIB = "--worker", 22 if rows.QUICK else 31
EXACT, SAMPLED = "deepclock count", "deepclock count --times sampled"
DOES_NOTHING, READS_CLOCK = "hooks that do nothing", "hooks that only read the clock"
HOOK = "a hook in C that only reads the clock"


# --- Python: runs in the measured interpreter


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def calls_of_python():
    fib(19)


class Item:
    def __init__(self, value):
        self.value = value

    def key(self):
        return self.value


def numbers(n):
    yield from range(n)


def calls_of_c():
    """A method, a generator, and C functions: two calls of C functions for each of a Python function."""
    items = []
    for i in numbers(5000):
        items.append(Item(i))
        isinstance(items[-1], Item)
        len(items)
        items[-1].key()
    sorted(items, key=Item.key)


def nothing(*_):
    pass


def timed(work):
    begin = time.thread_time_ns()
    work()
    return time.thread_time_ns() - begin


def under_deepclock(work):
    import deepclock

    c = deepclock.count()
    c._start()  # start() would also measure the overhead of a call
    took = timed(work)
    c._stop()
    return took


def under_cprofile(work):
    profile = cProfile.Profile()
    profile.enable()
    took = timed(work)
    profile.disable()
    return took


def under_hook(work):
    import python_pair

    if sys.version_info < (3, 12):
        python_pair.profile(True)
        took = timed(work)
        python_pair.profile(False)
        return took
    m, e = sys.monitoring, sys.monitoring.events
    calls = (e.PY_START, e.PY_RESUME, e.PY_THROW, e.PY_RETURN, e.PY_YIELD, e.PY_UNWIND, e.CALL)
    m.use_tool_id(m.PROFILER_ID, "hook")
    for event in (*calls, e.C_RETURN, e.C_RAISE):
        m.register_callback(m.PROFILER_ID, event, python_pair.hook())
    m.set_events(m.PROFILER_ID, sum(calls))
    took = timed(work)
    m.set_events(m.PROFILER_ID, 0)
    m.free_tool_id(m.PROFILER_ID)
    return took


def under_setprofile(work):
    sys.setprofile(nothing)
    took = timed(work)
    sys.setprofile(None)
    return took


def under_yappi(work):
    import yappi

    yappi.set_clock_type("cpu")
    yappi.start(builtins=True)
    took = timed(work)
    yappi.stop()
    yappi.clear_stats()
    return took


WAYS = {"alone": timed, "deepclock": under_deepclock, "cProfile": under_cprofile, HOOK: under_hook,
        "sys.setprofile in Python": under_setprofile, "yappi": under_yappi}


def worker(rounds):
    """Prints JSON: {work: {method: [ns of each round]}}."""
    ways = dict(WAYS)
    gc.disable()  # a collection would be charged to whichever way it meets
    try:
        import yappi  # noqa: F401
    except ImportError:
        del ways["yappi"]
    told = {}
    for work in (calls_of_python, calls_of_c):
        rows = told[work.__name__] = {name: [] for name in ways}
        for i in range(rounds + 1):
            for name, way in ways.items():
                took = way(work)
                if i > 0:  # the first round warms up
                    rows[name].append(took)
    json.dump(told, sys.stdout)


# --- in this process


def python_rows(version, work, took):
    """Puts the rows of a work: the cost beyond the work alone, over cProfile's."""
    cost = {way: [a - b for a, b in zip(found, took["alone"])] for way, found in took.items()}
    name = f"counting calls in Python {version}, {work.replace('_', ' ')}"
    for way, found in cost.items():
        if way not in ("alone", "cProfile"):
            ours = way == "deepclock"
            rows.put(name, [a / b for a, b in zip(found, cost["cProfile"]) if b > 0] or [0.0], "of cProfile's cost",
                     peer=None if ours else way, most=0.5 if ours else None)
    if "yappi" not in cost:
        rows.absent(name, "yappi", "pip install --target BUILD/yappi yappi")


def python_part(build, rounds):
    sys.path.insert(0, os.path.join(os.path.dirname(HERE), "python", "tests"))
    import every_python

    for one in list(every_python.interpreters())[:1 if rows.QUICK else None]:
        with tempfile.TemporaryDirectory(prefix="deepclock-bench-") as where:
            made = every_python.build_for(build, one, where, "-O2")
            if made.returncode:
                sys.exit(f"count_peers: {made.stderr[-1000:]}")
            subprocess.run([*shlex.split(os.environ.get("CC", "cc")), "-O2", "-shared", "-fPIC", "-I" + one[3],
                            os.path.join(HERE, "python_pair.c"), "-o", os.path.join(where, "python_pair" + one[4])],
                           check=True)
            env = {**os.environ, "PYTHONPATH": os.pathsep.join([where, os.path.join(build, "yappi")]),
                   "PYTHONDONTWRITEBYTECODE": "1"}
            done = subprocess.run([one[2], os.path.abspath(__file__), WORKER, str(rounds)], env=env,
                                  stdout=subprocess.PIPE, check=True)
        for name, took in json.loads(done.stdout).items():
            python_rows("{}.{}".format(*one[0]), name, took)


def measured(command, **options):
    """Returns the CPU time of a command and its children, in seconds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"count_peers: {shlex.join(command)}: status {status}")
    return usage.ru_utime + usage.ru_stime


def calls_of(n):
    """Returns the number of calls of fib(n)."""
    a, b = 1, 1
    for _ in range(n - 1):
        a, b = b, a + b + 1
    return b


def c_ways(build, folder):
    cc = shlex.split(os.environ.get("CC", "cc"))
    programs = {}
    for name, flags in (("plain", []), ("instrumented", ["-finstrument-functions"]), ("pg", ["-pg"])):
        programs[name] = os.path.join(folder, name)
        subprocess.run([*cc, "-O2", "-g", *flags, os.path.join(HERE, "count_work.c"), "-o", programs[name]], check=True)
    floors = {DOES_NOTHING: []}
    if platform.machine() == "x86_64":
        floors[READS_CLOCK] = ["-DSTAMPS"]
    for i, flags in enumerate(floors.values()):
        subprocess.run([*cc, "-O2", "-shared", "-fPIC", *flags, os.path.join(HERE, "count_floor.c"), "-o",
                        os.path.join(folder, f"floor{i}.so")], check=True)
    n = str(FIB)
    ours = [os.path.join(build, "deepclock"), "count", "--no-history", "-q", "--save", os.path.join(folder, "run.json")]
    ways = {"alone": [programs["plain"], n],
            EXACT: [*ours, "--", programs["instrumented"], n],
            SAMPLED: [*ours, "--times", "sampled", "--", programs["instrumented"], n],
            **{name: ["env", "LD_PRELOAD=" + os.path.join(folder, f"floor{i}.so"), programs["instrumented"], n]
               for i, name in enumerate(floors)},
            "gprof (-pg)": [programs["pg"], n]}
    if shutil.which("uftrace"):
        ways["uftrace record"] = ["uftrace", "record", "--no-libcall", "--data=" + os.path.join(folder, "uftrace.data"),
                                  programs["instrumented"], n]
    if shutil.which("valgrind"):
        ways["callgrind"] = ["valgrind", "--tool=callgrind", "--callgrind-out-file=" + os.path.join(folder, "callgrind"),
                             programs["plain"], n]
    return ways


def c_part(build, rounds):
    calls = calls_of(FIB)
    with tempfile.TemporaryDirectory(prefix="deepclock-bench-") as folder:
        ways = c_ways(build, folder)
        took = {name: [] for name in ways}
        for _ in range(rounds):
            for name, command in ways.items():
                took[name].append(measured(command, cwd=folder))
        with open(os.path.join(folder, "run.json"), encoding="utf-8") as f:
            table = next(t for t in json.load(f)["tables"] if t["name"] == "functions")
        counted = next(row[1] for row in table["rows"] if row[0] == "fib")
        if counted != calls:
            sys.exit(f"count_peers: {counted} calls were counted, {calls} made")
    print(f"C, {calls:,} calls; alone {1e9 * statistics.median(took['alone']) / calls:.1f} ns a call")
    work = "counting calls in C"
    cost = {name: [1e9 * (a - b) / calls for a, b in zip(found, took["alone"])] for name, found in took.items()}
    for name, found in cost.items():
        if name not in ("alone", SAMPLED):
            rows.put(work, found, "ns a call", peer=None if name == EXACT else name)
    rows.put(work + ", times sampled", cost[SAMPLED], "ns a call", most=6)
    if READS_CLOCK in cost:
        rows.put(work + ", exact times", [a / b for a, b in zip(cost[EXACT], cost[READS_CLOCK]) if b > 0] or [0.0],
                 "times " + READS_CLOCK, most=1.2)
    for name, way in (("uftrace", "uftrace record"), ("valgrind", "callgrind")):
        if way not in ways:
            rows.absent(work, way, f"apt-get install {name}")


def main():
    words = sys.argv[1:]
    if words[0] == WORKER:
        worker(int(words[1]))
        return 0
    build, rounds = os.path.abspath(words[0]), int(words[-1]) if words[-1].isdigit() else rows.rounds(21)
    if "--c" not in words:
        python_part(build, rounds)
    if "--python" not in words:
        c_part(build, rounds)
    return rows.status()


if __name__ == "__main__":
    sys.exit(main())
