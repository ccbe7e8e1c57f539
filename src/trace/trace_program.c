/* trace_program.c - a program of somebody's, started and recorded: by its environment it is told
 * what to record and where to leave the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/zone.h"

#include "base/err.h"
#include "base/mem.h"
#include "os/os.h"

#include <stdio.h>
#include <string.h>

const dck_opt dck_trace_options[] = {
    DCK_OPTION(TEXT, dck_trace_config, path, "out", "FILE", "trace.pftrace", "where the trace goes",
	       .letter = 'o'),
    DCK_OPTION(BYTES, dck_trace_config, last, "last", "SIZE", NULL,
	       "keep about so much of the newest events, and write them at the end", .min = 65536,
	       .max = 1e12, .excludes = "max-size"),
    DCK_OPTION(BYTES, dck_trace_config, max_size, "max-size", "SIZE", NULL,
	       "the trace grows no larger", .min = 65536, .max = 1e18),
    DCK_OPTION(BYTES, dck_trace_config, buffer_bytes, "buffer", "SIZE", "64MiB",
	       "memory of the program for events that are not yet written", .min = 65536,
	       .max = 1073741824.0),
    {0},
};

/* There is no record. announced: the program began to record. */
static dck_status ended(const dck_trace_config *c, const dck_trace_program *p, bool announced,
			dck_err *err)
{
	const char *name = p->argv[0];
	char how[160] = "did not come to its end, as by _exit()";

	if (p->signal)
		snprintf(how, sizeof how, "was killed by signal %d (%s)", p->signal,
			 strsignal(p->signal));
	if (announced)
		DCK_FAIL(err, E_ENGINE, "'%.200s' %s; what it had done until then is in '%.200s'",
			 name, how, c->path);
	if (p->signal)
		DCK_FAIL(err, E_ENGINE, "'%.200s' %s, and recorded nothing", name, how);
	DCK_FAIL(err, E_ABSENT, "'%.200s' recorded nothing: it is not linked with libdeepclock",
		 name);
}

static dck_status run(const dck_trace_config *c, dck_trace_program *p, const char *folder,
		      dck_record **ret, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	os_child_usage usage;
	pid_t pid;

	DCK_NEED(a, err, "for the environment of a program");
	const char *record = mem_arena_fmt(a, "%s/record.json", folder);
	const char *set[] = {
	    "DEEPCLOCK_TRACE_BY=",
	    mem_arena_fmt(a, "DEEPCLOCK_TRACE=%s", c->path),
	    mem_arena_fmt(a, "DEEPCLOCK_TRACE_RECORD=%s", record),
	    mem_arena_fmt(a, "DEEPCLOCK_TRACE_LAST=%llu", (unsigned long long)c->last),
	    mem_arena_fmt(a, "DEEPCLOCK_TRACE_MAX_SIZE=%llu", (unsigned long long)c->max_size),
	    mem_arena_fmt(a, "DEEPCLOCK_TRACE_BUFFER=%llu", (unsigned long long)c->buffer_bytes),
	    NULL,
	};
	const os_spawn_config spawn = {
	    .argv = p->argv, .in_fd = 0, .out_fd = 1, .err_fd = 2, .keep_fd = -1, .set = set};
	dck_status st = DCK_OK;
	if (mem_arena_failed(a))
		st = ERR_NO_MEMORY(err, "for the environment of a program");
	if (st == DCK_OK)
		st = os_spawn(&spawn, &pid, err);
	if (st == DCK_OK)
		st = os_wait(pid, 0, p->cancelled, p->self, &usage, err);
	if (st == DCK_OK) {
		p->exit_code = usage.exit_code;
		p->signal = usage.signal;
		uint64_t bytes = 0;
		bool announced = os_path_kind(record, &bytes) == OS_FILE;
		st = bytes ? dck_record_load(record, ret, err) : ended(c, p, announced, err);
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
	DCK_TRY(os_temp_dir(folder, err));
	dck_status st = run(config, p, folder, ret, err);
	os_temp_dir_remove(folder);
	return st;
}
