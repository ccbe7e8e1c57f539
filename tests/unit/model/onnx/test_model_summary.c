/* test_model_summary.c - the range of an integer input, derived from its uses in the graph.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/summary.h"
#include "model_build.h"
#include "base/name_index.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <cmocka.h>

/* A model with the int64 input "x" and the table "table" of 30 x 8; `add` adds the nodes. */
typedef struct range_case {
	const char *what;
	void (*add)(wire_out *w);
	bool has_range;
	int64_t low, high;
	const char *why;
} range_case;

static void direct(wire_out *w)
{
	put_node(w, "Gather", "table x", "y");
}

static void axis_one(wire_out *w)
{
	put_node_int(w, "Gather", "table x", "y", "axis", 1);
}

static void axis_minus_one(wire_out *w)
{
	put_node_int(w, "GatherElements", "table x", "y", "axis", -1);
}

static void axis_outside(wire_out *w)
{
	put_node_int(w, "Gather", "table x", "y", "axis", 2);
}

static void through_shapes(wire_out *w)
{
	put_node_int(w, "Cast", "x", "a", "to", ONNX_INT32);
	put_node(w, "Unsqueeze", "a axes", "b");
	put_node(w, "Reshape", "b shape", "c");
	put_node(w, "Concat", "other c", "d");
	put_node(w, "Transpose", "d", "e");
	put_node(w, "Slice", "e s s", "f");
	put_node(w, "Expand", "f shape", "g");
	put_node(w, "Tile", "g shape", "h");
	put_node(w, "Clip", "h", "i");
	put_node(w, "Split", "i", "j k");
	put_node(w, "Squeeze", "k", "l");
	put_node(w, "Flatten", "l", "m");
	put_node(w, "Identity", "m", "n");
	put_node(w, "Gather", "table n", "y");
}

static void as_data(wire_out *w)
{
	put_node(w, "Gather", "x zero", "first"); /* propagates the values */
	put_node(w, "Gather", "table first", "y");
}

static void not_through_arithmetic(wire_out *w)
{
	put_node(w, "Mul", "x x", "a");
	put_node(w, "Gather", "table a", "y");
}

static void as_a_shape(wire_out *w)
{
	put_node(w, "Reshape", "table x", "y"); /* slot 1 does not propagate values */
	put_node(w, "Gather", "table y", "z");
}

static void unknown_operator(wire_out *w)
{
	size_t at = node_begin(w, "Gather", "table x", "y");
	wire_put_text(w, 7, "someone.else");
	wire_end(w, at);
}

static void narrowest(wire_out *w)
{
	put_tensor(w, "small", ONNX_FLOAT, DIMS(7, 2), 0, NULL);
	put_node(w, "Gather", "table x", "y");
	put_node(w, "Gather", "small x", "z");
}

static void shifted(wire_out *w)
{
	put_tensor(w, "two", ONNX_INT64, 0, NULL, 1, (const int64_t[]){2});
	put_node(w, "Add", "two x", "a"); /* rows 2 .. 29 remain */
	put_node(w, "Gather", "table a", "y");
}

static void shifted_down(wire_out *w)
{
	put_tensor(w, "two", ONNX_INT64, DIMS(1), 1, (const int64_t[]){2});
	put_node(w, "Sub", "x two", "a");
	put_node(w, "Gather", "table a", "y");
}

static void nd(wire_out *w)
{
	put_tensor(w, "cube", ONNX_FLOAT, DIMS(5, 9, 4), 0, NULL);
	put_value(w, 13, "pairs", ONNX_INT64, DIMS(-1, 2));
	put_node(w, "Reshape", "x shape", "pairs");
	put_node(w, "GatherND", "cube pairs", "y"); /* indexes axes of 5 and 9, not 4 */
}

static void nd_batch(wire_out *w)
{
	put_tensor(w, "cube", ONNX_FLOAT, DIMS(5, 9, 4), 0, NULL);
	put_node_int(w, "GatherND", "cube x", "y", "batch_dims", 1); /* unknown width: 9 and 4 */
}

static void one_hot(wire_out *w)
{
	put_tensor(w, "depth", ONNX_INT64, 0, NULL, 1, (const int64_t[]){10});
	put_node(w, "OneHot", "x depth values", "y");
}

