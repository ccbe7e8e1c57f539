/* ops_nn.c - the table of neural network operators of ONNX.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/op.h"

static const op_row rows[] = {
    {.name = "Relu", .shape = shape_same, .cost = cost_each, .flops = 1},
};

const op_family op_family_nn = {"", rows, sizeof rows / sizeof *rows};
