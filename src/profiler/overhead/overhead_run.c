/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/overhead/overhead_run.h"

#include "base/err.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 4096, SAID_BYTES = 65536 };

const overhead_way overhead_methods[OVERHEAD_METHODS] = {
    [OVERHEAD_NONE] = {.name = "none"},
    {"count", "count", NULL, NULL, "count", "elapsed", "count-none"},
    {"sample", "sample", NULL, NULL, "sample", "elapsed", NULL},
    {"trace", "trace", NULL, "trace.pftrace", "trace", "program_elapsed", NULL},
    {"trace-sample", "trace", "--sample", "trace.pftrace", "trace", "program_elapsed", NULL},
    {"memory", "memory", NULL, NULL, "memory", "elapsed", NULL},
};

/* `deepclock COMMAND ... -- PROGRAM ...`. */
static char *const *words_make(const overhead *o, size_t method, mem_arena *a, const char *record)
{
	const overhead_way *way = &overhead_methods[method];
	size_t n = 0, words = 0;

	if (method == OVERHEAD_NONE)
		return o->argv;
	while (o->argv[words])
		words++;
	const char **all = mem_arena_array(a, words + 13, sizeof *all);
	if (!all)
		return NULL;
	all[n++] = o->config->deepclock;
	all[n++] = way->command;
	if (way->option)
		all[n++] = way->option;
	all[n++] = "--quiet";
	all[n++] = "--no-history";
	all[n++] = "--save";
	all[n++] = record;
	if (way->file) {
		all[n++] = "--out";
		all[n++] = mem_arena_fmt(a, "%s/%s", o->directory, way->file);
	}
	all[n++] = "--";
	for (size_t i = 0; i < words; i++)
		all[n++] = o->argv[i];
	return (char *const *)all;
}

/* Reads the last message that the process printed, without the program's name. */
static void sentence_find(int fd, char *ret, size_t size)
{
	char said[SAID_BYTES + 1];
	uint64_t bytes = 0;

	snprintf(ret, size, "it failed");
	os_fd_kind(fd, &bytes);
	/* The program's messages are there too, and come first. */
	const ptrdiff_t got =
	    os_read_at(fd, said, SAID_BYTES, bytes > SAID_BYTES ? bytes - SAID_BYTES : 0);
	const size_t n = got > 0 ? (size_t)got : 0;
	said[n] = '\0';
	for (size_t i = 0; i < n; i++)
		if (said[i] == '\n')
			said[i] = '\0';
	for (const char *at = said; at < said + n; at += strlen(at) + 1)
		if (strncmp(at, "deepclock: ", 11) == 0)
			snprintf(ret, size, "%s", at + 11);
}

static double file_bytes(const char *path)
{
	uint64_t n = 0;

	return os_path_kind(path, &n) == OS_FILE ? (double)n : 0;
}

static double more(double a, double b)
{
	return a > b ? a : b;
}

/* Returns the program's time from the method's record; 0: not there. If the method was inactive,
 * its time would be that of the plain program: then `absent` is set to the reason. */
static double method_ns(const overhead_way *way, const char *path, char *absent, size_t size)
{
	dck_record *r;
	double ret = 0;

	if (!way->key || dck_record_load(path, &r, NULL) != DCK_OK)
		return 0;
	const dck_fact *f = dck_record_fact(r, way->section, way->key);
	const dck_note *inactive = way->inactive ? dck_record_note(r, way->inactive) : NULL;
	if (inactive)
		snprintf(absent, size, "%s", inactive->text);
	if (f && f->value.kind == DCK_VALUE_INT)
		ret = (double)f->value.as.i;
	else if (f && f->value.kind == DCK_VALUE_REAL)
		ret = f->value.as.r;
	dck_record_free(r);
	return ret;
}

static void overhead_keep(overhead *o, size_t method, mem_arena *a, const char *record,
			  double whole_ns, const os_child_usage *usage)
{
	const overhead_way *way = &overhead_methods[method];
	overhead_method *m = &o->of[method];
	const double program_ns = method_ns(way, record, m->absent, sizeof m->absent);
	double output = file_bytes(record);

	if (way->file)
		output += file_bytes(mem_arena_fmt(a, "%s/%s", o->directory, way->file));
	m->whole |= program_ns <= 0;
	m->time_ns[o->rounds] = program_ns > 0 ? program_ns : whole_ns;
	m->whole_ns[o->rounds] = whole_ns;
	m->rss_bytes = more(m->rss_bytes, (double)usage->peak_rss_bytes);
	m->output_bytes = more(m->output_bytes, method == OVERHEAD_NONE ? 0 : output);
}

static dck_status method_run(overhead *o, size_t method, mem_arena *a, int said, dck_err *err)
{
	const char *record = mem_arena_fmt(a, "%s/record.json", o->directory);
	os_child_usage usage;
	pid_t pid;
	char *const *argv = words_make(o, method, a, record);

	DCK_NEED(!mem_arena_failed(a), err, "for the command of a profile");
	os_file_remove(record);
	const os_spawn_config spawn = {
	    .argv = argv, .in_fd = -1, .out_fd = -1, .err_fd = said, .keep_fd = -1};
	const uint64_t begin = os_now_ns();
	DCK_TRY(os_spawn(&spawn, &pid, err));
	DCK_TRY(os_wait(pid, 0, o->config->cancelled, o->config->self, &usage, err));
	const double took = (double)(os_now_ns() - begin);
	if (method == OVERHEAD_NONE && usage.signal)
		DCK_FAIL(err, E_ENGINE, "'%.200s' was killed by signal %d", o->argv[0],
			 usage.signal);
	if (method == OVERHEAD_NONE && usage.exit_code)
		DCK_FAIL(err, E_ENGINE, "'%.200s' ended with exit status %d without a profiler",
			 o->argv[0], usage.exit_code);
	if (usage.exit_code)
		sentence_find(said, o->of[method].absent, sizeof o->of[method].absent);
	else
		overhead_keep(o, method, a, record, took, &usage);
	return DCK_OK;
}

dck_status overhead_run(overhead *o, size_t method, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	int said = -1;

	DCK_NEED(a, err, "for the command of a profile");
	dck_status st = os_memfd(&said, err);
	DCK_NEXT(st, method_run(o, method, a, said, err));
	if (said >= 0)
		os_close(said);
	mem_arena_free(a);
	return st;
}
