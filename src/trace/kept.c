/* kept.c - what a format keeps of a timeline while it writes it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "trace/kept.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/utf8.h"

#include <string.h>

/* --- rows by number */

void *kept_row(kept_table *t, uint32_t id)
{
	if (id >= t->n) {
		size_t n = t->n ? t->n : 16;
		while (n <= id)
			n *= 2;
		char *rows = n > UINT32_MAX || n > SIZE_MAX / t->row_bytes
				 ? NULL
				 : mem_resize(t->rows, n * t->row_bytes);
		if (!rows) {
			t->failed = true;
			return NULL;
		}
		memset(rows + t->n * t->row_bytes, 0, (n - t->n) * t->row_bytes);
		t->rows = rows;
		t->n = (uint32_t)n;
	}
	return kept_find(t, id);
}

void kept_table_done(kept_table *t)
{
	mem_free(t->rows);
	t->rows = NULL;
	t->n = 0;
}

/* --- names */

dck_status kept_names_init(kept_names *k, dck_err *err)
{
	*k = (kept_names){.table = {.row_bytes = sizeof(kept_name)}, .arena = mem_arena_new(0)};
	DCK_NEED(k->arena, err, "for the names of a trace");
	return DCK_OK;
}

/* Writes at most `room` bytes of the text, cleaned, and returns how many. */
static size_t clean(char *to, size_t room, const char *text, size_t n)
{
	static const char unknown[] = "\xef\xbf\xbd"; /* U+FFFD */
	size_t used = 0;

	for (size_t i = 0; i < n;) {
		/* The text may end in the middle of a character, and has no NUL behind it. */
		char one[UTF8_BYTES_MAX + 1] = {0};
		memcpy(one, text + i, n - i < UTF8_BYTES_MAX ? n - i : UTF8_BYTES_MAX);
		size_t bytes = utf8_length(one), put = bytes ? bytes : sizeof unknown - 1;
		if (put > room - used)
			break;
		memcpy(to + used, bytes ? one : unknown, put);
		used += put;
		i += bytes ? bytes : 1;
	}
	return used;
}

void kept_name_put(kept_names *k, uint32_t id, const char *text, size_t n)
{
	char cleaned[KEPT_NAME_MAX];
	size_t used = clean(cleaned, sizeof cleaned, text, n);
	char *copy = mem_arena_dup_n(k->arena, cleaned, used);
	kept_name *row = copy ? kept_row(&k->table, id) : NULL;

	if (row)
		*row = (kept_name){copy, (uint32_t)used};
}

const char *kept_text(kept_names *k, const char *text)
{
	char cleaned[KEPT_NAME_MAX];

	if (!text)
		return NULL;
	return mem_arena_dup_n(k->arena, cleaned,
			       clean(cleaned, sizeof cleaned, text, strlen(text)));
}

bool kept_names_failed(const kept_names *k)
{
	return k->table.failed || mem_arena_failed(k->arena);
}

void kept_names_done(kept_names *k)
{
	kept_table_done(&k->table);
	mem_arena_free(k->arena);
	k->arena = NULL;
}

/* --- numbers */

void kept_number_put(kept_numbers *k, uint64_t depth, uint32_t name, double real)
{
	if (k->n == k->room && k->room < KEPT_NUMBERS_MAX) {
		uint32_t room = k->room ? 2 * k->room : 8;
		kept_number *at = mem_resize(k->at, room * sizeof *at);
		if (!at) {
			k->failed = true;
			return;
		}
		k->at = at;
		k->room = room;
	}
	if (k->n < k->room)
		k->at[k->n++] = (kept_number){depth, real, name};
}

const kept_number *kept_numbers_of(const kept_numbers *k, uint64_t depth, uint32_t *ret_n)
{
	uint32_t n = 0;

	while (n < k->n && k->at[k->n - 1 - n].depth == depth)
		n++;
	*ret_n = n;
	return k->at + (k->n - n);
}

void kept_numbers_done(kept_numbers *k)
{
	mem_free(k->at);
	*k = (kept_numbers){0};
}

/* --- ids: open addressing with linear steps, at most half full. */

static uint32_t place_of(const kept_ids *k, uint64_t id)
{
	uint32_t at = (uint32_t)hash_number(HASH_START, id) & (k->room - 1);

	while (k->at[at].open && k->at[at].id != id)
		at = (at + 1) & (k->room - 1);
	return at;
}

static bool grow(kept_ids *k)
{
	kept_ids larger = {.room = k->room ? 2 * k->room : 64};

	larger.at = mem_zalloc(larger.room, sizeof *larger.at);
	if (!larger.at) {
		k->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < k->room; i++)
		if (k->at[i].open)
			larger.at[place_of(&larger, k->at[i].id)] = k->at[i];
	mem_free(k->at);
	k->at = larger.at;
	k->room = larger.room;
	return true;
}

/* Empties a place and moves what stands behind it up, so that no search stops too early. */
static void empty(kept_ids *k, uint32_t hole)
{
	k->at[hole].open = 0;
	k->n--;
	for (uint32_t i = (hole + 1) & (k->room - 1); k->at[i].open; i = (i + 1) & (k->room - 1)) {
		kept_id moved = k->at[i];
		k->at[i].open = 0;
		k->at[place_of(k, moved.id)] = moved;
	}
}

static void count(kept_ids *k, const kept_id *one)
{
	if (2 * k->n >= k->room && k->n < KEPT_IDS_MAX && !grow(k))
		return;
	uint32_t at = place_of(k, one->id);
	if (!k->at[at].open) {
		if (k->n == KEPT_IDS_MAX)
			return;
		k->at[at] = *one;
		k->n++;
		return;
	}
	if (one->open > 0) {
		k->at[at].name = one->name;
		k->at[at].track = one->track;
	}
	k->at[at].open += one->open;
	if (!k->at[at].open)
		empty(k, at);
}

void kept_id_begin(kept_ids *k, uint64_t id, uint32_t name, uint32_t track)
{
	count(k, &(kept_id){.id = id, .open = 1, .name = name, .track = track});
}

void kept_id_end(kept_ids *k, uint64_t id)
{
	count(k, &(kept_id){.id = id, .open = -1});
}

void kept_ids_done(kept_ids *k)
{
	mem_free(k->at);
	*k = (kept_ids){0};
}
