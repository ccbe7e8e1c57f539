/* op.c - functions of all cost rules: inputs, attributes, answers, NumPy broadcasting, costs.
 *
 * op.h states the contract between a rule and these functions. No function here fails: a missing,
 * unknown or wrongly typed input gives NULL or false, and the outputs that are not set get the
 * reason (op_unknown()). So a hostile model cannot stop a walk, and one unknown value only makes
 * dependent values unknown.
 *
 * Sizes are symbolic integers (sym_int.h). Broadcasting resolves an open size as far as it is
 * certain: against a known size other than 1, by bounds, or as the maximum of two sizes that are at
 * least 1; otherwise the result is a new symbol that depends on values.
 *
 * Contents of tensors of up to ONNX_INTS_MAX elements travel with the values; they are copied when
 * set and never changed after. Everything is in the arena of the inference. Up to ONNX_INTS_MAX
 * numbers op_dims() returns a scratch buffer when the arena has failed, so that rules need no test;
 * cost_model() reports the failure. An attribute that refers to one of a function is resolved along
 * the chain of calls.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/infer.h"
#include "base/dtype.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

const val *op_in(const op *o, size_t i)
{
	return i < o->made->nin ? o->made->in[i] : NULL;
}

val *op_out(op *o, size_t i)
{
	return i < o->made->nout ? o->made->out[i] : NULL;
}

bool op_has(const op *o, size_t i)
{
	return op_in(o, i) != NULL;
}

int64_t op_type(const op *o, size_t i, int64_t otherwise)
{
	const val *v = op_in(o, i);

	return v && v->dtype ? v->dtype : otherwise;
}

const val *op_given(op *o, size_t i)
{
	if (!op_has(o, i))
		op_unknown(o, "its input is missing");
	return op_in(o, i);
}

const val *op_need(op *o, size_t i)
{
	const val *v = op_in(o, i);

	if (!v)
		op_unknown(o, "its input %zu is missing", i);
	else if (v->kind != VAL_TENSOR)
		op_unknown(o, "its input '%s' is not a tensor%s%s", v->name, v->why ? ": " : "",
			   v->why ? v->why : "");
	else if (v->rank < 0)
		op_unknown(o, "%s", v->why ? v->why : "the shape of its input is not known");
	else
		return v;
	return NULL;
}

const val *op_need_rank(op *o, size_t i, int rank)
{
	const val *v = op_need(o, i);

	if (!v || v->rank >= rank)
		return v;
	op_unknown(o, "its input '%s' has %d dimensions, too few", v->name, v->rank);
	return NULL;
}

const sym_int *op_ints(const op *o, size_t i, size_t *ret_n)
{
	const val *v = op_in(o, i);

	if (!v || !v->ints)
		return NULL;
	*ret_n = v->n;
	return v->ints;
}

const double *op_reals(const op *o, size_t i, size_t *ret_n)
{
	const val *v = op_in(o, i);
	double *reals;

	if (!v || (!v->reals && !v->ints))
		return NULL;
	*ret_n = v->n;
	if (v->reals)
		return v->reals;
	for (size_t k = 0; k < v->n; k++)
		if (!sym_known(v->ints[k]))
			return NULL;
	reals = mem_arena_array(o->arena, v->n, sizeof *reals);
	for (size_t k = 0; reals && k < v->n; k++)
		reals[k] = (double)v->ints[k].v;
	return reals;
}

bool op_int(const op *o, size_t i, sym_int *ret)
{
	size_t n;
	const sym_int *v = op_ints(o, i, &n);

	if (!v || n != 1)
		return false;
	*ret = v[0];
	return true;
}

bool op_int_run(op *o, size_t i, sym_int *ret)
{
	const val *v = op_in(o, i);

	if (op_int(o, i, ret))
		return true;
	if (!v || !v->has_seen)
		return false;
	*ret = sym_const(v->seen);
	infer_chosen(o, v->seen);
	return true;
}

/* --- attributes --- */

const onnx_attribute *op_attr(const op *o, const char *name)
{
	const onnx_attribute *a = onnx_find_attribute(o->node, name);

	for (const frame *f = o->frame; a && a->ref; f = f->parent) {
		if (!f)
			return NULL;
		const char *ref = a->ref;
		a = onnx_find_attribute(f->call, ref);
		for (size_t i = 0; !a && i < f->function->ndefaults; i++)
			if (f->function->defaults[i].name &&
			    strcmp(f->function->defaults[i].name, ref) == 0)
				a = &f->function->defaults[i];
	}
	return a;
}

