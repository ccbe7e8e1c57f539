/* outlier.c - Tukey's fences (1977): labels, nothing is dropped.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <string.h>

#define OUTLIER_RUNS_MIN 8

void stat_outliers_find(const double *x, size_t n, double *scratch, stat_outliers *ret)
{
	stat_outliers o = {0};
	double q1, q3, range;

	if (n < OUTLIER_RUNS_MIN) {
		*ret = o;
		return;
	}
	memcpy(scratch, x, n * sizeof *x);
	stat_sort(scratch, n);
	q1 = stat_quantile_sorted(scratch, n, 0.25);
	q3 = stat_quantile_sorted(scratch, n, 0.75);
	range = q3 - q1;
	o.low_fence = q1 - 1.5 * range;
	o.high_fence = q3 + 1.5 * range;
	if (!(range > 0)) {
		/* Half of the runs are equal: anything else would be an outlier. */
		*ret = o;
		return;
	}
	o.valid = true;
	for (size_t i = 0; i < n; i++) {
		if (x[i] < q1 - 3 * range)
			o.low_severe++;
		else if (x[i] < o.low_fence)
			o.low_mild++;
		else if (x[i] > q3 + 3 * range)
			o.high_severe++;
		else if (x[i] > o.high_fence)
			o.high_mild++;
	}
	*ret = o;
}
