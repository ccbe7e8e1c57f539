/* input_given.h - reads --input: values for the inputs of a model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUT_GIVEN_H
#define SUBJECT_INPUT_GIVEN_H

#include "measure/subject/input_fill.h"
#include "measure/subject/npy.h"
#include "measure/subject/shape_resolve.h"

/* The values of one input; {0}: random. */
typedef struct input_given {
	const char *file;   /* or an array's name; `array` has the contents */
	const char *filled; /* the number or range as written; `fill` has its bounds */
	input_fill fill;
	npy_array array;
} input_given;

/* Reads --input into list[z->n], which starts as {0}; z receives the shapes of files. `limit`:
 * maximum bytes of a file. E_ARG: the message names the input and a valid value. The caller owns
 * the list, also after a failure: input_given_done(). Names are borrowed from c. */
dck_status input_given_read(shape_resolve *z, const dck_model_config *c, uint64_t limit,
			    input_given *list, dck_err *err);
/* Applies the shapes of files, then shape_resolve_read(). The contents are not stored. */
dck_status input_given_sizes(shape_resolve *z, const model_values *v, const dck_model_config *c,
			     uint64_t limit, dck_err *err);
void input_given_done(input_given *list, size_t n);

#endif
