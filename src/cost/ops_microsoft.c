/* ops_microsoft.c - the table of ONNX Runtime's own operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/op.h"

static const op_row rows[] = {
    {.name = "Gelu", .shape = shape_same, .cost = cost_each, .flops = 5},
};

const op_family op_family_microsoft = {"com.microsoft", rows, sizeof rows / sizeof *rows};
