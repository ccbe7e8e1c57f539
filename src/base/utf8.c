/* SPDX-License-Identifier: Apache-2.0 */
#include "base/utf8.h"
#include "deepclock/opt.h"

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

size_t dck_text_char(const char *text, bool *ret_shown)
{
	const unsigned char *p = (const unsigned char *)text;
	const size_t n = utf8_length(text);

	/* U+0080 to U+009F steer a terminal as well as those of one byte. */
	*ret_shown = n > 0 && p[0] >= 0x20 && p[0] != 0x7f && !(p[0] == 0xc2 && p[1] < 0xa0);
	return n == 0 && *text != '\0' ? 1 : n;
}
