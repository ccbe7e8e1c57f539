/* test_cost_hostile.c - models that no exporter writes: the result is one clear error or absent
 * values, within the reader's memory limit, and never a wrong integer. The runner's timeout checks
 * the running time: the sizes here would otherwise take hours.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "fault_alloc.h"
#include "hostile.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MANY 100000
#else
#define MANY 1000000
#endif

/* --- graphs */

static void put_chain(wire_out *w, size_t n, bool reversed)
{
	char in[24], out[24];

	put_input(w, "v0", ONNX_FLOAT, DIMS(2, 3));
	for (size_t k = 0; k < n; k++) {
		size_t i = reversed ? n - 1 - k : k;
		snprintf(in, sizeof in, "v%zu", i);
		snprintf(out, sizeof out, "v%zu", i + 1);
		put_node(w, "Relu", in, out);
	}
	snprintf(out, sizeof out, "v%zu", n);
	put_output(w, out);
}

static void check_chain(size_t n, bool reversed)
{
	wire_out w = {0};
	size_t g = graph_begin(&w);
	char last[24];

	put_chain(&w, n, reversed);
	graph_end(&w, g);
	counted c = count(&w);
	if (c.code == DCK_E_LIMIT) {
		assert_non_null(strstr(c.err.msg, "MiB"));
		done(&c);
		return;
	}
	assert_int_equal(c.code, DCK_OK);
	assert_int_equal(c.result->nops, n);
	assert_true(sym_is(c.result->macs, 0));
	assert_true(sym_is(c.result->write_bytes, (int64_t)n * 24));
	assert_true(sym_is(c.result->peak_activation_bytes, 48));
	snprintf(last, sizeof last, "v%zu", n);
	assert_int_equal(c.result->outputs[0]->rank, 2);
	assert_string_equal(c.result->outputs[0]->name, last);
	done(&c);
}

static void a_million_nodes(void **state)
{
	(void)state;
	check_chain(1, false);
	check_chain(50000, false);
	check_chain(MANY, false);
}

static void a_million_nodes_backwards(void **state)
{
	(void)state;
	check_chain(50000, true);
	check_chain(MANY, true);
}

static void a_cycle_is_refused(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(2));
	put_node(&w, "Add", "x c", "a");
	put_node(&w, "Relu", "a", "b");
	put_node(&w, "Relu", "b", "c");
	graph_end(&w, g);
	refused(&w, DCK_E_FORMAT, "wait for each other");

	w = (wire_out){0};
	g = graph_begin(&w);
	put_node(&w, "Relu", "a", "a");
	graph_end(&w, g);
	refused(&w, DCK_E_FORMAT, "its own result");
}

static void names_made_twice_are_refused(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(2));
	put_node(&w, "Relu", "x", "y");
	put_node(&w, "Exp", "x", "y");
	graph_end(&w, g);
	refused(&w, DCK_E_FORMAT, "makes 'y' twice");

	w = (wire_out){0};
	g = graph_begin(&w);
	put_input(&w, "x", ONNX_FLOAT, DIMS(2));
	put_node(&w, "Relu", "x", "x");
	graph_end(&w, g);
	refused(&w, DCK_E_FORMAT, "makes 'x' twice");

	w = (wire_out){0};
	g = graph_begin(&w);
	put_constant(&w, "k", 1, &(int64_t){1});
	put_constant(&w, "k", 1, &(int64_t){2});
	graph_end(&w, g);
	refused(&w, DCK_E_FORMAT, "makes 'k' twice");
}

