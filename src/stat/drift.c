/* drift.c - a straight line through the runs: does time change over the series?
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/autocorrelation.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define DRIFT_RUNS_MIN 8

typedef struct drift_range {
	double median, low, high; /* low and high: of the clipped runs */
} drift_range;

/* Spikes count no more than the outer fences, so that a few of them make no line. */
static void drift_clip(const double *x, size_t n, double *scratch, drift_range *ret)
{
	double q1, q3, lo, hi;

	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	q1 = stat_quantile_sorted(scratch, n, 0.25);
	q3 = stat_quantile_sorted(scratch, n, 0.75);
	lo = q1 - 1.5 * (q3 - q1);
	hi = q3 + 1.5 * (q3 - q1);
	ret->median = stat_quantile_sorted(scratch, n, 0.5);
	ret->low = fmax(scratch[0], lo);
	ret->high = fmin(scratch[n - 1], hi);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fmin(fmax(x[i], lo), hi);
}

/* Returns by how much a line with this change differs at its end from its start. Where the runs are
 * on a curve, the line leaves them, even to below 0: it is cut off at their range. */
static double drift_since_start(double mean, double change, const drift_range *of)
{
	const double start = fmin(fmax(mean - change / 2, of->low), of->high),
		     end = fmin(fmax(mean + change / 2, of->low), of->high);

	return end / start - 1;
}

void stat_drift_find(const double *x, size_t n, double level, double *scratch, stat_drift *ret)
{
	stat_drift r = {0};
	stat_autocorrelation d;
	drift_range of;
	double median, mean = 0, products = 0, squares = 0, slope, change, dof, half;
	const double middle = ((double)n - 1) / 2;
	double *y = scratch;

	if (n < DRIFT_RUNS_MIN) {
		*ret = r;
		return;
	}
	drift_clip(x, n, y, &of);
	median = of.median;
	for (size_t i = 0; i < n; i++)
		mean += (y[i] - median) / (double)n;
	mean += median;
	for (size_t i = 0; i < n; i++) {
		const double t = (double)i - middle;

		products += t * (y[i] - mean);
		squares += t * t;
	}
	slope = products / squares;
	for (size_t i = 0; i < n; i++)
		y[i] -= mean + slope * ((double)i - middle);
	stat_autocorrelation_find(y, n, NULL, NULL, false, scratch + n, &d);
	if (!(median > 0)) {
		*ret = r;
		return;
	}
	dof = fmax(2, fmin(d.dof, (double)n / d.tau - 2));
	half = stat_t_quantile(0.5 + level / 2, dof) * sqrt(d.long_run / squares) * (double)n;
	change = slope * (double)n;
	r.ratio = change / median;
	r.lo = r.ratio - half / median;
	r.hi = r.ratio + half / median;
	r.of_start = drift_since_start(mean, change, &of);
	r.of_start_lo = drift_since_start(mean, change - half, &of);
	r.of_start_hi = drift_since_start(mean, change + half, &of);
	r.significant = r.lo > 0 || r.hi < 0;
	*ret = r;
}
