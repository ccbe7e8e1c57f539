/* hints.h - what the program answers to options that people know from other tools.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

#include "cli.h"

extern const cli_hint cli_hints[];

/* Refuses an option that the command does not have, with what it may have meant. `dashes` and
 * `word` as they were typed, `value`: what follows it, or NULL. Returns the exit code. */
int cli_hint_option(const cli *c, const char *dashes, const char *word, const char *value);
/* The name that the command has for the word; NULL: there is none. */
const char *cli_hint_name(const cli *c, const char *word);
/* "-niter": a word behind one dash that is an option, here or elsewhere, and no letters. */
bool cli_hint_is_word(const cli *c, const char *word);

#endif