/* Files of IR version 1 may leave the type out. */
static bool cost_is(const onnx_attribute *a, int64_t type)
{
	return a && (a->type == type || a->type == ONNX_ATTR_NONE);
}

int64_t op_attr_int(const op *o, const char *name, int64_t otherwise)
{
	const onnx_attribute *a = op_attr(o, name);

	return cost_is(a, ONNX_ATTR_INT) ? a->i : otherwise;
}

bool op_flag(const op *o, const char *name)
{
	return op_attr_int(o, name, 0) != 0;
}

double op_attr_float(const op *o, const char *name, double otherwise)
{
	const onnx_attribute *a = op_attr(o, name);

	return cost_is(a, ONNX_ATTR_FLOAT) ? (double)a->f : otherwise;
}

const char *op_attr_text(const op *o, const char *name)
{
	const onnx_attribute *a = op_attr(o, name);

	return cost_is(a, ONNX_ATTR_STRING) ? a->s.text : NULL;
}

const int64_t *op_attr_ints(const op *o, const char *name, size_t *ret_n)
{
	static const int64_t none;
	const onnx_attribute *a = op_attr(o, name);

	if (!cost_is(a, ONNX_ATTR_INTS))
		return NULL;
	*ret_n = a->nints;
	return a->nints > 0 ? a->ints : &none;
}

const sym_int *op_list(const op *o, const char *name, size_t input, size_t *ret_n)
{
	const int64_t *attr = op_attr_ints(o, name, ret_n);
	sym_int *list = attr ? mem_arena_array(o->arena, *ret_n, sizeof *list) : NULL;

	for (size_t i = 0; list && i < *ret_n; i++)
		list[i] = sym_const(attr[i]);
	return attr ? list : op_ints(o, input, ret_n);
}

const double *op_real_list(const op *o, const char *name, size_t input, size_t *ret_n)
{
	const onnx_attribute *a = op_attr(o, name);
	double *list;

	if (!cost_is(a, ONNX_ATTR_FLOATS))
		return op_reals(o, input, ret_n);
	list = mem_arena_array(o->arena, a->nfloats, sizeof *list);
	*ret_n = list ? a->nfloats : 0;
	for (size_t i = 0; i < *ret_n; i++)
		list[i] = (double)a->floats[i];
	return list;
}

void op_packed(op *o, size_t i, sym_int elements)
{
	const val *v = op_in(o, i);
	cost_packed *p;

	if (v && !v->tensor)
		v = v->from;
	if (!v || !v->initializer || !v->tensor)
		return;
	p = mem_arena_alloc(o->arena, sizeof *p);
	if (!p)
		return;
	*p = (cost_packed){o->made->packed, v->tensor, elements};
	o->made->packed = p;
}

bool op_axis(op *o, int64_t axis, int rank, int *ret)
{
	if (axis < -rank || axis >= rank)
		return op_misfit(o, "its axis %lld is outside of %d dimensions", (long long)axis,
				 rank);
	*ret = (int)(axis < 0 ? axis + rank : axis);
	return true;
}

bool op_axes(op *o, size_t input, int rank, const int64_t **ret, size_t *ret_n)
{
	size_t n = 0;
	const sym_int *from = op_list(o, "axes", input, &n);
	bool seen[COST_RANK_MAX] = {false};
	int64_t *axes;

	*ret = NULL;
	*ret_n = 0;
	if (!from && op_in(o, input))
		op_unknown(o, "its axes depend on values");
	if (!from)
		return !op_in(o, input);
	axes = mem_arena_array(o->arena, n, sizeof *axes);
	if (n > (size_t)rank || rank > COST_RANK_MAX || !axes)
		return op_unknown(o, "it names more axes than there are dimensions");
	for (size_t i = 0; i < n; i++) {
		int axis = 0;
		if (!sym_known(from[i]))
			return op_unknown(o, "its axes depend on values");
		if (!op_axis(o, from[i].v, rank, &axis))
			return false;
		if (seen[axis])
			return op_unknown(o, "it names an axis twice");
		seen[axis] = true;
	}
	size_t k = 0;
	for (int i = 0; i < rank; i++)
		if (seen[i])
			axes[k++] = i;
	*ret = axes;
	*ret_n = n;
	return true;
}

