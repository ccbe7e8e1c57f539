/* accuracy_run.h - runs one or more models over labelled items, and keeps what they predict.
 *
 *	accuracy_run r = {.all = all, .n = n, .config = config, .truth = &truth, ...};
 *
 *	DCK_TRY(accuracy_run_all(&r, err));
 *	... r.predictions[0] are those of the reference, r.done says of how many items ...
 *
 * All models see the same items in the same order. When a run ends early, the items that every
 * model has seen still count. Nothing is judged here: accuracy_record.h does that.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ACCURACY_ACCURACY_RUN_H
#define ACCURACY_ACCURACY_RUN_H

#include "study/accuracy/accuracy_labels.h"
#include "measure/verify/output_compare.h"
#include "deepclock/accuracy.h"

typedef struct accuracy_run {
	/* Given. */
	const dck_alternative *all; /* [n], the first is the reference */
	size_t n;
	const dck_accuracy_config *config;
	const compared_limits *limits;
	const labels *truth; /* numbers, or texts that no score is asked to rank */
	const dck_observer *watch;
	mem_arena *arena;
	record_builder *b; /* facts of the first subject go there */
	/* What came of it. */
	labels *predictions; /* [n] */
	compared *scores;    /* [n - 1], against the reference's */
	size_t done;	     /* items that all of them have seen */
	dck_status stopped;  /* what ended it before all were seen; DCK_OK: nothing did */
	dck_err why;
} accuracy_run;

/* Runs all subjects over all items. Fails only when nothing was predicted; else `stopped` and `why`
 * tell. `scores` are the caller's then: compared_done(). */
dck_status accuracy_run_all(accuracy_run *r, dck_err *err);

#endif
