/* test_inputs.c - shapes resolved by the model, --input, --shape, --dim and --batch, in every order
 * and conflict; values from files and random values.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/inputs.h"
#include "measure/subject/shape_resolve.h"
#include "fault_alloc.h"
#include "infos.h"
#include "scratch.h"

#include <float.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static const dck_tensor_info unnamed = {.name = "x", .dtype = F32, .rank = 2, .dim = {-1, -1}};

static subject_inputs *made(const dck_tensor_info *in, size_t n, dck_model_config c)
{
	subject_inputs *b = NULL;
	dck_err err = {0};

	if (subject_inputs_new(in, n, NULL, &c, &b, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return b;
}

static void assert_shape(const subject_inputs *b, size_t index, const char *expected)
{
	const dck_tensor *t = subject_inputs_get(b, 0, index);
	char text[256] = "";
	size_t used = 0;

	for (int32_t d = 0; d < t->rank; d++)
		used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", d ? "x" : "",
					 (long long)t->dim[d]);
	assert_string_equal(text, expected);
}

/* Expects this shape for one input. */
static void shaped(const dck_tensor_info *in, dck_model_config c, const char *expected)
{
	subject_inputs *b = made(in, 1, c);

	assert_shape(b, 0, expected);
	subject_inputs_free(b);
}

static void refused(const dck_tensor_info *in, size_t n, dck_model_config c, dck_status code,
		    const char *sentence)
{
	subject_inputs *b = NULL;
	dck_err err = {0};

	assert_int_equal(subject_inputs_new(in, n, NULL, &c, &b, &err), code);
	assert_string_equal(err.msg, sentence);
	assert_null(b);
	assert_int_equal(subject_inputs_new(in, n, NULL, &c, &b, NULL), code);
}

/* --- files */

/* Writes an array of zeros, or of 1, 2, 3, ... for "<f4"; shape "2, 3". */
static void file_write(const char *path, const char *descr, const char *shape, size_t bytes)
{
	char header[512];
	FILE *f = fopen(path, "wb");
	int n;

	assert_non_null(f);
	n = snprintf(header, sizeof header,
		     "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", descr, shape);
	fwrite("\x93NUMPY\1\0", 1, 8, f);
	fputc(n & 0xff, f);
	fputc(n >> 8, f);
	fwrite(header, 1, (size_t)n, f);
	for (size_t i = 0; i < bytes / 4; i++) {
		const float v = (float)(i + 1);

		fwrite(&v, 1, 4, f);
	}
	assert_int_equal(fclose(f), 0);
}

static int files_begin(void **state)
{
	if (scratch_begin(state))
		return 1;
	file_write("f23.npy", "<f4", "2, 3", 24);
	file_write("f6.npy", "<f4", "6,", 24);
	file_write("f45.npy", "<f4", "4, 5", 80);
	file_write("i8.npy", "<i8", "2, 3", 48);
	file_write("f1.npy", "<f4", "", 4);
	file_write("a=b.npy", "<f4", "2, 3", 24);
	file_write("image.npy", "<f4", "2, 3, 4, 5", 480);
	return 0;
}

/* --- options that bind a dimension */

static void the_model(void **state)
{
	(void)state;
	shaped(&fixed, CONFIG(.seed = 1), "2x3");
	shaped(&scalar, CONFIG(.seed = 1), "");
	shaped(&fixed, CONFIG(.batch = 2), "2x3");
	shaped(&fixed, CONFIG(.shape = LIST("x=2x3")), "2x3");
}

static void options_in_every_mixture(void **state)
{
	(void)state;
	shaped(&image, CONFIG(.shape = LIST("x=1x3x224x320")), "1x3x224x320");
	shaped(&image, CONFIG(.dim = LIST("N=4", "width=7", "height=8")), "4x3x8x7");
	shaped(&image, CONFIG(.dim = LIST("height=8", "width=7"), .batch = 5), "5x3x8x7");
	/* The same size given twice is not a conflict. */
	shaped(
	    &image,
	    CONFIG(.dim = LIST("N=4", "N=4"), .shape = LIST("x=4x3x8x8", "x=4x3x8x8"), .batch = 4),
	    "4x3x8x8");
	/* A length may be 0, as in a state that is still empty; a batch may not. */
	shaped(&image, CONFIG(.dim = LIST("N=2", "height=0", "width=2")), "2x3x0x2");
	refused(&image, 1, CONFIG(.dim = LIST("N=0", "height=2", "width=2")), DCK_E_ARG,
		"axis 0 of the input 'x', the batch, is 0: give 1 or more");
	shaped(&image, CONFIG(.dim = LIST("N=1k", "height=1", "width=1_0")), "1000x3x1x10");
	shaped(&unnamed, CONFIG(.shape = LIST("x=2x0")), "2x0");
	shaped(&unranked, CONFIG(.shape = LIST("x=2x3x4")), "2x3x4");
	shaped(&unranked, CONFIG(.shape = LIST("x=2x3"), .batch = 2), "2x3");
}

static void files_fix_shapes(void **state)
{
	(void)state;
	shaped(&unnamed, CONFIG(.input = LIST("x=f45.npy")), "4x5");
	shaped(&unranked, CONFIG(.input = LIST("x=f6.npy")), "6");
	shaped(&unranked, CONFIG(.input = LIST("x=f45.npy"), .shape = LIST("x=4x5")), "4x5");
	shaped(&image, CONFIG(.input = LIST("x=image.npy"), .batch = 2, .dim = LIST("width=5")),
	       "2x3x4x5");
	shaped(&scalar, CONFIG(.input = LIST("x=f1.npy")), "");
}

