/* tune_run.h - a running search for the fastest configuration: its options, space, journal and
 * trials. For the files that run it and that make the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_TUNE_RUN_H
#define TUNE_TUNE_RUN_H

#include "deepclock/tune.h"
#include "record/build.h"
#include "record/line_journal.h"
#include "record/others.h"
#include "study/tune/space.h"

typedef struct tune_run {
	const dck_subject *subject;
	const dck_tune_config *config;
	const dck_observer *watch;
	latency_limit limit; /* ns 0: none */
	mem_arena *arena;    /* of the space */
	space space;
	variants variants; /* of --quantize */
	race *race;
	line_journal *journal;	/* NULL: no journal, or it could not be written: */
	dck_err journal_failed; /* code 0: it did not fail */
	dck_record *facts;	/* of the machine, the model and the engine; NULL: none yet */
	size_t replayed;	/* steps of the journal */
	double before_ns;	/* that was used before the first step */
	uint64_t trial_ns;	/* measuring time of a trial */
	record_others others;	/* that used the machine during the search */
	bool interrupted;
	/* Of the present trial, for the observer that its process is waited with. */
	uint64_t begin_ns, shown_ns, trial_begin_ns;
	double trial_limit_ns;
	bool late; /* it exceeded that */
	char phase[200];
} tune_run;

/* Makes a trial or a comparison of outputs in another process (tune_measure.c). E_CANCEL; other
 * failures if no process can be run, or if the default fails in its first trial. */
dck_status tune_measure(tune_run *r, const race_ask *ask, race_outcome *ret, dck_err *err);

/* Checks that the labels, the items and the inputs of the default fit together, by a prediction
 * that ends before its first item: a search has no use for a mistake that every trial repeats. */
dck_status tune_labels_check(tune_run *r, dck_err *err);

/* Appends a step to the journal, and replays a line (tune_journal.c). */
dck_status tune_journal_add(tune_run *r, const race_ask *ask, const race_outcome *o,
			    const dck_record *facts, dck_err *err);
dck_status tune_journal_open(tune_run *r, dck_err *err);

/* Adds the table tune/apply: lines of code that set what the arm changes (tune_apply.c). Returns
 * the command that measures it, owned by the arena; NULL: no memory. */
const char *tune_apply(record_builder *b, const tune_run *r, size_t arm, mem_arena *a);

dck_status tune_record(const tune_run *r, dck_record **ret, dck_err *err);

#endif
