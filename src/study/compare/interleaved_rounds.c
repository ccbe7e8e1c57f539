/* interleaved_rounds.c - the design of a live comparison: randomised complete blocks in ABBA order,
 * grouped in rounds, with group-sequential stopping.
 *
 * planned_rounds_run() opens all candidates, times PILOT_BLOCKS that do not count, plans rounds for
 * the time that is left, and runs them. A block is a trial of each candidate, shuffled (Fisher and
 * Yates); the next block is its reverse, which cancels a linear drift. A round opens all again,
 * programs and --keep-sessions aside, models in fresh processes where starting is cheap (the rule
 * of `bench`, plan.h), and gives each candidate one number, the median over its
 * blocks of the logarithm of its time over the baseline's, since blocks of one opening depend on
 * each other. At the rounds of stat_look_next() interleaved_look() judges by a sequential sign test
 * (stat/sequential.h) and may end the comparison.
 *
 * Invariants: the number of rounds is fixed before the first that counts, because the boundary
 * spends the error by shares of it; a given number is tested once, at the end. Time only stops a
 * comparison early, and then the next look is the last. After one whole round a failure is in
 * r->failed and the rounds before it count. Memory: two doubles for each planned round and
 * candidate.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/interleaved_look.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/rng.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The least number that is planned; where time ends it with less, it may be undecided. */
#define ROUNDS_MIN 12
/* Pilot blocks, to plan the number of rounds: they show how long one takes, and are not used. */
#define PILOT_BLOCKS 2
#define BLOCKS_MAX   16

static void rounds_shuffle(interleaved *v, size_t n, size_t *order)
{
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	for (size_t i = n; i > 1; i--) {
		const size_t k = rng_below(&v->random, i), last = order[i - 1];

		order[i - 1] = order[k];
		order[k] = last;
	}
}

/* Every second block is the one before it in reverse (ABBA), so that even drift within the two
 * affects all candidates alike. */
static void interleaved_rounds_order_make(interleaved *v, size_t block, size_t n, size_t *order)
{
	if (block % 2 == 0) {
		rounds_shuffle(v, n, order);
		return;
	}
	for (size_t i = 0; i < n / 2; i++) {
		const size_t first = order[i];

		order[i] = order[n - 1 - i];
		order[n - 1 - i] = first;
	}
}

static uint64_t rounds_now(const interleaved *v)
{
	return measure_context_now(&v->shared);
}

size_t interleaved_rounds_made(const interleaved_rounds *r)
{
	return r->done + r->disturbed;
}

static void rounds_progress_show(interleaved *v, const interleaved_rounds *r)
{
	dck_progress p = progress_indeterminate(r->phase);

	p.runs = interleaved_rounds_made(r);
	/* The time of the rounds, once there are some: openings before them give no rate. */
	p.elapsed_ns = rounds_now(v) - (p.runs > 0 ? r->begin_ns : v->shared.origin_ns);
	p.runs_total = v->asked->rounds;
	if (r->planned > 0) {
		p.done_ratio = (double)p.runs / (double)r->planned;
		p.eta_ns = r->round_ns * (double)(r->planned - p.runs);
	}
	observer_show(v->shared.watch, &p);
}

/* --- one round */

static dck_status candidate_failed(const interleaved_candidate *candidate, dck_status status,
				   const char *doing, dck_err *err)
{
	return status == DCK_E_CANCEL
		   ? status
		   : err_while(err, status, "%s '%s'", doing, candidate->what->name);
}

/* Opens all candidates again in random order, so that memory addresses are chosen again. */
static dck_status candidates_open(interleaved *v, interleaved_rounds *r, dck_err *err)
{
	size_t order[DCK_ALTERNATIVES_MAX];
	dck_status status;

	rounds_shuffle(v, r->n, order);
	for (size_t i = 0; i < r->n; i++)
		interleaved_candidate_close(&r->candidates[i]);
	for (size_t i = 0; i < r->n; i++) {
		interleaved_candidate *candidate = &r->candidates[order[i]];

		status = interleaved_candidate_open(v, candidate, err);
		if (status != DCK_OK)
			return candidate_failed(candidate, status, "opening", err);
	}
	return DCK_OK;
}

