/* steady.c - steady-state detection on synthetic warm-ups: how often, how soon, how often too soon?
 *
 *     accuracy_steady           with bounds: the test
 *     accuracy_steady --full    more traces, as in docs/reference/validation.md
 *
 * The check runs at the same n as in the runner: after 10 runs, then at n growing by 15 %.
 * "x 5, 30 runs": the first run takes five times as long, and that falls to 1/e in 30 runs.
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
#define N_MOST	  4000
#define MIN_RUNS  10

typedef enum noise {
	NOISE_NORMAL,
	NOISE_AR,     /* AR(1) with 0.8 */
	NOISE_SPIKES, /* normal, 1 % of the runs take three times as long */
	NOISE_MODES,  /* 30 % of the runs take 10 % longer */
	NOISE_EACH,   /* normal, each 10th run takes half as long again */
	NOISE_WAVE,   /* normal on a sine of 2 %, 20 runs long */
	NOISE_SKEWED, /* lognormal */
} noise;

typedef struct trace {
	const char *name;
	double decay, runs; /* the first run takes 1 + decay, which falls to 1/e in `runs` runs */
	double step;	    /* the first `until` runs take 1 + step */
	size_t until;
	double drift; /* change per 1000 runs, without end */
	size_t from;  /* n of the first check; 0: 10 */
	noise noise;
	double sd;
	double soon_max; /* bound of the test, percent */
	size_t runs_max; /* bound of the median of n when it is accepted; 0: never accepted */
} trace;

