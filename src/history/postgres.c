/* postgres.c - PostgreSQL as the database of a history: connection, failures, the layout's version.
 *
 * The tables are in the schema "deepclock" of the database that the address names. libpq reads the
 * address, the variables PG*, service and password files. Messages have the address without a
 * password (address.c), and of the server the first line of its message.
 *
 * Concurrency: READ COMMITTED, so a writer sees what was committed before each statement; ids are
 * unique, and INSERT ... ON CONFLICT waits for another writer of the same id. Writers share an
 * advisory lock; one that was ended by a deadlock takes it alone the next time, waits thereby for
 * all others, and cannot meet another deadlock. Reads of several statements are REPEATABLE READ.
 * The layout is made and upgraded under another advisory lock.
 *
 * Failures are distinguished by their SQLSTATE (postgres_failures[]), also while connecting, where
 * libpq puts it into the message when it is verbose. A server that starts, or has no free
 * connection, is tried again up to the time to wait; one that refuses, only if it was connected
 * before (a restart).
 *
 * Source: PostgreSQL documentation, appendix A (error codes), chapters 13 and 34.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "history/postgres.h"
#include "base/common_prefix.h"
#include "base/err.h"
#include "os/os.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The first server with NOT MATERIALIZED. */
#define SERVER_VERSION_MIN 120000
/* Key of the advisory lock of the layout: "DCKH". */
#define LAYOUT_LOCK "1145260872"

/* --- failures */

enum remedy { GIVE_UP, AGAIN, LOST };

typedef struct postgres_failure {
	const char *state; /* or the start of it */
	dck_status code;
	enum remedy remedy;
	bool quote; /* the server's message follows */
	const char *why;
} postgres_failure;

/* The first that fits. */
static const postgres_failure postgres_failures[] = {
    {"28P01", DCK_E_IO, GIVE_UP, false,
     "the server refused the password: correct it in ~/.pgpass or PGPASSWORD"},
    {"28", DCK_E_IO, GIVE_UP, true, "the server refused the role"},
    {"3D000", DCK_E_IO, GIVE_UP, true, "createdb makes a database"},
    {"42501", DCK_E_IO, GIVE_UP, true, "its owner has not granted that"},
    {"25006", DCK_E_IO, GIVE_UP, true, "it may only be read"},
    {"40", DCK_E_IO, AGAIN, false, "other programs changed it again and again; try again"},
    {"55P03", DCK_E_IO, GIVE_UP, false, "another program holds it; try again when that is done"},
    {"57P03", DCK_E_IO, LOST, false, "the server is starting or stopping; try again"},
    {"57P", DCK_E_IO, LOST, false, "the server was stopped"},
    {"53300", DCK_E_IO, LOST, false, "all connections of the server are taken; try again"},
    {"53100", DCK_E_IO, GIVE_UP, false, "the server's disk is full; the earlier content is intact"},
    {"53200", DCK_E_NOMEM, GIVE_UP, false, "the server is out of memory"},
    {"54", DCK_E_LIMIT, GIVE_UP, true, "the record is too large"},
    {"08", DCK_E_IO, LOST, true, "the connection was lost"},
    {"XX00", DCK_E_FORMAT, GIVE_UP, true, "it is damaged"},
};

static const postgres_failure *failure_find(const char *state)
{
	for (size_t i = 0; state[0] && i < sizeof postgres_failures / sizeof postgres_failures[0];
	     i++)
		if (strncmp(state, postgres_failures[i].state,
			    strlen(postgres_failures[i].state)) == 0)
			return &postgres_failures[i];
	return NULL;
}

/* Finds "FATAL:  28P01: text" in the message of a verbose connection: copies the state and returns
 * the text. Else the message itself is returned. */
