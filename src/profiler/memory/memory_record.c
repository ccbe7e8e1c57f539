/* memory_record.c - builds the record of `deepclock memory`: series of resident memory, metrics and
 * tables of the heaps, facts on the cost, notes and the answer.
 *
 * Order of work: facts of the run; resident memory (rss_sampler.c); then the heaps (memory_sums.c),
 * or, if allocations were not recorded, the same metrics as absent with the reason. The tables are
 * cct.h's; this file sums over processes and writes the text.
 *
 * Leaked, retained and held bytes and all counts are sums over processes. Peaks of several
 * processes have no sum, because they are at different times: the peak of the heap is that of the
 * process with the highest one. The peak of resident memory is the larger of two figures, the
 * highest sample of all processes together and the kernel's exact maximum of one process
 * (ru_maxrss, getrusage(2)).
 *
 * The cost of the hooks is an estimate: the mean time of one call in 1024, times all calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/memory/memory_record.h"
#include "base/units.h"

#include "base/err.h"
#include "base/names/function_name.h"
#include "base/mem.h"
#include "os/os.h"
#include "profiler/execs/exec_unseen.h"
#include "record/record_begin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 64, ROWS_BRIEF = 5 };

/* --- resident memory */

static const char too_short[] = "the program ended before the first sample";

static void resident_put(record_builder *b, const memory_result *m)
{
	static const char *const tags[WATCH_PARTS] = {
	    [WATCH_RSS] = "memory/rss",
	    [WATCH_ANONYMOUS] = "memory/anonymous",
	    [WATCH_FILE] = "memory/file",
	    [WATCH_HEAP] = "memory/heap",
	};
	const rss_samples *l = m->looks;
	/* The kernel records the peak of one process exactly, also between two samples. */
	const double known = (double)m->usage->peak_rss_bytes;
	char how[160];

	for (int p = 0; p < WATCH_PARTS; p++)
		if (p != WATCH_HEAP || m->sums)
			record_series(b,
				      p == WATCH_HEAP && m->sums->interval ? "memory/heap_estimated"
									   : tags[p],
				      DCK_UNIT_BYTE, l->at_ns, l->values[p], l->n, 0);
	mem_print(how, sizeof how, "%s, sampled at %g Hz%s",
		  l->cut ? "the processes that were read" : "all processes together",
		  m->config->rate_hz,
		  known > l->peak[WATCH_RSS] ? "; of the largest by the kernel's own count" : "");
	if (l->peak[WATCH_RSS] > 0 || known > 0)
		record_metric_real(b, "memory/peak_rss", fmax(known, l->peak[WATCH_RSS]), how);
	else
		record_metric_absent(b, "memory/peak_rss", too_short);
	mem_print(how, sizeof how, "sum of %s, %g samples per second",
		  l->cut ? "the processes that were read" : "all processes", m->config->rate_hz);
	if (l->peak[WATCH_ANONYMOUS] > 0) {
		record_metric_real(b, "memory/peak_anonymous", l->peak[WATCH_ANONYMOUS], how);
		record_metric_real(b, "memory/peak_file", l->peak[WATCH_FILE], how);
	}
	if (l->cut) {
		record_note(
		    b, "memory-lost",
		    "the resident memory is of %d processes, the most that are read: others "
		    "ran at the same time",
		    WATCH_PROCESSES_MAX);
		record_remedy(b, "measure a part with fewer processes");
	}
}

/* --- heaps */

typedef struct heap_sum {
	stat_sampled totals[SUMS_TOTALS]; /* TOTAL_PEAK: of no meaning */
	int64_t mapped_peak;
	uint64_t lost, unseen, cut, broken, own_bytes, file_bytes, timed, timed_ns;
	uint32_t threads, children_failed;
	int error;
	uint64_t limit, held; /* least RLIMIT_AS of a process, and what is ours of it */
	bool full, unnamed;
} heap_sum;

