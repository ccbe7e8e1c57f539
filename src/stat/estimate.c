/* estimate.c - point estimates and confidence intervals of dependent samples, by a table of
 * estimators.
 *
 * - Mean: Student's t with the long-run variance.
 * - Standard deviation and coefficient of variation: the mean of their influence functions, on the
 *   scale of logarithms (Hampel 1974).
 * - Quantiles: order statistics at real ranks of the binomial distribution (Hutson 1999), with the
 *   effective sample size n_eff in place of n (Woodruff 1952; Korn and Graubard 1998).
 * - MAD: the median of distances, n_eff from its influence function. Minimum, maximum: no interval.
 *
 * autocorrelation.c gives n_eff, each time for the function of the runs that the statistic
 * averages. The n_eff reported is the least of several views of the same runs. An interval that
 * would need more runs, or a percentile without enough independent ones, is absent, with the number
 * needed; `narrow` marks intervals that may undercover.
 *
 * Pure functions: sorting O(n log n), then a bounded number of passes; memory is stat_scratch(n)
 * doubles of the caller. x is in the order of time. docs/reference/methods.md has the sources,
 * docs/reference/validation.md the coverage.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/autocorrelation.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include "base/decimal.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A mean is not known if its variance is carried by fewer values, or spells of them, than this, in
 * a distribution with a tail longer than KURTOSIS. */
#define CARRIERS 20
#define SPELLS	 8
#define KURTOSIS 6
/* Runs have this many times the n_eff for the median that their ranks show: in an autoregression
 * the sum of the autocorrelations of [x <= median] is smaller than that of the ranks by this factor
 * (the arcsine law). */
#define RANKS 1.25

/* Number of cuts by which a rank is found: its resolution. */
#define CUTS 255

typedef struct sample {
	const double *x; /* in the order taken */
	size_t n;
	double *sorted;
	double *other;	/* n doubles */
	double *depend; /* STAT_DEPEND_SCRATCH */
	double level;
	stat_autocorrelation runs; /* of the runs' times themselves */
	/* For quantiles, by quantiles_prepare(). */
	double cuts[CUTS]; /* that divide the runs into equal shares */
	size_t ncuts;
	double median;
	stat_autocorrelation side, ranks; /* of [x <= median], and of the ranks */
} sample;

static double estimate_clamp(double x, double lo, double hi)
{
	return x < lo ? lo : x > hi ? hi : x;
}

const char *stat_undercoverage_text(stat_undercoverage why)
{
	static const char *const texts[] = {
	    [STAT_NARROW_NO] = "",
	    [STAT_NARROW_FEW] = "the effective sample size is too small",
	    [STAT_NARROW_SLOW] = "the level changes more slowly than so few runs can show",
	    [STAT_UNDER_HEAVY_TAIL] = "a few long runs dominate the mean",
	};

	return texts[why];
}

/* --- means, and statistics that are nearly means */

static void say_mean_how(const stat_autocorrelation *d, const char *what, stat_estimate *e)
{
	if (!d->dependent)
		snprintf(e->how, sizeof e->how, "%s, Student's t with %.0f degrees of freedom",
			 what, d->dof);
	else
		snprintf(e->how, sizeof e->how,
			 "%s, t with %.0f degrees of freedom, "
			 "long-run variance from low frequencies (n_eff %.0f of %zu)",
			 what, d->dof, e->n_eff, d->n);
}

static double half_width(const stat_autocorrelation *d, double level)
{
	return stat_t_quantile(0.5 + level / 2, d->dof) * sqrt(d->long_run / (double)d->n);
}

/* Sets `narrow`. Few runs cannot show that they depend on each other, and few effective ones do not
 * show how much: the geometric mean of both numbers must be enough. */
static void narrow_find(size_t n, stat_estimate *e)
{
	const double both = sqrt((double)n * e->n_eff);

	e->narrow = both >= STAT_N_EFF_ENOUGH ? STAT_NARROW_NO
		    : e->slow		      ? STAT_NARROW_SLOW
					      : STAT_NARROW_FEW;
}

