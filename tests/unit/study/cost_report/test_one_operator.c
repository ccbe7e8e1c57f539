/* test_one_operator.c - costs of operators without a model: exact numbers, and refusals.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

#include "deepclock/cost.h"

#define DIMS(...)                                                                      \
	.rank = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), .dim = (int64_t[]) \
	{                                                                              \
		__VA_ARGS__                                                            \
	}
#define F32(...)                                      \
	{                                             \
		.dtype = "float32", DIMS(__VA_ARGS__) \
	}
#define INTS(list, ...)                                                                     \
	{                                                                                   \
		.name = list, .kind = DCK_ATTRIBUTE_INTS, .ints = (int64_t[]){__VA_ARGS__}, \
		.nints = sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)                 \
	}

static dck_cost_price price(const dck_cost_node *n)
{
	dck_cost_price p;
	dck_err err;

	assert_int_equal(dck_cost_price_get(n, &p, &err), DCK_OK);
	return p;
}

static void a_convolution_costs_what_it_costs_in_a_model(void **state)
{
	const dck_cost_tensor in[] = {F32(1, 3, 224, 224), F32(64, 3, 7, 7)};
	const dck_cost_attribute attributes[] = {INTS("strides", 2, 2), INTS("pads", 3, 3, 3, 3)};
	const dck_cost_price p = price(&(dck_cost_node){.name = "Conv",
							.inputs = in,
							.ninputs = 2,
							.attributes = attributes,
							.nattributes = 2,
							.noutputs = 1});
	const int64_t shape[] = {1, 64, 112, 112};

	(void)state;
	assert_int_equal(p.macs, 118013952);
	assert_int_equal(p.flops, 236027904);
	assert_int_equal(p.read_bytes, 4 * (3 * 224 * 224 + 64 * 3 * 7 * 7));
	assert_int_equal(p.write_bytes, 4 * 64 * 112 * 112);
	assert_int_equal(p.rank, 4);
	assert_memory_equal(p.dim, shape, sizeof shape);
	assert_string_equal(p.why, "");
}

static void inputs_may_be_left_out_and_attributes_are_of_any_kind(void **state)
{
	const dck_cost_tensor in[] = {{.dtype = "bfloat16", DIMS(2, 4, 8, 16)},
				      {.dtype = "bfloat16", DIMS(2, 4, 8, 16)},
				      {.dtype = "bfloat16", DIMS(2, 4, 8, 16)},
				      {0}};
	const dck_cost_attribute attributes[] = {
	    {.name = "is_causal", .kind = DCK_ATTRIBUTE_INT, .i = 1},
	    {.name = "softcap", .kind = DCK_ATTRIBUTE_REAL, .real = 50},
	    {.name = "unused", .kind = DCK_ATTRIBUTE_TEXT, .text = "x"}};
	const dck_cost_price p = price(&(dck_cost_node){.name = "Attention",
							.inputs = in,
							.ninputs = 4,
							.attributes = attributes,
							.nattributes = 3,
							.noutputs = 1});

	(void)state;
	assert_int_equal(p.macs, 2 * 4 * 8 * 8 * 32);
	/* per score: scale, softmax, cap, mask */
	assert_int_equal(p.flops, 2 * p.macs + 2 * 4 * 8 * 8 * (1 + 5 + 3 + 1));
	assert_int_equal(p.write_bytes, 2 * 2 * 4 * 8 * 16);
}

static void contents_that_decide_a_shape_are_known(void **state)
{
	const int64_t axis = 1;
	const dck_cost_tensor in[] = {F32(3, 5, 7), {.dtype = "int64", DIMS(1), .ints = &axis}};
	const dck_cost_attribute keep[] = {{.name = "keepdims", .kind = DCK_ATTRIBUTE_INT}};
	const dck_cost_price p = price(&(dck_cost_node){.name = "ReduceSum",
							.inputs = in,
							.ninputs = 2,
							.attributes = keep,
							.nattributes = 1,
							.noutputs = 1});

	(void)state;
	assert_int_equal(p.flops, 3 * 5 * 7);
	assert_int_equal(p.rank, 2);
	assert_int_equal(p.dim[0], 3);
	assert_int_equal(p.dim[1], 7);
}

