/* profile_gain.c - what operators could gain at their roofs, and what is doubtful about that.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/profile/profile_gain.h"
#include "base/units.h"
#include "base/utf8.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>

static int by_gain(const profile_gain *a, const profile_gain *b)
{
	double x = a->ns - a->least_ns, y = b->ns - b->least_ns;

	return (x < y) - (x > y);
}

/* A roof that operators with much of the time beat or miss by this factor does not apply to them.
 */
#define FAR	  10
#define FAR_SHARE 0.1
/* Operators may beat their roofs by this share of a run in sum: times scatter. */
#define BEATEN_SHARE 0.01

static bool misses_far(const profile_gain *r)
{
	return r->ns > FAR * r->least_ns;
}

void profile_gain_worth(const profile_gains *g, record_builder *b)
{
	const profile_gain *best[3] = {NULL};
	char text[700] = "";
	size_t used = 0;

	for (size_t i = 0; i < g->n; i++) {
		const profile_gain *r = &g->of[i];
		/* A possible gain below a thousandth of the model's time is not reported. */
		if (isnan(r->least_ns) || misses_far(r) ||
		    r->ns - r->least_ns < g->latency_ns / 1000)
			continue;
		for (size_t k = 0; k < 3; k++)
			if (!best[k] || by_gain(r, best[k]) < 0) {
				for (size_t j = 2; j > k; j--)
					best[j] = best[j - 1];
				best[k] = r;
				break;
			}
	}
	for (size_t k = 0; k < 3 && best[k]; k++) {
		const profile_gain *r = best[k];
		int n = mem_print(
		    text + used, sizeof text - used,
		    "%s'%.*s' (%s) takes %.1f %% and its %s roof allows %.1f times its "
		    "speed: up to %.1f %% of the model",
		    k ? "; " : "", UTF8_NAME(r->name), r->type, 100 * r->ns / g->latency_ns,
		    r->bound, r->ns / r->least_ns, 100 * (r->ns - r->least_ns) / g->latency_ns);
		if (n > 0 && (size_t)n < sizeof text - used)
			used += (size_t)n;
	}
	if (used)
		record_note(b, "worth-optimising", "%s", text);
}

void profile_gain_far(const profile_gains *g, record_builder *b)
{
	const profile_gain *most[2] = {NULL}; /* that beat it, that miss it */
	double share[2] = {0};

	for (size_t i = 0; i < g->n; i++) {
		const profile_gain *r = &g->of[i];
		const bool misses = misses_far(r);
		/* What moves and computes nothing has no roof to miss. */
		if (!(r->least_ns > 0) || (!misses && FAR * r->ns >= r->least_ns))
			continue;
		share[misses] += r->ns / g->latency_ns;
		if (!most[misses] || r->ns > most[misses]->ns)
			most[misses] = r;
	}
	const bool misses = share[1] >= share[0];
	const profile_gain *r = most[misses];
	if (!r || share[misses] < FAR_SHARE)
		return;
	if (misses) {
		record_note(
		    b, "roofs-doubtful",
		    "operators that make up %.0f %% of the time take more than %d times what "
		    "their roof allows, '%.*s' (%s) %.0f times as long: the engine's overhead, "
		    "other programs or an implementation that computes more than the definition "
		    "may be the cause, or the measured limits are wrong",
		    100 * share[1], FAR, UTF8_NAME(r->name), r->type, r->ns / r->least_ns);
		record_remedy(b, "do not expect such a speed-up");
	} else {
		record_note(
		    b, "roofs-doubtful",
		    "operators that make up %.0f %% of the time are more than %d times as fast "
		    "as their roof allows, '%.*s' (%s) %.0f times: the limits are far too low",
		    100 * share[0], FAR, UTF8_NAME(r->name), r->type, r->least_ns / r->ns);
		record_remedy(
		    b, "measure them again on a quiet machine (deepclock machine --refresh)");
	}
}

double profile_gain_least(const profile_gains *g, const char **ret_why)
{
	double least = 0, beaten = 0;
	const profile_gain *most = NULL;

	for (size_t i = 0; i < g->n; i++) {
		const profile_gain *r = &g->of[i];
		const double over = r->least_ns - r->ns;
		least += over > 0 ? r->ns : r->least_ns;
		beaten += over > 0 ? over : 0;
		if (over > 0 && (!most || over > most->least_ns - most->ns))
			most = r;
	}
	*ret_why = g->no_roof ? mem_arena_fmt(g->arena, "an operator has no roof: %s", g->no_roof)
			      : "the cost of an operator is not known";
	if (isnan(least) || !(beaten > BEATEN_SHARE * g->latency_ns))
		return least;
	*ret_why = mem_arena_fmt(
	    g->arena,
	    "operators are faster than their roofs, '%.*s' (%s) takes %s where its roof is %s: "
	    "the limits are too low, or operators compute or move less than is counted",
	    UTF8_NAME(most->name), most->type, UNITS_TIME(most->ns), UNITS_TIME(most->least_ns));
	return NAN;
}
