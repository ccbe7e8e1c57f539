/* search_journal.h - write-ahead journal of a search, so that a killed search can be resumed: each
 * trial is a line in a file, synced before the next trial starts. A line is a small record
 * (docs/reference/record.md); the first line identifies the search.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_JOURNAL_H
#define THROUGHPUT_SEARCH_JOURNAL_H

#include "study/throughput/search.h"
#include "deepclock/record.h"

typedef struct search_journal search_journal;

/* Opens or creates the file and replays its trials into s. `key`: the identity of the search, as
 * words separated by newlines. *ret_facts: the facts that the first trial wrote, owned; NULL: none.
 * A line truncated by a kill is dropped. E_ARG: the journal of another search, or trials that this
 * search would not make. E_FORMAT: not a journal; the file is unchanged. E_IO, E_NOMEM. */
dck_status search_journal_open(const char *path, const char *key, search *s, search_journal **ret,
			       dck_record **ret_facts, dck_err *err);
/* Appends a trial, before search_tell(). facts: facts of the model and the machine, with the first
 * trial that has some; else NULL. */
dck_status search_journal_add(search_journal *j, const search_ask *ask, const search_outcome *o,
			      const dck_record *facts, dck_err *err);
void search_journal_close(search_journal *j); /* NULL is allowed */

#endif
