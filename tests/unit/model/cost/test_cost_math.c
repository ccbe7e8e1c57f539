/* test_cost_math.c - shapes and costs of arithmetic, reductions, linear algebra and transforms,
 * checked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "op_case.h"

static const op_case elementwise[] = {
    {"Add", NULL, 0, "x:f[2,1,4] y:f[3,1]", "z", NULL, "f[2,3,4]", "0", "24", NULL},
    {"Add", NULL, 0, "x:f[N,4] y:f[4]", "z", NULL, "f[N,4]", "0", "4*N", NULL},
    {"Mul", NULL, 0, "x:f[N,1] y:f[1,M]", "z", NULL, "f[N,M]", "0", "N*M", NULL},
    /* Either of two symbolic sizes may be 1. */
    {"Add", NULL, 0, "x:f[N] y:f[M]", "z", NULL, "f[max(M, N)]", "0", "max(M, N)", NULL},
    /* Before opset 7: the shape of the first operand; the second is broadcast from an axis on. */
    {"Add", NULL, 6, "x:f[2,3,4,5] y:f[3,4]", "z", "broadcast=1 axis=1", "f[2,3,4,5]", "0", "120",
     NULL},
    {"Equal", NULL, 0, "x:l[2,3] y:l[3]", "z", NULL, "t[2,3]", "0", "6", NULL},
    {"Max", NULL, 0, "x:f[3] y:f[2,1] z:f[1]", "m", NULL, "f[2,3]", "0", "12", NULL},
    {"Mean", NULL, 0, "x:f[3] y:f[3] z:f[3]", "m", NULL, "f[3]", "0", "9", NULL},
    {"Sum", NULL, 0, "x:f[5]", "m", NULL, "f[5]", "0", "0", NULL},
    {"Erf", NULL, 0, "x:h[2,3]", "y", NULL, "h[2,3]", "0", "6", NULL},
    {"IsNaN", NULL, 0, "x:f[4]", "y", NULL, "t[4]", "0", "4", NULL},
    {"BitShift", NULL, 0, "x:w[2] y:w[1]", "z", "direction=LEFT", "w[2]", "0", "2", NULL},
};

static const op_case reductions[] = {
    {"ReduceSum", NULL, 13, "x:f[2,3,4] a:*l[1]=1", "y", NULL, "f[2,1,4]", "0", "24", "0"},
    {"ReduceSum", NULL, 13, "x:f[2,3,4] a:*l[2]=-1,0", "y", "keepdims=0", "f[3]", "0", "24", NULL},
    {"ReduceMean", NULL, 11, "x:f[2,3,4]", "y", "axes=1,2", "f[2,1,1]", "0", "26", NULL},
    {"ReduceMean", NULL, 18, "x:f[N,3]", "y", "keepdims=0", "f[]", "0", "3*N+1", NULL},
    {"ReduceMax", NULL, 18, "x:f[2,3]", "y", "noop_with_empty_axes=1", "f[2,3]", "0", "0", NULL},
    {"ReduceSum", NULL, 13, "x:f[2,3] a:*l[0]", "y", "noop_with_empty_axes=1", "f[2,3]", "0", "0",
     NULL},
    {"ReduceMean", NULL, 18, "x:f[2,3]", "y", "noop_with_empty_axes=1", "f[2,3]", "0", "0", NULL},
    {"ReduceL2", NULL, 18, "x:f[2,3]", "y", "noop_with_empty_axes=1", "f[2,3]", "0", "12", NULL},
    {"ReduceMax", NULL, 18, "x:f[2,3] a:*l[0]", "y", NULL, "f[1,1]", "0", "6", NULL},
    {"ReduceL2", NULL, 18, "x:f[2,3] a:*l[1]=1", "y", NULL, "f[2,1]", "0", "14", NULL},
    /* One of two axes: unknown which; two of two axes: known. */
    {"ReduceSum", NULL, 13, "x:f[2,3] a:l[1]", "y", NULL, "f[u1,u2]", "0", "6", NULL},
    {"ReduceSum", NULL, 13, "x:f[2,3] a:l[2]", "y", NULL, "f[1,1]", "0", "6", NULL},
    {"ReduceSum", NULL, 13, "x:f[2,3] a:l[K]", "y", "keepdims=0", "?", "0", "6", NULL},
    {"ArgMax", NULL, 0, "x:f[2,3]", "y", "axis=-1 keepdims=0", "l[2]", "0", "6", NULL},
    {"CumSum", NULL, 0, "x:f[2,3] a:l[]", "y", NULL, "f[2,3]", "0", "6", NULL},
};

