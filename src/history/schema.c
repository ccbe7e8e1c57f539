/* schema.c - how the database is laid out. The record's text is what counts; everything in
 * `records` and `metrics` is an index that was read from it, so that lists and trends read no text.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"

/* Texts are in a separate table, so that a list reads small adjacent rows. */
/* From each version to the next; NULL-ended. */
static const char *const history_schema_steps[] = {
    /* 0 -> 1 */
    "CREATE TABLE records ( seq {key}," /* in the order of adding */
    " id {text} NOT NULL UNIQUE,"
    " at {int} NOT NULL," /* unix ns: began, or else added */
    " added {int} NOT NULL, command {text}, verb {text}, subject {text}, engine {text}, cpu {text}, "
    "machine {text} NOT NULL, method {text} NOT NULL, commit_id {text}, incomplete {int} NOT NULL, "
    "bytes {int} NOT NULL);CREATE INDEX records_at ON records (at, "
    "seq);CREATE INDEX records_subject ON records (subject, at, "
    "seq);CREATE TABLE texts ( seq {int} PRIMARY KEY REFERENCES records ON DELETE CASCADE, "
    "sum {int} NOT NULL," /* of json: detects damage that leaves the structure intact */
    " json {blob} NOT NULL);CREATE TABLE metrics ( seq {int} NOT NULL REFERENCES records ON DELETE "
    "CASCADE, tag {text} NOT NULL, value {number} NOT NULL," /* integer or real; metrics without a
						     number are in the text alone */
    " unit {text} NOT NULL,"
    " lo {real}, hi {real}, level {real},"
    " PRIMARY KEY (seq, tag)) {clustered};",
    /* 1 -> 2: a baseline is found without a scan of all records of a subject */
    "CREATE INDEX records_alike ON records (subject, verb, machine, method, at, seq);",
    /* 2 -> 3: keys_renew(), as the seed no longer separates records */
    "",
    /* 3 -> 4: metrics that were renamed before 0.1 (record/renamed.c) */
    "UPDATE {or_ignore} metrics SET tag = 'load/abandoned' WHERE tag = 'load/unserved';"
    "UPDATE {or_ignore} metrics SET tag = 'memory/heap_runtime' WHERE tag = 'memory/heap_kept';",
    /* 4 -> 5: records of many machines */
    "ALTER TABLE records ADD COLUMN host {text};"
    "ALTER TABLE records ADD COLUMN branch {text};{metrics_by_tag}",
    NULL,
};

int dck_history_schema(void)
{
	int n = 0;

	while (history_schema_steps[n])
		n++;
	return n;
}

dck_status history_schema_check(dck_history *h, int *ret_version, dck_err *err)
{
	int version = 0;

	DCK_TRY(h->database->version_get(h, &version, err));
	if (version > dck_history_schema())
		DCK_FAIL(err, E_VERSION,
			 "the history '%s' was made by a newer deepclock (version %d of its "
			 "layout, this one supports %d); it was not changed: use that deepclock, "
			 "or another file with --db",
			 h->path, version, dck_history_schema());
	*ret_version = version;
	return DCK_OK;
}

/* Records of an older file have keys that an older record/comparable.c made. They are computed
 * again from the records' texts. The keys of an unreadable record stay. */
#define KEYS_VERSION 3

static dck_status key_renew(dck_history *h, int64_t seq, const char *id, dck_err *err)
{
	dck_buffer json = {0};
	dck_record *r = NULL;
	history_identity who;
	history_statement *s;
	dck_status status = DCK_OK;

	if (history_text_get(h, seq, id, &json, NULL) == DCK_OK &&
	    dck_record_parse(json.data, json.n, &r, NULL) == DCK_OK) {
		history_identify(r, &who);
		status = history_prepare(
		    h, "UPDATE records SET machine = ?1, method = ?2 WHERE seq = ?3", &s, "lay out",
		    err);
		if (status == DCK_OK) {
			history_bind_text(s, "?1", who.machine);
			history_bind_text(s, "?2", who.method);
			history_bind_int(s, "?3", seq);
			status = history_finish(s, NULL, err);
		}
	}
	dck_record_free(r);
	dck_buffer_done(&json);
	return status;
}

static dck_status keys_renew(dck_history *h, dck_err *err)
{
	history_statement *s;
	dck_status status = DCK_OK;

	DCK_TRY(
	    history_prepare_many(h, "SELECT seq, id FROM records ORDER BY seq", &s, "read", err));
	while (history_next(s, &status, err))
		status = key_renew(h, history_int(s, 0), history_text(s, 1), err);
	history_finalize(s);
	return status;
}

static dck_status steps_run(dck_history *h, int version, dck_err *err)
{
	const bool old_keys = version > 0 && version < KEYS_VERSION;

	while (history_schema_steps[version])
		DCK_TRY(history_run(h, history_schema_steps[version++], "lay out", err));
	if (old_keys)
		DCK_TRY(keys_renew(h, err));
	return h->database->version_set(h, version, err);
}

static dck_status schema_upgrade(dck_history *h, void *self, dck_err *err)
{
	int version = 0;

	(void)self;
	DCK_TRY(h->database->layout_lock(h, err));
	/* Another program may have done it in the meantime. */
	DCK_TRY(history_schema_check(h, &version, err));
	return version < dck_history_schema() ? steps_run(h, version, err) : DCK_OK;
}

dck_status history_schema_upgrade(dck_history *h, dck_err *err)
{
	return history_write(h, schema_upgrade, NULL, true, err);
}

dck_status history_old_refused(const dck_history *h, int version, dck_err *err)
{
	if (version < dck_history_schema())
		DCK_FAIL(
		    err, E_VERSION,
		    "the history '%s' has an older version and is read-only, so it cannot be brought up to date",
		    h->path);
	return DCK_OK;
}

dck_status history_absent(const dck_history *h, dck_err *err)
{
	DCK_FAIL(err, E_ABSENT,
		 "there is no history yet at '%s': '--save FILE' of a command creates it", h->path);
}
