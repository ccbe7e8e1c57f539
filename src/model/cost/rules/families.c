/* families.c - the table of all families of operators. The rows of a family are in one file, after
 * the rules that they name.
 *
 * Example: for the node Softmax of the domain "" the inference searches each family of that domain
 * for a row of that name, and finds {"Softmax", shape_same, cost_each, 5, ...} in nn.c: the output
 * has the shape of the input, and each of its elements takes 5 FLOPs.
 *
 * Invariants: the rows of a family are in the order of strcmp(), because they are searched by
 * bisection. A name is in one family of its domain. A row is constant: differences between two
 * operators with the same rules are in its members, not in separate functions.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/op.h"

#include <string.h>

const op_family *const op_families[] = {
    &op_family_control,
    &op_family_math_einsum,
    &op_family_math_fold,
    &op_family_math_linear,
    &op_family_math_reduce,
    &op_family_math_signal,
    &op_family_microsoft,
    &op_family_microsoft_attention,
    &op_family_microsoft_other,
    &op_family_microsoft_product,
    &op_family_ml,
    &op_family_nchwc,
    &op_family_nhwc,
    &op_family_nn,
    &op_family_nn_attention,
    &op_family_nn_norm,
    &op_family_preview,
    &op_family_quant,
    &op_family_sequence,
    &op_family_tensor_image,
    &op_family_tensor_make,
    &op_family_tensor_pick,
    &op_family_tensor_reshape,
    &op_family_tensor_text,
    &op_family_training,
    NULL,
};

/* Returns whether the next row of family f precedes the next row of g, or g has no more rows. */
static bool families_before(const op_family *f, size_t at_f, const op_family *g, size_t at_g)
{
	int order = at_g < g->nrows ? strcmp(f->domain, g->domain) : -1;

	return order < 0 || (order == 0 && strcmp(f->rows[at_f].name, g->rows[at_g].name) < 0);
}

const op_row *op_row_at(size_t i, const char **ret_domain)
{
	size_t at[sizeof op_families / sizeof *op_families] = {0}, least = 0;

	for (size_t step = 0; step <= i; step++) {
		at[least] += step > 0;
		for (size_t f = 0; op_families[f]; f++)
			if (at[f] < op_families[f]->nrows &&
			    families_before(op_families[f], at[f], op_families[least], at[least]))
				least = f;
		if (at[least] >= op_families[least]->nrows)
			return NULL;
	}
	*ret_domain = op_families[least]->domain;
	return &op_families[least]->rows[at[least]];
}