/* Lowers the effective sample size to that of another view of the same runs, where it is
 * smaller. */
static void less_n_eff(const stat_autocorrelation *d, stat_estimate *e)
{
	e->n_eff = fmin(e->n_eff, (double)d->n / d->tau);
	e->n_eff_lower = fmin(e->n_eff_lower, (double)d->n / d->tau_upper);
	e->dependent = e->dependent || d->dependent;
	e->slow = e->slow || d->slow;
	narrow_find(d->n, e);
}

static void take_n_eff(const stat_autocorrelation *d, stat_estimate *e)
{
	e->n_eff = e->n_eff_lower = (double)d->n;
	less_n_eff(d, e);
}

/* Sets the effective sample size of a spread, which needs more runs: its interval depends on the
 * tails. */
static void take_n_eff_spread(const stat_autocorrelation *d, stat_estimate *e)
{
	take_n_eff(d, e);
	if (e->n_eff < STAT_N_EFF_ENOUGH)
		e->narrow = d->slow ? STAT_NARROW_SLOW : STAT_NARROW_FEW;
}

static void interval_missing(uint64_t needed, stat_estimate *e)
{
	e->n_needed = needed;
	snprintf(e->why, sizeof e->why, "an interval needs %llu runs", (unsigned long long)needed);
}

static void estimate_mean(const sample *s, double unused, stat_estimate *e)
{
	const stat_autocorrelation d = s->runs;

	(void)unused;
	e->present = true;
	e->value = d.mean;
	take_n_eff(&d, e);
	if (!e->narrow && d.carriers > 0 && d.carriers < fmax(CARRIERS, SPELLS * d.tau / d.fold) &&
	    d.carriers * d.fold * KURTOSIS < (double)d.n)
		e->narrow = STAT_UNDER_HEAVY_TAIL;
	if (s->n < 2) {
		interval_missing(2, e);
		return;
	}
	e->has_interval = true;
	e->lo = d.mean - half_width(&d, s->level);
	e->hi = d.mean + half_width(&d, s->level);
	say_mean_how(&d, "mean", e);
}

typedef struct moments {
	double mean, var;
} moments;

/* Influence functions of the logarithms of the standard deviation and of the coefficient of
 * variation: the interval of their mean is the interval of the statistic (Hampel 1974). */
static double influence_sd(double x, const void *self)
{
	const moments *m = self;

	return (x - m->mean) * (x - m->mean) / (2 * m->var);
}

static double influence_cv(double x, const void *self)
{
	const moments *m = self;

	return influence_sd(x, self) - (x - m->mean) / m->mean;
}

static void estimate_spread(const sample *s, stat_estimate *e, bool relative)
{
	stat_autocorrelation d;
	moments m;
	double value, log_half;

	if (s->n < 2) {
		e->n_needed = 2;
		snprintf(e->why, sizeof e->why, "a spread needs 2 runs, there is %zu", s->n);
		return;
	}
	m = (moments){.mean = s->runs.mean, .var = s->runs.var};
	if (relative && !(m.mean > 0)) {
		snprintf(e->why, sizeof e->why, "the mean is not above 0");
		return;
	}
	value = relative ? sqrt(m.var) / m.mean : sqrt(m.var);
	e->present = true;
	e->value = e->lo = e->hi = value;
	e->n_eff = e->n_eff_lower = (double)s->n;
	e->narrow = s->n < STAT_N_EFF_ENOUGH ? STAT_NARROW_FEW : STAT_NARROW_NO;
	if (!(value > 0)) {
		e->has_interval = true;
		snprintf(e->how, sizeof e->how, "all runs took the same time");
		return;
	}
	stat_autocorrelation_find(s->x, s->n, relative ? influence_cv : influence_sd, &m,
				  s->runs.dependent, s->depend, &d);
	take_n_eff_spread(&d, e);
	if (s->n < 4) {
		interval_missing(4, e);
		return;
	}
	log_half = half_width(&d, s->level);
	e->has_interval = true;
	e->lo = value * exp(-log_half);
	e->hi = value * exp(log_half);
	say_mean_how(&d, "log of it by its influence function", e);
}

