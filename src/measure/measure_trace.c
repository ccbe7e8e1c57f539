/* measure_trace.c - writes a finished measurement to the timeline of a trace, with original
 * timestamps.
 *
 * Nothing is recorded while the clock runs. measure_traced_runs() makes the ranges of opening,
 * warm-up and measured runs from the sample stores (start, value, group) and writes them to the
 * track of the calling thread through trace/backfill.h. Events of a thread are in order, so this
 * needs a thread without other events since the beginning; if the subject made some, the ranges are
 * absent with a reason.
 *
 * Operators come from a second session under the engine's profiler, which slows every run, so its
 * runs do not count (pass_run(): at most PASS_RUNS runs or PASS_NS). op_ranges_align() maps the
 * clock of the engine to ours and nests the ranges; `nest` is the stack of open ranges, whose ends
 * are written before the next begin. Operators of other threads get a track for each thread.
 *
 * Where the engine reports when operators were at work on a device (DCK_PROFILE_DEVICE_TIME), their
 * ranges are on the device's own track, and the thread has the runs alone: what the host did for an
 * operator is not in such a profile.
 *
 * Whole runs are written until they have OPERATORS operators. The order of calls is in
 * measure_trace.h. A failure of the operators or of the trace file becomes a note; it never fails
 * the measurement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/measure_trace.h"
#include "base/units.h"
#include "deepclock/trace.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/observer.h"
#include "measure/op_ranges.h"
#include "os/os.h"
#include "profiler/trace/device_track.h"
#include "record/copy.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The profiled runs take about a second, and have no more operators than a viewer shows. */
#define PASS_NS	     1e9
#define PASS_RUNS    100
#define PASS_MIN     2
#define WARM_PART    5 /* runs divided by this are warm-up before them */
#define WARM_RUNS    20
#define OPERATORS    200000
#define OP_NAME_SIZE 240

dck_status measure_traced_start(measure_traced *t, const char *path, dck_err *err)
{
	*t = (measure_traced){0};
	if (!path)
		return DCK_OK;
	DCK_TRY(dck_trace_start(&(dck_trace_config){.path = path}, err));
	t->own = true;
	return DCK_OK;
}

void measure_traced_begin(measure_traced *t, const measure_context *m)
{
	dck_past_begin(&t->past, measure_context_now(m));
}

static void traced_range(const past *p, const char *name, uint64_t begin_ns, uint64_t end_ns)
{
	dck_past_push(p, dck_past_name(NULL, name), begin_ns);
	dck_past_pop(p, end_ns);
}

/* --- the measured runs */

/* Writes the samples of a store from `first` on; the first `singles` of the store are of one run
 * each. */
static void samples_put(const past *p, const measure_samples *s, size_t first, uint64_t singles,
			uint64_t group, uint64_t origin_ns, uint64_t end_ns,
			const char *const *names)
{
	const uint32_t one = dck_past_name(NULL, names[0]), several = dck_past_name(NULL, names[1]);
	const uint32_t runs = dck_past_name(NULL, "runs");

	for (size_t i = first; i < s->n; i++) {
		const uint64_t n = i * s->stride < singles ? 1 : group;
		const uint64_t begin = origin_ns + s->at_ns[i];
		const uint64_t next = i + 1 < s->n ? origin_ns + s->at_ns[i + 1] : end_ns;
		uint64_t end = begin + (uint64_t)(s->value[i] * (double)n + 0.5);

		/* The only group may be smaller. */
		if (end > next)
			end = next;
		dck_past_push(p, n == 1 ? one : several, begin);
		if (n > 1)
			dck_past_number(p, runs, (double)n, begin);
		dck_past_pop(p, end);
	}
}

static void warmup_put(const past *p, const measure_phases *f)
{
	static const char *const names[] = {"warm-up run", "warm-up runs"};
	const measure_samples *w = &f->warm;

	if (!f->has_first_run)
		return;
	const uint64_t origin = f->loop.origin_ns, begin = origin + w->at_ns[0];
	const uint64_t end = begin + f->warmup_ns;
	traced_range(p, "first run", begin, begin + f->first_run_ns);
	if (w->n < 2)
		return;
	dck_past_push(p, dck_past_name(NULL, "warm-up"), origin + w->at_ns[1]);
	samples_put(p, w, 1, f->single_runs, f->loop.group, origin, end, names);
	dck_past_pop(p, end);
}