/* Runs one block: a trial of each candidate. */
static dck_status block_run(interleaved *v, interleaved_rounds *r, const size_t *order,
			    size_t block, dck_err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		interleaved_candidate *candidate = &r->candidates[order[i]];
		double ns = NAN;
		const dck_status status = interleaved_candidate_trial(v, candidate, &ns, err);

		if (status != DCK_OK)
			return candidate_failed(candidate, status, "measuring", err);
		if (!(ns > 0) && !v->asked->undisturbed)
			DCK_FAIL(err, E_ARG,
				 "a run of '%s' took no time that the clock can see: "
				 "there is no ratio to compare",
				 candidate->what->name);
		candidate->inner_ns[block] = ns;
	}
	return DCK_OK;
}

static double median_of(double *x, size_t n)
{
	stat_sort(x, n);
	return stat_quantile_sorted(x, n, 0.5);
}

/* Returns whether times are compared by item: a longer run of more items may be the better one,
 * unless the caller compares the latency. */
static bool items_differ(const interleaved *v, const interleaved_rounds *r)
{
	bool differ = false;

	if (v->asked->undisturbed)
		return false;
	if (v->asked->metric && strcmp(v->asked->metric, ITEMS_METRIC) != 0)
		return false;
	for (size_t i = 0; i < r->n; i++) {
		if (r->candidates[i].items == 0)
			return false;
		differ |= r->candidates[i].items != r->candidates[0].items;
	}
	return differ;
}

/* Gives each candidate the median of its trials that had an undisturbed run, instead of all of
 * them. Returns whether every candidate has one: only such rounds count. Which rounds count may
 * depend on how long runs are, but not on which of two equal subjects comes out faster. */
static bool round_undisturbed(interleaved_rounds *r, double *scratch)
{
	bool all = true;

	for (size_t i = 0; i < r->n; i++) {
		double *x = r->candidates[i].inner_ns;
		size_t n = 0;

		for (size_t k = 0; k < r->blocks; k++)
			if (x[k] > 0)
				scratch[n++] = x[k];
		all &= n > 0;
		const double median = n > 0 ? median_of(scratch, n) : NAN;
		for (size_t k = 0; k < r->blocks; k++)
			x[k] = median;
	}
	return all;
}

/* A round counts once, however many blocks it has, because blocks of one opening depend on each
 * other. */
static void round_keep(const interleaved *v, interleaved_rounds *r, double *scratch)
{
	if (v->asked->undisturbed && !round_undisturbed(r, scratch)) {
		r->disturbed++;
		return;
	}
	if (r->done == 0) /* in fresh processes nothing is known before */
		r->per_item = items_differ(v, r);
	for (size_t i = 0; i < r->n && r->per_item; i++)
		for (size_t k = 0; k < r->blocks; k++)
			r->candidates[i].inner_ns[k] /= (double)r->candidates[i].items;
	for (size_t i = 0; i < r->n; i++) {
		for (size_t k = 0; k < r->blocks; k++)
			scratch[k] =
			    log(r->candidates[i].inner_ns[k] / r->candidates[0].inner_ns[k]);
		r->results[i].ratio[r->done] = median_of(scratch, r->blocks);
	}
	for (size_t i = 0; i < r->n; i++) {
		r->results[i].trial_ns[r->done] = median_of(r->candidates[i].inner_ns, r->blocks);
		r->results[i].rounds = r->done + 1;
	}
	r->done++;
}

static dck_status round_run(interleaved *v, interleaved_rounds *r, size_t *order, double *scratch,
			    dck_err *err)
{
	const size_t before = interleaved_rounds_made(r);

	if (r->place.reopens && before > 0)
		DCK_TRY(candidates_open(v, r, err));
	for (size_t block = 0; block < r->blocks; block++) {
		interleaved_rounds_order_make(v, before * r->blocks + block, r->n, order);
		DCK_TRY(block_run(v, r, order, block, err));
		rounds_progress_show(v, r);
	}
	round_keep(v, r, scratch);
	return DCK_OK;
}

