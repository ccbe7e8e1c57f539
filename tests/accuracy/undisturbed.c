/* undisturbed.c - what does --undisturbed do to false alarms and to power? Two subjects of known
 * times are compared beside simulated other programs, by all runs and by the undisturbed ones, live
 * and as two records, evaluated as `deepclock compare` does.
 *
 *     accuracy_undisturbed           short, with bounds: the test
 *     accuracy_undisturbed --full    more series, as in docs/reference/validation.md
 *
 * The unit of time is the median run on a quiet machine. Other programs come in bursts. In a burst
 * a run is preempted as by a Poisson process, each time for an exponential time, which the kernel
 * counts as run delay; and it may be slower as a whole, which no counter shows.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "sim.h"
#include "stat/sequential.h"
#include "stat/stat.h"
#include "study/compare/saved.h"
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Power is that of the default margin. False alarms are those without one: the interval does not
 * hold 1. */
#define MARGIN 0.01
/* Run to run; and of a subject from opening to opening. */
#define OWN_SD	 0.03
#define START_SD 0.01
#define SLOWER	 0.05
/* Live: runs of a trial, tries of it, blocks of a round, units of an opening and of all. */
enum { TRIAL = 3, TRIES = 10, BLOCKS = 2, OPENING = 4, BUDGET = 1500 };
enum { ROUNDS_MIN = 12, ROUNDS_MAX = 400, RECORD = 400 };

typedef struct neighbours {
	const char *name;
	double on, off;	      /* mean length of a burst and of a pause, units; on 0: none */
	double rate, delay;   /* in a burst: preemptions per unit, and their mean length */
	double slowdown;      /* in a burst, by what is not counted */
	bool second_only;     /* of two records, beside the second alone */
	double false_alarms;  /* bound of the test, live, percent */
	double found, gained; /* least power by undisturbed runs, and above that of all runs */
} neighbours;

static const neighbours kinds[] = {
    {"none", .false_alarms = 5, .found = 90, .gained = -10},
    {"few and short", 20, 60, 0.3, 0.5, .false_alarms = 5, .found = 90, .gained = -10},
    {"bursts", 30, 30, 0.7, 2, .false_alarms = 5, .found = 70, .gained = 10},
    {"long bursts", 300, 300, 0.7, 2, .false_alarms = 5, .found = 70, .gained = 0},
    {"always", 1e9, 1e-9, 0.7, 2, .false_alarms = 5, .found = 50, .gained = 10},
    {"always, dense", 1e9, 1e-9, 3, 2, .false_alarms = 5, .found = 0, .gained = -100},
    {"bursts, 10 % slower in them", 30, 30, 0.7, 2, 0.1, .false_alarms = 5, .found = 50,
     .gained = 0},
    {"always, beside the second alone", 1e9, 1e-9, 0.7, 2, .second_only = true, .false_alarms = 5,
     .found = 70, .gained = 0},
};

typedef struct world {
	const neighbours *who;
	sim_random r;
	double now, until; /* of the burst or pause */
	bool burst;
} world;

static double exponential(sim_random *r)
{
	return -log(sim_uniform(r));
}

static void world_go(world *w, double length)
{
	w->now += length;
	while (w->now >= w->until) {
		w->burst = !w->burst && w->who->on > 0;
		w->until += exponential(&w->r) * (w->burst	   ? w->who->on
						  : w->who->on > 0 ? w->who->off
								   : 1e9);
	}
}

static void world_init(world *w, const neighbours *who, uint64_t seed, bool alone)
{
	static const neighbours none = {.name = "none"};

	*w = (world){.who = alone ? &none : who};
	sim_seed(&w->r, seed);
	if (w->who->on > 0)
		w->burst = sim_uniform(&w->r) < w->who->on / (w->who->on + w->who->off);
	w->until = exponential(&w->r) * (w->burst	  ? w->who->on
					 : w->who->on > 0 ? w->who->off
							  : 1e9);
}

