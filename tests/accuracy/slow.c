/* slow.c - coverage of the intervals on series with long memory. Real machines behave like this:
 * threads migrate between cores, and other load comes and goes in phases.
 *
 *     accuracy_slow               a few cells, with bounds: the test
 *     accuracy_slow --full [PART] all cells, as in docs/reference/validation.md
 *     accuracy_slow --steps       steps within a measurement, and plateaus at its beginning
 *
 * For each series: coverage of the intervals that are not marked narrow, the share that is marked,
 * and the mean half-width. The true value is that of the process, not of the window: a window
 * inside a single regime has no data on the others, and must be marked. Seeds are fixed.
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
#define PI	  3.14159265358979323846
/* Coefficients of the moving average that approximates long memory. */
#define TAPS 4000

typedef struct slow_kind slow_kind;
struct slow_kind {
	const char *name;
	void (*make)(const slow_kind *k, sim_random *r, double *x, size_t n);
	double a, b, c; /* parameters of `make` */
	/* P(value <= x), for the true quantile. NULL: estimated from a long series, which suffices
	 * if the memory is much shorter. */
	double (*cdf)(const slow_kind *k, double x);
	double mean; /* with cdf */
	/* Minimum percent of intervals of 300 runs that cover or are marked: lower if a window
	 * inside one regime cannot be distinguished from others. */
	double honest;
};

static double *room(size_t n)
{
	double *p = malloc(n * sizeof *p);

	if (!p) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return p;
}

static double phi(double z)
{
	return 0.5 * erfc(-z / sqrt(2.0));
}

/* --- autoregressive, of any margin: a: phi, b: log sigma of a lognormal, or tail of a Pareto */

static double lognormal(const slow_kind *k, double z)
{
	return 100 * exp(k->b * z);
}

static double pareto(const slow_kind *k, double z)
{
	return 100 * pow(fmax(1 - phi(z), 1e-15), -1 / k->b);
}

static void ar(const slow_kind *k, sim_random *r, double *x, size_t n,
	       double (*margin)(const slow_kind *k, double z))
{
	double z = sim_normal(r);

	for (size_t i = 0; i < n; i++) {
		x[i] = margin(k, z);
		z = k->a * z + sqrt(1 - k->a * k->a) * sim_normal(r);
	}
}

static void ar_lognormal(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	ar(k, r, x, n, lognormal);
}

static double lognormal_cdf(const slow_kind *k, double x)
{
	return x > 0 ? phi(log(x / 100) / k->b) : 0;
}

static void ar_pareto(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	ar(k, r, x, n, pareto);
}

static double pareto_cdf(const slow_kind *k, double x)
{
	return x > 100 ? 1 - pow(x / 100, -k->b) : 0;
}

/* --- two states; a and b: mean runs in the lower and the upper state, c: relative difference */

static void states(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	bool high = sim_uniform(r) < k->b / (k->a + k->b);

	for (size_t i = 0; i < n; i++) {
		x[i] = (high ? 100 * (1 + k->c) : 100) + 2 * sim_normal(r);
		if (sim_uniform(r) < 1 / (high ? k->b : k->a))
			high = !high;
	}
}

static double states_cdf(const slow_kind *k, double x)
{
	const double high = k->b / (k->a + k->b);

	return (1 - high) * phi((x - 100) / 2) + high * phi((x - 100 * (1 + k->c)) / 2);
}

/* Independent outliers: share a, b times as long. */
static void outliers(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = (sim_uniform(r) < k->a ? k->b : 1) * (100 + 3 * sim_normal(r));
}

static double outliers_cdf(const slow_kind *k, double x)
{
	return (1 - k->a) * phi((x - 100) / 3) + k->a * phi((x / k->b - 100) / 3);
}

/* Self-exciting events: a: base rate per run, b: events that each event causes, c: decay factor of
 * this excitation per run. */
static void bursts(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	double more = 0;

	for (size_t i = 0; i < 1000 + n; i++) {
		const bool event = sim_uniform(r) < fmin(0.9, k->a + more);

		more = more * k->c + (event ? k->b * (1 - k->c) : 0);
		if (i >= 1000)
			x[i - 1000] =
			    100 + 2 * sim_normal(r) + (event ? -30 * log(sim_uniform(r)) : 0);
	}
}

