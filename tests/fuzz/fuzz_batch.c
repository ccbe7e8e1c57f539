/* fuzz_batch.c - any bytes as a model to be rebatched: refused with a message, or rewritten to a
 * model that the reader accepts, with the items on the reported axes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"
#include "model/rebatch/rebatch.h"

#include <string.h>

#define ITEMS	   3
#define MEMORY_MAX ((size_t)64 << 20)

static void check_places(const batch_place *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		check(list[i].name != NULL);
		if (list[i].items)
			check(list[i].axis >= 0 && list[i].axis < COST_RANK_MAX &&
			      list[i].each >= 0);
	}
}

static void check_result(const batch_model *b, mem_arena *a)
{
	onnx_model *m = NULL;

	check(b->was > 0 && b->bytes.n > 0);
	check_places(b->inputs, b->ninputs);
	check_places(b->outputs, b->noutputs);
	check(onnx_read_bytes(b->bytes.data, b->bytes.n, a, &m, NULL) == DCK_OK);
}

static void free_batch(const char *path, const onnx_model *m, const char *file, mem_arena *a)
{
	batch_model b = {0};
	dck_err err = {0};
	dck_status code = rebatch(path, m, ITEMS, file, a, &b, &err);

	if (code == DCK_OK)
		check_result(&b, a);
	else
		check(!b.bytes.data && err.code == code && *err.msg && !strchr(err.msg, '\n'));
	batch_done(&b);
}

/* The rewriter reads the file a second time. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
	mem_arena *a = mem_arena_new(0);
	char path[64];
	onnx_model *m;
	int64_t was;

	int fd = fuzz_file(bytes, n, path);

	check(a != NULL);
	if (onnx_read_file(path, a, &m, NULL) == DCK_OK && batch_fixed(m, &was)) {
		mem_arena_limit(a, mem_arena_bytes(a) + MEMORY_MAX);
		free_batch(path, m, "weights", a);
		free_batch(path, m, NULL, a);
	}
	close(fd);
	mem_arena_free(a);
	return 0;
}