/* Makes one run of a subject whose runs take `level`. */
static double world_run(world *w, double level, double *ret_delay)
{
	const double own =
	    level * exp(OWN_SD * sim_normal(&w->r)) * (w->burst ? 1 + w->who->slowdown : 1);
	double at = 0, delay = 0;

	while (w->burst && (at += exponential(&w->r) / w->who->rate) < own)
		delay += w->who->delay * exponential(&w->r);
	world_go(w, own + delay);
	*ret_delay = delay;
	return own + delay;
}

static double scratch[1 << 20];

/* As interleaved_candidate.c: NaN: no run was undisturbed. */
static double trial(world *w, double level, bool undisturbed)
{
	double x[TRIAL * TRIES], delay[TRIAL * TRIES];
	stat_undisturbed u;

	(void)world_run(w, level, &delay[0]); /* the settling run */
	for (size_t n = 0; n < TRIAL * TRIES;) {
		for (size_t i = 0; i < TRIAL; i++, n++)
			x[n] = world_run(w, level, &delay[n]);
		if (!undisturbed) {
			stat_sort(x, n);
			return stat_quantile_sorted(x, n, 0.5);
		}
		stat_undisturbed_estimate(x, delay, n, 0.95, scratch, &u);
		if (u.median.present)
			return u.median.value;
	}
	return NAN;
}

static double mean_known(const double x[BLOCKS])
{
	double sum = 0;
	size_t n = 0;

	for (size_t i = 0; i < BLOCKS; i++)
		if (!isnan(x[i])) {
			sum += x[i];
			n++;
		}
	return n > 0 ? sum / (double)n : NAN;
}

/* Makes a round: the logarithm of B's time over A's, NaN: it does not count. */
static double round_make(world *w, double slower, bool undisturbed)
{
	const double level[2] = {exp(START_SD * sim_normal(&w->r)),
				 (1 + slower) * exp(START_SD * sim_normal(&w->r))};
	double x[2][BLOCKS], ratio[BLOCKS];
	const size_t first = sim_uniform(&w->r) < 0.5;

	world_go(w, 2 * OPENING);
	for (size_t k = 0; k < BLOCKS; k++)
		for (size_t i = 0; i < 2; i++) {
			const size_t which = (first + i + k) % 2;

			x[which][k] = trial(w, level[which], undisturbed);
		}
	if (undisturbed)
		return log(mean_known(x[1]) / mean_known(x[0]));
	for (size_t k = 0; k < BLOCKS; k++)
		ratio[k] = log(x[1][k] / x[0][k]);
	return mean_known(ratio);
}

/* The verdict of a live comparison within BUDGET units. */
static verdict live(const neighbours *who, uint64_t seed, double slower, bool undisturbed)
{
	double d[ROUNDS_MAX], walk[ROUNDS_MAX + 2];
	size_t n = 0, made = 0, planned, next;
	stat_boundary b;
	world w;

	world_init(&w, who, seed, false);
	(void)round_make(&w, slower, false); /* the pilot */
	planned = (size_t)fmin(ROUNDS_MAX, fmax(ROUNDS_MIN, BUDGET / w.now));
	const double begin = w.now;
	stat_boundary_init(&b, 0.025, planned, walk);
	next = stat_look_next(0, planned);
	while (n < planned) {
		const double ratio = round_make(&w, slower, undisturbed);
		const double each = (w.now - begin) / (double)++made;
		bool stopped;

		if (!isnan(ratio))
			d[n++] = ratio;
		stopped = n < planned && (made >= planned || w.now + each > BUDGET);
		if (stopped && n == 0)
			break;
		if (n == 0 || (n < next && !stopped))
			continue;
		if (stopped)
			stat_boundary_last(&b, n);
		next = stat_look_next(n, planned);
		const long rank = stat_boundary_look(&b, n);
		const double slack = stat_boundary_slack(&b);
		stat_paired p;
		verdict v = VERDICT_UNDECIDED;

		stat_paired_median(d, n, rank, scratch, &p);
		if (p.has_interval)
			v = verdict_of(exp(p.lo - slack), exp(p.hi + slack),
				       slower > 0 ? MARGIN : 0);
		if (v != VERDICT_UNDECIDED || stopped)
			return v;
	}
	return VERDICT_UNDECIDED;
}

