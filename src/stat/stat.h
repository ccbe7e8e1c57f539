/* stat.h - estimates with confidence intervals, and the tests of measurements and reports.
 *
 *	double *scratch = mem_alloc(stat_scratch(n) * sizeof *scratch);
 *	stat_estimate e;
 *
 *	stat_estimate_one(STAT_MEDIAN, ns, n, 0.95, scratch, &e);
 *	if (e.has_interval)
 *		... the median is e.value, its interval e.lo to e.hi ...
 *
 * These are pure functions on arrays: no clock, no allocation (scratch comes from the caller), no
 * global state, no random numbers. So the same data give the same result. Samples are in the order
 * in which they were taken. They may be autocorrelated, and the intervals of such a series are
 * corrected for that. docs/reference/methods.md has definitions and sources,
 * docs/reference/validation.md the measured coverage.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STAT_STAT_H
#define STAT_STAT_H

#include "deepclock/base.h"

typedef enum stat_estimator {
	STAT_MEAN,
	STAT_MEDIAN,
	STAT_MIN,
	STAT_MAX,
	STAT_STDDEV,
	STAT_CV,
	STAT_MAD,
	STAT_P90,
	STAT_P95,
	STAT_P99,
	STAT_P999,
	STAT_ESTIMATORS
} stat_estimator;

/* Minimum of sqrt(n * n_eff): 50 independent runs, or 100 with an effective sample size of 25.
 * Below it intervals under-cover, whatever the method. */
#define STAT_N_EFF_ENOUGH 50

/* Why an interval under-covers its level. */
typedef enum stat_undercoverage {
	STAT_NARROW_NO,
	STAT_NARROW_FEW,       /* the effective sample size is too small */
	STAT_NARROW_SLOW,      /* the same, because the level changes slowly */
	STAT_UNDER_HEAVY_TAIL, /* a few long runs dominate the mean */
} stat_undercoverage;
/* Returns "the level changes more slowly than so few runs can show"; "": it does not under-cover.
 */
const char *stat_undercoverage_text(stat_undercoverage why);

typedef struct stat_estimate {
	bool present; /* false: `why` is the reason, n_needed the runs that it needs (0: unknown) */
	double value;
	bool has_interval; /* false with present: `why` is the reason for no interval */
	double lo, hi, level;
	double n_eff;	    /* effective sample size; n if the runs are not autocorrelated */
	double n_eff_lower; /* its lower bound, for hidden dependence; for stat_precise() */
	bool dependent;	    /* the runs are autocorrelated: n_eff is estimated */
	bool slow;	    /* the level changes slowly: the interval is widened for that */
	stat_undercoverage
	    narrow; /* the interval under-covers, or is not known to cover its level */
	uint64_t n_needed;
	char how[128]; /* "exact order statistics at n_eff 212 of 600" */
	char why[160];
} stat_estimate;

/* Returns the doubles of scratch that the functions below need for n samples. */
size_t stat_scratch(size_t n);

/* Estimates one statistic of x[0..n) with its interval at `level` (0.95). */
void stat_estimate_one(stat_estimator which, const double *x, size_t n, double level,
		       double *scratch, stat_estimate *ret);
/* Returns the independent runs that an interval of the p-quantile needs at that level. */
double stat_quantile_runs(double p, double level);
/* Estimates any quantile, 0 < p < 1, in the same way. */
void stat_estimate_quantile(double p, const double *x, size_t n, double level, double *scratch,
			    stat_estimate *ret);
/* Estimates all statistics: ret[STAT_ESTIMATORS]. */
void stat_estimate_all(const double *x, size_t n, double level, double *scratch,
		       stat_estimate *ret);

/* --- when a measurement stops. A rule that tests an interval repeatedly stops when chance has made
 * it narrow, and such intervals under-cover: this rule is designed against that (the coverage is in
 * docs/reference/validation.md). */

/* Returns whether the half-width of the interval is within `precision` of the value, and the
 * effective sample size is large enough to trust it. */
bool stat_precise(const stat_estimate *e, double precision);

/* {0} at first. */
typedef struct stat_stop {
	unsigned precise; /* looks in a row, up to the last */
} stat_stop;
/* Tests one more estimate; true: the measurement may end, and this is the estimate to report. The
 * first call is at any n, the next at stat_stop_next() of it and so on. */
