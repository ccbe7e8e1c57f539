#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of a named range in LTTng-UST, uftrace and Perfetto's C++ SDK, compared with the bare pair (two
readings of the time stamp counter, two entries of 16 bytes) and with deepclock's push and pop.

  zone_peers.py SOURCE BUILD [PEER...]

Each peer is a program in bench/peers that runs the three in turn, in one process, while all of them
record to files; figures are CPU time of the thread that has the ranges, ratios are within a round.
Perfetto's SDK is in no package: PERFETTO_SDK names the directory with perfetto.h and perfetto.cc of a
release of github.com/google/perfetto.

The peers do more than the bare pair: they pass events to another process (LTTng-UST, uftrace), or
serve several sessions (Perfetto).
"""

import contextlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

import rows


class Absent(Exception):
    """The command that installs it."""


class Failed(Exception):
    pass


def run(*words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Failed(f"{' '.join(words)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


class Peers:
    def __init__(self, source, build, scratch):
        self.peers, self.include = source + "/bench/peers", source + "/include"
        self.build, self.scratch = build, scratch

    def compiled(self, name, *flags, compiler="CC"):
        """Compiles the program of a peer, linked with the library of the build directory."""
        out = f"{self.scratch}/{name.split('.')[0]}"
        cc = shlex.split(os.environ.get(compiler, {"CC": "cc", "CXX": "c++"}[compiler]))
        run(*cc, "-O2", "-I" + self.include, "-I" + self.peers, f"{self.peers}/{name}", "-o", out,
            "-L" + self.build, "-Wl,-rpath," + self.build, "-ldeepclock", *flags)
        return out

    @contextlib.contextmanager
    def lttng_session(self):
        """Records in a private session, with a private daemon if none runs."""
        daemon = None
        if subprocess.run(["lttng", "list"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            daemon = subprocess.Popen(["lttng-sessiond", "--no-kernel", "--quiet"], stderr=subprocess.DEVNULL)
            last = time.monotonic() + 20
            while subprocess.run(["lttng", "list"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL).returncode != 0:
                if time.monotonic() > last or daemon.poll() is not None:
                    daemon.kill()
                    raise Failed("lttng-sessiond does not answer")
                time.sleep(0.1)
        name = f"deepclock-bench-{os.getpid()}"
        try:
            run("lttng", "create", name, f"--output={self.scratch}/lttng-out")
            try:
                run("lttng", "enable-channel", "-s", name, "-u", "c", "--subbuf-size=4M", "--num-subbuf=8")
                run("lttng", "enable-event", "-s", name, "-u", "deepclock_bench:*", "-c", "c")
                run("lttng", "start", name)
                yield
                run("lttng", "stop", name)
                lost = re.findall(r"Discarded events: *([1-9]\d*)", run("lttng", "list", name))
                if lost:
                    print(f"  lttng dropped {lost[0]} events")
            finally:
                run("lttng", "destroy", name)
        finally:
            if daemon:
                daemon.terminate()
                daemon.wait()

    def lttng(self):
        headers = subprocess.run(["pkg-config", "--exists", "lttng-ust"])
        if not shutil.which("lttng-sessiond") or headers.returncode != 0:
            raise Absent("apt-get install lttng-tools liblttng-ust-dev")
        program = self.compiled("lttng.c", "-llttng-ust", "-ldl")
        with self.lttng_session():
            return run(program, self.scratch + "/lttng.pftrace")

    def uftrace(self):
        if not shutil.which("uftrace"):
            raise Absent("apt-get install uftrace")
        program = self.compiled("uftrace.c", "-finstrument-functions")
        return run("uftrace", "record", "--no-libcall", "--data=" + self.scratch + "/uftrace.data", program,
                   self.scratch + "/uftrace.pftrace")

    def perfetto(self):
        sdk = os.environ.get("PERFETTO_SDK")
        if not sdk or not os.path.exists(sdk + "/perfetto.cc"):
            raise Absent("git clone -b RELEASE https://github.com/google/perfetto, and PERFETTO_SDK=perfetto/sdk")
        kept = self.build + "/bench/perfetto.o"  # minutes of compiling
        if not os.path.exists(kept) or os.path.getmtime(kept) < os.path.getmtime(sdk + "/perfetto.cc"):
            run(*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17", "-O2", "-w", "-I" + sdk,
                "-c", sdk + "/perfetto.cc", "-o", kept)
        return run(self.compiled("perfetto.cpp", "-std=c++17", "-w", "-I" + sdk, kept, "-pthread", compiler="CXX"),
                   self.scratch + "/perfetto.pftrace")


NAMES = {"lttng": "LTTng-UST, session to disk", "uftrace": "uftrace record, a function",
         "perfetto": "Perfetto C++ SDK, in process"}


def main():
    source, build, *wanted = sys.argv[1:]
    work, unit = "a zone to a file, beside other tracers", "times two time stamps and two entries"
    with tempfile.TemporaryDirectory(prefix="deepclock-") as scratch:
        peers = Peers(os.path.abspath(source), os.path.abspath(build), scratch)
        ours = []
        for peer, name in NAMES.items():
            if wanted and peer not in wanted:
                continue
            try:
                found = [tuple(map(float, line.split())) for line in getattr(peers, peer)().splitlines()]
            except Absent as e:
                rows.absent(work, name, str(e))
                continue
            ours += [o / bare for bare, o, _ in found]
            rows.put(work, [theirs / bare for bare, _, theirs in found], unit, peer=name)
        if ours:
            rows.put(work, ours, unit)
    return rows.status()


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failed as e:
        sys.exit(f"zone_peers: {e}")
