/* tensor_rules.h - shared rules of operators that move, make and select data.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_TENSOR_RULES_H
#define COST_RULES_TENSOR_RULES_H

#include "model/cost/op.h"

/* Sets the content of element k of the output to element from[k] of the input; SIZE_MAX in `from`
 * means 0. Does nothing if the input's contents are not known. */
void tensor_pick(op *o, size_t input, size_t output, const size_t *from, size_t n);
/* A strided view of the contents of input 0 in an output: a step along dimension k of the output is
 * a step of jump[k] elements in the input; after wrap[k] steps (0: never) it begins again. The
 * first element of the output is `first`. Example: the transpose of [2, 3] has jumps of 1 and 3. */
typedef struct tensor_view {
	size_t first, jump[COST_RANK_MAX], wrap[COST_RANK_MAX];
} tensor_view;
/* Initializes the identity view; false: the input's contents are not known. */
bool tensor_view_init(op *o, tensor_view *ret);
void tensor_view_set(op *o, size_t output, const tensor_view *w);
/* Reads a shape from the contents of an input; `what` describes the sizes that are not known.
 * False, after op_unknown(): even the rank is not known. */
bool tensor_dims_of(op *o, size_t input, sym_int **ret_dims, int *ret_rank, const char *what);
int64_t tensor_dtype_attr(const op *o, const char *name, int64_t otherwise);

/* Rules of ONNX's operators that ONNX Runtime's operators of the same name share. */
void shape_gather_nd(op *o);
void shape_grid_sample(op *o);
void shape_pad(op *o);
void shape_range(op *o); /* a step that is missing is 1 */

#endif
