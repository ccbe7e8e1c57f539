/* load_view.h - view of a load test, for the files that write its record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_VIEW_H
#define LOAD_LOAD_VIEW_H

#include "study/load/load_job.h"

typedef struct load_view {
	load_job *j;
	record_builder *b;
	const load_samples *samples; /* the samples in the record */
	const load_point *point;     /* the point of the samples */
	const load_result *r;	     /* of the point */
	bool server;		     /* open loop: requests arrive independently of responses */
	stat_estimate all[STAT_ESTIMATORS]; /* of the latency */
} load_view;

/* Adds the verdicts on the limits, at one load or of a search (load_limits.c). */
dck_verdict load_verdict(const load_job *j);
void load_verdict_facts(const load_view *v);
void load_answer(const load_view *v);
void load_points_table(const load_view *v);
void load_limits_table(const load_view *v);
void load_limits_notes(const load_view *v);
/* Returns why no answer shows the time of a limit: load_limit_unknown(). */
const char *load_unknown_text(const load_result *r);
/* Adds the peak rate of a search. */
void load_peak_metric(const load_view *v);
/* load_result_time() in words. */
#define LOAD_SERVED_OVER \
	"over the time of the arrivals, or until the last was done if that is later"
/* Formats a rate: "17,763", "4.44". */
const char *load_rate_text(double rate, char buf[32]);
/* Adds an estimate as a cell, with its interval if requested; or the reason why it is absent. */
void load_cell(record_builder *b, const stat_estimate *e, bool interval);

/* Adds the data-quality notes (load_notes.c). */
void load_notes(const load_view *v);
void load_note_closed(const load_view *v);
void load_note_few(const load_view *v);
void load_note_heading(const load_view *v);

/* Writes the record of a server (load_url_record.c). */
void load_url_record(const load_view *v);

#endif
