/* test_npy.c - arrays saved by NumPy: supported files, and the messages for all others.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/npy.h"
#include "base/mem.h"
#include "fault_alloc.h"
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

/* A file in memory: magic, version, length, `header`, n bytes of data. Owned. */
static dck_buffer file_of(unsigned version, const char *header, const void *data, size_t n)
{
	const size_t length = strlen(header), begin = version == 1 ? 10 : 12;
	dck_buffer b = {.data = mem_zalloc(begin + length + n + 1, 1), .n = begin + length + n};

	assert_non_null(b.data);
	memcpy(b.data, "\x93NUMPY", 6);
	b.data[6] = (char)version;
	b.data[8] = (char)(length & 0xff);
	b.data[9] = (char)(length >> 8);
	memcpy(b.data + begin, header, length);
	if (n > 0)
		memcpy(b.data + begin + length, data, n);
	return b;
}

static npy_array parsed(unsigned version, const char *header, const void *data, size_t n)
{
	dck_buffer b = file_of(version, header, data, n);
	npy_array a = {0};
	dck_err err = {0};

	if (npy_parse("a.npy", &b, &a, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_null(b.data); /* ownership was transferred */
	return a;
}

static void refused(dck_buffer b, dck_status code, const char *sentence)
{
	npy_array a = {.rank = 77};
	dck_err err = {0};

	assert_int_equal(npy_parse("a.npy", &b, &a, &err), code);
	assert_string_equal(err.msg, sentence);
	assert_int_equal(a.rank, 77);
	assert_null(a.file.data);
	assert_int_equal(npy_parse("a.npy", &b, &a, NULL), code);
	dck_buffer_done(&b); /* the caller still owns it */
}

static void refused_header(const char *header, const char *sentence)
{
	refused(file_of(1, header, "12345678", 8), DCK_E_FORMAT, sentence);
}

static void plain_arrays_of_every_version(void **state)
{
	static const float values[] = {1, 2, 3, 4, 5, 6};

	(void)state;
	for (unsigned version = 1; version <= 3; version++) {
		npy_array a = parsed(
		    version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n",
		    values, sizeof values);

		assert_int_equal(a.rank, 2);
		assert_int_equal(a.dim[0], 2);
		assert_int_equal(a.dim[1], 3);
		assert_int_equal(a.bytes, sizeof values);
		assert_int_equal(a.dtype.code, DCK_DTYPE_FLOAT);
		assert_int_equal(a.dtype.bits, 32);
		assert_int_equal(a.dtype.lanes, 1);
		assert_memory_equal(a.data, values, sizeof values);
		npy_done(&a);
		assert_null(a.file.data);
		npy_done(&a);
	}
}

static void every_element_type(void **state)
{
	static const struct {
		const char *descr;
		int code, bits;
	} cases[] = {
	    {"|b1", DCK_DTYPE_BOOL, 8},	    {"|i1", DCK_DTYPE_INT, 8},
	    {"<i2", DCK_DTYPE_INT, 16},	    {"<i4", DCK_DTYPE_INT, 32},
	    {"<i8", DCK_DTYPE_INT, 64},	    {"|u1", DCK_DTYPE_UINT, 8},
	    {"<u2", DCK_DTYPE_UINT, 16},    {"=u4", DCK_DTYPE_UINT, 32},
	    {"<u8", DCK_DTYPE_UINT, 64},    {"<f2", DCK_DTYPE_FLOAT, 16},
	    {"<f4", DCK_DTYPE_FLOAT, 32},   {"<f8", DCK_DTYPE_FLOAT, 64},
	    {"<c8", DCK_DTYPE_COMPLEX, 64}, {"<c16", DCK_DTYPE_COMPLEX, 128},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char header[128];
		npy_array a;

		snprintf(header, sizeof header,
			 "{'descr': '%s', 'fortran_order': False, 'shape': (1,), }\n",
			 cases[i].descr);
		a = parsed(1, header, "0123456789abcdef", (size_t)cases[i].bits / 8);
		assert_int_equal(a.dtype.code, cases[i].code);
		assert_int_equal(a.dtype.bits, cases[i].bits);
		assert_memory_equal(a.data, "0123456789abcdef", (size_t)cases[i].bits / 8);
		npy_done(&a);
	}
}

static void scalars_and_empty_arrays(void **state)
{
	npy_array a =
	    parsed(1, "{'descr': '<i2', 'fortran_order': False, 'shape': (), }", "\x05\x00", 2);

	(void)state;
	assert_int_equal(a.rank, 0);
	assert_int_equal(a.bytes, 2);
	npy_done(&a);
	a = parsed(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (3, 0, 5), }", NULL, 0);
	assert_int_equal(a.rank, 3);
	assert_int_equal(a.dim[1], 0);
	assert_int_equal(a.bytes, 0);
	npy_done(&a);
	/* Sixteen dimensions are the maximum. */
	a = parsed(1,
		   "{'descr': '|i1', 'fortran_order': False, "
		   "'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }",
		   "x", 1);
	assert_int_equal(a.rank, 16);
	npy_done(&a);
}

/* The keys may have any order. */
static void big_endian_is_put_right(void **state)
{
	static const uint16_t expected[] = {0x0102, 0x0304};
	static const uint32_t parts[] = {0x01020304, 0x05060708};
	npy_array a =
	    parsed(1, "{'shape': (2,), 'fortran_order': False, 'descr': '>u2'}", "\1\2\3\4", 4);

	(void)state;
	assert_memory_equal(a.data, expected, sizeof expected);
	npy_done(&a);
	/* The two parts of a complex number are swapped separately. */
	a = parsed(1, "{'descr': '>c8', 'fortran_order': False, 'shape': (1,)}",
		   "\1\2\3\4\5\6\7\10", 8);
	assert_memory_equal(a.data, parts, sizeof parts);
	npy_done(&a);
}

static void column_major_becomes_row_major(void **state)
{
	/* a[i][j][k] = 100 i + 10 j + k, of 2 x 3 x 4, the first index fastest. */
	int16_t data[24], expected[24];
	npy_array a;

	(void)state;
	for (int i = 0; i < 2; i++)
		for (int j = 0; j < 3; j++)
			for (int k = 0; k < 4; k++) {
				const int16_t v = (int16_t)(100 * i + 10 * j + k);

				data[i + 2 * (j + 3 * k)] = v;
				expected[(i * 3 + j) * 4 + k] = v;
			}
	a = parsed(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4)}", data,
		   sizeof data);
	assert_memory_equal(a.data, expected, sizeof expected);
	npy_done(&a);
	/* With one dimension both orders are the same. */
	a = parsed(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (24,)}", data, sizeof data);
	assert_memory_equal(a.data, data, sizeof data);
	npy_done(&a);
	/* Both byte order and index order are foreign. */
	a = parsed(1, "{'descr': '>u2', 'fortran_order': True, 'shape': (2, 2)}",
		   "\0\1\0\3\0\2\0\4", 8);
	assert_memory_equal(a.data, ((uint16_t[]){1, 2, 3, 4}), 8);
	npy_done(&a);
}

