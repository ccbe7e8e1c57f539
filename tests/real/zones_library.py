#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libdeepclock_zones as a program's library: alone, under deepclock, and together with libdeepclock, where a process
has one recorder. Prints TAP.

  zones_library.py --program build/deepclock
"""

import json
import os
import re
import shutil
import subprocess
import sys

from common import Skipped, arguments, expect, limit, run

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PROGRAM = BUILD = ""
BYTES_MAX = 450 << 10  # with the stack protector and the landing pads of Ubuntu's compilers
# Only glibc: the loader is in the list because of thread-local variables.
NEEDED = {"libc.so.6", "libm.so.6"}
LOADER = re.compile(r"ld-linux.*\.so\.\d")

# Zones, numbers and laps; with an argument the program itself starts and ends a recording.
ALONE = r"""
#include <deepclock/lap.h>
#include <deepclock/trace.h>
#include <deepclock/zone.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	char line[DCK_LAP_LINE_SIZE];
	dck_trace_config config = {.path = argc > 1 ? argv[1] : NULL};
	dck_err err = {0};

	if (argc > 1 && dck_trace_start(&config, &err) != DCK_OK)
		return puts(err.msg), 1;
	for (int i = 0; i < 3; i++) {
		dck_lap *lap = dck_lap_begin("epoch");

		for (int k = 0; k < 10; k++) {
			DCK_ZONE("step");
			DCK_PUSH("inner");
			DCK_NUMBER("k", k);
			DCK_POP();
		}
		dck_lap_value(lap, "items", 10, NULL);
		puts(dck_lap_end_line(lap, line, sizeof line));
	}
	if (argc > 1 && dck_trace_end(&err) != DCK_OK)
		return puts(err.msg), 1;
	return 0;
}
"""

# Calls of both libraries: only libdeepclock has records.
BOTH = r"""
#include <deepclock/deepclock.h>
#include <deepclock/lap.h>
#include <deepclock/trace.h>
#include <deepclock/zone.h>
#include <stdio.h>
#include <string.h>

static int work(void *arg)
{
	(void)arg;
	return 0;
}

static int failed(const dck_err *err)
{
	puts(err->msg);
	return 1;
}

static long long rows(const dck_record *r, const char *table, const char *name, const char *column)
{
	const dck_table *t = dck_record_table(r, table);

	for (size_t i = 0; t && i < t->nrows; i++)
		if (strcmp(dck_table_cell(t, i, "name")->value.as.text, name) == 0)
			return dck_table_cell(t, i, column)->value.as.i;
	return -1;
}

int main(void)
{
	dck_trace_config config = {.path = "both.pftrace"};
	dck_subject subject;
	dck_record *zones = NULL, *laps = NULL, *measured = NULL;
	dck_plan plan;
	dck_err err = {0};

	if (dck_trace_start(&config, &err) != DCK_OK)
		return failed(&err);
	for (int i = 0; i < 7; i++) {
		dck_lap *lap = dck_lap_begin("epoch");

		DCK_MARK("here");
		DCK_PUSH("step");
		DCK_POP();
		dck_lap_end(lap);
	}
	dck_plan_init(&plan);
	plan.runs = 40;
	plan.warmup = "5";
	dck_subject_init(&subject);
	subject.kind = DCK_SUBJECT_FUNCTION;
	subject.function = work;
	if (dck_bench(&subject, &plan, NULL, &measured, &err) != DCK_OK ||
	    dck_trace_stop(&zones, &err) != DCK_OK || dck_laps_record(&laps, &err) != DCK_OK)
		return failed(&err);
	if (!zones || dck_trace_on)
		return puts("there was no recording"), 1;
	printf("%lld steps %lld laps as zones %lld laps %lld runs, %lld of them said\n",
	       rows(zones, "zones", "step", "calls"), rows(zones, "zones", "epoch", "calls"),
	       rows(laps, "laps", "epoch", "laps"), rows(zones, "zones", "run", "calls"),
	       (long long)dck_record_fact(measured, "trace", "runs")->value.as.i);
	dck_record_free(measured);
	dck_record_free(zones);
	dck_record_free(laps);
	return 0;
}
"""

# NVTX's initialisation in a program: it loads a library, and passes it a table to fill.
NVTX = r"""
#define _GNU_SOURCE
#include <deepclock/zone.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int push_function(const char *name);
typedef int pop_function(void);

