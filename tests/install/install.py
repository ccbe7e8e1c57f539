#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""'make install' and 'make uninstall' for a PREFIX that the build directory was not set up for, below a
DESTDIR: the installed files work there, and none remains afterwards. Prints TAP.

  install.py BUILD
"""

import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "real"))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import common
import install as installer
PREFIX = "/opt/of its own"
NOISE = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "PREFIX", "DESTDIR", "DEEPCLOCK_ORT", "ORT_DYLIB_PATH")
ENV = {k: v for k, v in os.environ.items() if k not in NOISE}


def run(*words, status=0, **env):
    p = subprocess.run(words, cwd=ROOT, env=dict(ENV, **env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       text=True)
    if p.returncode != status:
        raise AssertionError(f"{' '.join(words)}: status {p.returncode}\n{p.stdout}")
    return p.stdout


def make(build, to, *words, status=0):
    """Runs make without building: the tests have built everything, and other tests use it now."""
    return run("make", "--no-print-directory", "-o", "all", f"BUILD={build}", f"PREFIX={PREFIX}", f"DESTDIR={to}",
               *words, status=status)


def everything(folder):
    return sorted(os.path.join(at, n) for at, folders, names in os.walk(folder) for n in folders + names)


def one(folder, *names):
    """Returns the only file whose path ends so, whatever the directory of libraries is."""
    found = [f for f in everything(folder) if f.endswith("/".join(("",) + names))]
    assert len(found) == 1, f"{names}: {found}"
    return found[0]


def installs_where_it_is_told(build, to):
    make(build, to, "install")
    assert os.listdir(to) == ["opt"] and os.listdir(to + "/opt") == ["of its own"], everything(to)
    for names in (("bin", "deepclock"), ("man1", "deepclock-bench.1"), ("completions", "deepclock"),
                  ("include", "deepclock", "plugin.h")):
        one(to, *names)
    make(build, to, "install")  # over an existing installation, to check that uninstall still removes all


def the_program_runs(build, to):
    program = to + PREFIX + "/bin/deepclock"
    assert run(program, "version").startswith("deepclock ")
    for runtime in ("ort", "openvino", "litert", "genai"):
        if os.path.isdir(os.path.join(build, runtime)):
            assert f"{to}{PREFIX}/lib/deepclock/{runtime}/" in run(program, "engines", runtime, "--format", "json")


def programs_are_built_with_pkg_config(build, to):
    if not shutil.which("pkg-config"):
        raise common.Skipped("pkg-config is not installed")

    def flags(name):
        pc = one(to, "pkgconfig", name + ".pc")
        # The file has the paths for an installation without DESTDIR, so the prefix is replaced here.
        with open(pc, encoding="utf-8") as f:
            assert f.readline() == f"prefix={PREFIX}\n".replace(" ", "\\ "), pc
        return shlex.split(run("pkg-config", "--define-variable=prefix=" + (to + PREFIX).replace(" ", "\\ "),
                               "--cflags", "--libs", name, PKG_CONFIG_PATH=os.path.dirname(pc)))

    words = flags("deepclock")
    library = os.path.dirname(one(to, "libdeepclock.so"))
    cc = shlex.split(os.environ.get("CC", "cc"))
    for name in ("time_function", "time_model"):
        run(*cc, f"examples/{name}.c", *words, "-o", f"{to}/{name}")
        if name == "time_function":
            assert "median" in run(f"{to}/{name}", f"{to}/r.json", LD_LIBRARY_PATH=library)
        elif os.path.isdir(os.path.join(build, "ort")):
            run(f"{to}/{name}", "zoo:simplenet", f"{to}/r.json", LD_LIBRARY_PATH=library, PATH="/nowhere", HOME="/")
        os.remove(f"{to}/{name}")
    if os.path.exists(to + "/r.json"):
        os.remove(to + "/r.json")
    with open(to + "/zones.c", "w", encoding="utf-8") as f:
        f.write('#include <deepclock/zone.h>\nint main(void) { DCK_ZONE("all of it"); return 0; }\n')
    run(*cc, f"{to}/zones.c", *flags("deepclock-zones"), "-o", f"{to}/zones")
    run(f"{to}/zones", LD_LIBRARY_PATH=library, DEEPCLOCK_TRACE=f"{to}/zones.pftrace")
    assert "all of it" in run(to + PREFIX + "/bin/deepclock", "report", f"{to}/zones.pftrace")
    for name in ("zones.c", "zones", "zones.pftrace"):
        os.remove(f"{to}/{name}")


def the_program_of_the_page_is_recorded(build, to):
    """Runs the first example of docs/commands/trace.md, with its own commands."""
    if not shutil.which("cc"):
        raise common.Skipped("there is no cc")
    with open(f"{ROOT}/docs/commands/trace.md", encoding="utf-8") as f:
        page = f.read()
    include, library = (os.path.dirname(one(to, name)) for name in ("deepclock/zone.h", "libdeepclock.so"))
    found = {"CPATH": os.path.dirname(include), "LIBRARY_PATH": library, "LD_LIBRARY_PATH": library,
             "PATH": f"{to}{PREFIX}/bin:{ENV['PATH']}"}
    with tempfile.TemporaryDirectory() as here:
        with open(here + "/steps.c", "w", encoding="utf-8") as f:
            f.write(re.search("```c\n(.*?)```", page, re.S)[1])
        shown = ""
        for line in re.findall(r"^    \$ (.*)", page, re.M)[:2]:
            shown = run("sh", "-c", f'cd "$0" && {line}', here, **found)
        assert any(f"{name} has the most self time" in shown for name in ("load", "forward", "backward")), shown
        table = json.loads(run("deepclock", "report", here + "/trace.pftrace", "--format", "json", **found))["tables"][0]
        calls = {row[0]: row[1]["value"] if isinstance(row[1], dict) else row[1] for row in table["rows"]
                 if not row[0].startswith("wait: ")}
        assert calls == {"load": 6, "step": 5, "forward": 5, "backward": 5}, calls


def what_a_program_waits_for_is_seen(build, to):
    """The preloaded library finds the other library. If the directory's name has a blank, which LD_PRELOAD cannot
    hold, the reason is printed."""
    folder, trace = os.path.dirname(one(to, "libdeepclock_preload.so")), to + "/t.pftrace"
    subprocess.run(["sleep", "0.01"], cwd=folder, check=True,
                   env=dict(ENV, LD_PRELOAD="./libdeepclock_preload.so", DEEPCLOCK_TRACE=trace))
    program = to + PREFIX + "/bin/deepclock"
    assert "wait: sleep" in run(program, "report", trace)
    os.remove(trace)
    assert "has a blank" in run(program, "trace", "-o", trace, "--", "sleep", "0.01", status=1)


def uninstalls_exactly_that(build, to):
    foreign = to + PREFIX + "/include/deepclock/of_another.h"
    open(foreign, "w", encoding="utf-8").close()
    for file in everything(to):
        if file.endswith("/deepclock/__init__.py"):  # as an import leaves it
            os.makedirs(os.path.dirname(file) + "/__pycache__", exist_ok=True)
            open(os.path.dirname(file) + "/__pycache__/__init__.cpython-311.pyc", "wb").close()
    make(build, to, "uninstall")
    assert [f for f in everything(to) if not os.path.isdir(f)] == [foreign], everything(to)
    os.remove(foreign)
    assert "nothing is installed in" in make(build, to, "uninstall", status=2)
    shutil.rmtree(to + "/opt")
    make(build, to, "install")
    make(build, to, "uninstall")
    assert not everything(to), everything(to)


def python_finds_its_package(build, to):
    """Below /usr/local Python searches a directory that has its version; elsewhere the installation names it."""
    if not os.path.isdir(build + "/python/deepclock"):
        raise common.Skipped("the package was not built")
    there = to + " of Python"
    text = run("make", "--no-print-directory", "-o", "all", f"BUILD={build}", "PREFIX=/usr/local", f"DESTDIR={there}", "install")
    searched = run("/usr/bin/python3", "-c", "import site; print(*site.getsitepackages())").split()
    assert [d for d in searched if os.path.isdir(f"{there}{d}/deepclock")] and "PYTHONPATH" not in text, text
    folder = make(build, to, "install").split("PYTHONPATH=")[1].strip()
    run("/usr/bin/python3", "-c", "import deepclock", PYTHONPATH=to + folder)
    shutil.rmtree(there)
    own = next(d for d in searched if d.startswith("/usr/local/"))
    ending = run("/usr/bin/python3", "-c", "import importlib.machinery as m; print(m.EXTENSION_SUFFIXES[0])").strip()
    assert own in installer.python_folders("/usr/local", {ending})
    # An extension for another Python goes where Meson puts it.
    assert installer.python_folders("/usr/local", {".cpython-399-x.so"}) == []


def need_make():
    if not shutil.which("make"):
        raise common.Skipped("make is not installed")


def main():
    build = os.path.abspath(sys.argv[1])
    cases = [installs_where_it_is_told, the_program_runs, programs_are_built_with_pkg_config,
             the_program_of_the_page_is_recorded, what_a_program_waits_for_is_seen,
             python_finds_its_package, uninstalls_exactly_that]
    with tempfile.TemporaryDirectory(prefix="deepclock install ") as to:
        common.run([(case.__name__, functools.partial(case, build, os.path.realpath(to))) for case in cases],
                   need=need_make, seconds=common.limit.SECONDS)


if __name__ == "__main__":
    main()
