/* series.c - points of a metric, and where their level changes.
 *
 * ALARMS bounds the chance of a false change in a series without one that is tested again and again
 * as it grows. The residuals' lag-1 autocorrelation is tested at one-sided 5 % by its standard
 * error 1 / sqrt(n) (Bartlett, J. R. Statist. Soc. Supplement 8, 1946).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "base/err.h"
#include <math.h>

#define ALARMS 0.05
#define LEVEL  0.95

dck_status series_row_add(series_rows *all, const series_row *row, dck_err *err)
{
	if (all->n == all->capacity) {
		const size_t capacity = all->capacity + 1024;
		series_row *grown = mem_resize(all->row, capacity * sizeof *grown);

		if (!grown)
			return ERR_NO_MEMORY(err, "for a trend of %zu records", all->n);
		all->row = grown;
		all->capacity = capacity;
	}
	all->row[all->n++] = *row;
	return DCK_OK;
}

/* Makes the point of k records: their mean and Student's t interval, as for separate processes.
 * values: all k of the group. */
static void point_fold(const series_row *newest, const double *values, size_t k,
		       dck_history_point *p)
{
	stat_estimate e;

	*p = (dck_history_point){.id = newest->id,
				 .commit = newest->commit,
				 .at_unix_ns = newest->at,
				 .records = k,
				 .value = newest->value,
				 .lo = newest->lo,
				 .hi = newest->hi,
				 .level = newest->level};
	if (k < 2)
		return;
	stat_processes(values, k, LEVEL, &e);
	p->value = e.value;
	p->lo = e.lo;
	p->hi = e.hi;
	p->level = e.has_interval ? e.level : 0;
}

/* values: capacity for all rows. Returns the number of points. */
static size_t points_make(const series_rows *all, double *values, dck_history_point *points)
{
	size_t n = 0;

	for (size_t i = 0, end; i < all->n; i = end) {
		for (end = i; end < all->n && all->row[end].group == all->row[i].group; end++)
			values[end] = all->row[end].value;
		point_fold(&all->row[end - 1], values + i, end - i, &points[n++]);
	}
	return n;
}

/* Finds the autocorrelation of the points minus their levels. For independent points it is about
 * normal with standard deviation 1 / sqrt(n) (Bartlett 1946); 1.645 deviations are exceeded by
 * chance once in 20. */
static void correlation_find(dck_history_trend *t, const stat_change *found, size_t n,
			     double *values)
{
	size_t k = 0;

	for (size_t i = 0; i < t->n && n > 0; i++) {
		while (k < n && found[k].at <= i)
			k++;
		values[i] -= k > 0 ? found[k - 1].after : found[0].before;
	}
	t->correlation = stat_lag1(values, t->n);
	t->autocorrelated = t->correlation > 1.645 / sqrt((double)t->n);
}

/* ret_alarms: the p-value of each change over repeated looks. */
static void changes_find(dck_history_trend *t, double *values, double *scratch,
			 dck_history_change *changes, double *ret_alarms)
{
	stat_change found[STAT_CHANGES_MAX];
	size_t n;

	for (size_t i = 0; i < t->n; i++)
		values[i] = t->points[i].value;
	n = stat_change_alarms(values, t->n, ALARMS, scratch, found);
	correlation_find(t, found, n, values);
	for (size_t i = 0; i < n; i++) {
		const stat_change *c = &found[i];

		if (fabs(c->after - c->before) < t->min_change * fabs(c->before))
			continue;
		if (ret_alarms)
			ret_alarms[t->nchanges] = c->alarm;
		changes[t->nchanges++] = (dck_history_change){c->at, c->before, c->after, c->p};
	}
	t->changes = changes;
}

dck_status series_fold(const series_rows *all, double least_change, mem_arena *arena,
		       dck_history_trend *t, double *ret_alarms, dck_err *err)
{
	dck_history_point *points = mem_arena_array(arena, all->n, sizeof *points);
	dck_history_change *changes = mem_arena_array(arena, STAT_CHANGES_MAX, sizeof *changes);
	double *values = mem_zalloc(all->n + 1, sizeof *values),
	       *scratch = mem_zalloc(stat_change_scratch(all->n), sizeof *scratch);
	const bool made = values && scratch && points && changes;

	t->correlation = (double)NAN;
	t->min_change = least_change;
	if (made) {
		t->n = points_make(all, values, points);
		t->points = points;
		if (t->n < STAT_CHANGE_MIN)
			t->changes_absent = mem_arena_fmt(
			    arena, "a test for changes needs %d points or more; there are %zu",
			    STAT_CHANGE_MIN, t->n);
		else
			changes_find(t, values, scratch, changes, ret_alarms);
	}
	mem_free(values);
	mem_free(scratch);
	if (!made || mem_arena_failed(arena))
		return ERR_NO_MEMORY(err, "for a trend of %zu records", all->n);
	return DCK_OK;
}
