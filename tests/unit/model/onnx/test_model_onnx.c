/* test_model_onnx.c - the graph reader: its results, and its messages for files that are not models
 * or are hostile.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model_build.h"
#include "base/dtype.h"
#include "scratch.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static onnx_model *read_ok(const wire_out *w, mem_arena *a)
{
	onnx_model *m = NULL;
	dck_err err = {0};

	assert_false(w->failed);
	if (onnx_read_bytes(w->data, w->n, a, &m, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	return m;
}

static void put_all_attributes(wire_out *w)
{
	static const uint8_t packed_ints[] = {1, 0xac, 2, 3}, packed_floats[] = {0, 0, 0x80, 0x3f};
	size_t at, inner;

	put_attr_int(w, "i", -5);
	at = wire_begin(w, 5);
	wire_put_text(w, 1, "f");
	wire_put_float(w, 2, 0.5f);
	wire_end(w, at);
	at = wire_begin(w, 5);
	wire_put_text(w, 1, "s");
	wire_put_bytes(w, 4, "a\0b", 3);
	wire_end(w, at);
	at = wire_begin(w, 5);
	wire_put_text(w, 1, "lists");
	wire_put_int(w, 8, 7);
	wire_put_bytes(w, 8, packed_ints, sizeof packed_ints);
	wire_put_float(w, 7, 2.0f);
	wire_put_bytes(w, 7, packed_floats, sizeof packed_floats);
	wire_put_text(w, 9, "x");
	wire_put_text(w, 9, "yz");
	wire_put_text(w, 21, "outer");
	wire_end(w, at);
	at = wire_begin(w, 5);
	wire_put_text(w, 1, "t");
	inner = wire_begin(w, 5);
	wire_put_int(w, 1, 2);
	wire_put_int(w, 2, ONNX_INT32);
	wire_put_bytes(w, 9, ((const uint8_t[]){0xfe, 0xff, 0xff, 0xff, 1, 0, 0, 0}), 8);
	wire_end(w, inner);
	wire_end(w, at);
	at = wire_begin(w, 5);
	wire_put_text(w, 1, "body");
	inner = wire_begin(w, 6);
	put_node(w, "Inner", "p", "q");
	wire_end(w, inner);
	wire_end(w, at);
}

static void reads_nodes_with_all_their_attributes(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	size_t graph = graph_begin(&w), at = node_begin(&w, "Op", "a - c", "d e");

	wire_put_text(&w, 3, "/scope/Op");
	wire_put_text(&w, 7, "my.domain");
	put_all_attributes(&w);
	wire_end(&w, at);
	put_node(&w, "Relu", "d", "f");
	graph_end(&w, graph);

	const onnx_model *m = read_ok(&w, a);
	const onnx_node *n = &m->graph->nodes[0];
	assert_int_equal(m->ir_version, 8);
	assert_string_equal(m->producer, "tests");
	assert_int_equal(m->file_bytes, w.n);
	assert_int_equal(onnx_opset_version(m), 17);
	assert_int_equal(m->graph->nnodes, 2);
	assert_string_equal(n->op, "Op");
	assert_string_equal(n->name, "/scope/Op");
	assert_string_equal(n->domain, "my.domain");
	assert_int_equal(n->ninputs, 3);
	assert_string_equal(n->inputs[0], "a");
	assert_string_equal(n->inputs[1], "");
	assert_string_equal(n->inputs[2], "c");
	assert_int_equal(n->noutputs, 2);
	assert_string_equal(n->outputs[1], "e");
	assert_int_equal(n->nattributes, 6);
	assert_int_equal(onnx_attribute_int(n, "i", 0), -5);
	assert_int_equal(onnx_attribute_int(n, "none", 9), 9);
	assert_null(onnx_find_attribute(n, "none"));
	assert_true(onnx_find_attribute(n, "f")->f == 0.5f);
	assert_int_equal(onnx_find_attribute(n, "s")->s.n, 3);
	assert_memory_equal(onnx_find_attribute(n, "s")->s.text, "a\0b", 4);
	const onnx_attribute *lists = onnx_find_attribute(n, "lists");
	assert_int_equal(lists->nints, 4);
	assert_int_equal(lists->ints[0], 7);
	assert_int_equal(lists->ints[2], 300);
	assert_int_equal(lists->ints[3], 3);
	assert_int_equal(lists->nfloats, 2);
	assert_true(lists->floats[0] == 2.0f && lists->floats[1] == 1.0f);
	assert_int_equal(lists->nstrings, 2);
	assert_string_equal(lists->strings[1].text, "yz");
	assert_string_equal(lists->ref, "outer");
	const onnx_tensor *t = onnx_find_attribute(n, "t")->t;
	assert_int_equal(t->elements, 2);
	assert_int_equal(t->bytes, 8);
	assert_int_equal(t->ints[0], -2);
	assert_int_equal(t->ints[1], 1);
	const onnx_graph *body = onnx_find_attribute(n, "body")->g;
	assert_string_equal(body->nodes[0].op, "Inner");
	assert_null(m->graph->nodes[1].name);
	mem_arena_free(a);
	wire_out_done(&w);
}

static const onnx_node *node_with(const char *key, const char *value, size_t bytes, mem_arena *a)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), at = node_begin(&w, "Op", "a", "b"), pair;

	pair = wire_begin(&w, 9);
	wire_put_text(&w, 1, "pkg.torch.onnx.fx_node");
	wire_put_text(&w, 2, "['x', 'y', 'z']");
	wire_end(&w, pair);
	pair = wire_begin(&w, 9);
	wire_put_text(&w, 1, key);
	wire_put_bytes(&w, 2, value, bytes);
	wire_end(&w, pair);
	wire_end(&w, at);
	graph_end(&w, graph);
	const onnx_node *node = read_ok(&w, a)->graph->nodes;
	wire_out_done(&w);
	return node;
}

static const char *module_of(const char *key, const char *value, size_t bytes, mem_arena *a)
{
	return node_with(key, value, bytes, a)->module;
}

/* In the list of scopes that PyTorch's newer exporter writes, the last is the operation. */
static void reads_the_module_beside_a_node(void **state)
{
	static const struct {
		const char *value, *module;
	} cases[] = {
	    {"['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d_1']", "layer1.0.conv1"},
	    {"['', \"a's\", 'add']", "a's"},
	    {"['', 'add']", NULL},
	    {"['add']", NULL},
	    {"[]", NULL},
	    {"", NULL},
	    {"[", NULL},
	    {"['', 'layer1', 'add", NULL},
	    {"layer1", NULL},
	};
	static const char key[] = "pkg.torch.onnx.name_scopes";
	static char large[70000];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mem_arena *a = mem_arena_new(0);
		const char *got = module_of(key, cases[i].value, strlen(cases[i].value), a);
		if (cases[i].module ? !got || strcmp(got, cases[i].module) != 0 : got != NULL)
			fail_msg("%s: %s", cases[i].value, got ? got : "none");
		mem_arena_free(a);
	}
	mem_arena *a = mem_arena_new(0);
	assert_null(module_of("pkg.torch.onnx.name_scopet", "['', 'm', 'add']", 16, a));
	memset(large, 'x', sizeof large);
	memcpy(large, "['a', 'b', '", 12);
	assert_null(module_of(key, large, sizeof large, a));
	assert_string_equal(module_of(key, "['a', 'b', 'c']\0", 16, a), "b");
	mem_arena_free(a);
}

