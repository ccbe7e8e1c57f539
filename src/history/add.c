/* add.c - adds a record: its JSON text, and the index rows that lists and trends read.
 *
 * A record is one row in `records` (identity and keys), one in `texts` (the JSON text byte for
 * byte, with its 64-bit FNV-1a hash), and one in `metrics` for each metric that is a finite number
 * (schema.c). history_insert() runs inside a transaction of the caller (history_write()), so
 * import.c can commit many records together; a record is added completely or not at all.
 *
 * Adding is idempotent: an id that exists with the same record adds nothing and succeeds, whatever
 * the layout of its text; with another record it is E_ARG. Ids and commits are restricted to
 * letters, digits and a few marks, because lists print them and users type them. All texts are
 * bound as parameters, none is formatted into SQL.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/hash.h"
#include "base/utf8.h"
#include "deepclock/unstable.h"
#include "base/err.h"
#include "os/os.h"
#include "record/build.h"
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Returns whether a text has only letters, digits and the characters of `more`. */
static bool is_name(const char *text, const char *more)
{
	for (const unsigned char *p = (const unsigned char *)text; *p; p++)
		if (!isalnum(*p) && !strchr(more, *p))
			return false;
	return true;
}

bool history_commit_fits(const char *commit)
{
	return commit[0] && strlen(commit) < DCK_COMMIT_SIZE && is_name(commit, "-_.:/+@~");
}

#define HASH_MIN 40 /* digits of SHA-1 */

bool history_commit_is_hash(const char *commit)
{
	const size_t n = strlen(commit);

	return n >= HASH_MIN && strspn(commit, "0123456789abcdef") == n;
}

bool history_branch_fits(const char *branch)
{
	size_t n;

	if (!branch[0] || strlen(branch) >= HISTORY_BRANCH_SIZE)
		return false;
	for (; *branch; branch += n) {
		n = utf8_length(branch);
		if (n == 0 || utf8_is_control(branch, n))
			return false;
	}
	return true;
}

dck_status dck_history_commit_check(const char *commit, dck_err *err)
{
	if (!history_commit_fits(commit))
		DCK_FAIL(err, E_ARG,
			 "'%.80s' is not a name of a commit: give at most %d letters, "
			 "digits and -_.:/+@~",
			 commit, DCK_COMMIT_SIZE - 1);
	return DCK_OK;
}

static dck_status add_record_check(const dck_record *r, const char *commit, dck_err *err)
{
	if (!r->id || !r->id[0])
		DCK_FAIL(err, E_ARG, "the record has no id, so it could not be found again");
	if (strlen(r->id) >= DCK_HISTORY_ID_SIZE)
		DCK_FAIL(err, E_ARG, "the record's id has more than %d bytes: '%.40s...'",
			 DCK_HISTORY_ID_SIZE - 1, r->id);
	if (!is_name(r->id, "-_.:"))
		DCK_FAIL(err, E_ARG,
			 "'%.80s' is not an id of a record: it has other characters than letters, "
			 "digits and -_.:",
			 r->id);
	return commit ? dck_history_commit_check(commit, err) : DCK_OK;
}

static dck_status canonical_write(const dck_record *r, dck_buffer *ret, dck_err *err)
{
	dck_sink sink;

	dck_sink_buffer(&sink, ret);
	record_json_write(r, &sink);
	return dck_sink_finish(&sink, err);
}

/* Compares the text of a record with r, whatever the layout of the text. */
static dck_status same_record(history_bytes there, const dck_record *r, bool *ret)
{
	dck_buffer a = {0}, b = {0};
	dck_record *old;
	dck_status status = dck_record_parse(there.json, there.n, &old, NULL);

	DCK_TRY(status);
	status = canonical_write(old, &a, NULL);
	DCK_NEXT(status, canonical_write(r, &b, NULL));
	if (status == DCK_OK)
		*ret = a.n == b.n && memcmp(a.data, b.data, a.n) == 0;
	dck_buffer_done(&a);
	dck_buffer_done(&b);
	dck_record_free(old);
	return status;
}

