/* profile_rows.h - aggregates the events of a profile into the operators' times, costs and roofline
 * limits.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_ROWS_H
#define PROFILE_PROFILE_ROWS_H

#include "study/cost_report/model_cost.h"
#include "study/profile/profile_pass.h"
#include "record/build.h"
#include "deepclock/machine.h"

/* Input of the rows. */
typedef struct profile_input {
	const dck_profile *profile;
	size_t runs; /* number of runs that count, the last ones; earlier runs are warm-up */
	profiler_overhead floor;
	double latency_ns, latency_lo_ns, latency_hi_ns, level;
	double observed_ns;	    /* one run under the profiler, as a mean */
	double perturbation;	    /* median run under the profiler over the median one without */
	bool parallel;		    /* operators ran concurrently */
	model_cost *model, *ran;    /* the model; the graph that the engine ran (may be the same) */
	const char *no_structure;   /* reason why the model has no operators here; NULL: it has */
	const dck_roofline *limits; /* NULL: unknown */
	const char *no_limits;	    /* reason if NULL */
} profile_input;

/* Adds ops, the metrics profile/..., facts and notes. */
dck_status profile_rows(record_builder *b, const profile_input *in, dck_err *err);

#endif
