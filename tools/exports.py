#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The shared library exports exactly what the public headers declare with DCK_API, and what tools/exports.txt lists: to
add or remove a symbol, change that list, and docs/reference/abi.md where it applies. libdeepclock_zones.so exports the
part that tools/exports_zones.txt lists.

  exports.py [--self-test | --update] libdeepclock.so | libdeepclock_zones.so     --update: rewrite the list
"""

import os
import re
import shutil
import subprocess
import sys
import check as c

FOREIGN = {"InitializeInjectionNvtx2",  # entry point of NVTX in a library
           "dck_wait_begin", "dck_wait_end", "dck_waits_seen",  # libdeepclock_preload.so calls them
           "dck_recorder_delegate",  # a copy of the library calls it
           # libdeepclock calls these in libdeepclock_zones, so that two copies use one recorder.
           "dck_recorder_end", "dck_nvtx_install", "dck_itt_install", "dck_laps_lock", "dck_laps_unlock", "dck_past_begin", "dck_past_end", "dck_past_name", "dck_past_push",
           "dck_past_pop", "dck_past_number", "dck_past_thread_begin", "dck_past_thread_end",
           "dck_device_flow", "dck_device_track_open", "dck_device_track_close", "dck_device_track_sync", "dck_device_track_begin",
           "dck_device_track_number", "dck_device_track_end", "dck_device_track_range", "dck_device_track_lost",
           "dck_device_track_at_end", "dck_device_recording", "dck_device_report", "dck_device_report_source",
           "dck_device_report_absent", "dck_device_report_thread"}

LIST, ZONES_LIST = "tools/exports.txt", "tools/exports_zones.txt"
LIST_HEAD = "# What {} exports, and the header that declares it: tools/exports.py compares and writes this list.\n"
DECLARATION = re.compile(r"\bDCK_API\b([^;{]*)[;{]")
NAME = re.compile(r"\b(dck_\w+)\s*(?:\(|\[|$)")


def declared(root):
    """Returns {name: header} of every DCK_API declaration."""
    names = {}
    for header in c.files(os.path.join(root, "include"), ".h"):
        text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", "", c.code(c.read(root, "include/" + header)),
                      flags=re.MULTILINE)
        for m in DECLARATION.finditer(text):
            found = NAME.search(m[1].strip())
            names[found[1] if found else m[0]] = "include/" + header
    return names


def exported(library):
    out = subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                         text=True).stdout
    # Names with a leading '_' belong to the compiler and the sanitizers.
    return {line.split()[-1].split("@")[0] for line in out.splitlines()
            if line.split()[-2] not in "aA" and not line.split()[-1].startswith("_")}


def of_zones(library):
    return os.path.basename(library).startswith("libdeepclock_zones")


def list_of(library):
    return ZONES_LIST if of_zones(library) else LIST


def listed(root, path):
    """Returns the lines of a list, {name: header}; {} if the file does not exist."""
    if not os.path.exists(os.path.join(root, path)):
        return {}
    return dict(line.split() for line in c.read(root, path).splitlines() if not line.startswith("#"))


def lines_of(want):
    return {**{name: os.path.basename(header) for name, header in want.items()}, **dict.fromkeys(FOREIGN, "-")}


def update(library, root=c.ROOT):
    want, have = lines_of(declared(root)), exported(library)
    with open(os.path.join(root, list_of(library)), "w", encoding="utf-8") as f:
        name = "libdeepclock_zones.so" if of_zones(library) else "libdeepclock.so"
        f.write(LIST_HEAD.format(name) + "".join(f"{name} {want.get(name, '?')}\n" for name in sorted(have)))


def check(library, root=c.ROOT):
    if not shutil.which("nm"):
        print("skipped: there is no nm")
        return
    path = list_of(library)
    want, have, there = declared(root), exported(library), listed(root, path)
    for name in sorted(have - set(there)):
        yield f"{path}: {name} is missing: 'tools/exports.py --update {library}' writes it"
    for name in sorted(set(there) - have):
        yield f"{path}: {name} is no longer exported: that breaks programs (docs/reference/abi.md)"
    for name, header in sorted(lines_of(want).items()):
        if name in have and there.get(name, header) != header:
            yield f"{path}: {name} is declared by {header}, not by {there[name]}"
    for name in sorted(set() if of_zones(library) else set(want) - have):
        yield f"{want[name]}: {name} is DCK_API, but {os.path.basename(library)} does not export it"
    for name in sorted(have - set(want) - FOREIGN):
        yield f"{os.path.basename(library)}: exports {name}, which no public header declares DCK_API"


HEADER = """#define DCK_API __attribute__((visibility("default")))
DCK_API int dck_f(int (*call)(int x)); /* DCK_API int dck_not(void); */
DCK_API extern const char *const dck_table[];
DCK_API const char *
dck_g(void);
"""
SOURCE = '#include "a.h"\nint dck_f(int (*call)(int)){return call(1);}\n' \
    "const char *const dck_table[]={0};\nconst char *dck_g(void){return 0;}\n"


def self_test(*_):
    cc = os.environ.get("CC", "cc").split()

    def built(where, name="lib.so"):
        library = os.path.join(where, name)
        subprocess.run([*cc, "-shared", "-fPIC", "-fvisibility=hidden", "-I" + where + "/include",
                        where + "/a.c", "-o", library], check=True)
        return check(library, where)

    good = "dck_f a.h\ndck_table a.h\ndck_g a.h\n"
    yield from c.misses(built, [
        ("a good library", {"include/a.h": HEADER, "a.c": SOURCE, LIST: good}, None),
        ("declared, not there", {"include/a.h": HEADER + "DCK_API void dck_h(void);\n",
                                 "a.c": SOURCE, LIST: good}, "does not export it"),
        ("there, not declared", {"include/a.h": HEADER,
                                 "a.c": SOURCE + '__attribute__((visibility("default"))) '
                                 "int inner(void){return 1;}\n", LIST: good + "inner a.h\n"}, "exports inner"),
        ("there, not listed", {"include/a.h": HEADER, "a.c": SOURCE, LIST: good.replace("dck_g a.h\n", "")},
         "dck_g is missing"),
        ("listed, not there", {"include/a.h": HEADER, "a.c": SOURCE, LIST: good + "dck_h a.h\n"},
         "dck_h is no longer exported"),
        ("of another header", {"include/a.h": HEADER, "a.c": SOURCE, LIST: good.replace("dck_g a.h", "dck_g unstable.h")},
         "dck_g is declared by a.h"),
    ])
    yield from c.misses(lambda where: built(where, "libdeepclock_zones.so"), [
        ("a part", {"include/a.h": HEADER + "DCK_API void dck_h(void);\n", "a.c": SOURCE, ZONES_LIST: good}, None),
        ("a part, not listed", {"include/a.h": HEADER, "a.c": SOURCE, ZONES_LIST: good.replace("dck_g a.h\n", "")},
         "dck_g is missing"),
    ])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--update"]:
        update(*sys.argv[2:])
    else:
        c.run(check, self_test)
