/* dwarf_bytes.h - bounds-checked cursor over DWARF data that may be damaged: reads past the end
 * return 0 and set `bad`, which is sticky.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STACK_DWARF_BYTES_H
#define STACK_DWARF_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct dwarf_bytes {
	const unsigned char *at, *end;
	bool bad;
} dwarf_bytes;

static inline bool dwarf_more(const dwarf_bytes *b)
{
	return !b->bad && b->at < b->end;
}

static inline void dwarf_skip(dwarf_bytes *b, uint64_t n)
{
	if (b->bad || n > (uint64_t)(b->end - b->at))
		b->bad = true;
	else
		b->at += n;
}

/* A number of n bytes as this processor stores it; 0, 1, 2, 4 or 8. */
static inline uint64_t dwarf_fixed(dwarf_bytes *b, unsigned n)
{
	const unsigned char *from = b->at;
	uint16_t two;
	uint32_t four;
	uint64_t eight;

	dwarf_skip(b, n);
	if (b->bad)
		return 0;
	switch (n) {
	case 1:
		return *from;
	case 2:
		memcpy(&two, from, 2);
		return two;
	case 4:
		memcpy(&four, from, 4);
		return four;
	case 8:
		memcpy(&eight, from, 8);
		return eight;
	default:
		return 0;
	}
}

/* The same with a sign. */
static inline int64_t dwarf_fixed_signed(dwarf_bytes *b, unsigned n)
{
	uint64_t v = dwarf_fixed(b, n);

	switch (n) {
	case 1:
		return (int8_t)v;
	case 2:
		return (int16_t)v;
	case 4:
		return (int32_t)v;
	default:
		return (int64_t)v;
	}
}

/* LEB128. Bits above the 64th are dropped. */
static inline uint64_t dwarf_uleb(dwarf_bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0;; shift += 7) {
		unsigned byte = (unsigned)dwarf_fixed(b, 1);

		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		if (byte < 128)
			return v;
	}
}

static inline int64_t dwarf_sleb(dwarf_bytes *b)
{
	uint64_t v = 0;

	for (unsigned shift = 0;;) {
		unsigned byte = (unsigned)dwarf_fixed(b, 1);

		if (shift < 64)
			v |= (uint64_t)(byte & 127) << shift;
		shift += 7;
		if (byte < 128) {
			if (byte & 64 && shift < 64)
				v |= UINT64_MAX << shift;
			return (int64_t)v;
		}
	}
}

#endif
