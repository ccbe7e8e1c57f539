/* pitfalls_device.c - mistakes on a device such as a GPU, where the call that starts a run only
 * enqueues it: no wait, a wait that does not wait, too many waits, transfers and an operator of the
 * processor within the run.
 *
 * The honest run ends with the barrier that measure/device_times.c tested in the same session.
 * Where the wait itself is the mistake, one run gives both numbers: the time until the call or
 * another barrier returned, and until the tested barrier did. The latter is timed again with
 * nothing to wait for, which is subtracted, because it may be a copy. Where runs end within their
 * call (no barriers, as on the processor) these mistakes are impossible, and the rows give that
 * reason.
 *
 * The fallback takes a session of the profiler, to learn the name of an operator in the middle of
 * the graph, and another in which that operator is left to the processor.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/pitfalls/pitfall.h"
#include "base/err.h"
#include "base/sink.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Barriers: the end of the call, which promises nothing, and the documented one. */
enum { CALL, DOCUMENTED };

/* Runs in a loop of sync-each-run: they fill a trial, within these limits. */
#define LOOP_RUNS_MIN 4
#define LOOP_RUNS_MAX 256

#define FALLBACK_OPTION "ep.webgpuexecutionprovider.forceCpuNodeNames"

bool pitfall_on_device(const pitfall *p)
{
	return p->session.barriers.n > 0;
}

static dck_status device_needed(const pitfall *p, dck_err *err)
{
	if (!pitfall_on_device(p))
		DCK_FAIL(err, E_UNSUP,
			 "runs end within the call that starts them: none is enqueued on a device");
	return DCK_OK;
}

/* --- the end of a run */

static dck_status enqueue(pitfall *p, dck_err *err)
{
	return engine_enqueue(p->session.target.engine.ops, p->session.target.context, err);
}

static dck_status wait_by(pitfall *p, unsigned barrier, dck_err *err)
{
	return engine_wait(p->session.target.engine.ops, p->session.target.context, barrier, err);
}

/* Makes a run whose call ends with a barrier; the wait is by the tested one, which may be a copy.
 */
static dck_status barrier_once(pitfall *p, unsigned barrier, pitfall_wait *ret, dck_err *err)
{
	const unsigned tested = p->session.barriers.chosen;
	const dck_clock *c = &p->shared.clock;
	uint64_t begin, returned, ended, idle;

	begin = c->now_ns(c->self);
	DCK_TRY(enqueue(p, err));
	DCK_TRY(wait_by(p, barrier, err));
	returned = c->now_ns(c->self);
	DCK_TRY(wait_by(p, tested, err));
	ended = c->now_ns(c->self);
	DCK_TRY(wait_by(p, tested, err));
	idle = c->now_ns(c->self);
	*ret = (pitfall_wait){(double)(returned - begin), (double)(ended - returned),
			      (double)(idle - ended)};
	return DCK_OK;
}

static dck_status barrier_find(pitfall *p, unsigned barrier, pitfall_finding *ret, dck_err *err)
{
	const device_proof *proof = &p->session.barriers;

	DCK_TRY(pitfall_ready_find(p, barrier_once, barrier, ret, err));
	snprintf(ret->seen, sizeof ret->seen, "%s came after %s, the end of the run by %s after %s",
		 proof->barrier[barrier].name, UNITS_TIME(ret->number_ns),
		 proof->barrier[proof->chosen].name, UNITS_TIME(ret->honest_ns));
	return DCK_OK;
}

dck_status pitfall_enqueue_only(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	return barrier_find(p, CALL, ret, err);
}

dck_status pitfall_untested_sync(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	const device_proof *proof = &p->session.barriers;

	DCK_TRY(device_needed(p, err));
	if (proof->n <= DOCUMENTED + 1)
		DCK_FAIL(err, E_UNSUP, "the engine has no way to wait but %s, which is certain",
			 proof->barrier[proof->n - 1].name);
	return barrier_find(p, DOCUMENTED, ret, err);
}

/* --- a wait after every run */

typedef struct loop_trial {
	uint64_t runs;
	bool each; /* a wait after each run; else one after the last */
} loop_trial;

static dck_status loop_once(pitfall *p, void *self, double *ret_ns, dck_err *err)
{
	const loop_trial *l = self;
	const unsigned barrier = p->session.barriers.chosen;
	const uint64_t begin = measure_context_now(&p->shared);

	if (measure_loop_cancelled(&p->session.phases.loop))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	for (uint64_t i = 0; i < l->runs; i++) {
		DCK_TRY(enqueue(p, err));
		if (l->each || i + 1 == l->runs)
			DCK_TRY(wait_by(p, barrier, err));
	}
	*ret_ns = (double)(measure_context_now(&p->shared) - begin) / (double)l->runs;
	return DCK_OK;
}

