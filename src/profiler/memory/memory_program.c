/* memory_program.c - starts and observes the target program of `deepclock memory`.
 *
 * A library that interposes on the allocator (src/profiler/preload/heap) counts by call path, into
 * one file per process; a thread here samples resident memory (rss_sampler.c). When all processes
 * have exited, the files are merged (memory_sums.c) and the record is built (memory_record.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/opt_text.h"
#include "base/mem.h"
#include "profiler/memory/memory_record.h"
#include "os/process/other_process.h"
#include "profiler/execs/exec_unseen.h"
#include "profiler/unwind/elf_file.h"

#include <stdio.h>
#include <string.h>

static const char library[] = "libdeepclock_memory.so";

const char *const memory_remedies[OS_PRELOAD_OBSTACLES] = {
    [OS_PRELOAD_GO] = "Go's runtime/pprof shows them",
    [OS_PRELOAD_STATIC] = OS_PRELOAD_DYNAMIC,
    [OS_PRELOAD_SETUID] = OS_PRELOAD_AS_USER,
};

static dck_status watched(const dck_memory_config *c, dck_program *p, const char *directory,
			  memory_result *m, rss_samples *looks, os_child_usage *usage, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	rss_sampler *watch = NULL;
	pid_t pid = 0;

	DCK_NEED(a, err, "for the environment of a program");
	const char *why = "--rss-only";
	const char *preload =
	    c->rss_only ? NULL : os_preload_env(a, library, p->argv[0], memory_remedies, &why);
	const char *set[] = {
	    program_end_begin(&m->end),
	    mem_arena_fmt(a, HEAP_VARIABLE "=%s", preload ? directory : ""),
	    mem_arena_fmt(a, HEAP_SAMPLE_VARIABLE "=%llu", (unsigned long long)c->sample_bytes),
	    preload, NULL};
	const os_spawn_config spawn = {
	    .argv = p->argv, .in_fd = 0, .out_fd = 1, .err_fd = 2, .keep_fd = -1, .set = set};
	dck_status st = mem_arena_failed(a) ? ERR_NO_MEMORY(err, "to start a program") : DCK_OK;

	if (preload)
		exec_unseen_begin(directory);
	m->began_unix_ns = os_unix_ns();
	/* Before the start: the program may run for some time until we are scheduled again. */
	m->began_ns = os_now_ns();
	DCK_NEXT(st, os_spawn(&spawn, &pid, err));
	DCK_NEXT(st, rss_sampler_start(pid, c->rate_hz, m->began_ns, preload ? directory : NULL,
				       &watch, err));
	if (st != DCK_OK && pid > 0) {
		os_child_kill(pid);
		os_wait(pid, 0, NULL, NULL, usage, NULL);
	}
	if (st == DCK_OK) {
		st = os_wait(pid, 0, p->cancelled, p->self, usage, err);
		m->took_ns = os_now_ns() - m->began_ns;
		rss_sampler_stop(watch, looks);
	}
	m->cancelled = st == DCK_E_CANCEL;
	if (st == DCK_OK || m->cancelled)
		program_end_find(&m->end, usage, m->cancelled);
	if (!preload && (st == DCK_OK || m->cancelled))
		m->why = mem_dup(why);
	mem_arena_free(a);
	return m->cancelled ? DCK_OK : st;
}

/* No library can be preloaded into what runs already. */
static dck_status memory_attached(const dck_memory_config *c, const dck_program *p,
				  memory_result *m, rss_samples *looks, dck_err *err)
{
	enum { ASK_NS = 50000000 };
	const int pid = (int)c->pid;
	rss_sampler *watch;

	if (!os_process_runs(pid))
		DCK_FAIL(err, E_ABSENT, "there is no process %d", pid);
	m->began_unix_ns = os_unix_ns();
	m->began_ns = os_now_ns();
	DCK_TRY(rss_sampler_start(pid, c->rate_hz, m->began_ns, NULL, &watch, err));
	while (!m->cancelled && os_process_runs(pid)) {
		const uint64_t now = os_now_ns() - m->began_ns;

		if (c->time_ns && now >= c->time_ns)
			break;
		os_sleep_ns(c->time_ns && c->time_ns - now < ASK_NS ? c->time_ns - now : ASK_NS,
			    NULL, NULL);
		m->cancelled = p->cancelled && p->cancelled(p->self);
	}
	m->took_ns = os_now_ns() - m->began_ns;
	rss_sampler_stop(watch, looks);
	m->why = mem_dup("it was already running: its earlier allocations are unknown");
	return DCK_OK;
}

