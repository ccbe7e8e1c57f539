/* diagnostics.c - a table of checks on the evidence of a measurement; each may add a note.
 *
 * doubts[] runs in a fixed order, which is the order of the notes. A check reads the evidence, and
 * writes facts and notes only; thresholds are at the check that uses them. The statistics are from
 * src/stat: a regression line whose interval is corrected for autocorrelation (drift), changepoints
 * of block medians (level-changed), density from spacings (two-modes), Tukey's fences (outliers, of
 * which none is dropped). docs/reference/methods.md has their sources.
 *
 * A busy machine causes several notes at once. diagnostics_fold() makes the first cause that is
 * present the parent of the effects (record_note_set_cause()), so that a report names one cause and
 * one fix.
 *
 * e->scratch has stat_scratch(n) doubles and is reused by every check. No check reads a clock.
 * Without samples no check runs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/diagnostics.h"
#include "base/units.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A check of the evidence: it adds its note, or does nothing. */
typedef void (*doubt)(record_builder *b, const measure_evidence *e);

static double median_ns(const measure_evidence *e)
{
	return e->median->present ? e->median->value : NAN;
}

static void first_run_slow(record_builder *b, const measure_evidence *e)
{
	const double first = (double)e->first_run_ns, factor = first / median_ns(e);

	if (e->has_first_run && factor > 1.5) {
		record_note(b, "first-run-slow",
			    "the first run took %s, %.1f times the median, and is in no statistic",
			    UNITS_TIME(first), factor);
		record_remedy(b, "for a program that runs the model once it is the latency");
	}
}

static void not_steady(record_builder *b, const measure_evidence *e)
{
	if (!e->steady_asked || e->steady || !e->has_first_run)
		return;
	if (!e->steady_known) {
		record_note(b, "not-steady",
			    "warm-up ended after %.1f s and %llu %s too few to detect a "
			    "steady state",
			    (double)e->warmup_ns / 1e9, (unsigned long long)e->warmup_runs,
			    COUNTED(e->warmup_runs, "run, which is", "runs, which are"));
		record_remedy(b, "give more --max-warmup");
	} else {
		record_note(b, "not-steady",
			    "warm-up ended after %.1f s without a steady state: %s",
			    (double)e->warmup_ns / 1e9, e->verdict.evidence);
		record_remedy(
		    b, "give more --max-warmup, or find the cause (heat, clocks, caches, other "
		       "programs)");
	}
}

static void no_warmup(record_builder *b, const measure_evidence *e)
{
	if (!e->has_first_run)
		record_note(b, "no-warmup",
			    "there was no warm-up: the first, slow runs are in every statistic");
}

static void plateau(record_builder *b, const measure_evidence *e)
{
	if (e->cut_runs > 0)
		record_note(b, "plateau",
			    "the first %llu %s after warm-up, %.2g s, %s %.1f %% %s than the rest, "
			    "so that %s counted as warm-up",
			    (unsigned long long)e->cut_runs, COUNTED(e->cut_runs, "run", "runs"),
			    (double)e->cut_ns / 1e9, COUNTED(e->cut_runs, "was", "were"),
			    100 * fabs(e->cut_ratio), e->cut_ratio > 0 ? "slower" : "faster",
			    COUNTED(e->cut_runs, "it is", "they are"));
}

static void drift(record_builder *b, const measure_evidence *e)
{
	const measure_samples *s = e->samples;
	stat_drift d;

	stat_drift_find(s->value, s->n, e->level, e->scratch, &d);
	if (!isfinite(d.of_start_hi)) /* the trend starts at 0 */
		return;
	if (d.significant && fabs(d.of_start) > e->precision)
		record_note(b, "drift",
			    "the latency %s by %.1f %% [%.1f, %.1f] during the measurement",
			    d.of_start > 0 ? "rose" : "fell", 100 * fabs(d.of_start),
			    100 * (d.of_start > 0 ? d.of_start_lo : -d.of_start_hi),
			    100 * (d.of_start > 0 ? d.of_start_hi : -d.of_start_lo));
}