static void estimate_stddev(const sample *s, double unused, stat_estimate *e)
{
	(void)unused;
	estimate_spread(s, e, false);
}

static void estimate_cv(const sample *s, double unused, stat_estimate *e)
{
	(void)unused;
	estimate_spread(s, e, true);
}

/* --- quantiles */

/* Returns the number of independent runs that a two-sided interval of the p-quantile needs: the
 * greatest of them must be above it, and for p below 1/2 the smallest below it. */
double stat_quantile_runs(double p, double level)
{
	return ceil(log((1 - level) / 2) / log(fmax(p, 1 - p)) - 1e-9);
}

/* Finds the real rank r, of n, at which an order statistic would be above the p-quantile with
 * probability q (Hutson 1999): I_p(r, n - r + 1) = 1 - q. For whole r that is the binomial
 * distribution. Between ranks the order statistics are joined by lines. */
static double rank_find(double n, double p, double q)
{
	double lo = 0, hi = n + 1;

	for (int i = 0; i < 60 && hi - lo > 1e-9 * n; i++) {
		const double r = (lo + hi) / 2;

		if (1 - stat_beta_cdf(p, r, n - r + 1) < q)
			lo = r;
		else
			hi = r;
	}
	return (lo + hi) / 2;
}

static double order_statistic(const double *sorted, size_t n, double rank)
{
	const double at = estimate_clamp(rank - 1, 0, (double)(n - 1));
	const size_t i = (size_t)at;

	if (i + 1 >= n)
		return sorted[n - 1];
	return sorted[i] + (at - (double)i) * (sorted[i + 1] - sorted[i]);
}

/* Computes the interval of the p-quantile of `sorted`, with the effective sample size n_eff. */
static void quantile_interval(const double *sorted, size_t n, double p, double level, double n_eff,
			      double *ret_lo, double *ret_hi)
{
	const double scale = ((double)n + 1) / (n_eff + 1);

	*ret_lo = order_statistic(sorted, n, rank_find(n_eff, p, (1 - level) / 2) * scale);
	*ret_hi = order_statistic(sorted, n, rank_find(n_eff, p, (1 + level) / 2) * scale);
}

/* Korn and Graubard (1998): an n_eff that is itself an estimate with few degrees of freedom is
 * lowered by the squared ratio of the normal quantile to Student's t. */
static double n_eff_lower(const stat_autocorrelation *d, double level)
{
	double ratio;

	if (!d->dependent)
		return (double)d->n;
	ratio = stat_normal_quantile(0.5 + level / 2) / stat_t_quantile(0.5 + level / 2, d->dof);
	return fmax(2, stat_depend_n(d) * ratio * ratio);
}

static void say_too_few(const sample *s, double p, double needed, double there, stat_estimate *e)
{
	char want[NUM_TEXT_MAX], have[NUM_TEXT_MAX];
	const size_t n = (size_t)mem_print(
	    e->why, sizeof e->why, "%.4g %% needs %.30s independent runs, there %s %.30s", 100 * p,
	    decimal_grouped(want, 0, floor(needed)), floor(there) == 1 ? "is" : "are",
	    decimal_grouped(have, 0, floor(there)));

	if (there < (double)s->n && n < sizeof e->why)
		snprintf(e->why + n, sizeof e->why - n, " (of %zu, which are autocorrelated)",
			 s->n);
}

static void say_ranks(const stat_autocorrelation *d, const stat_estimate *e, char *text,
		      size_t size)
{
	if (!d->dependent)
		snprintf(text, size, "exact order statistics of %zu runs", d->n);
	else
		snprintf(text, size, "order statistics at n_eff %.0f of %zu", e->n_eff, d->n);
}

/* Returns the share of cuts that are below x: its rank, nearly. */
static double estimate_rank_of(double x, const void *self)
{
	const sample *s = self;

	return (double)stat_count_below(s->cuts, s->ncuts, x) / (double)s->ncuts;
}

static double at_most(double x, const void *limit)
{
	return x <= *(const double *)limit ? 1 : 0;
}

