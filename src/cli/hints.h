/* hints.h - error hints for unknown options, including options of other tools.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HINTS_H
#define CLI_HINTS_H

#include "cli.h"

extern const cli_hint cli_hints[];

/* Reports an unknown option, with the option that the user may have meant. `dashes` and `word`: as
 * typed; `value`: the following argument, or NULL. Returns the exit code. */
int cli_hint_option(const cli *c, const char *dashes, const char *word, const char *value);
/* Returns the command's name of the option; NULL: none. */
const char *cli_hint_name(const cli *c, const char *word);
/* Returns whether a word after one dash, such as "-niter", is a known option, here or in another
 * tool, and not a group of letters. */
bool cli_hint_is_word(const cli *c, const char *word);

#endif
