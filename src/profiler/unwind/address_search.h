/* address_search.h - binary search in rows that are sorted by an address.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef UNWIND_ADDRESS_SEARCH_H
#define UNWIND_ADDRESS_SEARCH_H

#include <stddef.h>
#include <stdint.h>

/* Returns how many of n rows have an address, a uint64_t at `offset` in each, that is at most
 * `address`. */
static inline size_t address_search(const void *rows, size_t n, size_t row_bytes, size_t offset,
				    uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;
		const char *row = (const char *)rows + middle * row_bytes;

		if (*(const uint64_t *)(const void *)(row + offset) <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

#endif
