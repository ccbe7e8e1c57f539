/* id_table.c - rows by number, interned names, and maps of numbers.
 *
 * A table of rows grows by half. A name is found by its hash (FNV-1a) in a map; one of another text
 * with that hash takes the next key. A map has open addressing with linear steps and is at most
 * half full; a removal moves the entries after it up. Its keys may be those of a hostile file:
 * their places depend on the address of the map, which a file cannot know, so that no file makes
 * all of them meet and a lookup as slow as the map is large.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/id_table.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/utf8.h"

#include <string.h>

/* --- rows by number */

/* Rows are zeroed when they are first asked for, so that the memory of none beyond them is touched.
 */
void *id_table_row(id_table *t, uint32_t id)
{
	if (id >= t->cap) {
		size_t cap = t->cap ? t->cap : 16;
		while (cap <= id)
			cap += cap / 2;
		void *rows = cap > UINT32_MAX || cap > SIZE_MAX / t->row_bytes
				 ? NULL
				 : mem_resize(t->rows, cap * t->row_bytes);
		if (!rows) {
			t->failed = true;
			return NULL;
		}
		t->rows = rows;
		t->cap = (uint32_t)cap;
	}
	if (id >= t->n) {
		memset((char *)t->rows + t->n * t->row_bytes, 0,
		       (id + (size_t)1 - t->n) * t->row_bytes);
		t->n = id + 1;
	}
	return id_table_find(t, id);
}

void id_table_done(id_table *t)
{
	mem_free(t->rows);
	t->rows = NULL;
	t->n = t->cap = 0;
}

/* --- names */

dck_status string_table_init(string_table *k, dck_err *err)
{
	*k = (string_table){.table = {.row_bytes = sizeof(string_name)}, .arena = mem_arena_new(0)};
	DCK_NEED(k->arena, err, "for the names of a trace");
	return DCK_OK;
}

size_t utf8_sanitize_copy(char to[STRING_NAME_MAX], const char *text, size_t n)
{
	static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		/* The text may end in the middle of a character, and is not NUL-terminated. */
		char one[UTF8_BYTES_MAX + 1] = {0};
		memcpy(one, text + i, n - i < UTF8_BYTES_MAX ? n - i : UTF8_BYTES_MAX);
		size_t bytes = utf8_length(one), put = bytes ? bytes : sizeof unknown - 1;
		const char *shown = bytes ? one : unknown;
		if (bytes && utf8_is_control(one, bytes)) {
			put = 1;
			shown = bytes == 1 ? " " : "?";
		}
		if (put > STRING_NAME_MAX - used)
			break;
		memcpy(to + used, shown, put);
		used += put;
		i += bytes ? bytes : 1;
	}
	return used;
}

void string_name_put(string_table *k, uint32_t id, const char *text, size_t n)
{
	char cleaned[STRING_NAME_MAX];
	size_t used = utf8_sanitize_copy(cleaned, text, n);
	char *copy = mem_arena_dup_n(k->arena, cleaned, used);
	string_name *row = copy ? id_table_row(&k->table, id) : NULL;

	if (row)
		*row = (string_name){copy, (uint32_t)used};
}

uint32_t string_table_intern(string_table *k, const char *text, size_t n)
{
	char cleaned[STRING_NAME_MAX];

	n = utf8_sanitize_copy(cleaned, text, n);
	for (uint64_t key = hash_bytes(HASH_START, cleaned, n);; key++) {
		uint32_t id = hash_map_find(&k->by_text, key);
		const string_name had = string_name_of(k, id);
		if (id && had.n == n && memcmp(had.text, cleaned, n) == 0)
			return id;
		if (id) /* another text of this hash: the next place */
			continue;
		string_name_put(k, ++k->n, cleaned, n);
		k->failed = !hash_map_put(&k->by_text, key, k->n) || k->failed;
		return string_table_failed(k) ? 0 : k->n;
	}
}

const char *string_table_copy(string_table *k, const char *text)
{
	char cleaned[STRING_NAME_MAX];

	return text ? mem_arena_dup_n(k->arena, cleaned,
				      utf8_sanitize_copy(cleaned, text, strlen(text)))
		    : NULL;
}

bool string_table_failed(const string_table *k)
{
	return k->failed || k->table.failed || mem_arena_failed(k->arena);
}

void string_table_done(string_table *k)
{
	id_table_done(&k->table);
	hash_map_done(&k->by_text);
	mem_arena_free(k->arena);
	k->arena = NULL;
}

/* --- maps */

static uint32_t kept_place_of(const hash_map *m, uint64_t key)
{
	const uint64_t seed = (uint64_t)(uintptr_t)m->at;
	uint32_t at = (uint32_t)rng_mix(key ^ seed) & (m->cap - 1);

	while (m->at[at].value && m->at[at].key != key)
		at = (at + 1) & (m->cap - 1);
	return at;
}

uint32_t hash_map_find(const hash_map *m, uint64_t key)
{
	return m->cap ? m->at[kept_place_of(m, key)].value : 0;
}

static bool kept_grow(hash_map *m)
{
	hash_map larger = {.cap = m->cap ? 2 * m->cap : 16, .n = m->n};

	if (larger.cap > UINT32_MAX / 4)
		return false;
	larger.at = mem_zalloc(larger.cap, sizeof *larger.at);
	if (!larger.at)
		return false;
	for (uint32_t i = 0; i < m->cap; i++)
		if (m->at[i].value)
			larger.at[kept_place_of(&larger, m->at[i].key)] = m->at[i];
	mem_free(m->at);
	*m = larger;
	return true;
}

bool hash_map_put(hash_map *m, uint64_t key, uint32_t value)
{
	if (2 * (m->n + 1) > m->cap && !kept_grow(m))
		return false;
	uint32_t at = kept_place_of(m, key);
	m->n += !m->at[at].value;
	m->at[at] = (struct hash_pair){key, value};
	return true;
}

/* Entries after an emptied slot move up, so that no search stops too early. */
void hash_map_remove(hash_map *m, uint64_t key)
{
	uint32_t hole = m->cap ? kept_place_of(m, key) : 0;

	if (!m->cap || !m->at[hole].value)
		return;
	m->at[hole].value = 0;
	m->n--;
	for (uint32_t i = (hole + 1) & (m->cap - 1); m->at[i].value; i = (i + 1) & (m->cap - 1)) {
		struct hash_pair moved = m->at[i];
		m->at[i].value = 0;
		m->at[kept_place_of(m, moved.key)] = moved;
	}
}

void hash_map_clear(hash_map *m)
{
	if (m->n > 0)
		memset(m->at, 0, m->cap * sizeof *m->at);
	m->n = 0;
}

void hash_map_done(hash_map *m)
{
	mem_free(m->at);
	*m = (hash_map){0};
}
