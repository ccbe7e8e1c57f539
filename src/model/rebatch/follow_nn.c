/* follow_nn.c - layers: the items lie along the first axis, or where the layer says.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/follow.h"

static bool first_axis(follow *f, const op *o, size_t i)
{
	const items *s = follow_in(o, i);

	if (s->axis == 0)
		return true;
	follow_refuse(f, s, "it takes the items along axis 0 of '%s', which lie along axis %d",
		      o->made->in[i]->name, s->axis);
	return false;
}

void follow_first(follow *f, op *o)
{
	size_t i = (size_t)f->row->at;

	if (follow_only(f, o, i) && first_axis(f, o, i))
		follow_all(f, *follow_in(o, i));
}

/* Each of the first `at` inputs that is the same for all items is repeated along axis 0. */
void follow_first_all(follow *f, op *o)
{
	items s = {.choice = -1};
	size_t needed = (size_t)f->row->at;

	for (size_t i = 0; i < o->made->nin; i++) {
		if (!follow_has(o, i))
			continue;
		if (!first_axis(f, o, i) || !follow_join(f, &s, follow_in(o, i)))
			return;
	}
	for (size_t i = 0; i < needed; i++)
		if (op_in(o, i) && !follow_has(o, i) && !follow_spread(f, o, i, 0, &s, false))
			return;
	follow_all(f, s);
}

void follow_batchnorm(follow *f, op *o)
{
	size_t outputs = 0;

	for (size_t i = 1; i < o->made->nout; i++)
		outputs += op_out(o, i) != NULL;
	if (op_attr_int(o, "training_mode", 0) || outputs ||
	    (o->opset && o->opset < 7 && !op_attr_int(o, "is_test", 0)))
		follow_refuse(f, NULL,
			      "it is in training mode, where it normalises over all items");
	else
		follow_first(f, o);
}

void follow_maxpool(follow *f, op *o)
{
	if (op_out(o, 1))
		follow_refuse(f, NULL, "its indices count across all items");
	else
		follow_first(f, o);
}

/* X: [time, items, size], or [items, time, size] with layout 1. Outputs: Y [time, directions,
 * items, size] or [items, time, directions, size]; the last states [directions, items, size] or
 * [items, directions, size]. */
void follow_rnn(follow *f, op *o)
{
	bool first = op_attr_int(o, "layout", 0) != 0;
	int at = first ? 0 : 1;
	items s = *follow_in(o, 0);

	if (!follow_has(o, 0) || s.axis != at) {
		follow_refuse(f, &s, "it takes the items along axis %d of its input", at);
		return;
	}
	for (size_t i = 1; i < o->made->nin; i++) {
		bool state = i == 5 || i == 6, lengths = i == 4;
		int axis = state ? at : 0;
		if (!op_in(o, i))
			continue;
		if (follow_has(o, i)) {
			items t = *follow_in(o, i);
			s.choice = t.choice > s.choice ? t.choice : s.choice;
			t.axis += s.axis - axis;
			if (!(state || lengths) || !follow_equal(&t, &s)) {
				follow_refuse(f, &s, "its input '%s' holds the items elsewhere",
					      o->made->in[i]->name);
				return;
			}
		} else if ((state || lengths) && !follow_spread(f, o, i, axis, &s, false)) {
			return;
		}
	}
	for (size_t i = 0; i < o->made->nout; i++) {
		items t = s;
		t.axis = first ? 0 : i ? 1 : 2;
		follow_set(f, o, i, t);
	}
}
