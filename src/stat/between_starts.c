/* between_starts.c - the median of a few starts, with the interval of the sign test: the r-th
 * smallest and the r-th largest of k values hold the median of whatever distribution they come from
 * unless at least k - r + 1 of them are on one side of it (Thompson 1936, Ann. Math. Stat. 7;
 * David and Nagaraja, Order Statistics, 3rd ed., 7.1). A percentile for which a start has too few
 * runs is computed from all runs, with an interval on the share of runs below (Woodruff 1952, JASA
 * 47): t times the error of that share between starts, and at least that of as many independent
 * runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include "stat/stat.h"
#include "base/decimal.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Beyond these a start differs from the others: a modified z-score of 3.5 (Iglewicz and Hoaglin
 * 1993, How to Detect and Handle Outliers), where 0.6745 makes the median absolute deviation that
 * of a normal distribution, and a tenth of the median, below which a difference does not matter. */
#define SLOW_SCORE (3.5 / 0.6745)
#define SLOW_RATIO 1.1
#define SLOW_LEAST 4 /* of three starts two may be the slow ones */
/* With 3.5 / 0.6745 a property that has nothing to do with one slow start of six would be apart in
 * 8 % (normal) to 13 % (lognormal), with this in 0.8 to 3 %: test_stat_starts. */
#define DIFFER_DEVIATIONS 20

/* Returns the median absolute deviation. */
static double median_deviation(const double *x, size_t n, double median, double *scratch)
{
	double *const distance = scratch + n;

	for (size_t i = 0; i < n; i++)
		distance[i] = fabs(x[i] - median);
	return stat_median(distance, n, scratch);
}

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
		mem_print(e.how, sizeof e.how,
			  "median of %zu starts, smallest and largest; %g %% needs %llu starts", k,
			  100 * level, (unsigned long long)e.n_needed);
	} else if (r == 1) {
		snprintf(e.how, sizeof e.how, "median of %zu starts, smallest and largest", k);
	} else {
		snprintf(e.how, sizeof e.how, "median of %zu starts, %zu from either end", k, r);
	}
	*ret = e;
}

size_t stat_starts_scratch(const stat_start *starts, size_t k)
{
	size_t all = 0, most = 0;

	for (size_t i = 0; i < k; i++) {
		all += starts[i].n;
		most = starts[i].n > most ? starts[i].n : most;
	}
	return all + stat_scratch(most);
}

static double share_below(const stat_start *s, double value)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->x[i] <= value;
	return s->n > 0 ? (double)n / (double)s->n : 0;
}

void stat_starts_quantile(double p, const stat_start *starts, size_t k, double level,
			  double *scratch, stat_estimate *ret)
{
	stat_estimate e = {.level = stat_starts_level(k, level)}, own;
	double *const sorted = scratch, clusters = 0, half;
	size_t n = 0;

	for (size_t i = 0; i < k; i++) {
		memcpy(sorted + n, starts[i].x, starts[i].n * sizeof *sorted);
		n += starts[i].n;
	}
	for (size_t i = 0; i < k; i++) {
		stat_estimate_quantile(p, starts[i].x, starts[i].n, level, scratch + n, &own);
		e.n_eff += own.n_eff;
	}
	e.n_eff_lower = e.n_eff;
	if (n == 0 || e.n_eff < stat_quantile_runs(p, level)) {
		char want[NUM_TEXT_MAX], have[NUM_TEXT_MAX];

		mem_print(e.why, sizeof e.why,
			  "%.4g %% needs %.30s independent runs, there %s %.30s in %zu starts",
			  100 * p, decimal_grouped(want, 0, stat_quantile_runs(p, level)),
			  floor(e.n_eff) == 1 ? "is" : "are",
			  decimal_grouped(have, 0, floor(e.n_eff)), k);
		*ret = e;
		return;
	}
	stat_sort(sorted, n);
	e.present = true;
	e.value = stat_quantile_sorted(sorted, n, p);
	for (size_t i = 0; i < k; i++) {
		const double weight = (double)starts[i].n / (double)n,
			     apart = weight * (share_below(&starts[i], e.value) - p);

		clusters += apart * apart;
	}
	clusters *= (double)k / ((double)k - 1);
	half = stat_t_quantile(0.5 + e.level / 2, (double)k - 1) *
	       sqrt(fmax(clusters, p * (1 - p) / e.n_eff));
	e.has_interval = k > 1 && p + half <= 1 && p - half >= 0;
	if (e.has_interval) {
		e.lo = stat_quantile_sorted(sorted, n, p - half);
		e.hi = stat_quantile_sorted(sorted, n, p + half);
	} else {
		snprintf(e.why, sizeof e.why, "%zu starts are too few for its interval", k);
	}
	snprintf(e.how, sizeof e.how, "of the runs of all %zu starts, each start a cluster", k);
	*ret = e;
}

void stat_starts_slow(const double *values, size_t k, double *scratch, stat_slow_starts *ret)
{
	stat_slow_starts slow = {.above = INFINITY};
	double median;

	*ret = slow;
	if (k < SLOW_LEAST)
		return;
	median = stat_median(values, k, scratch);
	slow.above = fmax(SLOW_RATIO * median,
			  median + SLOW_SCORE * median_deviation(values, k, median, scratch));
	for (size_t i = 0; i < k; i++)
		if (values[i] > slow.above) {
			slow.n++;
			slow.ratio += values[i] / median;
		}
	slow.ratio /= slow.n > 0 ? (double)slow.n : 1;
	*ret = slow;
}

bool stat_starts_differ(const double *x, const double *values, size_t k, double above, double least,
			double *scratch, stat_starts_property *ret)
{
	double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY}, median[2], by;
	size_t n = 0;

	for (size_t slow = 0; slow < 2; slow++) {
		n = 0;
		for (size_t i = 0; i < k; i++)
			if ((values[i] > above) == (slow == 0)) {
				if (isnan(x[i]))
					return false;
				low[slow] = fmin(low[slow], x[i]);
				high[slow] = fmax(high[slow], x[i]);
				scratch[n++] = x[i];
			}
		if (n == 0)
			return false;
		median[slow] = stat_median(scratch, n, scratch + n);
	}
	/* scratch has the n others. */
	by = DIFFER_DEVIATIONS * median_deviation(scratch, n, median[1], scratch + n);
	by = fmax(by, (SLOW_RATIO - 1) * fmax(fabs(median[0]), fabs(median[1])));
	*ret = (stat_starts_property){median[0], median[1]};
	return n + 1 >= SLOW_LEAST && (low[0] > high[1] || high[0] < low[1]) &&
	       fabs(median[0] - median[1]) > fmax(by, least);
}
