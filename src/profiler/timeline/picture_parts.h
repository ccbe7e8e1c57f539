/* picture_parts.h - what is held while a picture is made, and the steps of making it, each in a
 * file of its own: input (picture.c), what is too much (picture_thin.c), levels and columns
 * (picture_columns.c), the description (picture_write.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_PICTURE_PARTS_H
#define TIMELINE_PICTURE_PARTS_H

#include "base/kept.h"
#include "base/sink.h"
#include "profiler/timeline/picture.h"
#include "profiler/timeline/thin_row.h"

/* What a range is counted for: its name, and how. */
enum {
	PICTURE_INNER = 1,   /* it is inside one of its name, and in no total */
	PICTURE_PIECE = 2,   /* it is no call: another piece of it comes */
	PICTURE_NO_SELF = 4, /* what lies inside it is not known */
	PICTURE_MARK = 8,    /* it is none, but an instant */
	PICTURE_FLAGS = 16
};

typedef struct picture_key {
	uint32_t name; /* of the first PICTURE_FLAGS keys: names without a key of their own */
	uint32_t flags;
	uint64_t uses;	 /* in ranges, blocks and sums */
	uint32_t number; /* in the columns */
	uint32_t as;	 /* the key that it is counted for: itself, or one of the first */
} picture_key;

typedef struct picture_text {
	const char *text, *category, *file;
	uint32_t n, line;
	uint32_t keys[PICTURE_FLAGS]; /* 0: none yet */
	uint32_t number;	      /* in the description, plus one; 0: not in it */
} picture_text;

/* One value of a counter, or several that were told within a step. */
typedef struct picture_value {
	uint64_t ns;
	double last, least, most;
	uint64_t n;
} picture_value;

/* What is in blocks, by track and by name, in steps of their own: there may be hundreds of names in
 * what is one block. */
typedef struct picture_sum {
	uint64_t bin, ranges, took_ns, self_ns;
	uint32_t owner, key;
} picture_sum;

typedef struct picture_track_kept {
	bool told;
	trace_track_kind kind;
	uint32_t parent;
	int32_t pid, tid;
	const char *name;
	dck_unit unit;
	/* Rows by depth, and that of marks; 0: none. */
	uint32_t *rows; /* @owned */
	uint32_t nrows, marks;
	uint32_t owner;	       /* of its rows */
	picture_value *values; /* @owned */
	uint32_t nvalues, values_room;
	uint32_t number; /* in the description, plus one; 0: it shows nothing */
} picture_track_kept;

/* Rows 1 and 2 are of all tracks. */
enum { PICTURE_ASYNC = 1, PICTURE_REST, PICTURE_ROWS_FIRST };
/* PICTURE_ROWS_MAX: without the lanes. */
enum { PICTURE_LANES = 32, PICTURE_ROWS_MAX = 8192, PICTURE_KEYS_MAX = 1 << 16 };
/* Owners of rows: tracks, behind PICTURE_ASYNC and PICTURE_REST. A key of the map of sums has 20
 * bits of the owner, 20 of the key, and 24 of the bin. */
enum { PICTURE_OWNERS_MAX = 1 << 20, PICTURE_SUM_BINS = 2048 };

struct picture {
	picture_limits limits;
	kept_names texts;  /* for their arena */
	kept_table names;  /* of picture_text */
	kept_table tracks; /* of picture_track_kept */
	picture_key *keys; /* @owned */
	uint32_t nkeys, keys_room, keys_max;
	picture_sum *sums; /* @owned */
	uint32_t nsums, sums_room;
	kept_map sum_rows; /* by bin, owner and key */
	int sums_shift;
	bool too_many_sums;
	thin_row *rows; /* @owned */
	uint32_t nrows, rows_room;
	uint32_t lanes, first_lane; /* of ranges that any track may end, once they are laid out */
	uint32_t owners;	    /* tracks with rows */
	int shift;		    /* of ranges and marks */
	unsigned values_shift;	    /* 0: every value is kept */
	uint64_t kept, kept_values; /* about: what the limits are compared to */
	uint64_t ranges, marks, values, last_ns; /* told */
	uint64_t undrawn;			 /* ranges in PICTURE_REST */
	bool failed;
};

/* --- picture_thin.c: until half of what the limits allow is left. */
void picture_thin(picture *p);
void picture_thin_values(picture *p);
/* For thin_sums. */
void picture_sum_add(void *self, uint32_t owner, const thin_range *one);
/* How often each key is used. */
void picture_uses_count(picture *p);
/* By owner, bin and key. */
void picture_sums_sort(picture *p);
/* Ranges that any track may end lie beside each other where they overlap. */
void picture_lanes(picture *p);
uint32_t picture_row_new(picture *p, uint32_t owner); /* 0: there are too many */

/* --- picture_columns.c */
typedef struct picture_level {
	int shift;
	uint64_t blocks, alone;
	uint32_t *row_blocks; /* @owned: of each row */
	dck_buffer columns;
} picture_level;

typedef struct picture_drawn {
	uint32_t nlevels;
	picture_level levels[PICTURE_LEVELS];
	uint64_t ranges, blocks; /* of all rows */
	dck_buffer columns;
} picture_drawn;

dck_status picture_columns(picture *p, picture_drawn *ret, dck_err *err);
void picture_drawn_done(picture_drawn *d);

/* --- picture_write.c */
dck_status picture_describe(picture *p, const picture_drawn *d, dck_buffer *ret, dck_err *err);

#endif
