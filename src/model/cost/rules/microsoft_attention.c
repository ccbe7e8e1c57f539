/* microsoft_attention.c - ONNX Runtime's attention operators: shapes and MACs.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * All dense variants are scaled dot-product attention (Vaswani et al., Attention Is All You Need,
 * 2017). A read_*() function brings each layout (packed projections, [batch, length, heads * size],
 * [batch, heads, length, size]) into one struct `heads`, and heads_cost() in nn_attention.c counts:
 * batch x heads x queries x keys x (head size + value size), the projections, and a softmax for
 * each score. Keys include the past keys; masked scores count too. The parameters of the row have
 * the indices of the inputs.
 *
 * The present is the past and the new keys, or has the length of the buffer that both share. A
 * length that depends on values is a new symbol in a shape, and absent with a reason in a cost.
 * Packed, paged and sparse variants do work that depends on values: they get shapes, and a cost
 * that is absent.
 *
 * Shape and cost rules read the same sizes again instead of sharing state: rules have none.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

/* FLOPs for each score: the scale, and the five of a softmax. */
#define SCORE_FLOPS (1 + 5)

static sym_int none_of(op *o, const val *v, const char *otherwise)
{
	return sym_unknown(o->nums, "%s", v && v->why ? v->why : otherwise);
}

/* --- attention with the input projection --- */

/* The parameters of a row of an attention that projects its input: indices of the inputs. */
typedef struct projected {
	size_t weights, bias, mask, past, more_bias, past_length;
	size_t typed; /* the input that has the output's type */
} projected;
static const projected projected_plain = {1, 2, 3, 4, 5, 6, 0};
static const projected projected_quantised = {1, 2, 5, 8, OP_NO_INPUT, OP_NO_INPUT, 3};

typedef struct projection {
	const val *x, *w;
	sym_int hidden, v_hidden; /* of queries and keys, of values */
	heads h;
	bool shared; /* past and present share one buffer, which may be longer than its content */
} projection;

/* Reads an attention with its projection. False after op_unknown(). */
static bool read_projection(op *o, projection *p)
{
	const projected *f = o->row->form;
	size_t n = 0;
	const int64_t *sizes = op_attr_ints(o, "qkv_hidden_sizes", &n);
	int64_t count = op_attr_int(o, "num_heads", 0);
	const val *past = op_in(o, f->past);

	p->x = op_need_rank(o, 0, 3);
	p->w = p->x ? op_need_rank(o, f->weights, 2) : NULL;
	if (!p->w)
		return false;
	if (p->x->rank != 3 || p->w->rank != 2 || count < 1)
		return op_unknown(o, "its input, weights or heads do not fit an attention");
	sym_int third = op_share(o, p->w->dims[1], sym_const(3), "projections");
	p->hidden = sizes && n == 3 ? sym_const(sizes[0]) : third;
	p->v_hidden = sizes && n == 3 ? sym_const(sizes[2]) : third;
	p->shared = op_flag(o, "past_present_share_buffer");
	heads *h = &p->h;
	h->batch = p->x->dims[0];
	h->q_len = p->x->dims[1];
	h->q_heads = h->kv_heads = sym_const(count);
	h->size = op_share(o, p->hidden, h->q_heads, "heads");
	h->v_size = op_share(o, p->v_hidden, h->q_heads, "heads");
	sym_int before = sym_const(0), stated;
	if (past && p->shared)
		before = op_int_run(o, f->past_length, &stated)
			     ? stated
			     : sym_unknown(o->nums, "how long its past is depends on values");
	else if (past)
		before = past->rank == 5 ? past->dims[3]
					 : none_of(o, past, "its past has not 5 dimensions");
	h->total = sym_add(o->nums, before, h->q_len);
	sym_int rows = sym_mul(o->nums, h->batch, h->q_len);
	sym_int projected_size = sym_mul(o->nums, rows, p->w->dims[1]);
	h->projection = sym_mul(o->nums, projected_size, p->w->dims[0]);
	h->extra = op_in(o, f->bias) ? projected_size : sym_const(0);
	if (op_attr_int(o, "do_rotary", 0))
		h->extra =
		    sym_add(o->nums, h->extra, op_times(o, 6, sym_mul(o->nums, rows, p->hidden)));
	h->each = SCORE_FLOPS + (op_in(o, f->mask) || op_flag(o, "unidirectional")) +
		  (op_has(o, f->more_bias));
	return true;
}

