/* json_write.h - streaming JSON writer: a stack of open brackets, all escaping in one place.
 * It has no object model. Misuse (a value without its key, a bracket left
 * open) is a programming error and asserts. Invalid UTF-8 becomes U+FFFD.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "base/sink.h"

#define JSON_DEPTH_MAX 32
typedef struct json_writer {
	dck_sink *out;
	bool pretty; /* two spaces for each level, one item for each line */
	int depth;
	struct {
		bool array, any;
		bool flat; /* this array or object and all below it on one line */
	} level[JSON_DEPTH_MAX];
	bool after_key;
} json_writer;

void json_init(json_writer *w, dck_sink *out, bool pretty);
void json_done(json_writer *w); /* asserts that all is closed; writes the last newline */
void json_begin_object(json_writer *w);
void json_begin_array(json_writer *w);
void json_flat_object(json_writer *w);
void json_flat_array(json_writer *w);
void json_end(json_writer *w); /* closes the innermost object or array */
/* Returns w, for the value: json_text(json_key(w, "name"), name). */
json_writer *json_key(json_writer *w, const char *key);
void json_text(json_writer *w, const char *text);    /* NULL writes null */
void json_quoted(json_writer *w, const char *value); /* writes a value that is JSON as it is */
void json_bool(json_writer *w, bool v);
/* Write an integer; above 2^53 as a string, because most readers use doubles. */
void json_int(json_writer *w, int64_t v);
void json_uint(json_writer *w, uint64_t v);
/* Writes the shortest decimal that reads back the same (at most 17 digits); not finite: null. */
void json_double(json_writer *w, double v);

#endif
