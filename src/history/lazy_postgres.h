/* lazy_postgres.h - lazy loading of libpq (dlopen) when a history in PostgreSQL is first opened.
 * The few declarations that are needed of its interface, stable since PostgreSQL 9, are here, so
 * that building needs no header of it. Source: PostgreSQL documentation, chapter libpq.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HISTORY_LAZY_POSTGRES_H
#define HISTORY_LAZY_POSTGRES_H

#include "os/process/lazy_library.h"

typedef struct pg_conn PGconn;
typedef struct pg_result PGresult;
typedef unsigned Oid;

enum { CONNECTION_OK, CONNECTION_BAD };
enum { PGRES_POLLING_FAILED, PGRES_POLLING_READING, PGRES_POLLING_WRITING, PGRES_POLLING_OK };
enum { PGRES_EMPTY_QUERY, PGRES_COMMAND_OK, PGRES_TUPLES_OK };
enum { PQTRANS_IDLE, PQTRANS_ACTIVE, PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_UNKNOWN };
enum { PQERRORS_VERBOSE = 2 };
enum { PG_DIAG_MESSAGE_PRIMARY = 'M', PG_DIAG_SQLSTATE = 'C' };

void PQclear(PGresult *r);
int PQconnectPoll(PGconn *c);
PGconn *PQconnectStartParams(const char *const *keys, const char *const *values, int expand);
char *PQdb(const PGconn *c);
char *PQerrorMessage(const PGconn *c);
PGresult *PQexec(PGconn *c, const char *sql);
PGresult *PQexecParams(PGconn *c, const char *sql, int n, const Oid *types,
		       const char *const *values, const int *lengths, const int *formats,
		       int result_format);
void PQfinish(PGconn *c);
Oid PQftype(const PGresult *r, int column);
int PQgetisnull(const PGresult *r, int row, int column);
int PQgetlength(const PGresult *r, int row, int column);
char *PQgetvalue(const PGresult *r, int row, int column);
int PQntuples(const PGresult *r);
char *PQresultErrorField(const PGresult *r, int field);
int PQresultStatus(const PGresult *r);
int PQserverVersion(const PGconn *c);
int PQsetErrorVerbosity(PGconn *c, int verbosity);
void (*PQsetNoticeProcessor(PGconn *c, void (*f)(void *self, const char *text),
			    void *self))(void *self, const char *text);
int PQsocket(const PGconn *c);
int PQstatus(const PGconn *c);
int PQtransactionStatus(const PGconn *c);
char *PQuser(const PGconn *c);

#define PQ_FUNCTIONS(X)           \
	X(PQ, clear)              \
	X(PQ, connectPoll)        \
	X(PQ, connectStartParams) \
	X(PQ, db)                 \
	X(PQ, errorMessage)       \
	X(PQ, exec)               \
	X(PQ, execParams)         \
	X(PQ, finish)             \
	X(PQ, ftype)              \
	X(PQ, getisnull)          \
	X(PQ, getlength)          \
	X(PQ, getvalue)           \
	X(PQ, ntuples)            \
	X(PQ, resultErrorField)   \
	X(PQ, resultStatus)       \
	X(PQ, serverVersion)      \
	X(PQ, setErrorVerbosity)  \
	X(PQ, setNoticeProcessor) \
	X(PQ, socket)             \
	X(PQ, status)             \
	X(PQ, transactionStatus)  \
	X(PQ, user)

struct pq_functions {
	PQ_FUNCTIONS(OS_LAZY_MEMBER)
};

/* Written once, by the first thread that opens a history in PostgreSQL. */
extern struct pq_functions history_pq;
static const struct pq_functions *const pq = &history_pq;

/* Loads libpq once. E_ABSENT: it is not installed. */
dck_status pq_load(dck_err *err);

#endif
