/* test_http.c - the readers of HTTP, of server-sent events and of completions, with the bytes cut
 * at every place; addresses and headers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

#include "base/mem.h"
#include "fault_alloc.h"
#include "measure/http/completion.h"
#include "measure/http/http_connection.h"
#include "measure/http/http_reader.h"
#include "measure/http/http_url.h"
#include "measure/http/kserve.h"
#include "measure/http/sse_reader.h"
#include "os/net/network.h"
#include "os/os.h"
#include "scratch.h"

/* --- HTTP */

/* Reads a response in pieces of `step` bytes, and writes what it has: "200|BODY|end". */
static void response_told(const char *bytes, size_t step, bool closed, char *to, size_t size)
{
	http_reader r;
	size_t used = 0, n = strlen(bytes);
	http_got got = HTTP_MORE;

	http_reader_init(&r);
	to[0] = '\0';
	for (size_t i = 0; i < n && got != HTTP_BAD; i += step) {
		const uint8_t *at = (const uint8_t *)bytes + i;
		const uint8_t *end = (const uint8_t *)bytes + (i + step < n ? i + step : n);
		http_piece piece;

		while ((got = http_read(&r, &at, end, &piece)) != HTTP_MORE && got != HTTP_BAD) {
			if (got == HTTP_HEAD)
				used += (size_t)snprintf(to + used, size - used, "%u|", r.status);
			else if (got == HTTP_BODY)
				used += (size_t)snprintf(to + used, size - used, "%.*s",
							 (int)piece.n, (const char *)piece.at);
			else
				used += (size_t)snprintf(to + used, size - used, "|%s",
							 r.keep ? "keep" : "end");
		}
	}
	if (closed && got != HTTP_BAD)
		got = http_read_close(&r);
	if (got == HTTP_BAD)
		snprintf(to + used, size - used, "!%s", r.why);
	else if (closed && got == HTTP_END)
		snprintf(to + used, size - used, "|end");
}

static void responses(void **state)
{
	static const struct {
		const char *bytes, *told;
		bool closed;
	} rows[] = {
	    {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", "200|hello|keep", false},
	    {"HTTP/1.1 200\nContent-Length:5\n\nhello", "200|hello|keep", false},
	    {"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "200|hi|end", false},
	    {"HTTP/1.1 200 OK\r\nConnection: keep-alive, Close\r\nContent-Length: 0\r\n\r\n",
	     "200||end", false},
	    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\nA\r\n0123456789\r\n0"
	     "\r\nTrailer: 1\r\n\r\n",
	     "200|abc0123456789|keep", false},
	    /* Two responses on one connection; an interim one before. */
	    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 "
	     "No\r\nContent-Length: 1\r\n\r\nb",
	     "200|a|keep404|b|keep", false},
	    {"HTTP/1.1 204 None\r\n\r\n", "204||keep", false},
	    /* The body ends with the connection. */
	    {"HTTP/1.1 200 OK\r\n\r\nall of it", "200|all of it|end", true},
	    {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nall",
	     "200|all!the connection was closed before its end", true},
	    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
	     "200|abc!the connection was closed before its end", true},
	    /* Chunks and a length: the chunks count, and the connection ends. */
	    {"HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
	     "200|a|end", false},
	    {"SSH-2.0-OpenSSH\r\n", "!it does not begin with HTTP/1.1 and a status", false},
	    {"HTTP/2 200\r\n", "!it does not begin with HTTP/1.1 and a status", false},
	    {"HTTP/1.1 OK\r\n", "!it does not begin with HTTP/1.1 and a status", false},
	    {"\x15\x03\x01 without an end of a line", "!it is TLS: give an address with https://",
	     false},
	    {"\x16\x01", "!it does not begin with HTTP/1.1 and a status", false},
	    {"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "!its Content-Length is not a number",
	     false},
	    {"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
	     "!its Content-Length is not a number", false},
	    {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
	     "!it has two Content-Lengths", false},
	    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
	     "!its transfer coding is not chunked", false},
	    {"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "!one of its headers has no name", false},
	    {"HTTP/1.1 200 OK\r\nA: 1\r\n folded\r\n\r\n", "!one of its headers has no name",
	     false},
	    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
	     "200|!one of its chunks has no size", false},
	    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
	     "200|!one of its chunks is too large", false},
	    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n",
	     "200|a!one of its chunks is longer than its size", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t step = 1; step <= strlen(rows[i].bytes); step++) {
			char told[400];

			response_told(rows[i].bytes, step, rows[i].closed, told, sizeof told);
			assert_string_equal(told, rows[i].told);
		}
}

