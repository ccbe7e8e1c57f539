/* families.c - the table of all rules: which families of operators there are. The rows of a
 * family stand behind the rules that they name, in one file.
 *
 * Example: for the node Softmax of the domain "" the inference looks in each family of that domain
 * for a row of that name, and finds {"Softmax", shape_same, cost_each, 5, ...} in nn.c: the output
 * has the shape of the input, and each of its elements takes 5 FLOPs.
 *
 * Invariants: the rows of a family are in the order of strcmp(), for they are searched by
 * bisection. A name is in one family of its domain. A row is constant: what differs between two
 * operators with the same rules stands in its members, not in a function for each.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/op.h"

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
