/* rank_record.c - the record of a job: the answer, the metrics of a step, and a table of ranks, of
 * the parts of a step, and of collectives.
 *
 * The answer accuses a rank, else a node, only by rank_blame's verdict; every other answer states
 * what was looked at and the greatest cost. Ranks whose part is missing have a row with the reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_record.h"
#include "base/units.h"
#include "profiler/ranks/rank_timeline.h"

#include "base/err.h"
#include "base/utf8.h"
#include "record/host.h"
#include "record/record_begin.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SUMMARY_ROWS = 8, LISTED_MAX = 5, NAME_MAX_BYTES = 100 };

static const dck_column rank_columns[] = {
    {"rank", "rank", DCK_UNIT_ONE},
    {"node", "node", DCK_UNIT_NONE},
    {"work", "work", DCK_UNIT_NS},
    {"wait", "in collectives", DCK_UNIT_NS},
    {"cost", "cost to others", DCK_UNIT_NS},
    {"last", "last", DCK_UNIT_ONE},
    {"steps", "steps", DCK_UNIT_ONE},
    {"offset", "clock offset", DCK_UNIT_NS},
    {"drift", "clock drift", DCK_UNIT_ONE},
    {"within", "clock uncertainty", DCK_UNIT_NS},
    {"round_trip", "round trip", DCK_UNIT_NS},
    {"cpu", "CPU time", DCK_UNIT_NS},
    {"memory", "peak memory", DCK_UNIT_BYTE},
    {"run_queue", "run queue", DCK_UNIT_NS},
    {"throttled", "throttled", DCK_UNIT_NS},
    {"throttled_periods", "throttled periods", DCK_UNIT_ONE},
    {"state", "state", DCK_UNIT_NONE},
};

static const dck_column time_columns[] = {
    {"rank", "rank", DCK_UNIT_ONE},	     {"from", "first step", DCK_UNIT_ONE},
    {"to", "last step", DCK_UNIT_ONE},	     {"wait", "in collectives", DCK_UNIT_NS},
    {"cost", "cost to others", DCK_UNIT_NS},
};

static const dck_column span_columns[] = {
    {"step", "step", DCK_UNIT_ONE},  {"rank", "rank", DCK_UNIT_ONE},
    {"kind", "kind", DCK_UNIT_NONE}, {"name", "name", DCK_UNIT_NONE},
    {"begin", "begin", DCK_UNIT_NS}, {"end", "end", DCK_UNIT_NS},
};

static const dck_column part_columns[] = {
    {"part", "part", DCK_UNIT_NONE},
    {"median", "median of ranks", DCK_UNIT_NS},
    {"most", "most", DCK_UNIT_NS},
    {"rank", "rank", DCK_UNIT_ONE},
};

static const dck_column operation_columns[] = {
    {"collective", "collective", DCK_UNIT_NONE},
    {"calls", "calls", DCK_UNIT_ONE},
    {"time", "mean time", DCK_UNIT_NS},
};

static const char *state_text(const rank_part *p, char *to, size_t size)
{
	if (!p->arena)
		snprintf(to, size, "%s", p->why);
	else if (p->signal)
		snprintf(to, size, "its program was killed by signal %d", (int)p->signal);
	else if (p->exit_code)
		snprintf(to, size, "its program ended with exit status %d", (int)p->exit_code);
	else
		snprintf(to, size, "%s", p->why ? p->why : "complete");
	return to;
}

static const rank_member *rank_member_find(const rank_job *j, uint32_t rank)
{
	for (size_t i = 0; i < j->n; i++)
		if (j->member[i].rank == rank)
			return &j->member[i];
	return NULL;
}

static double member_cost(const rank_job *j, size_t at)
{
	return j->costs.cost[at] / (double)j->steps;
}

static void clock_cells_put(record_builder *b, const rank_member *m)
{
	const rank_clock c = m->clock;
	const bool first = m->rank == 0;
	const dck_value none = RECORD_ABSENT("no exchange with rank 0");

	record_cell(b, first ? RECORD_INT(0) : c.rounds ? RECORD_REAL(c.offset_ns) : none);
	record_cell(b, first ? RECORD_INT(0) : c.rounds ? RECORD_REAL(c.drift) : none);
	record_cell_real(b, m->within_ns);
	record_cell(b, first	  ? RECORD_ABSENT("it is rank 0")
		       : c.rounds ? RECORD_REAL(c.round_trip_ns)
				  : none);
}

static void usage_cells_put(record_builder *b, const rank_usage *u)
{
	static const struct {
		rank_resource of;
		const char *absent;
	} cells[] = {
	    {RANK_CPU, "the kernel counted none"},
	    {RANK_MEMORY, "the kernel counted none"},
	    {RANK_RUN_QUEUE, "the kernel does not count it (schedstat), or nothing was recorded"},
	    {RANK_THROTTLED, "no control group counts it (cpu.stat)"},
	    {RANK_PERIODS, "no control group counts it (cpu.stat)"},
	};

	for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++)
		record_cell(b, u->known >> cells[i].of & 1 ? RECORD_INT(u->n[cells[i].of])
							   : RECORD_ABSENT(cells[i].absent));
}

static void rank_row_put(record_builder *b, const rank_result *r, uint32_t rank)
{
	const rank_job *j = r->job;
	const rank_part *p = &r->parts[rank];
	const rank_member *m = rank_member_find(j, rank);
	const size_t at = m ? (size_t)(m - j->member) : 0;
	char state[200];

	state_text(p, state, sizeof state);
	record_cell_int(b, (int64_t)rank);
	record_cell(b, p->arena ? RECORD_TEXT(p->host) : RECORD_ABSENT(state));
	if (!m) {
		const char *why = p->arena ? "it recorded no steps" : state;

		for (int i = 0; i < 9; i++)
			record_cell_absent(b, why);
		if (p->arena)
			usage_cells_put(b, &p->usage);
		for (int i = 0; i < 5 && !p->arena; i++)
			record_cell_absent(b, why);
		record_cell_text(b, p->arena && strcmp(state, "complete") == 0 ? why : state);
		return;
	}
	record_cell_real(b, m->work_ns);
	record_cell_real(b, m->wait_ns);
	if (at == j->blame.unit && !isnan(j->blame.lo_ns))
		record_cell_interval(b, j->blame.cost_ns, j->blame.lo_ns, j->blame.hi_ns, 0.95);
	else
		record_cell_real(b, member_cost(j, at));
	record_cell(b, j->costs.collectives
			   ? RECORD_REAL((double)j->costs.last[at] / (double)j->costs.collectives)
			   : RECORD_ABSENT("no collective of several ranks"));
	record_cell_int(b, (int64_t)m->steps);
	clock_cells_put(b, m);
	usage_cells_put(b, &p->usage);
	record_cell_text(b, state);
}

/* Returns whether a rank is among the SUMMARY_ROWS that cost most, or is missing. */
static bool rank_is_shown(const rank_result *r, uint32_t rank)
{
	const rank_member *m = rank_member_find(r->job, rank);
	size_t above = 0;

	if (!m || r->at->size <= SUMMARY_ROWS)
		return rank < SUMMARY_ROWS;
	const size_t at = (size_t)(m - r->job->member);
	const double own = member_cost(r->job, at);
	for (size_t i = 0; i < r->job->n; i++) {
		const double other = member_cost(r->job, i);

		above += other > own || (other >= own && i < at);
	}
	return above < SUMMARY_ROWS;
}

