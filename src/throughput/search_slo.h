/* search_slo.h - a limit on a statistic of the latency, "p99<=20ms".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_SLO_H
#define THROUGHPUT_SEARCH_SLO_H

#include "deepclock/base.h"

typedef struct search_slo {
	const char *name; /* "p99"; static */
	const char *tag;  /* "latency/p99"; static */
	double limit_ns;
	uint64_t runs; /* that the statistic's interval needs, independent ones */
	bool is_max;   /* the slowest run: it has no interval */
	bool is_upper; /* never below the median: where that breaks the limit, this does */
} search_slo;

/* STAT<=TIME with STAT one of median (p50), mean, p90, p95, p99, p999 (p99.9), max; blanks are
 * allowed and "<" is the same. E_ARG: what is wrong and what it may be. */
dck_status search_slo_parse(const char *text, search_slo *ret, dck_err *err);

#endif
