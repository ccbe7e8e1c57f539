/* summary.c - valid range of the integers of each input, and the operators whose work values
 * decide.
 *
 * An input is followed forward, along the def-use chains, through operators that pass its integers
 * unchanged (or shifted by a constant), to the operators that limit them: indices of a table,
 * depths, masks. Of reals, only thresholds are limited. All limits found apply together. Without a
 * limit there is no range.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/onnx/summary.h"
#include "model/onnx/def_use.h"
#include "base/err.h"

#include <stdio.h>
#include <string.h>

#define MICROSOFT "com.microsoft"
/* Steps over all inputs; a graph that needs more is not a network but an attack. */
#define STEPS_MAX 1000000
#define WHY_MAX	  3 /* limits that `why` names */

typedef struct limit {
	int64_t low, high;
	char why[200];
} limit;

typedef struct trace {
	const def_use *chains;
	mem_arena *arena; /* of the result */
	const char *name; /* of the input */
	/* By value: the input that reached it last (+ 1), and the constant added on the way. */
	size_t *reached;
	int64_t *offset;
	size_t *stack, depth, input, steps;
	bool real; /* the input has reals */
	model_input *result;
	const char *why[WHY_MAX];
	size_t nwhy;
} trace;

static const char *node_input(const onnx_node *n, size_t slot)
{
	return slot < n->ninputs && n->inputs[slot] ? n->inputs[slot] : "";
}

/* --- operators that limit integers */
static bool rows(const onnx_node *n, const char *table, int64_t dim, limit *ret)
{
	if (dim <= 0)
		return false;
	ret->low = 0;
	ret->high = dim - 1;
	snprintf(ret->why, sizeof ret->why, "indexes %lld rows of '%.100s' (%.40s)", (long long)dim,
		 table, n->op);
	return true;
}

/* Gather and its kin: input 0 is the table, `axis` the dimension that is indexed. */
static bool limit_axis(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t axis = onnx_attribute_int(n, "axis", onnx_attribute_int(n, "gather_axis", 0));
	def_use_shape s;

	(void)slot;
	if (!def_use_shape_of(t->chains, node_input(n, 0), &s))
		return false;
	if (axis < 0)
		axis += (int64_t)s.rank;
	if (axis < 0 || axis >= (int64_t)s.rank)
		return false;
	return rows(n, node_input(n, 0), s.dims[axis], ret);
}

/* GatherND, ScatterND: the last dimension of the indices is the number of dimensions of the data
 * that they index, from batch_dims on. All are limited by the smallest. */
static bool limit_nd(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t batch = onnx_attribute_int(n, "batch_dims", 0), least = INT64_MAX;
	def_use_shape data, indices;
	size_t last;

	if (batch < 0 || !def_use_shape_of(t->chains, node_input(n, 0), &data))
		return false;
	last = data.rank;
	if (def_use_shape_of(t->chains, node_input(n, slot), &indices) && indices.rank > 0) {
		int64_t width = indices.dims[indices.rank - 1];
		if (width >= 0 && batch <= (int64_t)data.rank &&
		    width <= (int64_t)data.rank - batch)
			last = (size_t)(batch + width);
	}
	for (size_t i = (size_t)batch; i < last; i++) {
		if (data.dims[i] < 0)
			return false;
		if (data.dims[i] < least)
			least = data.dims[i];
	}
	return least != INT64_MAX && rows(n, node_input(n, 0), least, ret);
}

static bool selects(const onnx_node *n, int64_t count, limit *ret)
{
	if (count <= 0)
		return false;
	ret->low = 0;
	ret->high = count - 1;
	snprintf(ret->why, sizeof ret->why, "selects one of %lld (%.40s)", (long long)count, n->op);
	return true;
}

static bool limit_depth(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t depth;

	(void)slot;
	return def_use_constant(t->chains, node_input(n, 1), &depth) && selects(n, depth, ret);
}

/* Losses: the scores are batch x classes x ... */
static bool limit_classes(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	def_use_shape s;

	(void)slot;
	return def_use_shape_of(t->chains, node_input(n, 0), &s) && s.rank > 1 &&
	       selects(n, s.dims[1], ret);
}

