/* changes.c - false alarms and power of change-point detection: series of independent points with
 * and without a change of level.
 *
 *     accuracy_changes                with bounds: the test
 *     accuracy_changes --full         more series, the tables of docs/commands/history.md
 *     accuracy_changes --full daily   only the series that are tested every day
 *     accuracy_changes --full fleet   only those that are tested together
 *     accuracy_changes --series N     N of these each, in the format of bench/trend_peers.py
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_MOST 400
#define ALPHA  0.05

typedef struct series {
	const char *name;
	size_t n;
	double phi;	    /* coefficient of AR(1) */
	bool heavy;	    /* lognormal, one in twenty is 30 times as large */
	size_t from, to;    /* range with another level; from == to: none */
	double shift;	    /* standard deviations */
	double least, most; /* bounds of the test: percent of series with a change */
} series;

static const series all[] = {
    {"noise, 10 points", .n = 10, .most = 8},
    {"noise, 30 points", .n = 30, .most = 8},
    {"noise, 100 points", .n = 100, .most = 8},
    {"noise, 300 points", .n = 300, .most = 9},
    {"noise with outliers, 30 points", .n = 30, .heavy = true, .most = 8},
    {"noise with outliers, 100 points", .n = 100, .heavy = true, .most = 8},
    {"noise, 30 points, lag-1 correlation 0.1", .n = 30, .phi = 0.1, .most = 100},
    {"noise, 30 points, lag-1 correlation 0.3", .n = 30, .phi = 0.3, .most = 100},
    {"noise, 100 points, lag-1 correlation 0.3", .n = 100, .phi = 0.3, .most = 100},
    {"2 sd in the last 5 of 30", .n = 30, .from = 25, .to = 30, .shift = 2, .least = 45},
    {"2 sd in the last 10 of 30", .n = 30, .from = 20, .to = 30, .shift = 2, .least = 85},
    {"3 sd in the last 4 of 30", .n = 30, .from = 26, .to = 30, .shift = 3, .least = 60},
    {"3 sd in the last 5 of 30", .n = 30, .from = 25, .to = 30, .shift = 3, .least = 90},
    {"3 sd in the last 10 of 30", .n = 30, .from = 20, .to = 30, .shift = 3, .least = 97},
    {"5 sd in the last 4 of 30", .n = 30, .from = 26, .to = 30, .shift = 5, .least = 90},
    {"2 sd in the last 10 of 100", .n = 100, .from = 90, .to = 100, .shift = 2, .least = 85},
    {"3 sd in 10 in the middle of 100", .n = 100, .from = 50, .to = 60, .shift = 3, .least = 95},
    {"5 sd in the last 10 of 100, outliers", .n = 100, .from = 90, .to = 100, .shift = 5,
     .heavy = true, .least = 85},
};

static void make(const series *s, sim_random *r, double *x)
{
	double before = sim_normal(r);

	for (size_t i = 0; i < s->n; i++) {
		const double e = sim_normal(r);

		before = s->phi * before + sqrt(1 - s->phi * s->phi) * e;
		/* exp(e / 4) has a standard deviation of about 0.26 */
		x[i] = s->heavy ? exp(e / 4) * (sim_uniform(r) < 0.05 ? 30 : 1) : before;
		if (i >= s->from && i < s->to)
			x[i] += s->shift * (s->heavy ? 0.26 : 1);
	}
}

/* Returns the share of series with a change; *ret_near: the share of these in which a change is at
 * most two points from the true position. */
static double try(const series *s, int times, double *ret_near)
{
	static double x[N_MOST], scratch[3 * (N_MOST + 1)];
	stat_change found[STAT_CHANGES_MAX];
	int seen = 0, near = 0;
	sim_random r;

	sim_seed(&r, 20261121 + s->n);
	for (int i = 0; i < times; i++) {
		bool at = false;

		make(s, &r, x);
		const size_t n = stat_change_find(x, s->n, ALPHA, scratch, found);
		for (size_t k = 0; k < n; k++)
			at |= found[k].at + 2 >= s->from && found[k].at <= s->from + 2;
		seen += n > 0;
		near += at;
	}
	*ret_near = seen > 0 ? 100.0 * near / seen : 0;
	return 100.0 * seen / times;
}

