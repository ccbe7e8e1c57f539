/* loop.c - the timed loop, in slices. measure_loop_slice() prepares a slice, reads the counters
 * around it, and calls loop_timed(), which has nothing but the engine's runs between two clock
 * readings.
 *
 * The order of readings is: waits of the threads, CPU time, clock, runs, clock, CPU time, waits. So
 * the CPU time of a slice includes at least its runs, and less of it than the clock's time is time
 * without a processor. Samples of a slice are pushed after it, in batches. What a program used is
 * read after each of its runs, in a group between two of them: that takes nanoseconds.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/loop.h"
#include "base/err.h"
#include "base/observer.h"
#include "measure/device_gauges.h"
#include "os/os.h"
#include <math.h>

/* A slice is about this long: reading the CPU clock twice (0.35 us) then costs under 0.4 %. */
#define SLICE_NS	  100000.0
#define SLICE_SAMPLES_MAX 1024
/* A pause below this share of a run leaves no trace in it. */
#define PAUSE_FELT 0.05

static uint64_t measure_loop_cpu_ns(const measure_loop *l)
{
	return l->clock->cpu_ns ? l->clock->cpu_ns(l->clock->self) : os_process_cpu_ns();
}

bool measure_loop_cancelled(const measure_loop *l)
{
	return observer_cancelled(l->watch);
}

/* Ends a pause; without an observer too, as any other signal would do it then. */
static bool loop_pause_ends(void *self)
{
	return measure_loop_cancelled(self);
}

static bool one_at_a_time(const measure_loop *l)
{
	return l->idle_ns > 0 || l->target->pool > 1 ||
	       (l->target->engine.ops->caps & DCK_CAP_COMMAND);
}

uint64_t measure_loop_slice_size(const measure_loop *l, uint64_t left)
{
	uint64_t n = 1;

	if (!one_at_a_time(l) && l->run_ns > 0) {
		double fit = SLICE_NS / (l->run_ns * (double)l->group);

		n = fit >= SLICE_SAMPLES_MAX ? SLICE_SAMPLES_MAX : fit >= 1 ? (uint64_t)fit : 1;
	}
	return n < left ? n : left;
}

/* Prepares a single run, while the clock does not run. */
static dck_status before_run(measure_loop *l, dck_err *err)
{
	if (l->target->pool > 1)
		DCK_TRY(subject_target_next_input(l->target, err));
	if (l->target->prepare)
		DCK_TRY(subject_hook_run(l->target->prepare, l->watch, err));
	if (l->idle_ns > 0)
		os_sleep_ns(l->idle_ns, loop_pause_ends, l);
	if (measure_loop_cancelled(l))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	return DCK_OK;
}

/* What the programs of a sample used. */
typedef struct loop_usage {
	double user_ns, system_ns;
	uint64_t peak_rss_bytes;
} loop_usage;

/* Adds what the last run used. */
static dck_status loop_usage_add(const measure_loop *l, loop_usage *sum, dck_err *err)
{
	dck_usage usage;

	DCK_TRY(engine_usage(l->target->engine.ops, l->target->context, &usage, err));
	sum->user_ns += (double)usage.user_ns;
	sum->system_ns += (double)usage.system_ns;
	if (usage.peak_rss_bytes > sum->peak_rss_bytes)
		sum->peak_rss_bytes = usage.peak_rss_bytes;
	return DCK_OK;
}

/* Takes what a sample's runs used, of which the last one is not in `sum` yet. */
static dck_status loop_usage_take(const measure_loop *l, phase_samples *to, uint64_t at_ns,
				  loop_usage *sum, double *ret_cpu_ns, dck_err *err)
{
	DCK_TRY(loop_usage_add(l, sum, err));
	if (to->user)
		measure_samples_push(to->user, at_ns, sum->user_ns / (double)l->group);
	if (to->system)
		measure_samples_push(to->system, at_ns, sum->system_ns / (double)l->group);
	if (sum->peak_rss_bytes > to->peak_rss_bytes)
		to->peak_rss_bytes = sum->peak_rss_bytes;
	*ret_cpu_ns = sum->user_ns + sum->system_ns;
	return DCK_OK;
}

