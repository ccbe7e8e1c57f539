/* postgres_statement.c - statements of PostgreSQL: parameters and rows.
 *
 * ":name" and "?N" become $1, $2, ... The first step sends the statement with its values, each with
 * its type, so that none is guessed and none is pasted into SQL. Rows arrive whole, or, where they
 * may not fit into memory, through a cursor, ROWS_AT_ONCE at a time, in the open transaction or one
 * of the statement's own, so that statements may be nested as those of SQLite.
 *
 * metrics.value is NUMERIC, in which an integer and a real are both exact: a real always has a
 * point ("5.0"), an integer never, so each comes back as what it was.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "history/postgres.h"
#include "base/decimal.h"
#include "base/err.h"
#include "base/utf8.h"
#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_AT_ONCE   500
#define PARAMETERS_MAX 512
/* Types of PostgreSQL (pg_type.dat). */
enum { BOOL = 16, BYTEA = 17, INT8 = 20, INT4 = 23, TEXT = 25, FLOAT8 = 701, NUMERIC = 1700 };

typedef struct pg_rows {
	mem_arena *arena; /* texts of the statement */
	char *sql;
	char *names[PARAMETERS_MAX]; /* of parameters; NULL: "?N" */
	Oid types[PARAMETERS_MAX];
	const char *values[PARAMETERS_MAX];
	int lengths[PARAMETERS_MAX], formats[PARAMETERS_MAX];
	int n;
	bool many, sent, own_transaction;
	unsigned cursor;
	PGresult *result;
	int row, nrows; /* the current row; of the result */
} pg_rows;

/* Returns the number from 1 of the parameter that begins at `name`; 0: no such parameter. */
static int parameter_number(pg_rows *r, const char *name, size_t n, bool add)
{
	if (name[0] == '?')
		return atoi(name + 1);
	for (int i = 0; i < r->n; i++)
		if (r->names[i] && strlen(r->names[i]) == n && memcmp(r->names[i], name, n) == 0)
			return i + 1;
	if (!add || r->n == PARAMETERS_MAX)
		return 0;
	r->names[r->n++] = mem_arena_dup_n(r->arena, name, n);
	return r->n;
}

/* Replaces the parameters. Texts in single quotes stay. */
static void parameters_number(pg_rows *r, const char *sql)
{
	char *to = r->sql = mem_arena_alloc(r->arena, 2 * strlen(sql) + 1);
	bool quoted = false;

	while (to && *sql) {
		size_t n = 1;

		quoted ^= *sql == '\'';
		if (!quoted && (*sql == '?' || *sql == ':'))
			while (isalnum((unsigned char)sql[n]) || sql[n] == '_')
				n++;
		if (n == 1) {
			*to++ = *sql++;
			continue;
		}
		const int number = parameter_number(r, sql, n, true);

		to += sprintf(to, "$%d", number);
		if (number > r->n)
			r->n = number;
		sql += n;
	}
	if (to)
		*to = '\0';
}

dck_status postgres_prepare(history_statement *s, const char *sql, bool many, dck_err *err)
{
	mem_arena *arena = mem_arena_new(0);
	pg_rows *r = arena ? mem_arena_alloc(arena, sizeof *r) : NULL;

	if (r) {
		memset(r, 0, sizeof *r);
		r->arena = arena;
		r->many = many;
		parameters_number(r, sql);
	}
	if (!r || mem_arena_failed(arena)) {
		mem_arena_free(arena);
		return ERR_NO_MEMORY(err, "for a query");
	}
	for (int i = 0; i < r->n; i++)
		r->types[i] = FLOAT8; /* of a parameter that stays NULL */
	s->native = r;
	return DCK_OK;
}

/* Bytes that are not UTF-8 would be refused; they become '?', in what is searched too. */
static const char *text_valid(mem_arena *arena, const char *text)
{
	char *copy = mem_arena_dup(arena, text);

	for (char *p = copy; p && *p;) {
		const size_t n = utf8_length(p);

		if (n == 0)
			*p = '?';
		p += n > 0 ? n : 1;
	}
	return copy;
}

