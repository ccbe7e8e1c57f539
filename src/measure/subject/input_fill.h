/* input_fill.h - values of an input that are not random and in no file: a number, a range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUT_FILL_H
#define SUBJECT_INPUT_FILL_H

#include "deepclock/plugin.h"

typedef struct input_fill {
	bool whole;	   /* both ends are whole numbers: these, exactly */
	int64_t low, high; /* inclusive */
	double rlow, rhigh;
} input_fill;

/* "16000", "0.5", "zeros", "ones", "range(0,5)". E_ARG: it begins as one and is none. *ret_is
 * false: anything else, such as a file. */
dck_status input_fill_parse(const char *text, input_fill *ret, bool *ret_is, dck_err *err);
/* Fills n elements of type t at p: all the same, or uniform within the range. E_ARG, E_UNSUP: the
 * type does not hold them; `name` is the input's. */
dck_status input_fill_put(const input_fill *f, const char *name, void *p, size_t n, dck_dtype t,
			  uint64_t seed, uint64_t stream, dck_err *err);

#endif