static void measured_put(const past *p, const measure_phases *f)
{
	static const char *const names[] = {"run", "runs"};
	const uint64_t end = f->measured_at_ns + f->measured_ns;

	if (f->latency.n == 0)
		return;
	dck_past_push(p, dck_past_name(NULL, "measure"), f->measured_at_ns);
	samples_put(p, &f->latency, 0, 0, f->loop.group, f->loop.origin_ns, end, names);
	dck_past_pop(p, end);
}

/* Returns the name of the outermost range: "bench model.onnx". */
static uint32_t traced_whole_name(const char *what, const dck_subject *s)
{
	char name[OP_NAME_SIZE];

	snprintf(name, sizeof name, "%s %.200s", what,
		 s->kind == DCK_SUBJECT_FUNCTION  ? "function"
		 : s->kind == DCK_SUBJECT_COMMAND ? s->argv[0]
						  : s->text);
	return dck_past_name(NULL, name);
}

void measure_traced_runs(measure_traced *t, const measure_session *s, const dck_subject *subject,
			 record_builder *b)
{
	const measure_phases *f = &s->phases;

	if (!t->past.on)
		return;
	if (!dck_past_end(&t->past, measure_context_now(s->shared))) {
		record_fact_absent(b, "trace", "runs", "the subject's own zones are recorded");
		return;
	}
	t->on_timeline = true;
	dck_past_push(&t->past, traced_whole_name("bench", subject), t->past.ns[0]);
	for (size_t i = 0; i < s->nopening; i++)
		traced_range(&t->past, s->opening[i].name, s->opening[i].at_ns,
			     i + 1 < s->nopening ? s->opening[i + 1].at_ns : s->opened_ns);
	warmup_put(&t->past, f);
	measured_put(&t->past, f);
	if (f->latency.n > 0)
		traced_range(&t->past, "statistics", f->measured_at_ns + f->measured_ns,
			     t->past.ns[1]);
	dck_past_pop(&t->past, t->past.ns[1]);
	const uint64_t held = f->latency.n * f->loop.group;
	const uint64_t runs = held < f->measured_runs ? held : f->measured_runs;
	record_fact_int(b, "trace", "runs", DCK_UNIT_ONE, (int64_t)runs);
	record_fact_int(b, "trace", "runs_left_out", DCK_UNIT_ONE,
			(int64_t)(f->measured_runs - runs));
	if (f->latency.n > 0)
		t->median_ns = stat_median(f->latency.value, f->latency.n, f->scratch);
}

/* --- the runs under the profiler */

typedef struct pass {
	measure_session session;
	measure_samples samples;
	uint64_t warm, runs; /* runs: after the warm-up */
	uint64_t opened_ns, warm_ns, begun_ns, ended_ns;
	uint64_t *begin_ns, *end_ns; /* of all runs */
	op_range *ranges;
	size_t drawn, nranges; /* runs whose operators are written */
	uint64_t unsure_ns;
	dck_profile device; /* the operators that were at work on a device, at those times */
	dck_op_event *device_events;
	uint64_t ours_ns[2], monotonic_ns[2]; /* both clocks, at the beginning and the end */
} pass;

static void pass_close(pass *p)
{
	measure_session_close(&p->session);
	measure_samples_done(&p->samples);
	mem_free(p->begin_ns);
	mem_free(p->end_ns);
	mem_free(p->ranges);
	mem_free(p->device_events);
}

static dck_status pass_run(pass *p, const measure_traced *t, uint64_t idle_ns, dck_err *err)
{
	measure_loop *l = &p->session.phases.loop;
	phase_samples to = {.latency = &p->samples};
	const double runs = t->median_ns > 0 ? PASS_NS / t->median_ns : PASS_RUNS;

	l->idle_ns = idle_ns;
	p->runs = (uint64_t)fmin(fmax(runs, PASS_MIN), PASS_RUNS);
	p->warm = p->runs / WARM_PART;
	p->warm = p->warm < 1 ? 1 : p->warm > WARM_RUNS ? WARM_RUNS : p->warm;
	DCK_TRY(measure_samples_init(&p->samples, PASS_RUNS + WARM_RUNS + 2, true, err));
	p->warm_ns = measure_context_now(p->session.shared);
	for (uint64_t i = 0; i < p->warm; i++)
		DCK_TRY(measure_loop_slice(l, &to, 1, err));
	p->begun_ns = measure_context_now(p->session.shared);
	/* One by one: with a slow profiler fewer runs fit in a second. */
	for (uint64_t i = 0; i < p->runs; i++) {
		if (i >= PASS_MIN && (double)(l->last_ns - p->begun_ns) > PASS_NS)
			p->runs = i;
		else
			DCK_TRY(measure_loop_slice(l, &to, 1, err));
	}
	p->ended_ns = measure_context_now(p->session.shared);
	return DCK_OK;
}

