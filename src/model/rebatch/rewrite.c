/* rewrite.c - writes the model for another number of items, as a copy of the file's protocol
 * buffer.
 *
 * The file is walked again in the order in which it was decoded, and counts pair each field with
 * its decoded struct. Unchanged fields are copied byte by byte, so fields that deepclock does
 * not know survive. Changed are nodes with edits (constants and the nodes that use them are written
 * before), the types of inputs and outputs, and initializers of sizes that no node uses any more,
 * which are left out. Shapes stated for inner values are dropped, since they may not hold any more.
 *
 * Unless `file` is NULL, tensors of STAY_BYTES or more become external data: location, offset and
 * length in the original file. So they are neither read nor copied, and the rewritten model needs
 * the original.
 *
 * A file with more of anything than was decoded has changed (E_IO). The output grows in memory up
 * to 2 GiB (E_LIMIT), the limit of the encoding; the recursion is as deep as bodies nest, which
 * wire_enter() bounds.
 *
 * Sources: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (numbers of the fields),
 * https://github.com/onnx/onnx/blob/main/docs/ExternalData.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/rebatch/rebatch.h"
#include "model/rebatch/batch_propagate.h"
#include "base/err.h"
#include "base/name_index.h"

#include <ctype.h>
#include <string.h>

/* Tensors of at least this size stay in the original file. */
#define STAY_BYTES 16384u

/* Fields of the messages of onnx.proto. */
enum { MODEL_GRAPH = 7, MODEL_FUNCTION = 25 };
enum { FUNCTION_NODE = 7, FUNCTION_VALUE = 12 };
enum { GRAPH_NODE = 1, GRAPH_TENSOR = 5, GRAPH_INPUT = 11, GRAPH_OUTPUT = 12, GRAPH_VALUE = 13 };
enum { NODE_INPUT = 1, NODE_OUTPUT = 2, NODE_OP = 4, NODE_ATTRIBUTE = 5 };
enum { ATTRIBUTE_GRAPH = 6, ATTRIBUTE_GRAPHS = 11 };
enum { TENSOR_FLOATS = 4, TENSOR_RAW = 9, TENSOR_DOUBLES = 10 };

typedef struct rewrite {
	const batch_propagation *f;
	const cost_result *cost;
	wire_source source;
	wire_out *out;
	const char *file;  /* NULL: weights are copied */
	name_index unused; /* stored sizes that no node uses any more */
	size_t *uses; /* uses of each of these names in the file, except uses replaced by edits */
	size_t names;
	dck_err *err;
} rewrite;

/* Numbers of list members read so far. A file may store one graph in several parts, which continue
 * each other's lists. */
typedef struct counts {
	size_t node, tensor, input, output;
} counts;

static dck_status rewrite_next(rewrite *x, wire_reader *r, wire_field *w, bool *more)
{
	return wire_next(r, NULL, NULL, w, more, x->err);
}

/* Returns E_IO if the file has more members of a list than were decoded. */
static dck_status rewrite_count(rewrite *x, size_t at, size_t n)
{
	if (at >= n)
		DCK_FAIL(x->err, E_IO, "%s changed while it was read", x->source.label);
	return DCK_OK;
}

/* Copies the field that r has just passed. */
static dck_status rewrite_copy(rewrite *x, const wire_reader *r, const wire_field *w)
{
	size_t n = (size_t)(r->at - w->at);
	uint8_t *to = wire_reserve(x->out, n);

	return to ? wire_source_copy(&x->source, w->at, n, to, x->err)
		  : ERR_NO_MEMORY(x->err, "for the rewritten model");
}

/* --- types */

static void put_type(rewrite *x, const onnx_tensor_type *t, const val *v, bool shape)
{
	const items *s = v ? v->mark : NULL;
	size_t type = wire_begin(x->out, 2), tensor = wire_begin(x->out, 1);

	wire_put_int(x->out, 1, t->dtype);
	if (shape && t->shape && (!v || (size_t)v->rank == t->shape->rank)) {
		size_t list = wire_begin(x->out, 2);
		for (size_t i = 0; i < t->shape->rank; i++) {
			const onnx_dim *d = &t->shape->dims[i];
			size_t dim = wire_begin(x->out, 1);
			const bool items_here = s && s->kind == BATCHED && (size_t)s->axis == i;
			sym_int size = sym_const(d->value);
			if (items_here) /* it stays open where it has no 63 bits */
				size = sym_mul(x->f->nums, sym_const(x->f->n),
					       sym_mul(x->f->nums, s->pre, s->post));
			if (sym_known(size) && size.v >= 0)
				wire_put_int(x->out, 1, size.v);
			else if (d->symbol && d->value < 0)
				wire_put_text(x->out, 2, d->symbol);
			wire_end(x->out, dim);
		}
		wire_end(x->out, list);
	}
	wire_end(x->out, tensor);
	wire_end(x->out, type);
}