static void equal_symbols_are_equal_sizes(void **state)
{
	dck_model_config c = CONFIG(.shape = LIST("mask=2x7"));
	subject_inputs *b;

	(void)state;
	b = made(pair, 2, c);
	assert_shape(b, 0, "2x7");
	assert_shape(b, 1, "2x7");
	subject_inputs_free(b);
	/* --batch binds the symbol in all inputs. */
	b = made(pair, 2, CONFIG(.batch = 3, .dim = LIST("seq=9")));
	assert_shape(b, 0, "3x9");
	assert_shape(b, 1, "3x9");
	subject_inputs_free(b);
	refused(pair, 2, CONFIG(.shape = LIST("ids=2x7", "mask=2x8")), DCK_E_ARG,
		"the dimension 'seq' would be 7 (--shape) and 8 (--shape): it has one size");
	refused(pair, 2, CONFIG(.shape = LIST("ids=2x7"), .dim = LIST("seq=8")), DCK_E_ARG,
		"the dimension 'seq' would be 7 (--shape) and 8 (--dim): it has one size");
	refused(pair, 2, CONFIG(.dim = LIST("seq=8", "seq=9")), DCK_E_ARG,
		"the dimension 'seq' would be 8 (--dim) and 9 (--dim): it has one size");
	/* Also within one shape. */
	const dck_tensor_info square = {
	    .name = "x", .dtype = F32, .rank = 2, .dim = {-1, -1}, .symbol = {"n", "n"}};
	shaped(&square, CONFIG(.batch = 4), "4x4");
	refused(&square, 1, CONFIG(.input = LIST("x=f45.npy")), DCK_E_ARG,
		"the dimension 'n' would be 4 ('f45.npy') and 5 ('f45.npy'): it has one size");
}

#define CAUSE(n) "the model leaves " n " open: "
#define WITH	 "; give them, for example with "

static void open_dimensions_say_what_to_give(void **state)
{
	/* Two equal symbols that are not names, and one more. */
	static const dck_tensor_info marks = {.name = "x",
					      .dtype = F32,
					      .rank = 4,
					      .dim = {-1, 3, -1, -1},
					      .symbol = {"?", NULL, "?", "-1"}};
	static const dck_tensor_info one_mark = {.name = "x",
						 .dtype = F32,
						 .rank = 4,
						 .dim = {-1, 3, -1, -1},
						 .symbol = {"N", NULL, "?", "W"}};
	static const dck_tensor_info speech[] = {
	    {.name = "input", .dtype = F32, .rank = 2, .dim = {-1, -1}},
	    {.name = "state", .dtype = F32, .rank = 3, .dim = {2, -1, 128}},
	};

	(void)state;
	refused(&image, 1, CONFIG(.seed = 1), DCK_E_ARG,
		CAUSE("3 sizes") "N (input 'x' axis 0), height (axis 2), width (axis 3)" WITH
				 "--batch 1 --dim height=224 --dim width=224 (or --shape "
				 "1x3x224x224)");
	refused(&image, 1, CONFIG(.batch = 1), DCK_E_ARG,
		CAUSE("2 sizes") "height (input 'x' axis 2), width (axis 3)" WITH
				 "--dim height=224 --dim width=224");
	refused(&image, 1, CONFIG(.batch = 4, .dim = LIST("width=64")), DCK_E_ARG,
		CAUSE("1 size") "height (input 'x' axis 2)" WITH "--dim height=224");
	refused(&unnamed, 1, CONFIG(.seed = 1), DCK_E_ARG,
		CAUSE("2 sizes") "one without a name (input 'x' axis 0), one without a name (axis "
				 "1)" WITH "--shape 1x128");
	refused(&unnamed, 1, CONFIG(.batch = 4), DCK_E_ARG,
		CAUSE("1 size") "one without a name (input 'x' axis 1)" WITH "--shape Nx128");
	shaped(&unnamed, CONFIG(.batch = 4, .shape = LIST("Nx128")), "4x128");
	shaped(&image, CONFIG(.batch = 4, .dim = LIST("width=5"), .shape = LIST("?x3x8x?")),
	       "4x3x8x5");
	shaped(&unranked, CONFIG(.batch = 4, .shape = LIST("Nx7")), "4x7");
	refused(&unranked, 1, CONFIG(.seed = 4), DCK_E_ARG,
		CAUSE("1 size") "all of the input 'x', even how many dimensions it has" WITH
				"--shape 1x3x224x224");
	refused(&marks, 1, CONFIG(.seed = 1), DCK_E_ARG,
		CAUSE("3 sizes") "one without a name (input 'x' axis 0), one without a name (axis "
				 "2), -1 (axis 3)" WITH "--shape 1x3x224x224");
	shaped(&marks, CONFIG(.shape = LIST("2x3x48x320")), "2x3x48x320");
	refused(&marks, 1, CONFIG(.dim = LIST("?=3")), DCK_E_ARG,
		"--dim names '?', which is not a name: exporters write it for any open size; give "
		"such sizes with --shape");
	refused(&one_mark, 1, CONFIG(.seed = 1), DCK_E_ARG,
		CAUSE("3 sizes") "N (input 'x' axis 0), ? (axis 2), W (axis 3)" WITH
				 "--batch 1 --dim '?=224' --dim W=224 (or --shape 1x3x224x224)");
	shaped(&one_mark, CONFIG(.batch = 1, .dim = LIST("?=48", "W=9")), "1x3x48x9");
	refused(pair, 2, CONFIG(.seed = 1), DCK_E_ARG,
		CAUSE("2 sizes") "batch (input 'ids' axis 0), seq (axis 1)" WITH
				 "--batch 1 --dim seq=128");
	refused(speech, 2, CONFIG(.seed = 1), DCK_E_ARG,
		CAUSE("3 sizes") "one without a name (input 'input' axis 0), one without a name "
				 "(axis 1), one without a name (input 'state' axis 1)" WITH
				 "--shape input=1x128 --shape state=2x1x128");
}