/* Chooses the number of runs to write: all, or those until OPERATORS operators. */
static void drawn_choose(pass *p, const dck_profile *profile)
{
	size_t n = 0, end = p->warm;

	for (size_t i = 0; i < profile->nevents; i++) {
		const uint64_t run = profile->events[i].run;
		if (run < p->warm)
			continue;
		if (run > end && n >= OPERATORS)
			break;
		end = run;
		n++;
	}
	p->drawn = p->runs;
	if (n >= OPERATORS)
		p->drawn = end + 1 - p->warm;
}

static dck_status profile_check(const pass *p, const dck_profile *profile, dck_err *err)
{
	if (profile->flags & DCK_PROFILE_DEVICE_TIME &&
	    !(profile->device_begin_ns && profile->device_end_ns))
		DCK_FAIL(err, E_UNSUP,
			 "the engine reports how long operators took on the device, not when");
	if (!profile->run_begin_ns)
		DCK_FAIL(err, E_UNSUP, "the engine does not report when runs began by its clock");
	if (profile->flags & DCK_PROFILE_TRUNCATED || profile->nruns != p->warm + p->runs)
		DCK_FAIL(err, E_ENGINE, "the engine lost events of its profile");
	return DCK_OK;
}

/* Makes a profile of the device's times; its clock and runs are those of the other one. */
static dck_status device_profile_make(pass *p, const dck_profile *profile, dck_err *err)
{
	size_t n = 0;

	p->device_events = mem_zalloc(profile->nevents + 1, sizeof *p->device_events);
	DCK_NEED(p->device_events, err, "for the operators' times");
	for (size_t i = 0; i < profile->nevents; i++) {
		dck_op_event *e = &p->device_events[n];

		if (profile->device_end_ns[i] == 0)
			continue;
		*e = profile->events[i];
		e->begin_ns = profile->device_begin_ns[i];
		e->duration_ns = profile->device_end_ns[i] - profile->device_begin_ns[i];
		n++;
	}
	p->device = *profile;
	p->device.events = p->device_events;
	p->device.nevents = n;
	p->device.threads = NULL;
	return DCK_OK;
}

static dck_status pass_place(pass *p, const dck_profile *profile, dck_err *err)
{
	const uint64_t origin = p->session.phases.loop.origin_ns;
	const size_t n = profile->nruns;

	DCK_TRY(profile_check(p, profile, err));
	if (profile->flags & DCK_PROFILE_DEVICE_TIME) {
		DCK_TRY(device_profile_make(p, profile, err));
		profile = &p->device;
	}
	p->begin_ns = mem_zalloc(n + 1, sizeof *p->begin_ns);
	p->end_ns = mem_zalloc(n + 1, sizeof *p->end_ns);
	p->ranges = mem_zalloc(profile->nevents + 1, sizeof *p->ranges);
	DCK_NEED(p->begin_ns && p->end_ns && p->ranges, err, "for the operators' times");
	for (size_t i = 0; i < n; i++) {
		p->begin_ns[i] = origin + p->samples.at_ns[i];
		p->end_ns[i] = p->begin_ns[i] + (uint64_t)(p->samples.value[i] + 0.5);
	}
	drawn_choose(p, profile);
	const op_runs runs = {p->begin_ns, p->end_ns, p->warm, p->warm + p->drawn};
	return op_ranges_align(profile, &runs, os_thread_id(), p->ranges, &p->nranges,
			       &p->unsure_ns, err);
}

/* --- onto the timeline */

static uint32_t op_name(const dck_op_event *e)
{
	char name[OP_NAME_SIZE];

	if (!e->type[0] || !e->name[0])
		return dck_past_name("operator", e->type[0] ? e->type : e->name);
	snprintf(name, sizeof name, "%.60s %.170s", e->type, e->name);
	return dck_past_name("operator", name);
}

typedef struct nest {
	uint64_t ends[OP_LEVELS_MAX];
	size_t n;
} nest;

static void nest_pop(nest *o, const past *t, size_t levels)
{
	while (o->n > levels)
		dck_past_pop(t, o->ends[--o->n]);
}

static void traced_op_put(nest *o, const past *t, const dck_profile *profile, const op_range *r)
{
	nest_pop(o, t, r->level);
	dck_past_push(t, op_name(&profile->events[r->event]), r->begin_ns);
	o->ends[o->n++] = r->end_ns;
}

