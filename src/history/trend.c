/* trend.c - a metric over the history: time series, aggregation, changepoint detection.
 *
 *  1. origin_find(): the newest complete record with the metric decides subject, command,
 *     machine and method. Records that differ in machine or method are counted and left out, unless
 *     mixed.
 *  2. rows_sql(): one query with window functions selects the newest POINTS_MAX rows, numbers
 *     the groups (record, commit, day of UTC) in the order in which they were first measured, and
 *     keeps the last of these, up to the limit.
 *  3. series_fold() makes points of the groups, and finds the changes of their level.
 *
 * Rows are at most POINTS_MAX. The result lives in one arena with the dck_history_trend as the
 * first member of trend_box, by which dck_history_trend_free() finds the arena. Texts of the user
 * are bound as parameters; w->sql consists of constants (filter.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/series.h"
#include "history/store.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "base/opt_text.h"
#include "record/record_internal.h"
#include <stdio.h>
#include <string.h>

/* Time and memory of a trend are bounded by its points. */
#define POINTS_MAX 20000

static const char *const by_choices[] = {"record", "commit", "day", NULL};

const dck_opt dck_history_trend_options[] = {
    DCK_OPTION(CHOICE, dck_history_trend_config, by, "by", "WHAT", "record",
	       "trend, alarms: grouping into points; the mean of several records",
	       .choices = by_choices),
    DCK_FLAG(dck_history_trend_config, mixed, "mixed",
	     "trend: records of other machines and methods too, which do not compare"),
    DCK_OPTION(SHARE, dck_history_trend_config, min_change, "min-change", "SHARE", "0",
	       "trend, alarms: changes of the level by less are not marked", .max = 1),
    DCK_FLAG(dck_history_trend_config, undisturbed, "undisturbed",
	     "trend, alarms: of the runs in which no thread waited for a processor "
	     "(latency/undisturbed)",
	     .excludes = "statistic metric"),
    {0},
};

void dck_history_trend_config_init_sized(dck_history_trend_config *c, uint32_t struct_size)
{
	OPT_CONFIG_INIT(c, struct_size, dck_history_trend_options);
}

typedef struct trend_box {
	dck_history_trend trend; /* first, so that dck_history_trend_free() finds the box */
	mem_arena *arena;
} trend_box;

/* --- scope of the trend */

typedef struct origin {
	const char *subject, *verb, *machine, *method; /* subject, verb NULL: the record has none */
	const char *unit;
} origin;

static const char *dup_column(mem_arena *a, history_statement *s, int i)
{
	return mem_arena_dup(a, history_text(s, i));
}

dck_status history_metric_absent(dck_history *h, const history_where *w, const char *tag,
				 dck_err *err)
{
	const char *names[200], *nearest;
	mem_arena *a = mem_arena_new(0);
	char sql[1024];
	history_statement *s = NULL;
	size_t n = 0;
	dck_status status;

	DCK_NEED(a, err, "for the trend");
	snprintf(sql, sizeof sql,
		 "SELECT DISTINCT tag FROM (SELECT seq FROM records %s ORDER BY at DESC LIMIT 100) "
		 "AS newest JOIN metrics USING (seq) ORDER BY tag LIMIT 200",
		 w->sql);
	status = history_prepare(h, sql, &s, "read", err);
	if (status == DCK_OK)
		history_where_bind(w, s);
	while (n < 200 && history_next(s, &status, err)) {
		names[n] = dup_column(a, s, 0);
		n += names[n] != NULL;
	}
	history_finalize(s);
	nearest = dck_nearest(tag, names, n);
	if (status == DCK_OK && n == 0)
		status = ERR_SET(err, E_ABSENT, "the history '%s' has no records %s", h->path,
				 w->sql[0] ? "that fit" : "yet");
	else if (status == DCK_OK)
		status =
		    ERR_SET(err, E_ABSENT, "no record%s has a value of the metric '%.80s'%s%s%s",
			    w->sql[0] ? " that fits" : "", tag,
			    nearest ? "; did you mean '" : "; they have, for one, '",
			    nearest ? nearest : names[0], nearest ? "'?" : "'");
	mem_arena_free(a);
	return status;
}

