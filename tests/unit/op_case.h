/* op_case.h - one operator and the result of cost_model() for it, both as text.
 *
 * Inputs: "x:f[2,N] w:*f[4,3] s:*l[2]=5,6 -": name, '*' an initializer, type (f float, h float16, g
 * bfloat16, b int8, u uint8, i int32, l int64, t bool), dimensions (a word is a symbol), values
 * (bits of a float16 or bfloat16); "-" is omitted. Attributes: "axis=1 alpha=0.5 mode=SAME
 * pads=1,1 strides=2,": an integer, a float, a text (after a ' if it has a comma or a dot), lists
 * of integers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_OP_CASE_H
#define TESTS_OP_CASE_H

#include "model_build.h"
/* Included after it, because its parameter names are defined here. */
#include "model/cost/op.h"

#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct op_case {
	const char *op, *domain; /* NULL: ONNX's own */
	int64_t opset;		 /* 0: 17 */
	const char *inputs, *outputs, *attributes;
	/* Expected results. Shapes: "f[2,4] ?"; the numbers as sym_text() writes them, "?" for
	 * unknown; NULL: not checked. */
	const char *shapes, *macs, *flops, *params;
} op_case;

static const struct op_case_type {
	char letter;
	int64_t dtype;
} op_case_types[] = {
    {'f', ONNX_FLOAT}, {'h', ONNX_FLOAT16}, {'b', ONNX_INT8},
    {'u', ONNX_UINT8}, {'i', ONNX_INT32},   {'l', ONNX_INT64},
    {'t', ONNX_BOOL},  {'w', ONNX_UINT32},  {'g', ONNX_BFLOAT16},
};

static inline int64_t op_case_dtype(char letter)
{
	for (size_t i = 0; i < sizeof op_case_types / sizeof *op_case_types; i++)
		if (op_case_types[i].letter == letter)
			return op_case_types[i].dtype;
	fail_msg("no type '%c'", letter);
	return 0;
}

/* Parses comma-separated integers; returns their number. */
static inline size_t op_case_list(const char *s, int64_t *ret, size_t most)
{
	size_t n = 0;

	while (*s && *s != ']' && n < most) {
		char *end;
		ret[n++] = strtoll(s, &end, 10);
		assert_ptr_not_equal(s, end);
		s = end + (*end == ',');
	}
	return n;
}

/* Adds one input: a graph input or an initializer. */
static inline void op_case_input(wire_out *w, const char *text)
{
	char name[32], dims[128] = "";
	bool stored = false;
	const char *at = strchr(text, ':'), *open = strchr(text, '['), *values;
	int64_t dtype;

	assert_non_null(at);
	assert_non_null(open);
	snprintf(name, sizeof name, "%.*s", (int)(at - text), text);
	if (at[1] == '*') {
		stored = true;
		at++;
	}
	dtype = op_case_dtype(at[1]);
	snprintf(dims, sizeof dims, "%.*s", (int)strcspn(open + 1, "]"), open + 1);
	values = strchr(open, '=');
	if (stored) {
		int64_t v[64], d[8];
		size_t n = values ? op_case_list(values + 1, v, 64) : 0;
		put_tensor(w, name, dtype, op_case_list(dims, d, 8), d, n, v);
		return;
	}
	size_t value = wire_begin(w, 11), type, tensor, shape;
	wire_put_text(w, 1, name);
	type = wire_begin(w, 2);
	tensor = wire_begin(w, 1);
	wire_put_int(w, 1, dtype);
	shape = wire_begin(w, 2);
	for (char *save = NULL, *d = strtok_r(dims, ",", &save); d;
	     d = strtok_r(NULL, ",", &save)) {
		size_t dim = wire_begin(w, 1);
		if (*d >= '0' && *d <= '9')
			wire_put_int(w, 1, strtoll(d, NULL, 10));
		else
			wire_put_text(w, 2, d);
		wire_end(w, dim);
	}
	wire_end(w, shape);
	wire_end(w, tensor);
	wire_end(w, type);
	wire_end(w, value);
}

static inline void op_case_attribute(wire_out *w, char *text)
{
	char *value = strchr(text, '=');
	size_t at = wire_begin(w, 5);

	assert_non_null(value);
	*value++ = '\0';
	wire_put_text(w, 1, text);
	if (*value == '\'') {
		wire_put_text(w, 4, value + 1);
		wire_put_int(w, 20, ONNX_ATTR_STRING);
	} else if (strchr(value, ',')) {
		int64_t v[16];
		size_t n = op_case_list(value, v, 16);
		for (size_t i = 0; i < n; i++)
			wire_put_int(w, 8, v[i]);
		wire_put_int(w, 20, ONNX_ATTR_INTS);
	} else if (strchr(value, '.')) {
		wire_put_float(w, 2, strtof(value, NULL));
		wire_put_int(w, 20, ONNX_ATTR_FLOAT);
	} else if (*value == '-' || (*value >= '0' && *value <= '9')) {
		wire_put_int(w, 3, strtoll(value, NULL, 10));
		wire_put_int(w, 20, ONNX_ATTR_INT);
	} else {
		wire_put_text(w, 4, value);
		wire_put_int(w, 20, ONNX_ATTR_STRING);
	}
	wire_end(w, at);
}

/* A body: "NAME=INPUTS;OUTPUTS;NODE;NODE": inputs and outputs are names, a node is "Op inputs >
 * outputs". Names of the outer graph are visible inside. */
