/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/unwind/eh_frame_index.h"

#include "base/mem.h"
#include "profiler/unwind/cfi.h"

#include <stdlib.h>
#include <string.h>

enum { INDEX_HEAD = 12, ENTRIES_MAX = 1 << 24 };

static int frame_by_begin(const void *a, const void *b)
{
	int32_t x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	return (x > y) - (x < y);
}

/* Writes the entries to `table`; NULL: only counts. */
static uint32_t list(const unwind_module *m, unsigned char *table)
{
	uint64_t at = 0, begin, entry;
	uint32_t n = 0;

	while (n < ENTRIES_MAX && cfi_next_function(m, &at, &entry, &begin)) {
		int64_t from = (int64_t)(begin - m->frame.address);
		int32_t row[2] = {(int32_t)from, (int32_t)entry};

		if (from != row[0])
			continue;
		if (table)
			memcpy(table + INDEX_HEAD + 8 * (size_t)n, row, sizeof row);
		n++;
	}
	return n;
}

void *eh_frame_index_new(const unwind_module *m, unwind_section *ret)
{
	/* Version; then four bytes each, from the section's start: .eh_frame, the count, the rows.
	 */
	static const unsigned char forms[] = {1, 0x3b, 0x03, 0x3b};
	uint32_t n = list(m, NULL);
	size_t size = INDEX_HEAD + 8 * (size_t)n;
	unsigned char *table = n ? mem_zalloc(1, size) : NULL;

	if (!table)
		return NULL;
	memcpy(table, forms, sizeof forms);
	memcpy(table + 8, &n, sizeof n);
	list(m, table);
	qsort(table + INDEX_HEAD, n, 8, frame_by_begin);
	*ret = (unwind_section){table, size, m->frame.address};
	return table;
}