static const trace traces[] = {
    {"noise 0.3 %", .sd = 0.003, .soon_max = 0, .runs_max = 20},
    {"noise 1 %", .sd = 0.01, .soon_max = 0, .runs_max = 40},
    {"noise 5 %", .sd = 0.05, .soon_max = 0, .runs_max = 110},
    {"noise 20 %, skewed", .sd = 0.2, .noise = NOISE_SKEWED, .soon_max = 0, .runs_max = 110},
    {"noise 1 %, AR 0.8", .sd = 0.01, .noise = NOISE_AR, .soon_max = 0, .runs_max = 60},
    {"noise 3 %, AR 0.8", .sd = 0.03, .noise = NOISE_AR, .soon_max = 0, .runs_max = 330},
    {"noise 1 %, 1 % spikes x 3", .sd = 0.01, .noise = NOISE_SPIKES, .soon_max = 0, .runs_max = 40},
    {"noise 1 %, two modes", .sd = 0.01, .noise = NOISE_MODES, .soon_max = 0, .runs_max = 100},
    {"noise 1 %, each 10th x 1.5", .sd = 0.01, .noise = NOISE_EACH, .soon_max = 0, .runs_max = 60},
    {"noise 1 %, wave of 2 %", .sd = 0.01, .noise = NOISE_WAVE, .soon_max = 0, .runs_max = 100},
    {"x 5, 3 runs", .decay = 4, .runs = 3, .sd = 0.01, .soon_max = 3, .runs_max = 80},
    {"x 5, 30 runs", .decay = 4, .runs = 30, .sd = 0.01, .soon_max = 3, .runs_max = 550},
    {"x 5, 300 runs", .decay = 4, .runs = 300, .sd = 0.01, .soon_max = 5, .runs_max = 4000},
    {"x 5, 300 runs, asked from 100 on", .decay = 4, .runs = 300, .from = 100, .sd = 0.01,
     .soon_max = 3, .runs_max = 4000},
    {"x 2, 3 runs", .decay = 1, .runs = 3, .sd = 0.01, .soon_max = 3, .runs_max = 70},
    {"x 2, 30 runs", .decay = 1, .runs = 30, .sd = 0.01, .soon_max = 3, .runs_max = 420},
    {"x 2, 300 runs", .decay = 1, .runs = 300, .sd = 0.01, .soon_max = 5, .runs_max = 4000},
    {"x 2, 300 runs, asked from 100 on", .decay = 1, .runs = 300, .from = 100, .sd = 0.01,
     .soon_max = 3, .runs_max = 4000},
    {"x 1.2, 3 runs", .decay = 0.2, .runs = 3, .sd = 0.01, .soon_max = 3, .runs_max = 60},
    {"x 1.2, 30 runs", .decay = 0.2, .runs = 30, .sd = 0.01, .soon_max = 3, .runs_max = 280},
    {"x 1.2, 300 runs", .decay = 0.2, .runs = 300, .sd = 0.01, .soon_max = 100, .runs_max = 4000},
    {"x 1.2, 300 runs, asked from 100 on", .decay = 0.2, .runs = 300, .from = 100, .sd = 0.01,
     .soon_max = 5, .runs_max = 3000},
    {"x 1.05, 3 runs", .decay = 0.05, .runs = 3, .sd = 0.01, .soon_max = 3, .runs_max = 50},
    {"x 1.05, 30 runs", .decay = 0.05, .runs = 30, .sd = 0.01, .soon_max = 10, .runs_max = 160},
    {"x 1.05, 300 runs", .decay = 0.05, .runs = 300, .sd = 0.01, .soon_max = 100, .runs_max = 4000},
    {"x 1.05, 300 runs, asked from 100 on", .decay = 0.05, .runs = 300, .from = 100, .sd = 0.01,
     .soon_max = 100, .runs_max = 4000},
    {"x 2, 30 runs, noise 5 %", .decay = 1, .runs = 30, .sd = 0.05, .soon_max = 5, .runs_max = 500},
    {"x 2, 30 runs, AR 0.8", .decay = 1, .runs = 30, .sd = 0.01, .noise = NOISE_AR, .soon_max = 5,
     .runs_max = 450},
    {"x 2, 30 runs, spikes", .decay = 1, .runs = 30, .sd = 0.01, .noise = NOISE_SPIKES,
     .soon_max = 3, .runs_max = 450},
    {"x 2, 30 runs, two modes", .decay = 1, .runs = 30, .sd = 0.01, .noise = NOISE_MODES,
     .soon_max = 3, .runs_max = 650},
    {"x 3, first run only", .step = 2, .until = 1, .sd = 0.01, .soon_max = 2, .runs_max = 45},
    {"x 1.3 for 7 runs", .step = 0.3, .until = 7, .sd = 0.01, .soon_max = 3, .runs_max = 50},
    {"x 1.3 for 100 runs", .step = 0.3, .until = 100, .from = 108, .sd = 0.01, .soon_max = 3,
     .runs_max = 300},
    {"x 0.8 for 7 runs", .step = -0.2, .until = 7, .sd = 0.01, .soon_max = 3, .runs_max = 50},
    {"x 0.8 for 25 runs", .step = -0.2, .until = 25, .from = 30, .sd = 0.01, .soon_max = 3,
     .runs_max = 90},
    {"x 0.8 for 100 runs", .step = -0.2, .until = 100, .from = 108, .sd = 0.01, .soon_max = 3,
     .runs_max = 300},
    {"drift +1 % per 1000 runs", .drift = 0.01, .sd = 0.01, .soon_max = 0, .runs_max = 50},
    {"drift -10 % per 1000 runs", .drift = -0.1, .sd = 0.01, .soon_max = 3, .runs_max = 60},
    {"drift +1 % per 10 runs", .drift = 1, .sd = 0.01, .soon_max = 10, .runs_max = 0},
    {"drift +1 % per 3 runs", .drift = 3, .sd = 0.01, .soon_max = 3, .runs_max = 0},
};

static double signal_at(const trace *t, size_t i)
{
	const double at = (double)i;
	double v = 1 + t->drift * at / 1000;

	if (t->runs > 0)
		v += t->decay * exp(-at / t->runs);
	if (i < t->until)
		v += t->step;
	return v;
}

