/* load_view.h - what the record shows of a measurement under load, for the files that write it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_VIEW_H
#define LOAD_LOAD_VIEW_H

#include "study/load/load_job.h"

typedef struct load_view {
	load_job *j;
	record_builder *b;
	const load_samples *samples;	    /* that are shown */
	const load_point *point;	    /* of which they are */
	const load_result *r;		    /* of the point */
	bool server;			    /* requests came by themselves */
	stat_estimate all[STAT_ESTIMATORS]; /* of the latency */
} load_view;

/* load_limits.c: what is said of the limits, at one load or of a search. */
dck_verdict load_verdict(const load_job *j);
void load_answer(const load_view *v);
void load_points_table(const load_view *v);
void load_limits_table(const load_view *v);
void load_limits_notes(const load_view *v);
/* "17,763", "4.44" */
const char *load_rate_text(double rate, char buf[32]);
/* An estimate as a cell, with its interval where that is wanted; or why there is none. */
void load_cell(record_builder *b, const stat_estimate *e, bool interval);

/* load_notes.c: the reasons to doubt what was measured. */
void load_notes(const load_view *v);

#endif
