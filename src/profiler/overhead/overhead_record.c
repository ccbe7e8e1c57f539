/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/overhead/overhead_record.h"

#include "base/err.h"
#include "record/record_begin.h"
#include "record/host.h"
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>

#define LEVEL	   0.95
#define FACTOR_MAX 10 /* detectable slowdown; larger values are not reported */

static const dck_column columns[] = {
    {"method", "method", DCK_UNIT_NONE},  {"time", "time", DCK_UNIT_NS},
    {"ratio", "ratio", DCK_UNIT_ONE},	  {"memory", "memory", DCK_UNIT_BYTE},
    {"output", "output", DCK_UNIT_BYTE},  {"whole", "whole command", DCK_UNIT_NS},
    {"absent", "why not", DCK_UNIT_NONE},
};

/* The rounds' ratios: their geometric mean, with Student's t on the logarithms. */
static stat_estimate ratio_find(const overhead *o, size_t method)
{
	double logs[OVERHEAD_ROUNDS_MAX];
	stat_estimate e;

	for (size_t i = 0; i < o->rounds; i++)
		logs[i] = log(o->of[method].time_ns[i] / o->of[OVERHEAD_NONE].time_ns[i]);
	stat_processes(logs, o->rounds, LEVEL, &e);
	return e;
}

static double overhead_median(const double *x, size_t n)
{
	double scratch[OVERHEAD_ROUNDS_MAX];

	return stat_median(x, n, scratch);
}

static void bytes_put(record_builder *b, double bytes, const char *why)
{
	record_cell(b, bytes > 0 ? RECORD_INT((int64_t)bytes) : RECORD_ABSENT(why));
}

/* Returns the method that costs most of those whose intervals exclude 1; OVERHEAD_NONE: none. */
static size_t dearest_find(const overhead *o, double *ret_log)
{
	size_t dearest = OVERHEAD_NONE;

	*ret_log = 0;
	for (size_t i = 1; i < OVERHEAD_METHODS; i++) {
		if (!o->of[i].wanted || o->of[i].absent[0])
			continue;
		const stat_estimate e = ratio_find(o, i);

		if (e.has_interval && e.lo > 0 && e.value > *ret_log) {
			*ret_log = e.value;
			dearest = i;
		}
	}
	return dearest;
}

static void overhead_row_put(record_builder *b, const overhead *o, size_t method)
{
	const overhead_method *m = &o->of[method];

	record_cell_text(b, overhead_methods[method].name);
	if (m->absent[0]) {
		for (int i = 0; i < 5; i++)
			record_cell_absent(b, m->absent);
		record_cell_text(b, m->absent);
		return;
	}
	const stat_estimate e = ratio_find(o, method);
	record_cell_real(b, overhead_median(m->time_ns, o->rounds));
	if (method == OVERHEAD_NONE)
		record_cell_int(b, 1);
	else if (e.has_interval)
		record_cell_interval(b, exp(e.value), exp(e.lo), exp(e.hi), LEVEL);
	else
		record_cell_real(b, exp(e.value));
	bytes_put(b, m->rss_bytes, "it is not above deepclock's own");
	bytes_put(b, m->output_bytes, "it writes nothing");
	record_cell_real(b, overhead_median(m->whole_ns, o->rounds));
	record_cell_text(b, "");
}

/* Names only methods whose intervals exclude 1: with few rounds, the differences of the others are
 * mostly noise of the machine. */
static void overhead_answer_put(record_builder *b, const overhead *o, size_t dearest, double most)
{
	double widest = 0;
	size_t possible = 0;

	for (size_t i = 1; i < OVERHEAD_METHODS; i++) {
		if (!o->of[i].wanted || o->of[i].absent[0])
			continue;
		const stat_estimate e = ratio_find(o, i);

		possible++;
		widest = fmax(widest, e.has_interval ? fmax(e.hi, -e.lo) : INFINITY);
	}
	if (!possible)
		record_answer(b, "no method is possible for this program");
	else if (dearest != OVERHEAD_NONE)
		record_answer(b,
			      "%s costs most: with it the program takes %.3g times as long, in the "
			      "mean of the rounds' ratios; times are medians",
			      overhead_methods[dearest].name, exp(most));
	else if (exp(widest) > FACTOR_MAX)
		record_answer(b,
			      "%zu round%s do%s not show the cost of a method; give more --rounds",
			      o->rounds, o->rounds == 1 ? "" : "s", o->rounds == 1 ? "es" : "");
	else
		record_answer(
		    b,
		    "no method made the program measurably slower; a slowdown by a factor "
		    "of %.3g would have been detected",
		    exp(widest));
}

static void overhead_facts_put(record_builder *b, const overhead *o)
{
	char key[32];

	record_fact_options(b, "plan", dck_overhead_options, o->config);
	record_fact_int(b, "overhead", "rounds", DCK_UNIT_ONE, (int64_t)o->rounds);
	record_fact_text(b, "method", "order", "random in each round");
	record_fact_text(b, "method", "ratio",
			 "geometric mean of the rounds' ratios, Student's t on logarithms");
	record_fact_text(b, "method", "memory",
			 "largest resident set of any process of the command, deepclock's too");
	for (size_t i = 1; i < OVERHEAD_METHODS; i++)
		if (o->of[i].wanted && !o->of[i].absent[0]) {
			snprintf(key, sizeof key, "%s_time", overhead_methods[i].name);
			record_fact_text(b, "method", key,
					 o->of[i].whole ? "of the whole command"
							: "of the program, by the method's record");
		}
}

dck_status overhead_record_make(const overhead *o, dck_record **ret, dck_err *err)
{
	record_builder *b = record_begin_program(o->argv);
	double most;
	const size_t dearest = dearest_find(o, &most);

	DCK_NEED(b, err, "for the costs of profiles");
	record_host_here(b);
	overhead_facts_put(b, o);
	overhead_answer_put(b, o, dearest, most);
	RECORD_TABLE(b, "overhead", "What each method costs", columns);
	/* The row of the answer is the first of the methods, where a short table has it too. */
	overhead_row_put(b, o, OVERHEAD_NONE);
	if (dearest != OVERHEAD_NONE)
		overhead_row_put(b, o, dearest);
	for (size_t i = 1; i < OVERHEAD_METHODS; i++)
		if (o->of[i].wanted && i != dearest)
			overhead_row_put(b, o, i);
	record_summary_columns(b, "time ratio memory output");
	record_others_put(&o->others, b, "overhead", false);
	for (size_t i = 1; i < OVERHEAD_METHODS; i++)
		if (o->of[i].wanted && o->of[i].absent[0])
			record_note(b, "overhead-not-possible", "%s: %s", overhead_methods[i].name,
				    o->of[i].absent);
	if (o->cancelled) {
		record_note(b, "interrupted", "interrupted after %zu round%s", o->rounds,
			    o->rounds == 1 ? "" : "s");
		record_set_incomplete(b, true);
	}
	return record_finish(b, ret, err);
}
