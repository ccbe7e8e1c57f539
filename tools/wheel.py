#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel that people install, and prints its platform.

  wheel.py DIR [TREE]                     make wheel
  wheel.py --machine aarch64 DIR [TREE]   make wheel WHEEL_ARCH=aarch64: the same, cross-compiled on Debian

pip and meson-python build the tree, as `pip install .` does, but the package ziglang links it, for an older C library
(GLIBC below). Then this script adds what a system may lack (BUNDLED), the licences of all that is not
deepclock's, a CycloneDX SBOM of it (PEP 770), and the tags. The extension is built for each Python from 3.9 on that is
found with its headers: this one, python3.N in PATH, pyenv's.

Without ziglang (`pip install ziglang`) the system's compiler builds it, for systems as new as this one. For another processor
the headers of Python are those of this one, with Debian's pyconfig.h of the other for Debian's own Python. What pyconfig.h of 3.11
has on one of the two alone (HAVE_GCC_ASM_FOR_X64, HAVE_GCC_ASM_FOR_X87, HAVE_USABLE_WCHAR_T, PY_SUPPORT_TIER) is in nothing that
the extension uses. Exits with 1 if it could not be built, or a file in it needs a newer C library than its tag states, or other
libraries than SYSTEM.
"""

import argparse
import base64
import glob
import hashlib
import importlib.util
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import zipfile

import sbom as materials

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GLIBC = (2, 28)
FIRST = (3, 9)
# Libraries that every Linux system of the platform tag has (PEP 600).
SYSTEM = re.compile(r"lib(c|m|dl|pthread|rt|z)\.so\.\d+|ld-linux.*|libdeepclock.*")
# A copy is used where the system has no such library (src/os/process/lazy_library.c). Soname: Debian's package, licence,
# whether Debian's own file suits older systems; else its static library is linked again.
BUNDLED = {
    "libjansson.so.4": ("libjansson4", "MIT", True),
    "libsqlite3.so.0": ("libsqlite3-0", "blessing", False),
}
EMBEDDED = {"d3": ("node-d3", "BSD-3-Clause")}  # in the program: the script of its pages
IN_PACKAGE = "deepclock/bin/"
COMPILER = "cc-for-older-glibc"
MACHINE = platform.machine()
ELF_MACHINES = {"x86_64": 62, "aarch64": 183}
# Debian's packages for another processor, besides those of BUNDLED: all that is compiled against.
HEADERS = ("libjansson-dev", "libsqlite3-dev", "zlib1g-dev", "libdw-dev", "libelf-dev", "libpython3.11-dev")


# --- what builds it

def interpreters():
    """Returns {(major, minor): (tag of its extensions, directory of its headers)} of the Pythons that have them."""
    found = {}
    pyenv = os.path.expanduser(os.environ.get("PYENV_ROOT", "~/.pyenv"))
    for path in [sys.executable, *glob.glob(os.path.join(glob.escape(pyenv), "versions", "*", "bin", "python3")),
                 *(shutil.which(f"python3.{minor}") for minor in range(FIRST[1], 30))]:
        ran = path and subprocess.run(
            [path, "-c", "import os, sys, sysconfig as s; print(*sys.version_info[:2], sys.implementation.name, "
             "s.get_config_var('Py_GIL_DISABLED') or 0, s.get_config_var('SOABI'), s.get_paths()['include'])"],
            capture_output=True, text=True, check=False)
        told = ran.stdout.split() if ran else []
        if len(told) == 6 and told[2:4] == ["cpython", "0"] and os.path.exists(told[5] + "/Python.h"):
            found.setdefault((int(told[0]), int(told[1])), (told[4], told[5]))
    return {version: of for version, of in found.items() if version >= FIRST}


def cross_root(folder):
    """Returns the directory with Debian's packages for AArch64; exits if they cannot be had."""
    root = os.path.join(folder, "root")
    subprocess.run([os.path.join(ROOT, "tools", "arm64_root.sh"), root, *HEADERS, *(of[0] for of in BUNDLED.values())], check=True)
    return root


