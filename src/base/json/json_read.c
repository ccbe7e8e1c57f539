/* json_read.c - pull parser for JSON (RFC 8259): a tokenizer with a stack of open brackets.
 *
 * json_next() returns one token. Its state is one bit for each open bracket (object or array) and
 * two flags, after_value and after_key, which decide whether a comma, a key, a value or a bracket
 * may follow. So the structure is checked without recursion and without a tree. Bytes come from the
 * caller's callback in pieces of any size; only json_peek() fetches a piece, and a token may span
 * several.
 *
 * Bounds on hostile input: at most JSON_NESTED_MAX open brackets (E_LIMIT); JSON_TEXT_MAX bytes of
 * a text are stored and the rest is dropped; a number or literal has at most NUM_TEXT_MAX bytes. No
 * memory is allocated, and time is linear in the bytes.
 *
 * Also accepted are a comma after the last element, NaN and Infinity, control characters in texts,
 * and escapes that JSON does not define. \u0000 becomes U+FFFD, since a NUL would end the text, and
 * so does half of a surrogate pair.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_read.h"

#include "base/err.h"
#include "base/decimal.h"
#include "base/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REPLACEMENT = 0xfffd }; /* U+FFFD */

void json_read_init(json_reader *r,
		    dck_status (*more)(void *self, const uint8_t **ret, size_t *ret_n,
				       dck_err *err),
		    void *self, const char *label)
{
	*r = (json_reader){.more = more, .self = self, .label = label};
}

static dck_status json_nothing_more(void *self, const uint8_t **ret, size_t *ret_n, dck_err *err)
{
	(void)self;
	(void)ret;
	(void)err;
	*ret_n = 0;
	return DCK_OK;
}

void json_read_bytes(json_reader *r, const void *bytes, size_t n, const char *label)
{
	json_read_init(r, json_nothing_more, NULL, label);
	r->at = bytes;
	r->end = r->at + n;
	r->before = n;
}

static unsigned long long json_place(const json_reader *r)
{
	return r->before - (uint64_t)(r->end - r->at);
}

/* --- bytes */

/* Returns the next byte without consuming it; -1: the input has ended. */
static dck_status json_peek(json_reader *r, int *ret, dck_err *err)
{
	size_t n = 0;

	if (r->at == r->end) {
		DCK_TRY(r->more(r->self, &r->at, &n, err));
		r->end = r->at + n;
		r->before += n;
	}
	*ret = r->at == r->end ? -1 : *r->at;
	return DCK_OK;
}

static dck_status peek_inside(json_reader *r, int *ret, dck_err *err)
{
	DCK_TRY(json_peek(r, ret, err));
	if (*ret < 0)
		DCK_FAIL(err, E_FORMAT, "%s is truncated: it ends within a text, after %llu bytes",
			 r->label, json_place(r));
	return DCK_OK;
}

static bool json_is_blank(int c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

/* A byte order mark of UTF-8, with which some programs begin a text. */
static bool json_is_mark(const json_reader *r, int c)
{
	static const uint8_t mark[] = {0xef, 0xbb, 0xbf};
	const unsigned long long place = json_place(r);

	return place < sizeof mark && c == mark[place];
}

static dck_status peek_solid(json_reader *r, int *ret, dck_err *err)
{
	for (;;) {
		DCK_TRY(json_peek(r, ret, err));
		if (!json_is_blank(*ret) && !json_is_mark(r, *ret))
			return DCK_OK;
		r->at++;
	}
}

static dck_status misplaced(const json_reader *r, int c, dck_err *err)
{
	if (c >= ' ' && c < 0x7f)
		DCK_FAIL(err, E_FORMAT, "%s is malformed: '%c' at byte %llu is out of place",
			 r->label, c, json_place(r));
	DCK_FAIL(err, E_FORMAT, "%s is malformed: the byte 0x%02x at %llu is out of place",
		 r->label, (unsigned)c, json_place(r));
}

/* --- texts */

static void text_append(json_reader *r, const void *bytes, size_t n)
{
	const size_t space = JSON_TEXT_MAX - r->n;

	n = n < space ? n : space;
	memcpy(r->text + r->n, bytes, n);
	r->n += n;
}

static dck_status read_hex4(json_reader *r, uint32_t *ret, dck_err *err)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	int c;

	*ret = 0;
	for (int i = 0; i < 4; i++) {
		DCK_TRY(peek_inside(r, &c, err));
		const char *found = c ? strchr(digits, c) : NULL;
		if (!found)
			return misplaced(r, c, err);
		*ret = *ret * 16 + (uint32_t)((found - digits) % 16);
		r->at++;
	}
	return DCK_OK;
}

static void code_append(json_reader *r, uint32_t code)
{
	char bytes[UTF8_BYTES_MAX];
	const size_t n = utf8_put(bytes, code);

	text_append(r, bytes, n);
}