static const op_case linear[] = {
    {"MatMul", NULL, 0, "x:f[2,1,3,4] y:*f[5,4,6]", "z", NULL, "f[2,5,3,6]", "720", "1440", "120"},
    {"MatMul", NULL, 0, "x:f[4] y:f[4]", "z", NULL, "f[]", "4", "8", NULL},
    {"MatMul", NULL, 0, "x:f[4] y:f[B,4,6]", "z", NULL, "f[B,6]", "24*B", "48*B", NULL},
    {"MatMul", NULL, 0, "x:f[B,S,768] y:*f[768,3072]", "z", NULL, "f[B,S,3072]", "2359296*B*S",
     "4718592*B*S", "2359296"},
    {"Gemm", NULL, 0, "x:f[4,2] y:*f[6,4] c:*f[6]", "z", "transA=1 transB=1", "f[2,6]", "48", "108",
     "30"},
    {"Gemm", NULL, 0, "x:f[2,4] y:f[4,6] c:f[6]", "z", "alpha=0.5 beta=2.0", "f[2,6]", "48", "126",
     NULL},
    /* The contracted size is known of one input. */
    {"MatMul", NULL, 0, "x:f[2,K] y:*f[3,4]", "z", NULL, "f[2,4]", "24", "48", "12"},
    {"MatMul", NULL, 0, "x:f[K] y:*f[3]", "z", NULL, "f[]", "3", "6", "3"},
    {"Gemm", NULL, 0, "x:f[K,2] y:*f[6,4]", "z", "transA=1 transB=1", "f[2,6]", "48", "96", "24"},
    {"Einsum", NULL, 0, "x:f[2,3,4] y:f[2,4,5]", "z", "equation='bij,bjk->bik", "f[2,3,5]", "120",
     "240", NULL},
    {"Einsum", NULL, 0, "x:f[7,8,3,4] y:f[8,4,5]", "z", "equation='...ij,...jk", "f[7,8,3,5]",
     "3360", NULL, NULL},
    {"Einsum", NULL, 0, "x:f[3,3]", "z", "equation='ii->i", "f[3]", "0", "0", NULL},
    {"Einsum", NULL, 0, "x:f[3,4]", "z", "equation='ij->i", "f[3]", "0", "12", NULL},
    {"Einsum", NULL, 0, "x:f[B,4] y:f[B,4]", "z", "equation='bi,bi", "f[]", "4*B", NULL, NULL},
    /* ij,jk: 2*3*4, kept i and k; ik,kl: 2*4*5 */
    {"Einsum", NULL, 0, "x:f[2,3] y:f[3,4] z:f[4,5]", "o", "equation='ij,jk,kl->il", "f[2,5]", "64",
     "128", NULL},
    {"Det", NULL, 0, "x:f[5,3,3]", "y", NULL, "f[5]", "0", "75", NULL},
};

static const op_case transforms[] = {
    {"DFT", NULL, 17, "x:f[2,8,1]", "y", "axis=1", "f[2,8,2]", "0", "120", NULL},
    {"DFT", NULL, 17, "x:f[2,8,1]", "y", "axis=1 onesided=1", "f[2,5,2]", "0", "120", NULL},
    {"DFT", NULL, 20, "x:f[2,8,16,2] n:*l[]=4 a:*l[]=1", "y", NULL, "f[2,4,16,2]", "0", "1280",
     NULL},
    {"DFT", NULL, 20, "x:f[2,5,2]", "y", "onesided=1 inverse=1", "f[2,8,1]", "0", "120", NULL},
    {"STFT", NULL, 17, "x:f[1,128,1] s:*l[]=8 w:*f[16]", "y", NULL, "f[1,15,9,2]", "0", "2640",
     NULL},
    {"STFT", NULL, 17, "x:f[1,L,1] s:*l[]=8 - n:*l[]=16", "y", "onesided=0",
     "f[1,floor((L)/8)-1,16,2]", NULL, NULL, NULL},
    {"HannWindow", NULL, 17, "n:l[]", "y", NULL, "f[u1]", NULL, NULL, NULL},
    {"HannWindow", NULL, 17, "n:*l[]=10", "y", "output_datatype=10", "h[10]", NULL, NULL, NULL},
    {"MelWeightMatrix", NULL, 17, "b:*l[]=8 n:*l[]=16 r:l[] l:f[] u:f[]", "y", NULL, "f[9,8]", "0",
     "?", NULL},
};

