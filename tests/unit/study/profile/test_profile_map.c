/* test_profile_map.c - maps the operators of ONNX Runtime's graphs to nodes of the model.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "graph_text.h"

#include "study/profile/profile_map.h"

/* "0 0 -": for each node of the model the operator that computes it. */
static void maps(const graph_text *model, const graph_text *ran, const char *want)
{
	model_cost m = graph_counted(model), r = graph_counted(ran);
	size_t *owner = profile_map(m.cost, r.cost, m.arena);
	char got[64] = "";

	assert_non_null(owner);
	for (size_t i = 0; i < m.cost->nops; i++) {
		size_t n = strlen(got);
		if (owner[i] == PROFILE_NONE)
			snprintf(got + n, sizeof got - n, "%s-", i ? " " : "");
		else
			snprintf(got + n, sizeof got - n, "%s%zu", i ? " " : "", owner[i]);
	}
	model_cost_close(&m);
	model_cost_close(&r);
	assert_string_equal(got, want);
}

static void equal_nodes_are_told_apart(void **state)
{
	const graph_text g = {"x:f[2,3]",
			      {{"Neg", NULL, "a", "x", "n", NULL},
			       {"Abs", NULL, NULL, "n", "y", NULL},
			       {"Exp", NULL, "a", "x", "z", NULL}}};

	(void)state;
	maps(&g, &g, "0 1 2");
}

static void fused_ones_are_known_by_what_they_make(void **state)
{
	(void)state;
	maps(&(graph_text){"x:f[1,3,8,8] w:*f[4,3,3,3]",
			   {{"Conv", NULL, "conv", "x w", "c", NULL},
			    {"Relu", NULL, "relu", "c", "r", NULL},
			    {"Neg", NULL, "neg", "r", "y", NULL}}},
	     &(graph_text){"x:f[1,3,8,8] w:*f[4,3,3,3]",
			   {{"FusedConv", MS, "fused 1", "x w", "r", "activation=Relu"},
			    {"Neg", NULL, "neg", "r", "y", NULL}}},
	     "0 0 1");
	/* Neither its own name nor the name of another value identifies it. */
	maps(&(graph_text){"x:f[2,3]",
			   {{"Sigmoid", NULL, "s", "x", "s_out", NULL},
			    {"Mul", NULL, "m", "x s_out", "y", NULL}}},
	     &(graph_text){"x:f[2,3]", {{"QuickGelu", MS, "y_other", "x", "y", NULL}}}, "0 0");
}

static void blocked_ones_are_named_after_values(void **state)
{
	(void)state;
	maps(&(graph_text){"x:f[1,16,8,8] w:*f[16,16,1,1]",
			   {{"Conv", NULL, "conv", "x w", "c", NULL},
			    {"Relu", NULL, "relu", "c", "r", NULL},
			    {"MaxPool", NULL, "pool", "r", "p", "kernel_shape=2,2"}}},
	     &(graph_text){"x:f[1,16,8,8] w2:*f[16,16,1,1]",
			   {{"ReorderInput", NCHWC, "ReorderInput", "x", "t0", NULL},
			    {"Conv", NCHWC, "r_nchwc", "t0 w2", "t1", "activation=Relu"},
			    {"MaxPool", NCHWC, "p_nchwc", "t1", "t2", "kernel_shape=2,2"},
			    {"ReorderOutput", NCHWC, "ReorderOutput", "t2", "p", "channels=16"}}},
	     "1 1 2");
	/* The model has a value with exactly this name. */
	maps(&(graph_text){"x:f[2,3]",
			   {{"Neg", NULL, NULL, "x", "a", NULL},
			    {"Abs", NULL, NULL, "a", "a_nchwc", NULL}}},
	     &(graph_text){"x:f[2,3]",
			   {{"Neg", NULL, "a_nchwc", "x", "t", NULL},
			    {"Abs", NULL, NULL, "t", "a_nchwc", NULL}}},
	     "0 1");
}

/* Names with a number that makes them unique, and of values that are computed in 32 bits. A cast
 * that is named after a value does not compute it. */
