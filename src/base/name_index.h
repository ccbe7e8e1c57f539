/* name_index.h - name interning: ids 0, 1, 2, ... in the order of first occurrence.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAME_INDEX_H
#define BASE_NAME_INDEX_H

#include "base/mem.h"
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define NAME_INDEX_NONE SIZE_MAX

typedef struct name_index {
	const char **name; /* by id */
	size_t n, cap;	   /* cap: capacity in names */
	size_t *slot;	   /* id + 1; 0: free */
	size_t mask;
} name_index;

/* Reserves space for `most` names; false: no memory. Names are borrowed, all else is in the arena.
 */
bool name_index_init(name_index *t, mem_arena *a, size_t most);
/* Returns the name's id; a new name gets the next. At most `most` different names. */
size_t name_index_intern(name_index *t, const char *name);
/* Returns the name's id; NAME_INDEX_NONE: it was never added. */
size_t name_index_find(const name_index *t, const char *name);

/* Makes n names distinct: appends a number, between two texts, to each that occurred before, so
 * that no other has the result. false: no memory. */
bool names_number(const char **name, size_t n, const char *before_it, const char *after,
		  mem_arena *a);

/* Returns whether a space-separated list has that name: "Add Sub" has "Sub". */
bool name_index_listed(const char *list, const char *name);

/* Returns the row, of n rows of `size` bytes, whose text at offset `at` is that name; NULL: none. A
 * text may be NULL. */
static inline void *name_row_find(const void *rows, size_t n, size_t size, size_t at,
				  const char *name)
{
	for (const char *row = rows; n > 0; n--, row += size) {
		const char *own = *(const char *const *)(const void *)(row + at);

		if (own && strcmp(own, name) == 0)
			return (void *)(uintptr_t)row;
	}
	return NULL;
}
/* NAME_ROW(r->notes, r->nnotes, code, "turbo"): the same, of an array of structs. */
#define NAME_ROW(rows, n, member, name) \
	name_row_find((rows), (n), sizeof *(rows), offsetof(__typeof__(*(rows)), member), (name))

#endif
