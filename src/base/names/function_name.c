/* SPDX-License-Identifier: Apache-2.0 */
#include "base/names/function_name.h"

#include "base/common_prefix.h"
#include "base/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

enum { NESTED_MAX = 64, FOLD_BYTES = 4096 };

static bool is_of_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Whether text[0..n) ends with this word. */
static bool ends_with(const char *text, size_t n, const char *word)
{
	const size_t length = strlen(word);

	return n >= length && !memcmp(text + n - length, word, length) &&
	       (n == length || !is_of_name(text[n - length - 1]));
}

/* Returns the index of the bracket that closes the one at text[from]; n: none. */
static size_t bracket_end(const char *text, size_t from, size_t n)
{
	static const char opening[] = "<([{", closing[] = ">)]}";
	char open[NESTED_MAX];
	size_t depth = 0;

	for (size_t i = from; i < n; i++) {
		const char *o = text[i] ? strchr(opening, text[i]) : NULL,
			   *c = text[i] ? strchr(closing, text[i]) : NULL;
		const bool is_angle = text[i] == '<' || text[i] == '>';

		if (is_angle && i > from &&
		    (ends_with(text, i, "operator") || text[i - 1] == '-' || text[i - 1] == '='))
			continue;
		if (o && depth == NESTED_MAX)
			return n;
		if (o) {
			open[depth++] = closing[o - opening];
		} else if (c) {
			/* "<" of a comparison is not closed. */
			while (depth > 1 && open[depth - 1] != *c && open[depth - 1] == '>')
				depth--;
			if (open[depth - 1] == *c && --depth == 0)
				return i;
		}
	}
	return n;
}

/* Returns the index of "::" if the parentheses from text[from] on are of a function that is a
 * scope, as in "f() const::{lambda()#1}"; n: they are not. */
static size_t scope_end(const char *text, size_t from, size_t n)
{
	static const char *const qualifiers[] = {" const", " volatile", " &&", " &"};
	size_t end = bracket_end(text, from, n);

	end += end < n;
	for (size_t i = 0; i < sizeof qualifiers / sizeof qualifiers[0]; i++)
		if (has_prefix(text + end, qualifiers[i]))
			end += strlen(qualifiers[i]);
	return has_prefix(text + end, "::") ? end : n;
}

const char *function_name_begin(const char *text)
{
	const size_t n = strlen(text);
	size_t begin = 0;

	for (size_t i = 0; i < n; i++) {
		const size_t before = i > 0 && text[i - 1] == ' ' ? i - 1 : i;
		const bool is_part = (text[i] == '(' && (has_prefix(text + i, "(anonymous ") ||
							 ends_with(text, before, "decltype"))) ||
				     strchr("<[{", text[i]);

		if (text[i] == ' ') {
			begin = i + 1;
		} else if (is_part) {
			i = bracket_end(text, i, n);
		} else if (text[i] == '(' && begin < i && scope_end(text, i, n) < n) {
			i = scope_end(text, i, n);
		} else if (text[i] == '(' ||
			   (has_prefix(text + i, "operator") && !is_of_name(text[i + 8]) &&
			    (i == 0 || !is_of_name(text[i - 1])))) {
			/* "void (*f<int>(int))(char)" stays, and "non-virtual thunk to f()". */
			return (text[i] == '(' && begin == i) ||
				       (begin > 0 && (ends_with(text, begin - 1, "to") ||
						      ends_with(text, begin - 1, "for")))
				   ? text
				   : text + begin;
		}
	}
	return text;
}

/* Folds the parameters, and the arguments of templates within `kept` others. */
static size_t brackets_fold(const char *text, size_t n, unsigned kept, char *to)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		const char c = text[i], last = i > 0 ? text[i - 1] : ' ';
		const bool is_template = c == '<' && (is_of_name(last) || last == ':') &&
					 !ends_with(text, i, "operator"),
			   is_part = c == '(' && (is_of_name(last) || strchr(">)]", last));
		const size_t end = is_template || is_part ? bracket_end(text, i, n) : n;

		to[out++] = c;
		if (end == n)
			continue;
		if (is_template && kept > 0)
			out += brackets_fold(text + i + 1, end - i - 1, kept - 1, to + out);
		else if (end - i > 3)
			to[out++] = '.', to[out++] = '.';
		else
			continue;
		i = end - 1;
	}
	return out;
}

size_t function_name_fold(const char *name, size_t bytes, size_t most, char *buf)
{
	static const unsigned kept[] = {NESTED_MAX, 3, 2, 1, 0};
	size_t n = bytes;

	memcpy(buf, name, bytes);
	for (size_t k = 0; k < sizeof kept / sizeof kept[0] && n > most; k++)
		n = brackets_fold(name, bytes, kept[k], buf);
	return n;
}

const char *function_name_short(const char *name, char *buf, size_t size)
{
	char folded[FOLD_BYTES];
	const size_t bytes = strlen(name), most = size - 1;

	if (bytes <= most)
		return name;
	const size_t n = function_name_fold(
	    name, bytes < sizeof folded ? bytes : utf8_cut(name, sizeof folded), most, folded);
	if (n <= most) {
		memcpy(buf, folded, n);
		buf[n] = '\0';
		return buf;
	}
	const size_t head = utf8_cut(folded, (most - 2) / 3);
	size_t tail = n - (most - 2 - head);
	while (tail < n && utf8_continues(folded[tail]))
		tail++;
	memcpy(buf, folded, head);
	memcpy(buf + head, "..", 2);
	memcpy(buf + head + 2, folded + tail, n - tail);
	buf[head + 2 + n - tail] = '\0';
	return buf;
}
