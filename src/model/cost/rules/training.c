/* training.c - steps of training (domain ai.onnx.preview.training): each updates tensors from
 * gradients, all tensors of one kind after another.
 * https://onnx.ai/onnx/operators/#ai-onnx-preview-training
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/op.h"

#include <string.h>

/* The inputs after the rate and the count are groups of tensors of one kind: the parameters, their
 * gradients, and the optimizer's states. All groups but the gradients are also outputs. */
typedef struct optimizer_step {
	size_t groups;
	int64_t flops; /* FLOPs for each trained element */
} optimizer_step;

static const optimizer_step adagrad = {3, 9}; /* c*X+G: 2; H+G*G: 2; sqrt, +e: 2; X-r*G/H: 3 */
/* c*X+G: 2; a*V+b*G: 3; a*H+b*G*G: 4; sqrt, +e: 2; X-r*V/H: 3; * : 1 */
static const optimizer_step adam = {4, 15};
static const optimizer_step momentum = {3, 7}; /* c*X+G: 2; a*V+b*G: 3; X-r*V: 2 */

static size_t trained(const op *o, const optimizer_step *s)
{
	return o->made->nin > 2 ? (o->made->nin - 2) / s->groups : 0;
}

static void shape_step(op *o)
{
	const optimizer_step *s = o->row->form;
	size_t n = trained(o, s);

	if (!n || n * s->groups != o->made->nin - 2) {
		op_unknown(o, "its inputs are not a whole number of tensors to train");
		return;
	}
	for (size_t i = 0; i < o->made->nout; i++) {
		size_t group = i / n;
		const val *v = op_in(o, 2 + (group ? group + 1 : 0) * n + i % n);
		if (v)
			op_same(o, i, v);
	}
	op_unknown(o, "an input is missing");
}

static void cost_step(op *o)
{
	const optimizer_step *s = o->row->form;
	const char *mode = op_attr_text(o, "mode");
	size_t n = trained(o, s);
	sym_int elements = sym_const(0);
	int64_t each = s->flops;

	for (size_t i = 0; i < n; i++)
		elements = sym_add(o->nums, elements, op_elements(o, op_in(o, 2 + i)));
	if (mode && strcmp(mode, "nesterov") == 0)
		each += 2; /* a * V + G */
	op_cost_flops(o, op_times(o, each, elements));
}

/* A gradient has the shape of the tensor that it belongs to. */
static void shape_gradient(op *o)
{
	for (size_t i = 0; i < o->made->nout; i++) {
		const val *v = op_in(o, i);
		if (v)
			op_same(o, i, v);
	}
	op_unknown(o, "the tensor that it belongs to is missing");
}

static void cost_gradient(op *o)
{
	op_cost_unknown(o, "it differentiates a part of the graph, which is not counted");
}

static const op_row training_rows[] = {
    {"Adagrad", shape_step, cost_step, .form = &adagrad,
     .how = "FLOPs: 9 per trained element, as its pseudo code is written"},
    {"Adam", shape_step, cost_step, .form = &adam,
     .how = "FLOPs: 15 per trained element, as its pseudo code is written"},
    {"Gradient", shape_gradient, .cost = cost_gradient},
    {"Momentum", shape_step, cost_step, .form = &momentum,
     .how = "FLOPs: 7 per trained element, 9 in Nesterov's form, as its pseudo code is written"},
};

const op_family op_family_training = {"ai.onnx.preview.training", training_rows,
				      sizeof training_rows / sizeof *training_rows};
