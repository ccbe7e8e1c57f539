/* race.c - the state machine of the search for the fastest configuration: screening by single
 * values and random combinations, sequential halving with racing over the best, then a confirmation
 * by fresh pairs.
 *
 * A queue has the arms of the present round; when it is empty race_advance() judges the round and
 * fills the queue again or enters the next stage. A round is begun only if it is expected to end in
 * the time of its stage: an arm costs what its last trial did, or else what the default did.
 * CONFIRM gets the time after race_before() in any case. Where nothing seems faster than the
 * default, and there was no time for some values, or some may be faster all the same, that time
 * goes to a second pass of SCREEN and RACE over these, or over new combinations, and so on.
 *
 * SCREEN tries each value alone once, which finds those that fail, then random combinations: with n
 * trials the variance of the effect of one of two values is about 4 / n of the noise's, and with n
 * trials of single values of k options about 2 k / n. Arms are ranked by a model of all trials
 * (race_fit.c), also those that were not tried. RACE has the default, the best arms of SCREEN, the
 * arms that the model expects to be fastest, and these without one of their values. Each rung has
 * an equal share of the time and half of its arms leave (sequential halving). Among arms within the
 * margin of the best, the one that changes least wins, so that an option that does nothing is not
 * recommended.
 *
 * Invariants: the winner is chosen by SCREEN and RACE alone, and judged by CONFIRM alone, whose
 * pairs are tested by group-sequential signed-rank tests with the number of pairs fixed before the
 * first (stat/sequential.h). So the error of calling it faster is the level's, however it was
 * chosen. A round in which an arm failed does not count for that arm. The memory is fixed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"
#include "base/rng.h"
#include "stat/stat.h"
#include "study/tune/race_state.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* Rounds of single values; with a limit, whose violation has to show. */
#define SINGLES_ROUNDS	     1
#define SINGLES_ROUNDS_LIMIT 3
/* Share of the time before CONFIRM that SCREEN may take, and that its first round may take. */
#define SCREEN_SHARE 0.6
#define SCREEN_FIRST 0.85
#define RACERS_MAX   8
#define RUNG_ROUNDS  12
#define RACE_LOOK    3
#define WINNERS_MAX  4
/* A trial may take this number of times as long as the default's, and LATE_NS more. */
#define LATE_TIMES 4
#define LATE_NS	   3e9
/* The budget is kept to within this share; a trial is ended before. */
#define OVER_SHARE 1.05
/* CONFIRM ends when the difference is shown and half of its interval is within one of these: a
 * share, or a part of the difference. */
#define CONFIRM_HALF 0.03
#define CONFIRM_PART 0.1

/* --- arms */

static bool dim_applies(const race *r, size_t dim, size_t engine)
{
	return !(r->c.engines && dim == 0) && (r->c.applies[dim] >> engine & 1);
}

static void arms_make(race *r)
{
	const size_t engines = r->c.engines ? r->c.nvalues[0] : 1;
	uint8_t value[RACE_DIMS_MAX] = {0};

	for (size_t e = 0; e < engines; e++) {
		if (r->c.engines)
			value[0] = (uint8_t)e;
		r->queue[r->nqueue++] = race_arm_add(r, value);
	}
	for (size_t e = 0; e < engines; e++)
		for (size_t d = 0; d < r->c.ndims; d++)
			for (size_t v = 1; dim_applies(r, d, e) && v < r->c.nvalues[d]; v++) {
				if (r->c.engines)
					value[0] = (uint8_t)e;
				value[d] = (uint8_t)v;
				r->single[e][d][v] = (uint8_t)race_arm_add(r, value);
				value[d] = 0;
			}
}

static void nan_fill(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = NAN;
}