/* Positions of a rotary embedding: rows of its caches. One number alone, of com.microsoft, is that
 * of the first token. */
static bool limit_positions(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	const char *table = node_input(n, slot == 1 ? 2 : 1);
	def_use_shape s, x;

	if (!def_use_shape_of(t->chains, table, &s) || s.rank == 0 ||
	    !rows(n, table, s.dims[0], ret))
		return false;
	if (slot != 1 || !def_use_shape_of(t->chains, node_input(n, slot), &x) || x.rank != 1)
		return true;
	if (!def_use_shape_of(t->chains, node_input(n, 0), &x) || x.rank < 3 ||
	    x.dims[x.rank - 2] < 1)
		return false;
	ret->high -= x.dims[x.rank - 2] - 1;
	return ret->high >= 0;
}

/* TensorScatter: the update begins at that place of the cache, and ends within it unless it wraps
 * around. */
static bool limit_cache_write(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	const onnx_attribute *mode = onnx_find_attribute(n, "mode");
	const bool wraps = mode && mode->s.text && strcmp(mode->s.text, "circular") == 0;
	int64_t axis = onnx_attribute_int(n, "axis", -2);
	def_use_shape s, update;

	(void)slot;
	if (!def_use_shape_of(t->chains, node_input(n, 0), &s) ||
	    !def_use_shape_of(t->chains, node_input(n, 1), &update) || update.rank != s.rank)
		return false;
	if (axis < 0)
		axis += (int64_t)s.rank;
	if (axis < 0 || axis >= (int64_t)s.rank || update.dims[axis] < 0)
		return false;
	return rows(n, node_input(n, 0), s.dims[axis] - (wraps ? 0 : update.dims[axis] - 1), ret);
}

/* ReverseSequence: the parts that are reversed. */
static bool limit_lengths(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t axis = onnx_attribute_int(n, "time_axis", 0);
	def_use_shape s;

	(void)slot;
	if (!def_use_shape_of(t->chains, node_input(n, 0), &s) || axis < 0 ||
	    axis >= (int64_t)s.rank || s.dims[axis] < 1)
		return false;
	ret->low = 1;
	ret->high = s.dims[axis];
	snprintf(ret->why, sizeof ret->why, "is a length of at most %lld (%.40s)",
		 (long long)ret->high, n->op);
	return true;
}

static int64_t of_axis(const onnx_node *n, const char *attribute, size_t i, int64_t otherwise)
{
	const onnx_attribute *a = onnx_find_attribute(n, attribute);

	return a && i < a->nints ? a->ints[i] : otherwise;
}

/* MaxUnpool: places in the output, whose shape the attributes give. */
static bool limit_unpool(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t places = 1;
	def_use_shape s;

	(void)slot;
	if (*node_input(n, 2) || !def_use_shape_of(t->chains, node_input(n, 0), &s) || s.rank < 3)
		return false;
	for (size_t d = 0; d < s.rank; d++) {
		const size_t i = d - 2, after = i + s.rank - 2;
		int64_t dim = s.dims[d];

		if (dim < 1)
			return false;
		if (d > 1 && (__builtin_mul_overflow(dim - 1, of_axis(n, "strides", i, 1), &dim) ||
			      __builtin_add_overflow(dim, of_axis(n, "kernel_shape", i, 1), &dim) ||
			      __builtin_sub_overflow(dim, of_axis(n, "pads", i, 0), &dim) ||
			      __builtin_sub_overflow(dim, of_axis(n, "pads", after, 0), &dim)))
			return false;
		if (__builtin_mul_overflow(places, dim, &places))
			return false;
	}
	return selects(n, places, ret);
}

static bool limit_unit(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	(void)t;
	(void)slot;
	ret->low = 0;
	ret->high = 1;
	snprintf(ret->why, sizeof ret->why, "is a threshold of %.40s", n->op);
	return true;
}

/* Ones only: every position counts, which is the full work, and no row of an attention is
 * masked out altogether, which would give NaN. */
static bool limit_mask(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	(void)t;
	(void)n;
	(void)slot;
	ret->low = ret->high = 1;
	snprintf(ret->why, sizeof ret->why, "masks positions: 1 keeps every one");
	return true;
}