bool stat_stop_look(stat_stop *s, const stat_estimate *e, double precision);
uint64_t stat_stop_next(uint64_t n);

/* Return the lag-1 autocorrelation, and the integrated autocorrelation time tau >= 1 (n_eff = n /
 * tau), from at most 1024 lags of at most 8192 values: longer series are first averaged in groups.
 */
double stat_lag1(const double *x, size_t n);
double stat_tau(const double *x, size_t n, double *scratch);

/* --- warm-up: from which run on is the trace steady? */
typedef struct stat_steady {
	bool steady;
	size_t first;	     /* index of the first steady run, when steady */
	double change_ratio; /* when not steady: the remaining change, e.g. -0.03 = still falling 3
				% */
	bool noisy;	     /* not steady, but no change is shown: noise could hide one */
	char evidence[160];  /* one phrase for people, without numbers of runs and times */
} stat_steady;
/* Tests the first n runs for a steady state. The false-accept rate holds for repeated calls at
 * growing n (a geometric grid). At least `min_steady` runs must follow `first`. */
void stat_steady_check(const double *x, size_t n, size_t min_steady, double *scratch,
		       stat_steady *ret);

/* --- diagnostics */
typedef struct stat_outliers {
	size_t low_mild, low_severe, high_mild,
	    high_severe;	      /* severe ones are not counted as mild */
	double low_fence, high_fence; /* the mild fences */
	bool valid;
} stat_outliers;
void stat_outliers_find(const double *x, size_t n, double *scratch, stat_outliers *ret);

typedef struct stat_modes {
	bool two;
	double centre[2], share[2]; /* lower mode first; share sums to 1 */
} stat_modes;
/* tick: the resolution of the clock in the unit of x, if it is known, else 0. */
void stat_modes_find(const double *x, size_t n, double tick, double *scratch, stat_modes *ret);

typedef struct stat_drift {
	bool significant; /* corrected for autocorrelation */
	double ratio;	  /* change over the whole series relative to its median, e.g. +0.04 */
	double lo, hi;	  /* its interval */
	/* The same relative to the start of the line: a fall is above -1. */
	double of_start, of_start_lo, of_start_hi;
} stat_drift;
void stat_drift_find(const double *x, size_t n, double level, double *scratch, stat_drift *ret);

/* --- fresh processes: computes the mean of k values, one per process (its median, p90, ...), with
 * Student's t. k < 2: present, no interval. */
void stat_processes(const double *values, size_t k, double level, stat_estimate *ret);

/* --- variation between starts of a process (between_starts.c) */

/* Estimates the median of k starts, one value each, which are sorted here. Its interval is between
 * order statistics (sign test), whatever the distribution: the narrowest that holds the median with
 * `level`, or the smallest and the largest value where k is too small. ret->level is the
 * probability with which it does: 96.9 % of 6, 93.8 % of 5, 50 % of 2. k < 2: as stat_processes().
 */
void stat_starts(double *values, size_t k, double level, stat_estimate *ret);
/* Returns that probability. */
double stat_starts_level(size_t k, double level);
typedef struct stat_start {
	const double *x; /* its runs, in the order taken */
	size_t n;
} stat_start;
size_t stat_starts_scratch(const stat_start *starts, size_t k);
/* Estimates a percentile, p from 0.5 on, of the runs of all starts together, for starts that have
 * too few runs for it. Its interval counts each start once, as a cluster. ret->level is
 * stat_starts_level(). scratch: stat_starts_scratch(). */
void stat_starts_quantile(double p, const stat_start *starts, size_t k, double level,
			  double *scratch, stat_estimate *ret);

typedef struct stat_slow_starts {
	size_t n;     /* starts that took much longer than the others */
	double ratio; /* their mean over the median of all; 0: none */
	double above; /* the slow ones are above this value */
} stat_slow_starts;
/* Finds them; of fewer than 4 starts none. scratch: 2 k doubles. */
void stat_starts_slow(const double *values, size_t k, double *scratch, stat_slow_starts *ret);

/* The medians of a property of the slow starts and of the others. */
typedef struct stat_starts_property {
	double slow, others;
} stat_starts_property;
/* Returns whether x, a property of the k starts, is another one in those with values above the
 * limit of stat_starts_slow(): all of them are beyond every other start, and their median is apart
 * by 20 median absolute deviations of the others, a tenth, and `least`. scratch: 3 k doubles. */
