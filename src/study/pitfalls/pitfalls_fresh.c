/* pitfalls_fresh.c - mistakes of a cold start: results of the first runs of a fresh process or
 * session, if they or the opening are counted.
 *
 * Several rows read the same data. openings_take() makes them once, when the first row needs them:
 * it opens the subject up to PIT_OPENINGS_MAX times, in worker processes where there is a program
 * for that, else as sessions of this process, and stores the first runs of each. A failure is
 * stored as well, and is the result of all these rows.
 *
 * Each opening has an honest trial before and after it, whose mean is its reference, so that a
 * drift cancels. Openings are independent, so the factor is the geometric mean of their ratios with
 * Student's t interval on the logarithms. In pitfall_a_then_b() the two numbers are the halves of
 * the same runs. Arrays have PIT_OPENINGS_MAX items, on the stack.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "base/err.h"
#include "base/units.h"
#include "measure/worker.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define OPENINGS_MIN 3
#define RUNS_MIN     10
/* Several rows use the same starts, which may therefore take the time of several rows. */
#define FRESH_TIME 8

/* --- one start */

static dck_status fresh_process(pitfall *p, pitfall_opening *ret, dck_err *err)
{
	dck_plan plan;
	const worker_job job = {
	    .subject = p->subject, .plan = &plan, .watch = p->shared.watch, .quiet = true};
	const dck_series *s;
	dck_record *r;
	double library;

	/* Without a limit of time, since a first run may take longer than a row. */
	dck_plan_init(&plan);
	plan.program = p->asked->program;
	plan.runs = p->opening_runs;
	plan.warmup = "0";
	plan.group = 1;
	DCK_TRY(worker_record(&job, &r, err));
	s = dck_record_series(r, "latency");
	if (r->incomplete || !s || s->n < p->opening_runs) {
		const bool failed = dck_record_note(r, "engine-failed");

		dck_record_free(r);
		return err_set(err, failed ? DCK_E_ENGINE : DCK_E_CANCEL, __FILE__, __LINE__,
			       failed ? "a fresh process failed in the middle" : "interrupted");
	}
	memcpy(ret->run_ns, s->values, p->opening_runs * sizeof *ret->run_ns);
	library = dck_record_value(r, "time/library");
	ret->open_ns = dck_record_value(r, "time/session");
	ret->open_ns = (ret->open_ns > 0 ? ret->open_ns : 0) + (library > 0 ? library : 0);
	dck_record_free(r);
	return DCK_OK;
}

static dck_status fresh_here(pitfall *p, pitfall_opening *ret, dck_err *err)
{
	measure_session s = {0};
	dck_subject copy;
	measure_samples *to = &p->session.phases.latency;
	phase_samples sinks = {.latency = to};
	dck_status status = DCK_OK;

	DCK_TRY(measure_session_open(&s, &p->shared, rebatched_trusted(p->subject, &copy), NULL,
				     &p->shared.quiet, err));
	measure_samples_clear(to);
	for (size_t i = 0; i < p->opening_runs && status == DCK_OK; i++)
		status = measure_loop_slice(&s.phases.loop, &sinks, 1, err);
	if (status == DCK_OK) {
		memcpy(ret->run_ns, to->value, p->opening_runs * sizeof *ret->run_ns);
		ret->open_ns = (double)(s.target.session_ns + s.target.library_ns);
	}
	measure_session_close(&s);
	return status;
}

static bool in_processes(const pitfall *p)
{
	return p->asked->program && p->subject->kind != DCK_SUBJECT_FUNCTION;
}

/* On a device the runs of a fresh start end with the certain barrier, because without a warm-up no
 * other has been tested. So do the honest runs of the same rounds. */
static dck_status certain_trial(pitfall *p, pitfall_trial honest, double *ret_ns, dck_err *err)
{
	const device_proof *proof = &p->session.barriers;
	dck_status status;

	pitfall_barrier_choose(&p->session, proof->n - 1);
	status = honest.measure(p, honest.self, ret_ns, err);
	pitfall_barrier_choose(&p->session, proof->chosen);
	return status;
}

static dck_status opening_take(pitfall *p, pitfall_opening *ret, dck_err *err)
{
	/* Runs of a fresh start are timed one by one, which matters if they are short for the
	 * clock: then the honest ones must be, too. */
	pitfall_step single = {.step = pitfall_step_run};
	const pitfall_trial honest = p->session.phases.loop.group > 1
					 ? (pitfall_trial){pitfall_trial_step, &single}
					 : pitfall_honest(p);
	double before, after;

	DCK_TRY(certain_trial(p, honest, &before, err));
	DCK_TRY(in_processes(p) ? fresh_process(p, ret, err) : fresh_here(p, ret, err));
	DCK_TRY(certain_trial(p, honest, &after, err));
	ret->reference_ns = (before + after) / 2;
	if (!(ret->reference_ns > 0))
		DCK_FAIL(err, E_UNSUP, "a run took no time that the clock can see");
	return DCK_OK;
}

