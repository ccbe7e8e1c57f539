/* phases.c - the phases of a measurement: first run, warm-up until steady, sequential stopping.
 *
 * The loop (loop.c) takes samples in slices; every decision is made between slices, where no clock
 * runs. docs/reference/methods.md has the rules and their measured coverage.
 *
 * - Group: after at most PROBE_RUNS single runs group_choose() sets the runs of a sample, so that
 * reading the clock takes about CLOCK_SHARE_GOAL of it. - Warm-up (auto): stat_steady_check()
 * (MSER, White 1997) tests the trace at numbers of samples that grow by WARMUP_GROWTH, so that all
 * tests cost at most eight times the last one. - Measurement: it ends after N runs, after a time,
 * or when stat_stop_look() has found the interval precise in consecutive looks, at sample counts of
 * stat_stop_next(). - Plateau: an initial level that was classified as steady is detected later and
 * cut, once, in whole slices: its samples move to the warm-up, its CPU and wall time are
 * subtracted.
 *
 * Sample stores and scratch are allocated before the first run. No sample is in both warm and
 * latency. After a pause for statistics that is long enough to affect the next run,
 * measure_loop_settle() makes uncounted runs, because caches cool. The thread that measures runs
 * all of it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/phases.h"
#include "base/err.h"
#include "base/observer.h"
#include "base/sink.h"
#include "measure/device_gauges.h"
#include "os/os.h"
#include <math.h>
#include <string.h>

#define WARM_KEEP 65536
/* Runs are grouped when reading the clock takes more than the first share of one, so that it takes
 * the second. */
#define CLOCK_SHARE_MAX	 0.01
#define CLOCK_SHARE_GOAL 0.001
#define PROBE_RUNS	 20
#define PROBE_NS	 50000000u
/* A steady state found sooner than this does not cover CPU frequencies that ramp up. */
#define WARMUP_NS_MIN	250000000u
#define WARMUP_RUNS_MIN 10
#define WARMUP_GROWTH	1.15
/* With fewer samples than this a group is made smaller when the number of runs or the time is
 * limited. */
#define SAMPLES_WANTED 50
/* Where single runs are shorter than a tick of the clock, several are timed together: twice as many
 * until they take COARSE_TICKS, or are the most. */
#define RUN_NS_LEAST	0.1
#define COARSE_TICKS	10
#define COARSE_RUNS_MAX (UINT64_C(1) << 20)
#define LIVE_NS		250000000u

dck_status measure_phases_init(measure_phases *p, const measure_plan *plan, bool hot, dck_err *err)
{
	const size_t keep = (size_t)plan->asked.keep;
	const size_t most = keep > WARM_KEEP ? keep : WARM_KEEP;

	memset(p, 0, sizeof *p);
	p->plan = *plan;
	p->live = progress_indeterminate("");
	DCK_TRY(measure_samples_init(&p->warm, WARM_KEEP, hot, err));
	DCK_TRY(measure_samples_init(&p->latency, keep, hot, err));
	DCK_TRY(measure_samples_init(&p->cpu, keep, false, err));
	DCK_TRY(measure_samples_init(&p->user, keep, false, err));
	DCK_TRY(measure_samples_init(&p->system, keep, false, err));
	DCK_TRY(measure_samples_init(&p->delay, keep, false, err));
	p->scratch = os_pages_reserve(stat_scratch(most) * sizeof *p->scratch);
	DCK_NEED(p->scratch, err, "for the statistics of %zu samples", most);
	p->sinks = (phase_samples){
	    .latency = &p->latency, .cpu = &p->cpu, .user = &p->user, .system = &p->system};
	return DCK_OK;
}

void measure_phases_done(measure_phases *p)
{
	const size_t most = p->plan.asked.keep > WARM_KEEP ? (size_t)p->plan.asked.keep : WARM_KEEP;

	os_pages_free(p->scratch, stat_scratch(most) * sizeof *p->scratch);
	measure_samples_done(&p->warm);
	measure_samples_done(&p->latency);
	measure_samples_done(&p->cpu);
	measure_samples_done(&p->user);
	measure_samples_done(&p->system);
	measure_samples_done(&p->delay);
	memset(p, 0, sizeof *p);
}

static uint64_t phases_now(const measure_phases *p)
{
	return p->loop.clock->now_ns(p->loop.clock->self);
}

