/* zone_histogram.h - log-linear histogram of the durations of one name: bins 1/128 of their value
 * wide (as in HdrHistogram, and exact below 256 ns). Its memory depends on the range of the values,
 * not on their number.
 *
 *	zone_histogram h = {.room = &bytes_left};
 *
 *	zone_histogram_add(&h, 1200);
 *	zone_histogram_quantile(&h, 0.99, &ns) ...
 *	zone_histogram_done(&h);
 *
 * A quantile is within 0.4 % of the exact one: half a class.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_HISTOGRAM_H
#define TIMELINE_ZONE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ZONE_HISTOGRAM_EXACT = 256, /* classes of one nanosecond */
	ZONE_HISTOGRAM_PARTS = 128, /* classes per doubling above */
};

typedef struct zone_histogram {
	uint64_t *counts; /* @owned: of the classes first to first + n - 1 */
	uint32_t first, n;
	uint64_t *cap; /* bytes left for all histograms together */
	bool failed;   /* no bytes left, or no memory */
} zone_histogram;      /* initialise to {.cap} */

/* Returns the class of a time. */
static inline uint32_t zone_histogram_class(uint64_t ns)
{
	if (ns < ZONE_HISTOGRAM_EXACT)
		return (uint32_t)ns;
	const uint32_t doubling = 63 - (uint32_t)__builtin_clzll(ns); /* 8 to 63 */

	return ZONE_HISTOGRAM_EXACT + (doubling - 8) * ZONE_HISTOGRAM_PARTS +
	       (uint32_t)(ns >> (doubling - 7) & (ZONE_HISTOGRAM_PARTS - 1));
}

/* Extends counts to a class; false: no bytes left. */
bool zone_histogram_reach(zone_histogram *h, uint32_t class);

static inline void zone_histogram_add(zone_histogram *h, uint64_t ns)
{
	const uint32_t class = zone_histogram_class(ns);

	if (class - h->first < h->n || zone_histogram_reach(h, class))
		h->counts[class - h->first]++;
}

/* Computes the quantile of all added values, 0 <= p <= 1, with linear interpolation (Hyndman and
 * Fan's type 7, as elsewhere). false: some values were lost, or there are none. */
bool zone_histogram_quantile(const zone_histogram *h, double p, double *ret_ns);
void zone_histogram_done(zone_histogram *h);

#endif
