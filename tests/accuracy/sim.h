/* sim.h - random numbers and synthetic series for the simulations.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ACCURACY_SIM_H
#define ACCURACY_SIM_H

#include <stddef.h>
#include <stdint.h>

/* xoshiro256++ by Blackman and Vigna (public domain algorithm), seeded by splitmix64. */
typedef struct sim_random {
	uint64_t s[4];
} sim_random;

void sim_seed(sim_random *r, uint64_t seed);
double sim_uniform(sim_random *r); /* in (0, 1) */
double sim_normal(sim_random *r);

typedef enum sim_shape {
	SIM_NORMAL,    /* 100, sd 3 */
	SIM_LOGNORMAL, /* 100 times a lognormal of sigma 0.5 */
	SIM_BIMODAL,   /* 70 % at 100, 30 % at 110, sd 1 */
	SIM_SHAPES
} sim_shape;

typedef struct sim_kind {
	const char *name;
	sim_shape shape;
	double phi;	    /* of the underlying AR(1) process */
	double drift;	    /* change over the whole series, ratio of the level */
	size_t spike_every; /* 0: none */
	double spike;	    /* the value added at a spike */
} sim_kind;

/* Makes the first n runs of a series of `whole` runs, which determines the drift of each run. The
 * phase of spikes is drawn. */
void sim_make(const sim_kind *k, sim_random *r, double *x, size_t n, size_t whole);

/* The true statistics of a series of n out of `whole` runs, over repeated draws of its noise: the
 * mean, and the p-quantile of the mixture of the distributions along the series. */
double sim_true_mean(const sim_kind *k, size_t n, size_t whole);
double sim_true_stddev(const sim_kind *k); /* of the shape only, without drift and spikes */
double sim_true_mad(const sim_kind *k);
double sim_true_quantile(const sim_kind *k, size_t n, size_t whole, double p);

#endif
