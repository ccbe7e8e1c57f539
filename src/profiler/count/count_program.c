/* count_program.c - `deepclock count`: runs a program with performance counters and the hooks of
 * -finstrument-functions (deepclock/count.h).
 *
 * Order of work: open the counters; make a directory for the files of the run; start the program
 * with libdeepclock_count.so preloaded and the recorder of zones configured by its environment;
 * wait, while a thread samples times if they are not exact (count_sampler.c); read the files of its
 * processes (count_read.c, count_zones.c); make the record. The counters come first, because a
 * child inherits only the counters that exist when it starts. The wall time covers start and wait
 * alone.
 *
 * Without any function or zone the answer is the program's resource usage, and a note has the
 * reason: no library could be preloaded, the program is not instrumented, or it runs Python, for
 * which the note has the command that counts its functions. A cancelled run gives an incomplete
 * record. The directory is removed on every path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/count.h"

#include "base/err.h"
#include "base/opt_text.h"
#include "base/mem.h"
#include "base/units.h"
#include "profiler/count/count_events.h"
#include "profiler/count/count_file.h"
#include "profiler/count/count_read.h"
#include "profiler/count/count_zones.h"
#include "os/os.h"
#include "profiler/execs/exec_unseen.h"
#include "profiler/unwind/elf_file.h"
#include "record/record_begin.h"
#include "record/build.h"
#include "record/host.h"
#include "record/others.h"
#include "record/program_end.h"
#include "record/program_file.h"
#include "profiler/python/python_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

static const char *const count_times[] = {
    [DCK_COUNT_EXACT] = "exact", [DCK_COUNT_SAMPLED] = "sampled", NULL};

const dck_opt dck_count_options[] = {
    DCK_OPTION(LIST, dck_count_config, events, "events", "LIST", NULL,
	       "events by perf's names, separated by commas; 'list' shows them; may be repeated",
	       .letter = 'e'),
    DCK_FLAG(dck_count_config, no_functions, "no-functions",
	     "counters alone: no library is preloaded into the program",
	     .excludes = "top sort times"),
    DCK_OPTION(COUNT, dck_count_config, top, "top", "N", NULL, "only the first N functions",
	       .min = 1, .max = 1e6),
    DCK_OPTION(CHOICE, dck_count_config, sort, "sort", "WHAT", "self",
	       "order of the functions: self time, total time, calls; pstats' names are accepted "
	       "too",
	       .choices = dck_count_sorts),
    DCK_OPTION(CHOICE, dck_count_config, times, "times", "HOW", "exact",
	       "times of functions: by a clock at each call, or estimated by samples, which costs "
	       "less; calls are exact in both",
	       .choices = count_times),
    {0},
};

void dck_count_config_init_sized(dck_count_config *c, uint32_t struct_size)
{
	const dck_opt *const tables[] = {dck_count_options, NULL};

	opt_config_init(c, struct_size, sizeof *c, tables);
}

enum { SET_MAX = 64 };

typedef struct run {
	const dck_count_config *config;
	dck_program *p;
	mem_arena *a;
	const char *directory;
	const char *why; /* why no library is preloaded; NULL: one is */
	os_clock_state rate;
	count_events events;
	count_zones zones;
	count_sampler *sampler; /* NULL: times are exact */
	os_child_usage usage;
	count_killed killed;
	uint64_t elapsed_ns;
	int64_t began_unix_ns;
	bool cancelled;
	program_end end;
	record_others others; /* other processes that used the machine during the run */
} run;

static const char *const count_remedies[OS_PRELOAD_OBSTACLES] = {
    [OS_PRELOAD_STATIC] = OS_PRELOAD_DYNAMIC,
    [OS_PRELOAD_SETUID] = OS_PRELOAD_AS_USER,
};

static uint64_t count_ticks(void)
{
#ifdef __x86_64__
	return __rdtsc();
#else
	return 0;
#endif
}

