/* race_judge.c - estimates from the trials of a search for the fastest configuration.
 *
 * Arms are compared by the model of all trials (race_fit.c); the winner with the default only by
 * the pairs of CONFIRM. Sums of the default's logarithms are kept as they come.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "stat/dist.h"
#include "stat/stat.h"
#include "study/tune/race_state.h"
#include <math.h>

/* Memory that differs by less is the same: starts differ by some pages. */
#define MEMORY_SHARE 0.03

/* Returns whether the arm has all changed values of one whose outputs differ. */
static bool judge_differs(const race *r, size_t arm)
{
	for (size_t i = 1; i < r->narms && r->differing > 0; i++) {
		size_t d = 0;

		while (d < r->c.ndims &&
		       (r->arms[i].value[d] == 0 || r->arms[i].value[d] == r->arms[arm].value[d]))
			d++;
		if (r->arms[i].outputs == RACE_DIFFER && d == r->c.ndims)
			return true;
	}
	return false;
}

bool race_usable(const race *r, size_t arm)
{
	const race_arm *a = &r->arms[arm];

	return a->end == RACE_OK && a->trials > 0 && !judge_differs(r, arm) &&
	       (arm == 0 || race_holds(r, arm) != DCK_VERDICT_VIOLATED);
}

/* The interval of the mean over trials is Student's t: runs of a trial depend on each other. */
static dck_verdict mean_holds(const race *r, const race_arm *a, double confidence)
{
	const double n = a->limited, mean = a->sum_ns / n;
	const double variance = fmax(0, a->squares_ns - n * mean * mean) / (n - 1);
	const double half =
	    n < 2 ? (double)NAN : stat_t_quantile(confidence, n - 1) * sqrt(variance / n);

	return stat_limit_interval(mean - half, mean + half, r->c.limit.ns);
}

dck_verdict race_holds(const race *r, size_t arm)
{
	const double confidence = 1 - (1 - r->c.level) / 2 / (double)r->narms;
	const race_arm *a = &r->arms[arm];
	stat_limit x;

	if (!(r->c.limit.ns > 0))
		return DCK_VERDICT_MET;
	if (!(a->runs > 0))
		return DCK_VERDICT_INCONCLUSIVE;
	switch (r->c.limit.kind) {
	case LIMIT_MEAN:
		return mean_holds(r, a, confidence);
	case LIMIT_MAX:
		return a->over > 0 ? DCK_VERDICT_VIOLATED : DCK_VERDICT_INCONCLUSIVE;
	case LIMIT_PERCENTILE:
		break;
	}
	stat_limit_test(r->c.limit.p, confidence, a->runs, a->over, &x);
	return x.verdict;
}

static race_number exponential(race_number x)
{
	return (race_number){exp(x.value), exp(x.lo), exp(x.hi), x.n};
}

/* Returns the arm's ratio to the winner in RACE, times the winner's to the default in CONFIRM: the
 * winner's ratio in RACE is too small, because it was chosen by it. */
static race_number beside_winner(const race *r, size_t arm, size_t comparisons)
{
	const race_number x = race_compare(r, arm, r->winner, comparisons);
	const race_number w = r->ratio;
	const double half = hypot(x.value - x.lo, (w.hi - w.lo) / 2);
	const double value = x.value + w.value;

	return (race_number){value, value - half, value + half, x.n};
}

race_number race_ratio(const race *r, size_t arm)
{
	race_number x;
	size_t n = 0;

	if (arm == 0)
		return (race_number){1, NAN, NAN, r->arms[0].trials};
	if (arm == r->winner && r->ratio.n > 0)
		return exponential(r->ratio);
	for (size_t i = 1; i < r->narms; i++)
		n += r->arms[i].trials > 0;
	if (n == 0)
		n = 1;
	if (r->ratio.n > 0 && r->arms[arm].raced) {
		x = beside_winner(r, arm, n);
		if (x.n > 0)
			return exponential(x);
	}
	return exponential(race_compare(r, arm, 0, n));
}