/* --- answers --- */

sym_int *op_dims(op *o, size_t n)
{
	sym_int *p = mem_arena_array(o->arena, n, sizeof *p);

	return p || n > ONNX_INTS_MAX ? p : o->infer->scratch;
}

sym_int *op_copy_dims(op *o, const val *v, size_t more)
{
	sym_int *dims = op_dims(o, (size_t)v->rank + more);

	if (v->rank)
		memcpy(dims, v->dims, (size_t)v->rank * sizeof *dims);
	return dims;
}

void op_set(op *o, size_t i, int64_t dtype, int rank, const sym_int *dims)
{
	val *v = op_out(o, i);

	if (!v)
		return;
	v->kind = VAL_TENSOR;
	v->dtype = dtype;
	if (rank < 0 || rank > COST_RANK_MAX) {
		v->why = "it would have more dimensions than any operator takes";
		return;
	}
	for (int k = 0; k < rank; k++)
		if (sym_known(dims[k]) && dims[k].v < 0) {
			v->why = "a dimension would be negative";
			return;
		}
	v->dims = mem_arena_array(o->arena, (size_t)rank, sizeof *v->dims);
	if (!v->dims)
		return;
	if (rank)
		memcpy(v->dims, dims, (size_t)rank * sizeof *dims);
	v->rank = rank;
	v->why = NULL;
}

void op_set_unknown(op *o, size_t i, int64_t dtype, const char *why, ...)
{
	val *v = op_out(o, i);
	va_list ap;

	if (!v)
		return;
	v->kind = VAL_TENSOR;
	v->dtype = dtype;
	v->rank = -1;
	va_start(ap, why);
	v->why = mem_arena_vfmt(o->arena, why, ap);
	va_end(ap);
}

static void outputs_unknown(op *o, bool misfit, const char *why, va_list ap)
{
	char *text = NULL;

	for (size_t i = 0; i < o->made->nout; i++) {
		val *v = o->made->out[i];
		if (!v || v->rank >= 0 || v->why || v->kind != VAL_TENSOR)
			continue;
		if (!text)
			text = mem_arena_vfmt(o->arena, why, ap);
		v->why = text ? text : "out of memory";
		v->misfit = misfit;
	}
}

bool op_unknown(op *o, const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	outputs_unknown(o, false, why, ap);
	va_end(ap);
	return false;
}

bool op_misfit(op *o, const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	outputs_unknown(o, true, why, ap);
	va_end(ap);
	return false;
}

void op_same(op *o, size_t i, const val *v)
{
	if (v->kind != VAL_TENSOR)
		op_set_val(o, i, v);
	else if (v->rank < 0)
		op_set_unknown(o, i, v->dtype, "%s", v->why ? v->why : "not known");
	else
		op_set(o, i, v->dtype, v->rank, v->dims);
}

void op_set_typed(op *o, int64_t dtype)
{
	const val *x = op_in(o, 0);

	if (!x)
		op_unknown(o, "its input is missing");
	else if (x->kind != VAL_TENSOR)
		op_set_unknown(o, 0, dtype, "%s", x->why ? x->why : "its input is not a tensor");
	else {
		op_same(o, 0, x);
		if (op_out(o, 0))
			op_out(o, 0)->dtype = dtype;
	}
}

const char *cost_node_name(mem_arena *a, const onnx_node *node)
{
	if (node->name && *node->name)
		return node->name;
	for (size_t i = 0; i < node->noutputs; i++)
		if (node->outputs[i] && *node->outputs[i])
			return mem_arena_fmt(a, "%s:%s", node->op, node->outputs[i]);
	return node->op;
}

static const char *op_place_text(op *o, const char *what)
{
	return mem_arena_fmt(o->arena, "%s (%s '%s')", what, o->node->op,
			     cost_node_name(o->arena, o->node));
}

sym_int op_fresh(op *o, const char *what)
{
	return sym_unbacked(o->nums, op_place_text(o, what));
}

sym_int op_choice(op *o, const char *what)
{
	return sym_choice(o->nums, op_place_text(o, what));
}

