#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Overhead of a named range in LTTng-UST, uftrace and Perfetto's C++ SDK, compared with the bare pair (two
readings of the time stamp counter, two entries of 16 bytes) and with deepclock's push and pop.

  zone_peers.py SOURCE BUILD [PEER...]

Each peer is a program in bench/peers that runs the three in turn, in one process, while all of them
record to files; figures are CPU time of the thread that has the ranges, ratios are within a round
(median, minimum to maximum). For a peer that is not installed one line names the packages.
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
import statistics
import subprocess
import sys
import tempfile
import time


class Absent(Exception):
    """The packages to install."""


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
            raise Absent("install lttng-tools and liblttng-ust-dev")
        program = self.compiled("lttng.c", "-llttng-ust", "-ldl")
        with self.lttng_session():
            return run(program, self.scratch + "/lttng.pftrace")

    def uftrace(self):
        if not shutil.which("uftrace"):
            raise Absent("install uftrace")
        program = self.compiled("uftrace.c", "-finstrument-functions")
        return run("uftrace", "record", "--no-libcall", "--data=" + self.scratch + "/uftrace.data", program,
                   self.scratch + "/uftrace.pftrace")

    def perfetto(self):
        sdk = os.environ.get("PERFETTO_SDK")
        if not sdk or not os.path.exists(sdk + "/perfetto.cc"):
            raise Absent("set PERFETTO_SDK to the directory of perfetto.h and perfetto.cc (github.com/google/perfetto)")
        kept = self.build + "/bench/perfetto.o"  # minutes of compiling
        if not os.path.exists(kept) or os.path.getmtime(kept) < os.path.getmtime(sdk + "/perfetto.cc"):
            run(*shlex.split(os.environ.get("CXX", "c++")), "-std=c++17", "-O2", "-w", "-I" + sdk,
                "-c", sdk + "/perfetto.cc", "-o", kept)
        return run(self.compiled("perfetto.cpp", "-std=c++17", "-w", "-I" + sdk, kept, "-pthread", compiler="CXX"),
                   self.scratch + "/perfetto.pftrace")


NAMES = {"lttng": "LTTng-UST, session to disk", "uftrace": "uftrace record, a function",
         "perfetto": "Perfetto C++ SDK, in process"}


def spread(name, values, form):
    print(f"  {name:34} {statistics.median(values):{form}}  {min(values):{form}} to {max(values):{form}}")


def main():
    source, build, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory(prefix="deepclock-") as scratch:
        peers = Peers(os.path.abspath(source), os.path.abspath(build), scratch)
        for peer, name in NAMES.items():
            if wanted and peer not in wanted:
                continue
            try:
                rounds = [tuple(map(float, line.split())) for line in getattr(peers, peer)().splitlines()]
            except Absent as e:
                print(f"{name}: absent: {e}")
                continue
            bare, ours, theirs = zip(*rounds)
            print(f"{name}, {len(rounds)} rounds in turn (ns a pair: median, least to greatest)")
            spread("bare pair", bare, "8.2f")
            spread("deepclock, to a file", ours, "8.2f")
            spread(peer, theirs, "8.2f")
            spread("deepclock / bare", [o / b for b, o, _ in rounds], "8.2f")
            spread(f"{peer} / bare", [t / b for b, _, t in rounds], "8.2f")
            spread(f"{peer} / deepclock", [t / o for _, o, t in rounds], "8.2f")


if __name__ == "__main__":
    try:
        main()
    except Failed as e:
        sys.exit(f"zone_peers: {e}")