/* *at: where the search begins, and then the place behind the value: both lists have the same
 * order. */
static const val *value_find(val *const *list, size_t n, const char *name, size_t *at)
{
	for (size_t i = 0; i < n && name; i++) {
		const size_t k = (*at + i) % n;

		if (list[k]->name && strcmp(list[k]->name, name) == 0) {
			*at = k + 1;
			return list[k];
		}
	}
	return NULL;
}

/* Writes an input or output with the sizes that it has now; in a body it gets no sizes. */
static dck_status rewrite_value(rewrite *x, const wire_reader *r, const wire_field *w,
				const onnx_value *o, const val *v, bool body)
{
	const items *s = v ? v->mark : NULL;
	bool other = body || (s && s->kind == BATCHED);

	if (!other || !o->type || !o->type->tensor || !o->name)
		return rewrite_copy(x, r, w);
	size_t mark = wire_begin(x->out, w->number);
	wire_put_text(x->out, 1, o->name);
	put_type(x, o->type->tensor, v, !body);
	wire_end(x->out, mark);
	return DCK_OK;
}

/* --- weights */

static void rewrite_put_pair(wire_out *w, const char *key, const char *text)
{
	size_t mark = wire_begin(w, 13);

	wire_put_text(w, 1, key);
	wire_put_text(w, 2, text);
	wire_end(w, mark);
}

/* Finds the offset of the tensor's bytes in the file. *ret_found is false unless they are in one
 * piece as an engine can read them. */
static dck_status rewrite_bytes_of(rewrite *x, const wire_reader *r, const wire_field *w,
				   const onnx_tensor *t, uint64_t *ret, bool *ret_found)
{
	wire_reader in;
	wire_field f;
	bool more = true;
	int found = 0;

	DCK_TRY(wire_enter(r, w, "a tensor", &in, x->err));
	for (;;) {
		DCK_TRY(rewrite_next(x, &in, &f, &more));
		if (!more)
			break;
		bool floats = (f.number == TENSOR_FLOATS && t->dtype == ONNX_FLOAT) ||
			      (f.number == TENSOR_DOUBLES && t->dtype == ONNX_DOUBLE);
		if ((f.number == TENSOR_RAW || floats) && f.type == WIRE_BYTES) {
			found += f.value == t->bytes ? 1 : 2;
			*ret = f.data;
		} else if (f.number == TENSOR_FLOATS || f.number == TENSOR_DOUBLES) {
			found += 2;
		}
	}
	*ret_found = found == 1;
	return DCK_OK;
}

static dck_status tensor(rewrite *x, const wire_reader *r, const wire_field *w,
			 const onnx_tensor *t)
{
	uint64_t at = 0;
	bool found = false;
	char *offset, *length;

	if (x->file && t->location != 1 && t->bytes >= STAY_BYTES && t->name)
		DCK_TRY(rewrite_bytes_of(x, r, w, t, &at, &found));
	if (!found)
		return rewrite_copy(x, r, w);
	offset = mem_arena_fmt(x->f->arena, "%llu", (unsigned long long)at);
	length = mem_arena_fmt(x->f->arena, "%llu", (unsigned long long)t->bytes);
	DCK_NEED(offset && length, x->err, "for the rewritten model");
	size_t mark = wire_begin(x->out, w->number);
	for (size_t i = 0; i < t->rank; i++)
		wire_put_int(x->out, 1, t->dims[i]);
	wire_put_int(x->out, 2, t->dtype);
	wire_put_text(x->out, 8, t->name);
	rewrite_put_pair(x->out, "location", x->file);
	rewrite_put_pair(x->out, "offset", offset);
	rewrite_put_pair(x->out, "length", length);
	wire_put_int(x->out, 14, 1);
	wire_end(x->out, mark);
	return DCK_OK;
}

