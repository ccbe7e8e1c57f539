#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The wheel and the Debian packages in a root directory of Debian that debootstrap made, as somebody who has nothing else
installs, uses and removes them. Prints TAP.

  bare_root.py BUILD wheel FILE.whl       no compiler; ONNX Runtime from PyPI
  bare_root.py BUILD deb DIRECTORY        the packages of tools/deb.sh, and debian/tests/main-job

BUILD/roots has the roots that are copied for each run: debian, which container.py takes too, and python. Each is made once. It takes
root's rights, a network, and debootstrap.
"""

import fcntl
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, HERE)
import every_command  # noqa: E402
from tap import Checks  # noqa: E402

MIRROR = "http://deb.debian.org/debian"
SUITE = "bookworm"
HOME = "/opt/home"
# What package managers write for themselves, and no package owns.
THEIRS = ("/proc/", "/sys/", "/dev/", "/tmp/", "/run/", "/var/lib/apt/", "/var/cache/", "/var/log/", "/var/lib/dpkg/",
          "/etc/ld.so.cache")


class Skipped(Exception):
    """A requirement is missing."""


def need():
    if os.geteuid():
        raise Skipped("it takes root's rights")
    if not shutil.which("debootstrap"):
        raise Skipped("debootstrap is not installed")


def once(build, name, fill):
    """Returns BUILD/roots/name, which fill(path) made for the first caller, of several processes too."""
    where = os.path.join(build, "roots", name)
    os.makedirs(os.path.dirname(where), exist_ok=True)
    with open(where + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not os.path.isdir(where):
            remove(where + ".tmp")
            fill(where + ".tmp")
            os.rename(where + ".tmp", where)
    return where


def succeeded(what, ran):
    if ran.returncode:
        raise Skipped(f"{what}: {ran.stdout.strip().splitlines()[-1]}")


def debian(build):
    """Returns the root that others are copied from: what Debian cannot do without."""
    need()
    return once(build, "debian", lambda path: succeeded("debootstrap made no root", subprocess.run(
        ["debootstrap", "--variant=minbase", SUITE, path, MIRROR], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)))


def copied(root, path):
    """Copies a root, and what of this system leads to the network."""
    remove(path)
    subprocess.run(["cp", "-a", "--reflink=auto", root, path], check=True)
    for file in ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "/etc/ssl/certs/ca-certificates.crt"):
        if os.path.exists(file):
            os.makedirs(os.path.dirname(path + file), exist_ok=True)
            shutil.copy(file, path + file)
    shutil.copytree("/etc/apt/apt.conf.d", path + "/etc/apt/apt.conf.d", dirs_exist_ok=True)


def inside(path, *words, cwd="/", **env):
    """Runs a program in a root, with a /proc in a mount namespace of its own."""
    env = {"PATH": "/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": HOME, "LANG": "C.UTF-8",
           "DEBIAN_FRONTEND": "noninteractive", **{k: v for k, v in os.environ.items() if k.startswith("PIP_CERT")}, **env}
    script = ('mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && '
              'exec chroot "$0" sh -c \'cd "$0" && exec "$@"\' "$@"')
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", script, path, cwd, *words],
                          env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)


def python(build):
    """Returns the root of those who have Python."""
    def fill(path):
        copied(debian(build), path)
        succeeded("Python is not installed in the root", inside(
            path, "sh", "-c", "apt-get update -q && apt-get install -y -q --no-install-recommends python3 python3-venv ca-certificates"))
    return once(build, "python", fill)


class Bare:
    """A copy of the root with Python."""

    def __init__(self, build, name):
        self.path = os.path.join(build, "roots", name)
        copied(python(build), self.path)
        os.makedirs(self.path + HOME)

    def run(self, *words, cwd=HOME, **env):
        return inside(self.path, *words, cwd=cwd, **env)

    def files(self):
        """Returns what is in it, but for what package managers keep of their own."""
        ran = subprocess.run(["find", ".", "-xdev", "-printf", "/%P\n"], cwd=self.path, capture_output=True, text=True, check=True)
        return {line for line in ran.stdout.splitlines() if not (line + "/").startswith(THEIRS) and "__pycache__" not in line}

    def add(self, path, to):
        os.makedirs(self.path + to, exist_ok=True)
        return os.path.join(to, os.path.basename(shutil.copy(path, self.path + to)))


def remove(path):
    if os.path.isdir(path):
        subprocess.run(["rm", "-rf", "--one-file-system", path], check=True)


def programs(folder):
    """Compiles the programs of every_command.py, for a root without a compiler."""
    os.makedirs(folder)
    every_command.compile_programs(folder, (os.environ.get("CC") or "cc").split())


def wheel(build, file, check):
    bare = Bare(build, "wheel")
    before = bare.files()
    ran = bare.run("sh", "-c", "command -v cc gcc make")
    check("the root has no compiler", ran.returncode != 0, ran.stdout)
    ran = bare.run("python3", "-m", "venv", "/opt/env")
    check("a virtual environment", ran.returncode == 0, ran.stdout)
    inside = bare.add(file, HOME + "/wheels")
    ran = bare.run("/opt/env/bin/pip", "install", "--disable-pip-version-check", inside + "[ort]")
    if not check("pip installs the wheel, and ONNX Runtime", ran.returncode == 0, ran.stdout):
        return
    with open(bare.path + "/opt/env/bin/deepclock", "rb") as f:
        check("the program is no script", f.read(4) == b"\x7fELF")
    ran = bare.run("/opt/env/bin/deepclock", "bench", "zoo:simplenet", "--runs", "20", "--save", HOME + "/run.json", "--html",
                   HOME + "/run.html")
    check("the main job: a model is timed", ran.returncode == 0 and "median" in ran.stdout, ran.stdout)
    ran = bare.run("/opt/env/bin/python", "-c", "import deepclock\n"
                   "print(deepclock.bench_command(['true'], runs=3, warmup=0, processes=2)['latency/median'].value > 0)")
    check("the package measures in fresh processes", ran.stdout == "True\n", ran.stdout)
    programs(bare.path + HOME + "/programs")
    bare.add(os.path.join(HERE, "every_command.py"), HOME)
    ran = bare.run("/opt/env/bin/python", HOME + "/every_command.py", "/opt/env/bin/deepclock",
                   "/opt/env/bin/python", HOME + "/programs")
    for line in ran.stdout.splitlines():
        if line.startswith(("ok ", "not ok ")):
            check(line.split(" - ", 1)[1], line.startswith("ok "), ran.stdout)
    check("each command was tried", ran.returncode == 0, ran.stdout)
    ran = bare.run("/opt/env/bin/pip", "uninstall", "-y", "--disable-pip-version-check", "deepclock")
    left = sorted(f for f in bare.files() - before if "deepclock" in f and not f.startswith(HOME))
    check("uninstalling from the bare root leaves nothing", ran.returncode == 0 and not left, ran.stdout + "\n".join(left))
    remove(bare.path)


def deb(build, folder, check):
    bare = Bare(build, "deb")
    ran = bare.run("apt-get", "update", "-q")
    if ran.returncode:
        raise Skipped("the package index cannot be reached: " + ran.stdout.strip().splitlines()[-1])
    # What the test needs besides the packages: debian/tests/control.
    with open(os.path.join(ROOT, "debian", "tests", "control"), encoding="utf-8") as f:
        depends = next(line for line in f if line.startswith("Depends:")).split(":")[1].replace(",", " ").split()
    install = ("apt-get", "install", "-y", "-q", "--no-install-recommends")
    ran = bare.run(*install, *(d for d in depends if "deepclock" not in d))
    check("what the test needs is installed", ran.returncode == 0, ran.stdout)
    before = bare.files()
    files = [bare.add(f, "/tmp/debs") for f in sorted(glob.glob(os.path.join(glob.escape(folder), "*.deb")))]
    ran = bare.run(*install, *files)
    if not check(f"{len(files)} packages are installed", files and ran.returncode == 0, ran.stdout):
        return
    test = bare.add(os.path.join(ROOT, "debian", "tests", "main-job"), "/tmp")
    ran = bare.run(test, AUTOPKGTEST_TMP="/tmp")
    check("debian/tests/main-job", ran.returncode == 0, ran.stdout)
    ran = bare.run("sh", "-c", "test -s /usr/share/man/man1/deepclock-bench.1.gz && for f in /usr/share/bash-completion/completions/"
                   "deepclock /usr/share/zsh/vendor-completions/_deepclock /usr/share/fish/vendor_completions.d/deepclock.fish; "
                   "do test -s $f || exit 1; done")
    check("manual pages, and completion for three shells", ran.returncode == 0, ran.stdout)
    names = [os.path.basename(f).split("_")[0] for f in files]
    ran = bare.run("apt-get", "purge", "-y", "-q", "--autoremove", *names)
    now = bare.files()
    check("they are removed without a trace", ran.returncode == 0 and now == before,
          ran.stdout + "\n".join(sorted(now ^ before)))
    remove(bare.path)


def main():
    build, kind, what = os.path.abspath(sys.argv[1]), sys.argv[2], os.path.abspath(sys.argv[3])
    check = Checks()
    try:
        {"wheel": wheel, "deb": deb}[kind](build, what, check)
    except Skipped as e:
        print(f"1..0 # skip {e}")
        return 1 if os.environ.get("CI") else 0
    return check.end()


if __name__ == "__main__":
    sys.exit(main())
