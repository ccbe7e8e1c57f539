/* trial_process.h - a candidate's trials in a fresh process, which opens the subject and measures on
 * request of this one.
 *
 *	DCK_TRY(trial_process_open(&link, &v, subject, &opened, err));
 *	DCK_TRY(trial_process_take(&link, &v, &result, err));
 *	worker_link_close(&link);
 *
 * Each candidate of a round has a process of its own, and all of them live for the round, so that
 * trials stay interleaved: while one is measured the others wait for a request.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPARE_TRIAL_PROCESS_H
#define COMPARE_TRIAL_PROCESS_H

#include "measure/worker.h"
#include "study/compare/interleaved.h"

/* What one opening, or one trial, gave. */
typedef struct trial_result {
	uint64_t session_ns, first_run_ns, items; /* of an opening */
	double ns;				  /* of a trial */
	char unknown[160]; /* of a trial with --undisturbed, as of a candidate */
} trial_result;

/* Starts a process, and opens the subject and warms it up in it. */
dck_status trial_process_open(worker_link *l, const interleaved *v, const dck_subject *s,
			      trial_result *ret, dck_err *err);
/* Makes one trial. */
dck_status trial_process_take(worker_link *l, const interleaved *v, trial_result *ret,
			      dck_err *err);

#endif
