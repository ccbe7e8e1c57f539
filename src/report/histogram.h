/* histogram.h - histogram of the measured samples of a record. The bin width is a round number; a
 * long tail is cut off at Tukey's outer fence (three interquartile ranges beyond the quartiles) and
 * counted separately, because one run of a second would otherwise squeeze a thousand runs of a
 * millisecond into one bin. At most 5 % of the samples at each end are cut off, so that a second
 * mode stays visible.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_HISTOGRAM_H
#define REPORT_HISTOGRAM_H

#include "deepclock/record.h"

typedef struct bins_sorted {
	double *x; /* sorted, finite; @owned, mem_free() */
	size_t n;
} bins_sorted;

/* Returns whether it is "latency", or that of one of several processes. */
bool bins_is_latency(const dck_series *s);

/* Collects the measured runs of r, of all its processes. false: too few for a chart, or no memory;
 * the caller frees ret->x in any case. */
bool bins_samples(const dck_record *r, bins_sorted *ret);
bool bins_has(const dck_record *r); /* whether there are enough for a chart */
void bins_ends(const bins_sorted *s, double *ret_lo, double *ret_hi); /* range of the chart */

int bins_by_value(const void *a, const void *b); /* of two doubles, for qsort() */

enum { BINS_MAX = 128 };
typedef struct bins {
	double origin, width;
	size_t rows, count[BINS_MAX], most;
	size_t below, above; /* number of samples cut off */
} bins;

/* Fills about `wanted` bins. */
void bins_fill(const bins_sorted *s, size_t wanted, bins *b);

#endif
