/* device_times.c - tests which barrier waits for a device, and measures the parts of its runs.
 *
 * The test: a trial enqueues `runs` runs, waits by the barrier in question, and then by the certain
 * one, which ends when results are in the host's memory. The second wait, less the time that it
 * takes with nothing to wait for, is what the first one left. That idle time is the second wait of
 * trials whose first one is certain too, because a wait takes longer after work than in a loop of
 * waits. The work of a trial is WORK_NS and WORK_PER_IDLE times the idle time, so that remaining
 * work exceeds noise.
 *
 * A barrier waits if it leaves at most LEFT_SHARE of the work of a trial in TRIALS trials in
 * succession (LONG_TRIALS, of runs longer than LONG_NS). Most of them do not suffice: the work
 * also ends while the scheduler gives the processor of a host that does not wait to others. It
 * waits until the end if the median of what it leaves is at most LEFT_SHARE of one run, or is not
 * shortened by a pause in which one run and what is left would end: then it is the cost of a first
 * wait after work. The end of the call may leave less, CALL_LEFT_SHARE: it does not promise to
 * wait, and a run that takes the host longer than the device leaves little. Shares are of the work
 * in the same trials, since the speed of a device changes.
 *
 * Events of a device are tested too before their times are used: around the runs of a trial, they
 * must be neither further apart than the host's time that encloses both, nor less than half of it,
 * which events of a stream without the work are.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/device_times.h"
#include "base/err.h"
#include "base/sink.h"
#include "base/units.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"
#include "measure/results.h"
#include <math.h>
#include <stdio.h>

#define TRIALS 5
/* As many single runs are made as end within SINGLES_NS, TRIALS at least. */
#define SINGLES	      20
#define SINGLES_NS    50e6
#define WORK_NS	      20e6
#define WORK_PER_IDLE 20
#define RUNS_MAX      4096
#define LEFT_SHARE    0.05
/* What is less than CALL_LEFT_NS is not resolved. */
#define CALL_LEFT_SHARE 0.01
#define CALL_LEFT_NS	2e3
#define LONG_NS		100e6
#define LONG_TRIALS	2
#define PAUSE_RUNS	2
/* A barrier that leaves more of one run returns early, beyond doubt. */
#define RETURNS_SHARE 0.5
/* Bounds of the time between two events over the host's. */
#define EVENTS_MIN 0.5
#define EVENTS_MAX 1.05
/* Trials beyond the first are made only within this time. */
#define BUDGET_NS 1e9

/* Number of times that a part of a run is timed; a 95 % interval of a median needs 6. */
#define PART_RUNS     50
#define PART_RUNS_MIN 6
/* PART_RUNS_MIN samples may take this many budgets. Longer runs have fewer, and no interval. */
#define PART_BUDGETS 4

/* If enqueueing takes more than this share of a latency, the latency measures enqueueing. */
#define ENQUEUE_SHARE 0.5

typedef struct timed_device {
	const dck_engine *e;
	dck_engine_context *c;
	const dck_clock *clock;
	uint64_t *runs; /* made so far */
	device_events events;
} timed_device;

static double device_now(const timed_device *d)
{
	return (double)d->clock->now_ns(d->clock->self);
}

/* --- the test of the barriers */

typedef struct trial {
	double begin_ns, enqueued_ns, waited_ns, ended_ns;
} trial;

static dck_status trial_make(const timed_device *d, uint64_t runs, unsigned barrier,
			     double pause_ns, unsigned certain, trial *ret, dck_err *err)
{
	ret->begin_ns = device_now(d);
	for (uint64_t i = 0; i < runs; i++)
		DCK_TRY(engine_enqueue(d->e, d->c, err));
	*d->runs += runs;
	ret->enqueued_ns = device_now(d);
	DCK_TRY(engine_wait(d->e, d->c, barrier, err));
	ret->waited_ns = device_now(d);
	if (pause_ns > 0) {
		const double until_ns = ret->waited_ns + pause_ns;
		while ((ret->waited_ns = device_now(d)) < until_ns)
			;
	}
	DCK_TRY(engine_wait(d->e, d->c, certain, err));
	ret->ended_ns = device_now(d);
	return DCK_OK;
}