static void quantized_table(wire_out *w)
{
	put_tensor(w, "q", ONNX_INT8, DIMS(8, 11), 0, NULL);
	put_node(w, "DequantizeLinear", "q s z", "d");
	put_node(w, "Transpose", "d", "t");
	put_node(w, "Gather", "t x", "y");
}

static void open_table(wire_out *w)
{
	put_value(w, 13, "v", ONNX_FLOAT, DIMS(-1, 4));
	put_node(w, "Gather", "v x", "y");
}

static void computed_table(wire_out *w)
{
	put_value(w, 13, "v", ONNX_FLOAT, DIMS(12, 4));
	put_node(w, "Relu", "table", "v");
	put_node(w, "Gather", "v x", "y");
}

static void in_a_branch(wire_out *w)
{
	size_t at = node_begin(w, "If", "cond", "y"), attr = wire_begin(w, 5), body;
	wire_put_text(w, 1, "then_branch");
	body = wire_begin(w, 6);
	put_node(w, "Gather", "table x", "inner");
	wire_end(w, body);
	wire_end(w, attr);
	wire_end(w, at);
}

static void fused(wire_out *w, const char *inputs)
{
	put_tensor(w, "words", ONNX_FLOAT, DIMS(100, 4), 0, NULL);
	put_tensor(w, "places", ONNX_FLOAT, DIMS(50, 4), 0, NULL);
	put_tensor(w, "segments", ONNX_FLOAT, DIMS(2, 4), 0, NULL);
	size_t at = node_begin(w, "EmbedLayerNormalization", inputs, "y m");
	wire_put_text(w, 7, "com.microsoft");
	wire_end(w, at);
}

static void fused_words(wire_out *w)
{
	fused(w, "x s words places segments g b");
}

static void fused_segments(wire_out *w)
{
	fused(w, "i x words places segments g b");
}

static void fused_positions(wire_out *w)
{
	fused(w, "i s words places segments g b mask x");
}

static void complement(wire_out *w)
{
	put_tensor(w, "one", ONNX_INT64, 0, NULL, 1, (const int64_t[]){1});
	put_node(w, "Unsqueeze", "x axes", "a");
	put_node_int(w, "Cast", "a", "b", "to", ONNX_FLOAT);
	put_node(w, "Sub", "one b", "c");
	put_node(w, "Mul", "c lowest", "y");
}

static void condition(wire_out *w)
{
	put_node_int(w, "Cast", "x", "b", "to", ONNX_BOOL);
	put_node(w, "Where", "b p q", "y");
}

static void plain_arithmetic(wire_out *w)
{
	put_node(w, "Mul", "x scale", "y");
}

static void no_room(wire_out *w)
{
	put_tensor(w, "none", ONNX_FLOAT, DIMS(0, 4), 0, NULL);
	put_node(w, "Gather", "none x", "y");
}

static void contradiction(wire_out *w)
{
	put_tensor(w, "far", ONNX_INT64, 0, NULL, 1, (const int64_t[]){1000});
	put_node(w, "Gather", "table x", "y");
	put_node(w, "Sub", "x far", "a");
	put_node(w, "Gather", "table a", "z");
}

static void extreme_shift(wire_out *w)
{
	put_tensor(w, "most", ONNX_INT64, 0, NULL, 1, (const int64_t[]){INT64_MIN});
	put_node(w, "Add", "x most", "a");
	put_node(w, "Add", "a most", "b"); /* overflows: not followed */
	put_node(w, "Gather", "table a", "y");
}

static void circle(wire_out *w)
{
	put_node(w, "Identity", "x", "a");
	put_node(w, "Concat", "a b", "b");
	put_node(w, "Identity", "b", "a");
	put_node(w, "Gather", "table b", "y");
}

static void put_microsoft(wire_out *w, const char *op, const char *inputs)
{
	size_t at = node_begin(w, op, inputs, "y");

	wire_put_text(w, 7, "com.microsoft");
	wire_end(w, at);
}

static void labels(wire_out *w)
{
	put_node(w, "SoftmaxCrossEntropyLoss", "table x", "y");
}