/* --- the live view */

/* total 0: the number of runs is not known. */
static void live_send(measure_phases *p, const char *phase, uint64_t runs, uint64_t total,
		      uint64_t elapsed_ns)
{
	p->live.phase = phase;
	p->live.runs = runs;
	p->live.runs_total = total;
	p->live.elapsed_ns = elapsed_ns;
	observer_show(p->loop.watch, &p->live);
}

/* Returns whether there is an observer whose view is older than LIVE_NS. */
static bool live_due(const measure_phases *p)
{
	return p->loop.watch && p->loop.watch->progress &&
	       p->loop.last_ns - p->live_at_ns >= LIVE_NS;
}

static void live_estimate(measure_phases *p, const stat_estimate *e)
{
	p->live.estimate_ns = e->present ? e->value : NAN;
	p->live.lo_ns = e->has_interval ? e->lo : NAN;
	p->live.hi_ns = e->has_interval ? e->hi : NAN;
}

/* --- first run */

dck_status measure_phase_first_run(measure_phases *p, dck_err *err)
{
	phase_samples sinks = {.latency = &p->warm};

	if (p->plan.warmup == MEASURE_WARMUP_RUNS && p->plan.warmup_amount == 0)
		return DCK_OK;
	live_send(p, "first run", 0, 0, 0);
	p->loop.group = 1;
	DCK_TRY(measure_loop_slice(&p->loop, &sinks, 1, err));
	p->first_run_ns = (uint64_t)p->warm.value[0];
	p->has_first_run = true;
	live_send(p, "warm-up", 1, 0, p->first_run_ns); /* a run that hangs now is not the first */
	return DCK_OK;
}

/* --- warm-up */

/* Where no change is shown in a warm-up that takes most of what several starts may take, they show
 * more than a longer warm-up in one: noise would hide a change in that too. */
#define STARTS_PART 0.8
static bool is_left_to_starts(const measure_phases *p)
{
	double share;

	if (p->plan.starts < 2 || !p->steady_known || !p->verdict.noisy)
		return false;
	share = measure_starting_share((double)(p->loop.last_ns - p->loop.origin_ns),
				       p->plan.asked.max_time_ns);
	return share >= STARTS_PART * MEASURE_STARTING_SHARE && share <= MEASURE_STARTING_SHARE;
}

/* Where the time is that of the whole command, starting has half of it, and the warm-up half of
 * that, however long opening takes. */
static bool is_left_to_measuring(const measure_phases *p, uint64_t elapsed_ns)
{
	const double half = MEASURE_STARTING_SHARE * (double)p->plan.whole_ns;

	return half > 0 && (double)(p->loop.last_ns - p->loop.origin_ns) >= half &&
	       (double)elapsed_ns >= MEASURE_STARTING_SHARE * half;
}

static bool warmup_enough(const measure_phases *p, uint64_t elapsed_ns)
{
	switch (p->plan.warmup) {
	case MEASURE_WARMUP_RUNS:
		return p->loop.runs >= p->plan.warmup_amount;
	case MEASURE_WARMUP_TIME:
		return elapsed_ns >= p->plan.warmup_amount;
	case MEASURE_WARMUP_AUTO:
		return p->steady || elapsed_ns >= measure_plan_max_warmup(&p->plan.asked) ||
		       is_left_to_starts(p) || is_left_to_measuring(p, elapsed_ns);
	}
	return true;
}

static uint64_t warmup_left(const measure_phases *p)
{
	uint64_t left;

	if (p->plan.warmup != MEASURE_WARMUP_RUNS)
		return UINT64_MAX;
	left = p->plan.warmup_amount - p->loop.runs;
	return left > p->loop.group ? left / p->loop.group : 1;
}

/* Each run needs work before it, so runs stay single. */
static bool group_is_one(const measure_phases *p)
{
	return p->loop.idle_ns > 0 || p->loop.target->pool > 1 || p->loop.target->prepare;
}

/* Returns the maximum time, or 0 if exact runs or an exact time end the measurement. */
static uint64_t max_time_ns(const dck_plan *asked)
{
	const bool exact = asked->time_ns > 0 || (asked->runs > 0 && !asked->max_time_given);

	return exact ? 0 : asked->max_time_ns;
}

