/* count_functions.c - merges the calling-context trees of threads (thread_cct.h) into one tree of
 * named frames, and writes it as table, tree, facts and notes of a record.
 *
 * count_functions_add() visits the nodes of a lane once, in the order of the array: a parent comes
 * before its children, so its merged path is known. The lane may belong to a killed or to a running
 * process, or be damaged: its header is checked, `n` is read once, and a node whose parent does not
 * come before it is skipped.
 *
 * Calls, primitive calls (no other call of the same function is open) and own time are defined as
 * in Python's cProfile. The overhead is an estimate: calls times the cost of an empty call inside
 * it, plus calls of children times the cost of an empty call in its caller, at most the own time.
 * It has a separate column, and is not subtracted from times.
 *
 * With sampled times self and total are estimates. A function's share of all functions' time is
 * that of a binomial proportion and has Wilson's interval, as if samples were independent; a
 * function without samples has no time. The overhead of a call cannot be divided between a function
 * and its caller: the column "overhead" is left out, and until the table is written it marks rows
 * that are functions, because times of zones are exact.
 *
 * Zones overlap functions in time, so sums over functions leave zones out. Memory is bounded by the
 * number of paths (cct.h), and time is linear in the nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/count/count_functions.h"

#include "base/err.h"
#include "base/names/function_name.h"
#include "base/mem.h"
#include "base/units.h"
#include "deepclock/count.h"
#include "deepclock/opt.h"
#include "record/program_file.h"
#include "record/tree/share_difference.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const char *const dck_count_sorts[] = {CALL_SORT_WORDS, "time", "name", "overhead", NULL};

enum { CALLS, SELF, COST, PRIMITIVE };
static const dck_column weights[] = {
    {"calls", "calls", DCK_UNIT_ONE},
    {"self", "self", DCK_UNIT_NS}, /* the default weight of views */
    {"overhead", "overhead", DCK_UNIT_NS},
    {"primitive", "primitive", DCK_UNIT_ONE}, /* only in the table, therefore last */
};
static const char rest_name[] = "(calls by paths beyond the limit)";

dck_status count_functions_init(count_functions *f, dck_err *err)
{
	*f = (count_functions){.nodes_max = CALL_LANE_NODES, .frames_max = CALL_LANE_FRAMES};
	return cct_init(&f->paths, weights, sizeof weights / sizeof weights[0], err);
}

void count_functions_done(count_functions *f)
{
	cct_done(&f->paths);
}

/* Sums the calls of each path's children, whose outside cost is in the path's own time. */
static void count_children_add(const call_node *nodes, uint32_t n, uint64_t *calls)
{
	for (uint32_t i = 1; i < n; i++)
		if (nodes[i].parent < i)
			calls[nodes[i].parent] += nodes[i].calls;
}

void count_functions_path(count_functions *f, uint32_t path, double calls, double self_ns,
			  double cost_ns)
{
	cct_add(&f->paths, path, CALLS, calls);
	cct_add(&f->paths, path, PRIMITIVE, calls);
	cct_add(&f->paths, path, SELF, self_ns);
	cct_add(&f->paths, path, COST, f->sampled ? 0 : cost_ns);
}

dck_status count_functions_add(count_functions *f, const thread_cct *lane, double ns_per_tick,
			       const call_overhead *price, uint64_t end,
			       uint32_t (*frame_of)(void *self, count_functions *f,
						    uint64_t function),
			       void *self, dck_err *err)
{
	const uint32_t n = lane->n, current = lane->current;
	const uint64_t last = lane->last;
	const call_node *nodes = thread_cct_nodes(lane);

	if (lane->magic != CALL_LANE_MAGIC || lane->size_node != sizeof(call_node) ||
	    n > CALL_LANE_NODES || n <= THREAD_CCT_OVERFLOW)
		return DCK_OK; /* it was never initialised, or is damaged */
	uint32_t *paths = mem_zalloc(n, sizeof *paths);
	uint64_t *inside = mem_zalloc(n, sizeof *inside);
	if (!paths || !inside) {
		mem_free(paths);
		mem_free(inside);
		return ERR_NO_MEMORY(err, "for the calls of a thread");
	}
	count_children_add(nodes, n, inside);
	if (lane->rest)
		paths[THREAD_CCT_OVERFLOW] =
		    cct_child(&f->paths, 0, cct_frame(&f->paths, &(dck_frame){.name = rest_name}));
	for (uint32_t i = 1; i < n; i++) {
		const call_node *node = &nodes[i];

		if (node->parent >= i || (i == THREAD_CCT_OVERFLOW && !lane->rest))
			continue;
		/* An undone call (dck_call_counter_undo()) is not a path; one that a forked process
		 * began inside is. */
		if (i != THREAD_CCT_OVERFLOW && i >= lane->inherited && node->calls == 0 &&
		    node->self == 0) {
			paths[i] = paths[node->parent];
			continue;
		}
		if (i != THREAD_CCT_OVERFLOW)
			paths[i] = cct_child(&f->paths, paths[node->parent],
					     frame_of(self, f, node->function));
		double own = (double)node->self;
		/* The thread was inside it when the process ended. */
		if (i == current && lane->in_use && end > last)
			own += (double)(end - last);
		own *= ns_per_tick;
		double cost =
		    (double)node->calls * price->inside_ns + (double)inside[i] * price->outside_ns;
		if (cost > own && !f->sampled)
			cost = own;
		count_functions_path(f, paths[i], (double)node->calls, own, cost);
		if (f->sampled)
			cct_add(&f->paths, paths[i], COST, 1); /* a function */
		cct_add(&f->paths, paths[i], PRIMITIVE,
			-(double)(node->recursive < node->calls ? node->recursive : node->calls));
		f->calls += node->calls;
		f->self_ns += own;
		f->cost_ns += cost;
	}
	if (price->inside_ns + price->outside_ns > f->price_ns)
		f->price_ns = price->inside_ns + price->outside_ns;
	f->lost += lane->lost;
	if (lane->lost && lane->frames_max < f->frames_max)
		f->frames_max = lane->frames_max;
	f->rest += lane->rest;
	if (lane->rest && lane->nodes_max < f->nodes_max)
		f->nodes_max = lane->nodes_max;
	f->full = lane->full ? (int)lane->full : f->full;
	f->left += lane->left;
	f->unmatched += lane->unmatched;
	f->lanes++;
	mem_free(paths);
	mem_free(inside);
	return DCK_OK;
}