static heap_sum memory_sum_of(const memory_sums *s)
{
	heap_sum sum = {0};

	for (size_t i = 0; i < s->nprocesses; i++) {
		const sums_process *p = &s->processes[i];

		for (size_t k = 0; k < SUMS_TOTALS; k++)
			stat_sampled_sum(&sum.totals[k], &p->totals[k]);
		sum.lost += p->lost;
		sum.full |= p->full;
		sum.unnamed |= p->unnamed;
		sum.unseen += p->unseen;
		sum.cut += p->cut;
		sum.broken += p->broken;
		sum.own_bytes += p->own_bytes;
		sum.file_bytes += p->file_bytes;
		sum.timed += p->timed;
		sum.timed_ns += p->timed_ns;
		sum.threads += p->threads;
		if (p->limit && (!sum.limit || p->limit < sum.limit)) {
			sum.limit = p->limit;
			sum.held = p->own_bytes + p->region_bytes;
		}
		sum.children_failed += p->children_failed;
		sum.error = p->error ? p->error : sum.error;
		if (p->mapped_peak > sum.mapped_peak)
			sum.mapped_peak = p->mapped_peak;
	}
	return sum;
}

static void metrics_absent(record_builder *b, const char *why)
{
	static const char *const tags[] = {
	    "memory/heap_peak", "memory/heap_leaked", "memory/heap_runtime", "memory/allocations",
	    "memory/temporary", "memory/allocated",   "memory/mapped_peak"};

	for (size_t i = 0; i < sizeof tags / sizeof tags[0]; i++)
		record_metric_absent(b, tags[i], why);
}

/* An estimate from fewer samples has an interval whose ends differ by more than a factor of 8. */
enum { SAMPLES_FEW = 5 };

static double total_bytes(const heap_sum *sum, sums_total which)
{
	return stat_sampled_total(&sum->totals[which]);
}

/* With fewer bytes and blocks than that, all blocks are missed with a probability of 5 %. */
static double sampled_bound(const memory_sums *s)
{
	return -log(1 - SUMS_LEVEL) * (double)s->interval;
}

static void estimate_put(record_builder *b, const memory_sums *s, const char *tag, sums_total which,
			 const stat_sampled *total, const char *how)
{
	char text[TEXT], why[240];
	double lo, hi;

	if (total->items == 0) {
		snprintf(why, sizeof why, "no sample of it: probably less than %s (95 %%)",
			 dck_text_bytes(sampled_bound(s), text, sizeof text));
		record_metric_absent(b, tag, why);
		return;
	}
	snprintf(why, sizeof why, "estimated from %s%.0f sample%s; %s",
		 total->items < SAMPLES_FEW ? "only " : "", total->items,
		 total->items == 1 ? "" : "s", how);
	memory_sums_interval(s, total, which < TOTAL_BLOCKS, &lo, &hi);
	record_metric_interval(b, tag, stat_sampled_total(total), lo, hi, SUMS_LEVEL, why);
}

static void total_put(record_builder *b, const memory_sums *s, const char *tag, sums_total which,
		      const heap_sum *sum, const char *how)
{
	if (s->interval)
		estimate_put(b, s, tag, which, &sum->totals[which], how);
	else
		record_metric_int(b, tag, (int64_t)total_bytes(sum, which), how);
}

static void memory_metrics_put(record_builder *b, const memory_sums *s, const heap_sum *sum)
{
	const sums_process *p = &s->processes[s->largest];
	const bool several = s->nprocesses > 1;
	const char *of = s->too_many   ? "of the processes that were read"
			 : several     ? "of all processes"
			 : s->interval ? "of its process"
				       : "exact";
	char how[160];

	if (s->interval) {
		snprintf(how, sizeof how,
			 "%s%sthe highest of the estimates over time, on average above the peak",
			 several ? os_path_base(p->program) : "", several ? ", " : "");
	} else if (p->threads > 1) {
		char most[TEXT];

		snprintf(how, sizeof how, "%s%sto within %s for each thread that ran then",
			 several ? os_path_base(p->program) : "", several ? ", " : "",
			 dck_text_bytes((double)(p->peak >> HEAP_BATCH_BITS), most, sizeof most));
	} else {
		snprintf(how, sizeof how, "%s%sexact", several ? os_path_base(p->program) : "",
			 several ? ", the process whose heap was largest; " : "");
	}
	if (s->interval)
		estimate_put(b, s, "memory/heap_peak", TOTAL_PEAK, &p->totals[TOTAL_PEAK], how);
	else
		record_metric_int(b, "memory/heap_peak", p->peak, how);
	total_put(b, s, "memory/heap_leaked", TOTAL_LEAKED, sum, of);
	if (s->ncolumns > SUMS_HELD)
		total_put(b, s, "memory/heap_held", TOTAL_HELD, sum,
			  "when its Python interpreter started to finalise");
	total_put(b, s, "memory/heap_runtime", TOTAL_KEPT, sum, of);
	total_put(b, s, "memory/allocations", TOTAL_ALLOCATIONS, sum,
		  "malloc, calloc, realloc, aligned variants, operator new");
	total_put(b, s, "memory/temporary", TOTAL_TEMPORARY, sum,
		  "freed by the thread that allocated it, with nothing in between");
	total_put(b, s, "memory/allocated", TOTAL_BYTES, sum, "as requested by the program");
	record_metric_int(b, "memory/mapped_peak", sum->mapped_peak,
			  "anonymous mmap() of the program itself, not of its allocator");
}

