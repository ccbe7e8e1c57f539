/* measure_trace.h - a measurement on the timeline of a recording (trace/past.h): bench --trace, and
 * a program that records itself and calls dck_bench().
 *
 *	DCK_TRY(measure_traced_start(&t, plan->trace, err));
 *	measure_traced_begin(&t, &shared);
 *	... the measurement, in which nothing is recorded ...
 *	measure_traced_runs(&t, &session, subject, record);
 *	... the session is closed ...
 *	measure_traced_operators(&t, &shared, subject, plan, record);
 *	measure_traced_stop(&t, record);
 *
 * The measured runs are those of the samples: nothing is recorded while the clock runs.
 * The engine's own profiler of operators slows every run; so it is asked of a session of
 * its own, in a few more runs after those that count.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_TRACED_H
#define MEASURE_TRACED_H

#include "measure/session.h"
#include "profiler/trace/backfill.h"

typedef struct measure_traced {
	past past;
	bool own;	  /* we began the recording, and end it */
	bool told;	  /* the measured runs are on the timeline */
	double median_ns; /* of a measured run; 0: not known */
} measure_traced;

/* path NULL: where the program records already, or not at all. E_ARG, E_IO: it cannot be recorded
 * there. */
dck_status measure_traced_start(measure_traced *t, const char *path, dck_err *err);
void measure_traced_begin(measure_traced *t, const measure_context *m);
/* What was measured, with what was opened before it. */
void measure_traced_runs(measure_traced *t, const measure_session *s, const dck_subject *subject,
			 record_builder *b);
/* Some runs under the engine's profiler, and their operators. Why there are none is a note. */
void measure_traced_operators(measure_traced *t, measure_context *m, const dck_subject *s,
			      const measure_plan *plan, record_builder *b);
/* Ends what start began; the record gets its tables. b NULL: nothing was measured. */
void measure_traced_stop(measure_traced *t, record_builder *b);

#endif
