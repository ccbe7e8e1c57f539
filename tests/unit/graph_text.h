/* graph_text.h - a graph written as text, and its cost.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_GRAPH_TEXT_H
#define TESTS_GRAPH_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "op_case.h"

#include "study/cost_report/model_cost.h"

#define MS	       "com.microsoft"
#define NCHWC	       "com.microsoft.nchwc"
#define FN	       "example.org"
#define GRAPH_FUNCTION "(function)"

typedef struct graph_node {
	const char *op, *domain; /* NULL: ONNX's own */
	const char *name, *inputs, *outputs, *attributes;
} graph_node;

typedef struct graph_text {
	const char *values; /* as in op_case */
	/* After each GRAPH_FUNCTION those of a function of that name and the domain FN, X W to Y.
	 */
	graph_node nodes[12];
} graph_text;

/* Returns the node after it. */
static inline const graph_node *graph_function(wire_out *w, const graph_node *function)
{
	const graph_node *n = function + 1;
	size_t begin = wire_begin(w, 25), opset;

	wire_put_text(w, 1, function->name);
	wire_put_text(w, 4, "X");
	wire_put_text(w, 4, "W");
	wire_put_text(w, 5, "Y");
	for (; n->op && strcmp(n->op, GRAPH_FUNCTION) != 0; n++) {
		char text[200], *save = NULL;
		size_t node = wire_begin(w, 7);

		snprintf(text, sizeof text, "%s", n->inputs);
		for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
			wire_put_text(w, 1, t);
		if (n->attributes) {
			snprintf(text, sizeof text, "%s", n->attributes);
			op_case_attribute(w, text);
		}
		wire_put_text(w, 2, n->outputs);
		wire_put_text(w, 3, n->name ? n->name : "");
		wire_put_text(w, 4, n->op);
		if (n->domain)
			wire_put_text(w, 7, n->domain);
		wire_end(w, node);
	}
	opset = wire_begin(w, 9);
	wire_put_text(w, 1, "");
	wire_put_int(w, 2, 17);
	wire_end(w, opset);
	wire_put_text(w, 10, FN);
	wire_end(w, begin);
	return n;
}

static inline model_cost graph_counted(const graph_text *g)
{
	model_cost c = {.arena = mem_arena_new(0)};
	char text[512], *save = NULL;
	wire_out w = {0};
	dck_err err = {0};

	wire_put_int(&w, 1, 10);
	size_t graph = wire_begin(&w, 7), opset;
	snprintf(text, sizeof text, "%s", g->values);
	for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
		op_case_input(&w, t);
	const graph_node *n = g->nodes;
	for (; n->op && strcmp(n->op, GRAPH_FUNCTION) != 0; n++) {
		size_t node = node_begin(&w, n->op, n->inputs, n->outputs);
		if (n->name)
			wire_put_text(&w, 3, n->name);
		if (n->domain)
			wire_put_text(&w, 7, n->domain);
		snprintf(text, sizeof text, "%s", n->attributes ? n->attributes : "");
		/* A body has spaces. */
		const char *ends = strchr(text, ';') ? "\n" : " ";
		for (char *t = strtok_r(text, ends, &save); t; t = strtok_r(NULL, ends, &save))
			if (*ends == '\n')
				op_case_body(&w, t);
			else
				op_case_attribute(&w, t);
		wire_end(&w, node);
	}
	wire_end(&w, graph);
	opset = wire_begin(&w, 8);
	wire_put_text(&w, 1, "");
	wire_put_int(&w, 2, 17);
	wire_end(&w, opset);
	if (n->op) {
		opset = wire_begin(&w, 8);
		wire_put_text(&w, 1, FN);
		wire_put_int(&w, 2, 1);
		wire_end(&w, opset);
		while (n->op)
			n = graph_function(&w, n);
	}
	assert_false(w.failed);
	if (onnx_read_bytes(w.data, w.n, c.arena, &c.model, &err) != DCK_OK ||
	    cost_model(c.model, NULL, c.arena, &c.cost, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	wire_out_done(&w);
	return c;
}

#endif