static dck_status memory_tables_put(record_builder *b, const memory_sums *s, dck_err *err)
{
	static const enum sums_column order[] = {SUMS_PEAK,	   SUMS_HELD,	   SUMS_LEAKED,
						 SUMS_ALLOCATIONS, SUMS_TEMPORARY, SUMS_BYTES};
	static const char *const summaries[][2] = {
	    {"peak leaked allocations temporary", "peak held allocations temporary"},
	    {"peak_estimated leaked_estimated samples", "peak_estimated held_estimated samples"}};
	const bool has_held = s->ncolumns > SUMS_HELD, sampled = s->interval > 0;
	call_column columns[SUMS_COLUMNS + 3], exact[SUMS_COLUMNS];
	char functions_title[TEXT], lines_title[TEXT];
	uint32_t n = 0, nlines, nexact;

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		const enum sums_column k = order[i];
		const dck_column *c = sampled ? &sums_estimates[k] : &sums_columns[k];

		if (k == SUMS_HELD && !has_held)
			continue;
		exact[n] = (call_column){sums_columns[k].key, sums_columns[k].title, c->unit, k,
					 CALL_SELF};
		columns[n++] = (call_column){c->key, c->title, c->unit, k, CALL_SELF};
	}
	nexact = n - 2;
	if (sampled)
		columns[n++] = (call_column){"samples", "samples", DCK_UNIT_ONE,
					     (uint32_t)s->ncolumns, CALL_SELF};
	nlines = n;
	columns[n++] = sampled
			   ? (call_column){"peak_total_estimated", "at peak, with callees, est.",
					   DCK_UNIT_BYTE, SUMS_PEAK, CALL_TOTAL}
			   : (call_column){"peak_total", "at peak, with callees", DCK_UNIT_BYTE,
					   SUMS_PEAK, CALL_TOTAL};
	columns[n++] = sampled
			   ? (call_column){"leaked_total_estimated", "leaked, with callees, est.",
					   DCK_UNIT_BYTE, SUMS_LEAKED, CALL_TOTAL}
			   : (call_column){"leaked_total", "leaked, with callees", DCK_UNIT_BYTE,
					   SUMS_LEAKED, CALL_TOTAL};
	snprintf(functions_title, sizeof functions_title, "Memory by allocating function%s",
		 sampled ? ", estimated" : "");
	snprintf(lines_title, sizeof lines_title, "Memory by allocating line%s",
		 sampled ? ", estimated" : "");
	const call_table functions = {.name = "memory/functions",
				      .title = functions_title,
				      .columns = columns,
				      .ncolumns = n,
				      .brief = ROWS_BRIEF,
				      .interval = sampled ? memory_sums_cell : NULL,
				      .interval_self = s,
				      .level = SUMS_LEVEL,
				      .unseen = "no sample of it"};
	call_table lines = functions;
	lines.name = "memory/lines";
	lines.title = lines_title;
	lines.ncolumns = nlines;
	const call_table mappings = {.name = "memory/mappings",
				     .title = "Memory that was mapped, by function",
				     .columns = exact,
				     .ncolumns = nexact,
				     .brief = ROWS_BRIEF};

	DCK_TRY(cct_functions(&s->lines, &lines, b, err));
	record_summary_columns(b, summaries[sampled][has_held]);
	DCK_TRY(cct_functions(&s->functions, &functions, b, err));
	if (s->mappings.nframes)
		DCK_TRY(cct_functions(&s->mappings, &mappings, b, err));
	return cct_tree(
	    &s->paths, "allocations",
	    sampled ? "Allocations by call path, estimated" : "Allocations by call path", b, err);
}