static void quantiles_prepare(sample *s)
{
	s->median = stat_quantile_sorted(s->sorted, s->n, 0.5);
	s->ncuts = s->n < CUTS ? s->n : CUTS;
	for (size_t i = 0; i < s->ncuts; i++)
		s->cuts[i] =
		    s->sorted[(size_t)((double)s->n * ((double)i + 0.5) / (double)s->ncuts)];
	stat_autocorrelation_find(s->x, s->n, at_most, &s->median, s->runs.dependent, s->depend,
				  &s->side);
	stat_autocorrelation_find(s->x, s->n, estimate_rank_of, s, s->side.dependent, s->depend,
				  &s->ranks);
}

typedef struct away {
	double centre, limit;
} away;

static double distant(double x, const void *self)
{
	const away *a = self;

	return fabs(x - a->centre) > a->limit ? 1 : 0;
}

/* Finds the dependence of [x <= value]. It does not show a level that changes unless the value is
 * between the levels, so ranks are used too: they show every change of level and no outlier. The
 * few runs beyond a high quantile show little of their dependence, and chance hides it easily. So
 * before an interval is promised they count as dependent as the median shows, and when it is made
 * as dependent as somewhat more runs show. ret_here: the number of independent runs in this window,
 * whatever its level will be later: without enough of them the percentile is absent. */
static void quantile_depend(const sample *s, double p, double value, stat_autocorrelation *ret,
			    double *ret_here, stat_estimate *e)
{
	const double beyond = (double)s->n * (1 - p);
	const double share = fmin(0.5, (1 - p) * (1 + 2.5 / sqrt(beyond)));
	const double lower = stat_quantile_sorted(s->sorted, s->n, 1 - share);
	stat_autocorrelation d = s->side, more = s->ranks;

	take_n_eff(&d, e);
	*ret_here = (double)s->n / d.tau_level;
	less_n_eff(&more, e);
	if (p > 0.5) {
		stat_autocorrelation_find(s->x, s->n, at_most, &value, d.dependent, s->depend, &d);
		less_n_eff(&d, e);
		*ret_here = fmin(*ret_here, (double)s->n / d.tau_level);
		stat_autocorrelation_find(s->x, s->n, distant,
					  &(away){s->median, value - s->median}, d.dependent,
					  s->depend, &more);
		less_n_eff(&more, e);
		if (more.dependent &&
		    (!d.dependent || n_eff_lower(&more, s->level) < n_eff_lower(&d, s->level)))
			d = more;
		if (d.dependent && d.long_run > d.var) {
			stat_autocorrelation_find(s->x, s->n, at_most, &lower, true, s->depend,
						  &more);
			if (stat_depend_n(&more) < stat_depend_n(&d))
				d = more;
		}
	} else if (RANKS * stat_depend_n(&more) < stat_depend_n(&d)) {
		d.long_run = d.var * (double)d.n / (RANKS * stat_depend_n(&more));
		d.dof = more.dof;
		d.dependent = true;
	}
	*ret = d;
}

/* Extends the interval by inverting a test (Woodruff 1952). A level that is seldom left shows only
 * in [x <= v] of a v beyond it. So values further out are tested with their own effective sample
 * size; they belong to the interval unless too many runs, or too few, are below them. */
static void interval_reach(const sample *s, double p, stat_estimate *e)
{
	static const double parts[] = {0.05, 0.2, 0.4, 0.6, 0.8};

	for (size_t i = 0; i < 2 * sizeof parts / sizeof parts[0]; i++) {
		const bool above = i % 2;
		const double part = parts[i / 2];
		const double at = above ? p + (1 - p) * part : p - p * part;
		const double value = stat_quantile_sorted(s->sorted, s->n, at);
		stat_autocorrelation d;
		double lo, hi;

		stat_autocorrelation_find(s->x, s->n, at_most, &value, true, s->depend, &d);
		quantile_interval(s->sorted, s->n, p, s->level, n_eff_lower(&d, s->level), &lo,
				  &hi);
		if (above && value <= hi)
			e->hi = fmax(e->hi, hi);
		if (!above && lo <= value)
			e->lo = fmin(e->lo, lo);
	}
}