/* A series of 90 days is tested every day, from the first day on which a change can be found. */
#define DAYS 90
typedef struct watch {
	const char *name;
	double phi;
	bool heavy;
	size_t at; /* day of the change; 0: no change, any alarm is false */
	double shift;
	size_t within; /* days */
	double bound;  /* upper or lower bound of the test, percent */
	double drift;  /* standard deviations in all days, which are tested once */
} watch;

static const watch watches[] = {
    {"independent", .bound = 5},
    {"lag-1 correlation 0.3", .phi = 0.3, .bound = 5},
    {"lag-1 correlation 0.6", .phi = 0.6, .bound = 10},
    {"outliers", .heavy = true, .bound = 5},
    {"3 sd after 40 days", .at = 40, .shift = 3, .within = 6, .bound = 93},
    {"1.5 sd after 40 days", .at = 40, .shift = 1.5, .within = 12, .bound = 55},
    {"drift by 3 sd in 90 days", .drift = 3, .bound = 85},
    {"drift by 100 sd in 90 days", .drift = 100, .bound = 99},
};

/* of_each: prints a line for each series: the watch, the day of the alarm (0: none), the points. */
static double watch_try(const watch *w, int times, bool of_each)
{
	static double x[DAYS], scratch[3 * (DAYS + 1)];
	stat_change found[STAT_CHANGES_MAX];
	const series s = {.n = DAYS,
			  .phi = w->phi,
			  .heavy = w->heavy,
			  .from = w->at,
			  .to = w->at > 0 ? DAYS : 0,
			  .shift = w->shift};
	int alarms = 0;
	sim_random r;

	sim_seed(&r, 20261123);
	for (int i = 0; i < times; i++) {
		size_t alarm = 0;

		make(&s, &r, x);
		for (size_t d = 0; d < DAYS; d++)
			x[d] += w->drift * (double)d / DAYS;
		for (size_t n = w->drift > 0 ? DAYS
				: w->at > 0  ? w->at + 1
					     : STAT_CHANGE_MIN;
		     n <= (w->at > 0 ? w->at + w->within : DAYS) && alarm == 0; n++)
			alarm = stat_change_alarms(x, n, ALPHA, scratch, found) > 0 ? n : 0;
		alarms += alarm > 0;
		if (!of_each)
			continue;
		printf("%s;%zu;%zu;%zu", w->name, w->at, w->within, alarm);
		for (size_t n = 0; n < DAYS; n++)
			printf(";%.9g", x[n]);
		putchar('\n');
	}
	return 100.0 * alarms / times;
}

/* Two changes of 3 and -2 sd in 90 days: how often is a further change found? */
static double extra_try(int times)
{
	static double x[DAYS], scratch[3 * (DAYS + 1)];
	stat_change found[STAT_CHANGES_MAX];
	int extra = 0;
	sim_random r;

	sim_seed(&r, 7);
	for (int i = 0; i < times; i++) {
		for (size_t d = 0; d < DAYS; d++)
			x[d] = sim_normal(&r) + (d >= 30 ? 3 : 0) - (d >= 60 ? 2 : 0);
		extra += stat_change_alarms(x, DAYS, ALPHA, scratch, found) > 2;
	}
	return 100.0 * extra / times;
}

/* Returns the log-likelihood of a step anywhere in independent points minus that of no step in
 * points with lag-1 correlation r: the optimal statistic for this test. */