static dck_status start_and_wait(run *r, dck_err *err)
{
	const char *set[SET_MAX + 1] = {NULL};
	const os_spawn_config spawn = {
	    .argv = r->p->argv, .in_fd = 0, .out_fd = 1, .err_fd = 2, .keep_fd = -1, .set = set};
	size_t n = 0;
	pid_t pid;

	set[n++] = program_end_begin(&r->end);

	const char *preload = NULL;
	if (r->config->no_functions)
		r->why = "--no-functions";
	else
		preload = os_preload_env(r->a, "libdeepclock_count.so", r->p->argv[0],
					 count_remedies, &r->why);
	if (preload) {
		exec_unseen_begin(r->directory);
		set[n++] = preload;
		set[n++] = mem_arena_fmt(r->a, COUNT_DIRECTORY "=%s", r->directory);
		if (os_clock_tsc(&r->rate, NULL))
			set[n++] = COUNT_TICKS "=tsc";
		/* Also if they are exact: deepclock may run below a run that samples. */
		set[n++] = mem_arena_fmt(r->a, COUNT_TIMES "=%s", count_times[r->config->times]);
	}
	if (!r->config->no_functions)
		DCK_TRY(count_zones_begin(&r->zones, r->a, set, SET_MAX, &n, err));
	for (size_t i = 0; i < n; i++)
		DCK_NEED(set[i], err, "for the environment of a program");
	if (preload && r->config->times == DCK_COUNT_SAMPLED)
		DCK_TRY(count_sampler_start(r->directory, &r->sampler, err));
	record_others_begin(&r->others, 0);
	r->began_unix_ns = os_unix_ns();
	const uint64_t begin = os_now_ns();
	dck_status st = os_spawn(&spawn, &pid, err);
	DCK_NEXT(st, os_wait(pid, 0, r->p->cancelled, r->p->self, &r->usage, err));
	const uint64_t end = os_now_ns();
	r->elapsed_ns = end - begin;
	record_others_end(&r->others);
	count_sampler_stop(r->sampler);
	r->cancelled = st == DCK_E_CANCEL;
	r->p->exit_code = r->usage.exit_code;
	r->p->signal = r->usage.signal;
	if (r->cancelled || r->usage.signal)
		r->killed = (count_killed){(uint32_t)pid, count_ticks(), end};
	if (st == DCK_OK || r->cancelled)
		program_end_find(&r->end, &r->usage, r->cancelled);
	return r->cancelled ? DCK_OK : st;
}

static void count_program_facts_put(const run *r, record_builder *b)
{
	char words[4096] = "";

	record_program_title(words, sizeof words, r->p->argv);
	record_set_command(b, words);
	record_set_began(b, r->began_unix_ns);
	record_set_incomplete(b, r->cancelled);
	record_host_here(b);
	record_fact_options(b, "plan", dck_count_options, r->config);
	program_end_put(&r->end, b);
	record_fact_text(
	    b, "method", "counters",
	    "from the program's exec() on, with all threads and processes that it starts");
	record_fact_int(b, "count", "elapsed", DCK_UNIT_NS, (int64_t)r->elapsed_ns);
	if (r->cancelled)
		record_note(b, "interrupted", "interrupted: this is what was counted until then");
}

/* Writes the answer of a run without a counted function: times, faults and switches. */
static void count_program_answer_put(const run *r, record_builder *b)
{
	char wall[32], processor[32], faults[32], switches[32];
	const count_events *e = &r->events;
	const os_child_usage *u = &r->usage;

	dck_text_time((double)r->elapsed_ns, wall, sizeof wall);
	dck_text_time((double)count_events_value(e, "task-clock", u), processor, sizeof processor);
	dck_text_count((int64_t)count_events_value(e, "page-faults", u), faults, sizeof faults);
	dck_text_count((int64_t)count_events_value(e, "context-switches", u), switches,
		       sizeof switches);
	record_answer(b, "it took %s and %s of processor time; %s page faults, %s context switches",
		      wall, processor, faults, switches);
}

/* Returns whether a shell reads the word without quotes. */
static bool count_is_plain(const char *word)
{
	return *word && !word[strcspn(word, " \t\n\"'$&;|<>()*?[]#~`\\!{}")];
}

