/* trial_process.c - both ends of a candidate's process: requests and results of fixed size over a
 * worker's connection.
 *
 * dck_trials_serve() is the process: a candidate of interleaved_candidate.c that is opened and
 * measured as it would be in the process of the comparison, by the same functions. It ends with the
 * connection. The request to open has what the options of the worker's command line do not: the
 * statistic, the length of a trial, and the rate of the clock, whose measurement would take longer
 * than many openings.
 *
 * Both ends are the same program; a message of another size is one of another version.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/trial_process.h"
#include "base/err.h"
#include "base/observer.h"
#include "measure/subject/rebatched.h"
#include "deepclock/unstable.h"
#include <string.h>

typedef struct trial_request {
	bool open;
	int statistic;
	bool undisturbed;
	uint64_t trial_ns;
	os_clock_state clock; /* with a rate of 0: the system's clock */
} trial_request;

typedef struct trial_answer {
	dck_status status;
	char why[sizeof((dck_err *)0)->msg];
	trial_result result;
} trial_answer;

/* --- the process of the comparison */

static dck_status trial_ask(worker_link *l, const interleaved *v, bool open, trial_result *ret,
			    dck_err *err)
{
	trial_request request;
	trial_answer answer;

	memset(&request, 0, sizeof request);
	request.open = open;
	request.statistic = v->asked->statistic;
	request.undisturbed = v->asked->undisturbed;
	request.trial_ns = v->asked->trial_ns;
	request.clock = v->shared.clock_state;
	DCK_TRY(worker_link_ask(l, &request, sizeof request, &answer, sizeof answer,
				v->shared.watch, err));
	if (answer.status != DCK_OK)
		return err_set(err, answer.status, __FILE__, __LINE__, "%.*s",
			       (int)sizeof answer.why - 1, answer.why);
	*ret = answer.result;
	return DCK_OK;
}

dck_status trial_process_open(worker_link *l, const interleaved *v, const dck_subject *s,
			      trial_result *ret, dck_err *err)
{
	dck_subject copy;
	const worker_job job = {.subject = rebatched_trusted(s, &copy),
				.plan = &v->plan.asked,
				.watch = v->shared.watch};
	dck_status status;

	DCK_TRY(worker_link_open(&job, l, err));
	status = trial_ask(l, v, true, ret, err);
	if (status != DCK_OK)
		worker_link_close(l);
	return status;
}

dck_status trial_process_take(worker_link *l, const interleaved *v, trial_result *ret, dck_err *err)
{
	return trial_ask(l, v, false, ret, err);
}

/* --- the process of the candidate */

static dck_status trial_answer_make(interleaved *v, interleaved_candidate *candidate, bool open,
				    trial_result *ret, dck_err *err)
{
	memset(ret, 0, sizeof *ret);
	if (!open && !candidate->open)
		DCK_FAIL(err, E_ARG, "a trial of a subject that is not open");
	if (!open) {
		DCK_TRY(interleaved_candidate_trial(v, candidate, &ret->ns, err));
		memcpy(ret->unknown, candidate->unknown, sizeof ret->unknown);
		return DCK_OK;
	}
	DCK_TRY(interleaved_candidate_open(v, candidate, err));
	ret->session_ns = candidate->session.target.session_ns;
	ret->first_run_ns = candidate->session.phases.first_run_ns;
	ret->items = candidate->items;
	return DCK_OK;
}

/* Begins with the configuration of the first request. */
static void trials_begin(interleaved *v, dck_compare_config *c, const trial_request *request,
			 os_clock_state *state, dck_clock *clock, const dck_observer *watch)
{
	c->statistic = request->statistic;
	c->undisturbed = request->undisturbed;
	c->trial_ns = request->trial_ns;
	*state = request->clock;
	if (state->ns_per_tick_q32 == 0 || !os_clock_tsc(state, clock))
		os_clock_monotonic(clock);
	measure_context_begin(&v->shared, clock, watch, false);
}

dck_status dck_trials_serve(const dck_subject *s, const dck_plan *plan, const dck_observer *watch,
			    int fd, dck_err *err)
{
	const dck_alternative what = {s->text ? s->text : "", s};
	interleaved_candidate candidate = {.what = &what};
	dck_compare_config asked;
	os_clock_state state;
	dck_clock clock;
	interleaved v = {.asked = &asked, .again = true};
	trial_request request;
	trial_answer answer;
	bool begun = false;
	dck_err why;

	dck_compare_config_init(&asked);
	DCK_TRY(measure_plan_check(plan, &v.plan, err));
	while (os_message_receive(fd, &request, sizeof request, watch ? watch->cancelled : NULL,
				  watch ? watch->self : NULL) == OS_MESSAGE_DONE) {
		if (!begun)
			trials_begin(&v, &asked, &request, &state, &clock, watch);
		begun = true;
		memset(&answer, 0, sizeof answer);
		why.msg[0] = '\0';
		answer.status =
		    trial_answer_make(&v, &candidate, request.open, &answer.result, &why);
		memcpy(answer.why, why.msg, sizeof answer.why);
		if (!os_message_send(fd, &answer, sizeof answer))
			break;
	}
	interleaved_candidate_done(&candidate);
	if (begun)
		measure_context_end(&v.shared);
	return DCK_OK;
}