/* The fused embedding of com.microsoft: word, segment and position ids, each with its table. */
static bool limit_embedding(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	static const size_t tables[] = {[0] = 2, [1] = 4, [8] = 3};
	def_use_shape s;

	if (!def_use_shape_of(t->chains, node_input(n, tables[slot]), &s) || s.rank == 0)
		return false;
	return rows(n, node_input(n, tables[slot]), s.dims[0], ret);
}

/* A mask of two dimensions; one dimension holds lengths. */
static bool limit_attention(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	def_use_shape s;

	if (def_use_shape_of(t->chains, node_input(n, slot), &s) && s.rank < 2)
		return false;
	return limit_mask(t, n, slot, ret);
}

static bool limit_cast(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	return onnx_attribute_int(n, "to", 0) == ONNX_BOOL && limit_mask(t, n, slot, ret);
}

/* "1 - mask" */
static bool limit_complement(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t one;

	return def_use_constant(t->chains, node_input(n, 0), &one) && one == 1 &&
	       limit_mask(t, n, slot, ret);
}

typedef struct limit_rule {
	const char *op, *domain; /* domain NULL: ONNX's own */
	size_t slot;		 /* which input */
	bool (*find)(trace *t, const onnx_node *n, size_t slot, limit *ret);
} limit_rule;
static const limit_rule limit_rules[] = {
    {"Gather", NULL, 1, limit_axis},
    {"GatherElements", NULL, 1, limit_axis},
    {"ScatterElements", NULL, 1, limit_axis},
    {"Scatter", NULL, 1, limit_axis},
    {"GatherND", NULL, 1, limit_nd},
    {"ScatterND", NULL, 1, limit_nd},
    {"OneHot", NULL, 0, limit_depth},
    {"Cast", NULL, 0, limit_cast},
    {"Sub", NULL, 1, limit_complement},
    {"Where", NULL, 0, limit_mask},
    {"And", NULL, 0, limit_mask},
    {"And", NULL, 1, limit_mask},
    {"Not", NULL, 0, limit_mask},
    {"EmbedLayerNormalization", MICROSOFT, 0, limit_embedding},
    {"EmbedLayerNormalization", MICROSOFT, 1, limit_embedding},
    {"EmbedLayerNormalization", MICROSOFT, 8, limit_embedding},
    {"EmbedLayerNormalization", MICROSOFT, 7, limit_mask},
    {"Attention", MICROSOFT, 3, limit_attention},
    {"MultiHeadAttention", MICROSOFT, 4, limit_attention},
    {"GatherBlockQuantized", MICROSOFT, 1, limit_axis},
    {"SoftmaxCrossEntropyLoss", NULL, 1, limit_classes},
    {"NegativeLogLikelihoodLoss", NULL, 1, limit_classes},
    {"RotaryEmbedding", NULL, 3, limit_positions},
    {"RotaryEmbedding", MICROSOFT, 1, limit_positions},
    {"TensorScatter", NULL, 2, limit_cache_write},
    {"ReverseSequence", NULL, 1, limit_lengths},
    {"MaxUnpool", NULL, 1, limit_unpool},
    {"NonMaxSuppression", NULL, 3, limit_unit},
    {"NonMaxSuppression", NULL, 4, limit_unit},
};

/* --- operators whose amount of work is a value: of these inputs, as bits */
typedef struct work_rule {
	const char *op;
	unsigned slots;
	const char *domain; /* NULL: ONNX's own */
} work_rule;
static const work_rule work_rules[] = {
    {"Attention", 64, NULL},
    {"ConstantOfShape", 1, NULL},
    {"Expand", 2, NULL},
    {"GRU", 16, NULL},
    {"GroupQueryAttention", 32 | 64, MICROSOFT},
    {"If", 1, NULL},
    {"LSTM", 16, NULL},
    {"Loop", 3, NULL},
    {"NonMaxSuppression", 4, NULL},
    {"OneHot", 2, NULL},
    {"Pad", 2, NULL},
    {"RNN", 16, NULL},
    {"Range", 7, NULL},
    {"Resize", 4 | 8, NULL},
    {"Slice", 4, NULL},
    {"Tile", 2, NULL},
    {"TopK", 2, NULL},
};

