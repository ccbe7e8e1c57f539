/* schema.c - how the file is laid out. The record's text is what counts; everything in `records`
 * and `metrics` is an index that was read from it, so that lists and trends read no text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include <stdio.h>

/* Texts are in a table of their own: a list then reads small rows that lie side by side. */
const char *const history_schema_steps[] = {
    /* 0 -> 1 */
    "CREATE TABLE records ("
    " seq INTEGER PRIMARY KEY," /* in the order of adding */
    " id TEXT NOT NULL UNIQUE,"
    " at INTEGER NOT NULL," /* unix ns: began, or else added */
    " added INTEGER NOT NULL,"
    " command TEXT, verb TEXT, subject TEXT, engine TEXT, cpu TEXT,"
    " machine TEXT NOT NULL, method TEXT NOT NULL,"
    " commit_id TEXT,"
    " incomplete INTEGER NOT NULL,"
    " bytes INTEGER NOT NULL);"
    "CREATE INDEX records_at ON records (at, seq);"
    "CREATE INDEX records_subject ON records (subject, at, seq);"
    "CREATE TABLE texts ("
    " seq INTEGER PRIMARY KEY REFERENCES records ON DELETE CASCADE,"
    " sum INTEGER NOT NULL," /* of json: damage that leaves the structure whole is seen */
    " json BLOB NOT NULL);"
    "CREATE TABLE metrics ("
    " seq INTEGER NOT NULL REFERENCES records ON DELETE CASCADE,"
    " tag TEXT NOT NULL,"
    " value NOT NULL," /* integer or real; metrics without a number are in the text alone */
    " unit TEXT NOT NULL,"
    " lo REAL, hi REAL, level REAL,"
    " PRIMARY KEY (seq, tag)) WITHOUT ROWID;",
    /* 1 -> 2: a baseline is found without looking at every record of a subject */
    "CREATE INDEX records_alike ON records (subject, verb, machine, method, at, seq);",
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

static dck_status header_read(dck_history *h, header *ret, dck_err *err)
{
	DCK_TRY(history_integer(h, "PRAGMA application_id", &ret->application, err));
	DCK_TRY(history_integer(h, "PRAGMA user_version", &ret->version, err));
	DCK_TRY(history_integer(h, "SELECT count(*) FROM sqlite_schema", &ret->tables, err));
	return history_integer(
	    h,
	    "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN "
	    "('records', 'texts', 'metrics')",
	    &ret->ours, err);
}

/* All of one moment: another program may be laying out the file. */
static dck_status header_at_once(dck_history *h, header *ret, dck_err *err)
{
	const bool alone = sqlite3_get_autocommit(h->db) != 0;
	dck_status status;

	if (!alone)
		return header_read(h, ret, err);
	DCK_TRY(history_run(h, "BEGIN", "read", err));
	status = header_read(h, ret, err);
	if (!sqlite3_get_autocommit(h->db))
		sqlite3_exec(h->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

dck_status history_schema_check(dck_history *h, int *ret_version, dck_err *err)
{
	header head;

	DCK_TRY(header_at_once(h, &head, err));
	if (head.tables > 0 && head.application != HISTORY_APPLICATION)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is a database of another program, not a history of deepclock; it "
			 "was not changed: name another file with --db",
			 h->path);
	if (head.version > history_schema_version())
		DCK_FAIL(err, E_VERSION,
			 "the history '%s' was made by a newer deepclock (version %lld of its "
			 "layout, this one knows %d); it was not changed: use that deepclock, or "
			 "another file with --db",
			 h->path, (long long)head.version, history_schema_version());
	if (head.version < 0 || (head.tables > 0) != (head.version > 0) ||
	    (head.tables > 0 && head.ours != 3))
		return history_failed(h, SQLITE_CORRUPT, "use", err);
	*ret_version = (int)head.version;
	return DCK_OK;
}

static dck_status steps_run(dck_history *h, int version, dck_err *err)
{
	char sql[120];

	while (history_schema_steps[version])
		DCK_TRY(history_run(h, history_schema_steps[version++], "lay out", err));
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
