/* npz.h - several arrays in one file (numpy.savez, savez_compressed): a zip archive of .npy files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_NPZ_H
#define SUBJECT_NPZ_H

#include "measure/subject/npy.h"

bool npz_is(const dck_buffer *bytes); /* they begin as an archive does */
/* The array of that name; where there is none and the archive holds one array, that one. limit:
 * bytes at most. `name` is the file's, for sentences. E_ABSENT: there is no such member. *ret is
 * owned: npy_done(). */
dck_status npz_get(const char *name, const dck_buffer *bytes, const char *member, size_t limit,
		   npy_array *ret, dck_err *err);

#endif
