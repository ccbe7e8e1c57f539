/* prompt_ids.h - prompts as token ids from a file, one a line, in any of these forms:
 *
 *	[1, 529, 77]
 *	1 529 77
 *	{"prompt": [1, 529, 77]}
 *
 * Of an object, members of other names are ignored. Text is refused: it needs a tokenizer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROMPTS_PROMPT_IDS_H
#define PROMPTS_PROMPT_IDS_H

#include "deepclock/base.h"

typedef struct prompt_span {
	size_t from, n;	    /* of `ids` */
	unsigned long line; /* from 1 */
} prompt_span;

typedef struct prompt_ids {
	int32_t *ids; /* of all prompts; owned */
	size_t nids;
	prompt_span *prompt; /* [n], the shortest first, else in the file's order; owned */
	size_t n;
	size_t ids_cap, cap; /* while it is read */
} prompt_ids;

/* E_FORMAT: an invalid line, which the message names, or no prompt; E_ABSENT, E_IO, E_LIMIT. On
 * failure *ret is not written. */
dck_status prompt_ids_read(const char *path, prompt_ids *ret, dck_err *err);
void prompt_ids_done(prompt_ids *p); /* {0} is allowed */

#endif