def cross_file(folder, root, machine):
    """Writes Meson's description of the other machine; returns its path."""
    path = os.path.join(folder, machine + ".ini")
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"""[binaries]
c = '{os.path.join(folder, COMPILER)}'
ar = '{machine}-linux-gnu-ar'
strip = '{machine}-linux-gnu-strip'
pkg-config = 'pkg-config'
[built-in options]
c_args = ['-idirafter', '{root}/usr/include']
[properties]
pkg_config_libdir = '{root}/usr/lib/{machine}-linux-gnu/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = '{machine}'
cpu = '{machine}'
endian = 'little'
""")
    return path


def zig():
    """Returns the compiler of the package ziglang, or None."""
    spec = importlib.util.find_spec("ziglang")
    return os.path.join(os.path.dirname(spec.origin), "zig") if spec else None


def compiler(folder, env, machine=MACHINE):
    """Returns the environment in which the system's compiler compiles and zig links for GLIBC; `env`, if it is not installed.
    A symbol that the older library lacks fails to link. Without -O2 zig adds its own runtime for debugging, with names: 1 MB."""
    path = zig()
    if not path:
        return env
    cc = ("ccache " if shutil.which("ccache") else "")
    cc += (env.get("CC") or "cc").replace("ccache ", "") if machine == MACHINE else machine + "-linux-gnu-gcc"
    script = os.path.join(folder, COMPILER)
    with open(script, "w", encoding="utf-8") as f:
        f.write(f"""#!/bin/sh
for word; do
\tcase $word in -c | -E | -S | -fsyntax-only | --version | -print-* | --print-*) exec {cc} "$@" ;; esac
done
exec {shlex.quote(path)} cc -O2 -s -target {machine}-linux-gnu.{GLIBC[0]}.{GLIBC[1]} "$@"
""")
    os.chmod(script, 0o755)
    return dict(env, CC=script)


