/* phases.h - the three phases of a measurement: the first run, the warm-up, and the runs that
 * count. It decides how many samples the timed loop takes, and decides when each phase ends.
 *
 *	DCK_TRY(measure_phases_init(&p, &plan, true, err));
 *	DCK_TRY(measure_phase_first_run(&p, err));
 *	DCK_TRY(measure_phase_warmup(&p, err));
 *	DCK_TRY(measure_phase_measure(&p, err));
 *	measure_phases_done(&p);
 *
 * Before the first run the caller sets p.loop: its clock and its opened target (session.h does). No
 * sample of one phase counts in another. p.ended is the rule that ended the measurement.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_PHASES_H
#define MEASURE_PHASES_H

#include "measure/loop.h"
#include "measure/plan.h"

/* The rule that ended the measurement; stop_reason.h puts it in words. */
typedef enum measure_end {
	MEASURE_END_EARLY, /* interrupted, or a run failed */
	MEASURE_END_RUNS,
	MEASURE_END_TIME,
	MEASURE_END_MAX_TIME,
	MEASURE_END_PRECISION
} measure_end;

/* One measurement in one process. */
typedef struct measure_phases {
	measure_plan plan;
	measure_loop loop;
	measure_samples warm, latency, cpu, user, system, delay;
	double *scratch;     /* for the statistics of a full store */
	phase_samples sinks; /* of the measurement */

	/* Results. */
	uint64_t first_run_ns, warmup_ns, measured_ns;
	uint64_t warmup_runs, measured_runs;
	uint64_t runs_before;	 /* runs of the loop before the measured ones */
	uint64_t measured_at_ns; /* start of the measurement, on the loop's clock */
	uint64_t single_runs;	 /* samples of one run each, followed by samples of `group` runs */
	bool has_first_run;
	bool steady_known, steady; /* auto: whether steadiness could be tested, and the result */
	uint64_t steady_runs, steady_ns; /* where it became steady */
	stat_steady verdict;
	/* auto: the start of the measurement that was cut as warm-up, because it was a plateau; 0:
	 * nothing */
	uint64_t cut_runs, cut_ns;
	double cut_ratio; /* level of the cut part over the level of the rest, minus 1 */
	measure_end ended;
	char early[48]; /* reason of an early end, a clause */
	stat_stop looks;
	uint64_t checks;   /* number of tests of the precision */
	bool group_wanted; /* the clock is too coarse for a sample, which cannot have more runs */
	double live_cost_ns;
	uint64_t live_at_ns;
	dck_progress live;
} measure_phases;

/* Allocates the stores. `hot`: touches every page now, because a page fault would disturb work in
 * this process; false for a command, whose peak memory would be masked by ours. */
dck_status measure_phases_init(measure_phases *p, const measure_plan *plan, bool hot, dck_err *err);
void measure_phases_done(measure_phases *p); /* {0} is allowed */

dck_status measure_phase_first_run(measure_phases *p, dck_err *err);
dck_status measure_phase_warmup(measure_phases *p, dck_err *err);
dck_status measure_phase_measure(measure_phases *p, dck_err *err);

#endif