static dck_status idle_measure(const timed_device *d, device_proof *p, dck_err *err)
{
	DCK_TRY(engine_wait(d->e, d->c, p->n - 1, err));
	p->idle_ns = INFINITY;
	for (int i = 0; i < TRIALS; i++) {
		const double begin_ns = device_now(d);

		DCK_TRY(engine_wait(d->e, d->c, p->n - 1, err));
		p->idle_ns = fmin(p->idle_ns, device_now(d) - begin_ns);
	}
	return DCK_OK;
}

/* Measures one run, and finds the number of runs for a trial. */
static dck_status work_choose(const timed_device *d, double until_ns, device_proof *p, dck_err *err)
{
	const double wanted_ns = fmax(WORK_NS, WORK_PER_IDLE * p->idle_ns);
	const double singles_ns = device_now(d) + SINGLES_NS;
	double ns[SINGLES], work_ns;
	size_t n = 0;
	trial t;

	p->least_ns = INFINITY;
	do {
		DCK_TRY(trial_make(d, 1, 0, 0, p->n - 1, &t, err));
		ns[n++] = work_ns = t.ended_ns - t.begin_ns;
		p->least_ns = fmin(p->least_ns, work_ns);
	} while (n < SINGLES && device_now(d) < (n < TRIALS ? until_ns : singles_ns));
	p->run_ns = stat_median(ns, n, (double[SINGLES]){0});
	for (p->runs = 1; work_ns < wanted_ns && p->runs < RUNS_MAX;) {
		p->runs *= 2;
		DCK_TRY(trial_make(d, p->runs, 0, 0, p->n - 1, &t, err));
		work_ns = t.ended_ns - t.begin_ns;
	}
	return DCK_OK;
}

/* The time of the certain barrier after another barrier. */
typedef struct rest {
	double median_ns;
	bool waits;
} rest;

/* Makes trials until it has waited in enough of them in succession, or returned early in TRIALS.
 * Medians are of the last trials with one outcome. */
static dck_status barrier_test(const timed_device *d, unsigned barrier, double pause_ns,
			       double until_ns, device_proof *p, rest *ret, dck_err *err)
{
	double work[TRIALS], call[TRIALS], left[TRIALS], scratch[TRIALS];
	const size_t needed = p->run_ns < LONG_NS ? TRIALS : LONG_TRIALS;
	size_t n = 0, returned = 0;
	bool waits = false;
	trial t;

	do {
		DCK_TRY(trial_make(d, p->runs, barrier, pause_ns, p->n - 1, &t, err));
		const double work_ns = t.ended_ns - t.begin_ns, left_ns = t.ended_ns - t.waited_ns;
		const bool waited = left_ns - p->idle_ns <= LEFT_SHARE * work_ns;

		if (waited != waits)
			n = 0;
		waits = waited;
		returned += !waits;
		work[n] = work_ns;
		call[n] = t.waited_ns - t.enqueued_ns;
		left[n++] = left_ns;
	} while (waits ? n < needed : returned < TRIALS && device_now(d) < until_ns);
	if (pause_ns == 0) {
		p->barrier[barrier].work_ns = stat_median(work, n, scratch);
		p->barrier[barrier].call_ns = stat_median(call, n, scratch);
	}
	*ret = (rest){stat_median(left, n, scratch), waits};
	return DCK_OK;
}

static double rest_left_ns(const device_proof *p, const rest *r)
{
	return fmax(0, r->median_ns - p->idle_ns);
}

/* Returns the time of one run in the trials of a barrier, or of the shortest one if that is less:
 * other programs lengthen most of them where there are many. */
static double barrier_run_ns(const device_proof *p, unsigned barrier)
{
	return fmin(p->least_ns, p->barrier[barrier].work_ns / (double)p->runs);
}

/* Returns the most that a barrier may leave of one run. */
static double barrier_left_max_ns(const device_proof *p, unsigned barrier)
{
	const double run_ns = barrier_run_ns(p, barrier), most_ns = LEFT_SHARE * run_ns;

	return barrier > 0 ? most_ns : fmin(most_ns, fmax(CALL_LEFT_NS, CALL_LEFT_SHARE * run_ns));
}

