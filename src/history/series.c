/* series.c - points of a metric, and where their level changes; and all series of a history.
 *
 * series_each() runs one query, which returns all rows of one series after the other.
 *
 * ALARMS bounds the chance of a false change in a series without one that is tested again and again
 * as it grows. The residuals' lag-1 autocorrelation is tested at one-sided 5 % by its standard
 * error 1 / sqrt(n) (Bartlett, J. R. Statist. Soc. Supplement 8, 1946).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "base/err.h"
#include "base/units.h"
#include "record/record_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define ALARMS 0.05
/* Time and memory of a series are bounded by its rows. */
#define ROWS_MAX 2000

dck_status series_row_add(series_rows *all, const series_row *row, dck_err *err)
{
	if (!mem_reserve(&all->row, &all->capacity, all->n + 1, sizeof *all->row))
		return ERR_NO_MEMORY(err, "for a trend of %zu records", all->n);
	all->row[all->n++] = *row;
	return DCK_OK;
}

/* Returns the half-width of the mean of k rows by their own intervals; 0: one has none. */
static double rows_half(const series_row *rows, size_t k)
{
	double squares = 0;

	for (size_t i = 0; i < k; i++) {
		const double half = (rows[i].hi - rows[i].lo) / 2;

		if (!(rows[i].level > 0))
			return 0;
		squares += half * half;
	}
	return sqrt(squares) / (double)k;
}

/* Makes the point of k records: their mean and Student's t interval, as for separate processes. It
 * is at least as wide as the records' own intervals make it: on a clock's grid values may be equal.
 * values: all k of the group. */
static void point_fold(const series_row *rows, const double *values, size_t k, dck_history_point *p)
{
	const series_row *newest = &rows[k - 1];
	const double half = rows_half(rows, k);
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
	stat_processes(values, k, SERIES_LEVEL, &e);
	p->value = e.value;
	p->lo = fmin(e.lo, e.value - half);
	p->hi = fmax(e.hi, e.value + half);
	p->level = e.has_interval ? e.level : 0;
}

/* values: capacity for all rows. Returns the number of points. */
static size_t points_make(const series_rows *all, double *values, dck_history_point *points)
{
	size_t n = 0;

	for (size_t i = 0, end; i < all->n; i = end) {
		for (end = i; end < all->n && all->row[end].group == all->row[i].group; end++)
			values[end] = all->row[end].value;
		point_fold(&all->row[i], values + i, end - i, &points[n++]);
	}
	return n;
}

/* Finds the autocorrelation of the points minus their levels, or their line. For independent points
 * it is about normal with standard deviation 1 / sqrt(n) (Bartlett 1946); 1.645 deviations are
 * exceeded by chance once in 20. */
static void correlation_find(dck_history_trend *t, const stat_change *found, size_t n,
			     double *values)
{
	size_t k = 0;

	for (size_t i = 0; i < t->n && n > 0; i++) {
		if (found[0].at == 0) { /* a drift */
			values[i] -=
			    (found[0].after - found[0].before) * (double)i / (double)(t->n - 1);
			continue;
		}
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
			    arena, "a test for changes needs %d points or more; there %s %zu",
			    STAT_CHANGE_MIN, COUNTED(t->n, "is", "are"), t->n);
		else
			changes_find(t, values, scratch, changes, ret_alarms);
	}
	mem_free(values);
	mem_free(scratch);
	if (!made || mem_arena_failed(arena))
		return ERR_NO_MEMORY(err, "for a trend of %zu records", all->n);
	return DCK_OK;
}

/* --- all series */