static const char *number_text(mem_arena *arena, double v)
{
	char text[NUM_TEXT_MAX];

	if (fabs(v) >= 1e15)
		decimal_fixed(text, 1, v);
	else
		decimal_general(text, 17, v);
	return mem_arena_fmt(arena, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

void postgres_bind(history_statement *s, const char *name, const history_value *v)
{
	pg_rows *r = s->native;
	const int at = parameter_number(r, name, strlen(name), false) - 1;

	if (at < 0 || at >= r->n)
		return;
	switch (v->kind) {
	case HISTORY_INT:
		r->types[at] = INT8;
		r->values[at] = mem_arena_fmt(r->arena, "%" PRId64, v->i);
		break;
	case HISTORY_REAL:
		r->types[at] = v->number ? NUMERIC : FLOAT8;
		r->values[at] = number_text(r->arena, v->real);
		break;
	case HISTORY_TEXT:
		r->types[at] = TEXT;
		r->values[at] = text_valid(r->arena, v->data);
		break;
	case HISTORY_BLOB:
		r->types[at] = BYTEA;
		r->values[at] = v->data ? v->data : "";
		r->lengths[at] = (int)v->n; /* at most 256 MiB */
		r->formats[at] = 1;
		break;
	default:
		break;
	}
}

static dck_status query_send(history_statement *s, const char *sql, dck_err *err)
{
	pg_rows *r = s->native;
	const postgres_query q = {sql, r->n, r->types, r->values, r->lengths, r->formats};

	DCK_NEED(sql && !mem_arena_failed(r->arena), err, "for a query");
	DCK_TRY(postgres_exec(s->h, &q, &r->result, s->what, err));
	r->row = 0;
	r->nrows = pq->ntuples(r->result);
	return DCK_OK;
}

static dck_status rows_fetch(history_statement *s, dck_err *err)
{
	pg_rows *r = s->native;
	char sql[80];
	const postgres_query q = {.sql = sql, .n = 0};

	snprintf(sql, sizeof sql, "FETCH FORWARD %d FROM rows%u", ROWS_AT_ONCE, r->cursor);
	pq->clear(r->result);
	r->result = NULL;
	DCK_TRY(postgres_exec(s->h, &q, &r->result, s->what, err));
	r->row = 0;
	r->nrows = pq->ntuples(r->result);
	return DCK_OK;
}

static dck_status cursor_open(history_statement *s, dck_err *err)
{
	pg_rows *r = s->native;

	if (!postgres_in_transaction(s->h)) {
		DCK_TRY(history_begin_read(s->h, err));
		r->own_transaction = true;
	}
	r->cursor = ++s->h->server->cursors;
	DCK_TRY(query_send(
	    s, mem_arena_fmt(r->arena, "DECLARE rows%u NO SCROLL CURSOR FOR %s", r->cursor, r->sql),
	    err));
	return rows_fetch(s, err);
}

dck_status postgres_step(history_statement *s, bool *ret, dck_err *err)
{
	pg_rows *r = s->native;

	if (!r->sent) {
		DCK_TRY(r->many ? cursor_open(s, err) : query_send(s, r->sql, err));
		r->sent = true;
	} else if (++r->row == r->nrows && r->many) {
		DCK_TRY(rows_fetch(s, err));
	}
	*ret = r->row < r->nrows;
	return DCK_OK;
}

void postgres_finalize(history_statement *s)
{
	pg_rows *r = s->native;
	char sql[40];

	pq->clear(r->result);
	snprintf(sql, sizeof sql, "CLOSE rows%u", r->cursor);
	if (r->own_transaction)
		postgres_run(s->h, "ROLLBACK", "read", NULL);
	else if (r->cursor > 0 && pq->transactionStatus(s->h->server->c) == PQTRANS_INTRANS)
		postgres_run(s->h, sql, "read", NULL);
	mem_arena_free(r->arena);
}

/* --- columns */

/* As text of the server, in any locale of the program. */
static double real_parse(const char *text)
{
	char copy[NUM_TEXT_MAX + 20];
	char *point;

	snprintf(copy, sizeof copy, "%s", text);
	point = strchr(copy, '.');
	if (point)
		*point = localeconv()->decimal_point[0];
	return strtod(copy, NULL);
}

static int hex_digit(char c)
{
	return c <= '9' ? c - '0' : c - 'a' + 10;
}

/* "\x00ff" */
static void blob_parse(pg_rows *r, const char *text, size_t n, history_value *ret)
{
	char *data = mem_arena_alloc(r->arena, n / 2 + 1);

	ret->kind = HISTORY_BLOB;
	if (!data)
		return;
	ret->n = n >= 2 ? n / 2 - 1 : 0;
	for (size_t i = 0; i < ret->n; i++)
		data[i] = (char)(hex_digit(text[2 * i + 2]) * 16 + hex_digit(text[2 * i + 3]));
	ret->data = data;
}

void postgres_column(history_statement *s, int i, history_value *ret)
{
	pg_rows *r = s->native;
	const char *text = pq->getvalue(r->result, r->row, i);
	const Oid type = pq->ftype(r->result, i);

	if (pq->getisnull(r->result, r->row, i))
		return;
	if (type == BYTEA) {
		blob_parse(r, text, (size_t)pq->getlength(r->result, r->row, i), ret);
	} else if (type == BOOL) {
		*ret = (history_value){.kind = HISTORY_INT, .i = text[0] == 't'};
	} else if (type == FLOAT8 || (type == NUMERIC && strchr(text, '.'))) {
		*ret = (history_value){.kind = HISTORY_REAL, .real = real_parse(text)};
	} else if (type == INT8 || type == INT4 || type == NUMERIC) {
		*ret = (history_value){.kind = HISTORY_INT, .i = strtoll(text, NULL, 10)};
	} else {
		*ret = (history_value){.kind = HISTORY_TEXT, .data = text, .n = strlen(text)};
	}
}

/* --- the table */

/* Key of the advisory lock of writers: "DCKW". */
#define WRITE_LOCK  "1145260887"
#define WRITE_BEGIN "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock"

const history_database history_postgres_database = {
    .dialect = 1,
    .write = WRITE_BEGIN "_shared(" WRITE_LOCK ")",
    .write_alone = WRITE_BEGIN "(" WRITE_LOCK ")",
    .read = "BEGIN ISOLATION LEVEL REPEATABLE READ",
    .open = postgres_open,
    .close = postgres_close,
    .run = postgres_run,
    .prepare = postgres_prepare,
    .bind = postgres_bind,
    .step = postgres_step,
    .finalize = postgres_finalize,
    .column = postgres_column,
    .in_transaction = postgres_in_transaction,
    .again = postgres_again,
    .read_only = postgres_read_only,
    .version_get = postgres_version_get,
    .version_set = postgres_version_set,
    .layout_lock = postgres_layout_lock,
    .space_return = postgres_space_return,
    .check = postgres_check,
};