race *race_new(const race_config *c)
{
	race *r = mem_zalloc(1, sizeof *r);

	assert(c->ndims <= RACE_DIMS_MAX && c->budget_ns > 0);
	if (!r)
		return NULL;
	r->scratch =
	    mem_alloc((stat_scratch(RACE_PAIRS_MAX) + 2 * RACE_PAIRS_MAX) * sizeof *r->scratch);
	r->fit = race_fit_new();
	if (!r->scratch || !r->fit) {
		race_free(r);
		return NULL;
	}
	r->c = *c;
	r->random = c->seed;
	r->ratio = (race_number){NAN, NAN, NAN, 0};
	nan_fill(&r->screen[0][0], sizeof r->screen / sizeof r->screen[0][0]);
	nan_fill(&r->race[0][0], sizeof r->race / sizeof r->race[0][0]);
	nan_fill(&r->pair[0][0], sizeof r->pair / sizeof r->pair[0][0]);
	nan_fill(r->items, RACE_ARMS_MAX);
	nan_fill(r->latency, RACE_ARMS_MAX);
	arms_make(r);
	r->singles = r->narms;
	return r;
}

void race_free(race *r)
{
	if (!r)
		return;
	mem_free(r->scratch);
	mem_free(r->fit);
	mem_free(r);
}

/* --- time */

static double cost_of_round(const race *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->nalive; i++)
		sum += race_cost_of(r, r->alive[i]);
	return sum;
}

/* Returns when the stage has to end. */
static double stage_end(const race *r)
{
	const double before = race_before(r);
	const double share = r->round == r->first ? SCREEN_FIRST : SCREEN_SHARE;

	switch (r->stage) {
	case RACE_SCREEN:
		return r->from_ns + share * (before - r->from_ns);
	case RACE_RACE:
		return before;
	default:
		return r->c.budget_ns;
	}
}

/* --- rounds */

static void race_queue_begin(race *r)
{
	r->round++;
	r->at = 0;
	r->nqueue = r->nalive;
	memcpy(r->queue, r->alive, r->nalive * sizeof *r->alive);
	for (size_t i = r->nqueue; i > 1; i--) {
		const size_t k = rng_below(&r->random, i), last = r->queue[i - 1];

		r->queue[i - 1] = r->queue[k];
		r->queue[k] = last;
	}
}

static void stage_begin(race *r, race_stage stage)
{
	r->stage = stage;
	r->round = r->first = r->whole[stage];
	r->nqueue = r->at = 0;
}

static void alive_remove(race *r, size_t arm)
{
	for (size_t i = 0; i < r->nalive; i++)
		if (r->alive[i] == arm) {
			memmove(r->alive + i, r->alive + i + 1,
				(r->nalive - i - 1) * sizeof *r->alive);
			r->nalive--;
			r->arms[arm].left = true;
			return;
		}
}

static double effect_of(const race *r, size_t arm)
{
	return race_predict(r, r->arms[arm].value);
}

/* Removes the arms that are shown to violate the limit. */
static void violating_leave(race *r)
{
	for (size_t i = r->nalive; i-- > 0;)
		if (r->alive[i] > 0 && race_holds(r, r->alive[i]) == DCK_VERDICT_VIOLATED)
			alive_remove(r, r->alive[i]);
}

/* Removes the arms that are shown to be slower than the best. */
static void slower_leave(race *r)
{
	const size_t n = r->nalive;
	size_t best = r->alive[0];

	for (size_t i = 1; i < n; i++)
		if (effect_of(r, r->alive[i]) < effect_of(r, best))
			best = r->alive[i];
	for (size_t i = n; i-- > 0;) {
		/* All pairs, because the best was chosen by the same trials. */
		if (r->alive[i] != best &&
		    race_compare(r, r->alive[i], best, n * (n - 1) / 2 + 1).lo > 0)
			alive_remove(r, r->alive[i]);
	}
}

/* --- SCREEN */

/* Returns whether an arm may be faster than the default by more than the margin. */
static bool faster_may_exist(const race *r)
{
	for (size_t i = 1; i < r->narms; i++)
		if (r->arms[i].trials > 0 && race_usable(r, i) &&
		    !(race_compare(r, i, 0, r->narms).lo >= -log1p(r->c.margin)))
			return true;
	return false;
}

/* Returns whether there is something to do: all arms, or, in later passes, those left out, and else
 * new combinations. */