static void ranks_put(record_builder *b, const rank_result *r)
{
	RECORD_TABLE(b, "ranks", "Ranks, per step", rank_columns);
	for (uint32_t rank = 0; rank < r->at->size; rank++) {
		rank_row_put(b, r, rank);
		if (rank_is_shown(r, rank))
			record_summary_row(b);
	}
	record_summary_columns(b, "node work wait cost last");
}

/* A row for each rank and run of adjacent steps. */
static void rank_times_put(record_builder *b, const rank_job *j)
{
	const size_t n = j->costs.runs;

	if (!j->costs.collectives || n == 0)
		return;
	RECORD_TABLE(b, "ranks/times", "Ranks by time, means of steps", time_columns);
	for (size_t at = 0; at < j->n; at++)
		for (size_t k = 0; k < n; k++) {
			const size_t from = k * j->steps / n, to = (k + 1) * j->steps / n;

			record_cell_int(b, (int64_t)j->member[at].rank);
			record_cell_int(b, (int64_t)(j->skipped + from + 1));
			record_cell_int(b, (int64_t)(j->skipped + to));
			record_cell_real(b, j->costs.run_wait[at * n + k] / (double)(to - from));
			record_cell_real(b, j->costs.run_cost[at * n + k] / (double)(to - from));
		}
}

