/* trend.c - how a metric moved: its values oldest first, folded by commit or day when asked, and
 * where their level changed.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/hash.h"
#include "base/err.h"
#include "record/box.h"
#include "stat/stat.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Chance of one alarm or more in a trend without changes, when its points are independent. */
#define ALARMS 0.05
#define LEVEL  0.95
/* Time and memory of a trend are bounded by its points. */
#define POINTS_MAX 20000
#define DAY_NS	   INT64_C(86400000000000)

static const char *const by_choices[] = {"record", "commit", "day", NULL};

const dck_opt dck_history_trend_options[] = {
    DCK_OPTION(CHOICE, dck_history_trend_config, by, "by", "WHAT", "record",
	       "trend: what a point is; of several records their mean", .choices = by_choices),
    DCK_FLAG(dck_history_trend_config, mixed, "mixed",
	     "trend: records of other machines and methods too, which do not compare"),
    DCK_OPTION(SHARE, dck_history_trend_config, least, "least", "SHARE", "0",
	       "trend: changes of the level by less are not marked", .max = 1),
    {0},
};

void dck_history_trend_config_init(dck_history_trend_config *c)
{
	*c = (dck_history_trend_config){.by = DCK_HISTORY_BY_RECORD};
}

typedef struct trend_box {
	dck_history_trend trend; /* first, so that dck_history_trend_free() finds the box */
	mem_arena *arena;
} trend_box;

/* A record that has the metric. */
typedef struct row {
	const char *id, *commit;
	int64_t at;
	double value, lo, hi, level;
	size_t group;
} row;

/* --- what the trend is of */

typedef struct origin {
	const char *subject, *verb, *machine, *method; /* subject, verb NULL: the record has none */
} origin;

static const char *dup_column(mem_arena *a, sqlite3_stmt *s, int i)
{
	return mem_arena_dup(a, (const char *)sqlite3_column_text(s, i));
}

static dck_status absent(dck_history *h, const history_where *w, const char *tag, dck_err *err)
{
	const char *names[200], *nearest;
	mem_arena *a = mem_arena_new(0);
	char sql[1024];
	sqlite3_stmt *s = NULL;
	size_t n = 0;
	bool more = false;
	dck_status status;

	if (!a)
		DCK_FAIL(err, E_NOMEM, "no memory for the trend");
	snprintf(sql, sizeof sql,
		 "SELECT DISTINCT tag FROM (SELECT seq FROM records %s ORDER BY at DESC LIMIT 100) "
		 "JOIN metrics USING (seq) LIMIT 200",
		 w->sql);
	status = history_prepare(h, sql, &s, "read", err);
	if (status == DCK_OK) {
		history_where_bind(w, s);
		status = history_step(h, s, &more, "read", err);
	}
	while (status == DCK_OK && more && n < 200) {
		names[n] = dup_column(a, s, 0);
		n += names[n] != NULL;
		status = history_step(h, s, &more, "read", err);
	}
	sqlite3_finalize(s);
	nearest = dck_nearest(tag, names, n);
	if (status == DCK_OK && n == 0)
		status = err_set(err, DCK_E_ABSENT, __FILE__, __LINE__,
				 "the history '%s' has no records %s", h->path,
				 w->sql[0] ? "that fit" : "yet");
	else if (status == DCK_OK)
		status = err_set(err, DCK_E_ABSENT, __FILE__, __LINE__,
				 "no record%s has a value of the metric '%.80s'%s%s%s",
				 w->sql[0] ? " that fits" : "", tag,
				 nearest ? "; did you mean '" : "; they have, for one, '",
				 nearest ? nearest : names[0], nearest ? "'?" : "'");
	mem_arena_free(a);
	return status;
}