/* Copies n items of `size` bytes as the contents of output v; NULL: v cannot have them. */
static void *contents(op *o, const val *v, const void *from, size_t n, size_t size)
{
	sym_int elements =
	    v && v->rank >= 0 ? op_product(o, v->dims, (size_t)v->rank) : sym_const(-1);
	void *copy = n <= ONNX_INTS_MAX && sym_is(elements, (int64_t)n)
			 ? mem_arena_array(o->arena, n, size)
			 : NULL;

	if (copy && n)
		memcpy(copy, from, n * size);
	return copy;
}

void op_set_ints(op *o, size_t i, const sym_int *from, size_t n)
{
	val *v = op_out(o, i);
	sym_int *copy = contents(o, v, from, n, sizeof *copy);

	if (!copy)
		return;
	v->ints = copy;
	v->reals = NULL;
	v->n = n;
}

void op_set_reals(op *o, size_t i, const double *from, size_t n)
{
	val *v = op_out(o, i);
	double *copy = contents(o, v, from, n, sizeof *copy);

	if (!copy)
		return;
	v->reals = copy;
	v->ints = NULL;
	v->n = n;
}

void op_set_val(op *o, size_t i, const val *from)
{
	val *v = op_out(o, i);

	if (!v)
		return;
	const char *name = v->name;
	size_t def = v->def, last = v->last_use;
	*v = *from;
	v->name = name;
	v->def = def;
	v->last_use = last;
	v->base = v->inner = NULL;
	v->input = v->initializer = v->learned = false;
	v->tensor = NULL;
	v->from = from->initializer || from->tensor ? (val *)(uintptr_t)from : from->from;
	if (v->rank < 0 && !v->why)
		v->why = "not known";
}

val *op_like(op *o, const val *from)
{
	val *v = mem_arena_alloc(o->arena, sizeof *v);

	if (!v)
		return NULL;
	v->rank = -1;
	v->def = v->last_use = SIZE_MAX;
	v->why = "not known";
	if (!from)
		return v;
	v->name = from->name;
	v->kind = from->kind;
	v->dtype = from->dtype;
	v->rank = from->rank;
	v->dims = from->dims;
	v->why = from->why;
	v->item = from->item;
	return v;
}

val *op_merge(op *o, const val *a, const val *b, const char *what)
{
	val *v = op_like(o, a ? a : b);

	if (!v || !a || !b)
		return v;
	if (a->kind != b->kind) {
		v->kind = VAL_OTHER;
		v->rank = -1;
		v->why = "its type depends on values";
		return v;
	}
	if (a->dtype != b->dtype)
		v->dtype = 0;
	if (a->item || b->item)
		v->item = a->item && b->item ? op_merge(o, a->item, b->item, what)
					     : op_like(o, a->item ? a->item : b->item);
	if (a->rank < 0 || b->rank < 0) {
		v->why = a->rank < 0 ? a->why : b->why;
		v->rank = -1;
		return v;
	}
	if (a->rank != b->rank) {
		v->rank = -1;
		v->why =
		    mem_arena_fmt(o->arena,
				  "%s '%s' makes '%s' of %d or of %d dimensions, by the branch "
				  "or the rounds that it takes",
				  o->node->op, cost_node_name(o->arena, o->node),
				  a->name ? a->name : "?", a->rank, b->rank);
		return v;
	}
	v->dims = op_dims(o, (size_t)a->rank);
	for (int i = 0; i < a->rank && v->dims; i++)
		v->dims[i] = sym_same(a->dims[i], b->dims[i]) ? a->dims[i] : op_fresh(o, what);
	return v;
}

sym_int op_product(op *o, const sym_int *dims, size_t n)
{
	sym_int p = sym_const(1);

	/* A product with a 0 is 0, even where other factors overflow. */
	for (size_t i = 0; i < n; i++)
		if (sym_is(dims[i], 0))
			return sym_const(0);
	for (size_t i = 0; i < n; i++)
		p = sym_mul(o->nums, p, dims[i]);
	return p;
}

sym_int op_elements(op *o, const val *v)
{
	if (!v)
		return sym_const(0);
	if (v->kind != VAL_TENSOR || v->rank < 0)
		return sym_unknown(o->nums, "%s", v->why ? v->why : "a shape is not known");
	return op_product(o, v->dims, (size_t)v->rank);
}

