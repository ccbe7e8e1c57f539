/* figures.h - figures of records, one source file each; figures.c lists them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "deepclock/report.h"

extern const dck_figure figure_histogram, figure_ecdf, figure_runs, figure_roofline,
    figure_throughput, figure_batch_latency, figure_icicle, figure_flame, figure_laps, figure_steps,
    figure_ranking, figure_to_the_fastest, figure_medians, figure_ratios, figure_mistakes,
    figure_over_times, figure_over_ratios, figure_served, figure_load_latency, figure_trend,
    figure_confusion, figure_records, figure_records_rate;

#endif
