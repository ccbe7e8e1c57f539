/* sink.h - buffered output. Errors are sticky: writers never check; the function that opened the
 * sink calls dck_sink_finish() once, so that a full disk is an error and not a short file.
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
/* Reserves n bytes, at most the size of out->buf, for fast writers: they write to the returned
 * address and add the bytes written to out->used. Until then nothing else may write to the sink. */
char *sink_reserve(dck_sink *out, size_t n);

/* Appends to the string in buf, which has `size` bytes: without a sink, for short texts. Text that
 * does not fit is cut, and false is returned. */
bool text_add(char *buf, size_t size, const char *fmt, ...) DCK_PRINTF(3, 4);

#endif
