/* find.c - looks up one record: by id, by a prefix of it, by "last~N", or as a baseline.
 *
 *  - "last~N": the record with N newer ones, by the index on (at, seq).
 *  - A prefix: a range scan of the unique index on id, from the prefix to the prefix and '~', which
 * no id has. Two rows are read: the second one makes the prefix ambiguous, unless the first is an
 * exact match, which sorts before longer ids.
 *  - A baseline (history_earlier()): the newest complete records before r with equal subject,
 *    command, machine key and method key, by the index records_alike (schema.c).
 *
 * text_take() compares the stored FNV-1a hash with the text before it is parsed, which finds
 * damage that leaves the structure of the file intact. Pointers of history_text() are valid
 * until the next step or finalize, so results are copied.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/hash.h"
#include "base/err.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void id_copy(history_statement *s, int column, char *id)
{
	const char *text = history_text(s, column);

	snprintf(id, DCK_HISTORY_ID_SIZE, "%s", text ? text : "");
}

/* Parses "last" as 0 and "last~2" as 2. Returns false for any other name. */
static bool last_parse(const char *name, int64_t *ret)
{
	char *end;

	if (strncmp(name, "last", 4) != 0)
		return false;
	*ret = 0;
	if (!name[4])
		return true;
	if (name[4] != '~' || !isdigit((unsigned char)name[5]))
		return false;
	*ret = strtoll(name + 5, &end, 10);
	return !*end;
}

static dck_status last_find(dck_history *h, const char *name, int64_t back, char *id, dck_err *err)
{
	history_statement *s;
	dck_status status = DCK_OK;

	DCK_TRY(history_prepare(
	    h, "SELECT id FROM records ORDER BY at DESC, seq DESC LIMIT 1 OFFSET ?1", &s, "read",
	    err));
	history_bind_int(s, "?1", back);
	if (history_next(s, &status, err))
		id_copy(s, 0, id);
	else if (status == DCK_OK)
		status =
		    ERR_SET(err, E_ABSENT, "there is no record '%.40s': the history '%s' has fewer",
			    name, h->path);
	history_finalize(s);
	return status;
}

/* The whole id wins over longer ones that begin with it. */
static dck_status prefix_find(dck_history *h, const char *name, char *id, dck_err *err)
{
	char first[DCK_HISTORY_ID_SIZE] = "";
	history_statement *s;
	bool row = false;
	dck_status status;

	DCK_TRY(history_prepare(h,
				"SELECT id FROM records WHERE id BETWEEN ?1 AND ?1 || '~' "
				"ORDER BY id LIMIT 2",
				&s, "read", err));
	history_bind_text(s, "?1", name);
	status = history_step(s, &row, err);
	if (status == DCK_OK && !row)
		status = ERR_SET(err, E_ABSENT,
				 "no record's id begins with '%.80s'; "
				 "'deepclock history list' shows them",
				 name);
	if (status == DCK_OK) {
		id_copy(s, 0, first);
		status = history_step(s, &row, err);
	}
	if (status == DCK_OK && row && strcmp(first, name) != 0)
		status = err_set(
		    err, DCK_E_ARG, __FILE__, __LINE__,
		    "several records' ids begin with '%.80s', as %s and %s: give more of it", name,
		    first, history_text(s, 0));
	history_finalize(s);
	if (status == DCK_OK)
		memcpy(id, first, sizeof first);
	return status;
}

dck_status dck_history_find(dck_history *h, const char *name, char *id, dck_err *err)
{
	int64_t back;

	if (!name[0])
		DCK_FAIL(err, E_ARG, "the record's id is empty");
	if (last_parse(name, &back))
		return last_find(h, name, back, id, err);
	return prefix_find(h, name, id, err);
}

