/* search_run.h - a running search: its configuration, journal and trials. For the files that run it
 * and that make the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_RUN_H
#define THROUGHPUT_SEARCH_RUN_H

#include "deepclock/throughput.h"
#include "base/mem.h"
#include "measure/subject/rebatched.h"
#include "study/throughput/search.h"
#include "study/throughput/search_journal.h"
#include "record/others.h"

typedef struct search_setting {
	uint64_t threads;   /* 0: as in the subject */
	uint64_t in_flight; /* requests at the same time, at least 1 */
} search_setting;

/* Warnings in the records of the trials: number of trials with a note of that code. */
#define SEARCH_NOTES_MAX 24
typedef struct search_note {
	char code[48];
	size_t trials;
} search_note;

typedef struct search_run {
	const dck_subject *subject;
	const dck_throughput_config *config;
	const dck_observer *watch;
	search_config plan;
	search_setting settings[SEARCH_SETTINGS_MAX];
	uint64_t batches[SEARCH_BATCHES_MAX];
	rebatch_info rebatched; /* done: a batch size required rebatching */
	bool median;		/* rates are over the median; else over the mean */
	uint64_t memory_bytes;	/* the budget; 0: unknown */
	search *search;
	line_journal *journal;	   /* NULL: no journal, or it could not be written: */
	dck_err journal_failed;	   /* code 0: it did not fail */
	dck_record *facts;	   /* of the machine, the model and the engine; NULL: none yet */
	size_t replayed, measured; /* trials of the journal; made now */
	record_others others;	   /* that used the machine during the search */
	size_t well;		   /* successful trials, of both */
	search_note notes[SEARCH_NOTES_MAX];
	size_t nnotes;
	unsigned failures; /* consecutive failures in rounds, of sizes that had run before */
	bool interrupted, out_of_time, failed;
	uint64_t begin_ns, shown_ns;
	char phase[96]; /* of the progress line */
} search_run;

/* Derives the plan, the settings and the memory budget of the search from subject and config
 * (search_config.c). E_ARG, E_LIMIT, E_UNSUP. */
dck_status search_asked_read(search_run *r, dck_err *err);

/* Makes one trial in a fresh process (search_measure.c). E_CANCEL; other failures only if no
 * process can be run. */
dck_status search_measure(search_run *r, const search_ask *ask, search_outcome *ret, dck_err *err);
/* Makes the subject with a batch size and a setting; its texts live in the arena. */
dck_status search_subject(const search_run *r, uint64_t batch, unsigned setting, mem_arena *a,
			  dck_subject *ret, dck_err *err);
/* Writes ", 2 threads, 4 in flight": the options that were given as lists. */
void search_setting_text(const search_run *r, unsigned setting, char *buf, size_t size);

/* search_record.c */
dck_status search_record(const search_run *r, dck_record **ret, dck_err *err);

#endif
