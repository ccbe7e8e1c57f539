/* search_judge.c - estimates over the trials of a search: rates with intervals, the best point, the
 * knee, the Pareto front, and the reason why growth ended.
 *
 * Candidates in rounds are a randomised complete block design on the logarithm of the rate
 * (stat/blocks.h): the error is pooled, and differences are corrected by Bonferroni for all pairs
 * and looks. Any other point gets the best's number times their ratio in the trials that both have
 * (Welford's update, Technometrics 4, 1962). Without such trials the mean of the point's logarithms
 * counts, with Student's t, and of a single trial that trial's interval.
 *
 * Invariants: nothing is cached, and the search is const: each value is computed from the trials
 * when it is requested. Once a point has trials in complete rounds only these count, because the
 * trial that chose it favours it. search_rate() calls itself at most once, for the best, which is a
 * candidate. A value is O(trials * candidates * rounds).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/throughput/search.h"
#include "study/throughput/search_state.h"
#include "stat/dist.h"
#include "stat/stat.h"
#include <math.h>

/* If the last doubling raised the rate by less, the rate had reached a roof. */
#define ROOF_SHARE 0.02

/* Returns a number of an outcome by its offset there. */
static const search_number *judge_number_at(const search_outcome *o, size_t place)
{
	return (const search_number *)(const void *)((const char *)o + place);
}

static bool in_round(const search *s, const search_trial *v, size_t point)
{
	return v->point == point && v->outcome.end == SEARCH_OK && v->round > 0 &&
	       v->round <= s->complete;
}

size_t search_in_rounds(const search *s, size_t point)
{
	size_t n = 0;

	for (size_t i = 0; i < s->ntrials; i++)
		n += in_round(s, &s->trials[i], point);
	return n;
}

/* Trials in complete rounds count, because they affect all points alike; before the first, the
 * trial that found the point. */
static bool counts(const search *s, const search_trial *v, size_t point, bool rounds)
{
	return rounds ? in_round(s, v, point)
		      : v->point == point && v->outcome.end == SEARCH_OK && v->round == 0;
}

static search_number over_trials(const search *s, size_t point, size_t place)
{
	double sum = 0, squares = 0, mean, half;
	const bool rounds = search_in_rounds(s, point) > 0;
	const search_number *last = NULL;
	size_t n = 0;

	for (size_t i = 0; i < s->ntrials; i++) {
		const search_number *x = judge_number_at(&s->trials[i].outcome, place);

		if (!counts(s, &s->trials[i], point, rounds))
			continue;
		if (!last || x->value > 0)
			last = x;
		if (!(x->value > 0))
			continue;
		n++;
		sum += log(x->value);
	}
	if (n < 2)
		return last ? *last : (search_number){NAN, NAN, NAN};
	mean = sum / (double)n;
	for (size_t i = 0; i < s->ntrials; i++) {
		const double v = judge_number_at(&s->trials[i].outcome, place)->value;

		if (counts(s, &s->trials[i], point, rounds) && v > 0)
			squares += (log(v) - mean) * (log(v) - mean);
	}
	half = stat_t_quantile(0.5 + s->c.level / 2, (double)(n - 1)) *
	       sqrt(squares / (double)(n - 1) / (double)n);
	return (search_number){exp(mean), exp(mean - half), exp(mean + half)};
}

/* --- two points in the trials that both have */

/* Logarithms of a's number over b's: how many, their mean, half of its interval. */
typedef struct paired {
	size_t n;
	double mean, half; /* half: NaN where it is not known */
} paired;

typedef struct pairing {
	paired p;
	double squares;
	unsigned round;
	const search_number *a, *b; /* of that round; NULL: none */
} pairing;

/* Ends a round: with both numbers it is one pair more (Welford, Technometrics 4, 1962). */
static void pairing_step(pairing *q, unsigned round)
{
	if (q->a && q->b) {
		const double d = log(q->a->value) - log(q->b->value), off = d - q->p.mean;

		q->p.n++;
		q->p.mean += off / (double)q->p.n;
		q->squares += off * (d - q->p.mean);
		q->p.half = hypot(log(q->a->hi / q->a->value), log(q->b->hi / q->b->value));
	}
	q->round = round;
	q->a = q->b = NULL;
}

