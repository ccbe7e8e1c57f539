/* store.h - private header of the history: the open history, and functions used by several files.
 * Callers of the history include only deepclock/history.h.
 *
 * The text of a record is stored unchanged; all other columns are an index derived from it. A
 * record is added completely or not at all, in a transaction of history_write(). A file that is not
 * a history, or has a newer version, is rejected unchanged.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_STORE_H
#define HISTORY_STORE_H

#include "deepclock/history.h"
#include "deepclock/unstable.h"
#include "base/mem.h"
#include "history/database.h"

#define HISTORY_METRIC "latency/median" /* the default metric */

struct dck_history {
	const history_database *database;
	struct sqlite3 *db;	 /* of SQLite */
	struct postgres *server; /* of PostgreSQL */
	char *path;		 /* as requested, to show: without a password */
	char *address;		 /* as requested */
	uint64_t wait_ns;
	const struct dck_observer *watch; /* asked while a lock is awaited; NULL: none */
	uint64_t waits_ns;		  /* when the wait for the present lock began */
	bool writable;
	bool checked_only;   /* nothing is created or upgraded */
	char *host, *branch; /* of records that are added; NULL: unknown */
	int failed, unbound; /* SQLite's codes: the last failure; a value that cannot be bound */
};

/* --- connection.c */
/* E_VERSION: the layout is older than this library's, and cannot be upgraded. */
dck_status history_old_refused(const dck_history *h, int version, dck_err *err);
dck_status history_absent(const dck_history *h, dck_err *err); /* E_ABSENT */
/* A library that is missing is E_UNSUP: E_ABSENT means a missing history or record. */
dck_status history_library(dck_status loaded, dck_err *err);

/* --- schema.c */
/* Rejects what is not a history, or is newer. *ret_version: its version; 0: empty. */
dck_status history_schema_check(dck_history *h, int *ret_version, dck_err *err);
/* Upgrades the schema, in one transaction. */
dck_status history_schema_upgrade(dck_history *h, dck_err *err);

/* --- db_file.c */
/* Checks the file. E_FORMAT: it is not an SQLite file. *ret_exists: it exists and is not empty. */
dck_status history_place_check(const char *path, bool *ret_exists, dck_err *err);

/* Returns whether the file has a write-ahead log that is not empty. */
bool history_place_log_waits(const char *path);
/* Returns the size of the file; -1: unknown. */
int64_t history_place_bytes(const char *path);

/* --- identity.c: the key of comparable records in the index */
#define HISTORY_KEY_SIZE 17 /* 16 hexadecimal digits */
typedef struct history_identity {
	char machine[HISTORY_KEY_SIZE], method[HISTORY_KEY_SIZE];
	char verb[32]; /* "bench"; "" if the title is not a command of deepclock */
	const char *subject, *engine, *cpu; /* borrowed from the record; NULL: unknown */
} history_identity;
void history_identify(const dck_record *r, history_identity *ret);

/* --- time_parse.c */
/* Parses a date, a time or an age to Unix nanoseconds; an age counts back from now_ns. */
dck_status history_when(const char *text, int64_t now_ns, int64_t *ret, dck_err *err);

/* --- add.c */
typedef struct history_bytes {
	const char *json;
	size_t n;
} history_bytes;
bool history_commit_fits(const char *commit); /* whether it is valid in the index */
/* Returns whether it is a whole hash of Git, SHA-1 or SHA-256, and not an abbreviation or a name.
 */
bool history_commit_is_hash(const char *commit);
#define HISTORY_BRANCH_SIZE 256
/* Whether it is short and has no control characters: Git allows most others in a branch. */
bool history_branch_fits(const char *branch);
/* Returns whether the index has metrics with such a value. */
bool history_is_number(const dck_value *v);
/* Where a record is from; NULL: unknown. */
typedef struct history_origin {
	const char *commit, *branch, *host;
} history_origin;
/* Inserts r, whose JSON is `text`; call it within history_write(). */
dck_status history_insert(dck_history *h, const dck_record *r, history_bytes text,
			  const history_origin *from, bool *ret_new, dck_err *err);

/* --- filter.c: the WHERE clause of a filter, and its values. */
typedef struct history_where {
	char sql[512]; /* "WHERE ...", over the table records */
	const char *subject, *command, *commit, *host, *cpu, *branch;
	int64_t since, until;
	int64_t limit; /* INT64_MAX: none */
} history_where;
dck_status history_where_make(const dck_history_filter *f, history_where *ret, dck_err *err);
/* Binds :subject, :command, :commit, :host, :cpu, :branch, :since, :until, :limit if the statement
 * has them. */
void history_where_bind(const history_where *w, history_statement *s);

/* --- trend.c */
/* Fails with E_ABSENT: no record of the filter has the metric; the message names the nearest. */
dck_status history_metric_absent(dck_history *h, const history_where *w, const char *tag,
				 dck_err *err);

/* --- find.c */
/* Selects the newest complete records that started before r and have its command, subject, machine
 * and method: (seq, id) of at most `limit`, as a statement that the caller finalizes. */
dck_status history_earlier(dck_history *h, const dck_record *r, int limit,
			   history_identity *ret_who, history_statement **ret, dck_err *err);
/* Appends the text of the record with that number; E_FORMAT: it differs from the stored text
 * (corrupt). */
dck_status history_text_get(dck_history *h, int64_t seq, const char *id, dck_buffer *ret,
			    dck_err *err);

#endif