static void reads_the_class_beside_a_node(void **state)
{
	static const char list[] = "['net.Net', 'torch.nn.modules.conv.Conv2d', 'aten.conv2d']";
	mem_arena *a = mem_arena_new(0);
	const onnx_node *n = node_with("pkg.torch.onnx.class_hierarchy", list, sizeof list - 1, a);

	(void)state;
	assert_string_equal(n->class_name, "torch.nn.modules.conv.Conv2d");
	assert_null(n->module);
	assert_int_equal(n->nframes, 0);
	mem_arena_free(a);
}

/* "line code|line code", innermost last. */
static void assert_frames(const char *stack, const char *want)
{
	char got[4096] = "";
	size_t used = 0;
	mem_arena *a = mem_arena_new(0);
	const onnx_node *n = node_with("pkg.torch.onnx.stack_trace", stack, strlen(stack), a);

	for (size_t i = 0; i < n->nframes; i++)
		used += (size_t)snprintf(got + used, sizeof got - used, "%s%s %s", i ? "|" : "",
					 n->frames[i].line, n->frames[i].code);
	assert_string_equal(got, want);
	mem_arena_free(a);
}

#define FRAME(file, line, code) "  File \"" file "\", line " line ", in forward\n    " code "\n"
#define TORCH			"/v/site-packages/torch/nn/modules/conv.py"

