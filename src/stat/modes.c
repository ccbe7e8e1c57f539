/* modes.c - do the runs fall into two groups?
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/autocorrelation.h"
#include "stat/stat.h"
#include <math.h>
#include <string.h>

#define MODES_RUNS_MIN 40
#define NOISE_MOST     10
/* Neither group is smaller. */
#define SHARE_MIN 0.1

static double spacing(const double *sorted, size_t at, size_t k)
{
	return sorted[at + k] - sorted[at - k];
}

/* Density from spacings: a valley is where 2k adjacent values are far apart. It counts if adjacent
 * values on both sides of it are much closer together. */
void stat_modes_find(const double *x, size_t n, double tick, double *scratch, stat_modes *ret)
{
	stat_modes r = {0};
	double *sorted = scratch, *right = scratch + n;
	const size_t edge = (size_t)ceil(SHARE_MIN * (double)n);
	double left = HUGE_VAL, best = 0, least = HUGE_VAL, tau, limit;
	size_t k, split = 0;

	if (n < MODES_RUNS_MIN) {
		*ret = r;
		return;
	}
	tau = stat_tau(x, n, scratch);
	memcpy(sorted, x, n * sizeof *x);
	stat_sort(sorted, n);
	k = edge / 2 < 5 ? 5 : edge / 2;
	/* On a coarse clock adjacent values are equal or a tick apart, which limits the sharpness
	 * of peaks. */
	for (size_t i = 0; i + 1 < n; i++)
		if (sorted[i + 1] > sorted[i])
			least = fmin(least, sorted[i + 1] - sorted[i]);
	/* Rounding makes distances that are shorter than the tick. */
	tick = fmax(tick, least);
	for (size_t i = n - k; i-- > k;)
		right[i] = fmin(spacing(sorted, i, k), i + 1 < n - k ? right[i + 1] : HUGE_VAL);
	for (size_t i = k; i + k < n; i++) {
		const double here = spacing(sorted, i, k);
		const double peak = fmax(fmax(left, right[i]), 2 * tick);

		if (i >= edge && i + edge < n && here > best * peak) {
			best = here / peak;
			split = i;
		}
		left = fmin(left, here);
	}
	/* The relative error of a density from 2k independent values is 1/sqrt(2k). */
	limit = 1 + NOISE_MOST * sqrt(fmin(tau, (double)k) / (2 * (double)k));
	if (best < fmax(2, limit)) {
		*ret = r;
		return;
	}
	/* The split is in the widest gap of the valley. */
	for (size_t i = split - k, at = split; i < at + k; i++)
		if (sorted[i + 1] - sorted[i] > sorted[split + 1] - sorted[split])
			split = i;
	r.two = true;
	r.share[0] = (double)(split + 1) / (double)n;
	r.share[1] = 1 - r.share[0];
	r.centre[0] = stat_quantile_sorted(sorted, split + 1, 0.5);
	r.centre[1] = stat_quantile_sorted(sorted + split + 1, n - split - 1, 0.5);
	*ret = r;
}
