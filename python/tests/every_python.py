#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compiles the extension for every installed interpreter that has headers, and runs the tests that measure
under each, except the interpreter that runs this.

  every_python.py BUILD
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
OLDEST = (3, 9)
TESTS = ("test_record.py", "test_memory.py", "test_line_memory.py", "test_count.py")
LONG = "test_bench.py"  # of the oldest and the newest
ASK = """import json, os, sys, sysconfig
v = sysconfig.get_config_vars()
print(json.dumps([sys.version_info[:2], bool(v.get("Py_GIL_DISABLED")), os.path.realpath(sys.executable),
                  sysconfig.get_paths()["include"], v["EXT_SUFFIX"]]))"""


def interpreters():
    """Returns (version, free-threaded, path, headers, suffix) of each interpreter on PATH and of pyenv, once."""
    names = ["python3", *(f"python3.{minor}{t}" for minor in range(OLDEST[1], 25) for t in ("", "t"))]
    paths = [p for folder in os.get_exec_path() for name in names
             if (p := shutil.which(name, path=folder))]
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    paths += sorted(glob.glob(os.path.join(glob.escape(pyenv), "versions", "*", "bin", "python3")))
    seen = {}
    for path in paths:
        told = subprocess.run([path, "-c", ASK], capture_output=True, text=True, check=False)
        if told.returncode == 0:  # a pyenv shim may have no interpreter
            version, free, real, headers, ending = json.loads(told.stdout)
            if tuple(version) >= OLDEST and os.path.exists(os.path.join(headers, "Python.h")):
                seen[real] = (tuple(version), free, path, headers, ending)
    # One of each minor version: patch levels share one ABI.
    return [one for _, one in sorted({(s[0], s[1]): s for s in seen.values()}.items())]


def flags(build):
    """Returns the sources of the extension that Meson built."""
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as f:
        sources = [os.path.normpath(os.path.join(c["directory"], c["file"])) for c in json.load(f)
                   if "/python/ext/" in os.path.normpath(os.path.join(c["directory"], c["file"]))]
    return sorted(set(sources))


def build_for(build, one, where, optimised="-O1"):
    version, free, path, headers, ending = one
    package = os.path.join(where, "deepclock")
    shutil.copytree(os.path.join(build, "python", "deepclock"), package,
                    ignore=shutil.ignore_patterns("*.so", "*.p", "__pycache__"))
    return subprocess.run(
        [*os.environ.get("CC", "cc").split(), "-std=c17", optimised, "-shared", "-fPIC", "-fvisibility=hidden",
         "-D_GNU_SOURCE", "-Wall", "-Werror", "-Wno-write-strings", "-I" + os.path.join(ROOT, "include"),
         "-I" + headers, *flags(build), os.path.join(build, "libdeepclock.a"),
         "-Wl,--version-script=" + os.path.join(ROOT, "python", "ext", "exported.map"),
         "-o", os.path.join(package, "_deepclock" + ending), "-lm", "-ldl", "-pthread"],
        capture_output=True, text=True, check=False)


def main():
    build = os.path.abspath(sys.argv[1])
    all_of_them = interpreters()
    if not all_of_them:
        print("1..0 # skip there is no Python with headers")
        return 0
    print(f"1..{len(all_of_them)}")
    failed = 0
    for i, one in enumerate(all_of_them, 1):
        name = "Python {}.{}{}".format(*one[0], " free-threaded" if one[1] else "")
        with tempfile.TemporaryDirectory(prefix="deepclock-python-") as where:
            made = build_for(build, one, where)
            wrong = "" if made.returncode == 0 else made.stderr[-2000:]
            env = {**os.environ, "PYTHONPATH": where, "PYTHONDONTWRITEBYTECODE": "1",
                   "PATH": build + os.pathsep + os.environ["PATH"]}
            tested = one[0] == sys.version_info[:2] and not one[1]  # the build that Meson made
            for test in () if wrong or tested else (*TESTS, LONG) if one in (all_of_them[0], all_of_them[-1]) else TESTS:
                ran = subprocess.run([one[2], "-W", "error", os.path.join(HERE, test)], env=env,
                                     capture_output=True, text=True, check=False, timeout=600)
                wrong += "" if ran.returncode == 0 else (ran.stdout + ran.stderr)[-3000:]
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {i} - {name}")
        for line in wrong.splitlines():
            print("#", line)
        sys.stdout.flush()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