static const op_case others[] = {
    {"SplitToSequence", NULL, 0, "x:f[4,2]", "s", NULL, "?", "0", "0", NULL},
    {"SequenceLength", NULL, 0, "x:f[4]", "n", NULL, "l[]", "0", "0", NULL},
    {"LinearRegressor", "ai.onnx.ml", 0, "x:f[N,8]", "y", "targets=3", "f[N,3]", "24*N", "51*N",
     NULL},
    {"ArrayFeatureExtractor", "ai.onnx.ml", 0, "x:f[3,4] i:l[2]", "y", NULL, "f[3,2]", "0", "0",
     NULL},
    {"OneHotEncoder", "ai.onnx.ml", 0, "x:l[3]", "y", "cats_int64s=1,2,3,4", "f[3,4]", "0", "0",
     NULL},
    {"Scaler", "ai.onnx.ml", 0, "x:l[3,4]", "y", NULL, "f[3,4]", "0", "24", NULL},
    {"TreeEnsembleRegressor", "ai.onnx.ml", 0, "x:f[N,4]", "y", NULL, "f[N,1]", "0", "?", NULL},
    {"Adagrad", "ai.onnx.preview.training", 0,
     "r:f[] t:l[] x:f[3] y:f[2] g:f[3] h:f[2] a:f[3] b:f[2]", "x2 y2 a2 b2", NULL,
     "f[3] f[2] f[3] f[2]", "0", "45", NULL},
    {"Momentum", "ai.onnx.preview.training", 0, "r:f[] t:l[] x:f[3] g:f[3] v:f[3]", "x2 v2",
     "mode=nesterov", "f[3] f[3]", "0", "27", NULL},
    {"Gradient", "ai.onnx.preview.training", 0, "x:f[3] y:f[2]", "a", NULL, "f[3]", "?", "?", NULL},
};

