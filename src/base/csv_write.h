/* csv_write.h - writes CSV fields; csv_write.c documents how text and numbers are written.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_CSV_WRITE_H
#define BASE_CSV_WRITE_H

#include "deepclock/report.h"

void csv_text(dck_sink *out, const char *text, size_t bytes); /* in quotes */
/* Write the same in parts: the opening quote and `text`, then parts; the caller closes the quote.
 */
void csv_text_begin(dck_sink *out, const char *text);
void csv_text_part(dck_sink *out, const char *text, size_t bytes);
/* Writes a text and a comma. An unknown text (NULL) is an empty field; known empty text is "". */
void csv_text_field(dck_sink *out, const char *text);
/* Writes a text, quoted only if it needs quotes, so that cut and grep read it too. NULL: an empty
 * field. */
void csv_word(dck_sink *out, const char *text);
void csv_real(dck_sink *out, double v); /* not finite: empty */

#endif
