/* name_index.h - name interning: ids 0, 1, 2, ... in the order of first occurrence.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAME_INDEX_H
#define BASE_NAME_INDEX_H

#include "base/mem.h"

#define NAMES_NONE SIZE_MAX

typedef struct names {
	const char **name; /* by id */
	size_t n, room;	   /* room: capacity in names */
	size_t *slot;	   /* id + 1; 0: free */
	size_t mask;
} names;

/* Reserves space for `most` names; false: no memory. Names are borrowed, all else is in the arena.
 */
bool names_init(names *t, mem_arena *a, size_t most);
/* Returns the name's id; a new name gets the next. At most `most` different names. */
size_t names_add(names *t, const char *name);
/* Returns the name's id; NAMES_NONE: it was never added. */
size_t names_find(const names *t, const char *name);

/* Returns whether a space-separated list has that name: "Add Sub" has "Sub". */
bool names_listed(const char *list, const char *name);

#endif