static void long_heads(void **state)
{
	char *text = malloc(1 << 20), told[400];
	int n = snprintf(text, 100, "HTTP/1.1 200 OK\r\nX: ");

	(void)state;
	assert_non_null(text);
	memset(text + n, 'a', HTTP_LINE_MAX);
	text[n + HTTP_LINE_MAX] = '\0';
	response_told(text, 1000, false, told, sizeof told);
	assert_string_equal(told, "!its headers are too long");
	n = snprintf(text, 100, "HTTP/1.1 200 OK\r\n");
	while (n < 2 * HTTP_HEAD_MAX)
		n += snprintf(text + n, 20, "X: 1\r\n");
	response_told(text, 1000, false, told, sizeof told);
	assert_string_equal(told, "!its headers are too long");
	free(text);
}

/* --- events */

static void events_told(const char *bytes, size_t step, char *to, size_t size)
{
	sse_reader s = {0};
	size_t used = 0, n = strlen(bytes);

	to[0] = '\0';
	for (size_t i = 0; i < n; i += step) {
		const uint8_t *at = (const uint8_t *)bytes + i;
		const uint8_t *end = (const uint8_t *)bytes + (i + step < n ? i + step : n);

		while (sse_read(&s, &at, end) == SSE_EVENT)
			used += (size_t)snprintf(to + used, size - used, "[%s]", s.data);
	}
	sse_reader_done(&s);
}

