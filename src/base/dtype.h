/* dtype.h - the table of element types: names, sizes, and ONNX numbers (TensorProto.DataType).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include "deepclock/plugin.h"

/* Return the ONNX number of a type, and the type of an ONNX number. 0 and DCK_DTYPE_OTHER: there is
 * none, or the host has no such type. */
int dtype_onnx(dck_dtype t);
dck_dtype dtype_of_onnx(int64_t onnx);

/* Return the name of an ONNX number ("float32"; NULL: it has none), the number of a name, and the
 * bits of one element (0: unknown, or text). They also know the types of 8, 4 and 2 bits, which the
 * host does not have. */
const char *dtype_onnx_text(int64_t onnx);
int dtype_onnx_named(const char *text); /* 0: "?"; -1: no type has that name */
unsigned dtype_onnx_bits(int64_t onnx);
bool dtype_is_float(dck_dtype t);

#endif
