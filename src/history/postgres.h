/* postgres.h - functions that the files of PostgreSQL share: the connection, and failures.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_POSTGRES_H
#define HISTORY_POSTGRES_H

#include "history/database.h"
#include "history/lazy_postgres.h"

struct postgres {
	PGconn *c;
	char state[6]; /* SQLSTATE of the last statement; "": it succeeded, or there is none */
	bool lost;     /* the last statement ended with the connection */
	bool opened;   /* it was connected before */
	bool begun;    /* a transaction, after the last statement that succeeded */
	unsigned cursors;
};

/* --- postgres.c */
dck_status postgres_open(dck_history *h, bool existing, dck_err *err);
void postgres_close(dck_history *h);
/* Runs a statement. Outside of a transaction a lost connection is made again, once, since only
 * reads and the start of a transaction are run there. *ret (NULL allowed): PQclear() it. */
typedef struct postgres_query {
	const char *sql;
	int n; /* parameters; -1: none, and several statements */
	const Oid *types;
	const char *const *values;
	const int *lengths, *formats;
} postgres_query;
dck_status postgres_exec(dck_history *h, const postgres_query *q, PGresult **ret, const char *what,
			 dck_err *err);
dck_status postgres_run(dck_history *h, const char *sql, const char *what, dck_err *err);
bool postgres_in_transaction(dck_history *h);
bool postgres_again(dck_history *h, bool *ret_lost);
dck_status postgres_read_only(dck_history *h, const char *what, dck_err *err);
/* Returns the single integer of a query. */
dck_status postgres_integer(dck_history *h, const char *sql, int64_t *ret, const char *what,
			    dck_err *err);

/* Members of the table history_database. */
dck_status postgres_version_get(dck_history *h, int *ret, dck_err *err);
dck_status postgres_version_set(dck_history *h, int version, dck_err *err);
dck_status postgres_layout_lock(dck_history *h, dck_err *err);
void postgres_space_return(dck_history *h);
dck_status postgres_check(dck_history *h, uint64_t *ret_bytes, dck_err *err);

/* --- postgres_statement.c */
dck_status postgres_prepare(history_statement *s, const char *sql, bool many, dck_err *err);
void postgres_bind(history_statement *s, const char *name, const history_value *v);
dck_status postgres_step(history_statement *s, bool *ret, dck_err *err);
void postgres_finalize(history_statement *s);
void postgres_column(history_statement *s, int i, history_value *ret);

#endif
