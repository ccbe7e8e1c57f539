/* coverage.c - coverage of the confidence intervals.
 *
 *     accuracy_coverage           a few cells, with bounds: the test
 *     accuracy_coverage --full    all cells, as in docs/reference/validation.md
 *     accuracy_coverage --stopped only the last of these tables
 *
 * Each cell draws `series` series; absent intervals are not counted, and the number of present
 * intervals is shown. Seeds are fixed, so the figures are the same everywhere.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH(a)    (sizeof(a) / sizeof(a)[0])
#define PLACES	     4 /* estimators that are evaluated together */
#define N_EFF_ENOUGH STAT_N_EFF_ENOUGH
#define MIN_RUNS     50 /* the default of --min-runs */
/* Fixed n: half the number of series for longer series. */
#define LONG 1000

/* The first kinds, which do not change over time. */
#define STATIONARY 9

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
    {"drift +5 %", SIM_NORMAL, 0, 0.05, 0, 0},
    {"drift +5 %, AR 0.5", SIM_NORMAL, 0.5, 0.05, 0, 0},
    {"spike each 8th run", SIM_NORMAL, 0, 0, 8, 50},
    {"spike each 16th run, AR 0.5", SIM_NORMAL, 0.5, 0, 16, 50},
    {"spike each 30th run", SIM_NORMAL, 0, 0, 30, 50},
};

typedef enum truth { TRUE_MEAN, TRUE_QUANTILE, TRUE_STDDEV, TRUE_CV, TRUE_MAD } truth;

typedef struct question {
	const char *name;
	stat_estimator which;
	truth truth;
	double p;
	size_t rarer; /* stopped: evaluated in every rarer-th series, because it is slow */
} question;

static const question places[PLACES] = {
    {"mean", STAT_MEAN, TRUE_MEAN, 0, 1},
    {"median", STAT_MEDIAN, TRUE_QUANTILE, 0.5, 1},
    {"p90", STAT_P90, TRUE_QUANTILE, 0.9, 1},
    {"p99", STAT_P99, TRUE_QUANTILE, 0.99, 4},
};
static const question spreads[PLACES] = {
    {"stddev", STAT_STDDEV, TRUE_STDDEV, 0, 1},
    {"CV", STAT_CV, TRUE_CV, 0, 1},
    {"MAD", STAT_MAD, TRUE_MAD, 0, 1},
    {"p95", STAT_P95, TRUE_QUANTILE, 0.95, 1},
};

typedef struct tally {
	size_t covered, present, series;
	double n, n_eff;
} tally;

/* Requirements of a mode for cells with an effective sample size of at least 50. */
typedef struct verdict {
	double lo, hi; /* bounds, percent */
	size_t cells, inside;
	double least, most;
} verdict;

