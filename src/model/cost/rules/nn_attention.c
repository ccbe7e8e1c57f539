/* nn_attention.c - attention, linear attention, rotary embedding, causal convolution.
 * https://onnx.ai/onnx/operators/onnx__Attention.html and related pages.
 *
 * Scaled dot-product attention (Vaswani et al., Attention Is All You Need, 2017): heads_read()
 * takes [batch, length, heads * size] and [batch, heads, length, size], and heads_cost() counts
 * both products for all pairs of queries and keys, past keys and masked pairs included.
 * com.microsoft's operators use the same functions. The bodies of FlexAttention are walked once,
 * and their operators are counted separately.
 *
 * Linear attention is a recurrence over a state matrix of key size x value size: each step adds the
 * product k v' to the state and reads q' S; a delta rule also reads k' S. So its cost grows with
 * the length, not with its square.
 *
 * The causal convolution is depthwise: one MAC for each element and tap. All sizes are symbolic; an
 * absent size makes the cost absent, with its reason.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

#include <string.h>

void heads_read(op *o, const val *v, int64_t count, sym_int *ret_batch, sym_int *ret_heads,
		sym_int *ret_len, sym_int *ret_size)
{
	if (v && v->rank == 4) {
		*ret_batch = v->dims[0];
		*ret_heads = v->dims[1];
		*ret_len = v->dims[2];
		*ret_size = v->dims[3];
		return;
	}
	if (!v || v->rank != 3) {
		*ret_batch = *ret_heads = *ret_len = *ret_size = sym_unknown(
		    o->nums, "%s", v && v->why ? v->why : "its inputs have not 3 or 4 dimensions");
		return;
	}
	*ret_batch = v->dims[0];
	*ret_len = v->dims[1];
	*ret_heads =
	    count > 0 ? sym_const(count) : sym_unknown(o->nums, "its number of heads is not known");
	*ret_size = op_share(o, v->dims[2], *ret_heads, "heads");
}

sym_int heads_past(op *o, size_t i)
{
	const val *v = op_in(o, i);

	if (!v)
		return sym_const(0);
	if (v->rank == 4)
		return v->dims[2];
	return sym_unknown(o->nums, "%s", v->why ? v->why : "its past has not 4 dimensions");
}

void heads_cost(op *o, const heads *h)
{
	sym_table *t = o->nums;

	if (!h) {
		op_cost_unknown(o, "its shapes are not known");
		return;
	}
	sym_int rows = sym_mul(t, sym_mul(t, h->batch, h->q_heads), h->q_len);
	sym_int scores = sym_mul(t, rows, h->total);
	sym_int macs = sym_mul(t, scores, sym_add(t, h->size, h->v_size));

	op_cost_macs(o, sym_add(t, macs, h->projection),
		     sym_add(t, op_times(o, h->each, scores), h->extra));
}

/* --- ai.onnx Attention --- */

typedef struct onnx_attention {
	heads h;
	sym_int kv_len, v_heads;
} onnx_attention;

/* Reads the sizes of queries, keys and values. False after op_unknown(). */
static bool attention_read(op *o, onnx_attention *a)
{
	const val *q = op_need_rank(o, 0, 3), *k = q ? op_need_rank(o, 1, 3) : NULL;
	const val *v = k ? op_need_rank(o, 2, 3) : NULL;
	int64_t q_heads = op_attr_int(o, "q_num_heads", 0);
	int64_t kv_heads = op_attr_int(o, "kv_num_heads", 0);
	sym_int batch, len;

	if (!v)
		return false;
	if (q->rank > 4 || k->rank > 4 || v->rank > 4)
		return op_unknown(o, "its inputs have not 3 or 4 dimensions");
	heads_read(o, q, q_heads, &a->h.batch, &a->h.q_heads, &a->h.q_len, &a->h.size);
	heads_read(o, k, kv_heads, &batch, &a->h.kv_heads, &a->kv_len, &len);
	heads_read(o, v, kv_heads, &batch, &a->v_heads, &len, &a->h.v_size);
	a->h.total = sym_add(o->nums, heads_past(o, 4), a->kv_len);
	a->h.projection = a->h.extra = sym_const(0);
	return true;
}

