/* server_prompts.h - prompts from a file: one a line, as text or as a JSON object with "prompt" or
 * "text".
 *
 *	{"prompt": "What is a clock?"}
 *	What is a clock?
 *
 * Empty lines are skipped. Members of other names are ignored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVER_SERVER_PROMPTS_H
#define SERVER_SERVER_PROMPTS_H

#include "base/mem.h"

typedef struct server_prompts {
	mem_arena *arena;    /* owned: the texts */
	const char **quoted; /* [n], each as a JSON string with its quotes; owned */
	size_t n;
} server_prompts;

/* Reads at most a million prompts, of a file of at most 64 MiB. E_FORMAT: an invalid line, which
 * the message names, or no prompt; E_ABSENT, E_IO, E_LIMIT. On failure *ret is not written. */
dck_status server_prompts_read(const char *path, server_prompts *ret, dck_err *err);
void server_prompts_done(server_prompts *p); /* {0} is allowed */

#endif