/* Compares a and b in the trials that both have; the trials of a round are adjacent. */
static paired pair_over(const search *s, size_t a, size_t b, size_t place, bool rounds)
{
	pairing q = {.p.half = NAN};

	for (size_t i = 0; i < s->ntrials; i++) {
		const search_trial *v = &s->trials[i];
		const search_number *x = judge_number_at(&v->outcome, place);

		if (v->round != q.round)
			pairing_step(&q, v->round);
		if (counts(s, v, a, rounds) && x->value > 0)
			q.a = x;
		if (counts(s, v, b, rounds) && x->value > 0)
			q.b = x;
	}
	pairing_step(&q, 0);
	if (q.p.n > 1)
		q.p.half = stat_t_quantile(0.5 + s->c.level / 2, (double)(q.p.n - 1)) *
			   sqrt(q.squares / (double)(q.p.n - 1) / (double)q.p.n);
	return q.p;
}

/* Compares a and b in rounds, or, where they met in none, in the trials that found them. */
static paired pair_find(const search *s, size_t a, size_t b, size_t place)
{
	const paired p = pair_over(s, a, b, place, true);

	return p.n > 0 ? p : pair_over(s, a, b, place, false);
}

double search_log_ratio(const search *s, size_t a, size_t b)
{
	const paired p = pair_find(s, a, b, offsetof(search_outcome, rate));

	return p.n > 0 ? p.mean : NAN;
}

static bool best_in_rounds(const search *s, bool strict, size_t *ret);

/* A point that is not in the rounds any more, or never was, had a faster or a slower machine: its
 * own number may be above the best's although it was slower wherever the two met. So it is the
 * best's number times their ratio there. */
static bool beside_best(const search *s, size_t point, size_t place,
			search_number (*number)(const search *, size_t), search_number *ret)
{
	size_t best;

	if (search_candidate(s, point) != SIZE_MAX ||
	    (!best_in_rounds(s, true, &best) && !best_in_rounds(s, false, &best)))
		return false;
	const paired p = pair_find(s, point, best, place);
	const search_number of = number(s, best);
	const double value = of.value * exp(p.mean);

	*ret = (search_number){value, value * exp(-hypot(log(of.value / of.lo), p.half)),
			       value * exp(hypot(log(of.hi / of.value), p.half))};
	return p.n > 0;
}

/* Sizes that were compared in rounds share one error, and which of them is best was chosen by the
 * same numbers. */
search_number search_rate(const search *s, size_t point)
{
	const size_t place = offsetof(search_outcome, rate);
	double means[SEARCH_CANDIDATES_MAX];
	stat_blocks_level levels[SEARCH_CANDIDATES_MAX];
	const size_t at = search_candidate(s, point);
	search_number beside;
	stat_blocks f;

	if (beside_best(s, point, place, search_rate, &beside))
		return beside;
	if (at == SIZE_MAX || !search_compare(s, means, &f) || !(f.dof > 0) || isnan(f.sd))
		return over_trials(s, point, place);
	stat_blocks_levels(&f, means, s->c.level, levels);
	return (search_number){exp(levels[at].value), exp(levels[at].lo), exp(levels[at].hi)};
}

/* A limit applies to the measured latency, so with a limit nothing is rescaled. */
search_number search_latency(const search *s, size_t point)
{
	const size_t place = offsetof(search_outcome, latency);
	search_number beside;

	return !(s->c.limit.ns > 0) && beside_best(s, point, place, search_latency, &beside)
		   ? beside
		   : over_trials(s, point, place);
}

search_number search_mean_rate(const search *s, size_t point)
{
	return over_trials(s, point, offsetof(search_outcome, mean_rate));
}

search_number search_held(const search *s, size_t point)
{
	double most = NAN;

	if (s->c.limit.kind != LIMIT_MAX)
		return over_trials(s, point, offsetof(search_outcome, held));
	/* One run above it violates a limit on the maximum, in whichever trial it was. */
	for (size_t i = 0; i < s->ntrials; i++)
		if (s->trials[i].point == point && s->trials[i].outcome.end == SEARCH_OK)
			most = fmax(most, s->trials[i].outcome.held.value);
	return (search_number){most, most, most};
}

dck_verdict search_holds(const search *s, size_t point)
{
	const latency_limit *limit = &s->c.limit;
	dck_verdict v;

	if (!(limit->ns > 0))
		return DCK_VERDICT_MET;
	/* Only a mean may be below the median. */
	if (limit->kind != LIMIT_MEAN && search_latency(s, point).lo > limit->ns)
		return DCK_VERDICT_VIOLATED;
	const search_number held = search_held(s, point);

	v = stat_limit_interval(held.lo, held.hi, limit->ns);
	return limit->kind == LIMIT_MAX && v == DCK_VERDICT_MET ? DCK_VERDICT_INCONCLUSIVE : v;
}