/* Chooses the runs of a sample, each of run_ns, from the cost and the tick of the clock. */
static void group_choose(measure_phases *p, double run_ns)
{
	const double clock_ns = fmax(p->loop.clock->cost_ns, p->loop.clock->tick_ns);
	const dck_plan *asked = &p->plan.asked;
	const double limit_ns = (double)(asked->time_ns > 0 ? asked->time_ns : max_time_ns(asked));
	double group;

	if (asked->group > 0) {
		p->loop.group = asked->group;
		p->group_wanted = clock_ns > CLOCK_SHARE_MAX * run_ns * (double)p->loop.group;
		return;
	}
	p->loop.group = 1;
	if (clock_ns <= CLOCK_SHARE_MAX * run_ns)
		return;
	if (group_is_one(p)) {
		p->group_wanted = true;
		return;
	}
	group = ceil(clock_ns / (CLOCK_SHARE_GOAL * run_ns));
	if (asked->runs > 0)
		group = fmin(group, fmax(1, floor((double)asked->runs / SAMPLES_WANTED)));
	if (limit_ns > 0)
		group = fmin(group, fmax(1, floor(limit_ns / SAMPLES_WANTED / run_ns)));
	p->loop.group = (uint64_t)group;
	p->group_wanted = clock_ns > CLOCK_SHARE_MAX * run_ns * group;
}

/* Finds the time of a run that a tick of the clock is longer than, by runs that are not counted. */
static dck_status coarse_run_find(measure_phases *p, double *ret_ns, dck_err *err)
{
	const double tick_ns = p->loop.clock->tick_ns;

	for (uint64_t n = PROBE_RUNS;; n *= 2) {
		const uint64_t begin_ns = phases_now(p);

		for (uint64_t i = 0; i < n; i++) {
			if (measure_loop_cancelled(&p->loop))
				DCK_FAIL(err, E_CANCEL, "interrupted");
			DCK_TRY(
			    engine_run(p->loop.target->engine.ops, p->loop.target->context, err));
			p->loop.unused++;
		}
		p->loop.last_ns = phases_now(p);
		const double took_ns = (double)(p->loop.last_ns - begin_ns);
		if ((took_ns > 0 && took_ns >= COARSE_TICKS * tick_ns) || n >= COARSE_RUNS_MAX) {
			*ret_ns = fmax(RUN_NS_LEAST, fmax(took_ns, tick_ns) / (double)n);
			return DCK_OK;
		}
	}
}

static dck_status phases_probe(measure_phases *p, uint64_t begin_ns, dck_err *err)
{
	phase_samples sinks = {.latency = &p->warm};
	double run_ns;

	for (int i = 1; i < PROBE_RUNS && p->loop.last_ns - begin_ns < PROBE_NS; i++) {
		if (warmup_enough(p, p->loop.last_ns - begin_ns))
			break;
		DCK_TRY(measure_loop_slice(&p->loop, &sinks, 1, err));
	}
	p->single_runs = p->warm.pushed;
	run_ns = fmax(p->warm.min, RUN_NS_LEAST);
	if ((p->warm.min <= 0 || p->warm.min < p->loop.clock->tick_ns) &&
	    p->plan.asked.group == 0 && !group_is_one(p))
		DCK_TRY(coarse_run_find(p, &run_ns, err));
	group_choose(p, run_ns);
	return DCK_OK;
}

static void steady_judge(measure_phases *p, uint64_t begin_ns)
{
	stat_steady_check(p->warm.value, p->warm.n, WARMUP_RUNS_MIN, p->scratch, &p->verdict);
	p->steady_known = true;
	/* The runs may take the same time until a falling clock is felt; then it is the cause. */
	char *evidence = p->verdict.evidence, text[sizeof p->verdict.evidence];
	const gauge_clock clock = gauge_log_clock(p->loop.gauges, text, sizeof text);
	if (clock != GAUGE_CLOCK_LEVEL && p->verdict.steady)
		memcpy(evidence, text, sizeof text);
	else if (clock == GAUGE_CLOCK_FALLING)
		text_add(evidence, sizeof text, ", and %s", text);
	p->steady = p->verdict.steady && clock == GAUGE_CLOCK_LEVEL;
	if (p->steady) {
		/* Single probe runs precede the groups. */
		const uint64_t samples = p->verdict.first * p->warm.stride,
			       singles = samples < p->single_runs ? samples : p->single_runs;

		p->steady_runs = singles + (samples - singles) * p->loop.group;
		p->steady_ns = p->warm.at_ns[p->verdict.first] + p->loop.origin_ns - begin_ns;
	}
}

