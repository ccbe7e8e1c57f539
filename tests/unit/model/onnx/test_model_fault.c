/* test_model_fault.c - the n-th allocation fails, for every n: reading and building a model return
 * E_NOMEM, leak nothing and change no result.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "deepclock/model.h"
#include "model/onnx/summary.h"
#include "model_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>

typedef struct faulty {
	size_t calls, fail_at; /* the call with this number and all later calls fail */
	size_t out;	       /* blocks not yet freed */
} faulty;

static void *faulty_alloc(void *self, size_t bytes)
{
	faulty *f = self;

	if (++f->calls >= f->fail_at)
		return NULL;
	f->out++;
	return malloc(bytes);
}

static void *faulty_resize(void *self, void *old, size_t bytes)
{
	faulty *f = self;

	if (++f->calls >= f->fail_at)
		return NULL;
	f->out += !old;
	return realloc(old, bytes);
}

static void faulty_release(void *self, void *old)
{
	faulty *f = self;

	f->out -= old != NULL;
	free(old);
}

/* Runs `work` with ever later failures until it succeeds; returns the number of failures. */
static size_t fail_everywhere(dck_status (*work)(void *self, dck_err *err), void *self)
{
	for (size_t n = 1;; n++) {
		faulty f = {.fail_at = n};
		dck_allocator a = {faulty_alloc, faulty_resize, faulty_release, &f};
		dck_err err = {0};

		dck_set_allocator(&a);
		dck_status code = work(self, &err);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
		if (code == DCK_OK)
			return n - 1;
		if (code != DCK_E_NOMEM)
			fail_msg("allocation %zu: %s", n, err.msg);
		assert_int_equal(err.code, DCK_E_NOMEM);
		assert_true(n < 10000);
	}
}

static dck_status read_model(void *self, dck_err *err)
{
	const wire_out *w = self;
	model_summary s = {.nodes = 99};
	mem_arena *a = mem_arena_new(256);
	dck_status code = DCK_E_NOMEM;

	if (a)
		code = model_summary_read_bytes(w->data, w->n, a, &s, err);
	else
		err->code = DCK_E_NOMEM;
	if (code != DCK_OK)
		assert_int_equal(s.nodes, 99);
	mem_arena_free(a);
	return code;
}

static void reading_a_model(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t graph = graph_begin(&w);

	put_tensor(&w, "table", ONNX_FLOAT, DIMS(30, 8), 0, NULL);
	put_tensor(&w, "axes", ONNX_INT64, DIMS(2), 2, (const int64_t[]){1, 2});
	for (int i = 0; i < 300; i++) {
		char name[16];
		snprintf(name, sizeof name, "in%d", i);
		put_input(&w, name, ONNX_INT64, DIMS(-1, 4));
		put_node(&w, "Unsqueeze", name, "u");
	}
	put_node(&w, "Gather", "table u", "y");
	graph_end(&w, graph);
	assert_true(fail_everywhere(read_model, &w) >= 5);
	wire_out_done(&w);
}

static dck_status discard(void *self, const void *bytes, size_t n, dck_err *err)
{
	(void)self;
	(void)bytes;
	(void)n;
	(void)err;
	return DCK_OK;
}

static dck_status write_network(void *self, dck_err *err)
{
	dck_sink sink;

	dck_sink_custom(&sink, discard, NULL);
	dck_status code = dck_zoo_write(self, NULL, &sink, err);
	dck_status finished = dck_sink_finish(&sink, NULL);
	return code != DCK_OK ? code : finished;
}

static void building_a_network(void **state)
{
	(void)state;
	char name[] = "squeezenet1_1", small[] = "conv2d";

	assert_true(fail_everywhere(write_network, name) >= 10);
	assert_true(fail_everywhere(write_network, small) >= 5);
}

int test_model_fault(void);
int test_model_fault(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reading_a_model),
	    cmocka_unit_test(building_a_network),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
