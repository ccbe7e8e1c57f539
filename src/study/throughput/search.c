/* search.c - the state machine of a search for the best batch size: exponential growth, bisection,
 * then elimination in randomised complete blocks.
 *
 * A queue has the points (batch and setting) of the present step; when it is empty search_advance()
 * fills it. GROW doubles the batch of each setting until its rate is flat, a limit ends it or it
 * fails. REFINE halves the gaps between the best point and the adjacent ones, a few levels deep.
 * ROUNDS measures up to SEARCH_CANDIDATES_MAX candidates in each round, in a new random order;
 * after every rounds_min rounds the significantly worse ones are removed, until all differences are
 * resolved or known well enough, or rounds_max is reached. Nothing is judged between these interim
 * analyses, because each is another chance to err.
 *
 * Nothing here measures or reads a clock, and random numbers come from the seed: the same outcomes
 * give the same trials, so a journal can be replayed. Each search_next() is followed by one
 * search_tell(). s->complete is the last round in which all candidates were tried; later trials do
 * not count (search_judge.c). Points and trials are growing arrays, owned by the search.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/rng.h"
#include "study/throughput/search_state.h"
#include <assert.h>
#include <math.h>
#include <string.h>

/* A larger batch that is not better by this factor counts as equal, and FLAT_ENOUGH of them in a
 * row end the growth: one alone may be a dip. */
#define GROWTH_WORTH  1.02
#define FLAT_ENOUGH   3
#define REFINE_LEVELS 2
/* Between a size that works and one that does not, the border is sharp. */
#define BORDER_LEVELS 4
/* Gaps below a quarter of the size (an eighth at a border) are not refined further. */
#define GAP_PARTS    4
#define BORDER_PARTS 8
/* A single trial on a busy machine may be off by a factor: points above this share of the best are
 * tried in rounds. */
#define NEAR_BEST   0.5
#define CHOICES_MAX 4

search *search_new(const search_config *c)
{
	search *s = mem_zalloc(1, sizeof *s);

	assert(c->settings >= 1 && c->settings <= SEARCH_SETTINGS_MAX);
	assert(c->nbatches <= SEARCH_BATCHES_MAX);
	if (!s)
		return NULL;
	s->c = *c;
	if (c->batches) {
		memcpy(s->batches, c->batches, c->nbatches * sizeof *c->batches);
		s->c.batches = s->batches;
	}
	s->random = c->seed;
	return s;
}

void search_free(search *s)
{
	if (!s)
		return;
	mem_free(s->points);
	mem_free(s->trials);
	mem_free(s);
}

/* --- points and the queue */

static dck_status point_get(search *s, uint64_t batch, unsigned setting, size_t *ret, dck_err *err)
{
	for (size_t i = 0; i < s->npoints; i++)
		if (s->points[i].batch == batch && s->points[i].setting == setting) {
			*ret = i;
			return DCK_OK;
		}
	DCK_NEED(mem_reserve(&s->points, &s->points_cap, s->npoints + 1, sizeof *s->points), err,
		 "for the points of a search");
	s->points[s->npoints] = (search_point){.batch = batch, .setting = setting};
	*ret = s->npoints++;
	return DCK_OK;
}

static void queue_shuffle(search *s)
{
	for (size_t i = s->nqueue; i > 1; i--) {
		const size_t k = (size_t)(rng_next(&s->random) % i), p = s->queue[i - 1];

		s->queue[i - 1] = s->queue[k];
		s->queue[k] = p;
	}
	s->at = 0;
}

static dck_status queue_add(search *s, uint64_t batch, unsigned setting, dck_err *err)
{
	assert(s->nqueue < SEARCH_SETTINGS_MAX);
	DCK_TRY(point_get(s, batch, setting, &s->queue[s->nqueue], err));
	s->nqueue++;
	return DCK_OK;
}

/* --- growth */

static bool grow_next_batch(search *s, uint64_t *ret)
{
	if (s->c.batches) {
		if (s->grown >= s->c.nbatches)
			return false;
		*ret = s->c.batches[s->grown++];
		return true;
	}
	if (s->grown >= s->c.max_batch)
		return false;
	if (s->grown == 0)
		s->grown = s->c.min_batch;
	else
		s->grown = s->grown > s->c.max_batch / 2 ? s->c.max_batch : 2 * s->grown;
	*ret = s->grown;
	return true;
}

