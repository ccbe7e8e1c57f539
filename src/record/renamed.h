/* renamed.h - names that records had before 0.1: the reader replaces them, so that old files and
 * histories read as if they were written today.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_RENAMED_H
#define RECORD_RENAMED_H

#include "deepclock/record.h"

/* Return today's name, a static string, or `code`, `key`, `tag` itself if it was never renamed. */
const char *record_renamed_note(const char *code);
const char *record_renamed_fact(const char *section, const char *key);
const char *record_renamed_metric(const char *tag);
/* Returns the kind of a reason for an absent number of an operator that was written without a code.
 */
dck_absence record_renamed_absence(const char *why);
/* Returns today's text of a fact, such as a verdict. */
const char *record_renamed_text(const char *section, const char *key, const char *text);

#endif
