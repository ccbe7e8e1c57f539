/* search_run.h - a search as it runs: what was asked, the journal, the trials. For the files that
 * run it and that make the record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_RUN_H
#define THROUGHPUT_SEARCH_RUN_H

#include "deepclock/throughput.h"
#include "base/mem.h"
#include "measure/subject/rebatched.h"
#include "study/throughput/search.h"
#include "study/throughput/search_journal.h"
#include "record/build.h"
#include "record/others.h"

typedef struct search_setting {
	uint64_t threads; /* 0: as the subject says */
	uint64_t streams; /* at least 1 */
} search_setting;

/* Warnings of the trials' own records: how many had a note of that code. */
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
	rebatch_info rebatched; /* done: by batches that the model does not take as it is */
	bool median;		/* rates are over the median; else over the mean */
	uint64_t memory_bytes;	/* the budget; 0: not known */
	search *search;
	search_journal *journal;   /* NULL: none is kept, or it could not be written: */
	dck_err journal_failed;	   /* code 0: it did not fail */
	dck_record *facts;	   /* of the machine, the model and the engine; NULL: none yet */
	size_t replayed, measured; /* trials of the journal; made now */
	record_others others;	   /* that used the machine meanwhile */
	size_t well;		   /* trials, of both, that ended well */
	search_note notes[SEARCH_NOTES_MAX];
	size_t nnotes;
	unsigned failures; /* trials in a row that failed in rounds, where they had run before */
	bool interrupted, out_of_time, failed;
	uint64_t begin_ns, shown_ns;
	char phase[96]; /* of the progress line */
} search_run;

/* search_config.c: subject and config as the plan, the settings and the memory of the search.
 * E_ARG, E_LIMIT, E_UNSUP. */
dck_status search_asked_read(search_run *r, dck_err *err);

/* search_measure.c: one trial in a fresh process. E_CANCEL; fails otherwise only when no process
 * can be run at all. */
dck_status search_measure(search_run *r, const search_ask *ask, search_outcome *ret, dck_err *err);
/* The subject with a batch size and a setting; the arena holds what it needs. */
dck_status search_subject(const search_run *r, uint64_t batch, unsigned setting, mem_arena *a,
			  dck_subject *ret, dck_err *err);
/* ", 2 threads, 4 streams": what was asked for as a list. */
void search_setting_text(const search_run *r, unsigned setting, char *buf, size_t size);

/* search_record.c */
dck_status search_record(const search_run *r, dck_record **ret, dck_err *err);

#endif
