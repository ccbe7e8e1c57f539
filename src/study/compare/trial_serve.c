/* trial_serve.c - the process at the other end of trial_process.h: a candidate of
 * interleaved_candidate.c, opened and measured as in the process of the comparison, by the same
 * functions. It ends with the connection.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/trial_process.h"
#include "base/err.h"
#include "deepclock/unstable.h"
#include <string.h>

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
