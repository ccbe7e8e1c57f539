/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_text.h"
#include "scratch.h"

#include "model/rebatch/rebatch.h"

#include <unistd.h>

#define NODES 8

/* A graph for one item, and its expected rewrite for three. */
typedef struct batch_case {
	const char *values; /* in the syntax of op_case */
	graph_node nodes[NODES];
	const char *outputs;
	/* The outputs' shapes in the rewritten model, and after '+' the number of rewritten nodes;
	 * or '!' and a part of the message. */
	const char *want;
} batch_case;

static void nodes_put(wire_out *w, const graph_node *n)
{
	char text[512], *save = NULL;

	for (; n->op; n++) {
		size_t node = node_begin(w, n->op, n->inputs, n->outputs);
		if (n->name)
			wire_put_text(w, 3, n->name);
		if (n->domain)
			wire_put_text(w, 7, n->domain);
		snprintf(text, sizeof text, "%s", n->attributes ? n->attributes : "");
		for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
			op_case_attribute(w, t);
		wire_end(w, node);
	}
}

static void model_put(wire_out *w, const batch_case *c)
{
	char text[512], *save = NULL;
	size_t graph, opset;

	wire_put_int(w, 1, 10);
	graph = wire_begin(w, 7);
	snprintf(text, sizeof text, "%s", c->values);
	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
		op_case_input(w, t);
	nodes_put(w, c->nodes);
	snprintf(text, sizeof text, "%s", c->outputs);
	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save)) {
		size_t value = wire_begin(w, 12);
		wire_put_text(w, 1, t);
		wire_end(w, value);
	}
	wire_end(w, graph);
	opset = wire_begin(w, 8);
	wire_put_text(w, 1, "");
	wire_put_int(w, 2, 17);
	wire_end(w, opset);
	assert_false(w->failed);
}

