/* file_type.h - what a file is that is no ONNX model, and what to do with it.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include "base/wire.h"

/* The source could not be read as a model, *err says why with that code. Says instead what it is
 * where its first bytes (unless `begins_well`) or the ending of its name tell; path NULL: none.
 * Returns the code of what was said last. */
dck_status file_type_describe(wire_source *s, const char *path, bool begins_well, dck_status code,
			      dck_err *err);

#endif
