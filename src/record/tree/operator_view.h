/* operator_view.h - table of operators of a torch.profiler trace, sorted by one of its columns.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLS_OPERATOR_VIEW_H
#define CALLS_OPERATOR_VIEW_H

#include "record/build.h"

/* Returns the column for a word of --sort, also in torch.profiler's words; NULL: the table has no
 * such column. */
const char *operator_view_column(const char *word);
/* Writes the `top` rows with the largest values in that column. E_ABSENT: the record lacks that
 * table or column. */
dck_status operator_view_put(record_builder *b, const dck_record *r, const char *column, size_t top,
			     dck_err *err);

#endif