static void no_npy_file(void **state)
{
	dck_buffer b = file_of(1, "{}", NULL, 0);
	dck_buffer none = {.data = mem_zalloc(1, 1), .n = 0};

	(void)state;
	refused(none, DCK_E_FORMAT, "'a.npy' is no .npy file (write it with numpy.save)");
	b.data[0] = 'P';
	refused(b, DCK_E_FORMAT, "'a.npy' is no .npy file (write it with numpy.save)");
	refused(file_of(9, "{}", NULL, 0), DCK_E_VERSION,
		"'a.npy' is a .npy file of version 9: 1 to 3 are read");
	refused(file_of(0, "{}", NULL, 0), DCK_E_VERSION,
		"'a.npy' is a .npy file of version 0: 1 to 3 are read");
}

static void every_truncation(void **state)
{
	static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n";
	dck_err err;

	(void)state;
	for (unsigned version = 1; version <= 2; version++) {
		dck_buffer whole = file_of(version, header, "12345678", 8);

		for (size_t n = 0; n < whole.n; n++) {
			/* Exactly the file's size, so that a sanitizer detects a read past it. */
			dck_buffer part = {.data = mem_zalloc(n + (n == 0), 1), .n = n};
			npy_array a = {0};

			memcpy(part.data, whole.data, n);
			assert_int_equal(npy_parse("a.npy", &part, &a, &err), DCK_E_FORMAT);
			dck_buffer_done(&part);
		}
		dck_buffer_done(&whole);
	}
	refused(file_of(1, header, "1234567", 7), DCK_E_FORMAT,
		"'a.npy' is truncated: its shape needs 8 bytes of data, there are 7");
	refused(file_of(1, header, "123456789", 9), DCK_E_FORMAT,
		"'a.npy' is damaged: its shape needs 8 bytes of data, there are 9");
}

