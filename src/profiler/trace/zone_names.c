/* zone_names.c - names, numbered without a lock: a name may come in a signal handler. Memory is
 * reserved at first and never given back; a name that two threads bring at once takes it twice.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "profiler/trace/zone_names.h"

#include "base/hash.h"
#include "os/os.h"

#include <stdatomic.h>
#include <string.h>

enum { SLOTS = 2 * ZONE_NAMES_MAX, TEXT_BYTES = 16 << 20, OTHER = 1 };

typedef struct name_table {
	_Atomic uint32_t count;	       /* numbers given */
	_Atomic uint64_t used;	       /* bytes of text */
	_Atomic uint32_t slots[SLOTS]; /* by hash; 0: empty */
	trace_name names[ZONE_NAMES_MAX];
	char text[TEXT_BYTES];
} name_table;

static name_table *zone_name_table;

bool zone_names_init(void)
{
	if (zone_name_table)
		return true;
	zone_name_table = os_pages_reserve(sizeof *zone_name_table);
	if (!zone_name_table)
		return false;
	zone_name_table->names[OTHER] =
	    (trace_name){.text = TRACE_OTHER_NAMES, .n = sizeof TRACE_OTHER_NAMES - 1};
	atomic_store(&zone_name_table->count, OTHER);
	return true;
}

static const char *zone_copy(const char *text, size_t n)
{
	uint64_t at = atomic_fetch_add(&zone_name_table->used, n + 1);

	if (at > TEXT_BYTES || n + 1 > TEXT_BYTES - at)
		return NULL;
	/* NUL-terminated, because pages are zeroed. */
	return memcpy(zone_name_table->text + at, text, n);
}

static uint32_t name_insert(const char *category, const char *name, const char *file, uint32_t line)
{
	size_t n = strlen(name);

	if (atomic_load(&zone_name_table->count) + 1 >= ZONE_NAMES_MAX)
		return OTHER;
	uint32_t id = atomic_fetch_add(&zone_name_table->count, 1) + 1;
	trace_name *z = &zone_name_table->names[id < ZONE_NAMES_MAX ? id : 0];
	const char *name_copy = zone_copy(name, n), *file_copy = zone_copy(file, strlen(file));
	const char *category_copy = category ? zone_copy(category, strlen(category)) : NULL;
	if (id >= ZONE_NAMES_MAX || !name_copy || !file_copy)
		return OTHER;
	*z = (trace_name){.text = name_copy,
			  .n = n,
			  .category = category_copy,
			  .file = *file_copy ? file_copy : NULL,
			  .line = line};
	return id;
}

uint32_t zone_name_intern(const char *name, const char *file, uint32_t line)
{
	return zone_name_intern_in(NULL, name, file, line);
}

uint32_t zone_name_intern_in(const char *category, const char *name, const char *file,
			     uint32_t line)
{
	uint64_t hash = hash_number(HASH_START, hash_text(HASH_START, name));
	uint32_t mine = 0;

	if (!zone_name_table)
		return OTHER;
	for (uint32_t i = 0; i < SLOTS; i++) {
		_Atomic uint32_t *slot = &zone_name_table->slots[(hash + i) % SLOTS];
		uint32_t id = atomic_load_explicit(slot, memory_order_acquire);

		if (!id) {
			if (!mine)
				mine = name_insert(category, name, file, line);
			if (mine == OTHER || atomic_compare_exchange_strong(slot, &id, mine))
				return mine;
		}
		if (!strcmp(zone_name_table->names[id].text, name))
			return id;
	}
	return OTHER;
}

const trace_name *zone_name_get(uint32_t id)
{
	return &zone_name_table->names[id];
}

size_t zone_names_list(const char **ret, size_t max)
{
	size_t n = 0;

	for (uint32_t i = 0; zone_name_table && i < SLOTS && n < max; i++) {
		const uint32_t id =
		    atomic_load_explicit(&zone_name_table->slots[i], memory_order_acquire);

		if (id)
			ret[n++] = zone_name_table->names[id].text;
	}
	return n;
}