dck_status pitfall_sync_each(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	const double fit = pitfall_trial_ns(p) / fmax(1, p->run_ns);
	loop_trial once = {.runs = (uint64_t)fmin(LOOP_RUNS_MAX, fmax(LOOP_RUNS_MIN, fit))};
	loop_trial each = {.runs = once.runs, .each = true};

	DCK_TRY(device_needed(p, err));
	DCK_TRY(pitfall_pair_find(p, (pitfall_trial){loop_once, &once},
				  (pitfall_trial){loop_once, &each}, ret, err));
	text_add(ret->seen, sizeof ret->seen, ", a run's share of %llu enqueued in a row",
		 (unsigned long long)once.runs);
	return DCK_OK;
}

/* --- transfers */

static dck_status transfers_step(pitfall *p, void *self, dck_err *err)
{
	const subject_target *t = &p->session.target;
	uint64_t *bytes = self, to, from;

	DCK_TRY(engine_transfer(t->engine.ops, t->context, true, &to, err));
	DCK_TRY(enqueue(p, err));
	DCK_TRY(engine_transfer(t->engine.ops, t->context, false, &from, err));
	*bytes = to + from;
	return DCK_OK;
}

dck_status pitfall_transfers(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	uint64_t bytes = 0;
	pitfall_step honest = {.step = pitfall_step_run};
	pitfall_step moving = {.step = transfers_step, .self = &bytes};

	DCK_TRY(device_needed(p, err));
	DCK_TRY(transfers_step(p, &bytes, err));
	if (bytes == 0)
		DCK_FAIL(err, E_UNSUP, "no input or output is in the device's memory");
	DCK_TRY(pitfall_pair_find(p, (pitfall_trial){pitfall_trial_step, &honest},
				  (pitfall_trial){pitfall_trial_step, &moving}, ret, err));
	text_add(ret->seen, sizeof ret->seen, "; %s in each run", UNITS_BYTES((double)bytes));
	return DCK_OK;
}

/* --- an operator on the processor */

/* Copies the name of the operator in the middle of the last run. */
static dck_status middle_find(const dck_profile *profile, char *ret, size_t size, dck_err *err)
{
	const dck_op_event *found = NULL;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < profile->nevents; i++)
		n += profile->events[i].run + 1 == profile->nruns && profile->events[i].depth == 0;
	for (size_t i = 0; i < profile->nevents && !found; i++)
		if (profile->events[i].run + 1 == profile->nruns && profile->events[i].depth == 0 &&
		    at++ == n / 2)
			found = &profile->events[i];
	if (!found || !found->name || !*found->name || strlen(found->name) >= size)
		DCK_FAIL(err, E_UNSUP, "the operator in the middle of the model has no name");
	memcpy(ret, found->name, strlen(found->name) + 1);
	return DCK_OK;
}

static dck_status middle_name(pitfall *p, char *ret, size_t size, dck_err *err)
{
	measure_session l;
	dck_profile profile;
	dck_status status;

	DCK_TRY(pitfall_candidate_open(p, &l, p->subject, DCK_OBSERVE_OPERATORS, err));
	status = engine_profile(l.target.engine.ops, l.target.model, &profile, err);
	DCK_NEXT(status, middle_find(&profile, ret, size, err));
	measure_session_close(&l);
	return status;
}

static dck_status operators_on_cpu(const measure_session *s, char *ret, size_t size, dck_err *err)
{
	const char *where = subject_target_fact(&s->target, "operators_on_cpu");

	if (!where)
		DCK_FAIL(err, E_UNSUP, "the engine does not report where operators run");
	snprintf(ret, size, "%s", where);
	return DCK_OK;
}

static dck_status fallback_compare(pitfall *p, measure_session *l, const char *name,
				   pitfall_finding *ret, dck_err *err)
{
	char before[200], after[200];

	DCK_TRY(operators_on_cpu(&p->session, before, sizeof before, err));
	DCK_TRY(operators_on_cpu(l, after, sizeof after, err));
	if (strcmp(before, after) == 0)
		DCK_FAIL(err, E_UNSUP,
			 "the provider did not leave the operator '%.80s' to the processor", name);
	DCK_TRY(pitfall_pair_find(p, pitfall_honest(p),
				  (pitfall_trial){pitfall_trial_loop, &l->phases.loop}, ret, err));
	text_add(ret->seen, sizeof ret->seen, "; on the processor: %s", after);
	return DCK_OK;
}

dck_status pitfall_fallback(pitfall *p, pitfall_finding *ret, dck_err *err)
{
	dck_subject s = *p->subject;
	dck_list *options = &s.model.engine_option;
	char option[sizeof FALLBACK_OPTION + 256] = FALLBACK_OPTION "=";
	const size_t head = strlen(option);
	measure_session l;
	dck_status status;

	DCK_TRY(device_needed(p, err));
	if (!engine_option_row(p->session.target.engine.ops, FALLBACK_OPTION) ||
	    options->n == DCK_LIST_MAX)
		DCK_FAIL(err, E_UNSUP,
			 "the engine has no option that leaves an operator to the processor");
	DCK_TRY(middle_name(p, option + head, sizeof option - head, err));
	options->item[options->n++] = option;
	DCK_TRY(pitfall_candidate_open(p, &l, &s, 0, err));
	status = fallback_compare(p, &l, option + head, ret, err);
	measure_session_close(&l);
	return status;
}