int series_text_order(const char *a, const char *b)
{
	return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

int series_texts_order(const char *const *a, const char *const *b, size_t n)
{
	int order = 0;

	for (size_t i = 0; order == 0 && i < n; i++)
		order = series_text_order(a[i], b[i]);
	return order;
}

/* The columns of the query; those before UNIT identify a series. */
enum { SUBJECT, VERB, MACHINE, METHOD, TAG, UNIT, CPU, ENGINE, ID, COMMIT, AT, VALUE };

/* The series that is read, its key, and whether its metric has a better direction. */
typedef struct reading {
	series of;
	const char *key[UNIT];
	bool judged;
} reading;

static dck_status series_open(reading *r, history_statement *row, dck_err *err)
{
	const dck_metric_def *def;
	series *s = &r->of;
	mem_arena *a = mem_arena_new(0);

	DCK_NEED(a, err, "for the series");
	s->arena = a;
	for (int i = 0; i < UNIT; i++)
		r->key[i] = mem_arena_dup(a, history_text(row, i));
	s->subject = r->key[SUBJECT];
	s->verb = r->key[VERB];
	s->machine = r->key[MACHINE];
	s->method = r->key[METHOD];
	s->cpu = mem_arena_dup(a, history_text(row, CPU));
	s->engine = mem_arena_dup(a, history_text(row, ENGINE));
	DCK_NEED(!mem_arena_failed(a), err, "for the series");
	def = record_find_def(r->key[TAG], a);
	r->judged = def && def->better != DCK_BETTER_NEITHER;
	if (r->judged)
		s->metric = *def;
	if (r->judged && history_text(row, UNIT))
		record_find_unit(history_text(row, UNIT), &s->metric.unit);
	DCK_NEED(!mem_arena_failed(a), err, "for the series");
	return DCK_OK;
}

static void series_close(reading *r)
{
	r->of.rows.n = 0;
	mem_arena_free(r->of.arena);
	r->of.arena = NULL;
}

static dck_status series_row_read(reading *r, history_statement *row, dck_err *err)
{
	series *s = &r->of;
	const series_row next = {.id = mem_arena_dup(s->arena, history_text(row, ID)),
				 .commit = mem_arena_dup(s->arena, history_text(row, COMMIT)),
				 .at = history_int(row, AT),
				 .value = history_real(row, VALUE)};

	DCK_NEED(!mem_arena_failed(s->arena), err, "for the series");
	return series_row_add(&s->rows, &next, err);
}

/* Takes a row; the first one of another series ends the one before. row NULL: the end. */
static dck_status series_step(reading *r, history_statement *row,
			      dck_status (*each)(void *self, series *s, dck_err *err), void *self,
			      dck_err *err)
{
	bool same = row && r->of.arena;

	for (int i = 0; same && i < UNIT; i++)
		same = series_text_order(r->key[i], history_text(row, i)) == 0;
	if (!same) {
		if (r->of.rows.n > 0)
			DCK_TRY(each(self, &r->of, err));
		series_close(r);
		if (!row)
			return DCK_OK;
		DCK_TRY(series_open(r, row, err));
	}
	return r->judged && r->of.rows.n < ROWS_MAX ? series_row_read(r, row, err) : DCK_OK;
}

dck_status series_each(dck_history *h, const history_where *w, const char *tag,
		       const char *const *commits,
		       dck_status (*each)(void *self, series *s, dck_err *err), void *self,
		       dck_err *err)
{
	char sql[1400];
	history_statement *row;
	reading r = {0};
	dck_status status = DCK_OK;

	snprintf(
	    sql, sizeof sql,
	    "SELECT subject, verb, machine, method, tag, unit, cpu, engine, id, commit_id, at, "
	    "value FROM records JOIN metrics ON metrics.seq = records.seq %s %s incomplete = 0 "
	    "%s %s ORDER BY subject, verb, machine, method, tag, at DESC, records.seq DESC",
	    w->sql, w->sql[0] ? "AND" : "WHERE", tag ? "AND tag = :tag" : "",
	    commits ? "AND (substr(commit_id, 1, length(:old)) = :old OR "
		      "substr(commit_id, 1, length(:new)) = :new)"
		    : "");
	DCK_TRY(history_prepare_many(h, sql, &row, "read", err));
	history_where_bind(w, row);
	history_bind_text(row, ":tag", tag);
	history_bind_text(row, ":old", commits ? commits[0] : NULL);
	history_bind_text(row, ":new", commits ? commits[1] : NULL);
	while (history_next(row, &status, err))
		status = series_step(&r, row, each, self, err);
	history_finalize(row);
	DCK_NEXT(status, series_step(&r, NULL, each, self, err));
	series_close(&r);
	mem_free(r.of.rows.row);
	return status;
}
