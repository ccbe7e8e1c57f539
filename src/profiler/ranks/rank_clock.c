/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_clock.h"

#include <math.h>
#include <stdbool.h>

/* A round whose best round trip is longer than this number of times the least one of all met other
 * traffic, and does not count. */
#define TRIP_FACTOR 3
/* Below this span the rate of a clock, wrong by some 10 ppm, changes less than noise does. */
#define SPAN_LEAST_NS 2e9
enum { LINE_ROUNDS = 3 };

static double exchange_trip(const rank_exchange *e)
{
	return (double)((e->returned_ns - e->sent_ns) - (e->answered_ns - e->received_ns));
}

static double exchange_offset(const rank_exchange *e)
{
	return ((double)(e->received_ns - e->sent_ns) + (double)(e->answered_ns - e->returned_ns)) /
	       2;
}

static int64_t exchange_middle(const rank_exchange *e)
{
	return e->sent_ns + (e->returned_ns - e->sent_ns) / 2;
}

/* Returns whether e[i] is the best of its round, and short enough. */
static bool exchange_counts(const rank_exchange *e, size_t n, size_t i, double least)
{
	const double own = exchange_trip(&e[i]);

	if (!(own >= 0) || own > TRIP_FACTOR * least)
		return false;
	for (size_t k = i; k-- > 0 && e[k].round == e[i].round;)
		if (exchange_trip(&e[k]) <= own)
			return false;
	for (size_t k = i + 1; k < n && e[k].round == e[i].round; k++)
		if (exchange_trip(&e[k]) < own)
			return false;
	return true;
}

/* Weighted least squares through the counted offsets, relative to *ret's base and offset; weights
 * are of the round trips, which bound the errors. */
static void line_fit(const rank_exchange *e, size_t n, rank_clock *ret)
{
	double w = 0, x = 0, y = 0, xx = 0, xy = 0, first = INFINITY, last = -INFINITY;
	const double base = ret->offset_ns;

	for (size_t i = 0; i < n; i++) {
		if (!exchange_counts(e, n, i, ret->round_trip_ns))
			continue;
		const double trip = fmax(exchange_trip(&e[i]), 1), weight = 1 / (trip * trip);
		const double at = (double)(exchange_middle(&e[i]) - ret->base_ns);
		const double offset = exchange_offset(&e[i]) - base;

		ret->rounds++;
		w += weight;
		x += weight * at;
		y += weight * offset;
		first = fmin(first, at);
		last = fmax(last, at);
	}
	if (ret->rounds < LINE_ROUNDS || last - first < SPAN_LEAST_NS)
		return;
	for (size_t i = 0; i < n; i++) {
		if (!exchange_counts(e, n, i, ret->round_trip_ns))
			continue;
		const double trip = fmax(exchange_trip(&e[i]), 1), weight = 1 / (trip * trip);
		const double at = (double)(exchange_middle(&e[i]) - ret->base_ns) - x / w;

		xx += weight * at * at;
		xy += weight * at * (exchange_offset(&e[i]) - base - y / w);
	}
	ret->drift = xy / xx;
	ret->offset_ns = base + y / w - ret->drift * x / w;
}

void rank_clock_fit(const rank_exchange *e, size_t n, rank_clock *ret)
{
	size_t best = n;

	*ret = (rank_clock){.round_trip_ns = INFINITY, .within_ns = INFINITY};
	for (size_t i = 0; i < n; i++)
		if (exchange_trip(&e[i]) >= 0 && exchange_trip(&e[i]) < ret->round_trip_ns) {
			ret->round_trip_ns = exchange_trip(&e[i]);
			best = i;
		}
	if (best == n)
		return;
	ret->base_ns = exchange_middle(&e[best]);
	ret->offset_ns = exchange_offset(&e[best]);
	line_fit(e, n, ret);
	for (size_t i = 0; i < n; i++) {
		if (!exchange_counts(e, n, i, ret->round_trip_ns))
			continue;
		const double at = (double)(exchange_middle(&e[i]) - ret->base_ns);
		const double off = exchange_offset(&e[i]) - ret->offset_ns - ret->drift * at;

		ret->residual_ns = fmax(ret->residual_ns, fabs(off));
	}
	ret->within_ns = ret->residual_ns + ret->round_trip_ns / 2;
}

int64_t rank_clock_map(const rank_clock *c, int64_t ns)
{
	return ns + (int64_t)llround(c->offset_ns + c->drift * (double)(ns - c->base_ns));
}
