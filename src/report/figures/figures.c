/* figures.c - the table of figures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"

const dck_figure *const *dck_figures(size_t *ret_n)
{
	static const dck_figure *const all[] = {
	    &figure_histogram, &figure_runs,  &figure_roofline, &figure_throughput,
	    &figure_icicle,    &figure_flame, &figure_laps};

	*ret_n = sizeof all / sizeof all[0];
	return all;
}