/* Readings that wait to be pushed: few, so that they take little of the nearest cache. */
#define WAITING 64

/* This is the timed loop. It is separate and small, so that it can be reviewed and measured as it
 * is. Readings are only stored; they are processed in batches, since a clock reading waits for
 * pending computations, which would lengthen each sample. `used`, of a program: the usage of all
 * runs but the last of a sample is added. */
static dck_status loop_timed(measure_loop *l, measure_samples *to, uint64_t n, loop_usage *used,
			     uint64_t *ret_first_ns, uint64_t *ret_done, dck_err *err)
{
	measure_reading waiting[WAITING];
	dck_err why;

	uint64_t (*const now)(void *self) = l->clock->now_ns;
	void *const self = l->clock->self;
	dck_status (*const run)(dck_engine_context * c, dck_err * err) = l->target->engine.ops->run;
	dck_engine_context *const context = l->target->context;
	const uint64_t group = l->group, origin = l->origin_ns;
	const double per_run = 1.0 / (double)group;
	uint64_t end = 0, done = 0;
	dck_status status = DCK_OK;

	engine_why_begin(&why);
	while (done < n && status == DCK_OK) {
		const uint64_t left = n - done, most = left < WAITING ? left : WAITING;
		uint64_t got;

		for (got = 0; got < most; got++) {
			waiting[got].begin_ns = now(self);
			uint64_t g = group;

			for (; g > 0 && status == DCK_OK; g--) {
				status = run(context, &why);
				if (used && g > 1 && status == DCK_OK)
					status = loop_usage_add(l, used, &why);
			}
			waiting[got].end_ns = end = now(self);
			if (status != DCK_OK) {
				l->unused += group - g - 1;
				break;
			}
		}
		if (done == 0 && got > 0)
			*ret_first_ns = waiting[0].begin_ns;
		measure_samples_take(to, waiting, got, origin, per_run);
		done += got;
	}
	l->last_ns = end;
	*ret_done = done;
	return engine_answer(l->target->engine.ops, "run", status, &why, err);
}

/* Returns for how long the runs of one sample, which took wall_ns, had no processor. If no thread
 * was put on a processor during them, none has slept: what is missing in the CPU time was taken by
 * a hypervisor, which the kernel does not count as CPU time (steal time). With several threads
 * running the CPU time exceeds wall_ns, and steal is not seen. */
static double loop_lost_ns(const os_run_delays *begin, const os_run_delays *end, double wall_ns,
			   double cpu_ns)
{
	const double delay_ns = (double)(end->ns - begin->ns);

	return begin->timeslices == end->timeslices ? delay_ns + fmax(0, wall_ns - cpu_ns)
						    : delay_ns;
}

static double sample_end_ns(const measure_loop *l, const measure_samples *latency, size_t i)
{
	return (double)latency->at_ns[i] + latency->value[i] * (double)l->group;
}

size_t measure_loop_samples_after(const measure_loop *l, const measure_samples *latency,
				  double at_ns)
{
	size_t i = latency->n;

	while (i > 0 && sample_end_ns(l, latency, i - 1) > at_ns)
		i--;
	return i;
}

/* Adds the longest wait of a worker thread to earlier samples. It is counted when it ends, which
 * was after since_ns; until then the other threads may have made whole runs without this worker. So
 * samples that ended less than its length before since_ns may have met it. */
static void loop_wait_spread(const measure_loop *l, const phase_samples *to, uint64_t since_ns,
			     uint64_t wait_ns)
{
	const double since = (double)(since_ns - l->origin_ns), from = since - (double)wait_ns;
	size_t i = wait_ns > 0 ? measure_loop_samples_after(l, to->latency, from) : to->latency->n;

	for (; i < to->delay->n && (double)to->delay->at_ns[i] < since; i++)
		to->delay->value[i] += fmin(to->latency->value[i] * (double)l->group,
					    sample_end_ns(l, to->latency, i) - from) /
				       (double)l->group;
}

