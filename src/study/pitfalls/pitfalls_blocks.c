/* pitfalls_blocks.c - the paired design of a mistake: honest and mistaken trials in ABBA order, and
 * the median of the logarithms of their ratios with an exact sign-test interval.
 *
 * A trial has runs that do not count, and then runs whose median or mean is its result; a kind of
 * trial is a function with its data (pitfall_trial). pairs_take() changes which of the two is first
 * from pair to pair, so that a linear drift adds the same to both. The number of pairs, ROUNDS_MIN
 * to PIT_ROUNDS_MAX, follows from the time alone and never from the results, so that the single
 * test at the end has its nominal level (stat/sequential.h).
 *
 * Trials of all sessions use the sample store of the honest session, which they clear first, and
 * p->scratch, which pitfall_median() overwrites. A session that pitfall_candidate_open() opens is
 * the caller's to close; one that fails is closed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "base/units.h"
#include "stat/sequential.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Fewer pairs have no interval at the usual levels. */
#define ROUNDS_MIN 8
/* The number of pairs that should fit into the time of a row. */
#define ROUNDS_WANTED 16
/* Runs before the counted ones: the other session's data are in the caches, and its workers may
 * still spin. Neither affects runs longer than LONG_NS. */
#define SETTLE_NS      3000000.0
#define LONG_NS	       50000000.0
#define SAMPLES_MIN    3
#define READY_RUNS_MAX 1000
#define SAMPLES_MAX    4096
/* Extra time, in units of rows, for other work and for rows that take longer. */
#define EXTRA_TIME    8
#define WARM_RUNS     5
#define WARM_NS	      300000000u
#define WARM_RUNS_MAX 100000

bool pitfall_is_command(const pitfall *p)
{
	return p->session.target.engine.ops->caps & DCK_CAP_COMMAND;
}

double pitfall_quantile(pitfall *p, const double *x, size_t n, double q)
{
	if (n == 0)
		return NAN;
	memcpy(p->scratch, x, n * sizeof *x);
	stat_sort(p->scratch, n);
	return stat_quantile_sorted(p->scratch, n, q);
}

double pitfall_median(pitfall *p, const double *x, size_t n)
{
	return pitfall_quantile(p, x, n, 0.5);
}

static uint64_t blocks_now(const pitfall *p)
{
	return measure_context_now(&p->shared);
}

void pitfall_show(pitfall *p, double row_share)
{
	const double done = (double)p->row + fmin(1, row_share), all = (double)p->nrows;
	const double passed = (double)(blocks_now(p) - p->rows_begin_ns);
	/* The first row is too little to extrapolate the others from. */
	const double planned = (double)p->asked->time_ns * (all + EXTRA_TIME);
	dck_progress live = progress_indeterminate(p->phase);

	live.elapsed_ns = blocks_now(p) - p->shared.origin_ns;
	live.done_ratio = all > 0 ? done / all : NAN;
	live.eta_ns = done > 1 ? passed * (all - done) / done : fmax(0, planned - passed);
	observer_show(p->shared.watch, &live);
}

/* --- trials */

double pitfall_trial_ns(const pitfall *p)
{
	return (double)p->asked->time_ns / (2 * ROUNDS_WANTED);
}

static uint64_t samples_of(const pitfall *p, double sample_ns)
{
	const double least = sample_ns > LONG_NS ? 1 : SAMPLES_MIN;

	return (uint64_t)fmin(SAMPLES_MAX, fmax(least, pitfall_trial_ns(p) / fmax(1, sample_ns)));
}

static uint64_t settle_of(const pitfall *p, double sample_ns)
{
	if (pitfall_is_command(p) || sample_ns > LONG_NS)
		return 0;
	return (uint64_t)fmin(SAMPLES_MAX, fmax(1, SETTLE_NS / fmax(1, sample_ns)));
}

