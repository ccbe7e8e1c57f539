/* test_cost_microsoft.c - shapes and costs of ONNX Runtime's own operators. The shapes equal those
 * of ONNX Runtime 1.31 for the same nodes.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "op_case.h"

#define MS    "com.microsoft"
#define NCHWC "com.microsoft.nchwc"

static const op_case attentions[] = {
    /* 10 rows of 8*24 products, and 2*2 heads of 25 scores, 4 + 4 products each */
    {"Attention", MS, 0, "x:f[2,5,8] w:*f[8,24] b:*f[24]", "y p", "num_heads=2",
     "f[2,5,8] f[2,2,2,5,4]", "2720", "6280", "216"},
    {"Attention", MS, 0, "x:f[2,5,8] w:*f[8,24] b:*f[24] - p:f[2,2,2,3,4]", "y n",
     "num_heads=2 unidirectional=1", "f[2,5,8] f[2,2,2,8,4]", "3200", "7760", NULL},
    {"Attention", MS, 0, "x:f[2,5,8] w:*f[8,28] b:*f[28]", "y",
     "num_heads=2 qkv_hidden_sizes=8,8,12", "f[2,5,12]", "3240", NULL, NULL},
    {"Attention", MS, 0, "x:f[2,5,8] w:*f[8,25]", "y", "num_heads=2", "f[2,5,?]", "?", "?", NULL},
    {"QAttention", MS, 0,
     "x:u[2,5,8] w:*b[8,24] b:*f[24] xs:*f[] ws:*f[] - xz:*u[] wz:*b[] p:f[2,2,2,3,4]", "y n",
     "num_heads=2 unidirectional=1", "f[2,5,8] f[2,2,2,8,4]", "3200", NULL, "216"},
    {"MultiHeadAttention", MS, 0, "q:f[2,5,8] k:f[2,6,8] v:f[2,6,12]", "y pk pv", "num_heads=2",
     "f[2,5,12] f[2,2,6,4] f[2,2,6,6]", "1200", "3120", NULL},
    {"MultiHeadAttention", MS, 0, "q:f[2,5,8] k:f[2,2,6,4] v:f[2,2,6,4]", "y", "num_heads=2",
     "f[2,5,8]", "960", NULL, NULL},
    {"MultiHeadAttention", MS, 0, "q:f[2,5,2,3,4]", "y", "num_heads=2", "f[2,5,8]", "800", NULL,
     NULL},
    {"MultiHeadAttention", MS, 0,
     "q:f[B,S,8] k:f[B,S,8] v:f[B,S,8] - - - pk:f[B,2,P,4] pv:f[B,2,P,4]", "y nk nv", "num_heads=2",
     "f[B,S,8] f[B,2,S+P,4] f[B,2,S+P,4]", "16*B*S^2+16*B*S*P", NULL, NULL},
    {"GroupQueryAttention", MS, 0,
     "q:f[1,1,16] k:f[1,1,8] v:f[1,1,8] pk:f[1,1,10,8] pv:f[1,1,10,8] s:*i[1]=7 t:*i[1]=8",
     "y nk nv", "num_heads=2 kv_num_heads=1", "f[1,1,16] f[1,1,10,8] f[1,1,10,8]", "256", "624",
     NULL},
    /* The sink of each head is trained. */
    {"GroupQueryAttention", MS, 0,
     "q:f[1,1,16] k:f[1,1,8] v:f[1,1,8] pk:f[1,1,10,8] pv:f[1,1,10,8] s:*i[1]=7 t:*i[1]=8 - - - - "
     "h:*f[2]",
     "y nk nv", "num_heads=2 kv_num_heads=1", "f[1,1,16] f[1,1,10,8] f[1,1,10,8]", "256", "624",
     "2"},
    {"GroupQueryAttention", MS, 0,
     "q:f[1,5,32] - - pk:f[1,1,3,8] pv:f[1,1,3,8] s:*i[1]=7 t:*i[1]=8", "y nk nv",
     "num_heads=2 kv_num_heads=1", "f[1,5,16] f[1,1,8,8] f[1,1,8,8]", "1280", NULL, NULL},
    /* The heads give the size that the past leaves symbolic. */
    {"GroupQueryAttention", MS, 0,
     "q:f[1,5,32] - - pk:f[1,1,3,D] pv:f[1,1,3,D] s:*i[1]=7 t:*i[1]=8", "y nk nv",
     "num_heads=2 kv_num_heads=1", "f[1,5,16] f[1,1,8,8] f[1,1,8,8]", "1280", NULL, NULL},
    {"GroupQueryAttention", MS, 0, "q:f[1,5,32] - - pk:f[1,1,3,8] pv:f[1,1,3,8] s:i[1] t:i[1]", "y",
     "num_heads=2 kv_num_heads=1", "f[1,5,16]", "?", "?", NULL},
    {"DecoderMaskedMultiHeadAttention", MS, 0,
     "q:f[2,1,8] k:f[2,1,8] v:f[2,1,8] - - pk:f[2,2,9,4] pv:f[2,2,9,4] n:*i[1]=3", "y nk nv",
     "num_heads=2 past_present_share_buffer=1", "f[2,1,8] f[2,2,9,4] f[2,2,9,4]", "128", NULL,
     NULL},
    {"PackedAttention", MS, 0, "x:f[7,8] w:*f[8,24] b:*f[24] o:i[2,5] c:i[3]", "y", "num_heads=2",
     "f[7,8]", "?", "?", "216"},
    {"RotaryEmbedding", MS, 0, "x:f[2,3,8] p:l[2,3] c:*f[10,2] s:*f[10,2]", "y", "num_heads=2",
     "f[2,3,8]", "0", "144", "0"},
};