/* The newest record that has the metric says what the trend is of. */
static dck_status origin_find(dck_history *h, const history_where *w, const char *tag,
			      trend_box *box, origin *ret, dck_err *err)
{
	dck_history_trend *t = &box->trend;
	char sql[1024];
	sqlite3_stmt *s;
	bool found = false;
	dck_status status;

	snprintf(
	    sql, sizeof sql,
	    "SELECT subject, verb, machine, method, cpu, engine FROM records JOIN metrics ON "
	    "metrics.seq = records.seq AND tag = :tag %s ORDER BY at DESC, records.seq DESC LIMIT "
	    "1",
	    w->sql);
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(w, s);
	history_bind_text(s, sqlite3_bind_parameter_index(s, ":tag"), tag);
	status = history_step(h, s, &found, "read", err);
	if (status == DCK_OK && found) {
		*ret = (origin){dup_column(box->arena, s, 0), dup_column(box->arena, s, 1),
				dup_column(box->arena, s, 2), dup_column(box->arena, s, 3)};
		t->subject = ret->subject;
		t->verb = ret->verb;
		t->cpu = dup_column(box->arena, s, 4);
		t->engine = dup_column(box->arena, s, 5);
	}
	sqlite3_finalize(s);
	if (status == DCK_OK && !found)
		return absent(h, w, tag, err);
	return status;
}

/* --- its rows */

typedef struct rows {
	row *row; /* newest first */
	size_t n;
} rows;

static void row_take(trend_box *box, sqlite3_stmt *s, rows *all, bool compares)
{
	row *r = &all->row[all->n];

	if (sqlite3_column_int(s, 7)) {
		box->trend.incomplete++;
		return;
	}
	if (!compares) {
		box->trend.other++;
		return;
	}
	if (all->n == 0 && sqlite3_column_text(s, 10))
		record_find_unit((const char *)sqlite3_column_text(s, 10), &box->trend.metric.unit);
	*r = (row){.id = dup_column(box->arena, s, 0),
		   .commit = dup_column(box->arena, s, 1),
		   .at = sqlite3_column_int64(s, 2),
		   .value = sqlite3_column_double(s, 3),
		   .lo = sqlite3_column_double(s, 4),
		   .hi = sqlite3_column_double(s, 5),
		   .level = sqlite3_column_double(s, 6)};
	all->n++;
}

static bool column_is(sqlite3_stmt *s, int i, const char *text)
{
	const char *have = (const char *)sqlite3_column_text(s, i);

	return have && text && strcmp(have, text) == 0;
}

static dck_status rows_read(dck_history *h, const history_where *w, const char *tag,
			    const origin *from, bool mixed, trend_box *box, rows *all, dck_err *err)
{
	const size_t most =
	    w->limit > 0 && w->limit < POINTS_MAX ? (size_t)w->limit : (size_t)POINTS_MAX;
	char sql[1400];
	sqlite3_stmt *s;
	bool more = true;
	dck_status status;

	snprintf(
	    sql, sizeof sql,
	    "SELECT id, commit_id, at, value, lo, hi, level, incomplete, machine, method, unit "
	    "FROM records JOIN metrics ON metrics.seq = records.seq AND tag = :tag %s %s "
	    "records.subject IS :of AND records.verb IS :verb ORDER BY at DESC, records.seq "
	    "DESC",
	    w->sql, w->sql[0] ? "AND" : "WHERE");
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(w, s);
	history_bind_text(s, sqlite3_bind_parameter_index(s, ":tag"), tag);
	history_bind_text(s, sqlite3_bind_parameter_index(s, ":of"), from->subject);
	history_bind_text(s, sqlite3_bind_parameter_index(s, ":verb"), from->verb);
	status = history_step(h, s, &more, "read", err);
	while (status == DCK_OK && more && all->n < most) {
		if (all->n % 1024 == 0) {
			row *grown = mem_resize(all->row, (all->n + 1024) * sizeof *grown);

			if (!grown) {
				status = err_set(err, DCK_E_NOMEM, __FILE__, __LINE__,
						 "no memory for a trend of %zu records", all->n);
				break;
			}
			all->row = grown;
		}
		row_take(box, s, all,
			 mixed ||
			     (column_is(s, 8, from->machine) && column_is(s, 9, from->method)));
		status = history_step(h, s, &more, "read", err);
	}
	sqlite3_finalize(s);
	return status;
}

/* --- points */

/* Commits by name: open addressing, in twice as many places as there are rows at least. */
typedef struct places {
	size_t *group; /* its number + 1; 0: free */
	size_t mask;
} places;