static void total_cell(record_builder *b, const memory_sums *s, const sums_process *p,
		       sums_total which)
{
	const stat_sampled *total = &p->totals[which];
	double lo, hi;

	if (!s->interval) {
		record_cell_int(b, (int64_t)stat_sampled_total(total));
	} else if (total->items == 0) {
		record_cell_absent(b, "no sample of it");
	} else {
		memory_sums_interval(s, total, which < TOTAL_BLOCKS, &lo, &hi);
		record_cell_interval(b, stat_sampled_total(total), lo, hi, SUMS_LEVEL);
	}
}

static void memory_processes_put(record_builder *b, const memory_sums *s)
{
	static const dck_column columns[][7] = {
	    {
		{"program", "program", DCK_UNIT_NONE},
		{"pid", "process", DCK_UNIT_NONE},
		{"peak", "peak heap", DCK_UNIT_BYTE},
		{"leaked", "leaked", DCK_UNIT_BYTE},
		{"kept", "retained by libc", DCK_UNIT_BYTE},
		{"allocations", "allocations", DCK_UNIT_ONE},
		{"mapped_peak", "mapped peak", DCK_UNIT_BYTE},
	    },
	    {
		{"program", "program", DCK_UNIT_NONE},
		{"pid", "process", DCK_UNIT_NONE},
		{"peak_estimated", "peak heap, est.", DCK_UNIT_BYTE},
		{"leaked_estimated", "leaked, est.", DCK_UNIT_BYTE},
		{"kept_estimated", "retained by libc, est.", DCK_UNIT_BYTE},
		{"allocations_estimated", "allocations, est.", DCK_UNIT_ONE},
		{"mapped_peak", "mapped peak", DCK_UNIT_BYTE},
	    }};
	const size_t ncolumns = sizeof columns[0] / sizeof columns[0][0];

	if (s->nprocesses < 2)
		return;
	record_table(b, "memory/processes", "Heaps by process", columns[s->interval > 0], ncolumns);
	for (size_t i = 0; i < s->nprocesses; i++) {
		const sums_process *p = &s->processes[i];

		record_cell_text(b, os_path_base(p->program));
		record_cell_int(b, p->pid);
		if (s->interval)
			total_cell(b, s, p, TOTAL_PEAK);
		else
			record_cell_int(b, p->peak);
		total_cell(b, s, p, TOTAL_LEAKED);
		total_cell(b, s, p, TOTAL_KEPT);
		total_cell(b, s, p, TOTAL_ALLOCATIONS);
		record_cell_int(b, p->mapped_peak);
	}
}

/* The first calls find cold caches, and take a hundred times as long. */
#define TIMED_LEAST 16

static void memory_cost_put(record_builder *b, const memory_result *m, const heap_sum *sum)
{
	const double each = sum->timed ? (double)sum->timed_ns / (double)sum->timed : 0;
	const stat_sampled *made = &sum->totals[TOTAL_ALLOCATIONS],
			   *freed = &sum->totals[TOTAL_FREED];
	const bool sampled = m->sums->interval > 0;
	const double calls = sampled ? made->items + freed->items : made->sampled + freed->sampled;

	if (sum->timed >= TIMED_LEAST) {
		record_fact_real(b, "cost", "hook", DCK_UNIT_NS, each);
		record_fact_real(b, "cost", "hooks", DCK_UNIT_NS, each * calls);
		record_fact_real(b, "cost", "hooks_share", DCK_UNIT_ONE,
				 each * calls / (double)m->took_ns);
		record_fact_text(
		    b, "cost", "how",
		    sampled ? "estimated: the time of one sampled call in 16 is taken, times "
			      "their number; other calls cost a few ns each, which is not "
			      "in it"
			    : "estimated: the time of one call in 1024 is taken, times calls");
	} else {
		record_fact_absent(b, "cost", "hooks", "too few calls were timed");
	}
	record_fact_int(b, "cost", "file", DCK_UNIT_BYTE, (int64_t)sum->file_bytes);
	if (m->sums->processes[m->sums->largest].own_resident)
		record_fact_int(b, "cost", "resident", DCK_UNIT_BYTE,
				(int64_t)m->sums->processes[m->sums->largest].own_resident);
	else
		record_fact_absent(b, "cost", "resident", "the process did not end by exit()");
	record_fact_int(b, "cost", "address_space", DCK_UNIT_BYTE, (int64_t)sum->own_bytes);
}

