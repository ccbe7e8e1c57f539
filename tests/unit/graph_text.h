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

#define MS    "com.microsoft"
#define NCHWC "com.microsoft.nchwc"

typedef struct graph_node {
	const char *op, *domain; /* NULL: ONNX's own */
	const char *name, *inputs, *outputs, *attributes;
} graph_node;

typedef struct graph_text {
	const char *values; /* as in op_case */
	graph_node nodes[8];
} graph_text;

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
	for (const graph_node *n = g->nodes; n->op; n++) {
		size_t node = node_begin(&w, n->op, n->inputs, n->outputs);
		if (n->name)
			wire_put_text(&w, 3, n->name);
		if (n->domain)
			wire_put_text(&w, 7, n->domain);
		snprintf(text, sizeof text, "%s", n->attributes ? n->attributes : "");
		for (char *t = strtok_r(text, " ", &save); t; t = strtok_r(NULL, " ", &save))
			op_case_attribute(&w, t);
		wire_end(&w, node);
	}
	wire_end(&w, graph);
	opset = wire_begin(&w, 8);
	wire_put_text(&w, 1, "");
	wire_put_int(&w, 2, 17);
	wire_end(&w, opset);
	assert_false(w.failed);
	if (onnx_read_bytes(w.data, w.n, c.arena, &c.model, &err) != DCK_OK ||
	    cost_model(c.model, NULL, c.arena, &c.cost, &err) != DCK_OK)
		fail_msg("%s", err.msg);
	wire_out_done(&w);
	return c;
}

#endif
