/* failed_input.c - the input of a model that probably made a node fail: follows the node that an
 * engine's message names, or else states the operator of, back to an input of integers.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/def_use.h"
#include "model/onnx/summary.h"
#include <ctype.h>
#include <string.h>

/* The most operators between the input and the node. */
#define FAILED_DEPTH 8

/* Returns whether the text contains the name as a whole word. */
static bool message_names(const char *text, const char *name)
{
	const size_t n = strlen(name);

	for (const char *at = text; n > 0 && (at = strstr(at, name)); at++) {
		const unsigned char before = at > text ? (unsigned char)at[-1] : ' ',
				    after = (unsigned char)at[n];

		if (!isalnum(before) && !strchr("_/.:", before) && !isalnum(after) &&
		    !strchr("_/", after ? after : ' '))
			return true;
	}
	return false;
}

/* Returns the node with the longest name that the message contains; NULL: none. */
static const onnx_node *failed_by_name(const def_use *f, const char *message)
{
	const onnx_node *found = NULL;

	for (size_t i = 0; i < f->nuses; i++) {
		const onnx_node *n = f->uses[i].node;

		if (n->name && n->op && message_names(message, n->name) &&
		    (!found || strlen(n->name) > strlen(found->name)))
			found = n;
	}
	return found;
}

static bool integer_input(const onnx_graph *g, const char *name)
{
	for (size_t i = 0; i < g->ninputs; i++) {
		const onnx_value *v = &g->inputs[i];

		if (v->name && strcmp(v->name, name) == 0)
			return v->type && v->type->tensor &&
			       onnx_dtype_integer(v->type->tensor->dtype);
	}
	return false;
}

/* Returns the input of integers that a value is, or is made of by conversions and reshapes. */
static const char *failed_origin(const onnx_graph *g, const def_use *f, const char *name, int depth)
{
	static const char *const through[] = {"Cast",	 "Concat",  "Identity",
					      "Reshape", "Squeeze", "Unsqueeze"};
	const def_use_value *v = def_use_find(f, name);
	bool passes = false;

	if (!v || v->initializer || depth == FAILED_DEPTH)
		return NULL;
	if (!v->producer)
		return integer_input(g, name) ? name : NULL;
	for (size_t i = 0; v->producer->op && i < sizeof through / sizeof *through; i++)
		passes |= strcmp(v->producer->op, through[i]) == 0;
	for (size_t i = 0; passes && i < v->producer->ninputs; i++) {
		const char *found = failed_origin(g, f, v->producer->inputs[i], depth + 1);

		if (found)
			return found;
	}
	return NULL;
}

/* Operators take sizes and axes after their data: the last of them is the most likely. */
static const char *failed_operand(const onnx_graph *g, const def_use *f, const onnx_node *n)
{
	const char *input = NULL;

	for (size_t i = n->ninputs; i-- > 0 && !input;)
		if (n->inputs[i] && *n->inputs[i])
			input = failed_origin(g, f, n->inputs[i], 0);
	return input;
}

/* Returns the node of the operator that was running by the message, if it is the only one that
 * takes integers of the inputs; NULL: none. */
static const onnx_node *failed_by_type(const onnx_graph *g, const def_use *f, const char *message)
{
	const char *type = strstr(message, "while running ");
	const onnx_node *found = NULL;

	if (!type)
		return NULL;
	type += strlen("while running ");
	for (size_t i = 0; i < f->nuses; i++) {
		const onnx_node *n = f->uses[i].node;
		const size_t length = n->op ? strlen(n->op) : 0;

		if (n == found || length == 0 || strncmp(type, n->op, length) != 0 ||
		    strncmp(type + length, " node", 5) != 0 || !failed_operand(g, f, n))
			continue;
		if (found)
			return NULL;
		found = n;
	}
	return found;
}

bool model_failed_input(const char *path, const char *message, mem_arena *a, model_failed *ret)
{
	const onnx_node *node;
	const char *input;
	onnx_model *m;
	def_use f;

	mem_arena_limit(a, mem_arena_bytes(a) + ONNX_MEMORY_MAX);
	if (onnx_read_file(path, a, &m, NULL) != DCK_OK || def_use_init(&f, a, m, NULL) != DCK_OK)
		return false;
	node = failed_by_name(&f, message);
	if (!node)
		node = failed_by_type(m->graph, &f, message);
	input = node ? failed_operand(m->graph, &f, node) : NULL;
	*ret = (model_failed){node ? node->name : NULL, node ? node->op : NULL, input};
	return input != NULL;
}