/* Looks up the id. E_ARG: it exists with a record other than r. */
static dck_status known_find(dck_history *h, const dck_record *r, history_bytes text, bool *ret,
			     dck_err *err)
{
	history_statement *s;
	bool row = false;
	dck_status status;

	DCK_TRY(history_prepare(
	    h, "SELECT texts.json FROM records JOIN texts USING (seq) WHERE id = ?1", &s, "read",
	    err));
	history_bind_text(s, "?1", r->id);
	status = history_step(s, &row, err);
	if (status == DCK_OK && row) {
		history_bytes there;

		there.json = history_blob(s, 0, &there.n);
		bool same = there.n == text.n &&
			    (text.n == 0 || memcmp(there.json, text.json, text.n) == 0);

		/* A damaged text differs. */
		if (!same && same_record(there, r, &same) == DCK_E_NOMEM)
			status = ERR_NO_MEMORY(err, "to compare two records");
		else if (!same)
			status = ERR_SET(err, E_ARG,
					 "the history has another record with the id %s", r->id);
	}
	history_finalize(s);
	if (status == DCK_OK)
		*ret = row;
	return status;
}

/* *ret_seq 0: another program has just added a record with this id. */
static dck_status row_insert(dck_history *h, const dck_record *r, const history_identity *who,
			     history_bytes text, const history_origin *from, int64_t *ret_seq,
			     dck_err *err)
{
	static const char sql[] =
	    "INSERT INTO records (id, at, added, command, verb, subject, engine, cpu, machine, "
	    "method, commit_id, incomplete, bytes, host, branch) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,"
	    "?10,?11,?12,?13,?14,?15) ON CONFLICT DO NOTHING RETURNING seq";
	const int64_t now = os_unix_ns();
	history_statement *s;

	DCK_TRY(history_prepare(h, sql, &s, "add a record to", err));
	history_bind_text(s, "?1", r->id);
	history_bind_int(s, "?2", r->began_unix_ns != 0 ? r->began_unix_ns : now);
	history_bind_int(s, "?3", now);
	history_bind_text(s, "?4", r->command);
	history_bind_text(s, "?5", who->verb[0] ? who->verb : NULL);
	history_bind_text(s, "?6", who->subject);
	history_bind_text(s, "?7", who->engine);
	history_bind_text(s, "?8", who->cpu);
	history_bind_text(s, "?9", who->machine);
	history_bind_text(s, "?10", who->method);
	history_bind_text(s, "?11", from->commit);
	history_bind_int(s, "?12", r->incomplete);
	history_bind_int(s, "?13", (int64_t)text.n);
	history_bind_text(s, "?14", from->host);
	history_bind_text(s, "?15", from->branch);
	return history_finish(s, ret_seq, err);
}

static dck_status text_insert(dck_history *h, int64_t seq, history_bytes text, dck_err *err)
{
	history_statement *s;

	DCK_TRY(history_prepare(h, "INSERT INTO texts (seq, sum, json) VALUES (?1, ?2, ?3)", &s,
				"add a record to", err));
	history_bind_int(s, "?1", seq);
	history_bind_int(s, "?2", (int64_t)hash_bytes(HASH_START, text.json, text.n));
	history_bind(s, "?3",
		     &(history_value){.kind = HISTORY_BLOB, .data = text.json, .n = text.n});
	return history_finish(s, NULL, err);
}

bool history_is_number(const dck_value *v)
{
	return v->kind == DCK_VALUE_INT || (v->kind == DCK_VALUE_REAL && isfinite(v->as.r));
}

/* Metrics of one statement: a server is then asked once for most records. */
#define METRICS_AT_ONCE 64
#define METRIC_COLUMNS	7