dck_status measure_loop_slice(measure_loop *l, phase_samples *to, uint64_t n, dck_err *err)
{
	const bool outside = l->target->engine.ops->caps & DCK_CAP_COMMAND;
	const uint64_t before_ns = l->last_ns; /* before both readings of the waits */
	uint64_t first_ns = 0, done = 0, cpu_begin, cpu_end;
	os_run_delays begin = {0}, end = {0};
	loop_usage used = {0};
	double cpu_ns, runs;
	dck_status status;

	if (measure_loop_cancelled(l))
		DCK_FAIL(err, E_CANCEL, "interrupted");
	if (one_at_a_time(l)) {
		n = 1;
		DCK_TRY(before_run(l, err));
	}
	bool known = to->delay && n == 1 && l->waited(l->waited_self, &begin);

	if (known)
		loop_wait_spread(l, to, before_ns, begin.other_ns);

	cpu_begin = outside ? 0 : measure_loop_cpu_ns(l);
	status = loop_timed(l, to->latency, n, outside ? &used : NULL, &first_ns, &done, err);
	cpu_end = outside ? 0 : measure_loop_cpu_ns(l);
	known = known && l->waited(l->waited_self, &end);
	for (uint64_t i = 0; to->delay && i < done; i++)
		measure_samples_push(to->delay, first_ns - l->origin_ns,
				     known ? loop_lost_ns(&begin, &end,
							  (double)(l->last_ns - first_ns),
							  (double)(cpu_end - cpu_begin)) /
						 (double)l->group
					   : NAN);
	if (known)
		loop_wait_spread(l, to, before_ns, end.other_ns);
	if (done > 0) {
		runs = (double)(done * l->group);
		cpu_ns = (double)(cpu_end - cpu_begin);
		l->runs += done * l->group;
		l->run_ns = (double)(l->last_ns - first_ns) / runs;
		if (outside && status == DCK_OK)
			status =
			    loop_usage_take(l, to, first_ns - l->origin_ns, &used, &cpu_ns, err);
		to->cpu_ns += cpu_ns;
		to->wall_ns += (double)(l->last_ns - first_ns);
		if (to->cpu)
			measure_samples_push(to->cpu, first_ns - l->origin_ns, cpu_ns / runs);
	}
	/* Inputs with which it ran before are not why. */
	return l->runs > 0 ? status : subject_target_failed(l->target, status, err);
}

dck_status measure_loop_settle(measure_loop *l, uint64_t pause_ns, dck_err *err)
{
	if (l->idle_ns > 0 || l->target->engine.ops->caps & DCK_CAP_COMMAND ||
	    (double)pause_ns < PAUSE_FELT * l->run_ns * (double)l->group)
		return DCK_OK;
	for (uint64_t g = l->group; g > 0; g--) {
		DCK_TRY(engine_run(l->target->engine.ops, l->target->context, err));
		l->unused++;
	}
	return DCK_OK;
}

dck_status measure_loop_gauges(measure_loop *l, bool first, dck_err *err)
{
	const uint64_t runs = l->runs + l->unused;
	const uint64_t took_ns =
	    first ? gauge_log_begin(l->gauges, runs) : gauge_log_poll(l->gauges, runs);

	return took_ns > 0 ? measure_loop_settle(l, took_ns, err) : DCK_OK;
}

dck_status measure_loop_take(measure_loop *l, phase_samples *to, uint64_t n, dck_err *err)
{
	while (n > 0) {
		const uint64_t slice = measure_loop_slice_size(l, n);

		DCK_TRY(measure_loop_slice(l, to, slice, err));
		n -= slice;
	}
	return DCK_OK;
}
