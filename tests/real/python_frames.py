#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Frames read from outside the process equal those that the interpreter reports, for each installed interpreter.
Prints TAP.

  python_frames.py --program build/tests/python_frames
"""

import contextlib
import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

from common import Skipped, arguments, expect, limit, run

# Stacks that do not change while they are read. Each thread blocks in a C call.
STILL = r"""
import asyncio, json, os, sys, threading, time

class A:
    def __getattr__(self, name):  # called by C
        return hold()
    def method(self, n):
        if n:
            return self.method(
                n - 1
            )
        return [self.key(x)
                for x in (1,)]
    def key(self, x):
        def inner(v):
            return sum(gen(v))
        return sorted([x], key=inner)
    @property
    def prop(self): return self.missing
    async def co(self):
        return await self.co2()
    async def co2(self):
        with self:
            return {k: (lambda: hold())() for k in 'a'}
    def __enter__(self): pass
    def __exit__(self, *a): pass

def gen(v):
    yield v
    yield from gen2()

def gen2():
    x = (yield 1) or 2
    if x: y = 3; yield hold()

barrier = threading.Semaphore(0)
def hold():
    barrier.release()
    time.sleep(1000)

def größe_你():
    ns = {"hold": hold}
    exec(compile("\n\ndef made():\n    class Body:\n        x = hold()\nmade()", "<mäde>", "exec"), ns)

WAYS = [
    lambda: A().method(3),
    lambda: A().prop,
    lambda: asyncio.new_event_loop().run_until_complete(A().co()),
    größe_你,
    lambda: A().method(250),
]

def reporter():
    for _ in range(len(WAYS) + 1):
        barrier.acquire()
    time.sleep(0.2)
    told = {}
    for thread in threading.enumerate():
        frame, rows = sys._current_frames().get(thread.ident), []
        while frame:
            code = frame.f_code
            rows.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
            frame = frame.f_back
        if thread is not threading.current_thread():
            told[thread.native_id] = rows
    print(json.dumps(told), flush=True)
    time.sleep(1000)

for way in WAYS:
    threading.Thread(target=way, daemon=True).start()
threading.Thread(target=reporter, daemon=True).start()
A().method(1)
"""

# Stacks that change all the time.
BUSY = """
import threading
def leaf(n): return n + 1
def mid(n):
    s = 0
    for i in range(n): s += leaf(i)
    return s
def gen(n):
    for i in range(n): yield leaf(i)
class A:
    def deep(self, n):
        return self.deep(n - 1) if n else mid(3) + sum(gen(3))
def make():
    names = {}
    exec(compile("def made(x):\\n  return x + 1\\n", "made", "exec"), names)
    return names["made"](1)
def work():
    a = A()
    while True:
        a.deep(20); mid(10); sum(gen(10)); make(); sorted(range(10), key=leaf)
threading.Thread(target=work, daemon=True).start()
print(flush=True)
work()
"""
CALLS = {("<module>", "work"), ("work", "deep"), ("work", "mid"), ("work", "gen"), ("work", "make"), ("work", "leaf"),
         ("mid", "leaf"), ("gen", "leaf"), ("deep", "deep"), ("deep", "mid"), ("deep", "gen"), ("make", "<module>"),
         ("make", "made")}

FORK = """
import os, time
def child():
    print(os.getpid(), flush=True)
    time.sleep(1000)
pid = os.fork()
if pid == 0:
    child()
time.sleep(1000)
"""

INSIDE = """
import os, time
try: import _interpreters as i
except ImportError: import _xxsubinterpreters as i
def outer():
    i.run_string(i.create(), '''
import time
def inner():
    print(flush=True)
    time.sleep(1000)
inner()
''')
outer()
"""


def interpreters():
    """Returns (version, path) of each interpreter once: those on the PATH and pyenv's."""
    names = ["python3", *(f"python3.{minor}{t}" for minor in range(8, 25) for t in ("", "t"))]
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    paths = [p for folder in [*os.get_exec_path(), "/usr/bin"] for name in names if (p := shutil.which(name, path=folder))]
    paths += glob.glob(os.path.join(glob.escape(pyenv), "versions", "*", "bin", "python3"))
    ask = "import sys,os; print(*sys.version_info[:2], os.path.realpath(sys.executable))"
    found = {}
    for path in paths:
        told = subprocess.run([path, "-c", ask], capture_output=True, text=True, check=False)
        if told.returncode == 0:  # a shim of pyenv may have no interpreter
            major, minor, real = told.stdout.split()
            if (3, 8) <= (int(major), int(minor)) <= (3, 14):
                found[real] = (int(major), int(minor))
    return sorted((version, real) for real, version in found.items())


@contextlib.contextmanager
def script(python, text, env=None):
    """Starts a process that runs the script, and yields it with its first line."""
    path = os.path.abspath("script ä.py")
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    with subprocess.Popen([python, path], stdout=subprocess.PIPE, text=True, encoding="utf-8",
                          env={**os.environ, "PYTHONUTF8": "1", "LD_PRELOAD": "", **(env or {})}) as process:
        try:
            yield process, process.stdout.readline()
        finally:
            process.kill()


def read(program, pid, tid, count=1):
    done = subprocess.run([program, str(pid), str(tid), *([str(count)] if count > 1 else [])],
                          capture_output=True, text=True, encoding="utf-8", errors="replace", check=False)
    expect(done.returncode == 0, done.stderr)
    lines = done.stdout.split("\n")[:-1]  # splitlines() also splits at characters that a name may contain
    at = next(i for i, line in enumerate(lines) if line.startswith("found "))
    words = lines[at].split()
    return ([line.split("\t") for line in lines[:at]], dict(zip(words[::2], map(int, words[1::2]))),
            [line.split("\t") for line in lines[at + 1:]])


