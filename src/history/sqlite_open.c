/* sqlite_open.c - opens the SQLite database: write-ahead log, untrusted content, integrity check.
 *
 * Concurrency: journal_mode=WAL, so readers do not wait, and one writer at a time waits at most
 * wait_ns (busy_handler); synchronous=FULL, so a committed record survives a power loss. Where the
 * file system cannot do that, a rollback journal is used. A file in a read-only directory is opened
 * with immutable=1, unless its log has content.
 *
 * Untrusted content: triggers and views are off, the schema is not trusted, lengths are limited to
 * LENGTH_MAX, cell_size_check is on, and quick_check runs over a file of at most LOOK_THROUGH_BYTES
 * before the first write. open_path() checks the header of the file (db_file.c) before SQLite is
 * loaded, then the schema, then upgrades it: a file that is damaged, newer or no history is refused
 * unchanged.
 *
 * A connection belongs to one thread at a time (SQLITE_OPEN_NOMUTEX) and to the process that opened
 * it. Sources: https://sqlite.org/wal.html, uri.html, security.html.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "history/sqlite.h"
#include "base/err.h"
#include "base/observer.h"
#include "os/os.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Files up to this size are checked whole before the first write, at about 0.5 ms per MiB. */
#define LOOK_THROUGH_BYTES (INT64_C(64) << 20)
/* Records are at most 256 MiB (dck_record_load); no statement or value is longer. */
#define LENGTH_MAX ((256 << 20) + 4096)

/* --- failures */

typedef struct sqlite_failure {
	int rc; /* primary result code of SQLite */
	dck_status code;
	bool system;	 /* the system's error (errno) is more specific */
	const char *why; /* after "cannot WHAT the history 'PATH': " */
} sqlite_failure;