static void memory_counts_put(record_builder *b, const memory_sums *s, const heap_sum *sum)
{
	record_fact_int(b, "memory", "processes", DCK_UNIT_ONE, (int64_t)s->nprocesses);
	record_fact_int(b, "memory", "threads", DCK_UNIT_ONE, sum->threads);
	if (s->interval) {
		record_fact_int(b, "memory", "sample_interval", DCK_UNIT_BYTE,
				(int64_t)s->interval);
		record_fact_int(b, "memory", "samples", DCK_UNIT_ONE,
				(int64_t)sum->totals[TOTAL_ALLOCATIONS].items);
		record_fact_int(b, "memory", "samples_leaked", DCK_UNIT_ONE,
				(int64_t)sum->totals[TOTAL_LEAKED].items);
	} else {
		record_fact_int(b, "memory", "leaked_blocks", DCK_UNIT_ONE,
				(int64_t)total_bytes(sum, TOTAL_LEAKED_BLOCKS));
	}
	record_fact_int(b, "memory", "lost_paths", DCK_UNIT_ONE, (int64_t)sum->lost);
	record_fact_int(b, "memory", "unseen", DCK_UNIT_ONE, (int64_t)sum->unseen);
	record_fact_int(b, "memory", "stacks_truncated", DCK_UNIT_ONE, (int64_t)sum->cut);
	record_fact_int(b, "memory", "stacks_failed", DCK_UNIT_ONE, (int64_t)sum->broken);
	if (s->left_out)
		record_fact_int(b, "memory", "processes_left_out", DCK_UNIT_ONE,
				(int64_t)s->left_out);
}

static void sampled_note(record_builder *b, const memory_sums *s, const heap_sum *sum)
{
	char text[TEXT];

	record_note(b, "memory-sampled",
		    "sizes and counts are estimates from %.0f sample%s, one in %s of allocated "
		    "memory: call paths without a sample are absent, those with fewer than %d are "
		    "known to an order of magnitude, and the peak is on average too high",
		    sum->totals[TOTAL_ALLOCATIONS].items,
		    sum->totals[TOTAL_ALLOCATIONS].items == 1 ? "" : "s",
		    dck_text_bytes((double)s->interval, text, sizeof text), SAMPLES_FEW);
}

/* Names the programs that have their own allocators. */
static void own_allocators_put(record_builder *b, const memory_sums *s)
{
	enum { NAMED = 4 };
	const char *named[NAMED];
	size_t n = 0;

	for (size_t i = 0; i < s->nprocesses && n < NAMED; i++) {
		const sums_process *p = &s->processes[i];
		size_t k = 0;

		while (p->own_allocator && k < n && strcmp(named[k], p->program) != 0)
			k++;
		if (!p->own_allocator || k < n)
			continue;
		named[n++] = p->program;
		record_note(b, "programs-not-recorded",
			    "program '%.80s' is not in this result: it has its own allocator "
			    "(malloc), which no preloaded library can replace",
			    os_path_base(p->program));
		record_remedy(b, "link its allocator as a shared library");
	}
}

