/* store.h - what the files of this room share: the SQLite connection, statements, SQLite's
 * failures as sentences, and the parts of the work that more than one file needs. Users of the
 * history see only deepclock/history.h.
 *
 *	DCK_TRY(history_begin(h, err));
 *	status = history_insert(h, record, text, commit, &is_new, err);
 *	return history_end(h, status, err);
 *
 * The text of a record is kept as it was given; all other columns are an index that is made from
 * it. A record is added completely or not at all, because history_begin() and history_end() stand
 * around it. A file that is no history, or one of a newer version, is refused unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_STORE_H
#define HISTORY_STORE_H

#include "deepclock/history.h"
#include "base/mem.h"
#include "history/lazy_sqlite.h"

#define HISTORY_METRIC "latency/median" /* where no metric is named */

struct dck_history {
	sqlite3 *db;
	char *path; /* as it was asked for */
	uint64_t wait_ns;
	bool writable;
	int failed; /* SQLite's primary code of the last failure */
};

/* --- db.c */
/* What SQLite's code means for the user, as an error; `what`: "add a record to", "read". */
dck_status history_failed(dck_history *h, int rc, const char *what, dck_err *err);
/* Statements that give no rows. */
dck_status history_run(dck_history *h, const char *sql, const char *what, dck_err *err);
dck_status history_prepare(dck_history *h, const char *sql, sqlite3_stmt **ret, const char *what,
			   dck_err *err);
/* *ret: there is a row. */
dck_status history_step(dck_history *h, sqlite3_stmt *s, bool *ret, const char *what, dck_err *err);
/* The one integer that a statement gives. */
dck_status history_integer(dck_history *h, const char *sql, int64_t *ret, dck_err *err);
/* begin takes the right to write, so that nothing fails for that later. */
dck_status history_begin(dck_history *h, dck_err *err);
/* All that is read until history_end() is of one moment. */
dck_status history_begin_read(dck_history *h, dck_err *err);
/* Commits when status is DCK_OK, else takes all back; returns what went wrong first. */
dck_status history_end(dck_history *h, dck_status status, dck_err *err);
/* NULL text binds NULL. */
void history_bind_text(sqlite3_stmt *s, int at, const char *text);

/* --- schema.c */
#define HISTORY_APPLICATION 0x44434b48 /* "DCKH", in the file's header */
int history_schema_version(void);
/* Refuses what is no history, or newer. *ret_version: what it is of; 0: there is nothing in it. */
dck_status history_schema_check(dck_history *h, int *ret_version, dck_err *err);
/* Brings it up to date, in one step or not at all. */
dck_status history_schema_upgrade(dck_history *h, dck_err *err);

/* --- db_file.c */
/* E_FORMAT: what is there is no SQLite file. *ret_exists: there is a file with something in it. */
dck_status history_place_check(const char *path, bool *ret_exists, dck_err *err);

/* A write-ahead log lies beside the file and has something in it. */
bool history_place_log_waits(const char *path);
/* Of the file; -1: not known. */
int64_t history_place_bytes(const char *path);

/* --- identity.c: by what the index finds a record's like */
#define HISTORY_KEY_SIZE 17 /* 16 hexadecimal digits */
typedef struct history_identity {
	char machine[HISTORY_KEY_SIZE], method[HISTORY_KEY_SIZE];
	char verb[32]; /* "bench"; "" where the title is no command of deepclock */
	const char *subject, *engine, *cpu; /* borrowed from the record; NULL: not known */
} history_identity;
void history_identify(const dck_record *r, history_identity *ret);

/* --- time_parse.c */
/* A date, a time or an age, as unix nanoseconds; now_ns: an age is before it. */
dck_status history_when(const char *text, int64_t now_ns, int64_t *ret, dck_err *err);

/* --- add.c */
typedef struct history_text {
	const char *json;
	size_t n;
} history_text;
bool history_commit_fits(const char *commit); /* may stand in the index */
/* A metric of that value is in the index. */
bool history_is_number(const dck_value *v);
/* Inside history_begin(): keeps r, whose JSON form is `text`. */
dck_status history_insert(dck_history *h, const dck_record *r, history_text text,
			  const char *commit, bool *ret_new, dck_err *err);

/* --- filter.c: the WHERE clause of a filter, and its values. */
typedef struct history_where {
	char sql[512]; /* "WHERE ...", over the table records */
	const char *subject, *command, *commit;
	int64_t since, until;
	int64_t limit; /* -1: none */
} history_where;
dck_status history_where_make(const dck_history_filter *f, history_where *ret, dck_err *err);
/* Binds :subject, :command, :commit, :since, :until, :limit where the statement has them. */
void history_where_bind(const history_where *w, sqlite3_stmt *s);

/* --- find.c */
/* The newest complete records that began before r and have its command, subject, machine and
 * method: (seq, id) of at most `limit`, as a statement that the caller finalizes. */
dck_status history_earlier(dck_history *h, const dck_record *r, int limit,
			   history_identity *ret_who, sqlite3_stmt **ret, dck_err *err);
/* Appends the text of the record of that number; E_FORMAT when it is not what was stored. */
dck_status history_text_get(dck_history *h, int64_t seq, const char *id, dck_buffer *ret,
			    dck_err *err);

#endif
