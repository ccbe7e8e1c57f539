/* accuracy_run.h - inference over a labelled data set: runs one or more models and stores their
 * predictions.
 *
 *	accuracy_run r = {.all = all, .n = n, .config = config, .truth = &truth, ...};
 *
 *	DCK_TRY(accuracy_run_all(&r, err));
 *	... r.predictions[0]: predictions of the reference for r.done items ...
 *
 * All models process the same items in the same order. If a run ends early, the items processed by
 * every model still count. accuracy_record.h computes the metrics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ACCURACY_ACCURACY_RUN_H
#define ACCURACY_ACCURACY_RUN_H

#include "study/accuracy/accuracy_labels.h"
#include "measure/verify/output_compare.h"
#include "deepclock/accuracy.h"

typedef struct accuracy_run {
	/* Input. */
	const dck_alternative *all; /* [n], the first is the reference */
	size_t n;
	const dck_accuracy_config *config;
	const compared_limits *limits;
	const labels *truth; /* numbers, or texts if no scores are ranked */
	const dck_observer *watch;
	mem_arena *arena;
	record_builder *b; /* receives the facts of the first subject */
	/* Results. */
	labels *predictions; /* [n] */
	compared *scores;    /* [n - 1], against the scores of the reference */
	size_t done;	     /* items processed by all models */
	dck_status stopped;  /* reason of an early end; DCK_OK: none */
	dck_err why;
} accuracy_run;

/* Runs all subjects over all items. Fails only if nothing was predicted; else `stopped` and `why`
 * have the reason of an early end, and the caller owns `scores`: compared_done(). */
dck_status accuracy_run_all(accuracy_run *r, dck_err *err);

#endif
