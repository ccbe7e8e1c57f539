/* runner.c - one measurement in this process, from the open subject to the record.
 *
 * run_all() opens the session, warms it up, measures, and fills the record in a fixed order: the
 * metrics of the samples, the parts of a run on a device, the reason of the end, the facts of the
 * method, the notes. Diagnostics that need extra runs (parts of a run, gauges, run delays, the
 * check of the outputs, operators on a timeline) follow the last counted run. After a failure past
 * the first run the measured results remain: the record is incomplete and has a note. Everything
 * that was opened is closed in measure_run_here(), on every path.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/runner.h"
#include "base/err.h"
#include "deepclock/unstable.h"
#include "measure/verify/output_compare.h"
#include "measure/device_gauges.h"
#include "measure/diagnostics.h"
#include "measure/stop_reason.h"
#include "measure/method.h"
#include "measure/results.h"
#include "measure/session.h"
#include "measure/measure_trace.h"
#include "measure/run_delays.h"
#include "os/process/other_process.h"
#include <math.h>
#include <stdio.h>

/* Each part of a run on a device is timed for at most this share of --max-time, and this time. */
#define PARTS_SHARE 0.05
#define PARTS_NS    1e9
/* Of one look at the core-to-core latency. */
#define CORE_BATCHES 25

typedef struct measurement {
	record_builder *record;
	measure_context shared;
	measure_session session;
	os_host host;
	os_usage before, after; /* around the measurement */
	record_others others;
	measure_traced traced;
	run_delays delays;
	double undisturbed; /* share of the runs */
	gauge_log gauges;
	bool several;	    /* it is the first of several starts */
	double core_sum_ns; /* of the core-to-core latencies, before and after the runs */
	unsigned ncore;
} measurement;

static void core_latency_take(measurement *r)
{
	double ns[CORE_BATCHES], scratch[CORE_BATCHES];

	if (!os_core_latency(ns, CORE_BATCHES))
		return;
	r->core_sum_ns += stat_median(ns, CORE_BATCHES, scratch);
	r->ncore++;
}

/* Decides whether it is the first of several starts, or the only one, which has all of the time. */
static void starts_decide(measurement *r)
{
	measure_phases *p = &r->session.phases;
	const double start_ns = (double)(measure_context_now(&r->shared) - r->shared.origin_ns);

	if (p->plan.one_start)
		record_fact_absent(r->record, "method", "starting_share", p->plan.one_start);
	if (p->plan.starts >= 2) {
		const double share = measure_starting_share(start_ns, p->plan.asked.max_time_ns);

		record_fact_real(r->record, "method", "starting_share", DCK_UNIT_ONE, share);
		r->several = share <= MEASURE_STARTING_SHARE;
		if (r->several)
			measure_plan_share(&p->plan.asked, p->plan.starts, 0);
	}
	if (p->plan.whole_ns > 0)
		p->plan.asked.max_time_ns = measure_plan_left(
		    p->plan.whole_ns / (r->several ? p->plan.starts : 1), start_ns);
}

/* Everything between opening the subject and the last run. */
static dck_status measure(measurement *r, dck_err *err)
{
	DCK_TRY(measure_session_warm(&r->session, err));
	starts_decide(r);
	run_delays_begin(&r->delays, &r->session.phases);
	record_others_begin(&r->others, 0);
	os_usage_get(&r->before);
	dck_status status = measure_phase_measure(&r->session.phases, err);
	os_usage_get(&r->after);
	record_others_end(&r->others);
	return status;
}

/* Adds a note with the reason of an early end; the runs until then are reported. */
static void runner_stopped_note(measurement *r, dck_status status, const dck_err *why)
{
	const measure_loop *loop = &r->session.phases.loop;
	const unsigned long long at = (unsigned long long)(loop->runs + loop->unused) + 1;

	record_set_incomplete(r->record, true);
	if (status == DCK_E_CANCEL) {
		record_note(r->record, "interrupted",
			    "interrupted in run %llu: this is what was measured until then", at);
		snprintf(r->session.phases.early, sizeof r->session.phases.early, "interrupted");
	} else {
		record_note(r->record, "engine-failed",
			    "run %llu failed: %s; this is what was measured until then", at,
			    why->msg);
		/* The same in fewer words, for the parent process, which reports it. */
		record_fact_fmt(r->record, "result", "failure", "run %llu failed: %s", at,
				why->msg);
		snprintf(r->session.phases.early, sizeof r->session.phases.early, "run %llu failed",
			 at);
	}
}

static void doubts_note(measurement *r, const dck_subject *s, const stat_estimate *estimates,
			const stop_reason *ending)
{
	const measure_phases *p = &r->session.phases;
	measure_evidence e = diagnostics_evidence(p, &r->host);

	e.samples = &p->latency;
	e.median = &estimates[STAT_MEDIAN];
	e.asked = &estimates[p->plan.statistic];
	e.imprecise = ending->imprecise;
	e.runs = p->measured_runs;
	e.wall_ns = p->measured_ns;
	e.before = r->before;
	e.after = r->after;
	e.others = &r->others;
	e.undisturbed = r->undisturbed;
	e.threads = s->kind == DCK_SUBJECT_MODEL;
	e.longer = "--max-time";
	e.processes = true;
	e.scratch = p->scratch;
	diagnostics_notes(r->record, &e);
}

/* Adds what the start of this process decided, and is known. */
static void placement_fact(measurement *r)
{
	record_builder *b = r->record;
	uint64_t bytes;

	core_latency_take(r);
	if (r->ncore > 0)
		record_fact_real(b, "process", "core_latency", DCK_UNIT_NS,
				 r->core_sum_ns / r->ncore);
	else
		record_fact_absent(b, "process", "core_latency",
				   "there is one processor, or another program kept one busy");
	if (os_process_huge_pages((int)os_process_id(), &bytes))
		record_fact_int(b, "process", "huge_pages", DCK_UNIT_BYTE, (int64_t)bytes);
	else
		record_fact_absent(b, "process", "huge_pages",
				   "the kernel does not say how many there are (smaps_rollup)");
}

