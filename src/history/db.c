/* db.c - statements, transactions, and messages of SQLite's errors.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include <errno.h>

/* --- failures */

typedef struct failure {
	int rc; /* primary result code of SQLite */
	dck_status code;
	bool system;	 /* the system's error (errno) is more specific */
	const char *why; /* after "cannot WHAT the history 'PATH': " */
} failure;

static const failure failures[] = {
    {SQLITE_NOTADB, DCK_E_FORMAT, false,
     "it is not an SQLite file; it was not changed: name another file with --db"},
    {SQLITE_CORRUPT, DCK_E_FORMAT, false,
     "it is damaged; it was not changed: put a copy in its place, or name another file with --db"},
    {SQLITE_FULL, DCK_E_IO, false, "the disk is full; the earlier content is intact"},
    {SQLITE_BUSY, DCK_E_IO, false, "another program holds it; try again when that is done"},
    {SQLITE_LOCKED, DCK_E_IO, false, "another program holds it; try again when that is done"},
    {SQLITE_READONLY, DCK_E_IO, false,
     "it may only be read: change its permissions, or name another file with --db"},
    {SQLITE_PERM, DCK_E_IO, true, "permission denied"},
    {SQLITE_CANTOPEN, DCK_E_IO, true, "the file or its log cannot be opened or created"},
    {SQLITE_IOERR, DCK_E_IO, true, "the disk is full or failed, or a file may not grow"},
    {SQLITE_NOMEM, DCK_E_NOMEM, false, "out of memory"},
    {SQLITE_TOOBIG, DCK_E_LIMIT, false, "the record is too large"},
};

dck_status history_failed(dck_history *h, int rc, const char *what, dck_err *err)
{
	const int left = errno; /* set to 0 before SQLite was called */
	const int primary = rc & 0xff, kept = h->db ? sqlite->system_errno(h->db) : 0;
	const int native = kept > 0 ? kept : left;

	h->failed = primary;
	for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
		const failure *f = &failures[i];

		if (f->rc != primary)
			continue;
		if (f->system && native == ENOSPC)
			return history_failed(h, SQLITE_FULL, what, err);
		if (f->system && native > 0)
			return err_set_errno(err, f->code, __FILE__, __LINE__, native,
					     "cannot %s the history '%s'", what, h->path);
		return err_set(err, f->code, __FILE__, __LINE__, "cannot %s the history '%s': %s",
			       what, h->path, f->why);
	}
	DCK_FAIL(err, E_IO, "cannot %s the history '%s': %s", what, h->path,
		 h->db ? sqlite->errmsg(h->db) : sqlite->errstr(rc));
}

/* --- statements */

dck_status history_run(dck_history *h, const char *sql, const char *what, dck_err *err)
{
	errno = 0;
	const int rc = sqlite->exec(h->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? DCK_OK : history_failed(h, rc, what, err);
}

dck_status history_prepare(dck_history *h, const char *sql, sqlite3_stmt **ret, const char *what,
			   dck_err *err)
{
	errno = 0;
	const int rc = sqlite->prepare_v2(h->db, sql, -1, ret, NULL);

	return rc == SQLITE_OK ? DCK_OK : history_failed(h, rc, what, err);
}

dck_status history_step(dck_history *h, sqlite3_stmt *s, bool *ret, const char *what, dck_err *err)
{
	errno = 0;
	const int rc = sqlite->step(s);

	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return history_failed(h, rc, what, err);
	*ret = rc == SQLITE_ROW;
	return DCK_OK;
}

dck_status history_integer(dck_history *h, const char *sql, int64_t *ret, dck_err *err)
{
	sqlite3_stmt *s;
	bool row = false;
	dck_status status;

	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	status = history_step(h, s, &row, "read", err);
	if (status == DCK_OK)
		*ret = row ? sqlite->column_int64(s, 0) : 0;
	sqlite->finalize(s);
	return status;
}

void history_bind_text(sqlite3_stmt *s, int at, const char *text)
{
	sqlite->bind_text(s, at, text, -1, SQLITE_STATIC);
}

dck_status history_begin(dck_history *h, dck_err *err)
{
	if (!h->writable)
		return history_failed(h, SQLITE_READONLY, "write", err);
	return history_run(h, "BEGIN IMMEDIATE", "write", err);
}

dck_status history_begin_read(dck_history *h, dck_err *err)
{
	return history_run(h, "BEGIN", "read", err);
}

dck_status history_end(dck_history *h, dck_status status, dck_err *err)
{
	if (status == DCK_OK)
		status = history_run(h, "COMMIT", "write", err);
	/* A failed statement may have rolled the transaction back. */
	if (status != DCK_OK && !sqlite->get_autocommit(h->db))
		sqlite->exec(h->db, "ROLLBACK", NULL, NULL, NULL);
	return status;
}
