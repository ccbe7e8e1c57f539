/* ort_scan.c - streaming lexer: reads ONNX Runtime's profile through a window, so that a file of
 * hundreds of MB needs memory only for the stored results.
 *
 * A reader of JSON would not do. Older versions write names as they are, with quotes, backslashes
 * and line ends that break the text, so a quote ends a string only where what follows can follow a
 * string. Numbers are texts for the most part.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/ort/ort_scan.h"

#include "base/err.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define WINDOW	  65536u
#define AHEAD	  64u /* bytes of lookahead */
#define TEXT_MAX  (1u << 20)
#define DEPTH_MAX 32

dck_status ort_scan_malformed(const ort_scan *s, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof what, fmt, ap);
	va_end(ap);
	DCK_FAIL(s->err, E_FORMAT, "%s is malformed at byte %llu, in event %llu: %s",
		 s->source->label, (unsigned long long)(s->before + s->at),
		 (unsigned long long)s->events, what);
}

dck_status ort_scan_no_memory(const ort_scan *s)
{
	return ERR_NO_MEMORY(s->err, "to read %s", s->source->label);
}

bool ort_scan_init(ort_scan *s, const ort_trace_source *source, bool escaped, dck_err *err)
{
	*s = (ort_scan){.source = source, .escaped = escaped, .err = err};
	s->window = mem_alloc(WINDOW);
	return s->window != NULL;
}

void ort_scan_done(ort_scan *s)
{
	mem_free(s->window);
	ort_text_done(&s->scratch);
}

void ort_text_done(ort_text *t)
{
	mem_free(t->data);
	*t = (ort_text){0};
}

/* --- bytes */

/* Returns how many of the next `want` (at most AHEAD) bytes are available. */
static size_t ahead(ort_scan *s, size_t want)
{
	if (s->n - s->at >= want || s->ended)
		return s->n - s->at < want ? s->n - s->at : want;
	s->before += s->at;
	memmove(s->window, s->window + s->at, s->n - s->at);
	s->n -= s->at;
	s->at = 0;
	while (!s->ended && s->n < WINDOW) {
		size_t got = s->source->read(s->source->self, s->window + s->n, WINDOW - s->n);
		s->ended = got == 0;
		s->n += got;
	}
	return s->n < want ? s->n : want;
}

/* The byte `i` places on, or -1. */
static int byte_peek(ort_scan *s, size_t i)
{
	if (s->n - s->at > i)
		return (unsigned char)s->window[s->at + i];
	return ahead(s, i + 1) > i ? (unsigned char)s->window[s->at + i] : -1;
}