static inline void op_case_body(wire_out *w, const char *text)
{
	char copy[512], *rest, *part;
	size_t at = wire_begin(w, 5), graph;
	int n = 0;

	snprintf(copy, sizeof copy, "%s", text);
	rest = strchr(copy, '=');
	assert_non_null(rest);
	*rest++ = '\0';
	wire_put_text(w, 1, copy);
	graph = wire_begin(w, 6);
	for (; (part = strsep(&rest, ";")); n++) {
		char *inner = NULL, *word;
		if (n >= 2) {
			char *arrow = strstr(part, " > "), *space = strchr(part, ' ');
			assert_non_null(arrow);
			*arrow = *space = '\0';
			put_node(w, part, space < arrow ? space + 1 : "", arrow + 3);
			continue;
		}
		for (word = strtok_r(part, " ", &inner); word; word = strtok_r(NULL, " ", &inner)) {
			size_t value = wire_begin(w, n ? 12 : 11);
			wire_put_text(w, 1, word);
			wire_end(w, value);
		}
	}
	wire_end(w, graph);
	wire_put_int(w, 20, ONNX_ATTR_GRAPH);
	wire_end(w, at);
}

static inline void op_case_build(wire_out *w, const op_case *c)
{
	char text[1024], names[256] = "";
	char *save = NULL, *token;

	wire_put_int(w, 1, 10);
	size_t graph = wire_begin(w, 7);
	snprintf(text, sizeof text, "%s", c->inputs);
	for (token = strtok_r(text, " ", &save); token; token = strtok_r(NULL, " ", &save)) {
		size_t n = strlen(names);
		snprintf(names + n, sizeof names - n, "%s%.*s", n ? " " : "",
			 (int)strcspn(token, ":"), token);
		/* A name that occurs twice is declared once. */
		if (strcmp(token, "-") != 0 && strchr(token, ':'))
			op_case_input(w, token);
	}
	size_t node = node_begin(w, c->op, names, c->outputs);
	if (c->domain)
		wire_put_text(w, 7, c->domain);
	snprintf(text, sizeof text, "%s", c->attributes ? c->attributes : "");
	for (token = strtok_r(text, " ", &save); token; token = strtok_r(NULL, " ", &save))
		op_case_attribute(w, token);
	wire_end(w, node);
	wire_end(w, graph);
	size_t opset = wire_begin(w, 8);
	wire_put_text(w, 1, "");
	wire_put_int(w, 2, c->opset ? c->opset : 17);
	wire_end(w, opset);
	opset = wire_begin(w, 8);
	wire_put_text(w, 1, "com.microsoft");
	wire_put_int(w, 2, 1);
	wire_end(w, opset);
	assert_false(w->failed);
}

static inline void op_case_shape(sym_table *t, const val *v, char *ret, size_t size)
{
	char letter = '?';
	size_t n = strlen(ret);

	for (size_t i = 0; v && i < sizeof op_case_types / sizeof *op_case_types; i++)
		if (op_case_types[i].dtype == v->dtype)
			letter = op_case_types[i].letter;
	if (!v || v->rank < 0) {
		snprintf(ret + n, size - n, "%s%s", n ? " " : "", v ? "?" : "-");
		return;
	}
	snprintf(ret + n, size - n, "%s%c[", n ? " " : "", letter);
	for (int i = 0; i < v->rank; i++) {
		n = strlen(ret);
		snprintf(ret + n, size - n, "%s%s", i ? "," : "", sym_text(t, v->dims[i]));
	}
	n = strlen(ret);
	snprintf(ret + n, size - n, "]");
}

static inline void op_case_number(const op_case *c, sym_table *t, const char *what, sym_int got,
				  const char *want)
{
	if (want && strcmp(want, sym_text(t, got)) != 0)
		fail_msg("%s(%s; %s): %s are %s, not %s%s%s", c->op, c->inputs,
			 c->attributes ? c->attributes : "", what, sym_text(t, got), want,
			 sym_unknown_reason(got) ? ": " : "",
			 sym_unknown_reason(got) ? sym_unknown_reason(got) : "");
}

static inline void op_case_check(const op_case *c)
{
	mem_arena *a = mem_arena_new(0);
	wire_out w = {0};
	onnx_model *m = NULL;
	cost_result *r = NULL;
	dck_err err = {0};
	char shapes[512] = "";

	op_case_build(&w, c);
	if (onnx_read_bytes(w.data, w.n, a, &m, &err) != DCK_OK ||
	    cost_model(m, NULL, a, &r, &err) != DCK_OK)
		fail_msg("%s(%s): %s", c->op, c->inputs, err.msg);
	const cost_op *o = &r->ops[r->nops - 1];
	if (!o->row)
		fail_msg("%s has no rule", c->op);
	for (size_t i = 0; i < o->nout; i++)
		op_case_shape(r->nums, o->out[i], shapes, sizeof shapes);
	if (c->shapes && strcmp(c->shapes, shapes) != 0)
		fail_msg("%s(%s; %s) makes %s, not %s (%s)", c->op, c->inputs,
			 c->attributes ? c->attributes : "", shapes, c->shapes,
			 o->out[0] && o->out[0]->why ? o->out[0]->why : "");
	op_case_number(c, r->nums, "MACs", o->macs, c->macs);
	op_case_number(c, r->nums, "FLOPs", o->flops, c->flops);
	op_case_number(c, r->nums, "parameters", o->params, c->params);
	mem_arena_free(a);
	wire_out_done(&w);
}

#endif