static void labels_of_layers(wire_out *w)
{
	put_node_int(w, "Gemm", "p table", "scores", "transB", 1);
	put_node(w, "LogSoftmax", "scores", "logs");
	put_node(w, "NegativeLogLikelihoodLoss", "logs x", "y");
}

static void rotary(wire_out *w)
{
	put_node(w, "RotaryEmbedding", "p table table x", "y");
}

static void rotary_fused(wire_out *w)
{
	put_microsoft(w, "RotaryEmbedding", "p x table table");
}

static void written(wire_out *w)
{
	put_tensor(w, "new", ONNX_FLOAT, DIMS(4, 8), 0, NULL);
	put_node_int(w, "TensorScatter", "table new x", "y", "axis", 0);
}

static void lengths(wire_out *w)
{
	put_node_int(w, "ReverseSequence", "table x", "y", "time_axis", 1);
}

static void unpooled(wire_out *w)
{
	put_tensor(w, "pooled", ONNX_FLOAT, DIMS(2, 3, 4), 0, NULL);
	put_node(w, "MaxUnpool", "pooled x", "y");
}

#define TABLE30 "indexes 30 rows of 'table' (Gather)"
#define ONES	"masks positions: 1 keeps every one"
static const range_case cases[] = {
    {"Gather", direct, true, 0, 29, TABLE30},
    {"axis 1", axis_one, true, 0, 7, "indexes 8 rows of 'table' (Gather)"},
    {"axis -1", axis_minus_one, true, 0, 7, "indexes 8 rows of 'table' (GatherElements)"},
    {"axis outside", axis_outside, false, 0, 0, NULL},
    {"through shapes", through_shapes, true, 0, 29, TABLE30},
    {"as data", as_data, true, 0, 29, TABLE30},
    {"arithmetic", not_through_arithmetic, false, 0, 0, NULL},
    {"as a shape", as_a_shape, false, 0, 0, NULL},
    {"unknown operator", unknown_operator, false, 0, 0, NULL},
    {"narrowest", narrowest, true, 0, 6,
     "indexes 7 rows of 'small' (Gather); indexes 30 rows of 'table' (Gather)"},
    {"shifted", shifted, true, -2, 27, TABLE30},
    {"shifted down", shifted_down, true, 2, 31, TABLE30},
    {"GatherND", nd, true, 0, 4, "indexes 5 rows of 'cube' (GatherND)"},
    {"GatherND in batches", nd_batch, true, 0, 3, "indexes 4 rows of 'cube' (GatherND)"},
    {"OneHot", one_hot, true, 0, 9, "selects one of 10 (OneHot)"},
    {"quantized table", quantized_table, true, 0, 10, "indexes 11 rows of 't' (Gather)"},
    {"open table", open_table, false, 0, 0, NULL},
    {"computed table", computed_table, true, 0, 11, "indexes 12 rows of 'v' (Gather)"},
    {"in a branch", in_a_branch, true, 0, 29, TABLE30},
    {"fused words", fused_words, true, 0, 99,
     "indexes 100 rows of 'words' (EmbedLayerNormalization)"},
    {"fused segments", fused_segments, true, 0, 1,
     "indexes 2 rows of 'segments' (EmbedLayerNormalization)"},
    {"fused positions", fused_positions, true, 0, 49,
     "indexes 50 rows of 'places' (EmbedLayerNormalization)"},
    {"1 - mask", complement, true, 1, 1, ONES},
    {"condition", condition, true, 1, 1, ONES},
    {"arithmetic", plain_arithmetic, false, 0, 0, NULL},
    {"no room", no_room, false, 0, 0, NULL},
    {"contradiction", contradiction, false, 0, 0, NULL},
    {"extreme shift", extreme_shift, false, 0, 0, NULL},
    {"labels", labels, true, 0, 7, "selects one of 8 (SoftmaxCrossEntropyLoss)"},
    {"labels of layers", labels_of_layers, true, 0, 29,
     "selects one of 30 (NegativeLogLikelihoodLoss)"},
    {"rotary", rotary, true, 0, 29, "indexes 30 rows of 'table' (RotaryEmbedding)"},
    {"rotary, fused", rotary_fused, true, 0, 29, "indexes 30 rows of 'table' (RotaryEmbedding)"},
    {"written", written, true, 0, 26, "indexes 27 rows of 'table' (TensorScatter)"},
    {"lengths", lengths, true, 1, 8, "is a length of at most 8 (ReverseSequence)"},
    {"unpooled", unpooled, true, 0, 23, "selects one of 24 (MaxUnpool)"},
    {"circle", circle, true, 0, 29, TABLE30},
};