static void added_parts_of_names_are_left_out(void **state)
{
	(void)state;
	maps(&(graph_text){"x:f[1,16,8,8] w:*f[16,16,1,1]",
			   {{"Conv", NULL, "conv", "x w", "c", NULL},
			    {"Conv", NULL, "conv2_quant", "c w", "d", NULL},
			    {"Concat", NULL, "cat", "c d", "y", "axis=1"}}},
	     &(graph_text){"x:f[1,16,8,8] w:*f[16,16,1,1]",
			   {{"Transpose", NULL, "Transpose", "x", "t0", "perm=0,2,3,1"},
			    {"Conv", NULL, "conv_token_1", "x w", "t1", NULL},
			    {"Conv", NULL, "conv2_quant_token_28", "t1 w", "t2", NULL},
			    {"Concat", NULL, "cat", "t1 t2", "y", "axis=1"}}},
	     "1 2 3");
	maps(&(graph_text){"x:f[1,16,8,8] w:*f[16,16,1,1]",
			   {{"Conv", NULL, "conv", "x w", "c", NULL},
			    {"Relu", NULL, "relu", "c", "r", NULL},
			    {"PRelu", NULL, "prelu", "r w", "y", NULL}}},
	     &(graph_text){
		 "x:f[1,16,8,8] w:*f[16,16,1,1]",
		 {{"Cast", NULL, "InsertedPrecisionFreeCast_c", "x", "t0", "to=1"},
		  {"Conv", NCHWC, "InsertedPrecisionFreeCast_r_nchwc", "t0 w", "t1", NULL},
		  {"ReorderOutput", NCHWC, "ReorderOutput_token_3", "t1", "t2", "channels=16"},
		  {"PRelu", NULL, "prelu", "t2 w", "y", NULL}}},
	     "1 1 3");
	maps(
	    &(graph_text){
		"x:f[2,8] w:*f[8,8]",
		{{"MatMul", NULL, "mm", "x w", "p", NULL}, {"Mul", NULL, "mul", "p p", "y", NULL}}},
	    &(graph_text){"x:f[2,8] w:*f[8,8]",
			  {{"FusedMatMul", MS, "other", "x w", "InsertedPrecisionFreeCast_p", NULL},
			   {"Mul", NULL, "mul",
			    "InsertedPrecisionFreeCast_p InsertedPrecisionFreeCast_p", "t", NULL},
			   {"Cast", NULL, "last", "t", "y", "to=10"}}},
	    "0 1");
}

static void an_addition_belongs_to_its_product(void **state)
{
	const graph_text model = {"x:f[2,4,8] w:*f[8,16] b:*f[16]",
				  {{"MatMul", NULL, "fc/MatMul", "x w", "m", NULL},
				   {"Add", NULL, "fc/Add", "m b", "a", NULL},
				   {"Relu", NULL, "relu", "a", "y", NULL}}};

	(void)state;
	maps(&model,
	     &(graph_text){"x:f[2,4,8] w:*f[8,16] b:*f[16] s:*l[2]=8,8 u:*l[3]=2,4,16",
			   {{"Reshape", NULL, "gemm_input_reshape", "x s", "in", NULL},
			    {"Gemm", NULL, "fc/MatMul/MatMulAddFusion", "in w b", "out", NULL},
			    {"Reshape", NULL, "gemm_output_reshape", "out u", "a", NULL},
			    {"Relu", NULL, "relu", "a", "y", NULL}}},
	     "1 1 3");
	/* Layout changes in the model itself are not attributed to others. */
	maps(&(graph_text){"x:f[2,4] s:*l[2]=4,2",
			   {{"Neg", NULL, NULL, "x", "n", NULL},
			    {"Reshape", NULL, "r", "n s", "y", NULL}}},
	     &(graph_text){"x:f[2,4] s:*l[2]=4,2",
			   {{"Neg", NULL, NULL, "x", "n", NULL},
			    {"Reshape", NULL, "other", "n s", "y", NULL}}},
	     "0 1");
}

static void equal_names_are_told_apart_by_what_they_make(void **state)
{
	(void)state;
	maps(
	    &(graph_text){"a:f[2,4,8] b:f[2,4,8] g:*f[8] h:*f[8]",
			  {{"Add", NULL, "add 1", "a b", "s1", NULL},
			   {"LayerNormalization", NULL, "norm 1", "s1 g h", "n1", NULL},
			   {"Add", NULL, "add 2", "n1 b", "s2", NULL},
			   {"LayerNormalization", NULL, "norm 2", "s2 g h", "n2", NULL}}},
	    &(graph_text){
		"a:f[2,4,8] b:f[2,4,8] g:*f[8] h:*f[8]",
		{{"SkipLayerNormalization", MS, "SkipLayerNormalization", "a b g h", "n1", NULL},
		 {"SkipLayerNormalization", MS, "SkipLayerNormalization", "n1 b g h", "n2", NULL}}},
	    "0 0 1 1");
}

