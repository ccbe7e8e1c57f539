/* open_ranges.h - hash table of ranges that any thread may end, by id. The drain reads one thread
 * after the other, so it may process an end before its beginning.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_OPEN_RANGES_H
#define TIMELINE_OPEN_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPEN_RANGES_MAX = 1 << 20 };

typedef struct open_range {
	uint64_t id; /* 0: an empty slot */
	uint32_t name;
	uint32_t track;
	uint64_t ns; /* of its begin or its end, whichever was processed */
	bool ends;
} open_range;

typedef struct open_ranges {
	open_range *slots; /* @owned */
	size_t cap, n;	   /* cap: 0, or a power of two */
	bool failed;	   /* out of memory: a range was lost */
} open_ranges;		   /* {0} at first */

void open_ranges_done(open_ranges *o);
/* Removes and returns the other end of the range: true. Without one stores r: false. *ret_lost: it
 * could not be stored. */
bool open_ranges_match(open_ranges *o, const open_range *r, open_range *ret, bool *ret_lost);
/* Moves what is left to the first slots, in order of time and id. Returns its number. The table is
 * for no more matches then. */
size_t open_ranges_order(open_ranges *o);

#endif