/* --- the plan */

static double opening_ns(const interleaved_rounds *r)
{
	double sum = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->candidates[i].nopened > 0)
			sum += r->candidates[i].session_ns[0] + 2 * r->candidates[i].first_ns[0] +
			       12e6;
	return sum;
}

/* Returns the time of the whole comparison; an A/A comparison before it may have left none. */
static uint64_t rounds_time_ns(const interleaved *v, const interleaved_rounds *r)
{
	return v->deadline_ns > r->origin_ns ? v->deadline_ns - r->origin_ns : 1;
}

/* Opens all candidates again, the models among them in fresh processes, if starting is cheap then.
 * *ret_ns: the time that this took. If it is not, or no process can be started, all are open in
 * this process as before. */
static dck_status starts_try(interleaved *v, interleaved_rounds *r, double *ret_ns, dck_err *err)
{
	const uint64_t begin = rounds_now(v);
	trial_place *p = &r->place;
	dck_err why = {0};
	dck_status status;

	for (size_t i = 0; i < r->n; i++)
		r->candidates[i].remote = r->candidates[i].what->subject->kind == DCK_SUBJECT_MODEL;
	status = candidates_open(v, r, &why);
	if (status == DCK_E_CANCEL || status == DCK_E_NOMEM)
		return err_pass(status, &why, err);
	*ret_ns = (double)(rounds_now(v) - begin);
	p->starting_share = measure_starting_share(*ret_ns, rounds_time_ns(v, r));
	p->starts = status == DCK_OK && p->starting_share <= MEASURE_STARTING_SHARE;
	if (p->starts)
		return DCK_OK;
	if (status != DCK_OK)
		snprintf(p->why, sizeof p->why, "%.*s", (int)sizeof p->why - 1, why.msg);
	for (size_t i = 0; i < r->n; i++) {
		interleaved_candidate_close(&r->candidates[i]);
		r->candidates[i].remote = false;
	}
	return candidates_open(v, r, err);
}

/* Decides whether the rounds are in fresh processes. *open_ns: the time of opening all again. */
static dck_status rounds_starts_decide(interleaved *v, interleaved_rounds *r, double *open_ns,
				       dck_err *err)
{
	trial_place *p = &r->place;

	p->starts = v->asked->fresh;
	if (!p->models || p->starts)
		return DCK_OK;
	if (v->one_process) {
		snprintf(p->why, sizeof p->why, "%s", v->one_process);
		return DCK_OK;
	}
	/* Fresh processes are not cheaper than opening again here. */
	p->starting_share = measure_starting_share(*open_ns, rounds_time_ns(v, r));
	return p->starting_share <= MEASURE_STARTING_SHARE ? starts_try(v, r, open_ns, err)
							   : DCK_OK;
}

static dck_status inner_new(interleaved_rounds *r, size_t blocks, dck_err *err)
{
	r->blocks = blocks;
	for (size_t i = 0; i < r->n; i++) {
		r->candidates[i].inner_ns = mem_zalloc(blocks, sizeof(double));
		DCK_NEED(r->candidates[i].inner_ns, err, "for %zu blocks", blocks);
	}
	return DCK_OK;
}

static size_t rounds_least(const interleaved *v, const interleaved_rounds *r)
{
	/* Some more, because the interim looks spend alpha gradually. */
	const size_t ranks = interleaved_look_least(r->n, v->asked->level) + 4;

	return v->asked->ranking && ranks > ROUNDS_MIN ? ranks : ROUNDS_MIN;
}

/* Fixes the largest number of rounds before the first that counts, because the boundary spends the
 * error by shares of it. */
