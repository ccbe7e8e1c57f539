#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What earlier versions wrote is read by this one: the records, histories and plug-ins of tests/fixtures.

  compat.py --program build/deepclock [CASE]...
"""

import glob
import json
import os
import re
import shlex
import shutil
import subprocess

import common
from common import expect

FIXTURES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "fixtures")
args = common.arguments(__doc__)


def ask(*words, status=0):
    done = subprocess.run([args.program, *words], capture_output=True, text=True, check=False)
    expect(done.returncode == status, f"{words}: status {done.returncode}: {done.stderr}")
    return done.stdout


def load(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def within(old, new, where=""):
    """Checks that all of `old` is in `new`, which may have more members."""
    if isinstance(old, dict):
        for key, value in old.items():
            expect(key in new, f"{where}.{key} is lost")
            within(value, new[key], f"{where}.{key}")
    elif isinstance(old, list):
        expect(len(old) == len(new), f"{where} has {len(new)} rows")
        for i, (a, b) in enumerate(zip(old, new)):
            within(a, b, f"{where}[{i}]")
    else:
        expect(old == new, f"{where}: {old} became {new}")


def records(version):
    found = sorted(glob.glob(os.path.join(FIXTURES, version, "*.json")))
    expect(found, "there are no records")
    for path in found:
        within(load(path), json.loads(ask("report", path, "--format", "json")), os.path.basename(path))
        expect(load(path)["facts"][0]["key"] and ask("report", path, "--details"), path)


def history(version):
    shutil.copy(os.path.join(FIXTURES, version, "history.db"), "history.db")
    expect("3 records" in ask("history", "check", "--db", "history.db"), "check")
    old = [json.loads(line) for line in ask("history", "export", "--db", "history.db").splitlines()]
    expect(len(old) == 3 and all(r["deepclock"].startswith(version) for r in old), "export")
    expect(len({r["history"]["commit"] for r in old}) == 3, "commits")
    # This version adds to it.
    ask("bench", "--quiet", "--runs", "5", "--warmup", "0", "--db", "history.db", "--", "true")
    listed = ask("history", "list", "--db", "history.db", "--format", "csv").splitlines()
    expect(len(listed) == 5, listed)


def plugin(version):
    cc = shlex.split(os.environ.get("CC", "cc"))
    if not shutil.which(cc[0]):
        raise common.Skipped("there is no C compiler")
    where = os.path.join(FIXTURES, version)
    subprocess.run([*cc, "-shared", "-fPIC", "-I", os.path.join(where, "include"), os.path.join(where, "plugin.c"), "-o", "old.so"],
                   check=True)
    expect("of-0-1" in ask("engines", "plugin:./old.so"), "probed")
    r = json.loads(ask("bench", "plugin:./old.so", "--runs", "20", "--warmup", "0", "--processes", "1", "--no-history", "--quiet",
                       "--format", "json"))
    expect(any(m["tag"] == "latency/median" and "value" in m for m in r["metrics"]), "measured")


if __name__ == "__main__":
    versions = sorted(v for v in os.listdir(FIXTURES) if re.fullmatch(r"\d+(\.\d+)*", v))
    common.run([(f"{what.__name__} of {version}", lambda what=what, version=version: what(version))
                for version in versions for what in (records, history, plugin)], args.prefixes)
