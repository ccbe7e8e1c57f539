/* load_job.h - state of a running load test, shared by the files that make it and its record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LOAD_LOAD_JOB_H
#define LOAD_LOAD_JOB_H

#include "study/load/load_run.h"
#include "measure/session.h"
#include "record/build.h"

/* A rate of the search, or the requested rate. */
typedef struct load_point {
	double rate;	    /* requested; NaN: none */
	load_result result; /* of the last run */
	double offered, achieved, utilisation;
	stat_estimate median, statistic[LOAD_LIMITS]; /* of the last run */
	limit_stats seen[LOAD_LIMITS];		      /* of all runs */
	stat_limit limit[LOAD_LIMITS];
	dck_verdict verdict; /* the worst of all limits */
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
	dck_observer inner; /* of the session: its engine polls it from any thread */
	load_pool pool;
	load_trace trace;
	latency_limit limits[LOAD_LIMITS];
	load_run_config ask;
	/* Results. */
	load_point *points; /* [LOAD_PEAK_POINTS]; owned */
	size_t npoints;
	const load_point *shown; /* the point whose samples are in the record */
	load_samples kept;	 /* of a search: samples of `shown` */
	load_point unloaded;	 /* of a search: one stream in a closed loop */
	bool has_unloaded;
	load_peak peak;
	double needed;	  /* of a search: independent requests needed to show that a limit is met */
	size_t needed_by; /* that limit */
	char phase[48];	  /* the current rate, for the progress display */
	bool ended;	  /* interrupted, or a run failed */
	bool out_of_time; /* of `cut` */
	char cut[120];	  /* reason why the search ended early; "": it did not */
} load_job;

/* load_point.c */
/* Sets the arrivals at a rate, and the queue length above which the load is unstable. a->time_ns is
 * set before. */
void load_run_config_rate(const load_job *j, double rate, uint64_t seed, load_run_config *a);
/* Adds the last measurement to a rate point: limits are tested on all measurements of the point.
 * `confidence`: of this interim test. */
void load_point_take(load_job *j, const load_run_config *a, const load_result *r, double confidence,
		     load_point *point);
/* Adds a note with the reason if a measurement ended early. The requests until then are reported.
 */
bool load_stopped(load_job *j, const load_result *r);

/* load_search.c */
dck_status load_search(load_job *j, dck_err *err);

/* load_record.c */
void load_record(load_job *j);

#endif
