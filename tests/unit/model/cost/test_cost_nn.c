/* test_cost_nn.c - shapes and costs of neural network operators, checked by hand.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "op_case.h"

static const op_case windows[] = {
    /* 1*64*112*112 outputs of 3*7*7 products each */
    {"Conv", NULL, 0, "x:f[1,3,224,224] w:*f[64,3,7,7]", "y", "strides=2,2 pads=3,3,3,3",
     "f[1,64,112,112]", "118013952", "236027904", "9408"},
    {"Conv", NULL, 0, "x:f[N,4,H] w:*f[6,2,3] b:*f[6]", "y", "group=2 pads=1,1", "f[N,6,H]",
     "36*N*H", "78*N*H", "42"},
    {"Conv", NULL, 0, "x:f[1,3,8,32,32] w:*f[16,3,3,3,3]", "y", "pads=1,1,1,1,1,1",
     "f[1,16,8,32,32]", "10616832", NULL, "1296"},
    {"Conv", NULL, 0, "x:f[1,1,7,7] w:f[1,1,3,3]", "y", "dilations=2,2 strides=2,2", "f[1,1,2,2]",
     "36", "72", "0"},
    {"Conv", NULL, 0, "x:f[1,1,7,8] w:f[1,1,3,3]", "y", "auto_pad=SAME_UPPER strides=2,3",
     "f[1,1,4,3]", "108", NULL, NULL},
    {"Conv", NULL, 0, "x:f[1,1,7,8] w:f[1,1,3,3]", "y", "auto_pad=VALID strides=2,3", "f[1,1,3,2]",
     "54", NULL, NULL},
    {"Conv", NULL, 0, "x:f[1,1,H,8] w:f[1,1,3,3]", "y", "strides=2,1", "f[1,1,floor((H+1)/2)-1,6]",
     NULL, NULL, NULL},
    {"ConvTranspose", NULL, 0, "x:f[1,64,16,16] w:*f[64,32,4,4] b:*f[32]", "y",
     "strides=2,2 pads=1,1,1,1", "f[1,32,32,32]", "8388608", "16809984", "32800"},
    {"ConvTranspose", NULL, 0, "x:f[1,64,16,16] w:*f[64,8,4,4]", "y",
     "strides=2,2 pads=1,1,1,1 group=4", "f[1,32,32,32]", "2097152", NULL, NULL},
    {"ConvTranspose", NULL, 0, "x:f[1,1,3,3] w:f[1,2,3,3]", "y",
     "strides=3,2 output_padding=1,1 dilations=2,2", "f[1,2,12,10]", "162", NULL, NULL},
    {"ConvTranspose", NULL, 0, "x:f[1,1,3,3] w:f[1,2,3,3]", "y",
     "strides=3,2 output_shape=10,8 output_padding=1,1", "f[1,2,10,8]", NULL, NULL, NULL},
    {"ConvTranspose", NULL, 0, "x:f[1,1,3,3] w:f[1,2,3,3]", "y", "strides=2,4 auto_pad=SAME_LOWER",
     "f[1,2,6,11]", NULL, NULL, NULL},
    /* 9 samples at each of 4 positions and in 2 channels: 4 corners of 3 operations */
    {"DeformConv", NULL, 19, "x:f[1,2,4,4] w:f[1,2,3,3] o:f[1,18,2,2]", "y", NULL, "f[1,1,2,2]",
     "72", "1008", NULL},
    {"MaxPool", NULL, 0, "x:f[1,64,112,112]", "y i", "kernel_shape=3,3 strides=2,2 pads=1,1,1,1",
     "f[1,64,56,56] l[1,64,56,56]", "0", "1806336", NULL},
    {"MaxPool", NULL, 0, "x:f[1,1,4,4]", "- i", "kernel_shape=2,2", "- l[1,1,3,3]", "0", "36",
     NULL},
    /* A window that is larger than its input. */
    {"MaxPool", NULL, 0, "x:f[1,1,2,2]", "y", "kernel_shape=5,5", "f[1,1,?,?]", "0", "?", NULL},
    {"AveragePool", NULL, 0, "x:f[1,1,5,6]", "y", "kernel_shape=2,2 strides=2,2 ceil_mode=1",
     "f[1,1,3,3]", "0", "36", NULL},
    /* the last window would start in the padding */
    {"AveragePool", NULL, 0, "x:f[1,1,4]", "y", "kernel_shape=2, strides=3, pads=0,1 ceil_mode=1",
     "f[1,1,2]", "0", "4", NULL},
    {"MaxPool", NULL, 0, "x:f[1,1,3]", "y", "kernel_shape=4, strides=2, ceil_mode=1", "f[1,1,1]",
     NULL, NULL, NULL},
    {"MaxPool", NULL, 0, "x:f[1,1,2]", "y", "kernel_shape=4, strides=2, ceil_mode=1", "f[1,1,?]",
     NULL, NULL, NULL},
    {"MaxPool", NULL, 0, "x:f[1,1,H]", "y", "kernel_shape=4, strides=2, ceil_mode=1",
     "f[1,1,floor((H+1)/2)-1]", NULL, NULL, NULL},
    {"LpPool", NULL, 0, "x:f[1,1,5]", "y", "kernel_shape=2, strides=2,", "f[1,1,2]", "0", "10",
     NULL},
    {"MaxUnpool", NULL, 0, "x:f[1,1,2,2] i:l[1,1,2,2]", "y", "kernel_shape=2,2 strides=2,2",
     "f[1,1,4,4]", "0", "0", NULL},
    {"MaxUnpool", NULL, 0, "x:f[1,1,2,2] i:l[1,1,2,2] s:*l[4]=1,1,5,5", "y",
     "kernel_shape=2,2 strides=2,2", "f[1,1,5,5]", NULL, NULL, NULL},
    {"GlobalAveragePool", NULL, 0, "x:f[N,512,7,7]", "y", NULL, "f[N,512,1,1]", "0", "25088*N",
     NULL},
};

