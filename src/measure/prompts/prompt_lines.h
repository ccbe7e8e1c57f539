/* prompt_lines.h - the lines of a file of prompts, for prompt_texts.h and prompt_ids.h.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROMPTS_PROMPT_LINES_H
#define PROMPTS_PROMPT_LINES_H

#include "deepclock/base.h"

typedef struct prompt_line {
	unsigned long number; /* from 1 */
	const char *text;     /* NUL-terminated; a NUL may be within */
	size_t n;
} prompt_line;

/* Calls `each` for every line that is not empty, without the blanks at its end. A file has at most
 * 64 MiB and a million prompts. E_FORMAT: no prompt; E_ABSENT, E_IO, E_LIMIT; the failure of
 * `each`, with the line's number. */
dck_status prompt_lines_read(const char *path,
			     dck_status (*each)(void *self, const prompt_line *l, dck_err *err),
			     void *self, dck_err *err);

#endif