static void products_that_overflow_are_absent(void **state)
{
	(void)state;
	const int64_t huge = INT64_C(1) << 62;
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(huge, huge));
	put_input(&w, "a", ONNX_FLOAT, DIMS(INT64_C(1) << 31, INT64_C(1) << 31));
	put_input(&w, "i", ONNX_FLOAT, DIMS(1, INT64_MAX, 8, 8));
	put_input(&w, "k", ONNX_FLOAT, DIMS(INT64_MAX, INT64_MAX, 3, 3));
	put_node(&w, "Relu", "x", "y");
	put_node(&w, "MatMul", "a a", "m");
	put_node(&w, "Conv", "i k", "c");
	put_node_int(&w, "Concat", "x x", "t", "axis", 0);
	put_node_int(&w, "Flatten", "x", "f", "axis", 0);
	put_node(&w, "Size", "x", "s");
	put_node(&w, "GlobalAveragePool", "i", "p");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	shape_or_absent(&c, "y", 2, (const int64_t[]){huge, huge});
	shape_or_absent(&c, "m", 2, (const int64_t[]){INT64_C(1) << 31, INT64_C(1) << 31});
	shape_or_absent(&c, "c", 4, (const int64_t[]){1, INT64_MAX, 6, 6});
	for (size_t i = 0; i < 3; i++)
		assert_non_null(
		    sym_unknown_reason(i ? c.result->ops[i].macs : c.result->ops[i].flops));
	const val *t = value(&c, "t"), *s = value(&c, "s");
	assert_true(t->rank < 0 || sym_unknown_reason(t->dims[0]));
	assert_true(!s->ints || sym_unknown_reason(s->ints[0]));
	assert_non_null(sym_unknown_reason(c.result->macs));
	assert_non_null(sym_unknown_reason(c.result->peak_activation_bytes));
	done(&c);
}

static void negative_dimensions_are_open_or_refused(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w), at;

	/* An input with an open dimension as exporters wrote it before there were symbols. */
	at = wire_begin(&w, 11);
	wire_put_text(&w, 1, "x");
	size_t type = wire_begin(&w, 2), tensor = wire_begin(&w, 1);
	wire_put_int(&w, 1, ONNX_FLOAT);
	size_t shape = wire_begin(&w, 2), dim = wire_begin(&w, 1);
	wire_put_int(&w, 1, INT64_MIN);
	wire_end(&w, dim);
	wire_end(&w, shape);
	wire_end(&w, tensor);
	wire_end(&w, type);
	wire_end(&w, at);
	put_node(&w, "Relu", "x", "y");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	assert_int_equal(value(&c, "y")->rank, 1);
	assert_false(sym_known(value(&c, "y")->dims[0]));
	done(&c);

	w = (wire_out){0};
	g = graph_begin(&w);
	put_tensor(&w, "k", ONNX_FLOAT, DIMS(-3), 0, NULL);
	graph_end(&w, g);
	refused(&w, DCK_E_FORMAT, "dimension -3");
}

static void what_nothing_makes_is_absent(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(2, 2));
	put_node(&w, "MatMul", "x nowhere", "y");
	put_node(&w, "Conv", "-", "z");
	put_node(&w, "Gemm", "", "u");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	assert_true(value(&c, "y")->rank < 0 && value(&c, "z")->rank < 0);
	assert_int_equal(c.result->unknown, 3);
	assert_non_null(sym_unknown_reason(c.result->macs));
	done(&c);
}

static void unknown_sizes_are_not_zero_bytes(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(2, 3));
	put_node(&w, "Relu", "x", "a");
	put_node(&w, "NobodyKnowsThis", "a", "b");
	put_node(&w, "Relu", "b", "y");
	put_output(&w, "y");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	assert_true(sym_is(c.result->ops[0].write_bytes, 24));
	assert_true(sym_is(c.result->ops[1].read_bytes, 24));
	const sym_int unknown[] = {c.result->ops[1].write_bytes, c.result->ops[2].read_bytes,
				   c.result->write_bytes, c.result->read_bytes,
				   c.result->peak_activation_bytes};
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
		const char *why = sym_unknown_reason(unknown[i]);
		assert_non_null(why);
		assert_non_null(strstr(why, "the size of 'b' is not known: "));
	}
	done(&c);
}

/* --- sizes that depend on contents */

