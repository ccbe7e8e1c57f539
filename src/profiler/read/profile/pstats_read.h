/* pstats_read.h - a profile of Python's cProfile, as its pstats files hold it, as a record.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_PSTATS_READ_H
#define IMPORT_PSTATS_READ_H

#include "record/build.h"

/* Returns whether the first bytes of a file identify a pstats profile: a dictionary whose first
 * key is a tuple. No JSON starts like this. */
bool pstats_is(const char *bytes, size_t n);

/* Adds table "functions", tree "calls", facts, a note and the answer. `bytes` is the whole file.
 * E_FORMAT: damaged, or another format. */
dck_status pstats_read(const char *bytes, size_t n, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
