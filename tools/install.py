#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Installs and uninstalls a build.

  [DESTDIR=DIR] [PREFIX=DIR] install.py BUILD install|uninstall

PREFIX may differ from the build directory's and between calls: only deepclock.pc contains it, and is
generated for it. The manifest PREFIX/lib/deepclock/installed lists what was installed, so that
uninstall removes exactly that: files, what Python compiled of them, and empty directories that were made for them.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

LIST = "lib/deepclock/installed"


def prefix_of(build):
    """Returns the prefix of the environment, of the build, or of Meson's option, in this order."""
    asked = os.environ.get("PREFIX")
    kept = os.path.join(build, "prefix")
    if not asked and os.path.exists(kept):
        with open(kept, encoding="utf-8") as f:
            asked = f.read().rstrip("\n")
    if asked:
        return os.path.abspath(os.path.expanduser(asked))
    return configured(build)


def configured(build):
    text = subprocess.run(["meson", "introspect", build, "--buildoptions"], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return next(o["value"] for o in json.loads(text) if o["name"] == "prefix")


def below(destdir, path):
    return destdir + path if destdir else path


class Installed:
    """The manifest: installed files and directories, without DESTDIR."""

    def __init__(self, destdir, prefix):
        self.destdir = destdir
        self.list = os.path.join(prefix, LIST)
        self.names = set()
        if os.path.exists(below(destdir, self.list)):
            with open(below(destdir, self.list), encoding="utf-8") as f:
                self.names = set(f.read().splitlines())

    def folder(self, path):
        if not os.path.isdir(below(self.destdir, path)):
            self.folder(os.path.dirname(path))
            os.mkdir(below(self.destdir, path))
            os.chmod(below(self.destdir, path), 0o755)
            self.names.add(path)

    def put(self, source, path, mode=None):
        """Replaces the file by rename, because a running program needs the old one."""
        self.folder(os.path.dirname(path))
        target = below(self.destdir, path)
        new = target + ".new"
        if os.path.lexists(new):
            os.remove(new)
        shutil.copy2(source, new, follow_symlinks=False)
        if mode is not None:
            os.chmod(new, mode)
        os.replace(new, target)
        self.names.add(path)

    def save(self):
        self.folder(os.path.dirname(self.list))
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as f:
            self.names.add(self.list)
            f.write("".join(n + "\n" for n in sorted(self.names)))
            f.flush()
            self.put(f.name, self.list, 0o644)

    def remove(self):
        for name in sorted(self.names, reverse=True):  # contents before their directory
            path = below(self.destdir, name)
            if os.path.isdir(path) and not os.path.islink(path):
                if not os.listdir(path):
                    os.rmdir(path)
            elif os.path.lexists(path):
                os.remove(path)
                remove_compiled(path)


def remove_compiled(source):
    """Removes what Python compiled of a source when it was imported; with a directory that remained, an empty package could
    still be imported."""
    folder, name = os.path.join(os.path.dirname(source), "__pycache__"), os.path.basename(source)
    if not name.endswith(".py"):
        return
    try:
        for compiled in glob.glob(os.path.join(glob.escape(folder), glob.escape(name[:-len("py")]) + "*.pyc")):
            os.remove(compiled)
        if os.path.isdir(folder) and not os.listdir(folder):
            os.rmdir(folder)
    except OSError:  # another user's: the directory stays
        pass


def staged(folder):
    for at, folders, names in os.walk(folder):
        links = [f for f in folders if os.path.islink(os.path.join(at, f))]
        for name in sorted(names + links):
            yield os.path.join(at, name)


def python_folders(prefix, endings):
    """Returns the directories of packages below the prefix that a Python searches: the system's, or else the one that runs this,
    if the package's extension, whose name has one of the endings, is for it."""
    ask = ("import importlib.machinery, site; print(importlib.machinery.EXTENSION_SUFFIXES[0], "
           "*dict.fromkeys(site.getsitepackages() + [site.getusersitepackages()]), sep='\\n')")
    for python in ("/usr/bin/python3", sys.executable):
        if os.path.exists(python):
            got = subprocess.run([python, "-c", ask], check=True, stdout=subprocess.PIPE, text=True).stdout
            ending, *folders = got.splitlines()
            if ending in endings:
                return [d for d in folders if d.startswith(prefix + "/")]
    return []


def extension_endings(paths):
    """Returns {".cpython-311-x86_64-linux-gnu.so"}: for which Python the extension among the files is."""
    names = map(os.path.basename, paths)
    return {name[len("_deepclock"):] for name in names if name.startswith("_deepclock.") and name.endswith(".so")}


def put_all(there, build, prefix):
    """Returns the directory of the Python package, if it is installed and Python has to be given it."""
    built_for, given = configured(build), None
    with tempfile.TemporaryDirectory() as stage:
        subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True,
                       env=dict(os.environ, DESTDIR=stage), stdout=subprocess.DEVNULL)
        sources = list(staged(stage))
        packages = python_folders(prefix, extension_endings(sources))
        for source in sources:
            path = source[len(stage):]
            inside = os.path.relpath(path, built_for)
            if not inside.startswith(".."):
                path = os.path.join(prefix, inside)
            where = re.match(r".*/(dist|site)-packages(?=/)", path)
            if where and packages and where[0] not in packages:
                path = packages[0] + path[where.end():]
            elif where and not packages:
                given = where[0]
            if path.endswith(".pc"):
                with open(source, encoding="utf-8") as f:
                    text = f.read()
                with open(source, "w", encoding="utf-8") as f:
                    f.write(re.sub("^prefix=.*$", lambda _: "prefix=" + prefix.replace(" ", "\\ "), text, flags=re.M))
            there.put(source, path)
    for runtime, begin in (("ort", "libonnxruntime.so"), ("openvino", "lib"), ("litert", ""), ("genai", "")):
        libraries = os.path.join(build, runtime)
        for name in sorted(os.listdir(libraries)) if os.path.isdir(libraries) else []:
            if name.startswith(begin):
                there.put(os.path.join(libraries, name), os.path.join(prefix, "lib/deepclock", runtime, name), 0o644)
    return given


def install(build, destdir, prefix):
    os.makedirs(destdir or "/", exist_ok=True)
    there = Installed(destdir, prefix)
    given = None
    try:
        given = put_all(there, build, prefix)
    finally:
        if there.names:  # after a failure too, so that uninstall removes a partial installation
            there.save()
    print(f"installed in {below(destdir, prefix)}")
    if given:
        print(f"for Python: export PYTHONPATH={given}")


def main():
    build, what = sys.argv[1:]
    destdir = os.environ.get("DESTDIR", "")
    destdir = os.path.abspath(os.path.expanduser(destdir)) if destdir else ""
    prefix = prefix_of(build)
    try:
        if what == "install":
            install(build, destdir, prefix)
            return
        there = Installed(destdir, prefix)
        if not there.names:
            sys.exit(f"uninstall: nothing is installed in {below(destdir, prefix)}: there is no "
                     f"{below(destdir, there.list)}; give PREFIX and DESTDIR as when it was installed")
        there.remove()
        print(f"removed from {below(destdir, prefix)}")
    except subprocess.CalledProcessError as e:
        sys.exit(f"{what}: {' '.join(e.cmd)} failed")
    except OSError as e:
        sys.exit(f"{what}: {e}; give PREFIX=DIR to install elsewhere, or run it as root")


if __name__ == "__main__":
    main()
