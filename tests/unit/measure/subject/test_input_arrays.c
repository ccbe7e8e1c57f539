/* test_input_arrays.c - input values from arrays in memory.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/inputs.h"
#include "infos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static subject_inputs *made(const dck_tensor_info *in, dck_model_config c)
{
	subject_inputs *b = NULL;
	dck_err err = {0};

	if (subject_inputs_new(in, 1, NULL, &c, &b, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return b;
}

/* sentence NULL: any message. */
static void refused(const dck_tensor_info *in, dck_model_config c, dck_status code,
		    const char *sentence)
{
	subject_inputs *b = NULL;
	dck_err err = {0};

	assert_int_equal(subject_inputs_new(in, 1, NULL, &c, &b, &err), code);
	if (sentence)
		assert_string_equal(err.msg, sentence);
	assert_null(b);
}

static void they_are_inputs(void **state)
{
	static const float ones[6] = {1, 1, 1, 1, 1, 1};
	static const uint16_t halves[4] = {0x3f80, 0, 0, 0x4000};
	static const dck_tensor_info brain = {
	    .name = "x", .dtype = {DCK_DTYPE_BFLOAT, 16, 1}, .rank = 1, .dim = {-1}};
	dck_array all[] = {
	    {.name = "mine",
	     .tensor = {.data = (void *)(uintptr_t)ones, .dtype = F32, .rank = 2, .bytes = 24}},
	    {.name = "bf",
	     .tensor = {.data = (void *)(uintptr_t)halves,
			.dtype = {DCK_DTYPE_BFLOAT, 16, 1},
			.rank = 1,
			.dim = {4},
			.bytes = 8}}};
	const dck_arrays arrays = {all, 2};
	subject_inputs *b;

	(void)state;
	all[0].tensor.dim[0] = 2;
	all[0].tensor.dim[1] = 3;
	b = made(&fixed, CONFIG(.input = LIST("x=mine"), .arrays = arrays, .input_pool = 2));
	assert_string_equal(subject_inputs_text(b, 0), "2x3 float32, from 'mine'");
	for (size_t set = 0; set < 2; set++) {
		const dck_tensor *t = subject_inputs_get(b, set, 0);

		assert_memory_equal(t->data, ones, sizeof ones);
		assert_ptr_not_equal(t->data, ones);
	}
	subject_inputs_free(b);
	/* Element types that no file has. */
	b = made(&brain, CONFIG(.input = LIST("x=bf"), .arrays = arrays));
	assert_memory_equal(subject_inputs_get(b, 0, 0)->data, halves, sizeof halves);
	subject_inputs_free(b);
	refused(&brain, CONFIG(.input = LIST("x=mine"), .arrays = arrays), DCK_E_ARG,
		"'mine' has float32, the input 'x' needs bfloat16: give it so, as by "
		"array.astype('bfloat16')");
	all[0].tensor.dim[0] = 3;
	refused(&fixed, CONFIG(.input = LIST("x=mine"), .arrays = arrays), DCK_E_ARG,
		"the array 'mine' in memory has 24 bytes, which do not match its type and shape");
	all[0].tensor.dim[1] = 2;
	refused(&fixed, CONFIG(.input = LIST("x=mine"), .arrays = arrays), DCK_E_ARG,
		"'mine' gives the input 'x' the shape 3x2, but the model fixes axis 0 at 2 "
		"(2x3): export it with a symbolic dimension there to change it");
	/* A name without an array is a file name. */
	refused(&fixed, CONFIG(.input = LIST("x=nothing/there"), .arrays = arrays), DCK_E_ABSENT,
		NULL);
}

int test_input_arrays(void);
int test_input_arrays(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(they_are_inputs)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