/* --- sizes that are not used any more */

static void uses_count(rewrite *x, const onnx_node *nodes, size_t n, bool find)
{
	for (size_t i = 0; i < n; i++) {
		const edits *e = batch_rule_edits(x->f, &nodes[i]);
		for (size_t k = 0; find && e && k < e->n; k++)
			if (e->edit[k].kind == EDIT_SIZES)
				name_index_intern(&x->unused, nodes[i].inputs[e->edit[k].slot]);
		for (size_t k = 0; !find && k < nodes[i].ninputs; k++) {
			const char *name = nodes[i].inputs[k];
			size_t at = name ? name_index_find(&x->unused, name) : NAME_INDEX_NONE;
			bool gone = false;
			for (size_t j = 0; e && j < e->n; j++)
				gone |= e->edit[j].kind == EDIT_SIZES && e->edit[j].slot == k;
			if (at != NAME_INDEX_NONE && !gone)
				x->uses[at]++;
		}
		for (size_t k = 0; k < nodes[i].nattributes; k++) {
			const onnx_attribute *a = &nodes[i].attributes[k];
			if (a->g)
				uses_count(x, a->g->nodes, a->g->nnodes, find);
			for (size_t j = 0; j < a->ngraphs; j++)
				uses_count(x, a->graphs[j].nodes, a->graphs[j].nnodes, find);
		}
	}
}

static void uses_declared(rewrite *x, const onnx_value *values, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at =
		    values[i].name ? name_index_find(&x->unused, values[i].name) : NAME_INDEX_NONE;
		if (at != NAME_INDEX_NONE)
			x->uses[at]++;
	}
}

static dck_status unused_find(rewrite *x, const onnx_graph *g)
{
	size_t most = batch_rule_nedits(x->f) * BATCH_EDITS_MAX + 1;

	x->uses = mem_arena_array(x->f->arena, most, sizeof *x->uses);
	DCK_NEED(x->uses && name_index_init(&x->unused, x->f->arena, most), x->err,
		 "for the rewritten model");
	uses_count(x, g->nodes, g->nnodes, true);
	uses_count(x, g->nodes, g->nnodes, false);
	uses_declared(x, g->outputs, g->noutputs);
	/* Of an input it is the default (all initializers are inputs before IR version 4). */
	uses_declared(x, g->inputs, g->ninputs);
	return DCK_OK;
}

static bool rewrite_is_unused(const rewrite *x, const onnx_tensor *t)
{
	size_t at = t->name ? name_index_find(&x->unused, t->name) : NAME_INDEX_NONE;

	return at != NAME_INDEX_NONE && !x->uses[at];
}

/* --- nodes */

static void put_constant(rewrite *x, uint32_t field, const char *name, const edit *e)
{
	size_t node = wire_begin(x->out, field), attribute, t;

	wire_put_text(x->out, NODE_OUTPUT, name);
	wire_put_text(x->out, NODE_OP, "Constant");
	attribute = wire_begin(x->out, NODE_ATTRIBUTE);
	wire_put_text(x->out, 1, "value");
	t = wire_begin(x->out, 5);
	wire_put_int(x->out, 1, (int64_t)e->n);
	for (int i = 1; i < e->rank; i++)
		wire_put_int(x->out, 1, 1);
	wire_put_int(x->out, 2, e->dtype);
	for (size_t i = 0; i < e->n; i++) {
		bool wide =
		    e->dtype == ONNX_INT64 || (e->v[i] <= INT32_MAX && e->v[i] >= INT32_MIN);
		wire_put_int(x->out, e->dtype == ONNX_INT64 ? 7 : 5, wide ? e->v[i] : INT32_MAX);
	}
	wire_end(x->out, t);
	wire_put_int(x->out, 20, ONNX_ATTR_TENSOR);
	wire_end(x->out, attribute);
	wire_end(x->out, node);
}

static const char *name_new(rewrite *x)
{
	return mem_arena_fmt(x->f->arena, "deepclock/batch/%zu", x->names++);
}