static dck_status loop_take(pitfall *p, measure_loop *l, dck_err *err)
{
	measure_samples *to = &p->session.phases.latency;
	phase_samples sinks = {.latency = to};
	/* The loop's own time is that of its last slice, which may have been disturbed. */
	if (l == &p->session.phases.loop)
		l->run_ns = p->run_ns;
	const double sample_ns = l->run_ns * (double)l->group;
	const uint64_t settle = settle_of(p, sample_ns);

	if (settle > 0)
		DCK_TRY(measure_loop_take(l, &sinks, settle, err));
	measure_samples_clear(to);
	DCK_TRY(measure_loop_take(l, &sinks, samples_of(p, sample_ns), err));
	l->run_ns = pitfall_median(p, to->value, to->n);
	return DCK_OK;
}

dck_status pitfall_trial_loop(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	const measure_samples *to = &p->session.phases.latency;

	DCK_TRY(loop_take(p, self, err));
	*ret_ns = pitfall_median(p, to->value, to->n);
	return DCK_OK;
}

dck_status pitfall_trial_mean(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	const measure_samples *to = &p->session.phases.latency;
	double sum = 0;

	DCK_TRY(loop_take(p, self, err));
	for (size_t i = 0; i < to->n; i++)
		sum += to->value[i];
	*ret_ns = sum / (double)to->n;
	return DCK_OK;
}

dck_status pitfall_step_run(pitfall *p, void *self, dck_err *err)
{
	(void)self;
	return engine_run(p->session.target.engine.ops, p->session.target.context, err);
}

static dck_status step_once(pitfall *p, const pitfall_step *s, double *ret_ns, dck_err *err)
{
	const uint64_t begin = blocks_now(p);
	dck_status status = s->step(p, s->self, err);
	const uint64_t end = blocks_now(p);

	if (status == DCK_OK && s->after)
		status = s->after(p, s->self, err);
	*ret_ns = (double)(end - begin);
	return status;
}

dck_status pitfall_trial_step(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	const pitfall_step *s = self;
	measure_samples *to = &p->session.phases.latency;
	const uint64_t n = samples_of(p, p->run_ns), begin = blocks_now(p);
	uint64_t settle = settle_of(p, p->run_ns);
	double ns;

	measure_samples_clear(to);
	while (to->n < n) {
		if (measure_loop_cancelled(&p->session.phases.loop))
			DCK_FAIL(err, E_CANCEL, "interrupted");
		DCK_TRY(step_once(p, s, &ns, err));
		if (settle > 0) {
			settle--;
			/* A step that is much longer than a run needs no more of them. */
			if (ns > SETTLE_NS)
				settle = 0;
			continue;
		}
		measure_samples_push(to, 0, ns);
		if (to->n >= SAMPLES_MIN &&
		    (double)(blocks_now(p) - begin) > 2 * pitfall_trial_ns(p))
			break;
	}
	*ret_ns = pitfall_median(p, to->value, to->n);
	return DCK_OK;
}

/* --- pairs */

pitfall_trial pitfall_honest(pitfall *p)
{
	return (pitfall_trial){pitfall_trial_loop, &p->session.phases.loop};
}

/* The number of rounds follows from the time alone, so one look at the end has its nominal level.
 */
static dck_status pairs_judge(pitfall *p, pitfall_pairs *ret, dck_err *err)
{
	double *walk = mem_alloc((ret->n + 2) * sizeof *walk);
	stat_boundary b;
	stat_paired m;

	DCK_NEED(walk, err, "for rounds");
	stat_boundary_init(&b, (1 - p->asked->level) / 2, ret->n, walk);
	stat_paired_median(ret->log_ratio, ret->n, stat_boundary_look(&b, ret->n), p->scratch, &m);
	ret->factor = exp(m.median);
	ret->has_interval = m.has_interval;
	ret->lo = exp(m.lo);
	ret->hi = exp(m.hi);
	mem_free(walk);
	return DCK_OK;
}

dck_status pitfall_pairs_add(pitfall *p, pitfall_pairs *to, const pitfall_pairs *from, dck_err *err)
{
	for (size_t i = 0; i < from->n && to->n < PIT_ROUNDS_MAX; i++)
		to->log_ratio[to->n++] = from->log_ratio[i];
	return pairs_judge(p, to, err);
}

