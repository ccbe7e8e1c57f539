/* search_journal.h - a search that can go on after it was killed: each trial is a line in a file,
 * synced before the next trial begins. A line is a small record (docs/reference/record.md); the
 * first one says of which search the journal is.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_JOURNAL_H
#define THROUGHPUT_SEARCH_JOURNAL_H

#include "study/throughput/search.h"
#include "deepclock/record.h"

typedef struct search_journal search_journal;

/* Opens or makes the file and gives s the trials that are in it. `key`: everything that makes the
 * search what it is, as words with newlines between. *ret_facts: the facts that the first trial
 * left in the journal, owned; NULL: there was none. A line that was cut by a kill is dropped.
 * E_ARG: the journal of another search, or trials that this search would not make. E_FORMAT: no
 * journal; the file is left untouched. E_IO, E_NOMEM. */
dck_status search_journal_open(const char *path, const char *key, search *s, search_journal **ret,
			       dck_record **ret_facts, dck_err *err);
/* Appends a trial, before search_tell(). facts: of the model and the machine, with the first
 * trial that has some; else NULL. */
dck_status search_journal_add(search_journal *j, const search_ask *ask, const search_outcome *o,
			      const dck_record *facts, dck_err *err);
void search_journal_close(search_journal *j); /* NULL is allowed */

#endif
