/* changes.c - series of independent points with and without a change of level: how often is a
 * change seen where none is, how often where one is?
 *
 *     accuracy_changes           with bounds: the test
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

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	int failed = 0;

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
	return failed > 0;
}
