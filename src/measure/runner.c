/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/runner.h"
#include "base/err.h"
#include "base/observer.h"
#include "verify/agree.h"
#include "measure/diagnostics.h"
#include "record/asked.h"
#include "subject/subject_facts.h"
#include "measure/method.h"
#include "measure/results.h"
#include "verify/freed_check.h"
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

/* Warnings of the engine's library that become notes: the first few say it all. */
#define ENGINE_WARNINGS 4

typedef struct engine_log {
	const dck_observer *watch;
	pthread_mutex_t lock; /* the engine may log from any of its threads */
	char text[ENGINE_WARNINGS][360];
	size_t n, more;
} engine_log;

typedef struct run {
	engine_log log;
	os_clock_state clock_state;
	dck_clock clock;
	os_host host;
	subject_target target;
	measure_phases phases;
	record_builder *record;
	uint64_t origin_ns;
} run;

static void log_take(void *self, dck_log_level level, const char *text)
{
	engine_log *log = self;

	if (log->watch && log->watch->log)
		log->watch->log(log->watch->self, level, text);
	if (level < DCK_LOG_WARN)
		return;
	pthread_mutex_lock(&log->lock);
	if (log->n < ENGINE_WARNINGS)
		snprintf(log->text[log->n++], sizeof log->text[0], "%s", text);
	else
		log->more++;
	pthread_mutex_unlock(&log->lock);
}

static void log_to_notes(record_builder *b, engine_log *log)
{
	pthread_mutex_lock(&log->lock);
	for (size_t i = 0; i < log->n; i++)
		record_note(b, "engine-warning", "the engine says: %s%s", log->text[i],
			    i + 1 == log->n && log->more > 0 ? " (and more)" : "");
	pthread_mutex_unlock(&log->lock);
}

static void phase_show(void *self, const char *name)
{
	const run *r = self;
	dck_progress p = observer_nothing(name);

	p.elapsed_ns = r->clock.now_ns(r->clock.self) - r->origin_ns;
	observer_show(r->log.watch, &p);
}

/* A command takes so long that the system's clock is as good, and needs no calibration of 25 ms. */
static void clock_choose(run *r, const dck_subject *s, const dck_clock *given)
{
	if (given)
		r->clock = *given;
	else if (s->kind == DCK_SUBJECT_COMMAND || !os_clock_tsc(&r->clock_state, &r->clock))
		os_clock_monotonic(&r->clock);
}

/* Everything between opening the subject and the last run. */
static dck_status measure(run *r, measure_evidence *evidence, dck_err *err)
{
	DCK_TRY(measure_phase_first_run(&r->phases, err));
	DCK_TRY(measure_phase_warmup(&r->phases, err));
	evidence->prepare_cpu_ns = subject_hook_cpu_ns(r->target.prepare);
	os_usage_get(&evidence->before);
	dck_status status = measure_phase_measure(&r->phases, err);
	os_usage_get(&evidence->after);
	evidence->prepare_cpu_ns =
	    subject_hook_cpu_ns(r->target.prepare) - evidence->prepare_cpu_ns;
	return status;
}

/* What ended it early, as a note: what was measured until then is reported. */
static void stopped_note(run *r, dck_status status, const dck_err *why)
{
	const unsigned long long at = (unsigned long long)r->phases.loop.runs + 1;

	record_set_incomplete(r->record, true);
	if (status == DCK_E_CANCEL) {
		record_note(r->record, "interrupted",
			    "interrupted in run %llu: this is what was measured until then", at);
		snprintf(r->phases.early, sizeof r->phases.early, "interrupted");
	} else {
		record_note(r->record, "engine-failed",
			    "run %llu failed: %s; this is what was measured until then", at,
			    why->msg);
		snprintf(r->phases.early, sizeof r->phases.early, "run %llu failed", at);
	}
}

