/* load_job.h - a measurement under load while it is made: what the files that make it and its
 * record share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_JOB_H
#define LOAD_LOAD_JOB_H

#include "study/load/load_run.h"
#include "measure/session.h"
#include "record/build.h"

/* A rate of the search, or the one that was asked for. */
typedef struct load_point {
	double rate;	    /* asked; NaN: none */
	load_result result; /* of the last run */
	double offered, achieved, utilisation;
	stat_estimate median, statistic[LOAD_LIMITS]; /* of the last run */
	load_seen seen[LOAD_LIMITS];		      /* of all */
	stat_limit limit[LOAD_LIMITS];
	dck_verdict verdict; /* the worst of all */
	unsigned runs;
} load_point;

typedef struct load_job {
	const dck_subject *subject;
	const dck_load_config *config;
	const dck_observer *watch;
	pthread_t caller;
	record_builder *b;
	os_host host;
	measure_context shared;
	measure_session session;
	dck_observer inner; /* of the session: its engine asks from any thread */
	load_pool pool;
	load_trace trace;
	latency_limit limits[LOAD_LIMITS];
	load_run_config ask;
	/* What came of it. */
	load_point *points; /* [LOAD_PEAK_POINTS]; owned */
	size_t npoints;
	const load_point *shown; /* the one whose samples are in the record */
	load_samples kept;	 /* of a search: of `shown` */
	load_point unloaded;	 /* of a search: one stream in a closed loop */
	bool has_unloaded;
	load_peak peak;
	double needed;	  /* of a search: independent requests at a rate, for a limit to hold */
	size_t needed_by; /* that limit */
	char phase[48];	  /* the rate that is measured, for the progress display */
	char cut[120];	  /* why the search ended early; "": it did not */
} load_job;

/* load_point.c */
/* Adds the arrivals at a rate, and how many requests may wait before the queue is said to grow
 * without bound. a->time_ns is known. */
void load_run_config_rate(const load_job *j, double rate, uint64_t seed, load_run_config *a);
/* What the last measurement adds to a rate point: limits are judged on all that was seen.
 * `confidence`: of this look. */
void load_point_take(load_job *j, const load_run_config *a, const load_result *r, double confidence,
		     load_point *point);
/* A measurement was ended early: adds the note that says why. What was measured until then is
 * reported. */
bool load_stopped(load_job *j, const load_result *r);

/* load_search.c */
dck_status load_search(load_job *j, dck_err *err);

/* load_record.c */
void load_record(load_job *j);

#endif
