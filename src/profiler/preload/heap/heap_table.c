/* SPDX-License-Identifier: Apache-2.0 */
#include "profiler/preload/heap/heap_table.h"

static size_t table_bytes(unsigned bits)
{
	return ((size_t)1 << bits) * sizeof(heap_table_row);
}

bool heap_table_init(heap_state *s, heap_table *t, unsigned bits)
{
	*t = (heap_table){.rows = heap_pages(s, table_bytes(bits)), .bits = bits};
	return t->rows;
}

void heap_table_done(heap_state *s, const heap_table *t)
{
	heap_pages_free(s, t->rows, table_bytes(t->bits));
}

heap_table_row *heap_table_find(const heap_table *t, uint64_t key)
{
	const size_t mask = ((size_t)1 << t->bits) - 1;
	size_t i = (size_t)(key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - t->bits));

	while (t->rows[i].key && t->rows[i].key != key)
		i = (i + 1) & mask;
	return &t->rows[i];
}

bool heap_table_reserve(heap_state *s, heap_table *t)
{
	heap_table grown;

	if (4 * (t->n + 1) <= 3 * ((size_t)1 << t->bits))
		return true;
	if (!heap_table_init(s, &grown, t->bits + 1))
		return false;
	for (size_t i = 0; i < (size_t)1 << t->bits; i++)
		if (t->rows[i].key)
			*heap_table_find(&grown, t->rows[i].key) = t->rows[i];
	grown.n = t->n;
	heap_table_done(s, t);
	*t = grown;
	return true;
}

void heap_table_put(heap_table *t, uint64_t key, uint32_t value)
{
	*heap_table_find(t, key) = (heap_table_row){key, value};
	t->n++;
}