/* The file has symbols; the engine, which was opened with their sizes, reports none. */
static void symbols_of_the_file(void **state)
{
	static const int64_t dims[] = {-1, 3, -1, -1};
	static const char *const symbols[] = {"p.0", NULL, "p.1", "p.2"};
	static const model_value in = {"x", "tensor", 1, 4, dims, symbols, false};
	static const model_summary summary = {.values = {.in = &in, .nin = 1}};
	static const dck_tensor_info told = {
	    .name = "x", .dtype = F32, .rank = 4, .dim = {-1, 3, 32, 64}, .symbol = {"p.0"}};
	dck_model_config c = CONFIG(.batch = 1, .dim = LIST("p.1=32", "p.2=64"));
	subject_inputs *b = NULL;
	dck_err err;

	(void)state;
	assert_int_equal(subject_inputs_new(&told, 1, &summary, &c, &b, &err), DCK_OK);
	assert_shape(b, 0, "1x3x32x64");
	subject_inputs_free(b);
	c = CONFIG(.batch = 1, .dim = LIST("p.1=32", "p.3=64"));
	assert_int_equal(subject_inputs_new(&told, 1, &summary, &c, &b, &err), DCK_E_ARG);
	assert_string_equal(err.msg,
			    "--dim names 'p.3', which no input of the model has: did you mean "
			    "'p.0'?");
}

/* Types without generated values are refused before the engine is opened. */
static void kinds_that_cannot_be_fed(void **state)
{
	static const struct {
		model_value v;
		const char *begin;
	} cases[] = {
	    {{"x", "sequence", 0, -1, NULL, NULL, false},
	     "the input 'x' is of the kind sequence: "},
	    {{"x", "optional", 0, -1, NULL, NULL, false},
	     "the input 'x' is of the kind optional: "},
	    {{"x", "tensor", ONNX_STRING, -1, NULL, NULL, false},
	     "the input 'x' is of type string, "},
	    {{"x", "tensor", 22, -1, NULL, NULL, false}, "the input 'x' is of type int4, "},
	};
	static const model_value fine[] = {{"a", "tensor", ONNX_FLOAT16, -1, NULL, NULL, false},
					   {"b", "tensor", ONNX_BFLOAT16, -1, NULL, NULL, false},
					   {"c", "tensor", ONNX_BOOL, -1, NULL, NULL, false},
					   {"d", "", 0, -1, NULL, NULL, false}};
	const model_values all = {.in = fine, .nin = 4};
	mem_arena *a = mem_arena_new(0);
	dck_err err;

	(void)state;
	assert_int_equal(shape_resolve_types(a, &all, &err), DCK_OK);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const model_values one = {.in = &cases[i].v, .nin = 1};

		assert_int_equal(shape_resolve_types(a, &one, &err), DCK_E_UNSUP);
		assert_memory_equal(err.msg, cases[i].begin, strlen(cases[i].begin));
	}
	mem_arena_free(a);
}

/* Exporters write sums of other symbols as sizes. */
static void sizes_that_follow(void **state)
{
	static const dck_tensor_info decoder[] = {
	    {.name = "ids", .dtype = I64, .rank = 2, .dim = {-1, -1}, .symbol = {"batch", "seq"}},
	    {.name = "mask",
	     .dtype = I64,
	     .rank = 2,
	     .dim = {-1, -1},
	     .symbol = {"batch", "past + seq"}},
	    {.name = "past",
	     .dtype = F32,
	     .rank = 4,
	     .dim = {-1, 4, -1, -1},
	     .symbol = {"batch", NULL, "past", "2*seq - 1"}},
	};
	subject_inputs *b = made(decoder, 3, CONFIG(.batch = 2, .dim = LIST("seq=5", "past=7")));

	(void)state;
	assert_shape(b, 1, "2x12");
	assert_shape(b, 2, "2x4x7x9");
	subject_inputs_free(b);
	refused(decoder, 3, CONFIG(.dim = LIST("past=7")), DCK_E_ARG,
		CAUSE("4 sizes") "batch (input 'ids' axis 0), seq (axis 1), past + seq (input "
				 "'mask' axis 1), 2*seq - 1 (input 'past' axis 3)" WITH
				 "--batch 1 --dim seq=128");
}

/* --- conflicts */

