/* run_delays.c - which runs were disturbed. The run delays of all threads (schedstat) are read
 * before and after each run, if both readings take at most READING_SHARE of it; a run without delay
 * is undisturbed. The weighted median of the undisturbed runs (stat/undisturbed.c) is recorded if
 * the delays of at least KNOWN_SHARE of the runs are known, and no more threads compute than there
 * are processors: threads that wait for each other are not disturbed by other programs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/run_delays.h"

#include "base/mem.h"
#include "base/units.h"
#include "measure/results.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

/* Both readings around a run take at most this share of it. */
#define READING_SHARE 0.05
#define READINGS      5
/* Threads that compute: they ran for this share of the measurement. */
#define BUSY_SHARE 0.05
/* The runs whose delay is known represent all of them if they are at least this share: runs that
 * become shorter are timed several between two readings. */
#define KNOWN_SHARE 0.5

static bool delay_read(void *self, os_run_delays *ret)
{
	return os_run_delay_read(self, ret);
}

/* Returns the minimum of several readings, because other processes can only lengthen one. */
static double reading_cost_ns(os_run_delay *d)
{
	uint64_t least = UINT64_MAX;
	os_run_delays ignored;

	for (int i = 0; i < READINGS; i++) {
		const uint64_t begin_ns = os_now_ns();

		os_run_delay_read(d, &ignored);
		const uint64_t took_ns = os_now_ns() - begin_ns;
		least = took_ns < least ? took_ns : least;
	}
	return (double)least;
}

void run_delays_begin(run_delays *u, measure_phases *p)
{
	const double sample_ns = p->loop.run_ns * (double)p->loop.group;
	dck_err err = {0};

	*u = (run_delays){0};
	if (p->plan.asked.clock)
		return;
	if (p->loop.target->engine.ops->caps & DCK_CAP_COMMAND) {
		snprintf(u->why, sizeof u->why, "the runs are other processes");
		return;
	}
	if (os_run_delay_open(&u->delay, &err) != DCK_OK) {
		snprintf(u->why, sizeof u->why, "%.150s", err.msg);
		return;
	}
	const double cost_ns = reading_cost_ns(u->delay);

	if (!(2 * cost_ns <= READING_SHARE * sample_ns)) {
		snprintf(u->why, sizeof u->why,
			 "reading how long threads waited takes %s, too long relative to %s",
			 UNITS_TIME(cost_ns),
			 sample_ns > 0 ? UNITS_TIME(sample_ns) : "a run of unknown length");
		run_delays_end(u);
		return;
	}
	p->loop.waited = delay_read;
	p->loop.waited_self = u->delay;
	p->sinks.delay = &p->delay;
}

static void undisturbed_put(record_builder *b, const stat_undisturbed *e)
{
	static const char tag[] = "latency/undisturbed";
	stat_estimate median = e->median;
	char why[160];

	record_fact_int(b, "samples", "undisturbed", DCK_UNIT_ONE, (int64_t)e->runs);
	record_fact_int(b, "samples", "undisturbed_of", DCK_UNIT_ONE, (int64_t)e->known);
	if (!median.has_interval) {
		snprintf(why, sizeof why,
			 "%zu of %zu runs had their processors to themselves: %.100s", e->runs,
			 e->known, median.why);
		record_metric_absent(b, tag, why);
		return;
	}
	snprintf(median.how, sizeof median.how,
		 "median of %zu of %zu runs in which no thread waited for a processor", e->runs,
		 e->known);
	measure_result_estimate(b, tag, &median);
}

/* Of one thread that computes: each run's time less its run delay. */
static void less_delay_put(record_builder *b, const measure_phases *p, double *scratch)
{
	double *const own = scratch;
	stat_estimate e;
	size_t k = 0;

	for (size_t i = 0; i < p->latency.n; i++)
		if (!isnan(p->delay.value[i]))
			own[k++] = p->latency.value[i] - p->delay.value[i];
	stat_estimate_one(STAT_MEDIAN, own, k, p->plan.asked.level, scratch + p->latency.n, &e);
	if (e.present)
		snprintf(e.how, sizeof e.how,
			 "median of %zu runs, less the time for which their thread waited for a "
			 "processor",
			 k);
	measure_result_estimate(b, "latency/less_run_delay", &e);
}