static const op_case products[] = {
    {"FusedMatMul", MS, 0, "a:f[3,2,7,5] b:f[4,2,7,3]", "y",
     "transA=1 transB=1 transBatchA=1 transBatchB=1", "f[2,7,5,4]", "840", "1680", NULL},
    {"FusedMatMul", MS, 0, "a:f[5,2,7,3] b:f[2,7,3,4]", "y", "transBatchA=1 alpha=0.5",
     "f[2,7,5,4]", "840", "1960", NULL},
    {"FusedMatMul", MS, 0, "a:f[2,7,3,5] b:*f[3,4]", "y", "transA=1", "f[2,7,5,4]", "840", "1680",
     "12"},
    {"FusedMatMulActivation", MS, 0, "a:f[5,3] b:f[3,4]", "y", "activation=Relu", "f[5,4]", "60",
     "140", NULL},
    {"FusedGemm", MS, 0, "a:f[3,5] b:*f[4,3] c:*f[4]", "y", "transA=1 transB=1 activation=Tanh",
     "f[5,4]", "60", "160", "16"},
    {"FusedGemm", MS, 0, "a:f[3,5] b:f[5,4]", "y", "activation=Odd", "f[3,4]", "60", "?", NULL},
    {"QGemm", MS, 0, "a:u[5,3] as:*f[] az:*u[] b:*u[3,4] bs:*f[] bz:*u[] c:*i[4]", "y", NULL,
     "f[5,4]", "60", "160", "16"},
    {"QGemm", MS, 0, "a:u[5,3] as:*f[] az:*u[] b:*u[3,4] bs:*f[] bz:*u[] - ys:*f[] yz:*u[]", "y",
     NULL, "u[5,4]", "60", "220", "12"},
    {"MatMulIntegerToFloat", MS, 0, "a:u[2,3,8] b:*u[8,5] as:*f[] bs:*f[]", "y", NULL, "f[2,3,5]",
     "240", "510", "40"},
    {"DynamicQuantizeMatMul", MS, 0, "a:f[2,3,8] b:*u[8,5] bs:*f[]", "y", NULL, "f[2,3,5]", "240",
     "846", "40"},
    /* 4-bit weights: 5*32 of them in 80 bytes */
    {"MatMulNBits", MS, 0, "a:f[2,3,32] b:*u[5,1,16] s:*f[5,1]", "y",
     "K=32 N=5 bits=4 block_size=32", "f[2,3,5]", "960", "2240", "160"},
    {"MatMulNBits", MS, 0, "a:f[2,3,32] b:*u[5,1,16] s:*f[5,1]", "y", "K=32", "f[2,3,?]", "?", "?",
     NULL},
    /* 6 tokens, 2 experts each, 8*16 + 16*8 weights */
    {"QMoE", MS, 0, "x:f[6,32] r:f[6,4] a:*u[4,16,16] s:*f[4,16] - b:*u[4,32,8] t:*f[4,32]", "y",
     "k=2 activation_type=silu expert_weight_bits=4", "f[6,32]", "12288", NULL, "4096"},
    {"MoE", MS, 0, "x:f[2,3,8] r:f[6,4] a:*f[4,16,8] - b:*f[4,8,16]", "y", "k=2", "f[2,3,8]",
     "3072", NULL, "1024"},
    /* the layout before ONNX Runtime 1.23 */
    {"QMoE", MS, 0, "x:f[6,32] r:f[6,4] a:*u[4,32,8] s:*f[4,16] - b:*u[4,16,16] t:*f[4,32]", "y",
     "k=2 activation_type=silu expert_weight_bits=4", "f[6,32]", "12288", NULL, "4096"},
    {"MoE", MS, 0, "x:f[2,3,8] r:f[6,4] a:*f[4,8,16] - b:*f[4,16,8]", "y", "k=2", "f[2,3,8]",
     "3072", NULL, "1024"},
    /* 12 x 16 x (5 of SiLU, the gate's product, the gate's bias), 12 x 8 x 2, 24 x 5 of a softmax
     */
    {"MoE", MS, 0, "x:f[2,3,8] r:f[6,4] a:*f[4,16,8] - b:*f[4,8,16] - c:*f[4,16,8] d:*f[4,16]", "y",
     "k=2 activation_type=silu", "f[2,3,8]", "4608", "10872", "1600"},
};