/* Returns a declared size as text, "128" or its symbol; NULL: neither. */
static const char *size_text(trace *t, const char *name, size_t axis)
{
	const def_use_value *v = def_use_find(t->chains, name);
	const onnx_shape *s = v && v->declared ? v->declared->shape : NULL;

	if (!s || axis >= s->rank)
		return NULL;
	if (s->dims[axis].value >= 0)
		return mem_arena_fmt(t->arena, "%lld", (long long)s->dims[axis].value);
	return onnx_symbol_named(s->dims[axis].symbol)
		   ? mem_arena_dup(t->arena, s->dims[axis].symbol)
		   : NULL;
}

/* Attention over all keys is the full work. GroupQueryAttention's queries are batch x tokens x
 * width, its cache and keys of rank 4 batch x heads x tokens x width; it refuses more keys than its
 * rotary caches have rows. */
static void work_of_keys(trace *t, const onnx_node *n, size_t slot, int64_t offset)
{
	const bool grouped = strcmp(n->op, "GroupQueryAttention") == 0;
	const char *cache = node_input(n, grouped ? 3 : 4), *keys = node_input(n, grouped ? 0 : 1);
	const char *past = "0", *tokens;
	def_use_shape s;

	if (!grouped && strcmp(n->op, "Attention") != 0)
		return;
	if (*cache)
		past = size_text(t, cache, 2);
	tokens =
	    def_use_shape_of(t->chains, keys, &s) ? size_text(t, keys, s.rank == 4 ? 2 : 1) : NULL;
	if (grouped && slot == 5 && __builtin_add_overflow(offset, 1, &offset))
		return;
	if (!past || !tokens || offset < 0)
		return;
	t->result->work =
	    mem_arena_fmt(t->arena, "%s + %s - %lld", past, tokens, (long long)offset);
	t->result->work_most = INT64_MAX;
	if (grouped && def_use_shape_of(t->chains, node_input(n, 7), &s) && s.rank == 2 &&
	    s.dims[0] >= 0)
		t->result->work_most = s.dims[0] - offset;
}

/* --- operators that pass integers: from these inputs, as bits; to all outputs. */
#define ANY ~0u
typedef struct pass_rule {
	const char *op;
	unsigned slots;
} pass_rule;
static const pass_rule pass_rules[] = {
    {"Cast", 1},	   {"CastLike", 1},  {"Clip", 1},
    {"Compress", 1},	   {"Concat", ANY},  {"Dropout", 1},
    {"Expand", 1},	   {"Flatten", 1},   {"Gather", 1},
    {"GatherElements", 1}, {"GatherND", 1},  {"Identity", 1},
    {"Max", ANY},	   {"Min", ANY},     {"Pad", 1},
    {"Reshape", 1},	   {"ScatterND", 5}, {"ScatterElements", 5},
    {"Slice", 1},	   {"Split", 1},     {"Squeeze", 1},
    {"Tile", 1},	   {"Transpose", 1}, {"Unsqueeze", 1},
    {"Where", 6},	   {"Scatter", 5},
};

static bool is_own_domain(const char *domain)
{
	return !domain || !*domain || strcmp(domain, "ai.onnx") == 0;
}

static void narrow(trace *t, const limit *l, int64_t offset)
{
	model_input *in = t->result;
	int64_t low, high;

	if (__builtin_sub_overflow(l->low, offset, &low) ||
	    __builtin_sub_overflow(l->high, offset, &high))
		return;
	if (!in->has_range || low > in->low)
		in->low = low;
	if (!in->has_range || high < in->high)
		in->high = high;
	in->has_range = true;
	for (size_t i = 0; i < t->nwhy; i++)
		if (strcmp(t->why[i], l->why) == 0)
			return;
	const char *why = t->nwhy < WHY_MAX ? mem_arena_dup(t->arena, l->why) : NULL;
	if (why)
		t->why[t->nwhy++] = why;
}

static void reach(trace *t, const char *name, int64_t offset)
{
	size_t v = name && *name ? name_index_find(&t->chains->names, name) : NAME_INDEX_NONE;

	if (v == NAME_INDEX_NONE || t->reached[v] == t->input)
		return;
	t->reached[v] = t->input;
	t->offset[v] = offset;
	t->stack[t->depth++] = v;
}

