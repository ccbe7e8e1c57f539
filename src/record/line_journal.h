/* line_journal.h - write-ahead journal of a search, so that one that was killed can be resumed:
 * each step is a line in a file, synced before the next step starts. A line is a small record
 * (docs/reference/record.md); the first line has the key, everything that defines the search.
 *
 *	const line_journal_reader reader = {"throughput journal", replay, self};
 *
 *	DCK_TRY(line_journal_open("search.jsonl", key, &reader, &j, err));
 *	... DCK_TRY(line_journal_add(j, b, err)) after each step ...
 *	line_journal_close(j);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_LINE_JOURNAL_H
#define RECORD_LINE_JOURNAL_H

#include "record/build.h"

typedef struct line_journal line_journal;

typedef struct line_journal_reader {
	const char *title; /* of the first line */
	/* Called for each line after the first, in order. It may take *r by setting it to NULL. A
	 * failure ends the reading. */
	dck_status (*replay)(void *self, dck_record **r, size_t line, dck_err *err);
	void *self;
} line_journal_reader;

/* Opens or creates the file, locks it, and replays its lines. `key`: words separated by newlines. A
 * line truncated by a kill is dropped. E_ARG: the journal of another search. E_FORMAT: not a
 * journal; the file is unchanged. E_IO, E_NOMEM, and those of replay(). */
dck_status line_journal_open(const char *path, const char *key, const line_journal_reader *reader,
			     line_journal **ret, dck_err *err);
/* Appends a line: finishes and frees b (NULL: no memory). */
dck_status line_journal_add(line_journal *j, record_builder *b, dck_err *err);
void line_journal_close(line_journal *j); /* NULL is allowed */
const char *line_journal_path(const line_journal *j);

/* Fail with E_FORMAT, E_ARG: a line that is damaged; a step that the search would not make. */
dck_status line_journal_damaged(const char *path, size_t line, dck_err *err);
dck_status line_journal_strange(const char *path, size_t line, dck_err *err);

/* Returns whether a fact of a section is v. */
bool line_journal_is(const dck_record *r, const char *section, const char *key, double v);
/* Returns the index of that fact among n words; n: it is none of them. */
size_t line_journal_word(const dck_record *r, const char *section, const char *key,
			 const char *const *words, size_t n);

#endif
