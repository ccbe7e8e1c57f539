#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel for AArch64, unpacked as pip would, and used in QEMU with Debian's C library and Python of that processor, unpacked below
DIR. Prints TAP.

  wheel_in_qemu.py DIR       the directory of `make wheel WHEEL_ARCH=aarch64`

QEMU's time is not the processor's: no duration is judged.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

from tap import Checks

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PYTHON = ("libc6", "libgcc-s1", "zlib1g", "libexpat1", "libssl3", "libffi8", "libpython3.11-minimal", "libpython3.11-stdlib",
          "python3.11-minimal")  # neither jansson nor SQLite: the wheel has copies
SCRIPT = """import deepclock
r = deepclock.bench(lambda: None, runs=30, no_history=True)
assert r["latency/median"].value > 0
with deepclock.zone("forward"):
    sum(range(1000))
r.save("python.json")
print(deepclock.__version__)
"""


def unpack(wheel, prefix):
    """Puts the wheel's files where pip puts them."""
    with zipfile.ZipFile(wheel) as z:
        for item in z.infolist():
            script = re.fullmatch(r"[^/]*\.data/scripts/(.*)", item.filename)
            path = os.path.join(prefix, *(("bin", script[1]) if script else ("lib/python3.11/site-packages", item.filename)))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as f:
                f.write(z.read(item))
            os.chmod(path, item.external_attr >> 16 & 0o777)


def uses(wheel, folder, check):
    where = os.path.join(folder, "root-python")
    subprocess.run([os.path.join(ROOT, "tools", "arm64_root.sh"), where, *PYTHON], check=True)
    with tempfile.TemporaryDirectory(prefix="deepclock-wheel-") as scratch:
        prefix = os.path.join(scratch, "env")
        unpack(wheel, prefix)
        env = {"PATH": "/usr/bin:/bin", "HOME": scratch, "LC_ALL": "C.UTF-8",
               "PYTHONPATH": os.path.join(prefix, "lib/python3.11/site-packages")}

        def run(*words, **more):
            return subprocess.run(["qemu-aarch64", "-L", where, *words], cwd=scratch, env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True, check=False, timeout=300, **more)
        program = os.path.join(prefix, "bin", "deepclock")
        with open(program, "rb") as f:
            check("the program is an ELF file for AArch64", f.read(20)[18:] == b"\xb7\x00")
        version = os.path.basename(wheel).split("-")[1]
        ran = run(program, "version")
        check("the program runs", ran.returncode == 0 and ran.stdout.startswith("deepclock "), ran.stdout)
        ran = run(program, "cost", "zoo:resnet18", "--no-history", "--quiet", "--save", "cost.json")
        check("it counts the operations of a model", ran.returncode == 0 and "MACs" in ran.stdout, ran.stdout)
        ran = run(program, "report", "cost.json", "--format", "json")
        check("it reads a record, by the jansson of the wheel", ran.returncode == 0 and json.loads(ran.stdout)["schema"] == 1, ran.stdout)
        ran = run(program, "history", "import", "cost.json")
        check("it stores a record, by the SQLite of the wheel", ran.returncode == 0, ran.stdout)
        ran = run(program, "history", "check")
        check("the history is sound", ran.returncode == 0 and "1 record" in ran.stdout, ran.stdout)
        ran = run(where + "/usr/bin/python3.11", "-c", SCRIPT)
        told = ran.stdout.strip()
        check("the package measures a function", ran.returncode == 0 and told.replace("-", "") == version, ran.stdout)
        ran = run(program, "report", "python.json")
        check("the program reads the package's record", ran.returncode == 0 and "median" in ran.stdout, ran.stdout)


def main():
    folder = os.path.abspath(sys.argv[1])
    wheels = glob.glob(os.path.join(glob.escape(folder), "deepclock-*_aarch64.whl"))
    check = Checks()
    if not shutil.which("qemu-aarch64"):
        print("1..0 # skip qemu-aarch64 is not installed: apt-get install qemu-user")
        return 1 if os.environ.get("CI") else 0
    if not wheels:
        sys.exit(f"wheel_in_qemu: no wheel for AArch64 in {folder}")
    uses(wheels[0], folder, check)
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
