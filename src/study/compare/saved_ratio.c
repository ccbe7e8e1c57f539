/* saved_ratio.c - the ratio of two independent estimates.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/saved.h"
#include <math.h>
#include <stdio.h>

double saved_square_add(double x, double y, double z)
{
	return sqrt(x * x + y * y + z * z);
}

/* Computes the ratio of exact values; values that are not above 0 are special cases. */
static void exact_find(double from, double to, saved_ratio *r)
{
	r->exact = true;
	if (from > 0 && to > 0) {
		r->known = true;
		r->value = r->lo = r->hi = to / from;
		return;
	}
	if (from < 0 || to < 0) {
		snprintf(r->why, sizeof r->why, "a value below 0 has no ratio");
		return;
	}
	snprintf(r->why, sizeof r->why,
		 from > 0 || to > 0 ? "one value is 0" : "both values are 0");
	r->lo = r->hi = to > 0 ? (double)INFINITY : from > 0 ? 0 : 1;
}

static void ratio_interval_find(const saved_value *from, const saved_value *to, saved_ratio *r)
{
	const double below =
	    saved_square_add(log(to->value / to->lo), log(from->hi / from->value), 0);
	const double above =
	    saved_square_add(log(to->hi / to->value), log(from->value / from->lo), 0);

	r->lo = r->value * exp(-below);
	r->hi = r->value * exp(above);
}

static void difference_find(const saved_value *a, const saved_value *b, saved_ratio *r)
{
	r->difference = b->value - a->value;
	r->difference_lo = r->difference_hi = a->exact && b->exact ? r->difference : (double)NAN;
	if (!a->has_interval || !b->has_interval)
		return;
	r->difference_lo = r->difference - saved_square_add(b->value - b->lo, a->hi - a->value, 0);
	r->difference_hi = r->difference + saved_square_add(b->hi - b->value, a->value - a->lo, 0);
}

void saved_ratio_find(const saved_value *a, const saved_value *b, bool higher_is_better,
		      saved_ratio *ret)
{
	const saved_value *from = higher_is_better ? b : a, *to = higher_is_better ? a : b;
	saved_ratio r = {
	    .lo = NAN, .hi = NAN, .difference = NAN, .difference_lo = NAN, .difference_hi = NAN};

	if (!a->known || !b->known) {
		snprintf(r.why, sizeof r.why, "of the %s: %s", a->known ? "second" : "first",
			 a->known ? b->why : a->why);
		*ret = r;
		return;
	}
	difference_find(a, b, &r);
	if (a->exact && b->exact) {
		exact_find(from->value, to->value, &r);
	} else if (!(from->value > 0) || !(to->value > 0)) {
		snprintf(r.why, sizeof r.why, "a value that is not above 0 has no ratio");
	} else {
		r.known = true;
		r.value = to->value / from->value;
		if (a->has_interval && b->has_interval && a->lo > 0 && b->lo > 0)
			ratio_interval_find(from, to, &r);
		else
			snprintf(r.why, sizeof r.why, "%s",
				 !a->has_interval   ? a->why
				 : !b->has_interval ? b->why
						    : "an interval reaches down to 0");
		/* A quotient of doubles may leave their range. */
		if (!isfinite(r.value) || !(r.value > 0)) {
			r.known = false;
			r.lo = r.hi = NAN;
			snprintf(r.why, sizeof r.why, "the ratio is not a finite number");
		}
	}
	*ret = r;
}
