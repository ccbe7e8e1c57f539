/* pending_ranges.h - state of a format while it writes a timeline: numbers that wait for the end of
 * their range, and ranges that may end on another track.
 *
 * Failure is sticky: each struct has `failed`, which a format checks once, when it closes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PENDING_RANGES_H
#define TIMELINE_PENDING_RANGES_H

#include "base/id_table.h"
#include "profiler/timeline/process_ends.h"

/* --- numbers of ranges that are open: most formats can write them only where a range begins or
 * ends. Beyond KEPT_NUMBERS_MAX on one track new ones are dropped. */
enum { KEPT_NUMBERS_MAX = 4096 };

typedef struct kept_number {
	uint64_t depth; /* depth of the range: 1 is the outermost */
	double real;
	uint32_t name;
} kept_number;

typedef struct pending_annotations {
	kept_number *at; /* @owned, pending_annotations_done */
	uint32_t n;
	size_t cap;
	bool failed;
} pending_annotations;

void kept_number_put(pending_annotations *k, uint64_t depth, uint32_t name, double real);
/* Returns the numbers of the innermost range, which has that depth: the last ones. NULL: none. */
const kept_number *pending_annotations_of(const pending_annotations *k, uint64_t depth,
					  uint32_t *ret_n);
/* Removes the last n numbers. */
static inline void pending_annotations_drop(pending_annotations *k, uint32_t n)
{
	k->n -= n;
}
void pending_annotations_done(pending_annotations *k);

/* --- ranges that any track may end: for each id, the number of begins minus ends. Ends may come
 * first, because tracks are written one after the other. At most KEPT_IDS_MAX at once; further
 * ranges are not closed at the end. */
#define KEPT_IDS_MAX (1u << 20)

typedef struct kept_id {
	uint64_t id;
	int64_t open;	      /* 0: a free row */
	uint32_t name, track; /* at its begin */
	uint32_t next;	      /* free row */
	bool early;	      /* its end came first: then `track` and `end_ns` are the end's */
	uint64_t end_ns;
} kept_id;

typedef struct async_ranges {
	hash_map rows; /* by id */
	id_table ids;  /* rows are kept_id */
	uint32_t n, free;
	bool failed;
} async_ranges;

void async_ranges_init(async_ranges *k);
void kept_id_begin(async_ranges *k, uint64_t id, uint32_t name, uint32_t track);
uint32_t kept_id_end(async_ranges *k, uint64_t id); /* returns the name of its begin; 0: unknown */
/* For a format that writes the name at the end too. Stores an end that came before its begin;
 * false: it did not, or it cannot be stored. Take it before kept_id_begin(); false: there is none.
 */
bool kept_id_end_early(async_ranges *k, uint64_t id, uint32_t track, uint64_t ns);
bool kept_id_take_early(async_ranges *k, uint64_t id, kept_id *ret);
void async_ranges_done(async_ranges *k);

/* Returns a unique id below 2^63 for a range of a file, in which ranges of one key may nest; the
 * outermost has the key's. An end may come before its begin. At most KEPT_IDS_MAX keys are tracked
 * at a time. false: no memory. */
bool kept_nested_id(hash_map *depths, uint64_t key, bool ends, uint64_t *ret);

/* --- the end of a timeline: how a format ends open ranges. */
typedef struct kept_end {
	/* Ends the innermost at `ns`; false: none is open. */
	bool (*range)(trace_out *o, void *track, uint64_t ns);
	void (*async)(trace_out *o, void *track, const kept_id *id, uint64_t ns);
} kept_end;

/* Ends all ranges of these tracks, then all that any track may end, each with its process. */
void kept_end_open(trace_out *o, const id_table *tracks, const async_ranges *async,
		   const process_ends *ends, const kept_end *end);

#endif