static double told_ratio(const double *x, size_t n, double r)
{
	const double count = (double)n, first = sqrt(1 - r * r), later = 1 - r;
	const double level = first * first + (count - 1) * later * later;
	double sum = x[0], squares = x[0] * x[0], with_level = first * first * x[0];
	double total = with_level * x[0], before = 0, gained = 0;

	for (size_t i = 1; i < n; i++) {
		const double w = x[i] - r * x[i - 1];

		sum += x[i];
		squares += x[i] * x[i];
		with_level += later * w;
		total += w * w;
	}
	for (size_t i = 1; i < n; i++) {
		const double k = (double)i, d = (before += x[i - 1]) - sum * k / count;

		if (i >= 3 && i + 3 <= n)
			gained = fmax(gained, d * d * count / (k * (count - k)));
	}
	return count / 2 *
		   log((total - with_level * with_level / level) /
		       (squares - sum * sum / count - gained)) -
	       log1p(-r * r) / 2;
}

/* How often is the step of `w` detected in time by a test that is given the alternatives,
 * independent points with a step or points with correlation 0.3, at 5 % false alarms? */
static double told_try(const watch *w)
{
	enum { times = 5000 };
	static double none[times], x[DAYS];
	const series without = {.n = DAYS, .phi = 0.3};
	const series with = {.n = DAYS, .from = w->at, .to = DAYS, .shift = w->shift};
	int seen = 0;
	sim_random r;

	sim_seed(&r, 20261124);
	for (int i = 0; i < times; i++) {
		make(&without, &r, x);
		none[i] = -INFINITY;
		for (size_t n = w->at + 1; n <= DAYS; n++)
			none[i] = fmax(none[i], told_ratio(x, n, without.phi));
	}
	stat_sort(none, times);
	for (int i = 0; i < times; i++) {
		bool alarm = false;

		make(&with, &r, x);
		for (size_t n = w->at + 1; n <= w->at + w->within && !alarm; n++)
			alarm = told_ratio(x, n, without.phi) > none[times - 1 - times / 20];
		seen += alarm;
	}
	return 100.0 * seen / times;
}

static int watch_all(bool full)
{
	const int times = full ? 1000 : 40;
	const double extra = extra_try(times);
	int failed = extra > 12;

	if (full)
		puts("\n| looked at daily | alarm |\n|---|---|");
	for (size_t i = 0; i < sizeof watches / sizeof watches[0]; i++) {
		const watch *w = &watches[i];
		const double share = watch_try(w, times, false);
		const double luck = 3 * sqrt(w->bound * (100 - w->bound) / times);

		if (full && w->at > 0)
			printf("| %s, within %zu | %.0f %% (told: %.0f %%) |\n", w->name, w->within,
			       share, told_try(w));
		else if (full && w->drift > 0)
			printf("| %s | %.0f %% |\n", w->name, share);
		else if (full)
			printf("| %s, false in %d days | %.1f %% |\n", w->name, DAYS, share);
		fflush(stdout);
		if (w->at > 0 || w->drift > 0 ? share < w->bound - luck : share > w->bound + luck) {
			printf("%s: alarms in %.0f %%, bound %g\n", w->name, share, w->bound);
			failed++;
		}
	}
	if (full)
		printf("| one more than two true ones | %.1f %% |\n", extra);
	return failed;
}

/* Many series that are tested at once, with the false discovery rate of history alarms. */
#define FLEET 200
typedef struct fleet {
	const char *name;
	double phi;
	bool heavy;
	size_t changed; /* of FLEET series; the others have one level */
	double shift;	/* after 40 of 60 points */
	double least;	/* bound of the test: percent of the changed ones that are found */
} fleet;

static const fleet fleets[] = {
    {.name = "independent, none changed"},
    {"independent, 10 by 3 sd", .changed = 10, .shift = 3, .least = 80},
    {"lag-1 correlation 0.3, none changed", .phi = 0.3},
    {"lag-1 correlation 0.3, 10 by 3 sd", .phi = 0.3, .changed = 10, .shift = 3, .least = 20},
    {"outliers, none changed", .heavy = true},
    {"outliers, 10 by 5 sd", .heavy = true, .changed = 10, .shift = 5, .least = 50},
};

