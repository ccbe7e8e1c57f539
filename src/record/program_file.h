/* program_file.h - why an observed program could not make or open a file of its observation, as a
 * sentence of notes: the libraries in the program report errno.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_PROGRAM_FILE_H
#define RECORD_PROGRAM_FILE_H

#include "record/build.h"

/* Return "its directory is not there for the program (ENOENT), as after chroot()", and what to do
 * about it. 0: a full disk. */
const char *program_file_reason(int error);
const char *program_file_remedy(int error);

/* Adds note address-space-limit, if the program had a limit (RLIMIT_AS; 0: none), which the `held`
 * bytes of its observation count against. */
void program_address_space_put(record_builder *b, uint64_t held, uint64_t limit);

#endif