static dck_status text_take(history_statement *s, const dck_history *h, const char *id,
			    dck_buffer *ret, dck_err *err)
{
	const uint64_t sum = (uint64_t)history_int(s, 0);
	size_t n;
	const void *json = history_blob(s, 1, &n);
	char *data;

	if (hash_bytes(HASH_START, json, n) != sum)
		DCK_FAIL(err, E_FORMAT,
			 "the history '%s' is damaged: the text of the record %s has changed",
			 h->path, id);
	data = mem_resize(ret->data, ret->n + n + 1);
	DCK_NEED(data, err, "for the record %s", id);
	if (n > 0)
		memcpy(data + ret->n, json, n);
	data[ret->n + n] = '\0';
	ret->data = data;
	ret->n += n;
	ret->cap = ret->n + 1;
	return DCK_OK;
}

/* Appends the text of the record of which `sql` selects the row, by its seq or id. */
static dck_status text_find(dck_history *h, const char *sql, int64_t seq, const char *id,
			    dck_buffer *ret, dck_err *err)
{
	history_statement *s;
	dck_status status = DCK_OK;

	DCK_TRY(history_prepare(h, sql, &s, "read", err));
	history_bind_int(s, ":seq", seq);
	history_bind_text(s, ":id", id);
	if (history_next(s, &status, err))
		status = text_take(s, h, id, ret, err);
	else if (status == DCK_OK)
		status =
		    ERR_SET(err, E_ABSENT, "the history '%s' has no record %.80s", h->path, id);
	history_finalize(s);
	return status;
}

dck_status history_text_get(dck_history *h, int64_t seq, const char *id, dck_buffer *ret,
			    dck_err *err)
{
	return text_find(h, "SELECT sum, json FROM texts WHERE seq = :seq", seq, id, ret, err);
}

dck_status dck_history_get_json(dck_history *h, const char *id, dck_buffer *ret, dck_err *err)
{
	return text_find(h, "SELECT sum, json FROM records JOIN texts USING (seq) WHERE id = :id",
			 0, id, ret, err);
}

dck_status dck_history_get(dck_history *h, const char *id, dck_record **ret, dck_err *err)
{
	dck_buffer json = {0};
	dck_status status = dck_history_get_json(h, id, &json, err);

	DCK_NEXT(status, dck_record_parse(json.data, json.n, ret, err));
	dck_buffer_done(&json);
	return status;
}

dck_status history_earlier(dck_history *h, const dck_record *r, int limit,
			   history_identity *ret_who, history_statement **ret, dck_err *err)
{
	char sql[400];

	history_identify(r, ret_who);
	snprintf(sql, sizeof sql,
		 "SELECT seq, id FROM records WHERE subject %s AND verb %s AND machine = ?3 AND "
		 "method = ?4 AND at < ?5 AND id <> ?6 AND incomplete = 0 ORDER BY at DESC, seq "
		 "DESC LIMIT ?7",
		 ret_who->subject ? "= ?1" : "IS NULL", ret_who->verb[0] ? "= ?2" : "IS NULL");
	DCK_TRY(history_prepare(h, sql, ret, "read", err));
	history_bind_text(*ret, "?1", ret_who->subject);
	history_bind_text(*ret, "?2", ret_who->verb[0] ? ret_who->verb : NULL);
	history_bind_text(*ret, "?3", ret_who->machine);
	history_bind_text(*ret, "?4", ret_who->method);
	history_bind_int(*ret, "?5", r->began_unix_ns != 0 ? r->began_unix_ns : INT64_MAX);
	history_bind_text(*ret, "?6", r->id);
	history_bind_int(*ret, "?7", limit);
	return DCK_OK;
}

dck_status dck_history_baseline(dck_history *h, const dck_record *r, dck_record **ret, dck_err *err)
{
	char id[DCK_HISTORY_ID_SIZE] = "";
	history_identity who;
	history_statement *s;
	bool row = false;
	dck_status status;

	DCK_TRY(history_earlier(h, r, 1, &who, &s, err));
	status = history_step(s, &row, err);
	if (status == DCK_OK && row)
		id_copy(s, 1, id);
	history_finalize(s);
	DCK_TRY(status);
	if (!row)
		DCK_FAIL(
		    err, E_ABSENT,
		    "the history '%s' has no complete record of %.100s that was measured before "
		    "by the same method on this machine",
		    h->path, who.subject ? who.subject : "the same subject");
	return dck_history_get(h, id, ret, err);
}
