/* ort_scan.h - the text of ONNX Runtime's profile, piece by piece: nearly JSON.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_ORT_SCAN_H
#define ENGINE_ORT_SCAN_H

#include "engine/ort/ort_trace.h"

/* A text that was read; NUL-ended, and without a NUL inside. */
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
	uint64_t events; /* the caller's count, for sentences */
	bool ended, escaped;
	ort_text scratch;
	dck_err *err;
} ort_scan;

/* false: no memory. */
bool ort_scan_init(ort_scan *s, const ort_trace_source *source, bool escaped, dck_err *err);
void ort_scan_done(ort_scan *s);
void ort_text_done(ort_text *t);

/* The next byte that is no blank, or -1 at the end; it stays the next. */
int ort_scan_solid(ort_scan *s);
/* The same, and it must be c. */
dck_status ort_scan_expect(ort_scan *s, char c);

/* A member's name and the colon. */
dck_status ort_scan_key(ort_scan *s, ort_text *ret);
/* A value in quotes, whose opening one is next. of_name: it may hold anything. */
dck_status ort_scan_text(ort_scan *s, ort_text *ret, bool of_name);
/* A whole number, as such or as a text; what is behind its point is dropped. */
dck_status ort_scan_number(ort_scan *s, int64_t *ret);
/* Any value. */
dck_status ort_scan_skip(ort_scan *s);

bool ort_scan_is(const ort_text *t, const char *what);

/* E_FORMAT: "<label> is malformed at byte ..., in event ...: <fmt>" */
dck_status ort_scan_malformed(const ort_scan *s, const char *fmt, ...) DCK_PRINTF(2, 3);
dck_status ort_scan_no_memory(const ort_scan *s);

#endif
