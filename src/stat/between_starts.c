/* between_starts.c - the median of a few starts, with the interval of the sign test: the r-th
 * smallest and the r-th largest of k values hold the median of whatever distribution they come from
 * unless at least k - r + 1 of them are on one side of it (Thompson 1936, Ann. Math. Stat. 7;
 * David and Nagaraja, Order Statistics, 3rd ed., 7.1).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>

/* Beyond these a start differs from the others: a modified z-score of 3.5 (Iglewicz and Hoaglin
 * 1993, How to Detect and Handle Outliers), where 0.6745 makes the median absolute deviation that
 * of a normal distribution, and a tenth of the median, below which nobody needs to know. */
#define SLOW_SCORE (3.5 / 0.6745)
#define SLOW_RATIO 1.1
#define SLOW_LEAST 4 /* of three starts two may be the slow ones */

/* The probability that the r-th smallest and the r-th largest of k hold the median. */
static double cover(size_t k, size_t r)
{
	return 1 - 2 * stat_binomial_at_most((double)r - 1, (double)k, 0.5);
}

/* Returns the rank of the narrowest interval of that level; 1 if none has it. */
static size_t rank_at(size_t k, double level)
{
	size_t r = 1;

	while (2 * (r + 1) <= k && cover(k, r + 1) >= level)
		r++;
	return r;
}

double stat_starts_level(size_t k, double level)
{
	return k < 2 ? level : cover(k, rank_at(k, level));
}

void stat_starts(double *values, size_t k, double level, stat_estimate *ret)
{
	stat_estimate e = {.level = level, .n_eff = (double)k, .n_eff_lower = (double)k};
	const size_t r = rank_at(k, level);

	if (k < 2) {
		stat_processes(values, k, level, ret);
		return;
	}
	stat_sort(values, k);
	e.present = e.has_interval = true;
	e.value = stat_quantile_sorted(values, k, 0.5);
	e.lo = values[r - 1];
	e.hi = values[k - r];
	e.level = cover(k, r);
	if (e.level < level) {
		e.n_needed = (uint64_t)ceil(1 - log2(1 - level));
		snprintf(e.how, sizeof e.how,
			 "median of %zu starts, smallest and largest; %g %% needs %llu starts", k,
			 100 * level, (unsigned long long)e.n_needed);
	} else if (r == 1) {
		snprintf(e.how, sizeof e.how, "median of %zu starts, smallest and largest", k);
	} else {
		snprintf(e.how, sizeof e.how, "median of %zu starts, %zu from either end", k, r);
	}
	*ret = e;
}

void stat_starts_slow(const double *values, size_t k, double *scratch, stat_slow_starts *ret)
{
	double *const distance = scratch + k;
	stat_slow_starts slow = {.above = INFINITY};
	double median;

	*ret = slow;
	if (k < SLOW_LEAST)
		return;
	median = stat_median(values, k, scratch);
	for (size_t i = 0; i < k; i++)
		distance[i] = fabs(values[i] - median);
	slow.above =
	    fmax(SLOW_RATIO * median, median + SLOW_SCORE * stat_median(distance, k, scratch));
	for (size_t i = 0; i < k; i++)
		if (values[i] > slow.above) {
			slow.n++;
			slow.ratio += values[i] / median;
		}
	slow.ratio /= slow.n > 0 ? (double)slow.n : 1;
	*ret = slow;
}
