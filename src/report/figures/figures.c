/* figures.c - the table of figures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"

const dck_figure *const *dck_figures(size_t *ret_n)
{
	static const dck_figure *const all[] = {
	    &figure_histogram,	  &figure_ecdf,	      &figure_runs,	      &figure_medians,
	    &figure_ratios,	  &figure_ranking,    &figure_to_the_fastest, &figure_over_times,
	    &figure_over_ratios,  &figure_throughput, &figure_batch_latency,  &figure_served,
	    &figure_load_latency, &figure_trend,      &figure_mistakes,	      &figure_confusion,
	    &figure_roofline,	  &figure_icicle,     &figure_flame,	      &figure_laps,
	    &figure_steps};

	*ret_n = sizeof all / sizeof all[0];
	return all;
}
