/* stacks.h - stacks of another program's profile, added up while its file is read, and then written
 * as `sample` writes its own: table "functions", tree "samples".
 *
 *	stacks s;
 *	size_t samples;
 *
 *	DCK_TRY(stacks_init(&s, err));
 *	DCK_TRY(stacks_column(&s, "samples", DCK_UNIT_ONE, &samples, err));
 *	DCK_TRY(stacks_frame(&s, &(stacks_named){"main", 4}, err)); // frame 0 of the file
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
	uint32_t frame; /* of `paths`; 0: not on a path of this tree yet */
} stacks_row;

typedef struct stacks {
	cct paths;
	dck_column columns[STACKS_COLUMNS];
	double sums[STACKS_COLUMNS];
	size_t ncolumns;
	string_table texts;
	stacks_row *rows; /* @owned; the file's frames in its order */
	uint32_t nrows, room;
	uint32_t path; /* that is being made */
	bool full;     /* the rest of it does not fit */
	size_t ntrees; /* that were written */
} stacks;

dck_status stacks_init(stacks *s, dck_err *err) DCK_MUST_USE;
void stacks_done(stacks *s); /* {0} is allowed */

/* The weight of that key, which is its title too; a new one where there is none yet. */
dck_status stacks_column(stacks *s, const char *key, dck_unit unit, size_t *ret,
			 dck_err *err) DCK_MUST_USE;
/* The next frame of the file's list. name: 0 is "(no name)"; file: 0 is none. */
dck_status stacks_frame(stacks *s, const stacks_row *frame, dck_err *err) DCK_MUST_USE;
/* The number of a text of the file. 0: no memory, or too many. */
uint32_t stacks_text(stacks *s, const char *text, size_t n);

/* The frame that a number in the file refers to. E_FORMAT: there is none. */
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

/* Whether a number may be added: finite, not negative, and so small that no sum overflows. */
bool stacks_weight_fits(double weight);

/* The tree, of the first also table and answer, and begins another one. title: NULL is that of
 * `sample`. */
dck_status stacks_write(stacks *s, const char *title, record_builder *b, dck_err *err) DCK_MUST_USE;

#endif
