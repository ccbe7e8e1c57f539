/* test_model_wire.c - the protocol-buffer encoding, byte by byte.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/wire.h"
#include "base/mem.h"
#include "model/onnx/onnx.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define BYTES(...) ((const uint8_t[]){__VA_ARGS__}), sizeof((const uint8_t[]){__VA_ARGS__})

static void assert_bytes(const wire_out *w, const uint8_t *bytes, size_t n)
{
	assert_false(w->failed);
	assert_int_equal(w->n, n);
	assert_memory_equal(w->data, bytes, n);
}

static void writes_the_encoding_of_the_specification(void **state)
{
	(void)state;
	wire_out w = {0};

	wire_put_int(&w, 1, 150);
	wire_put_text(&w, 2, "testing");
	size_t at = wire_begin(&w, 3);
	wire_put_int(&w, 1, 150);
	wire_end(&w, at);
	wire_put_float(&w, 16, 1.0f);
	wire_put_int(&w, 1, -1);
	assert_bytes(&w, BYTES(0x08, 0x96, 0x01, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g',
			       0x1a, 0x03, 0x08, 0x96, 0x01, 0x85, 0x01, 0, 0, 0x80, 0x3f, 0x08,
			       0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01));
	wire_out_done(&w);
	assert_null(w.data);
}

static void makes_room_for_long_lengths(void **state)
{
	(void)state;
	wire_out w = {0};
	uint8_t zeros[300] = {0};

	size_t outer = wire_begin(&w, 1), inner = wire_begin(&w, 2);
	wire_put_bytes(&w, 3, zeros, sizeof zeros);
	wire_end(&w, inner);
	wire_end(&w, outer);
	/* 3: tag 1, length 2, 300; 2: tag 1, length 2, 303; 1: tag 1, length 2, 306 */
	assert_int_equal(w.n, 309);
	assert_memory_equal(
	    w.data, ((const uint8_t[]){0x0a, 0xb2, 0x02, 0x12, 0xaf, 0x02, 0x1a, 0xac, 0x02, 0}),
	    10);
	wire_out_done(&w);
	assert_int_equal(wire_varint_size(0), 1);
	assert_int_equal(wire_varint_size(127), 1);
	assert_int_equal(wire_varint_size(128), 2);
	assert_int_equal(wire_varint_size(UINT64_MAX), 10);
}

static void reads_fields_of_every_type(void **state)
{
	(void)state;
	static const uint8_t bytes[] = {0x08, 0x96, 0x01, 0x11, 1, 2,	 3,    4, 5, 6,	  7,
					8,    0x1a, 2,	  9,	9, 0x25, 0xff, 0, 0, 0x80};
	wire_source s;
	wire_reader r;
	wire_field f;
	dck_err err;
	bool more = true;

	assert_int_equal(wire_source_bytes(bytes, sizeof(bytes), &wire_onnx, &s, &err), DCK_OK);
	wire_reader_init(&s, "a test", &r);
	assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_OK);
	assert_int_equal(f.number, 1);
	assert_int_equal(f.type, WIRE_VARINT);
	assert_int_equal(f.value, 150);
	assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_OK);
	assert_int_equal(f.type, WIRE_FIXED64);
	assert_true(f.value == UINT64_C(0x0807060504030201));
	assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_OK);
	assert_int_equal(f.type, WIRE_BYTES);
	assert_int_equal(f.value, 2);
	assert_int_equal(f.data, 14);
	assert_int_equal(f.at, 12);
	assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_OK);
	assert_int_equal(f.type, WIRE_FIXED32);
	assert_true(f.value == UINT64_C(0x800000ff));
	assert_true(more);
	assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_OK);
	assert_false(more);
	assert_int_equal(f.number, 4); /* unchanged */
	wire_source_close(&s);
}

typedef struct bad_case {
	const uint8_t *bytes;
	size_t n;
	const char *says;
} bad_case;