static bool screen_begin(race *r)
{
	const bool idle = r->passes > 1 && !(r->used_ns > r->from_ns);
	double sum = r->arms[0].cost_ns;
	double room;

	stage_begin(r, RACE_SCREEN);
	if (idle || r->round + SINGLES_ROUNDS_LIMIT > RACE_ROUNDS_MAX)
		return false;
	r->from_ns = r->passes++ > 0 ? r->used_ns : 0;
	room = stage_end(r) - r->used_ns;
	r->alive[0] = 0;
	r->nalive = 1;
	for (size_t i = 1; i < r->narms; i++) {
		race_arm *a = &r->arms[i];
		const race_arm *base = &r->arms[race_base_of(r, i)];

		if (a->end != RACE_OK || (r->passes > 1 && !(a->skipped && a->why[0] == '\0')))
			continue;
		a->skipped = base->end != RACE_OK || sum + race_cost_of(r, i) > room;
		if (base->end != RACE_OK)
			memcpy(a->why, base->why, sizeof a->why);
		if (a->skipped)
			continue;
		sum += race_cost_of(r, i);
		r->alive[r->nalive++] = i;
	}
	return r->nalive > 1 || (r->passes > 1 && faster_may_exist(r));
}

static void racers_choose(race *r);
static void winner_choose(race *r);

static void screen_advance(race *r)
{
	const unsigned n = r->round - r->first;
	const unsigned singles = r->c.limit.ns > 0 ? SINGLES_ROUNDS_LIMIT : SINGLES_ROUNDS;
	bool more;

	r->whole[RACE_SCREEN] = r->round;
	if (n > 0 && n <= singles)
		violating_leave(r);
	if (n < singles && (n > 0 || r->nalive > 1))
		more = r->nalive > 1 && r->used_ns + cost_of_round(r) <= stage_end(r);
	else
		more = r->round < RACE_ROUNDS_MAX && race_mix_begin(r, stage_end(r) - r->used_ns);
	if (more)
		race_queue_begin(r);
	else
		racers_choose(r);
}

/* --- RACE */

typedef struct racer {
	size_t arm;
	double effect; /* expected logarithm of its time over the default's */
} racer;

static void racer_add(racer *list, size_t *n, size_t arm, double effect)
{
	size_t at = *n;

	for (size_t i = 0; i < *n; i++)
		if (list[i].arm == arm)
			return;
	for (; at > 0 && list[at - 1].effect > effect; at--)
		if (at < RACERS_MAX)
			list[at] = list[at - 1];
	if (at < RACERS_MAX)
		list[at] = (racer){arm, effect};
	*n = *n < RACERS_MAX ? *n + 1 : *n;
}

/* Adds the values and each arm that differs in one of them by the default's. */
static void racer_add_values(race *r, uint8_t *value, racer *list, size_t *n)
{
	for (size_t d = r->c.ndims + 1; d-- > 0;) {
		const uint8_t v = d < r->c.ndims ? value[d] : 0;
		size_t arm;

		if (d < r->c.ndims && (v == 0 || (r->c.engines && d == 0)))
			continue;
		if (d < r->c.ndims)
			value[d] = 0;
		arm = race_arm_add(r, value);
		if (arm != SIZE_MAX && arm > 0 && r->arms[arm].end == RACE_OK)
			racer_add(list, n, arm, effect_of(r, arm));
		if (d < r->c.ndims)
			value[d] = v;
	}
}

/* Chooses the arms of RACE: the default, arms of SCREEN that seem faster, and what the model
 * expects to be fastest. */
static void racers_choose(race *r)
{
	const size_t narms = r->narms;
	uint8_t value[RACE_DIMS_MAX] = {0};
	double sum = r->arms[0].cost_ns, least = 0;
	racer list[RACERS_MAX];
	size_t n = 0, best = 0;

	for (size_t i = 1; i < narms; i++) {
		const double effect = effect_of(r, i);

		if (!race_usable(r, i) || !(effect < -RACE_ROUNDING))
			continue;
		racer_add(list, &n, i, effect);
		if (effect < least) {
			least = effect;
			best = i;
		}
	}
	if (r->whole[RACE_SCREEN] > 0) {
		memcpy(value, r->arms[race_base_of(r, best)].value, sizeof value);
		race_mix_best(r, value);
		racer_add_values(r, value, list, &n);
		memcpy(value, r->arms[best].value, sizeof value);
		race_mix_best(r, value);
		racer_add_values(r, value, list, &n);
	}
	stage_begin(r, RACE_RACE);
	r->alive[0] = 0;
	r->nalive = 1;
	for (size_t i = 0; i < n && r->nalive < RACERS_MAX; i++) {
		const double cost = race_cost_of(r, list[i].arm);
		/* Two rounds at least: one has no error to judge by. */
		const bool late = r->used_ns + 2 * (sum + cost) > stage_end(r);

		/* Without time for them CONFIRM judges the best of SCREEN. */
		if (late && (r->nalive > 1 || r->arms[list[i].arm].trials == 0))
			continue;
		sum += cost;
		r->alive[r->nalive++] = list[i].arm;
	}
	for (size_t i = 0; i < r->nalive; i++) {
		r->arms[r->alive[i]].raced = true;
		r->arms[r->alive[i]].left = false;
	}
	r->rung_rounds = 0;
	for (r->rungs = 0; (size_t)1 << r->rungs < r->nalive;)
		r->rungs++;
}

