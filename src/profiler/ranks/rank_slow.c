/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/ranks/rank_slow.h"

#include "base/err.h"
#include "base/mem.h"
#include "stat/stat.h"

#include <math.h>

/* Returns the median of n sorted values without the one at `out`. */
static double others_median(const double *sorted, size_t n, size_t out)
{
	const size_t lo = (n - 2) / 2, hi = (n - 1) / 2;

	return (sorted[lo + (lo >= out)] + sorted[hi + (hi >= out)]) / 2;
}

/* Returns the greatest k for which the k-th smallest of n values is above their distribution's
 * median with probability at most alpha; 0: none. */
static size_t sign_rank(size_t n, double alpha)
{
	size_t k = 0;

	while (k < n / 2 && stat_binomial_at_most((double)k, (double)n, 0.5) <= alpha)
		k++;
	return k;
}

dck_status rank_slow_find(const double *x, const size_t *member, size_t n, size_t rounds,
			  size_t tests, double alpha, double least, rank_ratio *ret, dck_err *err)
{
	double *ratio = mem_zalloc(n * rounds + n + 2 * rounds, sizeof *ratio);
	double *sorted = ratio + n * rounds, *own = sorted + n;

	DCK_NEED(ratio, err, "to compare %zu ranks", n);
	for (size_t r = 0; r < rounds; r++) {
		for (size_t i = 0; i < n; i++)
			sorted[i] = x[member[i] * rounds + r];
		stat_sort(sorted, n);
		for (size_t i = 0; i < n; i++) {
			const double value = x[member[i] * rounds + r];

			ratio[i * rounds + r] =
			    value / others_median(sorted, n, stat_count_below(sorted, n, value));
		}
	}
	const size_t k = sign_rank(rounds, alpha / 2 / (double)tests);
	for (size_t i = 0; i < n; i++) {
		double *of = ratio + i * rounds;

		stat_sort(of, rounds);
		ret[i].median_ns = stat_median(x + member[i] * rounds, rounds, own);
		ret[i].ratio = (of[(rounds - 1) / 2] + of[rounds / 2]) / 2;
		ret[i].lo = k ? of[k - 1] : NAN;
		ret[i].hi = k ? of[rounds - k] : NAN;
		ret[i].slow = ret[i].lo > least;
	}
	mem_free(ratio);
	return DCK_OK;
}
