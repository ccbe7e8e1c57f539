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

#include "base/err.h"
#include "record/record_begin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 64, ROWS_BRIEF = 5 };

static const char *memory_base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- resident memory */

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
			record_series(b, tags[p], DCK_UNIT_BYTE, l->at_ns, l->values[p], l->n, 0);
	snprintf(how, sizeof how, "all processes together, sampled at %g Hz%s", m->config->rate_hz,
		 known > l->peak[WATCH_RSS] ? "; of the largest by the kernel's own count" : "");
	if (l->peak[WATCH_RSS] > 0 || known > 0)
		record_metric_real(b, "memory/peak_rss", fmax(known, l->peak[WATCH_RSS]), how);
	else
		record_metric_absent(b, "memory/peak_rss",
				     "the program ended before the first sample");
	snprintf(how, sizeof how, "sum of all processes, %g samples per second",
		 m->config->rate_hz);
	if (l->peak[WATCH_ANONYMOUS] > 0) {
		record_metric_real(b, "memory/peak_anonymous", l->peak[WATCH_ANONYMOUS], how);
		record_metric_real(b, "memory/peak_file", l->peak[WATCH_FILE], how);
	}
}

/* --- heaps */

typedef struct heap_sum {
	int64_t leaked, kept, held, mapped_peak;
	uint64_t leaked_blocks, allocations, temporary, bytes, freed;
	uint64_t lost, unseen, cut, broken, own_bytes, file_bytes, timed, timed_ns;
	uint32_t threads;
	bool full;
} heap_sum;