static void contents_may_ask_for_anything(void **state)
{
	(void)state;
	const int64_t most = INT64_MAX, huge = INT64_C(1) << 40;
	const int64_t four[] = {huge, huge, huge, huge}, pads[] = {most, most, most, most},
		      less[] = {-most, -most, -most, -most}, zero = 0, one = 1, two[] = {huge, 3};
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_FLOAT, DIMS(2, 3));
	put_input(&w, "i", ONNX_FLOAT, DIMS(1, 1, 2, 2));
	put_constant(&w, "four", 4, four);
	put_constant(&w, "two", 2, two);
	put_constant(&w, "pads", 4, pads);
	put_constant(&w, "less", 4, less);
	put_tensor(&w, "zero", ONNX_INT64, 0, NULL, 1, &zero);
	put_tensor(&w, "one", ONNX_INT64, 0, NULL, 1, &one);
	put_tensor(&w, "most", ONNX_INT64, 0, NULL, 1, &most);
	put_node(&w, "Tile", "x two", "tile");
	put_node(&w, "Expand", "i four", "expand");
	put_node(&w, "ConstantOfShape", "four", "filled");
	put_node(&w, "Range", "zero most one", "range");
	put_node(&w, "Range", "zero most zero", "still");
	put_node(&w, "Pad", "x pads", "pad");
	put_node(&w, "Pad", "x less", "cut");
	put_node(&w, "Resize", "i - - four", "resize");
	put_node(&w, "Reshape", "x four", "reshape");
	put_node(&w, "OneHot", "x most two", "hot");
	put_node(&w, "Slice", "x less pads", "slice");
	put_node(&w, "Unsqueeze", "x pads", "un");
	put_node(&w, "TopK", "x most", "top");
	put_node(&w, "Gather", "two pads", "gather");
	put_node(&w, "Split", "x two", "split");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	shape_or_absent(&c, "tile", 2, (const int64_t[]){2 * huge, 9});
	shape_or_absent(&c, "expand", 4, four);
	shape_or_absent(&c, "filled", 4, four);
	shape_or_absent(&c, "range", 1, &most);
	shape_or_absent(&c, "resize", 4, four);
	assert_true(value(&c, "still")->rank < 0 || !sym_known(value(&c, "still")->dims[0]));
	const val *reshape = value(&c, "reshape");
	assert_true(reshape->rank < 0 || reshape->rank == 4);
	done(&c);
}

/* --- bodies and functions */

static size_t body_begin(wire_out *w, const char *attribute, size_t *ret_attr)
{
	*ret_attr = attr_begin(w, attribute, ONNX_ATTR_GRAPH);
	return wire_begin(w, 6);
}

static void put_nested_if(wire_out *w, int depth)
{
	size_t node = node_begin(w, "If", "cond", depth % 2 ? "a" : "b"), attr, g;

	for (int branch = 0; branch < (depth ? 1 : 2); branch++) {
		g = body_begin(w, branch ? "else_branch" : "then_branch", &attr);
		if (depth > 0) {
			put_nested_if(w, depth - 1);
			put_output(w, (depth - 1) % 2 ? "a" : "b");
		} else {
			put_node(w, "Identity", "x", "leaf");
			put_output(w, "leaf");
		}
		wire_end(w, g);
		wire_end(w, attr);
	}
	wire_end(w, node);
}

static void nested_bodies(int depth, bool fits)
{
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "cond", ONNX_BOOL, 0, NULL);
	put_input(&w, "x", ONNX_FLOAT, DIMS(5));
	put_nested_if(&w, depth);
	graph_end(&w, g);
	if (fits) {
		counted c = count(&w);
		assert_true(c.code == DCK_OK || c.code == DCK_E_LIMIT);
		done(&c);
	} else {
		refused(&w, DCK_E_LIMIT, "nests its messages deeper than 100");
	}
}

