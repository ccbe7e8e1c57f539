/* maintenance.c - maintenance of the history: retention (prune), removal, integrity check.
 *
 * Prune and remove write the row ids to delete into the temporary table `doomed`, count them, and
 * delete them in one transaction, so that a failure removes nothing; foreign keys cascade to texts
 * and metrics (schema.c). Retention ranks the records of each subject and command by age with
 * row_number(). A dry run only reads (the table is temporary), so it needs no right to write and
 * waits for no writer. After the commit the free pages are returned to the file system; a failure
 * of that is ignored, because the records are removed.
 *
 * The check reads everything: integrity_check of SQLite, then for each record the hash of its text
 * (find.c), its syntax, and the index against the record (index_agrees()). One record is in memory
 * at a time; the first fault ends the check.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "base/name_index.h"
#include "os/os.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

const dck_opt dck_history_prune_options[] = {
    DCK_OPTION(COUNT, dck_history_prune_config, keep, "keep", "N", NULL,
	       "prune: keep the newest N records of each subject and command", .min = 1),
    DCK_OPTION(TEXT, dck_history_prune_config, older_than, "older-than", "AGE", NULL,
	       "prune: remove only records that are older, as 90d, or than a date"),
    DCK_OPTION(COUNT, dck_history_prune_config, keep_per_commit, "keep-per-commit", "N", NULL,
	       "prune: keep also the newest N records of each subject, command, machine and commit",
	       .min = 1),
    DCK_FLAG(dck_history_prune_config, dry_run, "dry-run",
	     "prune, rm: only print what would be removed"),
    {0},
};

/* --- prune */

/* Empties the table of records to delete, which belongs to this connection. */
static dck_status doomed_begin(dck_history *h, dck_err *err)
{
	return history_run(h,
			   "CREATE TEMP TABLE IF NOT EXISTS doomed (seq {int} PRIMARY KEY);"
			   "DELETE FROM doomed",
			   "prune", err);
}

/* Selects the records that are old enough and that no rule keeps. */
static dck_status doomed_find(dck_history *h, const history_where *w,
			      const dck_history_prune_config *c, int64_t before, dck_err *err)
{
	char sql[1200];
	history_statement *s;

	DCK_TRY(doomed_begin(h, err));
	snprintf(
	    sql, sizeof sql,
	    "INSERT INTO doomed SELECT seq FROM (SELECT seq, at, "
	    "row_number() OVER (PARTITION BY subject, verb ORDER BY at DESC, "
	    "seq DESC) AS place, row_number() OVER (PARTITION BY subject, verb, machine, commit_id "
	    "ORDER BY at DESC, seq DESC) AS at_commit FROM records %s) AS ranked WHERE place > :keep "
	    "AND at < :before AND at_commit > :per_commit",
	    w->sql);
	DCK_TRY(history_prepare(h, sql, &s, "prune", err));
	history_where_bind(w, s);
	history_bind_int(s, ":keep", c->keep < (uint64_t)INT64_MAX ? (int64_t)c->keep : INT64_MAX);
	history_bind_int(s, ":before", before);
	history_bind_int(s, ":per_commit",
			 c->keep_per_commit < (uint64_t)INT64_MAX ? (int64_t)c->keep_per_commit
								  : INT64_MAX);
	return history_finish(s, NULL, err);
}

static dck_status doomed_remove(dck_history *h, bool dry_run, dck_history_pruned *ret, dck_err *err)
{
	int64_t removed, bytes, all;

	DCK_TRY(history_integer(h, "SELECT count(*) FROM doomed", &removed, err));
	DCK_TRY(history_integer(
	    h, "SELECT coalesce(sum(bytes), 0) FROM records JOIN doomed USING (seq)", &bytes, err));
	DCK_TRY(history_integer(h, "SELECT count(*) FROM records", &all, err));
	if (!dry_run)
		DCK_TRY(history_run(h, "DELETE FROM records WHERE seq IN (SELECT seq FROM doomed)",
				    "prune", err));
	*ret = (dck_history_pruned){(uint64_t)removed, (uint64_t)bytes, (uint64_t)(all - removed)};
	return DCK_OK;
}

