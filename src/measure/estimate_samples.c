/* estimate_samples.c - dck_estimate_samples(): the statistics of a measurement, of any samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/err.h"
#include "base/mem.h"
#include "deepclock/bench.h"
#include "deepclock/estimate.h"
#include "measure/plan.h"
#include <math.h>
#include <stdio.h>

dck_status dck_estimate_samples(const double *values, size_t n, const char *statistic, double level,
				dck_estimate *ret, dck_err *err)
{
	dck_plan asked;
	measure_plan plan;
	stat_estimate e;
	double *scratch;

	dck_plan_init(&asked);
	asked.statistic = statistic;
	DCK_TRY(measure_plan_check(&asked, &plan, err));
	if (!(level > 0 && level < 1))
		DCK_FAIL(err, E_ARG, "the level is %g: it must be between 0 and 1", level);
	plan.asked.level = level;
	for (size_t i = 0; i < n; i++)
		if (!isfinite(values[i]))
			DCK_FAIL(err, E_ARG, "value %zu is not a finite number", i);
	scratch = mem_zalloc(stat_scratch(n), sizeof *scratch);
	DCK_NEED(scratch, err, "for %zu values", n);
	measure_plan_estimate(&plan, values, n, scratch, &e);
	mem_free(scratch);
	if (!e.present)
		DCK_FAIL(err, E_ABSENT, "%s", e.why);
	if (!isfinite(e.value) || (e.has_interval && !(isfinite(e.lo) && isfinite(e.hi))))
		DCK_FAIL(err, E_LIMIT, "the values are too large to be summed: scale them");
	*ret = (dck_estimate){.value = e.value, .has_interval = e.has_interval};
	if (e.has_interval) {
		ret->lo = e.lo;
		ret->hi = e.hi;
		ret->level = e.level;
		ret->narrow = e.narrow ? stat_undercoverage_text(e.narrow) : NULL;
	}
	snprintf(ret->how, sizeof ret->how, "%s", e.has_interval ? e.how : e.why);
	return DCK_OK;
}
