/* SPDX-License-Identifier: Apache-2.0 */
#include "throughput/search_slo.h"
#include "base/err.h"
#include "base/percentile.h"
#include "base/slo.h"
#include <string.h>

/* Runs: the fewest with which the interval of that quantile has ends at 95 %
 * (docs/reference/methods.md). */
static const struct {
	double p; /* 0: by its name */
	search_slo slo;
} stats[] = {
    {0.5, {.name = "median", .tag = "latency/median", .runs = 10, .is_upper = true}},
    {0, {.name = "mean", .tag = "latency/mean", .runs = 10}},
    {0.9, {.name = "p90", .tag = "latency/p90", .runs = 36, .is_upper = true}},
    {0.95, {.name = "p95", .tag = "latency/p95", .runs = 72, .is_upper = true}},
    {0.99, {.name = "p99", .tag = "latency/p99", .runs = 368, .is_upper = true}},
    {0.999, {.name = "p99.9", .tag = "latency/p999", .runs = 3688, .is_upper = true}},
    {0, {.name = "max", .tag = "latency/max", .runs = 10, .is_max = true, .is_upper = true}},
};

dck_status search_slo_parse(const char *text, search_slo *ret, dck_err *err)
{
	static const char known[] = "median, mean, p90, p95, p99, p999 or max";
	double p = 0;
	slo_text cut;

	DCK_TRY(slo_cut(text, known, &cut, err));
	const bool is_percentile = percentile_parse(cut.statistic, &p);

	for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++)
		if (stats[i].p > 0 ? is_percentile && percentile_is(stats[i].p, p)
				   : strcmp(stats[i].slo.name, cut.statistic) == 0) {
			*ret = stats[i].slo;
			ret->limit_ns = cut.limit_ns;
			return DCK_OK;
		}
	return slo_refuse(text, "that statistic is not known", known, err);
}