/* Notes the command that counts Python's functions, with the script and its arguments if these are
 * plain words. An option of the interpreter would need another position, so it is left out. */
static void none_of_python_put(const run *r, record_builder *b)
{
	char *const *argv = r->p->argv;
	const bool itself = python_is(argv[0]);
	char *const *script = itself ? argv + 1 : argv;
	char words[120] = "SCRIPT";
	bool plain = script[0] && script[0][0] != '-';

	for (size_t i = 0; script[i]; i++)
		plain = plain && count_is_plain(script[i]);
	if (plain)
		record_program_title(words, sizeof words, script);
	if (strlen(words) + 1 == sizeof words)
		snprintf(words, sizeof words, "SCRIPT");
	record_note(b, "count-none",
		    "no function of Python was counted: '%.200s -m deepclock count %s' counts them",
		    itself && count_is_plain(argv[0]) ? argv[0] : "python", words);
}

/* Whether the program is built with -finstrument-functions. */
static bool is_instrumented(const char *path)
{
	static const char *const names[] = {".dynstr", ".strtab"};
	static const char hook[] = "__cyg_profile_func_enter";
	bool found = false;
	elf_file *f;

	if (elf_file_open(path, &f, NULL) != DCK_OK)
		return false;
	for (size_t i = 0; !found && i < sizeof names / sizeof names[0]; i++) {
		const elf_section *s = elf_file_find_section(f, names[i]);
		char *text = s ? elf_file_read(f, s->offset, s->size) : NULL;

		for (size_t at = 0; text && !found && at < s->size;
		     at += strnlen(text + at, s->size - at) + 1)
			found = s->size - at >= sizeof hook && !strcmp(text + at, hook);
		mem_free(text);
	}
	elf_file_close(f);
	return found;
}

static bool count_unseen_put(const run *r, record_builder *b)
{
	return exec_unseen_put(b, &(exec_unseen){.directory = r->directory,
						 .variable = COUNT_DIRECTORY,
						 .remedies = count_remedies,
						 .concerns = is_instrumented});
}

static void none_put(const run *r, record_builder *b)
{
	count_program_answer_put(r, b);
	if (r->config->no_functions || count_unseen_put(r, b))
		return;
	if (python_runs(r->p->argv[0]))
		none_of_python_put(r, b);
	else {
		record_note(b, "count-none", "no function was counted: %s",
			    r->why ? r->why
			    : r->zones.cut
				? "the program is not built with -finstrument-functions, and ended "
				  "before its zones were written"
				: "the program is not built with -finstrument-functions, and "
				  "has no zones");
		record_remedy(b, "'deepclock sample' needs no change of the program");
	}
}

static void count_times_put(const run *r, const count_functions *f, record_builder *b)
{
	if (!r->sampler) {
		record_fact_text(b, "method", "functions",
				 "-finstrument-functions: each call's beginning and end");
		return;
	}
	const count_sampled s = count_sampler_sums(r->sampler);

	record_fact_text(b, "method", "functions",
			 "-finstrument-functions: each call's beginning and end, without a clock");
	record_fact_text(b, "method", "times",
			 "sampled: the innermost call of each thread at random times; the time "
			 "since the look before is charged to it");
	record_fact_real(b, "count", "period", DCK_UNIT_NS, s.period_ns);
	record_fact_real(b, "count", "observer_cpu", DCK_UNIT_ONE, s.used);
	record_fact_int(b, "count", "samples", DCK_UNIT_ONE, (int64_t)f->samples);
	record_fact_real(b, "count", "effective_samples", DCK_UNIT_ONE, f->effective);
	if (s.left_out)
		record_note(b, "count-lost", "%s %s left out: on more than %d paths",
			    UNITS_COUNT((int64_t)s.left_out),
			    COUNTED(s.left_out, "sample was", "samples were"), COUNT_SAMPLED_PATHS);
}

