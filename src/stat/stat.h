/* stat.h - all statistics that measurements and reports need.
 *
 *	double *scratch = mem_alloc(stat_scratch(n) * sizeof *scratch);
 *	stat_estimate e;
 *
 *	stat_estimate_one(STAT_MEDIAN, ns, n, 0.95, scratch, &e);
 *	if (e.has_interval)
 *		... the median is e.value, its interval e.lo to e.hi ...
 *
 * These are pure functions on arrays: no clock, no allocation (scratch comes from the caller), no
 * global state, no random numbers. So the same data give the same result. Samples stand in the
 * order in which they were taken. Neighbours may depend on each other, and the intervals of such a
 * series are corrected for that. docs/reference/methods.md has definitions and sources,
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

/* Why an interval is narrower than its level says. */
typedef enum stat_undercoverage {
	STAT_NARROW_NO,
	STAT_NARROW_FEW,       /* the effective sample size is too small */
	STAT_NARROW_SLOW,      /* the same, since their level changes slowly */
	STAT_UNDER_HEAVY_TAIL, /* a few long runs dominate the mean */
} stat_undercoverage;
/* "the level changes more slowly than so few runs can show"; "": it is not. */
const char *stat_undercoverage_text(stat_undercoverage why);

typedef struct stat_estimate {
	bool present; /* false: `why` says why not, n_needed how many runs it takes (0: unknown) */
	double value;
	bool has_interval; /* false with present: `why` says why there is no interval */
	double lo, hi, level;
	double n_eff;	    /* effective number of independent runs; n when no dependence is seen */
	double n_eff_lower; /* the same if chance hides some dependence; for stat_precise() */
	bool dependent;	    /* neighbours were seen to depend on each other: n_eff is estimated */
	bool slow;	    /* the level changes slowly: the interval is wide for that */
	stat_undercoverage
	    narrow; /* the interval is known to be too narrow, or not known to be wide enough */
	uint64_t n_needed;
	char how[128]; /* "exact order statistics at n_eff 212 of 600" */
	char why[160];
} stat_estimate;

/* Doubles of scratch that the functions below need for n samples. */
size_t stat_scratch(size_t n);

/* One statistic of x[0..n) with its interval at `level` (0.95). No method here draws random
 * numbers: the same data give the same result. */
void stat_estimate_one(stat_estimator which, const double *x, size_t n, double level,
		       double *scratch, stat_estimate *ret);
/* Independent runs without which the p-quantile has no interval at that level. */
double stat_quantile_runs(double p, double level);
/* Any quantile, 0 < p < 1, in the same way. */
void stat_estimate_quantile(double p, const double *x, size_t n, double level, double *scratch,
			    stat_estimate *ret);
/* All of them: ret[STAT_ESTIMATORS]. */
void stat_estimate_all(const double *x, size_t n, double level, double *scratch,
		       stat_estimate *ret);

/* --- when a measurement stops. A rule that asks again and again stops when chance has made an
 * interval narrow, and such intervals miss more often: this one is made so that they do not (the
 * coverage is in docs/reference/validation.md). */

/* One look: the half-width of the interval is within `precision` of the value, and there are
 * enough effective runs to believe it. */
bool stat_precise(const stat_estimate *e, double precision);

/* {0} at first. */
typedef struct stat_stop {
	unsigned precise; /* looks in a row, up to the last */
} stat_stop;
/* Looks at one more estimate; true: the measurement may end. Asked first at any n, then at
 * stat_stop_next() of it and so on; the estimate at which it turns true is the one to report. */
bool stat_stop_look(stat_stop *s, const stat_estimate *e, double precision);
uint64_t stat_stop_next(uint64_t n);

/* Lag-1 autocorrelation and the integrated autocorrelation time tau >= 1 (n_eff = n / tau), from at
 * most 1024 lags of at most 8192 values: longer series are first averaged in groups. */
double stat_lag1(const double *x, size_t n);
double stat_tau(const double *x, size_t n, double *scratch);

/* --- warm-up: from which run on is the trace steady? */
typedef struct stat_steady {
	bool steady;
	size_t first;	     /* index of the first steady run, when steady */
	double change_ratio; /* when not steady: the remaining change, e.g. -0.03 = still falling 3
				% */
	char evidence[160];  /* one phrase for people, without the counts of runs and time */
} stat_steady;
/* Judges the trace so far. Meant to be asked again at growing n (a geometric grid): it must hold
 * its false-accept rate under that. At least `min_steady` runs must lie behind `first`. */
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
void stat_modes_find(const double *x, size_t n, double *scratch, stat_modes *ret);

typedef struct stat_drift {
	bool significant; /* corrected for autocorrelation */
	double ratio;	  /* change over the whole series relative to its median, e.g. +0.04 */
	double lo, hi;	  /* its interval */
} stat_drift;
void stat_drift_find(const double *x, size_t n, double level, double *scratch, stat_drift *ret);

/* --- fresh processes: k values, one per process (each its own median, p90, ...): the mean of them
 * with Student's t. k < 2: present, no interval. */
void stat_processes(const double *values, size_t k, double level, stat_estimate *ret);

/* Quantile p of sorted data, linear between order statistics (Hyndman and Fan's type 7). */
double stat_quantile_sorted(const double *sorted, size_t n, double p);
/* Of data that are not sorted. scratch: room for n. */
double stat_median(const double *x, size_t n, double *scratch);
void stat_sort(double *x, size_t n);