static int by_value(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Returns the mean share of false ones among the series that are reported, in percent; *ret_found:
 * the share of the changed series that are. */
static double fleet_try(const fleet *f, int times, double *ret_found)
{
	enum { points = 60 };
	static double x[points], scratch[3 * (points + 1)];
	const series steady = {.n = points, .phi = f->phi, .heavy = f->heavy};
	series moved = steady;
	double share = 0, found = 0;
	sim_random r;

	moved.from = 40;
	moved.to = points;
	moved.shift = f->shift;
	sim_seed(&r, 20261127);
	for (int i = 0; i < times; i++) {
		double p[FLEET], sorted[FLEET], q[FLEET], true_ones = 0, false_ones = 0;
		size_t rejected = 0;

		for (size_t k = 0; k < FLEET; k++) {
			stat_change c[STAT_CHANGES_MAX];

			make(k < f->changed ? &moved : &steady, &r, x);
			p[k] = 1;
			for (size_t n = stat_change_alarms(x, points, ALPHA, scratch, c); n-- > 0;)
				p[k] = fmin(p[k], c[n].alarm);
		}
		memcpy(sorted, p, sizeof p);
		qsort(sorted, FLEET, sizeof sorted[0], by_value);
		stat_discovery_rates(sorted, FLEET, FLEET, q);
		while (rejected < FLEET && q[rejected] <= ALPHA)
			rejected++;
		for (size_t k = 0; k < FLEET && rejected > 0; k++)
			*(k < f->changed ? &true_ones : &false_ones) +=
			    p[k] <= sorted[rejected - 1];
		share += rejected > 0 ? false_ones / (true_ones + false_ones) : 0;
		found += f->changed > 0 ? true_ones / (double)f->changed : 0;
	}
	*ret_found = 100 * found / times;
	return 100 * share / times;
}

static int fleet_all(bool full)
{
	const int times = full ? 300 : 3;
	int failed = 0;

	if (full)
		printf("\n| %d series | false discoveries | changes found |\n|---|---|---|\n",
		       FLEET);
	for (size_t i = 0; i < sizeof fleets / sizeof fleets[0]; i++) {
		double found;
		const double rate = fleet_try(&fleets[i], times, &found);

		if (full && fleets[i].changed > 0)
			printf("| %s | %.1f %% | %.0f %% |\n", fleets[i].name, rate, found);
		else if (full)
			printf("| %s | %.1f %% | |\n", fleets[i].name, rate);
		fflush(stdout);
		/* The draws are the same in each run, so it does not fail by chance. */
		if (rate > 100 * ALPHA * (full ? 1.5 : 4) || found < fleets[i].least) {
			printf("%s: %.1f %% false, %.0f %% found\n", fleets[i].name, rate, found);
			failed++;
		}
	}
	return failed;
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	int failed = 0;

	if (argc > 2 && strcmp(argv[1], "--series") == 0) {
		for (size_t i = 0; i < sizeof watches / sizeof watches[0]; i++)
			watch_try(&watches[i], atoi(argv[2]), true);
		return 0;
	}
	if (argc > 2) /* --full daily, --full fleet */
		return (strcmp(argv[2], "fleet") == 0 ? fleet_all(full) : watch_all(full)) > 0;
	if (full)
		puts("| series | with a change | of these within two points |\n|---|---|---|");
	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		const series *s = &all[i];
		double near, share;

		if (!full && s->phi > 0)
			continue;
		share = try(s, full ? 2000 : 400, &near);
		if (full && s->from < s->to)
			printf("| %s | %.1f %% | %.0f %% |\n", s->name, share, near);
		else if (full)
			printf("| %s | %.1f %% | |\n", s->name, share);
		if (share < s->least || (s->most > 0 && share > s->most)) {
			printf("%s: %.1f %%, bounds %g to %g\n", s->name, share, s->least, s->most);
			failed++;
		}
	}
	failed += watch_all(full) + fleet_all(full);
	return failed > 0;
}