dck_status measure_phase_warmup(measure_phases *p, dck_err *err)
{
	phase_samples sinks = {.latency = &p->warm};
	uint64_t next_check = WARMUP_RUNS_MIN;
	uint64_t begin_ns, elapsed_ns = 0;
	dck_status status;

	if (!p->has_first_run) {
		p->loop.group = p->plan.asked.group > 0 ? p->plan.asked.group : 1;
		return DCK_OK;
	}
	/* The first run is warm-up too, and so is its time. */
	begin_ns = p->loop.origin_ns + p->warm.at_ns[0];
	status = phases_probe(p, begin_ns, err);
	while (status == DCK_OK) {
		elapsed_ns = p->loop.last_ns - begin_ns;
		if (p->plan.warmup == MEASURE_WARMUP_AUTO && p->warm.pushed >= next_check &&
		    (elapsed_ns >= WARMUP_NS_MIN ||
		     elapsed_ns >= measure_plan_max_warmup(&p->plan.asked))) {
			steady_judge(p, begin_ns);
			next_check = (uint64_t)((double)p->warm.pushed * WARMUP_GROWTH) + 1;
		}
		if (warmup_enough(p, elapsed_ns))
			break;
		if (live_due(p)) {
			p->live.estimate_ns = p->loop.run_ns;
			const uint64_t total =
			    p->plan.warmup == MEASURE_WARMUP_RUNS ? p->plan.warmup_amount : 0;

			if (total > 0 && p->loop.runs > 0)
				p->live.eta_ns = (double)elapsed_ns / (double)p->loop.runs *
						 (double)(total - p->loop.runs);
			live_send(p, "warm-up", p->loop.runs, total, elapsed_ns);
			p->live_at_ns = p->loop.last_ns;
		}
		status = measure_loop_slice(&p->loop, &sinks,
					    measure_loop_slice_size(&p->loop, warmup_left(p)), err);
		DCK_NEXT(status, measure_loop_gauges(&p->loop, false, err));
	}
	if (status == DCK_OK && p->plan.warmup == MEASURE_WARMUP_AUTO && !p->steady &&
	    p->warm.n >= WARMUP_RUNS_MIN)
		steady_judge(p, begin_ns); /* the final test, on all samples */
	p->warmup_ns = p->loop.last_ns - begin_ns;
	p->warmup_runs = p->loop.runs;
	return status;
}

/* --- measurement */

/* Subtracts the CPU and wall time of the slices before the cut, and drops them. */
static void slices_drop(measure_phases *p, size_t slices)
{
	const measure_samples *s = &p->latency;
	const double group = (double)p->loop.group;

	for (size_t i = 0, k = 0; i < slices; i++) {
		const size_t from = k;

		while (k < s->n && s->at_ns[k] < p->cpu.at_ns[i + 1])
			k++;
		p->sinks.cpu_ns -= p->cpu.value[i] * (double)(k - from) * group;
		p->sinks.wall_ns -=
		    (double)(s->at_ns[k - 1] - p->cpu.at_ns[i]) + s->value[k - 1] * group;
	}
	measure_samples_drop(&p->cpu, slices);
	if (p->user.n > 0) { /* a slice is a run */
		measure_samples_drop(&p->user, slices);
		measure_samples_drop(&p->system, slices);
	}
}

/* Cuts a plateau, which cannot be distinguished from the steady state while it lasts: once, and in
 * whole slices, because CPU time is known per slice. Returns whether it was cut. */