static void rewrite_put_node(rewrite *x, uint32_t field, const char *type, const char *a,
			     const char *b, const char *ret)
{
	size_t mark = wire_begin(x->out, field);

	wire_put_text(x->out, NODE_INPUT, a);
	wire_put_text(x->out, NODE_INPUT, b);
	wire_put_text(x->out, NODE_OUTPUT, ret);
	wire_put_text(x->out, NODE_OP, type);
	wire_end(x->out, mark);
}

/* Negative indices count from the end of one item, so a Mod makes them positive first. */
static dck_status put_offset(rewrite *x, uint32_t field, const char *indices, const char *offsets,
			     const edit *e, const char *ret)
{
	const edit one = {.kind = EDIT_SIZES, .n = 1, .dtype = e->dtype, .v = &e->each};
	const char *each = name_new(x), *within = name_new(x);

	DCK_NEED(each && within, x->err, "for the rewritten model");
	put_constant(x, field, each, &one);
	rewrite_put_node(x, field, "Mod", indices, each, within);
	rewrite_put_node(x, field, "Add", within, offsets, ret);
	return DCK_OK;
}

/* Writes the nodes that an edit inserts before its node. ret: the new name of the input. */
static dck_status put_edit(rewrite *x, uint32_t field, const onnx_node *node, const edit *e,
			   const char **ret)
{
	const char *sizes = name_new(x), *to = e->kind == EDIT_SIZES ? sizes : name_new(x);

	DCK_NEED(sizes && to, x->err, "for the rewritten model");
	put_constant(x, field, sizes, e);
	if (e->kind == EDIT_OFFSET)
		DCK_TRY(put_offset(x, field, node->inputs[e->slot], sizes, e, to));
	else if (e->kind != EDIT_SIZES)
		rewrite_put_node(x, field, e->kind == EDIT_EXPAND ? "Expand" : "Tile",
				 node->inputs[e->slot], sizes, to);
	*ret = to;
	return DCK_OK;
}

static dck_status graph(rewrite *x, const wire_reader *r, const wire_field *w, const onnx_graph *g,
			counts *at, bool body);

static dck_status attribute(rewrite *x, const wire_reader *r, const wire_field *w,
			    const onnx_attribute *a)
{
	wire_reader in;
	wire_field f;
	bool more = true;
	counts one = {0};
	size_t many = 0;

	DCK_TRY(wire_enter(r, w, "an attribute", &in, x->err));
	size_t mark = wire_begin(x->out, w->number);
	for (;;) {
		DCK_TRY(rewrite_next(x, &in, &f, &more));
		if (!more)
			break;
		counts each = {0};
		if (f.number == ATTRIBUTE_GRAPH && a->g)
			DCK_TRY(graph(x, &in, &f, a->g, &one, true));
		else if (f.number == ATTRIBUTE_GRAPHS && many < a->ngraphs)
			DCK_TRY(graph(x, &in, &f, &a->graphs[many++], &each, true));
		else
			DCK_TRY(rewrite_copy(x, &in, &f));
	}
	wire_end(x->out, mark);
	return DCK_OK;
}

static dck_status node(rewrite *x, const wire_reader *r, const wire_field *w, const onnx_node *n)
{
	const edits *e = batch_rule_edits(x->f, n);
	const char *name[BATCH_EDITS_MAX];
	size_t input = 0, attributes = 0;
	bool bodies = false, more = true;
	wire_reader in;
	wire_field f;

	for (size_t i = 0; i < n->nattributes; i++)
		bodies |= n->attributes[i].g || n->attributes[i].ngraphs;
	if (!e && !bodies)
		return rewrite_copy(x, r, w);
	for (size_t i = 0; e && i < e->n; i++)
		DCK_TRY(put_edit(x, w->number, n, &e->edit[i], &name[i]));
	DCK_TRY(wire_enter(r, w, "a node", &in, x->err));
	size_t mark = wire_begin(x->out, w->number);
	for (;;) {
		DCK_TRY(rewrite_next(x, &in, &f, &more));
		if (!more)
			break;
		const char *instead = NULL;
		if (f.number == NODE_INPUT) {
			for (size_t i = 0; e && i < e->n; i++)
				if (e->edit[i].slot == input)
					instead = name[i];
			input++;
		}
		if (instead)
			wire_put_text(x->out, NODE_INPUT, instead);
		else if (f.number == NODE_ATTRIBUTE && attributes < n->nattributes)
			DCK_TRY(attribute(x, &in, &f, &n->attributes[attributes++]));
		else
			DCK_TRY(rewrite_copy(x, &in, &f));
	}
	wire_end(x->out, mark);
	return DCK_OK;
}