def build(python, tree, folder, env=None, settings=()):
    """Returns (path of the wheel or None if the build failed, pip's output). `python` has pip."""
    for old in glob.glob(os.path.join(glob.escape(folder), "deepclock-*.whl")):
        os.remove(old)
    ran = subprocess.run([python, "-m", "pip", "wheel", "--disable-pip-version-check", "--no-deps", *settings, "-w", folder,
                          tree], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    made = glob.glob(os.path.join(glob.escape(folder), "deepclock-*.whl"))
    return (made[0] if ran.returncode == 0 and made else None), ran.stdout


# --- what is added

def debian(root, package, field):
    ran = subprocess.run(["dpkg-query", f"--admindir={root}/var/lib/dpkg", "-W", f"-f=${{{field}}}", package], capture_output=True,
                         text=True, check=False)
    return ran.stdout if ran.returncode == 0 else ""


def copies(folder, root, machine, env):
    """Returns {soname: path}."""
    made = {}
    libraries = f"{root}/usr/lib/{machine}-linux-gnu"
    for soname, (_, _, suits) in BUNDLED.items():
        made[soname] = os.path.join(libraries, soname)
        if not suits:
            static = os.path.join(libraries, soname.split(".so")[0] + ".a")
            made[soname] = os.path.join(folder, soname)
            subprocess.run([*shlex.split(env.get("CC", "cc")), "-shared", "-s", "-o", made[soname], "-Wl,-soname," + soname,
                            "-Wl,-Bsymbolic", "-Wl,--whole-archive", static, "-Wl,--no-whole-archive", "-lm", "-lpthread",
                            "-ldl"], env=env, check=True)
    return made


def licence_file(root, package):
    with open(f"{root}/usr/share/doc/{package}/copyright", "rb") as f:
        return f.read()


def sbom(version, files, root):
    """Returns the CycloneDX document. files: {name in the wheel: bytes} of the bundled libraries, from packages of `root`."""
    def component(root, name, package, licence, content=None):
        of = {"type": "library", "name": name, "version": debian(root, package, "Version"), "bom-ref": name,
              "licenses": [{"license": {"id": licence}}],
              "purl": f"pkg:deb/debian/{debian(root, package, 'source:Package')}@{debian(root, package, 'source:Version')}"
                      f"?arch={debian(root, package, 'Architecture')}"}
        if content is not None:
            of["hashes"] = [{"alg": "SHA-256", "content": hashlib.sha256(content).hexdigest()}]
        return of
    components = [component(root, name, *BUNDLED[name][:2], content) for name, content in sorted(files.items())]
    components += [component("", name, *of) for name, of in EMBEDDED.items()]
    return materials.document(version, f"pkg:pypi/deepclock@{version}", components, components)


# --- the wheel

def needs(content):
    """Returns the newest version of the C library that an ELF file refers to: (0, 0): none."""
    return max([tuple(map(int, v.split(b"."))) for v in re.findall(rb"\0GLIBC_([0-9.]+)(?=\0)", content)], default=(0, 0))


def foreign(content, folder):
    """Returns the libraries that an ELF file needs and not every system has."""
    with tempfile.NamedTemporaryFile(dir=folder) as f:
        f.write(content)
        f.flush()
        told = subprocess.run(["readelf", "-d", f.name], capture_output=True, text=True, check=True).stdout
    return [name for name in re.findall(r"NEEDED.*\[(.*)\]", told) if not SYSTEM.fullmatch(name)]


def faults(wheel, floor):
    """Yields what makes the wheel fail on a system of its tag."""
    *_, pythons, _, system = os.path.basename(wheel)[:-len(".whl")].split("-")
    machine = next((number for name, number in ELF_MACHINES.items() if system.endswith(name)), None)
    with zipfile.ZipFile(wheel) as z, tempfile.TemporaryDirectory() as folder:
        told = z.read(next(n for n in z.namelist() if n.endswith(".dist-info/WHEEL"))).decode()
        if re.findall(r"(?m)^Tag: (.*)$", told) != [f"{p}-{p}-{system}" for p in pythons.split(".")]:
            yield f"the tags in WHEEL are not those of its name: {told}"
        for name in z.namelist():
            content = z.read(name)
            if not content.startswith(b"\x7fELF"):
                continue
            if machine and int.from_bytes(content[18:20], "little") != machine:
                yield f"{name} is for another processor than {system}"
            if needs(content) > floor:
                yield f"{name} needs GLIBC_{'.'.join(map(str, needs(content)))}, more than {'.'.join(map(str, floor))}"
            for library in foreign(content, folder):
                yield f"{name} needs {library}, which not every system has"


def record_line(name, content):
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def finish(wheel, versions, floor, folder, env, machine=MACHINE, root=""):
    """Adds copies, licences and the SBOM, sets the tags; returns the path of the new wheel."""
    version = os.path.basename(wheel).split("-")[1]
    info = f"deepclock-{version}.dist-info/"
    pythons = [f"cp{major}{minor}" for major, minor in sorted(versions)]
    tag_platform = f"manylinux_{floor[0]}_{floor[1]}_{machine}"
    files, modes = {}, {}
    with zipfile.ZipFile(wheel) as z:
        for item in z.infolist():
            if not item.is_dir():
                # The extension of this Python has the name of this machine.
                name = item.filename.replace(f"-{MACHINE}-linux-gnu.so", f"-{machine}-linux-gnu.so")
                files[name], modes[name] = z.read(item), item.external_attr
    added = {}
    for soname, path in copies(folder, root, machine, env).items():
        with open(path, "rb") as f:
            added[soname] = f.read()
        files[IN_PACKAGE + soname] = added[soname]
    for where, of in [(root, of) for of in BUNDLED.values()] + [("", of) for of in EMBEDDED.values()]:
        files[f"{info}licenses/bundled/{of[0]}.txt"] = licence_file(where, of[0])
    files[info + "sboms/deepclock.cdx.json"] = json.dumps(sbom(version, added, root), indent=1).encode() + b"\n"
    tags = "".join(f"Tag: {p}-{p}-{tag_platform}\n" for p in pythons)
    files[info + "WHEEL"] = (re.sub(r"(?m)^Tag: .*\n?", "", files[info + "WHEEL"].decode()).rstrip("\n") + "\n" + tags).encode()
    del files[info + "RECORD"]
    lines = "".join(record_line(name, files[name]) for name in sorted(files))
    files[info + "RECORD"] = (lines + info + "RECORD,,\n").encode()
    name = f"deepclock-{version}-{'.'.join(pythons)}-{'.'.join(pythons)}-{tag_platform}.whl"
    made = os.path.join(os.path.dirname(wheel), name)
    with zipfile.ZipFile(made + ".new", "w", zipfile.ZIP_DEFLATED) as z:
        for name in sorted(files, key=lambda n: (n.startswith(info), n)):
            item = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
            item.compress_type = zipfile.ZIP_DEFLATED
            item.external_attr = modes.get(name, 0o100644 << 16)
            z.writestr(item, files[name])
    os.remove(wheel)
    os.replace(made + ".new", made)
    return made


def make(python, tree, folder, env, more=True, machine=MACHINE):
    """Builds and finishes the wheel; returns (path or None, output, floor). python: of this version, with pip. more: for the
    other Pythons too."""
    found = {version: (tag.replace(MACHINE, machine), headers) for version, (tag, headers) in interpreters().items()}
    own = sys.version_info[:2]
    others = sorted(v for v in found if v != own) if more else []
    env = compiler(folder, env, machine)
    root = "" if machine == MACHINE else cross_root(folder)
    floor = GLIBC if zig() else tuple(map(int, platform.libc_ver()[1].split(".")))
    settings = ["--config-settings=setup-args=-Dpythons=" + ",".join("=".join(found[v]) for v in others)] if others else []
    if root:
        settings.append("--config-settings=setup-args=--cross-file=" + cross_file(folder, root, machine))
    wheel, told = build(python, tree, folder, env, settings)
    return (finish(wheel, [own, *others], floor, folder, env, machine, root) if wheel else None), told, floor


def verdict(wheel, env=None):
    """Returns (platform tag, auditwheel's output); "": auditwheel is not installed."""
    if importlib.util.find_spec("auditwheel") is None:
        return "", "auditwheel is not installed: 'pip install auditwheel'"
    ran = subprocess.run([sys.executable, "-m", "auditwheel", "show", wheel], env=env, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True, check=False)
    found = re.search(r'consistent\s+with\s+the\s+following\s+platform\s+tag:\s+"([^"]*)"', ran.stdout)
    return found[1] if found else "unknown", ran.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machine", default=MACHINE, choices=sorted({MACHINE, "aarch64"}))
    parser.add_argument("folder", metavar="DIR")
    parser.add_argument("tree", metavar="TREE", nargs="?", default=ROOT)
    args = parser.parse_args()
    os.makedirs(args.folder, exist_ok=True)
    folder = os.path.abspath(args.folder)
    if args.machine != MACHINE:
        for there, line in ((zig(), "pip install ziglang"),
                            (shutil.which(f"{args.machine}-linux-gnu-gcc"), f"apt-get install gcc-{args.machine}-linux-gnu")):
            if not there:
                sys.exit(f"wheel: what compiles for {args.machine} is not installed: '{line}'")
    wheel, told, floor = make(sys.executable, args.tree, folder, dict(os.environ), machine=args.machine)
    if wheel is None:
        sys.exit(told[-4000:] + "wheel: it could not be built")
    tag, told = verdict(wheel)
    print(told.strip())
    if not zig():
        print("ziglang is not installed, so the wheel needs glibc "
              f"{floor[0]}.{floor[1]}: 'pip install ziglang' for {GLIBC[0]}.{GLIBC[1]}")
    wrong = list(faults(wheel, floor))
    print("".join(f"wheel: {line}\n" for line in wrong)
          + f"wheel: {wheel}: {os.path.getsize(wheel) / 1e6:.1f} MB" + (f": auditwheel: {tag}" if tag else ""))
    return 0 if not wrong and (not tag or tag.startswith("manylinux")) else 1


if __name__ == "__main__":
    sys.exit(main())