static void build(wire_out *w, const char *input, int64_t dtype, void (*add)(wire_out *w))
{
	size_t graph = graph_begin(w);

	put_input(w, input, dtype, DIMS(-1, 4));
	put_tensor(w, "table", ONNX_FLOAT, DIMS(30, 8), 0, NULL);
	add(w);
	graph_end(w, graph);
}

static void ranges_follow_from_the_graph(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const range_case *c = &cases[i];
		mem_arena *a = mem_arena_new(0);
		model_summary s;
		wire_out w = {0};
		dck_err err = {0};

		build(&w, "x", ONNX_INT64, c->add);
		if (model_summary_read_bytes(w.data, w.n, a, &s, &err) != DCK_OK)
			fail_msg("%s: %s", c->what, err.msg);
		wire_out_done(&w); /* the summary holds copies only */
		assert_int_equal(s.ninputs, 1);
		const model_input *in = &s.inputs[0];
		if (in->has_range != c->has_range ||
		    (in->has_range && (in->low != c->low || in->high != c->high)))
			fail_msg("%s: %d [%lld, %lld]", c->what, in->has_range, (long long)in->low,
				 (long long)in->high);
		assert_string_equal(in->name, "x");
		if (c->why)
			assert_string_equal(in->why, c->why);
		else
			assert_null(in->why);
		mem_arena_free(a);
	}
}

static void rate_compared(wire_out *w)
{
	put_tensor(w, "r8", ONNX_INT64, 0, NULL, 1, (const int64_t[]){8000});
	put_tensor(w, "r16", ONNX_INT64, 0, NULL, 1, (const int64_t[]){16000});
	put_node(w, "Equal", "x r16", "a");
	put_node(w, "Equal", "r8 x", "b");
}

/* An integer that selects a branch: the largest constant it is compared with. */
static void what_it_is_compared_with(void **state)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	model_summary s;
	dck_err err;

	(void)state;
	build(&w, "x", ONNX_INT64, rate_compared);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	assert_false(s.inputs[0].has_range);
	assert_true(s.inputs[0].is_compared);
	assert_int_equal(s.inputs[0].compared, 16000);
	wire_out_done(&w);
	mem_arena_free(a);
}

static bool has_range(const char *name, int64_t dtype, void (*add)(wire_out *w))
{
	mem_arena *a = mem_arena_new(0);
	model_summary s;
	wire_out w = {0};
	dck_err err = {0};

	build(&w, name, dtype, add);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	bool has = s.inputs[0].has_range;
	if (has && strcmp(name, "x") != 0)
		assert_int_equal(s.inputs[0].low, 1);
	mem_arena_free(a);
	wire_out_done(&w);
	return has;
}

static void threshold(wire_out *w)
{
	put_node(w, "NonMaxSuppression", "boxes scores most x", "y");
}

static void mask_arithmetic(wire_out *w)
{
	put_node(w, "Mul", "attention_mask scale", "y");
}

static void names_and_types_count(void **state)
{
	(void)state;
	assert_true(has_range("attention_mask", ONNX_INT64, mask_arithmetic));
	assert_true(has_range("attention_mask", ONNX_BOOL, mask_arithmetic));
	assert_false(has_range("attention_mask", ONNX_FLOAT, mask_arithmetic));
	assert_true(has_range("x", ONNX_INT32, direct));
	assert_false(has_range("x", ONNX_FLOAT, direct));
	assert_true(has_range("x", ONNX_FLOAT, threshold));
	assert_false(has_range("x", ONNX_INT64, threshold));
}