def still(program, python, version, env=None, before=lambda: None):
    with script(python, STILL, env) as (process, line):
        before()
        told = json.loads(line)
        expect(len(told) >= 6, told)
        for tid, rows in told.items():
            frames, counts, _ = read(program, process.pid, tid)
            expect(counts == {"found": 1, "torn": 0, "cut": 0, "unread": 0, "nameless": 0}, counts)
            got = [[name, file, int(line)] for name, file, line, _ in frames]
            expect(got == rows, (tid, [pair for pair in zip(got, rows) if pair[0] != pair[1]][:3], len(got), len(rows)))
            expect(frames[-1][3] == "1", "the outermost frame is called by C")
            if version < (3, 11):
                expect(all(f[3] == "1" for f in frames), "each frame is a call of the evaluator")
            else:  # Python-to-Python calls do not call the evaluator again
                expect(not all(f[3] == "1" for f in frames), frames)
        main = told[str(process.pid)]
        expect([r[0].split(".")[-1] for r in main[-3:]] == ["method", "method", "<module>"], main)


def called(caller, callee):
    """Returns whether BUSY or the threading module has this call; without a caller: whether a stack starts with it."""
    if not caller:
        return callee in ("<module>", "_bootstrap", "")
    starts = {"run", "_bootstrap", "_bootstrap_inner"}
    return (caller, callee) in CALLS or "thr" in (caller + callee).lower() or bool({caller, callee} & starts)


def busy(program, python):
    with script(python, BUSY) as (process, _):
        for tid in os.listdir(f"/proc/{process.pid}/task"):
            _, counts, edges = read(program, process.pid, tid, 5000)
            stacks = counts["found"]
            expect(stacks > 0 and counts["cut"] == 0, counts)
            expect(counts["torn"] <= 5 + stacks // 20, counts)
            # A stack that is not marked torn is consistent, unless a frame was freed, reused by another call,
            # and reused again at the same address by the first while it was read.
            wrong = [edge for edge in edges if not called(*(name.split(".")[-1] for name in edge[1:]))]
            expect(sum(int(n) for n, *_ in wrong) <= 2 + stacks // 1000, (stacks, wrong))
            expect(sum(int(n) for n, *_ in edges) > 0, edges)


def fork(program, python):
    with script(python, FORK) as (process, line):
        child = int(line)
        try:
            for pid, names in ((process.pid, ["<module>"]), (child, ["child", "<module>"])):
                frames, counts, _ = read(program, pid, pid)
                expect([f[0] for f in frames] == names and counts["found"] == 1, (frames, counts))
        finally:
            os.kill(child, 9)


def inside(program, python):
    """An interpreter that runs inside another on the same thread: its frames precede those of the outer interpreter."""
    with script(python, INSIDE) as (process, line):
        if not line:
            raise Skipped("no interpreter can be made inside this one")
        frames, _, _ = read(program, process.pid, process.pid)
        expect([f[0] for f in frames] == ["inner", "<module>", "outer", "<module>"], frames)


def nameless(program, python, version):
    """The interpreter is found without symbols: its file was removed."""
    told = subprocess.run([python, "-c", "import sys, sysconfig; print(sysconfig.get_config_var('INSTSONAME'),"
                           "sys.base_prefix)"], capture_output=True, text=True, check=True).stdout.split()
    with open(python, "rb") as f:
        shared = b"\0_PyRuntime\0" not in f.read()
    # The version, and the path of the library, are derived from the program's name.
    copy = os.path.abspath(told[0] if shared else f"python{version[0]}.{version[1]}")
    shutil.copy(os.path.join(told[1], "lib", told[0]) if shared else python, copy)
    env = {"PYTHONHOME": told[1], **({"LD_LIBRARY_PATH": os.path.dirname(copy)} if shared else {})}
    still(program, python if shared else copy, version, env, lambda: os.remove(copy))


def no_python(program):
    with subprocess.Popen(["sleep", "1000"]) as process:
        done = subprocess.run([program, str(process.pid), str(process.pid)], capture_output=True, text=True, check=False)
        process.kill()
    expect(done.returncode == 1 and done.stderr == f"process {process.pid} has no Python interpreter\n", done)
    done = subprocess.run([program, str(process.pid), "1"], capture_output=True, text=True, check=False)
    expect(done.stderr == f"there is no process {process.pid}\n", done)


def not_ours(program):
    """A process of another user cannot be read: one message reports it."""
    if os.getuid():
        done = subprocess.run([program, "1", "1"], capture_output=True, text=True, check=False)
        pid = 1
    else:
        pid = os.getpid()
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            os.chmod(folder, 0o755)
            done = subprocess.run([shutil.copy(program, folder), str(pid), str(pid)], capture_output=True, text=True,
                                  check=False, cwd="/", user=65534, group=65534, extra_groups=())
    expect(done.returncode == 1 and done.stderr.startswith(f"the memory of process {pid} may not be read: it is another user's"),
           done)


def main():
    args = arguments(__doc__)
    cases = [("no_python", lambda: no_python(args.program)), ("not_ours", lambda: not_ours(args.program))]
    for version, path in interpreters():
        name = f"{version[0]}.{version[1]} {path}"
        cases += [
            (f"still {name}", lambda p=path, v=version: still(args.program, p, v)),
            (f"busy {name}", lambda p=path: busy(args.program, p)),
            (f"fork {name}", lambda p=path: fork(args.program, p)),
            (f"inside {name}", lambda p=path: inside(args.program, p)),
            (f"nameless {name}", lambda p=path, v=version: nameless(args.program, p, v)),
        ]
    return run(cases, args.prefixes, seconds=limit.SECONDS)


if __name__ == "__main__":
    sys.exit(main())
