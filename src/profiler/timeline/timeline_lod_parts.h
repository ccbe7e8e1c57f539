/* timeline_lod_parts.h - the state of a timeline's level-of-detail data, and the steps of its
 * computation, each in a separate file: input (timeline_lod.c), downsampling (timeline_lod_thin.c),
 * levels and columns (timeline_lod_columns.c), the description (timeline_lod_write.c), one step
 * (timeline_step.c).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TIMELINE_TIMELINE_LOD_PARTS_H
#define TIMELINE_TIMELINE_LOD_PARTS_H

#include "base/id_table.h"
#include "base/sink.h"
#include "profiler/timeline/timeline_lod.h"
#include "profiler/timeline/lod_track.h"

/* A key of a range: its name, and how the range counts. */
enum {
	PICTURE_INNER = 1,   /* inside a range of its name, not in totals */
	PICTURE_PIECE = 2,   /* not a call: another piece follows */
	PICTURE_NO_SELF = 4, /* its children are unknown */
	PICTURE_MARK = 8,    /* an instant, not a range */
	PICTURE_FLAGS = 16
};

typedef struct timeline_lod_key {
	uint32_t name; /* the first PICTURE_FLAGS keys are for names without a separate key */
	uint32_t flags;
	uint64_t uses;	 /* in ranges, blocks and sums */
	uint32_t number; /* in the columns */
	uint32_t as;	 /* the key that counts it: itself, or one of the first */
} timeline_lod_key;

typedef struct timeline_lod_text {
	const char *text, *category, *file;
	uint32_t n, line;
	uint32_t keys[PICTURE_FLAGS]; /* 0: none yet */
	uint32_t number;	      /* in the description, plus one; 0: not in it */
} timeline_lod_text;

/* A value of a counter, or the values within a step. */
typedef struct timeline_lod_value {
	uint64_t ns;
	double last, least, most;
	uint64_t n;
} timeline_lod_value;

/* Sums of the ranges in blocks, by track and name, in separate steps, because a block may contain
 * hundreds of names. */
typedef struct timeline_lod_sum {
	uint64_t bin, ranges, took_ns, self_ns;
	uint32_t owner, key;
} timeline_lod_sum;

typedef struct timeline_lod_track_kept {
	bool described;
	trace_track_kind kind;
	uint32_t parent;
	int32_t pid, tid;
	const char *name;
	dck_unit unit;
	/* Rows by depth, and the row of marks; 0: none. */
	uint32_t *rows; /* @owned */
	uint32_t nrows, marks;
	size_t rows_cap;
	uint32_t owner;		    /* owner id of its rows */
	timeline_lod_value *values; /* @owned */
	uint32_t nvalues;
	size_t values_cap;
	uint32_t number; /* in the description, plus one; 0: empty, not in it */
} timeline_lod_track_kept;

/* Rows 1 and 2 belong to all tracks. */
enum { PICTURE_ASYNC = 1, PICTURE_REST, PICTURE_ROWS_FIRST };
/* PICTURE_ROWS_MAX: without the lanes. */
enum { ASYNC_ROWS_MAX = 32, PICTURE_ROWS_MAX = 8192, PICTURE_KEYS_MAX = 1 << 16 };
/* Owners of rows: tracks, after PICTURE_ASYNC and PICTURE_REST. A key of the map of sums has 20
 * bits of the owner, 20 of the key, and 24 of the bin. */
enum { PICTURE_OWNERS_MAX = 1 << 20, PICTURE_SUM_BINS = 2048 };

struct timeline_lod {
	timeline_lod_limits limits;
	string_table texts;	/* used for its arena */
	id_table names;		/* rows are timeline_lod_text */
	id_table tracks;	/* rows are timeline_lod_track_kept */
	timeline_lod_key *keys; /* @owned */
	uint32_t nkeys, keys_max;
	size_t keys_cap;
	timeline_lod_sum *sums; /* @owned */
	uint32_t nsums;
	size_t sums_cap;
	hash_map sum_rows; /* by bin, owner and key */
	int sums_shift;
	bool too_many_sums;
	lod_track *rows; /* @owned */
	uint32_t nrows;
	size_t rows_cap;
	uint32_t lanes, first_lane; /* rows of ranges that any track may end, after their layout */
	uint32_t owners;	    /* tracks with rows */
	int shift;		    /* time step of ranges and marks */
	unsigned values_shift;	    /* 0: every value is stored */
	uint64_t kept, kept_values; /* approximate sizes, compared with the limits */
	uint64_t ranges, marks, values, last_ns; /* received */
	uint64_t undrawn;			 /* ranges in PICTURE_REST */
	bool failed;
};

/* --- timeline_lod_thin.c: downsamples to half of the limits. */
void timeline_lod_thin(timeline_lod *p);
void timeline_lod_thin_values(timeline_lod *p);
/* Callback of lod_observer. */
void timeline_lod_sum_add(void *self, uint32_t owner, const lod_range *one);
/* Counts the uses of each key. */
void timeline_lod_uses_count(timeline_lod *p);
/* Compares two pointers to keys for qsort(): the most used first. */
int timeline_lod_by_uses(const void *a, const void *b);
/* Sorts the sums by owner, bin and key. */
void timeline_lod_sums_sort(timeline_lod *p);
/* Distributes overlapping ranges that any track may end over lanes. */
void timeline_lod_lanes(timeline_lod *p);
uint32_t timeline_lod_row_new(timeline_lod *p, uint32_t owner); /* 0: there are too many */

/* --- timeline_lod_columns.c */
typedef struct timeline_lod_level {
	int shift;
	uint64_t blocks, alone;
	uint32_t *row_blocks; /* @owned: of each row */
	dck_buffer columns;
} timeline_lod_level;

typedef struct timeline_lod_drawn {
	uint32_t nlevels;
	timeline_lod_level levels[PICTURE_LEVELS];
	uint64_t ranges, blocks; /* sums over all rows */
	dck_buffer columns;
} timeline_lod_drawn;

dck_status timeline_lod_columns(timeline_lod *p, timeline_lod_drawn *ret, dck_err *err);
void timeline_lod_drawn_done(timeline_lod_drawn *d);

/* --- timeline_lod_write.c */
dck_status timeline_lod_describe(timeline_lod *p, const timeline_lod_drawn *d, dck_buffer *ret,
				 dck_err *err);

/* --- timeline_step.c: chooses the step, before the columns are made. */
dck_status timeline_lod_step(timeline_lod *p, dck_timeline *ret, dck_err *err);

#endif
