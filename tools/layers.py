#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which room sees which and by which headers, and who may print or exit. Arrows point down; siblings
see each other only where the table says so; only src/cli prints and exits.

  layers.py [--self-test]
"""

import os
import re
import check as c

ISO = set("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
          "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
          "threads time uchar wchar wctype".split())
NUMBERS = set("assert float limits math stdbool stddef stdint stdio stdlib string".split())
ANY = None

# room: (rooms below that it may see, its headers that others may include, public headers, C headers,
# other system headers). A room always sees its own directory. ANY: no limit. A room that shows nothing
# (`()`) is reached through include/deepclock alone.
LAYERS = {
    # L0: no system, no policy on floating-point numbers.
    "src/base": ((), "csv_write dtype err hash json_read json_write kept label latency_limit mem names num observer "
                 "opt_text percentile rng sink units utf8 wire", ("base", "bench", "opt", "plugin", "report"), ISO, ()),
    # L1: every system call; one file for each facility.
    "src/os": (("base",), "late late_zlib os other_process perf_count perf_sampling shared_memory text", ("base", "bench", "report"), ISO, ANY),
    # Pure functions on arrays: no clock, no system; of base the random numbers; stdio for
    # snprintf alone.
    "src/stat": (("base",), "stat blocks dist sequential", ("base",), NUMBERS, ()),
    # L2. Stacks of programs: unwinding them, what is mapped where, functions and lines of addresses.
    "src/stack": (("base", "os"), "elf_file file_room python/python_elf python/python_library python/python_merge python/python_runs python/python_self python/python_stack readable space symbols/class_names symbols/symbols unwind "
                  "unwind_scan unwind_self", ("base",), ISO,
                  ("dlfcn.h", "dwarf.h", "elf.h", "elfutils/libdw.h", "link.h", "pthread.h", "sys/auxv.h", "sys/syscall.h",
                   "sys/types.h", "ucontext.h", "unistd.h")),
    "src/record": (("base", "os"), "asked box build comparable copy host others", ("base", "opt", "record", "report"), ISO,
                   ("jansson.h",)),
    "src/model": (("base", "os"), "module_path onnx summary",
                  ("base", "opt", "model", "report"), ISO, ()),
    "src/machine": (("base", "os"), "loops", ("base", "bench"), ISO,
                    ("arm_neon.h", "cpuid.h", "immintrin.h", "pthread.h", "x86intrin.h")),
    # Call paths, and what is added up over them.
    "src/calls": (("base", "stat", "record"), "call_paths call_rows call_sums call_table call_tree module_tree path_sums",
                  ("base", "calls", "opt", "record", "report"), ISO, ()),
    # Timelines of ranges, and what is added up over them.
    "src/timeline": (("base", "os", "stat", "record", "calls"),
                     "gzip kept_ranges perfetto picture thread_table timeline zone_percentiles zone_sums zone_table",
                     ("base", "opt", "report"), ISO, ()),
    # Their forms in files: one file for each.
    "src/export": (("base", "record", "model", "calls", "timeline"), "formats", ("base", "calls", "record", "report"), ISO, ()),
    # Such files again, also other programs': read, added up, several of them on one timeline.
    "src/import": (("base", "os", "record", "calls", "model", "timeline", "export"), "trace_merge",
                   ("base", "calls", "opt", "zone"), ISO, ()),
    # Ranges of a program while it runs.
    "src/trace": (("base", "os", "record", "timeline", "export", "import"), "past trace_program waiting",
                  ("base", "opt", "record", "report", "zone"), ISO,
                  ("pthread.h", "semaphore.h", "x86intrin.h")),
    # Stopwatches inside a program.
    "src/lap": (("base", "os", "stat", "record", "model"), (), ("base", "lap", "opt", "record", "zone"), ISO,
                ("pthread.h",)),
    # Counters of a program, and calls of its functions; what runs inside it sees libc alone.
    "src/count": (("base", "os", "stat", "record", "calls", "stack", "trace"), (), ("base", "count", "opt", "record", "zone"), ISO,
                  ("dlfcn.h", "elf.h", "fcntl.h", "link.h", "pthread.h", "linux/futex.h", "sys/mman.h", "sys/resource.h",
                   "sys/stat.h", "sys/syscall.h", "unistd.h", "x86intrin.h")),
    # A library of its own, in front of a program: it sees libc, and tells what it saw.
    "src/preload": (("trace",), (), (), ISO, ANY),
    # L3. Stacks of a program that is not changed, taken by the kernel or by timers in it.
    "src/sample": (("base", "os", "record", "calls", "stack"), "sample_slots", ("base", "opt", "record", "sample"),
                   ISO, ("linux/perf_event.h", "pthread.h")),
    # A library of its own too: the timers.
    "src/sampler": (("sample", "stack"), (), (), ISO, ANY),
    # Another one: who allocates. Its stacks are unwound by what the library unwinds with.
    "src/heap": (("stack",), "heap_region", ("base",), ISO, ANY),
    # L3. Who allocates a program's memory.
    "src/memory": (("base", "os", "record", "calls", "stack", "heap"), (),
                   ("base", "memory", "opt", "record"), ISO, ("pthread.h",)),
    # L3. What each operator of a model produces and costs; exact integers, no time.
    "src/cost": (("base", "model"), "cost_model op peers", ("base",), ISO, ()),
    # A model exported for one item, rewritten for many; it reads and writes models, and runs nothing.
    "src/batch": (("base", "model", "cost"), "batch", ("base",), ISO, ()),
    "src/engine": (("base", "os"), "engine", ("base", "opt", "bench", "plugin"), ISO,
                   ("xmmintrin.h",)),
    # Pure functions of a record, but for the file they are written to.
    "src/report": (("base", "os", "record", "calls", "timeline"), (), ("base", "opt", "record", "report"), ISO, ()),
    # What was measured before; it sees records, never how they were made.
    "src/history": (("base", "os", "record", "stat"), (),
                    ("base", "history", "opt", "record", "report"), ISO,
                    ("sqlite3.h",)),
    # L4
    "src/subject": (("base", "os", "record", "model", "cost", "batch", "engine"),
                    "freed hooks input_given inputs npy random sizes subject_facts target", ANY, ISO, ()),
    "src/verify": (("base", "os", "record", "engine", "subject"), "agree agree_tensor freed_check",
                   ANY, ISO, ()),
    # L5
    "src/measure": (("base", "os", "stat", "record", "trace", "engine", "subject", "verify"),
                    "diagnostics method phases plan results samples session worker", ANY, ISO,
                    ("pthread.h",)),
    # L6: one room for each command.
    "src/tally": (("base", "os", "record", "calls", "model", "cost", "engine", "subject"),
                  "counted tally_open values", ANY, ISO, ()),
    "src/inspect": (("base", "os", "record", "model", "cost", "subject", "tally"), (), ANY, ISO, ()),
    "src/roofline": (("base", "os", "stat", "record", "model", "machine", "subject"), (),
                     ANY, ISO, ()),
    "src/profile": (("base", "os", "stat", "record", "calls", "model", "cost", "engine", "subject", "verify",
                     "measure", "tally"), (), ANY, ISO, ()),
    "src/throughput": (("base", "os", "stat", "record", "subject", "measure", "tally"), (), ANY,
                       ISO, ()),
    "src/load": (("base", "os", "stat", "record", "subject", "verify", "measure"), (), ANY, ISO,
                 ("pthread.h",)),
    "src/compare": (("base", "os", "stat", "record", "model", "subject", "verify", "measure"), (),
                    ANY, ISO, ()),
    "src/pitfalls": (("base", "os", "stat", "record", "engine", "subject", "verify", "measure"), (),
                     ANY, ISO, ("pthread.h",)),
    "src/accuracy": (("base", "os", "stat", "record", "engine", "subject", "verify", "measure"), (),
                     ANY, ISO, ()),
    # Methods beside each other: each run is a process of its own.
    "src/overhead": (("base", "os", "stat", "record"), (), ("base", "opt", "overhead", "record"), ISO, ()),
    # L7
    "src/cli": ((), (), ANY, ISO, ANY),
    "python": ((), (), ANY, ISO, ANY),
    "plugins": ((), (), ("plugin", "base"), ISO, ANY),
    "examples": ((), (), ANY, ISO, ANY),
    "include/deepclock": ((), ANY, ANY, set("stdbool stddef stdint".split()), ()),
}
PRINTERS = ("src/cli", "python", "examples")

# Calls that only PRINTERS may make, but for these.
FORBIDDEN = re.compile(r"(?<![\w.>])(_?_?exit|_Exit|quick_exit|abort|v?f?printf|f?puts|perror|putchar|"
                       r"fputc|putc|fwrite|system)\s*\(")
EXCEPTIONS = {
    ("src/preload/leave.c", "_exit"),  # stands in front of these
    ("src/preload/leave.c", "_Exit"),
    ("src/count/instrument.c", "_exit"),  # this too
    ("src/count/instrument.c", "_Exit"),
    ("src/os/proc.c", "_exit"),  # that of one that could not become a program
    ("src/os/child.c", "_exit"),  # the end of a forked child, whose atexit() is the parent's
} | {("src/preload/wait_stdio.c", f) for f in  # stands in front of these too
     "fputc putc putchar fwrite fputs puts printf fprintf vprintf vfprintf".split()}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def module_of(path):
    for module in LAYERS:
        if path.startswith(module + "/"):
            return module
    return None


def judge(module, quote, name, own):
    """None, or why `path` may not include `name`."""
    below, _, public, iso, system = LAYERS[module]
    folder, _, rest = name.rpartition("/")
    if folder == "deepclock" or (module == "include/deepclock" and quote == '"'):
        header = rest.removesuffix(".h")
        return None if public is ANY or header in public else f"public header {rest} is not below it"
    if quote == "<":
        if name.removesuffix(".h") in ISO:
            return None if name.removesuffix(".h") in iso else "this C header does not belong there"
        return None if system is ANY or name in system else "system headers belong to src/os"
    if name in own or "src/" + name in own:
        return None
    room, _, header = name.partition("/")
    if room not in below:
        return f"{module} may include {', '.join(below) or 'no other room'}"
    shown = LAYERS["src/" + room][1] or ""
    return None if header.removesuffix(".h") in shown.split() else f"src/{room} does not show it"


def circle():
    """Rooms of the table that see each other, in a round; None: there are none."""
    open_rooms = {m[4:]: set(row[0]) for m, row in LAYERS.items() if m.startswith("src/")}
    while True:
        free = [room for room, below in open_rooms.items() if not below & set(open_rooms)]
        if not free:
            return sorted(open_rooms) or None
        for room in free:
            del open_rooms[room]


def check(root=c.ROOT):
    sources = c.files(root, ".c", ".h", ".def")
    known = {p.split("/")[1] for p in sources if p.startswith("src/") and p.count("/") > 1}
    for folder in sorted(known):
        if "src/" + folder not in LAYERS:
            yield f"src/{folder}: has no layer in tools/layers.py"
    if circle():
        yield f"tools/layers.py: these rooms see each other: {', '.join(circle())}"
    for path in sources:
        module = module_of(path)
        if not module:
            continue
        text = c.read(root, path)
        own = {p for p in sources if p.startswith(module + "/")}
        own |= {os.path.relpath(p, os.path.dirname(path)) for p in own}
        for m in INCLUDE.finditer(text):
            why = judge(module, m[1], m[2], own)
            if why:
                yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: includes {m[2]}: {why}"
        if module in PRINTERS or path.startswith("tests/"):
            continue
        for number, line in enumerate(c.code(text).splitlines(), 1):
            for m in FORBIDDEN.finditer(line):
                if (path, m[1]) not in EXCEPTIONS:
                    yield f"{path}:{number}: calls {m[1]}(): only src/cli prints and exits"


def self_test():
    return c.misses(check, [
        ("a good tree", {"src/base/a.c": '#include "base/a.h"\n#include <string.h>\n',
                         "src/base/a.h": '#include "deepclock/base.h"\n',
                         "src/os/b.c": '#include "base/err.h"\n#include <sys/stat.h>\n',
                         "src/cli/c.c": '#include "c.h"\nint main(void){printf("x");exit(1);}\n',
                         "src/cli/c.h": '#include "deepclock/deepclock.h"\n',
                         "src/os/child.c": "void f(void){_exit(0);}\n"}, None),
        ("an upward include", {"src/base/a.c": '#include "os/os.h"\n'}, "may include no other room"),
        ("a sideways include", {"src/model/a.c": '#include "engine/engine.h"\n'}, "may include base, os"),
        ("the program looks inside", {"src/cli/a.c": '#include "base/mem.h"\n'}, "may include no"),
        ("a header that is not shown", {"src/os/a.c": '#include "base/hidden.h"\n'}, "does not show"),
        ("a public header from above", {"src/base/a.c": '#include "deepclock/compare.h"\n'}, "not below"),
        ("statistics that see the system", {"src/stat/a.c": "#include <time.h>\n"}, "does not belong"),
        ("a system call in the model", {"src/model/a.c": "#include <sys/socket.h>\n"}, "src/os"),
        ("a plug-in that sees the inside", {"plugins/x/a.c": '#include "os/os.h"\n'}, "may include"),
        ("a directory without a layer", {"src/new/a.c": "int x;\n"}, "no layer"),
        ("the library prints", {"src/report/a.c": 'void f(void){printf("x");}\n'}, "printf()"),
        ("the library exits", {"src/os/a.c": "void f(void){ _exit (1);}\n"}, "_exit()"),
        ("a word in a comment", {"src/os/a.c": '/* exit(1) */ const char *s = "abort()";\n'}, None),
        ("a longer name", {"src/os/a.c": "void f(void){snprintf(0,0,\"\"); t->exit(1); on_exit(2);}\n"},
         None),
    ])


if __name__ == "__main__":
    c.run(check, self_test)