static const sqlite_failure sqlite_failures[] = {
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

dck_status sqlite_failed(dck_history *h, int rc, const char *what, dck_err *err)
{
	const int left = errno; /* set to 0 before SQLite was called */
	const int primary = rc & 0xff, kept = h->db ? sqlite->system_errno(h->db) : 0;
	const int native = kept > 0 ? kept : left;

	h->failed = primary;
	if (primary == SQLITE_BUSY && observer_cancelled(h->watch))
		DCK_FAIL(err, E_CANCEL, "interrupted while another program held the history '%s'",
			 h->path);
	for (size_t i = 0; i < sizeof sqlite_failures / sizeof sqlite_failures[0]; i++) {
		const sqlite_failure *f = &sqlite_failures[i];

		if (f->rc != primary)
			continue;
		if (f->system && native == ENOSPC)
			return sqlite_failed(h, SQLITE_FULL, what, err);
		if (f->system && native == EFBIG && strcmp(what, "read") == 0) /* a log */
			what = "write";
		if (f->system && native > 0)
			return err_set_errno(err, f->code, __FILE__, __LINE__, native,
					     "cannot %s the history '%s'", what, h->path);
		return err_set(err, f->code, __FILE__, __LINE__, "cannot %s the history '%s': %s",
			       what, h->path, f->why);
	}
	DCK_FAIL(err, E_IO, "cannot %s the history '%s': %s", what, h->path,
		 h->db ? sqlite->errmsg(h->db) : sqlite->errstr(rc));
}

dck_status sqlite_run(dck_history *h, const char *sql, const char *what, dck_err *err)
{
	errno = 0;
	const int rc = sqlite->exec(h->db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? DCK_OK : sqlite_failed(h, rc, what, err);
}

/* --- opening */

/* Returns a name that SQLite opens as a plain file: ":memory:" and "file:..." are special to it. */
static char *name_plain(const char *path)
{
	char *name = mem_alloc(strlen(path) + 3);

	if (name)
		sprintf(name, "%s%s", path[0] == '/' ? "" : "./", path);
	return name;
}

/* Returns "file:NAME?immutable=1" with the name percent-encoded. */
static char *name_immutable(const char *path)
{
	char *plain = name_plain(path), *name = mem_alloc(3 * strlen(path) + 40), *p = name;

	if (plain && name) {
		p += sprintf(p, "file:");
		for (const unsigned char *c = (const unsigned char *)plain; *c; c++)
			p += sprintf(p,
				     strchr("/.-_", *c) || (*c >= '0' && *c <= '9') ||
					     (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z')
					 ? "%c"
					 : "%%%02X",
				     *c);
		strcpy(p, "?immutable=1");
	}
	mem_free(plain);
	return plain ? name : NULL;
}

/* Waits for the lock of another program. Returns 0 to give up. n: how often it waited for this one.
 */
static int busy_wait(void *history, int n)
{
	static const uint8_t ms[] = {1, 2, 5, 10, 15, 20, 25, 25, 25, 50, 50, 100};
	const int last = (int)(sizeof ms - 1);
	dck_history *h = history;
	const uint64_t now = os_now_ns(), pause_ns = ms[n < last ? n : last] * UINT64_C(1000000);

	if (n == 0)
		h->waits_ns = now;
	const uint64_t waited = now - h->waits_ns;
	if (waited >= h->wait_ns || observer_cancelled(h->watch))
		return 0;
	os_sleep_ns(pause_ns < h->wait_ns - waited ? pause_ns : h->wait_ns - waited, NULL, NULL);
	return 1;
}

static dck_status connect(dck_history *h, char *name, int flags, dck_err *err)
{
	int rc;

	DCK_NEED(name, err, "to open the history");
	errno = 0;
	rc = sqlite->open_v2(name, &h->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
			     NULL);
	mem_free(name);
	if (rc != SQLITE_OK)
		return sqlite_failed(h, rc, "open", err);
	sqlite->busy_handler(h->db, busy_wait, h);
	/* The file may be hostile: nothing in it is executed. */
	sqlite->db_config(h->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite->db_config(h->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	sqlite->db_config(h->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite->limit(h->db, SQLITE_LIMIT_LENGTH, LENGTH_MAX);
	return sqlite_run(h, "PRAGMA cell_size_check=ON; PRAGMA foreign_keys=ON", "open", err);
}

void sqlite_close(dck_history *h)
{
	if (h->db) /* without it, SQLite may not be loaded */
		sqlite->close(h->db);
	h->db = NULL;
}

/* In a read-only directory SQLite cannot create the log and the shared memory of WAL. If no log has
 * content, and no process can write, the file alone is complete. */
static dck_status connect_immutable(dck_history *h, dck_err *err)
{
	int version;

	if (history_place_log_waits(h->path))
		DCK_FAIL(err, E_IO,
			 "cannot read the history '%s': it has a log next to it, and the "
			 "directory is not writable; copy both elsewhere",
			 h->path);
	sqlite_close(h);
	DCK_TRY(connect(h, name_immutable(h->path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, err));
	h->writable = false;
	DCK_TRY(history_schema_check(h, &version, err));
	return history_old_refused(h, version, err);
}

/* SQLite detects damage only in the pages it reads, so a small file is read whole before it is
 * changed. */
static dck_status look_through(dck_history *h, dck_err *err)
{
	int64_t pages, page_bytes;
	history_statement *s;
	bool row = false;
	dck_status status;

	DCK_TRY(history_integer(h, "PRAGMA page_count", &pages, err));
	DCK_TRY(history_integer(h, "PRAGMA page_size", &page_bytes, err));
	/* SQLite writes whole pages, but accepts a truncated last page. */
	if (!history_place_log_waits(h->path) && history_place_bytes(h->path) % page_bytes != 0)
		return sqlite_failed(h, SQLITE_CORRUPT, "use", err);
	if (pages * page_bytes > LOOK_THROUGH_BYTES)
		return DCK_OK;
	DCK_TRY(history_prepare(h, "PRAGMA quick_check(1)", &s, "read", err));
	status = history_step(s, &row, err);
	if (status == DCK_OK && row && strcmp(history_text(s, 0), "ok") != 0)
		status = sqlite_failed(h, SQLITE_CORRUPT, "use", err);
	history_finalize(s);
	return status;
}

/* Switches to a write-ahead log: readers and one writer at a time do not wait for each other, and
 * uncommitted changes of a killed program are not visible. A file is switched once; that needs an
 * exclusive lock, to which SQLite does not apply its busy timeout, so this loop retries. */
static dck_status log_ahead(dck_history *h, dck_err *err)
{
	const uint64_t begin = os_now_ns();
	int rc;

	for (;;) {
		sqlite3_stmt *s;
		bool wal = false;

		errno = 0;
		rc = sqlite->prepare_v2(h->db, "PRAGMA journal_mode=WAL", -1, &s, NULL);
		if (rc == SQLITE_OK) {
			rc = sqlite->step(s);
			wal = rc == SQLITE_ROW &&
			      strcmp((const char *)sqlite->column_text(s, 0), "wal") == 0;
			sqlite->finalize(s);
		}
		if (wal)
			return DCK_OK;
		if ((rc & 0xff) != SQLITE_BUSY || os_now_ns() - begin > h->wait_ns ||
		    observer_cancelled(h->watch))
			break;
		os_sleep_ns(10000000, NULL, NULL);
	}
	/* The file system does not support it: a rollback journal is as safe, with more waiting. */
	if (rc == SQLITE_ROW)
		return DCK_OK;
	return sqlite_failed(h, rc, "open", err);
}

static dck_status open_writable(dck_history *h, int version, dck_err *err)
{
	DCK_TRY(look_through(h, err));
	/* Lets the space of removed records be returned; it must be set before any table exists. */
	if (version == 0)
		DCK_TRY(sqlite_run(h, "PRAGMA auto_vacuum=INCREMENTAL", "open", err));
	DCK_TRY(log_ahead(h, err));
	/* Committed data also survives a loss of power. */
	DCK_TRY(sqlite_run(h, "PRAGMA synchronous=FULL", "open", err));
	return version == dck_history_schema() ? DCK_OK : history_schema_upgrade(h, err);
}

static dck_status open_there(dck_history *h, bool exists, dck_err *err)
{
	int version = 0;
	dck_status status;

	DCK_TRY(connect(h, name_plain(h->path),
			SQLITE_OPEN_READWRITE | (exists ? 0 : SQLITE_OPEN_CREATE), err));
	h->writable = sqlite->db_readonly(h->db, "main") == 0;
	status = history_schema_check(h, &version, err);
	if (status != DCK_OK && exists &&
	    (h->failed == SQLITE_CANTOPEN || h->failed == SQLITE_READONLY))
		return connect_immutable(h, err);
	DCK_TRY(status);
	if (h->writable)
		return open_writable(h, version, err);
	return history_old_refused(h, version, err);
}

dck_status sqlite_open(dck_history *h, bool existing, dck_err *err)
{
	bool exists = false;

	DCK_TRY(history_place_check(h->path, &exists, err));
	if (!exists && existing)
		return history_absent(h, err);
	DCK_TRY(history_library(sqlite_load(err), err));
	if (!exists)
		DCK_TRY(os_mkdir_parents(h->path, "the history", err));
	/* SQLite would open it read-only then, and report only that it is missing. */
	if (!exists && !os_file_exists(h->path) && !os_path_can_be_made(h->path))
		DCK_FAIL_ERRNO(err, E_IO, errno, "cannot make the history '%s'", h->path);
	return open_there(h, exists, err);
}
