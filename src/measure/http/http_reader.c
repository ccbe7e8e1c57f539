/* http_reader.c - a state machine over the parts of a response: status line, headers, then a body
 * of a known length, in chunks, or up to the end of the connection (RFC 9112, section 6.3).
 *
 * Lines are copied, because they may be cut anywhere; pieces of the body are the caller's bytes.
 * Interim responses (1xx) are skipped. Ambiguous framing is refused, as section 6.3 recommends: two
 * different lengths, a transfer coding other than chunked. A response with both a length and chunks
 * is read as chunks, and its connection is not used again.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/http_reader.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum http_part {
	PART_STATUS,
	PART_HEADER,
	PART_LENGTH, /* the body, of a known length */
	PART_CLOSE,  /* the body, up to the end of the connection */
	PART_CHUNK_SIZE,
	PART_CHUNK,
	PART_CHUNK_END,
	PART_TRAILER,
	PART_DONE,
	PART_BAD
};

bool http_word_is(const char *text, const char *word, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (tolower((unsigned char)text[i]) != tolower((unsigned char)word[i]))
			return false;
	return true;
}

void http_reader_init(http_reader *r)
{
	memset(r, 0, offsetof(http_reader, line));
}

static http_got response_refuse(http_reader *r, const char *why)
{
	r->part = PART_BAD;
	r->why = why;
	return HTTP_BAD;
}

/* Moves bytes into r->line up to the end of a line. false: more bytes are needed, or r->why is set.
 */
static bool line_take(http_reader *r, const uint8_t **at, const uint8_t *end)
{
	while (*at < end) {
		const char c = (char)*(*at)++;

		if (++r->head > HTTP_HEAD_MAX || (c != '\n' && r->n == HTTP_LINE_MAX)) {
			response_refuse(r, "its headers are too long");
			return false;
		}
		if (c != '\n') {
			r->line[r->n++] = c;
			continue;
		}
		if (r->n > 0 && r->line[r->n - 1] == '\r')
			r->n--;
		r->line[r->n] = '\0';
		r->n = 0;
		return true;
	}
	return false;
}

static http_got status_read(http_reader *r)
{
	const char *l = r->line;

	if (strncmp(l, "HTTP/1.", 7) != 0 || !isdigit((unsigned char)l[7]) || l[8] != ' ' ||
	    !isdigit((unsigned char)l[9]) || !isdigit((unsigned char)l[10]) ||
	    !isdigit((unsigned char)l[11]) || (l[12] != ' ' && l[12] != '\0'))
		return response_refuse(r, "it does not begin with HTTP/1.1 and a status");
	r->status = (unsigned)((l[9] - '0') * 100 + (l[10] - '0') * 10 + (l[11] - '0'));
	r->keep = l[7] != '0';
	r->part = PART_HEADER;
	return HTTP_MORE;
}

/* Refuses a response by its first bytes, since what is not HTTP may have no end of a line. */
static http_got start_check(http_reader *r)
{
	static const char begin[] = "HTTP/1.";
	const size_t n = r->n < strlen(begin) ? r->n : strlen(begin);

	if (memcmp(r->line, begin, n) == 0)
		return HTTP_MORE;
	/* A record of TLS: an alert or a handshake, of version 3. */
	if (r->line[0] == 0x15 || r->line[0] == 0x16) {
		if (r->n < 2)
			return HTTP_MORE;
		if (r->line[1] == 3)
			return response_refuse(r, "it is TLS: give an address with https://");
	}
	return response_refuse(r, "it does not begin with HTTP/1.1 and a status");
}

static const char *length_read(http_reader *r, const char *text)
{
	uint64_t n = 0;

	if (!*text)
		return "its Content-Length is not a number";
	for (const char *c = text; *c; c++) {
		if (!isdigit((unsigned char)*c) || n > UINT64_MAX / 10 - 9)
			return "its Content-Length is not a number";
		n = n * 10 + (uint64_t)(*c - '0');
	}
	if (r->has_length && n != r->left)
		return "it has two Content-Lengths";
	r->has_length = true;
	r->left = n;
	return NULL;
}

/* Returns whether one of the words of a list, separated by commas, is `word`. */
static bool header_has_word(const char *list, const char *word)
{
	const size_t n = strlen(word);

	for (const char *at = list; *at;) {
		size_t len;

		at += strspn(at, ", \t");
		len = strcspn(at, ", \t");
		if (len == n && http_word_is(at, word, n))
			return true;
		at += len;
	}
	return false;
}

static bool header_is(const http_reader *r, const char *name)
{
	return http_word_is(r->line, name, strlen(name) + 1);
}