static bool plateau_cut(measure_phases *p)
{
	measure_samples *s = &p->latency;
	stat_change step;
	size_t slices = 0, cut = 0;
	uint64_t at_ns;

	if (p->plan.warmup != MEASURE_WARMUP_AUTO || p->cut_runs > 0 || s->stride > 1 ||
	    p->cpu.stride > 1 ||
	    !stat_plateau_find(s->value, s->n, (size_t)(p->warmup_runs / p->loop.group), p->scratch,
			       &step))
		return false;
	while (slices < p->cpu.n && p->cpu.at_ns[slices] < s->at_ns[step.at])
		slices++;
	if (slices == p->cpu.n)
		return false;
	at_ns = p->cpu.at_ns[slices];
	while (s->at_ns[cut] < at_ns)
		cut++;
	slices_drop(p, slices);
	for (size_t i = 0; i < cut; i++)
		measure_samples_push(&p->warm, s->at_ns[i], s->value[i]);
	measure_samples_drop(s, cut);
	if (p->sinks.delay)
		measure_samples_drop(p->sinks.delay, cut);
	p->cut_runs = cut * p->loop.group;
	p->cut_ns = at_ns + p->loop.origin_ns - p->measured_at_ns;
	p->cut_ratio = step.before / step.after - 1;
	p->warmup_runs += p->cut_runs;
	p->warmup_ns += p->cut_ns;
	p->runs_before += p->cut_runs;
	p->measured_at_ns += p->cut_ns;
	p->looks = (stat_stop){0};
	return true;
}

/* Tests the precision; returns true when it is reached. *ret_slow: the level changes slowly. */
static bool precision_check(measure_phases *p, bool *ret_slow)
{
	const dck_plan *asked = &p->plan.asked;
	stat_estimate e;

	measure_plan_estimate(&p->plan, p->latency.value, p->latency.n, p->scratch, &e);
	p->checks++;
	live_estimate(p, &e);
	*ret_slow = e.slow;
	if (!stat_stop_look(&p->looks, &e, asked->precision))
		return false;
	p->ended = MEASURE_END_PRECISION;
	return true;
}

static uint64_t runs_measured(const measure_phases *p)
{
	return p->loop.runs - p->runs_before;
}

/* Applies the rules that need no statistic. What was cut counts towards the maximum time only. */
static bool measure_enough(measure_phases *p, uint64_t elapsed_ns)
{
	const dck_plan *asked = &p->plan.asked;

	if (asked->runs > 0 && runs_measured(p) >= asked->runs)
		p->ended = MEASURE_END_RUNS;
	else if (asked->time_ns > 0 && p->loop.last_ns - p->measured_at_ns >= asked->time_ns)
		p->ended = MEASURE_END_TIME;
	else if (max_time_ns(asked) > 0 && elapsed_ns >= max_time_ns(asked))
		p->ended = MEASURE_END_MAX_TIME;
	else if (asked->runs == 0 && asked->time_ns == 0 && asked->enough_ns > 0 &&
		 elapsed_ns >= asked->enough_ns && p->latency.pushed >= asked->min_runs) {
		p->plan.asked.max_time_ns = asked->enough_ns;
		p->ended = MEASURE_END_MAX_TIME;
	}
	return p->ended != MEASURE_END_EARLY;
}

static void live_foresee(measure_phases *p, uint64_t runs, uint64_t elapsed_ns)
{
	const dck_plan *asked = &p->plan.asked;
	const double elapsed = (double)elapsed_ns;
	double total_ns = NAN;

	if (asked->runs > 0) {
		total_ns = elapsed * (double)asked->runs / (double)(runs ? runs : 1);
		if (max_time_ns(asked) > 0)
			total_ns = fmin(total_ns, (double)max_time_ns(asked));
	} else if (asked->time_ns > 0) {
		total_ns = (double)asked->time_ns;
	} else if (p->live.hi_ns > p->live.lo_ns && p->live.estimate_ns > 0) {
		/* The interval shrinks with the square root of the runs. */
		double wide =
		    (p->live.hi_ns - p->live.lo_ns) / 2 / p->live.estimate_ns / asked->precision;

		total_ns = fmin((double)asked->max_time_ns, elapsed * fmax(1, wide * wide));
	} else {
		total_ns = (double)asked->max_time_ns;
	}
	p->live.eta_ns = fmax(0, total_ns - elapsed);
	p->live.done_ratio = total_ns > 0 ? fmin(1, elapsed / total_ns) : NAN;
}