static void rung_begin(race *r)
{
	const double room = (stage_end(r) - r->used_ns) / r->rungs;

	r->rung_rounds = (unsigned)fmax(1, fmin(RUNG_ROUNDS, floor(room / cost_of_round(r))));
	r->rungs--;
}

/* Keeps the better half. */
static void half_leave(race *r)
{
	const size_t keep = (r->nalive + 1) / 2;

	while (r->nalive > keep) {
		double most = -INFINITY;
		size_t worst = SIZE_MAX;

		for (size_t i = 0; i < r->nalive; i++) {
			const size_t arm = r->alive[i];
			const double v = effect_of(r, arm);

			if (v > most) {
				most = v;
				worst = arm;
			}
		}
		alive_remove(r, worst);
	}
}

static void race_advance_rung(race *r)
{
	const unsigned n = r->round - r->first;

	r->whole[RACE_RACE] = r->round;
	violating_leave(r);
	if (n > 0 && (r->rung_rounds == 0 || n % RACE_LOOK == 0))
		slower_leave(r);
	if (n > 0 && r->rung_rounds == 0)
		half_leave(r);
	if (r->nalive > 1 && r->rung_rounds == 0 && r->rungs > 0)
		rung_begin(r);
	if (r->nalive > 1 && r->rung_rounds > 0 && r->round < RACE_ROUNDS_MAX &&
	    r->used_ns + cost_of_round(r) <= stage_end(r)) {
		r->rung_rounds--;
		race_queue_begin(r);
		return;
	}
	winner_choose(r);
}

/* --- the winner */

static void confirm_begin(race *r);

/* Chooses the arm that changes least among those within the margin of the best. */
static void winner_choose(race *r)
{
	size_t best = 0, winner;
	double least = INFINITY;

	for (unsigned among = 0; among < 2 && !(least < INFINITY); among++)
		for (size_t i = 0; i < r->narms; i++) {
			const race_arm *a = &r->arms[i];
			const double v = effect_of(r, i);

			/* If outputs differ, all arms of RACE may be out. */
			if ((a->raced || r->differing > 0) && race_usable(r, i) &&
			    (among > 0 || !a->left) && v < least) {
				least = v;
				best = i;
			}
		}
	winner = best;
	for (size_t i = 0; i < r->narms; i++)
		if ((r->arms[i].raced || r->differing > 0) && race_usable(r, i) &&
		    effect_of(r, i) <= least + log1p(r->c.margin) &&
		    r->arms[i].changes < r->arms[winner].changes)
			winner = i;
	r->winner = winner;
	r->arms[winner].raced = true;
	if (winner == 0) {
		if (!screen_begin(r))
			stage_begin(r, RACE_REST);
	} else if (r->c.verify && r->arms[winner].outputs == RACE_NOT_COMPARED &&
		   r->compared < WINNERS_MAX) {
		r->compared++;
		stage_begin(r, RACE_VERIFY);
		r->queue[r->nqueue++] = winner;
	} else if (r->c.verify && r->arms[winner].outputs == RACE_NOT_COMPARED) {
		r->winner = 0;
		stage_begin(r, RACE_REST);
	} else {
		confirm_begin(r);
	}
}

/* --- CONFIRM */