static const op_case norms[] = {
    {"BatchNormalization", NULL, 0, "x:f[2,3,4] s:*f[3] b:*f[3] m:*f[3] v:*f[3]", "y", NULL,
     "f[2,3,4]", "0", "48", "6"},
    {"BatchNormalization", NULL, 0, "x:f[2,3,4] s:f[3] b:f[3] m:f[3] v:f[3]", "y m2 v2",
     "training_mode=1", "f[2,3,4] f[3] f[3]", "0", "168", NULL},
    {"BatchNormalization", NULL, 9, "x:f[2,3,4] s:f[3] b:f[3] m:f[3] v:f[3]", "y a b2 c d", NULL,
     "f[2,3,4] f[3] f[3] f[3] f[3]", NULL, NULL, NULL},
    {"LayerNormalization", NULL, 0, "x:h[2,3,8] s:*h[8] b:*h[8]", "y m d", "axis=-1",
     "h[2,3,8] f[2,3,1] f[2,3,1]", "0", "336", "16"},
    {"LayerNormalization", NULL, 0, "x:f[2,3,8] s:*f[3,8]", "y m", "axis=1", "f[2,3,8] f[2,1,1]",
     "0", "288", "24"},
    {"InstanceNormalization", NULL, 0, "x:f[2,3,4] s:*f[3] b:*f[3]", "y", NULL, "f[2,3,4]", "0",
     "168", "6"},
    {"GroupNormalization", NULL, 21, "x:f[2,4,4] s:*f[4] b:*f[4]", "y", "num_groups=2", "f[2,4,4]",
     "0", "224", "8"},
    {"RMSNormalization", NULL, 23, "x:f[2,8] s:*f[8]", "y", NULL, "f[2,8]", "0", "64", "8"},
    {"SimplifiedLayerNormalization", NULL, 0, "x:f[2,8] s:*f[8]", "y d", NULL, "f[2,8] f[2,1]", "0",
     "64", "8"},
    {"LRN", NULL, 0, "x:f[1,4,2]", "y", "size=5", "f[1,4,2]", "0", "72", NULL},
    {"Softmax", NULL, 0, "x:f[N,10]", "y", NULL, "f[N,10]", "0", "50*N", NULL},
    {"Sigmoid", NULL, 0, "x:f[3]", "y", NULL, "f[3]", "0", "12", NULL},
    {"PRelu", NULL, 0, "x:f[2,3] s:*f[3]", "y", NULL, "f[2,3]", "0", "12", "3"},
    {"Gelu", NULL, 20, "x:f[2]", "y", NULL, "f[2]", "0", "10", NULL},
    {"Gelu", NULL, 20, "x:f[2]", "y", "approximate=tanh", "f[2]", "0", "18", NULL},
    {"Clip", NULL, 0, "x:f[2] - m:*f[]", "y", NULL, "f[2]", "0", "2", "0"},
    {"Clip", NULL, 7, "x:f[2]", "y", NULL, "f[2]", "0", "4", NULL},
    {"SoftmaxCrossEntropyLoss", NULL, 0, "x:f[3,5,2] l:l[3,2]", "y p", "reduction=none",
     "f[3,2] f[3,5,2]", "0", "156", NULL},
    {"NegativeLogLikelihoodLoss", NULL, 0, "x:f[3,5] l:l[3] w:*f[5]", "y", NULL, "f[]", "0", "12",
     "0"},
};

