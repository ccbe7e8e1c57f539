/* sequential.h - group-sequential confidence interval of the median of paired differences: it has
 * its level however often it is tested while pairs are added.
 *
 * The number of differences below the true median is a random walk of fair steps, so the
 * probability of ever crossing a boundary at the planned looks is known exactly: no
 * normality, no variance to estimate. The error is spent by shares of all planned pairs (Lan and
 * DeMets, Biometrika 70, 1983; after half of them by the boundary of O'Brien and Fleming,
 * Biometrics 35, 1979). The interval at each look contains the values for which the walk has not
 * crossed the boundary: together these intervals cover the median with the stated level (repeated
 * confidence intervals: Jennison and Turnbull, J. R. Statist. Soc. B 51, 1989).
 *
 * This assumes independent pairs. The autocorrelation of pairs is estimated from the spectra of
 * their ranks and of [d < x], for each x that may be the median: see stat_paired_median().
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STAT_SEQUENTIAL_H
#define STAT_SEQUENTIAL_H

#include <stdbool.h>
#include <stddef.h>

/* One side of the boundary: P(cross at any look) <= alpha. */
typedef struct stat_boundary {
	double alpha, spent;
	size_t n, n_max; /* pairs at the last look; planned */
	double *walk;	 /* [n_max + 2]: probability of each count, boundary not crossed */
} stat_boundary;

/* Initializes a boundary; walk: n_max + 2 doubles of the caller. A single look at n_max is the
 * exact sign test. */
void stat_boundary_init(stat_boundary *b, double alpha, size_t n_max, double *walk);

/* Makes the next look, at n pairs (more than at the last look; at most n_max). Returns r, the
 * number of values below the interval, which is [x(r+1), x(n-r)] of the sorted values; -1: no
 * interval yet. */
long stat_boundary_look(stat_boundary *b, size_t n);

/* Makes the next look as stat_boundary_look() does, and returns the error of one side at it: the
 * signs are tested with a randomised last count, so that the spent error is all that may be spent.
 * It is the level of a test of these pairs with finer steps, as of the signed ranks: sums of both
 * depend alike on those of earlier looks, where pairs are many. */
double stat_boundary_level(stat_boundary *b, size_t n);

/* Returns the extra half-width on the log scale. Early pairs may all come from one temporary level,
 * which the data cannot reveal. It shrinks to 0 as the planned pairs come in. */
double stat_boundary_slack(const stat_boundary *b);

/* Makes the next look, at n pairs, the last one, which spends the remaining error. The reason to
 * stop must not depend on the pairs (time is over). */
void stat_boundary_last(stat_boundary *b, size_t n);

/* Returns the pairs at the look after `n`: 6, then about a fifth more each time, at last n_max. */
size_t stat_look_next(size_t n, size_t n_max);

/* Number of pairs of runs in two processes at which dependence has prior odds of 1; of pairs of
 * fresh processes, which have nothing in common but the machine. */
#define STAT_PAIRS_EVEN	      80
#define STAT_PAIRS_EVEN_FRESH 800

typedef struct stat_paired {
	bool has_interval;
	double median, lo, hi;
	double tau; /* pairs per effective pair: the ranks moved outwards by its root */
} stat_paired;

/* Computes the median of d[0..n), in order of time, with the interval that leaves out `r` values at
 * each end if pairs are independent. Its ranks move outwards with the evidence for autocorrelation:
 * over several models of it, weighted by their likelihoods (Whittle, Ark. Mat. 2, 1953), the mean
 * probability of at most this number of pairs below x must not exceed that of r for independent
 * pairs. r < 0: no interval. scratch: stat_scratch(n) doubles and n more. */
void stat_paired_median(const double *d, size_t n, long r, double *scratch, stat_paired *ret);

/* Computes the shift of d[0..n), in order of time, by the signed-rank statistic with the scores
 * n + 1 .. 2n, the sum of the sign test's, times n, and of Wilcoxon's (Hajek and Sidak, Theory of
 * Rank Tests, 1967, has the theory of all such scores; Hodges and Lehmann, Ann. Math. Stat. 34,
 * 1963, the estimate and the interval). The estimate is the median of the means of any two
 * differences, in which a difference counts n + 1 times. Each side of the interval has the error
 * `level`, below 1/2. It assumes differences that are symmetric around the shift, as those of two
 * configurations are that differ by a factor. Where these are normal it takes 1.25 times fewer
 * pairs than signs, with the tails of a Laplace distribution 1.04 times more; Wilcoxon's scores 1.5
 * times fewer, and 1.33 times more. The evidence for autocorrelation moves its sides outwards as
 * above; even: the number of pairs at which it has prior odds of 1. level 0: no interval. scratch:
 * stat_scratch(n) doubles and n more. */
void stat_paired_shift(const double *d, size_t n, double level, double even, double *scratch,
		       stat_paired *ret);

#endif
