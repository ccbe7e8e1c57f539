/* ops_quant.c - the table of ONNX's quantised operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/op.h"

static const op_row rows[] = {
    {.name = "QuantizeLinear", .shape = shape_same_first, .cost = cost_each, .flops = 4},
};

const op_family op_family_quant = {"", rows, sizeof rows / sizeof *rows};
