/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "deepclock/opt.h"
#include "deepclock/unstable.h"

#include <string.h>

size_t utf8_length(const char *text)
{
	static const struct {
		unsigned char first_lo, first_hi, second_lo, second_hi, n;
	} forms[] = {
	    {0x01, 0x7f, 0x00, 0x00, 1}, {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
	    {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
	    {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
	};
	const unsigned char *p = (const unsigned char *)text;

	for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
		if (p[0] < forms[i].first_lo || p[0] > forms[i].first_hi)
			continue;
		const size_t n = forms[i].n;
		if (n > 1 && (p[1] < forms[i].second_lo || p[1] > forms[i].second_hi))
			return 0;
		for (size_t k = 2; k < n; k++)
			if (!utf8_continues(text[k]))
				return 0;
		return n;
	}
	return 0;
}

size_t utf8_put(char to[UTF8_BYTES_MAX], uint32_t code)
{
	static const unsigned char first[] = {0, 0, 0xc0, 0xe0, 0xf0};
	const size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	for (size_t k = n - 1; k > 0; k--, code >>= 6)
		to[k] = (char)(0x80 | (code & 63));
	to[0] = (char)(first[n] | code);
	return n;
}

bool utf8_continues(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

size_t utf8_cut(const char *text, size_t n)
{
	while (n > 0 && utf8_continues(text[n]))
		n--;
	return n;
}

uint32_t utf8_code(const char *text, size_t n)
{
	const unsigned char *p = (const unsigned char *)text;
	static const unsigned char bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t code = p[0] & bits[n];

	for (size_t k = 1; k < n; k++)
		code = code << 6 | (p[k] & 0x3f);
	return code;
}

bool utf8_is_control(const char *text, size_t n)
{
	/* Besides control characters of one byte: control characters of two (U+009B begins a
	 * terminal's escape sequence as ESC [ does), marks that reverse the direction of the text
	 * after them, so that a name reads as another, and line separators. */
	static const struct {
		uint32_t first, last;
	} ranges[] = {{0x00, 0x1f},	{0x7f, 0x9f},	  {0x61c, 0x61c},   {0x200e, 0x200f},
		      {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};
	const uint32_t code = utf8_code(text, n);

	for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
		if (code >= ranges[i].first && code <= ranges[i].last)
			return true;
	return false;
}

size_t dck_text_char(const char *text, bool *ret_shown)
{
	const size_t n = utf8_length(text);

	*ret_shown = n > 0 && !utf8_is_control(text, n);
	return n == 0 && *text != '\0' ? 1 : n;
}

void utf8_sanitize(char *text)
{
	char *to = text;

	while (*text) {
		bool shown;
		const size_t n = dck_text_char(text, &shown);

		if (shown)
			to = (char *)memmove(to, text, n) + n;
		else
			*to++ = (unsigned char)*text < 0x20 || *text == 0x7f ? ' ' : '?';
		text += n;
	}
	*to = '\0';
}
