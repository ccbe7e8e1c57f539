/* name_index.c - open addressing, linear probing, never more than half full.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/name_index.h"
#include "base/hash.h"

#include <assert.h>
#include <string.h>

static size_t base_hash(const char *text)
{
	const uint64_t h = hash_text(HASH_START, text);

	return (size_t)(h ^ h >> 32);
}

bool name_index_init(name_index *t, mem_arena *a, size_t most)
{
	size_t size = 16;

	while (size / 2 < most)
		size *= 2;
	*t = (name_index){.cap = most, .mask = size - 1};
	t->name = mem_arena_array(a, most, sizeof *t->name);
	t->slot = mem_arena_array(a, size, sizeof *t->slot);
	return t->name && t->slot;
}

/* The slot that holds the name, or the free one where it belongs. */
static size_t base_probe(const name_index *t, const char *name)
{
	size_t at = base_hash(name) & t->mask;

	while (t->slot[at] && strcmp(t->name[t->slot[at] - 1], name) != 0)
		at = (at + 1) & t->mask;
	return at;
}

size_t name_index_intern(name_index *t, const char *name)
{
	size_t at = base_probe(t, name);

	if (!t->slot[at]) {
		assert(t->n < t->cap);
		t->name[t->n++] = name;
		t->slot[at] = t->n;
	}
	return t->slot[at] - 1;
}

size_t name_index_find(const name_index *t, const char *name)
{
	size_t at = base_probe(t, name);

	return t->slot[at] ? t->slot[at] - 1 : NAME_INDEX_NONE;
}

bool name_index_listed(const char *list, const char *name)
{
	size_t n = strlen(name);

	if (!n || strchr(name, ' '))
		return false;
	for (const char *p = list; (p = strstr(p, name)); p += n)
		if ((p == list || p[-1] == ' ') && (p[n] == ' ' || !p[n]))
			return true;
	return false;
}

bool names_number(const char **name, size_t n, const char *before_it, const char *after,
		  mem_arena *a)
{
	size_t *times = mem_arena_array(a, n, sizeof *times); /* by given name */
	name_index used;

	if (!times || !name_index_init(&used, a, 2 * n))
		return false;
	for (size_t i = 0; i < n; i++)
		name_index_intern(&used, name[i]);
	for (size_t i = 0; i < n; i++) {
		const char *plain = name[i];
		const size_t of = name_index_find(&used, plain);

		if (times[of]++ == 0)
			continue;
		do
			name[i] =
			    mem_arena_fmt(a, "%s%s%zu%s", plain, before_it, times[of]++, after);
		while (name[i] && name_index_find(&used, name[i]) != NAME_INDEX_NONE);
		if (!name[i])
			return false;
		times[of]--;
		name_index_intern(&used, name[i]);
	}
	return true;
}
