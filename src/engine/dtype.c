/* dtype.c - names and sizes of element types.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/plugin.h"

static const struct {
	uint8_t code, bits;
	const char *text;
} types[] = {
    {DCK_DTYPE_FLOAT, 32, "float32"},
    {DCK_DTYPE_FLOAT, 64, "float64"},
    {DCK_DTYPE_FLOAT, 16, "float16"},
    {DCK_DTYPE_BFLOAT, 16, "bfloat16"},
    {DCK_DTYPE_INT, 8, "int8"},
    {DCK_DTYPE_INT, 16, "int16"},
    {DCK_DTYPE_INT, 32, "int32"},
    {DCK_DTYPE_INT, 64, "int64"},
    {DCK_DTYPE_UINT, 8, "uint8"},
    {DCK_DTYPE_UINT, 16, "uint16"},
    {DCK_DTYPE_UINT, 32, "uint32"},
    {DCK_DTYPE_UINT, 64, "uint64"},
    {DCK_DTYPE_BOOL, 8, "bool"},
    {DCK_DTYPE_COMPLEX, 64, "complex64"},
    {DCK_DTYPE_COMPLEX, 128, "complex128"},
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