static void shapes_the_model_does_not_take(void **state)
{
	(void)state;
	refused(&image, 1, CONFIG(.shape = LIST("x=3x224x224")), DCK_E_ARG,
		"--shape gives the input 'x' 3 dimensions (3x224x224), the model needs 4 "
		"(Nx3xheightxwidth)");
	refused(&unnamed, 1, CONFIG(.shape = LIST("x=3")), DCK_E_ARG,
		"--shape gives the input 'x' 1 dimensions (3), the model needs 2 (?x?)");
	refused(&scalar, 1, CONFIG(.shape = LIST("x=1")), DCK_E_ARG,
		"--shape gives the input 'x' 1 dimensions (1), the model needs 0 (a scalar)");
	refused(
	    &image, 1, CONFIG(.shape = LIST("x=1x4x224x224")), DCK_E_ARG,
	    "--shape gives the input 'x' the shape 1x4x224x224, but the model fixes axis 1 at 3 "
	    "(Nx3xheightxwidth): export it with a symbolic dimension there to change it");
	refused(&fixed, 1, CONFIG(.input = LIST("x=f45.npy")), DCK_E_ARG,
		"'f45.npy' gives the input 'x' the shape 4x5, but the model fixes axis 0 at 2 "
		"(2x3): export it with a symbolic dimension there to change it");
}

static void batches_that_cannot_be(void **state)
{
	const struct {
		const dck_tensor_info *in;
		dck_model_config c;
	} optional[] = {
	    {&fixed, CONFIG(.batch = 8, .batch_optional = true)},
	    {&image,
	     CONFIG(.batch = 8, .batch_optional = true, .dim = LIST("N=4", "height=1", "width=1"))},
	    {&image, CONFIG(.batch = 8, .batch_optional = true, .shape = LIST("x=4x3x1x1"))},
	};

	(void)state;
	for (size_t i = 0; i < sizeof optional / sizeof *optional; i++) {
		subject_inputs *b = NULL;

		assert_int_equal(
		    subject_inputs_new(optional[i].in, 1, NULL, &optional[i].c, &b, NULL), DCK_OK);
		assert_int_equal(subject_inputs_get(b, 0, 0)->dim[0], i == 0 ? 2 : 4);
		subject_inputs_free(b);
	}
	refused(&fixed, 1, CONFIG(.batch = 8), DCK_E_ARG,
		"--batch is 8, but the model fixes axis 0 of the input 'x' at 2: export it with a "
		"symbolic batch dimension (torch.onnx.export: dynamic_axes) to change it");
	refused(&image, 1, CONFIG(.batch = 8, .dim = LIST("N=4", "height=1", "width=1")), DCK_E_ARG,
		"--batch is 8, but --dim makes axis 0 of the input 'x' 4: give one of them");
	refused(&image, 1, CONFIG(.batch = 8, .shape = LIST("x=4x3x1x1")), DCK_E_ARG,
		"--batch is 8, but --shape makes axis 0 of the input 'x' 4: give one of them");
	refused(&unranked, 1, CONFIG(.batch = 8, .input = LIST("x=f45.npy")), DCK_E_ARG,
		"--batch is 8, but 'f45.npy' makes axis 0 of the input 'x' 4: give one of them");
	refused(&pair[0], 1, CONFIG(.batch = 8, .shape = LIST("ids=4x1")), DCK_E_ARG,
		"--batch is 8, but --shape makes axis 0 of the input 'ids' 4: give one of them");
}

static void a_file_and_a_shape_that_differ(void **state)
{
	(void)state;
	refused(&unnamed, 1, CONFIG(.input = LIST("x=f45.npy"), .shape = LIST("x=4x6")), DCK_E_ARG,
		"'f45.npy' gives the input 'x' the shape 4x5, and --shape gives it 4x6");
	/* The ranks differ: the file's values would not fit the tensor. */
	refused(&unranked, 1, CONFIG(.input = LIST("x=f45.npy"), .shape = LIST("x=4")), DCK_E_ARG,
		"'f45.npy' gives the input 'x' the shape 4x5, and --shape gives it 4");
	refused(&unranked, 1, CONFIG(.input = LIST("x=f45.npy"), .shape = LIST("x=4x5x0")),
		DCK_E_ARG,
		"'f45.npy' gives the input 'x' the shape 4x5, and --shape gives it 4x5x0");
	refused(&unnamed, 1, CONFIG(.shape = LIST("x=1x2", "x=1x3")), DCK_E_ARG,
		"--shape gives the input 'x' the shape 1x2, and --shape gives it 1x3");
	refused(&unnamed, 1, CONFIG(.input = LIST("x=f45.npy", "x=f45.npy")), DCK_E_ARG,
		"--input gives the input 'x' values twice");
}

