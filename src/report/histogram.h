/* histogram.h - the measured samples of a record, binned for the eye. Bins are as wide as a round
 * number; a long tail is cut off at Tukey's outer fence (three times the quartiles' distance beyond
 * them) and counted apart, since one run of a second would else squeeze a thousand of a millisecond
 * into one bin. Never more than 5 % of the samples at an end are cut off, so that a second group
 * stays in sight.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_BINS_H
#define REPORT_BINS_H

#include "deepclock/record.h"

typedef struct bins_sorted {
	double *x; /* sorted, finite; @owned, mem_free() */
	size_t n;
} bins_sorted;

/* The runs of r that were measured, of all its processes. false: too few for a picture, or no
 * memory; ret->x is to be freed in any case. */
bool bins_samples(const dck_record *r, bins_sorted *ret);
void bins_ends(const bins_sorted *s, double *ret_lo, double *ret_hi); /* of the picture */

enum { BINS_MAX = 128 };
typedef struct bins {
	double origin, width;
	size_t rows, count[BINS_MAX], most;
	size_t below, above; /* how many samples were cut off */
} bins;

/* About as many bins as wanted. */
void bins_fill(const bins_sorted *s, size_t wanted, bins *b);

#endif
