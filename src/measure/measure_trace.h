/* measure_trace.h - a measurement on the timeline of a recording (trace/backfill.h): bench --trace,
 * and a program that records itself and calls dck_bench().
 *
 *	DCK_TRY(measure_traced_start(&t, plan->trace, err));
 *	measure_traced_begin(&t, &shared);
 *	... the measurement, in which nothing is recorded ...
 *	measure_traced_runs(&t, &session, subject, record);
 *	... the session is closed ...
 *	measure_traced_operators(&t, &shared, subject, plan, record);
 *	measure_traced_stop(&t, record);
 *
 * The measured runs are taken from the samples: nothing is recorded while the clock runs. The
 * engine's operator profiler slows every run, so it is used in a separate session, in a few more
 * runs after the measured ones.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_MEASURE_TRACE_H
#define MEASURE_MEASURE_TRACE_H

#include "measure/session.h"
#include "profiler/trace/backfill.h"

typedef struct measure_traced {
	past past;
	bool own;	  /* this measurement started the recording and ends it */
	bool on_timeline; /* the measured runs are on the timeline */
	double median_ns; /* of a measured run; 0: unknown */
} measure_traced;

/* Starts a recording to `path`. NULL: uses the recording that the program has started, if any.
 * E_ARG, E_IO: `path` cannot be recorded to. */
dck_status measure_traced_start(measure_traced *t, const char *path, dck_err *err);
void measure_traced_begin(measure_traced *t, const measure_context *m);
/* Writes the measured runs, and the phases of opening before them, to the timeline. */
void measure_traced_runs(measure_traced *t, const measure_session *s, const dck_subject *subject,
			 record_builder *b);
/* Makes some runs under the engine's profiler and writes their operators. Without operators a note
 * gives the reason. */
void measure_traced_operators(measure_traced *t, measure_context *m, const dck_subject *s,
			      const measure_plan *plan, record_builder *b);
/* Ends the recording that measure_traced_start() began and adds its tables to the record. b NULL:
 * nothing was measured. */
void measure_traced_stop(measure_traced *t, record_builder *b);

#endif
