/* python_lines.c - the line of an instruction by the table that its code object has: three formats,
 * of 3.8 and 3.9 (Objects/lnotab_notes.txt), of 3.10 (PEP 626), and since 3.11
 * (Objects/locations.md). The tables may be anything: nothing is read past their end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/python/python_layout.h"

/* Pairs: bytes of code, lines. The line changes after the bytes of the pair. */
static int line_39(const unsigned char *t, size_t n, int line, int32_t instruction)
{
	int32_t at = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		at += t[i];
		if (at > instruction)
			break;
		line += (signed char)t[i + 1];
	}
	return line;
}

/* Pairs: bytes of code, and how far the line they belong to is from the last; -128: to none. */
static int line_310(const unsigned char *t, size_t n, int line, int32_t instruction)
{
	int32_t end = 0;

	for (size_t i = 0; i + 1 < n; i += 2) {
		int step = (signed char)t[i + 1];

		end += t[i];
		line += step == -128 ? 0 : step;
		if (instruction < end)
			return step == -128 ? 0 : line;
	}
	return 0;
}

/* Six bits in a byte, the lowest first; the last bit of the number is its sign. */
static int signed_number(const unsigned char *t, size_t n, size_t i)
{
	uint32_t value = 0;

	for (unsigned shift = 0; i < n && shift < 30; shift += 6) {
		value |= (uint32_t)(t[i] & 63) << shift;
		if (!(t[i++] & 64))
			break;
	}
	return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

/* Entries: a byte with the top bit, which has a kind and how many units of code it is about; then
 * bytes without the top bit. */
static int line_311(const unsigned char *t, size_t n, int line, int32_t instruction)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_LOCATION = 15 };
	int32_t end = 0;

	for (size_t i = 0; i < n;) {
		unsigned kind = t[i] >> 3 & 15;

		end += 2 * ((t[i] & 7) + 1);
		i++;
		if (kind == NO_COLUMNS || kind == LONG)
			line = (int)((unsigned)line + (unsigned)signed_number(t, n, i));
		else if (kind >= ONE_LINE && kind < NO_COLUMNS)
			line += (int)kind - ONE_LINE;
		if (instruction < end)
			return kind == NO_LOCATION ? 0 : line;
		while (i < n && !(t[i] & 0x80))
			i++;
	}
	return 0;
}

int python_line(uint32_t version, const unsigned char *table, size_t n, int first_line,
		int32_t instruction)
{
	unsigned minor = PYTHON_MINOR(version);

	if (instruction < 0)
		return first_line;
	if (minor < 10)
		return line_39(table, n, first_line, instruction);
	if (minor == 10)
		return line_310(table, n, first_line, instruction);
	return line_311(table, n, first_line, instruction);
}