static void events(void **state)
{
	static const char *const rows[][2] = {
	    {"data: a\n\ndata: b\n\n", "[a][b]"},
	    {"data: a\r\n\r\ndata: b\r\n\r\n", "[a][b]"},
	    {"data: a\r\rdata: b\r\r", "[a][b]"},
	    {"data:a\ndata: b\n\n", "[a\nb]"},
	    {"data: a\ndata\ndata:\n\n", "[a\n\n]"},
	    {"data\n\n", "[]"},
	    {": a comment\nevent: x\nid: 7\nretry: 3\ndata:  two blanks\n\n", "[ two blanks]"},
	    {"\n\n\ndata: a\n\n\n\n", "[a]"},
	    {"database: x\ndata: a\n\n", "[a]"},
	    {"data: caf\xc3\xa9 \xf0\x9f\x98\x80\n\n", "[caf\xc3\xa9 \xf0\x9f\x98\x80]"},
	    {"data: not ended\n", ""},
	    {"\xef\xbb\xbf"
	     "data: a\n\ndata: b\n\n",
	     "[a][b]"},
	    {"\xef\xbb\xbf\n\n\xef\xbb\xbf"
	     "data: a\n\ndata: b\n\n",
	     "[b]"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		for (size_t step = 1; step <= strlen(rows[i][0]); step++) {
			char told[200];

			events_told(rows[i][0], step, told, sizeof told);
			assert_string_equal(told, rows[i][1]);
		}
}

static void event_without_end(void **state)
{
	sse_reader s = {0};
	char bytes[1000];
	sse_got got = SSE_MORE;
	fault_alloc faults;
	size_t n = 0;

	(void)state;
	memset(bytes, 'a', sizeof bytes);
	while (got == SSE_MORE && n < 4 * SSE_EVENT_MAX) {
		const uint8_t *at = (const uint8_t *)bytes;

		got = sse_read(&s, &at, at + sizeof bytes);
		n += sizeof bytes;
	}
	assert_int_equal(got, SSE_BAD);
	assert_true(n <= SSE_EVENT_MAX + sizeof bytes);
	sse_reader_done(&s);
	fault_alloc_begin(&faults, 1);
	const uint8_t *at = (const uint8_t *)bytes;
	got = sse_read(&s, &at, at + 1);
	dck_set_allocator(NULL);
	assert_int_equal(got, SSE_BAD);
	sse_reader_done(&s);
}

/* --- completions */

static completion_event event_of(const char *text)
{
	completion_event e;
	dck_err err = {0};

	if (completion_event_read(text, strlen(text), &e, &err) != DCK_OK)
		fail_msg("%s: %s", text, err.msg);
	return e;
}

static void completions(void **state)
{
	completion_event e;

	(void)state;
	assert_true(event_of("[DONE]").done);
	assert_true(event_of("{\"choices\":[{\"text\":\"a\"}]}").content);
	assert_false(event_of("{\"choices\":[{\"text\":\"\"}]}").content);
	assert_true(event_of("{\"choices\":[{\"text\":\"\"}]}").text);
	assert_false(event_of("{\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}").text);
	assert_true(event_of("{\"choices\":[{\"delta\":{\"content\":\"\\u00e9\"}}]}").content);
	assert_true(event_of("{\"choices\":[{\"delta\":{\"reasoning_content\":\"hm\"}}]}").content);
	assert_false(
	    event_of("{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}")
		.content);
	assert_false(event_of("{\"choices\":[{\"delta\":{\"content\":null}}]}").content);
	assert_false(event_of("{\"id\":\"text\",\"model\":\"content\",\"choices\":[]}").content);
	assert_true(event_of("{\"choices\":[{\"text\":\"\",\"finish_reason\":\"stop\"}]}").stopped);
	assert_true(
	    event_of("{\"choices\":[{\"text\":\"\",\"finish_reason\":\"eos_token\"}]}").stopped);
	assert_false(event_of("{\"choices\":[{\"text\":\"a\",\"finish_reason\":\"\"}]}").stopped);
	assert_true(
	    event_of("{\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}").finished);
	assert_false(event_of("{\"choices\":[{\"text\":\"a\",\"finish_reason\":null}]}").finished);
	e = event_of("{\"choices\":[{\"text\":\"\",\"finish_reason\":\"abort\"}]}");
	assert_true(e.failed);
	assert_string_equal(e.message, "finish_reason: abort");
	assert_false(
	    event_of("{\"choices\":[{\"text\":\"stop\",\"finish_reason\":\"length\"}]}").stopped);
	e = event_of("{\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3,"
		     "\"prompt_tokens_details\":{\"audio\":[1],\"cached_tokens\":4}}}");
	assert_true(e.has_usage && e.has_cached);
	assert_int_equal(e.prompt_tokens, 7);
	assert_int_equal(e.completion_tokens, 3);
	assert_int_equal(e.cached_tokens, 4);
	e = event_of("{\"usage\":null,\"choices\":null}");
	assert_false(e.has_usage || e.content);
	e = event_of("{\"usage\":{\"completion_tokens\":-1,\"prompt_tokens_details\":null}}");
	assert_false(e.has_usage || e.has_cached);
	e = event_of("{\"error\":{\"code\":3,\"message\":\"out of memory\"}}");
	assert_true(e.failed);
	assert_string_equal(e.message, "out of memory");
	assert_string_equal(event_of("{\"detail\":\"Not Found\"}").message, "Not Found");
	assert_false(event_of("{\"error\":null}").failed);
	assert_false(event_of("{\"error\":\"\",\"choices\":[]}").failed);
	static const char *const wrong[] = {
	    "", "nonsense", "[]", "3", "{\"a\":", "{\"choices\":[{", "{\"a\":1}\n{\"a\":2}"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(completion_event_read(wrong[i], strlen(wrong[i]), &e, NULL),
				 DCK_E_FORMAT);
}

static char *prompt_of(const completion_ask *ask, uint64_t i)
{
	dck_buffer b = {0};
	dck_err err = {0};

	if (completion_body(ask, i, &b, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return b.data;
}

static void prompts(void **state)
{
	completion_ask ask = {.model = "m\"", .prompt_length = 40, .new_tokens = 9, .key = 5};
	char *a = prompt_of(&ask, 0), *again = prompt_of(&ask, 0), *b = prompt_of(&ask, 1), *c;
	const size_t words = strlen("{\"model\":\"m\\\"\",\"prompt\":\"");

	(void)state;
	assert_string_equal(a, again);
	assert_string_not_equal(a, b);
	assert_memory_equal(a, b, words);
	/* Already the first block differs, and another run has other prompts. */
	assert_memory_not_equal(a + words, b + words, 40);
	ask.key = 6;
	c = prompt_of(&ask, 0);
	assert_string_not_equal(a, c);
	assert_non_null(strstr(a, "\"max_tokens\":9"));
	assert_null(strstr(a, "ignore_eos"));
	dck_free(a);
	dck_free(again);
	dck_free(b);
	dck_free(c);
	ask.shared_prefix = 0.5;
	ask.chat = ask.ignore_eos = ask.usage = true;
	a = prompt_of(&ask, 0);
	b = prompt_of(&ask, 1);
	c = strstr(a, "content");
	size_t same = 0, blanks = 0;
	for (size_t k = (size_t)(c - a); a[k] == b[k]; k++, same++)
		blanks += a[k] == ' ';
	assert_true(blanks >= 20 && blanks < 24);
	assert_non_null(strstr(a, "\"include_usage\":true"));
	assert_non_null(strstr(a, "\"ignore_eos\":true"));
	dck_free(a);
	dck_free(b);
}

/* --- KServe */

static dck_status kserve(const char *metadata, char *to, size_t size)
{
	dck_buffer b = {0};
	const dck_status status = kserve_body(metadata, strlen(metadata), 1, &b, NULL);

	snprintf(to, size, "%s", b.n > 0 ? b.data : "");
	dck_buffer_done(&b);
	return status;
}

static void tensors(void **state)
{
	char text[1000];

	(void)state;
	assert_int_equal(
	    kserve("{\"name\":\"m\",\"outputs\":[{\"name\":\"y\"}],\"inputs\":[{\"datatype\":"
		   "\"INT64\",\"shape\":[-1,2],\"name\":\"x\"},{\"name\":\"b\",\"datatype\":"
		   "\"BOOL\",\"shape\":[],\"other\":{\"a\":[1]}}]}",
		   text, sizeof text),
	    DCK_OK);
	assert_memory_equal(
	    text, "{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT64\",\"shape\":[1,2],\"data\":[",
	    strlen(
		"{\"inputs\":[{\"name\":\"x\",\"datatype\":\"INT64\",\"shape\":[1,2],\"data\":["));
	assert_non_null(strstr(text, "\"datatype\":\"BOOL\",\"shape\":[],\"data\":["));
	assert_int_equal(
	    kserve("{\"inputs\":[{\"name\":\"x\",\"datatype\":\"BYTES\",\"shape\":[1]}]}", text,
		   sizeof text),
	    DCK_E_UNSUP);
	assert_int_equal(
	    kserve("{\"inputs\":[{\"name\":\"x\",\"datatype\":\"FP32\",\"shape\":[1e6,1e6]}]}",
		   text, sizeof text),
	    DCK_E_LIMIT);
	static const char *const wrong[] = {"",
					    "{}",
					    "[]",
					    "{\"inputs\":[]}",
					    "{\"inputs\":3}",
					    "{\"inputs\":[{\"shape\":[\"a\"]}]}",
					    "{\"inputs\":[{\"shape\":{}}]}",
					    "{\"inputs\":[{\"name\":\"x\""};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_equal(kserve(wrong[i], text, sizeof text), DCK_E_FORMAT);
}

static void tensors_answered(void **state)
{
	static const struct {
		const char *data;
		bool cut;
		kserve_answer is;
		const char *message;
	} rows[] = {
	    {" {\"outputs\":[]}", false, KSERVE_OUTPUTS, ""},
	    {"{\"id\":{\"a\":[1]},\"outputs\":[NaN]}", false, KSERVE_OUTPUTS, ""},
	    {"{\"model_name\":\"x\",\"outputs\":[{\"data\":[1,2", true, KSERVE_OUTPUTS, ""},
	    {"{\"model_name\":\"x\",\"parameters\":{", true, KSERVE_OUTPUTS, ""},
	    {"{\"error\":\"model exploded\"}", false, KSERVE_ERROR, "model exploded"},
	    {"{\"outputs\":[],\"error\":\"late\"}", false, KSERVE_ERROR, "late"},
	    {"{\"error\":{\"code\":1}}", false, KSERVE_ERROR, ""},
	    {"{\"error\":\"a long te", true, KSERVE_ERROR, ""},
	    {"{\"error\":null,\"outputs\":[]}", false, KSERVE_OUTPUTS, ""},
	    {"{\"error\":\"\",\"outputs\":[]}", false, KSERVE_OUTPUTS, ""},
	    {"{}", false, KSERVE_EMPTY, ""},
	    {"{\"data\":{\"outputs\":[]}}", false, KSERVE_EMPTY, ""},
	    {"", false, KSERVE_MALFORMED, ""},
	    {"[]", false, KSERVE_MALFORMED, ""},
	    {"{\"id\":\"", false, KSERVE_MALFORMED, ""},
	    {"{\"outputs\":[{\"data\":[1,2", false, KSERVE_MALFORMED, ""},
	    {"{\"outputs\":[]} x", false, KSERVE_MALFORMED, ""},
	    {"{\"outputs\":[]}{}", false, KSERVE_MALFORMED, ""},
	    {"{\"outputs\":[]}\r\n ", false, KSERVE_OUTPUTS, ""},
	};
	char message[40];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_int_equal(kserve_answer_read(rows[i].data, strlen(rows[i].data), rows[i].cut,
						    message, sizeof message),
				 rows[i].is);
		assert_string_equal(message, rows[i].message);
	}
}

/* --- addresses, headers */

static void urls(void **state)
{
	http_url u;
	dck_err err = {0};

	(void)state;
	assert_int_equal(http_url_parse("http://host/v1/completions", &u, &err), DCK_OK);
	assert_string_equal(u.host, "host");
	assert_string_equal(u.port, "80");
	assert_string_equal(u.authority, "host");
	assert_int_equal(u.protocol, HTTP_COMPLETIONS);
	assert_int_equal(http_url_parse("HTTP://[::1]:8000/a/v1/chat/completions", &u, &err),
			 DCK_OK);
	assert_string_equal(u.host, "::1");
	assert_string_equal(u.port, "8000");
	assert_string_equal(u.path, "/a/v1/chat/completions");
	assert_int_equal(u.protocol, HTTP_CHAT);
	assert_int_equal(http_url_parse("http://h:1/v2/models/resnet/versions/1/infer", &u, &err),
			 DCK_OK);
	assert_string_equal(u.model, "resnet");
	assert_false(u.tls);
	assert_int_equal(http_url_parse("https://h/v1/completions", &u, &err), DCK_OK);
	assert_true(u.tls);
	assert_string_equal(u.port, "443");
	assert_int_equal(http_url_parse("https://", &u, &err), DCK_E_ARG);
	static const char *const wrong[] = {
	    "",
	    "http://",
	    "http:///v1/completions",
	    "http://:80/v1/completions",
	    "http://h:/v1/completions",
	    "http://h:0/v1/completions",
	    "http://h:65536/v1/completions",
	    "http://h:8x/v1/completions",
	    "http://[::1/v1/completions",
	    "http://h /v1/completions",
	    "http://h/v1/completions\r\nX: 1",
	    "http://u:p@h/v1/completions",
	    "http://h/v1/completions?key=1",
	    "http://h/v1",
	    "http://h/infer",
	    "http://h/v2/models//infer",
	};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(http_url_parse(wrong[i], &u, &err), DCK_E_ARG);
		assert_null(strstr(err.msg, "u:p"));
		assert_null(strstr(err.msg, "key=1"));
	}
}

static dck_status headers(const char *text, dck_buffer *to, dck_err *err)
{
	return http_headers_read(scratch_file("headers", text, strlen(text)), to, err);
}

static void header_files(void **state)
{
	dck_buffer b = {0};
	dck_err err = {0};

	(void)state;
	unsetenv("DEEPCLOCK_API_KEY");
	assert_int_equal(headers("Authorization: Bearer hush\r\n\nX-A: b", &b, &err), DCK_OK);
	assert_string_equal(b.data, "Authorization: Bearer hush\r\nX-A: b\r\n");
	dck_buffer_done(&b);
	setenv("DEEPCLOCK_API_KEY", "hush", 1);
	assert_int_equal(http_headers_read(NULL, &b, &err), DCK_OK);
	assert_string_equal(b.data, "Authorization: Bearer hush\r\n");
	dck_buffer_done(&b);
	setenv("DEEPCLOCK_API_KEY", "hush hush", 1);
	assert_int_equal(http_headers_read(NULL, &b, &err), DCK_E_ARG);
	assert_null(strstr(err.msg, "hush"));
	unsetenv("DEEPCLOCK_API_KEY");
	dck_buffer_done(&b);
	setenv("DEEPCLOCK_API_KEY", "hush", 1);
	assert_int_equal(headers("X: 1\nauthorization: hush\n", &b, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "DEEPCLOCK_API_KEY"));
	assert_null(strstr(err.msg, "hush"));
	unsetenv("DEEPCLOCK_API_KEY");
	dck_buffer_done(&b);
	assert_int_equal(headers("X: 1\nhush hush\n", &b, &err), DCK_E_FORMAT);
	assert_non_null(strstr(err.msg, "line 2"));
	assert_null(strstr(err.msg, "hush"));
	dck_buffer_done(&b);
	assert_int_equal(headers("content-length: 3\n", &b, &err), DCK_E_ARG);
	dck_buffer_done(&b);
	assert_int_equal(headers("X: a\x01\n", &b, &err), DCK_E_FORMAT);
	dck_buffer_done(&b);
}

static void header_names(void **state)
{
	static const char lines[] = "X-A: User-Agent: x\r\nuser-agent: y\r\n";

	(void)state;
	assert_true(http_headers_have(lines, "User-Agent"));
	assert_true(http_headers_have(lines, "X-A"));
	assert_false(http_headers_have(lines, "User"));
	assert_false(http_headers_have(lines, "A"));
	assert_false(http_headers_have("", "A"));
	assert_false(http_headers_have(NULL, "A"));
}

/* --- late reads */

#define WAIT_NS	 20000000
#define SLACK_NS 2000000 /* between two clocks */

/* The kernel's stamp lies between the send and the wait; the first bytes may have none. */
static void late_reads(void **state)
{
	const struct timespec wait = {0, WAIT_NS};
	int64_t late_ns = -1, least_ns = 0, most_ns = 0;
	int listening, server, client;
	os_net_address at;
	bool pending;
	char byte = 'x';
	dck_err err;

	(void)state;
	assert_int_equal(os_net_listen("127.0.0.1", "0", &at, &listening, &err), DCK_OK);
	client = os_net_connect(&at, &pending);
	assert_true(client >= 0);
	while ((server = os_net_accept(listening)) < 0)
		nanosleep(&wait, NULL);
	for (int i = 0; i < 50 && late_ns < 0; i++) {
		const uint64_t before_ns = os_now_ns();

		assert_true(os_net_send_all(server, &byte, 1, before_ns + 60000000000u));
		const uint64_t sent_ns = os_now_ns();
		nanosleep(&wait, NULL);
		least_ns = (int64_t)(os_now_ns() - sent_ns);
		while (os_net_receive_late(client, &byte, 1, &late_ns) == OS_NET_AGAIN)
			nanosleep(&wait, NULL);
		most_ns = (int64_t)(os_now_ns() - before_ns);
	}
	os_close(client);
	os_close(server);
	os_close(listening);
	if (late_ns < 0) {
		print_message("skipped: the kernel stamps no arrivals\n");
		skip();
	}
	assert_true(least_ns >= WAIT_NS);
	assert_true(late_ns >= least_ns - SLACK_NS && late_ns <= most_ns + SLACK_NS);
}

/* --- the times of an answer */

#define STREAM_HEAD \
	"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 116\r\n\r\n"
#define EVENT "data: {\"choices\":[{\"text\":\"a\"}]}\n\n"

#define EVENTS_END "data: [DONE]\n\n" /* 3 events and this: 116 bytes */

typedef struct answer_read {
	const char *bytes;
	uint64_t arrival_ns;
	int64_t late_ns;
} answer_read;

/* Reads an answer in n reads. */
static void answer_times(const answer_read *of, size_t n, http_answer *ret)
{
	http_client c = {.answers = ret, .stream = true, .body_max = 1000, .new_tokens = 1};
	http_connection k = {.fd = -1};
	http_progress p = HTTP_GOES_ON;
	http_outcome outcome;
	dck_err err;

	*ret = (http_answer){.first_late_ns = -2, .end_late_ns = -2};
	http_answer_begin(&k);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(p, HTTP_GOES_ON);
		k.arrival_ns = of[i].arrival_ns;
		k.late_ns = of[i].late_ns;
		k.nevents = 0;
		p = http_answer_read(&c, &k, (const uint8_t *)of[i].bytes, strlen(of[i].bytes),
				     &outcome, &err);
	}
	assert_int_equal(p, HTTP_COMPLETE);
	assert_int_equal(outcome, HTTP_ANSWERED);
	sse_reader_done(&k.events);
	mem_free(k.gaps);
}

/* A chunk has the time of its arrival, however late it is read. Of chunks that were read together
 * the last one's is known, and the others may be late. */
static void answers_of_late_reads(void **state)
{
	static const answer_read alone[] = {{STREAM_HEAD, 900, 70},
					    {EVENT, 1000, 500},
					    {EVENT, 2000, 400},
					    {EVENT, 3000, 300},
					    {EVENTS_END, 4000, 200}};
	static const answer_read joined[] = {
	    {STREAM_HEAD EVENT EVENT, 2000, 400}, {EVENT, 3000, 300}, {EVENTS_END, 4000, 200}};
	static const answer_read last[] = {{STREAM_HEAD EVENT, 1000, 500},
					   {EVENT EVENT EVENTS_END, 3000, 300}};
	static const answer_read unknown[] = {{STREAM_HEAD EVENT, 1000, -1},
					      {EVENT EVENT EVENTS_END, 3000, -1}};
	static const struct {
		const answer_read *of;
		size_t n;
		uint64_t first_ns;
		int64_t first_late_ns, end_late_ns;
	} rows[] = {{alone, 5, 1000, 0, 0},
		    {joined, 3, 2000, 400, 0},
		    {last, 2, 1000, 0, 300},
		    {unknown, 2, 1000, -1, -1}};
	http_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		answer_times(rows[i].of, rows[i].n, &a);
		assert_int_equal(a.chunks, 3);
		assert_int_equal(a.first_content_ns, rows[i].first_ns);
		assert_int_equal(a.end_ns, 3000);
		assert_int_equal(a.first_late_ns, rows[i].first_late_ns);
		assert_int_equal(a.end_late_ns, rows[i].end_late_ns);
	}
}

/* Tokens without text after several chunks: the last one is the end, unless it only has the
 * finish_reason, or follows it. */
static void tokens_without_text(void **state)
{
#define BLANK	 "data: {\"choices\":[{\"text\":\"\"}]}\n\n"
#define FINISHES "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
	static const struct {
		const char *event[5];
		uint64_t chunks, end_ns;
	} rows[] = {
	    {{EVENT, EVENT, BLANK, FINISHES, EVENTS_END}, 2, 4000},
	    {{EVENT, EVENT, BLANK, EVENT, FINISHES}, 3, 4000},
	    {{EVENT, EVENT, FINISHES, BLANK, EVENTS_END}, 2, 2000},
	    {{BLANK, EVENT, BLANK, FINISHES, EVENTS_END}, 1, 2000},
	};
	http_answer a;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char head[200];
		answer_read reads[6] = {{head, 500, 0}};
		size_t n = 0;

		for (size_t k = 0; k < 5; k++) {
			n += strlen(rows[i].event[k]);
			reads[k + 1] = (answer_read){rows[i].event[k], 1000 * (k + 1), 0};
		}
		snprintf(head, sizeof head,
			 "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
			 "Content-Length: %zu\r\n\r\n",
			 n);
		answer_times(reads, 6, &a);
		assert_int_equal(a.chunks, rows[i].chunks);
		assert_int_equal(a.end_ns, rows[i].end_ns);
	}
}