static void shape_projected(op *o)
{
	const projected *f = o->row->form;
	projection p;
	const val *past = op_in(o, f->past), *typed = op_in(o, f->typed);

	if (!read_projection(o, &p))
		return;
	int64_t dtype = typed ? typed->dtype : 0;
	sym_int out[] = {p.h.batch, p.h.q_len, p.v_hidden};
	sym_int present[] = {sym_const(2), p.h.batch, p.h.q_heads, p.h.total, p.h.size};
	op_set(o, 0, dtype, 3, out);
	if (past && p.shared)
		op_same(o, 1, past);
	else
		op_set(o, 1, dtype, 5, present);
}

static void cost_projected(op *o)
{
	projection p;

	heads_cost(o, read_projection(o, &p) ? &p.h : NULL);
}

static void shape_qordered_attention(op *o)
{
	const val *x = op_need_rank(o, 0, 3), *v = x ? op_need_rank(o, 7, 2) : NULL;

	if (!v)
		return;
	sym_int out[] = {x->dims[0], x->dims[1], v->dims[1]};
	op_set(o, 0, x->dtype, 3, out);
}

static void cost_qordered_attention(op *o)
{
	const val *x = op_in(o, 0), *q = op_in(o, 5), *v = op_in(o, 7);
	int64_t count = op_attr_int(o, "num_heads", 0);
	heads h;

	if (!x || x->rank != 3 || !q || q->rank != 2 || !v || v->rank != 2 || count < 1) {
		op_cost_unknown(o, "its shapes are not known");
		return;
	}
	sym_int columns = sym_add(o->nums, op_times(o, 2, q->dims[1]), v->dims[1]);
	sym_int rows = sym_mul(o->nums, x->dims[0], x->dims[1]);
	h = (heads){.batch = x->dims[0],
		    .q_heads = sym_const(count),
		    .kv_heads = sym_const(count),
		    .q_len = x->dims[1],
		    .total = x->dims[1],
		    .size = op_share(o, q->dims[1], sym_const(count), "heads"),
		    .v_size = op_share(o, v->dims[1], sym_const(count), "heads"),
		    .each = SCORE_FLOPS + (op_has(o, 17)),
		    .projection = sym_mul(o->nums, sym_mul(o->nums, rows, x->dims[2]), columns),
		    .extra = sym_mul(o->nums, rows, columns)};
	heads_cost(o, &h);
}

/* --- attention of given queries, keys and values --- */

typedef struct multi {
	heads h;
	sym_int new_len; /* of keys that are not past */
	size_t past;
	bool shared;
} multi;

/* A query [b, s, heads, 3, size] holds queries, keys and values, and a key [b, s, heads, 2, size]
 * holds keys and values. A value of four dimensions is [b, heads, s, size]. A query of three
 * dimensions without keys holds all three side by side. */
static bool read_multi(op *o, multi *m)
{
	const val *q = op_need_rank(o, 0, 3), *k = op_in(o, 1), *v = op_in(o, 2);
	int64_t count = op_attr_int(o, "num_heads", 0);
	heads *h = &m->h;
	sym_table *t = o->nums;
	sym_int ignored;
	sym_int stated;

	if (!q)
		return false;
	if (count < 1 || (q->rank != 3 && q->rank != 5) || (k && k->rank < 3))
		return op_unknown(o, "its query, key or heads do not fit an attention");
	h->q_heads = h->kv_heads = sym_const(count);
	h->batch = q->dims[0];
	h->q_len = m->new_len = q->dims[1];
	if (q->rank == 5) {
		h->size = h->v_size = q->dims[4];
	} else if (!k) {
		sym_int third = op_share(o, q->dims[2], sym_const(3), "projections");
		h->size = h->v_size = op_share(o, third, h->q_heads, "heads");
	} else {
		h->size = op_share(o, q->dims[2], h->q_heads, "heads");
	}
	if (q->rank == 3 && k && k->rank == 5) {
		m->new_len = k->dims[1];
		h->v_size = k->dims[4];
	} else if (q->rank == 3 && k) {
		heads_read(o, k, count, &ignored, &ignored, &m->new_len, &ignored);
		heads_read(o, v, count, &ignored, &ignored, &ignored, &h->v_size);
	}
	const val *past = op_in(o, m->past);
	m->shared =
	    op_attr_int(o, "past_present_share_buffer", 0) || (m->past == 6 && op_has(o, 8));
	sym_int before = heads_past(o, m->past);
	if (past && m->shared)
		before = op_int_run(o, m->past + 2, &stated)
			     ? stated
			     : sym_unknown(t, "how long its past is depends on values");
	/* The keys of a cross attention are [b, heads, s, size]: the past is not added to them. */
	h->total = k && k->rank == 4 ? m->new_len : sym_add(t, before, m->new_len);
	h->projection = h->extra = sym_const(0);
	h->each = SCORE_FLOPS + (op_flag(o, "unidirectional"));
	return true;
}