/* Reads an escape after its backslash. An escape that JSON does not define gives its character.
 * Half of a surrogate pair without the other half becomes U+FFFD; the first half waits in *high for
 * the next escape. */
static dck_status read_escape(json_reader *r, uint32_t *high, dck_err *err)
{
	static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
	const uint32_t before = *high;
	uint32_t code = 0;
	int c;

	DCK_TRY(peek_inside(r, &c, err));
	r->at++;
	if (c == 'u')
		DCK_TRY(read_hex4(r, &code, err));
	*high = code >= 0xd800 && code < 0xdc00 ? code : 0;
	const bool low = code >= 0xdc00 && code < 0xe000;
	if (before && low) {
		code_append(r, 0x10000 + ((before - 0xd800) << 10) + (code - 0xdc00));
		return DCK_OK;
	}
	if (before)
		code_append(r, REPLACEMENT);
	if (c == 'u') {
		if (!*high)
			code_append(r, low || code == 0 ? REPLACEMENT : code);
		return DCK_OK;
	}
	const char *found = c ? strchr(from, c) : NULL;
	text_append(r, found ? &to[found - from] : &(char){(char)c}, 1);
	return DCK_OK;
}

/* Reads a text after its opening quote. */
static dck_status json_read_text(json_reader *r, dck_err *err)
{
	uint32_t high = 0;
	int c;

	r->n = 0;
	for (;;) {
		DCK_TRY(peek_inside(r, &c, err));
		if (high && c != '\\') {
			code_append(r, REPLACEMENT);
			high = 0;
		}
		const uint8_t *from = r->at;
		while (r->at < r->end && *r->at != '"' && *r->at != '\\')
			r->at++;
		text_append(r, from, (size_t)(r->at - from));
		if (r->at == r->end)
			continue;
		if (*r->at++ == '"')
			break;
		DCK_TRY(read_escape(r, &high, err));
	}
	r->text[r->n] = '\0';
	return DCK_OK;
}

/* Recognizes nearly all numbers fast: digits, and perhaps a point between them. */
static bool is_plain_number(const char *text)
{
	static const char digits[] = "0123456789";
	const size_t whole = strspn(text += *text == '-', digits);
	const bool point = text[whole] == '.';
	const size_t part = point ? strspn(text + whole + 1, digits) : 0;

	return whole > 0 && (!point || part > 0) && text[whole + point + part] == '\0';
}

static dck_status read_bare(json_reader *r, dck_err *err)
{
	static const char *const words[] = {"true", "false",	"null",	    "NaN",
					    "-NaN", "Infinity", "-Infinity"};
	double v;
	int c;

	r->n = 0;
	for (;;) {
		DCK_TRY(json_peek(r, &c, err));
		if (c < 0 || json_is_blank(c) || c == ',' || c == ']' || c == '}' || c == ':')
			break;
		if (c < ' ' || c == '"' || c == '{' || c == '[' || r->n == NUM_TEXT_MAX)
			return misplaced(r, c, err);
		text_append(r, r->at++, 1);
	}
	if (c < 0 && r->depth > 0)
		DCK_FAIL(err, E_FORMAT, "%s is truncated: it ends within a value, after %llu bytes",
			 r->label, json_place(r));
	r->text[r->n] = '\0';
	if (is_plain_number(r->text))
		return DCK_OK;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strcmp(r->text, words[i]) == 0)
			return DCK_OK;
	if (!json_number(r->text, &v))
		DCK_FAIL(err, E_FORMAT, "%s is malformed: '%.40s' at byte %llu is not a value",
			 r->label, r->text, json_place(r) - r->n);
	return DCK_OK;
}

dck_status json_next_element(json_reader *r, json_token *ret, dck_err *err)
{
	json_token t;

	DCK_TRY(json_next(r, &t, err));
	if (t == JSON_END)
		DCK_FAIL(err, E_FORMAT, "%s is truncated: it is not closed", r->label);
	*ret = t;
	return DCK_OK;
}

dck_status json_next_key(json_reader *r, bool *ret_more, dck_err *err)
{
	json_token t = JSON_END;

	DCK_TRY(json_next_element(r, &t, err));
	*ret_more = t == JSON_KEY;
	return DCK_OK;
}

dck_status json_next_member(json_reader *r, const char *const *keys, int *ret_key,
			    json_token *ret_value, dck_err *err)
{
	bool more;

	for (;;) {
		DCK_TRY(json_next_key(r, &more, err));
		for (int i = 0; more && keys[i]; i++)
			if (strcmp(r->text, keys[i]) == 0) {
				*ret_key = i;
				return json_next(r, ret_value, err);
			}
		if (!more) {
			*ret_key = -1;
			return DCK_OK;
		}
		DCK_TRY(json_next(r, ret_value, err));
		DCK_TRY(json_skip(r, *ret_value, err));
	}
}