/* Two steps of all ranks, range by range. */
static void rank_spans_put(record_builder *b, const rank_job *j)
{
	static const char *const kinds[RANK_KINDS] = {
	    [RANK_STEP] = "step", [RANK_PART] = "part", [RANK_COLLECTIVE] = "collective"};
	rank_timeline t;

	if (rank_timeline_make(j, &t, NULL) != DCK_OK || t.n == 0)
		return;
	RECORD_TABLE(b, "ranks/spans", "The step with the longest waits, and a typical one",
		     span_columns);
	for (size_t i = 0; i < t.n; i++) {
		record_cell_int(b, (int64_t)(j->skipped + t.span[i].step + 1));
		record_cell_int(b, (int64_t)j->member[t.span[i].member].rank);
		record_cell_text(b, kinds[t.span[i].kind]);
		record_cell_text(b, t.span[i].name);
		record_cell_int(b, t.span[i].begin_ns);
		record_cell_int(b, t.span[i].end_ns);
	}
	record_fact_int(b, "job", "spans_ranks_left_out", DCK_UNIT_ONE, (int64_t)t.ranks_left_out);
	record_fact_int(b, "job", "spans_left_out", DCK_UNIT_ONE, (int64_t)t.spans_left_out);
}

static void rank_parts_put(record_builder *b, const rank_job *j)
{
	double *x = mem_alloc(2 * (j->n + 1) * sizeof *x);

	RECORD_TABLE(b, "parts", "Parts of a step: work, without collectives", part_columns);
	for (size_t k = 0; x && k < j->nparts; k++) {
		size_t most = 0;

		for (size_t at = 0; at < j->n; at++) {
			x[at] = j->part_ns[at * j->nparts + k];
			most = x[at] > x[most] ? at : most;
		}
		record_cell_text(b, j->part[k]);
		record_cell_real(b, stat_median(x, j->n, x + j->n));
		record_cell_real(b, x[most]);
		record_cell_int(b, (int64_t)j->member[most].rank);
	}
	mem_free(x);
	RECORD_TABLE(b, "collectives", "Collectives", operation_columns);
	for (size_t i = 0; i < j->noperations; i++) {
		if (!j->operation[i].calls) /* outside of the steps */
			continue;
		record_cell_text(b, j->operation[i].name);
		record_cell_int(b, (int64_t)j->operation[i].calls);
		record_cell_real(b, j->operation[i].time_ns);
	}
}

static void rank_metrics_put(record_builder *b, const rank_job *j)
{
	const stat_estimate *e = &j->step;

	if (!e->present)
		record_metric_absent(b, "ranks/step", j->n ? e->why : "no rank recorded a step");
	else if (e->has_interval)
		record_metric_interval(b, "ranks/step", e->value, e->lo, e->hi, e->level, e->how);
	else
		record_metric_real(b, "ranks/step", e->value, e->why);
	if (!j->costs.collectives) {
		record_metric_absent(b, "ranks/skew",
				     "no collective of several ranks was recorded");
		record_metric_absent(b, "ranks/cost",
				     "no collective of several ranks was recorded");
		return;
	}
	record_metric_real(b, "ranks/skew", j->costs.skew_ns / (double)j->costs.collectives,
			   "mean over collectives");
	if (isnan(j->blame.lo_ns))
		record_metric_real(b, "ranks/cost", j->blame.cost_ns, "mean over steps");
	else
		record_metric_interval(b, "ranks/cost", j->blame.cost_ns, j->blame.lo_ns,
				       j->blame.hi_ns, 0.95, "Student's t on blocks of steps");
}