/* Reads the newest record that has the metric, of the incomplete ones or of the others. */
static dck_status origin_look(dck_history *h, const history_where *w, const char *tag,
			      bool incomplete, trend_box *box, origin *ret, bool *found,
			      dck_err *err)
{
	dck_history_trend *t = &box->trend;
	char sql[1024];
	history_statement *s;
	dck_status status;

	snprintf(sql, sizeof sql,
		 "SELECT subject, verb, machine, method, cpu, engine, "
		 "unit FROM records JOIN metrics ON metrics.seq = records.seq AND tag = :tag AND "
		 "incomplete %s 0 %s ORDER BY at DESC, records.seq DESC LIMIT 1",
		 incomplete ? "<>" : "=", w->sql);
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(w, s);
	history_bind_text(s, ":tag", tag);
	status = history_step(s, found, err);
	if (status == DCK_OK && *found) {
		*ret = (origin){dup_column(box->arena, s, 0), dup_column(box->arena, s, 1),
				dup_column(box->arena, s, 2), dup_column(box->arena, s, 3),
				dup_column(box->arena, s, 6)};
		t->subject = ret->subject;
		t->verb = ret->verb;
		t->cpu = dup_column(box->arena, s, 4);
		t->engine = dup_column(box->arena, s, 5);
	}
	history_finalize(s);
	return status;
}

/* Finds the newest complete record that has the metric: it defines the scope of the trend. */
static dck_status origin_find(dck_history *h, const history_where *w, const char *tag,
			      trend_box *box, origin *ret, dck_err *err)
{
	bool found = false;

	DCK_TRY(origin_look(h, w, tag, false, box, ret, &found, err));
	if (found)
		return DCK_OK;
	DCK_TRY(origin_look(h, w, tag, true, box, ret, &found, err));
	if (found)
		return ERR_SET(err, E_ABSENT,
			       "only incomplete records%s have a value of the metric '%.80s', and "
			       "a trend leaves them out",
			       w->sql[0] ? " that fit" : "", tag);
	return history_metric_absent(h, w, tag, err);
}

/* --- its rows */

/* Why a row is left out. */
enum { KEPT, INCOMPLETE, OTHER };

static dck_status row_take(trend_box *box, history_statement *s, series_rows *all, dck_err *err)
{
	switch (history_int(s, 8)) {
	case INCOMPLETE:
		box->trend.incomplete++;
		break;
	case OTHER:
		box->trend.other++;
		break;
	default:
		return series_row_add(all,
				      &(series_row){.id = dup_column(box->arena, s, 0),
						    .commit = dup_column(box->arena, s, 1),
						    .at = history_int(s, 2),
						    .value = history_real(s, 3),
						    .lo = history_real(s, 4),
						    .hi = history_real(s, 5),
						    .level = history_real(s, 6),
						    .group = history_int(s, 7)},
				      err);
	}
	return DCK_OK;
}

/* Writes the query for the newest :most points of the newest :rows rows, and for the rows left out
 * among them, so that no older row is read. Rows of one point are adjacent; points are in the order
 * in which they were first measured. A row without a commit is a separate point. */
static void rows_sql(const history_where *w, const origin *from, int by, char *sql, size_t size)
{
	static const char *const group[] = {
	    [DCK_HISTORY_BY_RECORD] = "seq",
	    [DCK_HISTORY_BY_COMMIT] = "coalesce(commit_id, ' ' || seq)",
	    [DCK_HISTORY_BY_DAY] =
		"at / 86400000000000 - CASE WHEN at % 86400000000000 < 0 THEN 1 ELSE 0 END"};

	snprintf(
	    sql, size,
	    "WITH fits AS NOT MATERIALIZED (SELECT records.seq AS seq, id, commit_id, at, value, "
	    "lo, hi, level, CASE WHEN incomplete <> 0 THEN 1 WHEN :mixed <> 0 OR (machine = :machine AND "
	    "method = :method) THEN 0 ELSE 2 END AS out FROM records JOIN metrics ON metrics.seq = "
	    "records.seq AND tag = :tag %s %s records.subject %s AND records.verb %s), "
	    "oldest AS (SELECT at, seq FROM fits WHERE out = 0 ORDER BY at DESC, "
	    "seq DESC LIMIT 1 OFFSET :rows - 1), counted AS (SELECT *, "
	    "row_number() OVER (ORDER BY at, seq) AS place FROM fits WHERE (at, "
	    "seq) >= (SELECT coalesce(max(at), -9223372036854775807), "
	    "coalesce(max(seq), 0) FROM oldest)), grouped AS (SELECT *, min(place) OVER (PARTITION BY out, "
	    "%s) AS first FROM counted) SELECT id, commit_id, at, value, lo, hi, level, first, "
	    "out FROM grouped WHERE CASE WHEN out = 0 THEN first ELSE place END >= (SELECT "
	    "coalesce(max(first), 0) FROM (SELECT DISTINCT first FROM grouped WHERE out = 0 ORDER "
	    "BY first DESC LIMIT 1 OFFSET :most - 1) AS edge) ORDER BY first, place",
	    w->sql, w->sql[0] ? "AND" : "WHERE", from->subject ? "= :of" : "IS NULL",
	    from->verb ? "= :verb" : "IS NULL", group[by]);
}

