/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/session.h"
#include "base/err.h"
#include "base/observer.h"
#include "measure/verify/rebatch_check.h"
#include <stdio.h>
#include <string.h>

void measure_context_begin(measure_context *m, const dck_clock *clock, const dck_observer *watch,
			   bool command)
{
	*m = (measure_context){.watch = watch, .lock = PTHREAD_MUTEX_INITIALIZER};
	if (watch)
		m->quiet = *watch;
	m->quiet.progress = NULL;
	if (clock)
		m->clock = *clock;
	else if (command || !os_clock_tsc(&m->clock_state, &m->clock))
		os_clock_monotonic(&m->clock);
	m->origin_ns = measure_context_now(m);
}

void measure_context_end(measure_context *m)
{
	pthread_mutex_destroy(&m->lock);
}

uint64_t measure_context_now(const measure_context *m)
{
	return m->clock.now_ns(m->clock.self);
}

/* --- warnings of the engine */

static void warning_keep(measure_context *m, const char *text)
{
	char *next = m->nwarnings < MEASURE_WARNINGS ? m->warning[m->nwarnings] : NULL;

	for (size_t i = 0; i < m->nwarnings; i++)
		if (strncmp(m->warning[i], text, sizeof m->warning[i] - 1) == 0)
			return;
	if (!next) {
		m->more_warnings = true;
		return;
	}
	snprintf(next, sizeof m->warning[0], "%s", text);
	m->nwarnings++;
}

static void session_log_take(void *self, dck_log_level level, const char *text)
{
	measure_context *m = self;

	if (m->watch && m->watch->log)
		m->watch->log(m->watch->self, level, text);
	if (level < DCK_LOG_WARN)
		return;
	pthread_mutex_lock(&m->lock);
	warning_keep(m, text);
	pthread_mutex_unlock(&m->lock);
}

void measure_context_notes(measure_context *m, record_builder *b)
{
	pthread_mutex_lock(&m->lock);
	for (size_t i = 0; i < m->nwarnings; i++)
		record_note(b, "engine-warning", "message of the engine: %s%s", m->warning[i],
			    i + 1 == m->nwarnings && m->more_warnings ? " (and more)" : "");
	pthread_mutex_unlock(&m->lock);
}

void measure_notes_show(const dck_observer *watch, const record_builder *b)
{
	size_t n;
	const dck_note *notes = record_notes(b, &n);

	for (size_t i = 0; watch && watch->note && i < n; i++)
		watch->note(watch->self, &notes[i]);
}

/* --- the session */

static void phase_show(void *self, const char *name)
{
	measure_session *s = self;
	const uint64_t now = measure_context_now(s->shared);
	dck_progress p = progress_indeterminate(name);

	if (s->nopening < MEASURE_OPENING) {
		s->opening[s->nopening].name = name;
		s->opening[s->nopening++].at_ns = now;
	}
	p.elapsed_ns = now - s->shared->origin_ns;
	observer_show(s->phases.loop.watch, &p);
}

static dck_status measured_open(measure_session *s, const dck_subject *subject,
				const measure_plan *plan, const dck_observer *watch, dck_err *err)
{
	measure_context *m = s->shared;

	if (plan)
		DCK_TRY(measure_phases_init(&s->phases, plan, subject->kind != DCK_SUBJECT_COMMAND,
					    err));
	s->phases.loop = (measure_loop){.clock = &m->clock,
					.origin_ns = m->origin_ns,
					.target = &s->target,
					.watch = watch,
					.group = 1,
					.idle_ns = plan ? plan->asked.idle_ns : 0};
	if (s->target.observe) {
		DCK_TRY(os_temp_dir(s->dir, err));
		s->target.work_dir = s->dir;
	}
	s->target.log = session_log_take;
	s->target.log_self = m;
	DCK_TRY(verify_open(&s->target, subject, &m->clock, watch, phase_show, s, err));
	s->opened_ns = measure_context_now(m);
	return DCK_OK;
}

dck_status measure_session_open(measure_session *s, measure_context *m, const dck_subject *subject,
				const measure_plan *plan, const dck_observer *watch, dck_err *err)
{
	s->shared = m;
	const dck_status status = measured_open(s, subject, plan, watch, err);

	if (status != DCK_OK)
		measure_session_close(s);
	return status;
}

dck_status measure_session_warm(measure_session *s, dck_err *err)
{
	measure_loop *l = &s->phases.loop;
	const dck_engine *e = l->target->engine.ops;
	/* A function may return before its last work even if the call of an earlier run waited. */
	const unsigned first = e == &subject_function_engine ? 1 : 0;

	DCK_TRY(measure_phase_first_run(&s->phases, err));
	/* What waits does not change when a session is opened again. */
	if (s->barriers.proven)
		DCK_TRY(device_barrier_again(e, l->target->context, &s->barriers, err));
	else if (s->phases.has_first_run)
		DCK_TRY(device_barrier_prove(e, l->target->context, l->clock, first, &s->barriers,
					     &l->unused, err));
	else
		DCK_TRY(device_barriers_list(e, l->target->context, &s->barriers, err));
	return measure_phase_warmup(&s->phases, err);
}

void measure_session_close(measure_session *s)
{
	subject_target_close(&s->target);
	measure_phases_done(&s->phases);
	if (s->dir[0])
		os_temp_dir_remove(s->dir);
	s->dir[0] = '\0';
}