static void wrong_words(void **state)
{
	(void)state;
	refused(
	    pair, 2, CONFIG(.shape = LIST("tokens=1x2")), DCK_E_ARG,
	    "--shape names the input 'tokens', which the model does not have: its first is 'ids'");
	refused(pair, 2, CONFIG(.input = LIST("masks=f.npy")), DCK_E_ARG,
		"--input names the input 'masks', which the model does not have: did you mean "
		"'mask'?");
	refused(NULL, 0, CONFIG(.input = LIST("x=f.npy")), DCK_E_ARG,
		"--input names the input 'x', but the model has no inputs");
	shaped(&image, CONFIG(.shape = LIST("1x3x32x64")), "1x3x32x64");
	refused(pair, 2, CONFIG(.shape = LIST("1x128")), DCK_E_ARG,
		"--shape is '1x128', and the model has 2 inputs: write it as NAME=1x3x224x224, for "
		"example ids=1x128");
	refused(&image, 1, CONFIG(.shape = LIST("=1x3")), DCK_E_ARG,
		"--shape is '=1x3': write it as NAME=1x3x224x224");
	refused(&image, 1, CONFIG(.input = LIST("x=")), DCK_E_ARG,
		"--input is 'x=': write it as NAME=FILE.npy, or NAME=NUMBER");
	refused(&image, 1, CONFIG(.shape = LIST("x=1,3,224")), DCK_E_ARG,
		"'1,3,224' is not a shape: write sizes with x between, as in 1x3x224x224");
	refused(&image, 1, CONFIG(.shape = LIST("x=1x-3")), DCK_E_ARG,
		"'1x-3' is not a shape: write sizes with x between, as in 1x3x224x224");
	refused(&image, 1, CONFIG(.dim = LIST("heihgt=3")), DCK_E_ARG,
		"--dim names 'heihgt', which no input of the model has: did you mean 'height'?");
	refused(&image, 1, CONFIG(.dim = LIST("N")), DCK_E_ARG,
		"--dim is 'N': write it as SYMBOL=N");
	refused(&image, 1, CONFIG(.dim = LIST("=3")), DCK_E_ARG,
		"--dim is '=3': write it as SYMBOL=N");
	refused(&image, 1, CONFIG(.dim = LIST("N=-1")), DCK_E_ARG,
		"--dim is 'N=-1': the size must not be negative");
	refused(&image, 1, CONFIG(.dim = LIST("N=9223372036854775808")), DCK_E_ARG,
		"--dim is 'N=9223372036854775808': the size is too large");
}

/* Names and files may contain '='. */
static void equals_signs(void **state)
{
	const dck_tensor_info odd = {.name = "a=b", .dtype = F32, .rank = 1, .dim = {-1}};

	(void)state;
	shaped(&odd, CONFIG(.shape = LIST("a=b=7")), "7");
	shaped(&fixed, CONFIG(.input = LIST("x=a=b.npy")), "2x3");
}

static void sizes_that_do_not_fit(void **state)
{
	const dck_tensor_info text = {
	    .name = "words", .dtype = {DCK_DTYPE_OTHER, 0, 1}, .rank = 1, .dim = {1}};
	subject_inputs *b = NULL;
	dck_err err;

	(void)state;
	refused(&image, 1, CONFIG(.shape = LIST("x=4000000000x3x4000000000x1")), DCK_E_LIMIT,
		"the input 'x' has more bytes than can be counted");
	assert_int_equal(subject_inputs_new(&image, 1, NULL,
					    &CONFIG(.shape = LIST("x=1000000x3x1000x1000")), &b,
					    &err),
			 DCK_E_NOMEM);
	assert_non_null(strstr(err.msg, "1 set(s) of inputs need more than "));
	assert_non_null(strstr(err.msg, "make --input-pool, --batch or the shapes smaller"));
	refused(&text, 1, CONFIG(.seed = 1), DCK_E_UNSUP,
		"the input 'words' is not a tensor of numbers (it is text, a sequence, or has "
		"elements of less than a byte): such inputs cannot be made here");
	refused(&text, 1, CONFIG(.input = LIST("words=f1.npy")), DCK_E_UNSUP,
		"the input 'words' is not of plain numbers, which are all that --input reads");
}

/* Two inputs per set: the number of tensors overflows, or their table alone is too large. */
static void pools_that_do_not_fit(void **state)
{
	static const uint64_t pools[] = {UINT64_C(1) << 40, UINT64_C(1) << 60, UINT64_C(1) << 63,
					 UINT64_MAX};
	const dck_tensor_info two[] = {fixed, {.name = "y", .dtype = F32, .rank = 1, .dim = {1}}};

	(void)state;
	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
		subject_inputs *b = NULL;
		char begin[64];
		dck_err err;

		assert_int_equal(
		    subject_inputs_new(two, 2, NULL, &CONFIG(.input_pool = pools[i]), &b, &err),
		    DCK_E_NOMEM);
		assert_null(b);
		snprintf(begin, sizeof begin, "%llu set(s) of inputs need more than ",
			 (unsigned long long)pools[i]);
		assert_memory_equal(err.msg, begin, strlen(begin));
		assert_non_null(strstr(err.msg, ": make --input-pool smaller"));
	}
}

/* --- values */

static void values_of_a_file(void **state)
{
	static const float expected[] = {1, 2, 3, 4, 5, 6};
	subject_inputs *b = made(&fixed, 1, CONFIG(.input = LIST("x=f23.npy"), .input_pool = 3));

	(void)state;
	assert_int_equal(subject_inputs_pool(b), 3);
	for (size_t set = 0; set < 3; set++) {
		const dck_tensor *t = subject_inputs_get(b, set, 0);

		assert_int_equal(t->bytes, sizeof expected);
		assert_memory_equal(t->data, expected, sizeof expected);
	}
	assert_string_equal(subject_inputs_text(b, 0), "2x3 float32, from 'f23.npy'");
	subject_inputs_free(b);
	refused(&fixed, 1, CONFIG(.input = LIST("x=i8.npy")), DCK_E_ARG,
		"'i8.npy' has int64, the input 'x' needs float32: save it so, with "
		"array.astype('float32')");
	dck_model_config c = CONFIG(.input = LIST("x=none.npy"));
	dck_err err;
	assert_int_equal(subject_inputs_new(&fixed, 1, NULL, &c, &b, &err), DCK_E_ABSENT);
	assert_non_null(strstr(err.msg, "none.npy"));
}