static double *room(size_t n)
{
	double *p = malloc(n * sizeof *p);

	if (!p) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

static double truth_of(const sim_kind *k, const question *q, size_t n, size_t whole)
{
	switch (q->truth) {
	case TRUE_MEAN:
		return sim_true_mean(k, n, whole);
	case TRUE_QUANTILE:
		return sim_true_quantile(k, n, whole, q->p);
	case TRUE_STDDEV:
		return sim_true_stddev(k);
	case TRUE_CV:
		return sim_true_stddev(k) / sim_true_mean(k, n, whole);
	case TRUE_MAD:
		return sim_true_mad(k);
	}
	return NAN;
}

static void count(tally *t, const stat_estimate *e, double value, size_t n)
{
	t->series++;
	if (!e->has_interval)
		return;
	t->present++;
	t->covered += e->lo <= value && value <= e->hi;
	t->n += (double)n;
	t->n_eff += e->n_eff;
}

static void fixed_n(const sim_kind *k, const question *asked, size_t n, size_t series, tally *t)
{
	double *x = room(n), *scratch = room(stat_scratch(n)), value[PLACES];
	sim_random r;

	sim_seed(&r, 1000 + n);
	for (size_t a = 0; a < PLACES; a++)
		value[a] = truth_of(k, &asked[a], n, n);
	for (size_t i = 0; i < series; i++) {
		stat_estimate e;

		sim_make(k, &r, x, n, n);
		for (size_t a = 0; a < PLACES; a++) {
			stat_estimate_one(asked[a].which, x, n, 0.95, scratch, &e);
			count(&t[a], &e, value[a], n);
		}
	}
	free(scratch);
	free(x);
}

typedef struct stop {
	size_t least, most; /* n of the first and of the last look */
	double precision;
} stop;

/* Adds runs until the stop rule ends it; the last interval is reported, whether it reached the
 * precision or not. */
static size_t stopped_one(const double *x, const question *q, const stop *how, double *scratch,
			  stat_estimate *ret)
{
	stat_stop rule = {0};

	for (size_t n = how->least;; n = (size_t)stat_stop_next(n)) {
		n = n < how->most ? n : how->most;
		stat_estimate_one(q->which, x, n, 0.95, scratch, ret);
		if (stat_stop_look(&rule, ret, how->precision) || n == how->most)
			return n;
	}
}

static void stopped_n(const sim_kind *k, const stop *how, size_t series, tally *t)
{
	double *x = room(how->most), *scratch = room(stat_scratch(how->most));
	sim_random r;

	sim_seed(&r, 77);
	for (size_t i = 0; i < series; i++) {
		sim_make(k, &r, x, how->most, how->most);
		for (size_t a = 0; a < PLACES; a++) {
			stat_estimate e;
			size_t n;

			if (i % places[a].rarer != 0)
				continue;
			n = stopped_one(x, &places[a], how, scratch, &e);
			count(&t[a], &e, truth_of(k, &places[a], n, how->most), n);
		}
	}
	free(scratch);
	free(x);
}

static double percent(size_t part, size_t whole)
{
	return whole ? 100 * (double)part / (double)whole : NAN;
}

/* Checks and prints one row; a star marks a cell outside of the bounds. If fewer than half of the
 * series have the interval, they are a biased selection, and no rate is printed. */
static void row(const char *name, double what, const tally *t, verdict *v, bool with_n)
{
	printf("| %s | %g |", name, what);
	for (size_t a = 0; a < PLACES; a++) {
		const double have = (double)t[a].present,
			     rate = percent(t[a].covered, t[a].present);
		bool outside = false;

		if (2 * t[a].present < t[a].series) {
			printf(" absent |");
			continue;
		}
		if (t[a].n_eff / have >= N_EFF_ENOUGH) {
			outside = rate < v->lo || rate > v->hi;
			v->cells++;
			v->inside += !outside;
			v->least = fmin(v->least, rate);
			v->most = fmax(v->most, rate);
		}
		printf(" %.1f%s (", rate, outside ? "\\*" : "");
		if (with_n)
			printf("%.0f, ", t[a].n / have);
		printf("%.0f) |", t[a].n_eff / have);
	}
	printf("\n");
	fflush(stdout);
}

static void head(const char *title, const char *what, const question *asked)
{
	printf("\n%s\n\n| series | %s |", title, what);
	for (size_t a = 0; a < PLACES; a++)
		printf(" %s |", asked[a].name);
	printf("\n|---|---|---|---|---|---|\n");
}

static void fixed_table(const char *title, const question *asked, size_t kinds_n, const size_t *ns,
			size_t ns_n, size_t series, const char *only, verdict *v)
{
	head(title, "n", asked);
	for (size_t i = 0; i < kinds_n; i++) {
		for (size_t j = 0; j < ns_n && strstr(kinds[i].name, only); j++) {
			tally t[PLACES] = {0};

			fixed_n(&kinds[i], asked, ns[j], ns[j] > LONG ? series / 2 : series, t);
			row(kinds[i].name, (double)ns[j], t, v, false);
		}
	}
}

/* Uses precisions at which the stationary series stop at n of about 100 to 5,000. */
static void stopped_table(size_t precisions, size_t most, size_t series, const char *only,
			  verdict *v)
{
	static const double wanted[SIM_SHAPES][2] = {[SIM_NORMAL] = {0.01, 0.005},
						     [SIM_LOGNORMAL] = {0.15, 0.1},
						     [SIM_BIMODAL] = {0.01, 0.006}};

	head("Stopped by precision: coverage in percent (mean n at the stop, effective runs)",
	     "precision", places);
	for (size_t i = 0; i < LENGTH(kinds); i++) {
		for (size_t j = 0; j < precisions && strstr(kinds[i].name, only); j++) {
			const stop how = {MIN_RUNS, most, wanted[kinds[i].shape][j]};
			tally t[PLACES] = {0};

			stopped_n(&kinds[i], &how, i < STATIONARY ? series : series / 4, t);
			row(kinds[i].name, how.precision, t, v, true);
		}
	}
}

static bool conclude(const char *name, const verdict *v)
{
	if (v->cells == 0)
		return false;
	printf("\n%s: %zu of %zu cells with 50 effective runs or more within %g to %g %%, "
	       "all within %.1f to %.1f %%\n",
	       name, v->inside, v->cells, v->lo, v->hi, v->least, v->most);
	return v->inside == v->cells;
}

static const char fixed_title[] = "Fixed n: coverage in percent (effective runs)";
static const char spread_title[] = "Spread, fixed n: coverage in percent (effective runs)";

/* Bounds are the target, 93 to 97, widened by two to three standard errors of a rate from these few
 * series. Methods that ignore dependence cover 50 to 85 % here. */
static int quick(void)
{
	static const size_t ns[] = {300, 1000};
	verdict fixed = {.lo = 89, .hi = 100, .least = 100}, stopped = fixed;
	bool good;

	fixed_table(fixed_title, places, LENGTH(kinds), ns, LENGTH(ns), 150, "", &fixed);
	stopped_table(1, 1500, 100, "two modes, AR", &stopped);
	good = conclude("fixed n", &fixed);
	good = conclude("stopped", &stopped) && good;
	return good ? 0 : 1;
}

static int stopped_full(const char *only)
{
	verdict stopped = {.lo = 93, .hi = 97, .least = 100};

	stopped_table(2, 6000, 2000, only, &stopped);
	conclude("stopped", &stopped);
	return 0;
}

static int full(const char *only)
{
	static const size_t ns[] = {50, 100, 300, 1000, 3000};
	verdict fixed = {.lo = 93, .hi = 97, .least = 100}, spread = fixed;

	fixed_table(fixed_title, places, LENGTH(kinds), ns, LENGTH(ns), 1000, only, &fixed);
	fixed_table(spread_title, spreads, STATIONARY, ns, LENGTH(ns), 400, only, &spread);
	conclude("fixed n", &fixed);
	conclude("spread", &spread);
	return stopped_full(only);
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--full") == 0)
		return full(argc > 2 ? argv[2] : "");
	if (argc > 1 && strcmp(argv[1], "--stopped") == 0)
		return stopped_full(argc > 2 ? argv[2] : "");
	if (argc > 1) {
		fprintf(stderr,
			"usage: accuracy_coverage [--full|--stopped [PART OF A SERIES' NAME]]\n");
		return 2;
	}
	return quick();
}
