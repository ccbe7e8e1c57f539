/* opt_text.h - the way back from an option's value to the text that its parser reads: for the
 * command line of another process, or its environment.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_OPT_TEXT_H
#define BASE_OPT_TEXT_H

#include "base/mem.h"
#include "deepclock/opt.h"

/* Of the field of a row, by its kind. */
extern const size_t opt_sizes[DCK_OPT_LIST + 1];

/* Whether both configs of that row's table hold the same value. */
bool opt_same(const dck_opt *row, const void *cfg, const void *other);
/* "12", "5ns", "true", ...; of the arena, or borrowed from *cfg. NULL: a text that is not set, or
 * no memory. Not of a LIST, which has a text for each item. */
const char *opt_text(mem_arena *a, const dck_opt *row, const void *cfg);

#endif
