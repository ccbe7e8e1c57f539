/* profile_notes.c - the facts and notes about a profile, and the row of the time between operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "study/profile/profile_notes.h"
#include "base/units.h"
#include <math.h>

void profile_facts_put(const profile_input *in, double scale, record_builder *b)
{
	record_fact_int(b, "profile", "runs", DCK_UNIT_ONE,
			(int64_t)(in->profile->nruns < in->runs ? in->profile->nruns : in->runs));
	record_fact_real(b, "profile", "floor", DCK_UNIT_NS, in->floor.inside_ns);
	record_fact_real(b, "profile", "cost_per_operator", DCK_UNIT_NS, in->floor.around_ns);
	record_fact_real(b, "profile", "run_observed", DCK_UNIT_NS, in->observed_ns);
	record_fact_real(b, "profile", "scale", DCK_UNIT_ONE, scale);
	record_fact_real(b, "profile", "resolution", DCK_UNIT_NS,
			 (double)in->profile->resolution_ns);
	record_fact_text(
	    b, "profile", "method",
	    profile_of_device(in)
		? "mean of the profiled runs, the slowest twentieth cut back, of the time "
		  "that an operator's kernels and copies took on the device"
		: "mean of the profiled runs, the slowest twentieth cut back, "
		  "less the profiler's floor per operator, scaled to the latency without the profiler");
}

void profile_rest_put(const profile_input *in, double ns, record_builder *b)
{
	dck_value none = {.kind = DCK_VALUE_INT};
	dck_op rest = {.name = "(between operators)",
		       .type = profile_of_device(in) ? "(no kernel)" : "(engine)",
		       .macs = none,
		       .flops = none,
		       .params = none,
		       .weight_bytes = none,
		       .read_bytes = none,
		       .write_bytes = none,
		       .time_ns = RECORD_REAL(ns),
		       .rate = RECORD_ABSENT("it computes nothing"),
		       .roof = RECORD_ABSENT("it computes nothing")};
	record_op(b, &rest);
}

void profile_notes(const profile_input *in, const profile_gains *gains, double explained,
		   size_t above, const char *first_above, record_builder *b)
{
	const bool device = profile_of_device(in);

	/* The other answers need the time of an operator. */
	if (!device && gains->n && !(explained > 0))
		record_answer(b, "no operator's time shows: each takes less than recording it, %s",
			      UNITS_TIME(in->floor.inside_ns));
	if (above)
		record_note(
		    b, "above-roof",
		    "the rate of %zu %s, '%s' first, would be above this machine's limit, "
		    "and is not shown: %s near the profiler's resolution, %s "
		    "less than by %s definition, or the limits were measured on a busy machine "
		    "('deepclock machine --refresh')",
		    above, COUNTED(above, "operator", "operators"), first_above,
		    COUNTED(above, "its time is", "their time is"),
		    COUNTED(above, "it computes", "they compute"), COUNTED(above, "its", "their"));
	if (in->profile->flags & DCK_PROFILE_TRUNCATED)
		record_note(
		    b, "profile-truncated",
		    "the engine lost events of its profile; runs that miss any are left out");
	if (in->parallel)
		record_note(b, "operators-overlap",
			    "operators ran side by side: their times are shares of the work, "
			    "not of the latency");
	if (device && explained < 0.5)
		record_note(
		    b, "enqueue-bound",
		    "in %.0f %% of a run no kernel is at work: the device waits for the host "
		    "to enqueue the next operator",
		    100 * (1 - explained));
	/* What the profiler costs the host is in no time of a device. */
	if (in->perturbation < 0.9 && !device)
		record_note(
		    b, "profile-faster",
		    "a run took %.2f times as long under the profiler as without it: the machine was slower while the latency was measured; shares refer to the profiled runs, and times and rates are stretched with them",
		    in->perturbation);
	if (in->perturbation > 1.5 && !device)
		record_note(
		    b, "profile-perturbs",
		    "under the profiler a run takes %.1f times as long: for operators below "
		    "%.0f \u00b5s the error of the time is as large as a good part of it",
		    in->perturbation, ceil(3 * fmax(in->floor.inside_ns, 1000) / 1000));
	profile_gain_far(gains, b);
	profile_gain_worth(gains, b);
}
