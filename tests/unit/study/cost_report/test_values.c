/* test_values.c - the shapes of all values from one run of a real ONNX Runtime.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "engine_test.h"

#include "study/cost_report/observed_shapes.h"

#include <sys/stat.h>

/* --- names */

static void names_are_those_that_nodes_make(void **state)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w);
	const char *const *names;
	onnx_model *m;
	size_t n;
	dck_err err;
	mem_arena *a = mem_arena_new(0);

	(void)state;
	put_node(&w, "Split", "x", "a - b");
	put_node(&w, "Add", "a b", "c");
	put_node(&w, "Add", "c w", "y");
	put_node(&w, "Add", "c c", "a"); /* an invalid duplicate; listed once */
	put_node(&w, "Identity", "x", "w");
	put_tensor(&w, "w", ONNX_FLOAT, DIMS(1), 0, NULL);
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(4));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(4));
	graph_end(&w, graph);
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, &err), DCK_OK);
	assert_int_equal(onnx_value_names(m->graph, a, &names, &n, &err), DCK_OK);
	assert_int_equal(n, 3);
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "b");
	assert_string_equal(names[2], "c");
	mem_arena_free(a);
	wire_out_done(&w);
}

/* --- runs */

typedef struct seen {
	mem_arena *arena;
	values_shape *list;
	size_t n;
	dck_err err;
	dck_status status;
} seen;

static seen look_at(const char *text, const char *dim)
{
	seen s = {.arena = mem_arena_new(0)};
	dck_subject subject;

	dck_subject_init(&subject);
	subject.kind = DCK_SUBJECT_MODEL;
	subject.text = text;
	subject.model.threads = 1;
	if (dim) {
		subject.model.dim.item[0] = dim;
		subject.model.dim.n = 1;
	}
	ear e = ear_open();
	s.status = observed_shapes_run(&subject, NULL, s.arena, &s.list, &s.n, NULL, &s.err);
	ear_close_silent(e);
	return s;
}

static seen look_at_model(wire_out *w, const char *dim)
{
	assert_false(w->failed);
	scratch_file("m.onnx", w->data, w->n);
	wire_out_done(w);
	seen s = look_at("m.onnx", dim);
	if (s.status != DCK_OK)
		print_error("%s\n", s.err.msg);
	assert_int_equal(s.status, DCK_OK);
	return s;
}

/* "7 1x3": type and shape; "-": unknown. */
static const char *told(const seen *s, const char *name)
{
	static char text[200];
	const values_shape *v = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (strcmp(s->list[i].name, name) == 0) {
			assert_null(v);
			v = &s->list[i];
		}
	assert_non_null(v);
	if (!v->known)
		return "-";
	size_t n = (size_t)snprintf(text, sizeof text, "%d ", (int)v->dtype);
	for (int i = 0; i < v->rank; i++)
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%lld", i ? "x" : "",
				      (long long)v->dims[i]);
	return text;
}

static void shapes_that_depend_on_values_are_seen(void **state)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w);

	(void)state;
	need_ort();
	put_node(&w, "Exp", "x", "e"); /* positive everywhere */
	put_node(&w, "NonZero", "e", "places");
	put_node(&w, "Shape", "places", "shape");
	put_node(&w, "Size", "shape", "size");
	put_node(&w, "Identity", "size", "y");
	wire_put_text(&w, 2, "g");
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(-1, 3));
	put_value(&w, 12, "y", ELEMENT_INT64, 0, NULL);
	graph_end(&w, graph);
	seen s = look_at_model(&w, "N=4");
	assert_int_equal(s.n, 6);
	assert_string_equal(told(&s, "x"), "1 4x3");
	assert_string_equal(told(&s, "e"), "1 4x3");
	assert_string_equal(told(&s, "places"), "7 2x12");
	assert_string_equal(told(&s, "shape"), "7 2");
	assert_string_equal(told(&s, "size"), "7 ");
	assert_string_equal(told(&s, "y"), "7 ");
	/* Scalar integers, with their values. */
	for (size_t i = 0; i < s.n; i++) {
		bool single =
		    strcmp(s.list[i].name, "size") == 0 || strcmp(s.list[i].name, "y") == 0;
		assert_int_equal(s.list[i].has_number, single);
		if (single)
			assert_int_equal(s.list[i].number, 2);
	}
	mem_arena_free(s.arena);
}