/* --- graphs */

static dck_status graph(rewrite *x, const wire_reader *r, const wire_field *w, const onnx_graph *g,
			counts *at, bool body)
{
	const cost_result *c = x->cost;
	wire_reader in;
	wire_field f;
	size_t input = 0, output = 0;
	bool more = true;

	DCK_TRY(wire_enter(r, w, "a graph", &in, x->err));
	size_t mark = wire_begin(x->out, w->number);
	for (;;) {
		const onnx_value *v;
		const onnx_tensor *t;

		DCK_TRY(rewrite_next(x, &in, &f, &more));
		if (!more)
			break;
		switch (f.number) {
		case GRAPH_NODE:
			DCK_TRY(rewrite_count(x, at->node, g->nnodes));
			DCK_TRY(node(x, &in, &f, &g->nodes[at->node++]));
			break;
		case GRAPH_TENSOR:
			DCK_TRY(rewrite_count(x, at->tensor, g->ninitializers));
			t = &g->initializers[at->tensor++];
			if (body || !rewrite_is_unused(x, t))
				DCK_TRY(tensor(x, &in, &f, t));
			break;
		case GRAPH_INPUT:
			DCK_TRY(rewrite_count(x, at->input, g->ninputs));
			v = &g->inputs[at->input++];
			DCK_TRY(rewrite_value(
			    x, &in, &f, v,
			    body ? NULL : value_find(c->inputs, c->ninputs, v->name, &input),
			    body));
			break;
		case GRAPH_OUTPUT:
			DCK_TRY(rewrite_count(x, at->output, g->noutputs));
			v = &g->outputs[at->output++];
			DCK_TRY(rewrite_value(
			    x, &in, &f, v,
			    body ? NULL : value_find(c->outputs, c->noutputs, v->name, &output),
			    body));
			break;
		case GRAPH_VALUE:
			break; /* its declarations of inner values may not be valid any more */
		default:
			DCK_TRY(rewrite_copy(x, &in, &f));
		}
	}
	wire_end(x->out, mark);
	return DCK_OK;
}

static dck_status rewrite_function(rewrite *x, const wire_reader *r, const wire_field *w,
				   const onnx_function *fn)
{
	wire_reader in;
	wire_field f;
	bool more = true;
	size_t at = 0;

	DCK_TRY(wire_enter(r, w, "a function", &in, x->err));
	size_t mark = wire_begin(x->out, w->number);
	for (;;) {
		DCK_TRY(rewrite_next(x, &in, &f, &more));
		if (!more)
			break;
		if (f.number == FUNCTION_NODE && at < fn->nnodes)
			DCK_TRY(node(x, &in, &f, &fn->nodes[at++]));
		else if (f.number != FUNCTION_VALUE)
			DCK_TRY(rewrite_copy(x, &in, &f));
	}
	wire_end(x->out, mark);
	return DCK_OK;
}

static dck_status model(rewrite *x, const onnx_model *m)
{
	counts at = {0};
	wire_reader r;
	wire_field w;
	bool more = true;
	size_t functions = 0;

	DCK_TRY(unused_find(x, m->graph));
	wire_reader_init(&x->source, "an ONNX model", &r);
	for (;;) {
		DCK_TRY(rewrite_next(x, &r, &w, &more));
		if (!more)
			break;
		if (w.number == MODEL_GRAPH)
			DCK_TRY(graph(x, &r, &w, m->graph, &at, false));
		else if (w.number == MODEL_FUNCTION && functions < m->nfunctions)
			DCK_TRY(rewrite_function(x, &r, &w, &m->functions[functions++]));
		else
			DCK_TRY(rewrite_copy(x, &r, &w));
		if (x->out->failed)
			return ERR_NO_MEMORY(x->err, "for the rewritten model");
		if (x->out->n > INT32_MAX)
			DCK_FAIL(x->err, E_LIMIT,
				 "the rewritten model would be larger than 2 GiB, "
				 "where files of this kind end");
	}
	return DCK_OK;
}

/* --- interface */

static const onnx_shape *shape_of(const onnx_value *v)
{
	return v->type && v->type->tensor ? v->type->tensor->shape : NULL;
}

