/* file_type.h - detection of the type of a file that is not an ONNX model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ONNX_FILE_TYPE_H
#define ONNX_FILE_TYPE_H

#include "base/wire.h"

/* Replaces *err, the reason (with `code`) why the source is not a model, with the type of the file
 * and what to do with it, if its first bytes (unless `begins_well`) or its extension identify it;
 * path NULL: none. Returns the code of the message in *err. */
dck_status file_type_describe(wire_source *s, const char *path, bool begins_well, dck_status code,
			      dck_err *err);

#endif
