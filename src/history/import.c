/* import.c - imports records: one file of --save, or the lines of an export (JSON Lines).
 *
 * The first line decides the format: if it parses as a record, the file is an export; else the
 * whole file is one record, which --save writes over several lines. A whole file is stored byte for
 * byte. A line is serialised again in the format of --save, without the member "history" that
 * export added, from which the commit is taken.
 *
 * Lines are committed BATCH at a time, because each commit waits for the disk. A bad line ends the
 * import; a savepoint rolls back its partial insertion, the lines before it are committed, and *ret
 * counts them also on failure. A record that exists counts as known (add.c), so an interrupted
 * import can be repeated.
 *
 * The texts of BATCH lines, or of BATCH_BYTES, and one record are in memory at a time; a text of
 * more than TEXT_MAX bytes is E_LIMIT. The buffer grows by doubling.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "base/json/json_read.h"
#include "record/build.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)256 << 20) /* the limit of dck_record_load() */
/* Lines that are committed together: each commit waits for the disk. */
#define BATCH	    100
#define BATCH_BYTES ((size_t)16 << 20)

typedef struct source {
	FILE *file;
	const char *name;
	dck_buffer line;
	uint64_t number; /* of the line, from 1 */
} source;

/* Appends the next line with its newline, or with `whole` the rest of the file. *ret_more:
 * something was read. */
static dck_status import_text_read(source *s, bool whole_record, bool *ret_more, dck_err *err)
{
	const size_t before = s->line.n;
	bool more = true;

	while (more) {
		DCK_NEED(mem_reserve(&s->line.data, &s->line.cap, s->line.n + 4097, 1), err,
			 "for '%s'", s->name);
		errno = 0;
		if (whole_record) {
			const size_t n = fread(s->line.data + s->line.n, 1, 4096, s->file);

			s->line.n += n;
			more = n > 0;
		} else {
			int c = EOF;

			for (size_t i = 0; i < 4096 && (c = getc(s->file)) != EOF; i++) {
				s->line.data[s->line.n++] = (char)c;
				if (c == '\n')
					break;
			}
			more = c != EOF && c != '\n';
		}
		if (ferror(s->file))
			DCK_FAIL_ERRNO(err, E_IO, errno, "cannot read '%s'", s->name);
		if (s->line.n - (whole_record ? 0 : before) > TEXT_MAX)
			DCK_FAIL(err, E_LIMIT,
				 "'%s' has a record of more than 256 MiB, the most that is read",
				 s->name);
	}
	s->line.data[s->line.n] = '\0';
	*ret_more = s->line.n > before;
	return DCK_OK;
}

/* Reads up to the value of the member `key` of the open object. */
static bool import_member_find(json_reader *r, const char *key, json_token *ret)
{
	bool more;

	while (json_next_key(r, &more, NULL) == DCK_OK && more) {
		const bool found = strcmp(r->text, key) == 0;

		if (json_next(r, ret, NULL) != DCK_OK)
			return false;
		if (found)
			return true;
		if (json_skip(r, *ret, NULL) != DCK_OK)
			return false;
	}
	return false;
}

/* What export added to a line. */
typedef struct line_origin {
	char commit[DCK_COMMIT_SIZE], branch[HISTORY_BRANCH_SIZE], host[256];
} line_origin;

static void member_copy(const json_reader *r, char *to, size_t size)
{
	if (r->n < size)
		memcpy(to, r->text, r->n + 1);
}