/* ARMA(2, 1) with real roots a and b, moving average c. */
static void arma(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	double one = 0, two = 0, last = 0;

	for (size_t i = 0; i < 1000 + n; i++) {
		const double e = sim_normal(r);
		const double now = (k->a + k->b) * one - k->a * k->b * two + e + k->c * last;

		two = one;
		one = now;
		last = e;
		if (i >= 1000)
			x[i - 1000] = 100 + now;
	}
}

/* The distribution is symmetrical about 100. */
static double arma_cdf(const slow_kind *k, double x)
{
	/* Variance from the coefficients of the moving average. */
	double psi = 1, before = 0, var = 1;

	for (int j = 1; j < 4000; j++) {
		const double next =
		    j == 1 ? k->a + k->b + k->c : (k->a + k->b) * psi - k->a * k->b * before;

		before = psi;
		psi = next;
		var += psi * psi;
	}
	return phi((x - 100) / sqrt(var));
}

/* Fractionally integrated noise of order a. */
static double *long_taps(const slow_kind *k)
{
	static double taps[TAPS], order;

	if (order == k->a)
		return taps;
	order = k->a;
	taps[0] = 1;
	for (int j = 1; j < TAPS; j++)
		taps[j] = taps[j - 1] * (j - 1 + order) / j;
	return taps;
}

static void long_memory(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	const double *taps = long_taps(k);
	double *e = room(n + TAPS);

	for (size_t i = 0; i < n + TAPS; i++)
		e[i] = sim_normal(r);
	for (size_t i = 0; i < n; i++) {
		double sum = 0;

		for (size_t j = 0; j < TAPS; j++)
			sum += taps[j] * e[i + TAPS - j];
		x[i] = 100 + 3 * sum;
	}
	free(e);
}

static double long_memory_cdf(const slow_kind *k, double x)
{
	const double *taps = long_taps(k);
	double var = 0;

	for (int j = 0; j < TAPS; j++)
		var += taps[j] * taps[j];
	return phi((x - 100) / (3 * sqrt(var)));
}

/* Noise whose log amplitude is AR(1) with coefficient a and standard deviation b. */
static void clustered(const slow_kind *k, sim_random *r, double *x, size_t n)
{
	double h = sim_normal(r);

	for (size_t i = 0; i < n; i++) {
		x[i] = 100 + 3 * exp(k->b * h / 2) * sim_normal(r);
		h = k->a * h + sqrt(1 - k->a * k->a) * sim_normal(r);
	}
}

static double clustered_cdf(const slow_kind *k, double x)
{
	double sum = 0, weight = 0;

	for (double h = -6; h <= 6; h += 0.02) {
		const double w = exp(-h * h / 2);

		sum += w * phi((x - 100) / (3 * exp(k->b * h / 2)));
		weight += w;
	}
	return sum / weight;
}

static const slow_kind kinds[] = {
    {"lognormal 0.3", ar_lognormal, 0, 0.3, 0, lognormal_cdf, 104.6027860, 90},
    {"the same, AR 0.5", ar_lognormal, 0.5, 0.3, 0, lognormal_cdf, 104.6027860, 90},
    {"the same, AR 0.8", ar_lognormal, 0.8, 0.3, 0, lognormal_cdf, 104.6027860, 90},
    {"the same, AR 0.95", ar_lognormal, 0.95, 0.3, 0, lognormal_cdf, 104.6027860, 90},
    {"two states 15 % apart, sojourn 5/5", states, 5, 5, 0.15, states_cdf, 107.5, 88},
    {"sojourn 50/20", states, 50, 20, 0.15, states_cdf, 104.2857143, 85},
    {"sojourn 200/200", states, 200, 200, 0.15, states_cdf, 107.5, 45},
    {"self-exciting bursts", bursts, 0.01, 0.8, 0.95, NULL, 0, 65},
    {"ARMA(2,1), slow", arma, 0.97, 0.5, -0.6, arma_cdf, 100, 90},
    {"Pareto 2.5, AR 0.7", ar_pareto, 0.7, 2.5, 0, pareto_cdf, 166.6666667, 90},
    {"1 % outliers of six times", outliers, 0.01, 6, 0, outliers_cdf, 105, 88},
    {"long memory, d = 0.3", long_memory, 0.3, 0, 0, long_memory_cdf, 100, 70},
    {"spread that clusters", clustered, 0.95, 1, 0, clustered_cdf, 100, 90},
    {"spells 50 % slower, 2 %, 30 long", states, 1470, 30, 0.5, states_cdf, 101, 15},
};

