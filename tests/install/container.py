#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The second stage of the Dockerfile without a container daemon: a root made by debootstrap, in which the step of
tools/container.sh runs and the program of BUILD is installed, which then runs as the user that the Dockerfile names.

  container.py BUILD

The root is kept in BUILD/roots, by the contents of tools/container.sh. The first stage, which compiles, is not run. Needs root, and Debian
12, whose C library the program was built with.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import bare_root  # noqa: E402
import common  # noqa: E402
from common import expect  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
STEPS = os.path.join(ROOT, "tools", "container.sh")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def need():
    if 'VERSION_ID="12"' not in read("/etc/os-release"):
        raise common.Skipped("this is not Debian 12, which the image is made of")


def done(*words, status=0, **env):
    ran = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **env})
    expect(ran.returncode == status, f"{words}: status {ran.returncode}: {(ran.stdout + ran.stderr)[-3000:]}")
    return ran.stdout


def made():
    """Returns the root, made once for each version of the steps."""
    name = hashlib.sha256(read(STEPS).encode()).hexdigest()[:12]

    def fill(path):
        bare_root.copied(bare_root.debian(BUILD), path)
        shutil.copy(STEPS, path + "/tmp/container.sh")
        ran = bare_root.inside(path, "/tmp/container.sh", "run")
        expect(ran.returncode == 0, ran.stdout[-3000:])
        os.remove(path + "/tmp/container.sh")
    try:
        return bare_root.once(BUILD, "container-" + name, fill)
    except bare_root.Skipped as e:
        raise common.Skipped(str(e)) from e


def inside(where, *words, status=0):
    """Runs a program in the root as its user."""
    user = re.search(r"(?m)^USER (\w+)$", read(os.path.join(ROOT, "Dockerfile")))[1]
    number = re.search(rf"(?m)^{user}:x:(\d+):(\d+):", read(where + "/etc/passwd"))
    expect(number[1] != "0", "the user is not root")
    script = ('mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/tmp" && user=$1 && shift && '
              'exec chroot --userspec="$user" "$0" env -i HOME=/tmp PATH=/usr/local/bin:/usr/bin:/bin "$@"')
    return done("unshare", "--mount", "--pid", "--fork", "sh", "-c", script, where, f"{number[1]}:{number[2]}", *words, status=status)


def runs():
    need()
    where = made()
    done("make", "-C", ROOT, "--no-print-directory", "-o", "all", f"BUILD={BUILD}", "PREFIX=/usr/local", f"DESTDIR={where}", "install")
    try:
        expect(inside(where, "id", "-u") == "1000\n", "the user")
        expect(not any(os.path.exists(f"{where}/usr/bin/{name}") for name in ("cc", "gcc", "make", "python3")), "nothing builds here")
        expect("deepclock " in inside(where, "deepclock", "version"), "version")
        expect("median" in inside(where, "deepclock", "bench", "--runs", "20", "--warmup", "2", "--quiet", "--", "true"), "a program")
        kept = inside(where, "sh", "-c", "cd && deepclock bench --runs 5 --quiet --save r.json -- true >/dev/null &&"
                      " deepclock history list --format csv && deepclock bench --figures . --runs 5 --quiet -- true >/dev/null && ls")
        expect("latency/median" in kept and "runs.png" in kept, kept)
        expect("MACs" in inside(where, "deepclock", "cost", "zoo:resnet18"), "the cost of a model")
        expect("page faults" in inside(where, "deepclock", "count", "--quiet", "--", "true"), "count")
        if os.path.isdir(os.path.join(BUILD, "ort")):
            shown = inside(where, "deepclock", "bench", "zoo:simplenet", "--runs", "20", "--warmup", "2", "--processes", "1", "--quiet",
                           "--no-history")
            expect("on ort" in shown, shown)
    finally:
        done("make", "-C", ROOT, "--no-print-directory", f"BUILD={BUILD}", "PREFIX=/usr/local", f"DESTDIR={where}", "uninstall")
    expect(not os.path.exists(where + "/usr/local/bin/deepclock"), "uninstalled")


def steps():
    """The Dockerfile runs the steps, and nothing else, and ends as a user."""
    text = re.sub(r"(?m)^#.*\n", "", read(os.path.join(ROOT, "Dockerfile")))
    run = re.findall(r"(?m)^RUN (.*)$", text)
    expect(run == ["/src/tools/container.sh build /out", "/tmp/container.sh run && rm /tmp/container.sh"], run)
    expect(text.count("FROM debian:12-slim") == 2 and text.index("USER ") > text.index("COPY --from=build /out"), text)


if __name__ == "__main__":
    common.run([("the steps of the Dockerfile", steps), ("the program in the root, as its user", runs)])