/* DecoderMaskedMultiHeadAttention has its bias at the end, so that its past is one input earlier.
 */
static bool read_either(op *o, multi *m)
{
	bool decoder = o->node->op[0] == 'D';
	const val *bias;

	m->past = decoder ? 5 : 6;
	if (!read_multi(o, m))
		return false;
	bias = op_in(o, decoder ? 10 : 3);
	m->h.each += (op_has(o, decoder ? 3 : 4)) + (op_has(o, decoder ? 4 : 5));
	if (bias) {
		sym_table *t = o->nums;
		sym_int width = sym_add(t, m->h.size, m->h.v_size);
		sym_int keys = sym_mul(t, m->new_len, width);
		sym_int all = sym_add(t, keys, sym_mul(t, m->h.q_len, m->h.size));
		m->h.extra = sym_mul(t, sym_mul(t, m->h.batch, m->h.q_heads), all);
	}
	return true;
}

static void shape_multi_head(op *o)
{
	const val *q = op_in(o, 0), *past;
	multi m;

	if (!read_either(o, &m))
		return;
	heads *h = &m.h;
	past = op_in(o, m.past);
	sym_int out[] = {h->batch, h->q_len, sym_mul(o->nums, h->q_heads, h->v_size)};
	sym_int key[] = {h->batch, h->q_heads, h->total, h->size};
	sym_int value[] = {h->batch, h->q_heads, h->total, h->v_size};
	sym_int scores[] = {h->batch, h->q_heads, h->q_len, h->total};
	op_set(o, 0, q->dtype, 3, out);
	if (past && m.shared) {
		op_same(o, 1, past);
		op_same(o, 2, op_in(o, m.past + 1) ? op_in(o, m.past + 1) : past);
	} else {
		op_set(o, 1, q->dtype, 4, key);
		op_set(o, 2, q->dtype, 4, value);
	}
	/* The engine chooses its type, which is known only from the model's declarations. */
	op_set(o, 3, 0, 4, scores);
}

static void cost_multi_head(op *o)
{
	multi m;

	heads_cost(o, read_either(o, &m) ? &m.h : NULL);
}

/* --- grouped queries --- */

static bool read_grouped(op *o, heads *h)
{
	const val *q = op_need_rank(o, 0, 3), *k = op_in(o, 1);
	int64_t count = op_attr_int(o, "num_heads", 0), kv = op_attr_int(o, "kv_num_heads", 0);
	sym_int total;

	if (!q)
		return false;
	if (q->rank != 3 || count < 1 || kv < 1)
		return op_unknown(o, "its query or heads do not fit an attention");
	h->batch = q->dims[0];
	h->q_len = q->dims[1];
	h->q_heads = sym_const(count);
	h->kv_heads = sym_const(kv);
	/* Without an input for keys, the query holds the queries, then keys and values. */
	sym_int all = sym_add(o->nums, h->q_heads, op_times(o, 2, h->kv_heads));
	h->size = h->v_size = op_share(o, q->dims[2], k ? h->q_heads : all, "heads");
	h->total = op_int_run(o, 6, &total)
		       ? total
		       : sym_unknown(o->nums, "its total sequence length depends on values");
	h->projection = sym_const(0);
	h->each = SCORE_FLOPS + (op_attr_int(o, "causal", 1) != 0) +
		  (op_attr_float(o, "softcap", 0) > 0 ? 3 : 0) + (op_has(o, 10));
	sym_int rows = sym_mul(o->nums, sym_mul(o->nums, h->batch, h->q_len), h->size);
	sym_int turned = sym_mul(o->nums, rows, sym_add(o->nums, h->q_heads, h->kv_heads));
	h->extra =
	    op_times(o, (op_attr_int(o, "do_rotary", 0) ? 3 : 0) + (op_in(o, 14) ? 4 : 0), turned);
	return true;
}

