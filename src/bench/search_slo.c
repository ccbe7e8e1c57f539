/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/search_slo.h"
#include "base/err.h"
#include "base/units.h"
#include <stdio.h>
#include <string.h>

/* Runs: the fewest with which the interval of that quantile has ends at 95 % (docs/methods.md). */
static const struct {
	const char *word;
	search_slo slo;
} stats[] = {
    {"median", {.name = "median", .tag = "latency/median", .runs = 10, .is_upper = true}},
    {"p50", {.name = "median", .tag = "latency/median", .runs = 10, .is_upper = true}},
    {"mean", {.name = "mean", .tag = "latency/mean", .runs = 10}},
    {"p90", {.name = "p90", .tag = "latency/p90", .runs = 36, .is_upper = true}},
    {"p95", {.name = "p95", .tag = "latency/p95", .runs = 72, .is_upper = true}},
    {"p99", {.name = "p99", .tag = "latency/p99", .runs = 368, .is_upper = true}},
    {"p999", {.name = "p99.9", .tag = "latency/p999", .runs = 3688, .is_upper = true}},
    {"p99.9", {.name = "p99.9", .tag = "latency/p999", .runs = 3688, .is_upper = true}},
    {"max", {.name = "max", .tag = "latency/max", .runs = 10, .is_max = true, .is_upper = true}},
};

static dck_status wrong(const char *text, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "--slo is '%s': write it as STAT<=TIME, such as p99<=20ms; STAT is median, mean, "
		 "p90, p95, p99, p999 or max",
		 text);
}

dck_status search_slo_parse(const char *text, search_slo *ret, dck_err *err)
{
	const char *word = text + strspn(text, " "), *less = strchr(text, '<'), *time;
	search_slo slo = {0};
	uint64_t ns;
	size_t n;

	if (!less)
		return wrong(text, err);
	n = (size_t)(less - word);
	while (n > 0 && word[n - 1] == ' ')
		n--;
	for (size_t i = 0; i < sizeof stats / sizeof stats[0]; i++)
		if (strlen(stats[i].word) == n && strncmp(stats[i].word, word, n) == 0)
			slo = stats[i].slo;
	time = less + (less[1] == '=' ? 2 : 1);
	time += strspn(time, " ");
	if (!slo.name || units_parse_time(time, &ns, NULL) != DCK_OK || ns == 0)
		return wrong(text, err);
	slo.limit_ns = (double)ns;
	*ret = slo;
	return DCK_OK;
}