static size_t *place_find(const places *p, const rows *all, const size_t *first, const char *commit)
{
	size_t i = (size_t)hash_bytes(HASH_START, commit, strlen(commit)) & p->mask;

	while (p->group[i] && strcmp(all->row[first[p->group[i] - 1]].commit, commit) != 0)
		i = (i + 1) & p->mask;
	return &p->group[i];
}

static int64_t day_of(const row *r)
{
	return r->at / DAY_NS - (r->at % DAY_NS < 0);
}

/* Gives every row its group, numbered as they are first met from the oldest row on, and keeps the
 * oldest row of each. Rows of a day lie side by side; a commit may be measured again after others;
 * a row without a commit is a group of its own. */
static size_t groups_make(rows *all, int by, const places *p, size_t *first)
{
	size_t groups = 0;

	for (size_t i = all->n; i-- > 0;) {
		row *r = &all->row[i];
		size_t *place = NULL;

		r->group = groups;
		if (by == DCK_HISTORY_BY_DAY) {
			if (groups > 0 && day_of(r) == day_of(&all->row[first[groups - 1]]))
				r->group = groups - 1;
		} else if (r->commit) {
			place = place_find(p, all, first, r->commit);
			if (*place)
				r->group = *place - 1;
		}
		if (r->group < groups)
			continue;
		first[groups++] = i;
		if (place)
			*place = groups;
	}
	return groups;
}

/* The mean of several records, each made by a start of its own, and Student's t: as of several
 * processes. values: all k of the group. */
static void point_fold(const row *newest, const double *values, size_t k, dck_history_point *p)
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

/* Sorts the values by group, by counting; then folds each. newest, begin: scratch. */
static void groups_fold(const rows *all, size_t groups, double *values, size_t *newest,
			size_t *begin, dck_history_point *points)
{
	memset(begin, 0, (groups + 1) * sizeof *begin);
	for (size_t i = 0; i < all->n; i++)
		begin[all->row[i].group + 1]++;
	for (size_t g = 0; g < groups; g++)
		begin[g + 1] += begin[g];
	/* From the oldest on, each at the end of what is left of its group: begin[g + 1], which was
	 * the group's end, becomes its begin, and the last that is met is the newest. */
	for (size_t i = all->n; i-- > 0;) {
		const row *r = &all->row[i];

		values[--begin[r->group + 1]] = r->value;
		points[r->group].records++;
		newest[r->group] = i;
	}
	for (size_t g = 0; g < groups; g++)
		point_fold(&all->row[newest[g]], values + begin[g + 1], (size_t)points[g].records,
			   &points[g]);
}

static void points_single(const rows *all, dck_history_point *points)
{
	for (size_t i = 0; i < all->n; i++)
		point_fold(&all->row[all->n - 1 - i], NULL, 1, &points[i]);
}

/* Scratch for n rows. */
typedef struct room {
	double *values, *change;
	size_t *first, *begin;
	places places;
} room;

static bool room_open(room *m, size_t n)
{
	size_t size = 16;

	while (size < 2 * n)
		size *= 2;
	*m = (room){.values = mem_zalloc(n + 1, sizeof *m->values),
		    .change = mem_zalloc(stat_change_scratch(n), sizeof *m->change),
		    .first = mem_zalloc(n + 1, sizeof *m->first),
		    .begin = mem_zalloc(n + 2, sizeof *m->begin),
		    .places = {mem_zalloc(size, sizeof *m->places.group), size - 1}};
	return m->values && m->change && m->first && m->begin && m->places.group;
}

static void room_close(room *m)
{
	mem_free(m->values);
	mem_free(m->change);
	mem_free(m->first);
	mem_free(m->begin);
	mem_free(m->places.group);
}

static size_t points_make(rows *all, int by, room *m, dck_history_point *points)
{
	size_t groups;

	if (by == DCK_HISTORY_BY_RECORD) {
		points_single(all, points);
		return all->n;
	}
	groups = groups_make(all, by, &m->places, m->first);
	groups_fold(all, groups, m->values, m->first, m->begin, points);
	return groups;
}

/* --- changes */

/* Of the points less their levels. Bartlett 1946: of independent points it is about normal with
 * deviation 1 / sqrt(n); 1.645 of them are passed by chance once in 20. */
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
	t->leaning = t->correlation > 1.645 / sqrt((double)t->n);
}