/* Frames inside PyTorch are left out, unless there are no others. */
static void reads_the_lines_beside_a_node(void **state)
{
	(void)state;
	assert_frames(FRAME("/a b/net.py", "25", "x = self.stem(x)")
			  FRAME(TORCH, "565", "return self._conv_forward(input)"),
		      "/a b/net.py:25 x = self.stem(x)");
	assert_frames(FRAME("/n.py", "27", "x = block(x)") FRAME(TORCH, "1", "module(input)")
			  FRAME("/n.py", "13", "y = F.relu(x)"),
		      "/n.py:27 x = block(x)|/n.py:13 y = F.relu(x)");
	assert_frames(FRAME(TORCH, "1", "a") FRAME(TORCH, "2", "b"), TORCH ":2 b");
	/* If the source file was missing, the line's text is missing too. */
	assert_frames("File \"/n.py\", line 3, in f\nFile \"/m.py\", line 4, in g",
		      "/n.py:3 |/m.py:4 ");
	assert_frames("File \"/n.py\", line 3\n", "/n.py:3 ");
	assert_frames("File \"/n.py\", line x, in f\n    a", "");
	assert_frames("File \"/n.py\", line -3, in f\n    a", "");
	assert_frames("File \"/n.py", "");
	assert_frames("Traceback\n\n\n", "");
	assert_frames("", "");
}

static void reads_types_and_functions(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	size_t graph = graph_begin(&w), value, at, sequence, element, function;

	put_input(&w, "x", ONNX_FLOAT, DIMS(-1, 3, 0));
	put_value(&w, 12, "y", ONNX_INT64, 0, NULL);
	put_value(&w, 13, "v", ONNX_BFLOAT16, DIMS(INT64_C(1) << 62));
	value = wire_begin(&w, 11);
	wire_put_text(&w, 1, "s");
	at = wire_begin(&w, 2);
	sequence = wire_begin(&w, 4);
	element = wire_begin(&w, 1);
	wire_put_bytes(&w, 1, ((const uint8_t[]){0x08, 1}), 2);
	wire_end(&w, element);
	wire_end(&w, sequence);
	wire_end(&w, at);
	wire_end(&w, value);
	graph_end(&w, graph);
	function = wire_begin(&w, 25);
	wire_put_text(&w, 1, "Twice");
	put_names(&w, 4, "a b");
	put_names(&w, 5, "c");
	at = wire_begin(&w, 7);
	wire_put_text(&w, 4, "Add");
	wire_end(&w, at);
	wire_put_text(&w, 10, "local");
	wire_end(&w, function);

	const onnx_model *m = read_ok(&w, a);
	const onnx_graph *g = m->graph;
	assert_int_equal(g->ninputs, 2);
	const onnx_shape *s = g->inputs[0].type->tensor->shape;
	assert_int_equal(s->rank, 3);
	assert_int_equal(s->dims[0].value, -1);
	assert_string_equal(s->dims[0].symbol, "N");
	assert_int_equal(s->dims[1].value, 3);
	assert_null(s->dims[1].symbol);
	assert_int_equal(s->dims[2].value, 0);
	assert_int_equal(g->outputs[0].type->tensor->shape->rank, 0);
	assert_true(g->values[0].type->tensor->shape->dims[0].value == INT64_C(1) << 62);
	assert_null(g->inputs[1].type->tensor);
	assert_int_equal(g->inputs[1].type->sequence->value->tensor->dtype, ONNX_FLOAT);
	assert_null(g->inputs[1].type->sequence->value->tensor->shape);
	assert_int_equal(m->nfunctions, 1);
	assert_string_equal(m->functions[0].name, "Twice");
	assert_string_equal(m->functions[0].domain, "local");
	assert_int_equal(m->functions[0].ninputs, 2);
	assert_string_equal(m->functions[0].nodes[0].op, "Add");
	mem_arena_free(a);
	wire_out_done(&w);
}

static void put_data(wire_out *w, int64_t dtype, int64_t dim, uint32_t field, const void *data,
		     size_t n)
{
	size_t at = wire_begin(w, 5);

	wire_put_int(w, 1, dim);
	wire_put_bytes(w, field, data, n); /* before the type on purpose: any order is valid */
	wire_put_int(w, 2, dtype);
	wire_end(w, at);
}