/* Tests whether what a barrier leaves is work, which a pause would shorten. */
static dck_status barrier_pause(const timed_device *d, unsigned barrier, double until_ns,
				device_proof *p, bool *ret_stays, dck_err *err)
{
	const double left_ns = p->barrier[barrier].left_ns;
	rest r;

	DCK_TRY(barrier_test(d, barrier, PAUSE_RUNS * p->run_ns + left_ns, until_ns, p, &r, err));
	p->barrier[barrier].paused_ns = rest_left_ns(p, &r);
	*ret_stays =
	    r.waits && left_ns - p->barrier[barrier].paused_ns <= barrier_left_max_ns(p, barrier);
	return DCK_OK;
}

/* Finds the first barrier that waits. */
static dck_status device_barrier_find(const timed_device *d, double until_ns, device_proof *p,
				      dck_err *err)
{
	const unsigned certain = p->n - 1;
	bool stays;
	rest r;

	DCK_TRY(barrier_test(d, certain, 0, until_ns, p, &r, err));
	p->idle_ns = r.median_ns;
	for (p->chosen = 0; p->chosen < certain; p->chosen++) {
		DCK_TRY(barrier_test(d, p->chosen, 0, until_ns, p, &r, err));
		const double left_ns = p->barrier[p->chosen].left_ns = rest_left_ns(p, &r);
		if (p->chosen < p->first || !r.waits)
			continue;
		if (left_ns <= barrier_left_max_ns(p, p->chosen))
			break;
		DCK_TRY(barrier_pause(d, p->chosen, until_ns, p, &stays, err));
		if (stays)
			break;
	}
	return DCK_OK;
}

dck_status device_barriers_list(const dck_engine *e, dck_engine_context *c, device_proof *ret,
				dck_err *err)
{
	const char *names[DEVICE_BARRIERS];
	device_proof p = {.idle_ns = NAN};

	DCK_TRY(engine_barriers(e, c, names, DEVICE_BARRIERS, &p.n, err));
	p.chosen = p.n > 0 ? p.n - 1 : 0;
	for (unsigned i = 0; i < p.n; i++) {
		p.barrier[i].name = names[i];
		p.barrier[i].left_ns = p.barrier[i].paused_ns = NAN;
	}
	*ret = p;
	return DCK_OK;
}

dck_status device_barrier_prove(const dck_engine *e, dck_engine_context *c, const dck_clock *clock,
				unsigned first, device_proof *ret, uint64_t *runs, dck_err *err)
{
	const timed_device d = {.e = e, .c = c, .clock = clock, .runs = runs};
	device_proof p;

	DCK_TRY(device_barriers_list(e, c, &p, err));
	p.first = first;
	if (p.n > 0) {
		const double begin_ns = device_now(&d), until_ns = begin_ns + BUDGET_NS;

		DCK_TRY(idle_measure(&d, &p, err));
		DCK_TRY(work_choose(&d, until_ns, &p, err));
		p.proven = first < p.n - 1;
		if (p.proven)
			DCK_TRY(device_barrier_find(&d, until_ns, &p, err));
		e->barrier_choose(c, p.chosen);
		p.took_ns = device_now(&d) - begin_ns;
	}
	*ret = p;
	return DCK_OK;
}

dck_status device_barrier_again(const dck_engine *e, dck_engine_context *c, device_proof *known,
				dck_err *err)
{
	device_proof p;

	DCK_TRY(device_barriers_list(e, c, &p, err));
	if (p.n != known->n) {
		*known = p;
		return DCK_OK;
	}
	for (unsigned i = 0; i < p.n; i++)
		known->barrier[i].name = p.barrier[i].name;
	e->barrier_choose(c, known->chosen);
	return DCK_OK;
}

/* --- in a record */

static void proof_text(const device_proof *p, char *ret, size_t size)
{
	snprintf(ret, size, "left of %llu run%s", (unsigned long long)p->runs,
		 p->runs == 1 ? "" : "s");
	for (unsigned i = 0; i + 1 < p->n && !isnan(p->barrier[i].left_ns); i++) {
		text_add(ret, size, "%s %s of %s after %s", i > 0 ? "," : ":",
			 UNITS_TIME(p->barrier[i].left_ns), UNITS_TIME(p->barrier[i].work_ns),
			 p->barrier[i].name);
		if (!isnan(p->barrier[i].paused_ns))
			text_add(ret, size, " (%s after a pause)",
				 UNITS_TIME(p->barrier[i].paused_ns));
	}
}