/* Through strtod(), which rounds correctly: the point is moved into the exponent, since which
 * character strtod() takes for a point depends on the locale. */
bool json_number(const char *text, double *ret)
{
	static const char digits[] = "0123456789";
	const char *at = text + (*text == '-');
	const size_t whole = strspn(at, digits), point = at[whole] == '.';
	const size_t part = point ? strspn(at + whole + 1, digits) : 0;
	char plain[NUM_TEXT_MAX + 16], *end = NULL;
	long exponent = 0;

	if (whole == 0 || strlen(text) > NUM_TEXT_MAX)
		return false;
	const char *rest = at + whole + point + part;
	if (*rest == 'e' || *rest == 'E') {
		const char *sign = rest + 1 + (rest[1] == '-' || rest[1] == '+');
		exponent = strtol(rest + 1, &end, 10);
		rest = strspn(sign, digits) ? end : rest;
	}
	if (*rest)
		return false;
	exponent = exponent > 9999 ? 9999 : exponent < -9999 ? -9999 : exponent;
	snprintf(plain, sizeof plain, "%.*s%.*se%ld", (int)(at - text + (ptrdiff_t)whole), text,
		 (int)part, at + whole + point, exponent - (long)part);
	*ret = strtod(plain, NULL);
	return true;
}

/* --- tokens */

static dck_status open_bracket(json_reader *r, bool object, dck_err *err)
{
	if (r->depth == JSON_NESTED_MAX)
		DCK_FAIL(err, E_LIMIT, "%s is nested more than %d deep", r->label,
			 (int)JSON_NESTED_MAX);
	r->object[r->depth++] = object;
	r->after_value = r->after_key = false;
	r->at++;
	return DCK_OK;
}

static dck_status close_bracket(json_reader *r, int c, dck_err *err)
{
	if (!r->depth || r->after_key || r->object[r->depth - 1] != (c == '}'))
		return misplaced(r, c, err);
	r->depth--;
	r->after_value = true;
	r->at++;
	return DCK_OK;
}

/* Reads a key and its colon. */
static dck_status read_key(json_reader *r, dck_err *err)
{
	int c;

	r->at++;
	DCK_TRY(json_read_text(r, err));
	DCK_TRY(peek_solid(r, &c, err));
	if (c < 0)
		DCK_FAIL(err, E_FORMAT, "%s is truncated: it ends after a key, at %llu bytes",
			 r->label, json_place(r));
	if (c != ':')
		return misplaced(r, c, err);
	r->at++;
	r->after_key = true;
	return DCK_OK;
}

static dck_status read_value(json_reader *r, int c, json_token *ret, dck_err *err)
{
	*ret = c == '"' ? JSON_TEXT : JSON_LITERAL;
	if (c == '"') {
		r->at++;
		DCK_TRY(json_read_text(r, err));
	} else {
		DCK_TRY(read_bare(r, err));
	}
	r->after_key = false;
	r->after_value = true;
	return DCK_OK;
}

dck_status json_next(json_reader *r, json_token *ret, dck_err *err)
{
	int c;

	DCK_TRY(peek_solid(r, &c, err));
	if (c == ',' && r->after_value && r->depth) {
		r->after_value = false;
		r->at++;
		DCK_TRY(peek_solid(r, &c, err));
	}
	if (c < 0 && !r->after_key) {
		*ret = JSON_END;
		return DCK_OK;
	}
	if (c < 0)
		DCK_FAIL(err, E_FORMAT, "%s is truncated: it ends after a key, at %llu bytes",
			 r->label, json_place(r));
	if (c == '}' || c == ']') {
		*ret = JSON_CLOSE;
		return close_bracket(r, c, err);
	}
	if (r->after_value)
		return misplaced(r, c, err);
	if (r->depth && r->object[r->depth - 1] && !r->after_key) {
		*ret = JSON_KEY;
		return c == '"' ? read_key(r, err) : misplaced(r, c, err);
	}
	if (c == '{' || c == '[') {
		*ret = c == '{' ? JSON_OBJECT : JSON_ARRAY;
		return open_bracket(r, c == '{', err);
	}
	return read_value(r, c, ret, err);
}

dck_status json_skip(json_reader *r, json_token begun, dck_err *err)
{
	const uint32_t outside = r->depth - 1;
	json_token t = begun;

	if (begun != JSON_OBJECT && begun != JSON_ARRAY)
		return DCK_OK;
	while (r->depth > outside) {
		DCK_TRY(json_next(r, &t, err));
		if (t == JSON_END)
			DCK_FAIL(err, E_FORMAT,
				 "%s is truncated: it ends within a list, after %llu bytes",
				 r->label, json_place(r));
	}
	return DCK_OK;
}
