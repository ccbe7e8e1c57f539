/* input_given.h - the values that --input gives to the inputs of a model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUT_GIVEN_H
#define SUBJECT_INPUT_GIVEN_H

#include "measure/subject/input_fill.h"
#include "measure/subject/npy.h"
#include "measure/subject/shape_resolve.h"

/* Of one input; {0}: it is random. */
typedef struct input_given {
	const char *file;   /* or an array's name; its contents are in `array` */
	const char *filled; /* the number or range as it was written; its ends are in `fill` */
	input_fill fill;
	npy_array array;
} input_given;

/* Reads --input into list[z->n], which begins as {0}; shapes of files are given to z. limit: bytes
 * of a file at most. E_ARG names the input and what to give. The list is owned, also after a
 * failure: input_given_done(). Names are borrowed from c. */
dck_status input_given_read(shape_resolve *z, const dck_model_config *c, uint64_t limit,
			    input_given *list, dck_err *err);
/* shape_resolve_read() after the shapes that files bring. The contents are not kept. */
dck_status input_given_sizes(shape_resolve *z, const model_values *v, const dck_model_config *c,
			     uint64_t limit, dck_err *err);
void input_given_done(input_given *list, size_t n);

#endif