static dck_status search_grow(search *s, dck_err *err)
{
	uint64_t batch;

	if (!grow_next_batch(s, &batch)) {
		s->phase = SEARCH_REFINE;
		return DCK_OK;
	}
	for (unsigned k = 0; k < s->c.settings; k++)
		if (!s->growth[k].ended)
			DCK_TRY(queue_add(s, batch, k, err));
	if (s->nqueue == 0)
		s->phase = SEARCH_REFINE;
	queue_shuffle(s);
	return DCK_OK;
}

static void grow_end(search_growth *g, search_limit limit)
{
	g->ended = true;
	g->limit = limit;
}

static void grow_learn(search *s, size_t point, const search_outcome *o)
{
	const search_point *p = &s->points[point];
	search_growth *g = &s->growth[p->setting];
	const bool list = s->c.batches != NULL;
	const bool last = list && p->batch == s->batches[s->c.nbatches - 1];

	if (o->end != SEARCH_OK) {
		/* Larger ones of a list need more memory still; another error may be of this size
		 * alone. */
		if (o->end == SEARCH_MEMORY || !list || last)
			grow_end(g, o->end == SEARCH_MEMORY ? SEARCH_BY_MEMORY : SEARCH_BY_ERROR);
		return;
	}
	if (o->rate.value > g->best * GROWTH_WORTH) {
		g->best = o->rate.value;
		g->flat = 0;
	} else {
		g->flat++;
	}
	if (last)
		g->limit = SEARCH_BY_MAX;
	else if (list)
		return;
	else if (search_holds(s, point) == DCK_VERDICT_VIOLATED)
		grow_end(g, SEARCH_BY_SLO);
	else if (g->flat >= FLAT_ENOUGH)
		grow_end(g, SEARCH_BY_SATURATION);
	else if (p->batch >= s->c.max_batch)
		grow_end(g, SEARCH_BY_MAX);
	else if (s->c.longest_ns > 0 && o->latency.value > s->c.longest_ns)
		grow_end(g, SEARCH_BY_TIME);
}

/* --- refinement */

/* Returns whether a point cannot be the answer, however fast it is. */
static bool infeasible(const search *s, size_t point)
{
	return s->points[point].end != SEARCH_OK || search_holds(s, point) == DCK_VERDICT_VIOLATED;
}

static dck_status refine_between(search *s, size_t best, size_t other, dck_err *err)
{
	const uint64_t b = s->points[best].batch;
	const bool border = other != SIZE_MAX && infeasible(s, other);

	if (other == SIZE_MAX || s->level >= (border ? BORDER_LEVELS : REFINE_LEVELS))
		return DCK_OK;
	const uint64_t o = s->points[other].batch, gap = o > b ? o - b : b - o;

	if (gap < 2 || gap * (border ? BORDER_PARTS : GAP_PARTS) < b)
		return DCK_OK;
	return queue_add(s, b < o ? b + gap / 2 : b - gap / 2, s->points[best].setting, err);
}

static dck_status refine(search *s, dck_err *err)
{
	size_t best, below, above;

	if (!s->c.batches && search_best(s, false, &best)) {
		search_neighbours(s, best, &below, &above);
		DCK_TRY(refine_between(s, best, below, err));
		DCK_TRY(refine_between(s, best, above, err));
	}
	s->level++;
	if (s->nqueue == 0)
		s->phase = SEARCH_ROUNDS;
	queue_shuffle(s);
	return DCK_OK;
}

/* --- rounds */

static void candidate_add(search *s, size_t point)
{
	if (point == SIZE_MAX || s->ncandidates == SEARCH_CANDIDATES_MAX ||
	    s->points[point].end != SEARCH_OK || s->points[point].trials == 0)
		return;
	if (search_candidate(s, point) == SIZE_MAX)
		s->candidates[s->ncandidates++] = point;
}

static void candidate_remove(search *s, size_t i)
{
	memmove(s->candidates + i, s->candidates + i + 1,
		(s->ncandidates - i - 1) * sizeof *s->candidates);
	s->ncandidates--;
}

/* Returns the point that was fastest when it was found, is not a candidate and does not violate
 * the limit, as far as is known; of `setting`, or of any (SIZE_MAX). */