static void rank_facts_put(record_builder *b, const rank_result *r)
{
	const os_job *at = r->at;
	const rank_job *j = r->job;
	char title[4096];

	record_fact_text(b, "subject", "kind", "ranks");
	record_program_title(title, sizeof title, r->argv);
	record_fact_text(b, "subject", "name", title);
	record_fact(b, "job", "launcher", DCK_UNIT_NONE,
		    at->launcher ? RECORD_TEXT(at->launcher)
				 : RECORD_ABSENT("no launcher's variables are set"));
	if (at->variable)
		record_fact_text(b, "job", "variable", at->variable);
	record_fact_int(b, "job", "ranks", DCK_UNIT_ONE, at->size);
	record_fact_int(b, "job", "nodes", DCK_UNIT_ONE, (int64_t)j->nodes);
	if (at->size > 1)
		record_fact_text(b, "job", "rendezvous",
				 r->meeting->file[0] ? r->meeting->file : r->meeting->host);
	record_fact_int(b, "job", "steps", DCK_UNIT_ONE, (int64_t)j->steps);
	record_fact_int(b, "job", "steps_skipped", DCK_UNIT_ONE, (int64_t)j->skipped);
	record_fact_int(b, "job", "collectives", DCK_UNIT_ONE, (int64_t)j->costs.collectives);
	record_fact_int(b, "job", "undecided", DCK_UNIT_ONE, (int64_t)j->costs.undecided);
	record_fact_text(b, "method", "clocks",
			 "four time stamps a second, least round trip, weighted line (RFC 5905); "
			 "one machine: its own clock");
	record_fact_text(b, "method", "cost",
			 "time in a step in which a collective waited for that rank alone");
	record_fact_text(b, "method", "test",
			 "permutation of ranks within blocks of steps, greatest total cost");
	record_fact_real(b, "method", "alpha", DCK_UNIT_ONE, RANK_JOB_ALPHA);
	record_fact_options(b, "plan", dck_ranks_options, r->config);
}

/* The facts of the merged trace, and what is missing in it. */
static void rank_trace_put(record_builder *b, const rank_result *r)
{
	static const char *const keys[] = {"format", "files", "processes", "uncertainty"};
	size_t missing = 0;

	if (!r->config->trace)
		return;
	record_fact_text(b, "trace", "file", r->config->trace);
	if (!r->trace) {
		record_note(b, "ranks-trace", "the trace of all ranks was not written: %s",
			    r->trace_why);
		record_set_incomplete(b, true);
		return;
	}
	for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
		const dck_fact *f = dck_record_fact(r->trace, "trace", keys[i]);

		if (f)
			record_fact(b, "trace", keys[i], f->unit, f->value);
	}
	for (size_t i = 0; i < r->trace->nnotes; i++)
		if (r->trace->notes[i].severity >= DCK_WARN)
			record_note_of(b, &r->trace->notes[i], "'%.200s': ", r->config->trace);
	for (uint32_t rank = 0; rank < r->at->size; rank++)
		missing += r->parts[rank].arena && !r->traces[rank];
	if (missing) {
		record_note(b, "ranks-trace", "the trace of all ranks has none of %zu of %u ranks",
			    missing, r->at->size);
		record_set_incomplete(b, true);
	}
}

static void blame_fact_put(record_builder *b, const char *key, const rank_blame *blame,
			   const char *name, int64_t rank)
{
	static const char *const words[] = {[BLAME_NOBODY] = "nobody",
					    [BLAME_FEW] = "too-few-steps",
					    [BLAME_UNSURE] = "unsure",
					    [BLAME_SHARED] = "shared-processors"};
	char p[32];

	if (blame->verdict == BLAME_ONE && name)
		record_fact_text(b, "job", key, name);
	else if (blame->verdict == BLAME_ONE)
		record_fact_int(b, "job", key, DCK_UNIT_ONE, rank);
	else
		record_fact_text(b, "job", key, words[blame->verdict]);
	snprintf(p, sizeof p, "%s_p", key);
	if (isnan(blame->p))
		record_fact_absent(b, "job", p, "not tested");
	else
		record_fact_real(b, "job", p, DCK_UNIT_ONE, blame->p);
}

/* The accusation; what: "rank 2" or "node a". */
static void accusation_put(record_builder *b, const rank_job *j, const rank_blame *blame,
			   const char *what, const char *where)
{
	char cost[32], lo[32], hi[32], step[32];

	dck_text_time(blame->cost_ns, cost, sizeof cost);
	dck_text_time(blame->lo_ns, lo, sizeof lo);
	dck_text_time(blame->hi_ns, hi, sizeof hi);
	dck_text_time(j->step.value, step, sizeof step);
	record_answer(b,
		      "%s holds the others up: it costs %s [%s, %s] of a step of %s, in %zu of "
		      "%zu steps%s",
		      what, cost, lo, hi, step, blame->steps, j->steps, where);
}

/* Why the accused rank is slow, as far as its machine shows it: a fact, and a note. Returns the
 * words for the answer. */
