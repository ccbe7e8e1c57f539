/* fuzz_http.c - any bytes as what a server sends, cut in two places: the same response whatever the
 * cuts, events that end with NUL, and completions and metadata that are refused with a message or
 * read.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "measure/http/completion.h"
#include "measure/http/http_reader.h"
#include "measure/http/kserve.h"
#include "measure/http/sse_reader.h"
#include <string.h>

typedef struct seen {
	uint64_t bytes, hash, events;
	unsigned heads, ends;
	int bad;
} seen;

static void event_check(const char *data, size_t n)
{
	completion_event e;
	dck_err err = {0};
	const dck_status status = completion_event_read(data, n, &e, &err);

	check(status == DCK_OK || (err.code == status && err.msg[0]));
	check(data[n] == '\0');
}

static void body_take(seen *to, sse_reader *s, http_piece piece)
{
	const uint8_t *at = piece.at, *end = piece.at + piece.n;

	to->bytes += piece.n;
	for (size_t i = 0; i < piece.n; i++)
		to->hash = to->hash * 31 + piece.at[i];
	while (sse_read(s, &at, end) == SSE_EVENT) {
		to->events++;
		event_check(s->data, s->n);
	}
}

static seen response_read(const uint8_t *bytes, size_t n, size_t step)
{
	seen all = {0};
	sse_reader s = {0};
	http_reader r;
	http_got got = HTTP_MORE;

	http_reader_init(&r);
	for (size_t i = 0; i < n && got != HTTP_BAD; i += step) {
		const uint8_t *at = bytes + i, *end = bytes + (n - i < step ? n : i + step);
		http_piece piece;

		while ((got = http_read(&r, &at, end, &piece)) != HTTP_MORE && got != HTTP_BAD) {
			all.heads += got == HTTP_HEAD;
			all.ends += got == HTTP_END;
			if (got == HTTP_BODY)
				body_take(&all, &s, piece);
		}
		check(got == HTTP_BAD || at == end);
	}
	if (got != HTTP_BAD)
		got = http_read_close(&r);
	all.bad = got == HTTP_BAD;
	check(!all.bad || r.why[0]);
	sse_reader_done(&s);
	return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	const seen whole = response_read(bytes, n, n + 1), cut = response_read(bytes, n, 1 + n / 3);
	dck_buffer body = {0};
	dck_err err = {0};
	char *text = malloc(n + 1);
	dck_status status;

	check(memcmp(&whole, &cut, sizeof whole) == 0);
	check(text != NULL);
	if (n > 0)
		memcpy(text, bytes, n);
	text[n] = '\0';
	event_check(text, n);
	status = kserve_body(text, n, 1, &body, &err);
	check(status == DCK_OK || (err.code == status && err.msg[0]));
	dck_buffer_done(&body);
	free(text);
	return 0;
}