size_t op_small(const val *v)
{
	size_t n = 1;

	if (!v || v->rank < 0)
		return SIZE_MAX;
	for (int i = 0; i < v->rank; i++) {
		if (!sym_known(v->dims[i]) || v->dims[i].v < 0 || v->dims[i].v > ONNX_INTS_MAX)
			return SIZE_MAX;
		n *= (size_t)v->dims[i].v;
		if (n > ONNX_INTS_MAX)
			return SIZE_MAX;
	}
	return n;
}

size_t op_source(const val *v, const val *out, size_t i)
{
	size_t at = 0, stride = 1;

	for (int k = out->rank - 1, j = v->rank - 1; j >= 0; k--, j--) {
		size_t coord = i % (size_t)out->dims[k].v;
		i /= (size_t)out->dims[k].v;
		at += (sym_is(v->dims[j], 1) ? 0 : coord) * stride;
		stride *= (size_t)v->dims[j].v;
	}
	return at;
}

sym_int op_times(op *o, int64_t k, sym_int n)
{
	return sym_mul(o->nums, sym_const(k), n);
}

sym_int op_elements_out(op *o)
{
	for (size_t i = 0; i < o->made->nout; i++)
		if (o->made->out[i])
			return op_elements(o, o->made->out[i]);
	return sym_unknown(o->nums, "it has no output");
}

sym_int op_share(op *o, sym_int a, sym_int b, const char *what)
{
	sym_int whole;

	if (sym_unknown_reason(a) || sym_unknown_reason(b))
		return sym_unknown_reason(a) ? a : b;
	if (sym_is(b, 0) || (sym_known(b) && b.v < 0))
		return sym_unknown(o->nums, "its number of %s is not positive", what);
	if (sym_div_exact(o->nums, a, b, &whole))
		return whole;
	if (sym_known(a) && sym_known(b))
		return sym_unknown(o->nums, "%lld is not a multiple of its %lld %s", (long long)a.v,
				   (long long)b.v, what);
	return sym_floor_div(o->nums, a, b);
}

bool op_broadcast(op *o, const sym_int *a, int na, const sym_int *b, int nb, sym_int **ret_dims,
		  int *ret_rank)
{
	int rank = na > nb ? na : nb;
	sym_int *dims = op_dims(o, (size_t)rank);

	for (int i = 0; i < rank && dims; i++) {
		sym_int x = i < rank - na ? sym_const(1) : a[i - (rank - na)];
		sym_int y = i < rank - nb ? sym_const(1) : b[i - (rank - nb)];
		if (sym_is(x, 1) || sym_same(x, y))
			dims[i] = y;
		else if (sym_is(y, 1))
			dims[i] = x;
		else if (sym_known(x) && sym_known(y)) {
			return op_misfit(o, "its inputs do not fit: %lld and %lld", (long long)x.v,
					 (long long)y.v);
		} else if (sym_known(x))
			dims[i] = x; /* the open size is the same or 1 */
		else if (sym_known(y))
			dims[i] = y;
		else if (sym_unknown_reason(x))
			dims[i] = x;
		else if (sym_unknown_reason(y))
			dims[i] = y;
		else if (sym_same(sym_min(o->nums, x, y), x))
			dims[i] = y; /* y is never smaller than x, so x is the same or 1 */
		else if (sym_same(sym_min(o->nums, x, y), y))
			dims[i] = x;
		else if (sym_lower_bound(o->nums, x) >= 1 && sym_lower_bound(o->nums, y) >= 1)
			dims[i] =
			    sym_max(o->nums, x, y); /* they are the same, or one of them is 1 */
		else
			dims[i] =
			    op_fresh(o, mem_arena_fmt(o->arena, "a size that is %s or %s",
						      sym_text(o->nums, x), sym_text(o->nums, y)));
	}
	*ret_dims = dims;
	*ret_rank = rank;
	return dims != NULL;
}

/* --- cost --- */

void op_cost(op *o, sym_int macs, sym_int flops)
{
	o->made->macs = macs;
	o->made->flops = flops;
}

void op_cost_macs(op *o, sym_int macs, sym_int extra)
{
	op_cost(o, macs, sym_add(o->nums, op_times(o, 2, macs), extra));
}