/* Writes the result of rebatch() in the syntax of `want`. */
static void outcome(const batch_case *c, int64_t n, char *ret, size_t size)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	batch_model b = {0};
	cost_result *r = NULL;
	dck_err err = {0};
	size_t used = 0;

	model_put(&w, c);
	const char *path = scratch_file("model.onnx", w.data, w.n);
	assert_int_equal(onnx_read_file(path, a, &m, &err), DCK_OK);
	dck_status status = rebatch(path, m, n, "weights", a, &b, &err);
	unlink(path);
	wire_out_done(&w);
	if (status != DCK_OK) {
		assert_int_equal(status, DCK_E_UNSUP);
		snprintf(ret, size, "!%s", err.msg);
		mem_arena_free(a);
		return;
	}
	if (onnx_read_bytes(b.bytes.data, b.bytes.n, a, &m, &err) != DCK_OK ||
	    cost_model(m, NULL, a, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(r->ninputs, b.ninputs);
	*ret = '\0';
	for (size_t i = 0; i < r->noutputs && used < size; i++) {
		const val *v = r->outputs[i];
		used += (size_t)snprintf(ret + used, size - used, "%s[", i ? " " : "");
		for (int k = 0; k < v->rank && used < size; k++)
			used += (size_t)snprintf(ret + used, size - used, "%s%s", k ? "," : "",
						 sym_text(r->nums, v->dims[k]));
		if (v->rank < 0)
			used += (size_t)snprintf(ret + used, size - used, "?%s", v->why);
		used += (size_t)snprintf(ret + used, size - used, "]");
	}
	snprintf(ret + used, size - used, "+%zu", b.rewritten);
	batch_done(&b);
	mem_arena_free(a);
}

static void check(const batch_case *cases, size_t n)
{
	char got[1024];
	size_t failed = 0;

	for (size_t i = 0; i < n; i++) {
		const batch_case *c = &cases[i];
		outcome(c, 3, got, sizeof got);
		bool ok = *c->want == '!' ? *got == '!' && strstr(got, c->want + 1)
					  : strcmp(got, c->want) == 0;
		if (ok)
			continue;
		print_error("%s %s: %s, not %s\n", c->nodes[0].op, c->values, got, c->want);
		failed++;
	}
	assert_int_equal(failed, 0);
}

#define CHECK(cases) check((cases), sizeof(cases) / sizeof *(cases))
#define ONE(op, in, attrs)                             \
	{                                              \
		{                                      \
			op, NULL, NULL, in, "y", attrs \
		}                                      \
	}

static void each_item_by_itself(void **state)
{
	static const batch_case cases[] = {
	    {"x:f[1,4]", ONE("Relu", "x", NULL), "y", "[3,4]+0"},
	    {"x:f[1,4] b:*f[4]", ONE("Add", "x b", NULL), "y", "[3,4]+0"},
	    {"x:f[1,4] b:*f[5,1,4]", ONE("Add", "x b", NULL), "y", "[5,3,4]+0"},
	    {"x:f[1,4] z:f[1,4]", ONE("Mul", "x z", NULL), "y", "[3,4]+0"},
	    {"x:f[1,3,8,8] w:*f[5,3,3,3]", ONE("Conv", "x w", NULL), "y", "[3,5,6,6]+0"},
	    {"x:f[1,3,8,8]", ONE("GlobalAveragePool", "x", NULL), "y", "[3,3,1,1]+0"},
	    {"x:f[1,3,8,8]", ONE("MaxPool", "x", "kernel_shape=2,2 strides=2,2"), "y",
	     "[3,3,4,4]+0"},
	    {"x:f[1,4] w:*f[5,4] b:*f[5]", ONE("Gemm", "x w b", "transB=1"), "y", "[3,5]+0"},
	    {"x:f[1,4] w:*f[4,5] b:*f[1,5]", ONE("Gemm", "x w b", NULL), "y", "[3,5]+0"},
	    {"x:f[1,7,4] w:*f[4,5]", ONE("MatMul", "x w", NULL), "y", "[3,7,5]+0"},
	    {"x:f[1,7,4] w:*f[1,4,5]", ONE("MatMul", "x w", NULL), "y", "[3,7,5]+0"},
	    {"x:f[1,4]", ONE("Softmax", "x", "axis=-1"), "y", "[3,4]+0"},
	    {"x:f[1,7,4]", ONE("ReduceMean", "x", "axes=1, keepdims=0"), "y", "[3,4]+0"},
	    {"x:f[1,7,4]", ONE("ArgMax", "x", "axis=2 keepdims=0"), "y", "[3,7]+0"},
	    {"x:f[1,7,4] s:*f[4] b:*f[4]", ONE("LayerNormalization", "x s b", "axis=-1"), "y",
	     "[3,7,4]+0"},
	    {"x:f[1,7,4] s:*f[4]", ONE("SimplifiedLayerNormalization", "x s", "axis=-1"), "y",
	     "[3,7,4]+0"},
	    {"x:f[1,7,4]", ONE("Transpose", "x", "perm=2,0,1"), "y", "[4,3,7]+0"},
	    {"x:f[1,7,4]", ONE("Flatten", "x", NULL), "y", "[3,28]+0"},
	    {"i:l[1,7] t:*f[100,8]", ONE("Gather", "t i", "axis=0"), "y", "[3,7,8]+0"},
	    {"x:f[1,7,8] i:*l[]=0", ONE("Gather", "x i", "axis=1"), "y", "[3,8]+0"},
	    {"z:f[1,5,4] w:*f[1,24,4] r:*f[1,24,6]",
	     {{"Transpose", NULL, NULL, "z", "x", "perm=1,0,2"},
	      {"LSTM", NULL, NULL, "x w r", "y h c", "hidden_size=6"}},
	     "y h c",
	     "[5,1,3,6] [1,3,6] [1,3,6]+0"},
	    {"x:f[1,4,6] z:f[1,5,6]", ONE("Einsum", "x z", "equation='bij,bkj->bik"), "y",
	     "[3,4,5]+0"},
	    {"x:f[1,4,6] z:f[1,5,6]", ONE("Einsum", "x z", "equation='...ij,...kj->...ik"), "y",
	     "[3,4,5]+0"},
	    {"x:f[1,4,6] w:*f[6,5]", ONE("Einsum", "x w", "equation='...j,jk->...k"), "y",
	     "[3,4,5]+0"},
	    {"x:f[1,4,6] w:*f[6,5]", ONE("Einsum", "x w", "equation='bij,jk"), "y", "[3,4,5]+0"},
	    {"x:f[1,4] a:*l[1]=-9223372036854775808 e:*l[1]=9223372036854775807 z:*l[1]=0",
	     ONE("Slice", "x a e z", NULL), "y", "[3,4]+0"},
	    {"x:f[1,8] b:*f[1,8]",
	     {{"Identity", NULL, NULL, "x", "x1", NULL}, {"Sub", NULL, NULL, "b x1", "y", NULL}},
	     "y",
	     "[3,8]+0"},
	};

	(void)state;
	CHECK(cases);
}

#define MICROSOFT(op, in, out, attrs)                             \
	{                                                         \
		{                                                 \
			op, "com.microsoft", NULL, in, out, attrs \
		}                                                 \
	}

/* Each input by its kind: items, the past, a bias that broadcasts, positions, caches. */
static void attention(void **state)
{
	static const batch_case cases[] = {
	    {"q:f[1,2,7,4] k:f[1,2,7,4] v:f[1,2,7,4]", ONE("Attention", "q k v", NULL), "y",
	     "[3,2,7,4]+0"},
	    {"q:f[1,2,7,4] k:f[1,2,7,4] v:f[1,2,7,4] m:*f[7,7]", ONE("Attention", "q k v m", NULL),
	     "y", "[3,2,7,4]+0"},
	    {"q:f[1,2,7,4] k:f[1,2,7,4] v:f[1,2,7,4] m:f[1,1,7,7]",
	     ONE("Attention", "q k v m", NULL), "y", "[3,2,7,4]+0"},
	    {"q:f[1,2,7,4] k:*f[1,2,5,4] v:*f[1,2,5,4] m:*f[1,1,7,5]",
	     ONE("Attention", "q k v m", NULL), "y", "[3,2,7,4]+1"},
	    {"q:f[1,2,7,4] k:f[1,2,4,4]",
	     {{"ReduceMean", NULL, NULL, "q", "m", "axes=1, keepdims=0"},
	      {"Attention", NULL, NULL, "q k k m", "y", NULL}},
	     "y",
	     "!its input 'm' holds the items along axis 0"},
	    {"x:f[1,2,7,4] c:*f[50,2] s:*f[50,2] p:*l[1,7]",
	     ONE("RotaryEmbedding", "x c s p", NULL), "y", "[3,2,7,4]+1"},
	    {"x:f[1,2,7,4] c:*f[1,7,2] s:*f[1,7,2]", ONE("RotaryEmbedding", "x c s", NULL), "y",
	     "[3,2,7,4]+1"},
	    {"x:f[1,7,8] w:*f[8,24] b:*f[24] m:i[1,7] p:f[2,1,2,5,4]",
	     MICROSOFT("Attention", "x w b m p", "y r", "num_heads=2"), "y r",
	     "[3,7,8] [2,3,2,12,4]+1"},
	    {"q:f[1,7,8] k:f[1,7,8] v:f[1,7,8] b:*f[24] m:i[1,7]",
	     MICROSOFT("MultiHeadAttention", "q k v b m", "y", "num_heads=2"), "y", "[3,7,8]+0"},
	    {"q:f[1,7,8] k:f[1,7,8] v:f[1,7,8] b:*f[24] m:*i[5]",
	     MICROSOFT("MultiHeadAttention", "q k v b m", "y", "num_heads=2"), "y",
	     "!axis 0 of its input 'm' has 5 values that are not of the items"},
	    {"q:f[1,2,7,4] w:f[1,8,24]", MICROSOFT("Attention", "w q w", "y", "num_heads=2"), "y",
	     "!its input 'q' holds the items along axis 0"},
	    {"x:f[1,2,7,4] p:*l[1] c:*f[50,2] s:*f[50,2]",
	     MICROSOFT("RotaryEmbedding", "x p c s", "y", NULL), "y", "[3,2,7,4]+0"},
	    {"i:i[1,7] s:i[1,7] w:*f[50,8] p:*f[9,8] t:*f[2,8] g:*f[8] b:*f[8]",
	     MICROSOFT("EmbedLayerNormalization", "i s w p t g b", "y n", NULL), "y n",
	     "[3,7,8] [3]+0"},
	};

	(void)state;
	CHECK(cases);
}

static void sizes_are_rewritten(void **state)
{
	static const batch_case cases[] = {
	    {"x:f[1,4,2,2] s:*l[2]=1,16", ONE("Reshape", "x s", NULL), "y", "[3,16]+1"},
	    {"x:f[1,4,2,2] s:*l[2]=1,-1", ONE("Reshape", "x s", NULL), "y", "[3,16]+1"},
	    /* before IR version 4 the sizes are an input too, and stay one with a default */
	    {"x:f[1,4,2,2] s:l[2] s:*l[2]=1,16", ONE("Reshape", "x s", NULL), "y", "[3,16]+1"},
	    {"x:f[1,4,2,2] s:*l[2]=-1,16", ONE("Reshape", "x s", NULL), "y", "[3,16]+0"},
	    {"x:f[1,4,2,2] s:*l[2]=0,-1", ONE("Reshape", "x s", NULL), "y", "[3,16]+0"},
	    {"x:f[1,4,2,2] s:*l[2]=-7,16", ONE("Reshape", "x s", NULL), "y",
	     "!do not fit its input"},
	    {"x:f[1,4,2,2] s:*l[2]=-7,-1", ONE("Reshape", "x s", NULL), "y",
	     "!do not fit its input"},
	    {"x:f[1,4,2,2] s:*l[2]=1,15", ONE("Reshape", "x s", NULL), "y",
	     "!do not fit its input"},
	    /* moves heads into the batch and back */
	    {"x:f[1,6,8] s:*l[3]=6,1,8 t:*l[3]=1,6,8",
	     {{"Transpose", NULL, NULL, "x", "a", "perm=1,0,2"},
	      {"Reshape", NULL, NULL, "a s", "b", NULL},
	      {"Transpose", NULL, NULL, "b", "c", "perm=1,0,2"},
	      {"Reshape", NULL, NULL, "c t", "y", NULL}},
	     "y",
	     "[3,6,8]+2"},
	    {"x:f[1,5,8] s:*l[3]=5,2,4 t:*l[3]=1,5,8",
	     {{"Transpose", NULL, NULL, "x", "a", "perm=1,0,2"},
	      {"Reshape", NULL, NULL, "a s", "b", NULL},
	      {"Transpose", NULL, NULL, "b", "c", "perm=1,0,2"},
	      {"Transpose", NULL, NULL, "b", "d", "perm=1,2,0"},
	      {"MatMul", NULL, NULL, "c d", "y", NULL}},
	     "y",
	     "[6,5,5]+1"},
	    /* the rows of all items in one matrix: the first choice of the search fails */
	    {"x:f[1,5,8] s:*l[2]=5,8 w:*f[8,8] t:*l[3]=5,1,8",
	     {{"Transpose", NULL, NULL, "x", "a", "perm=1,0,2"},
	      {"Reshape", NULL, NULL, "a s", "b", NULL},
	      {"Gemm", NULL, NULL, "b w", "c", NULL},
	      {"Reshape", NULL, NULL, "c t", "d", NULL},
	      {"Transpose", NULL, NULL, "d", "y", "perm=1,0,2"}},
	     "y",
	     "[3,5,8]+2"},
	    {"x:f[1,4] c:*f[1,1]", ONE("Concat", "c x", "axis=1"), "y", "[3,5]+1"},
	    {"x:f[1,1,4] s:*l[3]=1,7,4", ONE("Expand", "x s", NULL), "y", "[3,7,4]+0"},
	    {"x:f[1,4] a:*l[1]=0 e:*l[1]=1", ONE("Slice", "x a e a", NULL), "y", "[3,4]+1"},
	    {"x:f[1,2,4,4] s:*l[4]=1,2,8,8", ONE("Resize", "x - - s", NULL), "y", "[3,2,8,8]+1"},
	    {"z:f[1,5,4] w:*f[1,24,4] r:*f[1,24,6] h:*f[1,1,6]",
	     {{"Transpose", NULL, NULL, "z", "x", "perm=1,0,2"},
	      {"LSTM", NULL, NULL, "x w r - - h h", "y", "hidden_size=6"}},
	     "y",
	     "[5,1,3,6]+1"},
	    /* computed sizes need no rewrite */
	    {"x:f[1,4,2,2] z:*l[1]=0 m:*l[1]=-1",
	     {{"Shape", NULL, NULL, "x", "s", NULL},
	      {"Gather", NULL, NULL, "s z", "n", "axis=0"},
	      {"Concat", NULL, NULL, "n m", "t", "axis=0"},
	      {"Reshape", NULL, NULL, "x t", "y", NULL}},
	     "y",
	     "[3,16]+0"},
	    {"x:f[1,4] z:*l[1]=0 m:*l[1]=2",
	     {{"Shape", NULL, NULL, "x", "s", NULL},
	      {"Gather", NULL, NULL, "s z", "n", "axis=0"},
	      {"Concat", NULL, NULL, "n m", "t", "axis=0"},
	      {"ConstantOfShape", NULL, NULL, "t", "c", NULL},
	      {"Concat", NULL, NULL, "x c", "y", "axis=1"}},
	     "y",
	     "[3,6]+0"},
	};

	(void)state;
	CHECK(cases);
}

static void items_that_meet_are_refused(void **state)
{
	static const batch_case cases[] = {
	    {"x:f[1,4]", ONE("ReduceMean", "x", "axes=0,"), "y", "!combines axis 0"},
	    {"x:f[1,4]", ONE("ReduceMean", "x", NULL), "y", "!combines all axes"},
	    {"x:f[1,4]", ONE("Softmax", "x", "axis=0"), "y", "!normalises over axis 0"},
	    {"x:f[1,4] a:*l[]=0", ONE("CumSum", "x a", NULL), "y", "!adds up along axis 0"},
	    {"x:f[1,4]", ONE("Concat", "x x", "axis=0"), "y", "!joins along axis 0"},
	    {"x:f[1,4] i:*l[]=0", ONE("Gather", "x i", "axis=0"), "y", "!picks along axis 0"},
	    {"x:f[1,4]", ONE("Flatten", "x", "axis=0"), "y", "!along a separate axis"},
	    {"x:f[1,4] s:*l[1]=-1", ONE("Reshape", "x s", NULL), "y", "[12]+0"},
	    /* one item's elements in a row, indexed from */
	    {"x:f[1,4] s:*l[1]=-1 i:*l[1,2,1]=3,-4",
	     {{"Reshape", NULL, NULL, "x s", "r", NULL}, {"Gather", NULL, NULL, "r i", "y", NULL}},
	     "y",
	     "[3,2,1]+1"},
	    {"x:f[1,4,4]",
	     {{"Transpose", NULL, NULL, "x", "t", "perm=1,2,0"},
	      {"MatMul", NULL, NULL, "t x", "y", NULL}},
	     "y",
	     "!'y'"},
	    {"x:f[1,4]",
	     {{"Transpose", NULL, NULL, "x", "t", "perm=1,0"},
	      {"MatMul", NULL, NULL, "x t", "y", NULL}},
	     "y",
	     "!every item with every other"},
	    {"x:f[1,4] k:*l[1]=1", ONE("TopK", "x k", "axis=0"), "y", "!axis 0"},
	    {"x:f[1,4]", ONE("NonZero", "x", NULL), "y", "!depends on all items"},
	    {"x:f[1,4] a:*l[1]=0", ONE("Squeeze", "x a", NULL), "y", "!removes axis 0"},
	    {"x:f[1,4]", ONE("Squeeze", "x", NULL), "y", "!removes every axis of 1"},
	    {"x:f[1,4,2,2] s:*f[4] b:*f[4] m:*f[4] v:*f[4]",
	     ONE("BatchNormalization", "x s b m v", "training_mode=1"), "y", "!training mode"},
	    {"x:f[1,4,2,2] s:*f[4] b:*f[4] m:*f[4] v:*f[4]",
	     ONE("BatchNormalization", "x s b m v", NULL), "y", "[3,4,2,2]+0"},
	    {"x:f[1,4] r:*f[] t:*t[]=1", ONE("Dropout", "x r t", NULL), "y", "!training mode"},
	    {"x:f[1,4] r:*f[] t:*t[]=0", ONE("Dropout", "x r t", NULL), "y", "[3,4]+0"},
	    {"x:f[1,4]",
	     {{"Frob", "my.own", NULL, "x", "y", NULL}},
	     "y",
	     "!the node 'y' (my.own.Frob): how it treats the items is not known"},
	    {"x:f[1,4] p:*l[4]=1,0,0,0", ONE("Pad", "x p", NULL), "y", "!pads axis 0"},
	    {"x:f[1,4] r:*l[2]=2,1", ONE("Tile", "x r", NULL), "y", "!repeats along axis 0"},
	    {"x:f[1,4] s:*l[2]=5,4", ONE("Expand", "x s", NULL), "y", "!repeats along axis 0"},
	    {"x:f[1,2,4,4]", ONE("MaxPool", "x", "kernel_shape=2,2"), "y", "[3,2,3,3]+0"},
	    {"x:f[1,4] u:*f[1,4]",
	     {{"Relu", NULL, NULL, "u", "y", NULL}},
	     "y",
	     "!no output depends on the items"},
	    {"x:f[1,4]", ONE("Shape", "x", NULL), "y", "!the number of items"},
	    {"x:f[1,4] z:*l[1]=0",
	     {{"Shape", NULL, NULL, "x", "s", NULL},
	      {"Gather", NULL, NULL, "s z", "n", "axis=0"},
	      {"Cast", NULL, NULL, "n", "f", "to=1"},
	      {"Div", NULL, NULL, "x f", "y", NULL}},
	     "y",
	     "!number of items"},
	    {"x:f[1,8]", ONE("Einsum", "x", "equation='bi->i"), "y", "!adds up over the items"},
	    {"x:f[1,8]", ONE("Einsum", "x", "equation='b...->"), "y", "!adds up over the items"},
	    {"x:f[1,3,3]", ONE("Einsum", "x", "equation='bii->bi"), "y", "!takes a diagonal"},
	    {"x:f[1,8]", ONE("Einsum", "x", "equation='bij->b"), "y", "!can be followed"},
	    {"x:f[1,4] a:*l[1]=1 e:*l[1]=9223372036854775807 z:*l[1]=0",
	     ONE("Slice", "x a e z", NULL), "y", "!cuts along axis 0"},
	    {"x:f[1,4] a:*l[1]=0 e:*l[1]=1 z:*l[1]=0 p:*l[1]=2", ONE("Slice", "x a e z p", NULL),
	     "y", "!cuts along axis 0"},
	    {"x:f[1,8]",
	     {{"DynamicQuantizeLinear", NULL, NULL, "x", "y s z", NULL}},
	     "y",
	     "!one scale for all items"},
	};

	(void)state;
	CHECK(cases);
}

/* A second input whose first axis is 1 does not always have a batch axis. */
static void an_input_may_be_no_item(void **state)
{
	static const batch_case cases[] = {
	    {"x:f[1,4] k:l[1]", ONE("TopK", "x k", "axis=1"), "y", "[3,u1]+0"},
	    /* each item combined with an input that all items share */
	    {"x:f[1,4] z:f[1,4]",
	     {{"Transpose", NULL, NULL, "z", "t", "perm=1,0"},
	      {"MatMul", NULL, NULL, "x t", "y", NULL}},
	     "y",
	     "[3,1]+0"},
	};

	(void)state;
	CHECK(cases);
}

static void more_than_one_may_be_fixed(void **state)
{
	static const batch_case cases[] = {
	    {"x:f[2,4]", ONE("Relu", "x", NULL), "y", "[3,4]+0"},
	    {"x:f[2,4,2,2] s:*l[2]=2,16", ONE("Reshape", "x s", NULL), "y", "[3,16]+1"},
	    {"x:f[2,4] b:*f[2,4]", ONE("Add", "x b", NULL), "y", "!not of the items"},
	    {"x:f[2,4] b:*f[1,4]", ONE("Add", "x b", NULL), "y", "[3,4]+0"},
	};

	(void)state;
	CHECK(cases);
}

static void a_file_that_changed_is_refused(void **state)
{
	static const batch_case now[] = {
	    {"x:f[1,4]",
	     {{"Relu", NULL, NULL, "x", "y", NULL}, {"Abs", NULL, NULL, "y", "z", NULL}},
	     "y",
	     ""},
	    {"x:f[1,4] w:*f[4]", ONE("Relu", "x", NULL), "y", ""},
	    {"x:f[1,4] b:f[1,4]", ONE("Relu", "x", NULL), "y", ""},
	    {"x:f[1,4]", ONE("Relu", "x", NULL), "y x", ""},
	};
	static const batch_case was = {"x:f[1,4]", ONE("Relu", "x", NULL), "y", ""};

	(void)state;
	for (size_t i = 0; i < sizeof now / sizeof *now; i++) {
		mem_arena *a = mem_arena_new(0);
		wire_out before = {0}, w = {0};
		batch_model b;
		onnx_model *m;
		dck_err err = {0};

		model_put(&before, &was);
		assert_int_equal(onnx_read_bytes(before.data, before.n, a, &m, &err), DCK_OK);
		model_put(&w, &now[i]);
		const char *path = scratch_file("model.onnx", w.data, w.n);
		assert_int_equal(rebatch(path, m, 3, NULL, a, &b, &err), DCK_E_IO);
		assert_non_null(strstr(err.msg, "changed while it was read"));
		unlink(path);
		wire_out_done(&before);
		wire_out_done(&w);
		mem_arena_free(a);
	}
}

static void a_size_without_63_bits_stays_open(void **state)
{
	const int64_t whole[] = {1, INT64_C(1) << 62}, flat = INT64_C(1) << 62;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	size_t g = graph_begin(&w);
	batch_model b;
	onnx_model *m;
	dck_err err = {0};

	(void)state;
	put_input(&w, "x", ONNX_FLOAT, 2, whole);
	put_tensor(&w, "s", ONNX_INT64, DIMS(1), 1, &(int64_t){-1});
	put_node(&w, "Reshape", "x s", "y");
	put_value(&w, 12, "y", ONNX_FLOAT, 1, &flat);
	graph_end(&w, g);
	const char *path = scratch_file("model.onnx", w.data, w.n);
	assert_int_equal(onnx_read_file(path, a, &m, &err), DCK_OK);
	if (rebatch(path, m, 5, NULL, a, &b, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	if (onnx_read_bytes(b.bytes.data, b.bytes.n, a, &m, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(m->graph->outputs[0].type->tensor->shape->dims[0].value < 0);
	unlink(path);
	batch_done(&b);
	wire_out_done(&w);
	mem_arena_free(a);
}

int test_batch(void);
int test_batch(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_item_by_itself),
	    cmocka_unit_test(attention),
	    cmocka_unit_test(sizes_are_rewritten),
	    cmocka_unit_test(items_that_meet_are_refused),
	    cmocka_unit_test(an_input_may_be_no_item),
	    cmocka_unit_test(more_than_one_may_be_fixed),
	    cmocka_unit_test(a_file_that_changed_is_refused),
	    cmocka_unit_test(a_size_without_63_bits_stays_open),
	};

	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