/* What a run on a device consists of. */
static void runner_device(measurement *r, const dck_subject *s, const stat_estimate *median,
			  dck_status status)
{
	measure_phases *p = &r->session.phases;
	const device_proof *proof = &r->session.barriers;
	const subject_target *t = p->loop.target;

	if (s->device && s->device->name)
		record_fact_text(r->record, "device", "name", s->device->name);
	device_proof_record(r->record, proof);
	gauge_log_record(&r->gauges, r->record, r->shared.origin_ns, (double)t->items);
	if (proof->n > 0 && status == DCK_OK) {
		const double budget_ns =
		    fmin(PARTS_NS, PARTS_SHARE * (double)p->plan.asked.max_time_ns);
		const device_parts parts = device_times_record(
		    r->record, t->engine.ops, t->context, p->loop.clock,
		    (device_events){s->device, s->arg}, r->shared.origin_ns, proof, budget_ns,
		    p->plan.asked.level, p->scratch, &p->loop.unused);

		if (median->present)
			device_parts_notes(r->record, proof, &parts, median->value);
	} else if (proof->n > 0) {
		device_times_absent(r->record, "the measurement ended early");
	} else if (method_on_device(s)) {
		device_times_absent(r->record, "each run copies its inputs or outputs, and ends "
					       "within its call");
	}
}

static void runner_record_fill(measurement *r, const dck_subject *s, dck_status status)
{
	stat_estimate estimates[STAT_ESTIMATORS + 1];
	dck_plan asked = r->session.phases.plan.asked;
	stop_reason ending;
	record_builder *b = r->record;

	asked.statistic = measure_plan_statistic(&r->session.phases.plan); /* p50 is the median */
	method_subject(b, s, &r->session.target, &r->host, dck_plan_options, &asked);
	measure_results(b, &r->session.phases, estimates);
	r->undisturbed = run_delays_record(&r->delays, &r->session.phases, b);
	runner_device(r, s, &estimates[STAT_MEDIAN], status);
	stop_reason_find(&r->session.phases, &estimates[r->session.phases.plan.statistic], &ending);
	method_facts(b, s, &r->session.phases, &r->session.barriers, &ending, estimates);
	doubts_note(r, s, estimates, &ending);
	if (r->session.phases.plan.start_failed)
		record_note(b, "start-failed", "another process could not measure it: %s",
			    r->session.phases.plan.start_failed);
	if (s->kind != DCK_SUBJECT_COMMAND)
		placement_fact(r);
	measure_context_notes(&r->shared, b);
}

static dck_status run_all(measurement *r, const dck_subject *s, const measure_plan *plan,
			  dck_err *err)
{
	dck_err why = {0};
	dck_status status;

	os_host_get(&r->host);
	r->shared.origin_ns = measure_context_now(&r->shared);
	measure_traced_begin(&r->traced, &r->shared);
	record_set_began(r->record, os_unix_ns());
	DCK_TRY(measure_session_open(&r->session, &r->shared, s, plan, r->shared.watch, err));
	if (method_on_device(s)) {
		gauge_log_open(&r->gauges, s->model.device, &r->shared.clock);
		r->session.phases.loop.gauges = &r->gauges;
	}
	if (s->kind != DCK_SUBJECT_COMMAND)
		core_latency_take(r);
	status = measure(r, &why);
	if (r->session.phases.loop.runs == 0)
		DCK_TRY(err_pass(status, &why, err));
	if (status != DCK_OK)
		runner_stopped_note(r, status, &why);
	runner_record_fill(r, s, status);
	/* Of several starts the whole is checked and shown. */
	if (plan->asked.check_outputs && status == DCK_OK && !r->several)
		output_compare_check(r->record, s, &r->session.target, r->shared.watch);
	measure_traced_runs(&r->traced, &r->session, s, r->record);
	/* Two sessions at a time would be in each other's way. */
	measure_session_close(&r->session);
	if (status == DCK_OK)
		measure_traced_operators(&r->traced, &r->shared, s, plan, r->record);
	measure_traced_stop(&r->traced, r->record);
	if (!r->several)
		measure_notes_show(r->shared.watch, r->record);
	return DCK_OK;
}

dck_status measure_run_here(const dck_subject *s, const measure_plan *plan,
			    const dck_observer *watch, dck_record **ret, dck_err *err)
{
	measurement r = {0};
	dck_subject bare;
	dck_err cleanup = {0};
	dck_status status;

	r.record = record_begin(plan->asked.title);
	DCK_NEED(r.record, err, "for a record");
	status = measure_traced_start(&r.traced, plan->asked.trace, err);
	if (status != DCK_OK) {
		record_drop(r.record);
		return status;
	}
	measure_context_begin(&r.shared, plan->asked.clock, watch, s->kind == DCK_SUBJECT_COMMAND);
	status = subject_hooks_begin(&s, 1, watch, &bare, err);
	if (status == DCK_OK) {
		status = run_all(&r, &bare, plan, err);
		measure_session_close(&r.session);
		subject_hooks_end(&s, 1, &cleanup);
	}
	if (status == DCK_OK) {
		subject_hooks_facts(r.record, s);
		subject_hooks_note(r.record, &cleanup);
	}
	run_delays_end(&r.delays);
	gauge_log_close(&r.gauges);
	measure_context_end(&r.shared);
	measure_traced_stop(&r.traced, NULL);
	return record_finish_if(status, r.record, ret, err);
}
