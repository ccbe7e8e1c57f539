/* zone_percentiles.h - the requested percentiles of the calls of each name: --percentiles.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_ZONE_PERCENTILES_H
#define TIMELINE_ZONE_PERCENTILES_H

#include "deepclock/base.h"

#include <stdbool.h>
#include <stddef.h>

enum { ZONE_PERCENTILES_MAX = 8 };

typedef struct zone_percentiles {
	double p[ZONE_PERCENTILES_MAX];
	size_t n;
} zone_percentiles; /* {0}: none */

/* Parses "p50,p90,p99.9", "median"; NULL or "": none. The result is sorted and without duplicates.
 * E_ARG: a value is outside p50 to p99.99, or there are too many. */
dck_status zone_percentiles_read(const char *text, zone_percentiles *ret, dck_err *err);
/* Returns the name of a p in 0..1, such as "p99.9". */
const char *zone_percentile_name(double p, char to[16]);

#endif