static const char *cause_put(record_builder *b, const rank_job *j)
{
	const rank_usage **usage = mem_alloc(j->n * sizeof *usage);
	const double share = j->blame.cost_ns / j->step.value;
	rank_resource cause = RANK_RESOURCES;
	double own = 0, others = 0;

	for (size_t at = 0; usage && at < j->n; at++)
		usage[at] = &j->member[at].part->usage;
	if (usage)
		cause = rank_cause_find(usage, j->n, j->blame.unit, share, &own, &others);
	mem_free((void *)usage);
	const uint32_t rank = j->member[j->blame.unit].rank;
	if (cause == RANK_THROTTLED) {
		record_note(
		    b, "ranks-throttled",
		    "the CPU limit of its control group stopped rank %u for %.3g %% of its "
		    "time, summed over the processors; the median of the other ranks is %.3g %%",
		    rank, 100 * own, 100 * others);
		record_fact_text(b, "job", "straggler_cause", "throttled");
		return ", and its CPU limit stopped it";
	}
	if (cause == RANK_RUN_QUEUE) {
		record_note(b, "ranks-run-queue",
			    "a thread of rank %u was ready and had no processor for %.3g %% of its "
			    "time; the median of the other ranks is %.3g %%",
			    rank, 100 * own, 100 * others);
		record_fact_text(b, "job", "straggler_cause", "run-queue");
		return ", and other threads took its processor";
	}
	record_fact_absent(b, "job", "straggler_cause",
			   "neither a CPU limit nor other threads on its processor explain half of "
			   "the cost");
	return "";
}

/* How much of a name the answer has. */
static int rank_name_bytes(const char *name)
{
	const size_t n = strlen(name);

	return (int)(n <= NAME_MAX_BYTES ? n : utf8_cut(name, NAME_MAX_BYTES));
}

static bool rank_accuse(record_builder *b, const rank_job *j)
{
	const rank_member *m = &j->member[j->blame.unit];
	double more_ns;
	char what[200], part_name[128] = "", where[200];

	if (j->blame.verdict != BLAME_ONE)
		return false;
	const size_t part = rank_job_part(j, j->blame.unit, &more_ns);
	if (part < j->nparts)
		snprintf(part_name, sizeof part_name, ", by its %s '%.*s'",
			 part >= j->nparts - 2 ? "time in" : "part", rank_name_bytes(j->part[part]),
			 j->part[part]);
	record_fact(b, "job", "straggler_part", DCK_UNIT_NONE,
		    part < j->nparts ? RECORD_TEXT(j->part[part])
				     : RECORD_ABSENT("no part takes it longer than the others"));
	snprintf(where, sizeof where, "%s%s", part_name, cause_put(b, j));
	const char *node = j->nodes > 1 ? m->part->host : "";
	snprintf(what, sizeof what, "rank %u%s%.*s", m->rank, j->nodes > 1 ? " on node " : "",
		 rank_name_bytes(node), node);
	accusation_put(b, j, &j->blame, what, where);
	return true;
}

static bool part_has_name(const rank_part *p, const char *name)
{
	for (size_t i = 0; i < p->nnames; i++)
		if (strcmp(p->names[i], name) == 0)
			return true;
	return p->arena == NULL;
}

/* Returns the collective with most calls at rank 0, of those that all ranks have; NULL: none. */
static const char *collective_frequent(const rank_result *r, size_t *ret_calls)
{
	const rank_part *p = &r->parts[0];
	const char *found = NULL;

	*ret_calls = 0;
	for (size_t name = 0; name < p->nnames; name++) {
		size_t calls = 0;
		uint32_t rank = 0;

		for (size_t i = 0; i < p->nranges; i++)
			calls += p->ranges[i].name == name && p->ranges[i].kind == RANK_COLLECTIVE;
		while (rank < r->at->size && part_has_name(&r->parts[rank], p->names[name]))
			rank++;
		if (rank == r->at->size && calls > *ret_calls) {
			found = p->names[name];
			*ret_calls = calls;
		}
	}
	return found;
}

static void no_steps_answer_put(record_builder *b, const rank_result *r)
{
	size_t calls;
	const char *name = collective_frequent(r, &calls);

	if (name)
		record_answer(b,
			      "no rank recorded a range '%s'; with --step '%s' a step ends with "
			      "each of its %zu calls",
			      r->config->step, name, calls);
	else
		record_answer(b, "no rank recorded a range '%s', so there are no steps to compare",
			      r->config->step);
}