static void keeps_values_of_small_tensors_only(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	static uint8_t zeros[8 * 1025];
	size_t graph = graph_begin(&w), at;

	put_data(&w, ONNX_INT8, 2, 9, "\xff\x7f", 2);
	put_data(&w, ONNX_UINT8, 2, 9, "\xff\x7f", 2);
	put_data(&w, ONNX_FLOAT, 1, 4, "\0\0\xc0\x3f", 4);
	put_data(&w, ONNX_DOUBLE, 1, 10, "\0\0\0\0\0\0\xf8\x3f", 8);
	put_data(&w, ONNX_INT64, 2, 7, "\x01\xac\x02", 3);
	put_data(&w, ONNX_BOOL, 1, 5, "\x01", 1);
	put_data(&w, ONNX_INT64, 1024, 9, zeros, 8 * 1024);
	put_data(&w, ONNX_INT64, 1025, 9, zeros, 8 * 1025);
	put_data(&w, ONNX_FLOAT, 64, 9, zeros, 256);
	put_data(&w, ONNX_FLOAT, 65, 9, zeros, 260);
	put_data(&w, ONNX_INT64, 2, 9, zeros, 8);      /* too short */
	put_data(&w, ONNX_INT64, 1, 7, "\x01\x02", 2); /* too long: only the first counts */
	put_data(&w, ONNX_FLOAT16, 3, 9, "\0\x3c\0\x3e\0\xbc", 6);
	put_data(&w, 22, 5, 9, zeros, 3);   /* int4: five of them in three bytes */
	put_data(&w, 9999, 5, 9, zeros, 3); /* an unknown, later type */
	at = wire_begin(&w, 5);		    /* a scalar in another file */
	wire_put_int(&w, 2, ONNX_FLOAT);
	wire_put_int(&w, 14, 1);
	size_t pair = wire_begin(&w, 13);
	wire_put_text(&w, 1, "location");
	wire_put_text(&w, 2, "no-such-file");
	wire_end(&w, pair);
	wire_end(&w, at);
	graph_end(&w, graph);

	const onnx_graph *g = read_ok(&w, a)->graph;
	const onnx_tensor *t = g->initializers;
	assert_int_equal(g->ninitializers, 16);
	assert_int_equal(t[0].ints[0], -1);
	assert_int_equal(t[0].ints[1], 127);
	assert_int_equal(t[1].ints[0], 255);
	assert_true(t[2].reals[0] == 1.5);
	assert_null(t[2].ints);
	assert_true(t[3].reals[0] == 1.5);
	assert_int_equal(t[4].ints[0], 1);
	assert_int_equal(t[4].ints[1], 300);
	assert_int_equal(t[5].ints[0], 1);
	assert_non_null(t[6].ints);
	assert_int_equal(t[6].bytes, 8192);
	assert_null(t[7].ints);
	assert_int_equal(t[7].bytes, 8200);
	assert_true(t[8].reals[63] == 0);
	assert_null(t[9].reals);
	assert_null(t[10].ints);
	assert_int_equal(t[11].ints[0], 1);
	assert_null(t[12].ints);
	assert_true(t[12].reals[0] == 1 && t[12].reals[1] == 1.5 && t[12].reals[2] == -1);
	assert_int_equal(t[12].bytes, 6);
	assert_int_equal(t[13].bytes, 3);
	assert_int_equal(t[14].bytes, 0);
	assert_int_equal(t[14].elements, 5);
	assert_int_equal(t[15].elements, 1);
	assert_int_equal(t[15].bytes, 4);
	assert_null(t[15].reals);
	assert_string_equal(t[15].external[0].value, "no-such-file");
	mem_arena_free(a);
	wire_out_done(&w);
}

static void types_have_sizes(void **state)
{
	(void)state;
	assert_int_equal(dtype_onnx_bits(ONNX_FLOAT), 32);
	assert_int_equal(dtype_onnx_bits(ONNX_BFLOAT16), 16);
	assert_int_equal(dtype_onnx_bits(ONNX_STRING), 0);
	assert_int_equal(dtype_onnx_bits(22), 4);
	assert_int_equal(dtype_onnx_bits(-1), 0);
	assert_int_equal(dtype_onnx_bits(INT64_MAX), 0);
	assert_true(onnx_dtype_integer(ONNX_INT64));
	assert_true(onnx_dtype_integer(ONNX_UINT8));
	assert_false(onnx_dtype_integer(ONNX_BOOL));
	assert_false(onnx_dtype_integer(ONNX_FLOAT));
	assert_false(onnx_dtype_integer(ONNX_STRING));
}

