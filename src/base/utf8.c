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

int utf8_shown(const char *text, size_t n)
{
	size_t whole = 0;

	while (whole < n && text[whole])
		whole++;
	return (int)(whole < n ? whole : utf8_cut(text, n));
}

void utf8_cut_end(char *text)
{
	const size_t n = strlen(text);
	size_t at = n;

	while (at > 0 && n - at < UTF8_BYTES_MAX && utf8_continues(text[at - 1]))
		at--;
	if (at > 0 && (unsigned char)text[at - 1] >= 0xc0 && utf8_length(text + at - 1) == 0)
		text[at - 1] = '\0';
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

typedef struct code_range {
	uint32_t first, last;
} code_range;

static bool utf8_in(const code_range *ranges, size_t n, uint32_t code)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (code > ranges[middle].last)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && code >= ranges[low].first;
}

unsigned utf8_columns(const char *text, size_t n)
{
	/* Combining marks of common scripts, joiners, variation selectors. */
	static const code_range joined[] = {{0x300, 0x36f},   {0x483, 0x489},	 {0x591, 0x5bd},
					    {0x610, 0x61a},   {0x64b, 0x65f},	 {0x1ab0, 0x1aff},
					    {0x1dc0, 0x1dff}, {0x200b, 0x200d},	 {0x20d0, 0x20ff},
					    {0x302a, 0x302d}, {0x3099, 0x309a},	 {0xfe00, 0xfe0f},
					    {0xfe20, 0xfe2f}, {0xe0100, 0xe01ef}};
	/* East Asian Wide and Fullwidth, emoji among them: EastAsianWidth.txt of Unicode 14. */
	static const code_range wide[] = {
	    {0x1100, 0x115f},	{0x231a, 0x231b},   {0x2329, 0x232a},	{0x23e9, 0x23ec},
	    {0x23f0, 0x23f0},	{0x23f3, 0x23f3},   {0x25fd, 0x25fe},	{0x2614, 0x2615},
	    {0x2648, 0x2653},	{0x267f, 0x267f},   {0x2693, 0x2693},	{0x26a1, 0x26a1},
	    {0x26aa, 0x26ab},	{0x26bd, 0x26be},   {0x26c4, 0x26c5},	{0x26ce, 0x26ce},
	    {0x26d4, 0x26d4},	{0x26ea, 0x26ea},   {0x26f2, 0x26f3},	{0x26f5, 0x26f5},
	    {0x26fa, 0x26fa},	{0x26fd, 0x26fd},   {0x2705, 0x2705},	{0x270a, 0x270b},
	    {0x2728, 0x2728},	{0x274c, 0x274c},   {0x274e, 0x274e},	{0x2753, 0x2755},
	    {0x2757, 0x2757},	{0x2795, 0x2797},   {0x27b0, 0x27b0},	{0x27bf, 0x27bf},
	    {0x2b1b, 0x2b1c},	{0x2b50, 0x2b50},   {0x2b55, 0x2b55},	{0x2e80, 0x303e},
	    {0x3041, 0x3247},	{0x3250, 0x4dbf},   {0x4e00, 0xa4c6},	{0xa960, 0xa97c},
	    {0xac00, 0xd7a3},	{0xf900, 0xfad9},   {0xfe10, 0xfe19},	{0xfe30, 0xfe6b},
	    {0xff01, 0xff60},	{0xffe0, 0xffe6},   {0x16fe0, 0x18d08}, {0x1aff0, 0x1b2fb},
	    {0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f18e}, {0x1f191, 0x1f19a},
	    {0x1f200, 0x1f320}, {0x1f32d, 0x1f335}, {0x1f337, 0x1f37c}, {0x1f37e, 0x1f393},
	    {0x1f3a0, 0x1f3ca}, {0x1f3cf, 0x1f3d3}, {0x1f3e0, 0x1f3f0}, {0x1f3f4, 0x1f3f4},
	    {0x1f3f8, 0x1f43e}, {0x1f440, 0x1f440}, {0x1f442, 0x1f4fc}, {0x1f4ff, 0x1f53d},
	    {0x1f54b, 0x1f54e}, {0x1f550, 0x1f567}, {0x1f57a, 0x1f57a}, {0x1f595, 0x1f596},
	    {0x1f5a4, 0x1f5a4}, {0x1f5fb, 0x1f64f}, {0x1f680, 0x1f6c5}, {0x1f6cc, 0x1f6cc},
	    {0x1f6d0, 0x1f6d2}, {0x1f6d5, 0x1f6df}, {0x1f6eb, 0x1f6ec}, {0x1f6f4, 0x1f6fc},
	    {0x1f7e0, 0x1f7f0}, {0x1f90c, 0x1f93a}, {0x1f93c, 0x1f945}, {0x1f947, 0x1f9ff},
	    {0x1fa70, 0x1faff}, {0x20000, 0x3fffd}};
	uint32_t code;

	if (n <= 1)
		return 1;
	code = utf8_code(text, n);
	if (code < joined[0].first)
		return 1;
	if (utf8_in(joined, sizeof joined / sizeof *joined, code))
		return 0;
	return utf8_in(wide, sizeof wide / sizeof *wide, code) ? 2 : 1;
}

bool utf8_is_control(const char *text, size_t n)
{
	/* Besides control characters of one byte: control characters of two (U+009B begins a
	 * terminal's escape sequence as ESC [ does), marks that reverse the direction of the text
	 * after them, so that a name reads as another, and line separators. */
	static const code_range ranges[] = {{0x00, 0x1f},     {0x7f, 0x9f},	{0x61c, 0x61c},
					    {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
					    {0xfeff, 0xfeff}, {0xfff9, 0xfffb}};
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