/* No rank is accused: which rule of rank_blame_find() the costliest one does not meet. */
static void acquittal_put(record_builder *b, const rank_job *j, const char *cost, const char *step)
{
	const rank_blame *blame = &j->blame;
	const uint32_t rank = j->member[blame->unit].rank;
	char lo[32], hi[32];

	dck_text_time(blame->lo_ns, lo, sizeof lo);
	dck_text_time(blame->hi_ns, hi, sizeof hi);
	const double least = BLAME_SHARE_LEAST * j->step.value;
	if (!(blame->p <= RANK_JOB_ALPHA) || blame->lo_ns >= least)
		record_answer(b,
			      "no rank holds the others up: the greatest cost is rank %u's, %s of "
			      "a step of %s, which can be chance (p = %.2g)",
			      rank, cost, step, blame->p);
	else if (blame->cost_ns < least)
		record_answer(b,
			      "no rank holds the others up: the greatest cost is rank %u's, %s of "
			      "a step of %s, less than %g %%",
			      rank, cost, step, 100 * BLAME_SHARE_LEAST);
	else
		record_answer(b,
			      "no rank is accused: rank %u costs %s of a step of %s, but so "
			      "unevenly that its interval is [%s, %s]; record more steps",
			      rank, cost, step, lo, hi);
}

static void rank_answer_put(record_builder *b, const rank_result *r)
{
	const rank_job *j = r->job;
	char cost[32], step[32], own[32], others[32], what[200];

	dck_text_time(j->blame.cost_ns, cost, sizeof cost);
	dck_text_time(j->step.value, step, sizeof step);
	if (j->n == 0) {
		no_steps_answer_put(b, r);
	} else if (j->n == 1) {
		record_answer(b, "%s; a step takes %s",
			      r->at->size == 1 ? "one rank: there is no other that could wait"
					       : "only one rank's steps are known, so no rank can "
						 "be compared",
			      step);
	} else if (!j->costs.collectives) {
		record_answer(b, "no collective was recorded, so nothing shows who waits for whom");
	} else if (rank_accuse(b, j)) {
		return;
	} else if (j->node_blame.verdict == BLAME_ONE) {
		const char *node = j->node[j->node_blame.unit];
		snprintf(what, sizeof what, "node %.*s", rank_name_bytes(node), node);
		accusation_put(b, j, &j->node_blame, what, "");
	} else if (j->blame.verdict == BLAME_FEW) {
		record_answer(b,
			      "%zu steps are too few to tell whether a rank holds the others up; "
			      "a step takes %s",
			      j->steps, step);
	} else if (j->blame.verdict == BLAME_UNSURE) {
		record_answer(
		    b, "rank %u arrives last, but does not wait least, so no rank is accused",
		    j->member[j->blame.unit].rank);
	} else if (j->blame.verdict == BLAME_SHARED) {
		dck_text_time(j->queue_own_ns, own, sizeof own);
		dck_text_time(j->queue_others_ns, others, sizeof others);
		record_answer(b,
			      "no rank is accused: rank %u costs %s of a step of %s, but %zu ranks "
			      "share %zu processor%s; it was ready and had none for %s of a step, "
			      "the median of the others for %s",
			      j->member[j->blame.unit].rank, cost, step, j->sharing, j->cpus,
			      j->cpus == 1 ? "" : "s", own, others);
	} else {
		acquittal_put(b, j, cost, step);
	}
}

/* Names the ranks for which f is true: "1, 3 and 7 more". Returns their number. */
static size_t ranks_list(const rank_result *r, bool (*f)(const rank_part *p), char *ret,
			 size_t size)
{
	size_t n = 0, used = 0;

	*ret = '\0';
	for (uint32_t rank = 0; rank < r->at->size; rank++) {
		if (!f(&r->parts[rank]))
			continue;
		if (n++ < LISTED_MAX && used < size)
			used += (size_t)snprintf(ret + used, size - used, "%s%u", n > 1 ? ", " : "",
						 rank);
	}
	if (n > LISTED_MAX && used < size)
		snprintf(ret + used, size - used, " and %zu more", n - LISTED_MAX);
	return n;
}

static bool part_is_missing(const rank_part *p)
{
	return !p->arena;
}

static bool part_has_failed(const rank_part *p)
{
	return p->arena && (p->exit_code || p->signal);
}

static bool part_has_lost(const rank_part *p)
{
	return p->arena && p->lost;
}

