/* microsoft_rules.h - rules that the table of ONNX Runtime's own operators names.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef COST_RULES_MICROSOFT_RULES_H
#define COST_RULES_MICROSOFT_RULES_H

#include "cost/op.h"

/* --- microsoft_attention.c --- */

/* The form of a row of an attention that projects its input: which input is what. */
typedef struct ms_projected {
	size_t weights, bias, mask, past, more_bias, past_length;
	size_t typed; /* the input that has the output's type */
} ms_projected;
extern const ms_projected ms_attention, ms_qattention;
void shape_ms_projected(op *o);
void cost_ms_projected(op *o);
void shape_ms_qordered_attention(op *o);
void cost_ms_qordered_attention(op *o);
void shape_ms_multi_head(op *o);
void cost_ms_multi_head(op *o);
void shape_ms_group_query(op *o);
void cost_ms_group_query(op *o);
void shape_ms_packed_attention(op *o);
void shape_ms_packed_multi_head(op *o);
void shape_ms_cached_attention(op *o);
void shape_ms_decoder_attention(op *o);
void shape_ms_relative_bias(op *o);
void shape_ms_gated_bias(op *o);
void cost_ms_values(op *o);

/* --- microsoft_product.c --- */

void shape_ms_fused_matmul(op *o);
void cost_ms_fused_matmul(op *o);
void cost_ms_gemm(op *o);
void shape_ms_qgemm(op *o);
void cost_ms_qgemm(op *o);
void shape_ms_gemm_float8(op *o);
void shape_ms_matmul_nbits(op *o);
void cost_ms_matmul_nbits(op *o);
void shape_ms_nbits_mlp(op *o);
void cost_ms_nbits_mlp(op *o);
void shape_ms_nbits_qkv(op *o);
void cost_ms_nbits_qkv(op *o);
void shape_ms_block(op *o);
void cost_ms_moe(op *o);

/* --- microsoft_other.c --- */

void shape_ms_skip_norm(op *o);
void cost_ms_skip_layer_norm(op *o);
void cost_ms_skip_rms_norm(op *o);
void shape_ms_embed_norm(op *o);
void cost_ms_embed_norm(op *o);
void shape_ms_qembed_norm(op *o);
void cost_ms_group_norm(op *o);
void cost_ms_skip_group_norm(op *o);
void cost_ms_fast_gelu(op *o);
void shape_ms_split_gelu(op *o);
void shape_ms_cdist(op *o);
void cost_ms_cdist(op *o);
void shape_ms_qlinear_binary(op *o);
void shape_ms_qlinear_concat(op *o);
void shape_ms_qlinear_where(op *o);
void shape_ms_qlinear_reduce(op *o);
void shape_ms_reduce_integer(op *o);
void shape_ms_mul_integer(op *o);
void shape_ms_crop_resize(op *o);
void shape_ms_grid_sample(op *o);
void shape_ms_expand_dims(op *o);
void shape_ms_finite(op *o);
void shape_ms_rfft(op *o);
void shape_ms_irfft(op *o);
void shape_ms_hash(op *o);
void shape_ms_ngram(op *o);
void shape_ms_ngram_repeat(op *o);
void shape_ms_pad(op *o);
void shape_ms_range(op *o);
void shape_ms_remove_padding(op *o);
void shape_ms_restore_padding(op *o);
void shape_ms_tokenizer(op *o);
void shape_ms_embedding(op *o);
void shape_ms_unfold(op *o);
void shape_ms_unique(op *o);
void shape_ms_gather_nd(op *o);
void shape_ms_gather_quantized(op *o);
void cost_ms_gather_quantized(op *o);
void shape_ms_dropout(op *o);
void shape_ms_bitmask_dropout(op *o);
void shape_ms_order_quantize(op *o);
void shape_ms_order_dequantize(op *o);
void shape_ms_pre_mix(op *o);
void cost_ms_post_mix(op *o);
void shape_ms_gate(op *o);
void cost_ms_gate(op *o);
void shape_ms_engram(op *o);
void shape_ms_gemma_rotary(op *o);
void shape_ms_varlen_conv(op *o);

#endif