static const op_case others[] = {
    {"FusedConv", MS, 0, "x:f[1,4,8,8] w:*f[6,2,3,3] b:*f[6] z:f[1,6,8,8]", "y",
     "group=2 pads=1,1,1,1 activation=Relu", "f[1,6,8,8]", "6912", "14976", "114"},
    {"NhwcMaxPool", MS, 0, "x:u[1,8,6,3]", "y", "kernel_shape=2,2 strides=2,3", "u[1,4,2,3]", "0",
     "96", NULL},
    {"QLinearConv", MS, 0,
     "x:u[1,8,9,4] xs:*f[] xz:*u[] w:*u[6,4,3,2] ws:*f[] wz:*u[] ys:*f[] yz:*u[]", "y",
     "channels_last=1 strides=2,1", "u[1,3,8,6]", "3456", "7632", "144"},
    {"QLinearGlobalAveragePool", MS, 0, "x:u[1,8,9,4] xs:*f[] xz:*u[] ys:*f[] yz:*u[]", "y",
     "channels_last=1", "u[1,1,1,4]", "0", "308", NULL},
    {"QLinearAdd", MS, 0, "a:u[2,3,1] as:*f[] az:*u[] b:u[3,4] bs:*f[] bz:*u[] cs:*f[] cz:*u[]",
     "y", NULL, "u[2,3,4]", "0", "240", "0"},
    {"QLinearConcat", MS, 0, "ys:*f[] yz:*u[] a:u[2,3] s:*f[] z:*u[] b:u[2,5] s z", "y", "axis=1",
     "u[2,8]", "0", "112", "0"},
    {"QLinearReduceMean", MS, 0, "x:u[2,3] xs:*f[] xz:*u[] ys:*f[] yz:*u[]", "y",
     "axes=1, keepdims=0", "u[2]", "0", "16", "0"},
    {"SkipLayerNormalization", MS, 0, "x:f[2,3,8] s:f[2,3,8] g:*f[8] b:*f[8] c:*f[8]", "y - - sum",
     NULL, "f[2,3,8] - - f[2,3,8]", "0", "432", "24"},
    {"SkipSimplifiedLayerNormalization", MS, 0, "x:f[2,3,8] s:f[2,3,8] g:*f[8]", "y", NULL,
     "f[2,3,8]", "0", "240", "8"},
    {"EmbedLayerNormalization", MS, 0,
     "i:i[2,5] s:i[2,5] w:*f[10,8] p:*f[10,8] t:*f[2,8] g:*f[8] b:*f[8] m:i[2,5]", "y n e", NULL,
     "f[2,5,8] i[2] f[2,5,8]", "0", "720", "192"},
    {"BiasSplitGelu", MS, 0, "x:f[2,3,8] b:*f[8]", "y", NULL, "f[2,3,4]", "0", "192", "8"},
    {"FastGelu", MS, 0, "x:f[2,3] b:*f[3]", "y", NULL, "f[2,3]", "0", "60", "3"},
    {"CDist", MS, 0, "a:f[4,3] b:f[5,3]", "y", "metric=euclidean", "f[4,5]", "0", "200", NULL},
    {"DynamicQuantizeLSTM", MS, 0,
     "x:f[5,2,4] w:*u[2,4,12] r:*u[2,3,12] - - - - - a:*f[2] b:*u[2] c:*f[2] d:*u[2]", "y h e",
     "hidden_size=3 direction=bidirectional", "f[5,2,2,3] f[2,2,3] f[2,2,3]", "1680", NULL, "168"},
    {"CausalConvWithState", MS, 0, "x:f[2,7,4] w:*f[4,1,3]", "y s",
     "channels_last=1 dilation=2 state_window=2", "f[2,7,4] f[2,2,4,4]", "168", "336", NULL},
    /* 6 tokens, 4 heads: 4 x 8 read, written and read by the delta rule */
    {"GatedDeltaNet", MS, 0, "q:f[6,2,4] k:f[6,2,4] v:f[6,4,8] - d:f[6,4] b:f[6,4] s:f[1,4,8,4]",
     "y z", NULL, "f[6,4,8] f[1,4,8,4]", "2304", NULL, NULL},
    {"GatedDeltaNet", MS, 0, "q:f[2,3,48] - - - d:f[2,3,4] b:f[2,3,4] s:f[2,4,8,4]", "y z", NULL,
     "f[2,3,4,8] f[2,4,8,4]", "2304", NULL, NULL},
    {"MatMulFpQ4", MS, 0, "a:f[2,3,64] b:*u[144] s:*l[2]=64,4", "y", NULL, "f[2,3,4]", "1536",
     "3584", "256"},
    {"LinearAttention", MS, 0, "q:f[2,5,8] k:f[2,5,8] v:f[2,5,12] - d:f[2,5,2] b:f[2,5,2]", "y s",
     "q_num_heads=2 kv_num_heads=2", "f[2,5,12] f[2,2,4,6]", "1440", NULL, NULL},
    {"ConvTransposeWithDynamicPads", MS, 0, "x:f[1,4,5,5] w:*f[4,3,3,3] p:*l[4]=1,0,1,0", "y",
     "strides=2,2", "f[1,3,9,11]", "2700", "5400", "108"},
    {"Pad", MS, 0, "x:f[4,3] p:*l[4]=1,2,0,3", "y", NULL, "f[5,8]", "0", "0", NULL},
    {"Range", MS, 0, "a:*l[]=1 b:*l[]=7", "y", NULL, "l[6]", NULL, NULL, NULL},
    {"ExpandDims", MS, 0, "x:f[4,3] a:*i[]=-1", "y", NULL, "f[4,3,1]", "0", "0", NULL},
    {"ExpandDims", MS, 0, "x:f[4,3] a:i[]", "y", NULL, "?", NULL, NULL, NULL},
    {"GatherND", MS, 0, "x:f[4,3,5] i:l[2,2]", "y", NULL, "f[2,5]", "0", "0", NULL},
    {"GatherBlockQuantized", MS, 0, "d:*u[10,16] i:l[2,3] s:*f[10,2]", "y",
     "bits=4 block_size=16 gather_axis=0 quantize_axis=1", "f[2,3,32]", "0", "384", "320"},
    {"UnfoldTensor", MS, 0, "x:f[3,7]", "y", "dim=1 size=3 step=2", "f[3,3,3]", "0", "0", NULL},
    {"Inverse", MS, 0, "x:f[3,3]", "y", NULL, "f[3,3]", "?", "?", NULL},
    {"BeamSearch", MS, 0, "x:i[1,3] a:i[1]", "y", NULL, "?", "?", "?", NULL},
};

