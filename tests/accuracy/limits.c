/* limits.c - how often is a violated limit on a percentile reported as met, and how often is a
 * limit that is met by far shown to be met? Latencies of queues and other series, judged as in
 * `deepclock load`.
 *
 *     accuracy_limits           short, with bounds: the test
 *     accuracy_limits --full    more series, as in docs/reference/validation.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_MOST	   64000
#define LONG	   6000000 /* its quantile replaces the true quantile if there is no formula */
#define WARM	   2000
#define CONFIDENCE 0.99
/* A limit that a quarter of the allowed share exceeds; for a mean, the relative distance below. */
#define EASY	  4
#define EASY_MEAN 0.25
#define MIDDLE	  5 /* mean of the autoregression, in standard deviations */

typedef enum source { EQUAL_SERVICE, RANDOM_SERVICE, AUTOREGRESSION } source;

typedef struct kind {
	const char *name;
	source from;
	double by; /* utilisation; coefficient */
	double p;  /* 0: the limit is on the mean */
	size_t n;
} kind;

static const kind kinds[] = {
    {"M/D/1 at 80 %, p99", EQUAL_SERVICE, 0.8, 0.99, 16000},
    {"M/M/1 at 80 %, p99", RANDOM_SERVICE, 0.8, 0.99, 16000},
    {"M/D/1 at 80 %, p99", EQUAL_SERVICE, 0.8, 0.99, 64000},
    {"M/M/1 at 80 %, p99", RANDOM_SERVICE, 0.8, 0.99, 64000},
    {"M/D/1 at 80 %, p90", EQUAL_SERVICE, 0.8, 0.9, 4000},
    {"M/M/1 at 80 %, p90", RANDOM_SERVICE, 0.8, 0.9, 4000},
    {"M/M/1 at 50 %, p90", RANDOM_SERVICE, 0.5, 0.9, 4000},
    {"AR 0.8, p90", AUTOREGRESSION, 0.8, 0.9, 4000},
    {"independent, p99", AUTOREGRESSION, 0, 0.99, 4000},
    {"M/D/1 at 80 %, mean", EQUAL_SERVICE, 0.8, 0, 16000},
    {"M/M/1 at 80 %, mean", RANDOM_SERVICE, 0.8, 0, 16000},
    {"M/M/1 at 50 %, mean", RANDOM_SERVICE, 0.5, 0, 4000},
    {"AR 0.8, mean", AUTOREGRESSION, 0.8, 0, 4000},
};

static void draw(const kind *k, sim_random *r, double *x, size_t n)
{
	const double fresh = sqrt(1 - k->by * k->by);
	double wait = 0, z = sim_normal(r);

	for (size_t i = 0; i < n + WARM; i++) {
		double latency = MIDDLE + z;

		if (k->from == AUTOREGRESSION) {
			z = k->by * z + fresh * sim_normal(r);
		} else {
			const double service = k->from == EQUAL_SERVICE ? 1 : -log(sim_uniform(r));

			latency = wait + service;
			wait = fmax(0, latency + log(sim_uniform(r)) / k->by);
		}
		if (i >= WARM)
			x[i - WARM] = latency;
	}
}

static bool mean_holds(const double *x, size_t n, double limit, double *scratch)
{
	stat_estimate mean;
	stat_limit l;

	stat_estimate_one(STAT_MEAN, x, n, 2 * CONFIDENCE - 1, scratch, &mean);
	stat_limit_mean(mean.value, mean.has_interval ? (mean.hi - mean.lo) / 2 : (double)INFINITY,
			(double)n, mean.n_eff, limit, &l);
	return l.verdict == DCK_VERDICT_MET;
}

static bool holds(const kind *k, const double *x, double limit, double *scratch)
{
	if (k->p <= 0)
		return mean_holds(x, k->n, limit, scratch);

	const double n = (double)k->n;
	const double runs = stat_limit_runs(x, k->n, k->p, limit, CONFIDENCE, scratch);
	double over = 0;
	stat_limit l;

	for (size_t i = 0; i < k->n; i++)
		over += x[i] > limit;
	stat_limit_test(k->p, CONFIDENCE, runs, over * runs / n, &l);
	return l.verdict == DCK_VERDICT_MET;
}

static double mean_of(const kind *k)
{
	if (k->from == AUTOREGRESSION)
		return MIDDLE;
	return k->from == RANDOM_SERVICE ? 1 / (1 - k->by) : 1 + k->by / (2 * (1 - k->by));
}

/* x: capacity of at least LONG. */
static double quantile(const kind *k, double p, sim_random *r, double *x)
{
	if (k->from == AUTOREGRESSION)
		return MIDDLE + stat_normal_quantile(p);
	if (k->from == RANDOM_SERVICE)
		return -log(1 - p) / (1 - k->by);
	draw(k, r, x, LONG);
	stat_sort(x, LONG);
	return stat_quantile_sorted(x, LONG, p);
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	double *x = malloc((LONG + WARM) * sizeof *x),
	       *scratch = malloc(stat_scratch(N_MOST) * sizeof *x);
	int bad = 0;

	if (full)
		printf(
		    "| requests | n | false `holds` | shown at a quarter |\n|---|---|---|---|\n");
	for (size_t i = 0; x && scratch && i < sizeof kinds / sizeof kinds[0]; i++) {
		const kind *k = &kinds[i];
		const int times = !full ? 60 : k->n > 16000 ? 200 : 600;
		int wrong = 0, shown = 0;
		double just, easy;
		sim_random r;

		if (!full && k->n > 16000)
			continue;
		sim_seed(&r, 5);
		just = k->p > 0 ? quantile(k, k->p, &r, x) : mean_of(k);
		easy =
		    k->p > 0 ? quantile(k, 1 - (1 - k->p) / EASY, &r, x) : just * (1 + EASY_MEAN);
		for (int s = 0; s < times; s++) {
			draw(k, &r, x, k->n);
			wrong += holds(k, x, just, scratch);
			shown += holds(k, x, easy, scratch);
		}
		if (full)
			printf("| %s | %zu | %.1f %% | %.0f %% |\n", k->name, k->n,
			       100.0 * wrong / times, 100.0 * shown / times);
		fflush(stdout);
		/* 1 % of 60 is 0.6: the probability of five is 1 in 3000. */
		if (!full && wrong > 4) {
			printf("%s: %d of %d falsely hold\n", k->name, wrong, times);
			bad++;
		}
	}
	free(x);
	free(scratch);
	return bad > 0;
}