static void refuses_what_cannot_be(void **state)
{
	(void)state;
	const bad_case cases[] = {
	    {(const uint8_t[]){0}, 1, "the model in memory is not a test: field 0 at byte 0"},
	    {(const uint8_t[]){0x80}, 1,
	     "the model in memory is not a test: no field tag at byte 0"},
	    {(const uint8_t[]){0x08}, 1,
	     "the model in memory is not a test: field 1 at byte 0 does not end"},
	    {(const uint8_t[]){0x08, 0x80}, 2,
	     "the model in memory is not a test: field 1 at byte 0 does not end"},
	    {(const uint8_t[]){0x09, 1, 2, 3}, 4,
	     "the model in memory is not a test: field 1 at byte 0 does not end"},
	    {(const uint8_t[]){0x0d, 1, 2, 3}, 4,
	     "the model in memory is not a test: field 1 at byte 0 does not end"},
	    {(const uint8_t[]){0x0b}, 1,
	     "the model in memory is not a test: field 1 at byte 0 has wire type 3"},
	    {(const uint8_t[]){0x0a, 2, 0}, 3,
	     "the model in memory is not a test: field 1 at byte 0 has length 2, but 1 bytes are left"},
	    /* a length of 2^64 - 1 */
	    {(const uint8_t[]){0x0a, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, 11,
	     "the model in memory is not a test: field 1 at byte 0 has length "
	     "9,223,372,036,854,775,807, but 0 bytes are left"},
	    /* eleven bytes of varint; a tag past 32 bits */
	    {(const uint8_t[]){0x08, 128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 0}, 12,
	     "the model in memory is not a test: field 1 at byte 0 does not end"},
	    {(const uint8_t[]){128, 128, 128, 128, 128, 1, 0}, 7,
	     "the model in memory is not a test: no field tag at byte 0"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		wire_source s;
		wire_reader r;
		wire_field f;
		dck_err err;
		bool more;

		assert_int_equal(
		    wire_source_bytes(cases[i].bytes, cases[i].n, &wire_onnx, &s, &err), DCK_OK);
		wire_reader_init(&s, "a test", &r);
		assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_E_FORMAT);
		assert_string_equal(err.msg, cases[i].says);
	}
}

static void stays_inside_a_message(void **state)
{
	(void)state;
	/* The inner message is one byte long: the number after it belongs to the outer one. */
	static const uint8_t bytes[] = {0x0a, 1, 0x08, 0x05, 0x05};
	wire_source s;
	wire_reader r, in;
	wire_field f;
	dck_err err;
	bool more = true;
	uint64_t v;

	assert_int_equal(wire_source_bytes(bytes, sizeof(bytes), &wire_onnx, &s, &err), DCK_OK);
	wire_reader_init(&s, "a test", &r);
	assert_int_equal(wire_next(&r, NULL, NULL, &f, &more, &err), DCK_OK);
	assert_int_equal(wire_enter(&r, &f, "an inner one", &in, &err), DCK_OK);
	assert_int_equal(wire_next(&in, NULL, NULL, &f, &more, &err), DCK_E_FORMAT);
	assert_string_equal(err.msg, "the model in memory is malformed: field 1 at byte 2 does not "
				     "end, in an inner one");
	in.at = 2;
	assert_int_equal(wire_packed_next(&in, WIRE_FIXED32, &v, &err), DCK_E_FORMAT);
	assert_string_equal(err.msg, "the model in memory is malformed: a list of numbers does not "
				     "end at byte 2, in an inner one");
}

static void a_file_reads_like_bytes(void **state)
{
	(void)state;
	uint8_t bytes[200000], back[70000];
	wire_source s;
	dck_err err;

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 31 + (i >> 8));
	assert_int_equal(
	    wire_source_open(scratch_file("bytes", bytes, sizeof bytes), &wire_onnx, &s, &err),
	    DCK_OK);
	assert_int_equal(s.size, sizeof(bytes));
	/* forward, across windows, and backward */
	for (size_t i = 0; i < 2 * sizeof(bytes); i += 17) {
		const uint8_t *p;
		size_t at = i < sizeof(bytes) ? i : 2 * sizeof(bytes) - i, n, want = 20;
		assert_int_equal(wire_source_peek(&s, at, want, &p, &n, &err), DCK_OK);
		assert_int_equal(n, sizeof(bytes) - at < want ? sizeof(bytes) - at : want);
		assert_memory_equal(p, bytes + at, n);
	}
	for (size_t n = 1; n < sizeof back; n = n * 3 + 1) {
		assert_int_equal(wire_source_copy(&s, 777, n, back, &err), DCK_OK);
		assert_memory_equal(back, bytes + 777, n);
	}
	/* a file that shrinks is an error, not a crash */
	assert_int_equal(truncate("bytes", 100), 0);
	assert_int_equal(wire_source_copy(&s, 150000, 5000, back, &err), DCK_E_IO);
	assert_non_null(strstr(err.msg, "became shorter while it was read"));
	wire_source_close(&s);
	wire_source_close(&s);
}

int test_model_wire(void);
int test_model_wire(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(writes_the_encoding_of_the_specification),
	    cmocka_unit_test(makes_room_for_long_lengths),
	    cmocka_unit_test(reads_fields_of_every_type),
	    cmocka_unit_test(refuses_what_cannot_be),
	    cmocka_unit_test(stays_inside_a_message),
	    cmocka_unit_test(a_file_reads_like_bytes),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