static bool judge_usable(const search *s, size_t i)
{
	return s->points[i].end == SEARCH_OK && s->points[i].trials > 0;
}

double search_trial_log_rate(const search *s, size_t point, unsigned round)
{
	for (size_t i = s->ntrials; i-- > 0;)
		if (s->trials[i].point == point && s->trials[i].round == round)
			return log(s->trials[i].outcome.rate.value);
	return NAN;
}

/* A maximum that was not broken is all that can be known of it. */
static bool keeps(const search *s, size_t i, bool strict)
{
	const dck_verdict v = search_holds(s, i);

	return v == DCK_VERDICT_MET ||
	       (v == DCK_VERDICT_INCONCLUSIVE && (!strict || s->c.limit.kind == LIMIT_MAX));
}

/* Rounds are fair to all their points; earlier trials may have had a faster machine. */
static bool best_in_rounds(const search *s, bool strict, size_t *ret)
{
	double means[SEARCH_CANDIDATES_MAX], y = -INFINITY;
	bool found = false;
	stat_blocks f;

	if (!search_compare(s, means, &f))
		return false;
	for (size_t i = 0; i < s->ncandidates; i++)
		if (judge_usable(s, s->candidates[i]) && keeps(s, s->candidates[i], strict) &&
		    means[i] > y) {
			y = means[i];
			*ret = s->candidates[i];
			found = true;
		}
	return found;
}

bool search_best(const search *s, bool strict, size_t *ret)
{
	double most = 0;
	bool found = false;

	if (best_in_rounds(s, strict, ret))
		return true;
	for (size_t i = 0; i < s->npoints; i++) {
		const double rate = judge_usable(s, i) ? search_rate(s, i).value : 0;

		if (!(rate > most) || !keeps(s, i, strict))
			continue;
		most = rate;
		*ret = i;
		found = true;
	}
	return found;
}

void search_neighbours(const search *s, size_t point, size_t *ret_below, size_t *ret_above)
{
	const search_point *p = &s->points[point];

	*ret_below = *ret_above = SIZE_MAX;
	for (size_t i = 0; i < s->npoints; i++) {
		const search_point *q = &s->points[i];

		if (q->setting != p->setting)
			continue;
		if (q->batch < p->batch &&
		    (*ret_below == SIZE_MAX || q->batch > s->points[*ret_below].batch))
			*ret_below = i;
		if (q->batch > p->batch &&
		    (*ret_above == SIZE_MAX || q->batch < s->points[*ret_above].batch))
			*ret_above = i;
	}
}

size_t search_knee(const search *s, size_t best)
{
	const double enough = log(1 - SEARCH_KNEE_SHARE);
	const bool rounds = search_in_rounds(s, best) > 0;
	size_t knee = best;

	for (size_t i = 0; i < s->npoints; i++)
		if (judge_usable(s, i) && s->points[i].setting == s->points[best].setting &&
		    s->points[i].batch < s->points[knee].batch &&
		    (search_in_rounds(s, i) > 0 || !rounds) && keeps(s, i, true) &&
		    search_log_ratio(s, i, best) >= enough)
			knee = i;
	return knee;
}

/* --- comparing */

size_t search_candidate(const search *s, size_t point)
{
	for (size_t i = 0; i < s->ncandidates; i++)
		if (s->candidates[i] == point)
			return i;
	return SIZE_MAX;
}

bool search_compare(const search *s, double *means, stat_blocks *ret)
{
	double y[SEARCH_ROUNDS_MAX * SEARCH_CANDIDATES_MAX];
	const unsigned from = s->first_round;

	if (s->chosen == 0 || s->complete < from || s->ncandidates == 0)
		return false;
	const unsigned n = s->complete - from + 1;

	for (unsigned r = 0; r < n; r++)
		for (size_t i = 0; i < s->ncandidates; i++)
			y[r * s->ncandidates + i] =
			    search_trial_log_rate(s, s->candidates[i], from + r);
	stat_blocks_fit(y, s->ncandidates, n, means, ret);
	return true;
}

/* Bonferroni over the interim looks and over all pairs with the best point, because the best was
 * selected by the same data. */
search_difference search_differ(const search *s, const double *means, const stat_blocks *f,
				size_t best, size_t i)
{
	const unsigned looks = (s->c.rounds_max + s->c.rounds_min - 1) / s->c.rounds_min;
	const size_t n = s->ncandidates, pairs = n > 1 ? n * (n - 1) / 2 : 1;
	search_difference d = {.by = means[best] - means[i],
			       .half = stat_blocks_half(f, s->c.level, pairs * looks)};

	d.resolved = d.by > d.half;
	d.close = d.half <= s->c.precision;
	return d;
}