static double quantile_of(const slow_kind *k, double p)
{
	double lo = 0, hi = 1e5;

	for (int i = 0; i < 70; i++) {
		const double x = (lo + hi) / 2;

		if (k->cdf(k, x) < p)
			lo = x;
		else
			hi = x;
	}
	return (lo + hi) / 2;
}

/* Estimated for each series. */
static const struct {
	const char *name;
	stat_estimator which;
	double p;     /* 0: the mean */
	double least; /* minimum coverage of intervals that are not marked */
} asked[] = {
    {"mean", STAT_MEAN, 0, 90}, {"median", STAT_MEDIAN, 0.5, 92}, {"p90", STAT_P90, 0.9, 92}};

typedef struct tally {
	size_t series, present, marked, hit, hit_marked;
	double n, width;
} tally;

static void truths(const slow_kind *k, double ret[LENGTH(asked)])
{
	if (k->cdf) {
		for (size_t a = 0; a < LENGTH(asked); a++)
			ret[a] = asked[a].p > 0 ? quantile_of(k, asked[a].p) : k->mean;
		return;
	}
	const size_t n = 4000000;
	double *x = room(n);
	sim_random r;

	sim_seed(&r, 5);
	k->make(k, &r, x, n);
	ret[0] = 0;
	for (size_t i = 0; i < n; i++)
		ret[0] += x[i] / (double)n;
	stat_sort(x, n);
	for (size_t a = 1; a < LENGTH(asked); a++)
		ret[a] = stat_quantile_sorted(x, n, asked[a].p);
	free(x);
}

static void count(tally *t, const stat_estimate *e, double truth, size_t n)
{
	const bool hit = e->lo <= truth && truth <= e->hi;

	t->series++;
	if (!e->has_interval)
		return;
	t->present++;
	t->marked += e->narrow != STAT_NARROW_NO;
	t->hit += hit && !e->narrow;
	t->hit_marked += hit && e->narrow;
	t->n += (double)n;
	t->width += (e->hi - e->lo) / 2 / truth;
}

/* --- fixed n, or until the stop rule ends it */

static void fixed_n(const slow_kind *k, size_t n, size_t series, tally *t)
{
	double *x = room(n), *scratch = room(stat_scratch(n)), truth[LENGTH(asked)];
	sim_random r;

	truths(k, truth);
	sim_seed(&r, 1000 + n);
	for (size_t i = 0; i < series; i++) {
		k->make(k, &r, x, n);
		for (size_t a = 0; a < LENGTH(asked); a++) {
			stat_estimate e;

			stat_estimate_one(asked[a].which, x, n, 0.95, scratch, &e);
			count(&t[a], &e, truth[a], n);
		}
	}
	free(scratch);
	free(x);
}

static void stopped(const slow_kind *k, size_t most, size_t series, tally *t)
{
	double *x = room(most), *scratch = room(stat_scratch(most)), truth[LENGTH(asked)];
	sim_random r;

	truths(k, truth);
	sim_seed(&r, 77);
	for (size_t i = 0; i < series; i++) {
		stat_stop rule = {0};
		stat_estimate e;
		size_t n = 50;

		k->make(k, &r, x, most);
		for (;; n = (size_t)stat_stop_next(n)) {
			n = n < most ? n : most;
			stat_estimate_one(STAT_MEDIAN, x, n, 0.95, scratch, &e);
			if (stat_stop_look(&rule, &e, 0.01) || n == most)
				break;
		}
		count(&t[1], &e, truth[1], n);
	}
	free(scratch);
	free(x);
}

