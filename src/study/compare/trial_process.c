/* SPDX-License-Identifier: Apache-2.0 */
#include "study/compare/trial_process.h"
#include "base/err.h"
#include "measure/subject/rebatched.h"
#include <string.h>

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