static void shape_attention(op *o)
{
	onnx_attention a;

	if (!attention_read(o, &a))
		return;
	const val *q = op_in(o, 0), *k = op_in(o, 1), *v = op_in(o, 2);
	sym_int wide[] = {a.h.batch, a.h.q_heads, a.h.q_len, a.h.v_size};
	sym_int flat[] = {a.h.batch, a.h.q_len, sym_mul(o->nums, a.h.q_heads, a.h.v_size)};
	sym_int key[] = {k->dims[0], a.h.kv_heads, a.h.total,
			 k->rank == 4 ? k->dims[3]
				      : op_share(o, k->dims[2], a.h.kv_heads, "heads")};
	sym_int value[] = {v->dims[0], a.v_heads, a.h.total, a.h.v_size};
	sym_int scores[] = {a.h.batch, a.h.q_heads, a.h.q_len, a.h.total};
	op_set(o, 0, q->dtype, q->rank, q->rank == 4 ? wide : flat);
	op_set(o, 1, k->dtype, 4, key);
	op_set(o, 2, v->dtype, 4, value);
	op_set(o, 3, q->dtype, 4, scores);
}

/* FLOPs for each score: the scale, the mask and the five of a softmax; a cap divides, takes tanh
 * and multiplies. */
static void cost_attention(op *o)
{
	onnx_attention a;

	if (!attention_read(o, &a)) {
		op_cost_unknown(o, "the shapes of its inputs are not known");
		return;
	}
	bool masked = op_in(o, 3) || op_in(o, 6) || op_attr_int(o, "is_causal", 0) ||
		      op_attr_int(o, "left_window_size", -1) >= 0 ||
		      op_attr_int(o, "right_window_size", -1) >= 0;
	a.h.each = 1 + 5 + (op_attr_float(o, "softcap", 0) > 0 ? 3 : 0) + masked;
	heads_cost(o, &a.h);
}

/* --- ai.onnx.preview FlexAttention --- */

static void flex_body(op *o, const char *name, const sym_int *dims, int64_t dtype)
{
	const onnx_attribute *a = op_attr(o, name);
	val *scores, **outs;
	size_t nouts;

	if (!a || !a->g)
		return;
	scores = op_like(o, NULL);
	if (!scores)
		return;
	scores->name = name;
	scores->kind = VAL_TENSOR;
	scores->dtype = dtype;
	scores->rank = 4;
	scores->why = NULL;
	scores->dims = op_dims(o, 4);
	for (int i = 0; i < 4; i++)
		scores->dims[i] = dims[i];
	op_body(o, a->g, &scores, 1, sym_const(1), name, &outs, &nouts);
}

static void shape_flex_attention(op *o)
{
	const val *q = op_need_rank(o, 0, 4), *k = q ? op_need_rank(o, 1, 4) : NULL;
	const val *v = k ? op_need_rank(o, 2, 4) : NULL;

	if (!v)
		return;
	sym_int out[] = {q->dims[0], q->dims[1], q->dims[2], v->dims[3]};
	sym_int scores[] = {q->dims[0], q->dims[1], q->dims[2], k->dims[2]};
	int64_t precision =
	    op_attr_int(o, "softmax_precision", q->dtype == ONNX_DOUBLE ? ONNX_DOUBLE : ONNX_FLOAT);
	op_set(o, 0, q->dtype, 4, out);
	flex_body(o, "score_mod", scores, precision);
	flex_body(o, "prob_mod", scores, precision);
}

static void cost_flex_attention(op *o)
{
	onnx_attention a;

	if (!attention_read(o, &a)) {
		op_cost_unknown(o, "the shapes of its inputs are not known");
		return;
	}
	a.h.total = a.kv_len;
	a.h.each = 1 + 5;
	heads_cost(o, &a.h);
}

/* --- rotary embedding --- */

/* Counts two products and a sum for each rotated element. */
void cost_rotary(op *o)
{
	const val *x = op_in(o, 0);
	int64_t rotated = op_attr_int(o, "rotary_embedding_dim", 0);
	sym_int elements = op_elements(o, x), batch, count, len, size;

	if (rotated > 0) {
		heads_read(o, x, op_attr_int(o, "num_heads", 0), &batch, &count, &len, &size);
		elements = op_times(o, rotated, op_share(o, elements, size, "head size"));
	}
	op_cost_flops(o, op_times(o, 3, elements));
}

/* --- causal convolution with state --- */

void shape_causal_conv(op *o)
{
	const val *x = op_need_rank(o, 0, 3), *w = x ? op_need_rank(o, 1, 3) : NULL;
	int64_t kept = op_attr_int(o, "state_window", 0);
	bool last = op_flag(o, "channels_last");
	sym_int dims[4];
	int rank = 0;

	if (!x)
		return;
	op_same(o, 0, x);
	if (!w || x->rank != 3 || w->rank != 3) {
		op_unknown(o, "its state has an unsupported shape");
		return;
	}
	sym_int length =
	    op_times(o, op_attr_int(o, "dilation", 1), sym_sub(o->nums, w->dims[2], sym_const(1)));
	if (kept > 0)
		dims[rank++] = sym_const(kept);
	dims[rank++] = x->dims[0];
	dims[rank++] = last ? length : x->dims[1];
	dims[rank++] = last ? x->dims[2] : length;
	op_set(o, 1, x->dtype, rank, dims);
}

