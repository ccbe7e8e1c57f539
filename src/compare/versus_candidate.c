/* versus_candidate.c - one subject among others: opened, warmed up, and visited for a moment at a
 * time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "compare/versus.h"
#include "base/err.h"
#include "base/mem.h"
#include "record/copy.h"
#include "subject/subject_facts.h"
#include "measure/worker.h"
#include "verify/freed_check.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Runs before those that count: another subject's weights are in the caches, and its workers may
 * still spin. */
#define SETTLE_NS   3000000.0
#define REWARM_NS   10000000u
#define SAMPLES_MIN 3
#define SAMPLES_MAX 4096

static void log_take(void *self, dck_log_level level, const char *text)
{
	versus *v = self;

	if (v->watch && v->watch->log)
		v->watch->log(v->watch->self, level, text);
	if (level >= DCK_LOG_WARN && !v->warning[0])
		snprintf(v->warning, sizeof v->warning, "%s", text);
}

static bool is_command(const versus_lane *lane)
{
	return lane->target.engine.ops->caps & DCK_CAP_COMMAND;
}

static dck_status opened_keep(versus_lane *lane, dck_err *err)
{
	const size_t bytes = (lane->nopened + 1) * sizeof(double);
	double *session = mem_resize(lane->session_ns, bytes);
	double *first;

	if (session)
		lane->session_ns = session;
	first = mem_resize(lane->first_ns, bytes);
	if (first)
		lane->first_ns = first;
	if (!session || !first)
		DCK_FAIL(err, E_NOMEM, "no memory for the times of openings");
	session[lane->nopened] = (double)lane->target.session_ns;
	first[lane->nopened] = (double)lane->phases.first_run_ns;
	lane->nopened++;
	return DCK_OK;
}

/* From what runs took in the warm-up: as many as fill the time of a visit. */
static void samples_choose(const versus *v, versus_lane *lane)
{
	const measure_loop *l = &lane->phases.loop;
	const double sample_ns = fmax(1, l->run_ns * (double)l->group);
	const double fit = (double)v->asked->visit_ns / sample_ns;

	/* A program has its own start as its noise: one run is a visit. */
	lane->samples = is_command(lane) ? 1 : (uint64_t)fmin(SAMPLES_MAX, fmax(SAMPLES_MIN, fit));
}

static dck_status lane_open(versus *v, versus_lane *lane, dck_err *err)
{
	dck_subject copy;
	const dck_subject *s =
	    lane->nopened > 0 ? freed_trusted(lane->what->subject, &copy) : lane->what->subject;
	const dck_observer *watch = lane->nopened > 0 ? &v->quiet : v->watch;
	measure_plan plan = v->plan;
	dck_status status;

	lane->target = (subject_target){.log = log_take, .log_self = v};
	/* The machine is warm then; the session is not. */
	if (lane->nopened > 0) {
		plan.warmup = MEASURE_WARMUP_TIME;
		plan.warmup_amount = REWARM_NS;
	}
	DCK_TRY(measure_phases_init(&lane->phases, &plan, s->kind != DCK_SUBJECT_COMMAND, err));
	DCK_TRY(verify_open(&lane->target, s, &v->clock, watch, NULL, NULL, err));
	if (v->facts) {
		subject_facts_of(v->facts, s, &lane->target);
		subject_facts_engine(v->facts, &lane->target);
		v->facts = NULL;
	}
	lane->phases.loop = (measure_loop){.clock = &v->clock,
					   .origin_ns = v->origin_ns,
					   .target = &lane->target,
					   .watch = watch,
					   .group = 1};
	status = measure_phase_first_run(&lane->phases, err);
	if (status == DCK_OK)
		status = measure_phase_warmup(&lane->phases, err);
	if (lane->nopened == 0)
		lane->steady = lane->phases.steady;
	samples_choose(v, lane);
	return status == DCK_OK ? opened_keep(lane, err) : status;
}