static dck_status rounds_plan_make(interleaved *v, interleaved_rounds *r, size_t *order,
				   dck_err *err)
{
	const dck_compare_config *c = v->asked;
	double block_ns, open_ns, left_ns, blocks = 1;
	uint64_t begin;

	for (size_t i = 0; i < r->n; i++) /* each run of a program is a separate start */
		r->place.models |= r->candidates[i].what->subject->kind != DCK_SUBJECT_COMMAND;
	r->place.reopens = r->place.models && !c->keep_sessions && !c->fresh;
	DCK_TRY(inner_new(r, c->trials > BLOCKS_MAX ? (size_t)c->trials : BLOCKS_MAX, err));
	begin = rounds_now(v);
	for (size_t i = 0; i < PILOT_BLOCKS && !c->fresh; i++) {
		interleaved_rounds_order_make(v, i, r->n, order);
		DCK_TRY(block_run(v, r, order, i, err));
		rounds_progress_show(v, r);
	}
	block_ns = c->fresh ? (double)r->n * (double)(v->plan.asked.max_time_ns + 1000000000u)
			    : (double)(rounds_now(v) - begin) / PILOT_BLOCKS;
	open_ns = r->place.reopens ? opening_ns(r) : 0;
	DCK_TRY(rounds_starts_decide(v, r, &open_ns, err));
	left_ns = fmax(0, (double)v->deadline_ns - (double)rounds_now(v));
	/* The first opening of all may have compiled what later ones find (shaders of a GPU): it
	 * shows by one more. */
	if (open_ns * ROUNDS_MIN > left_ns && !r->place.starts) {
		begin = rounds_now(v);
		DCK_TRY(candidates_open(v, r, err));
		open_ns = (double)(rounds_now(v) - begin);
		left_ns = fmax(0, left_ns - open_ns);
	}
	/* Even, so that each order comes as often as its reverse. Where openings and trials scatter
	 * alike the root is best (Cochran 1977, Sampling Techniques, ch. 10): with the ratio itself
	 * fresh processes would leave too few rounds. */
	if (r->place.reopens) {
		const double ratio = open_ns / block_ns;

		blocks = (r->place.starts ? sqrt(ratio) : ratio) / 2;
		blocks = 2 * fmax(1, fmin(BLOCKS_MAX / 2.0, round(blocks)));
	}
	r->blocks = c->trials > 0 ? (size_t)c->trials : (size_t)blocks;
	r->round_ns = open_ns + (double)r->blocks * block_ns;
	r->planned = c->rounds;
	if (r->planned == 0) {
		const double fit = fmin(left_ns / fmax(1, r->round_ns), (double)c->max_rounds);

		r->planned = (size_t)fmax((double)rounds_least(v, r), fit);
	}
	return DCK_OK;
}

/* Time is a limit, not a plan: no round starts that would end too late, judged by earlier rounds.
 * The last look is then early. */
static bool time_over(const interleaved *v, const interleaved_rounds *r)
{
	const double each =
	    (double)(rounds_now(v) - r->begin_ns) / (double)interleaved_rounds_made(r);

	return v->asked->rounds == 0 && (double)rounds_now(v) + each > (double)v->deadline_ns;
}

static dck_status rounds_loop(interleaved *v, interleaved_rounds *r, interleaved_looks *f,
			      size_t *order, dck_err *err)
{
	/* Rounds that are fixed beforehand are tested once, which leaves all of the error to it.
	 */
	const bool once = v->asked->rounds > 0;
	size_t next_look = once ? r->planned : stat_look_next(0, r->planned);

	r->begin_ns = rounds_now(v);
	while (r->done < r->planned) {
		rounds_progress_show(v, r);
		DCK_TRY(round_run(v, r, order, f->scratch, err));
		r->stopped = (time_over(v, r) || interleaved_rounds_made(r) >= r->planned) &&
			     r->done < r->planned;
		if (r->stopped && r->done == 0)
			break;
		if (r->done < next_look && !r->stopped)
			continue;
		next_look = stat_look_next(r->done, r->planned);
		if (interleaved_look(v, f, r) == 0 || r->stopped)
			break;
	}
	if (r->done == 0)
		snprintf(r->none, sizeof r->none,
			 "in none of %zu rounds had every subject a run in which no thread waited "
			 "for a processor",
			 r->disturbed);
	return DCK_OK;
}

