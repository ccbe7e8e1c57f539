#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tree's wheel in a fresh virtual environment, built as `make wheel` builds it, for this Python alone: the package, the
program on the PATH, fresh processes, all from the wheel alone. Auditwheel checks it if installed. Then the main job and every command
in a root directory without a compiler (bare_root.py); where none can be made, every command in the environment.

  pip_install.py BUILD

Without a network, or without Python's headers, it is skipped. Without such a root ONNX Runtime is copied from the build directory to
pip's location: the environment is never activated, so it is found relative to the program.
"""

import glob
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import wheel as wheels  # noqa: E402
import bare_root  # noqa: E402
import every_command  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
failed = 0
number = 0


def skip(why):
    print(f"1..0 # skip {why}")
    sys.exit(0)


def check(what, right, told=""):
    global failed, number
    number += 1
    failed += not right
    print(f"{'' if right else 'not '}ok {number} - {what}")
    for line in ("" if right else told[-3000:]).splitlines():
        print("#", line)
    return right


def run(*words, **options):
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)


def tracked(where):
    """Copies the tree without build products."""
    def ignored(folder, names):
        return [n for n in names if n.startswith("build") and os.path.isdir(os.path.join(folder, n))
                and folder == ROOT or n in (".git", ".cache", "__pycache__")]
    shutil.copytree(ROOT, where, ignore=ignored, symlinks=True)


def main():
    if not os.path.exists(os.path.join(sysconfig.get_paths()["include"], "Python.h")):
        skip("Python's headers are not there (python3-dev)")
    with tempfile.TemporaryDirectory(prefix="deepclock-pip-") as scratch:
        env = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DEEPCLOCK"))}
        # The speed of its code does not matter here, and optimisation would take half of the time.
        env.update(XDG_DATA_HOME=scratch, XDG_CACHE_HOME=os.path.join(scratch, "cache"), CFLAGS="-O0")
        if shutil.which("ccache"):  # its cache is not below XDG_CACHE_HOME then
            env["CCACHE_DIR"] = run("ccache", "--get-config", "cache_dir").stdout.strip()
        tree, venv = os.path.join(scratch, "tree"), os.path.join(scratch, "venv")
        tracked(tree)
        if run(sys.executable, "-m", "venv", venv).returncode != 0:
            skip("there is no venv (python3-venv)")
        python, program = os.path.join(venv, "bin", "python"), os.path.join(venv, "bin", "deepclock")
        site = os.path.join(venv, "lib", "python{}.{}".format(*sys.version_info), "site-packages")
        if run(python, "-m", "pip", "download", "-q", "--no-deps", "-d", scratch, "meson-python").returncode:
            skip("the package index cannot be reached")
        wheel, told, floor = wheels.make(python, tree, scratch, env, more=False)
        check("the wheel is built", wheel is not None, told)
        installed = False
        if wheel:
            tag, told = wheels.verdict(wheel)
            if tag:
                check(f"auditwheel finds nothing but the system's libraries: {tag}", tag.startswith("manylinux"), told)
            else:
                print("# skipped:", told)
            wrong = list(wheels.faults(wheel, floor))
            check(f"it is what its tags say, and nothing in it needs more than glibc {floor[0]}.{floor[1]}", not wrong, "\n".join(wrong))
            if not wheels.zig():
                print("# skipped: ziglang is not installed: the wheel is for systems as new as this one")
            with zipfile.ZipFile(wheel) as z:
                inside = {os.path.basename(n): z.read(n) for n in z.namelist()}
            listed = {c["name"]: c for c in json.loads(inside["deepclock.cdx.json"])["components"]}
            check("the SBOM lists what is bundled, with its hash and licence", set(listed) == {*wheels.BUNDLED, *wheels.EMBEDDED}
                  and all(c["version"] for c in listed.values())
                  and all(listed[n]["hashes"][0]["content"] == hashlib.sha256(inside[n]).hexdigest() for n in wheels.BUNDLED)
                  and all(len(inside[of[0] + ".txt"]) > 100 for of in (*wheels.BUNDLED.values(), *wheels.EMBEDDED.values())),
                  str(listed))
            shutil.rmtree(tree)
            ran = run(python, "-m", "pip", "install", "--disable-pip-version-check", "--no-index", wheel, env=env)
            installed = ran.returncode == 0
            check("the wheel is installed, and needs nothing else", installed, ran.stdout + ran.stderr)
            ran = run(python, "-m", "pip", "show", "deepclock", env=env)
            with zipfile.ZipFile(wheel) as z:
                metadata = z.read(next(n for n in z.namelist() if n.endswith(".dist-info/METADATA"))).decode()
            check("its licence is one line", len(ran.stdout.splitlines()) < 15
                  and "\nLicense-Expression: Apache-2.0\n" in metadata, ran.stdout + metadata[:1000])
        if installed:
            with open(program, "rb") as f:
                check("the program is the C program, and no script", f.read(4) == b"\x7fELF")
            ran = run(program, "--version", env=env, cwd=scratch)
            check("the program is on the PATH", ran.stdout.startswith("deepclock "), ran.stdout + ran.stderr)
            ran = run(python, "-m", "deepclock", "cost", "zoo:resnet18", "--format", "csv", env=env, cwd=scratch)
            check("python -m deepclock", "cost/macs" in ran.stdout, ran.stdout + ran.stderr)
            ran = run(python, "-W", "error", "-c", "import deepclock\n"
                      "r = deepclock.bench_command(['true'], runs=3, warmup=0, processes=2, no_history=True)\n"
                      "assert r.facts['method/processes'].value == 2\n"
                      "print(float(deepclock.bench(sum, (1, 2), runs=30)['latency/median']) > 0)",
                      env=env, cwd=scratch)
            check("measures, also in fresh processes", ran.stdout == "True\n", ran.stdout + ran.stderr)
            pieces = [os.path.basename(f) for f in glob.glob(os.path.join(glob.escape(sys.argv[1]), "libdeepclock_*.so"))]
            inside = run(python, "-c", "import deepclock, os; print(*os.listdir(deepclock.__path__[0] + '/bin'))", env=env,
                         cwd=scratch).stdout.split()
            check("what goes in front of programs is in the wheel, all of it", pieces and set(pieces) <= set(inside),
                  f"{pieces} {inside}")
            bare = ""
            try:
                bare_root.wheel(sys.argv[1], wheel, check)
            except bare_root.Skipped as e:
                bare = str(e)
            if bare:  # each command here then
                check(f"# skip {bare}", not os.environ.get("CI"))
                capi = os.path.join(site, "onnxruntime", "capi")
                os.makedirs(capi)
                for library in glob.glob(os.path.join(glob.escape(sys.argv[1]), "ort", "libonnxruntime.so*")):
                    shutil.copy(library, capi)
                every_command.every(program, python, shlex.split(os.environ.get("CC", "cc")), env, check)
                shutil.rmtree(os.path.dirname(capi))
            ran = run(python, "-m", "pip", "uninstall", "-y", "-q", "deepclock", env=env)
            check("uninstalling leaves nothing", not os.path.exists(program) and not [
                f for f in os.listdir(site) if f.startswith("deepclock")])
    print(f"1..{number}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