static size_t fastest_other(const search *s, size_t setting)
{
	size_t found = SIZE_MAX;
	double most = 0;

	for (size_t i = 0; i < s->ntrials; i++) {
		const search_trial *v = &s->trials[i];
		const bool taken =
		    v->round > 0 || infeasible(s, v->point) ||
		    (setting != SIZE_MAX && s->points[v->point].setting != setting) ||
		    search_candidate(s, v->point) != SIZE_MAX;

		if (!taken && v->outcome.rate.value > most) {
			most = v->outcome.rate.value;
			found = v->point;
		}
	}
	return found;
}

/* Returns the point nearest to the limit, to be measured precisely if no point meets the limit. */
static size_t least_held(const search *s)
{
	size_t found = SIZE_MAX;

	for (size_t i = 0; i < s->npoints; i++)
		if (s->points[i].end == SEARCH_OK && s->points[i].trials > 0 &&
		    (found == SIZE_MAX ||
		     search_latency(s, i).value < search_latency(s, found).value))
			found = i;
	return found;
}

/* Chooses the best and its adjacent points, the knee and the point below, then points that are
 * about as good. */
static void candidates_choose(search *s)
{
	size_t best, sure, below, above, knee, other;

	s->ncandidates = 0;
	s->nbeaten = 0;
	s->chosen++;
	s->first_round = s->round + 1;
	if (!search_best(s, false, &best)) {
		candidate_add(s, least_held(s));
		return;
	}
	candidate_add(s, best);
	/* Two on each side: the nearest may have been refined around a chance. */
	for (size_t i = 0, at = best; i < 2; i++, at = below) {
		search_neighbours(s, at, &below, &above);
		candidate_add(s, below);
		if (below == SIZE_MAX)
			break;
	}
	for (size_t i = 0, at = best; i < 2; i++, at = above) {
		search_neighbours(s, at, &below, &above);
		if (above == SIZE_MAX || infeasible(s, above))
			break;
		candidate_add(s, above);
	}
	if (search_best(s, true, &sure) && sure != best) {
		candidate_add(s, sure);
		search_neighbours(s, sure, &below, &above);
		candidate_add(s, below);
	}
	knee = search_knee(s, best);
	candidate_add(s, knee);
	search_neighbours(s, knee, &below, &above);
	candidate_add(s, below);
	for (size_t k = 0; s->c.settings > 1 && k < s->c.settings; k++) {
		other = fastest_other(s, k);
		if (other != SIZE_MAX && search_log_ratio(s, other, best) >= log(NEAR_BEST))
			candidate_add(s, other);
	}
	while ((other = fastest_other(s, SIZE_MAX)) != SIZE_MAX &&
	       s->ncandidates < SEARCH_CANDIDATES_MAX &&
	       (s->c.batches || search_log_ratio(s, other, best) >= log(NEAR_BEST)))
		candidate_add(s, other);
}

/* Returns whether a point that was in no round, because it had been far below the best when it was
 * found, is above the best's rate since then: the machine was slower at one of the two times. */
static bool overlooked(const search *s, size_t best)
{
	const size_t other = fastest_other(s, SIZE_MAX);

	return other != SIZE_MAX && search_in_rounds(s, other) == 0 &&
	       search_trial_log_rate(s, other, 0) > log(search_rate(s, best).value);
}

/* Removes the candidates that are settled after a round. true: all are. */
static bool candidates_settle(search *s)
{
	const double knee = -log(1 - SEARCH_KNEE_SHARE);
	double means[SEARCH_CANDIDATES_MAX];
	bool all = true, gone[SEARCH_CANDIDATES_MAX] = {false};
	stat_blocks f;
	size_t best, at;

	/* If every point violates the limit, there are no candidates. */
	if (!search_best(s, true, &best) && !search_best(s, false, &best))
		return true;
	at = search_candidate(s, best);
	if (at == SIZE_MAX || (s->chosen < CHOICES_MAX && overlooked(s, best))) {
		if (s->chosen == CHOICES_MAX)
			return true;
		candidates_choose(s);
		return false;
	}
	if (s->ncandidates < 2)
		return true;
	if (!search_compare(s, means, &f))
		return false;
	for (size_t i = 0; i < s->ncandidates; i++) {
		const search_difference d = search_differ(s, means, &f, at, i);

		if (i == at || infeasible(s, s->candidates[i]))
			continue;
		all &= d.resolved || d.close;
		gone[i] = d.resolved && fabs(d.by - knee) > d.half;
	}
	if (all)
		return true;
	/* The last two stay, because one point cannot be compared with anything. */
	for (size_t i = s->ncandidates; i-- > 0;)
		if (gone[i] && s->ncandidates > 2) {
			candidate_remove(s, i);
			s->nbeaten++;
		}
	return false;
}

