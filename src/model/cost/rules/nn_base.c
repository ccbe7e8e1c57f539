/* nn_base.c - arithmetic, activation functions and matrix products that several tables share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/nn.h"

#include <ctype.h>

/* --- activation functions --- */

typedef struct activation {
	const char *name;
	int64_t flops;
} activation;

/* FLOPs as ONNX defines the functions: one for each arithmetic operation, comparison and elementary
 * function. */
static const activation activations[] = {
    {"affine", 2},	/* a * x + b */
    {"clip", 2},	/* min, max */
    {"elu", 4},		/* compare, exp, -1, * */
    {"fastgelu", 9},	/* 0.5 * x * (1 + tanh(c * (x + d * x^3))) */
    {"gelu", 5},	/* 0.5 * x * (1 + erf(x / c)) */
    {"hardsigmoid", 4}, /* a * x + b, max, min */
    {"hardswish", 5},	/* x * hardsigmoid(x) */
    {"identity", 0},
    {"leakyrelu", 2}, /* compare, * */
    {"none", 0},
    {"quickgelu", 6},	    /* x * sigmoid(a * x) */
    {"relu", 1},	    /* max */
    {"scaledtanh", 3},	    /* a * tanh(b * x) */
    {"sigmoid", 4},	    /* negate, exp, +1, 1/ */
    {"silu", 5},	    /* x * sigmoid(x) */
    {"softmax", 5},	    /* max, -, exp, sum, / */
    {"softplus", 3},	    /* exp, +1, log */
    {"softsign", 3},	    /* abs, +1, / */
    {"swish", 5},	    /* x * sigmoid(x) */
    {"tanh", 1},	    /* */
    {"thresholdedrelu", 1}, /* compare */
};

/* Some operators write the names with capitals, some without. */
static bool base_same_name(const char *a, const char *lower)
{
	while (*a && tolower((unsigned char)*a) == *lower) {
		a++;
		lower++;
	}
	return !*a && !*lower;
}

int64_t activation_flops(const char *name)
{
	for (size_t i = 0; i < sizeof activations / sizeof *activations; i++)
		if (base_same_name(name, activations[i].name))
			return activations[i].flops;
	return -1;
}

sym_int activation_cost(op *o, const char *attribute, sym_int elements)
{
	const char *name = op_attr_text(o, attribute);
	int64_t flops = name && *name ? activation_flops(name) : 0;

	if (flops < 0)
		return sym_unknown(o->nums, "deepclock does not count its activation");
	return op_times(o, flops, elements);
}

/* --- products --- */

static bool contracts(op *o, sym_int a, sym_int b)
{
	if (!sym_known(a) || !sym_known(b) || a.v == b.v)
		return true;
	return op_misfit(o, "its matrices do not fit: %lld columns and %lld rows", (long long)a.v,
			 (long long)b.v);
}

void product_set(op *o, const sym_int *a, int na, const sym_int *b, int nb, int64_t dtype)
{
	sym_int *batch, *dims;
	int rank;

	if (na < 1 || nb < 1) {
		op_unknown(o, "it multiplies a number without dimensions");
		return;
	}
	if (!contracts(o, a[na - 1], b[nb > 1 ? nb - 2 : 0]) ||
	    !op_broadcast(o, a, na > 2 ? na - 2 : 0, b, nb > 2 ? nb - 2 : 0, &batch, &rank))
		return;
	dims = op_dims(o, (size_t)rank + 2);
	for (int i = 0; i < rank; i++)
		dims[i] = batch[i];
	if (na > 1)
		dims[rank++] = a[na - 2];
	if (nb > 1)
		dims[rank++] = b[nb - 1];
	op_set(o, 0, dtype, rank, dims);
}

static const sym_int *swapped(op *o, const val *v, bool swap)
{
	if (!swap || v->rank < 2)
		return v->dims;
	sym_int *dims = op_copy_dims(o, v, 0);
	dims[v->rank - 1] = v->dims[v->rank - 2];
	dims[v->rank - 2] = v->dims[v->rank - 1];
	return dims;
}

void product_shape(op *o, size_t ia, size_t ib, bool ta, bool tb, int64_t dtype)
{
	const val *a = op_need_rank(o, ia, 1), *b = a ? op_need_rank(o, ib, 1) : NULL;

	if (b)
		product_set(o, swapped(o, a, ta), a->rank, swapped(o, b, tb), b->rank, dtype);
}

sym_int product_macs(op *o, size_t ia, bool ta, size_t ib, bool tb)
{
	const val *a = op_in(o, ia), *b = ib != ia ? op_in(o, ib) : NULL;

	if (!a || a->rank < 1)
		return sym_unknown(o->nums, "%s",
				   a && a->why ? a->why : "the shape of its input is not known");
	sym_int inner = a->dims[a->rank - (ta && a->rank > 1 ? 2 : 1)];
	if (!sym_known(inner) && b && b->rank >= 1) {
		const sym_int rows = b->dims[b->rank == 1 || tb ? b->rank - 1 : b->rank - 2];
		inner = sym_known(rows) ? rows : inner;
	}
	return sym_mul(o->nums, op_elements_out(o), inner);
}

void product_rows_shape(op *o, size_t ia, sym_int n, int64_t dtype)
{
	const val *a = op_need_rank(o, ia, 1);

	if (!a)
		return;
	sym_int *dims = op_copy_dims(o, a, 0);
	dims[a->rank - 1] = n;
	op_set(o, 0, dtype, a->rank, dims);
}

const product_form product_plain = {.a = 0, .b = 1, .bias = OP_NO_INPUT};

void shape_product(op *o)
{
	const product_form *f = o->row->form;
	bool ta = f->transposes && op_flag(o, "transA"), tb = f->transposes && op_flag(o, "transB");

	product_shape(o, f->a, f->b, ta, tb, f->dtype ? f->dtype : op_type(o, f->typed, 0));
}

void product_cost(op *o, sym_int macs, int64_t each)
{
	sym_int elements = op_elements_out(o);
	sym_int extra = sym_add(o->nums, op_times(o, each, elements),
				activation_cost(o, "activation", elements));

	op_cost_macs(o, macs, extra);
}

void cost_product(op *o)
{
	const product_form *f = o->row->form;
	sym_int macs = product_macs(o, f->a, f->transposes && op_flag(o, "transA"), f->b,
				    f->transposes && op_flag(o, "transB"));
	int64_t each = f->each + op_has(o, f->bias);

	if (f->activates)
		product_cost(o, macs, each);
	else
		op_cost_macs(o, macs, op_times(o, each, op_elements_out(o)));
	if (f->each_a)
		op_cost_more(o, op_times(o, f->each_a, op_elements(o, op_in(o, f->a))));
}
