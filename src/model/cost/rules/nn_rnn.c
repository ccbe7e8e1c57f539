/* nn_rnn.c - LSTM, GRU and RNN.
 * Equations: https://onnx.ai/onnx/operators/onnx__LSTM.html and related pages.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

#include <string.h>

/* `adds` counts the FLOPs besides products and activations: for each gate the sum of both
 * products; LSTM has 4 more, f*C + i*c and o*h(C); GRU has 5 more, r*H and (1 - z)*h + z*H. */
const cell cell_lstm = {.gates = 4, .adds = 4 + 4, .activations = {"sigmoid", "tanh", "tanh"}};
const cell cell_gru = {.gates = 3, .adds = 3 + 5, .activations = {"sigmoid", "tanh", NULL}};
const cell cell_rnn = {.gates = 1, .adds = 1, .activations = {"tanh", NULL, NULL}};

/* How often a unit applies each activation function in one step. */
static int64_t uses(const cell *c, size_t i)
{
	if (c->gates == 4)
		return i == 0 ? 3 : 1;
	return c->gates == 3 && i == 0 ? 2 : 1;
}

static bool bidirectional(const op *o)
{
	const char *d = op_attr_text(o, "direction");

	return d && strcmp(d, "bidirectional") == 0;
}

/* The attribute states it; where it does not, the weights do. */
static sym_int hidden_size(op *o, const cell *c)
{
	const val *r = op_in(o, 2);
	int64_t stated = op_attr_int(o, "hidden_size", 0);
	size_t at = c->transposed ? 1 : 2;

	if (stated > 0)
		return sym_const(stated);
	if (r && r->rank == 3)
		return r->dims[at];
	return sym_unknown(o->nums, "its hidden size is not known");
}

void shape_cell(op *o)
{
	const cell *c = o->row->form;
	const val *x = op_need(o, 0);
	bool batch_first = op_flag(o, "layout");
	sym_int directions = sym_const(bidirectional(o) ? 2 : 1), hidden = hidden_size(o, c);

	if (!x)
		return;
	if (x->rank != 3) {
		op_unknown(o, "its input has %d dimensions, not 3", x->rank);
		return;
	}
	sym_int steps = x->dims[batch_first ? 1 : 0], batch = x->dims[batch_first ? 0 : 1];
	sym_int last[] = {batch_first ? batch : directions, batch_first ? directions : batch,
			  hidden};
	sym_int all[] = {batch_first ? batch : steps, batch_first ? steps : directions,
			 batch_first ? directions : batch, hidden};
	op_set(o, 0, x->dtype, 4, all);
	op_set(o, 1, x->dtype, 3, last);
	op_set(o, 2, x->dtype, 3, last);
}

/* FLOPs of the activations of one unit in one step. If the directions have separate lists,
 * returns the sum over both lists, and *ret_lists is 2. */
static int64_t step_flops(const op *o, const cell *c, bool both, int64_t *ret_lists)
{
	const onnx_attribute *a = op_attr(o, "activations");
	size_t each = 0;
	int64_t sum = 0;

	while (each < 3 && c->activations[each])
		each++;
	*ret_lists = a && both && a->nstrings >= 2 * each ? 2 : 1;
	for (size_t i = 0; i < each * (size_t)*ret_lists; i++) {
		const char *name =
		    a && i < a->nstrings ? a->strings[i].text : c->activations[i % each];
		int64_t flops = name ? activation_flops(name) : -1;
		if (flops < 0)
			return -1;
		sum += uses(c, i % each) * flops;
	}
	return sum;
}

void cost_cell(op *o)
{
	const cell *c = o->row->form;
	const val *x = op_in(o, 0);
	sym_table *t = o->nums;
	bool both = bidirectional(o), bias = op_in(o, 3), peepholes = c->gates == 4 && op_in(o, 7);
	sym_int hidden = hidden_size(o, c), steps, units, macs;
	int64_t lists, act = step_flops(o, c, both, &lists);

	if (x && x->rank >= 0 && x->rank != 3) {
		op_cost_unknown(o, "its input '%s' has %d dimensions, not 3", x->name, x->rank);
		return;
	}
	if (!x || x->rank != 3) {
		op_cost_unknown(o, "%s", x && x->why ? x->why : "its input is missing");
		return;
	}
	steps = sym_mul(t, x->dims[0], x->dims[1]);
	units = sym_mul(t, op_times(o, both ? 2 : 1, steps), hidden);
	macs = op_times(o, c->gates, sym_mul(t, units, sym_add(t, x->dims[2], hidden)));
	/* The input and the recurrence each have a bias; peepholes are Pi*C, Pf*C and Po*C with
	 * their sums. */
	int64_t other = c->adds + (bias ? 2 * c->gates : 0) + (peepholes ? 6 : 0);
	sym_int extra = op_times(o, other, units);
	/* Where there are two lists, half of the units use each. */
	sym_int acting = lists == 2 ? sym_mul(t, steps, hidden) : units;
	extra =
	    sym_add(t, extra,
		    act < 0 ? sym_unknown(t, "it has an activation that deepclock does not count")
			    : op_times(o, act, acting));
	op_cost_macs(o, macs, extra);
}