static void bodies_in_bodies(void **state)
{
	(void)state;
	nested_bodies(3, true);
	nested_bodies(25, true);
	nested_bodies(1000, false);
}

/* If each level were visited twice, the innermost would be visited 2^24 times. */
static void put_nested_loop(wire_out *w, int depth)
{
	size_t node = node_begin(w, "Loop", "trips cond x", "y"), attr, g;

	g = body_begin(w, "body", &attr);
	put_value(w, 11, "i", ONNX_INT64, 0, NULL);
	put_value(w, 11, "go_in", ONNX_BOOL, 0, NULL);
	put_value(w, 11, "carried", ONNX_FLOAT, DIMS(2, 2));
	put_node(w, "Identity", "go_in", "go");
	if (depth > 0)
		put_nested_loop(w, depth - 1);
	else
		put_node(w, "MatMul", "carried carried", "y");
	put_output(w, "go");
	put_output(w, "y");
	wire_end(w, g);
	wire_end(w, attr);
	wire_end(w, node);
}

static counted count_loop(int64_t trips, int depth)
{
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_tensor(&w, "trips", ONNX_INT64, 0, NULL, 1, &trips);
	put_tensor(&w, "cond", ONNX_BOOL, 0, NULL, 1, &(int64_t){1});
	put_input(&w, "x", ONNX_FLOAT, DIMS(2, 2));
	put_nested_loop(&w, depth);
	put_output(&w, "y");
	graph_end(&w, g);
	return count(&w);
}

static void loops_of_endless_trips(void **state)
{
	(void)state;
	const int64_t trips[] = {INT64_C(1) << 62, INT64_MAX, INT64_MIN, -1};

	for (size_t i = 0; i < sizeof trips / sizeof *trips; i++) {
		counted c = count_loop(trips[i], 0);
		assert_int_equal(c.code, DCK_OK);
		/* 8 MACs each: above 64 bits; and none if there are no trips. */
		assert_true(trips[i] > 0 ? !sym_known(c.result->macs)
					 : !sym_known(c.result->macs) || c.result->macs.v == 0);
		done(&c);
	}
	for (int depth = 1; depth < 24; depth += 11) {
		counted c = count_loop(2, depth);
		assert_true(c.code == DCK_OK || c.code == DCK_E_LIMIT);
		if (c.code == DCK_OK && sym_known(c.result->macs))
			assert_true(c.result->macs.v == INT64_C(8) << (depth + 1));
		done(&c);
	}
}

/* Function NAME(x) -> y of the model's own domain; its nodes call `calls`. */
static void put_function(wire_out *w, const char *name, int ncalls, const char *calls)
{
	size_t at = wire_begin(w, 25), opset;
	char in[24] = "x", out[24];

	wire_put_text(w, 1, name);
	wire_put_text(w, 4, "x");
	wire_put_text(w, 5, "y");
	for (int i = 0; i < ncalls; i++) {
		snprintf(out, sizeof out, "t%d", i);
		size_t node = wire_begin(w, 7);
		wire_put_text(w, 1, in);
		wire_put_text(w, 2, i + 1 < ncalls ? out : "y");
		wire_put_text(w, 4, calls);
		if (strcmp(calls, "Relu") != 0)
			wire_put_text(w, 7, "own");
		wire_end(w, node);
		memcpy(in, out, sizeof in);
	}
	opset = wire_begin(w, 9);
	wire_put_int(w, 2, 17);
	wire_end(w, opset);
	wire_put_text(w, 10, "own");
	wire_end(w, at);
}

static void put_call(wire_out *w, const char *function)
{
	size_t g = graph_begin(w);

	put_input(w, "x", ONNX_FLOAT, DIMS(4));
	size_t node = node_begin(w, function, "x", "y");
	wire_put_text(w, 7, "own");
	wire_end(w, node);
	put_output(w, "y");
	graph_end(w, g);
}

