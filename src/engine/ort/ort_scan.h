/* ort_scan.h - streaming lexer of ONNX Runtime's profile, which is nearly JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_SCAN_H
#define ENGINE_ORT_SCAN_H

#include "engine/ort/ort_trace.h"

/* A string that was read; NUL-terminated, without a NUL inside. */
typedef struct ort_text {
	char *data; /* @owned, ort_text_done; NULL: none was read yet */
	size_t n, cap;
	bool odd; /* not what JSON allows inside a string */
} ort_text;

typedef struct ort_scan {
	const ort_trace_source *source;
	char *window;
	size_t at, n;
	uint64_t before; /* bytes that left the window */
	uint64_t events; /* the caller's count, for messages */
	bool ended, escaped;
	ort_text scratch;
	dck_err *err;
} ort_scan;

/* false: no memory. */
bool ort_scan_init(ort_scan *s, const ort_trace_source *source, bool escaped, dck_err *err);
void ort_scan_done(ort_scan *s);
void ort_text_done(ort_text *t);

/* Returns the next byte that is not blank, without consuming it; -1 at the end. */
int ort_scan_solid(ort_scan *s);
/* Consumes the next byte that is not blank, which must be c. */
dck_status ort_scan_expect(ort_scan *s, char c);

/* Reads the name of a member and the colon. */
dck_status ort_scan_key(ort_scan *s, ort_text *ret);
/* Reads a quoted string; the opening quote is next. of_name: any bytes are allowed. */
dck_status ort_scan_text(ort_scan *s, ort_text *ret, bool of_name);
/* Reads an integer, quoted or not; a fraction is dropped. */
dck_status ort_scan_number(ort_scan *s, int64_t *ret);
/* Skips any value. */
dck_status ort_scan_skip(ort_scan *s);

bool ort_scan_is(const ort_text *t, const char *what);

/* Fails with E_FORMAT: "<label> is malformed at byte ..., in event ...: <fmt>". */
dck_status ort_scan_malformed(const ort_scan *s, const char *fmt, ...) DCK_PRINTF(2, 3);
dck_status ort_scan_no_memory(const ort_scan *s);

#endif
