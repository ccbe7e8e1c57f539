/* fuzz_npy.c - any bytes as a .npy or .npz file: refused with a message, or read as an array whose
 * shape and bytes agree.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "base/mem.h"
#include "measure/subject/npz.h"

#include <stdlib.h>
#include <string.h>

static void look(const npy_array *a)
{
	size_t bytes = dck_dtype_bytes(a->dtype);
	uint8_t sum = 0;

	if (bytes == 0 || a->rank > DCK_RANK_MAX)
		abort();
	for (size_t d = 0; d < a->rank; d++)
		if (a->dim[d] < 0 || __builtin_mul_overflow(bytes, a->dim[d], &bytes))
			abort();
	if (bytes != a->bytes || a->bytes > a->file.n)
		abort();
	/* Reads each byte, so that a sanitizer detects one outside the allocation. */
	for (size_t i = 0; i < a->bytes; i++)
		sum = (uint8_t)(sum + ((const volatile uint8_t *)a->data)[i]);
	(void)sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	dck_buffer b = {.data = mem_alloc(n ? n : 1), .n = n};
	npy_array a = {0};
	dck_err err = {0};

	if (!b.data)
		return 0;
	if (n > 0)
		memcpy(b.data, bytes, n);
	if (npz_is(&b) ? npz_get("a.npz", &b, "x", true, 1 << 20, &a, &err) == DCK_OK
		       : npy_parse("a.npy", &b, &a, &err) == DCK_OK)
		look(&a);
	else if (err.msg[0] == '\0' || a.file.data)
		abort();
	npy_done(&a);
	dck_buffer_done(&b);
	return 0;
}
