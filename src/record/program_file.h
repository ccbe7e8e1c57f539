/* program_file.h - why an observed program could not make or open a file of its observation, as a
 * sentence of notes: the libraries in the program report errno.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_PROGRAM_FILE_H
#define RECORD_PROGRAM_FILE_H

/* Return "its directory is not there for the program (ENOENT), as after chroot()", and what to do
 * about it. 0: a full disk. */
const char *program_file_reason(int error);
const char *program_file_remedy(int error);

#endif