static const op_case cells[] = {
    {"LSTM", NULL, 0, "x:f[5,1,4] w:*f[2,12,4] r:*f[2,12,3]", "y h c",
     "hidden_size=3 direction=bidirectional", "f[5,2,1,3] f[2,1,3] f[2,1,3]", "840", "2340", "168"},
    {"LSTM", NULL, 0, "x:f[100,1,300] w:*f[1,2048,300] r:*f[1,2048,512]", "y", "hidden_size=512",
     "f[100,1,1,512]", "166297600", NULL, NULL},
    {"LSTM", NULL, 0, "x:f[100,1,512] w:*f[1,2048,512] r:*f[1,2048,512]", "y", "hidden_size=512",
     NULL, "209715200", NULL, NULL},
    {"LSTM", NULL, 0, "x:f[B,T,4] w:*f[1,12,4] r:*f[1,12,3]", "- h", "layout=1", "- f[B,1,3]",
     "84*B*T", NULL, NULL},
    {"GRU", NULL, 0, "x:f[100,1,64] w:*f[1,192,64] r:*f[1,192,64] b:*f[1,384]", "y h",
     "hidden_size=64", "f[100,1,1,64] f[1,1,64]", "2457600", NULL, "24960"},
    {"RNN", NULL, 0, "x:f[7,2,4] w:*f[1,3,4] r:*f[1,3,3]", "y", "hidden_size=3", "f[7,1,2,3]",
     "294", "672", "21"},
};

static const op_case attentions[] = {
    /* 2*4 heads, 5 queries of 6 keys: 240 scores of 8 + 12 products, 6 more FLOPs each */
    {"Attention", NULL, 23, "q:f[2,5,32] k:f[2,6,16] v:f[2,6,24]", "y pk pv qk",
     "q_num_heads=4 kv_num_heads=2", "f[2,5,48] f[2,2,6,8] f[2,2,6,12] f[2,4,5,6]", "4800", "11040",
     NULL},
    {"Attention", NULL, 23, "q:f[1,2,3,4] k:f[1,2,3,4] v:f[1,2,3,4] - a:f[1,2,P,4] b:f[1,2,P,4]",
     "y pk pv", "is_causal=1", "f[1,2,3,4] f[1,2,P+3,4] f[1,2,P+3,4]", "48*P+144", NULL, NULL},
    {"RotaryEmbedding", NULL, 23, "x:f[1,2,3,8] c:f[1,3,4] s:f[1,3,4]", "y", NULL, "f[1,2,3,8]",
     "0", "144", NULL},
    {"RotaryEmbedding", NULL, 23, "x:f[1,3,16] c:f[1,3,2] s:f[1,3,2]", "y",
     "num_heads=2 rotary_embedding_dim=4", "f[1,3,16]", "0", "72", NULL},
    {"LinearAttention", NULL, 27, "q:f[1,5,8] k:f[1,5,4] v:f[1,5,6]", "y s",
     "q_num_heads=2 kv_num_heads=1 update_rule=linear", "f[1,5,12] f[1,1,4,6]", "360", "780", NULL},
    {"CausalConvWithState", NULL, 27, "x:f[2,4,7] w:*f[4,1,3] b:*f[4]", "y s", "activation=silu",
     "f[2,4,7] f[2,4,2]", "168", "672", "16"},
    {"FlexAttention", "ai.onnx.preview", 25, "q:f[1,4,5,8] k:f[1,2,6,8] v:f[1,2,6,12]", "y", NULL,
     "f[1,4,5,12]", "2400", "5520", NULL},
};

