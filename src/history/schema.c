/* schema.c - how the file is laid out. The record's text is what counts; everything in `records`
 * and `metrics` is an index that was read from it, so that lists and trends read no text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include <stdio.h>

/* Texts are in a separate table, so that a list reads small adjacent rows. */
/* From each version to the next; NULL-ended. */
static const char *const history_schema_steps[] = {
    /* 0 -> 1 */
    "CREATE TABLE records ( seq INTEGER PRIMARY KEY," /* in the order of adding */
    " id TEXT NOT NULL UNIQUE,"
    " at INTEGER NOT NULL," /* unix ns: began, or else added */
    " added INTEGER NOT NULL, command TEXT, verb TEXT, subject TEXT, engine TEXT, cpu TEXT, "
    "machine TEXT NOT NULL, method TEXT NOT NULL, commit_id TEXT, incomplete INTEGER NOT NULL, "
    "bytes INTEGER NOT NULL);CREATE INDEX records_at ON records (at, "
    "seq);CREATE INDEX records_subject ON records (subject, at, "
    "seq);CREATE TABLE texts ( seq INTEGER PRIMARY KEY REFERENCES records ON DELETE CASCADE, "
    "sum INTEGER NOT NULL," /* of json: detects damage that leaves the structure intact */
    " json BLOB NOT NULL);CREATE TABLE metrics ( seq INTEGER NOT NULL REFERENCES records ON DELETE "
    "CASCADE, tag TEXT NOT NULL, value NOT NULL," /* integer or real; metrics without a number are
						     in the text alone */
    " unit TEXT NOT NULL,"
    " lo REAL, hi REAL, level REAL,"
    " PRIMARY KEY (seq, tag)) WITHOUT ROWID;",
    /* 1 -> 2: a baseline is found without a scan of all records of a subject */
    "CREATE INDEX records_alike ON records (subject, verb, machine, method, at, seq);",
    /* 2 -> 3: keys_renew(), as the seed no longer separates records */
    "",
    /* 3 -> 4: metrics that were renamed before 0.1 (record/renamed.c) */
    "UPDATE OR IGNORE metrics SET tag = 'load/abandoned' WHERE tag = 'load/unserved';"
    "UPDATE OR IGNORE metrics SET tag = 'memory/heap_runtime' WHERE tag = 'memory/heap_kept';",
    NULL,
};

int history_schema_version(void)
{
	int n = 0;

	while (history_schema_steps[n])
		n++;
	return n;
}

typedef struct header {
	int64_t application, version;
	int64_t tables, ours; /* ours: of the tables that every version has */
} header;

static dck_status schema_header_read(dck_history *h, header *ret, dck_err *err)
{
	DCK_TRY(history_integer(h, "PRAGMA application_id", &ret->application, err));
	DCK_TRY(history_integer(h, "PRAGMA user_version", &ret->version, err));
	DCK_TRY(history_integer(h, "SELECT count(*) FROM sqlite_schema", &ret->tables, err));
	return history_integer(
	    h,
	    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('records', "
	    "'texts', 'metrics')",
	    &ret->ours, err);
}

/* Reads a consistent snapshot: another program may be creating the file. */
static dck_status header_at_once(dck_history *h, header *ret, dck_err *err)
{
	const bool alone = sqlite->get_autocommit(h->db) != 0;
	dck_status status;

	if (!alone)
		return schema_header_read(h, ret, err);
	DCK_TRY(history_run(h, "BEGIN", "read", err));
	status = schema_header_read(h, ret, err);
	if (!sqlite->get_autocommit(h->db))
		sqlite->exec(h->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

dck_status history_schema_check(dck_history *h, int *ret_version, dck_err *err)
{
	header head;

	DCK_TRY(header_at_once(h, &head, err));
	if (head.tables > 0 && head.application != HISTORY_APPLICATION)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is a database of another program, not a history of deepclock; "
			 "it was not changed: name another file with --db",
			 h->path);
	if (head.version > history_schema_version())
		DCK_FAIL(err, E_VERSION,
			 "the history '%s' was made by a newer deepclock (version %lld of its "
			 "layout, this one supports %d); it was not changed: use that deepclock, "
			 "or another file with --db",
			 h->path, (long long)head.version, history_schema_version());
	if (head.version < 0 || (head.tables > 0) != (head.version > 0) ||
	    (head.tables > 0 && head.ours != 3))
		return history_failed(h, SQLITE_CORRUPT, "use", err);
	*ret_version = (int)head.version;
	return DCK_OK;
}

/* Records of an older file have keys that an older record/comparable.c made. They are computed
 * again from the records' texts. The keys of an unreadable record stay. */
#define KEYS_VERSION 3

static dck_status key_renew(dck_history *h, int64_t seq, const char *id, dck_err *err)
{
	dck_buffer json = {0};
	dck_record *r = NULL;
	history_identity who;
	sqlite3_stmt *s;
	bool row;
	dck_status status = DCK_OK;

	if (history_text_get(h, seq, id, &json, NULL) == DCK_OK &&
	    dck_record_parse(json.data, json.n, &r, NULL) == DCK_OK) {
		history_identify(r, &who);
		status =
		    history_prepare(h, "UPDATE records SET machine = ?, method = ? WHERE seq = ?",
				    &s, "lay out", err);
		if (status == DCK_OK) {
			history_bind_text(s, 1, who.machine);
			history_bind_text(s, 2, who.method);
			sqlite->bind_int64(s, 3, seq);
			status = history_step(h, s, &row, "lay out", err);
			sqlite->finalize(s);
		}
	}
	dck_record_free(r);
	dck_buffer_done(&json);
	return status;
}

static dck_status keys_renew(dck_history *h, dck_err *err)
{
	sqlite3_stmt *s;
	bool row = true;
	dck_status status;

	DCK_TRY(history_prepare(h, "SELECT seq, id FROM records ORDER BY seq", &s, "read", err));
	status = history_step(h, s, &row, "read", err);
	while (status == DCK_OK && row) {
		status = key_renew(h, sqlite->column_int64(s, 0),
				   (const char *)sqlite->column_text(s, 1), err);
		if (status == DCK_OK)
			status = history_step(h, s, &row, "read", err);
	}
	sqlite->finalize(s);
	return status;
}

static dck_status steps_run(dck_history *h, int version, dck_err *err)
{
	const bool old_keys = version > 0 && version < KEYS_VERSION;
	char sql[120];

	while (history_schema_steps[version])
		DCK_TRY(history_run(h, history_schema_steps[version++], "lay out", err));
	if (old_keys)
		DCK_TRY(keys_renew(h, err));
	snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 HISTORY_APPLICATION, version);
	return history_run(h, sql, "lay out", err);
}

dck_status history_schema_upgrade(dck_history *h, dck_err *err)
{
	dck_status status;
	int version = 0;

	DCK_TRY(history_begin(h, err));
	/* Another program may have done it in the meantime. */
	status = history_schema_check(h, &version, err);
	if (status == DCK_OK && version < history_schema_version())
		status = steps_run(h, version, err);
	return history_end(h, status, err);
}
