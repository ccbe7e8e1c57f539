/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dtype.h"
#include <string.h>

/* By their number in ONNX. DCK_DTYPE_OTHER: the host cannot make such elements. */
static const struct {
	uint8_t code, bits;
	const char *text;
} types[] = {
    [0] = {DCK_DTYPE_OTHER, 0, "?"},
    [1] = {DCK_DTYPE_FLOAT, 32, "float32"},
    [2] = {DCK_DTYPE_UINT, 8, "uint8"},
    [3] = {DCK_DTYPE_INT, 8, "int8"},
    [4] = {DCK_DTYPE_UINT, 16, "uint16"},
    [5] = {DCK_DTYPE_INT, 16, "int16"},
    [6] = {DCK_DTYPE_INT, 32, "int32"},
    [7] = {DCK_DTYPE_INT, 64, "int64"},
    [8] = {DCK_DTYPE_OTHER, 0, "string"},
    [9] = {DCK_DTYPE_BOOL, 8, "bool"},
    [10] = {DCK_DTYPE_FLOAT, 16, "float16"},
    [11] = {DCK_DTYPE_FLOAT, 64, "float64"},
    [12] = {DCK_DTYPE_UINT, 32, "uint32"},
    [13] = {DCK_DTYPE_UINT, 64, "uint64"},
    [14] = {DCK_DTYPE_COMPLEX, 64, "complex64"},
    [15] = {DCK_DTYPE_COMPLEX, 128, "complex128"},
    [16] = {DCK_DTYPE_BFLOAT, 16, "bfloat16"},
    [17] = {DCK_DTYPE_OTHER, 8, "float8e4m3fn"},
    [18] = {DCK_DTYPE_OTHER, 8, "float8e4m3fnuz"},
    [19] = {DCK_DTYPE_OTHER, 8, "float8e5m2"},
    [20] = {DCK_DTYPE_OTHER, 8, "float8e5m2fnuz"},
    [21] = {DCK_DTYPE_OTHER, 4, "uint4"},
    [22] = {DCK_DTYPE_OTHER, 4, "int4"},
    [23] = {DCK_DTYPE_OTHER, 4, "float4e2m1"},
    [24] = {DCK_DTYPE_OTHER, 8, "float8e8m0"},
    [25] = {DCK_DTYPE_OTHER, 2, "uint2"},
    [26] = {DCK_DTYPE_OTHER, 2, "int2"},
};
#define NTYPES ((int)(sizeof types / sizeof types[0]))

static bool dtype_known(int64_t onnx)
{
	return onnx >= 0 && onnx < NTYPES;
}

int dtype_onnx(dck_dtype t)
{
	for (int i = 1; i < NTYPES && t.lanes == 1 && t.code != DCK_DTYPE_OTHER; i++)
		if (types[i].code == t.code && types[i].bits == t.bits)
			return i;
	return 0;
}

dck_dtype dtype_of_onnx(int64_t onnx)
{
	if (!dtype_known(onnx) || types[onnx].code == DCK_DTYPE_OTHER)
		return (dck_dtype){DCK_DTYPE_OTHER, 0, 1};
	return (dck_dtype){types[onnx].code, types[onnx].bits, 1};
}

const char *dtype_onnx_text(int64_t onnx)
{
	return dtype_known(onnx) ? types[onnx].text : NULL;
}

int dtype_onnx_named(const char *text)
{
	for (int i = 0; i < NTYPES; i++)
		if (strcmp(types[i].text, text) == 0)
			return i;
	return -1;
}

unsigned dtype_onnx_bits(int64_t onnx)
{
	return dtype_known(onnx) ? types[onnx].bits : 0;
}

const char *dck_dtype_text(dck_dtype t)
{
	return types[dtype_onnx(t)].text;
}

size_t dck_dtype_bytes(dck_dtype t)
{
	return types[dtype_onnx(t)].bits / 8u;
}

bool dtype_is_float(dck_dtype t)
{
	return t.code == DCK_DTYPE_FLOAT || t.code == DCK_DTYPE_BFLOAT;
}
