/* changes.c - series of independent points with and without a change of level: how often is a
 * change seen where none is, how often where one is?
 *
 *     accuracy_changes           with bounds: the test
 *     accuracy_changes --full daily    of those that are looked at every day alone
 *     accuracy_changes --full    more series, as the Markdown table of docs/commands/history.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/stat.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define N_MOST 400
#define ALPHA  0.05

typedef struct series {
	const char *name;
	size_t n;
	double phi;	    /* each point leans on the one before: AR(1) */
	bool heavy;	    /* lognormal, one in twenty 30 times as great */
	size_t from, to;    /* where the level is another; from == to: nowhere */
	double shift;	    /* by so many standard deviations */
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

/* The share of series with a change; *ret_near: of those that have one at most two points away from
 * where it is. */
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

/* A series of 90 days is looked at every day from the first at which a change can be. */
#define DAYS 90
typedef struct watch {
	const char *name;
	double phi;
	bool heavy;
	size_t at; /* of the change; 0: there is none, any alarm is false */
	double shift;
	size_t within; /* days */
	double bound;  /* of the test: most, or least, percent */
} watch;

static const watch watches[] = {
    {"independent", .bound = 5},
    {"lag-1 correlation 0.3", .phi = 0.3, .bound = 12},
    {"lag-1 correlation 0.6", .phi = 0.6, .bound = 20},
    {"outliers", .heavy = true, .bound = 5},
    {"3 sd after 40 days", .at = 40, .shift = 3, .within = 6, .bound = 80},
    {"1.5 sd after 40 days", .at = 40, .shift = 1.5, .within = 12, .bound = 40},
};

static double watch_try(const watch *w, int times)
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
		bool alarm = false;

		make(&s, &r, x);
		for (size_t n = w->at > 0 ? w->at + 1 : STAT_CHANGE_MIN;
		     n <= (w->at > 0 ? w->at + w->within : DAYS) && !alarm; n++)
			alarm = stat_change_alarms(x, n, ALPHA, scratch, found) > 0;
		alarms += alarm;
	}
	return 100.0 * alarms / times;
}

/* Two changes of 3 and -2 sd in 90 days: how often is there one more? */
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

static int watch_all(bool full)
{
	const int times = full ? 1000 : 40;
	const double extra = extra_try(times);
	int failed = extra > 12;

	if (full)
		puts("\n| looked at daily | alarm |\n|---|---|");
	for (size_t i = 0; i < sizeof watches / sizeof watches[0]; i++) {
		const watch *w = &watches[i];
		const double share = watch_try(w, times);
		const double luck = 3 * sqrt(w->bound * (100 - w->bound) / times);

		if (full && w->at > 0)
			printf("| %s, within %zu | %.0f %% |\n", w->name, w->within, share);
		else if (full)
			printf("| %s, false in %d days | %.1f %% |\n", w->name, DAYS, share);
		fflush(stdout);
		if (w->at > 0 ? share < w->bound - luck : share > w->bound + luck) {
			printf("%s: alarms in %.0f %%, bound %g\n", w->name, share, w->bound);
			failed++;
		}
	}
	if (full)
		printf("| one more than two true ones | %.1f %% |\n", extra);
	return failed;
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	int failed = 0;

	if (argc > 2) /* --full daily */
		return watch_all(full) > 0;
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
	failed += watch_all(full);
	return failed > 0;
}
