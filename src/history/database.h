/* database.h - the seam between the history and the database that stores it: SQLite (sqlite.c) or
 * PostgreSQL (postgres.c). Above it there is one text of each query.
 *
 *	DCK_TRY(history_prepare(h, "SELECT id FROM records WHERE at < :at", &s, "read", err));
 *	history_bind_int(s, ":at", at);
 *	while ((status = history_step(s, &row, err)) == DCK_OK && row)
 *		printf("%s\n", history_text(s, 0));
 *	history_finalize(s);
 *
 * Parameters are ":name" or "?N". What the two dialects write differently is a {word} of the table
 * in database.c. Everything that writes runs inside history_write(), which repeats it where the
 * database reports that another writer was in the way, or the connection was lost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_DATABASE_H
#define HISTORY_DATABASE_H

#include "deepclock/history.h"

typedef struct history_database history_database;

typedef struct history_statement {
	dck_history *h;
	const char *what; /* for messages: "add a record to", "read" */
	void *native;
} history_statement;

typedef enum history_kind {
	HISTORY_NULL,
	HISTORY_INT,
	HISTORY_REAL,
	HISTORY_TEXT,
	HISTORY_BLOB
} history_kind_of;

/* A value of a parameter; borrowed until the statement is finalized. */
typedef struct history_value {
	history_kind_of kind;
	bool number; /* REAL: of metrics.value, where an integer stays one */
	int64_t i;
	double real;
	const void *data; /* TEXT, BLOB */
	size_t n;
} history_value;

/* What a database does. All functions set err; `what` is for its message. */
struct history_database {
	size_t dialect; /* column of the table of words */
	/* Start a transaction that writes; one during which no other does, after one failed; one
	 * that has one snapshot. */
	const char *write, *write_alone, *read;
	/* Connects. `existing`: nothing is created. */
	dck_status (*open)(dck_history *h, bool existing, dck_err *err);
	void (*close)(dck_history *h);
	dck_status (*run)(dck_history *h, const char *sql, const char *what, dck_err *err);
	/* many: the rows do not fit into memory. */
	dck_status (*prepare)(history_statement *s, const char *sql, bool many, dck_err *err);
	void (*bind)(history_statement *s, const char *name, const history_value *v);
	dck_status (*step)(history_statement *s, bool *ret, dck_err *err);
	void (*finalize)(history_statement *s);
	/* The column i of the row, valid until the next step. */
	void (*column)(history_statement *s, int i, history_value *ret);
	bool (*in_transaction)(dck_history *h);
	/* Whether the last failure is worth another try of the whole transaction. *ret_lost: the
	 * connection was lost. */
	bool (*again)(dck_history *h, bool *ret_lost);
	/* Says why it cannot be written; it was opened for reading. */
	dck_status (*read_only)(dck_history *h, const char *what, dck_err *err);
	/* Version of the layout; 0: none yet. Refuses what is not a history. */
	dck_status (*version_get)(dck_history *h, int *ret, dck_err *err);
	dck_status (*version_set)(dck_history *h, int version, dck_err *err);
	/* Waits for other programs that upgrade the layout; until the end of the transaction. */
	dck_status (*layout_lock)(dck_history *h, dck_err *err);
	void (*space_return)(dck_history *h);
	dck_status (*check)(dck_history *h, uint64_t *ret_bytes, dck_err *err);
};

extern const history_database history_sqlite_database, history_postgres_database;

/* Runs statements without parameters that return no rows. */
dck_status history_run(dck_history *h, const char *sql, const char *what, dck_err *err);
dck_status history_prepare(dck_history *h, const char *sql, history_statement **ret,
			   const char *what, dck_err *err);
/* The same for a query whose rows may not fit into memory. */
dck_status history_prepare_many(dck_history *h, const char *sql, history_statement **ret,
				const char *what, dck_err *err);
/* Steps a statement; *ret: whether it has a row. */
dck_status history_step(history_statement *s, bool *ret, dck_err *err);
/* Steps unless *status is a failure, which a failed step becomes. Returns whether there is a row.
 */
bool history_next(history_statement *s, dck_status *status, dck_err *err);
void history_finalize(history_statement *s); /* NULL is allowed */
/* Steps a statement once and finalizes it. *ret: the integer of its row; 0: no row. ret may be
 * NULL. */
dck_status history_finish(history_statement *s, int64_t *ret, dck_err *err);
/* Binds a parameter; one that the statement does not have is ignored. NULL texts bind NULL. */
void history_bind_text(history_statement *s, const char *name, const char *text);
void history_bind_int(history_statement *s, const char *name, int64_t v);
void history_bind_real(history_statement *s, const char *name, double v);
void history_bind(history_statement *s, const char *name, const history_value *v);
/* Column i of the row; texts are valid until the next step. NULL is NULL, 0; the text of a
 * blob is "". */
const char *history_text(history_statement *s, int i);
int64_t history_int(history_statement *s, int i);
double history_real(history_statement *s, int i);
const void *history_blob(history_statement *s, int i, size_t *ret_n);
history_kind_of history_kind(history_statement *s, int i);
/* Returns the single integer of a query. */
dck_status history_integer(dck_history *h, const char *sql, int64_t *ret, dck_err *err);

/* Runs `body` in a transaction that writes: committed if it returns DCK_OK, else nothing of it
 * stays. It may be called again from its start, up to the time to wait: `self` must then have the
 * state of the first call. repeatable: the second of two runs that are both committed changes
 * nothing, so a connection that is lost while committing does not matter. */
dck_status history_write(dck_history *h,
			 dck_status (*body)(dck_history *h, void *self, dck_err *err), void *self,
			 bool repeatable, dck_err *err);
/* Starts a read transaction: all reads until history_end() see one snapshot. */
dck_status history_begin_read(dck_history *h, dck_err *err);
/* Commits if status is DCK_OK, else rolls back; returns the first error. */
dck_status history_end(dck_history *h, dck_status status, dck_err *err);

/* --- address.c: addresses of PostgreSQL among the names of histories */
/* Returns whether a name is such an address: a URI, or libpq's "host=... dbname=...". */
bool history_is_address(const char *name);
/* Writes the address without its passwords, to show. Any other name: unchanged. */
void history_address_show(const char *name, char *ret, size_t size);
/* Returns whether a URI has more than one '@': libpq would take a part of the password as the host,
 * and show it. */
bool history_address_is_doubtful(const char *name);

#endif