static void estimate_quantile(const sample *s, double p, stat_estimate *e)
{
	const double needed = stat_quantile_runs(p, s->level);
	double value = stat_quantile_sorted(s->sorted, s->n, p);
	double here;
	stat_autocorrelation d;

	quantile_depend(s, p, value, &d, &here, e);
	/* The median exists with as few as one run. */
	e->present = p == 0.5 || here >= needed;
	e->value = e->present ? value : 0;
	if (e->n_eff < needed) {
		e->n_needed = (uint64_t)ceil(needed * (double)s->n / e->n_eff);
		say_too_few(s, p, needed, e->present ? e->n_eff : here, e);
		return;
	}
	e->has_interval = e->present;
	quantile_interval(s->sorted, s->n, p, s->level, n_eff_lower(&d, s->level), &e->lo, &e->hi);
	if (e->dependent)
		interval_reach(s, p, e);
	say_ranks(&d, e, e->how, sizeof e->how);
}

typedef struct deviation {
	double centre, limit;
	double lean; /* effect of an error of the centre on the share within the limit */
} deviation;

/* Returns the influence of one run on the MAD, up to a factor: its distance, and its part in the
 * median that distances are taken from (Hampel 1974). */
static double influence_mad(double x, const void *self)
{
	const deviation *d = self;

	return (fabs(x - d->centre) <= d->limit ? 1 : 0) + (x <= d->centre ? d->lean : 0);
}

static double count_near(const sample *s, double at, double reach)
{
	return (double)(stat_count_below(s->sorted, s->n, at + reach) -
			stat_count_below(s->sorted, s->n, at - reach));
}

/* Returns `lean`, from the densities at both ends of the interval that holds half of the runs, and
 * at the median. */
static double lean_find(const sample *s, const deviation *d)
{
	const double reach = d->limit * pow((double)s->n, -0.2);
	const double above = count_near(s, d->centre + d->limit, reach);
	const double below = count_near(s, d->centre - d->limit, reach);
	const double middle = count_near(s, d->centre, reach);

	return middle > 0 ? estimate_clamp((below - above) / middle, -4, 4) : 0;
}

static void estimate_mad(const sample *s, double unused, stat_estimate *e)
{
	const double needed = stat_quantile_runs(0.5, s->level);
	deviation dev = {.centre = stat_quantile_sorted(s->sorted, s->n, 0.5)};
	stat_autocorrelation d;
	double n_eff;

	(void)unused;
	for (size_t i = 0; i < s->n; i++)
		s->other[i] = fabs(s->sorted[i] - dev.centre);
	stat_sort(s->other, s->n);
	dev.limit = stat_quantile_sorted(s->other, s->n, 0.5);
	dev.lean = lean_find(s, &dev);
	stat_autocorrelation_find(s->x, s->n, influence_mad, &dev, s->runs.dependent, s->depend,
				  &d);
	e->present = true;
	e->value = dev.limit;
	take_n_eff_spread(&d, e);
	if (e->n_eff < needed) {
		interval_missing((uint64_t)ceil(needed * d.tau), e);
		return;
	}
	/* The number of independent runs that gives the median of known distances the same
	 * variance. */
	n_eff = n_eff_lower(&d, s->level);
	if (d.var > 0)
		n_eff = fmax(2, n_eff * 0.25 / d.var);
	e->has_interval = true;
	quantile_interval(s->other, s->n, 0.5, s->level, n_eff, &e->lo, &e->hi);
	say_ranks(&d, e, e->how, sizeof e->how);
}

/* --- extremes */

static void estimate_extreme(const sample *s, double p, stat_estimate *e)
{
	e->present = true;
	e->value = p > 0 ? s->sorted[s->n - 1] : s->sorted[0];
	e->n_eff = e->n_eff_lower = (double)s->n;
	snprintf(e->how, sizeof e->how, "%s of %zu runs", p > 0 ? "greatest" : "smallest", s->n);
	snprintf(e->why, sizeof e->why,
		 "the %s run belongs to these runs, it moves on as runs are added",
		 p > 0 ? "slowest" : "fastest");
}

