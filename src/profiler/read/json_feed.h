/* json_feed.h - the bytes of a file of JSON for json_read.h, unpacked where gzip packed them.
 *
 *	json_feed f;
 *
 *	DCK_TRY(json_feed_open(&f, source, &reader, err));
 *	... json_next(&reader, ...) ...
 *	json_feed_close(&f);
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_JSON_FEED_H
#define IMPORT_JSON_FEED_H

#include "base/json/json_read.h"
#include "profiler/read/inflate_reader.h"

typedef struct json_feed {
	wire_source *source;
	uint64_t at, budget;
	inflate_reader *u; /* NULL: it is not compressed */
	wire_source part;
} json_feed;

/* From the source's first byte on; `r` is ready to read. The source stays the caller's. */
dck_status json_feed_open(json_feed *f, wire_source *s, json_reader *r, dck_err *err) DCK_MUST_USE;
/* The next bytes, as json_reader.more has them. */
dck_status json_feed_more(void *self, const uint8_t **ret, size_t *ret_n, dck_err *err);
void json_feed_close(json_feed *f); /* {0} is allowed */
/* Returns which of these NULL-terminated keys comes first in the file's top-level object. NULL:
 * not an object, or none of the keys. */
const char *json_feed_first_key(wire_source *s, const char *const *keys);

#endif