static dck_status pairs_take(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			     double *honest_ns, double *mistaken_ns, double *log_ratio,
			     size_t *ret_n, dck_err *err)
{
	const uint64_t begin = blocks_now(p);
	const double whole = (double)p->asked->time_ns;
	size_t n = 0;

	while (n < PIT_ROUNDS_MAX && (n < ROUNDS_MIN || (double)(blocks_now(p) - begin) < whole)) {
		/* Order ABBA: a steady change of the machine adds the same to both. */
		const bool honest_first = n % 2 == 0;

		if (honest_first)
			DCK_TRY(honest.measure(p, honest.self, &honest_ns[n], err));
		DCK_TRY(mistaken.measure(p, mistaken.self, &mistaken_ns[n], err));
		if (!honest_first)
			DCK_TRY(honest.measure(p, honest.self, &honest_ns[n], err));
		if (!(honest_ns[n] > 0) || !(mistaken_ns[n] > 0))
			DCK_FAIL(err, E_UNSUP, "a run took no time that the clock can see");
		log_ratio[n] = log(mistaken_ns[n] / honest_ns[n]);
		n++;
		pitfall_show(
		    p, fmax((double)(blocks_now(p) - begin) / fmax(1, whole) * (n >= ROUNDS_MIN),
			    0.5 * fmin(1, (double)n / ROUNDS_MIN)));
	}
	*ret_n = n;
	return DCK_OK;
}

dck_status pitfall_pair(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			pitfall_pairs *ret, dck_err *err)
{
	double *honest_ns = mem_alloc((size_t)2 * PIT_ROUNDS_MAX * sizeof *honest_ns);
	dck_status status;

	DCK_NEED(honest_ns, err, "for rounds");
	double *const mistaken_ns = honest_ns + PIT_ROUNDS_MAX;
	*ret = (pitfall_pairs){0};
	status =
	    pairs_take(p, honest, mistaken, honest_ns, mistaken_ns, ret->log_ratio, &ret->n, err);
	if (status == DCK_OK) {
		ret->honest_ns = pitfall_median(p, honest_ns, ret->n);
		ret->mistaken_ns = pitfall_median(p, mistaken_ns, ret->n);
		status = pairs_judge(p, ret, err);
	}
	mem_free(honest_ns);
	return status;
}

dck_status pitfall_pair_find(pitfall *p, pitfall_trial honest, pitfall_trial mistaken,
			     pitfall_finding *ret, dck_err *err)
{
	pitfall_pairs pairs;

	DCK_TRY(pitfall_pair(p, honest, mistaken, &pairs, err));
	ret->number_ns = pairs.mistaken_ns;
	ret->honest_ns = pairs.honest_ns;
	ret->factor = pairs.factor;
	ret->has_interval = pairs.has_interval;
	ret->lo = pairs.lo;
	ret->hi = pairs.hi;
	snprintf(ret->seen, sizeof ret->seen, "%s against %s, medians of %zu trials each",
		 UNITS_TIME(pairs.mistaken_ns), UNITS_TIME(pairs.honest_ns), pairs.n);
	return DCK_OK;
}

/* --- one run, whose end is detected in two ways */

typedef struct ready {
	pitfall_ready_once once;
	unsigned barrier;
	pitfall_wait least; /* of all runs of all trials; wait_ns: of call and wait together */
	double call_ns, ready_ns;
	bool made; /* the other trial of the pair, with the runs of both */
} ready;

/* Makes the runs of a pair. The same runs give both numbers, so that what slows some runs down
 * changes both. A wait may be a copy that takes many times as long as a run, and longer still
 * beside other programs, which only ever lengthen it: the least durations so far separate the work
 * that is left after a call from that. The call and its wait are one duration, since a run goes on
 * while the system has stopped its caller between them. */
