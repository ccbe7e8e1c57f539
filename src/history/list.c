/* list.c - many records, one at a time, from the index alone.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "record/record_internal.h"
#include <stdio.h>

static void value_column(history_statement *s, int i, dck_history_entry *e)
{
	const history_kind_of type = history_kind(s, i);

	e->value = (dck_value){.kind = DCK_VALUE_ABSENT, .as.text = "the record has none"};
	if (type == HISTORY_INT)
		e->value = (dck_value){.kind = DCK_VALUE_INT, .as.i = history_int(s, i)};
	else if (type == HISTORY_REAL)
		e->value = (dck_value){.kind = DCK_VALUE_REAL, .as.r = history_real(s, i)};
	else
		return;
	if (history_text(s, i + 1))
		record_find_unit(history_text(s, i + 1), &e->unit);
	e->lo = history_real(s, i + 2);
	e->hi = history_real(s, i + 3);
	e->level = history_real(s, i + 4);
}

static void list_entry_read(history_statement *s, dck_history_entry *e)
{
	*e = (dck_history_entry){
	    .id = history_text(s, 0),
	    .at_unix_ns = history_int(s, 1),
	    .command = history_text(s, 2),
	    .verb = history_text(s, 3),
	    .subject = history_text(s, 4),
	    .engine = history_text(s, 5),
	    .cpu = history_text(s, 6),
	    .commit = history_text(s, 7),
	    .machine = history_text(s, 8),
	    .method = history_text(s, 9),
	    .incomplete = history_int(s, 10) != 0,
	    .bytes = (uint64_t)history_int(s, 11),
	};
	value_column(s, 12, e);
	e->host = history_text(s, 17);
	e->branch = history_text(s, 18);
}

dck_status dck_history_list(dck_history *h, const dck_history_filter *f, const char *metric,
			    bool (*each)(void *self, const dck_history_entry *e), void *self,
			    dck_err *err)
{
	history_where w;
	char sql[1024];
	history_statement *s;
	dck_history_entry e;
	dck_status status = DCK_OK;

	DCK_TRY(history_where_make(f, &w, err));
	snprintf(
	    sql, sizeof sql,
	    "SELECT id, at, command, verb, subject, engine, cpu, commit_id, machine, method, "
	    "incomplete, bytes, value, unit, lo, hi, "
	    "level, host, branch FROM records LEFT JOIN metrics ON metrics.seq = records.seq AND tag = :tag "
	    "%s ORDER BY at DESC, records.seq DESC LIMIT :limit",
	    w.sql);
	DCK_TRY(history_prepare_many(h, sql, &s, "read", err));
	history_where_bind(&w, s);
	history_bind_text(s, ":tag", metric ? metric : HISTORY_METRIC);
	while (history_next(s, &status, err)) {
		list_entry_read(s, &e);
		if (!each(self, &e))
			break;
	}
	history_finalize(s);
	return status;
}

dck_status dck_history_size(dck_history *h, const dck_history_filter *f, uint64_t *ret,
			    dck_err *err)
{
	history_where w;
	char sql[640];
	history_statement *s;
	int64_t n;

	DCK_TRY(history_where_make(f, &w, err));
	snprintf(sql, sizeof sql, "SELECT count(*) FROM records %s", w.sql);
	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_where_bind(&w, s);
	DCK_TRY(history_finish(s, &n, err));
	*ret = (uint64_t)n;
	return DCK_OK;
}