static void confirm_begin(race *r)
{
	const double room = r->c.budget_ns - r->used_ns;
	const double pairs = floor(room / (race_cost_of(r, 0) + race_cost_of(r, r->winner)));

	stage_begin(r, RACE_CONFIRM);
	r->planned = (size_t)fmax(0, fmin(RACE_PAIRS_MAX, pairs));
	r->few = r->planned < race_pairs_least(r);
	if (r->few) {
		stage_begin(r, RACE_REST);
		return;
	}
	stat_boundary_init(&r->boundary, (1 - r->c.level) / 2, r->planned, r->walk);
	r->alive[0] = 0;
	r->alive[1] = r->winner;
	r->nalive = 2;
}

static size_t pairs_collect(const race *r, double *d)
{
	size_t n = 0;

	for (unsigned k = 1; k <= r->whole[RACE_CONFIRM]; k++) {
		const double x = r->pair[k - 1][1] - r->pair[k - 1][0];

		if (!isnan(x))
			d[n++] = x;
	}
	return n;
}

/* Tests the pairs; returns whether the difference is known well enough. */
static bool confirm_look(race *r, bool last)
{
	double d[RACE_PAIRS_MAX];
	const size_t n = pairs_collect(r, d);
	stat_paired p;
	double slack;
	double level;

	if (!last && n < stat_look_next(r->looked, r->planned))
		return false;
	if (n == 0 || n == r->looked)
		return false;
	if (last && n < r->planned)
		stat_boundary_last(&r->boundary, n);
	level = stat_boundary_level(&r->boundary, n);
	stat_paired_shift(d, n, level, STAT_PAIRS_EVEN_FRESH, r->scratch, &p);
	slack = stat_boundary_slack(&r->boundary);
	r->looked = n;
	r->ratio = (race_number){p.median, p.has_interval ? p.lo - slack : NAN,
				 p.has_interval ? p.hi + slack : NAN, n};
	return p.has_interval && (r->ratio.lo > 0 || r->ratio.hi < 0) &&
	       (r->ratio.hi - r->ratio.lo) / 2 <= fmax(CONFIRM_HALF, CONFIRM_PART * fabs(p.median));
}

static void confirm_advance(race *r)
{
	bool ends = r->round >= r->planned || !race_usable(r, r->winner) ||
		    r->used_ns + cost_of_round(r) > r->c.budget_ns;

	if (r->round > 0)
		r->whole[RACE_CONFIRM] = r->round;
	if (r->round > 0 && confirm_look(r, ends))
		ends = true;
	if (ends)
		stage_begin(r, RACE_REST);
	else if (r->round % 2 == 0) {
		race_queue_begin(r);
	} else { /* every second pair is the one before it in reverse */
		const size_t first = r->queue[0];

		r->queue[0] = r->queue[1];
		r->queue[1] = first;
		r->at = 0;
		r->round++;
	}
}

/* --- REST */

static void rest_advance(race *r)
{
	size_t front[RACE_FRONT_MAX];
	const size_t n = r->c.verify ? race_front(r, front) : 0;

	r->nqueue = r->at = 0;
	for (size_t i = 0; i < n && r->nqueue == 0; i++)
		if (front[i] != 0 && r->arms[front[i]].outputs == RACE_NOT_COMPARED &&
		    r->used_ns + fmax(r->outputs_ns, 2 * race_cost_of(r, front[i])) <=
			r->c.budget_ns)
			r->queue[r->nqueue++] = front[i];
	if (r->nqueue == 0)
		r->stage = RACE_DONE;
}

/* --- the next step */

static void race_advance(race *r)
{
	switch (r->stage) {
	case RACE_PILOT:
		(void)screen_begin(r);
		break;
	case RACE_SCREEN:
		screen_advance(r);
		break;
	case RACE_RACE:
		race_advance_rung(r);
		break;
	case RACE_VERIFY:
		winner_choose(r);
		break;
	case RACE_CONFIRM:
		confirm_advance(r);
		break;
	case RACE_REST:
		rest_advance(r);
		break;
	case RACE_DONE:
		break;
	}
}

