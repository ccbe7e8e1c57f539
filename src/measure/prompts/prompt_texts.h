/* prompt_texts.h - prompts for a server from a file: one a line, as text or as a JSON object with
 * "prompt" or "text"; "prompt" may be a list of token ids.
 *
 *	{"prompt": "What is a clock?"}
 *	What is a clock?
 *	{"prompt": [1, 529, 77]}
 *
 * Empty lines are skipped. Members of other names are ignored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROMPTS_PROMPT_TEXTS_H
#define PROMPTS_PROMPT_TEXTS_H

#include "base/mem.h"

typedef struct prompt_texts {
	mem_arena *arena;    /* owned: the texts */
	const char **quoted; /* [n], each as a JSON string with its quotes, or a list; owned */
	size_t n, cap;
	unsigned long ids_line; /* the first with token ids; 0: none */
} prompt_texts;

/* E_FORMAT: an invalid line, which the message names, or no prompt; E_ABSENT, E_IO, E_LIMIT. On
 * failure *ret is not written. */
dck_status prompt_texts_read(const char *path, prompt_texts *ret, dck_err *err);
void prompt_texts_done(prompt_texts *p); /* {0} is allowed */

#endif