static void hostile_headers(void **state)
{
	dck_buffer b = file_of(2, "{}", NULL, 0);

	(void)state;
	memcpy(b.data + 8, "\xff\xff\xff\xff", 4);
	refused(b, DCK_E_FORMAT,
		"'a.npy' is truncated or damaged: its header states 4294967295 bytes");
	b = file_of(1, "{}", NULL, 0);
	b.data[9] = 1;
	refused(b, DCK_E_FORMAT, "'a.npy' is truncated or damaged: its header states 258 bytes");
	refused_header("", "'a.npy' is no .npy file: its header has no element type");
	refused_header("{'descr' '<f4'}",
		       "'a.npy' is no .npy file: its header has no element type");
	refused_header("{'descr': '<f4', 'shape': (2,)}",
		       "'a.npy' is no .npy file: its header has no fortran_order");
	refused_header("{'descr': '<f4', 'fortran_order': 7, 'shape': (2,)}",
		       "'a.npy' is no .npy file: its header has no fortran_order");
	refused_header("{'descr': '<f4', 'fortran_order': False}",
		       "'a.npy' is no .npy file: its header has no shape");
	refused_header("{'descr': '<f4', 'fortran_order': False, 'shape': 2}",
		       "'a.npy' is no .npy file: its header has no shape");
}

static void hostile_types(void **state)
{
	(void)state;
	refused_header("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (2,)}",
		       "'a.npy' holds records, not plain numbers: save a plain array (numpy.save)");
#define OTHER(descr, shown)                                                                \
	refused_header("{'descr': '" descr "', 'fortran_order': False, 'shape': (2,)}",    \
		       "'a.npy' has elements of NumPy's type '" shown "': only booleans, " \
		       "integers, floats and complex numbers are read")
	OTHER("|O", "|O");
	OTHER("<U5", "<U5");
	OTHER("|S4", "|S4");
	OTHER("|V2", "|V2");
	OTHER("<M8[ns]", "<M8[ns]");
	OTHER("<f16", "<f16");
	OTHER("<f3", "<f3");
	OTHER("<f4x", "<f4x");
	OTHER("f4", "f4");
	OTHER("", "");
	OTHER("<", "<");
	OTHER("<f99999999999999999999999", "<f99999999999999");
	refused_header("{'descr': '<", "'a.npy' has elements of NumPy's type '<': only booleans, "
				       "integers, floats and complex numbers are read");
}

static void hostile_shapes(void **state)
{
#define SHAPE(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"
	(void)state;
	refused_header(SHAPE("(4611686018427387904, 4)"),
		       "'a.npy' has a shape whose size overflows");
	refused_header(SHAPE("(9223372036854775806,)"), "'a.npy' has a shape whose size overflows");
	refused_header(
	    SHAPE("(4000000000,)"),
	    "'a.npy' is truncated: its shape needs 16000000000 bytes of data, there are 8");
	refused_header(SHAPE("(9223372036854775808,)"),
		       "'a.npy' has a shape that cannot be read: 9223372036854775808,)}");
	refused_header(SHAPE("(-2,)"), "'a.npy' has a shape that cannot be read: -2,)}");
	refused_header(SHAPE("(two,)"), "'a.npy' has a shape that cannot be read: two,)}");
	refused_header("{'descr': '<f4', 'fortran_order': False, 'shape': (2",
		       "'a.npy' has a shape that cannot be read: ");
	refused_header(SHAPE("(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2)"),
		       "'a.npy' has more than 16 dimensions");
}

static void every_allocation_may_fail(void **state)
{
	static const char header[] = "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 2)}";
	dck_status status = DCK_E_NOMEM;
	size_t failures = 0;

	(void)state;
	for (size_t at = 1; status != DCK_OK; at++) {
		fault_alloc f;
		npy_array a = {0};
		dck_buffer b;
		dck_err err;

		fault_alloc_begin(&f, 0);
		b = file_of(1, header, "\1\0\2\0\3\0\4\0", 8);
		f.fail_at = f.calls + at;
		status = npy_parse("a.npy", &b, &a, &err);
		if (status != DCK_OK) {
			assert_int_equal(status, DCK_E_NOMEM);
			failures++;
		}
		dck_buffer_done(&b);
		npy_done(&a);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
	}
	assert_int_equal(failures, 2); /* allocations: the header's text, the copy to transpose */
}

