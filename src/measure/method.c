/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/method.h"
#include "base/units.h"
#include "record/host.h"
#include "measure/subject/subject_facts.h"
#include <math.h>
#include <string.h>

void method_subject(record_builder *b, const dck_subject *s, const subject_target *t,
		    const os_host *host, const dck_opt *options, const void *config)
{
	subject_facts_of(b, s, t);
	subject_facts_engine(b, t);
	record_host(b, host);
	record_fact_options(b, "plan", options, config);
	if (s->kind == DCK_SUBJECT_MODEL || s->kind == DCK_SUBJECT_PLUGIN)
		record_fact_options(b, "plan", dck_model_options, &s->model);
	if (s->kind == DCK_SUBJECT_COMMAND)
		record_fact_options(b, "plan", dck_command_options, &s->command);
	if (s->kind == DCK_SUBJECT_COMMAND && s->model.input.n > 0)
		record_fact_text(b, "plan", "input", s->model.input.item[0]);
}

void method_clock(record_builder *b, const dck_clock *clock)
{
	record_fact_text(b, "method", "clock", clock->name);
	record_fact_real(b, "method", "clock_cost", DCK_UNIT_NS, clock->cost_ns);
	record_fact_real(b, "method", "clock_tick", DCK_UNIT_NS, clock->tick_ns);
}

void method_address_layout(record_builder *b, const measure_plan *plan)
{
	if (plan->layout_why)
		record_fact_absent(b, "method", "address_layout", plan->layout_why);
	else if (os_address_layout_is_fixed())
		record_fact_text(b, "method", "address_layout",
				 "the same in each start: not randomised (ADDR_NO_RANDOMIZE)");
}

void method_samples(record_builder *b, const measure_samples *latency)
{
	record_fact_int(b, "method", "samples", DCK_UNIT_ONE, (int64_t)latency->pushed);
	record_fact_int(b, "method", "samples_kept", DCK_UNIT_ONE, (int64_t)latency->n);
	record_fact_int(b, "method", "processes", DCK_UNIT_ONE, 1);
}

static void facts_warmup(record_builder *b, const measure_phases *p)
{
	switch (p->plan.warmup) {
	case MEASURE_WARMUP_RUNS:
		/* Compared as it is: records of before have it for one run too. */
		record_fact_fmt(b, "method", "warmup_rule", "%llu runs were requested",
				(unsigned long long)p->plan.warmup_amount);
		break;
	case MEASURE_WARMUP_TIME:
		record_fact_fmt(b, "method", "warmup_rule", "%g s were requested",
				(double)p->plan.warmup_amount / 1e9);
		break;
	case MEASURE_WARMUP_AUTO:
		record_fact_text(b, "method", "warmup_rule", "until a steady state is detected");
		if (p->steady && p->steady_runs == 0)
			record_fact_fmt(b, "method", "steady", "steady from the first run on: %s",
					p->verdict.evidence);
		else if (p->steady)
			record_fact_fmt(b, "method", "steady", "steady after %llu %s, %.2g s: %s",
					(unsigned long long)p->steady_runs,
					COUNTED(p->steady_runs, "run", "runs"),
					(double)p->steady_ns / 1e9, p->verdict.evidence);
		else if (p->steady_known)
			record_fact_fmt(b, "method", "steady", "not steady after %.2g s: %s",
					(double)p->warmup_ns / 1e9, p->verdict.evidence);
		else
			record_fact_absent(b, "method", "steady", "too few warm-up runs to decide");
		if (p->steady)
			record_fact_int(b, "method", "steady_after", DCK_UNIT_NS,
					(int64_t)p->steady_ns);
		if (p->cut_runs > 0)
			record_fact_fmt(
			    b, "method", "warmup_cut",
			    "the first %llu measured runs, %.2g s: a plateau %.1f %% %s",
			    (unsigned long long)p->cut_runs, (double)p->cut_ns / 1e9,
			    100 * fabs(p->cut_ratio), p->cut_ratio > 0 ? "slower" : "faster");
		break;
	}
}

bool method_on_device(const dck_subject *s)
{
	const char *name = s->model.device;

	return s->kind == DCK_SUBJECT_MODEL && name && strcmp(name, "cpu") != 0;
}

/* A device's memory is bound beforehand as the host's is, so that runs on both compare. */
void method_transfers(record_builder *b, const dck_subject *s, const subject_target *t,
		      const device_proof *barriers)
{
	const char *text =
	    "none inside: inputs and outputs stay in memory that is bound beforehand";

	if (t->engine.ops->caps & DCK_CAP_NO_TENSORS)
		return;
	if (s->model.transfers == DCK_TRANSFERS_INCLUDE)
		text = "inside: inputs go from the host's memory to a device and outputs back";
	else if (method_on_device(s) && barriers->n == 0)
		text = "outputs inside: they go from the device to the host's memory";
	record_fact_text(b, "method", "transfers", text);
}

void method_facts(record_builder *b, const dck_subject *s, const measure_phases *p,
		  const device_proof *barriers, const stop_reason *ending,
		  const stat_estimate *estimates)
{
	const uint32_t caps = p->loop.target->engine.ops->caps;

	method_clock(b, p->loop.clock);
	method_address_layout(b, &p->plan);
	record_fact_text(b, "method", "enclosed",
			 caps & DCK_CAP_COMMAND ? METHOD_PROCESS
			 : caps & DCK_CAP_NO_TENSORS
			     ? barriers->n > 0 ? "one call, until the device has ended its work"
					       : "one call"
			     : "one call of the engine, until the results are ready");
	method_transfers(b, s, p->loop.target, barriers);
	facts_warmup(b, p);
	record_fact_text(b, "method", "stop", ending->stop);
	record_fact_int(b, "method", "precision_checks", DCK_UNIT_ONE, (int64_t)p->checks);
	if (isnan(ending->half_ratio))
		record_fact_absent(b, "method", "precision_reached", ending->why);
	else
		record_fact_real(b, "method", "precision_reached", DCK_UNIT_ONE,
				 ending->half_ratio);
	record_fact_text(
	    b, "method", "interval",
	    caps & DCK_CAP_COMMAND
		? "of the runs, each a start of the program, corrected for autocorrelation"
		: "within one process, corrected for autocorrelation; another start of "
		  "the program may be outside (--processes)");
	record_fact_int(b, "method", "group", DCK_UNIT_ONE, (int64_t)p->loop.group);
	method_samples(b, &p->latency);
	if (p->latency.n > 1) {
		record_fact_real(b, "samples", "lag1_autocorrelation", DCK_UNIT_ONE,
				 stat_lag1(p->latency.value, p->latency.n));
		record_fact_real(b, "samples", "effective_runs", DCK_UNIT_ONE,
				 estimates[STAT_MEAN].n_eff);
	}
}