static void memory_notes_put(record_builder *b, const memory_result *m, const heap_sum *sum)
{
	const char *missing_reason = heap_names_lacking(m->sums->names);

	if (m->sums->interval)
		sampled_note(b, m->sums, sum);
	if (sum->lost && m->sums->interval) {
		record_note(b, "memory-lost",
			    "%llu %s dropped, because %s did not fit: estimates "
			    "are too low",
			    (unsigned long long)sum->lost,
			    COUNTED(sum->lost, "sample was", "samples were"),
			    COUNTED(sum->lost, "its call path", "their call paths"));
		record_remedy(b, "free space in $TMPDIR, or sample fewer bytes");
	} else if (sum->lost) {
		record_note(b, "memory-lost",
			    "%llu %s attributed to a caller further out, because "
			    "%s not recorded: %s",
			    (unsigned long long)sum->lost,
			    COUNTED(sum->lost, "allocation is", "allocations are"),
			    COUNTED(sum->lost, "its call path was", "their call paths were"),
			    sum->full ? "the file of a process was full, which has space for 8 "
					"million paths, or less by 'ulimit -f'"
				      : program_file_reason(sum->error));
		record_remedy(b, "%s",
			      sum->full ? "measure a shorter part of the program"
					: program_file_remedy(sum->error));
	}
	if (sum->unnamed) {
		record_note(b, "memory-lost",
			    "functions are '(not known)', '(stack cut)' or '(code made at run "
			    "time)', because the file of a process was full, which has space for "
			    "%d MB of names, %d places in code and %d libraries",
			    HEAP_NAMES_BYTES >> 20, HEAP_FRAMES_MAX, HEAP_MODULES_MAX);
		record_remedy(b, "measure a shorter part of the program");
	}
	program_address_space_put(b, sum->held, sum->limit);
	if (sum->children_failed) {
		record_note(b, "memory-lost",
			    "%u forked process%s %s not recorded, whose file could not be made: %s",
			    sum->children_failed, sum->children_failed == 1 ? "" : "es",
			    sum->children_failed == 1 ? "was" : "were",
			    program_file_reason(sum->error));
		record_remedy(b, "%s", program_file_remedy(sum->error));
	}
	if (m->sums->no_space) {
		record_note(b, "memory-lost", "allocations of %zu process%s were not recorded: %s",
			    m->sums->no_space, m->sums->no_space == 1 ? "" : "es",
			    program_file_reason(m->sums->error));
		record_remedy(b, "%s", program_file_remedy(m->sums->error));
	}
	if (m->sums->too_many) {
		record_note(b, "memory-lost", "%zu %s in no sum, because at most %d are read",
			    m->sums->too_many,
			    COUNTED(m->sums->too_many, "process is", "processes are"),
			    SUMS_PROCESSES_MAX);
		record_remedy(b, "measure a shorter part of the program");
	}
	exec_unseen_put(b, &(exec_unseen){.directory = m->directory,
					  .variable = HEAP_VARIABLE,
					  .remedies = memory_remedies});
	own_allocators_put(b, m->sums);
	if (sum->broken)
		record_note(
		    b, "memory-stacks",
		    "%llu %s outermost frame: a function in between "
		    "has no unwind information",
		    (unsigned long long)sum->broken,
		    COUNTED(sum->broken, "stack ended before its", "stacks ended before their"));
	if (sum->unseen)
		record_note(b, "memory-missed", "%llu %s not recorded",
			    (unsigned long long)sum->unseen,
			    COUNTED(sum->unseen, "allocation inside an allocation hook was",
				    "allocations inside an allocation hook were"));
	if (missing_reason)
		record_note(b, "memory-lines", "%s", missing_reason);
	if ((m->usage->signal || m->cancelled) && total_bytes(sum, TOTAL_LEAKED) > 0)
		record_note(b, "memory-live",
			    "the program was killed, so that memory still in use counts as leaked");
}

/* --- the answer */

/* Finds the path with the greatest weight in that column; *ret 0: no weight is positive. */
static void largest_of(const cct *p, size_t column, uint32_t *ret, double *ret_weight)
{
	*ret = 0;
	*ret_weight = 0;
	for (uint32_t i = 1; i < p->paths.n && i < p->cap; i++)
		if (p->weights[i * p->ncolumns + column] > *ret_weight) {
			*ret = i;
			*ret_weight = p->weights[i * p->ncolumns + column];
		}
}

/* Writes what the program did not free. A Python interpreter frees most objects of a script when it
 * finalises, so for such a program the answer is the bytes held before that. */
static void left_text(const memory_sums *s, const heap_sum *sum, uint32_t peak_line, char *ret,
		      size_t size)
{
	const char *about = s->interval ? "about " : "";
	const double held = total_bytes(sum, TOTAL_HELD), leaked = total_bytes(sum, TOTAL_LEAKED);
	char bytes[TEXT];
	uint32_t line;
	double weight;

	if (s->interval && (s->ncolumns > SUMS_HELD ? held : leaked) == 0) {
		snprintf(ret, size, "no %s was sampled (less than %s, 95 %%)",
			 s->ncolumns > SUMS_HELD ? "block held at the end" : "leak",
			 dck_text_bytes(sampled_bound(s), bytes, sizeof bytes));
	} else if (s->ncolumns > SUMS_HELD) {
		largest_of(&s->lines, SUMS_HELD, &line, &weight);
		snprintf(ret, size, "%s%s held at the end", about,
			 dck_text_bytes(held, bytes, sizeof bytes));
		if (line && line != peak_line && held > 0) {
			const size_t n = strlen(ret);

			snprintf(ret + n, size - n, ", %.0f %% of it by %s", 100 * weight / held,
				 FUNCTION_NAME_SHORT(memory_sums_asked(s, line)));
		}
	} else if (leaked > 0) {
		snprintf(ret, size, "%s%s leaked", about,
			 dck_text_bytes(leaked, bytes, sizeof bytes));
	} else {
		snprintf(ret, size, "nothing leaked");
	}
}