/* Reads a whole answer, which ends with the connection. quote, sends_end: of the client. */
static http_outcome answer_outcome(const char *bytes, bool quote, bool sends_end, dck_err *why)
{
	http_answer a = {0};
	http_client c = {.answers = &a,
			 .stream = true,
			 .body_max = 1000,
			 .new_tokens = 2,
			 .quote = quote,
			 .sends_end = sends_end};
	http_connection k = {.fd = -1};
	http_outcome outcome;

	http_answer_begin(&k);
	*why = (dck_err){0};
	if (http_answer_read(&c, &k, (const uint8_t *)bytes, strlen(bytes), &outcome, why) ==
	    HTTP_GOES_ON)
		http_answer_read(&c, &k, NULL, 0, &outcome, why);
	sse_reader_done(&k.events);
	mem_free(k.gaps);
	return outcome;
}

static void answers_that_end(void **state)
{
#define HEAD   "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"
#define FINISH "data: {\"choices\":[{\"text\":\"\",\"finish_reason\":\"length\"}]}\n\n"
#define USAGE  "data: {\"choices\":[],\"usage\":{\"completion_tokens\":"
	static const struct {
		const char *bytes;
		http_outcome outcome;
		const char *why;
	} rows[] = {
	    {HEAD "\r\n" EVENT EVENT FINISH, HTTP_ANSWERED, ""},
	    {HEAD "\r\n" EVENT EVENTS_END, HTTP_ANSWERED, ""},
	    {HEAD "\r\n" EVENT EVENT, HTTP_CUT, "without a finish_reason and without [DONE]"},
	    {HEAD "\r\n" EVENT USAGE "2}}\n\n" EVENTS_END, HTTP_ANSWERED, ""},
	    {HEAD "\r\n" EVENT USAGE "1}}\n\n" EVENTS_END, HTTP_EARLY, ""},
	    {HEAD "\r\n" EVENT USAGE "99999}}\n\n" EVENTS_END, HTTP_LONGER, ""},
	    {HEAD "\r\n" EVENT USAGE "0}}\n\n" EVENTS_END, HTTP_ANSWERED, ""},
	    {HEAD "\r\n: hello\n\ndata:\n\n" EVENT "data: \n\n" FINISH, HTTP_ANSWERED, ""},
	    {HEAD "\r\ndata: {\"choices\":[]}\ndata: [DONE]\n\n", HTTP_MALFORMED,
	     "an empty line between them"},
	    {HEAD "\r\n" EVENT "data: {\"choices\":[{\"finish_reason\":\"abort\"}]}\n\n" EVENTS_END,
	     HTTP_ERROR, "finish_reason: abort"},
	    {HEAD "Content-Encoding: gzip\r\n\r\n", HTTP_MALFORMED, "Content-Encoding: gzip"},
	    {HEAD "Content-Encoding: identity\r\n\r\n" EVENT FINISH, HTTP_ANSWERED, ""},
	    {HEAD, HTTP_CUT, "not complete"},
	    {"HTTP/1.1 401 No\r\n\r\n", HTTP_STATUS, "DEEPCLOCK_API_KEY"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		dck_err why;

		assert_int_equal(answer_outcome(rows[i].bytes, true, false, &why), rows[i].outcome);
		if (!strstr(why.msg, rows[i].why))
			fail_msg("'%s' has no '%s'", why.msg, rows[i].why);
	}
}

/* What a message has of headers; nothing where credentials were sent, which they may repeat. */
static void answers_quoted(void **state)
{
#define REDIRECT "HTTP/1.1 302 F\r\nLocation: "
	static const struct {
		const char *bytes, *quoted; /* NULL: nothing */
	} rows[] = {
	    {REDIRECT "/login/hush\r\n\r\n", "'/login/hush'"},
	    {REDIRECT "/login?key=hush\r\n\r\n", "'/login'"},
	    {REDIRECT "/login#hush\r\n\r\n", "'/login'"},
	    {REDIRECT "http://hush:hush@h/\r\n\r\n", NULL},
	    {REDIRECT "/\x1b[31mhush\r\n\r\n", "'/ [31mhush'"},
	    {"HTTP/1.1 200 OK\r\nContent-Type: hush\r\n\r\n", "'hush'"},
	    {HEAD "Content-Encoding: hush\r\n\r\n", "Content-Encoding: hush"},
	    {HEAD "\r\ndata: hush\n\n", "'hush'"},
	};
	dck_err why;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		answer_outcome(rows[i].bytes, true, false, &why);
		if (rows[i].quoted ? !strstr(why.msg, rows[i].quoted)
				   : strstr(why.msg, "hush") != NULL)
			fail_msg("'%s' has not '%s'", why.msg, rows[i].quoted);
		answer_outcome(rows[i].bytes, false, false, &why);
		assert_null(strstr(why.msg, "hush"));
		assert_true(why.msg[0]);
	}
}