static const char *message_state(const char *message, char state[6])
{
	for (const char *p = strstr(message, ":  "); p; p = strstr(p + 1, ":  "))
		if (strspn(p + 3, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") == 5 && p[8] == ':') {
			memcpy(state, p + 3, 5);
			state[5] = '\0';
			return p + 9 + strspn(p + 9, " ");
		}
	return message;
}

/* r NULL: connecting failed. */
static dck_status postgres_failed(dck_history *h, const PGresult *r, const char *what, dck_err *err)
{
	struct postgres *p = h->server;
	const char *text = r ? pq->resultErrorField(r, PG_DIAG_MESSAGE_PRIMARY) : NULL,
		   *state = r ? pq->resultErrorField(r, PG_DIAG_SQLSTATE) : NULL;

	p->state[0] = '\0';
	if (state)
		snprintf(p->state, sizeof p->state, "%s", state);
	if (!text)
		text = message_state(pq->errorMessage(p->c), p->state);
	text += strspn(text, " \n");
	/* An error without a state is libpq's: where writing fails, the connection counts as good
	 * until reading fails too. */
	p->lost = pq->status(p->c) == CONNECTION_BAD || (r && !state);
	const postgres_failure *f = failure_find(p->state);
	const int n = (int)strcspn(text, "\n");

	if (f && f->quote)
		return err_set(err, f->code, __FILE__, __LINE__,
			       "cannot %s the history '%s': %s (the server: %.*s)", what, h->path,
			       f->why, n, text);
	if (f)
		return err_set(err, f->code, __FILE__, __LINE__, "cannot %s the history '%s': %s",
			       what, h->path, f->why);
	DCK_FAIL(err, E_IO, "cannot %s the history '%s': %.*s", what, h->path, n, text);
}

bool postgres_again(dck_history *h, bool *ret_lost)
{
	const struct postgres *p = h->server;
	const postgres_failure *f = failure_find(p->state);

	*ret_lost = p->lost || (f && f->remedy == LOST);
	return *ret_lost || (f && f->remedy == AGAIN);
}

dck_status postgres_read_only(dck_history *h, const char *what, dck_err *err)
{
	DCK_FAIL(err, E_IO, "cannot %s the history '%s': the role '%s' may only read it", what,
		 h->path, pq->user(h->server->c));
}

/* --- connection */

static void notice_ignore(void *self, const char *text)
{
	(void)self;
	(void)text;
}

/* Waits until it is connected or failed. */
static bool connection_finish(PGconn *c, uint64_t deadline_ns)
{
	int state = PGRES_POLLING_WRITING;

	while (state == PGRES_POLLING_READING || state == PGRES_POLLING_WRITING) {
		const uint64_t now = os_now_ns();

		if (now >= deadline_ns)
			return false;
		if (os_fd_wait(pq->socket(c), state == PGRES_POLLING_WRITING, deadline_ns - now))
			state = pq->connectPoll(c);
	}
	return state == PGRES_POLLING_OK;
}

static dck_status address_refused(const dck_history *h, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "'%s' is no address of a database: write "
		 "postgresql://[USER@]HOST[:PORT]/DATABASE, other characters than letters and "
		 "digits as %%XX; a password belongs into ~/.pgpass",
		 h->path);
}

static dck_status connect_once(dck_history *h, uint64_t deadline_ns, dck_err *err)
{
	static const char *const keys[] = {"dbname", "client_encoding", "fallback_application_name",
					   NULL};
	const char *const values[] = {h->address, "UTF8", "deepclock", NULL};
	struct postgres *p = h->server;

	if (p->c)
		pq->finish(p->c);
	p->c = pq->connectStartParams(keys, values, 1);
	DCK_NEED(p->c, err, "for a connection");
	/* The message may have parts of an address that libpq could not read. */
	if (pq->status(p->c) == CONNECTION_BAD && pq->socket(p->c) < 0 &&
	    !strstr(pq->errorMessage(p->c), "failed: "))
		return address_refused(h, err);
	pq->setErrorVerbosity(p->c, PQERRORS_VERBOSE);
	pq->setNoticeProcessor(p->c, notice_ignore, NULL);
	if (pq->status(p->c) != CONNECTION_BAD && connection_finish(p->c, deadline_ns))
		return DCK_OK;
	if (pq->status(p->c) != CONNECTION_BAD) /* still trying */
		DCK_FAIL(err, E_IO,
			 "cannot open the history '%s': no answer within the time to wait",
			 h->path);
	return postgres_failed(h, NULL, "open", err);
}

