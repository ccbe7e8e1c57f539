/* diagnostics.h - every reason to doubt a measurement becomes a note with a stable code, its cause
 * and its remedy. 'deepclock help notes' lists the codes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_DIAGNOSTICS_H
#define MEASURE_DIAGNOSTICS_H

#include "measure/ending.h"
#include "os/os.h"
#include "record/build.h"

/* What the doubts look at beside the samples. */
typedef struct measure_evidence {
	const measure_phases *phases;
	const measure_ending *ending; /* NULL: no precision was asked for */
	const os_host *host;
	os_usage before, after;		/* around the measurement */
	double prepare_cpu_ns;		/* of --prepare meanwhile */
	const stat_estimate *estimates; /* [STAT_ESTIMATORS + 1], as measure_results() */
} measure_evidence;

void diagnostics_notes(record_builder *b, const measure_evidence *e, double *scratch);

#endif