static const op_case blocked[] = {
    {"ReorderInput", NCHWC, 0, "x:f[1,32,8,9]", "y", NULL, "f[1,32,8,9]", "0", "0", NULL},
    {"ReorderInput", NCHWC, 0, "x:f[1,8,9,48]", "y", "channels_last=1", "f[1,48,8,9]", "0", "0",
     NULL},
    {"ReorderInput", NCHWC, 0, "x:f[1,24,8,9]", "y", NULL, "f[1,?,8,9]", "0", "0", NULL},
    {"Conv", NCHWC, 0, "x:f[1,3,8,8] w:*f[16,3,3,3] b:*f[16] - ", "y",
     "activation=Relu pads=1,1,1,1", "f[1,16,8,8]", "27648", "57344", "448"},
    {"ReorderOutput", NCHWC, 0, "x:f[1,16,8,9]", "y", "channels=10", "f[1,10,8,9]", "0", "0", NULL},
    {"ReorderOutput", NCHWC, 0, "x:f[1,16,8,9]", "y", "channels=10 channels_last=1", "f[1,8,9,10]",
     "0", "0", NULL},
    {"Upsample", NCHWC, 0, "x:f[1,16,8,9]", "y", "scales=1,1,2,3 mode=nearest", "f[1,16,16,27]",
     "0", "0", NULL},
    {"MaxPool", NCHWC, 0, "x:f[1,16,8,8]", "y", "kernel_shape=2,2 strides=2,2", "f[1,16,4,4]", "0",
     "1024", NULL},
    {"Conv", "com.ms.internal.nhwc", 0, "x:f[1,8,8,3] w:*f[6,3,3,3]", "y", NULL, "f[1,6,6,6]",
     "5832", NULL, NULL},
};