static void leaves_long_texts_in_the_file(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	static char blob[ONNX_TEXT_MAX + 1];
	size_t graph = graph_begin(&w), node = node_begin(&w, "EPContext", "x", "y");

	for (size_t i = 0; i < 2; i++) {
		size_t at = wire_begin(&w, 5);
		wire_put_text(&w, 1, i ? "longer" : "long");
		wire_put_bytes(&w, 4, blob, ONNX_TEXT_MAX + i);
		wire_end(&w, at);
	}
	wire_end(&w, node);
	graph_end(&w, graph);
	const onnx_node *n = &read_ok(&w, a)->graph->nodes[0];
	assert_int_equal(n->attributes[0].s.n, ONNX_TEXT_MAX);
	assert_non_null(n->attributes[0].s.text);
	assert_int_equal(n->attributes[1].s.n, ONNX_TEXT_MAX + 1);
	assert_null(n->attributes[1].s.text);
	mem_arena_free(a);
	wire_out_done(&w);
}

/* --- refusals */
static void assert_refused(const void *bytes, size_t n, dck_status code, const char *says)
{
	mem_arena *a = mem_arena_new(0);
	onnx_model *m = NULL;
	dck_err err = {0};

	assert_int_equal(onnx_read_bytes(bytes, n, a, &m, &err), code);
	assert_null(m);
	assert_string_equal(err.msg, says);
	mem_arena_free(a);
}

#define THE_MODEL "the model in memory is "
#define IS_NOT	  "the model in memory is not an ONNX model: "
static void says_what_other_files_are(void **state)
{
	(void)state;
	const struct {
		const char *bytes;
		size_t n;
		dck_status code;
		const char *says;
	} cases[] = {
	    {"", 0, DCK_E_FORMAT, "the model in memory is empty, not an ONNX model"},
	    {"\0\0\0\0\0\0\0\0", 8, DCK_E_FORMAT, IS_NOT "field 0 at byte 0"},
	    {"hello world", 11, DCK_E_FORMAT, IS_NOT "field 13 at byte 0"},
	    {"#!/bin/sh\n", 10, DCK_E_FORMAT, IS_NOT "field 4 at byte 0 has wire type 3"},
	    {"2024-01-01 00:00", 16, DCK_E_FORMAT,
	     IS_NOT "field 6 at byte 0 has length 48, but 14 bytes are left"},
	    {"\x0a\x01z", 3, DCK_E_FORMAT, IS_NOT "field 1 at byte 0"}, /* not a model */
	    {"version https://git-lfs.github.com/spec/v1", 42, DCK_E_FORMAT,
	     THE_MODEL "a pointer of Git LFS, not an ONNX model: run 'git lfs pull'"},
	    {"PK\3\4\x14\0\0\0", 8, DCK_E_FORMAT,
	     THE_MODEL "a ZIP archive, not an ONNX model: unpack it and give the .onnx file"},
	    {"\x1f\x8b\x08\0", 4, DCK_E_FORMAT,
	     THE_MODEL "a packed file, not an ONNX model: unpack it and give the .onnx file"},
	    {"\x89HDF\r\n\x1a\n", 8, DCK_E_FORMAT,
	     THE_MODEL "an HDF5 file, not an ONNX model: if Keras wrote it, load it there and "
		       "write model.export('model.onnx', format='onnx')"},
	    {"<!DOCTYPE html>", 15, DCK_E_FORMAT,
	     THE_MODEL "a web page, not an ONNX model: download the file itself"},
	    {"\x1c\0\0\0TFL3\0\0\0\0", 12, DCK_E_FORMAT,
	     THE_MODEL
	     "a TensorFlow Lite model, not an ONNX model: --engine litert or openvino runs it, and "
	     "python -m tf2onnx.convert --tflite MODEL --output model.onnx makes one of it"},
	    {"\x18\0\0\0ORTM\0\0\0\0", 12, DCK_E_UNSUP,
	     THE_MODEL
	     "in ONNX Runtime's own format (.ort), not an ONNX model: give the .onnx file"},
	    {"\x08\x08", 2, DCK_E_FORMAT, "the model in memory holds no graph"},
	    {"\x08\x08\x12\x03xyz", 7, DCK_E_FORMAT, "the model in memory holds no graph"},
	    {"\x08\x08\x3a\xc0\xbb\xa8\x16\x0a", 8, DCK_E_FORMAT,
	     "the model in memory is truncated: the graph states 46,800,320 bytes, the file ends "
	     "after 8"},
	    {"\x08\x08\x3a", 3, DCK_E_FORMAT,
	     "the model in memory is malformed: field 7 at byte 2 does not end, in an ONNX model"},
	    {"\x08\x08\x3a\x02\x0a\x05", 6, DCK_E_FORMAT,
	     "the model in memory is malformed: node at byte 4 has length 5, but 0 bytes are left, in "
	     "a graph"},
	    {"\x08\x08\x3a\x04\x0a\x02\x08\x01", 8, DCK_E_FORMAT,
	     "the model in memory is malformed: field 1 at byte 6, in a node"},
	    {"\x08\x08\x38\x01", 4, DCK_E_FORMAT,
	     "the model in memory is malformed: field 7 at byte 2, in an ONNX model"},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_refused(cases[i].bytes, cases[i].n, cases[i].code, cases[i].says);
}

static void skips_fields_of_the_future(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};

	wire_put_int(&w, 1, 99);
	wire_put_text(&w, 1000, "new");
	wire_put_int(&w, 999, 1);
	size_t graph = wire_begin(&w, 7), node = wire_begin(&w, 1);
	wire_put_text(&w, 4, "Relu");
	wire_put_float(&w, 77, 1);
	wire_end(&w, node);
	wire_end(&w, graph);
	assert_string_equal(read_ok(&w, a)->graph->nodes[0].op, "Relu");
	mem_arena_free(a);
	wire_out_done(&w);
}

