/* name_index.h - numbers for names: 0, 1, 2, ... in the order of first sight.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include "base/mem.h"

#define NAMES_NONE SIZE_MAX

typedef struct names {
	const char **name; /* of each number */
	size_t n, room;	   /* room: how many fit */
	size_t *slot;	   /* number + 1; 0: free */
	size_t mask;
} names;

/* Room for `most` names; false: no memory. Names are borrowed, everything else is in the arena. */
bool names_init(names *t, mem_arena *a, size_t most);
/* The name's number; a new one gets the next. At most `most` different names. */
size_t names_add(names *t, const char *name);
/* NAMES_NONE: never seen. */
size_t names_find(const names *t, const char *name);

/* Whether a text of names with a space between has that one: "Add Sub" has "Sub". */
bool names_listed(const char *list, const char *name);

#endif
