/* http_reader.h - reader of HTTP/1.1 responses (RFC 9112): a pure function from the bytes of a
 * connection, in any pieces, to status, headers and pieces of the body.
 *
 *	http_reader r;
 *
 *	http_reader_init(&r);
 *	while ((got = http_read(&r, &at, end, &piece)) != HTTP_MORE)
 *		if (got == HTTP_BODY)
 *			... piece.at, piece.n ...
 *		else if (got == HTTP_BAD)
 *			... r.why ...
 *
 * Memory is bounded: a line of the head has at most HTTP_LINE_MAX bytes, a head HTTP_HEAD_MAX. The
 * body is not stored.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef HTTP_READER_H
#define HTTP_READER_H

#include "deepclock/base.h"

enum { HTTP_LINE_MAX = 8192, HTTP_HEAD_MAX = 65536, HTTP_WORD_MAX = 256 };

typedef enum http_got {
	HTTP_MORE, /* all bytes are consumed */
	HTTP_HEAD, /* status and headers are known */
	HTTP_BODY, /* a piece of the body */
	HTTP_END,  /* the response is complete; what follows is the next one */
	HTTP_BAD   /* r->why; nothing more can be read */
} http_got;

typedef struct http_piece {
	const uint8_t *at; /* in the caller's bytes */
	size_t n;
} http_piece;

typedef struct http_reader {
	int part; /* of http_reader.c */
	unsigned status;
	bool keep; /* the connection may be used again */
	bool chunked, has_length;
	uint64_t left; /* bytes of the body or of the chunk */
	char type[HTTP_WORD_MAX], location[HTTP_WORD_MAX];
	char coding[HTTP_WORD_MAX]; /* of the content; "": identity */
	const char *why;	    /* static */
	size_t head;		    /* bytes of the head, and of chunk lines */
	size_t n;
	char line[HTTP_LINE_MAX + 1];
} http_reader;

/* Returns whether the first n characters are those of a word, in upper or lower case. */
bool http_word_is(const char *text, const char *word, size_t n);

void http_reader_init(http_reader *r);
/* Reads on from *at, which it advances. */
http_got http_read(http_reader *r, const uint8_t **at, const uint8_t *end, http_piece *ret);
/* The connection was closed: HTTP_END if that ends the body, else HTTP_BAD. */
http_got http_read_close(http_reader *r);

#endif