static void what_is_optimised_away_belongs_to_one_or_none(void **state)
{
	(void)state;
	/* To its only consumer; to the producer of its input; or, with several consumers and made
	 * from graph inputs, to none. */
	maps(&(graph_text){"x:f[2,3]",
			   {{"Identity", NULL, "i", "x", "i1", NULL},
			    {"Neg", NULL, "neg", "i1", "n", NULL},
			    {"Identity", NULL, "j", "n", "y", NULL}}},
	     &(graph_text){"x:f[2,3]", {{"Neg", NULL, "neg", "x", "n", NULL}}}, "0 0 0");
	maps(&(graph_text){"x:f[2,3]",
			   {{"Identity", NULL, "i", "x", "i1", NULL},
			    {"Neg", NULL, "neg", "i1", "y", NULL},
			    {"Abs", NULL, "abs", "i1", "z", NULL},
			    {"Shape", NULL, "nobody needs it", "x", "s", NULL}}},
	     &(graph_text){
		 "x:f[2,3]",
		 {{"Neg", NULL, "neg", "x", "y", NULL}, {"Abs", NULL, "abs", "x", "z", NULL}}},
	     "- 0 1 -");
	/* No computing operator is part of a layout change. */
	maps(&(graph_text){"x:f[2,3]",
			   {{"Neg", NULL, "neg", "x", "n", NULL},
			    {"Transpose", NULL, "t", "n", "y", NULL}}},
	     &(graph_text){"x:f[2,3]", {{"Transpose", NULL, "t", "x", "y", NULL}}}, "- 0");
}

/* types: of each node the type that the engine reports, "" for none, NULL without a time. */
/* Names of what an engine puts in the place of a call begin with a prefix, whose number is not that
 * of the call. Nodes of the model are a call and its two nodes, twice. */
static void inlined_ones_are_known_by_their_prefix(void **state)
{
	const graph_text model = {"x:f[2,8] w:*f[8,8]",
				  {{"Block", FN, "c1", "x w", "a", NULL},
				   {"Block", FN, "c2", "a w", "y", NULL},
				   {GRAPH_FUNCTION, NULL, "Block", NULL, NULL, NULL},
				   {"MatMul", NULL, "mm", "X W", "t", NULL},
				   {"Elu", NULL, "elu", "t", "Y", NULL}}};

	(void)state;
	maps(&model,
	     &(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"MatMul", NULL, "_inlfunc_Block_token_0_mm", "x w",
			     "_inlfunc_Block_token_0_t", NULL},
			    {"Elu", NULL, "_inlfunc_Block_token_0_elu", "_inlfunc_Block_token_0_t",
			     "a", NULL},
			    {"MatMul", NULL, "_inlfunc_Block_mm", "a w", "_inlfunc_Block_t", NULL},
			    {"Elu", NULL, "_inlfunc_Block_elu", "_inlfunc_Block_t", "y", NULL}}},
	     "1 0 1 3 2 3");
	/* Fused, so that no name of the inside is left. */
	maps(&model,
	     &(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"FusedMatMul", MS, "f1", "x w", "a", NULL},
			    {"FusedMatMul", MS, "f2", "a w", "y", NULL}}},
	     "0 0 0 1 1 1");
}

/* The constant of both calls has the prefix of the first one. */
static void constants_of_calls_are_shared(void **state)
{
	(void)state;
	maps(&(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"Block", FN, "c1", "x w", "a", NULL},
			    {"Block", FN, "c2", "a w", "y", NULL},
			    {GRAPH_FUNCTION, NULL, "Block", NULL, NULL, NULL},
			    {"Constant", NULL, NULL, "", "constant", "value_float=2.5"},
			    {"MatMul", NULL, NULL, "X W", "t", NULL},
			    {"Max", NULL, NULL, "t constant", "Y", NULL}}},
	     &(graph_text){
		 "x:f[2,8] w:*f[8,8] _inlfunc_Block_constant:*f[1]",
		 {{"MatMul", NULL, NULL, "x w", "_inlfunc_Block_t", NULL},
		  {"Max", NULL, NULL, "_inlfunc_Block_t _inlfunc_Block_constant", "a", NULL},
		  {"MatMul", NULL, NULL, "a w", "_inlfunc_Block_token_0_t", NULL},
		  {"Max", NULL, NULL, "_inlfunc_Block_token_0_t _inlfunc_Block_constant", "y",
		   NULL}}},
	     "1 1 0 1 3 3 2 3");
}

/* The names of a call that only has calls inside are found further back. Nodes of the model: Two,
 * and twice Block with its two nodes. */