static saved_value record(world *w, double level, bool undisturbed)
{
	static double x[RECORD], delay[RECORD];
	stat_undisturbed u;
	stat_estimate e;

	for (size_t i = 0; i < RECORD; i++)
		x[i] = world_run(w, level, &delay[i]);
	stat_undisturbed_estimate(x, delay, RECORD, 0.95, scratch, &u);
	if (undisturbed)
		e = u.median;
	else
		stat_estimate_one(STAT_MEDIAN, x, RECORD, 0.95, scratch, &e);
	return (saved_value){.known = e.present && e.has_interval,
			     .value = e.value,
			     .has_interval = e.has_interval,
			     .lo = e.lo,
			     .hi = e.hi};
}

/* The verdict of two records. Starts do not differ: --run-to-run is for that. */
static verdict saved(const neighbours *who, uint64_t seed, double slower, bool undisturbed)
{
	saved_value value[2];
	saved_ratio r;

	for (size_t i = 0; i < 2; i++) {
		world w;

		world_init(&w, who, 2 * seed + i, i == 0 && who->second_only);
		value[i] = record(&w, i == 0 ? 1 : 1 + slower, undisturbed);
	}
	saved_ratio_find(&value[0], &value[1], false, &r);
	return verdict_of(r.lo, r.hi, slower > 0 ? MARGIN : 0);
}

typedef struct shares {
	double false_alarms, found;
} shares;

static shares shares_make(const neighbours *k, bool is_live, bool undisturbed, size_t series)
{
	const double one = 100 / (double)series;
	shares s = {0};

	for (size_t i = 0; i < series; i++) {
		const verdict equal = is_live ? live(k, i + 1, 0, undisturbed)
					      : saved(k, i + 1, 0, undisturbed),
			      slower = is_live ? live(k, i + 1, SLOWER, undisturbed)
					       : saved(k, i + 1, SLOWER, undisturbed);

		s.false_alarms += one * (equal == VERDICT_SLOWER || equal == VERDICT_FASTER);
		s.found += one * (slower == VERDICT_SLOWER);
	}
	return s;
}

static double luck(double percent, size_t series)
{
	return 3 * sqrt(percent * (100 - percent) / (double)series);
}

int main(int argc, char **argv)
{
	const bool full = argc > 1 && strcmp(argv[1], "--full") == 0;
	const size_t series = full ? 500 : 100;
	int bad = 0;

	if (full)
		printf(
		    "| other programs | | false alarms, all runs | `--undisturbed` | 5 %% found, all "
		    "runs | `--undisturbed` |\n|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (int is_live = 1; is_live >= 0; is_live--) {
			const neighbours *k = &kinds[i];

			if (is_live && k->second_only)
				continue;
			const shares all = shares_make(k, is_live, false, series),
				     alone = shares_make(k, is_live, true, series);
			const bool fine = !(is_live || k->second_only) ||
					  (alone.false_alarms <=
					       k->false_alarms + luck(k->false_alarms, series) &&
					   alone.found >= k->found - luck(k->found, series) &&
					   alone.found - all.found >= k->gained - luck(50, series));

			printf(full ? "| %s | %s | %.1f %% | %.1f %% | %.1f %% | %.1f %% |\n"
				    : "%s, %s: false alarms %.1f %% and %.1f %%, found %.1f %% and "
				      "%.1f %%\n",
			       k->name, is_live ? "live" : "two records", all.false_alarms,
			       alone.false_alarms, all.found, alone.found);
			fflush(stdout);
			if (!fine)
				fprintf(stderr, "%s is out of bounds\n", k->name);
			bad += !fine;
		}
	return bad > 0;
}