static void *functions[16], **places[16];
static unsigned size = 16;

static int get(int module, void ****ret, unsigned *ret_size)
{
	if (module != 1)
		return 0;
	for (unsigned i = 0; i < size; i++)
		places[i] = &functions[i];
	*ret = places;
	*ret_size = size;
	return 1;
}

static const void *get_table(uint32_t id)
{
	static const struct {
		size_t size;
		int (*get)(int module, void ****ret, unsigned *ret_size);
	} callbacks = {sizeof callbacks, get};

	return id == 1 ? &callbacks : NULL;
}

int main(int argc, char **argv)
{
	int (*install)(const void *(*get_table)(uint32_t id));
	push_function *push;
	pop_function *pop;
	void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	void *symbol = library ? dlsym(library, "InitializeInjectionNvtx2") : NULL;

	if (!symbol)
		return puts("no library"), 1;
	memcpy(&install, &symbol, sizeof install);
	if (!install(get_table))
		return puts("it takes no table"), 1;
	memcpy(&push, &functions[9], sizeof push);
	memcpy(&pop, &functions[11], sizeof pop);
	DCK_PUSH("zone");
	push("of NVTX");
	pop();
	DCK_POP();
	return 0;
}
"""

MODULE = r"""
#include <deepclock/lap.h>
#include <deepclock/zone.h>

void work(void)
{
	for (int i = 0; i < 5; i++) {
		DCK_ZONE("in C");
	}
	dck_lap_end(dck_lap_begin("lap in C"));
}
"""

PYTHON = r"""
import ctypes, sys

if sys.argv[1] == "module":
    module = ctypes.CDLL("./module.so")
import deepclock
if sys.argv[1] != "module":
    module = ctypes.CDLL("./module.so")
with deepclock.trace("python.pftrace"):
    with deepclock.zone("in Python"):
        module.work()