static http_got header_read(http_reader *r)
{
	char *value = strchr(r->line, ':');
	const char *why = NULL;
	size_t n;

	if (!value || value == r->line || isspace((unsigned char)r->line[0]))
		return response_refuse(r, "one of its headers has no name");
	*value++ = '\0';
	value += strspn(value, " \t");
	for (n = strlen(value); n > 0 && isspace((unsigned char)value[n - 1]);)
		value[--n] = '\0';
	if (header_is(r, "content-length")) {
		why = length_read(r, value);
	} else if (header_is(r, "transfer-encoding")) {
		r->chunked = http_word_is(value, "chunked", sizeof "chunked");
		if (!r->chunked)
			why = "its transfer coding is not chunked";
	} else if (header_is(r, "connection")) {
		r->keep = header_has_word(value, "close")	 ? false
			  : header_has_word(value, "keep-alive") ? true
								 : r->keep;
	} else if (header_is(r, "content-type")) {
		snprintf(r->type, sizeof r->type, "%s", value);
	} else if (header_is(r, "content-encoding") && !header_has_word(value, "identity")) {
		snprintf(r->coding, sizeof r->coding, "%s", value);
	} else if (header_is(r, "location")) {
		snprintf(r->location, sizeof r->location, "%s", value);
	}
	return why ? response_refuse(r, why) : HTTP_MORE;
}

/* The empty line after the headers. */
static http_got head_end(http_reader *r)
{
	if (r->status < 200) {
		http_reader_init(r);
		return HTTP_MORE;
	}
	if (r->status == 204 || r->status == 304) {
		r->chunked = false;
		r->has_length = true;
		r->left = 0;
	}
	if (r->chunked && r->has_length)
		r->keep = false;
	if (!r->chunked && !r->has_length)
		r->keep = false;
	r->part = r->chunked ? PART_CHUNK_SIZE : r->has_length ? PART_LENGTH : PART_CLOSE;
	r->head = 0;
	return HTTP_HEAD;
}

static http_got chunk_size_read(http_reader *r)
{
	const char *c = r->line;

	r->left = 0;
	r->head = 0;
	if (!isxdigit((unsigned char)*c))
		return response_refuse(r, "one of its chunks has no size");
	for (; isxdigit((unsigned char)*c); c++) {
		const int digit =
		    isdigit((unsigned char)*c) ? *c - '0' : tolower((unsigned char)*c) - 'a' + 10;

		if (r->left >> 56)
			return response_refuse(r, "one of its chunks is too large");
		r->left = r->left << 4 | (uint64_t)digit;
	}
	if (*c && *c != ';' && *c != ' ' && *c != '\t')
		return response_refuse(r, "one of its chunks has no size");
	r->part = r->left > 0 ? PART_CHUNK : PART_TRAILER;
	return HTTP_MORE;
}

/* A line of the head or of the chunks. */
static http_got http_line_read(http_reader *r)
{
	switch (r->part) {
	case PART_STATUS:
		return status_read(r);
	case PART_HEADER:
		return r->line[0] ? header_read(r) : head_end(r);
	case PART_CHUNK_SIZE:
		return chunk_size_read(r);
	case PART_CHUNK_END:
		if (r->line[0])
			return response_refuse(r, "one of its chunks is longer than its size");
		r->part = PART_CHUNK_SIZE;
		return HTTP_MORE;
	default: /* PART_TRAILER */
		if (!r->line[0])
			r->part = PART_DONE;
		return HTTP_MORE;
	}
}

static http_got body_read(http_reader *r, const uint8_t **at, const uint8_t *end, http_piece *ret)
{
	const size_t there = (size_t)(end - *at);
	const bool counted = r->part != PART_CLOSE;

	*ret = (http_piece){*at, counted && r->left < there ? (size_t)r->left : there};
	*at += ret->n;
	if (counted)
		r->left -= ret->n;
	if (r->part == PART_CHUNK && r->left == 0)
		r->part = PART_CHUNK_END;
	return HTTP_BODY;
}

http_got http_read(http_reader *r, const uint8_t **at, const uint8_t *end, http_piece *ret)
{
	for (;;) {
		http_got got = HTTP_MORE;

		if (r->part == PART_BAD)
			return HTTP_BAD;
		if (r->part == PART_LENGTH && r->left == 0)
			r->part = PART_DONE;
		if (r->part == PART_DONE) {
			/* The rest stays, for the caller. */
			r->part = PART_STATUS;
			r->chunked = r->has_length = false;
			r->head = r->n = 0;
			return HTTP_END;
		}
		if (*at == end)
			return HTTP_MORE;
		if (r->part == PART_LENGTH || r->part == PART_CLOSE || r->part == PART_CHUNK)
			return body_read(r, at, end, ret);
		if (line_take(r, at, end))
			got = http_line_read(r);
		else if (r->part == PART_STATUS)
			got = start_check(r);
		if (got != HTTP_MORE)
			return got;
	}
}

http_got http_read_close(http_reader *r)
{
	if (r->part == PART_CLOSE) {
		r->part = PART_STATUS;
		return HTTP_END;
	}
	return response_refuse(r, "the connection was closed before its end");
}