/* --- the table */

static const struct {
	void (*estimate)(const sample *s, double p, stat_estimate *e);
	double p;
} estimators[STAT_ESTIMATORS] = {
    [STAT_MEAN] = {estimate_mean, 0},	      [STAT_MEDIAN] = {estimate_quantile, 0.5},
    [STAT_MIN] = {estimate_extreme, 0},	      [STAT_MAX] = {estimate_extreme, 1},
    [STAT_STDDEV] = {estimate_stddev, 0},     [STAT_CV] = {estimate_cv, 0},
    [STAT_MAD] = {estimate_mad, 0},	      [STAT_P90] = {estimate_quantile, 0.9},
    [STAT_P95] = {estimate_quantile, 0.95},   [STAT_P99] = {estimate_quantile, 0.99},
    [STAT_P999] = {estimate_quantile, 0.999},
};

size_t stat_scratch(size_t n)
{
	return 2 * n + STAT_DEPEND_SCRATCH;
}

static sample sample_take(const double *x, size_t n, double level, double *scratch)
{
	sample s = {.x = x,
		    .n = n,
		    .depend = scratch,
		    .sorted = scratch + STAT_DEPEND_SCRATCH,
		    .other = scratch + STAT_DEPEND_SCRATCH + n,
		    .level = level};

	if (n > 0)
		memcpy(s.sorted, x, n * sizeof *x);
	stat_sort(s.sorted, n);
	stat_autocorrelation_find(x, n, NULL, NULL, false, s.depend, &s.runs);
	return s;
}

static void estimate(sample *s, void (*with)(const sample *s, double p, stat_estimate *e), double p,
		     stat_estimate *ret)
{
	stat_estimate e = {.level = s->level};

	if (s->n == 0) {
		e.n_needed = 1;
		snprintf(e.why, sizeof e.why, "there are no runs");
	} else {
		if (with == estimate_quantile && s->ncuts == 0)
			quantiles_prepare(s);
		with(s, p, &e);
	}
	*ret = e;
}

void stat_estimate_one(stat_estimator which, const double *x, size_t n, double level,
		       double *scratch, stat_estimate *ret)
{
	sample s = sample_take(x, n, level, scratch);

	estimate(&s, estimators[which].estimate, estimators[which].p, ret);
}

void stat_estimate_quantile(double p, const double *x, size_t n, double level, double *scratch,
			    stat_estimate *ret)
{
	sample s = sample_take(x, n, level, scratch);

	estimate(&s, estimate_quantile, p, ret);
}

void stat_estimate_all(const double *x, size_t n, double level, double *scratch, stat_estimate *ret)
{
	sample s = sample_take(x, n, level, scratch);

	for (int which = 0; which < STAT_ESTIMATORS; which++)
		estimate(&s, estimators[which].estimate, estimators[which].p, &ret[which]);
}

void stat_processes(const double *values, size_t k, double level, stat_estimate *ret)
{
	stat_estimate e = {.level = level, .n_eff = (double)k, .n_eff_lower = (double)k};
	double mean = 0, squares = 0, half;

	if (k == 0) {
		e.n_needed = 1;
		snprintf(e.why, sizeof e.why, "no process was measured");
		*ret = e;
		return;
	}
	for (size_t i = 0; i < k; i++)
		mean += values[i] / (double)k;
	for (size_t i = 0; i < k; i++)
		squares += (values[i] - mean) * (values[i] - mean);
	e.present = true;
	e.value = mean;
	if (k < 2) {
		e.n_needed = 2;
		snprintf(e.why, sizeof e.why, "an interval between processes needs 2 of them");
		*ret = e;
		return;
	}
	half = stat_t_quantile(0.5 + level / 2, (double)(k - 1)) *
	       sqrt(squares / (double)(k - 1) / (double)k);
	e.has_interval = true;
	e.lo = mean - half;
	e.hi = mean + half;
	snprintf(e.how, sizeof e.how,
		 "mean of %zu processes, Student's t with %zu degrees of freedom", k, k - 1);
	*ret = e;
}