static void delays_absent(record_builder *b, const char *why)
{
	record_metric_absent(b, "latency/undisturbed", why);
	record_metric_absent(b, "latency/less_run_delay", why);
}

/* A wait that has not ended is not counted yet. As long before the end as the longest one, delays
 * are not known. */
static void delays_end(const run_delays *u, const measure_phases *p)
{
	os_run_delays waits;
	double end;

	if (!os_run_delay_read(u->delay, &waits) || waits.longest_ns == 0)
		return;
	end = (double)(p->loop.last_ns - p->loop.origin_ns) - (double)waits.longest_ns;
	for (size_t i = measure_loop_samples_after(&p->loop, &p->latency, end); i < p->delay.n; i++)
		p->delay.value[i] = NAN;
}

/* Estimates the median of the undisturbed ones of the runs, which took took_ns. Returns `scratch`,
 * to be freed; NULL: delays do not show which runs were disturbed, because of `why`. */
static double *delays_estimate(const run_delays *u, const measure_phases *p, uint64_t took_ns,
			       unsigned *ret_busy, stat_undisturbed *ret, char *why, size_t size)
{
	const size_t n = p->latency.n;
	const unsigned allowed = os_cpus_allowed();
	const unsigned busy = os_run_delay_busy(u->delay, (uint64_t)(BUSY_SHARE * (double)took_ns));
	size_t known = 0;
	double *scratch;

	assert(p->delay.n == n);
	delays_end(u, p);
	if (busy > allowed) {
		snprintf(why, size,
			 "%u threads computed on %u processor%s, and waited for each other", busy,
			 allowed, allowed == 1 ? "" : "s");
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		known += isnan(p->delay.value[i]) ? 0 : 1;
	if (n > 0 && (double)known < KNOWN_SHARE * (double)n) {
		snprintf(
		    why, size,
		    "of %zu runs the delays of %zu are known: the runs became too short to read "
		    "them around each",
		    n, known);
		return NULL;
	}
	scratch = mem_alloc(stat_undisturbed_scratch(n) * sizeof *scratch);
	if (!scratch) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	stat_undisturbed_estimate(p->latency.value, p->delay.value, n, p->plan.asked.level, scratch,
				  ret);
	*ret_busy = busy;
	return scratch;
}

double run_delays_median(run_delays *u, const measure_phases *p, uint64_t took_ns)
{
	stat_undisturbed e = {.median.value = NAN};
	unsigned busy;

	u->why[0] = '\0';
	mem_free(delays_estimate(u, p, took_ns, &busy, &e, u->why, sizeof u->why));
	return e.median.present ? e.median.value : NAN;
}

double run_delays_record(const run_delays *u, const measure_phases *p, record_builder *b)
{
	double *scratch;
	stat_undisturbed e;
	unsigned busy;
	char why[160];

	if (!u->delay) {
		if (u->why[0])
			delays_absent(b, u->why);
		return NAN;
	}
	scratch = delays_estimate(u, p, p->measured_ns, &busy, &e, why, sizeof why);
	if (!scratch) {
		delays_absent(b, why);
		return NAN;
	}
	undisturbed_put(b, &e);
	if (busy <= 1) {
		less_delay_put(b, p, scratch);
	} else {
		snprintf(why, sizeof why,
			 "%u threads computed, and which of them a run waited for is not known",
			 busy);
		record_metric_absent(b, "latency/less_run_delay", why);
	}
	mem_free(scratch);
	return e.known > 0 ? (double)e.runs / (double)e.known : NAN;
}

void run_delays_end(run_delays *u)
{
	os_run_delay_close(u->delay);
	u->delay = NULL;
}