static dck_status openings_take(pitfall *p, dck_err *err)
{
	const double whole = FRESH_TIME * (double)p->asked->time_ns;
	const double fit = whole / OPENINGS_MIN / fmax(1, p->run_ns);
	const uint64_t begin = measure_context_now(&p->shared);
	size_t n = 0;

	p->opening_runs = (size_t)fmin(PIT_RUNS_MAX, fmax(RUNS_MIN, fit));
	while (n < PIT_OPENINGS_MAX &&
	       (n < OPENINGS_MIN || (double)(measure_context_now(&p->shared) - begin) < whole)) {
		DCK_TRY(opening_take(p, &p->openings[n], err));
		n++;
		pitfall_show(p, (double)(measure_context_now(&p->shared) - begin) / whole);
	}
	p->nopenings = n;
	return DCK_OK;
}

static dck_status openings_get(pitfall *p, size_t runs, dck_err *err)
{
	if (pitfall_is_command(p))
		DCK_FAIL(err, E_UNSUP, "every run of a program is a fresh start");
	if (p->nopenings == 0 && p->opening_failed.code == DCK_OK)
		(void)openings_take(p, &p->opening_failed);
	/* A failed opening is not repeated for every row. */
	DCK_TRY(err_pass(p->opening_failed.code, &p->opening_failed, err));
	if (p->opening_runs < runs)
		DCK_FAIL(err, E_UNSUP,
			 "there was time for %zu runs of a fresh start, not for %zu: "
			 "give more --time",
			 p->opening_runs, runs);
	return DCK_OK;
}

/* --- the numbers of the rows */

/* The ratios of the starts are independent of each other: Student's t of their logarithms. */
static void openings_judge(pitfall *p, const double *log_ratio, const double *number_ns,
			   const double *honest_ns, pitfall_finding *ret)
{
	stat_estimate e;

	stat_processes(log_ratio, p->nopenings, p->asked->level, &e);
	ret->factor = exp(e.value);
	ret->has_interval = e.has_interval;
	ret->lo = exp(e.lo);
	ret->hi = exp(e.hi);
	ret->number_ns = pitfall_median(p, number_ns, p->nopenings);
	ret->honest_ns = pitfall_median(p, honest_ns, p->nopenings);
}

static double fresh_mean_of(const double *x, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += x[i] / (double)n;
	return sum;
}

/* Compares what the row reads from each opening with the honest trials around it. */
dck_status pitfall_fresh(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	const size_t runs = p->made->runs;
	double ratio[PIT_OPENINGS_MAX], ns[PIT_OPENINGS_MAX], reference[PIT_OPENINGS_MAX];
	double first[PIT_OPENINGS_MAX], open[PIT_OPENINGS_MAX];

	DCK_TRY(openings_get(p, runs, err));
	for (size_t i = 0; i < p->nopenings; i++) {
		const pitfall_opening *o = &p->openings[i];

		ns[i] = p->made->reading(p, o, runs);
		if (!(ns[i] > 0))
			DCK_FAIL(err, E_UNSUP, "a run took no time that the clock can see");
		reference[i] = o->reference_ns;
		ratio[i] = log(ns[i] / o->reference_ns);
		first[i] = o->run_ns[0];
		open[i] = o->open_ns;
	}
	openings_judge(p, ratio, ns, reference, ret);
	snprintf(ret->seen, sizeof ret->seen, "in %zu fresh %s opening took %s, the first run %s",
		 p->nopenings, in_processes(p) ? "processes" : "sessions",
		 UNITS_TIME(pitfall_median(p, open, p->nopenings)),
		 UNITS_TIME(pitfall_median(p, first, p->nopenings)));
	return DCK_OK;
}

double pitfall_read_median(pitfall *p, const pitfall_opening *o, size_t runs)
{
	return pitfall_median(p, o->run_ns, runs);
}

double pitfall_read_mean(pitfall *p, const pitfall_opening *o, size_t runs)
{
	(void)p;
	return fresh_mean_of(o->run_ns, runs);
}

double pitfall_read_session(pitfall *p, const pitfall_opening *o, size_t runs)
{
	(void)p;
	return fresh_mean_of(o->run_ns, runs) + o->open_ns / (double)runs;
}

/* The first half of the runs after a start is A, the second half B: the same thing twice. */
dck_status pitfall_a_then_b(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	double ratio[PIT_OPENINGS_MAX], a_ns[PIT_OPENINGS_MAX], b_ns[PIT_OPENINGS_MAX];
	size_t half;

	DCK_TRY(openings_get(p, RUNS_MIN, err));
	half = p->opening_runs / 2;
	for (size_t i = 0; i < p->nopenings; i++) {
		a_ns[i] = fresh_mean_of(p->openings[i].run_ns, half);
		b_ns[i] = fresh_mean_of(p->openings[i].run_ns + half, half);
		if (!(a_ns[i] > 0) || !(b_ns[i] > 0))
			DCK_FAIL(err, E_UNSUP, "a run took no time that the clock can see");
		ratio[i] = log(a_ns[i] / b_ns[i]);
	}
	openings_judge(p, ratio, a_ns, b_ns, ret);
	snprintf(ret->seen, sizeof ret->seen,
		 "%zu runs as A (mean %s), then %zu of the very same as B (mean %s), "
		 "from %zu fresh starts",
		 half, UNITS_TIME(pitfall_median(p, a_ns, p->nopenings)), half,
		 UNITS_TIME(pitfall_median(p, b_ns, p->nopenings)), p->nopenings);
	return DCK_OK;
}