static void what_a_model_computes_once_is_run_here(void **state)
{
	const int64_t shape[] = {8, 16};
	const dck_cost_tensor in[] = {{"int64", 1, (int64_t[]){2}, shape}};
	const dck_cost_price p = price(
	    &(dck_cost_node){.name = "ConstantOfShape", .inputs = in, .ninputs = 1, .noutputs = 1});

	(void)state;
	assert_int_equal(p.rank, 2);
	assert_int_equal(p.write_bytes, 4 * 8 * 16);
}

static void what_is_not_known_has_a_reason(void **state)
{
	const dck_cost_tensor in[] = {F32(4, 4), F32(5, 4)}, untyped[] = {{"?", DIMS(4, 4), NULL}};
	dck_cost_node n = {.name = "MatMul", .inputs = in, .ninputs = 2, .noutputs = 1};
	dck_cost_price p = price(&n);

	(void)state;
	assert_int_equal(p.macs, -1);
	assert_int_equal(p.flops, -1);
	assert_int_equal(p.rank, -1);
	assert_non_null(strstr(p.why, "do not fit"));
	p = price(&(dck_cost_node){.name = "Relu", .inputs = untyped, .ninputs = 1, .noutputs = 1});
	assert_int_equal(p.flops, 16);
	assert_int_equal(p.read_bytes, -1);
	assert_non_null(strstr(p.why, "type"));
	n.ninputs = 0;
	assert_int_equal(price(&n).macs, -1);
}

static void what_is_wrong_is_refused(void **state)
{
	const int64_t dim[17] = {-1};
	const dck_cost_tensor negative = {"float32", 1, dim, NULL},
			      deep = {"float32", 17, dim, NULL}, typed = {"float", 0, NULL, NULL};
	const dck_cost_attribute nameless = {0}, strange = {.name = "a", .kind = 77};
	const struct {
		dck_cost_node node;
		dck_status status;
		const char *text;
	} cases[] = {
	    {{0}, DCK_E_ARG, "name"},
	    {{.name = "Frobnicate", .noutputs = 1}, DCK_E_ABSENT, "no rule for the operator Frob"},
	    {{.domain = "com.microsoft", .name = "Conv"}, DCK_E_ABSENT, "com.microsoft.Conv"},
	    {{.name = "Relu", .inputs = &negative, .ninputs = 1}, DCK_E_ARG, "size of -1"},
	    {{.name = "Relu", .inputs = &deep, .ninputs = 1}, DCK_E_ARG, "17 dimensions"},
	    {{.name = "Relu", .inputs = &typed, .ninputs = 1}, DCK_E_ARG, "'float'"},
	    {{.name = "Relu", .attributes = &nameless, .nattributes = 1}, DCK_E_ARG, "attribute"},
	    {{.name = "Relu", .attributes = &strange, .nattributes = 1}, DCK_E_ARG, "attribute"},
	    {{.name = "Relu", .ninputs = 4097}, DCK_E_LIMIT, "4096"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		dck_cost_price p = {.macs = 42};
		dck_err err;

		assert_int_equal(dck_cost_price_get(&cases[i].node, &p, &err), cases[i].status);
		assert_non_null(strstr(err.msg, cases[i].text));
		assert_int_equal(p.macs, 42);
	}
}

static void sizes_that_do_not_fit_are_not_known(void **state)
{
	const int64_t big = INT64_MAX;
	const dck_cost_tensor in[] = {{"float32", 2, (int64_t[]){big, big}, NULL},
				      {"int64", 1, &big, &big}};
	const dck_cost_price p =
	    price(&(dck_cost_node){.name = "ReduceSum", .inputs = in, .ninputs = 2, .noutputs = 1});

	(void)state;
	assert_int_equal(p.flops, -1);
	assert_true(*p.why);
}

int test_one_operator(void);
int test_one_operator(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_convolution_costs_what_it_costs_in_a_model),
	    cmocka_unit_test(inputs_may_be_left_out_and_attributes_are_of_any_kind),
	    cmocka_unit_test(contents_that_decide_a_shape_are_known),
	    cmocka_unit_test(what_a_model_computes_once_is_run_here),
	    cmocka_unit_test(what_is_not_known_has_a_reason),
	    cmocka_unit_test(what_is_wrong_is_refused),
	    cmocka_unit_test(sizes_that_do_not_fit_are_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