typedef struct pruning {
	const history_where *where;
	const dck_history_prune_config *config;
	int64_t before;
	dck_history_pruned *ret;
} pruning;

static dck_status prune(dck_history *h, void *self, dck_err *err)
{
	const pruning *p = self;

	DCK_TRY(doomed_find(h, p->where, p->config, p->before, err));
	return doomed_remove(h, p->config->dry_run, p->ret, err);
}

dck_status dck_history_prune(dck_history *h, const dck_history_filter *f,
			     const dck_history_prune_config *c, dck_history_pruned *ret,
			     dck_err *err)
{
	history_where w;
	dck_history_pruned pruned = {0};
	int64_t before = INT64_MAX;

	if (c->keep == 0 && !c->older_than && c->keep_per_commit == 0)
		DCK_FAIL(err, E_ARG,
			 "prune needs --keep N, --older-than AGE or --keep-per-commit N");
	if (f && f->limit > 0)
		DCK_FAIL(err, E_ARG,
			 "prune has no limit of records: --keep N has the number that stays");
	DCK_TRY(history_where_make(f, &w, err));
	if (c->older_than)
		DCK_TRY(history_when(c->older_than, os_unix_ns(), &before, err));
	const pruning p = {.where = &w, .config = c, .before = before, .ret = &pruned};

	if (c->dry_run) {
		DCK_TRY(history_begin_read(h, err));
		DCK_TRY(history_end(h, prune(h, (void *)&p, err), err));
	} else {
		DCK_TRY(history_write(h, prune, (void *)&p, false, err));
	}
	if (!c->dry_run && pruned.removed > 0)
		h->database->space_return(h);
	*ret = pruned;
	return DCK_OK;
}

/* --- remove */

static dck_status doomed_add(dck_history *h, const char *id, dck_err *err)
{
	history_statement *s;
	int64_t seq;

	DCK_TRY(history_prepare(h, "SELECT seq FROM records WHERE id = ?1", &s, "read", err));
	history_bind_text(s, "?1", id);
	DCK_TRY(history_finish(s, &seq, err));
	if (seq == 0) /* they begin at 1 */
		DCK_FAIL(err, E_ABSENT, "the history '%s' has no record %.80s", h->path, id);
	DCK_TRY(history_prepare(h, "INSERT INTO doomed VALUES (?1) ON CONFLICT DO NOTHING", &s,
				"prune", err));
	history_bind_int(s, "?1", seq);
	return history_finish(s, NULL, err);
}

typedef struct removing {
	const char *const *ids;
	size_t n;
	dck_history_pruned removed;
} removing;

static dck_status ids_remove(dck_history *h, void *self, dck_err *err)
{
	removing *r = self;

	DCK_TRY(doomed_begin(h, err));
	for (size_t i = 0; i < r->n; i++)
		DCK_TRY(doomed_add(h, r->ids[i], err));
	return doomed_remove(h, false, &r->removed, err);
}

dck_status dck_history_remove(dck_history *h, const char *const *ids, size_t n,
			      dck_history_pruned *ret, dck_err *err)
{
	removing r = {.ids = ids, .n = n};

	DCK_TRY(history_write(h, ids_remove, &r, false, err));
	if (r.removed.removed > 0)
		h->database->space_return(h);
	*ret = r.removed;
	return DCK_OK;
}

/* --- check */