/* Inconsistent or missing inputs give an unknown result with a reason. */
static const op_case hostile[] = {
    {"Add", NULL, 0, "x:f[2,3] y:f[2]", "z", NULL, "?", "0", "?", NULL},
    {"Add", NULL, 0, "x:f[2,3]", "z", NULL, "?", "0", "?", NULL},
    {"Gemm", NULL, 0, "x:f[2,3,4] y:f[4,5]", "z", NULL, "?", "?", "?", NULL},
    {"MatMul", NULL, 0, "x:f[2,3] y:f[4,5]", "z", NULL, "?", "?", "?", NULL},
    {"MatMul", NULL, 0, "x:f[] y:f[4]", "z", NULL, "?", "?", "?", NULL},
    {"ReduceSum", NULL, 13, "x:f[2,3] a:*l[1]=2", "y", NULL, "?", NULL, NULL, NULL},
    {"ReduceSum", NULL, 13, "x:f[2,3] a:*l[2]=1,-1", "y", NULL, "?", NULL, NULL, NULL},
    {"ReduceSum", NULL, 13, "x:f[2,3] a:*l[1]=-9223372036854775808", "y", NULL, "?", NULL, NULL,
     NULL},
    {"ArgMax", NULL, 0, "x:f[2,3]", "y", "axis=7", "?", NULL, NULL, NULL},
    {"Einsum", NULL, 0, "x:f[2,3]", "y", NULL, "?", "?", "?", NULL},
    {"Einsum", NULL, 0, "x:f[2,3]", "y", "equation='ij,jk", "?", "?", "?", NULL},
    {"Einsum", NULL, 0, "x:f[2,3] y:f[4,5]", "z", "equation='ij,jk->ik", "?", "?", "?", NULL},
    {"Einsum", NULL, 0, "x:f[2,3]", "y", "equation='ij->ik", "?", "?", "?", NULL},
    {"Einsum", NULL, 0, "x:f[2,3]", "y", "equation='i..j", "?", "?", "?", NULL},
    {"Einsum", NULL, 0, "x:f[2,3]", "y", "equation='i?->i", "?", "?", "?", NULL},
    {"STFT", NULL, 17, "x:f[1,128,1] s:*l[]=0 w:f[16]", "y", NULL, "f[1,u1,9,2]", NULL, NULL, NULL},
    {"DFT", NULL, 17, "x:f[8]", "y", NULL, "?", NULL, NULL, NULL},
    {"HannWindow", NULL, 17, "n:*l[]=-3", "y", NULL, "?", NULL, NULL, NULL},
    {"Loop", NULL, 0, "m:l[] c:t[] x:f[2]", "y", NULL, "?", NULL, NULL, NULL},
    {"If", NULL, 0, "c:t[]", "y", NULL, "?", NULL, NULL, NULL},
    {"Scan", NULL, 0, "x:f[2]", "y", "num_scan_inputs=1", "?", NULL, NULL, NULL},
    {"SequenceMap", NULL, 17, "x:f[2]", "y", NULL, "?", NULL, NULL, NULL},
    {"Adam", "ai.onnx.preview.training", 0, "r:f[] t:l[] x:f[3] g:f[3]", "a", NULL, "?", NULL, NULL,
     NULL},
    {"LinearRegressor", "ai.onnx.ml", 0, "x:f[]", "y", NULL, "?", "?", "?", NULL},
    {"SVMClassifier", "ai.onnx.ml", 0, "x:f[3,4]", "y z", NULL, "l[3] f[3,0]", "?", "?", NULL},
};

#define CHECK_ALL(list)                                            \
	(void)state;                                               \
	for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) \
	op_case_check(&(list)[i])

static void counts_elementwise(void **state)
{
	CHECK_ALL(elementwise);
}

static void counts_reductions(void **state)
{
	CHECK_ALL(reductions);
}

static void counts_linear_algebra(void **state)
{
	CHECK_ALL(linear);
}

static void counts_transforms(void **state)
{
	CHECK_ALL(transforms);
}

static void counts_others(void **state)
{
	CHECK_ALL(others);
}

static void refuses_what_does_not_fit(void **state)
{
	CHECK_ALL(hostile);
}

/* --- contents --- */

typedef struct content {
	const char *op, *inputs, *attributes;
	const char *values; /* of the output, as sym_text() writes them; NULL: unknown */
} content;

