/* alarms.c - which of all series changed, with a bound on the share of false ones.
 *
 *  1. series_each() reads one series after the other.
 *  2. series_test() folds it as a trend does, and keeps the changes of its level with their
 *     p-values over repeated looks.
 *  3. discoveries_find(): the series' smallest p-values pass the step-up procedure of Benjamini and
 *     Hochberg (J. R. Statist. Soc. B 57, 1995) at SERIES_DISCOVERY_RATE. It holds for independent
 *     and for positively dependent tests, as the metrics of one record are (Benjamini and
 *     Yekutieli, Ann. Statist. 29, 2001). Of a series that passes, the newest change counts whose
 *     p-value is as small as needed.
 *  4. metrics_join(): several metrics of the same records become one alarm.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "history/store.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "record/record_internal.h"
#include <stdlib.h>
#include <string.h>

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
} scan;

/* --- one series */

static int rows_by_commit(const void *a, const void *b)
{
	const series_row *x = a, *y = b;
	const int order = series_text_order(x->commit, y->commit);

	return order ? order : x->group < y->group ? -1 : x->group > y->group;
}

/* The number of the rows' point: adjacent rows of a day; those of a commit, wherever they are. */
static void rows_group(series_rows *all, int by)
{
	const int64_t day = 86400000000000;

	for (size_t i = 0; i < all->n; i++) {
		series_row *r = &all->row[i];

		r->group = (int64_t)i;
		if (by == DCK_HISTORY_BY_DAY)
			r->group = r->at / day - (r->at % day < 0);
	}
	if (by != DCK_HISTORY_BY_COMMIT)
		return;
	qsort(all->row, all->n, sizeof *all->row, rows_by_commit);
	for (size_t i = 1; i < all->n; i++)
		if (all->row[i].commit &&
		    series_text_order(all->row[i - 1].commit, all->row[i].commit) == 0)
			all->row[i].group = all->row[i - 1].group;
}

static int rows_by_group(const void *a, const void *b)
{
	const series_row *x = a, *y = b;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

static dck_status discovery_keep(scan *s, const series *from, const dck_history_trend *t,
				 const double *p, dck_err *err)
{
	mem_arena *a = s->arena;
	discovery d = {.n = t->nchanges, .p = 1};
	const dck_metric_def *def = record_find_def(from->metric.tag, a);

	DCK_NEED(mem_reserve(&s->found, &s->capacity, s->nfound + 1, sizeof *s->found), err,
		 "for the alarms");
	d.changes = mem_arena_array(a, d.n, sizeof *d.changes);
	DCK_NEED(def && d.changes, err, "for the alarms");
	for (size_t i = 0; i < d.n; i++) {
		const dck_history_change *c = &t->changes[i];
		const dck_history_point *first = &t->points[c->at];

		d.changes[i] = (dck_history_alarm){.subject = mem_arena_dup(a, from->subject),
						   .command = mem_arena_dup(a, from->verb),
						   .engine = mem_arena_dup(a, from->engine),
						   .cpu = mem_arena_dup(a, from->cpu),
						   .machine = mem_arena_dup(a, from->machine),
						   .method = mem_arena_dup(a, from->method),
						   .metric = *def,
						   .points = t->n,
						   .id = mem_arena_dup(a, first->id),
						   .commit = mem_arena_dup(a, first->commit),
						   .at_unix_ns = first->at_unix_ns,
						   .before = c->before,
						   .after = c->after,
						   .p = p[i]};
		d.changes[i].metric.unit = from->metric.unit;
		d.p = p[i] < d.p ? p[i] : d.p;
	}
	DCK_NEED(!mem_arena_failed(a), err, "for the alarms");
	s->found[s->nfound++] = d;
	return DCK_OK;
}

static dck_status series_test(void *self, series *one, dck_err *err)
{
	scan *s = self;
	dck_history_trend t = {0};
	double p[STAT_CHANGES_MAX];
	series_rows *all = &one->rows;

	for (size_t i = 0, k = all->n; i + 1 < k--; i++) { /* the oldest first */
		const series_row r = all->row[i];

		all->row[i] = all->row[k];
		all->row[k] = r;
	}
	rows_group(all, s->config->by);
	qsort(all->row, all->n, sizeof *all->row, rows_by_group);
	DCK_TRY(series_fold(all, s->config->min_change, one->arena, &t, p, err));
	if (t.changes_absent) {
		s->alarms.few++;
		return DCK_OK;
	}
	s->alarms.series++;
	return t.nchanges > 0 ? discovery_keep(s, one, &t, p, err) : DCK_OK;
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
	while (n > 0 && q[n - 1] > SERIES_DISCOVERY_RATE)
		n--;
	/* The greatest p-value that the procedure rejects; rounding makes it no smaller than one
	 * that passed above. */
	double critical = SERIES_DISCOVERY_RATE * (double)n / (double)s->alarms.series;

	if (n > 0 && p[n - 1] > critical)
		critical = p[n - 1];

	for (size_t i = 0; i < n; i++) {
		const discovery *d = &s->found[i];
		size_t k = d->n;

		while (d->changes[--k].p > critical)
			;
		all[i] = d->changes[k];
		all[i].q = q[i];
	}
	s->alarms.changed = n;
	*ret = all;
	return DCK_OK;
}

static int records_order(const dck_history_alarm *a, const dck_history_alarm *b)
{
	const char *const x[] = {a->subject, a->command, a->machine, a->method};
	const char *const y[] = {b->subject, b->command, b->machine, b->method};

	return series_texts_order(x, y, sizeof x / sizeof x[0]);
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
	const dck_metric_def *def = tag ? record_find_def(tag, s->arena) : NULL;
	history_where w;
	dck_history_alarm *all = NULL;

	if (def && def->better == DCK_BETTER_NEITHER)
		DCK_FAIL(
		    err, E_ARG,
		    "the metric '%.80s' has no better direction; 'history trend' has its changes",
		    tag);
	if (c->mixed)
		DCK_FAIL(err, E_ARG, "alarms are of records that compare, so 'mixed' does not fit");
	DCK_TRY(history_where_make(f, &w, err));
	DCK_TRY(series_each(h, &w, tag, NULL, series_test, s, err));
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

	DCK_TRY(
	    OPT_CONFIG_GET(c, &own, dck_history_trend_config_init, err, dck_history_trend_options));
	arena = mem_arena_new(0);
	s = arena ? mem_arena_alloc(arena, sizeof *s) : NULL;
	if (!s) {
		mem_arena_free(arena);
		return ERR_NO_MEMORY(err, "for the alarms");
	}
	s->arena = arena;
	s->config = &own;
	s->alarms.rate = SERIES_DISCOVERY_RATE;
	status = alarms_make(h, f, s, err);
	mem_free(s->found);
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
