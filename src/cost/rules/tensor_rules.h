/* tensor_rules.h - rules that the table of operators that move, make and select data names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_TENSOR_RULES_H
#define COST_RULES_TENSOR_RULES_H

#include "cost/op.h"

/* tensor_base.c */
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
bool tensor_dims_of(op *o, size_t input, num **ret_dims, int *ret_rank, const char *what);
int64_t tensor_dtype_attr(const op *o, const char *name, int64_t otherwise);

/* tensor_reshape.c */
void shape_identity(op *o);
void shape_reshape(op *o);
void shape_squeeze(op *o);
void shape_unsqueeze(op *o);
void shape_flatten(op *o);
void shape_transpose(op *o);
void shape_expand(op *o);
void shape_tile(op *o);
void shape_concat(op *o);
void shape_split(op *o);
void shape_depth_to_space(op *o);
void shape_space_to_depth(op *o);
void shape_dropout(op *o);

/* tensor_pick.c */
void shape_slice(op *o);
void shape_gather(op *o);
void shape_gather_elements(op *o);
void shape_gather_nd(op *o);
void shape_scatter_nd(op *o);
void shape_compress(op *o);
void shape_topk(op *o);
void shape_nonzero(op *o);
void shape_unique(op *o);
void shape_where(op *o);

/* tensor_make.c */
void shape_constant(op *o);
void shape_constant_of_shape(op *o);
void shape_range(op *o);
void shape_shape(op *o);
void shape_size(op *o);
void shape_cast(op *o);
void shape_bit_cast(op *o);
void shape_cast_like(op *o);
void shape_one_hot(op *o);
void shape_like_typed(op *o);
void shape_random(op *o);
void shape_multinomial(op *o);

/* tensor_image.c */
void shape_pad(op *o);
void shape_resize(op *o);
void cost_resize(op *o);
void shape_upsample(op *o);
void shape_grid_sample(op *o);
void cost_grid_sample(op *o);
void shape_affine_grid(op *o);
void cost_affine_grid(op *o);
void shape_roi_align(op *o);
void cost_roi_align(op *o);
void shape_max_roi_pool(op *o);
void shape_col2im(op *o);
void shape_center_crop_pad(op *o);
void shape_nms(op *o);
void shape_image_decoder(op *o);
void cost_by_values(op *o);

/* tensor_text.c */
void shape_string_normalizer(op *o);
void shape_string_split(op *o);
void shape_string_concat(op *o);
void shape_regex(op *o);
void shape_tfidf(op *o);

#endif
