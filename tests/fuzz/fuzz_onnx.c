/* fuzz_onnx.c - the ONNX reader and the search for input ranges on arbitrary bytes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "model/onnx/summary.h"

#include <assert.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	mem_arena *a = mem_arena_new(0);
	model_summary s;
	dck_err err = {0};

	assert(a);
	dck_status code = model_summary_read_bytes(bytes, n, a, &s, &err);
	if (code != DCK_OK) {
		/* a failure has its code and a message of one line */
		assert(err.code == code);
		assert(*err.msg && !strchr(err.msg, '\n'));
	} else {
		for (size_t i = 0; i < s.ninputs; i++) {
			assert(s.inputs[i].name);
			assert(!s.inputs[i].has_range || s.inputs[i].low <= s.inputs[i].high);
		}
	}
	mem_arena_free(a);
	return 0;
}