static race_number default_mean(const race *r, size_t which)
{
	const double n = (double)r->nsum, mean = r->sum[which] / n;
	const double variance = fmax(0, r->squares[which] - n * mean * mean) / (n - 1);
	double half;

	if (r->nsum == 0)
		return (race_number){NAN, NAN, NAN, 0};
	half = r->nsum < 2 ? (double)NAN
			   : stat_t_quantile(0.5 + r->c.level / 2, n - 1) * sqrt(variance / n);
	return exponential((race_number){mean, mean - half, mean + half, r->nsum});
}

race_number race_default_value(const race *r)
{
	return default_mean(r, 0);
}

race_number race_default_latency(const race *r)
{
	return default_mean(r, 1);
}

double race_items(const race *r, size_t arm)
{
	return r->items[arm];
}

double race_latency(const race *r, size_t arm)
{
	return r->latency[arm];
}

/* Counts arms of RACE that may be faster than the winner by more than the margin: an arm that left
 * early has few rounds in common with it. */
static size_t unresolved_count(const race *r)
{
	size_t n = 0, found = 0;

	for (size_t i = 0; i < r->narms; i++)
		n += r->arms[i].raced;
	for (size_t i = 1; i < r->narms; i++) {
		const race_number x = race_compare(r, i, r->winner, n > 1 ? n - 1 : 1);

		found += i != r->winner && r->arms[i].raced && race_usable(r, i) &&
			 !(x.lo > -log1p(r->c.margin));
	}
	return found;
}

void race_judge(const race *r, race_result *ret)
{
	race_result x = {.winner = r->winner, .out_of_time = r->few};

	x.ratio = exponential(r->ratio);
	x.found = r->winner > 0 && r->ratio.hi < 0 && race_usable(r, r->winner);
	x.unresolved = unresolved_count(r);
	for (size_t i = 0; i < r->narms; i++)
		x.excluded += r->arms[i].outputs == RACE_DIFFER;
	*ret = x;
}

/* --- the Pareto front */

typedef struct point {
	size_t arm;
	double ratio, latency, memory, error; /* memory 0, error NaN: unknown */
} point;

/* Returns whether a is no worse than b in all that is known of both. b is not faster. */
static bool front_covers(const point *a, const point *b, double margin)
{
	return a->latency <= b->latency * (1 + margin) &&
	       (!(b->memory > 0) || !(a->memory > 0) ||
		a->memory <= b->memory * (1 + MEMORY_SHARE)) &&
	       !(a->error > b->error);
}

/* Returns the ratio that is expected: an arm that was fast by luck in its trial does not lead. */
static double front_ratio(const race *r, size_t arm)
{
	const double to =
	    r->ratio.n > 0 ? race_predict(r, r->arms[r->winner].value) - r->ratio.value : 0;

	if (arm == 0 || r->arms[arm].trials == 0)
		return arm == 0 ? 1 : (double)NAN;
	return exp(race_predict(r, r->arms[arm].value) - to);
}

size_t race_front(const race *r, size_t *front)
{
	point all[RACE_ARMS_MAX], kept[RACE_FRONT_MAX];
	/* The fresh pairs decide between both. */
	const size_t first = r->ratio.value > 0 ? 0 : r->winner;
	size_t n = 0, nkept = 0;

	for (size_t i = 0; i < r->narms; i++) {
		const double ratio = front_ratio(r, i);
		const race_arm *a = &r->arms[i];
		const point p = {i, ratio, ratio * race_items(r, i), (double)a->peak_rss_bytes,
				 i == 0 ? 0 : a->error};
		size_t at = n;

		if (!race_usable(r, i) || isnan(ratio))
			continue;
		/* The best is before all that chance put before it. */
		for (; at > 0 && all[at - 1].arm != first &&
		       (i == first || all[at - 1].ratio > ratio);
		     at--)
			all[at] = all[at - 1];
		all[at] = p;
		n++;
	}
	for (size_t i = 0; i < n && nkept < RACE_FRONT_MAX; i++) {
		bool covered = false;

		for (size_t k = 0; k < nkept && !covered; k++)
			covered = front_covers(&kept[k], &all[i], r->c.margin);
		if (covered)
			continue;
		front[nkept] = all[i].arm;
		kept[nkept++] = all[i];
	}
	return nkept;
}