static void files(void **state)
{
	static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}";
	dck_buffer b = file_of(1, header, "abc", 3);
	const char *path = scratch_file("a.npy", b.data, b.n);
	npy_array a = {0};
	dck_err err;

	(void)state;
	assert_int_equal(npy_read(path, 1 << 20, &a, &err), DCK_OK);
	assert_memory_equal(a.data, "abc", 3);
	npy_done(&a);
	assert_int_equal(npy_read(path, 20, &a, &err), DCK_E_LIMIT);
	assert_non_null(strstr(err.msg, path));
	assert_int_equal(truncate(path, 30), 0);
	assert_int_equal(npy_read(path, 1 << 20, &a, &err), DCK_E_FORMAT);
	unlink(path);
	assert_int_equal(npy_read(path, 1 << 20, &a, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, path));
	assert_int_not_equal(npy_read("/", 1 << 20, &a, &err), DCK_OK);
	dck_buffer_done(&b);
}

/* Texts are read only where requested: labels. */
static void texts(void **state)
{
	static const char header[] = "{'descr': '<U2', 'fortran_order': False, 'shape': (2,), }";
	static const unsigned char little[] = {'a',  0, 0, 0, 0,   0, 0, 0,
					       0xe9, 0, 0, 0, 'b', 0, 0, 0};
	static const unsigned char big[] = {0, 0, 0, 'a', 0, 0, 0, 0, 0, 0, 0, 0xe9, 0, 0, 0, 'b'};
	dck_buffer b = file_of(1, header, little, sizeof little);
	npy_array a = {0};
	dck_err err;

	(void)state;
	assert_true(npy_is(&b));
	assert_int_equal(npy_parse("a.npy", &b, &a, &err), DCK_E_FORMAT);
	assert_int_equal(npy_parse_any("a.npy", &b, &a, &err), DCK_OK);
	assert_int_equal(a.text, 'U');
	assert_int_equal(a.width, 8);
	assert_memory_equal(a.data, little, sizeof little);
	npy_done(&a);
	b = file_of(1, "{'descr': '>U2', 'fortran_order': False, 'shape': (2,), }", big,
		    sizeof big);
	assert_int_equal(npy_parse_any("a.npy", &b, &a, &err), DCK_OK);
	assert_memory_equal(a.data, little, sizeof little);
	npy_done(&a);
	b = file_of(1, "{'descr': '|S3', 'fortran_order': True, 'shape': (1, 2), }", "onetwo", 6);
	assert_int_equal(npy_parse_any("a.npy", &b, &a, &err), DCK_OK);
	assert_int_equal(a.text, 'S');
	assert_memory_equal(a.data, "onetwo", 6);
	npy_done(&a);
	/* Width 0, and a width above the maximum of a label. */
	b = file_of(1, "{'descr': '<U0', 'fortran_order': True, 'shape': (5, 2), }", "", 0);
	assert_int_equal(npy_parse_any("a.npy", &b, &a, &err), DCK_OK);
	assert_int_equal(a.width, 0);
	npy_done(&a);
	b = file_of(1, "{'descr': '<U4000000000', 'fortran_order': False, 'shape': (2,), }", "", 0);
	assert_int_equal(npy_parse_any("a.npy", &b, &a, &err), DCK_E_FORMAT);
	dck_buffer_done(&b);
	b = file_of(1, header, little, 12);
	assert_int_equal(npy_parse_any("a.npy", &b, &a, &err), DCK_E_FORMAT);
	dck_buffer_done(&b);
}

int test_npy(void);
int test_npy(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(plain_arrays_of_every_version),
	    cmocka_unit_test(every_element_type),
	    cmocka_unit_test(scalars_and_empty_arrays),
	    cmocka_unit_test(big_endian_is_put_right),
	    cmocka_unit_test(column_major_becomes_row_major),
	    cmocka_unit_test(no_npy_file),
	    cmocka_unit_test(every_truncation),
	    cmocka_unit_test(hostile_headers),
	    cmocka_unit_test(hostile_types),
	    cmocka_unit_test(hostile_shapes),
	    cmocka_unit_test(every_allocation_may_fail),
	    cmocka_unit_test(files),
	    cmocka_unit_test(texts),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
