/* families.c - the table of tables of operators.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/op.h"

const op_family *const op_families[] = {
    &op_family_math,  &op_family_tensor,    &op_family_nn, &op_family_sequence, &op_family_control,
    &op_family_quant, &op_family_microsoft, &op_family_ml, &op_family_training, &op_family_preview,
    &op_family_nchwc, &op_family_nhwc,	    NULL,
};