static void reach_outputs(trace *t, const onnx_node *n, int64_t offset)
{
	for (size_t i = 0; i < n->noutputs; i++)
		reach(t, n->outputs[i], offset);
}

/* x + c, c + x and x - c shift the integers. */
static bool shift(trace *t, const def_use_edge *u, int64_t *offset)
{
	bool add = strcmp(u->node->op, "Add") == 0;
	bool sub = strcmp(u->node->op, "Sub") == 0 && u->slot == 0;
	int64_t c;

	if ((!add && !sub) || u->slot > 1 ||
	    !def_use_constant(t->chains, node_input(u->node, 1 - u->slot), &c))
		return false;
	return add ? !__builtin_add_overflow(*offset, c, offset)
		   : !__builtin_sub_overflow(*offset, c, offset);
}

/* A rate or a mode that selects a branch. */
static void summary_compare(trace *t, const onnx_node *n, size_t slot, int64_t offset)
{
	model_input *in = t->result;
	int64_t c;

	if (!def_use_constant(t->chains, node_input(n, 1 - slot), &c) ||
	    __builtin_sub_overflow(c, offset, &c))
		return;
	if (!in->is_compared || c > in->compared)
		in->compared = c;
	in->is_compared = true;
}

static void summary_follow(trace *t, const def_use_edge *u, int64_t offset)
{
	const onnx_node *n = u->node;
	bool own = is_own_domain(n->domain), known = false;
	limit l;

	if (!n->op)
		return;
	for (size_t i = 0; i < sizeof limit_rules / sizeof *limit_rules; i++) {
		const limit_rule *r = &limit_rules[i];
		bool domain = r->domain ? n->domain && strcmp(n->domain, r->domain) == 0 : own;
		if (!domain || r->slot != u->slot || strcmp(r->op, n->op) != 0 ||
		    t->real != (r->find == limit_unit))
			continue;
		if (r->find(t, n, u->slot, &l)) {
			narrow(t, &l, offset);
			known = true;
		}
	}
	for (size_t i = 0; own && i < sizeof pass_rules / sizeof *pass_rules; i++) {
		const pass_rule *r = &pass_rules[i];
		unsigned bit = u->slot < 32 ? 1u << u->slot : 1u << 31;
		if (strcmp(r->op, n->op) == 0 && (r->slots & bit)) {
			reach_outputs(t, n, offset);
			known = true;
		}
	}
	for (size_t i = 0; u->slot < 8 && i < sizeof work_rules / sizeof *work_rules; i++) {
		const work_rule *r = &work_rules[i];
		const bool domain =
		    r->domain ? n->domain && strcmp(n->domain, r->domain) == 0 : own;

		if (!domain || !(r->slots >> u->slot & 1) || strcmp(r->op, n->op) != 0)
			continue;
		t->result->decides = r->op;
		if (!t->result->work)
			work_of_keys(t, n, u->slot, offset);
	}
	if (!known && own && shift(t, u, &offset)) {
		reach_outputs(t, n, offset);
		known = true;
	}
	if (own && !t->real && u->slot < 2 && strcmp(n->op, "Equal") == 0)
		summary_compare(t, n, u->slot, offset);
	/* Arithmetic on something that is called a mask. */
	if (!known && !t->real && strcasestr(t->name, "mask") && limit_mask(t, n, u->slot, &l))
		narrow(t, &l, 0);
}

static void trace_input(trace *t, model_input *in, bool real)
{
	t->result = in;
	t->name = in->name;
	t->nwhy = 0;
	t->real = real;
	t->input++;
	reach(t, in->name, 0);
	while (t->depth) {
		size_t v = t->stack[--t->depth], u = t->chains->values[v].first_use;
		for (; u != DEF_USE_NONE; u = t->chains->uses[u].next) {
			if (++t->steps > STEPS_MAX) {
				t->depth = 0;
				*in = (model_input){.name = in->name};
				return;
			}
			summary_follow(t, &t->chains->uses[u], t->offset[v]);
		}
	}
	if (!in->has_range || in->low > in->high) { /* contradictory limits are ignored */
		in->has_range = false;
		in->low = in->high = 0;
		return;
	}
	in->why = t->nwhy ? t->why[0] : NULL;
	for (size_t i = 1; i < t->nwhy; i++)
		in->why = mem_arena_fmt(t->arena, "%s; %s", in->why, t->why[i]);
}