from deepclock import _deepclock
print([row["name"] for row in _deepclock.laps_record().tables["laps"]])
"""


def compiled(source, to, *words):
    with open(to + ".c", "w", encoding="utf-8") as f:
        f.write(source)
    subprocess.run([*os.environ.get("CC", "cc").split(), "-std=c99", "-Wall", "-Wextra", "-Werror", "-I",
                    os.path.join(ROOT, "include"), to + ".c", "-o", to, "-L", BUILD, "-Wl,-rpath," + BUILD,
                    "-Wl,--no-as-needed", *words], check=True)


def ran(*words, **env):
    done = subprocess.run(words, capture_output=True, text=True, env={**os.environ, **env})
    expect(done.returncode == 0 and not done.stderr, done.stdout + done.stderr)
    return done.stdout


def calls(record):
    """Returns {zone: calls} of a record in JSON."""
    table = next(t for t in json.loads(record)["tables"] if t["name"] == "zones")
    column = [c["key"] for c in table["columns"]].index("calls")
    count = {row[0]: row[column] for row in table["rows"] if not row[0].startswith("wait: ")}
    return {name: n["value"] if isinstance(n, dict) else n for name, n in count.items()}


def reported(path):
    return calls(ran(PROGRAM, "report", path, "--format", "json"))


def needed(path):
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", ran("readelf", "-d", path)))


EXPECTED = {"epoch": 3, "step": 30, "inner": 30}


def links_with_glibc_alone():
    if not shutil.which("readelf") or not shutil.which("strip"):
        raise Skipped("binutils are not installed")
    library = os.path.join(BUILD, "libdeepclock_zones.so")
    other = {name for name in needed(library) - NEEDED if not LOADER.fullmatch(name)}
    expect(not other, other)
    subprocess.run(["strip", "-o", "stripped.so", library], check=True)
    expect(os.path.getsize("stripped.so") <= BYTES_MAX, os.path.getsize("stripped.so"))
    compiled(ALONE, "alone", "-ldeepclock_zones")
    expect(needed("alone") - NEEDED == {os.path.basename(os.path.realpath(library))}, needed("alone"))
    compiled(ALONE, "static", os.path.join(BUILD, "libdeepclock_zones.a"), "-lm", "-pthread")
    expect(len(ran("./static", "static.pftrace").splitlines()) == 3, "no laps")
    expect(reported("static.pftrace") == EXPECTED, reported("static.pftrace"))


def prints_laps_and_records_nothing():
    compiled(ALONE, "alone", "-ldeepclock_zones")
    lines = ran("./alone").splitlines()
    expect(len(lines) == 3 and all("items/s" in line for line in lines), lines)
    expect(not [name for name in os.listdir(".") if "pftrace" in name], os.listdir("."))


def records_by_the_environment_and_by_calls():
    compiled(ALONE, "alone", "-ldeepclock_zones")
    ran("./alone", DEEPCLOCK_TRACE="by_environment.pftrace")
    expect(reported("by_environment.pftrace") == EXPECTED, reported("by_environment.pftrace"))
    ran("./alone", "by_calls.pftrace")
    expect(reported("by_calls.pftrace") == EXPECTED, reported("by_calls.pftrace"))


def leaks_nothing_for_a_leak_checker():
    """AddressSanitizer looks for leaks before the destructors of libraries, so while the process still records."""
    try:
        compiled(ALONE, "checked", "-ldeepclock", "-fsanitize=address")
    except subprocess.CalledProcessError:
        raise Skipped("the compiler has no AddressSanitizer") from None
    ran("./checked", DEEPCLOCK_TRACE="checked.pftrace", ASAN_OPTIONS="detect_leaks=1")
    expect(reported("checked.pftrace") == EXPECTED, reported("checked.pftrace"))


def every_form_of_a_trace_is_written():
    compiled(ALONE, "alone", "-ldeepclock_zones")
    for ending in ("json", "json.gz", "csv", "speedscope.json", "folded", "pb.gz", "callgrind", "pstats"):
        ran("./alone", DEEPCLOCK_TRACE="form." + ending)
        expect(os.path.getsize("form." + ending) > 50, ending)


def the_record_is_that_of_the_large_library():
    """Under deepclock trace, the facts, the tables with their intervals, and the tree are the same."""
    shapes = {}
    for name in ("deepclock_zones", "deepclock"):
        compiled(ALONE, "traced", "-l" + name)
        for how in ([], ["--no-waits"]):
            ran(PROGRAM, "trace", "-o", "t.pftrace", "--percentiles", "p50", "--save", "r.json", *how, "--", "./traced")
            with open("r.json", encoding="utf-8") as f:
                text = f.read()
            r = json.loads(text)
            expect(calls(text) == EXPECTED, calls(text))
            zones = next(t for t in r["tables"] if t["name"] == "zones")
            step = next(row for row in zones["rows"] if row[0] == "step")
            mean = step[[c["key"] for c in zones["columns"]].index("mean")]
            expect(mean["lo"] <= mean["value"] <= mean["hi"], mean)
            expect(not r.get("incomplete"), text)
            # What other programs took is there where they took something.
            facts = {(f["section"], f["key"]) for f in r["facts"]} - {("trace", key) for key in ("others", "others_cpu", "steal")}
            shapes[name, bool(how)] = (sorted(facts),
                                       [[c["key"] for c in t["columns"]] for t in r["tables"]],
                                       [t["name"] for t in r["trees"]])
    for how in (False, True):
        expect(shapes["deepclock_zones", how] == shapes["deepclock", how], shapes)


def count_counts_its_zones():
    compiled(ALONE, "counted", "-ldeepclock_zones")
    ran(PROGRAM, "count", "--save", "c.json", "--", "./counted")
    with open("c.json", encoding="utf-8") as f:
        table = json.load(f)
    rows = next(t for t in table["tables"] if t["name"] == "functions")["rows"]
    expect({row[0]: row[1] for row in rows} == EXPECTED, rows)
    fact = next(f for f in table["facts"] if f["section"] == "count" and f["key"] == "zones")
    expect(fact["value"] == sum(EXPECTED.values()), fact)


def two_libraries_have_one_recorder():
    orders = (["-ldeepclock_zones", "-ldeepclock"], ["-ldeepclock", "-ldeepclock_zones"], ["-ldeepclock"])
    for words in orders:
        compiled(BOTH, "both", *words)
        for preload in ("", os.path.join(BUILD, "libdeepclock_preload.so")):
            said = ran("./both", LD_PRELOAD=preload)
            expect(said == "7 steps 7 laps as zones 7 laps 40 runs, 40 of them said\n", (words, preload, said))
            count = reported("both.pftrace")
            expect(count["step"] == 7 and count["epoch"] == 7 and count["run"] == 40, (words, preload, count))


def nvtx_that_loads_the_other_library_has_its_recorder():
    for linked in ("deepclock_zones", "deepclock"):
        compiled(NVTX, "nvtx", "-l" + linked, "-ldl")
        for loaded in ("libdeepclock_zones.so", "libdeepclock.so"):
            ran("./nvtx", os.path.join(BUILD, loaded), DEEPCLOCK_TRACE="nvtx.pftrace")
            expect(reported("nvtx.pftrace") == {"zone": 1, "of NVTX": 1}, (linked, loaded, reported("nvtx.pftrace")))


def python_and_a_module_in_c_have_one_recorder():
    compiled(MODULE, "module.so", "-shared", "-fPIC", "-ldeepclock_zones")
    with open("both.py", "w", encoding="utf-8") as f:
        f.write(PYTHON)
    package = os.path.join(BUILD, "python")
    if not os.path.isdir(os.path.join(package, "deepclock")):
        raise Skipped("the Python package was not built")
    for order in ("module", "deepclock"):
        for trace in ([], [PROGRAM, "trace", "-o", "outer.pftrace", "--"]):
            if trace:
                program = PYTHON.replace('deepclock.trace("python.pftrace")', 'deepclock.zone("outer")')
                with open("both.py", "w", encoding="utf-8") as f:
                    f.write(program)
            said = ran(*trace, sys.executable, "both.py", order, PYTHONPATH=package)
            expect("lap in C" in said, said)
            count = reported("outer.pftrace" if trace else "python.pftrace")
            expect(count["in C"] == 5 and count["in Python"] == 1 and count["lap in C"] == 1, (order, trace, count))


CASES = [("it needs glibc alone and is small", links_with_glibc_alone),
         ("laps print, and nothing is recorded", prints_laps_and_records_nothing),
         ("a recording by the environment and by calls", records_by_the_environment_and_by_calls),
         ("a program with AddressSanitizer records without a leak", leaks_nothing_for_a_leak_checker),
         ("every form of a trace", every_form_of_a_trace_is_written),
         ("deepclock trace makes the same record", the_record_is_that_of_the_large_library),
         ("deepclock count counts its zones", count_counts_its_zones),
         ("beside libdeepclock there is one recorder", two_libraries_have_one_recorder),
         ("NVTX has its recorder too", nvtx_that_loads_the_other_library_has_its_recorder),
         ("in Python there is one recorder", python_and_a_module_in_c_have_one_recorder)]

if __name__ == "__main__":
    args = arguments(__doc__)
    PROGRAM, BUILD = args.program, os.path.dirname(args.program)
    run(CASES, args.prefixes, seconds=limit.SECONDS)