/* A graph as the attribute `name` of the open node: out = op(in). */
static void put_body(wire_out *w, const char *name, const char *op, const char *in, const char *out)
{
	size_t attribute = wire_begin(w, 5), body;

	wire_put_text(w, 1, name);
	wire_put_int(w, 20, ONNX_ATTR_GRAPH);
	body = wire_begin(w, 6);
	put_node(w, op, in, out);
	wire_put_text(w, 2, name);
	put_value(w, 12, out, ELEMENT_FLOAT, DIMS(2, 3));
	wire_end(w, body);
	wire_end(w, attribute);
}

static void what_is_no_tensor_is_not_known(void **state)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), node;

	(void)state;
	need_ort();
	put_node_int(&w, "Cast", "x", "yes", "to", ONNX_BOOL);
	put_node_int(&w, "ReduceMax", "x", "most", "keepdims", 0);
	put_node_int(&w, "Cast", "most", "test", "to", ONNX_BOOL);
	node = node_begin(&w, "If", "test", "chosen");
	put_body(&w, "then_branch", "Relu", "x", "t");
	put_body(&w, "else_branch", "Neg", "x", "f");
	wire_end(&w, node);
	put_node(&w, "SequenceConstruct", "x chosen", "both");
	put_node_int(&w, "ConcatFromSequence", "both", "y", "axis", 1);
	put_node_int(&w, "Cast", "x", "words", "to", ONNX_STRING);
	wire_put_text(&w, 2, "g");
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(2, 3));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(2, 6));
	graph_end(&w, graph);
	seen s = look_at_model(&w, NULL);
	assert_string_equal(told(&s, "both"), "-");
	assert_string_equal(told(&s, "chosen"), "1 2x3");
	assert_string_equal(told(&s, "test"), "9 ");
	assert_string_equal(told(&s, "yes"), "9 2x3");
	assert_string_equal(told(&s, "y"), "1 2x6");
	/* Strings: a shape, and a type that the host cannot create. */
	assert_string_equal(told(&s, "words"), "0 2x3");
	mem_arena_free(s.arena);
}

/* Values that optimisation would fuse or fold: constants, and values computed from them. */
static void nothing_is_optimised_away(void **state)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), node, attribute;

	(void)state;
	need_ort();
	node = node_begin(&w, "Constant", "", "two");
	attribute = wire_begin(&w, 5);
	wire_put_text(&w, 1, "value_float");
	wire_put_float(&w, 2, 2);
	wire_put_int(&w, 20, ONNX_ATTR_FLOAT);
	wire_end(&w, attribute);
	wire_end(&w, node);
	put_node(&w, "Exp", "two", "folded");
	put_node(&w, "Identity", "x", "same");
	put_node(&w, "Mul", "same folded", "product");
	put_node(&w, "Relu", "product", "y");
	put_node(&w, "Neg", "x", "unused");
	wire_put_text(&w, 2, "g");
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(2, 3));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(2, 3));
	graph_end(&w, graph);
	seen s = look_at_model(&w, NULL);
	assert_string_equal(told(&s, "two"), "1 ");
	assert_string_equal(told(&s, "folded"), "1 ");
	assert_string_equal(told(&s, "same"), "1 2x3");
	assert_string_equal(told(&s, "product"), "1 2x3");
	assert_string_equal(told(&s, "unused"), "1 2x3");
	mem_arena_free(s.arena);
}

static void put_pair(wire_out *w, const char *key, const char *value)
{
	size_t at = wire_begin(w, 13);

	wire_put_text(w, 1, key);
	wire_put_text(w, 2, value);
	wire_end(w, at);
}