static void functions_that_call_themselves(void **state)
{
	(void)state;
	wire_out w = {0};

	put_call(&w, "a");
	put_function(&w, "a", 1, "b");
	put_function(&w, "b", 1, "a");
	refused(&w, DCK_E_LIMIT, "calls itself");
}

static void functions_that_multiply(void **state)
{
	(void)state;
	char name[16], calls[16];

	for (int levels = 10; levels <= 40; levels += 10) {
		wire_out w = {0};
		put_call(&w, "f0");
		for (int i = 0; i < levels; i++) {
			snprintf(name, sizeof name, "f%d", i);
			snprintf(calls, sizeof calls, "f%d", i + 1);
			put_function(&w, name, 2, i + 1 < levels ? calls : "Relu");
		}
		fault_alloc work;
		fault_alloc_begin(&work, SIZE_MAX); /* no allocation fails: they are counted */
		counted c = count(&w);
		const size_t calls_of_it = work.calls;
		if (levels > 18) {
			assert_int_equal(c.code, DCK_E_LIMIT);
			/* Refused before the functions were expanded. */
			assert_in_range(calls_of_it, 1, 30);
		} else {
			assert_int_equal(c.code, DCK_OK);
			assert_true(sym_is(c.result->flops, INT64_C(4) << levels));
		}
		done(&c);
		dck_set_allocator(NULL);
	}
}

/* --- invalid sizes */

