#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, as C99 and as C++11; each internal header as C17.

  headers.py [--self-test]     CC and CXX name the compilers (default: cc, c++)
"""

import concurrent.futures
import os
import shutil
import subprocess
import tempfile
import check as c

WARN = ["-fsyntax-only", "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
CC = os.environ.get("CC", "cc").split()
CXX = os.environ.get("CXX", "c++").split()
# For public headers -I is include/ alone: the installed headers must suffice.
PUBLIC = [("C99", CC, "-std=c99", ".c", []), ("C++11", CXX, "-std=c++11", ".cpp", [])]
INTERNAL = [("C17", CC, "-std=c17", ".c", ["-D_GNU_SOURCE", "-Isrc"])]


def compile_alone(root, header, language):
    name, compiler, standard, ending, flags = language
    inside = header.split("/", 1)[1]
    with tempfile.NamedTemporaryFile("w", suffix=ending) as f:
        # Included twice to test the guard. A unit without a declaration is not pedantic C.
        f.write(f'#include "{inside}"\n#include "{inside}"\nextern int alone;\n')
        f.flush()
        done = subprocess.run([*compiler, standard, *WARN, *flags, "-Iinclude", f.name], cwd=root,
                              capture_output=True, text=True)
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines() or ["the compiler says nothing"]
        why = next((line for line in lines if "error" in line), lines[-1])
        return f"{header}: does not compile alone as {name}: {why.strip()}"
    return None


def check(root=c.ROOT):
    jobs = []
    for header in c.files(root, ".h"):
        languages = PUBLIC if header.startswith("include/") else \
            INTERNAL if header.startswith("src/") and not header.startswith("src/cli/") else []
        if header.startswith("src/cli/"):
            languages = [("C17", CC, "-std=c17", ".c", ["-D_GNU_SOURCE", "-Isrc/cli", "-Isrc"])]
        for language in languages:
            if not shutil.which(language[1][0]):
                print(f"skipped: {header} as {language[0]}: there is no {language[1][0]}")
                continue
            jobs.append((header, language))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from filter(None, pool.map(lambda job: compile_alone(root, *job), jobs))


def self_test():
    return c.misses(check, [
        ("good headers", {"include/deepclock/a.h": "#ifndef A\n#define A\ntypedef int a;\n#endif\n",
                          "src/os/b.h": "#include <stdbool.h>\nbool b(void);\n"}, None),
        ("needs another first", {"src/os/b.h": "size_t b(void);\n"}, "as C17"),
        ("C11 in public", {"include/deepclock/a.h":
                           "#ifndef __cplusplus\n_Static_assert(1, \"\");\n#endif\n"}, "as C99"),
        ("no C++", {"include/deepclock/a.h": "int f(int class);\n"}, "as C++11"),
        ("public sees the inside", {"include/deepclock/a.h":
                                    '#ifndef __cplusplus\n#include "os/b.h"\n#endif\n',
                                    "src/os/b.h": "int b(void);\n"}, "as C99"),
        ("no guard", {"src/os/b.h": "typedef struct b { int x; } b;\n"}, "as C17"),
    ])


if __name__ == "__main__":
    c.run(check, self_test)
