/* alarms.c - which of all series changed, with a bound on the share of false ones.
 *
 *  1. One query returns all records' metrics, series by series, the newest record first. One series
 *     at a time is in memory (scan).
 *  2. series_close() folds it as a trend does, and keeps the changes of its level with their
 *     p-values over repeated looks.
 *  3. discoveries_find(): the series' smallest p-values pass the step-up procedure of Benjamini and
 *     Hochberg (J. R. Statist. Soc. B 57, 1995) at RATE. It holds for independent and for
 * positively dependent tests, as the metrics of one record are (Benjamini and Yekutieli, Ann.
 * Statist. 29, 2001). Of a series that passes, the newest change counts whose p-value is as small
 * as needed.
 *  4. metrics_join(): several metrics of the same records become one alarm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "history/store.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "record/record_internal.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RATE 0.05
/* Time and memory of a series are bounded by its rows. */
#define ROWS_MAX 2000

/* What the records of a series have in common; texts of the index, NULL: unknown. */
enum { SUBJECT, VERB, MACHINE, METHOD, TAG, KEYS };

/* A series whose level changed. */
typedef struct discovery {
	dck_history_alarm *changes; /* the oldest first; in the result's arena */
	size_t n;
	double p; /* the smallest of them */
} discovery;

typedef struct scan {
	dck_history_alarms alarms; /* first, so that dck_history_alarms_free() finds the scan */
	mem_arena *arena;
	const dck_history_trend_config *config;
	discovery *found;
	size_t nfound, capacity;
	/* The series that is read; texts are in its own arena. */
	mem_arena *own;
	const char *key[KEYS], *unit, *cpu, *engine;
	bool judged; /* the metric has a better direction */
	series_rows rows;
} scan;

