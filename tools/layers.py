#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the layers of src: which directory may include which, by which headers, and which may print or exit.
Dependencies point down; siblings include each other only where the table allows it; only src/cli prints and exits.

  layers.py [--self-test]
"""

import collections
import os
import re
import check as c

ISO = set("assert complex ctype errno fenv float inttypes iso646 limits locale math setjmp signal "
          "stdalign stdarg stdatomic stdbool stddef stdint stdio stdlib stdnoreturn string tgmath "
          "threads time uchar wchar wctype".split())
NUMBERS = set("assert float limits math stdbool stddef stdint stdio stdlib string".split())
ANY = None

# directory: (directories that it may include, its headers that others may include, public headers, C headers,
# other system headers). A directory always includes itself and its subdirectories without a row. ANY: no
# limit. A directory without such headers (`()`) is used through include/deepclock alone.
LAYERS = {
    # The base layer. No system calls, no policy on floating-point numbers.
    "src/base": ((), "commas csv_write dtype err names/function_name hash json/json_read json/json_write id_table common_prefix mem name_index decimal observer opt_text percentile "
                 "rng sink units utf8 wire", ("base", "bench", "opt", "plugin", "report", "unstable"), ISO, ()),
    # Every system call; one file for each facility.
    "src/os": (("base",), "counters/perf_count counters/perf_sampling file/gzip file/shared_memory file/text net/network os process/lazy_library "
               "process/lazy_zlib process/other_process", ("base", "bench", "report", "unstable"), ISO, ANY),
    # Pure functions on arrays: no clock, no system; of base the random numbers; stdio for snprintf alone.
    "src/stat": (("base",), "stat blocks dist sequential", ("base",), NUMBERS, ()),
    # Devices that run asynchronously, and their drivers, which are loaded at run time.
    "src/device": (("base", "os"), "cuda_work cupti_api cupti_find device device_null gauges", ("base", "bench"), ISO, ("dlfcn.h", "link.h", "pthread.h")),
    "src/record": (("base", "os"), "record_begin record_internal build comparable copy host line_journal others program_end program_file",
                   ("base", "opt", "record", "report", "unstable"), ISO,
                   ("jansson.h",)),
    # Call trees: call paths, and sums over them.
    "src/record/tree": (("base", "stat", "record"), "cct tree_rows exact_functions function_weights call_table call_tree module_tree path_trie share_difference",
                        ("base", "calls", "opt", "record", "report", "unstable"), ISO, ()),

    # Measuring models.
    "src/model/onnx": (("base", "os"), "float_format module_path onnx summary", ("base", "opt", "model", "report", "unstable"), ISO, ()),
    # Output shapes and cost of each operator of a model; exact integers, no time.
    "src/model/cost": (("base", "model/onnx"), "cost_model einsum op flop_conventions slice_cut", ("base",), ISO, ()),
    # Rebatching: a model exported for one item is rewritten for many; reads and writes models, runs nothing.
    "src/model/rebatch": (("base", "model/onnx", "model/cost"), "rebatch", ("base",), ISO, ()),
    "src/machine": (("base", "os"), "loops", ("base", "bench"), ISO,
                    ("arm_neon.h", "cpuid.h", "immintrin.h", "pthread.h", "x86intrin.h")),
    "src/engine": (("base", "os", "device"), "engine", ("base", "opt", "bench", "plugin", "unstable"), ISO, ("xmmintrin.h",)),
    # Opening the subjects of a measurement.
    "src/measure/subject": (("base", "os", "record", "model/onnx", "model/cost", "model/rebatch", "engine"),
                            "hooks input_given inputs model_content npy random rebatched shape_resolve subject_facts target", ANY, ISO, ()),
    # Numerical comparison of outputs.
    "src/measure/verify": (("base", "os", "record", "engine", "measure/subject"), "output_compare tensor_compare rebatch_check", ANY, ISO, ()),
    # One measurement; its runs may go to a timeline.
    "src/measure": (("base", "os", "stat", "device", "record", "profiler/trace", "engine", "measure/subject", "measure/verify"),
                    "device_times diagnostics latency_limit method phases plan results run_delays samples session worker", ANY, ISO, ("pthread.h",)),
    # The client of servers: HTTP, streams of events, the loop on a schedule. It knows no statistics.
    "src/measure/http": (("base", "os"), "completion http_client http_null http_url kserve tls_link", ("base", "bench", "report"), ISO, ("pthread.h",)),
    # Files of prompts, as texts or token ids.
    "src/measure/prompts": (("base", "os"), "prompt_ids prompt_texts", ("base",), ISO, ()),
    # A server, opened: its prompts, its client, calibrated.
    "src/measure/server": (("base", "os", "stat", "record", "measure/http", "measure/prompts"), "server_cache server_session", ANY, ISO, ()),
    # One directory for each command built on them.
    "src/study/cost_report": (("base", "os", "record", "record/tree", "model/onnx", "model/cost", "engine", "measure/subject"),
                              "model_cost cost_formula observed_shapes operator_roofs", ANY, ISO, ()),
    "src/study/inspect": (("base", "os", "record", "model/onnx", "model/cost", "measure/subject", "study/cost_report"), (), ANY,
                          ISO, ()),
    "src/study/roofline": (("base", "os", "stat", "device", "record", "model/onnx", "machine", "measure/subject"), (), ANY, ISO, ()),
    "src/study/profile": (("base", "os", "stat", "record", "record/tree", "model/onnx", "model/cost", "engine", "measure/subject",
                           "measure/verify", "measure", "study/cost_report"), (), ANY, ISO, ()),
    "src/study/throughput": (("base", "os", "stat", "record", "measure/subject", "measure", "study/cost_report"), (), ANY, ISO, ()),
    "src/study/tune": (("base", "os", "stat", "record", "engine", "model/onnx", "measure/subject", "measure/verify", "measure"), (), ANY, ISO, ()),
    "src/study/load": (("base", "os", "stat", "record", "measure/subject", "measure/verify", "measure", "measure/http", "measure/server"), (), ANY, ISO,
                       ("pthread.h",)),
    "src/study/generate": (("base", "os", "stat", "record", "engine", "model/onnx", "measure/subject", "measure", "measure/prompts"), (), ANY, ISO,
                           ()),
    "src/study/compare": (("base", "os", "stat", "record", "engine", "model/onnx", "measure/subject", "measure/verify", "measure", "measure/server"), (), ANY,
                          ISO, ()),
    "src/study/pitfalls": (("base", "os", "stat", "record", "engine", "measure/subject", "measure/verify", "measure"), (), ANY,
                           ISO, ("pthread.h",)),
    "src/study/accuracy": (("base", "os", "stat", "record", "engine", "measure/subject", "measure/verify", "measure"), (), ANY,
                           ISO, ()),

    # Profiling programs. Stacks: unwinding, and the memory map.
    "src/profiler/unwind": (("base", "os"), "address_search elf_file file_room eh_frame_index go_table readable address_space self_modules unwind unwind_scan unwind_self", ("base",), ISO,
                            ("dlfcn.h", "dwarf.h", "elf.h", "fcntl.h", "link.h", "pthread.h", "sys/auxv.h", "sys/syscall.h", "sys/types.h",
                             "ucontext.h", "unistd.h")),
    # Functions and lines of addresses.
    "src/profiler/symbols": (("base", "os", "profiler/unwind"), "vtable_symbols symbolizer", ("base",), ISO,
                             ("dwarf.h", "elf.h", "elfutils/libdw.h", "sys/types.h", "unistd.h")),
    # The interpreter's own frames.
    "src/profiler/python": (("base", "os", "profiler/unwind"),
                            "python_elf python_library python_merge python_runs python_self python_stack", ("base",), ISO,
                            ("dlfcn.h", "elf.h", "link.h", "pthread.h", "sys/types.h", "unistd.h")),
    # Timelines of ranges, and statistics over them.
    "src/profiler/timeline": (("base", "os", "stat", "record", "record/tree"),
                              "pending_ranges perfetto sample_sums timeline_lod thread_table timeline zone_percentiles zone_aggregate zone_table",
                              ("base", "opt", "report", "unstable"), ISO, ()),
    # Trace file formats: one source file for each.
    "src/profiler/write": (("base", "os", "record", "record/tree", "profiler/timeline"), "formats perfetto_samples",
                           ("base", "calls", "record", "report", "trace"), ISO, ()),
    # Reading trace files, also of other programs; statistics, and merging several onto one timeline.
    "src/profiler/read": (("base", "os", "record", "record/tree", "profiler/timeline", "profiler/write"), "perfetto/perfetto_read trace_align trace_merge trace_read",
                          ("base", "calls", "opt", "trace", "unstable"), ISO, ()),
    # Recording ranges of a running program.
    "src/profiler/trace": (("base", "os", "record", "record/tree", "profiler/timeline", "profiler/write", "profiler/read",
                            "profiler/sample"),
                           "backfill device_track result/device_report result/lost_children result/zone_record trace_program waiting", ("base", "opt", "record", "report", "trace", "unstable", "zone"), ISO,
                           ("pthread.h", "semaphore.h", "x86intrin.h")),
    # Zones on a queue of a device.
    "src/profiler/device_zone": (("base", "os", "device", "profiler/trace"), (), ("base", "bench", "device_zone"), ISO, ("pthread.h",)),
    # Stopwatches inside a program.
    "src/profiler/lap": (("base", "os", "stat", "record"), (), ("base", "device_zone", "lap", "opt", "record", "unstable", "zone"), ISO, ("pthread.h",)),
    # Counters of a program, and calls of its functions.
    "src/profiler/count": (("base", "os", "stat", "record", "record/tree", "profiler/unwind", "profiler/symbols", "profiler/python",
                            "profiler/execs", "profiler/trace"), "thread_cct count_file", ("base", "count", "opt", "record", "trace", "unstable"), ISO,
                           ("dlfcn.h", "elf.h", "fcntl.h", "link.h", "pthread.h", "linux/futex.h", "sys/mman.h", "sys/resource.h",
                            "sys/stat.h", "sys/syscall.h", "unistd.h", "x86intrin.h")),
    # Sampling stacks of an unmodified program, by the kernel or by timers in the program.
    "src/profiler/sample": (("base", "os", "record", "record/tree", "profiler/unwind", "profiler/symbols", "profiler/python"),
                            "sample_beside sample_moment sample_slots", ("base", "opt", "record", "sample"), ISO, ("linux/perf_event.h", "pthread.h")),
    # Allocation profiling of a program by call path.
    "src/profiler/memory": (("base", "os", "stat", "record", "record/tree", "profiler/unwind", "profiler/symbols", "profiler/python",
                             "profiler/execs", "profiler/preload/heap"), (), ("base", "memory", "opt", "record"), ISO, ("pthread.h",)),
    # Programs that an observed program starts: what is preloaded writes their names, and the reader explains which were not observed.
    "src/profiler/execs": (("base", "os", "record"), "exec_list exec_unseen exec_watch", ("base",), ISO,
                           ("dlfcn.h", "fcntl.h", "spawn.h", "sys/resource.h", "sys/syscall.h", "unistd.h")),
    # A job of several processes: which rank holds the others up.
    "src/profiler/ranks": (("base", "os", "stat", "record", "profiler/timeline", "profiler/write", "profiler/read", "profiler/trace",
                             "profiler/preload/mpi"), (),
                           ("base", "opt", "ranks", "record", "trace", "unstable"), ISO, ("pthread.h",)),
    # Comparison of profiling methods: each run is a separate process.
    "src/profiler/overhead": (("base", "os", "stat", "record"), (), ("base", "opt", "overhead", "record"), ISO, ()),
    # Separate libraries, preloaded into the profiled program: src/profiler/preload/README.md has their rules.
    "src/profiler/preload/waits": (("profiler/trace", "profiler/execs"), (), (), ISO, ANY),
    "src/profiler/preload/mpi": ((), "mpi_delay", ("zone",), ISO, ANY),
    "src/profiler/preload/sampler": (("profiler/sample", "profiler/unwind", "profiler/python"), (), (), ISO, ANY),
    "src/profiler/preload/heap": (("profiler/execs", "profiler/unwind", "profiler/python"), "heap_region", ("base",), ISO, ANY),
    "src/profiler/preload/cuda": (("device", "profiler/trace"), (), ("base", "zone"), ISO, ANY),
    "src/profiler/preload/calls": (("profiler/count", "profiler/execs", "profiler/unwind"), (), ("count",), ISO, ANY),

    # Reports. Pure functions of a record, except for the output file.
    "src/report": (("base", "os", "record", "record/tree", "profiler/timeline"), (), ("base", "opt", "record", "report", "unstable"), ISO, ()),
    # Earlier measurements; it uses records, never the measuring code.
    "src/history": (("base", "os", "record", "stat"), (), ("base", "history", "opt", "record", "report", "unstable"), ISO, ("sqlite3.h",)),
    "src/cli": ((), (), ANY, ISO, ANY),
    "python": ((), (), ANY, ISO, ANY),
    "plugins": ((), (), ("plugin", "base"), ISO, ANY),
    "examples": ((), (), ANY, ISO, ANY),
    "include/deepclock": ((), ANY, ANY, set("stdbool stddef stdint".split()), ()),
}
PRINTERS = ("src/cli", "python", "examples")
# The two products over the common base, and the one dependency between them: a measurement passes runs to a timeline.
PRODUCTS = {"measuring models": ("src/model/", "src/machine", "src/engine", "src/measure", "src/study/"),
            "watching programs": ("src/profiler/",)}
JOINED = [("src/measure", "profiler/trace")]
TOP_MAX, FILES_MAX = 16, 40 # directories directly below src, files directly in one

# Calls that only PRINTERS may make, with these exceptions.
FORBIDDEN = re.compile(r"(?<![\w.>])(_?_?exit|_Exit|quick_exit|abort|v?f?printf|f?puts|perror|putchar|"
                       r"fputc|putc|fwrite|system)\s*\(")
EXCEPTIONS = {
    ("src/profiler/preload/waits/leave.c", "_exit"),  # interposes these functions
    ("src/profiler/preload/waits/leave.c", "_Exit"),
    ("src/profiler/preload/calls/instrument.c", "_exit"),  # interposes it too
    ("src/profiler/preload/calls/instrument.c", "_Exit"),
    ("src/profiler/execs/exec_watch.c", "system"),  # interposes it
    ("src/profiler/trace/trace_start.c", "fprintf"),  # a recording that a variable requests has no caller
    ("src/os/process/proc.c", "_exit"),  # of a child whose exec failed
    ("src/os/process/child.c", "_exit"),  # end of a forked child, which must not run the parent's atexit() functions
} | {("src/profiler/preload/waits/wait_stdio.c", f) for f in  # interposes these too
     "fputc putc putchar fwrite fputs puts printf fprintf vprintf vfprintf".split()}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def module_of(path):
    """Returns the row of a file: the innermost directory of the table that contains it."""
    return max((m for m in LAYERS if path.startswith(m + "/")), key=len, default=None)


def product_of(module):
    return next((name for name, parts in PRODUCTS.items() if module.startswith(parts)), None)


def judge(module, quote, name, own):
    """Returns why `module` may not include `name`, or None."""
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
    seen = (module_of("src/" + name) or "src/")[4:]
    if seen not in below:
        return f"{module} may include {', '.join(below) or 'no other directory'}"
    shown = LAYERS["src/" + seen][1] or ""
    return None if name.removeprefix(seen + "/").removesuffix(".h") in shown.split() else f"src/{seen} does not show it"


def circle():
    """Returns directories of the table that form a cycle, or None."""
    left = {m[4:]: set(row[0]) for m, row in LAYERS.items() if m.startswith("src/")}
    while True:
        free = [seen for seen, below in left.items() if not below & set(left)]
        if not free:
            return sorted(left) or None
        for seen in free:
            del left[seen]


def sizes(root):
    inside = c.files(os.path.join(root, "src"), "")
    top = {p.split("/")[0] for p in inside if "/" in p}
    if len(top) > TOP_MAX:
        yield f"src has {len(top)} directories, at most {TOP_MAX}"
    for folder, number in sorted(collections.Counter(map(os.path.dirname, inside)).items()):
        if number > FILES_MAX:
            yield f"src/{folder}: {number} files, at most {FILES_MAX}"


def joins():
    """Returns the dependencies of the table between the two products."""
    for module, row in LAYERS.items():
        for below in row[0]:
            pair = {product_of(module), product_of("src/" + below)} - {None}
            if len(pair) > 1 and (module, below) not in JOINED:
                yield f"tools/layers.py: {module} sees src/{below}: {' and '.join(sorted(pair))} meet in {JOINED[0][0]} alone"


def check(root=c.ROOT):
    sources = c.files(root, ".c", ".h", ".def")
    for folder in sorted({os.path.dirname(p) for p in sources if p.startswith("src/") and not module_of(p)}):
        yield f"{folder}: has no layer in tools/layers.py"
    yield from sizes(root)
    yield from joins()
    if circle():
        yield f"tools/layers.py: these rooms see each other: {', '.join(circle())}"
    owns = collections.defaultdict(set)
    for path in sources:
        owns[module_of(path)].add(path)
    for path in sources:
        module = module_of(path)
        if not module:
            continue
        text = c.read(root, path)
        own = owns[module] | {os.path.relpath(p, os.path.dirname(path)) for p in owns[module]}
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
                         "src/os/process/child.c": "void f(void){_exit(0);}\n"}, None),
        ("an upward include", {"src/base/a.c": '#include "os/os.h"\n'}, "may include no other directory"),
        ("a sideways include", {"src/model/onnx/a.c": '#include "engine/engine.h"\n'}, "may include base, os"),
        ("the program looks inside", {"src/cli/a.c": '#include "base/mem.h"\n'}, "may include no"),
        ("a header that is not shown", {"src/os/a.c": '#include "base/hidden.h"\n'}, "does not show"),
        ("a public header from above", {"src/base/a.c": '#include "deepclock/compare.h"\n'}, "not below"),
        ("statistics that see the system", {"src/stat/a.c": "#include <time.h>\n"}, "does not belong"),
        ("a system call in the model", {"src/model/onnx/a.c": "#include <sys/socket.h>\n"}, "src/os"),
        ("a plug-in that sees the inside", {"plugins/x/a.c": '#include "os/os.h"\n'}, "may include"),
        ("a directory without a layer", {"src/new/a.c": "int x;\n"}, "no layer"),
        ("a directory of many files", {f"src/os/{n}.c": "int x;\n" for n in range(FILES_MAX + 1)}, "at most"),
        ("a header of a directory within", {"src/measure/a.c": '#include "measure/subject/hooks.h"\n'}, None),
        ("one that it does not show", {"src/measure/a.c": '#include "measure/subject/npz.h"\n'}, "does not show"),
        ("the library prints", {"src/report/a.c": 'void f(void){printf("x");}\n'}, "printf()"),
        ("the library exits", {"src/os/a.c": "void f(void){ _exit (1);}\n"}, "_exit()"),
        ("a word in a comment", {"src/os/a.c": '/* exit(1) */ const char *s = "abort()";\n'}, None),
        ("a longer name", {"src/os/a.c": "void f(void){snprintf(0,0,\"\"); t->exit(1); on_exit(2);}\n"},
         None),
    ])


if __name__ == "__main__":
    c.run(check, self_test)
