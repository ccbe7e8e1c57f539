/* batch_rules_nn.c - batching rules of layers: the batch axis is the first, or defined by the
 * layer. Of attention each input has its kind in the row (batch_rule_slots()), after
 * https://onnx.ai/onnx/operators/onnx__Attention.html and ONNX Runtime's ContribOperators.md.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_rules.h"

#include <string.h>

static bool first_axis(batch_propagation *f, const op *o, size_t i)
{
	const items *s = batch_rule_in(o, i);

	if (s->axis == 0)
		return true;
	return batch_rule_refuse(f, s,
				 "it takes the items along axis 0 of '%s', which are along axis %d",
				 o->made->in[i]->name, s->axis);
}

void batch_rule_first(batch_propagation *f, op *o)
{
	size_t i = (size_t)f->row->at;

	if (batch_rule_only(f, o, i) && first_axis(f, o, i))
		batch_rule_all(f, *batch_rule_in(o, i));
}

/* Each of the first `at` inputs that is the same for all items is repeated along axis 0. */
void batch_rule_first_all(batch_propagation *f, op *o)
{
	items s = {.choice = -1};
	size_t needed = (size_t)f->row->at;

	for (size_t i = 0; i < o->made->nin; i++) {
		if (!batch_rule_has(o, i))
			continue;
		if (!first_axis(f, o, i) || !batch_rule_join(f, &s, batch_rule_in(o, i)))
			return;
	}
	for (size_t i = 0; i < needed; i++)
		if (op_in(o, i) && !batch_rule_has(o, i) &&
		    !batch_rule_spread(f, o, i, 0, &s, false))
			return;
	batch_rule_all(f, s);
}

void batch_rule_batchnorm(batch_propagation *f, op *o)
{
	size_t outputs = 0;

	for (size_t i = 1; i < o->made->nout; i++)
		outputs += op_out(o, i) != NULL;
	if (op_attr_int(o, "training_mode", 0) || outputs ||
	    (o->opset && o->opset < 7 && !op_attr_int(o, "is_test", 0)))
		batch_rule_refuse(f, NULL,
				  "it is in training mode, where it normalises over all items");
	else
		batch_rule_first(f, o);
}

void batch_rule_maxpool(batch_propagation *f, op *o)
{
	if (op_out(o, 1))
		batch_rule_refuse(f, NULL, "its indices count across all items");
	else
		batch_rule_first(f, o);
}

/* X: [time, items, size], or [items, time, size] with layout 1. Outputs: Y [time, directions,
 * items, size] or [items, time, directions, size]; the last states [directions, items, size] or
 * [items, directions, size]. */
void batch_rule_rnn(batch_propagation *f, op *o)
{
	bool first = op_attr_int(o, "layout", 0) != 0;
	int at = first ? 0 : 1;
	items s = *batch_rule_in(o, 0);

	if (!batch_rule_has(o, 0) || s.axis != at) {
		batch_rule_refuse(f, &s, "it takes the items along axis %d of its input", at);
		return;
	}
	for (size_t i = 1; i < o->made->nin; i++) {
		bool state = i == 5 || i == 6, lengths = i == 4;
		int axis = state ? at : 0;
		if (!op_in(o, i))
			continue;
		if (batch_rule_has(o, i)) {
			items t = *batch_rule_in(o, i);
			s.choice = t.choice > s.choice ? t.choice : s.choice;
			t.axis += s.axis - axis;
			if (!(state || lengths) || !batch_rule_equal(&t, &s)) {
				batch_rule_refuse(f, &s, "its input '%s' holds the items elsewhere",
						  o->made->in[i]->name);
				return;
			}
		} else if ((state || lengths) && !batch_rule_spread(f, o, i, axis, &s, false)) {
			return;
		}
	}
	for (size_t i = 0; i < o->made->nout; i++) {
		items t = s;
		t.axis = first ? 0 : i ? 1 : 2;
		batch_rule_set(f, o, i, t);
	}
}

/* The kinds of the inputs of attention, in `slots` of a row. */
enum {
	SLOT_ITEMS = 'i',     /* along axis 0, repeated if it is the same for all items */
	SLOT_PAST = 'a',      /* along axis 1: keys and values of the past in one tensor */
	SLOT_BIAS = 'm',      /* along axis 0 of 4, where it broadcasts */
	SLOT_ROW = 'r',	      /* along axis 0, where it broadcasts */
	SLOT_POSITIONS = 'p', /* as items, or one offset for all of them */
	SLOT_CACHE = 'c', /* the same for all items if input 3 has their positions, else as items */
	SLOT_SHARED = 's' /* the same for all items */
};

/* Which axis holds the items of input i; -1: none may, or none has to. */
static int slot_axis(const op *o, size_t i, char slot)
{
	const val *v = op_in(o, i);

	switch (slot) {
	case SLOT_ITEMS:
	case SLOT_ROW:
		return 0;
	case SLOT_PAST:
		return 1;
	case SLOT_POSITIONS:
		return v->rank == 1 ? -1 : 0;
	case SLOT_CACHE:
		return op_in(o, 3) ? -1 : 0;
	case SLOT_BIAS:
		return v->rank == 4 ? 0 : -1;
	default:
		return -1;
	}
}

void batch_rule_slots(batch_propagation *f, op *o)
{
	const size_t known = strlen(f->row->slots);
	items s = {.choice = -1};

	for (size_t i = 0; i < o->made->nin; i++) {
		if (!batch_rule_has(o, i))
			continue;
		const int axis = i < known ? slot_axis(o, i, f->row->slots[i]) : -1;
		items t = *batch_rule_in(o, i);
		if (axis < 0 || t.axis != axis) {
			batch_rule_refuse(f, &t, "its input '%s' holds the items along axis %d",
					  o->made->in[i]->name, t.axis);
			return;
		}
		t.axis = 0;
		if (!batch_rule_join(f, &s, &t))
			return;
	}
	for (size_t i = 0; i < o->made->nin && i < known; i++) {
		const char slot = f->row->slots[i];
		const int axis = op_in(o, i) ? slot_axis(o, i, slot) : -1;
		if (axis >= 0 && !batch_rule_has(o, i) &&
		    !batch_rule_spread(f, o, i, axis, &s, slot == SLOT_BIAS || slot == SLOT_ROW))
			return;
	}
	for (size_t i = 0; i < o->made->nout; i++) {
		items t = s;
		t.axis = i == 1 && strchr(f->row->slots, SLOT_PAST) ? 1 : 0;
		batch_rule_set(f, o, i, t);
	}
}
