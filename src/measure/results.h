/* results.h - computes the metrics of a record from the samples.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_RESULTS_H
#define MEASURE_RESULTS_H

#include "measure/phases.h"
#include "record/build.h"

/* Fills estimates[STAT_ESTIMATORS + 1] (the last for another percentile of the plan) and
 * adds every metric of a measurement. */
void measure_results(record_builder *b, measure_phases *p, stat_estimate *estimates);

/* Computes every estimator of s; the extremes cover all samples, including those not stored. */
void measure_result_estimates(const measure_samples *s, double level, double *scratch,
			      stat_estimate *ret);
/* Writes a time and its interval: "1.2 ms [1.1 ms, 1.3 ms]". Returns buf. */
const char *measure_result_text(const stat_estimate *e, char buf[96]);
/* Adds an estimate as a metric: value with interval, value alone, or absent with the reason. */
void measure_result_estimate(record_builder *b, const char *tag, const stat_estimate *e);
/* Adds the metrics of the phases before the measurement: opening, the first run, the warm-up. */
void measure_result_phases(record_builder *b, const measure_phases *p);
/* Adds the memory metrics. command_bytes: the greatest peak of a command's runs; 0: no run exceeded
 * deepclock's own peak. */
void measure_result_memory(record_builder *b, const subject_target *t, uint64_t command_bytes);

#endif
