/* nn_rules.h - rules that only the table of neural network operators names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_NN_RULES_H
#define COST_RULES_NN_RULES_H

#include "cost/op.h"

void shape_attention(op *o);
void cost_attention(op *o);
void shape_flex_attention(op *o);
void cost_flex_attention(op *o);
void shape_batch_norm(op *o);
void cost_batch_norm(op *o);
void cost_lrn(op *o);
void shape_clip(op *o);
void cost_clip(op *o);
void cost_gelu(op *o);
void cost_swish(op *o);
void shape_loss(op *o);
void cost_nll_loss(op *o);
void cost_cross_entropy(op *o);

#endif