/* Reads the members of "history". A line that is nested too deeply has none. */
static dck_status line_origin_read(const history_bytes *line, line_origin *ret, dck_err *err)
{
	json_reader *r;
	json_token t;
	bool more;
	char key[16];

	*ret = (line_origin){{0}, {0}, {0}};
	if (!strstr(line->json, "\"history\""))
		return DCK_OK;
	r = mem_alloc(sizeof *r);
	DCK_NEED(r, err, "for a commit");
	json_read_bytes(r, line->json, line->n, "a line");
	more = json_next(r, &t, NULL) == DCK_OK && t == JSON_OBJECT &&
	       import_member_find(r, "history", &t) && t == JSON_OBJECT;
	while (more && json_next_key(r, &more, NULL) == DCK_OK && more) {
		snprintf(key, sizeof key, "%.15s", r->text);
		if (json_next(r, &t, NULL) != DCK_OK || json_skip(r, t, NULL) != DCK_OK)
			break;
		if (t == JSON_TEXT && strcmp(key, "commit") == 0)
			member_copy(r, ret->commit, sizeof ret->commit);
		else if (t == JSON_TEXT && strcmp(key, "branch") == 0)
			member_copy(r, ret->branch, sizeof ret->branch);
		else if (t == JSON_TEXT && strcmp(key, "host") == 0)
			member_copy(r, ret->host, sizeof ret->host);
	}
	mem_free(r);
	return DCK_OK;
}

/* Adds the record completely or not at all; the records before it in the transaction stay. */
static dck_status import_insert(dck_history *h, const dck_record *r, history_bytes text,
				const history_origin *from, dck_history_count *count, dck_err *err)
{
	bool is_new = false;
	dck_status status;

	DCK_TRY(history_run(h, "SAVEPOINT one", "add a record to", err));
	status = history_insert(h, r, text, from, &is_new, err);
	if (status != DCK_OK && h->database->in_transaction(h))
		history_run(h, "ROLLBACK TO one", "add a record to", NULL);
	else if (status == DCK_OK)
		status = history_run(h, "RELEASE one", "add a record to", err);
	DCK_TRY(status);
	count->added += is_new;
	count->known += !is_new;
	return DCK_OK;
}

/* Inserts the record of a line as --save writes it, without the member that export added. */
static dck_status line_insert(dck_history *h, history_bytes line, const char *commit,
			      dck_history_count *count, dck_err *err)
{
	line_origin said;
	dck_buffer json = {0};
	dck_record *r;
	dck_sink sink;
	dck_status status;

	DCK_TRY(dck_record_parse(line.json, line.n, &r, err));
	dck_sink_buffer(&sink, &json);
	record_json_write(r, &sink);
	status = dck_sink_finish(&sink, err);
	DCK_NEXT(status, line_origin_read(&line, &said, err));
	if (status == DCK_OK) {
		const history_origin from = {commit				? commit
					     : history_commit_fits(said.commit) ? said.commit
										: NULL,
					     history_branch_fits(said.branch) ? said.branch : NULL,
					     said.host[0] ? said.host : NULL};

		status = import_insert(h, r, (history_bytes){json.data, json.n}, &from, count, err);
	}
	dck_buffer_done(&json);
	dck_record_free(r);
	return status;
}

static bool import_is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

/* The lines of one transaction: their texts in s->line, each ended by NUL. */
typedef struct batch {
	source *s;
	const char *commit;
	size_t n;
	size_t end[BATCH]; /* of each line, with the NUL */
	/* Results. A bad line ends the batch; the lines before it are committed. */
	dck_history_count count;
	dck_status bad;
	dck_err *err; /* of the bad line */
} batch;

static dck_status batch_read(batch *b, bool *ret_more, dck_err *err)
{
	dck_buffer *line = &b->s->line;

	while (*ret_more) {
		DCK_NEED(mem_reserve(&line->data, &line->cap, line->n + 2, 1), err, "for '%s'",
			 b->s->name);
		line->data[line->n++] = '\0';
		b->end[b->n++] = line->n;
		if (b->n == BATCH || line->n > BATCH_BYTES)
			return DCK_OK;
		DCK_TRY(import_text_read(b->s, false, ret_more, err));
	}
	return DCK_OK;
}

