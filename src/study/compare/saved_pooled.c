/* saved_pooled.c - compares one record with all records before it, pooled. The scatter of
 * those shows how much recordings of the same subject differ on this machine. No single record can
 * show this.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include "stat/dist.h"
#include <math.h>
#include <stdio.h>

static bool all_positive(const saved_comparison *c, saved_ratio *r)
{
	for (size_t i = 0; i < c->n; i++) {
		const saved_value *v = &c->sides[i].value;

		if (v->known && v->value > 0)
			continue;
		snprintf(r->why, sizeof r->why, "of '%.60s': %.130s", c->sides[i].name,
			 v->known ? "a value that is not above 0 has no ratio" : v->why);
		return false;
	}
	return true;
}

/* Returns the half-width of the record's own interval on the logarithm. 0: none. */
static double own_half(const saved_value *v)
{
	return v->has_interval && v->lo > 0 && v->hi >= v->lo ? log(v->hi / v->lo) / 2 : 0;
}

/* The interval of one more value of a normal population of which n are known: Student's t with n -
 * 1 degrees of freedom times s sqrt(1 + 1/n) (Hahn and Meeker, Statistical Intervals, 1991), on
 * logarithms. It is at least as wide as the new record's own interval. */
void saved_pooled_judge(saved_comparison *c)
{
	const double level = c->asked->level, n = (double)c->first;
	const bool higher = c->def->better == DCK_BETTER_HIGHER;
	const saved_value *one = &c->sides[0].value;
	saved_side *last = &c->sides[c->first];
	saved_ratio r = {
	    .lo = NAN, .hi = NAN, .difference = NAN, .difference_lo = NAN, .difference_hi = NAN};
	saved_value *pool = &c->pool.value;
	double centre = 0, squares = 0, t, half;
	bool exact = true; /* and equal before the last */

	for (size_t i = 0; i < c->n; i++) {
		saved_source_value(&c->sides[i].source, level, &c->sides[i].value);
		c->sides[i].level = level;
		exact &= c->sides[i].value.exact &&
			 (i == c->first || c->sides[i].value.value == one->value);
	}
	c->pool.level = level;
	if (exact) {
		*pool = *one;
		saved_ratio_find(pool, &last->value, higher, &last->ratio);
		return;
	}
	if (!all_positive(c, &r)) {
		last->ratio = r;
		snprintf(pool->why, sizeof pool->why, "%.190s", r.why);
		return;
	}
	for (size_t i = 0; i < c->first; i++)
		centre += log(c->sides[i].value.value) / n;
	for (size_t i = 0; i < c->first; i++)
		squares += pow(log(c->sides[i].value.value) - centre, 2);
	c->scatter = sqrt(squares / (n - 1));
	t = stat_t_quantile(0.5 + level / 2, n - 1);
	half = fmax(t * c->scatter * sqrt(1 + 1 / n), own_half(&last->value));
	*pool = (saved_value){.known = true, .value = exp(centre), .has_interval = true};
	pool->lo = exp(centre - t * c->scatter / sqrt(n));
	pool->hi = exp(centre + t * c->scatter / sqrt(n));
	r.known = true;
	r.value = exp((higher ? -1 : 1) * (log(last->value.value) - centre));
	r.lo = r.value * exp(-half);
	r.hi = r.value * exp(half);
	r.difference = last->value.value - pool->value;
	r.difference_lo = pool->value * ((higher ? 1 / r.hi : r.lo) - 1);
	r.difference_hi = pool->value * ((higher ? 1 / r.lo : r.hi) - 1);
	last->ratio = r;
}
