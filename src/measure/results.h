/* results.h - from samples to metrics.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_RESULTS_H
#define MEASURE_RESULTS_H

#include "measure/phases.h"
#include "record/build.h"

/* Fills estimates[STAT_ESTIMATORS + 1] (the last where the plan asks for another percentile) and
 * adds every metric of a measurement. */
void measure_results(record_builder *b, measure_phases *p, stat_estimate *estimates);

/* Every estimator of s; the extremes are of all samples, also of those that were not kept. */
void measure_result_estimates(const measure_samples *s, double level, double *scratch,
			      stat_estimate *ret);
/* An estimate as a metric: value with interval, value alone, or absent with the reason. */
void measure_result_estimate(record_builder *b, const char *tag, const stat_estimate *e);
/* What came before the measurement: opening, the first run, the warm-up. */
void measure_result_phases(record_builder *b, const measure_phases *p);
/* command_bytes: the greatest peak of a command's runs; 0: none was greater than deepclock's own.
 */
void measure_result_memory(record_builder *b, const subject_target *t, uint64_t command_bytes);

#endif