/* Why the certain barrier is used, if barrier 1, which promises to wait, is another. (Barrier 0,
 * the end of the call, promises nothing.) */
static void proof_note(record_builder *b, const device_proof *p)
{
	const char *idle = UNITS_TIME(p->idle_ns), *left = UNITS_TIME(p->barrier[1].left_ns);
	const char *name = p->barrier[1].name;
	const double left_ns = p->barrier[1].left_ns;

	if (left_ns <= RETURNS_SHARE * barrier_run_ns(p, 1))
		record_note(b, "barrier-unresolved",
			    "the test of %s does not resolve %s, of runs of %s: each run ends with "
			    "%s in its place, and the %s that this takes with nothing to wait for "
			    "are in every latency",
			    name, left, UNITS_TIME(p->run_ns), p->barrier[p->n - 1].name, idle);
	else
		record_note(b, "barrier-returns",
			    "%s returned after %s, when %s of %s of work were left to do: each run "
			    "ends with %s in its place, and the %s that this takes with nothing to "
			    "wait for are in every latency",
			    name, UNITS_TIME(p->barrier[1].call_ns), left,
			    UNITS_TIME(p->barrier[1].work_ns), p->barrier[p->n - 1].name, idle);
}

void device_proof_record(record_builder *b, const device_proof *p)
{
	const unsigned certain = p->n - 1;
	char proof[600];

	if (p->n == 0)
		return;
	record_fact_text(b, "device", "barrier", p->barrier[p->chosen].name);
	if (!p->proven) {
		record_fact_absent(
		    b, "device", "barrier_proof",
		    p->runs > 0	   ? "not tested, since the function returns no tensor "
				     "on the device, whose copy would be certain to wait"
		    : p->first > 0 ? "not tested, since there was no warm-up"
				   : "not tested, since there was no warm-up; the barrier is "
				     "certain");
		return;
	}
	proof_text(p, proof, sizeof proof);
	record_fact_text(b, "device", "barrier_proof", proof);
	record_metric_real(b, "time/barriers", p->took_ns, "wall time");
	if (p->chosen < certain)
		return;
	record_fact_real(b, "device", "barrier_idle", DCK_UNIT_NS, p->idle_ns);
	if (certain > 1)
		proof_note(b, p);
}

/* --- the parts of a run */

typedef enum part { PART_ENQUEUE, PART_TIME, PART_TO_DEVICE, PART_FROM_DEVICE, PARTS } part;

static const struct {
	const char *tag, *rate; /* rate NULL: nothing is copied */
	const char *series, *nothing;
} part_rows[PARTS] = {
    [PART_ENQUEUE] = {"device/enqueue", NULL, "enqueue", NULL},
    [PART_TIME] = {"device/time", NULL, "device", NULL},
    [PART_TO_DEVICE] = {"transfer/to_device", "transfer/to_device_rate", "to_device",
			"deepclock has no input in the device's memory"},
    [PART_FROM_DEVICE] = {"transfer/from_device", "transfer/from_device_rate", "from_device",
			  "no output is in the device's memory"},
};

static dck_status events_time(const timed_device *d, uint64_t runs, double *ret_ns, dck_err *err)
{
	double ns = NAN;
	const int result = d->events.function->between_events(d->events.arg, runs, &ns);

	if (result != 0 || !isfinite(ns) || ns < 0)
		DCK_FAIL(err, E_ENGINE, "the events of the device failed");
	*ret_ns = ns;
	return DCK_OK;
}

/* Tests the events around the runs of trials: *ret_device_ns and *ret_host_ns are the least of all
 * trials, each for itself. Where a trial's calls were delayed beyond the end of its work, both
 * times are that of the delay, even of events that the work does not separate. */