void cost_causal_conv(op *o)
{
	const val *w = op_in(o, 1);
	sym_int elements = op_elements(o, op_in(o, 0)), taps;

	if (!w || w->rank < 3) {
		op_cost_unknown(o, "the shape of its weights is not known");
		return;
	}
	taps = op_product(o, w->dims + 2, (size_t)w->rank - 2);
	op_cost_macs(o, sym_mul(o->nums, elements, taps),
		     sym_add(o->nums, activation_cost(o, "activation", elements),
			     op_in(o, 2) ? elements : sym_const(0)));
}

/* --- linear attention --- */

typedef struct linear_sizes {
	sym_int batch, steps, q_heads, kv_heads, size, v_size;
} linear_sizes;

static bool linear_read(op *o, linear_sizes *l)
{
	const val *q = op_need_rank(o, 0, 3), *k = q ? op_need_rank(o, 1, 3) : NULL;
	const val *v = k ? op_need_rank(o, 2, 3) : NULL;
	int64_t q_heads = op_attr_int(o, "q_num_heads", 0);
	int64_t kv_heads = op_attr_int(o, "kv_num_heads", 0);

	if (!v)
		return false;
	if (q->rank != 3 || v->rank != 3 || q_heads < 1 || kv_heads < 1)
		return op_unknown(o, "its heads are not known");
	*l = (linear_sizes){q->dims[0],
			    q->dims[1],
			    sym_const(q_heads),
			    sym_const(kv_heads),
			    op_share(o, q->dims[2], sym_const(q_heads), "heads"),
			    op_share(o, v->dims[2], sym_const(kv_heads), "heads")};
	return true;
}

void shape_linear_attention(op *o)
{
	const val *q = op_in(o, 0), *past = op_in(o, 3);
	int64_t kept = op_attr_int(o, "state_window", 0);
	linear_sizes l;

	if (!linear_read(o, &l))
		return;
	/* Where there are fewer heads of queries than of values, several heads of values share one
	 * query. */
	sym_int out[] = {l.batch, l.steps,
			 sym_mul(o->nums, sym_max(o->nums, l.q_heads, l.kv_heads), l.v_size)};
	sym_int state[] = {sym_const(kept), l.batch, l.kv_heads, l.size, l.v_size};
	op_set(o, 0, q->dtype, 3, out);
	op_set(o, 1, past && past->dtype ? past->dtype : q->dtype, kept > 0 ? 5 : 4,
	       kept > 0 ? state : state + 1);
}

/* Every step adds the product k v' to the state S and reads q' S from it; a delta rule reads k' S
 * before. decay: the input of the gate. */
static void linear_cost(op *o, const linear_sizes *l, size_t decay)
{
	const char *rule = op_attr_text(o, "update_rule");
	bool delta = !rule || strstr(rule, "delta"), gated = !rule || strstr(rule, "gated");
	sym_table *t = o->nums;
	sym_int steps = sym_mul(t, l->batch, l->steps), state = sym_mul(t, l->size, l->v_size);
	sym_int readers = sym_mul(t, steps, sym_max(t, l->q_heads, l->kv_heads));
	sym_int writers = sym_mul(t, steps, l->kv_heads);
	sym_int macs = sym_mul(t, state, sym_add(t, readers, op_times(o, delta ? 2 : 1, writers)));
	/* FLOPs: the scale of the values read; with a delta rule v - k' S and its rate; with a gate
	 * the exp of the decay, times the state */
	sym_int extra = sym_mul(t, readers, l->v_size);
	if (delta)
		extra = sym_add(t, extra, op_times(o, 2, sym_mul(t, writers, l->v_size)));
	if (gated)
		extra = sym_add(
		    t, extra,
		    sym_add(t, sym_mul(t, writers, state), op_elements(o, op_in(o, decay))));
	op_cost_macs(o, macs, extra);
}

void cost_linear_attention(op *o)
{
	linear_sizes l;

	if (linear_read(o, &l))
		linear_cost(o, &l, 4);
	else
		op_cost_unknown(o, "the shapes of its inputs are not known");
}

/* --- com.microsoft GatedDeltaNet --- */

/* Reads its sizes. The tokens are one axis, or a batch and a length. Without keys and values the
 * query holds all three side by side, and the state [batch, value heads, value size, key size]
 * has the sizes. ret_lead: axes of the tokens. *ret_batch: sequences. False after op_unknown(). */