static dck_status ready_runs(pitfall *p, ready *r, dck_err *err)
{
	double call_ns[READY_RUNS_MAX];
	const uint64_t begin = measure_context_now(&p->shared);
	const double least = pitfall_trial_ns(p);
	size_t n = 0;

	while (n < READY_RUNS_MAX &&
	       (n < SAMPLES_MIN || (double)(measure_context_now(&p->shared) - begin) < least)) {
		pitfall_wait w;

		if (measure_loop_cancelled(&p->session.phases.loop))
			DCK_FAIL(err, E_CANCEL, "interrupted");
		DCK_TRY(r->once(p, r->barrier, &w, err));
		call_ns[n++] = w.call_ns;
		r->least.call_ns = fmin(r->least.call_ns, w.call_ns);
		r->least.wait_ns = fmin(r->least.wait_ns, w.call_ns + w.wait_ns);
		r->least.idle_ns = fmin(r->least.idle_ns, w.idle_ns);
	}
	r->call_ns = pitfall_median(p, call_ns, n);
	r->ready_ns = r->call_ns + fmax(0, r->least.wait_ns - r->least.idle_ns - r->least.call_ns);
	return DCK_OK;
}

static dck_status ready_pair(pitfall *p, ready *r, dck_err *err)
{
	r->made = !r->made;
	return r->made ? ready_runs(p, r, err) : DCK_OK;
}

static dck_status ready_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	DCK_TRY(ready_pair(p, self, err));
	*ret_ns = ((ready *)self)->ready_ns;
	return DCK_OK;
}

static dck_status call_trial(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	DCK_TRY(ready_pair(p, self, err));
	*ret_ns = ((ready *)self)->call_ns;
	return DCK_OK;
}

dck_status pitfall_ready_find(pitfall *p, pitfall_ready_once once, unsigned barrier,
			      pitfall_finding *ret, dck_err *err)
{
	ready r = {.once = once, .barrier = barrier, .least = {INFINITY, INFINITY, INFINITY}};

	return pitfall_pair_find(p, (pitfall_trial){ready_trial, &r},
				 (pitfall_trial){call_trial, &r}, ret, err);
}

/* --- another session */

void pitfall_barrier_choose(const measure_session *s, unsigned barrier)
{
	if (barrier < s->barriers.n)
		s->target.engine.ops->barrier_choose(s->target.context, barrier);
}

static dck_status candidate_warm(pitfall *p, measure_session *l, dck_err *err)
{
	phase_samples sinks = {.latency = &p->session.phases.latency};
	const uint64_t most = p->asked->time_ns < WARM_NS ? p->asked->time_ns : WARM_NS;
	const uint64_t begin = blocks_now(p);

	measure_samples_clear(sinks.latency);
	for (uint64_t n = 0; n < WARM_RUNS_MAX && (n < WARM_RUNS || blocks_now(p) - begin < most);
	     n++)
		DCK_TRY(measure_loop_slice(&l->phases.loop, &sinks, 1, err));
	l->phases.loop.run_ns = pitfall_median(p, sinks.latency->value, sinks.latency->n);
	return DCK_OK;
}

dck_status pitfall_candidate_open(pitfall *p, measure_session *l, const dck_subject *s,
				  uint32_t observe, dck_err *err)
{
	dck_subject copy;
	dck_status status;

	*l = (measure_session){.target.observe = observe};
	/* One with another batch than the honest one was not checked yet. */
	if (s->model.batch == p->subject->model.batch)
		s = rebatched_trusted(s, &copy);
	status = measure_session_open(l, &p->shared, s, NULL, &p->shared.quiet, err);
	DCK_NEXT(status,
		 device_barriers_list(l->target.engine.ops, l->target.context, &l->barriers, err));
	if (status == DCK_OK) {
		/* On a device its runs end as the honest ones do. */
		if (l->barriers.n == p->session.barriers.n)
			pitfall_barrier_choose(l, p->session.barriers.chosen);
		l->phases.loop.group = p->session.phases.loop.group;
		status = candidate_warm(p, l, err);
	}
	if (status != DCK_OK)
		measure_session_close(l);
	return status;
}