bool race_next(race *r, race_ask *ret)
{
	while (r->stage != RACE_DONE && r->at == r->nqueue)
		race_advance(r);
	if (r->stage == RACE_DONE)
		return false;
	const size_t arm = r->queue[r->at];
	const double usual = r->arms[0].cost_ns, room = OVER_SHARE * r->c.budget_ns - r->used_ns;
	const bool outputs = r->stage == RACE_VERIFY || r->stage == RACE_REST;
	const double late =
	    usual > 0 ? fmax(LATE_TIMES * fmax(usual, race_cost_of(r, arm)), usual + LATE_NS) *
			    (outputs ? 2 : 1)
		      : INFINITY;

	*ret = (race_ask){.stage = r->stage,
			  .arm = arm,
			  .round = r->round,
			  .outputs = outputs,
			  .limit_ns = fmax(fmin(late, room), 1e6)};
	return true;
}

/* Returns the place of a trial's value; NULL: it does not count. */
static double *value_place(race *r, size_t arm)
{
	switch (r->stage) {
	case RACE_SCREEN:
		return &r->screen[r->round - 1][arm];
	case RACE_RACE:
		return &r->race[r->round - 1][arm];
	case RACE_CONFIRM:
		return &r->pair[r->round - 1][arm > 0];
	default:
		return NULL;
	}
}

static void limited_tell(race_arm *a, const race_outcome *o)
{
	a->limited++;
	a->runs += o->runs;
	a->over += o->over;
	a->sum_ns += o->mean_ns;
	a->squares_ns += o->mean_ns * o->mean_ns;
}

/* Adds x to the geometric mean of n numbers. */
static void mean_add(double *mean, unsigned n, double x)
{
	*mean = n == 0 ? x : *mean * exp(log(x / *mean) / (double)(n + 1));
}

static void trial_tell(race *r, size_t arm, const race_outcome *o)
{
	const double x[] = {log(o->value_ns), log(o->latency_ns)};
	double *place = value_place(r, arm);
	race_arm *a = &r->arms[arm];

	if (place)
		*place = x[0];
	for (size_t i = 0; i < 2 && arm == 0; i++) {
		/* The pilot's counts only until there is another. */
		r->sum[i] = r->nsum == 0 || a->trials == 1 ? x[i] : r->sum[i] + x[i];
		r->squares[i] =
		    r->nsum == 0 || a->trials == 1 ? x[i] * x[i] : r->squares[i] + x[i] * x[i];
	}
	if (arm == 0)
		r->nsum = a->trials <= 1 ? 1 : r->nsum + 1;
	mean_add(&r->items[arm], a->trials, o->latency_ns / o->value_ns);
	mean_add(&r->latency[arm], a->trials, o->latency_ns);
	a->trials++;
	a->cost_ns = o->cost_ns;
	if (r->stage != RACE_PILOT && r->c.limit.ns > 0)
		limited_tell(a, o);
	if (o->peak_rss_bytes > a->peak_rss_bytes)
		a->peak_rss_bytes = o->peak_rss_bytes;
}

static void outputs_tell(race *r, race_arm *a, const race_outcome *o)
{
	r->outputs_ns = o->cost_ns;
	a->error = o->end == RACE_OK ? o->error : (double)NAN;
	a->outputs = o->end != RACE_OK || isnan(o->error) ? RACE_UNKNOWN
		     : o->differs			  ? RACE_DIFFER
							  : RACE_AGREE;
	memcpy(a->outputs_why, o->why, sizeof a->outputs_why);
	if (a->outputs == RACE_DIFFER) {
		a->left = true;
		r->differing++;
	}
}

void race_tell(race *r, const race_outcome *o)
{
	assert(r->stage != RACE_DONE && r->at < r->nqueue);
	const size_t arm = r->queue[r->at];
	race_arm *a = &r->arms[arm];

	if (r->stage == RACE_VERIFY || r->stage == RACE_REST) {
		outputs_tell(r, a, o);
	} else if (o->end == RACE_OK) {
		trial_tell(r, arm, o);
	} else if (arm > 0) {
		a->end = o->end;
		memcpy(a->why, o->why, sizeof a->why);
		alive_remove(r, arm);
	}
	r->at++;
	r->asked++;
	r->used_ns += o->cost_ns + fmax(0, o->before_ns);
}

size_t race_narms(const race *r)
{
	return r->narms;
}

const race_arm *race_arm_get(const race *r, size_t arm)
{
	return &r->arms[arm];
}

double race_used_ns(const race *r)
{
	return r->used_ns;
}

size_t race_ntrials(const race *r)
{
	return r->asked;
}