static dck_status batch_insert(dck_history *h, void *self, dck_err *err)
{
	batch *b = self;
	bool lost;

	b->count = (dck_history_count){0};
	b->bad = DCK_OK;
	for (size_t i = 0, from = 0; i < b->n; from = b->end[i++]) {
		const history_bytes line = {b->s->line.data + from, b->end[i] - from - 1};

		if (import_is_blank(line.json))
			continue;
		b->bad = line_insert(h, line, b->commit, &b->count, b->err);
		if (b->bad == DCK_OK)
			continue;
		err_while(b->err, b->bad, "reading line %llu of '%s'",
			  (unsigned long long)(b->s->number + i), b->s->name);
		/* A failure of the database, not of the line. */
		if (h->database->again(h, &lost) || !h->database->in_transaction(h)) {
			if (err && b->err)
				*err = *b->err;
			return b->bad;
		}
		break;
	}
	return DCK_OK;
}

/* Imports the line in s and all lines after it, BATCH of them in a transaction. */
static dck_status lines_import(dck_history *h, source *s, const char *commit,
			       dck_history_count *ret, dck_err *err)
{
	dck_status status = DCK_OK, ended;
	bool more = true;
	dck_err bad = {0};

	while (more && status == DCK_OK) {
		batch b = {.s = s, .commit = commit, .err = &bad};

		/* The lines before one that cannot be read are committed. */
		status = batch_read(&b, &more, err);
		ended = b.n > 0 ? history_write(h, batch_insert, &b, true,
						status == DCK_OK ? err : NULL)
				: DCK_OK;
		DCK_NEXT(status, ended);
		if (ended != DCK_OK)
			break;
		ret->added += b.count.added;
		ret->known += b.count.known;
		if (b.bad != DCK_OK && err)
			*err = bad;
		if (b.bad != DCK_OK)
			return b.bad;
		s->line.n = 0;
		s->number += b.n;
		if (status == DCK_OK && more)
			status = import_text_read(s, false, &more, err);
	}
	return status;
}

typedef struct whole_record {
	const dck_record *r;
	history_bytes text;
	history_origin from;
	dck_history_count count;
} whole_record;

static dck_status whole_insert(dck_history *h, void *self, dck_err *err)
{
	whole_record *w = self;

	w->count = (dck_history_count){0};
	return import_insert(h, w->r, w->text, &w->from, &w->count, err);
}

static dck_status whole_import(dck_history *h, source *s, const char *commit,
			       dck_history_count *ret, dck_err *err)
{
	whole_record w = {.text = {s->line.data, s->line.n}, .from = {.commit = commit}};
	dck_record *r;
	dck_status status = dck_record_parse(s->line.data, s->line.n, &r, err);

	if (status != DCK_OK)
		return err_while(err, status, "reading '%s'", s->name);
	w.r = r;
	status = history_write(h, whole_insert, &w, true, err);
	dck_record_free(r);
	if (status != DCK_OK)
		return err_while(err, status, "adding '%s'", s->name);
	ret->added += w.count.added;
	ret->known += w.count.known;
	return DCK_OK;
}

static dck_status import(dck_history *h, source *s, const char *commit, dck_history_count *ret,
			 dck_err *err)
{
	dck_record *r;
	bool more;

	s->number = 1;
	DCK_TRY(import_text_read(s, false, &more, err));
	/* The first line of a --save file is a bracket alone, that of an export a whole record. */
	if (more && !import_is_blank(s->line.data)) {
		/* This is not an error yet: the whole file may be a record. */
		const dck_status status = dck_record_parse(s->line.data, s->line.n, &r, NULL);

		if (status == DCK_OK) {
			dck_record_free(r);
			return lines_import(h, s, commit, ret, err);
		}
		if (status == DCK_E_NOMEM)
			return ERR_NO_MEMORY(err, "for the record in '%s'", s->name);
	}
	DCK_TRY(import_text_read(s, true, &more, err));
	return whole_import(h, s, commit, ret, err);
}