static void random_values(void **state)
{
	static const uint32_t f32[] = {0x3e892216, 0x3ec3762d, 0x3e854964, 0xbf3a21ed};
	const dck_tensor *t[2];
	subject_inputs *b = made(&fixed, 1, CONFIG(.seed = 1, .input_pool = 2));

	(void)state;
	for (size_t set = 0; set < 2; set++) {
		t[set] = subject_inputs_get(b, set, 0);
		assert_int_equal((uintptr_t)t[set]->data % 64, 0);
		assert_int_equal(t[set]->bytes, 24);
	}
	assert_memory_equal(t[0]->data, f32, sizeof f32);
	assert_memory_not_equal(t[0]->data, t[1]->data, 24);
	assert_string_equal(subject_inputs_text(b, 0), "2x3 float32, normal(0,1), seed 1");
	subject_inputs_free(b);
}

static void integers_stay_in_range(void **state)
{
	static const model_input ranges[] = {
	    {.name = "other", .has_range = true, .low = 5, .high = 5, .why = "no"},
	    {.name = "ids",
	     .has_range = true,
	     .low = 0,
	     .high = 9,
	     .why = "indexes 10 rows of 'e'"},
	};
	static const model_summary summary = {.inputs = ranges, .ninputs = 2};
	dck_model_config c = CONFIG(.batch = 4, .dim = LIST("seq=250"), .seed = 3);
	subject_inputs *b = NULL;
	const int64_t *ids, *mask;
	unsigned seen = 0;
	dck_err err;

	(void)state;
	assert_int_equal(subject_inputs_new(pair, 2, &summary, &c, &b, &err), DCK_OK);
	ids = subject_inputs_get(b, 0, 0)->data;
	mask = subject_inputs_get(b, 0, 1)->data;
	for (size_t i = 0; i < 1000; i++) {
		assert_in_range(ids[i], 0, 9);
		assert_in_range(mask[i], 0, 1);
		seen |= 1u << ids[i];
	}
	assert_int_equal(seen, 0x3ff);
	assert_string_equal(subject_inputs_text(b, 0),
			    "4x250 int64, uniform 0..9 (indexes 10 rows of 'e'), seed 3");
	assert_string_equal(subject_inputs_text(b, 1),
			    "4x250 int64, uniform 0..1 (the graph does not limit them), seed 3");
	subject_inputs_free(b);
	/* Bytes are data and have any value. */
	const dck_tensor_info bytes = {
	    .name = "x", .dtype = {DCK_DTYPE_UINT, 8, 1}, .rank = 1, .dim = {4}};
	b = made(&bytes, 1, CONFIG(.seed = 1));
	assert_string_equal(subject_inputs_text(b, 0),
			    "4 uint8, uniform 0..255 (the graph does not limit them), seed 1");
	subject_inputs_free(b);
	const dck_tensor_info truth = {.name = "x", .dtype = {DCK_DTYPE_BOOL, 8, 1}, .rank = 0};
	b = made(&truth, 1, CONFIG(.seed = 1));
	assert_string_equal(subject_inputs_text(b, 0), "a scalar bool, 0 or 1, seed 1");
	subject_inputs_free(b);
}

/* Checks a byte input against the range that the graph implies. */
static void bytes_in_range(dck_dtype t, int64_t low, int64_t high, int64_t least, int64_t greatest,
			   const char *text)
{
	const dck_tensor_info in = {.name = "x", .dtype = t, .rank = 1, .dim = {4000}};
	const model_input range = {
	    .name = "x", .has_range = true, .low = low, .high = high, .why = "rows"};
	const model_summary summary = {.inputs = &range, .ninputs = 1};
	int64_t seen_least = INT64_MAX, seen_greatest = INT64_MIN;
	subject_inputs *b = NULL;
	const void *p;
	dck_err err;

	assert_int_equal(subject_inputs_new(&in, 1, &summary, &CONFIG(.seed = 1), &b, &err),
			 DCK_OK);
	p = subject_inputs_get(b, 0, 0)->data;
	for (size_t i = 0; i < 4000; i++) {
		const int64_t v =
		    t.code == DCK_DTYPE_INT ? ((const int8_t *)p)[i] : ((const uint8_t *)p)[i];

		seen_least = v < seen_least ? v : seen_least;
		seen_greatest = v > seen_greatest ? v : seen_greatest;
	}
	assert_int_equal(seen_least, least);
	assert_int_equal(seen_greatest, greatest);
	assert_string_equal(subject_inputs_text(b, 0), text);
	subject_inputs_free(b);
}

/* A range wider than the type must not wrap around. */
static void ranges_wider_than_the_type(void **state)
{
	const dck_dtype i8 = {DCK_DTYPE_INT, 8, 1}, u8 = {DCK_DTYPE_UINT, 8, 1};

	(void)state;
	bytes_in_range(i8, 0, 200, 0, 127, "4000 int8, uniform 0..127 (rows), seed 1");
	bytes_in_range(u8, 0, 30521, 0, 255, "4000 uint8, uniform 0..255 (rows), seed 1");
	bytes_in_range(u8, -4, 3, 0, 3, "4000 uint8, uniform 0..3 (rows), seed 1");
	bytes_in_range(i8, -4, 3, -4, 3, "4000 int8, uniform -4..3 (rows), seed 1");
	bytes_in_range(u8, -9, -1, 0, 255,
		       "4000 uint8, uniform 0..255 (the graph does not limit them), seed 1");
	bytes_in_range(i8, INT64_MIN, INT64_MAX, -128, 127,
		       "4000 int8, uniform -128..127 (rows), seed 1");
}

