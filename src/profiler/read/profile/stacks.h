/* stacks.h - stacks of another program's profile, added up while its file is read, and then written
 * as `sample` writes its own: table "functions", tree "samples".
 *
 *	stacks s;
 *	size_t samples;
 *
 *	DCK_TRY(stacks_init(&s, err));
 *	DCK_TRY(stacks_column(&s, "samples", DCK_UNIT_ONE, &samples, err));
 *	stacks_row row = {.name = stacks_text(&s, "main", 4)};
 *	DCK_TRY(stacks_frame(&s, &row, err)); // frame 0 of the file
 *	stack_open(&s, 0);
 *	stack_push(&s, 0);
 *	stack_add(&s, samples, 12);
 *	status = stacks_write(&s, NULL, b, err);
 *	stacks_done(&s);
 *
 * Bounded: frames and names of a hostile file by STACKS_FRAMES_MAX and an arena's limit, paths as
 * cct.h has it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef IMPORT_STACKS_H
#define IMPORT_STACKS_H

#include "record/tree/cct.h"

enum { STACKS_COLUMNS = 6, STACKS_FRAMES_MAX = 1 << 22 };

/* A frame by the numbers of its texts in `texts`. */
typedef struct stacks_row {
	uint32_t name, file, line;
	uint32_t frame; /* id in `paths`; 0: not on a path of this tree yet */
} stacks_row;

typedef struct stacks {
	cct paths;
	dck_column columns[STACKS_COLUMNS];
	double sums[STACKS_COLUMNS];
	size_t ncolumns;
	string_table texts;
	stacks_row *rows; /* @owned; the file's frames in its order */
	uint32_t nrows;
	size_t cap;
	uint32_t path; /* the path under construction */
	bool full;     /* its deeper frames do not fit */
	size_t ntrees; /* number of trees written */
} stacks;

dck_status stacks_init(stacks *s, dck_err *err) DCK_MUST_USE;
void stacks_done(stacks *s); /* {0} is allowed */

/* Returns the column of the weight with this key, which is its title too; adds it if missing. */
dck_status stacks_column(stacks *s, const char *key, dck_unit unit, size_t *ret,
			 dck_err *err) DCK_MUST_USE;
/* Appends the next frame of the file's list. name 0: "(no name)"; file 0: none. */
dck_status stacks_frame(stacks *s, const stacks_row *frame, dck_err *err) DCK_MUST_USE;
/* Interns a text of the file. 0: no memory, or too many. */
uint32_t stacks_text(stacks *s, const char *text, size_t n);

/* Finds the frame that an index in the file refers to. E_FORMAT: out of range. */
dck_status stacks_row_find(const stacks *s, const char *number, uint32_t *ret, dck_err *err);

/* A path: from `from` (0: none) on, by frames of the file's list or of any other origin. */
static inline void stack_open(stacks *s, uint32_t from)
{
	s->path = from;
	s->full = false;
}
void stack_push(stacks *s, uint32_t row);
void stack_push_frame(stacks *s, const dck_frame *frame);
static inline void stack_add(stacks *s, uint32_t path, size_t column, double weight)
{
	cct_add(&s->paths, path, column, weight);
	s->sums[column] += weight;
}

/* Returns whether a number is a valid weight: finite, not negative, and small enough that no sum
 * overflows. */
bool stacks_weight_fits(double weight);

/* Writes the tree, for the first one also table and answer, and starts another. title NULL: that of
 * `sample`. */
dck_status stacks_write(stacks *s, const char *title, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
