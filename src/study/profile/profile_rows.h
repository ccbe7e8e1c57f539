/* profile_rows.h - from the events of a profile to the operators' times, costs and roofs.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROFILE_PROFILE_ROWS_H
#define PROFILE_PROFILE_ROWS_H

#include "study/cost_report/model_cost.h"
#include "study/profile/profile_pass.h"
#include "record/build.h"
#include "deepclock/machine.h"

/* What the rows are made from. */
typedef struct profile_input {
	const dck_profile *profile;
	size_t runs; /* the last so many of the profile count; those before warmed up */
	profiler_overhead floor;
	double latency_ns, latency_lo_ns, latency_hi_ns, level;
	double observed_ns;	    /* one run under the profiler, as a mean */
	double perturbation;	    /* median run under the profiler over the median one without */
	bool parallel;		    /* operators ran side by side */
	model_cost *model, *ran;    /* the model; the graph that the engine ran (may be the same) */
	const dck_roofline *limits; /* NULL: not known */
	const char *no_limits;	    /* why */
} profile_input;

/* Adds ops, the metrics profile/..., facts and notes. */
dck_status profile_rows(record_builder *b, const profile_input *in, dck_err *err);

#endif
