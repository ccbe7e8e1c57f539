/* batch_rules_nn.c - batching rules of layers: the batch axis is the first, or defined by the
 * layer.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/batch_rules.h"

static bool first_axis(batch_propagation *f, const op *o, size_t i)
{
	const items *s = batch_rule_in(o, i);

	if (s->axis == 0)
		return true;
	batch_rule_refuse(f, s, "it takes the items along axis 0 of '%s', which are along axis %d",
			  o->made->in[i]->name, s->axis);
	return false;
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
