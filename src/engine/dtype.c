/* dtype.c - names and sizes of element types, and their numbers in ONNX (TensorProto.DataType).
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine/engine.h"

static const struct {
	uint8_t code, bits;
	const char *text;
	int onnx;
} types[] = {
    {DCK_DTYPE_FLOAT, 32, "float32", 1},
    {DCK_DTYPE_FLOAT, 64, "float64", 11},
    {DCK_DTYPE_FLOAT, 16, "float16", 10},
    {DCK_DTYPE_BFLOAT, 16, "bfloat16", 16},
    {DCK_DTYPE_INT, 8, "int8", 3},
    {DCK_DTYPE_INT, 16, "int16", 5},
    {DCK_DTYPE_INT, 32, "int32", 6},
    {DCK_DTYPE_INT, 64, "int64", 7},
    {DCK_DTYPE_UINT, 8, "uint8", 2},
    {DCK_DTYPE_UINT, 16, "uint16", 4},
    {DCK_DTYPE_UINT, 32, "uint32", 12},
    {DCK_DTYPE_UINT, 64, "uint64", 13},
    {DCK_DTYPE_BOOL, 8, "bool", 9},
    {DCK_DTYPE_COMPLEX, 64, "complex64", 14},
    {DCK_DTYPE_COMPLEX, 128, "complex128", 15},
};

static int find(dck_dtype t)
{
	for (size_t i = 0; t.lanes == 1 && i < sizeof(types) / sizeof(*types); i++)
		if (types[i].code == t.code && types[i].bits == t.bits)
			return (int)i;
	return -1;
}

const char *dck_dtype_text(dck_dtype t)
{
	int i = find(t);
	return i < 0 ? "?" : types[i].text;
}

size_t dck_dtype_bytes(dck_dtype t)
{
	int i = find(t);
	return i < 0 ? 0 : types[i].bits / 8u;
}

int engine_onnx_type(dck_dtype t)
{
	int i = find(t);
	return i < 0 ? 0 : types[i].onnx;
}

dck_dtype engine_dtype_of_onnx(int onnx_type)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (types[i].onnx == onnx_type)
			return (dck_dtype){types[i].code, types[i].bits, 1};
	return (dck_dtype){DCK_DTYPE_OTHER, 0, 1};
}
