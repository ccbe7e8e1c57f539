/* session.h - a measurement session: a subject that is open, warm and ready to be timed. bench,
 * load, compare and pitfalls start with one.
 *
 *	measure_context m;
 *	measure_session s = {0};
 *
 *	measure_context_begin(&m, clock, watch, is_command);
 *	status = measure_session_open(&s, &m, subject, &plan, watch, err);
 *	if (status == DCK_OK)
 *		status = measure_session_warm(&s, err);
 *	... s.phases.loop is what takes samples ...
 *	measure_session_close(&s);
 *	measure_context_end(&m);
 *
 * All sessions of one record share a context: the clock, the time origin and the log. An engine may
 * log from any of its threads until its session is closed, so the log has a lock and outlives the
 * sessions. Neither struct may be moved while a session is open.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_SESSION_H
#define MEASURE_SESSION_H

#include "measure/device_times.h"
#include "measure/phases.h"
#include "os/os.h"
#include "record/build.h"
#include <pthread.h>

/* Limit of warnings of the engine's library that become notes. */
#define MEASURE_WARNINGS 4
#define MEASURE_OPENING	 8

typedef struct measure_context {
	const dck_observer *watch; /* NULL: none */
	dck_observer quiet; /* the same without progress, for subjects that are opened repeatedly */
	dck_clock clock;
	os_clock_state clock_state;
	uint64_t origin_ns;   /* start of the record, on that clock */
	pthread_mutex_t lock; /* protects the members below */
	char warning[MEASURE_WARNINGS][360];
	size_t nwarnings;
	bool more_warnings; /* more than MEASURE_WARNINGS */
} measure_context;

/* Initialises a context. clock NULL: the best clock for the subject. `command`: uses the system
 * clock, which needs no calibration of 25 ms and is as good for such long runs. */
void measure_context_begin(measure_context *m, const dck_clock *clock, const dck_observer *watch,
			   bool command);
void measure_context_end(measure_context *m);

uint64_t measure_context_now(const measure_context *m);

/* Adds the warnings of the engine as notes; equal warnings become one note. */
void measure_context_notes(measure_context *m, record_builder *b);

/* Passes all notes of a record to an observer, which may be NULL. */
void measure_notes_show(const dck_observer *watch, const record_builder *b);

typedef struct measure_session {
	measure_context *shared;
	subject_target target; /* `observe` may be set before it is opened */
	measure_phases phases;
	/* Start of each phase of opening, and the end of the last; the names are static. */
	struct {
		const char *name;
		uint64_t at_ns;
	} opening[MEASURE_OPENING];
	size_t nopening;
	uint64_t opened_ns;
	device_proof barriers;	/* what waits for a device, once it is warm */
	char dir[OS_TEMP_SIZE]; /* work directory of an engine that profiles itself; "": none */
} measure_session;

/* Opens the subject up to its first run; a model that has to be rebatched is verified first.
 * `watch` is polled for cancellation, by the engine too, and receives the phases. plan NULL: no
 * sample buffers, only the loop. On failure the session is closed. */
dck_status measure_session_open(measure_session *s, measure_context *m, const dck_subject *subject,
				const measure_plan *plan, const dck_observer *watch, dck_err *err);
/* Makes the first run, tests what waits for a device, and makes the warm-up of the plan. */
dck_status measure_session_warm(measure_session *s, dck_err *err);
void measure_session_close(measure_session *s); /* {0} is allowed */

#endif