static void put_function(wire_out *w, const char *name, void (*add)(wire_out *w))
{
	size_t at = wire_begin(w, 25), node;

	wire_put_text(w, 1, name);
	put_names(w, 4, "a b");
	put_names(w, 5, "y");
	node = w->n;
	add(w);
	w->data[node] = 7 << 3 | 2; /* a graph's nodes are field 1, a function's field 7 */
	wire_put_text(w, 10, "my");
	wire_end(w, at);
}

static void calls_rows(wire_out *w)
{
	size_t at = node_begin(w, "rows", "a b", "y");

	put_attr_int(w, "which", 1);
	wire_put_text(w, 7, "my");
	wire_end(w, at);
}

static void calls_outer(wire_out *w)
{
	size_t at = node_begin(w, "outer", "table x", "y");

	wire_put_text(w, 7, "my");
	wire_end(w, at);
}

static void picks(wire_out *w)
{
	size_t at = node_begin(w, "Gather", "a b", "y"), attr = wire_begin(w, 5);

	wire_put_text(w, 1, "axis");
	wire_put_text(w, 21, "which"); /* an attribute of the call */
	wire_end(w, attr);
	wire_end(w, at);
}

/* Calls in calls are expanded, a function that calls itself is not. */
static void functions_are_entered(void **state)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	model_summary s;
	dck_err err;

	(void)state;
	build(&w, "x", ONNX_INT64, calls_outer);
	put_function(&w, "outer", calls_rows);
	put_function(&w, "rows", picks);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	assert_true(s.inputs[0].has_range);
	assert_int_equal(s.inputs[0].high, 7);
	assert_string_equal(s.inputs[0].why, "indexes 8 rows of 'table' (Gather)");
	wire_out_done(&w);
	w = (wire_out){0};
	build(&w, "x", ONNX_INT64, calls_outer);
	put_function(&w, "outer", calls_rows);
	put_function(&w, "rows", calls_rows);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	assert_false(s.inputs[0].has_range);
	wire_out_done(&w);
	mem_arena_free(a);
}

static void grouped(wire_out *w)
{
	put_value(w, 13, "q", ONNX_FLOAT, DIMS(1, -1, 64));
	put_value(w, 13, "past", ONNX_FLOAT, DIMS(1, 2, 500, 16));
	put_tensor(w, "cos", ONNX_FLOAT, DIMS(600, 8), 0, NULL);
	put_microsoft(w, "GroupQueryAttention", "q k v past past x total cos");
}

static void the_work_of_attention(void **state)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	model_summary s;
	dck_err err;

	(void)state;
	build(&w, "x", ONNX_INT64, grouped);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	assert_string_equal(s.inputs[0].decides, "GroupQueryAttention");
	assert_string_equal(s.inputs[0].work, "500 + N - 1");
	assert_int_equal(s.inputs[0].work_most, 599);
	wire_out_done(&w);
	mem_arena_free(a);
}

static void the_summary_counts(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	model_summary s;
	wire_out w = {0};
	dck_err err = {0};
	size_t graph = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(1));
	put_input(&w, "w", ONNX_FLOAT, DIMS(30)); /* an initializer too, so optional */
	put_input(&w, "z", ONNX_INT64, DIMS(1));
	put_tensor(&w, "w", ONNX_FLOAT, DIMS(30), 0, NULL);
	put_tensor(&w, "h", ONNX_FLOAT16, DIMS(3, 5), 0, NULL);
	put_tensor(&w, "h", ONNX_FLOAT16, DIMS(3), 0, NULL); /* a duplicate name */
	put_node(&w, "Add", "x w", "y");
	put_node(&w, "Add", "x w", "y");
	graph_end(&w, graph);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	assert_string_equal(s.producer, "tests");
	assert_int_equal(s.ir_version, 8);
	assert_int_equal(s.opset, 17);
	assert_int_equal(s.nodes, 2);
	assert_int_equal(s.initializers, 3);
	assert_int_equal(s.weight_bytes, 120 + 30 + 6);
	assert_int_equal(s.ninputs, 2);
	assert_string_equal(s.inputs[0].name, "x");
	assert_string_equal(s.inputs[1].name, "z");
	assert_false(s.inputs[1].has_range);
	mem_arena_free(a);
	wire_out_done(&w);
}

