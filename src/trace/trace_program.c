/* trace_program.c - a program of somebody's, started and recorded: by its environment it is told
 * what to record and where to leave the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"
#include "export/formats.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"
#include "record/build.h"
#include "timeline/timeline.h"
#include "trace/trace_children.h"
#include "trace/trace_options.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SET_MAX = 64 }; /* variables */

/* Where the annotations of a program look for the library that records them. */
static const char *const annotations[] = {"NVTX_INJECTION64_PATH", "INTEL_LIBITTNOTIFY64"};

/* The program left no record. announced: it had begun to record, and what it did until its end is
 * in the file. why: nothing was put in front of it; NULL: it was. */
static dck_status ended(const dck_trace_config *c, dck_trace_program *p, bool announced,
			const char *why, dck_record **ret, dck_err *err)
{
	const char *name = p->argv[0];

	uint64_t bytes = 0;

	p->cut = announced;
	const bool by_itself = announced && !p->signal && !why;
	if (announced && os_path_kind(c->path, &bytes) == OS_FILE && bytes > 0) {
		dck_record *read;

		DCK_TRY(dck_trace_read_with(
		    c->path, &(dck_trace_reading){.percentiles = c->percentiles}, &read, err));
		if (!by_itself || record_has_rows(read)) {
			*ret = read;
			return DCK_OK;
		}
		dck_record_free(read);
	}
	if (by_itself)
		DCK_FAIL(err, E_ABSENT,
			 "'%.200s' recorded nothing: it ended by a call of the kernel, not of the "
			 "C library, as programs in Go do, and what these wait for is not seen "
			 "('go tool trace' shows it)",
			 name);
	if (announced)
		DCK_FAIL(err, E_ENGINE, "'%.200s' ended before any of its trace was written%s%s",
			 name, p->signal ? ": it was killed by " : "",
			 p->signal ? strsignal(p->signal) : "");
	if (p->signal)
		DCK_FAIL(err, E_ENGINE,
			 "'%.200s' was killed by signal %d (%s), and recorded nothing", name,
			 p->signal, strsignal(p->signal));
	DCK_FAIL(err, E_ABSENT,
		 "'%.200s' recorded nothing: it is not linked with libdeepclock, has no ranges of "
		 "NVTX or ITT, and what it waits for is not seen: %s",
		 name, why ? why : "it ended before anything was recorded");
}

/* The shared library, for NVTX to load: ourselves, or what lies beside the program, where it is
 * built, or as it is installed. NULL: it is not found. */
static const char *library_find(mem_arena *a)
{
	static const char *const places[] = {"", "/../lib", "/../lib/*", "/../lib64"};
	static const char name[] = "libdeepclock.so";
	const char *own = os_library_of(name), *found = NULL;
	const bool shared = own && strstr(own, name);
	char real[PATH_MAX], *slash;

	if (!realpath(shared ? own : "/proc/self/exe", real) || !(slash = strrchr(real, '/')))
		return NULL;
	if (shared)
		return mem_arena_dup(a, real);
	*slash = '\0';
	for (size_t i = 0; i < sizeof places / sizeof places[0] && !found; i++)
		found = os_path_first(a, mem_arena_fmt(a, "%s%s/%s", real, places[i], name));
	return found;
}

/* What the loader is to put in front of the program: to what is put there already. *ret_why:
 * nothing, and why. */
static const char *preload_find(mem_arena *a, const dck_trace_config *c, const char *program,
				const char *library, const char **ret_why)
{
	const char *slash = library ? strrchr(library, '/') : NULL, *theirs = getenv("LD_PRELOAD");
	char *path = NULL;
	const char *found = NULL;

	if (c->no_waits)
		*ret_why = "--no-waits";
	else if (os_sanitizer_name())
		*ret_why = "libdeepclock has a sanitizer in it";
	else if (os_find_program(program, &path, NULL) == DCK_OK)
		*ret_why = os_preload_refused(path);
	mem_free(path);
	if (*ret_why)
		return NULL;
	if (slash)
		found = os_path_first(a, mem_arena_fmt(a, "%.*s/libdeepclock_preload.so",
						       (int)(slash - library), library));
	if (!found)
		*ret_why = "libdeepclock_preload.so is not beside libdeepclock.so";
	else if (strpbrk(found, " :"))
		*ret_why = "the folder of libdeepclock_preload.so has a blank or colon in its name";
	if (*ret_why)
		return NULL;
	return theirs && *theirs ? mem_arena_fmt(a, "%s:%s", found, theirs) : found;
}