static dck_status events_compare(const timed_device *d, const device_proof *p,
				 double *ret_device_ns, double *ret_host_ns, dck_err *err)
{
	double device_ns = 0;

	*ret_device_ns = *ret_host_ns = INFINITY;
	for (int i = 0; i < TRIALS; i++) {
		DCK_TRY(engine_wait(d->e, d->c, p->n - 1, err));
		const double begin_ns = device_now(d);
		DCK_TRY(events_time(d, p->runs, &device_ns, err));
		*d->runs += p->runs;
		/* The second event may have returned before the work has ended. */
		DCK_TRY(engine_wait(d->e, d->c, p->n - 1, err));
		*ret_host_ns = fmin(*ret_host_ns, device_now(d) - begin_ns);
		*ret_device_ns = fmin(*ret_device_ns, device_ns);
	}
	return DCK_OK;
}

static dck_status events_prove(record_builder *b, const timed_device *d, const device_proof *p,
			       dck_err *err)
{
	const dck_function_device *f = d->events.function;
	double host_ns = 1, device_ns = 0;

	if (!f->between_events)
		DCK_FAIL(err, E_UNSUP, "%s", f->no_events);
	if (p->runs == 0)
		DCK_FAIL(err, E_UNSUP, "its events were not tested, since there was no warm-up");
	DCK_TRY(events_compare(d, p, &device_ns, &host_ns, err));
	const char *ours = UNITS_TIME(host_ns), *theirs = UNITS_TIME(device_ns);
	record_fact_fmt(b, "device", "events_proof",
			"%s between the events around %llu run%s, %s on the host's clock", theirs,
			(unsigned long long)p->runs, p->runs == 1 ? "" : "s", ours);
	if (device_ns > EVENTS_MAX * host_ns || device_ns < EVENTS_MIN * host_ns)
		DCK_FAIL(err, E_ENGINE,
			 "its events are %s apart, around work that took %s on the host's clock: "
			 "%sthe device's clock is wrong",
			 theirs, ours,
			 device_ns < host_ns ? "the work is not in the current stream, or " : "");
	return DCK_OK;
}

/* Without events: by how much longer twice as many runs take, from the first call until the certain
 * barrier has waited, over the number of further runs. What a wait and a first launch take cancels
 * out. Where enqueueing takes longer than the device, it is the time of that. */
static dck_status growth_time(const timed_device *d, const device_proof *p, double *ret_ns,
			      dck_err *err)
{
	trial once, twice;

	DCK_TRY(trial_make(d, p->runs, 0, 0, p->n - 1, &once, err));
	DCK_TRY(trial_make(d, 2 * p->runs, 0, 0, p->n - 1, &twice, err));
	*ret_ns = fmax(0, (twice.ended_ns - twice.begin_ns) - (once.ended_ns - once.begin_ns)) /
		  (double)p->runs;
	return DCK_OK;
}

/* Refuses it where one sample would take longer than a part may. */
static dck_status growth_check(const device_proof *p, double budget_ns, dck_err *err)
{
	if (p->runs == 0)
		DCK_FAIL(err, E_UNSUP,
			 "there was no warm-up, so that the length of a run is not known");
	if (3 * (double)p->runs * p->run_ns > PART_BUDGETS * budget_ns)
		DCK_FAIL(err, E_UNSUP,
			 "%llu runs of %s take longer than this part may; give more "
			 "--max-time",
			 3 * (unsigned long long)p->runs, UNITS_TIME(p->run_ns));
	return DCK_OK;
}

static dck_status part_once(const timed_device *d, part which, const device_proof *p,
			    uint64_t *ret_bytes, double *ret_ns, dck_err *err)
{
	const double begin_ns = device_now(d);
	const unsigned certain = p->n - 1;

	switch (which) {
	case PART_ENQUEUE:
		DCK_TRY(engine_enqueue(d->e, d->c, err));
		*ret_ns = device_now(d) - begin_ns;
		++*d->runs;
		return engine_wait(d->e, d->c, p->chosen, err);
	case PART_TIME:
		if (!d->events.function)
			return growth_time(d, p, ret_ns, err);
		/* After an enqueued run, the events and the work between them wait in the device's
		 * queue: the time of starting the work is not between the events. */
		DCK_TRY(engine_enqueue(d->e, d->c, err));
		*d->runs += 2;
		return events_time(d, 1, ret_ns, err);
	case PART_TO_DEVICE:
		DCK_TRY(engine_transfer(d->e, d->c, true, ret_bytes, err));
		DCK_TRY(engine_wait(d->e, d->c, certain, err));
		break;
	default:
		DCK_TRY(engine_transfer(d->e, d->c, false, ret_bytes, err));
	}
	*ret_ns = device_now(d) - begin_ns;
	return DCK_OK;
}