/* The state of a connection that is no longer idle, open and of the right session. */
static dck_status session_set(dck_history *h, dck_err *err)
{
	const uint64_t ms = h->wait_ns / 1000000;
	char sql[240];
	PGresult *r;
	dck_status status = DCK_OK;

	if (pq->serverVersion(h->server->c) < SERVER_VERSION_MIN)
		DCK_FAIL(err, E_VERSION,
			 "cannot open the history '%s': the server is PostgreSQL %d, 12 or a later "
			 "one is needed",
			 h->path, pq->serverVersion(h->server->c) / 10000);
	snprintf(sql, sizeof sql,
		 "SET search_path = deepclock; SET bytea_output = hex; SET extra_float_digits = 1; "
		 "SET standard_conforming_strings = on; SET lock_timeout = %llu",
		 (unsigned long long)(ms == 0		? 1
				      : ms < 2147483647 ? ms
							: 2147483647));
	r = pq->exec(h->server->c, sql);
	if (pq->resultStatus(r) != PGRES_COMMAND_OK)
		status = postgres_failed(h, r, "open", err);
	pq->clear(r);
	return status;
}

static dck_status postgres_connect(dck_history *h, dck_err *err)
{
	const uint64_t deadline_ns = os_now_ns() + h->wait_ns;
	uint64_t pause_ns = 20000000;
	bool lost;
	dck_status status;

	for (;;) {
		h->server->state[0] = '\0';
		h->server->lost = false;
		status = connect_once(h, deadline_ns, err);
		DCK_NEXT(status, session_set(h, err));
		if (status == DCK_OK)
			break;
		postgres_again(h, &lost);
		/* A restarting server refuses for a while. */
		if (!failure_find(h->server->state) && !(h->server->opened && lost))
			return status;
		if (failure_find(h->server->state) &&
		    failure_find(h->server->state)->remedy != LOST)
			return status;
		if (os_now_ns() + pause_ns > deadline_ns || !os_sleep_ns(pause_ns, NULL, NULL))
			return status;
		pause_ns = pause_ns < 500000000 ? 2 * pause_ns : 1000000000;
	}
	h->server->opened = true;
	return DCK_OK;
}

/* --- statements */

bool postgres_in_transaction(dck_history *h)
{
	return h->server->begun;
}

static PGresult *query_run(PGconn *c, const postgres_query *q)
{
	return q->n < 0 ? pq->exec(c, q->sql)
			: pq->execParams(c, q->sql, q->n, q->types, q->values, q->lengths,
					 q->formats, 0);
}

dck_status postgres_exec(dck_history *h, const postgres_query *q, PGresult **ret, const char *what,
			 dck_err *err)
{
	struct postgres *p = h->server;
	const bool begins = has_prefix(q->sql, "BEGIN"),
		   rolls_back = has_prefix(q->sql, "ROLLBACK");
	PGresult *r;

	/* The reason for a rollback stays. */
	if (!rolls_back) {
		p->state[0] = '\0';
		p->lost = false;
	}
	p->begun &= !begins;
	r = query_run(p->c, q);
	/* libpq forgets a transaction together with its connection: a statement of one must not
	 * run alone on another connection. */
	if (!p->begun && !rolls_back && pq->status(p->c) == CONNECTION_BAD) {
		pq->clear(r);
		DCK_TRY(postgres_connect(h, err));
		r = query_run(p->c, q);
	}
	if (pq->resultStatus(r) > PGRES_TUPLES_OK) {
		const dck_status status = rolls_back ? DCK_E_IO : postgres_failed(h, r, what, err);

		pq->clear(r);
		p->begun &= !rolls_back || has_prefix(q->sql, "ROLLBACK TO");
		return status;
	}
	p->begun = pq->transactionStatus(p->c) != PQTRANS_IDLE;
	if (ret)
		*ret = r;
	else
		pq->clear(r);
	return DCK_OK;
}

dck_status postgres_run(dck_history *h, const char *sql, const char *what, dck_err *err)
{
	return postgres_exec(h, &(postgres_query){.sql = sql, .n = -1}, NULL, what, err);
}

dck_status postgres_integer(dck_history *h, const char *sql, int64_t *ret, const char *what,
			    dck_err *err)
{
	PGresult *r;

	DCK_TRY(postgres_exec(h, &(postgres_query){.sql = sql, .n = 0}, &r, what, err));
	*ret = pq->ntuples(r) > 0 ? strtoll(pq->getvalue(r, 0, 0), NULL, 10) : 0;
	pq->clear(r);
	return DCK_OK;
}

/* --- layout */