static void grouped_present(op *o, const heads *h, size_t i)
{
	const val *past = op_in(o, i + 2), *q = op_in(o, 0);
	bool evicts = op_flag(o, "sliding_window_cache");
	sym_int dims[] = {h->batch, h->kv_heads, h->total, h->size};

	if (past && evicts) {
		op_same(o, i, past);
		return;
	}
	/* The present has the length of the past's buffer, or of its content, whichever is
	 * longer. */
	if (sym_unknown_reason(h->total))
		dims[2] = op_fresh(o, "how long the sequence is by now");
	else if (past && past->rank == 4)
		dims[2] = sym_max(o->nums, past->dims[2], h->total);
	else if (past)
		dims[2] =
		    sym_unknown(o->nums, "%s", past->why ? past->why : "its past is not known");
	/* The last dimension of a packed 4-bit cache is shorter: the past's is taken. */
	if (past && past->rank == 4 &&
	    (sym_known(past->dims[3]) || op_attr_int(o, "kv_cache_bit_width", 0)))
		dims[3] = past->dims[3];
	op_set(o, i, past && past->dtype ? past->dtype : q->dtype, 4, dims);
}

static void shape_group_query(op *o)
{
	const val *q = op_in(o, 0);
	heads h;

	if (!read_grouped(o, &h))
		return;
	sym_int out[] = {h.batch, h.q_len, sym_mul(o->nums, h.q_heads, h.size)};
	sym_int scores[] = {
	    h.batch, h.q_heads, h.q_len,
	    sym_unknown_reason(h.total) ? op_fresh(o, "how long the sequence is by now") : h.total};
	op_set(o, 0, q->dtype, 3, out);
	grouped_present(o, &h, 1);
	grouped_present(o, &h, 2);
	op_set(o, 3, q->dtype, 4, scores);
}

static void cost_group_query(op *o)
{
	heads h;

	heads_cost(o, read_grouped(o, &h) ? &h : NULL);
}

/* --- attention whose cost depends on values --- */

static void shape_packed_attention(op *o)
{
	const val *x = op_need_rank(o, 0, 2), *w = x ? op_need_rank(o, 1, 2) : NULL;
	size_t n = 0;
	const int64_t *sizes = op_attr_ints(o, "qkv_hidden_sizes", &n);

	if (!w)
		return;
	sym_int out[] = {x->dims[0], sizes && n == 3
					 ? sym_const(sizes[2])
					 : op_share(o, w->dims[1], sym_const(3), "projections")};
	op_set(o, 0, x->dtype, 2, out);
}

static void shape_packed_multi_head(op *o)
{
	const val *q = op_need_rank(o, 0, 2), *v = op_in(o, 2);

	if (!q)
		return;
	sym_int out[] = {q->dims[0], sym_unknown(o->nums, "the size of its values is not known")};
	if (q->rank == 4)
		out[1] = sym_mul(o->nums, q->dims[1], q->dims[3]);
	else if (v && v->rank == 2)
		out[1] = v->dims[1];
	op_set(o, 0, q->dtype, 2, out);
}

/* Paged and sparse attention update the cache in place. */
static void shape_cached_attention(op *o)
{
	const val *q = op_need_rank(o, 0, 2), *k = op_in(o, 1);
	int64_t count = op_attr_int(o, "num_heads", 0), kv = op_attr_int(o, "kv_num_heads", 0);
	int64_t narrow = op_attr_int(o, "v_head_size", 0);

	if (!q)
		return;
	if (q->rank > 3 || count < 1 || kv < 1 || count > INT32_MAX || kv > INT32_MAX) {
		op_unknown(o, "its query or heads do not fit an attention");
		return;
	}
	sym_int *dims = op_copy_dims(o, q, 0);
	sym_int size =
	    op_share(o, q->dims[q->rank - 1], sym_const(k ? count : count + 2 * kv), "heads");
	dims[q->rank - 1] = op_times(o, count, narrow > 0 ? sym_const(narrow) : size);
	op_set(o, 0, q->dtype, q->rank, dims);
	for (size_t i = 1; i < 3; i++)
		if (op_in(o, i + 2))
			op_same(o, i, op_in(o, i + 2));
	op_unknown(o, "it has no cache");
}

