/* search_journal.h - the journal of a search for the best batch size, so that a killed one can be
 * resumed (record/line_journal.h): each trial is a line.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef THROUGHPUT_SEARCH_JOURNAL_H
#define THROUGHPUT_SEARCH_JOURNAL_H

#include "record/line_journal.h"
#include "study/throughput/search.h"
#include "deepclock/record.h"

/* Opens or creates the file and replays its trials into s. `key`: the identity of the search, as
 * words separated by newlines. *ret_facts: the facts that the first trial wrote, owned; NULL: none.
 * A line truncated by a kill is dropped. E_ARG: the journal of another search, or trials that this
 * search would not make. E_FORMAT: not a journal; the file is unchanged. E_IO, E_NOMEM. */
dck_status search_journal_open(const char *path, const char *key, search *s, line_journal **ret,
			       dck_record **ret_facts, dck_err *err);
/* Appends a trial, before search_tell(). facts: facts of the model and the machine, with the first
 * trial that has some; else NULL. */
dck_status search_journal_add(line_journal *j, const search_ask *ask, const search_outcome *o,
			      const dck_record *facts, dck_err *err);

#endif
