/* diagnostics.h - every reason to doubt a measurement becomes a note with a stable code, its cause
 * and its remedy. 'deepclock help notes' lists the codes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_DIAGNOSTICS_H
#define MEASURE_DIAGNOSTICS_H

#include "measure/phases.h"
#include "os/os.h"
#include "record/build.h"
#include "record/others.h"

/* What the doubts look at: the caller chooses the samples and says what they are. */
typedef struct measure_evidence {
	const measure_samples *samples;
	const stat_estimate *median; /* of the samples */
	const stat_estimate *asked;  /* NULL: the caller says itself what is too few */
	bool imprecise;		     /* the asked precision was not reached */
	double level, precision;     /* that were asked for */
	uint64_t runs, wall_ns;	     /* of the measurement */
	os_usage before, after;	     /* around it */
	const record_others *others; /* that used the machine meanwhile */
	bool threads;		     /* what is measured has --threads */
	const os_host *host;
	/* Of the warm-up before. */
	bool has_first_run, steady_asked, steady_known, steady;
	uint64_t first_run_ns, warmup_ns, warmup_runs;
	uint64_t cut_runs, cut_ns;
	double cut_ratio;
	stat_steady verdict;
	/* How the clock and the samples go together. */
	double clock_cost_ns;
	uint64_t group;	   /* runs in a sample */
	bool group_wanted; /* more would be needed, and cannot be */
	double *scratch;   /* stat_scratch() of the samples */
} measure_evidence;

/* What is the same for every choice of samples: the plan, the warm-up, the clock. */
measure_evidence diagnostics_evidence(const measure_phases *p, const os_host *host);

void diagnostics_notes(record_builder *b, const measure_evidence *e);

#endif