static dck_status measure_look(measure_phases *p, bool check, uint64_t elapsed_ns, bool *ret_enough,
			       dck_err *err)
{
	const dck_plan *asked = &p->plan.asked;
	uint64_t begin_ns = phases_now(p);
	bool enough = false, slow = false;

	if (check)
		enough = precision_check(p, &slow);
	if (slow)
		plateau_cut(p);
	if (live_due(p)) {
		/* A separate estimate for the view, while estimates take a small part of the time.
		 * */
		if (!check && p->latency.n >= 5 && p->live_cost_ns < 0.02 * (double)LIVE_NS) {
			stat_estimate e;

			measure_plan_estimate(&p->plan, p->latency.value, p->latency.n, p->scratch,
					      &e);
			live_estimate(p, &e);
			p->live_cost_ns = (double)(phases_now(p) - begin_ns);
		}
		live_foresee(p, runs_measured(p), elapsed_ns);
		live_send(p, "measure", runs_measured(p), asked->runs, elapsed_ns);
		p->live_at_ns = p->loop.last_ns;
	}
	*ret_enough = enough;
	/* All this took time in which caches cool and workers go to sleep. */
	return enough ? DCK_OK : measure_loop_settle(&p->loop, phases_now(p) - begin_ns, err);
}

/* Makes the runs that are too few for another sample: N runs are N runs. Their mean is not
 * stored beside those of whole groups. Where there are none, all runs are one group. */
static dck_status runs_rest(measure_phases *p, dck_err *err)
{
	const uint64_t whole_group = p->loop.group;
	const bool alone = p->latency.pushed == 0;
	double value[2];
	uint64_t at_ns[2];
	measure_samples apart = {.value = value, .at_ns = at_ns, .cap = 2};
	phase_samples sinks = {.latency = &apart};
	dck_status status;

	measure_samples_clear(&apart);
	p->loop.group = p->plan.asked.runs - runs_measured(p);
	status = measure_loop_slice(&p->loop, alone ? &p->sinks : &sinks, 1, err);
	if (!alone)
		p->loop.group = whole_group;
	p->sinks.cpu_ns += sinks.cpu_ns;
	p->sinks.wall_ns += sinks.wall_ns;
	if (sinks.peak_rss_bytes > p->sinks.peak_rss_bytes)
		p->sinks.peak_rss_bytes = sinks.peak_rss_bytes;
	return status;
}

/* Returns the samples until the next test, or the end; 0: there are runs for a part of one. */
static uint64_t measure_left(const measure_phases *p, bool by_precision, uint64_t next_check)
{
	const dck_plan *asked = &p->plan.asked;

	if (asked->runs > 0) {
		return (asked->runs - runs_measured(p)) / p->loop.group;
	}
	if (by_precision && next_check > p->latency.pushed)
		return next_check - p->latency.pushed;
	return UINT64_MAX;
}

dck_status measure_phase_measure(measure_phases *p, dck_err *err)
{
	const dck_plan *asked = &p->plan.asked;
	const bool by_precision = asked->runs == 0 && asked->time_ns == 0;
	uint64_t next_check = asked->min_runs;
	bool enough = false;
	dck_status status = DCK_OK;

	DCK_TRY(measure_loop_gauges(&p->loop, true, err));
	const uint64_t begin_ns = phases_now(p);
	p->runs_before = p->loop.runs;
	p->loop.last_ns = p->measured_at_ns = begin_ns;
	while (status == DCK_OK && !enough) {
		const uint64_t left = measure_left(p, by_precision, next_check);
		uint64_t elapsed_ns;
		bool check;

		status = left > 0 ? measure_loop_slice(&p->loop, &p->sinks,
						       measure_loop_slice_size(&p->loop, left), err)
				  : runs_rest(p, err);
		elapsed_ns = p->loop.last_ns - begin_ns;
		if (status != DCK_OK)
			break;
		enough = measure_enough(p, elapsed_ns);
		check = !enough && by_precision && p->latency.pushed >= next_check &&
			elapsed_ns >= asked->min_time_ns;
		if (check)
			next_check = stat_stop_next(p->latency.pushed);
		if (check || (!enough && live_due(p)))
			status = measure_look(p, check, elapsed_ns, &enough, err);
		if (status == DCK_OK && !enough)
			status = measure_loop_gauges(&p->loop, false, err);
		/* After a cut the end may not be reached any more. */
		if (status == DCK_OK && enough && plateau_cut(p)) {
			next_check = asked->min_runs;
			enough = p->ended == MEASURE_END_MAX_TIME;
			if (!enough)
				p->ended = MEASURE_END_EARLY;
		}
	}
	gauge_log_end(p->loop.gauges, p->loop.runs + p->loop.unused);
	p->measured_runs = runs_measured(p);
	p->measured_ns = p->loop.last_ns - p->measured_at_ns;
	return status;
}
