/* figures.h - figures of records, one source file each; figures.c lists them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "deepclock/report.h"

extern const dck_figure figure_histogram, figure_runs, figure_roofline, figure_throughput,
    figure_icicle, figure_flame, figure_laps;

#endif