static heap_sum memory_sum_of(const memory_sums *s)
{
	heap_sum sum = {0};

	for (size_t i = 0; i < s->nprocesses; i++) {
		const sums_process *p = &s->processes[i];

		sum.leaked += p->leaked;
		sum.kept += p->kept;
		sum.held += p->held;
		sum.leaked_blocks += p->leaked_blocks;
		sum.allocations += p->allocations;
		sum.temporary += p->temporary;
		sum.bytes += p->bytes;
		sum.freed += p->freed;
		sum.lost += p->lost;
		sum.full |= p->full;
		sum.unseen += p->unseen;
		sum.cut += p->cut;
		sum.broken += p->broken;
		sum.own_bytes += p->own_bytes;
		sum.file_bytes += p->file_bytes;
		sum.timed += p->timed;
		sum.timed_ns += p->timed_ns;
		sum.threads += p->threads;
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

static void memory_metrics_put(record_builder *b, const memory_sums *s, const heap_sum *sum)
{
	const sums_process *p = &s->processes[s->largest];
	const bool several = s->nprocesses > 1;
	char how[160];

	if (p->threads > 1) {
		char most[TEXT];

		snprintf(how, sizeof how, "%s%sto within %s for each thread that ran then",
			 several ? memory_base_of(p->program) : "", several ? ", " : "",
			 dck_text_bytes((double)(p->peak >> HEAP_BATCH_BITS), most, sizeof most));
	} else {
		snprintf(how, sizeof how, "%s%sexact", several ? memory_base_of(p->program) : "",
			 several ? ", the process whose heap was largest; " : "");
	}
	record_metric_int(b, "memory/heap_peak", p->peak, how);
	record_metric_int(b, "memory/heap_leaked", sum->leaked,
			  several ? "of all processes" : "exact");
	if (s->ncolumns > SUMS_HELD)
		record_metric_int(b, "memory/heap_held", sum->held,
				  "when its Python interpreter started to finalise");
	record_metric_int(b, "memory/heap_runtime", sum->kept,
			  several ? "of all processes" : "exact");
	record_metric_int(b, "memory/allocations", (int64_t)sum->allocations,
			  "malloc, calloc, realloc, aligned variants, operator new");
	record_metric_int(b, "memory/temporary", (int64_t)sum->temporary,
			  "freed by the thread that allocated it, with nothing in between");
	record_metric_int(b, "memory/allocated", (int64_t)sum->bytes,
			  "as requested by the program");
	record_metric_int(b, "memory/mapped_peak", sum->mapped_peak,
			  "anonymous mmap() of the program itself, not of its allocator");
}

static dck_status memory_tables_put(record_builder *b, const memory_sums *s, dck_err *err)
{
	static const enum sums_column order[] = {SUMS_PEAK,	   SUMS_HELD,	   SUMS_LEAKED,
						 SUMS_ALLOCATIONS, SUMS_TEMPORARY, SUMS_BYTES};
	const bool has_held = s->ncolumns > SUMS_HELD;
	call_column columns[SUMS_COLUMNS + 2];
	uint32_t n = 0;

	for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
		const dck_column *c = &sums_columns[order[i]];

		if (order[i] != SUMS_HELD || has_held)
			columns[n++] =
			    (call_column){c->key, c->title, c->unit, order[i], CALL_SELF};
	}
	columns[n++] = (call_column){"peak_total", "at peak, with callees", DCK_UNIT_BYTE,
				     SUMS_PEAK, CALL_TOTAL};
	columns[n++] = (call_column){"leaked_total", "leaked, with callees", DCK_UNIT_BYTE,
				     SUMS_LEAKED, CALL_TOTAL};
	const call_table functions = {.name = "memory/functions",
				      .title = "Memory by allocating function",
				      .columns = columns,
				      .ncolumns = n,
				      .brief = ROWS_BRIEF};
	const call_table lines = {.name = "memory/lines",
				  .title = "Memory by allocating line",
				  .columns = columns,
				  .ncolumns = n - 2,
				  .brief = ROWS_BRIEF};
	const call_table mappings = {.name = "memory/mappings",
				     .title = "Memory that was mapped, by function",
				     .columns = columns,
				     .ncolumns = n - 4,
				     .brief = ROWS_BRIEF};

	DCK_TRY(cct_functions(&s->lines, &lines, b, err));
	record_summary_columns(b, has_held ? "peak held allocations temporary"
					   : "peak leaked allocations temporary");
	DCK_TRY(cct_functions(&s->functions, &functions, b, err));
	if (s->mappings.nframes)
		DCK_TRY(cct_functions(&s->mappings, &mappings, b, err));
	return cct_tree(&s->paths, "allocations", "Allocations by call path", b, err);
}

static void memory_processes_put(record_builder *b, const memory_sums *s)
{
	static const dck_column columns[] = {
	    {"program", "program", DCK_UNIT_NONE},
	    {"pid", "process", DCK_UNIT_NONE},
	    {"peak", "peak heap", DCK_UNIT_BYTE},
	    {"leaked", "leaked", DCK_UNIT_BYTE},
	    {"kept", "retained by libc", DCK_UNIT_BYTE},
	    {"allocations", "allocations", DCK_UNIT_ONE},
	    {"mapped_peak", "mapped peak", DCK_UNIT_BYTE},
	};

	if (s->nprocesses < 2)
		return;
	record_table(b, "memory/processes", "Heaps by process", columns,
		     sizeof columns / sizeof columns[0]);
	for (size_t i = 0; i < s->nprocesses; i++) {
		const sums_process *p = &s->processes[i];

		record_cell_text(b, memory_base_of(p->program));
		record_cell_int(b, p->pid);
		record_cell_int(b, p->peak);
		record_cell_int(b, p->leaked);
		record_cell_int(b, p->kept);
		record_cell_int(b, (int64_t)p->allocations);
		record_cell_int(b, p->mapped_peak);
	}
}

static void memory_cost_put(record_builder *b, const memory_result *m, const heap_sum *sum)
{
	const double each = sum->timed ? (double)sum->timed_ns / (double)sum->timed : 0;
	const double calls = (double)(sum->allocations + sum->freed);

	if (sum->timed) {
		record_fact_real(b, "cost", "hook", DCK_UNIT_NS, each);
		record_fact_real(b, "cost", "hooks", DCK_UNIT_NS, each * calls);
		record_fact_real(b, "cost", "hooks_share", DCK_UNIT_ONE,
				 each * calls / (double)m->took_ns);
		record_fact_text(b, "cost", "how",
				 "estimated: the time of one call in 1024 is taken, times calls");
	} else {
		record_fact_absent(b, "cost", "hooks", "too few calls for one to be timed");
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
	record_fact_int(b, "memory", "leaked_blocks", DCK_UNIT_ONE, (int64_t)sum->leaked_blocks);
	record_fact_int(b, "memory", "lost_paths", DCK_UNIT_ONE, (int64_t)sum->lost);
	record_fact_int(b, "memory", "unseen", DCK_UNIT_ONE, (int64_t)sum->unseen);
	record_fact_int(b, "memory", "stacks_truncated", DCK_UNIT_ONE, (int64_t)sum->cut);
	record_fact_int(b, "memory", "stacks_failed", DCK_UNIT_ONE, (int64_t)sum->broken);
	if (s->left_out)
		record_fact_int(b, "memory", "processes_left_out", DCK_UNIT_ONE,
				(int64_t)s->left_out);
}

static void memory_notes_put(record_builder *b, const memory_result *m, const heap_sum *sum)
{
	const char *missing_reason = heap_names_lacking(m->sums->names);

	if (sum->lost)
		record_note(b, "memory-lost",
			    "%llu allocations are attributed to a caller further out, because "
			    "their call paths were not recorded: %s",
			    (unsigned long long)sum->lost,
			    sum->full ? "the file of a process was full, which has space for 8 "
					"million paths, or less by 'ulimit -f'; measure a shorter "
					"part of the program"
				      : "free space in $TMPDIR");
	if (m->sums->no_space)
		record_note(b, "memory-lost",
			    "allocations of %zu processes were not recorded: there was no space "
			    "for their files; free space in $TMPDIR",
			    m->sums->no_space);
	if (sum->broken)
		record_note(b, "memory-stacks",
			    "%llu stacks ended before their outermost frame: a function in between "
			    "has no unwind information",
			    (unsigned long long)sum->broken);
	if (sum->unseen)
		record_note(b, "memory-missed",
			    "%llu allocations inside an allocation hook were not recorded",
			    (unsigned long long)sum->unseen);
	if (missing_reason)
		record_note(b, "memory-lines", "%s", missing_reason);
	if ((m->usage->signal || m->cancelled) && sum->leaked)
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
	char bytes[TEXT];
	uint32_t line;
	double weight;

	if (s->ncolumns > SUMS_HELD) {
		largest_of(&s->lines, SUMS_HELD, &line, &weight);
		snprintf(ret, size, "%s held at the end",
			 dck_text_bytes((double)sum->held, bytes, sizeof bytes));
		if (line && line != peak_line && sum->held > 0) {
			const size_t n = strlen(ret);

			snprintf(ret + n, size - n, ", %.0f %% of it by %.100s",
				 100 * weight / (double)sum->held, memory_sums_asked(s, line));
		}
	} else if (sum->leaked) {
		snprintf(ret, size, "%s leaked",
			 dck_text_bytes((double)sum->leaked, bytes, sizeof bytes));
	} else {
		snprintf(ret, size, "nothing leaked");
	}
}

static void memory_answer_put(record_builder *b, const memory_result *m, const heap_sum *sum)
{
	const sums_process *p = &m->sums->processes[m->sums->largest];
	char peak[TEXT], at[TEXT], who[200] = "", left[250];
	uint32_t line;
	double weight;

	if (!p->peak) {
		record_answer(b, "the program allocated nothing");
		return;
	}
	largest_of(&m->sums->lines, SUMS_PEAK, &line, &weight);
	if (line)
		snprintf(who, sizeof who, ", %.0f %% of it by %.100s",
			 100 * weight / (double)p->peak, memory_sums_asked(m->sums, line));
	left_text(m->sums, sum, line, left, sizeof left);
	record_answer(
	    b, "peak heap %s at %s%s; %s", dck_text_bytes((double)p->peak, peak, sizeof peak),
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
	if (rss > 0)
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
	if (st != DCK_OK) {
		record_drop(b);
		return st;
	}
	return record_finish(b, ret, err);
}