static bool scan_is_blank(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int ort_scan_solid(ort_scan *s)
{
	while (scan_is_blank(byte_peek(s, 0)))
		s->at++;
	return byte_peek(s, 0);
}

dck_status ort_scan_expect(ort_scan *s, char c)
{
	int found = ort_scan_solid(s);

	if (found < 0)
		return ort_scan_malformed(s, "it ends where '%c' must be: it was cut short", c);
	if (found != c)
		return ort_scan_malformed(s, "'%c' must be there", c);
	s->at++;
	return DCK_OK;
}

/* --- texts */

static bool scan_text_put(ort_text *t, char c)
{
	if (!mem_reserve(&t->data, &t->cap, t->n + 2, 1))
		return false;
	t->data[t->n++] = c;
	t->data[t->n] = '\0';
	return true;
}

bool ort_scan_is(const ort_text *t, const char *what)
{
	return t->n == strlen(what) && memcmp(t->data, what, t->n) == 0;
}

static size_t skip_blanks(ort_scan *s, size_t i)
{
	while (i < AHEAD && scan_is_blank(byte_peek(s, i)))
		i++;
	return i;
}

/* Requires ": {" and a member or the end, because names of nodes may contain the text before it. */
static bool can_be_args(ort_scan *s, size_t i)
{
	i = skip_blanks(s, i);
	if (byte_peek(s, i) != ':')
		return false;
	i = skip_blanks(s, i + 1);
	if (byte_peek(s, i) != '{')
		return false;
	i = skip_blanks(s, i + 1);
	return byte_peek(s, i) == '"' || byte_peek(s, i) == '}';
}

/* What may follow the closing quote of a value, which is i - 1 places on: the end of the object,
 * or the next member. Of a name, that is the end of an event, or a member that is known to
 * Chrome's traces. */
static bool can_follow(ort_scan *s, size_t i, bool of_name)
{
	static const char *const keys[] = {"args", "cat", "dur", "id",	 "name", "ph",
					   "pid",  "s",	  "tid", "tdur", "ts",	 "tts"};

	i = skip_blanks(s, i);
	if (byte_peek(s, i) == '}') {
		if (!of_name)
			return true;
		i = skip_blanks(s, i + 1);
		return byte_peek(s, i) == ',' || byte_peek(s, i) == ']';
	}
	if (byte_peek(s, i) != ',')
		return false;
	i = skip_blanks(s, i + 1);
	if (byte_peek(s, i) != '"')
		return false;
	for (size_t k = 0; of_name && k < sizeof(keys) / sizeof *keys; k++) {
		size_t n = strlen(keys[k]), end = i + 1 + n;
		if (ahead(s, end + 1) > end && s->window[s->at + end] == '"' &&
		    memcmp(s->window + s->at + i + 1, keys[k], n) == 0)
			return k > 0 || can_be_args(s, end + 1);
	}
	return !of_name;
}

static int hex4(const char *at)
{
	int v = 0;

	for (int i = 0; i < 4; i++) {
		char c = at[i];
		int digit = c >= '0' && c <= '9'   ? c - '0'
			    : c >= 'a' && c <= 'f' ? c - 'a' + 10
			    : c >= 'A' && c <= 'F' ? c - 'A' + 10
						   : -1;
		if (digit < 0)
			return -1;
		v = v * 16 + digit;
	}
	return v;
}

/* Decodes the escape at *at and advances *at; returns the number of bytes written to `to`, 0:
 * invalid. */
static size_t escape_read(const char **at, char *to)
{
	static const char from[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
	const char *s = *at + 1;
	const char *found = *s ? strchr(from, *s) : NULL;
	long c;

	if (found) {
		*at = s + 1;
		to[0] = means[found - from];
		return 1;
	}
	/* A NUL would truncate the name, so such a name does not match. */
	if (*s != 'u' || (c = hex4(s + 1)) <= 0 || (c >= 0xdc00 && c < 0xe000))
		return 0;
	*at = s + 5;
	if (c >= 0xd800 && c < 0xdc00) {
		long low = s[5] == '\\' && s[6] == 'u' ? hex4(s + 7) : -1;
		if (low < 0xdc00 || low >= 0xe000)
			return 0;
		*at = s + 11;
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	}
	return utf8_put(to, (uint32_t)c);
}

/* Decodes JSON's escapes in place; a text with an invalid escape stays unchanged. */
static bool text_unescape(ort_text *t)
{
	char one[UTF8_BYTES_MAX];

	if (!memchr(t->data, '\\', t->n))
		return true;
	for (int pass = 0; pass < 2; pass++) {
		const char *from = t->data;
		char *to = t->data;

		while (*from) {
			if (*from != '\\') {
				if (pass == 1)
					*to = *from;
				to++, from++;
				continue;
			}
			size_t n = escape_read(&from, one);
			if (n == 0)
				return false;
			if (pass == 1)
				memcpy(to, one, n);
			to += n;
		}
		if (pass == 1) {
			*to = '\0';
			t->n = (size_t)(to - t->data);
		}
	}
	return true;
}

/* A value in quotes; the opening one is where we are. */
dck_status ort_scan_text(ort_scan *s, ort_text *ret, bool of_name)
{
	bool escape = false;

	ret->n = 0;
	ret->odd = false;
	if (ret->data)
		*ret->data = '\0';
	s->at++;
	for (;; s->at++) {
		int c = byte_peek(s, 0);
		if (c < 0)
			return ort_scan_malformed(s, "it ends within a text: it was cut short");
		if (c == '"' && !escape) {
			if (can_follow(s, 1, of_name))
				break;
			ret->odd = true;
		}
		if (c < ' ')
			ret->odd = true;
		if (ret->n >= TEXT_MAX)
			return ort_scan_malformed(s, "a text is longer than %u bytes", TEXT_MAX);
		/* A NUL cannot be in a name: it would be another name for us. */
		if (!scan_text_put(ret, c ? (char)c : ' '))
			return ort_scan_no_memory(s);
		escape = c == '\\' && !escape;
	}
	s->at++;
	if (s->escaped && !ret->odd && ret->n > 0)
		ret->odd = !text_unescape(ret);
	return DCK_OK;
}

/* A member's name and the colon: short, and never with an escape. */
dck_status ort_scan_key(ort_scan *s, ort_text *ret)
{
	DCK_TRY(ort_scan_expect(s, '"'));
	ret->n = 0;
	for (;; s->at++) {
		int c = byte_peek(s, 0);
		if (c < ' ' || c == '\\' || ret->n > 200)
			return ort_scan_malformed(s, "the name of a member must be there");
		if (c == '"')
			break;
		if (!scan_text_put(ret, (char)c))
			return ort_scan_no_memory(s);
	}
	s->at++;
	if (ret->n == 0)
		return ort_scan_malformed(s, "a member has no name");
	return ort_scan_expect(s, ':');
}

/* --- values */

/* Skips an irrelevant list or object, whose texts ONNX Runtime itself generated. */
static dck_status nested_skip(ort_scan *s)
{
	char open[DEPTH_MAX];
	int depth = 0;

	do {
		int c = ort_scan_solid(s);
		if (c < 0)
			return ort_scan_malformed(s, "it ends within a list: it was cut short");
		if (c == '{' || c == '[') {
			if (depth == DEPTH_MAX)
				return ort_scan_malformed(s, "lists are nested more than %d deep",
							  DEPTH_MAX);
			open[depth++] = (char)(c == '{' ? '}' : ']');
		} else if (c == '}' || c == ']') {
			if (open[--depth] != c)
				return ort_scan_malformed(s, "'%c' must be there", open[depth]);
		} else if (c == '"') {
			bool escape = false;
			for (s->at++; (c = byte_peek(s, 0)) >= 0 && (escape || c != '"'); s->at++)
				escape = c == '\\' && !escape;
			if (c < 0)
				return ort_scan_malformed(
				    s, "it ends within a text: it was cut short");
		}
		s->at++;
	} while (depth > 0);
	return DCK_OK;
}

static dck_status bare_read(ort_scan *s, ort_text *ret)
{
	ret->n = 0;
	for (;; s->at++) {
		int c = byte_peek(s, 0);
		if (c < 0 || c == ',' || c == '}' || c == ']' || scan_is_blank(c))
			break;
		if (c < ' ' || c == '"' || c == '{' || c == '[' || ret->n > 64)
			return ort_scan_malformed(s, "a value must be there");
		if (!scan_text_put(ret, (char)c))
			return ort_scan_no_memory(s);
	}
	return ret->n > 0 ? DCK_OK : ort_scan_malformed(s, "a value must be there");
}

dck_status ort_scan_skip(ort_scan *s)
{
	int c = ort_scan_solid(s);

	if (c == '{' || c == '[')
		return nested_skip(s);
	return c == '"' ? ort_scan_text(s, &s->scratch, false) : bare_read(s, &s->scratch);
}

/* Reads an integer, quoted or not; a fraction is dropped. */
dck_status ort_scan_number(ort_scan *s, int64_t *ret)
{
	const char *at;
	uint64_t n = 0;

	if (ort_scan_solid(s) == '"')
		DCK_TRY(ort_scan_text(s, &s->scratch, false));
	else
		DCK_TRY(bare_read(s, &s->scratch));
	at = s->scratch.n > 0 ? s->scratch.data : "";
	bool negative = *at == '-';
	at += negative;
	if (*at < '0' || *at > '9')
		return ort_scan_malformed(s, "a number must be there");
	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(n, 10u, &n) ||
		    __builtin_add_overflow(n, (uint64_t)(*at - '0'), &n) || n > INT64_MAX)
			return ort_scan_malformed(s, "a number is too large");
	if (*at && *at != '.')
		return ort_scan_malformed(s, "a number must be there");
	*ret = negative ? -(int64_t)n : (int64_t)n;
	return DCK_OK;
}
