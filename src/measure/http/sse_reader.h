/* sse_reader.h - reader of server-sent events (HTML Living Standard, section 9.2): a pure function
 * from the bytes of a stream, in any pieces, to the data of each event.
 *
 *	sse_reader s = {0};
 *
 *	while ((got = sse_read(&s, &at, end)) == SSE_EVENT)
 *		... s.data[0..s.n), NUL-terminated ...
 *	sse_reader_done(&s);
 *
 * An event may be cut anywhere, also within a character. The memory of one event is bounded.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_SSE_READER_H
#define HTTP_SSE_READER_H

#include "deepclock/base.h"

enum { SSE_EVENT_MAX = 1 << 20 };

typedef enum sse_got {
	SSE_MORE,  /* all bytes are consumed */
	SSE_EVENT, /* valid until the next call */
	SSE_BAD	   /* an event is too long, or there is no memory */
} sse_got;

typedef struct sse_reader {
	char *data;	  /* owned: the event's data so far, and the line that is being read */
	size_t n;	  /* of the data */
	size_t line, cap; /* bytes of the line, after the data */
	bool any, told; /* the event has data; it was returned, and the next call starts another */
	bool after_cr;	/* a line feed that follows belongs to the carriage return */
	bool begun;	/* the first line has ended */
} sse_reader;

sse_got sse_read(sse_reader *s, const uint8_t **at, const uint8_t *end);
/* Starts another stream in the same memory. */
void sse_reader_reset(sse_reader *s);
void sse_reader_done(sse_reader *s); /* {0} is allowed */

#endif
