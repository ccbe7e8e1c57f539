/* zone_stats.h - statistics of all calls of one name, in memory of a bounded size.
 *
 *	zone_stats_add(&z, 1200, 300, true);
 *	if (zone_stats_mean(&z, 0.95, &mean, &lo, &hi)) ...
 *
 * Successive calls are autocorrelated, so the interval of their mean uses batch means (Schmeiser,
 * Operations Research 30, 1982): 20 to 39 batches of adjacent calls, whose size doubles whenever
 * there are 40. Below 20 calls a batch is a call. Most names of a large trace have few calls, so
 * the batches have memory for 3 at first; without memory for more there is no interval.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_STATS_H
#define TIMELINE_ZONE_STATS_H

#include "profiler/timeline/zone_histogram.h"

enum { ZONE_BATCHES = 40, ZONE_BATCHES_ENOUGH = 10, ZONE_BATCHES_FIRST = 3 };

typedef struct zone_stats {
	uint64_t calls;	     /* ended calls */
	uint64_t unfinished; /* unfinished calls, included in total and self */
	/* total: with callees, without calls inside a call of the same name; self: without
	 * callees. */
	uint64_t total_ns, self_ns, sum_ns, min_ns, max_ns;
	uint64_t limit_ns,
	    over; /* how long a call may take, 0: as it likes; how many took longer */
	/* Time on devices of the work it enqueued, including callees of other names: by the
	 * device's kernels and copies, and by its zones, which enclose them. */
	uint64_t device_ns, device_zone_ns;
	double bytes;	   /* that it moved, of a device's range */
	bool self_unknown; /* self time of a call is unknown */
	bool wait;	   /* a wait, not work */
	uint16_t nbatches, batches_cap;
	uint64_t batch_calls;	      /* calls in a batch */
	uint64_t open_calls, open_ns; /* the incomplete batch */
	double *batch_ns;	      /* @owned, zone_stats_done(); sums */
	zone_histogram *histogram;    /* @owned by zone_aggregate.h; NULL: not requested */
} zone_stats;

/* The sums of the earlier pieces of a call (zone_aggregate.h). */
typedef struct zone_pieces {
	uint64_t took_ns, self_ns, total_ns;
} zone_pieces;

/* The self_ns of a range that any thread may end, whose children are unknown. */
#define ZONE_SELF_UNKNOWN UINT64_MAX

/* Sums end here, 292 years: it stands for any more. */
#define ZONE_SUM_MAX ((uint64_t)INT64_MAX)

static inline uint64_t zone_sum(uint64_t a, uint64_t b)
{
	const uint64_t sum = a + b;

	return sum < a || sum > ZONE_SUM_MAX ? ZONE_SUM_MAX : sum;
}

void zone_stats_close_batch(zone_stats *z); /* zone_stats_add() calls it */
void zone_stats_done(zone_stats *z);

static inline void zone_stats_add_time(zone_stats *z, uint64_t ns, uint64_t self_ns, bool outermost)
{
	z->total_ns = zone_sum(z->total_ns, outermost ? ns : 0);
	if (self_ns == ZONE_SELF_UNKNOWN)
		z->self_unknown = true;
	else
		z->self_ns = zone_sum(z->self_ns, self_ns);
}

/* The time of devices: that of the work itself if it is known, so that a zone around it does not
 * count it twice. */
static inline uint64_t zone_stats_device_ns(const zone_stats *z)
{
	return z->device_ns ? z->device_ns : z->device_zone_ns;
}

/* Adds an ended call; *z is {0} at first. */
static inline void zone_stats_add(zone_stats *z, uint64_t ns, uint64_t self_ns, bool outermost)
{
	zone_stats_add_time(z, ns, self_ns, outermost);
	if (!z->calls++) {
		z->batch_calls = 1;
		z->min_ns = ns;
	}
	z->sum_ns = zone_sum(z->sum_ns, ns);
	if (ns < z->min_ns)
		z->min_ns = ns;
	if (ns > z->max_ns)
		z->max_ns = ns;
	z->over += ns > z->limit_ns - 1; /* never, where it is 0 */
	if (z->histogram)
		zone_histogram_add(z->histogram, ns);
	z->open_ns += ns;
	if (++z->open_calls == z->batch_calls)
		zone_stats_close_batch(z);
}

static inline void zone_stats_add_unfinished(zone_stats *z, uint64_t ns, uint64_t self_ns,
					     bool outermost)
{
	zone_stats_add_time(z, ns, self_ns, outermost);
	z->unfinished++;
}

/* Adds a call of several pieces, whose last piece is in the other arguments. */
void zone_stats_add_pieces(zone_stats *z, const zone_pieces *p, uint64_t ns, uint64_t self_ns,
			   bool outermost, bool finished);
/* Computes the mean of all ended calls; false: too few for an interval. */
bool zone_stats_mean(const zone_stats *z, double level, double *ret_mean, double *ret_lo,
		     double *ret_hi);

#endif