/* Copies the records of another history, each byte for byte, BATCH of them in a transaction. */
typedef struct copied {
	dck_history *from;
	int64_t after, last; /* seq of the last record of the batch before, and of this batch */
	size_t n;
	const char *commit;
	dck_history_count count;
} copied;

static dck_status record_copy_into(dck_history *h, history_statement *s, copied *c, dck_err *err)
{
	const history_origin from = {c->commit ? c->commit : history_text(s, 2), history_text(s, 3),
				     history_text(s, 4)};
	dck_buffer json = {0};
	dck_record *r = NULL;
	dck_status status =
	    history_text_get(c->from, history_int(s, 0), history_text(s, 1), &json, err);

	DCK_NEXT(status, dck_record_parse(json.data, json.n, &r, err));
	DCK_NEXT(status,
		 import_insert(h, r, (history_bytes){json.data, json.n}, &from, &c->count, err));
	dck_buffer_done(&json);
	dck_record_free(r);
	return status;
}

static dck_status batch_copy(dck_history *h, void *self, dck_err *err)
{
	copied *c = self;
	history_statement *s;
	dck_status status = DCK_OK;

	c->count = (dck_history_count){0};
	c->n = 0;
	DCK_TRY(history_prepare(c->from,
				"SELECT seq, id, commit_id, branch, host FROM records WHERE seq > "
				":after ORDER BY seq LIMIT :most",
				&s, "read", err));
	history_bind_int(s, ":after", c->after);
	history_bind_int(s, ":most", BATCH);
	while (history_next(s, &status, err)) {
		c->last = history_int(s, 0);
		c->n++;
		status = record_copy_into(h, s, c, err);
	}
	history_finalize(s);
	return status;
}

static dck_status history_copy(dck_history *h, const char *path, const char *commit,
			       dck_history_count *ret, dck_err *err)
{
	copied c = {.commit = commit, .after = INT64_MIN};
	dck_history_config config;
	dck_status status;

	dck_history_config_init(&config);
	config.path = path;
	config.existing = true;
	config.wait_ns = h->wait_ns;
	DCK_TRY(dck_history_open(&config, &c.from, err));
	do {
		status = history_write(h, batch_copy, &c, true, err);
		if (status == DCK_OK) {
			ret->added += c.count.added;
			ret->known += c.count.known;
			c.after = c.last;
		}
	} while (status == DCK_OK && c.n == BATCH);
	dck_history_close(c.from);
	return status;
}

/* Returns whether the file begins as those of SQLite do; its position does not change. */
static bool is_sqlite(FILE *file)
{
	static const char magic[] = "SQLite format 3";
	char head[sizeof magic] = {0};
	const bool same = fread(head, 1, sizeof head, file) == sizeof head &&
			  memcmp(head, magic, sizeof head) == 0;

	rewind(file);
	return same;
}

dck_status dck_history_import(dck_history *h, const char *path, const char *commit,
			      dck_history_count *ret, dck_err *err)
{
	const bool standard = strcmp(path, "-") == 0;
	source s = {.name = standard ? "standard input" : path,
		    .file = standard ? stdin : fopen(path, "rbe")};
	dck_history_count count = {0};
	dck_status status;

	if (!s.file) {
		const int e = errno;

		*ret = count;
		return err_set_errno(err, e == ENOENT || e == ENOTDIR ? DCK_E_ABSENT : DCK_E_IO,
				     __FILE__, __LINE__, e, "cannot open '%s'", path);
	}
	/* A pipe is not a file of SQLite, and has no size. */
	status = !standard && history_place_bytes(path) > 0 && is_sqlite(s.file)
		     ? history_copy(h, path, commit, &count, err)
		     : import(h, &s, commit, &count, err);
	*ret = count;
	mem_free(s.line.data);
	if (!standard)
		fclose(s.file);
	return status;
}
