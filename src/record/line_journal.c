/* line_journal.c - an append-only log of a search: a line of JSON (a record) for each step, synced
 * before the search continues, and replayed when it is resumed.
 *
 * The first line has the key. A file with another key is refused with the first word in which the
 * two differ. A last line without its newline was torn by a kill and is truncated.
 *
 * Invariants: the lock of the file is taken before it is read and held until it is closed, so that
 * two searches never write one journal; a file that is not a journal, or is damaged, is not
 * changed; no line is written before the step it describes is complete. At most JOURNAL_BYTES_MAX
 * bytes are read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "record/line_journal.h"
#include "base/err.h"
#include "base/json/json_write.h"
#include "base/mem.h"
#include "os/os.h"
#include "record/record_begin.h"
#include "record/record_internal.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

#define JOURNAL_BYTES_MAX ((size_t)64 << 20)
#define WORD_SHOWN	  120

struct line_journal {
	int fd;
	char *path; /* @owned */
};

double line_journal_real(const dck_record *r, const char *section, const char *key)
{
	const dck_fact *f = dck_record_fact(r, section, key);

	return f ? dck_value_number(&f->value) : (double)NAN;
}

const char *line_journal_text(const dck_record *r, const char *section, const char *key)
{
	return record_text_of(r, section, key);
}

bool line_journal_is(const dck_record *r, const char *section, const char *key, double v)
{
	const double there = line_journal_real(r, section, key);

	return there >= v && there <= v;
}

size_t line_journal_word(const dck_record *r, const char *section, const char *key,
			 const char *const *words, size_t n)
{
	const char *there = line_journal_text(r, section, key);
	size_t i = 0;

	while (i < n && (!there || strcmp(words[i], there) != 0))
		i++;
	return i;
}

const char *line_journal_path(const line_journal *j)
{
	return j->path;
}

/* Appends one line, whole or not at all as far as the system allows; it is on the disk when this
 * returns. */
dck_status line_journal_add(line_journal *j, record_builder *b, dck_err *err)
{
	dck_buffer line = {0};
	dck_record *r;
	json_writer w;
	dck_sink out;
	dck_status status;

	DCK_NEED(b, err, "for a line of '%s'", j->path);
	DCK_TRY(record_finish(b, &r, err));
	dck_sink_buffer(&out, &line);
	json_init(&w, &out, false);
	record_json_put(r, &w);
	json_done(&w);
	status = dck_sink_finish(&out, err);
	dck_record_free(r);
	DCK_NEXT(status, os_append(j->fd, j->path, line.data, line.n, err));
	dck_buffer_done(&line);
	return status;
}

static dck_status key_write(line_journal *j, const char *title, const char *key, dck_err *err)
{
	record_builder *b = record_begin(title);

	DCK_NEED(b, err, "for a line of '%s'", j->path);
	record_fact_text(b, "journal", "search", key);
	return line_journal_add(j, b, err);
}

/* --- reading */

/* Moves *at to the next word, or to NULL after the last one. Returns the bytes of the word. */
static size_t word_take(const char **at, const char **ret)
{
	const size_t n = *at ? strcspn(*at, "\n") : 0;

	*ret = *at;
	*at = *at && (*at)[n] ? *at + n + 1 : NULL;
	return n;
}

static void word_show(const char *word, size_t n, char *buf)
{
	snprintf(buf, WORD_SHOWN, "%.*s", word ? (int)n : 7, word ? word : "nothing");
}

/* Copies the first words in which two keys differ; "nothing" for the key that has ended. */
static void keys_differ(const char *a, const char *b, char *word_a, char *word_b)
{
	const char *from_a, *from_b;
	size_t na, nb;

	do {
		na = word_take(&a, &from_a);
		nb = word_take(&b, &from_b);
	} while (from_a && from_b && na == nb && strncmp(from_a, from_b, na) == 0);
	word_show(from_a, na, word_a);
	word_show(from_b, nb, word_b);
}