/* Two parts of one message merge, as the encoding's specification requires. */
static void merges_a_graph_in_two_parts(void **state)
{
	(void)state;
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};

	wire_put_int(&w, 1, 8);
	for (int i = 0; i < 2; i++) {
		size_t graph = wire_begin(&w, 7);
		put_node(&w, i ? "Second" : "First", "a", "b");
		wire_end(&w, graph);
	}
	const onnx_graph *g = read_ok(&w, a)->graph;
	assert_int_equal(g->nnodes, 2);
	assert_string_equal(g->nodes[1].op, "Second");
	mem_arena_free(a);
	wire_out_done(&w);
}

static void refuses_deep_nesting(void **state)
{
	(void)state;
	wire_out w = {0};
	size_t marks[3 * 200], n = 0;

	wire_put_int(&w, 1, 8);
	marks[n++] = wire_begin(&w, 7);
	for (int i = 0; i < 150; i++) {
		marks[n++] = wire_begin(&w, 1); /* node */
		marks[n++] = wire_begin(&w, 5); /* attribute */
		marks[n++] = wire_begin(&w, 6); /* graph */
	}
	while (n)
		wire_end(&w, marks[--n]);
	assert_false(w.failed);
	mem_arena *a = mem_arena_new(0);
	onnx_model *m;
	dck_err err = {0};
	assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, &err), DCK_E_LIMIT);
	assert_memory_equal(err.msg,
			    "the model in memory nests its messages deeper than 100 at byte ", 63);
	mem_arena_free(a);
	wire_out_done(&w);
}

static void refuses_impossible_dimensions(void **state)
{
	(void)state;
	const struct {
		int64_t dims[3];
		dck_status code;
		const char *says;
	} cases[] = {
	    {{INT64_C(1) << 62, 1, 1},
	     DCK_E_LIMIT,
	     "the model in memory has a tensor 'w' of more than 2^59 elements"},
	    {{INT64_C(1) << 62, INT64_C(1) << 62, 4},
	     DCK_E_LIMIT,
	     "the model in memory has a tensor 'w' of more than 2^59 elements"},
	    {{2, -1, 2},
	     DCK_E_FORMAT,
	     "the model in memory is malformed: tensor 'w' has dimension -1, in a tensor"},
	    {{0, -1, INT64_MAX},
	     DCK_E_FORMAT,
	     "the model in memory is malformed: tensor 'w' has dimension -1, in a tensor"},
	    {{INT64_MAX, INT64_MAX, 0}, DCK_OK, ""}, /* an empty tensor */
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		mem_arena *a = mem_arena_new(0);
		onnx_model *m;
		dck_err err = {0};
		wire_out w = {0};
		size_t graph = graph_begin(&w);
		put_tensor(&w, "w", ONNX_FLOAT, 3, cases[i].dims, 0, NULL);
		graph_end(&w, graph);
		assert_int_equal(onnx_read_bytes(w.data, w.n, a, &m, &err), cases[i].code);
		assert_string_equal(err.msg, cases[i].says);
		mem_arena_free(a);
		wire_out_done(&w);
	}
}

