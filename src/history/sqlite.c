/* sqlite.c - SQLite as the database of a history: statements, the layout's version, and messages of
 * its errors. sqlite_open.c opens the file.
 *
 * A writer takes the lock of the file before its first statement (BEGIN IMMEDIATE) and waits for it
 * up to the busy timeout, so no transaction is ended in favour of another one. The version is
 * user_version, and application_id marks a history. Source: https://sqlite.org/rescode.html.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "history/sqlite.h"
#include "base/err.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* --- statements */

static dck_status sqlite_prepare(history_statement *s, const char *sql, bool many, dck_err *err)
{
	sqlite3_stmt *made;
	int rc;

	(void)many; /* rows are read one by one */
	errno = 0;
	rc = sqlite->prepare_v2(s->h->db, sql, -1, &made, NULL);
	s->native = made;
	return rc == SQLITE_OK ? DCK_OK : sqlite_failed(s->h, rc, s->what, err);
}

/* Index 0 means no parameter, and binding it has no effect. A value that is too large sets
 * h->unbound, else it would be stored as NULL. */
static void sqlite_bind(history_statement *s, const char *name, const history_value *v)
{
	const int at = sqlite->bind_parameter_index(s->native, name);
	int rc = SQLITE_OK;

	if (v->kind == HISTORY_INT)
		sqlite->bind_int64(s->native, at, v->i);
	else if (v->kind == HISTORY_REAL)
		sqlite->bind_double(s->native, at, v->real);
	else if (v->kind == HISTORY_TEXT)
		sqlite->bind_text(s->native, at, v->data, -1, SQLITE_STATIC);
	else if (v->kind == HISTORY_BLOB)
		rc = sqlite->bind_blob64(s->native, at, v->data, v->n, SQLITE_STATIC);
	if (rc != SQLITE_OK)
		s->h->unbound = rc;
}

static dck_status sqlite_step(history_statement *s, bool *ret, dck_err *err)
{
	int rc = s->h->unbound;

	s->h->unbound = SQLITE_OK;
	errno = 0;
	if (rc == SQLITE_OK)
		rc = sqlite->step(s->native);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return sqlite_failed(s->h, rc, s->what, err);
	*ret = rc == SQLITE_ROW;
	return DCK_OK;
}

static void sqlite_finalize(history_statement *s)
{
	sqlite->finalize(s->native);
}

static void sqlite_column(history_statement *s, int i, history_value *ret)
{
	switch (sqlite->column_type(s->native, i)) {
	case SQLITE_INTEGER:
		*ret =
		    (history_value){.kind = HISTORY_INT, .i = sqlite->column_int64(s->native, i)};
		break;
	case SQLITE_FLOAT:
		*ret = (history_value){.kind = HISTORY_REAL,
				       .real = sqlite->column_double(s->native, i)};
		break;
	case SQLITE_BLOB:
		ret->kind = HISTORY_BLOB;
		ret->data = sqlite->column_blob(s->native, i);
		ret->n = (size_t)sqlite->column_bytes(s->native, i);
		break;
	case SQLITE_TEXT:
		ret->kind = HISTORY_TEXT;
		ret->data = sqlite->column_text(s->native, i);
		ret->n = (size_t)sqlite->column_bytes(s->native, i);
		break;
	default:
		break;
	}
}

static bool sqlite_in_transaction(dck_history *h)
{
	return sqlite->get_autocommit(h->db) == 0;
}

/* A writer waits for the lock before its first statement (BEGIN IMMEDIATE). */
static bool sqlite_again(dck_history *h, bool *ret_lost)
{
	(void)h;
	(void)ret_lost;
	return false;
}

static dck_status sqlite_read_only(dck_history *h, const char *what, dck_err *err)
{
	return sqlite_failed(h, SQLITE_READONLY, what, err);
}

/* --- layout */

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
	dck_status status;

	if (sqlite_in_transaction(h))
		return schema_header_read(h, ret, err);
	DCK_TRY(sqlite_run(h, "BEGIN", "read", err));
	status = schema_header_read(h, ret, err);
	if (sqlite_in_transaction(h))
		sqlite->exec(h->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}

static dck_status sqlite_version_get(dck_history *h, int *ret, dck_err *err)
{
	header head;

	DCK_TRY(header_at_once(h, &head, err));
	if (head.tables > 0 && head.application != HISTORY_APPLICATION)
		DCK_FAIL(err, E_FORMAT,
			 "'%s' is a database of another program, not a history of deepclock; "
			 "it was not changed: name another file with --db",
			 h->path);
	if (head.version < 0 || (head.tables > 0) != (head.version > 0) ||
	    (head.tables > 0 && head.version <= dck_history_schema() && head.ours != 3))
		return sqlite_failed(h, SQLITE_CORRUPT, "use", err);
	*ret = (int)head.version;
	return DCK_OK;
}

static dck_status sqlite_version_set(dck_history *h, int version, dck_err *err)
{
	char sql[120];

	snprintf(sql, sizeof sql, "PRAGMA application_id=%d; PRAGMA user_version=%d",
		 HISTORY_APPLICATION, version);
	return sqlite_run(h, sql, "lay out", err);
}

/* A transaction that writes is alone. */
static dck_status sqlite_layout_lock(dck_history *h, dck_err *err)
{
	(void)h;
	(void)err;
	return DCK_OK;
}

/* --- maintenance */

/* Returns free pages to the file system. A failure is ignored: the file only stays large. The
 * checkpoint does not wait for readers, which may stay for long: the log is cut by a later one. */
static void sqlite_space_return(dck_history *h)
{
	const uint64_t wait_ns = h->wait_ns;

	sqlite->exec(h->db, "PRAGMA incremental_vacuum", NULL, NULL, NULL);
	h->wait_ns = 0;
	sqlite->exec(h->db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
	h->wait_ns = wait_ns;
}

static dck_status sqlite_check(dck_history *h, uint64_t *ret_bytes, dck_err *err)
{
	int64_t pages, page_bytes;
	history_statement *s;
	bool row = false;
	const char *said;
	dck_status status;

	DCK_TRY(history_prepare(h, "PRAGMA integrity_check(1)", &s, "check", err));
	status = history_step(s, &row, err);
	said = status == DCK_OK && row ? history_text(s, 0) : "";
	if (status == DCK_OK && strcmp(said, "ok") != 0)
		status = ERR_SET(err, E_FORMAT, "the history '%s' is damaged: %s", h->path, said);
	history_finalize(s);
	DCK_TRY(status);
	DCK_TRY(history_integer(h, "PRAGMA page_count", &pages, err));
	DCK_TRY(history_integer(h, "PRAGMA page_size", &page_bytes, err));
	*ret_bytes = (uint64_t)(pages * page_bytes);
	return DCK_OK;
}

const history_database history_sqlite_database = {
    .dialect = 0,
    /* Takes the write lock at once, so that no later statement fails to get it. */
    .write = "BEGIN IMMEDIATE",
    .write_alone = "BEGIN IMMEDIATE",
    .read = "BEGIN",
    .open = sqlite_open,
    .close = sqlite_close,
    .run = sqlite_run,
    .prepare = sqlite_prepare,
    .bind = sqlite_bind,
    .step = sqlite_step,
    .finalize = sqlite_finalize,
    .column = sqlite_column,
    .in_transaction = sqlite_in_transaction,
    .again = sqlite_again,
    .read_only = sqlite_read_only,
    .version_get = sqlite_version_get,
    .version_set = sqlite_version_set,
    .layout_lock = sqlite_layout_lock,
    .space_return = sqlite_space_return,
    .check = sqlite_check,
};