/* External weights are found, though the model is opened from memory. */
static void external_weights_are_found(void **state)
{
	static const float weights[6] = {1, 2, 3, 4, 5, 6};
	wire_out w = {0};
	size_t graph = graph_begin(&w), at;

	(void)state;
	need_ort();
	put_node(&w, "Add", "x w", "sum");
	put_node(&w, "Relu", "sum", "y");
	wire_put_text(&w, 2, "g");
	at = wire_begin(&w, 5);
	wire_put_int(&w, 1, 2);
	wire_put_int(&w, 1, 3);
	wire_put_int(&w, 2, ONNX_FLOAT);
	wire_put_text(&w, 8, "w");
	put_pair(&w, "location", "weights.bin");
	wire_put_int(&w, 14, 1);
	wire_end(&w, at);
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(1, 3));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(2, 3));
	graph_end(&w, graph);
	scratch_file("weights.bin", weights, sizeof weights);
	scratch_file("m.onnx", w.data, w.n);
	wire_out_done(&w);
	seen s = look_at("m.onnx", NULL);
	if (s.status == DCK_E_ENGINE && strstr(s.err.msg, "need 1.21")) {
		mem_arena_free(s.arena);
		print_message("skipped: %s\n", s.err.msg);
		skip();
	}
	assert_int_equal(s.status, DCK_OK);
	assert_string_equal(told(&s, "sum"), "1 2x3");
	mem_arena_free(s.arena);
}

static void built_in_networks_are_seen(void **state)
{
	(void)state;
	need_ort();
	seen s = look_at("zoo:simplenet", NULL);
	assert_int_equal(s.status, DCK_OK);
	assert_true(s.n >= 4);
	for (size_t i = 0; i < s.n; i++)
		assert_true(s.list[i].known && s.list[i].dtype == ONNX_FLOAT);
	mem_arena_free(s.arena);
}

/* --- refusals */

static void too_large_a_model_is_refused(void **state)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w);

	(void)state;
	need_ort();
	put_node(&w, "Exp", "x", "e");
	put_node(&w, "Neg", "e", "y");
	wire_put_text(&w, 2, "g");
	put_value(&w, 11, "x", ELEMENT_FLOAT, DIMS(-1, 3));
	put_value(&w, 12, "y", ELEMENT_FLOAT, DIMS(-1, 3));
	graph_end(&w, graph);
	scratch_file("m.onnx", w.data, w.n);
	wire_out_done(&w);
	/* The rest is a hole, in a field that is skipped. */
	FILE *f = fopen("m.onnx", "ab");
	const uint8_t field[] = {0x7a, 0x80, 0x80, 0x80, 0x80, 0x08}; /* 15: 2 GiB of bytes */
	assert_int_equal(fwrite(field, 1, sizeof(field), f), sizeof(field));
	fclose(f);
	struct stat st;
	assert_int_equal(stat("m.onnx", &st), 0);
	assert_int_equal(truncate("m.onnx", st.st_size + (INT64_C(2) << 30)), 0);
	seen s = look_at("m.onnx", "N=1");
	assert_int_equal(s.status, DCK_E_UNSUP);
	assert_non_null(strstr(s.err.msg, "is larger than 2 GiB"));
	mem_arena_free(s.arena);
}

static void engines_that_cannot_are_refused(void **state)
{
	wire_out w = model_twice();
	mem_arena *a = mem_arena_new(0);
	values_shape *list;
	dck_subject s;
	size_t n;
	dck_err err;

	(void)state;
	scratch_file("m.onnx", w.data, w.n);
	wire_out_done(&w);
	dck_subject_init(&s);
	s.kind = DCK_SUBJECT_MODEL;
	s.text = "m.onnx";
	s.model.engine = "null";
	assert_int_equal(observed_shapes_run(&s, NULL, a, &list, &n, NULL, &err), DCK_E_UNSUP);
	assert_non_null(strstr(err.msg, "'null' does not show the values"));
	s.kind = DCK_SUBJECT_COMMAND;
	assert_int_equal(observed_shapes_run(&s, NULL, a, &list, &n, NULL, &err), DCK_E_ARG);
	assert_non_null(strstr(err.msg, "only a model has values"));
	mem_arena_free(a);
}

int test_values(void);
int test_values(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_those_that_nodes_make),
	    SCRATCH_TEST(shapes_that_depend_on_values_are_seen),
	    SCRATCH_TEST(what_is_no_tensor_is_not_known),
	    SCRATCH_TEST(nothing_is_optimised_away),
	    SCRATCH_TEST(external_weights_are_found),
	    SCRATCH_TEST(built_in_networks_are_seen),
	    SCRATCH_TEST(too_large_a_model_is_refused),
	    SCRATCH_TEST(engines_that_cannot_are_refused),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
