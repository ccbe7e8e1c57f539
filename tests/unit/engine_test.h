/* engine_test.h - helpers of the tests of src/engine: built files next to them, small models, and a
 * capture of stderr.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_ENGINE_TEST_H
#define TESTS_ENGINE_TEST_H

#include "engine/engine.h"
#include "engine/genai/oga_lib.h"
#include "engine/litert/lrt_lib.h"
#include "engine/openvino/ov_lib.h"
#include "engine/ort/ort_lib.h"
#include "model_build.h"
#include "os/os.h"
#include "scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* Skips the test without ONNX Runtime. Opens no session: the first of a process is special. */
static inline void need_ort(void)
{
	mem_arena *a = mem_arena_new(0);
	ort_lib l;
	dck_err err;
	dck_status status = ort_lib_open(NULL, a, NULL, &l, &err);

	mem_arena_free(a);
	if (status == DCK_OK) {
		ort_lib_close(&l);
		return;
	}
	assert_int_equal(err.code, DCK_E_ABSENT);
	print_message("skipped: no ONNX Runtime: %s\n", err.msg);
	skip();
}

/* The same of LiteRT. */
static inline void need_litert(void)
{
	mem_arena *a = mem_arena_new(0);
	lrt_lib l;
	dck_err err;
	dck_status status = lrt_lib_open(NULL, a, NULL, &l, &err);

	mem_arena_free(a);
	if (status == DCK_OK) {
		lrt_lib_close(&l);
		return;
	}
	assert_int_equal(err.code, DCK_E_ABSENT);
	print_message("skipped: no LiteRT: %s\n", err.msg);
	skip();
}

/* The same of ONNX Runtime GenAI. */
static inline void need_genai(void)
{
	mem_arena *a = mem_arena_new(0);
	oga_lib l;
	dck_err err;
	dck_status status = oga_lib_open(NULL, a, NULL, &l, &err);

	if (status == DCK_OK)
		oga_lib_close(&l);
	mem_arena_free(a);
	if (status == DCK_OK)
		return;
	assert_int_equal(err.code, DCK_E_ABSENT);
	print_message("skipped: no ONNX Runtime GenAI: %s\n", err.msg);
	skip();
}

/* The same of OpenVINO. */
static inline void need_openvino(void)
{
	mem_arena *a = mem_arena_new(0);
	ov_lib l;
	dck_err err;
	dck_status status = ov_lib_open(NULL, a, NULL, &l, &err);

	mem_arena_free(a);
	if (status == DCK_OK) {
		ov_lib_close(&l);
		return;
	}
	assert_int_equal(err.code, DCK_E_ABSENT);
	print_message("skipped: no OpenVINO: %s\n", err.msg);
	skip();
}

/* --- stderr redirected into a file */

typedef struct ear {
	int saved, fd;
} ear;

static inline ear ear_open(void)
{
	ear e = {dup(2), -1};
	dck_err err;

	assert_int_equal(os_memfd(&e.fd, &err), DCK_OK);
	fflush(stderr);
	dup2(e.fd, 2);
	return e;
}

static inline void ear_close_silent(ear e)
{
	char heard[512];

	fflush(stderr);
	dup2(e.saved, 2);
	ssize_t n = pread(e.fd, heard, sizeof(heard) - 1, 0);
	close(e.saved);
	close(e.fd);
	heard[n > 0 ? n : 0] = '\0';
	assert_string_equal(heard, "");
}

/* --- models. Each is owned: wire_out_done(). */

#define ELEMENT_FLOAT 1
#define ELEMENT_INT64 7
#define ELEMENT_TEXT  8

/* y = op(inputs) with one input x. */
static inline wire_out model_of(const char *op, const char *inputs, int64_t type, size_t rank,
				const int64_t *dims, int64_t out_type, size_t out_rank,
				const int64_t *out_dims)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w);

	put_node(&w, op, inputs, "y");
	wire_put_text(&w, 2, "g");
	put_value(&w, 11, "x", type, rank, dims);
	put_value(&w, 12, "y", out_type, out_rank, out_dims);
	graph_end(&w, graph);
	assert_false(w.failed);
	return w;
}

/* y = x + x, float32 of N x 3 */
static inline wire_out model_twice(void)
{
	return model_of("Add", "x x", ELEMENT_FLOAT, DIMS(-1, 3), ELEMENT_FLOAT, DIMS(-1, 3));
}

/* The indices of the elements that are not zero, one column for each. */
static inline wire_out model_nonzero(void)
{
	return model_of("NonZero", "x", ELEMENT_FLOAT, DIMS(4), ELEMENT_INT64, DIMS(1, -1));
}

/* A dense float32 tensor over the caller's numbers. */
static inline dck_tensor floats(float *data, int32_t rank, int64_t d0, int64_t d1)
{
	dck_tensor t = {
	    .data = data, .dtype = {DCK_DTYPE_FLOAT, 32, 1}, .rank = rank, .dim = {d0, d1}};

	t.bytes = sizeof(float) * (uint64_t)d0 * (uint64_t)(rank > 1 ? d1 : 1);
	return t;
}

#endif