/* --- tables */

static double percent(size_t part, size_t whole)
{
	return whole ? 100 * (double)part / (double)whole : NAN;
}

/* Prints a cell; a star: fewer than `least` percent of the unmarked intervals cover, by more than
 * two standard errors. Returns the percentage that cover or are marked. */
static double cell(const tally *t, double least, bool with_n)
{
	const size_t bare = t->present - t->marked;
	const double rate = percent(t->hit, bare), shown = (double)t->present;
	const bool low = bare >= 20 && rate + 200 * sqrt(0.08 / (double)bare) < least;

	if (2 * t->present < t->series) {
		printf(" absent |");
		return 100;
	}
	if (bare == 0)
		printf(" all marked");
	else
		printf(" %.0f%s", rate, low ? "\\*" : "");
	printf(" (%.0f: ", percent(t->marked, t->present));
	if (t->marked > 0)
		printf("%.0f", percent(t->hit_marked, t->marked));
	printf("; ");
	if (with_n)
		printf("%.0f; ", t->n / shown);
	printf("%.2f %%) |", 100 * t->width / shown);
	return percent(t->hit + t->marked, t->present);
}

static bool row(const slow_kind *k, size_t n, size_t series, bool stop)
{
	tally t[LENGTH(asked)] = {0};
	bool good = true;

	if (stop)
		stopped(k, n, series, t);
	else
		fixed_n(k, n, series, t);
	printf("| %s | %zu |", k->name, n);
	for (size_t a = stop ? 1 : 0; a < (stop ? 2 : LENGTH(asked)); a++)
		good = cell(&t[a], asked[a].least, stop) >= k->honest && good;
	printf("\n");
	fflush(stdout);
	return good;
}

static bool table(const size_t *ns, size_t ns_n, size_t most, size_t series, const char *only)
{
	bool good = true;

	printf(
	    "\nFixed n: coverage in percent of those not marked (share marked: their coverage; mean "
	    "half-width)\n\n| series | n | mean | median | p90 |\n|---|---|---|---|---|\n");
	for (size_t i = 0; i < LENGTH(kinds); i++)
		for (size_t j = 0; j < ns_n && strstr(kinds[i].name, only); j++)
			good = row(&kinds[i], ns[j], series, false) && good;
	if (most)
		printf(
		    "\nStopped at 1 %% of the median (and the mean n)\n\n| series | at most | median |\n"
		    "|---|---|---|\n");
	for (size_t i = 0; most && i < LENGTH(kinds); i++)
		if (strstr(kinds[i].name, only))
			good = row(&kinds[i], most, series / 2, true) && good;
	return good;
}

/* --- steps of the level within a measurement of 1,000 runs with noise of 3 % */

static const struct {
	double by; /* 0: none, for the kinds above */
	size_t after;
} steps[] = {{0.08, 200}, {-0.08, 150}, {0.04, 250}, {0.05, 900}};

/* Returns the percent of series with a reported step; *ret_near: within 5 % of n of the step. */
static double told(const slow_kind *k, double by, size_t after, size_t series, double *ret_near)
{
	const size_t n = 1000;
	double *x = room(n), *scratch = room(stat_scratch(n));
	size_t found = 0, near = 0;
	sim_random r;

	sim_seed(&r, 9);
	for (size_t i = 0; i < series; i++) {
		stat_change changes[STAT_CHANGES_MAX];
		bool there = false;
		size_t have;

		k->make(k, &r, x, n);
		for (size_t at = after; at < n; at++)
			x[at] *= 1 + by;
		have = stat_steps_find(x, n, scratch, changes);
		for (size_t c = 0; c < have; c++)
			there = there || labs((long)changes[c].at - (long)after) <= 50;
		found += have > 0;
		near += there;
	}
	free(scratch);
	free(x);
	*ret_near = percent(near, series);
	return percent(found, series);
}

/* --- a plateau at the beginning of 3,000 runs, which lasted through the warm-up before them */
#define WARM 200

/* Returns the percent of series in which a check at n growing by 10 % from 50 to `most` cuts a
 * plateau; *ret_right: cuts it completely, and at most a tenth too much. */