static void two_modes(record_builder *b, const measure_evidence *e)
{
	const measure_samples *s = e->samples;
	stat_modes m;

	stat_modes_find(s->value, s->n, e->clock->tick_ns / (double)e->group, e->scratch, &m);
	for (int i = 0; i < 2 && m.two; i++) {
		const char *at = i == 0 ? "low" : "high";
		char share[32], centre[32];

		snprintf(share, sizeof share, "mode_%s_share", at);
		snprintf(centre, sizeof centre, "mode_%s", at);
		record_fact_real(b, "samples", share, DCK_UNIT_ONE, m.share[i]);
		record_fact_real(b, "samples", centre, DCK_UNIT_NS, m.centre[i]);
	}
	if (!m.two)
		return;
	record_note(b, "two-modes",
		    "the samples fall into two groups, %.0f %% near %s and %.0f %% near %s, "
		    "between which the median can jump",
		    100 * m.share[0], UNITS_TIME(m.centre[0]), 100 * m.share[1],
		    UNITS_TIME(m.centre[1]));
	record_remedy(b, "pin with --cpus%s", e->processes ? ", repeat with --processes" : "");
}

static void outliers(record_builder *b, const measure_evidence *e)
{
	const measure_samples *s = e->samples;
	stat_outliers o;
	size_t all;

	stat_outliers_find(s->value, s->n, e->scratch, &o);
	if (!o.valid)
		return;
	all = o.low_mild + o.low_severe + o.high_mild + o.high_severe;
	record_fact_int(b, "samples", "outliers_low", DCK_UNIT_ONE,
			(int64_t)(o.low_mild + o.low_severe));
	record_fact_int(b, "samples", "outliers_high", DCK_UNIT_ONE,
			(int64_t)(o.high_mild + o.high_severe));
	record_fact_int(b, "samples", "outliers_severe", DCK_UNIT_ONE,
			(int64_t)(o.low_severe + o.high_severe));
	if ((double)all > 0.05 * (double)s->n)
		record_note(b, "outliers",
			    "%zu of %zu samples (%.1f %%) %s outliers by Tukey's fences, %zu of "
			    "them far outside; none is dropped",
			    all, s->n, 100 * (double)all / (double)s->n,
			    COUNTED(all, "is an", "are"), o.low_severe + o.high_severe);
}

static void busy_neighbours(record_builder *b, const measure_evidence *e)
{
	record_others_put(e->others, b, "samples", e->threads);
	record_others_left_put(e->others, b);
}

static void preempted(record_builder *b, const measure_evidence *e)
{
	const double runs = (double)e->runs;
	const double switches =
	    (double)(e->after.involuntary_switches - e->before.involuntary_switches);

	record_fact_real(b, "samples", "involuntary_switches_per_run", DCK_UNIT_ONE,
			 switches / runs);
	record_fact_real(b, "samples", "minor_faults_per_run", DCK_UNIT_ONE,
			 (double)(e->after.minor_faults - e->before.minor_faults) / runs);
	/* With 250 scheduler ticks per second, a run of 1 s is preempted now and then on an idle
	 * machine; threads of the kernel preempt for microseconds. */
	if (e->undisturbed >= RECORD_UNDISTURBED || !(switches / runs > 0.1) || switches < 5 ||
	    !(switches / ((double)e->wall_ns / 1e9) > 20))
		return;
	record_note(b, "preempted",
		    "the scheduler took the CPU away %.2f times a run, because more threads than "
		    "cores were busy",
		    switches / runs);
	if (!e->threads)
		record_remedy(b, "stop other programs");
}

static void governor(record_builder *b, const measure_evidence *e)
{
	if (e->host->governor[0] && strcmp(e->host->governor, "performance") != 0)
		record_note(b, "governor",
			    "the CPU frequency governor is '%s', so clocks follow the load",
			    e->host->governor);
	if (e->host->turbo == 1) {
		record_note(b, "turbo",
			    "turbo is on: clocks depend on heat and on how many cores work");
		record_remedy(b, "numbers of cold and of hot machines differ");
	}
}