static dck_status key_check(const char *path, const dck_record *r, const char *key, dck_err *err)
{
	const char *there = line_journal_text(r, "journal", "search");
	char a[WORD_SHOWN], b[WORD_SHOWN];

	if (!there)
		DCK_FAIL(err, E_FORMAT, "'%s' is not a journal of a search: give another file",
			 path);
	if (strcmp(there, key) == 0)
		return DCK_OK;
	keys_differ(there, key, a, b);
	DCK_FAIL(err, E_ARG,
		 "'%s' is the journal of another search: it has '%s', this one has '%s'; "
		 "give another file, or the same options",
		 path, a, b);
}

dck_status line_journal_damaged(const char *path, size_t line, dck_err *err)
{
	DCK_FAIL(err, E_FORMAT, "'%s' is damaged in line %zu: give another file to start again",
		 path, line);
}

dck_status line_journal_strange(const char *path, size_t line, dck_err *err)
{
	DCK_FAIL(err, E_ARG,
		 "line %zu of '%s' is a trial that this search would not make: "
		 "give another file to start again",
		 line, path);
}

/* *ret_good: bytes up to the end of the last whole line. */
static dck_status lines_replay(const char *path, dck_buffer *text, const char *key,
			       const line_journal_reader *reader, size_t *ret_good, dck_err *err)
{
	size_t at = 0, line = 1;

	for (char *end; at < text->n && (end = memchr(text->data + at, '\n', text->n - at));
	     line++) {
		const size_t n = (size_t)(end - text->data) - at;
		dck_record *r;
		dck_status status;

		if (dck_record_parse(text->data + at, n, &r, NULL) != DCK_OK)
			DCK_FAIL(err, E_FORMAT,
				 "'%s' is not a journal of a search (line %zu is not a record): "
				 "give another file",
				 path, line);
		status = line == 1 ? key_check(path, r, key, err)
				   : reader->replay(reader->self, &r, line, err);
		dck_record_free(r);
		DCK_TRY(status);
		at += n + 1;
	}
	*ret_good = at;
	return DCK_OK;
}

/* Locks the file before it is read: of two searches each would replay the other's steps. */
static dck_status journal_continue(line_journal *j, const char *key,
				   const line_journal_reader *reader, dck_err *err)
{
	dck_buffer text = {0};
	size_t good = 0;
	dck_status status;

	DCK_TRY(os_open_append(j->path, &j->fd, err));
	if (!os_file_lock(j->fd))
		DCK_FAIL(err, E_IO,
			 "another search writes to the journal '%s' now: wait until it is done, or "
			 "give another file",
			 j->path);
	DCK_TRY(os_read_file(j->path, JOURNAL_BYTES_MAX, &text, err));
	status = text.n > 0 ? lines_replay(j->path, &text, key, reader, &good, err) : DCK_OK;
	if (status == DCK_OK && text.n > 0 && good == 0)
		status = ERR_SET(err, E_FORMAT,
				 "'%s' is not a journal of a search: give another file", j->path);
	if (status == DCK_OK && good < text.n)
		status = os_truncate(j->fd, j->path, good, err);
	if (status == DCK_OK && text.n == 0)
		status = key_write(j, reader->title, key, err);
	dck_buffer_done(&text);
	return status;
}

dck_status line_journal_open(const char *path, const char *key, const line_journal_reader *reader,
			     line_journal **ret, dck_err *err)
{
	line_journal *j = mem_zalloc(1, sizeof *j);
	dck_status status;

	if (!j || !(j->path = mem_dup(path))) {
		mem_free(j);
		return ERR_NO_MEMORY(err, "for the journal '%s'", path);
	}
	j->fd = -1;
	status = journal_continue(j, key, reader, err);
	if (status != DCK_OK) {
		line_journal_close(j);
		return status;
	}
	*ret = j;
	return DCK_OK;
}

void line_journal_close(line_journal *j)
{
	if (!j)
		return;
	if (j->fd >= 0)
		os_close(j->fd);
	mem_free(j->path);
	mem_free(j);
}