/* Writes the runs, each with the operators of thread `own`. Returns the number of these. */
static size_t traced_runs_put(const past *t, const pass *p, const dck_profile *profile, int64_t own)
{
	const uint32_t name = dck_past_name(NULL, "profiled run");
	nest open = {.n = 0};
	size_t at = 0;

	for (size_t i = p->warm; i < p->warm + p->drawn; i++) {
		dck_past_push(t, name, p->begin_ns[i]);
		for (; at < p->nranges && p->ranges[at].thread == own &&
		       profile->events[p->ranges[at].event].run == i;
		     at++)
			traced_op_put(&open, t, profile, &p->ranges[at]);
		nest_pop(&open, t, 0);
		dck_past_pop(t, p->end_ns[i]);
	}
	return at;
}

/* Writes the operators of other threads on their tracks, with the number of their run. Returns the
 * number of operators written in all: fewer than there are if the threads are too many. */
static size_t others_put(past *t, const pass *p, const dck_profile *profile, size_t at)
{
	const uint32_t run = dck_past_name(NULL, "run");

	while (at < p->nranges) {
		const int64_t thread = p->ranges[at].thread;
		nest open = {.n = 0};

		if (!dck_past_thread_begin(t, (int)thread, "operators"))
			break;
		for (; at < p->nranges && p->ranges[at].thread == thread; at++) {
			const op_range *r = &p->ranges[at];

			traced_op_put(&open, t, profile, r);
			dck_past_number(t, run, (double)(profile->events[r->event].run - p->warm),
					r->begin_ns);
		}
		nest_pop(&open, t, 0);
		dck_past_thread_end(t);
	}
	return at;
}

/* Converts a time of the measurement's clock to CLOCK_MONOTONIC, which device tracks have. */
static uint64_t monotonic_of(const pass *p, uint64_t ns)
{
	const double span = (double)(p->ours_ns[1] - p->ours_ns[0]),
		     rate = span > 0 ? (double)(p->monotonic_ns[1] - p->monotonic_ns[0]) / span : 1;

	return p->monotonic_ns[0] +
	       (uint64_t)(int64_t)(rate * (double)(int64_t)(ns - p->ours_ns[0]));
}

/* Writes the ranges of operators on the device's track, each with the number of its run. */
static void device_put(const pass *p, const dck_subject *s)
{
	const uint32_t run = dck_past_name(NULL, "run");
	char name[OP_NAME_SIZE];

	snprintf(name, sizeof name, "%.80s operators",
		 s->model.device && strcmp(s->model.device, "cpu") != 0 ? s->model.device
									: "device");
	device_track *t = dck_device_track_open(name);
	if (t)
		dck_device_track_sync(t);
	for (size_t i = 0; t && i < p->nranges; i++) {
		const op_range *r = &p->ranges[i];
		const dck_op_event *e = &p->device.events[r->event];
		const device_range range = {.name = op_name(e),
					    .begin_ns = monotonic_of(p, r->begin_ns),
					    .end_ns = monotonic_of(p, r->end_ns),
					    .nnumbers = 1,
					    .numbers = {{run, (double)(e->run - p->warm)}}};
		dck_device_track_range(t, &range);
	}
	dck_device_track_close(t);
}

static size_t pass_put(past *t, const pass *p, const dck_subject *s, const dck_profile *profile)
{
	dck_past_push(t, traced_whole_name("profile", s), t->ns[0]);
	traced_range(t, "profiled session", t->ns[0], p->warm_ns);
	traced_range(t, "profiled warm-up", p->warm_ns, p->begun_ns);
	dck_past_push(t, dck_past_name(NULL, "profiled runs"), p->begun_ns);
	const int64_t own = p->device_events ? INT64_MIN : os_thread_id();
	const size_t others = traced_runs_put(t, p, profile, own);
	dck_past_pop(t, p->ended_ns);
	traced_range(t, "reading the profile", p->ended_ns, t->ns[1]);
	dck_past_pop(t, t->ns[1]);
	if (!p->device_events)
		return others_put(t, p, profile, others);
	device_put(p, s);
	return p->nranges;
}

