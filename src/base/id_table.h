/* id_table.h - id table, u64-to-u32 hash map and string interner, for streaming readers of input of
 * unknown size.
 *
 * Failure is sticky: the caller checks once, at the end.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_ID_TABLE_H
#define BASE_ID_TABLE_H

#include "base/mem.h"

/* --- rows by id: 1, 2, 3 ... as a timeline's writer numbers its tracks and names. */
typedef struct id_table {
	void *rows; /* @owned, id_table_done */
	size_t row_bytes;
	uint32_t n; /* the greatest id that was asked for, plus one */
	uint32_t cap;
	bool failed;
} id_table;

/* Returns the row of an id, zeroed if it is new; NULL: no memory. A new row may move the others. */
void *id_table_row(id_table *t, uint32_t id);
/* Returns the row of an id; NULL: there is no such row yet. */
static inline void *id_table_find(const id_table *t, uint32_t id)
{
	return id < t->n ? (char *)t->rows + (size_t)id * t->row_bytes : NULL;
}
void id_table_done(id_table *t);

/* --- hash map: a number for each key. */

typedef struct hash_map {
	struct hash_pair {
		uint64_t key;
		uint32_t value; /* 0: an empty slot */
	} * at;			/* @owned, hash_map_done */
	uint32_t n, cap;
} hash_map;

uint32_t hash_map_find(const hash_map *m, uint64_t key); /* 0: none */
/* Inserts a key or replaces its value, which is not 0. false: no memory, or too many keys. */
bool hash_map_put(hash_map *m, uint64_t key, uint32_t value);
void hash_map_remove(hash_map *m, uint64_t key);
void hash_map_clear(hash_map *m); /* retains the memory */
void hash_map_done(hash_map *m);

/* --- names: cut after STRING_NAME_MAX bytes and sanitized, so that all formats may write them. */
enum { STRING_NAME_MAX = 4000 };

/* Copies n bytes. Bytes that are not UTF-8, and a NUL, become U+FFFD, and control characters ' ' or
 * '?' as in utf8_sanitize(). Returns the number of bytes written; it writes no NUL. */
size_t utf8_sanitize_copy(char to[STRING_NAME_MAX], const char *text, size_t n);

typedef struct string_name {
	const char *text; /* UTF-8, NUL-terminated; NULL: no such name */
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
/* Returns the id of a text: equal texts have the same id, and a new text gets the next. A table is
 * filled by this or by string_name_put(), not by both. 0: no memory. */
uint32_t string_table_intern(string_table *k, const char *text, size_t n);
static inline string_name string_name_of(const string_table *k, uint32_t id)
{
	const string_name *found = id_table_find(&k->table, id);

	return found ? *found : (string_name){NULL, 0};
}
/* Returns a sanitized copy in the same arena; NULL stays NULL. */
const char *string_table_copy(string_table *k, const char *text);
bool string_table_failed(const string_table *k);
void string_table_done(string_table *k); /* {0} is allowed */

#endif
