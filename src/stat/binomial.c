/* binomial.c - tests of latency limits. A mean is judged by its interval, a percentile by the
 * exact binomial test, as in MLPerf LoadGen's "early stopping" (Reddi et al., ISCA 2020), for any
 * number of runs over the limit and for runs that depend on each other.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/autocorrelation.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>

/* Above this number of runs "how many more" is not useful. */
#define NEEDED_MOST 1e12
/* The fewest runs that show whether they come in groups. */
#define BEYOND		20.0
#define DEPENDENT_SHARE 0.65
#define FAR		2.0

double stat_binomial_at_most(double k, double n, double q)
{
	if (k < 0)
		return 0;
	return k >= n ? 1 : stat_beta_cdf(1 - q, n - k, k + 1);
}

double stat_binomial_at_least(double k, double n, double q)
{
	if (k <= 0)
		return 1;
	return k > n ? 0 : stat_beta_cdf(q, k, n - k + 1);
}

/* Returns the smallest integer n >= `from` for which `enough` is true (it is monotone); 0: none. */
typedef struct search {
	double q, alpha, share; /* share: of the runs that are over the limit; below 0: `over` is */
	double over;
} search;

static bool enough_held(const search *s, double n)
{
	return stat_binomial_at_most(s->share < 0 ? s->over : s->share * n, n, s->q) <= s->alpha;
}

static bool enough_broken(const search *s, double n)
{
	return stat_binomial_at_least(s->share * n, n, s->q) <= s->alpha;
}

static double smallest(const search *s, bool (*enough)(const search *s, double n), double from)
{
	double lo = from, hi = from;

	if (enough(s, from))
		return from;
	while (!enough(s, hi)) {
		lo = hi;
		hi *= 2;
		if (hi > NEEDED_MOST)
			return 0;
	}
	while (hi - lo > 1) {
		const double middle = floor((lo + hi) / 2);

		if (enough(s, middle))
			hi = middle;
		else
			lo = middle;
	}
	return hi;
}

uint64_t stat_percentile_runs(double p, double confidence, uint64_t over)
{
	const search s = {.q = 1 - p, .alpha = 1 - confidence, .share = -1, .over = (double)over};

	return (uint64_t)smallest(&s, enough_held, (double)over + 1);
}

void stat_limit_test(double p, double confidence, double n, double over, stat_limit *ret)
{
	const double q = 1 - p, alpha = 1 - confidence;
	const double least =
	    fmax(STAT_N_EFF_ENOUGH, (double)stat_percentile_runs(p, confidence, 1));
	search s = {.q = q, .alpha = alpha, .share = n > 0 ? over / n : 0};
	stat_limit l = {.verdict = DCK_VERDICT_INCONCLUSIVE, .n_eff = n, .share = s.share};

	l.p_held = n > 0 ? stat_binomial_at_most(over, n, q) : 1;
	l.p_broken = n > 0 ? stat_binomial_at_least(over, n, q) : 1;
	if (l.p_broken <= alpha)
		l.verdict = DCK_VERDICT_VIOLATED;
	else if (l.p_held <= alpha && n >= least)
		l.verdict = DCK_VERDICT_MET;
	else if (s.share > q)
		l.n_needed = smallest(&s, enough_broken, fmax(1, ceil(n)));
	else if (s.share < q)
		l.n_needed = smallest(&s, enough_held, fmax(least, ceil(n)));
	*ret = l;
}

dck_verdict stat_limit_interval(double lo, double hi, double limit)
{
	if (isnan(lo) || isnan(hi))
		return DCK_VERDICT_INCONCLUSIVE;
	if (lo > limit)
		return DCK_VERDICT_VIOLATED;
	return hi <= limit ? DCK_VERDICT_MET : DCK_VERDICT_INCONCLUSIVE;
}