/* With --undisturbed: returns whether one can know which runs are undisturbed. */
static bool rounds_can_filter(interleaved_rounds *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!r->candidates[i].unknown[0])
			continue;
		snprintf(r->none, sizeof r->none, "%.60s: %s", interleaved_label(r, i),
			 r->candidates[i].unknown);
		return false;
	}
	return true;
}

static dck_status results_new(interleaved_rounds *r, dck_err *err)
{
	for (size_t i = 0; i < r->n; i++) {
		r->results[i].trial_ns = mem_zalloc(r->planned, sizeof(double));
		r->results[i].ratio = mem_zalloc(r->planned, sizeof(double));
		DCK_NEED(r->results[i].trial_ns && r->results[i].ratio, err, "for %zu rounds",
			 r->planned);
	}
	return DCK_OK;
}

static dck_status planned_rounds_run(interleaved *v, interleaved_rounds *r, interleaved_looks *f,
				     dck_err *err)
{
	size_t order[DCK_ALTERNATIVES_MAX] = {0};
	dck_err why = {0};

	r->origin_ns = rounds_now(v);
	rounds_progress_show(v, r);
	DCK_TRY(candidates_open(v, r, err));
	DCK_TRY(rounds_plan_make(v, r, order, err));
	DCK_TRY(results_new(r, err));
	if (!rounds_can_filter(r))
		return DCK_OK;
	DCK_TRY(interleaved_looks_init(f, v, r, err));
	r->failed = rounds_loop(v, r, f, order, &why);
	if (r->failed == DCK_OK)
		return DCK_OK;
	if (interleaved_rounds_made(r) == 0)
		return err_pass(r->failed, &why, err);
	r->why = why;
	if (r->done > 0)
		(void)interleaved_look(v, f, r);
	return DCK_OK;
}

static double median_kept(const double *x, size_t n, double *scratch)
{
	if (n == 0)
		return NAN;
	memcpy(scratch, x, n * sizeof *x);
	return median_of(scratch, n);
}

static dck_status medians(interleaved_rounds *r, dck_err *err)
{
	double *scratch = mem_alloc((r->planned + 1) * sizeof *scratch);

	DCK_NEED(scratch, err, "for %zu rounds", r->planned);
	for (size_t i = 0; i < r->n; i++) {
		interleaved_candidate *l = &r->candidates[i];
		/* In fresh processes every trial opens. */
		const size_t n = l->nopened < r->planned ? l->nopened : r->planned;

		r->results[i].time_ns = median_kept(r->results[i].trial_ns, r->done, scratch);
		l->session_median_ns = median_kept(l->session_ns, n, scratch);
		l->first_median_ns = median_kept(l->first_ns, n, scratch);
	}
	mem_free(scratch);
	return DCK_OK;
}

dck_status interleaved_rounds_run(interleaved *v, interleaved_rounds *r, dck_err *err)
{
	interleaved_looks f = {0};
	dck_status status = planned_rounds_run(v, r, &f, err);

	DCK_NEXT(status, medians(r, err));
	interleaved_looks_done(&f);
	for (size_t i = 0; i < r->n; i++)
		interleaved_candidate_close(&r->candidates[i]);
	return status;
}

void interleaved_rounds_done(interleaved_rounds *r)
{
	for (size_t i = 0; i < r->n; i++) {
		interleaved_candidate_done(&r->candidates[i]);
		mem_free(r->results[i].trial_ns);
		mem_free(r->results[i].ratio);
	}
}

const char *interleaved_label(const interleaved_rounds *r, size_t candidate)
{
	return r->candidates[candidate].what->name + r->shared;
}

double interleaved_floor(const interleaved_rounds *self)
{
	const interleaved_result *x = &self->results[1];

	return x->has_interval ? expm1(fmax(fabs(x->lo), fabs(x->hi))) : (double)INFINITY;
}