static bool part_is_empty(const rank_part *p)
{
	return p->arena && p->why;
}

/* Returns the first part for which f is true; there is one. */
static const rank_part *part_first(const rank_result *r, bool (*f)(const rank_part *p))
{
	const rank_part *p = r->parts;

	while (!f(p))
		p++;
	return p;
}

/* Returns the number of ranks whose parts came, and have ranges, of which none is a step. */
static unsigned stepless_count(const rank_result *r)
{
	unsigned n = 0;

	for (uint32_t rank = 0; rank < r->at->size; rank++)
		n += r->parts[rank].arena && !r->parts[rank].why && !rank_member_find(r->job, rank);
	return n;
}

static void rank_notes_put(record_builder *b, const rank_result *r)
{
	const rank_job *j = r->job;
	const unsigned without = stepless_count(r);
	uint64_t left_out = 0;
	char list[128];
	size_t n;

	if ((n = ranks_list(r, part_is_missing, list, sizeof list))) {
		record_note(b, "ranks-missing", "the part%s of rank%s %s %s missing: %s",
			    n > 1 ? "s" : "", n > 1 ? "s" : "", list, n > 1 ? "are" : "is",
			    part_first(r, part_is_missing)->why);
		record_remedy(b, "%s", part_first(r, part_is_missing)->remedy);
		record_set_incomplete(b, true);
	}
	if ((n = ranks_list(r, part_has_failed, list, sizeof list)))
		record_note(b, "ranks-failed", "the program of rank%s %s failed", n > 1 ? "s" : "",
			    list);
	if ((n = ranks_list(r, part_is_empty, list, sizeof list)))
		record_note(b, "ranks-nothing", "rank%s %s recorded nothing: %s", n > 1 ? "s" : "",
			    list, part_first(r, part_is_empty)->why);
	if ((n = ranks_list(r, part_has_lost, list, sizeof list)))
		record_note(b, "ranks-lost", "rank%s %s lost events: %s", n > 1 ? "s" : "", list,
			    part_first(r, part_has_lost)->lost);
	if (j->n > 0 && without)
		record_note(b, "ranks-no-steps", "%u of %u ranks %s no range '%s'", without,
			    r->at->size, without == 1 ? "has" : "have", r->config->step);
	for (uint32_t rank = 0; rank < r->at->size; rank++)
		left_out += r->parts[rank].left_out;
	if (left_out)
		record_note(b, "ranks-left-out", "%llu %s left out", (unsigned long long)left_out,
			    COUNTED(left_out, "range is", "ranges are"));
	if (j->uneven)
		record_note(b, "ranks-uneven",
			    "the ranks recorded different numbers of steps; the first %zu count",
			    j->steps + j->skipped);
	if (j->n > 1 && !j->costs.collectives)
		record_note(b, "ranks-no-collectives", "no collective was recorded by two ranks");
	if (j->costs.undecided * 2 > j->costs.collectives)
		record_note(b, "ranks-clocks",
			    "at %llu of %llu collectives the last arrivals were closer than the "
			    "uncertainty of the clocks",
			    (unsigned long long)j->costs.undecided,
			    (unsigned long long)j->costs.collectives);
	if (r->cancelled) {
		record_note(b, "interrupted", "interrupted after %zu %s", j->steps + j->skipped,
			    COUNTED(j->steps + j->skipped, "step", "steps"));
		record_set_incomplete(b, true);
	}
}

dck_status rank_record_make(const rank_result *r, dck_record **ret, dck_err *err)
{
	const rank_job *j = r->job;
	record_builder *b = record_begin_program(r->argv);

	DCK_NEED(b, err, "for the record of a job");
	record_host_here(b);
	rank_facts_put(b, r);
	rank_trace_put(b, r);
	blame_fact_put(b, "straggler", &j->blame, NULL,
		       j->n ? (int64_t)j->member[j->blame.unit].rank : 0);
	if (j->nodes > 1)
		blame_fact_put(b, "straggler_node", &j->node_blame, j->node[j->node_blame.unit], 0);
	rank_metrics_put(b, j);
	rank_answer_put(b, r);
	ranks_put(b, r);
	if (j->n > 0) {
		rank_parts_put(b, j);
		rank_times_put(b, j);
		rank_spans_put(b, j);
	}
	rank_notes_put(b, r);
	return record_finish(b, ret, err);
}