/* --- is a limit on a percentile kept? (binomial.c) "p99 <= 50 ms" says that at most 1 % of all
 * runs take longer. Numbers of runs may be real: what dependent runs are worth. */
/* P(X <= k) and P(X >= k) of n trials with probability q. */
double stat_binomial_at_most(double k, double n, double q);
double stat_binomial_at_least(double k, double n, double q);
/* The fewest independent runs of which `over` may be over the limit, if less than 1 - p of all are
 * to be so with that confidence. With over 1 and 99 %: 64 for p90, 662 for p99. */
uint64_t stat_percentile_runs(double p, double confidence, uint64_t over);

typedef struct stat_limit {
	dck_verdict verdict;
	double n_eff, share;	 /* independent runs; part of them that is over the limit */
	double p_held, p_broken; /* how likely so few (so many) over it are if just 1 - p of all are
				  */
	double n_needed; /* UNDECIDED: n_eff that would decide at the same share; 0: not known */
} stat_limit;

/* Of n independent runs `over` were over the limit. Never HOLDS below stat_percentile_runs(p,
 * confidence, 1), where a single chance would decide, nor below STAT_N_EFF_ENOUGH. */
void stat_limit_test(double p, double confidence, double n, double over, stat_limit *ret);

/* The interval from lo to hi against a limit: wholly above it is BROKEN, wholly within it HOLDS.
 * NaN (there is no interval): UNDECIDED. */
dck_verdict stat_limit_interval(double lo, double hi, double limit);
/* The mean +- half of n runs that are worth n_eff independent ones, against a limit. Never HOLDS
 * below STAT_N_EFF_ENOUGH: few runs of a distribution with a long tail give a mean that is too low,
 * and a spread that is too small with it. So half is taken on the logarithm upwards, and dependent
 * runs are worth less, as in stat_limit_runs(). */
void stat_limit_mean(double mean, double half, double n, double n_eff, double limit,
		     stat_limit *ret);

/* What x[0..n), in the order of their taking, are worth in independent runs when it is asked how
 * many are above `limit`, which shall be above the p-quantile, and that is judged with that
 * confidence. scratch: stat_scratch(n) doubles. */
double stat_limit_runs(const double *x, size_t n, double p, double limit, double confidence,
		       double *scratch);

/* --- classifiers (classify.c) */
typedef struct stat_class {
	uint64_t hits, predicted, support; /* right ones; times predicted; items that have it */
	double precision, recall, f1;	   /* 0 where there is nothing to divide by */
} stat_class;
typedef struct stat_average {
	double precision, recall, f1;
} stat_average;
typedef struct stat_classes {
	stat_average micro, macro, weighted;
	uint64_t n, hits, support;     /* of all classes; support: of those below k */
	size_t never_predicted, empty; /* classes with nothing to divide by */
} stat_classes;
/* truth[n] and predicted[n] are classes; those of k and more count as none of the k that are asked
 * for. ret_class and scratch: k. */
void stat_classify(const uint32_t *truth, const uint32_t *predicted, size_t n, size_t k,
		   double *scratch, stat_class *ret_class, stat_classes *ret);
/* The exact interval of a share (Clopper and Pearson, Biometrika 26, 1934); n above 0. */
void stat_proportion(uint64_t hits, uint64_t n, double level, double *ret_lo, double *ret_hi);
/* Two classifiers on the same items: how probable it is, if both are equally good, that the items
 * which only one of them gets right divide as unevenly as this. Exact and two-sided (McNemar,
 * Psychometrika 12, 1947). */
double stat_mcnemar(uint64_t only_first, uint64_t only_second);

/* --- changes: where does the level of a series change? For values that each are a measurement of
 * its own (one a day, one a commit), independent of each other but for their level. */
#define STAT_CHANGE_MIN	 8 /* of fewer values no change is certain */
#define STAT_CHANGES_MAX 64
typedef struct stat_change {
	size_t at; /* the first value of the new level */
	double p;  /* how often pure noise looks so, times the number of stretches tested */
	double before, after; /* medians up to the neighbouring changes */
} stat_change;
size_t stat_change_scratch(size_t n); /* doubles */
/* ret[STAT_CHANGES_MAX], in their order along the series; returns how many. Of series without any
 * change the share alpha gives one or more. The same data give the same result. */
size_t stat_change_find(const double *x, size_t n, double alpha, double *scratch, stat_change *ret);

/* The same for a series that is tested again and again as it grows, whose points may depend on
 * those before (an autoregression of order one): only the changes with which the points between
 * their neighbours are that much likelier than without, at a chance small enough for some ninety
 * looks. */
size_t stat_change_alarms(const double *x, size_t n, double alpha, double *scratch,
			  stat_change *ret);

/* The same of x[0..n) that depend on each other: steps of the level by more than 1 % within a
 * measurement, found on medians of at most 50 blocks. `at` is a run, to the nearest block. scratch:
 * stat_scratch(n); ret[STAT_CHANGES_MAX]. Slow change without steps gives steps too. */
size_t stat_steps_find(const double *x, size_t n, double *scratch, stat_change *ret);

/* Does x[0..n) begin with a level of its own, as of a compiler that comes late or of a machine
 * before it is hot? Only where that is the one step, the rest is steady, and the level had lasted,
 * with `before` runs of warm-up in front, for at most a quarter of all: later or repeated changes
 * are the machine's. ret->at: the first run that is behind the step for certain. scratch:
 * stat_scratch(n). */
bool stat_plateau_find(const double *x, size_t n, size_t before, double *scratch, stat_change *ret);

#endif