static void types_that_no_file_holds(void **state)
{
	const dck_tensor_info half = {
	    .name = "x", .dtype = {DCK_DTYPE_BFLOAT, 16, 1}, .rank = 2, .dim = {2, 3}};

	(void)state;
	refused(&half, 1, CONFIG(.input = LIST("x=f23.npy")), DCK_E_ARG,
		"the input 'x' is of type bfloat16, which NumPy cannot save: leave --input out for "
		"random values");
	refused(&fixed, 1, CONFIG(.input = LIST("x=i8.npy")), DCK_E_ARG,
		"'i8.npy' has int64, the input 'x' needs float32: save it so, with "
		"array.astype('float32')");
}

static void filled(dck_dtype t, const char *values, const void *expected, size_t bytes,
		   const char *text)
{
	const dck_tensor_info in = {.name = "x", .dtype = t, .rank = 1, .dim = {3}};
	dck_model_config c = {.seed = 1, .input = {.item = {values}, .n = 1}};
	subject_inputs *b = made(&in, 1, c);

	assert_memory_equal(subject_inputs_get(b, 0, 0)->data, expected, bytes);
	assert_string_equal(subject_inputs_text(b, 0), text);
	subject_inputs_free(b);
}

static void values_in_words(void **state)
{
	static const float halves[] = {0.5f, 0.5f, 0.5f}, ones[] = {1, 1, 1}, zeros[] = {0, 0, 0};
	static const int64_t rate[] = {16000, 16000, 16000},
			     big[] = {INT64_MAX, INT64_MAX, INT64_MAX}, kilo[] = {1000, 1000, 1000};
	static const uint16_t half[] = {0x3c00, 0x3c00, 0x3c00}, bf[] = {0x3f80, 0x3f80, 0x3f80};
	/* 1 and -503 steps of 2^-24 */
	static const uint16_t least_half[] = {1, 1, 1}, small_half[] = {0x81f7, 0x81f7, 0x81f7};
	static const uint8_t truth[] = {1, 1, 1};
	const dck_dtype f32 = F32, i64 = I64, f16 = {DCK_DTYPE_FLOAT, 16, 1},
			bf16 = {DCK_DTYPE_BFLOAT, 16, 1}, logic = {DCK_DTYPE_BOOL, 8, 1},
			u8 = {DCK_DTYPE_UINT, 8, 1};
	const dck_tensor_info bytes = {.name = "x", .dtype = u8, .rank = 1, .dim = {400}};
	const dck_tensor_info reals = {.name = "x", .dtype = f32, .rank = 1, .dim = {400}};
	const dck_tensor_info wide = {
	    .name = "x", .dtype = {DCK_DTYPE_FLOAT, 64, 1}, .rank = 1, .dim = {3}};
	const dck_tensor_info brain = {.name = "x", .dtype = bf16, .rank = 1, .dim = {3}};
	static const float least[] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
	subject_inputs *b;

	(void)state;
	filled(f32, "x=0.5", halves, sizeof halves, "3 float32, 0.5 (--input)");
	filled(f32, "1.", ones, sizeof ones, "3 float32, 1. (--input)");
	filled(f32, "zeros", zeros, sizeof zeros, "3 float32, zeros (--input)");
	filled(f32, "ones", ones, sizeof ones, "3 float32, ones (--input)");
	filled(i64, "16000", rate, sizeof rate, "3 int64, 16000 (--input)");
	filled(i64, "1e3", kilo, sizeof kilo, "3 int64, 1e3 (--input)");
	filled(i64, "x=9223372036854775807", big, sizeof big,
	       "3 int64, 9223372036854775807 (--input)");
	filled(f16, "1", half, sizeof half, "3 float16, 1 (--input)");
	filled(f16, "6e-8", least_half, sizeof least_half, "3 float16, 6e-8 (--input)");
	filled(f16, "-3e-5", small_half, sizeof small_half, "3 float16, -3e-5 (--input)");
	filled(bf16, "ones", bf, sizeof bf, "3 bfloat16, ones (--input)");
	filled(logic, "true", truth, sizeof truth, "3 bool, true (--input)");
	filled(logic, "1", truth, sizeof truth, "3 bool, 1 (--input)");
	b = made(&bytes, 1, CONFIG(.seed = 1, .input = LIST("x=range(7, 9)")));
	unsigned seen = 0;
	for (size_t i = 0; i < 400; i++)
		seen |= 1u << ((const uint8_t *)subject_inputs_get(b, 0, 0)->data)[i];
	assert_int_equal(seen, 7u << 7);
	subject_inputs_free(b);
	b = made(&reals, 1, CONFIG(.seed = 1, .input = LIST("range(-2,0.5)")));
	float low = 9, high = -9;
	for (size_t i = 0; i < 400; i++) {
		const float v = ((const float *)subject_inputs_get(b, 0, 0)->data)[i];

		low = v < low ? v : low;
		high = v > high ? v : high;
	}
	assert_true(low >= -2 && low < -1.9f && high < 0.5f && high > 0.4f);
	subject_inputs_free(b);
	refused(&bytes, 1, CONFIG(.input = LIST("256")), DCK_E_ARG,
		"--input gives the input 'x' values that its type, uint8, does not hold");
	refused(&bytes, 1, CONFIG(.input = LIST("range(-1,5)")), DCK_E_ARG,
		"--input gives the input 'x' values that its type, uint8, does not hold");
	filled(f32, "x=-3.4028234e38", least, sizeof least, "3 float32, -3.4028234e38 (--input)");
	refused(&reals, 1, CONFIG(.input = LIST("x=1e39")), DCK_E_ARG,
		"--input gives the input 'x' values that its type, float32, does not hold");
	refused(&wide, 1, CONFIG(.input = LIST("range(-1e308,1e308)")), DCK_E_ARG,
		"--input gives the input 'x' values that its type, float64, does not hold");
	refused(&brain, 1, CONFIG(.input = LIST("3.4e38")), DCK_E_ARG,
		"--input gives the input 'x' values that its type, bfloat16, does not hold");
	refused(&bytes, 1, CONFIG(.input = LIST("0.5")), DCK_E_ARG,
		"--input gives the input 'x' numbers that are not whole, but its type is uint8");
	refused(&bytes, 1, CONFIG(.input = LIST("range(5,1)")), DCK_E_ARG,
		"--input has 'range(5,1)': write range(LOW,HIGH), the lower end first");
	refused(&bytes, 1, CONFIG(.input = LIST("x=1", "x=2")), DCK_E_ARG,
		"--input gives the input 'x' values twice");
}