static void record_fill(run *r, const dck_subject *s, const measure_evidence *evidence)
{
	measure_evidence all = *evidence;
	stat_estimate estimates[STAT_ESTIMATORS + 1];
	dck_plan asked = r->phases.plan.asked;
	measure_ending ending;
	record_builder *b = r->record;

	subject_facts_of(b, s, &r->target);
	subject_facts_engine(b, &r->target);
	subject_facts_host(b, &r->host);
	asked.statistic = measure_plan_statistic(&r->phases.plan); /* p50 is the median */
	record_fact_options(b, "plan", dck_plan_options, &asked);
	if (s->kind == DCK_SUBJECT_MODEL || s->kind == DCK_SUBJECT_PLUGIN)
		record_fact_options(b, "plan", dck_model_options, &s->model);
	if (s->kind == DCK_SUBJECT_COMMAND)
		record_fact_options(b, "plan", dck_command_options, &s->command);
	measure_results(b, &r->phases, estimates);
	measure_ending_find(&r->phases, &estimates[r->phases.plan.statistic], &ending);
	method_facts(b, &r->phases, &ending, estimates);
	all.ending = &ending;
	all.estimates = estimates;
	diagnostics_notes(b, &all, r->phases.scratch);
	log_to_notes(b, &r->log);
}

static void notes_show(const run *r)
{
	const dck_observer *w = r->log.watch;
	size_t n;
	const dck_note *notes = record_notes(r->record, &n);

	for (size_t i = 0; w && w->note && i < n; i++)
		w->note(w->self, &notes[i]);
}

static dck_status run_all(run *r, const dck_subject *s, const measure_plan *plan, dck_err *err)
{
	measure_evidence evidence = {.phases = &r->phases, .host = &r->host};
	dck_err why = {0};
	dck_status status;

	os_host_get(&r->host);
	DCK_TRY(measure_phases_init(&r->phases, plan, s->kind != DCK_SUBJECT_COMMAND, err));
	r->origin_ns = r->clock.now_ns(r->clock.self);
	record_set_began(r->record, os_unix_ns());
	r->target.log = log_take;
	r->target.log_self = &r->log;
	DCK_TRY(verify_open(&r->target, s, &r->clock, r->log.watch, phase_show, r, err));
	r->phases.loop = (measure_loop){.clock = &r->clock,
					.origin_ns = r->origin_ns,
					.target = &r->target,
					.watch = r->log.watch,
					.group = 1,
					.idle_ns = plan->asked.idle_ns};
	status = measure(r, &evidence, &why);
	if (status != DCK_OK && r->phases.loop.runs == 0) {
		if (err)
			*err = why;
		return status;
	}
	if (status != DCK_OK)
		stopped_note(r, status, &why);
	record_fill(r, s, &evidence);
	if (plan->asked.check_outputs && status == DCK_OK)
		agree_check(r->record, s, &r->target, r->log.watch);
	notes_show(r);
	return DCK_OK;
}

dck_status measure_run_here(const dck_subject *s, const measure_plan *plan,
			    const dck_observer *watch, dck_record **ret, dck_err *err)
{
	run r = {.log = {.watch = watch, .lock = PTHREAD_MUTEX_INITIALIZER}};
	dck_subject bare;
	dck_err cleanup = {0};
	dck_status status;

	r.record = method_record(plan);
	if (!r.record)
		DCK_FAIL(err, E_NOMEM, "no memory for a record");
	clock_choose(&r, s, plan->asked.clock);
	status = subject_hooks_begin(&s, 1, watch, &bare, err);
	if (status == DCK_OK) {
		status = run_all(&r, &bare, plan, err);
		/* The engine may log until it is closed. */
		subject_target_close(&r.target);
		subject_hooks_end(&s, 1, &cleanup);
	}
	if (status == DCK_OK) {
		subject_hooks_facts(r.record, s);
		subject_hooks_note(r.record, &cleanup);
	}
	measure_phases_done(&r.phases);
	pthread_mutex_destroy(&r.log.lock);
	if (status == DCK_OK)
		return record_finish(r.record, ret, err);
	record_drop(r.record);
	return status;
}
