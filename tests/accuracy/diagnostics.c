/* diagnostics.c - detection and false alarm rates of the diagnostics.
 *
 *     accuracy_diagnostics           two lengths, with bounds: the test
 *     accuracy_diagnostics --full    all, as in docs/reference/validation.md
 *
 * Two modes and drift in percent of the series. Lag-1 autocorrelation: its mean, and the prediction
 * of its bias formula if the true value is known.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(a) (sizeof(a) / sizeof(a)[0])
#define N_MOST	  5000

static const sim_kind kinds[] = {
    {"normal", SIM_NORMAL, 0, 0, 0, 0},
    {"normal, AR 0.5", SIM_NORMAL, 0.5, 0, 0, 0},
    {"normal, AR 0.8", SIM_NORMAL, 0.8, 0, 0, 0},
    {"lognormal", SIM_LOGNORMAL, 0, 0, 0, 0},
    {"lognormal, AR 0.5", SIM_LOGNORMAL, 0.5, 0, 0, 0},
    {"lognormal, AR 0.8", SIM_LOGNORMAL, 0.8, 0, 0, 0},
    {"two modes", SIM_BIMODAL, 0, 0, 0, 0},
    {"two modes, AR 0.5", SIM_BIMODAL, 0.5, 0, 0, 0},
    {"two modes, AR 0.8", SIM_BIMODAL, 0.8, 0, 0, 0},
    {"drift +2 %", SIM_NORMAL, 0, 0.02, 0, 0},
    {"drift +2 %, AR 0.8", SIM_NORMAL, 0.8, 0.02, 0, 0},
    {"spike each 30th run", SIM_NORMAL, 0, 0, 30, 50},
};

typedef struct result {
	double two, drift; /* percent */
	double lag1;	   /* mean */
} result;

static result try(const sim_kind *k, size_t n, size_t series, double *x, double *scratch)
{
	size_t two = 0, drifts = 0;
	double lag1 = 0;
	sim_random r;

	sim_seed(&r, 5);
	for (size_t i = 0; i < series; i++) {
		stat_modes modes;
		stat_drift drift;

		sim_make(k, &r, x, n, n);
		lag1 += stat_lag1(x, n) / (double)series;
		stat_modes_find(x, n, 0, scratch, &modes);
		stat_drift_find(x, n, 0.95, scratch, &drift);
		two += modes.two;
		drifts += drift.significant;
	}
	return (result){.two = 100 * (double)two / (double)series,
			.drift = 100 * (double)drifts / (double)series,
			.lag1 = lag1};
}

/* Kendall (1954). Other shapes have another lag-1 autocorrelation than the underlying normal. */
static bool lag1_expected(const sim_kind *k, size_t n, double *ret)
{
	if (k->shape != SIM_NORMAL || k->drift > 0 || k->spike_every)
		return false;
	*ret = k->phi - (1 + 3 * k->phi) / (double)n;
	return true;
}

static void print(const sim_kind *k, size_t n, const result *r, const char *remark)
{
	double expected;

	printf("| %s | %zu | %.1f | %.1f | %.3f | ", k->name, n, r->two, r->drift, r->lag1);
	if (lag1_expected(k, n, &expected))
		printf("%.3f", expected);
	printf(" |%s\n", remark);
	fflush(stdout);
}

/* The rates of docs/reference/validation.md and three standard errors of a rate from few series. */
static bool good(const sim_kind *k, size_t n, const result *r)
{
	const bool two = k->shape == SIM_BIMODAL, drift = k->drift > 0;
	double expected;

	if (two ? r->two < (n < 1000 ? 65 : 97) : r->two > 2)
		return false;
	if (drift && k->phi > 0 && n < 1000)
		return true; /* indistinguishable */
	if (drift ? r->drift < (n < 1000 || k->phi > 0 ? 35 : 97) : r->drift > (n < 1000 ? 14 : 10))
		return false;
	return !lag1_expected(k, n, &expected) || fabs(r->lag1 - expected) < 0.02;
}

int main(int argc, char **argv)
{
	static const size_t all[] = {50, 100, 300, 1000, 5000}, few[] = {100, 1000};
	const bool full = argc == 2 && strcmp(argv[1], "--full") == 0;
	const size_t *ns = full ? all : few, ns_n = full ? LENGTH(all) : LENGTH(few);
	double *x, *scratch;
	size_t bad = 0;

	if (argc > 1 && !full) {
		fprintf(stderr, "usage: accuracy_diagnostics [--full]\n");
		return 2;
	}
	x = malloc(N_MOST * sizeof *x);
	scratch = malloc(stat_scratch(N_MOST) * sizeof *scratch);
	if (!x || !scratch)
		return 1;
	printf("| series | n | two modes, %% | drift, %% | lag-1 | foretold |\n"
	       "|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < LENGTH(kinds); i++) {
		for (size_t j = 0; j < ns_n; j++) {
			const size_t series = !full ? 200 : ns[j] > 1000 ? 500 : 2000;
			const result r = try(&kinds[i], ns[j], series, x, scratch);
			const bool fine = full || good(&kinds[i], ns[j], &r);

			print(&kinds[i], ns[j], &r, fine ? "" : " out of bounds");
			bad += !fine;
		}
	}
	free(scratch);
	free(x);
	return bad > 0;
}