/* Of a server that has never sent an end, the end of the body is enough. */
static void answers_without_end(void **state)
{
	static const struct {
		const char *bytes;
		bool sends_end;
		http_outcome outcome;
	} rows[] = {
	    {HEAD "Transfer-Encoding: chunked\r\n\r\n22\r\n" EVENT "\r\n0\r\n\r\n", false,
	     HTTP_ANSWERED},
	    {HEAD "Transfer-Encoding: chunked\r\n\r\n22\r\n" EVENT "\r\n0\r\n\r\n", true, HTTP_CUT},
	    {HEAD "Transfer-Encoding: chunked\r\n\r\n22\r\n" EVENT "\r\n", false, HTTP_CUT},
	    {HEAD "Content-Length: 34\r\n\r\n" EVENT, false, HTTP_ANSWERED},
	    {HEAD "Content-Length: 35\r\n\r\n" EVENT, false, HTTP_CUT},
	    {HEAD "\r\n" EVENT, false, HTTP_CUT},
	};
	dck_err why;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		assert_int_equal(answer_outcome(rows[i].bytes, true, rows[i].sends_end, &why),
				 rows[i].outcome);
}

int test_http(void);
int test_http(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(responses),
	    cmocka_unit_test(long_heads),
	    cmocka_unit_test(events),
	    cmocka_unit_test(event_without_end),
	    cmocka_unit_test(completions),
	    cmocka_unit_test(prompts),
	    cmocka_unit_test(tensors),
	    cmocka_unit_test(tensors_answered),
	    cmocka_unit_test(urls),
	    SCRATCH_TEST(header_files),
	    cmocka_unit_test(late_reads),
	    cmocka_unit_test(answers_of_late_reads),
	    cmocka_unit_test(tokens_without_text),
	    cmocka_unit_test(answers_that_end),
	    cmocka_unit_test(answers_quoted),
	    cmocka_unit_test(header_names),
	    cmocka_unit_test(answers_without_end),
	};

	return cmocka_run_group_tests_name("http", tests, scratch_begin, scratch_end);
}