/* Inconsistent or missing inputs give an unknown result with a reason. */
static const op_case hostile[] = {
    {"Conv", NULL, 0, "x:f[1,3,8,8]", "y", NULL, "?", "?", "?", "0"},
    {"Conv", NULL, 0, "x:f[1,3,8,8] w:f[4,3,3]", "y", NULL, "?", "?", "?", NULL},
    {"Conv", NULL, 0, "x:f[1,3,8,8] w:f[4,2,3,3]", "y", NULL, "?", "?", "?", NULL},
    {"Conv", NULL, 0, "x:f[1,3,8,8] w:f[4,3,3,3]", "y", "strides=0,1", "?", "?", "?", NULL},
    {"Conv", NULL, 0, "x:f[1,3,8,8] w:f[4,3,3,3]", "y", "pads=1,1,1", "?", "?", "?", NULL},
    {"Conv", NULL, 0, "x:f[1,3,8,8] w:f[4,3,3,3]", "y", "group=-1", "?", "?", "?", NULL},
    {"Conv", NULL, 0, "x:f[1,3,8,8] w:f[4,3,3,3]", "y", "strides=1.5", "f[1,4,6,6]", NULL, NULL,
     NULL},
    {"Conv", NULL, 0, "x:f[1,3,2,8] w:f[4,3,3,3]", "y", NULL, "f[1,4,?,6]", "?", "?", NULL},
    {"Conv", NULL, 0, "x:f[1,1,8] w:f[1,1,3]", "y", "dilations=9223372036854775807,", "f[1,1,?]",
     "?", "?", NULL},
    {"DeformConv", NULL, 19, "x:f[1,2,4,4] w:f[1,2,3,3] o:f[1,18,2,2]", "y",
     "offset_group=9223372036854775807", "f[1,1,2,2]", "72", "?", NULL},
    {"ConvTranspose", NULL, 0, "x:f[1,1,8] w:f[1,1,3]", "y", "output_shape=-5,", "?", NULL, NULL,
     NULL},
    {"MaxPool", NULL, 0, "x:f[1,1,8]", "y", NULL, "?", "?", "?", NULL},
    {"MaxPool", NULL, 0, "x:f[8]", "y", "kernel_shape=2,", "?", "?", "?", NULL},
    {"MaxPool", NULL, 0, "x:f[1,1,8]", "y",
     "kernel_shape=3, dilations=2, strides=2, auto_pad=SAME_UPPER", "f[1,1,?]", NULL, NULL, NULL},
    {"LSTM", NULL, 0, "x:f[5,1]", "y", NULL, "?", "?", "?", NULL},
    {"Attention", NULL, 23, "q:f[2,5,33] k:f[2,6,16] v:f[2,6,24]", "y",
     "q_num_heads=4 kv_num_heads=2", "f[2,5,48]", "?", "?", NULL},
    {"Attention", NULL, 23, "q:f[2,5,32] k:f[2,6,16]", "y", NULL, "?", "?", "?", NULL},
    {"LayerNormalization", NULL, 0, "x:f[] s:f[]", "y m", NULL, "f[] ?", NULL, NULL, NULL},
    {"LayerNormalization", NULL, 0, "x:f[2] s:f[2]", "y m", "axis=7", "f[2] ?", NULL, NULL, NULL},
    {"LRN", NULL, 0, "x:f[1,4,2]", "y", NULL, "f[1,4,2]", "?", "?", NULL},
    {"CausalConvWithState", NULL, 27, "x:f[2,4,7] w:f[4,1,3]", "y s", "activation=odd",
     "f[2,4,7] f[2,4,2]", "168", "?", NULL},
};

#define CHECK_ALL(list)                                            \
	(void)state;                                               \
	for (size_t i = 0; i < sizeof(list) / sizeof *(list); i++) \
	op_case_check(&(list)[i])

static void counts_windows(void **state)
{
	CHECK_ALL(windows);
}

static void counts_norms(void **state)
{
	CHECK_ALL(norms);
}

static void counts_cells(void **state)
{
	CHECK_ALL(cells);
}

static void counts_attentions(void **state)
{
	CHECK_ALL(attentions);
}

static void refuses_what_does_not_fit(void **state)
{
	CHECK_ALL(hostile);
}

int test_cost_nn(void);
int test_cost_nn(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_windows),
	    cmocka_unit_test(counts_norms),
	    cmocka_unit_test(counts_cells),
	    cmocka_unit_test(counts_attentions),
	    cmocka_unit_test(refuses_what_does_not_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