/* --- the result */

/* The growth of a setting is limited by what ended it, unless it had levelled off before. */
static search_limit judge_limit_of(const search *s, unsigned setting)
{
	size_t largest = SIZE_MAX, half = SIZE_MAX;

	for (size_t i = 0; i < s->npoints; i++)
		if (judge_usable(s, i) && s->points[i].setting == setting &&
		    (largest == SIZE_MAX || s->points[i].batch > s->points[largest].batch))
			largest = i;
	for (size_t i = 0; largest != SIZE_MAX && i < s->npoints; i++)
		if (judge_usable(s, i) && s->points[i].setting == setting &&
		    s->points[i].batch <= s->points[largest].batch / 2 &&
		    (half == SIZE_MAX || s->points[i].batch > s->points[half].batch))
			half = i;
	if (half != SIZE_MAX && search_log_ratio(s, largest, half) < log(1 + ROOF_SHARE))
		return SEARCH_BY_SATURATION;
	return s->growth[setting].limit;
}

static void compare_with_best(const search *s, search_result *r)
{
	double means[SEARCH_CANDIDATES_MAX];
	stat_blocks f;
	const size_t at = search_candidate(s, r->best);
	double most = -INFINITY;

	if (at == SIZE_MAX || !search_compare(s, means, &f) || f.blocks < 2)
		return;
	r->rounds = (unsigned)f.blocks;
	r->ncompared = s->nbeaten;
	for (size_t i = 0; i < s->ncandidates; i++) {
		const search_difference d = search_differ(s, means, &f, at, i);

		if (i == at || search_holds(s, s->candidates[i]) == DCK_VERDICT_VIOLATED)
			continue;
		r->half = d.half;
		r->ncompared++;
		if (d.resolved)
			continue;
		/* Only one that meets the limit can be the best. */
		if (keeps(s, s->candidates[i], true))
			r->unresolved[r->nunresolved++] = s->candidates[i];
		else if (d.by < 0 && means[i] > most) {
			most = means[i];
			r->unsure = s->candidates[i];
		}
	}
}

/* No point is shown to keep to the limit. */
static dck_verdict verdict_of_none(const search *s)
{
	bool measured = false;

	for (size_t i = 0; i < s->npoints; i++) {
		if (s->points[i].trials == 0)
			continue;
		measured = true;
		if (search_holds(s, i) != DCK_VERDICT_VIOLATED)
			return DCK_VERDICT_INCONCLUSIVE;
	}
	return measured ? DCK_VERDICT_VIOLATED : DCK_VERDICT_INCONCLUSIVE;
}

void search_judge(const search *s, search_result *ret)
{
	search_result r = {.limit = s->growth[0].limit, .unsure = SIZE_MAX, .half = NAN};

	r.found = search_best(s, true, &r.best);
	r.verdict = r.found ? search_holds(s, r.best) : verdict_of_none(s);
	if (r.found) {
		r.knee = search_knee(s, r.best);
		r.limit = judge_limit_of(s, s->points[r.best].setting);
		compare_with_best(s, &r);
	}
	*ret = r;
}

void search_pareto(const search *s, bool *front, double *scratch)
{
	double *rate = scratch, *latency = scratch + s->npoints;

	for (size_t i = 0; i < s->npoints; i++) {
		front[i] = judge_usable(s, i);
		rate[i] = front[i] ? search_rate(s, i).value : (double)NAN;
		latency[i] = front[i] ? search_latency(s, i).value : (double)NAN;
	}
	for (size_t i = 0; i < s->npoints; i++)
		for (size_t k = 0; front[i] && k < s->npoints; k++)
			if (rate[k] >= rate[i] && latency[k] <= latency[i] &&
			    (rate[k] > rate[i] || latency[k] < latency[i]))
				front[i] = false;
}

void search_order(const search *s, size_t *order)
{
	for (size_t n = 0; n < s->npoints; n++) {
		const search_point *p = &s->points[n];
		size_t at = n;

		for (; at > 0; at--) {
			const search_point *q = &s->points[order[at - 1]];

			if (q->setting < p->setting ||
			    (q->setting == p->setting && q->batch < p->batch))
				break;
			order[at] = order[at - 1];
		}
		order[at] = n;
	}
}