/* Looks into the catalogue: to_regclass() may have a cached answer from before the lock. */
dck_status postgres_version_get(dck_history *h, int *ret, dck_err *err)
{
	int64_t exists, version = 0;

	DCK_TRY(postgres_integer(
	    h,
	    "SELECT count(*) FROM pg_class JOIN pg_namespace ON relnamespace = pg_namespace.oid "
	    "WHERE nspname = 'deepclock' AND relname = 'layout'",
	    &exists, "open", err));
	if (exists)
		DCK_TRY(postgres_integer(h, "SELECT version FROM deepclock.layout", &version,
					 "open", err));
	*ret = (int)version;
	return DCK_OK;
}

dck_status postgres_version_set(dck_history *h, int version, dck_err *err)
{
	char sql[160];

	snprintf(sql, sizeof sql,
		 "CREATE TABLE IF NOT EXISTS layout (version BIGINT NOT NULL); "
		 "DELETE FROM layout; INSERT INTO layout VALUES (%d)",
		 version);
	return postgres_run(h, sql, "lay out", err);
}

dck_status postgres_layout_lock(dck_history *h, dck_err *err)
{
	int64_t exists;

	DCK_TRY(postgres_run(h, "SELECT pg_advisory_xact_lock(" LAYOUT_LOCK ")", "lay out", err));
	DCK_TRY(postgres_integer(h, "SELECT count(*) FROM pg_namespace WHERE nspname = 'deepclock'",
				 &exists, "lay out", err));
	return exists ? DCK_OK : postgres_run(h, "CREATE SCHEMA deepclock", "lay out", err);
}

/* Whether the role may make the tables. */
static const char may_create[] =
    "SELECT CASE WHEN current_setting('transaction_read_only') = 'on' THEN 0 "
    "WHEN CASE WHEN to_regnamespace('deepclock') IS NULL "
    "THEN has_database_privilege(current_database(), 'CREATE') "
    "ELSE has_schema_privilege('deepclock', 'CREATE') END THEN 1 ELSE 0 END";
static const char may_write[] =
    "SELECT CASE WHEN current_setting('transaction_read_only') = 'off' AND "
    "has_table_privilege('deepclock.records', 'INSERT') AND "
    "has_table_privilege('deepclock.texts', 'INSERT') AND "
    "has_table_privilege('deepclock.metrics', 'INSERT') THEN 1 ELSE 0 END";

dck_status postgres_open(dck_history *h, bool existing, dck_err *err)
{
	int64_t may;
	int version;

	if (history_address_is_doubtful(h->address))
		return address_refused(h, err);
	DCK_TRY(history_library(pq_load(err), err));
	h->server = mem_zalloc(1, sizeof *h->server);
	DCK_NEED(h->server, err, "to open the history");
	DCK_TRY(postgres_connect(h, err));
	DCK_TRY(history_schema_check(h, &version, err));
	DCK_TRY(postgres_integer(h, version > 0 ? may_write : may_create, &may, "open", err));
	h->writable = may != 0;
	if (version == 0 && !may)
		DCK_FAIL(err, E_IO,
			 "there is no history yet at '%s', and the role '%s' may not create it: "
			 "let another role add a record first, or grant it CREATE on the database",
			 h->path, pq->user(h->server->c));
	if (h->checked_only)
		return DCK_OK;
	if (version == 0 && existing)
		return history_absent(h, err);
	if (!h->writable)
		return history_old_refused(h, version, err);
	return version < dck_history_schema() ? history_schema_upgrade(h, err) : DCK_OK;
}

void postgres_close(dck_history *h)
{
	if (h->server && h->server->c)
		pq->finish(h->server->c);
	mem_free(h->server);
}

/* --- maintenance */

/* Autovacuum does it. */
void postgres_space_return(dck_history *h)
{
	(void)h;
}

/* The server checks its pages, if it was initialised with checksums, when they are read. */
dck_status postgres_check(dck_history *h, uint64_t *ret_bytes, dck_err *err)
{
	int64_t bytes;

	DCK_TRY(postgres_integer(h,
				 "SELECT pg_total_relation_size('records') + "
				 "pg_total_relation_size('texts') + "
				 "pg_total_relation_size('metrics')",
				 &bytes, "check", err));
	*ret_bytes = (uint64_t)bytes;
	return DCK_OK;
}
