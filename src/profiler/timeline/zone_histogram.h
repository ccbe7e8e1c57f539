/* zone_histogram.h - how long the calls of one name took, counted in classes that are 1/128 of
 * their value wide (as those of HdrHistogram, and exact below 256 ns), in memory that depends on
 * how far they spread, never on how many there are.
 *
 *	zone_histogram h = {.room = &bytes_left};
 *
 *	zone_histogram_add(&h, 1200);
 *	zone_histogram_quantile(&h, 0.99, &ns) ...
 *	zone_histogram_done(&h);
 *
 * A quantile is within 0.4 % of the one of all calls: half a class.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_HISTOGRAM_H
#define TIMELINE_ZONE_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

enum {
	ZONE_HISTOGRAM_EXACT = 256, /* classes of one nanosecond */
	ZONE_HISTOGRAM_PARTS = 128, /* classes of each doubling from there on */
};

typedef struct zone_histogram {
	uint64_t *counts; /* @owned: of the classes first to first + n - 1 */
	uint32_t first, n;
	uint64_t *room; /* bytes that may still be taken, by all of them together */
	bool failed;	/* there was no room, or no memory */
} zone_histogram;	/* {.room} at first */

/* The class of a time. */
static inline uint32_t zone_histogram_class(uint64_t ns)
{
	if (ns < ZONE_HISTOGRAM_EXACT)
		return (uint32_t)ns;
	const uint32_t doubling = 63 - (uint32_t)__builtin_clzll(ns); /* 8 to 63 */

	return ZONE_HISTOGRAM_EXACT + (doubling - 8) * ZONE_HISTOGRAM_PARTS +
	       (uint32_t)(ns >> (doubling - 7) & (ZONE_HISTOGRAM_PARTS - 1));
}

/* Makes room for a class; false: there is none. */
bool zone_histogram_reach(zone_histogram *h, uint32_t class);

static inline void zone_histogram_add(zone_histogram *h, uint64_t ns)
{
	const uint32_t class = zone_histogram_class(ns);

	if (class - h->first < h->n || zone_histogram_reach(h, class))
		h->counts[class - h->first]++;
}

/* Of all that were added, 0 <= p <= 1, linear between neighbours (Hyndman and Fan's type 7, as
 * elsewhere). false: some found no room, or there is none. */
bool zone_histogram_quantile(const zone_histogram *h, double p, double *ret_ns);
void zone_histogram_done(zone_histogram *h);

#endif
