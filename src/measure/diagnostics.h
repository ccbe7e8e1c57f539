/* diagnostics.h - data-quality checks of a measurement: each that fires adds a note with a stable
 * code, its cause and a fix. 'deepclock help notes' lists the codes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_DIAGNOSTICS_H
#define MEASURE_DIAGNOSTICS_H

#include "measure/phases.h"
#include "os/os.h"
#include "record/build.h"
#include "record/others.h"

/* Input of the checks: the caller chooses the samples and describes them. */
typedef struct measure_evidence {
	const measure_samples *samples;
	const stat_estimate *median; /* of the samples */
	const stat_estimate *asked;  /* NULL: the caller checks itself for too few samples */
	bool imprecise;		     /* the requested precision was not reached */
	double level, precision;     /* requested */
	uint64_t runs, wall_ns;	     /* of the measurement */
	os_usage before, after;	     /* around it */
	const record_others *others; /* that used the machine during the measurement */
	double undisturbed;	     /* share of the runs; NaN: not known */
	bool threads;		     /* the subject has --threads */
	/* Remedies of the command: "--max-time"; and whether it has --processes. */
	const char *longer;
	bool processes;
	const os_host *host;
	/* The warm-up before the measurement. */
	bool has_first_run, steady_asked, steady_known, steady;
	uint64_t first_run_ns, warmup_ns, warmup_runs;
	uint64_t cut_runs, cut_ns;
	double cut_ratio;
	stat_steady verdict;
	/* The clock, and the samples. */
	const dck_clock *clock;
	uint64_t group;	   /* runs in a sample */
	bool group_asked;  /* by the user */
	bool group_wanted; /* a sample needs more runs and cannot have them */
	double *scratch;   /* stat_scratch() of the samples */
} measure_evidence;

/* Returns the evidence common to every choice of samples: plan, warm-up and clock. */
measure_evidence diagnostics_evidence(const measure_phases *p, const os_host *host);

void diagnostics_notes(record_builder *b, const measure_evidence *e);

/* Writes by how much a reading of the clock may be wrong, the cost or the tick, whichever is
 * greater: "reading the clock takes 20 ns". Returns text. */
const char *diagnostics_clock(const dck_clock *c, char *text, size_t size);

#endif