static dck_status read_inputs(const onnx_model *m, mem_arena *scratch, mem_arena *a,
			      model_summary *s, dck_err *err)
{
	const onnx_graph *g = m->graph;
	def_use f;

	DCK_TRY(def_use_init(&f, scratch, m, err));
	trace t = {.chains = &f, .arena = a};
	t.reached = mem_arena_array(scratch, f.names.n, sizeof *t.reached);
	t.offset = mem_arena_array(scratch, f.names.n, sizeof *t.offset);
	t.stack = mem_arena_array(scratch, f.names.n, sizeof *t.stack);
	model_input *inputs = mem_arena_array(a, g->ninputs, sizeof *inputs);
	if (!t.reached || !t.offset || !t.stack)
		return def_use_fail_memory(scratch, f.names.n * 24, err);
	DCK_NEED(inputs, err, "to read the model's inputs");
	for (size_t i = 0; i < g->ninputs; i++) {
		const def_use_value *v = def_use_find(&f, g->inputs[i].name);
		if (!v || v->initializer) /* with a default: not required */
			continue;
		model_input *in = &inputs[s->ninputs++];
		const onnx_type *type = g->inputs[i].type;
		const int64_t dtype = type && type->tensor ? type->tensor->dtype : 0;

		in->name = mem_arena_dup(a, g->inputs[i].name);
		if (in->name &&
		    (onnx_dtype_integer(dtype) || onnx_dtype_real(dtype) || dtype == ONNX_BOOL))
			trace_input(&t, in, onnx_dtype_real(dtype));
	}
	s->inputs = inputs;
	return DCK_OK;
}

static dck_status summarize(const onnx_model *m, mem_arena *scratch, mem_arena *a,
			    model_summary *ret, dck_err *err)
{
	const onnx_graph *g = m->graph;
	model_summary s = {.producer = mem_arena_dup(a, m->producer),
			   .ir_version = m->ir_version,
			   .opset = onnx_opset_version(m),
			   .nodes = g->nnodes,
			   .initializers = g->ninitializers + g->nsparse};

	for (size_t i = 0; i < g->ninitializers; i++)
		if (__builtin_add_overflow(s.weight_bytes, g->initializers[i].bytes,
					   &s.weight_bytes))
			DCK_FAIL(err, E_LIMIT, "the model claims more than 2^64 bytes of weights");
	for (size_t i = 0; i < g->nsparse; i++)
		if (g->sparse[i].values &&
		    __builtin_add_overflow(s.weight_bytes, g->sparse[i].values->bytes,
					   &s.weight_bytes))
			DCK_FAIL(err, E_LIMIT, "the model claims more than 2^64 bytes of weights");
	DCK_TRY(read_inputs(m, scratch, a, &s, err));
	DCK_TRY(model_values_read(g, a, &s.values, err));
	DCK_NEED(!mem_arena_failed(a), err, "to read the model's inputs");
	*ret = s;
	return DCK_OK;
}

/* The graph is only needed while the summary is made: it has a separate arena. */
static dck_status summary_read(const char *path, const void *bytes, size_t n, mem_arena *a,
			       model_summary *ret, dck_err *err)
{
	mem_arena *scratch = mem_arena_new(0);
	onnx_model *m;
	dck_status code;

	DCK_NEED(scratch, err, "to read the model");
	code = path ? onnx_read_file(path, scratch, &m, err)
		    : onnx_read_bytes(bytes, n, scratch, &m, err);
	if (code == DCK_OK)
		code = summarize(m, scratch, a, ret, err);
	if (code == DCK_OK)
		ret->path = path ? mem_arena_dup(a, path) : NULL;
	mem_arena_free(scratch);
	return code;
}

dck_status model_summary_read_file(const char *path, mem_arena *a, model_summary *ret, dck_err *err)
{
	return summary_read(path, NULL, 0, a, ret, err);
}

dck_status model_summary_read_bytes(const void *bytes, size_t n, mem_arena *a, model_summary *ret,
				    dck_err *err)
{
	return summary_read(NULL, bytes, n, a, ret, err);
}