void op_products(op *o, const cost_matmul *list, size_t n)
{
	cost_matmul *copy = mem_arena_array(o->arena, n, sizeof *copy);

	if (!copy || !n)
		return;
	memcpy(copy, list, n * sizeof *copy);
	o->made->products = copy;
	o->made->nproducts = n;
}

void op_cost_flops(op *o, sym_int flops)
{
	op_cost(o, sym_const(0), flops);
}

void op_cost_more(op *o, sym_int flops)
{
	o->made->flops = sym_add(o->nums, o->made->flops, flops);
}

static sym_int none_because(op *o, const char *why, va_list ap)
{
	const char *text = mem_arena_vfmt(o->arena, why, ap);

	return sym_unknown(o->nums, "%s", text ? text : "out of memory");
}

void op_cost_unknown(op *o, const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	sym_int none = none_because(o, why, ap);
	va_end(ap);
	op_cost(o, none, none);
}

void op_flops_unknown(op *o, const char *why, ...)
{
	va_list ap;

	va_start(ap, why);
	op_cost_flops(o, none_because(o, why, ap));
	va_end(ap);
}

/* --- rules that many rows share --- */

void shape_same(op *o)
{
	const val *x = op_given(o, 0);

	if (!x)
		return;
	for (size_t i = 0; i < o->made->nout; i++)
		op_same(o, i, x);
}

void shape_same_first(op *o)
{
	const val *x = op_given(o, 0);

	if (x)
		op_same(o, 0, x);
}

void op_one_type(op *o, const size_t *inputs, size_t n)
{
	val *out = op_out(o, 0);
	int64_t one = 0;

	for (size_t i = 0; i < n && out; i++) {
		const val *v = op_in(o, inputs ? inputs[i] : i);
		const int64_t dtype = v && v->kind == VAL_TENSOR ? v->dtype : 0;

		if (!one)
			one = dtype;
		if (!dtype || dtype == one)
			continue;
		out->why =
		    mem_arena_fmt(o->arena, "its inputs have two types: %s and %s",
				  cost_dtype_text(one, o->arena), cost_dtype_text(dtype, o->arena));
		out->misfit = out->why != NULL;
		return;
	}
}

void op_set_broadcast(op *o, const size_t *inputs, size_t n, int64_t dtype)
{
	const val *x = op_need(o, inputs ? inputs[0] : 0);
	sym_int *dims = x ? x->dims : NULL;
	int rank = x ? x->rank : 0;

	for (size_t i = 1; x && i < n; i++) {
		const val *y = op_need(o, inputs ? inputs[i] : i);
		if (!y || !op_broadcast(o, dims, rank, y->dims, y->rank, &dims, &rank))
			x = NULL;
	}
	if (x)
		op_set(o, 0, dtype, rank, dims);
	else if (op_out(o, 0))
		op_out(o, 0)->dtype = dtype;
}

void shape_broadcast(op *o)
{
	op_set_broadcast(o, NULL, o->made->nin, op_type(o, 0, 0));
}

void shape_broadcast_bool(op *o)
{
	op_set_broadcast(o, NULL, o->made->nin, ONNX_BOOL);
}

void cost_each(op *o)
{
	op_cost_flops(o, op_times(o, o->row->flops, op_elements_out(o)));
}

void cost_each_in(op *o)
{
	op_cost_flops(o, op_times(o, o->row->flops, op_elements(o, op_in(o, 0))));
}

void cost_in_out(op *o)
{
	op_cost_flops(o, op_times(o, o->row->flops_in, op_elements(o, op_in(o, 0))));
	op_cost_more(o, op_times(o, o->row->flops, op_elements_out(o)));
}

void cost_uncounted(op *o)
{
	op_cost_unknown(o, "deepclock does not count what %s computes", o->node->op);
}

static const char by_values[] = "how much it computes depends on values";

void cost_by_values(op *o)
{
	op_flops_unknown(o, by_values);
}

void cost_all_by_values(op *o)
{
	op_cost_unknown(o, by_values);
}

const char *cost_dtype_text(int64_t dtype, mem_arena *a)
{
	const char *text = dtype_onnx_text(dtype);

	if (!text)
		text = mem_arena_fmt(a, "type %lld", (long long)dtype);
	return text ? text : "?";
}