static const content contents[] = {
    {"Add", "a:*l[2]=1,2 b:*l[1]=10", NULL, "11 12"},
    {"Sub", "a:*l[]=1 b:*l[2]=10,-9223372036854775807", NULL, "-9 ?"},
    {"Div", "a:*l[3]=7,-7,7 b:*l[3]=2,2,-2", NULL, "3 -3 -3"},
    {"Div", "a:*l[1]=7 b:*l[1]=0", NULL, NULL},
    {"Mod", "a:*l[3]=7,-7,7 b:*l[3]=3,3,-3", NULL, "1 2 -2"},
    {"Mod", "a:*l[3]=7,-7,7 b:*l[3]=3,3,-3", "fmod=1", "1 -1 1"},
    {"Pow", "a:*l[2]=3,2 b:*l[2]=4,63", NULL, "81 ?"},
    {"Min", "a:*l[2]=3,9 b:*l[2]=4,5 c:*l[1]=4", NULL, "3 4"},
    {"Max", "a:*l[2]=3,9 b:*l[2]=4,5", NULL, "4 9"},
    {"Add", "a:*u[1]=200 b:*u[1]=100", NULL, NULL},
    {"Neg", "a:*l[2]=3,-9", NULL, "-3 9"},
    {"Abs", "a:*l[2]=3,-9", NULL, "3 9"},
    {"Sign", "a:*l[3]=3,-9,0", NULL, "1 -1 0"},
    {"Equal", "a:*l[2]=3,4 b:*l[1]=4", NULL, "0 1"},
    {"GreaterOrEqual", "a:*l[2]=3,4 b:*l[1]=4", NULL, "0 1"},
    {"Less", "a:*l[2]=3,4 b:*l[1]=4", NULL, "1 0"},
    {"And", "a:*t[2]=1,1 b:*t[2]=1,0", NULL, "1 0"},
    {"Not", "a:*t[2]=1,0", NULL, "0 1"},
    {"BitwiseXor", "a:*l[2]=5,6 b:*l[1]=3", NULL, "6 5"},
    {"ReduceProd", "a:*l[2,3]=1,2,3,4,5,6 x:*l[1]=1", "keepdims=0", "6 120"},
    {"ReduceMax", "a:*l[2,3]=1,2,3,4,5,6 x:*l[1]=0", "keepdims=0", "4 5 6"},
    {"ReduceSum", "a:*l[3]=1,2,3", NULL, "6"},
    {"ReduceSum", "a:*l[0]", NULL, "0"},
    {"ReduceMax", "a:*l[0]", NULL, NULL},
    {"CumSum", "a:*l[2,2]=1,2,3,4 x:*l[]=0", NULL, "1 2 4 6"},
    {"CumSum", "a:*l[3]=1,2,3 x:*l[]=0", "reverse=1 exclusive=1", "5 3 0"},
    {"Cast", "a:*l[4]=-129,-128,127,128", "to=3", "? -128 127 ?"},
    {"Cast", "a:*l[3]=-1,255,256", "to=2", "? 255 ?"},
    /* Types with fewer digits round half to even. */
    {"Cast", "a:*l[4]=2048,2049,2051,70000", "to=10", "2048 2048 2052 ?"},
    {"Cast", "a:*l[3]=257,259,16777217", "to=16", "256 260 16777216"},
    {"Cast", "a:*l[2]=16777217,16777219", "to=1", "16777216 16777220"},
    {"Cast", "a:*l[5]=17,19,464,465,-500", "to=17", "16 20 448 448 -448"},
    {"Cast", "a:*l[4]=17,19,464,465", "to=17 saturate=0", "16 20 448 ?"},
    {"Cast", "a:*l[3]=17,247,300", "to=18", "16 240 240"},
    {"Cast", "a:*l[4]=9,11,61439,65536", "to=19", "8 12 57344 57344"},
    {"Cast", "a:*l[3]=9,11,61440", "to=20 saturate=0", "8 12 ?"},
    /* Bit patterns: 2048 and 1, 3; 256 and 1, 3. */
    {"Add", "a:*h[2]=26624,26624 b:*h[2]=15360,16896", NULL, "2048 2052"},
    {"Add", "a:*g[2]=17280,17280 b:*g[2]=16256,16448", NULL, "256 260"},
};

static void check_content(const content *c)
{
	op_case one = {.op = c->op, .opset = 18, .inputs = c->inputs, .outputs = "y"};
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	dck_err err = {0};
	char text[256] = "";

	one.attributes = c->attributes;
	op_case_build(&w, &one);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, &err), DCK_OK);
	assert_int_equal(cost_model(m, NULL, a, &r, &err), DCK_OK);
	const val *v = r->ops[0].out[0];
	for (size_t i = 0; v->ints && i < v->n; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", i ? " " : "",
			 sym_text(r->nums, v->ints[i]));
	if (c->values ? strcmp(text, c->values) != 0 : v->ints || v->reals)
		fail_msg("%s(%s) is '%s', not '%s'", c->op, c->inputs, text,
			 c->values ? c->values : "not known");
	mem_arena_free(a);
	wire_out_done(&w);
}

static void folds_contents(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof contents / sizeof *contents; i++)
		check_content(&contents[i]);
}

int test_cost_math(void);
int test_cost_math(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_elementwise),    cmocka_unit_test(counts_reductions),
	    cmocka_unit_test(counts_linear_algebra), cmocka_unit_test(counts_transforms),
	    cmocka_unit_test(counts_others),	     cmocka_unit_test(refuses_what_does_not_fit),
	    cmocka_unit_test(folds_contents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
