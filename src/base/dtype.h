/* dtype.h - the one table of element types: names, sizes, and numbers in ONNX
 * (TensorProto.DataType).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_DTYPE_H
#define BASE_DTYPE_H

#include "deepclock/plugin.h"

/* The number that ONNX has for a type, and the other way; 0 and DCK_DTYPE_OTHER: none, or one that
 * the host cannot make. */
int dtype_onnx(dck_dtype t);
dck_dtype dtype_of_onnx(int64_t onnx);

/* Of a number in ONNX. text: "float32"; NULL: it has no name. bits of one element, 0: not known, or
 * text. Also for the types of 8, 4 and 2 bits, which the host cannot make. */
const char *dtype_onnx_text(int64_t onnx);
int dtype_onnx_named(const char *text); /* the other way; 0: "?"; -1: no type has that name */
unsigned dtype_onnx_bits(int64_t onnx);
bool dtype_is_float(dck_dtype t);

#endif
