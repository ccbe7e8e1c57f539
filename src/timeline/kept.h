/* kept.h - what a format keeps of a timeline while it writes it: names, tracks by their numbers,
 * numbers that wait for the end of their range, ranges that may end on another track.
 *
 * Failure is sticky: each struct has `failed`, and a format asks once, when it closes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_KEPT_H
#define TIMELINE_KEPT_H

#include "base/mem.h"
#include "timeline/timeline.h"

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
#define KEPT_IDS_MAX (1u << 20)

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
/* The id of a range of a file, where ranges of one key may be nested in each other: each gets an id
 * of its own, below 2^63, and the outermost has the key's. An end may be met before its begin.
 * At most KEPT_IDS_MAX keys are followed at a time. false: no memory. */
bool kept_nested_id(kept_map *depths, uint64_t key, bool ends, uint64_t *ret);

/* --- names: cut after KEPT_NAME_MAX bytes and cleaned, so that all formats may write them. */
enum { KEPT_NAME_MAX = 4000 };

/* What is no UTF-8, and a NUL, becomes U+FFFD; returns how many bytes are written, without a NUL.
 */
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

/* --- numbers of ranges that are open: most formats can write them only where a range begins or
 * ends. Beyond KEPT_NUMBERS_MAX on one track the oldest stay. */
enum { KEPT_NUMBERS_MAX = 4096 };

typedef struct kept_number {
	uint64_t depth; /* of the range: 1 is the outermost */
	double real;
	uint32_t name;
} kept_number;

typedef struct kept_numbers {
	kept_number *at; /* @owned, kept_numbers_done */
	uint32_t n, room;
	bool failed;
} kept_numbers;

void kept_number_put(kept_numbers *k, uint64_t depth, uint32_t name, double real);
/* The numbers of the range at that depth, which is the innermost: they are the last ones. NULL:
 * none. */
const kept_number *kept_numbers_of(const kept_numbers *k, uint64_t depth, uint32_t *ret_n);
/* Forgets them. */
static inline void kept_numbers_drop(kept_numbers *k, uint32_t n)
{
	k->n -= n;
}
void kept_numbers_done(kept_numbers *k);

/* --- ranges that any track may end: for each id, how many more begins than ends were seen. Ends
 * may come first, as tracks are written one after the other. At most KEPT_IDS_MAX at once; further
 * ones are not closed at the end. */
typedef struct kept_id {
	uint64_t id;
	int64_t open;	      /* 0: a free row */
	uint32_t name, track; /* of its begin */
	uint32_t next;	      /* free row */
} kept_id;

typedef struct kept_ids {
	kept_map rows;	/* by id */
	kept_table ids; /* of kept_id */
	uint32_t n, free;
	bool failed;
} kept_ids;

void kept_ids_init(kept_ids *k);
void kept_id_begin(kept_ids *k, uint64_t id, uint32_t name, uint32_t track);
uint32_t kept_id_end(kept_ids *k, uint64_t id); /* the name it began with; 0: not known */
void kept_ids_done(kept_ids *k);

/* --- the end of a timeline: how a format writes the end of what is open. */
typedef struct kept_end {
	bool (*range)(trace_out *o, void *track); /* the innermost; false: none is open */
	void (*async)(trace_out *o, void *track, const kept_id *id);
} kept_end;

/* All ranges of these tracks, then all that any track may end. */
void kept_end_open(trace_out *o, const kept_table *tracks, const kept_ids *async,
		   const kept_end *end);

#endif