/* "batch", "N_batch", "BatchSize" */
static bool rewrite_called_batch(const char *symbol)
{
	static const char word[] = "batch";

	for (const char *p = symbol; p && *p; p++) {
		size_t n = 0;
		while (word[n] && tolower((unsigned char)p[n]) == word[n])
			n++;
		if (!word[n])
			return true;
	}
	return false;
}

static bool fixed(const onnx_graph *g, const name_index *stored, int64_t *ret_was)
{
	const onnx_shape *out = g->noutputs ? shape_of(&g->outputs[0]) : NULL;
	int64_t was = 0, of_output = out && out->rank ? out->dims[0].value : 0;
	bool shared = false;

	for (size_t i = 0; i < g->ninputs; i++) {
		const onnx_shape *s = shape_of(&g->inputs[i]);
		const char *name = g->inputs[i].name;
		if (!s || s->rank == 0 || !name || name_index_find(stored, name) != NAME_INDEX_NONE)
			continue;
		for (size_t k = 0; k < s->rank; k++)
			if (s->dims[k].value < 0 &&
			    (k == 0 || rewrite_called_batch(s->dims[k].symbol)))
				return false;
		if (!was)
			was = s->dims[0].value;
		shared |= s->dims[0].value == of_output;
	}
	/* The first input may be a state with another first axis. */
	*ret_was = shared && of_output > 0 ? of_output : was;
	return *ret_was > 0;
}

bool batch_fixed(const onnx_model *m, int64_t *ret_was)
{
	const onnx_graph *g = m->graph;
	mem_arena *a = mem_arena_new(0);
	name_index stored;
	bool is = a && name_index_init(&stored, a, g->ninitializers);

	for (size_t i = 0; is && i < g->ninitializers; i++)
		if (g->initializers[i].name)
			name_index_intern(&stored, g->initializers[i].name);
	is = is && fixed(g, &stored, ret_was);
	mem_arena_free(a);
	return is;
}

static dck_status places(const batch_propagation *f, val *const *list, size_t n, mem_arena *a,
			 batch_place **ret, dck_err *err)
{
	batch_place *to = mem_arena_array(a, n ? n : 1, sizeof *to);

	DCK_NEED(to, err, "for the rewritten model");
	for (size_t i = 0; i < n; i++) {
		const items *s = list[i]->mark;
		to[i].name = mem_arena_dup(a, list[i]->name);
		if (!s || s->kind != BATCHED) {
			to[i].shared = list[i]->rank > 0 && sym_is(list[i]->dims[0], f->was);
			continue;
		}
		to[i].items = true;
		to[i].axis = s->axis;
		to[i].each = s->post.v;
	}
	*ret = to;
	DCK_NEED(!mem_arena_failed(a), err, "for the rewritten model");
	return DCK_OK;
}

dck_status rebatch(const char *path, const onnx_model *m, int64_t n, const char *file, mem_arena *a,
		   batch_model *ret, dck_err *err)
{
	batch_model b = {0};
	cost_result *cost = NULL;
	batch_propagation f;
	rewrite x = {.out = &b.bytes, .file = file, .err = err};
	dck_status status;

	if (!batch_fixed(m, &b.was))
		DCK_FAIL(err, E_ARG, "the model leaves the number of items open");
	DCK_TRY(batch_rule_model(m, n, b.was, a, &f, &cost, err));
	x.f = &f;
	x.cost = cost;
	status = wire_source_open(path, &wire_onnx, &x.source, err);
	if (status == DCK_OK) {
		status = model(&x, m);
		wire_source_close(&x.source);
	}
	b.rewritten = batch_rule_nedits(&f);
	b.ninputs = cost->ninputs;
	b.noutputs = cost->noutputs;
	DCK_NEXT(status, places(&f, cost->inputs, cost->ninputs, a, &b.inputs, err));
	DCK_NEXT(status, places(&f, cost->outputs, cost->noutputs, a, &b.outputs, err));
	batch_rule_done(&f);
	if (status != DCK_OK) {
		batch_done(&b);
		return status;
	}
	*ret = b;
	return DCK_OK;
}

void batch_done(batch_model *b)
{
	wire_out_done(&b->bytes);
	*b = (batch_model){0};
}