static void a_sparse_constant_of_a_million_dimensions(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w), node = node_begin(&w, "Constant", "", "y");
	size_t a = attr_begin(&w, "sparse_value", ONNX_ATTR_SPARSE), sparse = wire_begin(&w, 22);
	mem_arena *arena = mem_arena_new(0);
	cost_result *r;
	onnx_model *m;
	dck_err err;

	const size_t values = wire_begin(&w, 1);
	wire_put_int(&w, 2, ONNX_FLOAT);
	wire_end(&w, values);
	for (int i = 0; i < 1000000; i++)
		wire_put_int(&w, 3, 1);
	wire_end(&w, sparse);
	wire_end(&w, a);
	wire_end(&w, node);
	put_output(&w, "y");
	graph_end(&w, g);
	assert_int_equal(onnx_read_bytes(w.data, w.n, arena, &m, &err), DCK_OK);
	/* Enough memory for one node, not for a copy of its dimensions. */
	mem_arena_limit(arena, mem_arena_bytes(arena) + (4u << 20));
	if (cost_model(m, NULL, arena, &r, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_int_equal(r->outputs[0]->rank, -1);
	assert_non_null(strstr(r->outputs[0]->why, "more dimensions than any operator takes"));
	mem_arena_free(arena);
	wire_out_done(&w);
}

static void parts_of_a_huge_sequence(void **state)
{
	(void)state;
	static const int64_t split = (INT64_C(1) << 62) + 1, negative[] = {-4, 8}, two = 2, zero;
	wire_out w = {0};
	size_t g = graph_begin(&w);

	put_input(&w, "x", ONNX_INT8, DIMS(INT64_MAX - 1));
	put_tensor(&w, "split", ONNX_INT64, 0, NULL, 1, &split);
	put_tensor(&w, "one", ONNX_INT64, 0, NULL, 1, &(int64_t){1});
	put_node(&w, "SplitToSequence", "x split", "parts");
	put_node(&w, "SequenceAt", "parts one", "last");
	/* A part of -4 elements, which is split again. */
	put_input(&w, "z", ONNX_INT8, DIMS(4));
	put_constant(&w, "negative", 2, negative);
	put_tensor(&w, "two", ONNX_INT64, 0, NULL, 1, &two);
	put_tensor(&w, "zero", ONNX_INT64, 0, NULL, 1, &zero);
	put_node(&w, "SplitToSequence", "z negative", "few");
	put_node(&w, "SequenceAt", "few zero", "less");
	put_node(&w, "SplitToSequence", "less two", "none");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	assert_int_equal(value(&c, "last")->rank, 1);
	assert_true(sym_is(value(&c, "last")->dims[0], INT64_MAX - 1 - split));
	done(&c);
}

/* --- depth and width without nesting */

/* Every label is in the first and the last operand, so it stays live across all operands. */
static void einsums_of_many_operands(void **state)
{
	(void)state;
	enum { NODES = MANY / 250, OPERANDS = 256 };
	int64_t ones[COST_RANK_MAX];
	char equation[4 * OPERANDS + 2] = "";
	wire_out w = {0};
	size_t g = graph_begin(&w);

	for (int i = 0; i < COST_RANK_MAX; i++)
		ones[i] = 1;
	put_input(&w, "x", ONNX_FLOAT, COST_RANK_MAX, ones);
	put_input(&w, "y", ONNX_FLOAT, COST_RANK_MAX / 2, ones);
	for (int i = 0; i < OPERANDS; i++)
		strcat(equation, i + 1 < OPERANDS ? "...," : "...->");
	for (int k = 0; k < NODES; k++) {
		size_t node = wire_begin(&w, 1);
		char out[16];
		snprintf(out, sizeof out, "z%d", k);
		for (int i = 0; i < OPERANDS; i++)
			wire_put_text(&w, 1, i == 0 || i + 1 == OPERANDS ? "x" : "y");
		wire_put_text(&w, 2, out);
		wire_put_text(&w, 4, "Einsum");
		put_attr_text(&w, "equation", equation);
		wire_end(&w, node);
	}
	graph_end(&w, g);
	counted c = count(&w);
	if (c.code != DCK_OK)
		fail_msg("%s", c.err.msg);
	/* Each of the contractions has one element. */
	assert_true(sym_is(c.result->macs, NODES * (OPERANDS - 1)));
	done(&c);
}

static void many_inputs_of_one_node(void **state)
{
	(void)state;
	static const char *const ops[] = {"Sum",     "Concat", "Max",
					  "Nothing", "Einsum", "SequenceConstruct"};

	for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
		for (int same = 0; same < 2; same++) {
			wire_out w = {0};
			size_t g = graph_begin(&w), node = wire_begin(&w, 1);
			char name[24];
			for (int i = 0; i < (MANY / 4); i++) {
				snprintf(name, sizeof name, "n%d", same ? 0 : i);
				wire_put_text(&w, 1, name);
			}
			wire_put_text(&w, 2, "y");
			wire_put_text(&w, 4, ops[k]);
			put_attr_int(&w, "axis", 0);
			wire_end(&w, node);
			put_input(&w, "n0", ONNX_FLOAT, DIMS(3));
			graph_end(&w, g);
			counted c = count(&w);
			assert_true(c.code == DCK_OK || c.code == DCK_E_LIMIT);
			if (c.code == DCK_OK && same && k == 1)
				shape_or_absent(&c, "y", 1,
						(const int64_t[]){3 * (int64_t)(MANY / 4)});
			done(&c);
		}
}

/* Views of views own no memory; their storage lives as long as the last view. */
static void views_of_views(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);
	char in[32], out[24];

	put_input(&w, "x", ONNX_FLOAT, DIMS(2, 3));
	put_node(&w, "Relu", "x", "i0");
	for (int i = 0; i < MANY / 10; i++) {
		snprintf(in, sizeof in, "i%d", i);
		snprintf(out, sizeof out, "i%d", i + 1);
		put_node(&w, "Identity", in, out);
	}
	put_node(&w, "Relu", "x", "b");
	put_node(&w, "Relu", "b", "c");
	snprintf(in, sizeof in, "%s c", out);
	put_node(&w, "Add", in, "y");
	put_output(&w, "y");
	graph_end(&w, g);
	counted c = count(&w);
	assert_int_equal(c.code, DCK_OK);
	assert_true(sym_is(c.result->peak_activation_bytes, 3 * 24)); /* i0, b, c */
	done(&c);
}

