/* steady.c - from which run on is the trace steady? docs/methods.md has the rule and its rates.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/depend.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCKS_MAX 64
#define TOLERANCE  0.01

static double median_of(const double *x, size_t n, double *scratch)
{
	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	return stat_quantile_sorted(scratch, n, 0.5);
}

/* White's MSER (1997) on medians of blocks: the cut that leaves the mean of the rest best known. */
static size_t cut_find(const double *y, size_t m)
{
	double sum = 0, squares = 0, best = HUGE_VAL;
	size_t cut = 0;

	for (size_t i = m; i-- > 0;) {
		const double v = y[i] - y[m - 1], k = (double)(m - i);
		double error;

		sum += v;
		squares += v * v;
		error = (squares - sum * sum / k) / (k * k);
		if (i <= m / 2 && error <= best) {
			best = error;
			cut = i;
		}
	}
	return cut;
}

void stat_steady_check(const double *x, size_t n, size_t min_steady, double *scratch,
		       stat_steady *ret)
{
	stat_steady s = {0};
	double y[BLOCKS_MAX], first, last;
	const size_t g = n / BLOCKS_MAX + 1, m = n / g, head = n - m * g;
	stat_drift drift;
	size_t cut, rest;

	if (n < min_steady || n < 8) {
		snprintf(s.evidence, sizeof s.evidence, "too few runs to tell");
		*ret = s;
		return;
	}
	for (size_t i = 0; i < m; i++)
		y[i] = median_of(x + head + i * g, g, scratch);
	cut = cut_find(y, m) * g;
	if (cut > 0)
		cut += head;
	rest = n - cut;
	first = median_of(x + cut, rest / 2, scratch);
	last = median_of(x + n - rest / 2, rest / 2, scratch);
	stat_drift_find(x + cut, rest, 0.8, scratch, &drift);
	s.change_ratio = drift.ratio;
	s.first = cut;
	if (rest >= min_steady && fabs(last / first - 1) <= TOLERANCE &&
	    (!drift.significant || fabs(drift.ratio) <= TOLERANCE)) {
		s.steady = true;
		snprintf(s.evidence, sizeof s.evidence,
			 "medians of the last two halves agree within %.2g %%",
			 100 * fabs(last / first - 1));
	} else {
		snprintf(s.evidence, sizeof s.evidence, "still %s %.2g %%",
			 drift.ratio < 0 ? "falling" : "rising", 100 * fabs(drift.ratio));
	}
	*ret = s;
}