static void shape_decoder_attention(op *o)
{
	const val *q = op_need_rank(o, 0, 3);
	sym_int count = sym_const(op_attr_int(o, "num_heads", 0));

	if (!q)
		return;
	sym_int cache[] = {q->dims[1], count, op_fresh(o, "how long its cache is by now"),
			   op_share(o, q->dims[2], count, "heads")};
	op_same(o, 0, q);
	op_set(o, 1, q->dtype, 4, cache);
	op_set(o, 2, q->dtype, 4, cache);
}

/* --- position biases --- */

static void shape_relative_bias(op *o)
{
	const val *table = op_need_rank(o, 0, 2);
	sym_int q, k;

	if (!table)
		return;
	sym_int dims[] = {sym_const(1), table->dims[1],
			  op_int(o, 1, &q) ? q : op_fresh(o, "the length of the query"),
			  op_int(o, 2, &k) ? k : op_fresh(o, "the length of the key")};
	op_set(o, 0, table->dtype, 4, dims);
}

static void shape_gated_bias(op *o)
{
	const val *q = op_need_rank(o, 0, 2), *offset = op_in(o, 6);
	const val *batched = offset && offset->rank == 2 ? offset : q;
	sym_int count = sym_const(op_attr_int(o, "num_heads", 0));

	if (!q)
		return;
	if (q->rank != 3 && batched == q) {
		op_unknown(o, "its query has %d dimensions, not 3", q->rank);
		return;
	}
	sym_int dims[] = {batched->dims[0], count, batched->dims[1], batched->dims[1]};
	op_set(o, 0, q->dtype, 4, dims);
}

#define HOW_PROJECTED                                                                            \
	"MACs: the input projection, and batch x heads x queries x keys (past ones too, masked " \
	"or not) x (head size + value head size)"
#define HOW_MULTI                                                                                 \
	"MACs: batch x query heads x queries x keys (past ones too, masked or not) x (head size " \
	"+ value head size)"

static const op_row microsoft_attention_rows[] = {
    {"Attention", shape_projected, cost_projected, .form = &projected_plain, .roles = ".ppcc.c",
     .how = HOW_PROJECTED},
    {"DecoderAttention", shape_decoder_attention, cost_all_by_values, .roles = "..ppp"},
    {"DecoderMaskedMultiHeadAttention", shape_multi_head, cost_multi_head, .roles = "...c......p",
     .how = HOW_MULTI},
    {"DecoderMaskedSelfAttention", shape_projected, cost_projected, .form = &projected_plain,
     .roles = ".ppc", .how = HOW_PROJECTED},
    {"DynamicSparseAttention", shape_same_first, .cost = cost_all_by_values},
    {"GatedRelativePositionBias", shape_gated_bias, cost_uncounted, .roles = ".p.ppp"},
    {"GroupQueryAttention", shape_group_query, cost_group_query, .roles = ".....ccccccpccpp",
     .how = HOW_MULTI "; FLOPs: 3 per rotated element, 4 per normalised one"},
    {"LongformerAttention", shape_same_first, cost_all_by_values, .roles = ".pp.pp."},
    {"MultiHeadAttention", shape_multi_head, cost_multi_head, .roles = "...pc",
     .how = HOW_MULTI "; FLOPs: 1 per element with a bias"},
    {"PackedAttention", shape_packed_attention, cost_all_by_values, .roles = ".ppcc"},
    {"PackedMultiHeadAttention", shape_packed_multi_head, cost_all_by_values, .roles = "...pcc"},
    {"PagedAttention", shape_cached_attention, cost_all_by_values, .roles = ".....ccccccpppcc"},
    {"QAttention", shape_projected, cost_projected, .form = &projected_quantised,
     .roles = ".ppccccc.", .how = HOW_PROJECTED},
    {"QOrderedAttention", shape_qordered_attention, cost_qordered_attention,
     .roles = ".ccccpppcccpppcccc", .how = HOW_PROJECTED},
    {"QOrderedLongformerAttention", shape_same_first, cost_all_by_values, .roles = ".cpcpcccpcpc"},
    {"RelativePositionBias", shape_relative_bias, cost_uncounted, .roles = "pcc"},
    {"SparseAttention", shape_cached_attention, cost_all_by_values, .roles = ".....cccccc"},
    {"SparsePagedAttention", shape_cached_attention, .cost = cost_all_by_values},
};

const op_family op_family_microsoft_attention = {"com.microsoft", microsoft_attention_rows,
						 sizeof microsoft_attention_rows /
						     sizeof *microsoft_attention_rows};