static void sequences_in_sequences(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);
	char in[24], out[24];

	put_input(&w, "s0", ONNX_FLOAT, DIMS(3));
	for (int i = 0; i < 100000; i++) {
		snprintf(in, sizeof in, "s%d", i);
		snprintf(out, sizeof out, "s%d", i + 1);
		put_node(&w, i % 3 == 2 ? "Optional" : "SequenceConstruct", in, out);
	}
	put_node(&w, "Identity", out, "y");
	graph_end(&w, g);
	counted c = count(&w);
	assert_true(c.code == DCK_OK || c.code == DCK_E_LIMIT);
	done(&c);
}

/* Sizes computed from sizes: expressions that grow with each node. */
static void expressions_that_grow(void **state)
{
	(void)state;
	static const char *const ops[] = {"Add", "Mul", "Max", "Div"};
	char in[24], out[24];

	for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
		wire_out w = {0};
		size_t g = graph_begin(&w);
		put_input(&w, "x", ONNX_FLOAT, DIMS(-1, 7));
		put_input(&w, "z", ONNX_FLOAT, DIMS(3, 4, 5));
		put_node(&w, "Shape", "x", "v0");
		for (int i = 0; i < 3000; i++) {
			snprintf(in, sizeof in, "v%d v%d", i, i ? i - 1 : 0);
			snprintf(out, sizeof out, "v%d", i + 1);
			put_node(&w, i % 7 == 6 ? "Sub" : ops[k], in, out);
		}
		put_node(&w, "ConstantOfShape", out, "y");
		graph_end(&w, g);
		counted c = count(&w);
		assert_true(c.code == DCK_OK || c.code == DCK_E_LIMIT);
		done(&c);
	}
}

static void floors_in_floors(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t g = graph_begin(&w);
	char in[24], out[24];

	put_input(&w, "p0", ONNX_FLOAT, DIMS(1, 1, -1, -1));
	for (int i = 0; i < 2000; i++) {
		snprintf(in, sizeof in, "p%d", i);
		snprintf(out, sizeof out, "p%d", i + 1);
		size_t node = node_begin(&w, "MaxPool", in, out);
		put_attr_ints(&w, "kernel_shape", 2, (const int64_t[]){3, 3});
		put_attr_ints(&w, "strides", 2, (const int64_t[]){2, 2});
		wire_end(&w, node);
	}
	put_output(&w, out);
	graph_end(&w, g);
	counted c = count(&w);
	assert_true(c.code == DCK_OK || c.code == DCK_E_LIMIT);
	done(&c);
}

int test_cost_hostile(void);
int test_cost_hostile(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_million_nodes),
	    cmocka_unit_test(a_million_nodes_backwards),
	    cmocka_unit_test(a_cycle_is_refused),
	    cmocka_unit_test(names_made_twice_are_refused),
	    cmocka_unit_test(products_that_overflow_are_absent),
	    cmocka_unit_test(negative_dimensions_are_open_or_refused),
	    cmocka_unit_test(what_nothing_makes_is_absent),
	    cmocka_unit_test(unknown_sizes_are_not_zero_bytes),
	    cmocka_unit_test(contents_may_ask_for_anything),
	    cmocka_unit_test(bodies_in_bodies),
	    cmocka_unit_test(loops_of_endless_trips),
	    cmocka_unit_test(functions_that_call_themselves),
	    cmocka_unit_test(functions_that_multiply),
	    cmocka_unit_test(a_sparse_constant_of_a_million_dimensions),
	    cmocka_unit_test(parts_of_a_huge_sequence),
	    cmocka_unit_test(einsums_of_many_operands),
	    cmocka_unit_test(many_inputs_of_one_node),
	    cmocka_unit_test(views_of_views),
	    cmocka_unit_test(sequences_in_sequences),
	    cmocka_unit_test(expressions_that_grow),
	    cmocka_unit_test(floors_in_floors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