/* Starts the next round, or ends the search. */
static void search_rounds(search *s)
{
	bool over = false;

	if (s->chosen > 0) {
		const unsigned made = s->round - s->first_round + 1;

		/* Judged only at these numbers of rounds, because each look is another chance to
		 * err. */
		if (made % s->c.rounds_min == 0 || made >= s->c.rounds_max)
			over = candidates_settle(s) || made >= s->c.rounds_max;
		/* Other candidates than before start again. */
		over &= s->first_round <= s->round;
	}
	if (s->chosen == 0 || (s->ncandidates == 0 && s->chosen < CHOICES_MAX))
		candidates_choose(s);
	if (over || s->ncandidates == 0) {
		s->phase = SEARCH_DONE;
		return;
	}
	s->round++;
	s->nqueue = s->ncandidates;
	memcpy(s->queue, s->candidates, s->ncandidates * sizeof *s->queue);
	queue_shuffle(s);
}

/* --- the next step */

static dck_status search_advance(search *s, dck_err *err)
{
	s->nqueue = s->at = 0;
	switch (s->phase) {
	case SEARCH_GROW:
		return search_grow(s, err);
	case SEARCH_REFINE:
		return refine(s, err);
	case SEARCH_ROUNDS:
		search_rounds(s);
		break;
	case SEARCH_DONE:
		break;
	}
	return DCK_OK;
}

dck_status search_next(search *s, bool *ret_more, search_ask *ret, dck_err *err)
{
	while (s->phase != SEARCH_DONE && s->at == s->nqueue)
		DCK_TRY(search_advance(s, err));
	*ret_more = s->phase != SEARCH_DONE;
	if (*ret_more) {
		const size_t point = s->queue[s->at];

		*ret = (search_ask){.point = point,
				    .batch = s->points[point].batch,
				    .setting = s->points[point].setting,
				    .round = s->round,
				    .phase = s->phase};
	}
	return DCK_OK;
}

static dck_status trial_add(search *s, size_t point, const search_outcome *o, dck_err *err)
{
	DCK_NEED(mem_reserve(&s->trials, &s->trials_cap, s->ntrials + 1, sizeof *s->trials), err,
		 "for the trials of a search");
	s->trials[s->ntrials++] = (search_trial){point, s->round, *o};
	return DCK_OK;
}

dck_status search_tell(search *s, const search_outcome *o, dck_err *err)
{
	assert(s->phase != SEARCH_DONE && s->at < s->nqueue);
	const size_t point = s->queue[s->at];
	search_point *p = &s->points[point];

	DCK_TRY(trial_add(s, point, o, err));
	s->at++;
	p->end = o->end;
	if (o->peak_rss_bytes > p->peak_rss_bytes)
		p->peak_rss_bytes = o->peak_rss_bytes;
	if (o->end == SEARCH_OK)
		p->trials++;
	else
		memcpy(p->why, o->why, sizeof p->why);
	if (s->phase == SEARCH_GROW)
		grow_learn(s, point, o);
	if (o->end != SEARCH_OK && s->phase == SEARCH_ROUNDS)
		candidate_remove(s, search_candidate(s, point));
	if (s->phase == SEARCH_ROUNDS && s->at == s->nqueue)
		s->complete = s->round;
	return DCK_OK;
}

size_t search_left(const search *s)
{
	/* The usual number of trials, where it is not known yet. */
	const size_t usual = 5 * s->c.rounds_min;
	const size_t queued = s->nqueue - s->at;
	const unsigned made = s->chosen ? s->round - s->first_round + 1 : 0;

	switch (s->phase) {
	case SEARCH_GROW:
		return queued + usual + 6u * s->c.settings;
	case SEARCH_REFINE:
		return queued + usual + 1;
	case SEARCH_ROUNDS:
		return queued +
		       (made < s->c.rounds_min ? (s->c.rounds_min - made) * s->ncandidates : 0);
	case SEARCH_DONE:
		break;
	}
	return 0;
}

size_t search_npoints(const search *s)
{
	return s->npoints;
}

const search_point *search_get(const search *s, size_t point)
{
	return &s->points[point];
}

size_t search_ntrials(const search *s)
{
	return s->ntrials;
}

const search_trial *search_trial_get(const search *s, size_t i)
{
	return &s->trials[i];
}
