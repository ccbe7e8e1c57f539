/* SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/dist.h"
#include "base/rng.h"
#include <math.h>

#define SIGMA 0.5

void sim_seed(sim_random *r, uint64_t seed)
{
	for (int i = 0; i < 4; i++)
		r->s[i] = rng_next(&seed);
}

static uint64_t rotate(uint64_t x, int by)
{
	return (x << by) | (x >> (64 - by));
}

double sim_uniform(sim_random *r)
{
	uint64_t *s = r->s;
	const uint64_t result = rotate(s[0] + s[3], 23) + s[0], t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotate(s[3], 45);
	return ((double)(result >> 11) + 0.5) / 9007199254740992.0;
}

/* Box and Muller. */
double sim_normal(sim_random *r)
{
	const double u = sim_uniform(r), v = sim_uniform(r);

	return sqrt(-2 * log(u)) * cos(2 * acos(-1.0) * v);
}

static double normal_cdf(double z)
{
	return 0.5 * erfc(-z / sqrt(2.0));
}

static double shape_cdf(sim_shape shape, double x)
{
	switch (shape) {
	case SIM_LOGNORMAL:
		return x > 0 ? normal_cdf(log(x / 100) / SIGMA) : 0;
	case SIM_BIMODAL:
		return 0.7 * normal_cdf(x - 100) + 0.3 * normal_cdf(x - 110);
	default:
		return normal_cdf((x - 100) / 3);
	}
}

static double bisect_quantile(sim_shape shape, double p)
{
	double lo = 0, hi = 10000;

	for (int i = 0; i < 80; i++) {
		const double x = (lo + hi) / 2;

		if (shape_cdf(shape, x) < p)
			lo = x;
		else
			hi = x;
	}
	return (lo + hi) / 2;
}

/* Maps a standard normal number to the shape monotonically, which preserves the serial dependence.
 * The two modes are separated enough that the lower 70 % all belong to the lower mode. */
static double shape_map(sim_shape shape, double z)
{
	double p;

	if (shape == SIM_NORMAL)
		return 100 + 3 * z;
	if (shape == SIM_LOGNORMAL)
		return 100 * exp(SIGMA * z);
	p = normal_cdf(z);
	return p < 0.7 ? 100 + stat_normal_quantile(p / 0.7)
		       : 110 + stat_normal_quantile((p - 0.7) / 0.3);
}

static double drift_at(const sim_kind *k, size_t i, size_t whole)
{
	return k->drift * ((double)i + 0.5) / (double)whole;
}

void sim_make(const sim_kind *k, sim_random *r, double *x, size_t n, size_t whole)
{
	const double fresh = sqrt(1 - k->phi * k->phi);
	const size_t phase = k->spike_every ? (size_t)(sim_uniform(r) * (double)k->spike_every) : 0;
	double z = sim_normal(r);

	for (size_t i = 0; i < n; i++) {
		x[i] = shape_map(k->shape, z) + 100 * drift_at(k, i, whole);
		if (k->spike_every && i % k->spike_every == phase)
			x[i] += k->spike;
		z = k->phi * z + fresh * sim_normal(r);
	}
}

double sim_true_mean(const sim_kind *k, size_t n, size_t whole)
{
	static const double means[SIM_SHAPES] = {[SIM_NORMAL] = 100, [SIM_BIMODAL] = 103};
	double mean = k->shape == SIM_LOGNORMAL ? 100 * exp(SIGMA * SIGMA / 2) : means[k->shape];

	mean += 100 * k->drift * (double)n / (double)whole / 2;
	if (k->spike_every)
		mean += k->spike / (double)k->spike_every;
	return mean;
}

static double mixture_cdf(const sim_kind *k, size_t n, size_t whole, double x)
{
	const size_t steps = k->drift > 0 || k->drift < 0 ? 200 : 1;
	const double spikes = k->spike_every ? 1 / (double)k->spike_every : 0;
	double sum = 0;

	for (size_t i = 0; i < steps; i++) {
		const double at =
		    100 * k->drift * (double)n / (double)whole * ((double)i + 0.5) / (double)steps;

		sum += (1 - spikes) * shape_cdf(k->shape, x - at);
		if (spikes > 0)
			sum += spikes * shape_cdf(k->shape, x - at - k->spike);
	}
	return sum / (double)steps;
}

double sim_true_quantile(const sim_kind *k, size_t n, size_t whole, double p)
{
	double lo = 0, hi = 10000;

	if (!(k->drift > 0 || k->drift < 0) && !k->spike_every)
		return bisect_quantile(k->shape, p);
	for (int i = 0; i < 60; i++) {
		const double x = (lo + hi) / 2;

		if (mixture_cdf(k, n, whole, x) < p)
			lo = x;
		else
			hi = x;
	}
	return (lo + hi) / 2;
}

double sim_true_stddev(const sim_kind *k)
{
	const double grown = exp(SIGMA * SIGMA);
	const double values[SIM_SHAPES] = {[SIM_NORMAL] = 3,
					   [SIM_LOGNORMAL] = 100 * sqrt(grown * (grown - 1)),
					   [SIM_BIMODAL] = sqrt(1 + 0.7 * 0.3 * 10 * 10)};

	return values[k->shape];
}

double sim_true_mad(const sim_kind *k)
{
	const double median = bisect_quantile(k->shape, 0.5);
	double lo = 0, hi = 1000;

	for (int i = 0; i < 80; i++) {
		const double m = (lo + hi) / 2;

		if (shape_cdf(k->shape, median + m) - shape_cdf(k->shape, median - m) < 0.5)
			lo = m;
		else
			hi = m;
	}
	return (lo + hi) / 2;
}
