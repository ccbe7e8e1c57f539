/* input_fill.h - fills an input with a given number, or uniformly within a given range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_INPUT_FILL_H
#define SUBJECT_INPUT_FILL_H

#include "deepclock/plugin.h"

typedef struct input_fill {
	bool whole;	   /* both bounds are integers: low and high, exactly */
	int64_t low, high; /* inclusive */
	double rlow, rhigh;
} input_fill;

/* Parses "16000", "0.5", "zeros", "ones", "true", "range(0,5)". E_ARG: malformed. *ret_is false:
 * something else, such as a file. */
dck_status input_fill_parse(const char *text, input_fill *ret, bool *ret_is, dck_err *err);
/* Fills n elements of type t at p: one value, or uniform within the range. E_ARG, E_UNSUP: the type
 * cannot represent the values. `name` is the name of the input, for messages. */
dck_status input_fill_put(const input_fill *f, const char *name, void *p, size_t n, dck_dtype t,
			  uint64_t seed, uint64_t stream, dck_err *err);

#endif