/* Returns the calls that were made while no other call of the same function was open. */
static uint64_t primitive_sum(const cct *p)
{
	double sum = 0;

	for (uint32_t i = 1; i < p->paths.n; i++) {
		const char *file = cct_frame_get(p, p->paths.rows[i].name).file;

		if (!p->paths.rows[i].recursive && (!file || strcmp(file, COUNT_ZONE) != 0))
			sum += p->weights[i * p->ncolumns + PRIMITIVE];
	}
	return (uint64_t)fmin(sum, 0x1p62);
}

/* A call_interval_fn. */
static bool count_interval(const void *self, const double *w, uint32_t column, double *ret_lo,
			   double *ret_hi)
{
	const count_functions *f = self;

	if (column != SELF || w[COST] <= 0)
		return false;
	if (f->samples)
		call_share_interval(&(call_share){w[SELF] / f->self_ns, f->effective, f->self_ns},
				    CALL_NOISE_LEVEL, ret_lo, ret_hi);
	return true;
}

static void count_answer_put(const count_functions *f, record_builder *b)
{
	const cct *p = &f->paths;
	double *self = mem_zalloc(p->nframes + (size_t)1, sizeof *self);
	double *calls = mem_zalloc(p->nframes + (size_t)1, sizeof *calls);
	char own[32], times[32], every[32], primitive[32], whole[32], sum[240] = "";
	char interval[2 * UNITS_TEXT_SIZE] = "", taken[UNITS_TEXT_SIZE + 16] = "";
	double all = 0;
	uint32_t most = 0;

	for (uint32_t i = 1; self && calls && i < p->paths.n; i++) {
		const uint32_t frame = p->paths.rows[i].name;
		const char *file = cct_frame_get(p, frame).file;

		/* Zones overlap functions: only one kind is summed. */
		if (f->calls && file && strcmp(file, COUNT_ZONE) == 0)
			continue;
		all += p->weights[i * p->ncolumns + SELF];

		self[frame] += p->weights[i * p->ncolumns + SELF];
		calls[frame] += p->weights[i * p->ncolumns + CALLS];
		if (!most || self[frame] > self[most])
			most = frame;
	}
	if (f->sampled && f->calls && f->samples == 0) {
		record_answer(
		    b,
		    "%s function call%s (%s primitive); no times: the program ended before "
		    "a sample was taken in a function",
		    UNITS_COUNT((int64_t)f->calls), f->calls == 1 ? "" : "s",
		    UNITS_COUNT((int64_t)f->primitive));
	} else if (most) {
		const dck_frame frame = cct_frame_get(p, most);

		dck_text_time(self[most], own, sizeof own);
		dck_text_count((int64_t)fmin(calls[most], 0x1p62), times, sizeof times);
		dck_text_count((int64_t)f->calls, every, sizeof every);
		dck_text_count((int64_t)f->primitive, primitive, sizeof primitive);
		dck_text_time(all, whole, sizeof whole);
		if (f->sampled && f->calls) {
			const call_share share = {self[most] / all, f->effective, all};
			double lo, hi;

			call_share_interval(&share, CALL_NOISE_LEVEL, &lo, &hi);
			snprintf(interval, sizeof interval, " [%s, %s]", UNITS_TIME(lo),
				 UNITS_TIME(hi));
			snprintf(taken, sizeof taken, ", by %s sample%s",
				 UNITS_COUNT((int64_t)f->samples), f->samples == 1 ? "" : "s");
		}
		if (f->calls) /* as cProfile states it */
			snprintf(sum, sizeof sum, "; %s function call%s (%s primitive) in %s%s",
				 every, f->calls == 1 ? "" : "s", primitive, whole, taken);
		record_answer(b,
			      "%s has the most self time: %s%s in %s call%s, %.0f %% of all %s'%s",
			      FUNCTION_NAME_SHORT(frame.name), own, interval, times,
			      calls[most] == 1 ? "" : "s", all > 0 ? 100 * self[most] / all : 0,
			      f->calls ? "functions" : "zones", sum);
	}
	mem_free(self);
	mem_free(calls);
}