static void part_absent(record_builder *b, part which, const char *why)
{
	record_metric_absent(b, part_rows[which].tag, why);
	if (part_rows[which].rate)
		record_metric_absent(b, part_rows[which].rate, why);
}

static void part_put(record_builder *b, part which, bool growth, const device_proof *p,
		     stat_estimate *e, size_t n, uint64_t bytes)
{
	const char *size = UNITS_BYTES((double)bytes);

	if (e->present && which == PART_ENQUEUE)
		snprintf(e->how, sizeof e->how,
			 "median of %zu runs, each started on an idle device", n);
	else if (e->present && which == PART_TIME && growth)
		snprintf(e->how, sizeof e->how,
			 "median of %zu: by how much longer %llu runs take than %llu, over %llu", n,
			 2 * (unsigned long long)p->runs, (unsigned long long)p->runs,
			 (unsigned long long)p->runs);
	else if (e->present && which == PART_TIME)
		snprintf(e->how, sizeof e->how,
			 "median of %zu runs, between two events of the device, each enqueued "
			 "while the one before it runs",
			 n);
	else if (e->present && which == PART_TO_DEVICE)
		snprintf(e->how, sizeof e->how, "median of %zu times %s, until %s has followed", n,
			 size, p->barrier[p->n - 1].name);
	else if (e->present)
		snprintf(e->how, sizeof e->how, "median of %zu times %s", n, size);
	measure_result_estimate(b, part_rows[which].tag, e);
	if (!part_rows[which].rate)
		return;
	if (!e->present || !(e->value > 0))
		record_metric_absent(b, part_rows[which].rate, "the time is not known");
	else if (e->has_interval && e->lo > 0)
		record_metric_interval(b, part_rows[which].rate, (double)bytes * 1e9 / e->value,
				       (double)bytes * 1e9 / e->hi, (double)bytes * 1e9 / e->lo,
				       e->level, "bytes over the time of the transfer");
	else
		record_metric_real(b, part_rows[which].rate, (double)bytes * 1e9 / e->value,
				   "bytes over the time of the transfer");
}

static bool part_continues(size_t n, double elapsed_ns, double budget_ns)
{
	return n == 0 || (n < PART_RUNS && elapsed_ns < budget_ns) ||
	       (n < PART_RUNS_MIN && elapsed_ns < PART_BUDGETS * budget_ns);
}

static dck_status part_measure(record_builder *b, const timed_device *d, part which,
			       const device_proof *p, uint64_t origin_ns, double budget_ns,
			       double enqueue_ns, double level, double *scratch, double *ret_ns,
			       dck_err *err)
{
	double ns[PART_RUNS];
	uint64_t at[PART_RUNS], bytes = 0;
	const double begin_ns = device_now(d);
	stat_estimate e;
	size_t n = 0;

	const bool growth = which == PART_TIME && !d->events.function;
	if (growth)
		DCK_TRY(growth_check(p, budget_ns, err));
	else if (which == PART_TIME)
		DCK_TRY(events_prove(b, d, p, err));
	for (; part_continues(n, device_now(d) - begin_ns, budget_ns); n++) {
		at[n] = d->clock->now_ns(d->clock->self) - origin_ns;
		DCK_TRY(part_once(d, which, p, &bytes, &ns[n], err));
		if (part_rows[which].nothing && bytes == 0) {
			part_absent(b, which, part_rows[which].nothing);
			return DCK_OK;
		}
	}
	stat_estimate_one(STAT_MEDIAN, ns, n, level, scratch, &e);
	if (growth && e.present && e.value < (1 + LEFT_SHARE) * enqueue_ns)
		DCK_FAIL(err, E_UNSUP,
			 "a call takes as long as a run on the device or longer: it waits, or "
			 "enqueueing is what takes the time");
	part_put(b, which, growth, p, &e, n, bytes);
	*ret_ns = e.present ? e.value : NAN;
	record_series(b, part_rows[which].series, DCK_UNIT_NS, at, ns, n, 0);
	return DCK_OK;
}

