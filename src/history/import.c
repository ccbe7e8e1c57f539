/* import.c - imports records: one file of --save, or the lines of an export (JSON Lines).
 *
 * The first line decides the format: if it parses as a record, the file is an export; else the
 * whole file is one record, which --save writes over several lines. A whole file is stored byte for
 * byte. A line is serialised again in the format of --save, without the member "history" that
 * export added, from which SQLite's json_extract() takes the commit.
 *
 * Lines are committed BATCH at a time, because each commit waits for the disk. A bad line ends the
 * import; a savepoint rolls back its partial insertion, the lines before it are committed, and *ret
 * counts them also on failure. A record that exists counts as known (add.c), so an interrupted
 * import can be repeated.
 *
 * One line and its record are in memory at a time; a text of more than TEXT_MAX bytes is E_LIMIT.
 * The buffer grows by doubling.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "history/store.h"
#include "base/err.h"
#include "record/build.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define TEXT_MAX ((size_t)256 << 20) /* the limit of dck_record_load() */
/* Lines that are committed together: each commit waits for the disk. */
#define BATCH 100

typedef struct source {
	FILE *file;
	const char *name;
	dck_buffer line;
	uint64_t number; /* of the line, from 1 */
} source;

static bool import_room_make(dck_buffer *b, size_t more)
{
	char *data;
	size_t cap = b->cap > 0 ? b->cap : 65536;

	while (cap - b->n <= more)
		cap *= 2;
	if (cap == b->cap)
		return true;
	data = mem_resize(b->data, cap);
	if (data) {
		b->data = data;
		b->cap = cap;
	}
	return data != NULL;
}

/* Appends the next line with its newline, or with `whole` the rest of the file. *ret_more:
 * something was read. */
static dck_status import_text_read(source *s, bool whole, bool *ret_more, dck_err *err)
{
	const size_t before = s->line.n;
	bool more = true;

	while (more) {
		DCK_NEED(import_room_make(&s->line, 4096), err, "for '%s'", s->name);
		errno = 0;
		if (whole) {
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
		if (s->line.n > TEXT_MAX)
			DCK_FAIL(err, E_LIMIT,
				 "'%s' has a record of more than 256 MiB, the most that is read",
				 s->name);
	}
	s->line.data[s->line.n] = '\0';
	*ret_more = s->line.n > before;
	return DCK_OK;
}

/* Reads the commit that export added to the line; SQLite parses the JSON. A line that it cannot
 * parse, such as one that is nested too deeply for it, has no commit. */
static dck_status line_commit(dck_history *h, const dck_buffer *line, char *text, dck_err *err)
{
	sqlite3_stmt *s;
	bool row = false;
	dck_status status;

	text[0] = '\0';
	if (!strstr(line->data, "\"history\""))
		return DCK_OK;
	DCK_TRY(history_prepare(h,
				"SELECT json_extract(?1, '$.history.commit') WHERE json_valid(?1)",
				&s, "read", err));
	const int rc = sqlite->bind_text(s, 1, line->data, (int)line->n, SQLITE_STATIC);
	status = rc == SQLITE_OK ? history_step(h, s, &row, "read", err)
				 : history_failed(h, rc, "read", err);
	if (status == DCK_OK && row && sqlite->column_type(s, 0) == SQLITE_TEXT)
		snprintf(text, DCK_COMMIT_SIZE, "%s", (const char *)sqlite->column_text(s, 0));
	sqlite->finalize(s);
	return status;
}

/* Adds the record completely or not at all; the records before it in the transaction stay. */
static dck_status import_insert(dck_history *h, const dck_record *r, history_text text,
				const char *commit, dck_history_count *count, dck_err *err)
{
	bool is_new = false;
	dck_status status;

	DCK_TRY(history_run(h, "SAVEPOINT one", "add a record to", err));
	status = history_insert(h, r, text, commit, &is_new, err);
	if (status != DCK_OK)
		sqlite->exec(h->db, "ROLLBACK TO one", NULL, NULL, NULL);
	else
		status = history_run(h, "RELEASE one", "add a record to", err);
	if (status != DCK_OK)
		return status;
	count->added += is_new;
	count->known += !is_new;
	return DCK_OK;
}

/* Inserts the record of a line as --save writes it, without the member that export added. */
static dck_status line_insert(dck_history *h, const source *s, const char *commit,
			      dck_history_count *count, dck_err *err)
{
	char said[DCK_COMMIT_SIZE];
	dck_buffer json = {0};
	dck_record *r;
	dck_sink sink;
	dck_status status;

	DCK_TRY(dck_record_parse(s->line.data, s->line.n, &r, err));
	dck_sink_buffer(&sink, &json);
	record_json_write(r, &sink);
	status = dck_sink_finish(&sink, err);
	if (status == DCK_OK)
		status = line_commit(h, &s->line, said, err);
	if (status == DCK_OK)
		status = import_insert(h, r, (history_text){json.data, json.n},
				       commit			   ? commit
				       : history_commit_fits(said) ? said
								   : NULL,
				       count, err);
	dck_buffer_done(&json);
	dck_record_free(r);
	return status;
}

static bool import_is_blank(const char *text)
{
	return text[strspn(text, " \t\r\n")] == '\0';
}

/* Imports the line in s and all lines after it, BATCH of them in a transaction. */
static dck_status lines_import(dck_history *h, source *s, const char *commit,
			       dck_history_count *ret, dck_err *err)
{
	dck_status status = DCK_OK;
	bool more = true;

	while (more && status == DCK_OK) {
		dck_history_count batch = {0};
		dck_status ended;

		DCK_TRY(history_begin(h, err));
		for (int i = 0; i < BATCH && more && status == DCK_OK; i++) {
			if (!import_is_blank(s->line.data))
				status = line_insert(h, s, commit, &batch, err);
			if (status != DCK_OK) {
				err_while(err, status, "reading line %llu of '%s'",
					  (unsigned long long)s->number, s->name);
				break;
			}
			s->line.n = 0;
			s->number++;
			status = import_text_read(s, false, &more, err);
		}
		/* Lines before the bad one are committed. */
		ended = history_end(h, DCK_OK, status == DCK_OK ? err : NULL);
		if (ended == DCK_OK) {
			ret->added += batch.added;
			ret->known += batch.known;
		}
		if (status == DCK_OK)
			status = ended;
	}
	return status;
}

static dck_status whole_import(dck_history *h, source *s, const char *commit,
			       dck_history_count *ret, dck_err *err)
{
	dck_history_count count = {0};
	dck_record *r;
	dck_status status = dck_record_parse(s->line.data, s->line.n, &r, err);

	if (status != DCK_OK)
		return err_while(err, status, "reading '%s'", s->name);
	status = history_begin(h, err);
	if (status == DCK_OK)
		status = history_end(h,
				     import_insert(h, r, (history_text){s->line.data, s->line.n},
						   commit, &count, err),
				     err);
	dck_record_free(r);
	if (status == DCK_OK) {
		ret->added += count.added;
		ret->known += count.known;
	}
	return status;
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
	status = import(h, &s, commit, &count, err);
	*ret = count;
	mem_free(s.line.data);
	if (!standard)
		fclose(s.file);
	return status;
}