bool stat_starts_differ(const double *x, const double *values, size_t k, double above, double least,
			double *scratch, stat_starts_property *ret);

/* Returns quantile p of sorted data, linear between order statistics (Hyndman and Fan's type 7). */
double stat_quantile_sorted(const double *sorted, size_t n, double p);
/* Returns how many of the sorted values are below the limit, by bisection. */
size_t stat_count_below(const double *sorted, size_t n, double limit);
/* Returns the median of unsorted data. scratch: n doubles. */
double stat_median(const double *x, size_t n, double *scratch);
void stat_sort(double *x, size_t n);

/* --- totals of a population of which items are sampled independently, with known probabilities
 * (sampled_total.c) */

/* Sums over the sampled items of size y and probability p: their number; of y; of y (1 - p) / p,
 * the estimate of what was not sampled; of y^2 (1 - p) / p^2, an unbiased estimate of its variance.
 */
typedef struct stat_sampled {
	double items, sampled, missed, variance;
} stat_sampled;

/* Adds k sampled items. */
void stat_sampled_add(stat_sampled *s, double k, double y, double p);
void stat_sampled_sum(stat_sampled *to, const stat_sampled *from);
/* Computes the interval of the total, whose estimate is sampled + missed. `heaviest` is the largest
 * y (1 - p) / p of an item that may have been missed; NAN: the mean of the sampled ones, weighted
 * by it. */
void stat_sampled_interval(const stat_sampled *s, double heaviest, double level, double *ret_lo,
			   double *ret_hi);

/* --- tests of limits (binomial.c): "p99 <= 50 ms" means that at most 1 % of all runs take longer.
 * Numbers of runs may be real: effective sample sizes. */
/* Return P(X <= k) and P(X >= k) for n trials with probability q. */
double stat_binomial_at_most(double k, double n, double q);
double stat_binomial_at_least(double k, double n, double q);
/* Returns the fewest independent runs, `over` of them over the limit, that show with that
 * confidence that less than 1 - p of all are. With over 1 and 99 %: 64 for p90, 662 for p99. */
uint64_t stat_percentile_runs(double p, double confidence, uint64_t over);

typedef struct stat_limit {
	dck_verdict verdict;
	double n_eff, share;	 /* independent runs; share of them over the limit */
	double p_held, p_broken; /* p-values: at most (at least) this share over it if the true
				    share is 1 - p */
	double n_needed; /* INCONCLUSIVE: n_eff that would decide at this share; 0: not known */
} stat_limit;

/* Tests a limit of which `over` of n independent runs were over. Never MET below
 * stat_percentile_runs(p, confidence, 1), where one run would decide, nor below STAT_N_EFF_ENOUGH.
 */
void stat_limit_test(double p, double confidence, double n, double over, stat_limit *ret);

/* Compares the interval from lo to hi with a limit: all above it is VIOLATED, all within it MET.
 * NaN (no interval): INCONCLUSIVE. */
dck_verdict stat_limit_interval(double lo, double hi, double limit);
/* Compares the mean +- half of n runs, with effective sample size n_eff, with a limit. Never MET
 * below STAT_N_EFF_ENOUGH: a few runs of a long-tailed distribution give a mean and a spread that
 * are both too low. So the upper half is taken on the logarithm, and autocorrelated runs count
 * less, as in stat_limit_runs(). */
void stat_limit_mean(double mean, double half, double n, double n_eff, double limit,
		     stat_limit *ret);

/* Returns the effective sample size of x[0..n), in order of time, for a test with that confidence
 * of the number of runs above `limit`, which should be above the p-quantile. scratch:
 * stat_scratch(n) doubles. */
double stat_limit_runs(const double *x, size_t n, double p, double limit, double confidence,
		       double *scratch);

/* --- runs in which no thread waited for a processor (undisturbed.c) */
typedef struct stat_undisturbed {
	size_t runs, known;   /* undisturbed ones, of those whose delay is known */
	double rate;	      /* disturbances per unit of a run's own time */
	stat_estimate median; /* of the undisturbed runs, weighted for their lengths */
} stat_undisturbed;
size_t stat_undisturbed_scratch(size_t n);
/* Estimates the median of runs without disturbance. x[0..n): times of runs in the order taken;
 * delay[i]: run delay of threads in that run, in the same unit; NaN: unknown. A
 * run is undisturbed if the delay is below 1 % of it. scratch: stat_undisturbed_scratch(n). */
