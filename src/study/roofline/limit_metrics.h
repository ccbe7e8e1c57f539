/* limit_metrics.h - metrics of limits from their rounds, of the processor and of devices.
 *
 * A rate is that of the fastest round, since disturbances only slow a round down; its interval ends
 * at a bound on the end point of the distribution. A time is the median.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROOFLINE_LIMIT_METRICS_H
#define ROOFLINE_LIMIT_METRICS_H

#include "record/build.h"

#define LIMIT_LEVEL 0.95

double limit_best(const double *value, unsigned n); /* NaN: no round */
/* Write the metric of n rounds, at least one. scratch: stat_scratch(n) doubles. */
void limit_rate_write(record_builder *b, const char *tag, const double *value, unsigned n,
		      const char *how);
void limit_time_write(record_builder *b, const char *tag, const double *value, unsigned n,
		      double *scratch);

#endif
