/* sink.h - where bytes go. Errors are sticky: writers never check, the function that opened the
 * sink asks sink_finish() once, so that a full disk is an error and not a short file.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include "deepclock/report.h"

void sink_put(dck_sink *out, const void *bytes, size_t n);
void sink_text(dck_sink *out, const char *text);
void sink_fmt(dck_sink *out, const char *fmt, ...) DCK_PRINTF(2, 3);
void sink_fail(dck_sink *out, const dck_err *why); /* the first failure stays */
void sink_repeat(dck_sink *out, char c, size_t n);
/* Room for n bytes, at most those of out->buf, for writers that are in a hurry: they write there
 * and add to out->used what they wrote. Until then nothing else is put into the sink. */
char *sink_reserve(dck_sink *out, size_t n);

#endif
