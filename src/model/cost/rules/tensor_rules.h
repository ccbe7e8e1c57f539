/* tensor_rules.h - what the rules of operators that move, make and select data share.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_TENSOR_RULES_H
#define COST_RULES_TENSOR_RULES_H

#include "model/cost/op.h"

/* Element k of the output gets the content of element from[k] of the input; SIZE_MAX in `from`
 * stands for a 0. Nothing happens where the input's contents are not known. */
void tensor_pick(op *o, size_t input, size_t output, const size_t *from, size_t n);
/* An arrangement of the contents of input 0 in an output: a step along dimension k of the output is
 * a step of jump[k] elements in the input; after wrap[k] steps (0: never) it begins again. The
 * first element of the output is `first`. Example: the transpose of [2, 3] has jumps of 1 and 3. */
typedef struct tensor_view {
	size_t first, jump[COST_RANK_MAX], wrap[COST_RANK_MAX];
} tensor_view;
/* The view in which the output is the input; false: the input's contents are not known. */
bool tensor_view_init(op *o, tensor_view *ret);
void tensor_view_set(op *o, size_t output, const tensor_view *w);
/* The shape that the contents of an input state; `what` describes the sizes that are not known.
 * False, after op_unknown(): even the rank is not known. */
bool tensor_dims_of(op *o, size_t input, sym_int **ret_dims, int *ret_rank, const char *what);
int64_t tensor_dtype_attr(const op *o, const char *name, int64_t otherwise);

/* Rules of ONNX's operators that those of ONNX Runtime of the same name have too. */
void shape_gather_nd(op *o);
void shape_grid_sample(op *o);
void shape_pad(op *o);
void shape_range(op *o); /* a step that is missing is 1 */

#endif