static void changes_find(trend_box *box, double *values, double *scratch, double least,
			 dck_history_change *changes)
{
	dck_history_trend *t = &box->trend;
	stat_change found[STAT_CHANGES_MAX];
	size_t n;

	t->correlation = (double)NAN;
	if (t->n < STAT_CHANGE_MIN) {
		t->changes_absent = mem_arena_fmt(
		    box->arena, "changes are looked for in %d points or more, there are %zu",
		    STAT_CHANGE_MIN, t->n);
		return;
	}
	for (size_t i = 0; i < t->n; i++)
		values[i] = t->points[i].value;
	n = stat_change_find(values, t->n, ALARMS, scratch, found);
	correlation_find(t, found, n, values);
	for (size_t i = 0; i < n; i++) {
		const stat_change *c = &found[i];

		if (fabs(c->after - c->before) < least * fabs(c->before))
			continue;
		changes[t->nchanges++] = (dck_history_change){c->at, c->before, c->after, c->p};
	}
	t->changes = changes;
}

static dck_status points_and_changes(trend_box *box, rows *all, const dck_history_trend_config *c,
				     dck_err *err)
{
	dck_history_trend *t = &box->trend;
	dck_history_point *points = mem_arena_array(box->arena, all->n, sizeof *points);
	dck_history_change *changes =
	    mem_arena_array(box->arena, STAT_CHANGES_MAX, sizeof *changes);
	room m;
	const bool made = room_open(&m, all->n) && points && changes;

	if (made) {
		t->n = points_make(all, c->by, &m, points);
		t->points = points;
		changes_find(box, m.values, m.change, c->least, changes);
	}
	room_close(&m);
	if (!made || mem_arena_failed(box->arena))
		DCK_FAIL(err, E_NOMEM, "no memory for a trend of %zu records", all->n);
	return DCK_OK;
}

static dck_status metric_find(trend_box *box, const char *tag, dck_err *err)
{
	const dck_metric_def *def = record_find_def(tag, box->arena);

	if (def)
		box->trend.metric = *def;
	else
		/* Of a newer deepclock, say: its numbers are shown as they are. */
		box->trend.metric = (dck_metric_def){.tag = mem_arena_dup(box->arena, tag),
						     .name = box->trend.metric.tag,
						     .help = "",
						     .unit = DCK_UNIT_NONE};
	if (mem_arena_failed(box->arena))
		DCK_FAIL(err, E_NOMEM, "no memory for the trend");
	if (!def)
		box->trend.metric.name = box->trend.metric.tag;
	return DCK_OK;
}

static dck_status trend_make(dck_history *h, const dck_history_filter *f,
			     const dck_history_trend_config *c, trend_box *box, rows *all,
			     dck_err *err)
{
	const char *tag = c->metric ? c->metric : HISTORY_METRIC;
	history_where w;
	origin from = {0};

	DCK_TRY(history_where_make(f, &w, err));
	DCK_TRY(origin_find(h, &w, tag, box, &from, err));
	DCK_TRY(metric_find(box, tag, err));
	DCK_TRY(rows_read(h, &w, tag, &from, c->mixed, box, all, err));
	return points_and_changes(box, all, c, err);
}

dck_status dck_history_trend_get(dck_history *h, const dck_history_filter *f,
				 const dck_history_trend_config *c, dck_history_trend **ret,
				 dck_err *err)
{
	mem_arena *arena = mem_arena_new(0);
	trend_box *box = arena ? mem_arena_alloc(arena, sizeof *box) : NULL;
	rows all = {0};
	dck_status status;

	if (!box) {
		mem_arena_free(arena);
		DCK_FAIL(err, E_NOMEM, "no memory for the trend");
	}
	box->arena = arena;
	status = trend_make(h, f, c, box, &all, err);
	mem_free(all.row);
	if (status == DCK_OK)
		*ret = &box->trend;
	else
		mem_arena_free(arena);
	return status;
}

void dck_history_trend_free(dck_history_trend *t)
{
	if (t)
		mem_arena_free(((trend_box *)t)->arena);
}
