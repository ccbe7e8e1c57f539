/* load_peak.c - chooses the next rate: doubling until a limit is violated, then bisection of the
 * ratio, as MLPerf LoadGen's search does; but a rate may be inconclusive, and then both sides of it
 * are searched: the highest rate that meets the limits, and the lowest that violates one.
 *
 * Both ends of the bracket are measured once more at the end. Assumption: a limit that is met at a
 * rate is met at every lower rate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_run.h"
#include <math.h>

#define REACH 64 /* rates from start / REACH to start * REACH * REACH */

void load_peak_init(load_peak *p, double start, double precision)
{
	*p = (load_peak){.start = start,
			 .least = start / REACH,
			 .most = start * REACH * REACH,
			 .precision = precision,
			 .open_lo = INFINITY,
			 .broken = INFINITY};
}

static bool peak_apart(const load_peak *p, double lo, double hi)
{
	return hi / lo > 1 + p->precision;
}

/* Returns the next rate for the lower end: above the rates that meet the limits, below all others.
 * 0: none. */
static double below_next(const load_peak *p)
{
	const double above = fmin(p->open_lo, p->broken);

	if (p->held == 0)
		return above / 2 >= p->least ? above / 2 : 0;
	if (isinf(above))
		return 2 * p->held <= p->most ? 2 * p->held : 0;
	return peak_apart(p, p->held, above) ? sqrt(p->held * above) : 0;
}

/* Returns the next rate for the upper end: above the open rates, below those that violate a limit.
 */
static double above_next(const load_peak *p)
{
	if (p->open_hi == 0)
		return 0;
	if (isinf(p->broken))
		return 2 * p->open_hi <= p->most ? 2 * p->open_hi : 0;
	return peak_apart(p, p->open_hi, p->broken) ? sqrt(p->open_hi * p->broken) : 0;
}

/* An end of the bracket that was measured once: a burst of another process may have violated the
 * limits there. The upper one first, since more is searched when it falls. */
static double again_next(const load_peak *p)
{
	const double ends[] = {p->broken, p->held};

	for (size_t e = 0; e < 2; e++)
		for (unsigned i = 0; i < p->points; i++)
			if (p->tried[i].rate == ends[e] && !p->tried[i].again)
				return ends[e];
	return 0;
}

bool load_peak_next(load_peak *p, double *ret_rate)
{
	double rate;

	if (p->taken >= LOAD_PEAK_POINTS)
		return false;
	if (p->points == 0) {
		*ret_rate = p->start;
		return true;
	}
	/* A violation is found sooner than a rate that meets the limits, and bounds the search. */
	rate = isinf(p->broken) ? above_next(p) : 0;
	if (rate == 0)
		rate = below_next(p);
	if (rate == 0)
		rate = above_next(p);
	if (rate == 0)
		rate = again_next(p);
	*ret_rate = rate;
	return rate > 0;
}

static void ends_find(load_peak *p)
{
	p->held = p->open_hi = 0;
	p->broken = p->open_lo = INFINITY;
	for (unsigned i = 0; i < p->points; i++) {
		if (p->tried[i].verdict == DCK_VERDICT_MET)
			p->held = fmax(p->held, p->tried[i].rate);
		if (p->tried[i].verdict == DCK_VERDICT_VIOLATED)
			p->broken = fmin(p->broken, p->tried[i].rate);
	}
	/* An open rate below one that is met, or above one that is violated, is decided by it. */
	for (unsigned i = 0; i < p->points; i++) {
		const double r = p->tried[i].rate;

		if (p->tried[i].verdict != DCK_VERDICT_INCONCLUSIVE || r <= p->held ||
		    r >= p->broken)
			continue;
		p->open_lo = fmin(p->open_lo, r);
		p->open_hi = fmax(p->open_hi, r);
	}
}

void load_peak_take(load_peak *p, double rate, dck_verdict v, bool leans_over)
{
	unsigned i = 0;

	if (p->taken >= LOAD_PEAK_POINTS)
		return;
	p->taken++;
	while (i < p->points && p->tried[i].rate != rate)
		i++;
	if (i == p->points) {
		p->tried[p->points].rate = rate;
		p->tried[p->points++].verdict = v;
	} else {
		/* The second measurement. Contradicting ones make the rate inconclusive. */
		const bool over =
		    v == DCK_VERDICT_VIOLATED || (v == DCK_VERDICT_INCONCLUSIVE && leans_over);

		p->tried[i].again = true;
		if (p->tried[i].verdict == DCK_VERDICT_VIOLATED ? !over : v == DCK_VERDICT_VIOLATED)
			p->tried[i].verdict = DCK_VERDICT_INCONCLUSIVE;
	}
	ends_find(p);
}
