#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The call graph of the files of src has no cycle, directly or through other files, nor has that of the
directories; no two files have the same base name.

  circles.py [--self-test] libdeepclock.a

The calls are read from the objects of the library and the program: an undefined symbol of one file that another
file defines is an edge. The files of a strongly connected component form a circle.
"""

import collections
import glob
import os
import shutil
import subprocess
import tempfile
import check as c
from layers import module_of

# Remaining circles, by the base names of their files. Each must be resolved, none may grow; a resolved
# one is removed from the list.
KNOWN = [set(line.split()) for line in """
""".strip().splitlines()]


def symbols(library):
    """Returns {object: (defined names, undefined names)} of an archive, and of the program that Meson builds
    in the same directory."""
    program = sorted(glob.glob(os.path.join(os.path.dirname(library), "deepclock.p", "*.o")))
    out = "".join(subprocess.run(["nm", *files], check=True, capture_output=True, text=True).stdout
                  for files in ([library], program) if files)
    found, defined, wanted = {}, set(), set()
    for line in out.splitlines():
        words = line.split()
        if line.endswith(":"):
            defined, wanted = found.setdefault(os.path.basename(line[:-1]), (set(), set()))
        elif len(words) >= 2 and words[-2] == "U":
            wanted.add(words[-1])
        elif len(words) >= 2 and words[-2] in "BDGRSTVWC":
            defined.add(words[-1])
    return found


def arrows(library, paths):
    """Returns {path: {called path: a symbol}}. Meson names an object after its path, with _ for each /."""
    objects = {p.replace("/", "_") + ".o": p for p in paths}
    known = {objects[o]: s for o, s in symbols(library).items() if o in objects}
    home = {name: p for p, (defined, _) in known.items() for name in defined}
    return {p: {home[s]: s for s in sorted(wanted) if home.get(s, p) != p}
            for p, (_, wanted) in known.items()}


def directory(path):
    return module_of(path) or os.path.dirname(path)


def between_directories(graph):
    found = collections.defaultdict(dict)
    for p, called in graph.items():
        for q, symbol in called.items():
            if directory(p) != directory(q):
                found[directory(p)].setdefault(directory(q), f"{symbol} from {p}")
    return found


def circles(graph):
    """Returns the strongly connected components (Tarjan's algorithm) of two or more nodes."""
    number, low, stack, found = {}, {}, [], []

    def visit(x):
        number[x] = low[x] = len(number)
        stack.append(x)
        for y in graph.get(x, ()):
            if y not in number:
                visit(y)
                low[x] = min(low[x], low[y])
            elif y in stack:
                low[x] = min(low[x], number[y])
        if low[x] == number[x]:
            at = stack.index(x)
            if len(stack) - at > 1:
                found.append(set(stack[at:]))
            del stack[at:]

    for x in graph:
        if x not in number:
            visit(x)
    return found


def judge(what, graph, known):
    gone = [set(k) for k in known]
    for circle in circles(graph):
        names = {os.path.basename(p) for p in circle}
        gone = [k for k in gone if not k & names]
        if any(names <= set(k) for k in known):
            continue
        way = [f"{p} -> {q} ({graph[p][q]})" for p in sorted(circle) for q in sorted(graph[p])
               if q in circle]
        yield f"{what} form a circle: {'; '.join(way)}"
    for k in gone:
        yield f"tools/circles.py: {', '.join(sorted(k))} form no circle any more: take them off the list"


def same_names(paths):
    by_name = collections.defaultdict(list)
    for p in paths:
        if os.path.basename(p) != "meson.build":
            by_name[os.path.basename(p)].append(p)
    for name, where in sorted(by_name.items()):
        if len(where) > 1:
            yield f"{' and '.join(sorted(where))} have one base name"


def check(library, root=c.ROOT, known=None):
    paths = ["src/" + p for p in c.files(os.path.join(root, "src"), ".c", ".h", ".def")]
    yield from same_names(paths)
    units = ["tests/unit/" + p for p in c.files(os.path.join(root, "tests", "unit"), ".c", ".h")]
    yield from same_names(units)
    if not shutil.which("nm"):
        print("skipped: there is no nm")
        return
    graph = arrows(library, paths)
    if not graph:
        yield f"{library} has no object of a file in src"
    yield from judge("these files", graph, KNOWN if known is None else known)
    yield from judge("these directories", between_directories(graph), [])


def self_test(*_):
    line = {"a/one.c": "int two(void); int one(void) { return two(); }",
            "b/two.c": "int three(void); int two(void) { return three(); }",
            "b/three.c": "int three(void) { return 3; }"}
    back = dict(line, **{"b/three.c": "int two(void); int three(void) { return two(); }"})
    parts = dict(line, **{"a/four.c": "int four(void) { return 4; }",
                          "b/three.c": "int four(void); int three(void) { return four(); }"})
    pair = [{"two.c", "three.c"}]
    for what, files, known, expected in [
            ("a line", line, [], None), ("a circle of files", back, [], "src/b/three.c -> src/b/two.c (two)"),
            ("a known circle", back, pair, None), ("a known circle that is gone", line, pair, "off the list"),
            ("a circle of directories", parts, [], "src/b -> src/a (four from src/b/three.c)"),
            ("one name twice", dict(line, **{"a/three.c": "int f;"}), [], "one base name")]:
        with tempfile.TemporaryDirectory() as where:
            c.tree(where, {"src/" + p: text for p, text in files.items()})
            objects = []
            for p in files:
                objects.append(os.path.join(where, "src_" + p.replace("/", "_") + ".o"))
                subprocess.run([*os.environ.get("CC", "cc").split(), "-c", os.path.join(where, "src", p),
                                "-o", objects[-1]], check=True)
            subprocess.run(["ar", "rc", os.path.join(where, "x.a"), *objects], check=True)
            found = list(check(os.path.join(where, "x.a"), where, known))
        if (len(found) != (expected is not None)) or (found and expected not in found[0]):
            yield f"self-test: {what}: expected '{expected}', got {found}"


if __name__ == "__main__":
    c.run(check, self_test)