static void metric_bind(history_statement *s, size_t i, int64_t seq, const dck_metric *m)
{
	char name[METRIC_COLUMNS][24];

	for (size_t k = 0; k < METRIC_COLUMNS; k++)
		snprintf(name[k], sizeof name[k], "?%zu", METRIC_COLUMNS * i + k + 1);
	history_bind_int(s, name[0], seq);
	history_bind_text(s, name[1], m->def->tag);
	if (m->value.kind == DCK_VALUE_INT)
		history_bind_int(s, name[2], m->value.as.i);
	else
		history_bind(
		    s, name[2],
		    &(history_value){.kind = HISTORY_REAL, .number = true, .real = m->value.as.r});
	history_bind_text(s, name[3], dck_unit_text(m->def->unit));
	if (m->level > 0) {
		history_bind_real(s, name[4], m->lo);
		history_bind_real(s, name[5], m->hi);
		history_bind_real(s, name[6], m->level);
	}
}

static dck_status metrics_put(dck_history *h, int64_t seq, const dck_metric *const *m, size_t n,
			      dck_err *err)
{
	char sql[140 + METRICS_AT_ONCE * METRIC_COLUMNS * 6], *p = sql;
	history_statement *s;

	p = stpcpy(p, "INSERT INTO metrics (seq, tag, value, unit, lo, hi, level) VALUES ");
	for (size_t i = 0; i < METRIC_COLUMNS * n; i++)
		p += sprintf(p, "%s?%zu%s", i % METRIC_COLUMNS == 0 ? "(" : "", i + 1,
			     (i + 1) % METRIC_COLUMNS != 0 ? ","
			     : i + 1 < METRIC_COLUMNS * n  ? "),"
							   : ")");
	strcpy(p, " ON CONFLICT DO NOTHING");
	DCK_TRY(history_prepare(h, sql, &s, "add a record to", err));
	for (size_t i = 0; i < n; i++)
		metric_bind(s, i, seq, m[i]);
	return history_finish(s, NULL, err);
}

/* Inserts the metrics that are numbers; of a duplicate tag the first number counts. */
static dck_status metrics_insert(dck_history *h, int64_t seq, const dck_record *r, dck_err *err)
{
	const dck_metric *some[METRICS_AT_ONCE];
	size_t n = 0;

	for (size_t i = 0; i < r->nmetrics; i++) {
		if (history_is_number(&r->metrics[i].value))
			some[n++] = &r->metrics[i];
		if (n == METRICS_AT_ONCE) {
			DCK_TRY(metrics_put(h, seq, some, n, err));
			n = 0;
		}
	}
	return n > 0 ? metrics_put(h, seq, some, n, err) : DCK_OK;
}

dck_status history_insert(dck_history *h, const dck_record *r, history_bytes text,
			  const history_origin *from, bool *ret_new, dck_err *err)
{
	history_identity who;
	bool known = false;
	int64_t seq = 0;

	DCK_TRY(add_record_check(r, from->commit, err));
	history_identify(r, &who);
	DCK_TRY(known_find(h, r, text, &known, err));
	if (!known) {
		DCK_TRY(row_insert(h, r, &who, text, from, &seq, err));
		/* Added in the meantime: it is visible now. */
		if (seq == 0)
			DCK_TRY(known_find(h, r, text, &known, err));
	}
	if (!known) {
		DCK_TRY(text_insert(h, seq, text, err));
		DCK_TRY(metrics_insert(h, seq, r, err));
	}
	if (ret_new)
		*ret_new = !known;
	return DCK_OK;
}

typedef struct adding {
	const dck_record *r;
	history_bytes text;
	history_origin from;
	bool is_new;
} adding;

static dck_status record_insert(dck_history *h, void *self, dck_err *err)
{
	adding *a = self;

	return history_insert(h, a->r, a->text, &a->from, &a->is_new, err);
}

dck_status dck_history_add(dck_history *h, const dck_record *r, const char *commit, bool *ret_new,
			   dck_err *err)
{
	adding a = {.r = r, .from = {commit, h->branch, h->host}};
	dck_buffer json = {0};
	dck_status status = canonical_write(r, &json, err);

	a.text = (history_bytes){json.data, json.n};
	DCK_NEXT(status, history_write(h, record_insert, &a, true, err));
	dck_buffer_done(&json);
	if (status == DCK_OK && ret_new)
		*ret_new = a.is_new;
	return status;
}