static void cpu_limit(record_builder *b, const measure_evidence *e)
{
	const double throttled = (double)(e->after.throttled_ns - e->before.throttled_ns);

	if (throttled > 0.01 * (double)e->wall_ns) {
		record_note(
		    b, "cpu-throttled",
		    "the container's CPU limit stopped threads for %s, summed over the processors, in "
		    "the %s of the measurement",
		    UNITS_TIME(throttled), UNITS_TIME((double)e->wall_ns));
		record_remedy(b, "raise the limit, or use no more threads than it has cores (%.4g)",
			      e->host->cgroup_cpus);
	} else if (e->host->cgroup_cpus > 0 && e->host->cgroup_cpus < e->host->cpus_allowed)
		record_note(b, "cpu-limit",
			    "the container may use %.4g cores of the %u it sees: "
			    "more threads than that are stopped in the middle of their work",
			    e->host->cgroup_cpus, e->host->cpus_allowed);
}

static void diagnostics_too_few(record_builder *b, const measure_evidence *e)
{
	const stat_estimate *asked = e->asked;

	if (!asked)
		return;
	if (!asked->present || !asked->has_interval) {
		record_note(b, "too-few-runs",
			    "%llu run%s too few for the requested statistic and its interval (%s)",
			    (unsigned long long)e->runs, e->runs == 1 ? " is" : "s are",
			    asked->why);
		record_remedy(b, "measure longer with --max-time or --runs");
	} else if (asked->narrow > STAT_NARROW_FEW ||
		   (asked->narrow && asked->n_eff < (double)e->samples->n - 0.5)) {
		record_note(b, "too-few-runs",
			    "the interval of %zu samples is too narrow for its level, because %s",
			    e->samples->n, stat_undercoverage_text(asked->narrow));
		record_remedy(
		    b, "measure longer with --max-time or --runs, or repeat with --processes");
	}
}

static void level_changed(record_builder *b, const measure_evidence *e)
{
	const measure_samples *s = e->samples;
	stat_change steps[STAT_CHANGES_MAX], *greatest = steps;
	const size_t n = stat_steps_find(s->value, s->n, e->scratch, steps);
	char times[32] = "once";

	if (n == 0)
		return;
	for (size_t i = 1; i < n; i++)
		if (fabs(steps[i].after / steps[i].before - 1) >
		    fabs(greatest->after / greatest->before - 1))
			greatest = &steps[i];
	if (n > 1)
		snprintf(times, sizeof times, "%zu times", n);
	record_note(
	    b, "level-changed",
	    "the level of the latency changed %s during the measurement%s by %+.1f %% after "
	    "%.0f %% of the samples",
	    times, n > 1 ? ", most" : "", 100 * (greatest->after / greatest->before - 1),
	    100 * (double)greatest->at / (double)s->n);
	record_remedy(b, "measure several times longer (%s)%s", e->longer,
		      e->processes ? ", or in several processes (--processes)" : "");
}

static void diagnostics_imprecise(record_builder *b, const measure_evidence *e)
{
	if (e->imprecise) {
		record_note(b, "imprecise", "the interval is wider than --precision %g%%",
			    100 * e->precision);
		record_remedy(b, "give more --max-time, or accept it");
	}
}

const char *diagnostics_clock(const dck_clock *c, char *text, size_t size)
{
	if (c->tick_ns > c->cost_ns)
		snprintf(text, size, "a tick of the clock is %s", UNITS_TIME(c->tick_ns));
	else
		snprintf(text, size, "reading the clock takes %s", UNITS_TIME(c->cost_ns));
	return text;
}

static void timer_coarse(record_builder *b, const measure_evidence *e)
{
	char clock[64];

	diagnostics_clock(e->clock, clock, sizeof clock);
	if (e->group_wanted)
		record_note(b, "timer-coarse",
			    "%s, more than 1 %% of a sample, and more runs cannot be grouped "
			    "(--idle, --prepare, --input-pool, --group, few --runs or a short "
			    "--max-time): each sample is wrong by up to that much",
			    clock);
	else if (e->group > 1) {
		char why[128] = "";

		if (!e->group_asked)
			snprintf(why, sizeof why, "one run is too short for the clock (%s), so ",
				 clock);
		record_note(b, "grouped",
			    "%seach sample is the mean of %llu %s in a row: spread and "
			    "percentiles refer to such means, not of single runs (--group 1 times "
			    "single runs)",
			    why, (unsigned long long)e->group, COUNTED(e->group, "run", "runs"));
	}
}