static bool text_equal(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/* --- one series */

/* The number of the rows' point: adjacent rows of a day; those of a commit, wherever they are. */
static void rows_group(series_rows *all, int by)
{
	const int64_t day = 86400000000000;

	for (size_t i = 0; i < all->n; i++) {
		series_row *r = &all->row[i];

		r->group = (int64_t)i;
		if (by == DCK_HISTORY_BY_DAY)
			r->group = r->at / day - (r->at % day < 0);
		for (size_t k = i; by == DCK_HISTORY_BY_COMMIT && r->commit && k-- > 0;)
			if (text_equal(all->row[k].commit, r->commit)) {
				r->group = all->row[k].group;
				break;
			}
	}
}

static int rows_by_group(const void *a, const void *b)
{
	const series_row *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static dck_status discovery_keep(scan *s, const dck_metric_def *def, const dck_history_trend *t,
				 const double *p, dck_err *err)
{
	discovery d = {.n = t->nchanges, .p = 1};
	const char *key[KEYS];

	if (s->nfound == s->capacity) {
		const size_t capacity = s->capacity + 256;
		discovery *grown = mem_resize(s->found, capacity * sizeof *grown);

		DCK_NEED(grown, err, "for the alarms");
		s->found = grown;
		s->capacity = capacity;
	}
	d.changes = mem_arena_array(s->arena, d.n, sizeof *d.changes);
	for (size_t i = 0; i < KEYS; i++)
		key[i] = mem_arena_dup(s->arena, s->key[i]);
	for (size_t i = 0; d.changes && i < d.n; i++) {
		const dck_history_change *c = &t->changes[i];
		const dck_history_point *first = &t->points[c->at];

		d.changes[i] = (dck_history_alarm){.subject = key[SUBJECT],
						   .command = key[VERB],
						   .engine = mem_arena_dup(s->arena, s->engine),
						   .cpu = mem_arena_dup(s->arena, s->cpu),
						   .machine = key[MACHINE],
						   .method = key[METHOD],
						   .metric = *def,
						   .points = t->n,
						   .id = mem_arena_dup(s->arena, first->id),
						   .commit = mem_arena_dup(s->arena, first->commit),
						   .at_unix_ns = first->at_unix_ns,
						   .before = c->before,
						   .after = c->after,
						   .p = p[i]};
		d.p = p[i] < d.p ? p[i] : d.p;
	}
	DCK_NEED(!mem_arena_failed(s->arena), err, "for the alarms");
	s->found[s->nfound++] = d;
	return DCK_OK;
}

static dck_status series_test(scan *s, dck_err *err)
{
	dck_history_trend t = {0};
	double p[STAT_CHANGES_MAX];
	const dck_metric_def *def = record_find_def(s->key[TAG], s->arena);
	dck_metric_def own;

	DCK_NEED(def, err, "for the alarms");
	for (size_t i = 0, k = s->rows.n; i + 1 < k--; i++) { /* the oldest first */
		const series_row r = s->rows.row[i];

		s->rows.row[i] = s->rows.row[k];
		s->rows.row[k] = r;
	}
	rows_group(&s->rows, s->config->by);
	qsort(s->rows.row, s->rows.n, sizeof *s->rows.row, rows_by_group);
	DCK_TRY(series_fold(&s->rows, s->config->min_change, s->own, &t, p, err));
	if (t.changes_absent) {
		s->alarms.few++;
		return DCK_OK;
	}
	s->alarms.series++;
	own = *def;
	if (s->unit)
		record_find_unit(s->unit, &own.unit);
	return t.nchanges > 0 ? discovery_keep(s, &own, &t, p, err) : DCK_OK;
}

static dck_status series_close(scan *s, dck_err *err)
{
	const dck_status status = s->rows.n > 0 ? series_test(s, err) : DCK_OK;

	s->rows.n = 0;
	mem_arena_free(s->own);
	s->own = NULL;
	return status;
}

/* --- all series */

enum { C_UNIT = KEYS, C_CPU, C_ENGINE, C_ID, C_COMMIT, C_AT, C_VALUE };

static dck_status series_open(scan *s, history_statement *row, dck_err *err)
{
	const dck_metric_def *def;

	s->own = mem_arena_new(0);
	DCK_NEED(s->own, err, "for the alarms");
	for (int i = 0; i < KEYS; i++)
		s->key[i] = mem_arena_dup(s->own, history_text(row, i));
	s->unit = mem_arena_dup(s->own, history_text(row, C_UNIT));
	s->cpu = mem_arena_dup(s->own, history_text(row, C_CPU));
	s->engine = mem_arena_dup(s->own, history_text(row, C_ENGINE));
	DCK_NEED(!mem_arena_failed(s->own), err, "for the alarms");
	def = record_find_def(s->key[TAG], s->own);
	s->judged = def && def->better != DCK_BETTER_NEITHER;
	DCK_NEED(!mem_arena_failed(s->own), err, "for the alarms");
	return DCK_OK;
}

static dck_status alarm_row_take(scan *s, history_statement *row, dck_err *err)
{
	bool same = s->own != NULL;
	series_row r;

	for (int i = KEYS; same && i-- > 0;)
		same = text_equal(s->key[i], history_text(row, i));
	if (!same) {
		DCK_TRY(series_close(s, err));
		DCK_TRY(series_open(s, row, err));
	}
	if (!s->judged || s->rows.n >= ROWS_MAX)
		return DCK_OK;
	r = (series_row){.id = mem_arena_dup(s->own, history_text(row, C_ID)),
			 .commit = mem_arena_dup(s->own, history_text(row, C_COMMIT)),
			 .at = history_int(row, C_AT),
			 .value = history_real(row, C_VALUE)};
	DCK_NEED(!mem_arena_failed(s->own), err, "for the alarms");
	return series_row_add(&s->rows, &r, err);
}

static dck_status series_scan(dck_history *h, const history_where *w, const char *tag, scan *s,
			      dck_err *err)
{
	char sql[1024];
	history_statement *row;
	bool more = true;
	dck_status status;

	snprintf(
	    sql, sizeof sql,
	    "SELECT subject, verb, machine, method, tag, unit, cpu, engine, id, commit_id, at, "
	    "value FROM records JOIN metrics ON metrics.seq = records.seq %s %s incomplete = 0 "
	    "%s ORDER BY subject, verb, machine, method, tag, at DESC, records.seq DESC",
	    w->sql, w->sql[0] ? "AND" : "WHERE", tag ? "AND tag = :tag" : "");
	DCK_TRY(history_prepare_many(h, sql, &row, "read", err));
	history_where_bind(w, row);
	history_bind_text(row, ":tag", tag);
	status = history_step(row, &more, err);
	while (status == DCK_OK && more) {
		status = alarm_row_take(s, row, err);
		if (status == DCK_OK)
			status = history_step(row, &more, err);
	}
	history_finalize(row);
	return status == DCK_OK ? series_close(s, err) : status;
}

/* --- the discoveries */

static int by_p(const void *a, const void *b)
{
	const discovery *x = a, *y = b;

	return x->p < y->p ? -1 : x->p > y->p;
}

/* Keeps the series that pass, and writes for each its newest change that does. */
static dck_status discoveries_find(scan *s, dck_history_alarm **ret, dck_err *err)
{
	size_t n = s->nfound;
	dck_history_alarm *all = mem_arena_array(s->arena, n, sizeof *all);
	double *p = mem_arena_array(s->arena, n, sizeof *p),
	       *q = mem_arena_array(s->arena, n, sizeof *q);

	DCK_NEED(all && p && q, err, "for the alarms");
	if (n > 1)
		qsort(s->found, n, sizeof *s->found, by_p);
	for (size_t i = 0; i < n; i++)
		p[i] = s->found[i].p;
	stat_discovery_rates(p, n, (size_t)s->alarms.series, q);
	while (n > 0 && q[n - 1] > RATE)
		n--;
	for (size_t i = 0; i < n; i++) {
		const discovery *d = &s->found[i];
		size_t k = d->n;

		while (d->changes[--k].p > p[n - 1])
			;
		all[i] = d->changes[k];
		all[i].q = q[i];
	}
	s->alarms.changed = n;
	*ret = all;
	return DCK_OK;
}

static int texts_order(const char *a, const char *b)
{
	return !a || !b ? (a != NULL) - (b != NULL) : strcmp(a, b);
}

static int records_order(const dck_history_alarm *a, const dck_history_alarm *b)
{
	const char *const x[] = {a->subject, a->command, a->machine, a->method}, *const y[] = {
										     b->subject,
										     b->command,
										     b->machine,
										     b->method};
	int order = 0;

	for (size_t i = 0; order == 0 && i < sizeof x / sizeof x[0]; i++)
		order = texts_order(x[i], y[i]);
	return order;
}

/* Of one series' records, the default metric first, then the clearest. */
static int by_records(const void *a, const void *b)
{
	const dck_history_alarm *x = a, *y = b;
	const bool main_x = strcmp(x->metric.tag, HISTORY_METRIC) == 0,
		   main_y = strcmp(y->metric.tag, HISTORY_METRIC) == 0;
	const int order = records_order(x, y);

	if (order != 0)
		return order;
	if (main_x != main_y)
		return main_x ? -1 : 1;
	if (x->p < y->p || x->p > y->p)
		return x->p < y->p ? -1 : 1;
	return strcmp(x->metric.tag, y->metric.tag);
}

static int by_time(const void *a, const void *b)
{
	const dck_history_alarm *x = a, *y = b;

	if (x->at_unix_ns != y->at_unix_ns)
		return x->at_unix_ns > y->at_unix_ns ? -1 : 1;
	return by_records(a, b);
}

static void metrics_join(scan *s, dck_history_alarm *all)
{
	const size_t found = (size_t)s->alarms.changed;
	size_t n = 0;

	if (found > 1)
		qsort(all, found, sizeof *all, by_records);
	for (size_t i = 0; i < found; i++) {
		if (n > 0 && records_order(&all[n - 1], &all[i]) == 0)
			all[n - 1].others++;
		else
			all[n++] = all[i];
	}
	if (n > 1)
		qsort(all, n, sizeof *all, by_time);
	s->alarms.alarms = all;
	s->alarms.n = n;
}

static dck_status alarms_make(dck_history *h, const dck_history_filter *f, scan *s, dck_err *err)
{
	const dck_history_trend_config *c = s->config;
	const char *tag = c->undisturbed ? "latency/undisturbed" : c->metric;
	history_where w;
	dck_history_alarm *all = NULL;

	if (c->mixed)
		DCK_FAIL(err, E_ARG, "alarms are of records that compare, so 'mixed' does not fit");
	DCK_TRY(history_where_make(f, &w, err));
	DCK_TRY(series_scan(h, &w, tag, s, err));
	if (s->alarms.series + s->alarms.few == 0)
		return history_metric_absent(h, &w, tag ? tag : HISTORY_METRIC, err);
	DCK_TRY(discoveries_find(s, &all, err));
	metrics_join(s, all);
	if (w.limit < (int64_t)s->alarms.n)
		s->alarms.n = (size_t)w.limit;
	return DCK_OK;
}

dck_status dck_history_alarms_get(dck_history *h, const dck_history_filter *f,
				  const dck_history_trend_config *c, dck_history_alarms **ret,
				  dck_err *err)
{
	dck_history_trend_config own;
	mem_arena *arena;
	scan *s;
	dck_status status;

	DCK_TRY(OPT_CONFIG_GET(c, &own, dck_history_trend_config_init, err));
	arena = mem_arena_new(0);
	s = arena ? mem_arena_alloc(arena, sizeof *s) : NULL;
	if (!s) {
		mem_arena_free(arena);
		return ERR_NO_MEMORY(err, "for the alarms");
	}
	s->arena = arena;
	s->config = &own;
	s->alarms.rate = RATE;
	status = alarms_make(h, f, s, err);
	mem_free(s->found);
	mem_free(s->rows.row);
	mem_arena_free(s->own);
	if (status == DCK_OK)
		*ret = &s->alarms;
	else
		mem_arena_free(arena);
	return status;
}

void dck_history_alarms_free(dck_history_alarms *a)
{
	if (a)
		mem_arena_free(((scan *)a)->arena);
}
