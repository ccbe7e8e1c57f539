/* trial_process.h - a candidate's trials in a fresh process, which opens the subject and measures
 * on request of this one.
 *
 *	DCK_TRY(trial_process_open(&link, &v, subject, &opened, err));
 *	DCK_TRY(trial_process_take(&link, &v, &result, err));
 *	worker_link_close(&link);
 *
 * Each candidate of a round has a separate process, and all of them live for the round, so that
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

/* The messages: both ends are the same program, and one of another size is of another version. The
 * request to open has what the options of the process's command line do not: the statistic, the
 * length of a trial, and the rate of the clock, whose measurement would take longer than many
 * openings. */
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

/* Starts a process, and opens the subject and warms it up in it. */
dck_status trial_process_open(worker_link *l, const interleaved *v, const dck_subject *s,
			      trial_result *ret, dck_err *err);
/* Makes one trial. */
dck_status trial_process_take(worker_link *l, const interleaved *v, trial_result *ret,
			      dck_err *err);

#endif
