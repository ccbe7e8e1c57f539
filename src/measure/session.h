/* session.h - a subject that is open, warm and ready to be timed: what bench, load, compare and
 * pitfalls begin with.
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
 * All sessions of one record share one clock, the origin of its times, and one log. An engine may
 * log from any of its threads until its session is closed; so the log has a lock, and ends after
 * the sessions. Neither struct may be moved while a session is open.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_SESSION_H
#define MEASURE_SESSION_H

#include "measure/phases.h"
#include "os/os.h"
#include "record/build.h"
#include <pthread.h>

/* Warnings of the engine's library that become notes: the first few say it all. */
#define MEASURE_WARNINGS 4
#define MEASURE_OPENING	 8

typedef struct measure_context {
	const dck_observer *watch; /* NULL: none */
	dck_observer quiet; /* the same without progress, for what is opened again and again */
	dck_clock clock;
	os_clock_state clock_state;
	uint64_t origin_ns;   /* when it began, on that clock */
	pthread_mutex_t lock; /* of what follows */
	char warning[MEASURE_WARNINGS][360];
	size_t nwarnings;
	bool more_warnings; /* than there is room for */
} measure_context;

/* clock NULL: the best that there is for the subject. `command`: a run takes so long that the
 * system's clock is as good, and needs no calibration of 25 ms. */
void measure_context_begin(measure_context *m, const dck_clock *clock, const dck_observer *watch,
			   bool command);
void measure_context_end(measure_context *m);

uint64_t measure_context_now(const measure_context *m);

/* What the engine warned of becomes notes; the same words become one. */
void measure_context_notes(measure_context *m, record_builder *b);

/* Passes all notes of a record to an observer, which may be NULL. */
void measure_notes_show(const dck_observer *watch, const record_builder *b);

typedef struct measure_session {
	measure_context *shared;
	subject_target target; /* `observe` may be set before it is opened */
	measure_phases phases;
	/* When each phase of opening began, and the end of the last; the names are static. */
	struct {
		const char *name;
		uint64_t at_ns;
	} opening[MEASURE_OPENING];
	size_t nopening;
	uint64_t opened_ns;
	char dir[OS_TEMP_SIZE]; /* where an engine that observes itself writes; "": none */
} measure_session;

/* Opens the subject up to its first run; a model that has to be rebatched is verified first.
 * `watch` is asked whether it is cancelled, by the engine too, and told of the phases. plan NULL:
 * there are no stores for samples, only the loop. On failure it is closed. */
dck_status measure_session_open(measure_session *s, measure_context *m, const dck_subject *subject,
				const measure_plan *plan, const dck_observer *watch, dck_err *err);
/* The first run and the warm-up of its plan. */
dck_status measure_session_warm(measure_session *s, dck_err *err);
void measure_session_close(measure_session *s); /* {0} is allowed */

#endif