static bool has_malloc(const char *program)
{
	elf_file *f;
	bool has;

	if (elf_file_open(program, &f, NULL) != DCK_OK)
		return false;
	has = elf_file_exports(f, "malloc");
	elf_file_close(f);
	return has;
}

/* Finds the processes whose program has malloc() itself: such calls do not reach a library that is
 * preloaded. Returns such a program if no process called the library's; otherwise NULL. */
static const char *allocator_find(memory_sums *sums)
{
	const char *program = NULL, *last = "";
	bool called = false, last_has = false;

	for (size_t i = 0; i < sums->nprocesses; i++) {
		sums_process *p = &sums->processes[i];

		if (p->totals[TOTAL_ALLOCATIONS].sampled > 0) {
			called = true;
			continue;
		}
		if (!p->program)
			continue;
		if (strcmp(p->program, last))
			last_has = has_malloc(p->program);
		last = p->program;
		p->own_allocator = last_has;
		if (p->own_allocator)
			program = p->program;
	}
	return called ? NULL : program;
}

static dck_status target_run(const dck_memory_config *c, dck_program *p, const char *directory,
			     dck_record **ret, dck_err *err)
{
	rss_samples looks = {0};
	memory_sums sums = {0};
	os_child_usage usage = {0};
	memory_result m = {
	    .config = c, .program = p, .directory = directory, .looks = &looks, .usage = &usage};
	dck_status st = c->pid ? memory_attached(c, p, &m, &looks, err)
			       : watched(c, p, directory, &m, &looks, &usage, err);

	if (st == DCK_OK && !c->pid) {
		p->exit_code = usage.exit_code;
		p->signal = usage.signal;
		if (!m.why)
			st = memory_sums_read(directory, &sums, err);
	}
	if (st == DCK_OK) {
		char *own = (char *)(uintptr_t)m.why, space[256], its[256];
		const char *allocator = own ? NULL : allocator_find(&sums);

		snprintf(space, sizeof space, "%s; %s", program_file_reason(sums.error),
			 program_file_remedy(sums.error));
		snprintf(its, sizeof its,
			 "the program has its own allocator (malloc in %.150s), which no preloaded "
			 "library can replace",
			 allocator ? allocator : "");
		if (allocator)
			m.why = its;
		else if (!own && sums.nprocesses)
			m.sums = &sums;
		else if (!own && sums.no_space)
			m.why = space;
		else if (!own)
			m.why = "its environment was cleared, or the loader did not preload the "
				"library";
		st = memory_record(&m, ret, err);
		mem_free(own);
	}
	memory_sums_done(&sums);
	rss_samples_done(&looks);
	return st;
}

dck_status dck_memory_program_run(const dck_memory_config *config, dck_program *p, dck_record **ret,
				  dck_err *err)
{
	dck_memory_config own;
	char directory[OS_TEMP_SIZE];

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_memory_config_init, err, dck_memory_options));
	config = &own;
	if (!config->pid == !(p->argv && p->argv[0]))
		DCK_FAIL(err, E_ARG,
			 "give either a program to start or the --pid of one that runs");
	if (config->time_ns && !config->pid)
		DCK_FAIL(err, E_ARG, "a time is only for a program that runs already");
	if (config->sample_bytes && (config->pid || config->rss_only))
		DCK_FAIL(err, E_ARG,
			 "allocations are sampled only of a program that is started with its "
			 "allocations recorded");
	DCK_TRY(os_temp_dir(directory, err));
	dck_status st = target_run(config, p, directory, ret, err);
	os_temp_dir_remove(directory);
	return st;
}