static dck_status run(const dck_trace_config *c, dck_trace_program *p, const char *folder,
		      dck_record **ret, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	os_child_usage usage;
	dck_record *first = NULL;
	dck_trace_config own = *c;
	pid_t pid;

	DCK_NEED(a, err, "for the environment of a program");
	const char *record = mem_arena_fmt(a, "%s/record.json", folder);
	const char *library = library_find(a), *why = NULL;
	const char *preload = preload_find(a, c, p->argv[0], library, &why);
	const char *set[SET_MAX + 1] = {
	    "DEEPCLOCK_TRACE_BY=0000000000", /* room for a number */
	    mem_arena_fmt(a, "DEEPCLOCK_TRACE_RECORD=%s", record),
	};
	size_t nset = 2;
	const os_spawn_config spawn = {
	    .argv = p->argv, .in_fd = 0, .out_fd = 1, .err_fd = 2, .keep_fd = -1, .set = set};
	for (size_t i = 0; library && i < sizeof annotations / sizeof annotations[0]; i++)
		if (!getenv(annotations[i])) /* theirs stays */
			set[nset++] = mem_arena_fmt(a, "%s=%s", annotations[i], library);
	if (preload)
		set[nset++] = mem_arena_fmt(a, "LD_PRELOAD=%s", preload);
	set[nset++] = mem_arena_fmt(a, "DEEPCLOCK_TRACE_WAITS_WHY=%s", why ? why : "");
	const char *tick = trace_tick_put(a);
	if (tick)
		set[nset++] = tick;
	/* A child of it that is elsewhere means the same file. */
	own.path = trace_path_absolute(a, c->path);
	dck_status st = trace_environment_put(a, &own, set, SET_MAX, &nset, err);
	if (st == DCK_OK)
		st = os_spawn(&spawn, &pid, err);
	if (st == DCK_OK)
		st = os_wait(pid, 0, p->cancelled, p->self, &usage, err);
	/* What was recorded until then is told. */
	const bool cancelled = st == DCK_E_CANCEL;
	if (st == DCK_OK || cancelled) {
		st = DCK_OK;
		p->exit_code = usage.exit_code;
		p->signal = usage.signal;
		uint64_t bytes = 0;
		bool announced = os_path_kind(record, &bytes) == OS_FILE;
		st = bytes ? dck_record_load(record, &first, err) : DCK_OK;
		if (st == DCK_OK && announced)
			st = trace_children_join(&own, p->argv[0], record, &first, err);
		if (st == DCK_OK && !bytes)
			p->cut = announced;
		if (st == DCK_OK && first)
			*ret = first;
		else if (st == DCK_OK && cancelled && !announced)
			st = err_set(err, DCK_E_CANCEL, __FILE__, __LINE__,
				     "cancelled before it recorded");
		else if (st == DCK_OK)
			st = ended(c, p, announced, why, ret, err);
	}
	mem_arena_free(a);
	return st;
}

dck_status dck_trace_program_run(const dck_trace_config *config, dck_trace_program *p,
				 dck_record **ret, dck_err *err)
{
	char folder[OS_TEMP_SIZE];

	if (!config->path)
		DCK_FAIL(err, E_ARG, "a program is recorded into a file, and none is named");
	DCK_TRY(trace_ending_check(config->path, err));
	DCK_TRY(trace_config_check(config, err));
	DCK_TRY(os_temp_dir(folder, err));
	dck_status st = run(config, p, folder, ret, err);
	os_temp_dir_remove(folder);
	return st;
}
