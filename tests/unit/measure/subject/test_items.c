/* test_items.c - which axis of the inputs is the batch, and the items of a run.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "measure/subject/inputs.h"
#include "measure/subject/shape_resolve.h"
#include "infos.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void items_counted(const dck_tensor_info *in, size_t n, dck_model_config c, uint64_t items,
			  const char *expected)
{
	subject_inputs *b = NULL;
	const char *how = NULL;
	dck_err err = {0};

	if (subject_inputs_new(in, n, NULL, &c, &b, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(subject_inputs_items(b, &how), items);
	assert_string_equal(how, expected);
	subject_inputs_free(b);
}

static void items_of_a_run(void **state)
{
	(void)state;
	items_counted(pair, 2, CONFIG(.batch = 6, .dim = LIST("seq=2")), 6, "from --batch");
	items_counted(&fixed, 1, CONFIG(.seed = 1), 2, "axis 0 of 'x', the first input");
	items_counted(&image, 1, CONFIG(.shape = LIST("x=3x3x8x8")), 3,
		      "'N': axis 0 of 'x', which the model leaves open");
	items_counted(&unranked, 1, CONFIG(.shape = LIST("x=7")), 1,
		      "one a run: no input has a batch axis");
	items_counted(&scalar, 1, CONFIG(.seed = 1), 1, "one a run: no input has a batch axis");
	items_counted(NULL, 0, CONFIG(.seed = 1), 1, "one a run: no input has a batch axis");
}

/* A state passed from run to run has other leading axes, and is the first input here. */
static void a_state_is_no_batch(void **state)
{
	static const dck_tensor_info open[] = {
	    {.name = "state", .dtype = F32, .rank = 3, .dim = {2, -1, 8}, .symbol = {[1] = "n"}},
	    {.name = "input", .dtype = F32, .rank = 2, .dim = {-1, 16}, .symbol = {"n"}},
	};
	static const dck_tensor_info closed[] = {
	    {.name = "state", .dtype = F32, .rank = 3, .dim = {2, 1, 8}},
	    {.name = "input", .dtype = F32, .rank = 2, .dim = {1, 16}},
	};
	static const dck_tensor_info last[] = {
	    {.name = "x", .dtype = F32, .rank = 3, .dim = {-1, -1, 8}, .symbol = {"seq", "batch"}},
	};
	static const int64_t open_dims[] = {-1, 1}, closed_dims[] = {1, 1};
	static const char *const symbols[] = {"n", NULL};
	static const model_value open_out = {"y", "tensor", 1, 2, open_dims, symbols, false},
				 closed_out = {"y", "tensor", 1, 2, closed_dims, symbols, false};
	static const model_summary open_model = {.values = {.out = &open_out, .nout = 1}},
				   closed_model = {.values = {.out = &closed_out, .nout = 1}};
	dck_model_config c = CONFIG(.dim = LIST("n=5"));
	subject_inputs *b = NULL;
	const char *how;
	dck_err err;

	(void)state;
	assert_int_equal(subject_inputs_new(open, 2, &open_model, &c, &b, &err), DCK_OK);
	assert_int_equal(subject_inputs_items(b, &how), 5);
	assert_string_equal(
	    how, "'n': axis 0 of 'input', which the model leaves open, there and in its outputs");
	subject_inputs_free(b);
	c = CONFIG(.seed = 1);
	assert_int_equal(subject_inputs_new(closed, 2, &closed_model, &c, &b, &err), DCK_OK);
	assert_int_equal(subject_inputs_items(b, &how), 1);
	assert_string_equal(how, "axis 0 of 'input'");
	subject_inputs_free(b);
	c = CONFIG(.batch = 2);
	assert_int_equal(subject_inputs_new(closed, 2, &closed_model, &c, &b, &err), DCK_E_ARG);
	assert_string_equal(err.msg,
			    "--batch is 2, but the model fixes axis 0 of the input 'input' at 1: "
			    "export it with a symbolic batch dimension (torch.onnx.export: "
			    "dynamic_axes) to change it");
	/* The axis that the model names batch is the batch, at any position. */
	items_counted(last, 1, CONFIG(.batch = 3, .dim = LIST("seq=7")), 3, "from --batch");
	c = CONFIG(.batch = 2);
	assert_int_equal(subject_inputs_new(&scalar, 1, NULL, &c, &b, &err), DCK_E_ARG);
	assert_string_equal(err.msg,
			    "--batch is 2, but no input of the model has a first axis that "
			    "could be the batch");
}

/* [time, batch, features]: by the usual letters, or because a recurrent layer takes it. */
static void time_comes_first(void **state)
{
	static const dck_tensor_info letters
	    [] = {{.name = "x", .dtype = F32, .rank = 3, .dim = {-1, -1, 8}, .symbol = {"T", "N"}},
		  {.name = "h", .dtype = F32, .rank = 3, .dim = {2, -1, 8}, .symbol = {[1] = "N"}}},
     points = {.name = "x", .dtype = F32, .rank = 3, .dim = {-1, -1, 3}, .symbol = {[1] = "N"}},
     both = {.name = "x", .dtype = F32, .rank = 3, .dim = {-1, -1, 3}, .symbol = {"B", "N"}},
     closed = {.name = "x", .dtype = F32, .rank = 3, .dim = {20, 8, 16}};
	static const int64_t dims[] = {20, 8, 16};
	static const char *const none[3] = {NULL};
	static const model_value taken = {"x", "tensor", 1, 3, dims, none, true};
	static const model_summary model = {.values = {.in = &taken, .nin = 1}};
	dck_model_config c = CONFIG(.seed = 1);
	subject_inputs *b = NULL;
	const char *how;
	dck_err err;

	(void)state;
	items_counted(letters, 2, CONFIG(.dim = LIST("T=20", "N=4")), 4,
		      "'N': axis 1 of 'x', which the model leaves open");
	items_counted(letters, 2, CONFIG(.batch = 4, .dim = LIST("T=20")), 4, "from --batch");
	items_counted(&points, 1, CONFIG(.shape = LIST("x=2x100x3")), 2,
		      "axis 0 of 'x', which the model leaves open");
	items_counted(&both, 1, CONFIG(.dim = LIST("B=2", "N=100")), 2,
		      "'B': axis 0 of 'x', which the model leaves open");
	assert_int_equal(subject_inputs_new(&closed, 1, &model, &c, &b, &err), DCK_OK);
	assert_int_equal(subject_inputs_items(b, &how), 8);
	assert_string_equal(how, "axis 1 of 'x', which a recurrent layer takes");
	subject_inputs_free(b);
}

int test_items(void);
int test_items(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(items_of_a_run),
	    cmocka_unit_test(time_comes_first),
	    cmocka_unit_test(a_state_is_no_batch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