static dck_status read_many_nodes(size_t n, size_t *ret_nodes, dck_err *err)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m;
	size_t graph = graph_begin(&w);

	for (size_t i = 0; i < n; i++)
		wire_put_bytes(&w, 1, "", 0);
	graph_end(&w, graph);
	dck_status code = onnx_read_bytes(w.data, w.n, a, &m, err);
	if (code == DCK_OK)
		*ret_nodes = m->graph->nnodes;
	mem_arena_free(a);
	wire_out_done(&w);
	return code;
}

static void memory_is_bounded(void **state)
{
	(void)state;
	size_t nodes = 0;
	dck_err err = {0};

	assert_int_equal(read_many_nodes(1000000, &nodes, &err), DCK_OK);
	assert_int_equal(nodes, 1000000);
	assert_int_equal(read_many_nodes(8000000, &nodes, &err), DCK_E_LIMIT);
	assert_string_equal(err.msg,
			    "the structure of the model in memory needs more than 512 MiB");
}

/* With any damage the reader terminates and stays inside its bytes (the sanitizers check). */
static wire_out whole_model(void)
{
	wire_out w = {0};
	size_t graph = graph_begin(&w), at = node_begin(&w, "Op", "a c", "d");

	put_all_attributes(&w);
	wire_end(&w, at);
	put_tensor(&w, "t", ONNX_INT64, DIMS(2), 2, (const int64_t[]){1, 2});
	put_data(&w, ONNX_FLOAT, 1, 4, "\0\0\xc0\x3f", 4);
	put_input(&w, "a", ONNX_INT64, DIMS(-1, 3));
	put_value(&w, 12, "d", ONNX_FLOAT, DIMS(1));
	graph_end(&w, graph);
	return w;
}

static void survives_every_truncation_and_change(void **state)
{
	(void)state;
	wire_out w = whole_model();
	size_t refused = 0;

	for (size_t n = 1; n < w.n; n++) {
		mem_arena *a = mem_arena_new(0);
		onnx_model *m;
		uint8_t *copy = malloc(n); /* exactly n, for the sanitizers */
		assert_non_null(copy);
		memcpy(copy, w.data, n);
		refused += onnx_read_bytes(copy, n, a, &m, NULL) != DCK_OK;
		free(copy);
		mem_arena_free(a);
	}
	/* Only cuts between two fields after the graph leave a model: before the operator set. */
	assert_int_equal(refused, w.n - 2);
	for (size_t i = 0; i < w.n; i++) {
		for (unsigned b = 0; b < 256; b += 5) {
			mem_arena *a = mem_arena_new(0);
			onnx_model *m;
			uint8_t old = w.data[i];
			w.data[i] = (uint8_t)b;
			dck_err err = {0};
			if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK)
				assert_true(err.code != DCK_OK && *err.msg);
			w.data[i] = old;
			mem_arena_free(a);
		}
	}
	wire_out_done(&w);
}

/* --- files */
static void assert_file_refused(const char *path, dck_status code, const char *says)
{
	mem_arena *a = mem_arena_new(0);
	onnx_model *m;
	dck_err err = {0};

	assert_int_equal(onnx_read_file(path, a, &m, &err), code);
	assert_string_equal(err.msg, says);
	mem_arena_free(a);
}