static void origin_bind(history_statement *s, const char *tag, const origin *from,
			const dck_history_trend_config *c)
{
	history_bind_text(s, ":tag", tag);
	history_bind_text(s, ":of", from->subject);
	history_bind_text(s, ":verb", from->verb);
	history_bind_text(s, ":machine", from->machine);
	history_bind_text(s, ":method", from->method);
	history_bind_int(s, ":mixed", c->mixed);
}

/* Counts the records that the trend would show if they had a value of the metric. */
static dck_status without_count(dck_history *h, const history_where *w, const char *tag,
				const origin *from, const dck_history_trend_config *c,
				dck_history_trend *t, dck_err *err)
{
	char sql[1200];
	history_statement *s;
	int64_t n;

	snprintf(sql, sizeof sql,
		 "SELECT count(*) FROM records %s %s records.subject %s AND records.verb %s "
		 "AND incomplete = 0 AND (:mixed <> 0 OR (machine = :machine AND method = "
		 ":method)) AND NOT EXISTS (SELECT 1 FROM metrics WHERE metrics.seq = records.seq "
		 "AND tag = :tag)",
		 w->sql, w->sql[0] ? "AND" : "WHERE", from->subject ? "= :of" : "IS NULL",
		 from->verb ? "= :verb" : "IS NULL");
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(w, s);
	origin_bind(s, tag, from, c);
	DCK_TRY(history_finish(s, &n, err));
	t->without = (uint64_t)n;
	return DCK_OK;
}

static dck_status trend_rows_read(dck_history *h, const history_where *w, const char *tag,
				  const origin *from, const dck_history_trend_config *c,
				  trend_box *box, series_rows *all, dck_err *err)
{
	const int64_t most = w->limit > 0 && w->limit < POINTS_MAX ? w->limit : POINTS_MAX;
	char sql[2600];
	history_statement *s;
	dck_status status = DCK_OK;

	rows_sql(w, from, c->by, sql, sizeof sql);
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(w, s);
	origin_bind(s, tag, from, c);
	history_bind_int(s, ":most", most);
	history_bind_int(s, ":rows", c->by == DCK_HISTORY_BY_RECORD ? most : POINTS_MAX);
	while (history_next(s, &status, err))
		status = row_take(box, s, all, err);
	history_finalize(s);
	return status;
}

static dck_status trend_metric_find(trend_box *box, const char *tag, dck_err *err)
{
	const dck_metric_def *def = record_find_def(tag, box->arena);

	if (def)
		box->trend.metric = *def;
	else
		/* The tag may be of a newer deepclock: its numbers are shown as they are. */
		box->trend.metric = (dck_metric_def){.tag = mem_arena_dup(box->arena, tag),
						     .name = box->trend.metric.tag,
						     .help = "",
						     .unit = DCK_UNIT_NONE};
	DCK_NEED(!mem_arena_failed(box->arena), err, "for the trend");
	if (!def)
		box->trend.metric.name = box->trend.metric.tag;
	return DCK_OK;
}

static dck_status trend_make(dck_history *h, const dck_history_filter *f,
			     const dck_history_trend_config *c, trend_box *box, series_rows *all,
			     dck_err *err)
{
	const char *tag = c->undisturbed ? "latency/undisturbed"
			  : c->metric	 ? c->metric
					 : HISTORY_METRIC;
	history_where w;
	origin from = {0};

	if (c->undisturbed && c->metric)
		DCK_FAIL(err, E_ARG, "--undisturbed is of %s, and '%.80s' is given too", tag,
			 c->metric);
	DCK_TRY(history_where_make(f, &w, err));
	DCK_TRY(origin_find(h, &w, tag, box, &from, err));
	DCK_TRY(trend_metric_find(box, tag, err));
	if (from.unit)
		record_find_unit(from.unit, &box->trend.metric.unit);
	DCK_TRY(trend_rows_read(h, &w, tag, &from, c, box, all, err));
	DCK_TRY(without_count(h, &w, tag, &from, c, &box->trend, err));
	return series_fold(all, c->min_change, box->arena, &box->trend, NULL, err);
}

dck_status dck_history_trend_get(dck_history *h, const dck_history_filter *f,
				 const dck_history_trend_config *c, dck_history_trend **ret,
				 dck_err *err)
{
	dck_history_trend_config own;
	mem_arena *arena;
	trend_box *box;
	series_rows all = {0};
	dck_status status;

	DCK_TRY(
	    OPT_CONFIG_GET(c, &own, dck_history_trend_config_init, err, dck_history_trend_options));
	arena = mem_arena_new(0);
	box = arena ? mem_arena_alloc(arena, sizeof *box) : NULL;
	if (!box) {
		mem_arena_free(arena);
		return ERR_NO_MEMORY(err, "for the trend");
	}
	box->arena = arena;
	status = trend_make(h, f, &own, box, &all, err);
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
