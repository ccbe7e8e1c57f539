/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/timeline/zone_histogram.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

enum { STEP = 32 }; /* classes that are taken at a time */

bool zone_histogram_reach(zone_histogram *h, uint32_t class)
{
	const uint32_t from = class - class % STEP, to = from + STEP;
	const uint32_t first = h->n && h->first < from ? h->first : from;
	const uint32_t end = h->n && h->first + h->n > to ? h->first + h->n : to;
	const uint64_t more = (end - first - (uint64_t)h->n) * sizeof *h->counts;

	if (h->failed)
		return false;
	uint64_t *counts =
	    more <= *h->cap ? mem_resize(h->counts, (end - first) * sizeof *counts) : NULL;
	if (!counts) {
		h->failed = true;
		return false;
	}
	*h->cap -= more;
	memmove(counts + (h->n ? h->first - first : 0), counts, h->n * sizeof *counts);
	if (h->n) {
		memset(counts, 0, (h->first - first) * sizeof *counts);
		memset(counts + (h->first - first) + h->n, 0,
		       (end - h->first - h->n) * sizeof *counts);
	} else {
		memset(counts, 0, (end - first) * sizeof *counts);
	}
	h->counts = counts;
	h->first = first;
	h->n = end - first;
	return true;
}

/* The middle of a class. */
static double histogram_middle(uint32_t class)
{
	if (class < ZONE_HISTOGRAM_EXACT)
		return class;
	const uint32_t above = class - ZONE_HISTOGRAM_EXACT;
	const double least = ZONE_HISTOGRAM_PARTS + above % ZONE_HISTOGRAM_PARTS;

	return ldexp(least + 0.5, (int)(above / ZONE_HISTOGRAM_PARTS) + 1);
}

/* Returns the order statistic of a rank, counted from 0. */
static double at_rank(const zone_histogram *h, uint64_t rank)
{
	uint32_t i = 0;

	while (i + 1 < h->n && rank >= h->counts[i])
		rank -= h->counts[i++];
	return histogram_middle(h->first + i);
}

bool zone_histogram_quantile(const zone_histogram *h, double p, double *ret_ns)
{
	uint64_t all = 0;

	for (uint32_t i = 0; i < h->n; i++)
		all += h->counts[i];
	if (h->failed || !all)
		return false;
	const double rank = p * (double)(all - 1), below = floor(rank);
	const double low = at_rank(h, (uint64_t)below), high = at_rank(h, (uint64_t)ceil(rank));
	*ret_ns = low + (rank - below) * (high - low);
	return true;
}

void zone_histogram_done(zone_histogram *h)
{
	if (h->counts)
		*h->cap += h->n * sizeof *h->counts;
	mem_free(h->counts);
	*h = (zone_histogram){.cap = h->cap};
}