#define CHECK_ALL(list)                                            \
	(void)state;                                               \
	for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) \
	op_case_check(&(list)[i])

static void counts_attentions(void **state)
{
	CHECK_ALL(attentions);
}

static void counts_products(void **state)
{
	CHECK_ALL(products);
}

static void counts_others(void **state)
{
	CHECK_ALL(others);
}

static void counts_blocked_layouts(void **state)
{
	CHECK_ALL(blocked);
}

/* The padding of channels follows from the weights of the next convolution. */
static void finds_padded_channels(void **state)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	size_t graph = graph_begin(&w), node;

	(void)state;
	put_input(&w, "x", ONNX_FLOAT, DIMS(1, 24, 8, 8));
	put_tensor(&w, "w", ONNX_FLOAT, DIMS(16, 32, 1, 1), 0, NULL);
	node = node_begin(&w, "ReorderInput", "x", "y");
	wire_put_text(&w, 7, NCHWC);
	wire_end(&w, node);
	node = node_begin(&w, "Conv", "y w", "z");
	wire_put_text(&w, 7, NCHWC);
	wire_end(&w, node);
	graph_end(&w, graph);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, NULL), DCK_OK);
	assert_int_equal(cost_model(m, NULL, a, &r, NULL), DCK_OK);
	assert_true(sym_is(r->ops[0].out[0]->dims[1], 32));
	assert_true(sym_is(r->macs, 16 * 32 * 64));
	mem_arena_free(a);
	wire_out_done(&w);
}

/* An embedding reads only the rows of its words. */
static void reads_rows_of_tables(void **state)
{
	static const op_case c = {
	    .op = "EmbedLayerNormalization",
	    .domain = MS,
	    .inputs = "i:i[2,5] s:i[2,5] w:*f[1000,8] p:*f[512,8] t:*f[2,8] g:*f[8] b:*f[8]",
	    .outputs = "y n"};
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;

	(void)state;
	op_case_build(&w, &c);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, NULL), DCK_OK);
	assert_int_equal(cost_model(m, NULL, a, &r, NULL), DCK_OK);
	/* two kinds of words, three times ten rows of 8, gamma and beta */
	assert_true(sym_is(r->ops[0].read_bytes, 2 * 10 * 4 + 3 * 80 * 4 + 2 * 8 * 4));
	mem_arena_free(a);
	wire_out_done(&w);
}

int test_cost_microsoft(void);
int test_cost_microsoft(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_attentions),     cmocka_unit_test(counts_products),
	    cmocka_unit_test(counts_others),	     cmocka_unit_test(counts_blocked_layouts),
	    cmocka_unit_test(finds_padded_channels), cmocka_unit_test(reads_rows_of_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