/* Writes facts on the cost of counting, and notes on calls that were not counted. */
static void count_facts_put(const count_functions *f, record_builder *b)
{
	char lost[32], all[32];

	if (f->lanes == 0)
		return;
	record_fact_int(b, "count", "calls", DCK_UNIT_ONE, (int64_t)f->calls);
	record_fact_int(b, "count", "primitive_calls", DCK_UNIT_ONE, (int64_t)f->primitive);
	if (f->threads)
		record_fact_int(b, "count", "threads", DCK_UNIT_ONE, f->threads);
	else
		record_fact_absent(b, "count", "threads",
				   "threads of forked processes share files, and are not counted");
	record_fact_real(b, "cost", "per_call", DCK_UNIT_NS, f->price_ns);
	record_fact_real(b, "cost", "time", DCK_UNIT_NS, f->cost_ns);
	if (f->self_ns > 0)
		record_fact_real(b, "cost", "share", DCK_UNIT_ONE, f->cost_ns / f->self_ns);
	record_fact_text(
	    b, "cost", "how",
	    f->sampled ? "estimated: calls times the cost of an empty call in this run. It is "
			 "included in the times of the table; how it divides between a "
			 "function and its caller is not known without a clock"
		       : "estimated: calls times the cost of an empty call in this run. It is "
			 "included in the times of the table; column overhead is its part of a "
			 "function's self time");
	dck_text_count((int64_t)f->calls, all, sizeof all);
	if (f->lost) {
		dck_text_count((int64_t)f->lost, lost, sizeof lost);
		record_note(b, "count-lost",
			    "%s %s not counted: more than %u calls were open at one time", lost,
			    COUNTED(f->lost, "call was", "calls were"), f->frames_max);
		record_remedy(b, "call less deeply");
	}
	if (f->rest && f->full) {
		dck_text_count((int64_t)f->rest, lost, sizeof lost);
		record_note(b, "count-paths",
			    "%s of %s calls %s in the table, but not on %s in the tree, "
			    "whose file could not grow: %s",
			    lost, all, COUNTED(f->rest, "is", "are"),
			    COUNTED(f->rest, "its path", "their paths"),
			    program_file_reason(f->full));
		record_remedy(b, "%s", program_file_remedy(f->full));
	} else if (f->rest) {
		dck_text_count((int64_t)f->rest, lost, sizeof lost);
		record_note(b, "count-paths",
			    "%s of %s calls %s in the table, but not on %s in the tree: "
			    "more than %u paths, or deeper than %d",
			    lost, all, COUNTED(f->rest, "is", "are"),
			    COUNTED(f->rest, "its path", "their paths"), f->nodes_max,
			    CALL_LANE_DEPTH);
		record_remedy(b, "the table is right; leave out functions that call themselves "
				 "(no_instrument_function)");
	}
	if (f->self_ns > 0 && f->cost_ns > 0.2 * f->self_ns)
		record_note(b, "count-price", "counting took about %.0f %% of the functions' time",
			    100 * f->cost_ns / f->self_ns);
}

dck_status count_functions_put(count_functions *f, const char *sort, uint64_t top,
			       record_builder *b, dck_err *err)
{
	enum { OVERHEAD = 3 };
	call_column columns[] = {
	    {"calls", "calls", DCK_UNIT_ONE, CALLS, CALL_SELF},
	    {"total", "total", DCK_UNIT_NS, SELF, CALL_TOTAL},
	    {"self", "self", DCK_UNIT_NS, SELF, CALL_SELF},
	    [OVERHEAD] = {"overhead", "overhead", DCK_UNIT_NS, COST, CALL_SELF},
	    {"primitive", "primitive", DCK_UNIT_ONE, PRIMITIVE, CALL_OUTER},
	};
	call_table how = {.name = "functions",
			  .title = "Functions",
			  .columns = columns,
			  .ncolumns = sizeof columns / sizeof columns[0],
			  .top = (size_t)top};

	if (f->sampled) {
		columns[OVERHEAD] = columns[--how.ncolumns];
		how.interval = count_interval;
		how.interval_self = f;
		how.level = CALL_NOISE_LEVEL;
		how.unseen = COUNT_NO_SAMPLE;
	}
	f->primitive = primitive_sum(&f->paths);
	DCK_TRY(call_table_sort(&how, sort, err));
	DCK_TRY(cct_functions(&f->paths, &how, b, err));
	cct_narrow(&f->paths, f->sampled ? COST : PRIMITIVE);
	DCK_TRY(cct_tree(&f->paths, "calls", "Calls by call path", b, err));
	count_facts_put(f, b);
	count_answer_put(f, b);
	return DCK_OK;
}
