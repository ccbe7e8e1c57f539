/* kept.h - id table, u64-to-u32 hash map and string interner, for streaming readers of input of
 * unknown size.
 *
 * Failure is sticky: the caller checks once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_KEPT_H
#define BASE_KEPT_H

#include "base/mem.h"

/* --- rows by number: 1, 2, 3 ... as who makes the timeline numbers its tracks and names. */
typedef struct kept_table {
	void *rows; /* @owned, kept_table_done */
	size_t row_bytes;
	uint32_t n;
	bool failed;
} kept_table;

/* The row of a number, zeroed when it is new; NULL: no memory. A new row may move the others. */
void *kept_row(kept_table *t, uint32_t id);
/* NULL: no such row yet. */
static inline void *kept_find(const kept_table *t, uint32_t id)
{
	return id < t->n ? (char *)t->rows + (size_t)id * t->row_bytes : NULL;
}
void kept_table_done(kept_table *t);

/* --- a number for each of some keys. */

typedef struct kept_map {
	struct kept_pair {
		uint64_t key;
		uint32_t value; /* 0: an empty place */
	} * at;			/* @owned, kept_map_done */
	uint32_t n, room;
} kept_map;

uint32_t kept_map_find(const kept_map *m, uint64_t key); /* 0: none */
/* value: not 0. false: no memory, or too many for one map. */
bool kept_map_put(kept_map *m, uint64_t key, uint32_t value);
void kept_map_remove(kept_map *m, uint64_t key);
void kept_map_clear(kept_map *m); /* keeps the memory */
void kept_map_done(kept_map *m);

/* --- names: cut after KEPT_NAME_MAX bytes and cleaned, so that all formats may write them. */
enum { KEPT_NAME_MAX = 4000 };

/* Bytes that are not UTF-8, and a NUL, become U+FFFD, and characters that steer a terminal ' ' or
 * '?', as utf8_tame() has it. Returns the number of bytes written, without a NUL. */
size_t kept_clean(char to[KEPT_NAME_MAX], const char *text, size_t n);

typedef struct kept_name {
	const char *text; /* UTF-8 without a NUL, ended by one; NULL: no such name */
	uint32_t n;
} kept_name;

typedef struct kept_names {
	kept_table table;
	mem_arena *arena;
	kept_map by_text; /* of kept_name_numbered() */
	uint32_t n;
	bool failed;
} kept_names;

dck_status kept_names_init(kept_names *k, dck_err *err);
void kept_name_put(kept_names *k, uint32_t id, const char *text, size_t n);
/* The number of a text: equal texts have the same one, and a new text gets the next. Names are
 * numbered so, or put, not both. 0: no memory. */
uint32_t kept_name_numbered(kept_names *k, const char *text, size_t n);
static inline kept_name kept_name_of(const kept_names *k, uint32_t id)
{
	const kept_name *found = kept_find(&k->table, id);

	return found ? *found : (kept_name){NULL, 0};
}
/* A copy in the same arena, cleaned too; NULL stays NULL. */
const char *kept_text(kept_names *k, const char *text);
bool kept_names_failed(const kept_names *k);
void kept_names_done(kept_names *k); /* {0} is allowed */

#endif
