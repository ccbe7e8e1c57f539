/* undisturbed.c - the median of the runs in which no thread waited for a processor.
 *
 * The longer a run, the more probable is a disturbance in it, so short runs are over-represented
 * among the undisturbed ones. Disturbances are modelled as a Poisson process with rate r per time
 * of own work: a run of length d is undisturbed with probability exp(-r d). Whether each run was
 * disturbed gives the maximum-likelihood estimate of r (current status data: Sun, The Statistical
 * Analysis of Interval-censored Failure Time Data, 2006, chapter 3): the root of
 *
 *	sum over disturbed runs of d exp(-r d) / (1 - exp(-r d)) = sum over undisturbed runs of d,
 *
 * whose left side falls with r. Each undisturbed run gets the weight exp(r d), one over its
 * probability (Horvitz and Thompson, JASA 47, 1952). d of a disturbed run is its time without the
 * delay, but not below that of the shortest undisturbed run. Weights are truncated (Cole and
 * Hernan, American Journal of Epidemiology 168, 2008): a run of many times the others' length
 * whose delay was not seen, as of a hypervisor, would outweigh all others together.
 *
 * The interval is made without weights first, corrected for autocorrelation like every other one.
 * Its ends are the quantiles of two probabilities; with weights these are farther from 1/2 by
 * sqrt(n / n_w), since the effective size of n runs of unequal weight is n_w = (sum w)^2 / sum w^2
 * (Kish, Survey Sampling, 1965), and the ends are the weighted quantiles there (Woodruff, JASA 47,
 * 1952).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define DELAY_SHARE  0.01
#define EXPONENT_MAX 20.0
/* Of a run's weight, times that of the median undisturbed run. */
#define WEIGHT_MAX 10.0

static bool is_undisturbed(double x, double delay)
{
	return delay < DELAY_SHARE * x;
}

/* The left side less the right side; r > 0. */
static double likelihood_slope(const double *x, const double *delay, size_t n, double least,
			       double r)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		if (isnan(delay[i]))
			continue;
		if (is_undisturbed(x[i], delay[i])) {
			sum -= x[i];
		} else {
			const double d = fmax(least, x[i] - delay[i]);

			sum += d / expm1(r * d);
		}
	}
	return sum;
}

static double disturbance_rate_find(const double *x, const double *delay, size_t n, double least)
{
	double low = 0, high = 1 / least;

	while (likelihood_slope(x, delay, n, least, high) > 0 && high * least < EXPONENT_MAX)
		high *= 2;
	for (int i = 0; i < 50; i++) {
		const double middle = (low + high) / 2;

		if (likelihood_slope(x, delay, n, least, middle) > 0)
			low = middle;
		else
			high = middle;
	}
	return (low + high) / 2;
}

static double weight(const stat_undisturbed *u, double x, double middle)
{
	return fmin(exp(u->rate * (x - middle)), WEIGHT_MAX);
}

/* Returns the value with that share of the weights below it, including half of its own weight. */
static double weighted_quantile(const stat_undisturbed *u, const double *sorted, size_t n,
				double sum, double share)
{
	double below = 0, before = NAN;

	for (size_t i = 0; i < n; i++) {
		const double w = weight(u, sorted[i], sorted[n / 2]), here = (below + w / 2) / sum;

		if (here >= share)
			return i == 0 ? sorted[0]
				      : sorted[i - 1] + (sorted[i] - sorted[i - 1]) *
							    (share - before) / (here - before);
		below += w;
		before = here;
	}
	return sorted[n - 1];
}

/* Gives the runs their weights. */
static void estimate_weigh(stat_undisturbed *u, const double *sorted, size_t n)
{
	stat_estimate *e = &u->median;
	double sum = 0, squares = 0, lo = 0, hi = 0;

	for (size_t i = 0; i < n; i++) {
		const double w = weight(u, sorted[i], sorted[n / 2]);

		sum += w;
		squares += w * w;
		lo += sorted[i] < e->lo;
		hi += sorted[i] <= e->hi;
	}
	e->value = weighted_quantile(u, sorted, n, sum, 0.5);
	if (!e->has_interval)
		return;
	const double farther = sqrt((double)n * squares / (sum * sum));
	const double of_lo = lo / (double)n, of_hi = hi / (double)n;

	e->lo = weighted_quantile(u, sorted, n, sum, 0.5 - farther * (0.5 - of_lo));
	e->hi = weighted_quantile(u, sorted, n, sum, 0.5 + farther * (of_hi - 0.5));
}

size_t stat_undisturbed_scratch(size_t n)
{
	return 2 * n + stat_scratch(n);
}

void stat_undisturbed_estimate(const double *x, const double *delay, size_t n, double level,
			       double *scratch, stat_undisturbed *ret)
{
	double *const chosen = scratch, *const sorted = scratch + n;
	double least = INFINITY;
	size_t k = 0, disturbed = 0;

	*ret = (stat_undisturbed){0};
	for (size_t i = 0; i < n; i++) {
		if (isnan(delay[i]))
			continue;
		if (is_undisturbed(x[i], delay[i])) {
			chosen[k++] = x[i];
			least = fmin(least, x[i]);
		} else {
			disturbed++;
		}
	}
	ret->runs = k;
	ret->known = k + disturbed;
	stat_estimate_one(STAT_MEDIAN, chosen, k, level, scratch + 2 * n, &ret->median);
	if (k == 0 || disturbed == 0 || !(least > 0))
		return;
	ret->rate = disturbance_rate_find(x, delay, n, least);
	memcpy(sorted, chosen, k * sizeof *sorted);
	stat_sort(sorted, k);
	estimate_weigh(ret, sorted, k);
}