static void says_what_is_wrong_with_a_file(void **state)
{
	(void)state;
	wire_out w = whole_model();

	assert_file_refused("none.onnx", DCK_E_ABSENT,
			    "cannot open model 'none.onnx': No such file or directory");
	assert_file_refused(".", DCK_E_IO, "'.' is a directory, not an ONNX file");
	scratch_file("empty.onnx", "", 0);
	assert_file_refused("empty.onnx", DCK_E_FORMAT, "'empty.onnx' is empty, not an ONNX model");
	assert_file_refused("empty.onnx/x", DCK_E_ABSENT,
			    "cannot open model 'empty.onnx/x': Not a directory");
	scratch_file("text.onnx", "hello", 5);
	assert_file_refused("text.onnx", DCK_E_FORMAT,
			    "'text.onnx' is not an ONNX model: field 13 at byte 0");
	scratch_file("zeros.onnx", "", 0);
	assert_int_equal(truncate("zeros.onnx", INT64_C(1) << 32), 0);
	assert_file_refused("zeros.onnx", DCK_E_FORMAT,
			    "'zeros.onnx' is not an ONNX model: field 0 at byte 0");
	scratch_file("cut.onnx", w.data, 100);
	char says[160];
	snprintf(says, sizeof says,
		 "'cut.onnx' is truncated: the graph states %d bytes, the file ends after 100",
		 (w.data[10] & 0x7f) | w.data[11] << 7);
	assert_file_refused("cut.onnx", DCK_E_FORMAT, says);
	assert_int_equal(mkfifo("pipe.onnx", 0600), 0);
	assert_file_refused("pipe.onnx", DCK_E_IO,
			    "'pipe.onnx' is no regular file, not an ONNX file");
	if (geteuid() != 0) { /* root may read every file */
		scratch_file("secret.onnx", "x", 1);
		assert_int_equal(chmod("secret.onnx", 0), 0);
		assert_file_refused("secret.onnx", DCK_E_IO,
				    "cannot open model 'secret.onnx': Permission denied");
	}
	scratch_file("good.onnx", w.data, w.n);
	mem_arena *a = mem_arena_new(0);
	onnx_model *m = NULL;
	dck_err err;
	assert_int_equal(onnx_read_file("good.onnx", a, &m, &err), DCK_OK);
	assert_int_equal(m->graph->nnodes, 1);
	assert_int_equal(m->file_bytes, w.n);
	mem_arena_free(a);
	wire_out_done(&w);
}

/* A tensor of 3 GB that is a hole in the file: the reader must not read it. */
static void skips_tensor_data(void **state)
{
	(void)state;
	int fd = open("big.onnx", O_RDWR | O_CREAT, 0600);
	wire_out head = {0}, tensor = {0}, tail = {0};
	const uint64_t data = UINT64_C(3) << 30;
	mem_arena *a = mem_arena_new(0);
	onnx_model *m;
	dck_err err = {0};

	assert_true(fd >= 0);
	wire_put_int(&tensor, 1, (int64_t)(data / 4));
	wire_put_int(&tensor, 2, ONNX_FLOAT);
	wire_put_text(&tensor, 8, "w");
	wire_put_header(&tensor, 9, data);
	put_node(&tail, "Relu", "w", "y");
	wire_put_int(&head, 1, 8);
	wire_put_header(&head, 7, 1 + wire_varint_size(tensor.n + data) + tensor.n + data + tail.n);
	wire_put_header(&head, 5, tensor.n + data);
	assert_int_equal(write(fd, head.data, head.n), head.n);
	assert_int_equal(write(fd, tensor.data, tensor.n), tensor.n);
	assert_int_equal(pwrite(fd, tail.data, tail.n, (off_t)(head.n + tensor.n + data)), tail.n);
	close(fd);
	if (onnx_read_file("big.onnx", a, &m, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	assert_true(m->graph->initializers[0].bytes == data);
	assert_null(m->graph->initializers[0].reals);
	assert_string_equal(m->graph->nodes[0].inputs[0], "w");
	assert_true(mem_arena_bytes(a) < 1 << 20);
	mem_arena_free(a);
	wire_out_done(&head);
	wire_out_done(&tensor);
	wire_out_done(&tail);
}

int test_model_onnx(void);
int test_model_onnx(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(reads_nodes_with_all_their_attributes),
	    cmocka_unit_test(reads_the_module_beside_a_node),
	    cmocka_unit_test(reads_the_class_beside_a_node),
	    cmocka_unit_test(reads_the_lines_beside_a_node),
	    cmocka_unit_test(reads_types_and_functions),
	    cmocka_unit_test(keeps_values_of_small_tensors_only),
	    cmocka_unit_test(types_have_sizes),
	    cmocka_unit_test(leaves_long_texts_in_the_file),
	    cmocka_unit_test(says_what_other_files_are),
	    cmocka_unit_test(skips_fields_of_the_future),
	    cmocka_unit_test(merges_a_graph_in_two_parts),
	    cmocka_unit_test(refuses_deep_nesting),
	    cmocka_unit_test(refuses_impossible_dimensions),
	    cmocka_unit_test(memory_is_bounded),
	    cmocka_unit_test(survives_every_truncation_and_change),
	    cmocka_unit_test(says_what_is_wrong_with_a_file),
	    cmocka_unit_test(skips_tensor_data),
	};
	return cmocka_run_group_tests(tests, scratch_begin, scratch_end);
}
