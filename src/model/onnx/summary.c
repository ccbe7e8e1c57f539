/* summary.c - valid range of the integers of each input.
 *
 * An input is followed forward, along the def-use chains, through operators that pass its integers
 * unchanged (or shifted by a constant), to the operators that limit them: indices of a table,
 * depths, masks. All limits found apply together. Without a limit there is no range.
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
	model_input *result;
	const char *why[WHY_MAX];
	size_t nwhy;
} trace;

static const char *node_input(const onnx_node *n, size_t slot)
{
	return slot < n->ninputs ? n->inputs[slot] : "";
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

static bool limit_depth(trace *t, const onnx_node *n, size_t slot, limit *ret)
{
	int64_t depth;

	(void)slot;
	if (!def_use_constant(t->chains, node_input(n, 1), &depth) || depth <= 0)
		return false;
	ret->low = 0;
	ret->high = depth - 1;
	snprintf(ret->why, sizeof ret->why, "selects one of %lld (OneHot)", (long long)depth);
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
};

/* --- operators whose amount of work is a value: of these inputs, as bits */
typedef struct work_rule {
	const char *op;
	unsigned slots;
} work_rule;
static const work_rule work_rules[] = {
    {"ConstantOfShape", 1}, {"Expand", 2}, {"GRU", 16}, {"If", 1},
    {"LSTM", 16},	    {"Loop", 3},   {"RNN", 16}, {"Range", 7},
    {"Resize", 8},	    {"Slice", 4},  {"Tile", 2}, {"TopK", 2},
};

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
		if (!domain || r->slot != u->slot || strcmp(r->op, n->op) != 0)
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
	for (size_t i = 0; own && u->slot < 8 && i < sizeof work_rules / sizeof *work_rules; i++)
		if ((work_rules[i].slots >> u->slot & 1) && strcmp(work_rules[i].op, n->op) == 0)
			t->result->decides = work_rules[i].op;
	if (!known && own && shift(t, u, &offset)) {
		reach_outputs(t, n, offset);
		known = true;
	}
	if (own && u->slot < 2 && strcmp(n->op, "Equal") == 0)
		summary_compare(t, n, u->slot, offset);
	/* Arithmetic on something that is called a mask. */
	if (!known && strcasestr(t->name, "mask") && limit_mask(t, n, u->slot, &l))
		narrow(t, &l, 0);
}

static void trace_input(trace *t, model_input *in)
{
	t->result = in;
	t->name = in->name;
	t->nwhy = 0;
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

static bool is_integer_input(const onnx_value *v)
{
	const onnx_tensor_type *t = v->type ? v->type->tensor : NULL;

	return t && (onnx_dtype_integer(t->dtype) || t->dtype == ONNX_BOOL);
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
		in->name = mem_arena_dup(a, g->inputs[i].name);
		if (in->name && is_integer_input(&g->inputs[i]))
			trace_input(&t, in);
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
