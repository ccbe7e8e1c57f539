/* drift.c - a straight line through the runs: does time change over the series?
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/autocorrelation.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define RUNS_MIN 8

/* Spikes count no more than the outer fences, so that a few of them make no line. */
static void drift_clip(const double *x, size_t n, double *scratch, double *ret_median)
{
	double q1, q3, lo, hi;

	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	q1 = stat_quantile_sorted(scratch, n, 0.25);
	q3 = stat_quantile_sorted(scratch, n, 0.75);
	*ret_median = stat_quantile_sorted(scratch, n, 0.5);
	lo = q1 - 1.5 * (q3 - q1);
	hi = q3 + 1.5 * (q3 - q1);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fmin(fmax(x[i], lo), hi);
}

void stat_drift_find(const double *x, size_t n, double level, double *scratch, stat_drift *ret)
{
	stat_drift r = {0};
	stat_autocorrelation d;
	double median, mean = 0, products = 0, squares = 0, slope, dof, half;
	const double middle = ((double)n - 1) / 2;
	double *y = scratch;

	if (n < RUNS_MIN) {
		*ret = r;
		return;
	}
	drift_clip(x, n, y, &median);
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
	r.ratio = slope * (double)n / median;
	r.lo = r.ratio - half / median;
	r.hi = r.ratio + half / median;
	r.significant = r.lo > 0 || r.hi < 0;
	*ret = r;
}