void stat_undisturbed_estimate(const double *x, const double *delay, size_t n, double level,
			       double *scratch, stat_undisturbed *ret);

/* --- classifiers (classify.c) */
typedef struct stat_class {
	uint64_t hits, predicted, support; /* true positives; predictions; items of the class */
	double precision, recall, f1;	   /* 0 if the denominator is 0 */
} stat_class;
typedef struct stat_average {
	double precision, recall, f1;
} stat_average;
typedef struct stat_classes {
	stat_average micro, macro, weighted;
	uint64_t n, hits, support;     /* of all classes; support: of classes below k */
	size_t never_predicted, empty; /* classes whose denominator is 0 */
} stat_classes;
/* Computes precision, recall and F1 of k classes from truth[n] and predicted[n]; classes of k and
 * more are not reported. ret_class and scratch: k. */
void stat_classify(const uint32_t *truth, const uint32_t *predicted, size_t n, size_t k,
		   double *scratch, stat_class *ret_class, stat_classes *ret);
/* Computes the exact interval of a share (Clopper and Pearson, Biometrika 26, 1934); n above 0. */
void stat_proportion(uint64_t hits, uint64_t n, double level, double *ret_lo, double *ret_hi);
/* Returns the p-value of the exact two-sided test (McNemar, Psychometrika 12, 1947) that two
 * classifiers are equally good, from the items that only one of them classifies correctly. */
double stat_mcnemar(uint64_t only_first, uint64_t only_second);
/* Computes the smallest false discovery rate at which each test is rejected (Benjamini and
 * Hochberg, J. R. Statist. Soc. B 57, 1995), for independent or positively dependent tests. p[n]:
 * sorted, the smallest n p-values of `tests`; ret[n]. */
void stat_discovery_rates(const double *p, size_t n, size_t tests, double *ret);

/* --- change points: where the level of a series changes. For values that are separate measurements
 * (one a day, one a commit), independent of each other except for their level. */
#define STAT_CHANGE_MIN	 8 /* of fewer values no change is certain */
#define STAT_CHANGES_MAX 64
typedef struct stat_change {
	size_t at;	      /* the first value of the new level; 0: a drift, which has no level */
	double p;	      /* p-value under pure noise, times the number of segments tested */
	double before, after; /* medians up to the adjacent changes; a drift: its line's ends */
	/* Of stat_change_alarms(): the chance that a series without changes has one as clear, by
	 * the likelihood at any of some ninety looks and by the ranks. */
	double alarm;
} stat_change;
size_t stat_change_scratch(size_t n); /* doubles */
/* Finds changes, in order, ret[STAT_CHANGES_MAX]; returns their number. Of series without any
 * change the share alpha gives one or more. The same data give the same result. */
size_t stat_change_find(const double *x, size_t n, double alpha, double *scratch, stat_change *ret);

/* Finds changes of a series that is tested repeatedly as it grows, and whose points may be
 * autocorrelated (an autoregression of order one): only changes whose likelihood ratio, over the
 * points between the adjacent changes, is significant after some ninety looks. A line through all
 * points, tested in the same way, takes their place if it describes the series better: a drift. */
size_t stat_change_alarms(const double *x, size_t n, double alpha, double *scratch,
			  stat_change *ret);

/* Finds steps of the level by more than 1 % within a measurement x[0..n), which may be
 * autocorrelated, on medians of at most 50 blocks. `at` is a run, to the nearest block. scratch:
 * stat_scratch(n); ret[STAT_CHANGES_MAX]. Slow change without steps gives steps too. */
size_t stat_steps_find(const double *x, size_t n, double *scratch, stat_change *ret);

/* Returns whether x[0..n) begins with a separate level, as before a late compilation or while a
 * machine is not hot yet. Only if that is the only step, the rest is steady, and the level lasted,
 * together with `before` warm-up runs, for at most a quarter of all: later or repeated changes are
 * the machine's. ret->at: the first run that is certainly after the step. scratch: stat_scratch(n).
 */
bool stat_plateau_find(const double *x, size_t n, size_t before, double *scratch, stat_change *ret);

#endif
