/* load_notes.c - data-quality notes of a load test.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/load/load_view.h"
#include "base/units.h"
#include "measure/diagnostics.h"

/* A mean dispatch lag above this share of the median latency gets a note. */
#define LAG_SHARE 0.05

void load_note_closed(const load_view *v)
{
	const load_scenario s = v->j->ask.scenario;

	if (s == LOAD_SINGLE || s == LOAD_MULTI)
		record_note(
		    v->b, "coordinated-omission",
		    "each stream sends a request only when the previous one is done, so a slow run delays the next ones instead of making them wait: these are service times, and independent users wait longer");
}

static void unstable(const load_view *v)
{
	const double service_ns = measure_samples_mean(&v->samples->of[LOAD_SERVICE]);
	const uint64_t waiting = v->r->abandoned > 0 ? v->r->abandoned : v->r->queue_end;
	const size_t n = v->j->pool.n;
	char come[32], can[32];

	if (v->server && v->r->unstable) {
		record_note(
		    v->b, "unstable",
		    "unstable: arrivals exceed the service rate: %s arrive a second, and %zu stream%s can serve %s; %s were waiting at last, and more would wait the longer it lasts, so that latency here depends only on the duration of the measurement",
		    load_rate_text(v->point->offered, come), n, n == 1 ? "" : "s",
		    load_rate_text((double)n * 1e9 / service_ns, can),
		    UNITS_COUNT((int64_t)waiting));
		record_remedy(v->b, "lower --rate, or give more --streams");
	}
}

static void dispatch_lag(const load_view *v)
{
	const measure_samples *lag = &v->samples->of[LOAD_LAG];
	const stat_estimate *median = &v->all[STAT_MEDIAN];
	const double mean_ns = measure_samples_mean(lag);

	if (v->server && lag->pushed >= 10 && median->present &&
	    mean_ns > LAG_SHARE * median->value)
		record_note(
		    v->b, "dispatch-lag",
		    "the dispatch lag is %s (mean; at most %s): requests with a free stream "
		    "started this long after their arrival, as the system woke it late or its "
		    "processors were busy; it is in the latency, whose median is %s",
		    UNITS_TIME(mean_ns), UNITS_TIME(lag->max), UNITS_TIME(median->value));
}

void load_note_few(const load_view *v)
{
	const stat_estimate *e = &v->all[STAT_MEDIAN];

	if (v->server && (v->r->unstable || v->r->answers.overload_rate > 0))
		return; /* more of the same would add nothing */
	if (!e->has_interval) {
		record_note(v->b, "too-few-runs", "%llu request%s too few for an interval (%s)",
			    (unsigned long long)v->r->served, v->r->served == 1 ? " is" : "s are",
			    e->why);
		record_remedy(v->b, "measure longer with --time or --requests");
	} else if (e->narrow) {
		record_note(v->b, "too-few-runs",
			    "the interval of %llu requests is too narrow for its level, because %s",
			    (unsigned long long)v->r->served, stat_undercoverage_text(e->narrow));
		record_remedy(v->b, "measure longer with --time or --requests");
	}
}

static void oversubscribed(const load_view *v)
{
	const load_pool *p = &v->j->pool;

	if (v->j->session.barriers.n == 0 && p->n * p->run_threads > p->cpus) {
		record_note(
		    v->b, "oversubscribed",
		    "%zu stream%s, of which each run may use %u thread%s, share %u processor%s: "
		    "runs at the same time slow each other",
		    p->n, p->n == 1 ? "" : "s", p->run_threads, p->run_threads == 1 ? "" : "s",
		    p->cpus, p->cpus == 1 ? "" : "s");
		record_remedy(v->b, "with --threads 1 each has one");
	}
}

static void device_shared(const load_view *v)
{
	const size_t n = v->j->pool.n;

	if (n > 1 && v->j->session.barriers.n > 0)
		record_note(
		    v->b, "streams-share-device",
		    "%zu streams share one device, which does their runs one after the other "
		    "or side by side: each run ends when its own results are there, and its "
		    "time includes work of the others that the device does before that",
		    n);
}

static void clock_coarse(const load_view *v)
{
	const measure_phases *p = &v->j->session.phases;
	char clock[64];

	if (p->loop.group > 1 || p->group_wanted)
		record_note(v->b, "timer-coarse",
			    "%s, more than 1 %% of a run, and each request is timed individually: "
			    "every latency is wrong by up to that much",
			    diagnostics_clock(p->loop.clock, clock, sizeof clock));
}

/* The common diagnostics check the service times: outliers and drift of the latency in a queue are
 * part of the result. */
static void diagnostics(const load_view *v)
{
	const load_job *j = v->j;
	const measure_samples *service = &v->samples->of[LOAD_SERVICE];
	measure_evidence e = diagnostics_evidence(&j->session.phases, &j->host);
	stat_estimate median;

	stat_estimate_one(STAT_MEDIAN, service->value, service->n, j->config->level,
			  j->pool.scratch, &median);
	e.samples = service;
	e.median = &median;
	/* load_note_few() and clock_coarse() add these notes, with the options of this command. */
	e.asked = NULL;
	e.group = 1;
	e.group_wanted = false;
	e.runs = v->r->served;
	e.wall_ns = (uint64_t)v->r->done_ns;
	e.before = v->r->before;
	e.after = v->r->after;
	e.others = &v->r->others;
	e.threads = j->subject->kind == DCK_SUBJECT_MODEL;
	e.longer = "--time";
	e.scratch = j->pool.scratch;
	diagnostics_notes(v->b, &e);
}

void load_note_heading(const load_view *v)
{
	const load_trace *t = &v->j->trace;

	if (t->heading > 0)
		record_note(v->b, "header-skipped", "line %llu of '%s' was treated as a header",
			    (unsigned long long)t->heading, v->j->config->trace);
}

void load_notes(const load_view *v)
{
	load_note_closed(v);
	unstable(v);
	dispatch_lag(v);
	load_note_few(v);
	load_note_heading(v);
	oversubscribed(v);
	device_shared(v);
	clock_coarse(v);
	load_limits_notes(v);
	measure_context_notes(&v->j->shared, v->b);
	diagnostics(v);
}