static void thinned(record_builder *b, const measure_evidence *e)
{
	const measure_samples *s = e->samples;

	if (s->stride > 1)
		record_note(
		    b, "thinned",
		    "%llu samples were taken and every %lluth kept (--keep), evenly over the run: count, minimum and maximum cover all, other statistics the stored ones",
		    (unsigned long long)s->pushed, (unsigned long long)s->stride);
}

static void slow_build(record_builder *b, const measure_evidence *e)
{
	const char *sanitizer = os_sanitizer_name();

	(void)e;
	if (sanitizer)
		record_note(
		    b, "sanitizer",
		    "%s is in this process and slows it several times: build without it to measure",
		    sanitizer);
#ifndef __OPTIMIZE__
	record_note(
	    b, "debug-build",
	    "deepclock was built without optimisation: build it with -O2 to measure short work");
#endif
}

static const doubt doubts[] = {
    first_run_slow,
    no_warmup,
    not_steady,
    plateau,
    drift,
    level_changed,
    two_modes,
    outliers,
    busy_neighbours,
    preempted,
    governor,
    cpu_limit,
    diagnostics_too_few,
    diagnostics_imprecise,
    timer_coarse,
    thinned,
    slow_build,
};

/* Makes the note of a cause the parent of its effects: causes are states of the machine, effects
 * what a busy machine does to a measurement. */
static void diagnostics_fold(record_builder *b)
{
	static const char *const causes[] = {"busy-neighbours", "steal",
					     "cpu-throttled",	"preempted",
					     "device-shared",	"device-throttled"};
	static const char *const effects[] = {"preempted",    "steal",	   "not-steady",
					      "too-few-runs", "imprecise", "outliers",
					      "level-changed"};
	const char *lead = NULL;
	size_t n;

	for (size_t i = 0; i < sizeof causes / sizeof causes[0] && !lead; i++) {
		const dck_note *notes = record_notes(b, &n);
		for (size_t k = 0; k < n && !lead; k++)
			lead = strcmp(notes[k].code, causes[i]) == 0 ? causes[i] : NULL;
	}
	for (size_t i = 0; lead && i < sizeof effects / sizeof effects[0]; i++)
		if (strcmp(effects[i], lead) != 0)
			record_note_set_cause(b, effects[i], lead);
	record_note_set_cause(b, "drift", "level-changed"); /* the line was fitted through a step */
	/* Both recommend a longer measurement. */
	if (!lead)
		record_note_set_cause(b, "imprecise", "too-few-runs");
	if (!lead)
		record_note_set_cause(b, "imprecise", "not-steady");
}

measure_evidence diagnostics_evidence(const measure_phases *p, const os_host *host)
{
	return (measure_evidence){
	    .level = p->plan.asked.level,
	    .precision = p->plan.asked.precision,
	    .host = host,
	    .undisturbed = NAN,
	    .has_first_run = p->has_first_run,
	    .steady_asked = p->plan.warmup == MEASURE_WARMUP_AUTO,
	    .steady_known = p->steady_known,
	    .steady = p->steady,
	    .first_run_ns = p->first_run_ns,
	    .warmup_ns = p->warmup_ns,
	    .warmup_runs = p->warmup_runs,
	    .cut_runs = p->cut_runs,
	    .cut_ns = p->cut_ns,
	    .cut_ratio = p->cut_ratio,
	    .verdict = p->verdict,
	    .clock = p->loop.clock,
	    .group = p->loop.group,
	    .group_asked = p->plan.asked.group > 0,
	    .group_wanted = p->group_wanted,
	};
}

void diagnostics_notes(record_builder *b, const measure_evidence *e)
{
	/* Without a sample there is nothing to check. */
	for (size_t i = 0; e->samples->n > 0 && i < sizeof doubts / sizeof doubts[0]; i++)
		doubts[i](b, e);
	diagnostics_fold(b);
}