static void memory_answer_put(record_builder *b, const memory_result *m, const heap_sum *sum)
{
	const sums_process *p = &m->sums->processes[m->sums->largest];
	const bool sampled = m->sums->interval > 0;
	const double most = sampled ? stat_sampled_total(&p->totals[TOTAL_PEAK]) : (double)p->peak;
	char peak[TEXT], at[TEXT], who[200] = "", left[250];
	uint32_t line;
	double weight;

	if (most == 0 && sampled) {
		record_answer(b, "no allocation was sampled: probably less than %s at any time",
			      dck_text_bytes(sampled_bound(m->sums), peak, sizeof peak));
		return;
	}
	if (most == 0) {
		record_answer(b, "the program allocated nothing");
		return;
	}
	largest_of(&m->sums->lines, SUMS_PEAK, &line, &weight);
	if (line)
		snprintf(who, sizeof who, ", %.0f %% of it by %s", 100 * weight / most,
			 FUNCTION_NAME_SHORT(memory_sums_asked(m->sums, line)));
	left_text(m->sums, sum, line, left, sizeof left);
	record_answer(
	    b, "peak heap %s%s at %s%s; %s", sampled ? "about " : "",
	    dck_text_bytes(most, peak, sizeof peak),
	    dck_text_time(p->peak_ns > m->began_ns ? (double)(p->peak_ns - m->began_ns) : 0, at,
			  sizeof at),
	    who, left);
}

static dck_status heaps_put(record_builder *b, const memory_result *m, dck_err *err)
{
	const heap_sum sum = memory_sum_of(m->sums);

	memory_metrics_put(b, m->sums, &sum);
	DCK_TRY(memory_tables_put(b, m->sums, err));
	memory_processes_put(b, m->sums);
	memory_counts_put(b, m->sums, &sum);
	memory_cost_put(b, m, &sum);
	memory_notes_put(b, m, &sum);
	memory_answer_put(b, m, &sum);
	return DCK_OK;
}

static void no_heaps_put(record_builder *b, const memory_result *m)
{
	char peak[TEXT];
	const double rss = fmax((double)m->usage->peak_rss_bytes, m->looks->peak[WATCH_RSS]);

	metrics_absent(b, m->why);
	if (!m->config->rss_only && !m->config->pid)
		record_note(b, "allocations-not-traced",
			    "allocations of '%.100s' were not recorded: %s", m->program->argv[0],
			    m->why);
	if (!(rss > 0))
		record_answer(b, "no memory was measured: %s", too_short);
	else
		record_answer(
		    b, "peak resident memory %s at %s", dck_text_bytes(rss, peak, sizeof peak),
		    dck_text_time((double)m->looks->peak_at_ns[WATCH_RSS], (char[TEXT]){0}, TEXT));
}

dck_status memory_record(const memory_result *m, dck_record **ret, dck_err *err)
{
	char title[TEXT];

	snprintf(title, sizeof title, "process %d", (int)m->config->pid);
	record_builder *b =
	    m->config->pid ? record_begin(title) : record_begin_program(m->program->argv);
	dck_status st = DCK_OK;

	DCK_NEED(b, err, "for the record");
	record_set_began(b, m->began_unix_ns);
	record_set_incomplete(b, m->cancelled);
	program_end_put(&m->end, b);
	record_fact_options(b, "plan", dck_memory_options, m->config);
	record_fact_int(b, "memory", "elapsed", DCK_UNIT_NS, (int64_t)m->took_ns);
	record_fact_int(b, "memory", "polls", DCK_UNIT_ONE, (int64_t)m->looks->looks);
	record_fact_int(b, "cost", "polls", DCK_UNIT_NS, (int64_t)m->looks->cost_ns);
	if (m->looks->peak_share > 0)
		record_fact_real(b, "memory", "peak_share", DCK_UNIT_BYTE, m->looks->peak_share);
	else
		record_fact_absent(b, "memory", "peak_share",
				   "sampled once a second, and the program ended before");
	resident_put(b, m);
	if (m->sums)
		st = heaps_put(b, m, err);
	else
		no_heaps_put(b, m);
	return record_finish_if(st, b, ret, err);
}
