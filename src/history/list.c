/* list.c - many records, one at a time, from the index alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "record/record_internal.h"
#include <stdio.h>

static const char *text_column(sqlite3_stmt *s, int i)
{
	return (const char *)sqlite->column_text(s, i);
}

static void value_column(sqlite3_stmt *s, int i, dck_history_entry *e)
{
	const int type = sqlite->column_type(s, i);

	e->value = (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = "the record has none"};
	if (type == SQLITE_INTEGER)
		e->value = (dck_value){.kind = DCK_VALUE_INT, .as.i = sqlite->column_int64(s, i)};
	else if (type == SQLITE_FLOAT)
		e->value = (dck_value){.kind = DCK_VALUE_REAL, .as.r = sqlite->column_double(s, i)};
	else
		return;
	if (text_column(s, i + 1))
		record_find_unit(text_column(s, i + 1), &e->unit);
	e->lo = sqlite->column_double(s, i + 2);
	e->hi = sqlite->column_double(s, i + 3);
	e->level = sqlite->column_double(s, i + 4);
}

static void list_entry_read(sqlite3_stmt *s, dck_history_entry *e)
{
	*e = (dck_history_entry){
	    .id = text_column(s, 0),
	    .at_unix_ns = sqlite->column_int64(s, 1),
	    .command = text_column(s, 2),
	    .verb = text_column(s, 3),
	    .subject = text_column(s, 4),
	    .engine = text_column(s, 5),
	    .cpu = text_column(s, 6),
	    .commit = text_column(s, 7),
	    .machine = text_column(s, 8),
	    .method = text_column(s, 9),
	    .incomplete = sqlite->column_int(s, 10) != 0,
	    .bytes = (uint64_t)sqlite->column_int64(s, 11),
	};
	value_column(s, 12, e);
}

dck_status dck_history_list(dck_history *h, const dck_history_filter *f, const char *metric,
			    bool (*each)(void *self, const dck_history_entry *e), void *self,
			    dck_err *err)
{
	history_where w;
	char sql[1024];
	sqlite3_stmt *s;
	dck_history_entry e;
	bool row = true;
	dck_status status;

	DCK_TRY(history_where_make(f, &w, err));
	snprintf(sql, sizeof sql,
		 "SELECT id, at, command, verb, subject, engine, cpu, commit_id, machine, method, "
		 "incomplete, bytes, value, unit, lo, hi, "
		 "level FROM records LEFT JOIN metrics ON metrics.seq = records.seq AND tag = :tag "
		 "%s ORDER BY at DESC, records.seq DESC LIMIT :limit",
		 w.sql);
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(&w, s);
	history_bind_text(s, sqlite->bind_parameter_index(s, ":tag"),
			  metric ? metric : HISTORY_METRIC);
	status = history_step(h, s, &row, "read", err);
	while (status == DCK_OK && row) {
		list_entry_read(s, &e);
		if (!each(self, &e))
			break;
		status = history_step(h, s, &row, "read", err);
	}
	sqlite->finalize(s);
	return status;
}

dck_status dck_history_size(dck_history *h, const dck_history_filter *f, uint64_t *ret,
			    dck_err *err)
{
	history_where w;
	char sql[640];
	sqlite3_stmt *s;
	bool row = false;
	dck_status status;

	DCK_TRY(history_where_make(f, &w, err));
	snprintf(sql, sizeof sql, "SELECT count(*) FROM records %s", w.sql);
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(&w, s);
	status = history_step(h, s, &row, "read", err);
	if (status == DCK_OK)
		*ret = row ? (uint64_t)sqlite->column_int64(s, 0) : 0;
	sqlite->finalize(s);
	return status;
}
