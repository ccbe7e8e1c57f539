/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/http/sse_reader.h"
#include "base/mem.h"
#include <string.h>

static bool byte_append(sse_reader *s, char c)
{
	const size_t n = s->n + s->line + 2;

	if (n > SSE_EVENT_MAX || !mem_reserve(&s->data, &s->cap, n, 1))
		return false;
	s->data[s->n + s->line++] = c;
	return true;
}

/* A byte-order mark may begin a stream. */
static size_t mark_drop(sse_reader *s)
{
	static const char mark[] = "\xef\xbb\xbf";
	const size_t skip = strlen(mark), n = s->line;

	if (s->begun || n < skip || memcmp(s->data, mark, skip) != 0)
		return n;
	memmove(s->data, s->data + skip, n - skip);
	return n - skip;
}

/* Ends a line; true: it was empty and ends an event with data. The field "data" is appended to the
 * event, other fields and comments are dropped. */
static bool line_end(sse_reader *s)
{
	size_t n = mark_drop(s), skip;
	char *line;

	s->begun = true;
	s->line = 0;
	if (n == 0)
		return s->any;
	line = s->data + s->n;
	if (n < 4 || memcmp(line, "data", 4) != 0 || (n > 4 && line[4] != ':'))
		return false;
	skip = n == 4 ? 4 : n > 5 && line[5] == ' ' ? 6 : 5;
	n -= skip;
	/* The lines of one event are separated by line feeds: the skipped bytes make space for it.
	 */
	memmove(line + s->any, line + skip, n);
	if (s->any)
		line[0] = '\n';
	s->n += n + s->any;
	s->any = true;
	return false;
}

sse_got sse_read(sse_reader *s, const uint8_t **at, const uint8_t *end)
{
	if (s->told) {
		s->n = 0;
		s->any = s->told = false;
	}
	while (*at < end) {
		const char c = (char)*(*at)++;
		const bool pair = c == '\n' && s->after_cr;

		s->after_cr = c == '\r';
		if (pair)
			continue;
		if (c != '\n' && c != '\r') {
			if (!byte_append(s, c))
				return SSE_BAD;
		} else if (line_end(s)) {
			s->data[s->n] = '\0';
			s->told = true;
			return SSE_EVENT;
		}
	}
	return SSE_MORE;
}

void sse_reader_reset(sse_reader *s)
{
	*s = (sse_reader){.data = s->data, .cap = s->cap};
}

void sse_reader_done(sse_reader *s)
{
	mem_free(s->data);
	*s = (sse_reader){0};
}
