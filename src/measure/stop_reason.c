/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/stop_reason.h"
#include "base/mem.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const char *stop_reason_percent(double half_ratio, double asked, char buf[32])
{
	char other[32];

	for (int digits = 3; digits <= 15; digits++) {
		mem_print(buf, 32, "%.*g", digits, 100 * half_ratio);
		mem_print(other, sizeof other, "%.*g", digits, 100 * asked);
		if (strcmp(buf, other) != 0)
			break;
	}
	return buf;
}

/* The time ran out: the message computes the precision from the printed numbers. */
static void say_max_time(const measure_phases *p, const char *half, stop_reason *ret)
{
	const double seconds = (double)p->plan.asked.max_time_ns / 1e9;
	const double asked = 100 * p->plan.asked.precision;

	if (p->plan.asked.runs > 0)
		mem_print(ret->stop, sizeof ret->stop,
			  "max-time: %.4g s passed before the %llu requested runs", seconds,
			  (unsigned long long)p->plan.asked.runs);
	else if (isnan(ret->half_ratio))
		mem_print(ret->stop, sizeof ret->stop,
			  "max-time: %.4g s passed, and there is no interval to compare with the "
			  "requested %g %%",
			  seconds, asked);
	else if (ret->imprecise)
		mem_print(ret->stop, sizeof ret->stop,
			  "max-time: %.4g s passed before the precision was reached: %s, %g %% was "
			  "requested",
			  seconds, half, asked);
	else if (p->checks == 0)
		mem_print(
		    ret->stop, sizeof ret->stop,
		    "max-time: %.4g s passed: %s, within the requested %g %%, but that is tested "
		    "only from --min-time %.4g s and --min-runs %llu on",
		    seconds, half, asked, (double)p->plan.asked.min_time_ns / 1e9,
		    (unsigned long long)p->plan.asked.min_runs);
	else
		mem_print(
		    ret->stop, sizeof ret->stop,
		    "max-time: %.4g s passed: %s, within the requested %g %%, but that was not "
		    "confirmed at three consecutive looks",
		    seconds, half, asked);
}

void stop_reason_find(const measure_phases *p, const stat_estimate *e, stop_reason *ret)
{
	const dck_plan *asked = &p->plan.asked;
	char half[120] = "", percent[32];

	*ret = (stop_reason){.half_ratio = NAN};
	if (e->present && e->has_interval && e->value > 0) {
		ret->half_ratio = (e->hi - e->lo) / 2 / e->value;
		mem_print(half, sizeof half, "half of the %g %% interval of the %s is %s %% of it",
			  100 * e->level, measure_plan_statistic(&p->plan),
			  stop_reason_percent(ret->half_ratio, asked->precision, percent));
	} else {
		snprintf(ret->why, sizeof ret->why, "%s",
			 e->present && e->has_interval ? "the statistic is not above 0" : e->why);
	}
	/* Not known is not reached. */
	ret->imprecise = p->ended == MEASURE_END_MAX_TIME && asked->runs == 0 &&
			 !(ret->half_ratio <= asked->precision);
	switch (p->ended) {
	case MEASURE_END_EARLY:
		snprintf(ret->stop, sizeof ret->stop, "%s", p->early);
		break;
	case MEASURE_END_RUNS:
		snprintf(ret->stop, sizeof ret->stop, "runs: %llu were requested",
			 (unsigned long long)asked->runs);
		break;
	case MEASURE_END_TIME:
		mem_print(ret->stop, sizeof ret->stop, "time: %g s were requested",
			  (double)asked->time_ns / 1e9);
		break;
	case MEASURE_END_MAX_TIME:
		say_max_time(p, half, ret);
		break;
	case MEASURE_END_PRECISION:
		mem_print(ret->stop, sizeof ret->stop, "precision: %s, %g %% was requested",
			  half[0] ? half : "all runs took no time that the clock can see",
			  100 * asked->precision);
		break;
	}
}
