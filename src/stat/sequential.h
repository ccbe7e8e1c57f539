/* sequential.h - the median of paired differences with an interval that holds however often it is
 * tested while the pairs come in.
 *
 * Under the median's true value the number of differences below it is a random walk of fair steps,
 * so that the probability of ever crossing a boundary at planned looks is known exactly: no
 * normality, no variance to estimate. The error is spent by shares of all planned pairs (Lan and
 * DeMets, Biometrika 70, 1983; after half of them in the form of O'Brien and Fleming, Biometrics
 * 35, 1979). The interval holds, at each look, the values that the walk has not left then: together
 * these intervals cover the median with the stated level (repeated confidence intervals: Jennison
 * and Turnbull, J. R. Statist. Soc. B 51, 1989).
 *
 * That is for independent pairs. Whether and how pairs depend on each other is learnt from the
 * spectra of their ranks and of [d < x], for each x that may be the median: see
 * stat_paired_median().
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

/* walk: n_max + 2 doubles of the caller. A single look at n_max is the exact sign test. */
void stat_boundary_init(stat_boundary *b, double alpha, size_t n_max, double *walk);

/* The next look, at n pairs (more than at the last one; at most n_max): how many of the lowest
 * values lie below the interval, so that it is [x(r+1), x(n-r)] of the sorted ones; -1: no interval
 * yet. */
long stat_boundary_look(stat_boundary *b, size_t n);

/* Returns the extra half-width on the log scale. Early pairs may all come from one temporary level,
 * which the data cannot reveal. It shrinks to 0 as the planned pairs come in. */
double stat_boundary_slack(const stat_boundary *b);

/* No pair comes after the n-th, for a reason that is none of the pairs' (time is over): the next
 * look is the last, and spends what is left. */
void stat_boundary_last(stat_boundary *b, size_t n);

/* Pairs at the look after `n`: 6, then about a fifth more each time, at last n_max. */
size_t stat_look_next(size_t n, size_t n_max);

typedef struct stat_paired {
	bool has_interval;
	double median, lo, hi;
	double tau; /* pairs that count as one: by its root the ranks were moved outwards */
} stat_paired;

/* The median of d[0..n), in the order in which they came, with the interval that leaves out `r` at
 * each end if pairs are independent. Its ranks move outwards by how likely it is that pairs depend
 * on each other: over some models of that, weighted by their likelihoods (Whittle, Ark. Mat. 2,
 * 1953), the mean chance of as few pairs below x as there are must not be more than that of r.
 * r < 0: no interval. scratch: stat_scratch(n) doubles and n more. */
void stat_paired_median(const double *d, size_t n, long r, double *scratch, stat_paired *ret);

#endif
