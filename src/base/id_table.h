/* id_table.h - id table, u64-to-u32 hash map and string interner, for streaming readers of input of
 * unknown size.
 *
 * Failure is sticky: the caller checks once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_KEPT_H
#define BASE_KEPT_H

#include "base/mem.h"

/* --- rows by number: 1, 2, 3 ... as who makes the timeline numbers its tracks and names. */
typedef struct id_table {
	void *rows; /* @owned, id_table_done */
	size_t row_bytes;
	uint32_t n;
	bool failed;
} id_table;

/* The row of a number, zeroed when it is new; NULL: no memory. A new row may move the others. */
void *id_table_row(id_table *t, uint32_t id);
/* NULL: no such row yet. */
static inline void *kept_find(const id_table *t, uint32_t id)
{
	return id < t->n ? (char *)t->rows + (size_t)id * t->row_bytes : NULL;
}
void id_table_done(id_table *t);

/* --- a number for each of some keys. */

typedef struct hash_map {
	struct kept_pair {
		uint64_t key;
		uint32_t value; /* 0: an empty place */
	} * at;			/* @owned, hash_map_done */
	uint32_t n, room;
} hash_map;

uint32_t hash_map_find(const hash_map *m, uint64_t key); /* 0: none */
/* value: not 0. false: no memory, or too many for one map. */
bool hash_map_put(hash_map *m, uint64_t key, uint32_t value);
void hash_map_remove(hash_map *m, uint64_t key);
void hash_map_clear(hash_map *m); /* keeps the memory */
void hash_map_done(hash_map *m);

/* --- names: cut after KEPT_NAME_MAX bytes and cleaned, so that all formats may write them. */
enum { KEPT_NAME_MAX = 4000 };

/* Bytes that are not UTF-8, and a NUL, become U+FFFD, and characters that steer a terminal ' ' or
 * '?', as utf8_sanitize() has it. Returns the number of bytes written, without a NUL. */
size_t utf8_sanitize_copy(char to[KEPT_NAME_MAX], const char *text, size_t n);

typedef struct string_name {
	const char *text; /* UTF-8 without a NUL, ended by one; NULL: no such name */
	uint32_t n;
} string_name;

typedef struct string_table {
	id_table table;
	mem_arena *arena;
	hash_map by_text; /* of string_table_intern() */
	uint32_t n;
	bool failed;
} string_table;

dck_status string_table_init(string_table *k, dck_err *err);
void string_name_put(string_table *k, uint32_t id, const char *text, size_t n);
/* The number of a text: equal texts have the same one, and a new text gets the next. Names are
 * numbered so, or put, not both. 0: no memory. */
uint32_t string_table_intern(string_table *k, const char *text, size_t n);
static inline string_name string_name_of(const string_table *k, uint32_t id)
{
	const string_name *found = kept_find(&k->table, id);

	return found ? *found : (string_name){NULL, 0};
}
/* A copy in the same arena, cleaned too; NULL stays NULL. */
const char *string_table_copy(string_table *k, const char *text);
bool string_table_failed(const string_table *k);
void string_table_done(string_table *k); /* {0} is allowed */

#endif