static bool delta_net_read(op *o, linear_sizes *l, int *ret_lead, sym_int *ret_batch)
{
	const val *q = op_need_rank(o, 0, 2), *k = op_in(o, 1), *v = op_in(o, 2);
	const val *lengths = op_in(o, 3), *state = op_in(o, 6);
	sym_table *t = o->nums;

	if (!q)
		return false;
	const int lead = q->rank - (k ? 2 : 1);
	if (lead < 1 || lead > 2 || (k ? !v || v->rank != q->rank : !state || state->rank != 4))
		return op_unknown(o, "its query, key, value or state do not fit");
	l->batch = lead == 2 ? q->dims[0] : sym_const(1);
	l->steps = q->dims[lead - 1];
	l->kv_heads = k ? v->dims[lead] : state->dims[1];
	l->v_size = k ? v->dims[lead + 1] : state->dims[2];
	l->size = k ? q->dims[lead + 1] : state->dims[3];
	l->q_heads = k ? q->dims[lead]
		       : op_share(o, sym_sub(t, q->dims[lead], sym_mul(t, l->kv_heads, l->v_size)),
				  op_times(o, 2, l->size), "keys");
	*ret_lead = lead;
	*ret_batch = state && state->rank == 4	     ? state->dims[0]
		     : lead == 2		     ? q->dims[0]
		     : lengths && lengths->rank == 1 ? sym_sub(t, lengths->dims[0], sym_const(1))
						     : sym_const(1);
	return true;
}

void shape_delta_net(op *o)
{
	const val *q = op_in(o, 0), *k = op_in(o, 1);
	const int64_t slots = op_attr_int(o, "state_update_capacity", 0);
	sym_table *t = o->nums;
	sym_int out[4], batch;
	linear_sizes l;
	int lead;

	if (!delta_net_read(o, &l, &lead, &batch))
		return;
	for (int i = 0; i < lead; i++)
		out[i] = q->dims[i];
	out[lead] = sym_max(t, l.q_heads, l.kv_heads);
	out[lead + 1] = l.v_size;
	sym_int state[] = {batch, l.kv_heads, l.v_size, l.size};
	const sym_int k_heads = k && k->rank == q->rank ? k->dims[lead] : l.q_heads;
	const sym_int written =
	    sym_add(t, sym_mul(t, k_heads, l.size), sym_mul(t, l.kv_heads, l.v_size));
	sym_int update[] = {batch, op_times(o, slots, sym_add(t, l.kv_heads, written))};
	op_set(o, 0, q->dtype, lead + 2, out);
	op_set(o, 1, op_type(o, 6, 0), 4, state);
	op_set(o, 2, 0, 2, update);
}

void cost_delta_net(op *o)
{
	linear_sizes l;
	sym_int batch;
	int lead;

	if (!delta_net_read(o, &l, &lead, &batch)) {
		op_cost_unknown(o, "the shapes of its inputs are not known");
		return;
	}
	linear_cost(o, &l, 4);
	if (op_flag(o, "qk_l2_norm"))
		op_cost_more(o, op_times(o, 8,
					 sym_mul(o->nums, sym_mul(o->nums, l.batch, l.steps),
						 sym_mul(o->nums, l.q_heads, l.size))));
}

#define HOW_ATTENTION                                                                             \
	"MACs: batch x query heads x queries x keys (past ones too, masked or not) x (head size " \
	"+ value head size); FLOPs: 2 x MACs, per score 1 for the scale, 1 for a mask, 3 for a "  \
	"softcap, 5 for the softmax"

static const op_row nn_attention_rows[] = {
    {"Attention", shape_attention, cost_attention, .roles = "...ccc.", .how = HOW_ATTENTION},
    {"CausalConvWithState", shape_causal_conv, cost_causal_conv, .roles = ".pp.",
     .how = "MACs: elements of the input x taps; FLOPs: 2 x MACs, bias 1, activation"},
    {"LinearAttention", shape_linear_attention, cost_linear_attention,
     .how = "MACs per token: key size x value size for each head that reads the state, "
	    "and for each that is written (twice with a delta rule)"},
    {"RotaryEmbedding", shape_same_first, cost_rotary, .roles = ".ccc",
     .how = "FLOPs: 3 per rotated element (*, *, +)"},
};

const op_family op_family_nn_attention = {"", nn_attention_rows,
					  sizeof nn_attention_rows / sizeof *nn_attention_rows};

static const op_row preview[] = {
    {"FlexAttention", shape_flex_attention, cost_flex_attention,
     .how = HOW_ATTENTION "; its bodies count by themselves"},
};

const op_family op_family_preview = {"ai.onnx.preview", preview, sizeof preview / sizeof *preview};