dck_status versus_lane_open(versus *v, versus_lane *lane, dck_err *err)
{
	const dck_status status = v->asked->fresh ? DCK_OK : lane_open(v, lane, err);

	lane->open = status == DCK_OK;
	if (status != DCK_OK)
		versus_lane_close(lane);
	return status;
}

void versus_lane_close(versus_lane *lane)
{
	subject_target_close(&lane->target);
	measure_phases_done(&lane->phases);
	lane->open = false;
}

void versus_lane_done(versus_lane *lane)
{
	versus_lane_close(lane);
	mem_free(lane->session_ns);
	mem_free(lane->first_ns);
	mem_free(lane->inner_ns);
	*lane = (versus_lane){0};
}

static dck_status samples_take(measure_loop *l, measure_sinks *to, uint64_t n, dck_err *err)
{
	while (n > 0) {
		const uint64_t slice = measure_loop_slice_size(l, n);

		DCK_TRY(measure_loop_slice(l, to, slice, err));
		n -= slice;
	}
	return DCK_OK;
}

static double statistic_of(const measure_samples *s, int statistic, double *scratch)
{
	double sum = 0;

	if (s->n == 0)
		return NAN;
	if (statistic == 2)
		return s->min;
	for (size_t i = 0; i < s->n; i++)
		sum += s->value[i];
	if (statistic == 1)
		return sum / (double)s->n;
	memcpy(scratch, s->value, s->n * sizeof *scratch);
	stat_sort(scratch, s->n);
	return stat_quantile_sorted(scratch, s->n, 0.5);
}

static dck_status visit_here(versus *v, versus_lane *lane, double *ret_ns, dck_err *err)
{
	measure_phases *p = &lane->phases;
	measure_sinks sinks = {.latency = &p->latency};
	const double sample_ns = fmax(1, p->loop.run_ns * (double)p->loop.group);

	if (!is_command(lane)) {
		DCK_TRY(samples_take(&p->loop, &sinks,
				     (uint64_t)fmax(1, fmin(SAMPLES_MAX, SETTLE_NS / sample_ns)),
				     err));
	}
	measure_samples_clear(&p->latency);
	DCK_TRY(samples_take(&p->loop, &sinks, lane->samples, err));
	*ret_ns = statistic_of(&p->latency, v->asked->statistic, p->scratch);
	return DCK_OK;
}

static dck_status visit_fresh(versus *v, versus_lane *lane, double *ret_ns, dck_err *err)
{
	const dck_subject *s = lane->what->subject;
	dck_subject copy;
	const worker_job job = {.subject = lane->nopened > 0 ? freed_trusted(s, &copy) : s,
				.plan = &v->plan.asked,
				.watch = v->watch};
	static const char *const tags[] = {"latency/median", "latency/mean", "latency/min"};
	worker_result result;
	dck_status status = DCK_OK;

	DCK_TRY(worker_run(&job, &result, err));
	if (result.end != WORKER_DONE)
		return err_set(err, result.why.code, __FILE__, __LINE__, "%s", result.why.msg);
	if (v->facts) {
		record_copy_facts(v->facts, result.record);
		v->facts = NULL;
	}
	*ret_ns = dck_record_value(result.record, tags[v->asked->statistic]);
	lane->target.session_ns =
	    (uint64_t)fmax(0, dck_record_value(result.record, "time/session"));
	lane->phases.first_run_ns =
	    (uint64_t)fmax(0, dck_record_value(result.record, "time/first_run"));
	if (result.record->incomplete || isnan(*ret_ns)) {
		const dck_note *note = dck_record_note(result.record, "engine-failed");

		status = err_set(err, note ? DCK_E_ENGINE : DCK_E_CANCEL, __FILE__, __LINE__, "%s",
				 note ? note->text : "interrupted");
	}
	dck_record_free(result.record);
	return status == DCK_OK ? opened_keep(lane, err) : status;
}

dck_status versus_lane_visit(versus *v, versus_lane *lane, double *ret_ns, dck_err *err)
{
	return v->asked->fresh ? visit_fresh(v, lane, ret_ns, err)
			       : visit_here(v, lane, ret_ns, err);
}