static void make(const trace *t, sim_random *r, double *x)
{
	const double fresh = sqrt(1 - 0.8 * 0.8), phase = sim_uniform(r);
	double z = sim_normal(r);

	for (size_t i = 0; i < N_MOST; i++) {
		double v = 1 + t->sd * z;

		if (t->noise == NOISE_SKEWED)
			v = exp(t->sd * z);
		if (t->noise == NOISE_SPIKES && sim_uniform(r) < 0.01)
			v *= 3;
		if (t->noise == NOISE_MODES && sim_uniform(r) < 0.3)
			v *= 1.1;
		if (t->noise == NOISE_EACH && i % 10 == (size_t)(10 * phase))
			v *= 1.5;
		if (t->noise == NOISE_WAVE)
			v += 0.02 * sin(2 * acos(-1.0) * ((double)i / 20 + phase));
		x[i] = v * signal_at(t, i);
		z = t->noise == NOISE_AR ? 0.8 * z + fresh * sim_normal(r) : sim_normal(r);
	}
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
	if (n == 0)
		return NAN;
	qsort(x, n, sizeof *x, compare);
	return x[n / 2];
}

typedef struct result {
	double steady, soon; /* percent */
	double runs, first;  /* medians */
	double left;	     /* median remaining change, relative to the final level */
} result;

/* Too soon: the level changes by more than 2 % over the runs after the cut, or from there to the
 * final level. An endless drift is judged by the window only. */
static result try(const trace *t, size_t series, double *x, double *scratch)
{
	double *runs = malloc(series * sizeof *runs), *first = malloc(series * sizeof *first);
	double *left = malloc(series * sizeof *left);
	size_t steady = 0, soon = 0;
	sim_random r;

	if (!runs || !first || !left)
		exit(1);
	sim_seed(&r, 4711);
	for (size_t i = 0; i < series; i++) {
		make(t, &r, x);
		for (size_t n = t->from ? t->from : MIN_RUNS; n <= N_MOST;
		     n = (size_t)((double)n * 1.15) + 1) {
			const double last = t->drift != 0 ? signal_at(t, n) : 1;
			stat_steady s;

			stat_steady_check(x, n, MIN_RUNS, scratch, &s);
			if (!s.steady)
				continue;
			runs[steady] = (double)n;
			first[steady] = (double)s.first;
			left[steady] = fabs(signal_at(t, n) / last - 1);
			soon += fabs(signal_at(t, n) / last - 1) > 0.02 ||
				fabs(signal_at(t, s.first + (n - s.first) / 8) / signal_at(t, n) -
				     1) > 0.02 + t->sd + (t->noise == NOISE_MODES ? 0.05 : 0);
			steady++;
			break;
		}
	}
	result res = {.steady = 100 * (double)steady / (double)series,
		      .soon = steady ? 100 * (double)soon / (double)series : 0,
		      .runs = median(runs, steady),
		      .first = median(first, steady),
		      .left = median(left, steady)};
	free(left);
	free(first);
	free(runs);
	return res;
}

static bool good(const trace *t, const result *r)
{
	/* For series that never settle, few may be accepted as steady. */
	if (t->runs_max == 0)
		return r->steady <= t->soon_max;
	return r->steady >= 95 && r->soon <= t->soon_max && r->runs <= (double)t->runs_max;
}

int main(int argc, char **argv)
{
	const bool full = argc == 2 && strcmp(argv[1], "--full") == 0;
	double *x, *scratch;
	size_t bad = 0;

	if (argc > 1 && !full) {
		fprintf(stderr, "usage: accuracy_steady [--full]\n");
		return 2;
	}
	x = malloc(N_MOST * sizeof *x);
	scratch = malloc(stat_scratch(N_MOST) * sizeof *scratch);
	if (!x || !scratch)
		return 1;
	printf(
	    "| trace | found steady, %% | too soon, %% | n then, median | first, median | still to "
	    "come, %% |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < LENGTH(traces); i++) {
		const result r = try(&traces[i], full ? 1000 : 60, x, scratch);
		const bool fine = good(&traces[i], &r);

		printf("| %s | %.1f | %.1f | %.0f | %.0f | %.2f |%s\n", traces[i].name, r.steady,
		       r.soon, r.runs, r.first, 100 * r.left, fine ? "" : " out of bounds");
		bad += !fine;
	}
	free(scratch);
	free(x);
	return bad > 0;
}