static bool texts_equal(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* A database may keep the decimals of a number. */
static bool index_number_equal(double a, double b)
{
	return fabs(a - b) <= 1e-12 * fabs(b);
}

/* The numbers of a record that the index must have: of each tag the first one. */
typedef struct indexed {
	name_index tags;
	const dck_metric **first; /* by the tag's id */
} indexed;

static dck_status indexed_find(const dck_record *r, mem_arena *a, indexed *ret, dck_err *err)
{
	ret->first = mem_arena_array(a, r->nmetrics + 1, sizeof *ret->first);
	DCK_NEED(ret->first && name_index_init(&ret->tags, a, r->nmetrics + 1), err,
		 "to check a record");
	for (size_t i = 0; i < r->nmetrics; i++) {
		const dck_metric *m = &r->metrics[i];
		const size_t known = ret->tags.n;

		if (history_is_number(&m->value) &&
		    name_index_intern(&ret->tags, m->def->tag) == known)
			ret->first[known] = m;
	}
	return DCK_OK;
}

static bool metric_agrees(history_statement *s, const indexed *of)
{
	const char *tag = history_text(s, 0);
	const size_t id = tag ? name_index_find(&of->tags, tag) : NAME_INDEX_NONE;
	const dck_metric *m = id != NAME_INDEX_NONE ? of->first[id] : NULL;

	return m && index_number_equal(history_real(s, 1), dck_value_number(&m->value)) &&
	       texts_equal(history_text(s, 2), dck_unit_text(m->def->unit)) &&
	       (!(m->level > 0) || (index_number_equal(history_real(s, 3), m->lo) &&
				    index_number_equal(history_real(s, 4), m->hi)));
}

/* Compares the index of a record's metrics with them: each, and whether all are there. */
static dck_status metrics_agree(dck_history *h, int64_t seq, const indexed *of, bool *ret,
				dck_err *err)
{
	history_statement *s;
	size_t n = 0;
	bool row = false;

	DCK_TRY(history_prepare_many(
	    h, "SELECT tag, value, unit, lo, hi FROM metrics WHERE seq = ?1", &s, "check", err));
	history_bind_int(s, "?1", seq);
	dck_status status = history_step(s, &row, err);
	for (*ret = true; status == DCK_OK && row && *ret; n++) {
		*ret = metric_agrees(s, of);
		DCK_NEXT(status, history_step(s, &row, err));
	}
	history_finalize(s);
	*ret = *ret && n == of->tags.n;
	return status;
}

static bool index_agrees(history_statement *s, const dck_record *r)
{
	const char *id = history_text(s, 1);
	const char *subject = history_text(s, 2);
	history_identity who;

	history_identify(r, &who);
	return texts_equal(id, r->id) && texts_equal(subject, who.subject) &&
	       (r->began_unix_ns == 0 || history_int(s, 3) == r->began_unix_ns);
}

static dck_status upkeep_record_check(dck_history *h, history_statement *s, dck_err *err)
{
	const char *id = history_text(s, 1);
	dck_buffer json = {0};
	dck_record *r = NULL;
	bool agrees = true;
	indexed of = {0};
	mem_arena *a = mem_arena_new(0);
	dck_status status = history_text_get(h, history_int(s, 0), id, &json, err);

	DCK_NEXT(status, dck_record_parse(json.data, json.n, &r, err));
	dck_buffer_done(&json);
	if (status == DCK_OK && !a)
		status = ERR_NO_MEMORY(err, "to check a record");
	DCK_NEXT(status, indexed_find(r, a, &of, err));
	DCK_NEXT(status, metrics_agree(h, history_int(s, 0), &of, &agrees, err));
	if (status == DCK_OK && !(agrees && index_agrees(s, r)))
		status = ERR_SET(err, E_FORMAT,
				 "the history '%s' is damaged: its index contradicts the record %s",
				 h->path, id);
	dck_record_free(r);
	mem_arena_free(a);
	return status;
}

dck_status dck_history_check(dck_history *h, dck_history_health *ret, dck_err *err)
{
	static const char sql[] = "SELECT seq, id, subject, at FROM records ORDER BY seq";
	dck_history_health health = {0};
	history_statement *s;
	bool row = false;
	dck_status status;

	DCK_TRY(h->database->check(h, &health.bytes, err));
	DCK_TRY(history_prepare_many(h, sql, &s, "check", err));
	status = history_step(s, &row, err);
	for (; status == DCK_OK && row; health.records++) {
		status = upkeep_record_check(h, s, err);
		DCK_NEXT(status, history_step(s, &row, err));
	}
	history_finalize(s);
	if (status == DCK_OK)
		*ret = health;
	return status;
}
