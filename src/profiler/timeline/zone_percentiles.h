/* zone_percentiles.h - which percentiles of the calls of each name are asked for: --percentiles.
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

/* "p50,p90,p99.9", "median"; NULL or "": none. Each once, in their order. E_ARG: one is none from
 * p50 to p99.99, or there are too many. */
dck_status zone_percentiles_read(const char *text, zone_percentiles *ret, dck_err *err);
/* "p99.9", of a p in 0..1. */
const char *zone_percentile_name(double p, char to[16]);

#endif
