/* SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_overload.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>

#define OVERLOAD_REQUESTS 30
#define OVERLOAD_RATIO	  3 /* over the root of n: more than by chance */
#define OVERLOAD_FASTEST  2 /* the arrivals take at least so many of the fastest answers */

/* Returns the time in which the middle 80 % of sorted times lie. */
static double middle_span(const double *sorted, size_t n)
{
	return stat_quantile_sorted(sorted, n, 0.9) - stat_quantile_sorted(sorted, n, 0.1);
}

/* Returns whether 90 % of the last third of the times are above the median of the first third. */
static bool times_rise(double *x, size_t n)
{
	double *last = x + n - n / 3;

	stat_sort(x, n / 3);
	stat_sort(last, n / 3);
	return stat_quantile_sorted(last, n / 3, 0.1) > stat_quantile_sorted(x, n / 3, 0.5);
}

double load_overload(double *begin, double *end, size_t n, double *work)
{
	double fastest = INFINITY, answers;

	if (n < OVERLOAD_REQUESTS)
		return 0;
	for (size_t i = 0; i < n; i++) {
		work[i] = end[i] - begin[i];
		fastest = fmin(fastest, work[i]);
	}
	stat_sort(end, n);
	answers = middle_span(end, n);
	if (begin[n - 1] - begin[0] < OVERLOAD_FASTEST * fastest ||
	    answers < (1 + OVERLOAD_RATIO / sqrt((double)n)) * middle_span(begin, n) ||
	    !times_rise(work, n))
		return 0;
	return 0.8 * (double)(n - 1) * 1e9 / answers;
}