static double cut(const slow_kind *k, double by, size_t after, size_t most, size_t series,
		  double *ret_right)
{
	double *x = room(most), *scratch = room(stat_scratch(most));
	size_t found = 0, right = 0;
	sim_random r;

	sim_seed(&r, 10);
	for (size_t i = 0; i < series; i++) {
		stat_change step = {0};
		bool there = false;

		k->make(k, &r, x, most);
		for (size_t at = 0; at < after; at++)
			x[at] *= 1 + by;
		/* Checks like a measurement: if the level changes slowly, and at the end. */
		for (size_t n = 50; !there; n = (size_t)stat_stop_next(n)) {
			stat_estimate e;

			n = n < most ? n : most;
			stat_estimate_one(STAT_MEDIAN, x, n, 0.95, scratch, &e);
			there =
			    (e.slow || n == most) && stat_plateau_find(x, n, WARM, scratch, &step);
			if (n == most)
				break;
		}
		found += there;
		right += there && step.at >= after && step.at - after <= most / 10;
	}
	free(scratch);
	free(x);
	*ret_right = percent(right, series);
	return percent(found, series);
}

/* Few series of the first kinds have a step or a plateau. Memory as long as a block is correctly
 * reported as steps: these kinds have no bound, and the test omits them. */
#define BOUNDED 3

static bool plateaus_table(size_t series, size_t kinds_n)
{
	static const slow_kind even = {"", outliers, 0, 1, 0, NULL, 0, 0};
	bool good = true;

	printf(
	    "\nPlateaus: cut in percent of 3,000 runs\n\n| series | cut | rightly |\n|---|---|---|\n");
	for (int i = 0; i < 4; i++) {
		static const struct {
			double by;
			size_t after;
		} at[] = {{0.08, 290}, {0.08, 400}, {-0.06, 250}, {0.04, 300}};
		double right, rate = cut(&even, at[i].by, at[i].after, 3000, series, &right);

		printf("| %+.0f %% until %zu | %.0f | %.0f |\n", 100 * at[i].by, at[i].after, rate,
		       right);
		good = good && right >= 75;
	}
	for (size_t i = 0; i < kinds_n; i++) {
		double right, rate = cut(&kinds[i], 0, 0, 3000, series, &right);

		printf("| %s | %.0f | |\n", kinds[i].name, rate);
		good = good && (i >= BOUNDED || rate <= 5);
	}
	return good;
}

static bool steps_table(size_t series, size_t kinds_n)
{
	static const slow_kind even = {"", outliers, 0, 1, 0, NULL, 0, 0};
	bool good = true;

	printf(
	    "\nSteps: found in percent of 1,000 runs\n\n| series | found | at its position |\n|---|---|---|\n");
	for (size_t i = 0; i < LENGTH(steps); i++) {
		double near, rate = told(&even, steps[i].by, steps[i].after, series, &near);

		printf("| %+.0f %% after %zu | %.0f | %.0f |\n", 100 * steps[i].by, steps[i].after,
		       rate, near);
		good = good && rate >= 75;
	}
	for (size_t i = 0; i < kinds_n; i++) {
		double near, rate = told(&kinds[i], 0, 0, series, &near);

		printf("| %s | %.0f | |\n", kinds[i].name, rate);
		good = good && (i >= BOUNDED || rate <= 5);
	}
	return good;
}

int main(int argc, char **argv)
{
	static const size_t few[] = {300}, all[] = {100, 300, 1000, 5000};

	if (argc > 1 && strcmp(argv[1], "--steps") == 0)
		return steps_table(400, LENGTH(kinds)) && plateaus_table(200, LENGTH(kinds)) ? 0
											     : 1;
	if (argc > 1 && strcmp(argv[1], "--full") == 0) {
		table(all, LENGTH(all), 5000, argc > 3 ? (size_t)atol(argv[3]) : 400,
		      argc > 2 ? argv[2] : "");
		return 0;
	}
	const bool good = table(few, LENGTH(few), 0, 200, "");

	return steps_table(200, BOUNDED) && plateaus_table(40, BOUNDED) && good ? 0 : 1;
}
