/* json_write.c - streaming JSON writer (RFC 8259) with a stack of open levels.
 *
 * Every value passes before_value(), which writes the comma, the line break and the indentation.
 * level[] stores of each open array or object whether it has an item yet and whether it is on one
 * line. Nothing is buffered or allocated here: bytes go to the sink, whose errors are sticky.
 * Misuse (a value without its key, more than JSON_DEPTH_MAX levels) asserts.
 *
 * quoted() is the only escaper. It copies runs of plain characters at once; a byte that is not
 * UTF-8 becomes U+FFFD, and characters that control a terminal or the direction of text
 * (utf8_is_control()) become \uXXXX, so that output is safe to show.
 *
 * A real is the shortest decimal that reads back as the same double: 17 significant digits always
 * suffice (IEEE 754 binary64), so normal numbers need at most three attempts.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/json/json_write.h"
#include "base/utf8.h"

#include "base/decimal.h"
#include "base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t exact_max = INT64_C(1) << 53; /* doubles hold every integer up to this one */

void json_init(json_writer *w, dck_sink *out, bool pretty)
{
	memset(w, 0, sizeof *w);
	w->out = out;
	w->pretty = pretty;
}

void json_done(json_writer *w)
{
	assert(w->depth == 0 && !w->after_key);
	sink_put(w->out, "\n", 1);
}

static bool is_flat(const json_writer *w)
{
	return !w->pretty || (w->depth && w->level[w->depth - 1].flat);
}

static void json_line_break(json_writer *w)
{
	sink_put(w->out, "\n", 1);
	sink_repeat(w->out, ' ', 2 * (size_t)w->depth);
}

/* The comma and the white space before an item of the open array or object. */
static void before_item(json_writer *w)
{
	if (w->level[w->depth - 1].any)
		sink_text(w->out, is_flat(w) && w->pretty ? ", " : ",");
	w->level[w->depth - 1].any = true;
	if (!is_flat(w))
		json_line_break(w);
}

static void before_value(json_writer *w)
{
	assert(w->depth == 0 || w->level[w->depth - 1].array != w->after_key);
	if (w->depth && !w->after_key)
		before_item(w);
	w->after_key = false;
}

static void open_level(json_writer *w, bool array, bool flat)
{
	before_value(w);
	assert(w->depth < JSON_DEPTH_MAX);
	flat = flat || is_flat(w);
	w->level[w->depth].array = array;
	w->level[w->depth].any = false;
	w->level[w->depth].flat = flat;
	w->depth++;
	sink_text(w->out, array ? "[" : "{");
}

void json_begin_object(json_writer *w)
{
	open_level(w, false, false);
}

void json_begin_array(json_writer *w)
{
	open_level(w, true, false);
}

void json_flat_object(json_writer *w)
{
	open_level(w, false, true);
}

void json_flat_array(json_writer *w)
{
	open_level(w, true, true);
}

void json_end(json_writer *w)
{
	assert(w->depth > 0 && !w->after_key);
	bool flat = is_flat(w), any = w->level[w->depth - 1].any;
	bool array = w->level[w->depth - 1].array;
	w->depth--;
	if (any && !flat)
		json_line_break(w);
	sink_text(w->out, array ? "]" : "}");
}

/* Returns the short escape of a character, after the backslash; NULL: it has none. */
static const char *short_escape(unsigned char c)
{
	static const struct {
		unsigned char c;
		char text[3];
	} table[] = {
	    {'"', "\\\""}, {'\\', "\\\\"}, {'\n', "\\n"}, {'\t', "\\t"},
	    {'\r', "\\r"}, {'\b', "\\b"},  {'\f', "\\f"},
	};
	for (size_t i = 0; i < sizeof(table) / sizeof *table; i++)
		if (table[i].c == c)
			return table[i].text;
	return NULL;
}

static void quoted(dck_sink *out, const char *text)
{
	const unsigned char *p = (const unsigned char *)text, *plain = p;
	sink_put(out, "\"", 1);
	while (*p) {
		if (*p >= 0x20 && *p < 0x7f && *p != '"' && *p != '\\') {
			p++;
			continue;
		}
		size_t n = utf8_length((const char *)p);
		const bool steers = n > 1 && utf8_is_control((const char *)p, n);
		if (n > 1 && !steers) {
			p += n;
			continue;
		}
		sink_put(out, plain, (size_t)(p - plain));
		const char *brief = short_escape(*p);
		if (n == 0)
			sink_text(out, "\xef\xbf\xbd"); /* U+FFFD */
		else if (brief)
			sink_text(out, brief);
		else
			sink_fmt(out, "\\u%04x", (unsigned)utf8_code((const char *)p, n));
		p += n > 0 ? n : 1;
		plain = p;
	}
	sink_put(out, plain, (size_t)(p - plain));
	sink_put(out, "\"", 1);
}

json_writer *json_key(json_writer *w, const char *key)
{
	assert(w->depth && !w->level[w->depth - 1].array && !w->after_key);
	before_item(w);
	quoted(w->out, key);
	sink_text(w->out, w->pretty ? ": " : ":");
	w->after_key = true;
	return w;
}

void json_text(json_writer *w, const char *text)
{
	before_value(w);
	if (text)
		quoted(w->out, text);
	else
		sink_text(w->out, "null");
}

void json_quoted(json_writer *w, const char *value)
{
	before_value(w);
	sink_text(w->out, value);
}

void json_bool(json_writer *w, bool v)
{
	before_value(w);
	sink_text(w->out, v ? "true" : "false");
}

void json_int(json_writer *w, int64_t v)
{
	bool quote = v > exact_max || v < -exact_max;
	before_value(w);
	sink_fmt(w->out, quote ? "\"%" PRId64 "\"" : "%" PRId64, v);
}

void json_uint(json_writer *w, uint64_t v)
{
	bool quote = v > (uint64_t)exact_max;
	before_value(w);
	sink_fmt(w->out, quote ? "\"%" PRIu64 "\"" : "%" PRIu64, v);
}

/* 15 digits survive text -> double -> text, so 15 digits print the shortest form of a number that
 * has a shorter one; only subnormal numbers, which have fewer, need the search from 1. */
static void shortest(char *buf, double v)
{
	int first = fabs(v) < 2.2250738585072014e-308 ? 1 : 15;
	for (int digits = first; digits <= 17; digits++) {
		const char *end;
		decimal_number d;

		decimal_general(buf, digits, v);
		if (decimal_parse(buf, &d, &end) && decimal_double(&d) == v)
			return;
	}
}

void json_double(json_writer *w, double v)
{
	char buf[NUM_TEXT_MAX];

	before_value(w);
	if (!isfinite(v)) {
		sink_text(w->out, "null");
		return;
	}
	shortest(buf, v);
	/* A real stays a real for readers that distinguish 1 from 1.0. */
	if (!strpbrk(buf, ".e"))
		strcat(buf, ".0");
	sink_text(w->out, buf);
}
