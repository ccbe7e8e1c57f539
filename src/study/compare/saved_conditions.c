/* saved_conditions.c - what the ratio of two records means where the machine was in another state.
 *
 * Other programs: all runs of a record that met them describe these too, and two records met
 * different ones. Its undisturbed runs (latency/undisturbed) describe the subject, but are fewer. A
 * verdict has to hold by both, so the ratio's interval is extended to contain that of the
 * undisturbed runs: none of the two alone decides. A record that met no other programs has its own
 * value for its undisturbed one. Where the undisturbed runs are too few, or the statistic is not of
 * the middle of the runs, the ratio has no interval.
 *
 * Distance of the processors: a hypervisor moves those of a virtual machine, and threads that work
 * on one run wait for each other's cache lines. The part of a run that waits grows with the
 * core-to-core latency and the rest does not, so times differ at most by the ratio of the two
 * latencies: the interval is extended by it.
 *
 * Only times of runs and rates computed from them are concerned. With --pool the scatter of the
 * records includes both.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "record/others.h"
#include "record/record_internal.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEDIAN_METRIC "latency/median"
/* Core-to-core latencies of one distance differ by less. */
#define CORES_MOVED_NS 50
/* A run on one processor waits for no other. */
#define ONE_CORE 1.1

/* Returns whether undisturbed runs show what this metric is without other programs. */
static bool conditions_has_counterpart(const char *tag)
{
	return strcmp(tag, MEDIAN_METRIC) == 0 || strcmp(tag, "latency/mean") == 0 ||
	       strcmp(tag, ITEMS_METRIC) == 0;
}

static bool conditions_of_runs(const saved_source *s)
{
	return s->estimator >= 0 || strcmp(s->def->tag, ITEMS_METRIC) == 0 ||
	       strcmp(s->def->tag, UNDISTURBED_METRIC) == 0;
}

/* The minimum is of a run that met none. */
static bool others_move(const saved_source *s)
{
	return conditions_of_runs(s) && strcmp(s->def->tag, UNDISTURBED_METRIC) != 0 &&
	       strcmp(s->def->tag, "latency/min") != 0;
}

dck_status saved_conditions_open(saved_comparison *c, dck_err *err)
{
	bool any = false;

	for (size_t i = 0; i < c->n; i++)
		any |= record_beside_others(c->sides[i].record);
	if (!any || c->pooled || c->asked->scaling || !others_move(&c->sides[0].source))
		return DCK_OK;
	for (size_t i = 0; i < c->n; i++) {
		saved_side *s = &c->sides[i];

		if (!dck_record_metric(s->record, UNDISTURBED_METRIC))
			continue;
		DCK_TRY(saved_source_open(s->record, s->name, UNDISTURBED_METRIC, &s->undisturbed,
					  err));
		s->undisturbed.run_to_run = s->source.run_to_run;
	}
	return DCK_OK;
}

/* Makes items per second of the time of a run. */
static void rate_make(const saved_side *s, saved_value *v)
{
	const double items_ns = 1e9 * (double)saved_items(s->record);
	const double lo = v->lo;

	v->value = items_ns / v->value;
	v->lo = items_ns / v->hi;
	v->hi = items_ns / lo;
}

/* Returns false, with the reason in v->why, if it is not known. */
static bool value_without_others(const saved_comparison *c, const saved_side *s, double level,
				 saved_value *v)
{
	const bool beside = record_beside_others(s->record);

	*v = (saved_value){0};
	if (!conditions_has_counterpart(c->tag)) {
		snprintf(v->why, sizeof v->why, "undisturbed runs give only a median");
		return false;
	}
	if (s->undisturbed.metric)
		saved_source_value(&s->undisturbed, level, v);
	if (v->has_interval && strcmp(c->tag, ITEMS_METRIC) == 0)
		rate_make(s, v);
	if (!v->has_interval && !beside && strcmp(c->tag, "latency/mean") != 0)
		saved_source_value(&s->source, level, v);
	if (!v->has_interval && !v->why[0])
		snprintf(v->why, sizeof v->why, "which runs were undisturbed is not known");
	return v->has_interval;
}

static void interval_extend(double *lo, double *hi, double other_lo, double other_hi)
{
	*lo = fmin(*lo, other_lo);
	*hi = fmax(*hi, other_hi);
}

static void disturbed_extend(const saved_comparison *c, const saved_side *from, saved_side *s,
			     double level)
{
	const bool first = record_beside_others(from->record);
	saved_ratio *r = &s->ratio, alone;
	saved_value a, b;

	if (!others_move(&s->source) || (!first && !record_beside_others(s->record)))
		return;
	s->disturbed = true;
	if (!value_without_others(c, from, level, &a) || !value_without_others(c, s, level, &b)) {
		const saved_side *lacks = a.has_interval ? s : from;

		if (!record_beside_others(lacks->record))
			lacks = first ? from : s;
		r->lo = r->hi = r->difference_lo = r->difference_hi = NAN;
		snprintf(r->why, sizeof r->why,
			 "other programs used the processors while '%.60s' was measured, and %s",
			 lacks->name, a.has_interval ? b.why : a.why);
		return;
	}
	saved_ratio_find(&a, &b, c->def->better == DCK_BETTER_HIGHER, &alone);
	interval_extend(&r->lo, &r->hi, alone.lo, alone.hi);
	interval_extend(&r->difference_lo, &r->difference_hi, alone.difference_lo,
			alone.difference_hi);
}

double saved_core_latency(const saved_side *s)
{
	const dck_fact *f = dck_record_fact(s->record, "process", "core_latency");
	const double busy = dck_record_value(s->record, "cpu/ratio");

	return f && !(busy <= ONE_CORE) ? dck_value_number(&f->value) : NAN;
}

static void cores_extend(const saved_comparison *c, const saved_side *from, saved_side *s)
{
	const double a = saved_core_latency(from), b = saved_core_latency(s);
	const bool longer = b > a, higher = c->def->better == DCK_BETTER_HIGHER;
	const double most = longer ? b / a : a / b, base = from->value.value;
	saved_ratio *r = &s->ratio;

	if (!(fabs(b - a) > CORES_MOVED_NS) || !(a > 0) || !(b > 0) || isnan(r->lo))
		return;
	s->cores_moved = true;
	r->lo /= longer ? most : 1;
	r->hi *= longer ? 1 : most;
	interval_extend(&r->difference_lo, &r->difference_hi,
			base * ((higher ? 1 / r->hi : r->lo) - 1),
			base * ((higher ? 1 / r->lo : r->hi) - 1));
}

void saved_conditions_extend(const saved_comparison *c, const saved_side *from, saved_side *s,
			     double level)
{
	s->disturbed = s->cores_moved = false;
	if (isnan(s->ratio.lo) || c->pooled || c->asked->scaling || !conditions_of_runs(&s->source))
		return;
	disturbed_extend(c, from, s, level);
	cores_extend(c, from, s);
}