static void calls_of_calls_are_known_by_their_prefix(void **state)
{
	(void)state;
	maps(&(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"Two", FN, "c", "x w", "y", NULL},
			    {GRAPH_FUNCTION, NULL, "Block", NULL, NULL, NULL},
			    {"MatMul", NULL, "mm", "X W", "t", NULL},
			    {"Elu", NULL, "elu", "t", "Y", NULL},
			    {GRAPH_FUNCTION, NULL, "Two", NULL, NULL, NULL},
			    {"Block", FN, "b1", "X W", "t", NULL},
			    {"Block", FN, "b2", "t W", "Y", NULL}}},
	     &(graph_text){
		 "x:f[2,8] w:*f[8,8]",
		 {{"MatMul", NULL, "_inlfunc_Block_mm", "x w", "_inlfunc_Block_t", NULL},
		  {"Elu", NULL, "_inlfunc_Block_elu", "_inlfunc_Block_t", "_inlfunc_Two_t", NULL},
		  {"MatMul", NULL, "_inlfunc_Block_token_0_mm", "_inlfunc_Two_t w",
		   "_inlfunc_Block_token_0_t", NULL},
		  {"Elu", NULL, "_inlfunc_Block_token_0_elu", "_inlfunc_Block_token_0_t", "y",
		   NULL}}},
	     "3 1 0 1 3 2 3");
}

/* An engine runs one of equal nodes. The others have no owner, with all that only they need. */
static void repeated_ones_belong_to_none(void **state)
{
	(void)state;
	maps(&(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"MatMul", NULL, NULL, "x w", "a", NULL},
			    {"MatMul", NULL, NULL, "x w", "b", NULL},
			    {"Add", NULL, NULL, "a b", "y", NULL}}},
	     &(graph_text){
		 "x:f[2,8] w:*f[8,8]",
		 {{"MatMul", NULL, NULL, "x w", "b", NULL}, {"Add", NULL, NULL, "b b", "y", NULL}}},
	     "- 0 1");
	maps(&(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"MatMul", NULL, NULL, "x w", "a", NULL},
			    {"Elu", NULL, NULL, "a", "b", "alpha=2."},
			    {"MatMul", NULL, NULL, "x w", "c", NULL},
			    {"Elu", NULL, NULL, "c", "d", "alpha=2."},
			    {"Elu", NULL, NULL, "b", "e", "alpha=3."},
			    {"Mul", NULL, NULL, "d e", "y", NULL}}},
	     &(graph_text){"x:f[2,8] w:*f[8,8]",
			   {{"FusedMatMul", MS, NULL, "x w", "b", NULL},
			    {"QuickGelu", MS, NULL, "b", "y", NULL}}},
	     "0 0 - - 1 1");
}

static void maps_timed(const graph_text *model, const char *const *types, const char *want)
{
	model_cost m = graph_counted(model);
	size_t *owner = profile_map_timed(m.cost, types, m.arena);
	char got[256] = "";
	size_t n = 0;

	assert_non_null(owner);
	for (size_t i = 0; i < m.cost->nops; i++)
		n += (size_t)snprintf(got + n, sizeof got - n, "%s%zu", i ? " " : "", owner[i]);
	model_cost_close(&m);
	assert_string_equal(got, want);
}

/* Without the engine's graph an operator owns no more products than its type can be. */
static void fused_without_a_graph(void **state)
{
	static const graph_text net = {"x:f[2,8] v:*f[8,8] w:*f[8,8]",
				       {{"MatMul", NULL, "a", "x v", "p", NULL},
					{"Relu", NULL, "r", "p", "q", NULL},
					{"MatMul", NULL, "b", "q w", "y", NULL},
					{"Relu", NULL, "s", "y", "z", NULL}}};
	static const char *const first[] = {"FullyConnected", NULL, "", NULL};
	static const char *const last[] = {NULL, NULL, "", NULL};
	static const char *const both[] = {NULL, NULL, "Subgraph", NULL};

	(void)state;
	maps_timed(&net, first, "0 0 2 2");
	maps_timed(&net, last, "0 0 2 2");
	maps_timed(&net, both, "2 2 2 2");
}

int test_profile_map(void);
int test_profile_map(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(equal_nodes_are_told_apart),
	    cmocka_unit_test(fused_ones_are_known_by_what_they_make),
	    cmocka_unit_test(blocked_ones_are_named_after_values),
	    cmocka_unit_test(added_parts_of_names_are_left_out),
	    cmocka_unit_test(an_addition_belongs_to_its_product),
	    cmocka_unit_test(equal_names_are_told_apart_by_what_they_make),
	    cmocka_unit_test(what_is_optimised_away_belongs_to_one_or_none),
	    cmocka_unit_test(inlined_ones_are_known_by_their_prefix),
	    cmocka_unit_test(constants_of_calls_are_shared),
	    cmocka_unit_test(calls_of_calls_are_known_by_their_prefix),
	    cmocka_unit_test(repeated_ones_belong_to_none),
	    cmocka_unit_test(fused_without_a_graph),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