static void pass_record(const measure_traced *t, const pass *p, record_builder *b)
{
	double scratch[PASS_RUNS];
	const double took = stat_median(p->samples.value + p->warm, p->runs, scratch);

	record_fact_int(b, "trace", "profiled_runs", DCK_UNIT_ONE, (int64_t)p->drawn);
	record_fact_int(b, "trace", "operators", DCK_UNIT_ONE, (int64_t)p->nranges);
	record_fact_bool(b, "trace", "operators_on_device", p->device_events != NULL);
	record_fact_int(b, "trace", "operators_uncertainty", DCK_UNIT_NS, (int64_t)p->unsure_ns);
	if (!(t->median_ns > 0)) {
		record_fact_absent(b, "trace", "profiled_ratio", "no run was measured");
		return;
	}
	record_fact_real(b, "trace", "profiled_ratio", DCK_UNIT_ONE, took / t->median_ns);
	record_note(
	    b, "trace-profiled",
	    "the operators on the timeline come from %llu more %s under the engine's profiler, which took %.2f times as long as the measured ones (medians)",
	    (unsigned long long)p->runs, COUNTED(p->runs, "run", "runs"), took / t->median_ns);
}

static void pass_clocks_read(pass *p, const measure_context *m, size_t i)
{
	uint64_t narrowest = UINT64_MAX;

	/* One of them is not interrupted. */
	for (int k = 0; k < 8; k++) {
		const uint64_t before = measure_context_now(m), now = os_now_ns();
		const uint64_t took = measure_context_now(m) - before;
		if (took >= narrowest)
			continue;
		narrowest = took;
		p->ours_ns[i] = before + took / 2;
		p->monotonic_ns[i] = now;
	}
}

static dck_status traced_operators(measure_traced *t, measure_context *m, const dck_subject *s,
				   const measure_plan *plan, record_builder *b, dck_err *err)
{
	pass p = {.session.target.observe = DCK_OBSERVE_OPERATORS};
	dck_profile profile = {.struct_size = sizeof profile};
	dck_subject one = *s;
	past since;

	one.model.skip_batch_check = true; /* the outputs were compared before */
	dck_past_begin(&since, measure_context_now(m));
	pass_clocks_read(&p, m, 0);
	observer_phase((void *)(uintptr_t)m->watch, "profiled session");
	DCK_TRY(measure_session_open(&p.session, m, &one, NULL, &m->quiet, err));
	observer_phase((void *)(uintptr_t)m->watch, "profiled runs");
	dck_status status = pass_run(&p, t, plan->asked.idle_ns, err);
	DCK_NEXT(status, engine_profile(p.session.target.engine.ops, p.session.target.model,
					&profile, err));
	DCK_NEXT(status, device_profile_check(p.session.target.engine.ops, p.session.target.context,
					      &profile, t->median_ns, err));
	DCK_NEXT(status, pass_place(&p, &profile, err));
	pass_clocks_read(&p, m, 1);
	if (status == DCK_OK && dck_past_end(&since, measure_context_now(m))) {
		p.nranges = pass_put(&since, &p, s, &profile);
		pass_record(t, &p, b);
	}
	pass_close(&p);
	return status;
}

void measure_traced_operators(measure_traced *t, measure_context *m, const dck_subject *s,
			      const measure_plan *plan, record_builder *b)
{
	dck_err why = {0};

	if (!t->on_timeline || s->kind == DCK_SUBJECT_COMMAND || s->kind == DCK_SUBJECT_FUNCTION)
		return;
	const dck_status status = traced_operators(t, m, s, plan, b, &why);
	if (status == DCK_OK)
		return;
	record_fact_absent(b, "trace", "operators", why.msg);
	if (status == DCK_E_CANCEL) {
		record_set_incomplete(b, true);
		record_note(b, "interrupted",
			    "interrupted before the operators were recorded: "
			    "the timeline has the runs alone");
	} else {
		record_note(b, "trace-no-operators", "the timeline has no operators: %s", why.msg);
	}
}

/* --- the end */

/* Copies the facts about the trace file, and the tables, trees and notes of the recording. */
static void recording_copy(record_builder *b, const dck_record *r)
{
	for (size_t i = 0; i < r->nfacts; i++)
		if (strcmp(r->facts[i].section, "trace") == 0)
			record_copy_fact(b, &r->facts[i]);
	for (size_t i = 0; i < r->ntables; i++)
		record_copy_table(b, &r->tables[i]);
	for (size_t i = 0; i < r->ntrees; i++)
		record_tree(b, &r->trees[i]);
	for (size_t i = 0; i < r->nnotes; i++)
		record_note_copy(b, &r->notes[i]);
}

void measure_traced_stop(measure_traced *t, record_builder *b)
{
	dck_record *recorded = NULL;
	dck_err why = {0};

	if (!t->own)
		return;
	t->own = false;
	const dck_status status = dck_trace_stop(&recorded, &why);
	if (b && status != DCK_OK)
		record_note(b, "trace-failed", "%s", why.msg);
	else if (b && recorded)
		recording_copy(b, recorded);
	dck_record_free(recorded);
}