/* Notes how many threads or processes had no file. */
static void not_counted_note(record_builder *b, uint32_t n, const char *what, int error)
{
	if (n == 0)
		return;
	record_note(b, "count-lost", "%u %s%s %s not counted, whose file could not be made: %s", n,
		    what,
		    n == 1			    ? ""
		    : what[strlen(what) - 1] == 's' ? "es"
						    : "s",
		    n == 1 ? "was" : "were", program_file_reason(error));
	record_remedy(b, "%s", program_file_remedy(error));
}

static dck_status count_program_functions_put(run *r, record_builder *b, dck_err *err)
{
	count_functions f;
	count_results left = {0};

	DCK_TRY(count_functions_init(&f, err));
	if (r->sampler) {
		const count_sampled s = count_sampler_sums(r->sampler);

		f.sampled = true;
		f.samples = s.samples;
		f.effective = s.effective;
	}
	dck_status st = count_read(r->directory, (double)r->rate.ns_per_tick_q32 / 4294967296.0,
				   &r->killed, r->sampler, &f, &left, err);
	DCK_NEXT(st, count_zones_add(&r->zones, &f, err));
	if (st == DCK_OK && (left.no_space || left.lanes_failed) && !r->why)
		r->why =
		    mem_arena_fmt(r->a, "a file could not be made: %s; %s",
				  program_file_reason(left.error), program_file_remedy(left.error));
	if (st == DCK_OK && f.calls == 0 && f.zones == 0) {
		none_put(r, b);
		count_zones_put(&r->zones, b);
	} else if (st == DCK_OK) {
		if (f.calls)
			count_times_put(r, &f, b);
		st = count_functions_put(&f, dck_count_sorts[r->config->sort], r->config->top, b,
					 err);
		count_results_put(&left, b);
		count_zones_put(&r->zones, b);
		if (left.processes)
			record_fact_int(b, "count", "processes", DCK_UNIT_ONE, left.processes);
		count_unseen_put(r, b);
		program_address_space_put(b, left.held, left.limit);
		not_counted_note(b, left.lanes_failed, "thread", left.error);
		not_counted_note(b, left.children_failed, "forked process", left.error);
		if (left.missing_reason[0])
			record_fact_text(b, "method", "symbols", left.missing_reason);
	}
	count_results_done(&left);
	count_functions_done(&f);
	return st;
}

static dck_status count_record_make(run *r, dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin(NULL);

	DCK_NEED(b, err, "for the record of a program");
	count_program_facts_put(r, b);
	count_events_put(&r->events, &r->usage, r->elapsed_ns, b);
	if (r->usage.peak_rss_bytes)
		record_metric_int(b, "memory/peak_rss", (int64_t)r->usage.peak_rss_bytes,
				  "of its largest process");
	else
		record_metric_absent(b, "memory/peak_rss", "it needed less than deepclock itself");
	record_others_put(&r->others, b, "count", false);
	return record_finish_if(count_program_functions_put(r, b, err), b, ret, err);
}

dck_status dck_count_program_run(const dck_count_config *config, dck_program *p, dck_record **ret,
				 dck_err *err)
{
	dck_count_config own;
	char directory[OS_TEMP_SIZE];
	run r = {.config = &own, .p = p, .directory = directory};

	DCK_TRY(OPT_CONFIG_GET(config, &own, dck_count_config_init, err, dck_count_options));
	DCK_TRY(program_given(p->argv, err));
	if (own.times == DCK_COUNT_SAMPLED && !strcmp(dck_count_sorts[own.sort], "overhead"))
		DCK_FAIL(err, E_ARG,
			 "--sort overhead needs --times exact: of sampled times the overhead in a "
			 "function is not known");
	DCK_TRY(count_events_open(&r.events, &r.config->events, err));
	dck_status st = os_temp_dir_mapped(directory, err);
	if (st == DCK_OK) {
		r.a = mem_arena_new(0);
		st = r.a ? start_and_wait(&r, err)
			 : ERR_NO_MEMORY(err, "for the environment of a program");
		DCK_NEXT(st, count_record_make(&r, ret, err));
		count_zones_done(&r.zones);
		count_sampler_free(r.sampler);
		mem_arena_free(r.a);
		os_temp_dir_remove(directory);
	}
	count_events_done(&r.events);
	return st;
}
