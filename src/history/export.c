/* export.c - records out of the file again: as lines of JSON, or their metrics as CSV. One record
 * is in memory at a time.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/csv_write.h"
#include "base/err.h"
#include "base/sink.h"
#include "record/build.h"
#include "record/record_internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Texts are escaped in one place. */
static void origin_write(const history_origin *from, dck_sink *out)
{
	const struct {
		const char *key, *value;
	} all[] = {{"commit", from->commit}, {"branch", from->branch}, {"host", from->host}};
	const char *between = ",\"history\":{";

	for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
		json_writer w;

		if (!all[i].value)
			continue;
		sink_fmt(out, "%s\"%s\":", between, all[i].key);
		json_init(&w, out, false);
		json_text(&w, all[i].value);
		between = ",";
	}
	if (between[1] == '\0')
		sink_text(out, "}");
}

/* The record on one line, with a member that readers of records pass over. */
static dck_status export_line_write(const dck_record *r, const history_origin *from, dck_sink *out,
				    dck_err *err)
{
	dck_buffer line = {0};
	dck_sink sink;
	json_writer w;
	dck_status status;

	dck_sink_buffer(&sink, &line);
	json_init(&w, &sink, false);
	record_json_put(r, &w);
	json_done(&w);
	status = dck_sink_finish(&sink, err);
	if (status == DCK_OK) {
		char *end = strrchr(line.data, '}');

		sink_put(out, line.data, (size_t)(end - line.data));
		origin_write(from, out);
		sink_text(out, "}\n");
	}
	dck_buffer_done(&line);
	return status;
}

static dck_status record_export(dck_history *h, history_statement *s, dck_sink *out, dck_err *err)
{
	const history_origin from = {history_text(s, 2), history_text(s, 3), history_text(s, 4)};
	dck_buffer json = {0};
	dck_record *r = NULL;
	dck_status status = history_text_get(h, history_int(s, 0), history_text(s, 1), &json, err);

	DCK_NEXT(status, dck_record_parse(json.data, json.n, &r, err));
	dck_buffer_done(&json);
	DCK_NEXT(status, export_line_write(r, &from, out, err));
	dck_record_free(r);
	return status;
}

/* `columns` and `join` of the newest records of f, oldest of them first. */
static dck_status rows_each(dck_history *h, const dck_history_filter *f, const char *columns,
			    const char *join, const char *order, dck_sink *out,
			    dck_status (*each)(dck_history *h, history_statement *s, dck_sink *out,
					       dck_err *err),
			    dck_err *err)
{
	history_where w;
	char sql[1400];
	history_statement *s;
	dck_status status = DCK_OK;

	DCK_TRY(history_where_make(f, &w, err));
	snprintf(sql, sizeof sql,
		 "SELECT %s FROM (SELECT * FROM records %s ORDER BY at DESC, "
		 "seq DESC LIMIT :limit) AS r %s ORDER BY r.at, r.seq%s",
		 columns, w.sql, join, order);
	DCK_TRY(history_prepare_many(h, sql, &s, "read", err));
	history_where_bind(&w, s);
	/* A reader that closed the pipe ends it. */
	while (history_next(s, &status, err) && !out->failed)
		status = each(h, s, out, err);
	history_finalize(s);
	return status;
}

dck_status dck_history_export(dck_history *h, const dck_history_filter *f, dck_sink *out,
			      dck_err *err)
{
	return rows_each(h, f, "r.seq, r.id, r.commit_id, r.branch, r.host", "", "", out,
			 record_export, err);
}

static void export_number_put(dck_sink *out, history_statement *s, int i)
{
	if (history_kind(s, i) == HISTORY_INT)
		sink_fmt(out, "%" PRId64, (int64_t)history_int(s, i));
	else if (history_kind(s, i) == HISTORY_REAL)
		csv_real(out, history_real(s, i));
}

static dck_status metric_export(dck_history *h, history_statement *s, dck_sink *out, dck_err *err)
{
	char began[RECORD_TIME_SIZE];

	(void)h;
	(void)err;
	csv_word(out, history_text(s, 0));
	record_time_text(history_int(s, 1), began);
	sink_fmt(out, ",%s", began);
	for (int i = 2; i < 8; i++) {
		sink_text(out, ",");
		csv_word(out, history_text(s, i));
	}
	sink_text(out, history_int(s, 8) ? ",true," : ",false,");
	csv_word(out, history_text(s, 9));
	for (int i = 10; i < 14; i++) {
		sink_text(out, ",");
		export_number_put(out, s, i);
	}
	sink_text(out, ",");
	csv_word(out, history_text(s, 14));
	sink_text(out, "\n");
	return DCK_OK;
}

dck_status dck_history_export_csv(dck_history *h, const dck_history_filter *f, dck_sink *out,
				  dck_err *err)
{
	sink_text(out, "id,time,command,subject,engine,machine,method,commit,incomplete,metric,"
		       "value,lo,hi,level,unit\n");
	return rows_each(h, f,
			 "r.id, r.at, r.verb, r.subject, r.engine, r.machine, r.method, "
			 "r.commit_id, r.incomplete, m.tag, m.value, m.lo, m.hi, m.level, m.unit",
			 "JOIN metrics AS m ON m.seq = r.seq", ", m.tag", out, metric_export, err);
}