device_parts device_times_record(record_builder *b, const dck_engine *e, dck_engine_context *c,
				 const dck_clock *clock, device_events events, uint64_t origin_ns,
				 const device_proof *p, double budget_ns, double level,
				 double *scratch, uint64_t *runs)
{
	const timed_device d = {.e = e, .c = c, .clock = clock, .runs = runs, .events = events};
	double ns[PARTS];
	dck_err why = {0};

	for (part i = 0; i < PARTS; i++) {
		ns[i] = NAN;
		if (part_measure(b, &d, i, p, origin_ns, budget_ns, ns[PART_ENQUEUE], level,
				 scratch, &ns[i], &why) != DCK_OK)
			part_absent(b, i, why.msg);
	}
	return (device_parts){ns[PART_ENQUEUE], ns[PART_TO_DEVICE], ns[PART_FROM_DEVICE]};
}

void device_times_absent(record_builder *b, const char *why)
{
	for (part i = 0; i < PARTS; i++)
		part_absent(b, i, why);
}

/* A call that waits for the run is the run, and not only its start. */
bool device_enqueue_bound(const device_proof *p, const device_parts *parts, double latency_ns)
{
	return p->chosen > 0 && parts->enqueue_ns > ENQUEUE_SHARE * latency_ns;
}

/* The part of a copy that a latency does not include; `more_ns`: of the copy that it includes, or
 * of the certain barrier, which may be a copy too. */
static double transfer_ns(double measured_ns, double more_ns)
{
	return fmax(0, measured_ns - (isnan(more_ns) ? 0 : more_ns)); /* NaN: 0 */
}

/* The copies that a latency does not include. Those to the device end with the certain barrier. */
static double inputs_ns(const device_proof *p, const device_parts *parts)
{
	return transfer_ns(parts->to_device_ns, p->idle_ns);
}

static double outputs_ns(const device_proof *p, const device_parts *parts)
{
	return transfer_ns(parts->from_device_ns, p->chosen + 1 == p->n ? p->idle_ns : 0);
}

bool device_transfer_bound(const device_proof *p, const device_parts *parts, double latency_ns)
{
	return inputs_ns(p, parts) + outputs_ns(p, parts) > latency_ns;
}

void device_parts_notes(record_builder *b, const device_proof *p, const device_parts *parts,
			double latency_ns)
{
	const char *run = UNITS_TIME(latency_ns);

	if (device_enqueue_bound(p, parts, latency_ns))
		record_note(
		    b, "enqueue-bound",
		    "the host takes %s of the %s of a run to enqueue its operators, so that "
		    "the device waits for the host: a faster device would not shorten the run",
		    UNITS_TIME(parts->enqueue_ns), run);
	if (device_transfer_bound(p, parts, latency_ns))
		record_note(
		    b, "transfer-bound",
		    "copying the inputs to the device%s takes %s, longer than a run, %s, which "
		    "does not include it: a request whose data come from the host's memory costs "
		    "both",
		    outputs_ns(p, parts) > 0 ? " and the outputs back" : "",
		    UNITS_TIME(inputs_ns(p, parts) + outputs_ns(p, parts)), run);
}

/* --- operators */

dck_status device_profile_check(const dck_engine *e, dck_engine_context *c,
				const dck_profile *profile, double run_ns, dck_err *err)
{
	double sum_ns = 0;
	device_proof p;

	DCK_TRY(device_barriers_list(e, c, &p, err));
	if (profile->flags & DCK_PROFILE_DEVICE_TIME ||
	    (p.n == 0 && !(profile->flags & DCK_PROFILE_LAUNCH_TIME)))
		return DCK_OK;
	/* Of the later half of the runs: the first ones compile. */
	for (size_t i = 0; i < profile->nevents; i++)
		if (profile->events[i].depth == 0 && profile->events[i].run >= profile->nruns / 2)
			sum_ns += (double)profile->events[i].duration_ns;
	sum_ns /= (double)(profile->nruns - profile->nruns / 2);
	DCK_FAIL(
	    err, E_UNSUP,
	    "the engine '%s' reports how long the host takes to launch operators on the device "
	    "(%s of the %s of a run), and not how long they run there",
	    e->name, UNITS_TIME(sum_ns), UNITS_TIME(run_ns));
}