void stat_limit_mean(double mean, double half, double n, double n_eff, double limit,
		     stat_limit *ret)
{
	const bool below = mean <= limit;
	const double distance = !below	   ? mean - limit
				: mean > 0 ? mean * log(limit / mean)
					   : limit - mean;
	const double wide = half / sqrt(pow(DEPENDENT_SHARE, 1 - fmin(1, n_eff / n)));
	stat_limit l = {.verdict = DCK_VERDICT_INCONCLUSIVE, .n_eff = n_eff};

	if (wide <= distance && !(below && n_eff < STAT_N_EFF_ENOUGH))
		l.verdict = below ? DCK_VERDICT_MET : DCK_VERDICT_VIOLATED;
	/* The half-width falls with the square root of the runs. */
	else if (isfinite(wide) && distance > 0) {
		const double needed = n_eff * wide * wide / (distance * distance);

		l.n_needed = below ? fmax(needed, STAT_N_EFF_ENOUGH) : needed;
		if (!(l.n_needed < NEEDED_MOST))
			l.n_needed = 0;
	}
	*ret = l;
}

static double binomial_over_limit(double x, const void *limit)
{
	return x > *(const double *)limit ? 1 : 0;
}

/* Returns the smaller effective sample size of the spectrum and the autocorrelation, as a lower
 * bound, divided by the squared ratio of Student's t to the normal quantile at that confidence,
 * because it is an estimate with few degrees of freedom itself (Korn and Graubard 1998). Long waits
 * come in bursts of very unequal length, whose number scatters more than equal bursts; if few are
 * observed by chance, their dependence seems weak too: DEPENDENT_SHARE is from simulated queues. */
static double binomial_runs_of(const stat_autocorrelation *d, double confidence)
{
	const double n = (double)d->n;
	double ratio;

	if (!d->dependent)
		return fmin(n, n / d->tau_upper);
	ratio = stat_normal_quantile(confidence) / stat_t_quantile(confidence, d->dof);
	return fmin(n, pow(DEPENDENT_SHARE, 1 - 1 / d->tau) *
			   fmin(stat_depend_n(d), n / d->tau_upper) * ratio * ratio);
}

/* Returns the threshold at which the dependence of the samples is estimated. If the limit were just
 * met it would be the p-quantile, so the threshold is the samples' p-quantile, or a lower one with
 * enough samples above it. For a limit twice as far away as the farthest sample the extremes are
 * used: changes around the middle, such as a processor's clock, carry no information about it. */
static double binomial_level_of(const double *sorted, size_t n, double p, double limit)
{
	const double part = fmin(0.5, BEYOND / (double)n);
	const double median = stat_quantile_sorted(sorted, n, 0.5);

	if (limit - median > FAR * (sorted[n - 1] - median))
		return stat_quantile_sorted(sorted, n, 1 - part);
	if (median - limit > FAR * (median - sorted[0]))
		return stat_quantile_sorted(sorted, n, part);
	return stat_quantile_sorted(sorted, n, fmin(fmax(0.5, p), 1 - part));
}

/* The runs over a limit that is met are few and carry little information about their dependence: so
 * other thresholds are used too. */
double stat_limit_runs(const double *x, size_t n, double p, double limit, double confidence,
		       double *scratch)
{
	double *sorted = scratch + STAT_DEPEND_SCRATCH, level, runs;
	stat_autocorrelation all, d;

	if (n < 2)
		return (double)n;
	for (size_t i = 0; i < n; i++)
		sorted[i] = x[i];
	stat_sort(sorted, n);
	level = binomial_level_of(sorted, n, p, limit);
	stat_autocorrelation_find(x, n, NULL, NULL, false, scratch, &all);
	stat_autocorrelation_find(x, n, binomial_over_limit, &level, all.dependent, scratch, &d);
	runs = binomial_runs_of(&d, confidence);
	stat_autocorrelation_find(x, n, binomial_over_limit, &limit, d.dependent, scratch, &d);
	if (d.var > 0)
		runs = fmin(runs, binomial_runs_of(&d, confidence));
	return fmax(1, runs);
}