/* Hints about inputs that may have selected the failing branch. */
static void hints(void **state)
{
	static const model_input ranges[] = {{.name = "mode", .is_compared = true, .compared = 7}};
	static const model_summary summary = {.inputs = ranges, .ninputs = 1};
	static const dck_tensor_info in[] = {
	    {.name = "x", .dtype = F32, .rank = 1, .dim = {3}},
	    {.name = "mode", .dtype = I64, .rank = 0},
	};
	static const dck_tensor_info rate = {.name = "rate", .dtype = I64, .rank = 1, .dim = {1}};
	dck_model_config c = CONFIG(.seed = 1);
	subject_inputs *b = NULL;

	(void)state;
	assert_int_equal(subject_inputs_new(in, 2, &summary, &c, &b, NULL), DCK_OK);
	assert_string_equal(subject_inputs_hint(b, NULL, "it fails"),
			    "its random inputs may be why: 'mode' is a single integer, which may "
			    "select something: try --input mode=7");
	subject_inputs_free(b);
	b = made(&rate, 1, c);
	assert_non_null(strstr(subject_inputs_hint(b, NULL, "it fails"), "try --input rate=16000"));
	assert_string_equal(subject_inputs_hint(b, NULL, "value 1 at index 2 is out of range"),
			    "its random inputs may be why: 'rate' has integers, which may be out "
			    "of range: try --input rate=0");
	subject_inputs_free(b);
	b = made(&rate, 1, CONFIG(.input = LIST("16000")));
	assert_null(subject_inputs_hint(b, NULL, "it fails"));
	subject_inputs_free(b);
	b = made(in, 1, c);
	assert_null(subject_inputs_hint(b, NULL, "it fails"));
	subject_inputs_free(b);
}

static void every_allocation_may_fail(void **state)
{
	const dck_model_config c =
	    CONFIG(.input = LIST("x=f23.npy"), .shape = LIST("x=2x3"), .input_pool = 2);
	dck_status status = DCK_E_NOMEM;
	size_t failures = 0;

	(void)state;
	for (size_t at = 1; status != DCK_OK; at++) {
		subject_inputs *b = NULL;
		fault_alloc f;
		dck_err err;

		fault_alloc_begin(&f, at);
		status = subject_inputs_new(&fixed, 1, NULL, &c, &b, &err);
		if (status != DCK_OK) {
			assert_int_equal(status, DCK_E_NOMEM);
			assert_null(b);
			failures++;
		}
		subject_inputs_free(b);
		dck_set_allocator(NULL);
		assert_int_equal(f.out, 0);
	}
	assert_true(failures >= 3);
}

int test_inputs(void);
int test_inputs(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_model),
	    cmocka_unit_test(options_in_every_mixture),
	    cmocka_unit_test(files_fix_shapes),
	    cmocka_unit_test(equal_symbols_are_equal_sizes),
	    cmocka_unit_test(open_dimensions_say_what_to_give),
	    cmocka_unit_test(shapes_the_model_does_not_take),
	    cmocka_unit_test(batches_that_cannot_be),
	    cmocka_unit_test(a_file_and_a_shape_that_differ),
	    cmocka_unit_test(wrong_words),
	    cmocka_unit_test(equals_signs),
	    cmocka_unit_test(sizes_that_do_not_fit),
	    cmocka_unit_test(pools_that_do_not_fit),
	    cmocka_unit_test(values_of_a_file),
	    cmocka_unit_test(random_values),
	    cmocka_unit_test(integers_stay_in_range),
	    cmocka_unit_test(ranges_wider_than_the_type),
	    cmocka_unit_test(types_that_no_file_holds),
	    cmocka_unit_test(values_in_words),
	    cmocka_unit_test(hints),
	    cmocka_unit_test(symbols_of_the_file),
	    cmocka_unit_test(sizes_that_follow),
	    cmocka_unit_test(kinds_that_cannot_be_fed),
	    cmocka_unit_test(every_allocation_may_fail),
	};
	return cmocka_run_group_tests(tests, files_begin, scratch_end);
}
