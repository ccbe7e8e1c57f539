#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every fuzz target of a clang build (make fuzz), or minimises the corpus.

  fuzz.py build-fuzz SECONDS [TARGET...]    fuzzes on each processor, SECONDS in total
  fuzz.py build-fuzz 30s [TARGET...]        fuzzes each target for 30 s, two on each processor
  fuzz.py build-fuzz --merge                minimises the union of the corpus and the found inputs

A run starts from the corpus and the inputs that earlier runs found, in build-fuzz/found/TARGET. A
crashing input is written to build-fuzz/TARGET-crash-... and fails the run. --merge is described in
tests/fuzz/corpus/README.md.
"""

import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.path.join(ROOT, "tests", "fuzz", "corpus")
FOUND_BY_SEARCH = re.compile(r"[0-9a-f]{40}$")


def fuzzer(build, target, *args):
    return subprocess.run([os.path.join(build, "tests", "fuzz", "fuzz_" + target), "-timeout=30",
                           "-rss_limit_mb=2048", *args],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")


def corpus(target):
    """Returns the corpus directory; all targets that read models share one."""
    own = os.path.join(CORPUS, target)
    return own if os.path.isdir(own) else os.path.join(CORPUS, "model")


def search(build, target, seconds):
    found = os.path.join(build, "found", target)
    os.makedirs(found, exist_ok=True)
    done = fuzzer(build, target, f"-max_total_time={seconds}", "-print_final_stats=1", "-verbosity=0",
                  f"-artifact_prefix={os.path.join(build, target)}-", found, corpus(target))
    if done.returncode:
        print(done.stdout)
    runs = re.search(r"number_of_executed_units: (\d+)", done.stdout)
    new = re.search(r"new_units_added: *(\d+)", done.stdout)
    print(f"fuzz_{target}: {'FAILED' if done.returncode else 'ok'}, {runs[1] if runs else '?'} inputs in "
          f"{seconds} s, {new[1] if new else '?'} of them reached something new", flush=True)
    return done.returncode


def merge(build, folder, targets):
    """Keeps the files with a name, and the others that add coverage."""
    found = [os.path.join(build, "found", t) for t in targets]
    before = os.listdir(folder)
    with tempfile.TemporaryDirectory() as kept:
        for name in before:
            if not FOUND_BY_SEARCH.match(name):
                shutil.copy(os.path.join(folder, name), kept)
        for target in targets:
            done = fuzzer(build, target, "-merge=1", "-use_counters=0", kept, folder, *filter(os.path.isdir, found))
            if done.returncode:
                print(done.stdout)
                return done.returncode
        for name in before:
            os.remove(os.path.join(folder, name))
        shutil.copytree(kept, folder, dirs_exist_ok=True)
    size = sum(os.path.getsize(os.path.join(folder, n)) for n in os.listdir(folder))
    print(f"{folder}: {len(before)} files before, {len(os.listdir(folder))} now, {size / 1024:.1f} KiB")
    return 0


def main():
    build, what, *targets = sys.argv[1:]
    targets = targets or sorted(n[5:] for n in os.listdir(os.path.join(build, "tests", "fuzz"))
                                if re.fullmatch("fuzz_[a-z]+", n))
    jobs = os.cpu_count() or 1
    if what == "--merge":
        folders = sorted(set(map(corpus, targets)))
        sys.exit(max(merge(build, f, [t for t in targets if corpus(t) == f]) for f in folders))
    if what.endswith("s"):
        jobs, share = 2 * jobs, int(what[:-1])
    else:
        share = max(1, int(what) * min(jobs, len(targets)) // len(targets))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        sys.exit(max(pool.map(lambda t: search(build, t, share), targets)))


if __name__ == "__main__":
    main()
