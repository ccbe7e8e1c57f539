/* npy.h - reads .npy files (numpy.save), formats 1.0 to 3.0. Source: the format's specification,
 * NEP 1 and numpy.lib.format.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_NPY_H
#define SUBJECT_NPY_H

#include "deepclock/bench.h"
#include "deepclock/report.h"

typedef struct npy_array {
	dck_dtype dtype;
	char text;    /* npy_parse_any(): 'U' or 'S', texts of `width` bytes; else 0 */
	size_t width; /* bytes of an element */
	size_t rank;
	int64_t dim[DCK_RANK_MAX];
	void *data; /* row-major, this machine's byte order; points into `file`, or is borrowed */
	size_t bytes;
	dck_buffer file; /* owned */
} npy_array;

/* Reads a whole array of at most `limit` bytes. Fortran order and foreign byte order are converted;
 * a structured or object array, a string, a rank above 16 or data that do not match the shape are
 * rejected. The caller owns *ret: npy_done(). */
dck_status npy_read(const char *path, size_t limit, npy_array *ret, dck_err *err);
/* Parses bytes in memory, and owns them on success. `name` is for messages. */
dck_status npy_parse(const char *name, dck_buffer *bytes, npy_array *ret, dck_err *err);
/* Parses an array that may also hold texts: 'U' is UTF-32, 'S' is bytes, each padded with zeros. */
dck_status npy_parse_any(const char *name, dck_buffer *bytes, npy_array *ret, dck_err *err);
/* Finds the array in memory of that name, without a copy. *ret_there: whether it exists. E_ARG: its
 * size does not match its shape. */
dck_status npy_in_memory(const dck_arrays *all, const char *name, bool *ret_there, npy_array *ret,
			 dck_err *err);
bool npy_is(const dck_buffer *bytes); /* the bytes start with the magic of .npy */
void npy_done(npy_array *a);	      /* {0} is allowed */

#endif
