/* read_source.h - the file of a path, or standard input for "-".
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READ_READ_SOURCE_H
#define READ_READ_SOURCE_H

#include "base/wire.h"

/* Returns whether it is a regular file. Others are not opened to examine them: closing a pipe
 * breaks it for its writer. Standard input is kept, and counts as a file. */
bool read_source_is_file(const char *path);
/* As wire_source_open(). */
dck_status read_source_open(const char *path, const wire_kind *kind, wire_source *ret,
			    dck_err *err);

#endif
