/* operator_view.h - the table of operators that a trace of torch.profiler has, by one of its
 * columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_OPERATOR_VIEW_H
#define CALLS_OPERATOR_VIEW_H

#include "record/build.h"

/* The column that a word of --sort means, also in torch.profiler's words; NULL: it is no word of
 * this table. */
const char *operator_view_column(const char *word);
/* The table of its `top` rows that have the most in that column. E_ABSENT: there is no such table
 * or column. */
dck_status operator_view_put(record_builder *b, const dck_record *r, const char *column, size_t top,
			     dck_err *err);

#endif
