/* npz.h - reads .npz files (numpy.savez, savez_compressed): a zip archive of .npy files.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SUBJECT_NPZ_H
#define SUBJECT_NPZ_H

#include "measure/subject/npy.h"

bool npz_is(const dck_buffer *bytes); /* the bytes start with the magic of a zip archive */
/* Reads the array of that name, or, with `only`, the only array of the archive. `limit`: maximum
 * bytes. `name` is the name of the file, for messages. E_ABSENT: no such member. The caller owns
 * *ret: npy_done(). */
dck_status npz_get(const char *name, const dck_buffer *bytes, const char *member, bool only,
		   size_t limit, npy_array *ret, dck_err *err);

#endif