static void passes_errors_on(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	model_summary s = {.nodes = 77};
	dck_err err;

	assert_int_equal(model_summary_read_file("no-such.onnx", a, &s, &err), DCK_E_ABSENT);
	assert_string_equal(err.msg, "cannot open model 'no-such.onnx': No such file or directory");
	assert_int_equal(model_summary_read_bytes("hello", 5, a, &s, NULL), DCK_E_FORMAT);
	assert_int_equal(s.nodes, 77);
	mem_arena_free(a);
}

static void huge_claims_are_limits(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	model_summary s;
	wire_out w = {0};
	dck_err err;
	size_t graph = graph_begin(&w);

	for (int i = 0; i < 9; i++)
		put_tensor(&w, "w", ONNX_DOUBLE, DIMS(INT64_C(1) << 58, 1), 0, NULL);
	graph_end(&w, graph);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_E_LIMIT);
	assert_string_equal(err.msg, "the model claims more than 2^64 bytes of weights");
	mem_arena_free(a);
	wire_out_done(&w);
}

/* Many inputs that each reach many values: the search gives up without a result. */
static void the_search_is_bounded(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	model_summary s;
	wire_out w = {0};
	char name[32], next[32];
	dck_err err;
	size_t graph = graph_begin(&w), at;

	put_tensor(&w, "table", ONNX_FLOAT, DIMS(30, 8), 0, NULL);
	at = node_begin(&w, "Concat", "", "v0");
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "in%d", i);
		wire_put_text(&w, 1, name);
	}
	wire_end(&w, at);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof name, "in%d", i);
		put_input(&w, name, ONNX_INT64, DIMS(1));
		snprintf(name, sizeof name, "v%d", i);
		snprintf(next, sizeof next, "v%d", i + 1);
		put_node(&w, "Identity", name, next);
	}
	put_node(&w, "Gather", "table v3000", "y");
	graph_end(&w, graph);
	assert_int_equal(model_summary_read_bytes(w.data, w.n, a, &s, &err), DCK_OK);
	assert_int_equal(s.ninputs, 3000);
	assert_true(s.inputs[0].has_range);
	assert_int_equal(s.inputs[0].high, 29);
	assert_false(s.inputs[2999].has_range);
	mem_arena_free(a);
	wire_out_done(&w);
}

static void names_get_numbers(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	name_index t;
	char text[4096][8];

	assert_true(name_index_init(&t, a, 4096));
	for (size_t i = 0; i < 4096; i++) {
		snprintf(text[i], sizeof text[i], "n%zu", i);
		assert_int_equal(name_index_find(&t, text[i]), NAME_INDEX_NONE);
		assert_int_equal(name_index_intern(&t, text[i]), i);
	}
	for (size_t i = 0; i < 4096; i++) {
		assert_int_equal(name_index_intern(&t, text[i]), i);
		assert_int_equal(name_index_find(&t, text[i]), i);
	}
	mem_arena_free(a);
}

static void a_name_is_found_in_a_list(void **state)
{
	static const char *const there[] = {"Conv", "ConvInteger", "PRelu"}, *const not_there[] = {
										 "",
										 " ",
										 "Con",
										 "Integer",
										 "Relu",
										 "Conv ConvInteger",
										 "convinteger",
										 "PRelu2"};

	(void)state;
	for (size_t i = 0; i < sizeof there / sizeof *there; i++)
		assert_true(name_index_listed("ConvInteger Conv PRelu", there[i]));
	for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++)
		assert_false(name_index_listed("ConvInteger Conv PRelu", not_there[i]));
}

int test_model_summary(void);
int test_model_summary(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(ranges_follow_from_the_graph),
	    cmocka_unit_test(what_it_is_compared_with),
	    cmocka_unit_test(names_and_types_count),
	    cmocka_unit_test(functions_are_entered),
	    cmocka_unit_test(the_work_of_attention),
	    cmocka_unit_test(a_name_is_found_in_a_list),
	    cmocka_unit_test(the_summary_counts),
	    cmocka_unit_test(passes_errors_on),
	    cmocka_unit_test(huge_claims_are_limits),
	    cmocka_unit_test(the_search_is_bounded),
	    cmocka_unit_test(names_get_numbers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
