/* figures.c - the table of figures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "report/figures/figures.h"
#include "base/err.h"
#include "deepclock/unstable.h"

#include <stdio.h>
#include <string.h>

const dck_figure *const *dck_figures(size_t *ret_n)
{
	static const dck_figure *const all[] = {
	    &figure_histogram,	  &figure_ecdf,	      &figure_runs,	      &figure_medians,
	    &figure_ratios,	  &figure_ranking,    &figure_to_the_fastest, &figure_over_times,
	    &figure_over_ratios,  &figure_throughput, &figure_batch_latency,  &figure_served,
	    &figure_load_latency, &figure_trend,      &figure_mistakes,	      &figure_confusion,
	    &figure_roofline,	  &figure_icicle,     &figure_flame,	      &figure_laps,
	    &figure_steps,	  &figure_records,    &figure_records_rate};

	*ret_n = sizeof all / sizeof all[0];
	return all;
}

static dck_status no_figure(const char *name, dck_err *err)
{
	char names[512] = "timeline";
	size_t n, used = strlen(names);
	const dck_figure *const *all = dck_figures(&n);

	for (size_t i = 0; i < n && used < sizeof names; i++)
		used += (size_t)snprintf(names + used, sizeof names - used, ", %s", all[i]->name);
	DCK_FAIL(err, E_ARG,
		 "no figure is named '%.60s' (there are %s); a chart of the page is saved by "
		 "its button: deepclock view FILE",
		 name, names);
}

dck_status dck_figure_find(const char *name, const dck_record *r, const dck_timeline *t,
			   const dck_figure **ret, dck_err *err)
{
	size_t n, at = 0;
	const dck_figure *const *all = dck_figures(&n);

	while (at < n && strcmp(all[at]->name, name) != 0)
		at++;
	if (at == n && strcmp(name, "timeline") != 0)
		return no_figure(name, err);
	if (at < n ? !all[at]->has(r) : !t || t->step.n == 0)
		DCK_FAIL(err, E_ABSENT, "the record has nothing for the figure '%s'", name);
	*ret = at < n ? all[at] : NULL;
	return DCK_OK;
}
