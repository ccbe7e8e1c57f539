/* microsoft_other.c - ONNX Runtime's normalisations, activations, quantised elementwise operators
 * and other operators that are neither attention nor a product.
 * https://github.com/microsoft/onnxruntime/blob/main/docs/ContribOperators.md
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "base/dtype.h"
#include "model/cost/rules/math_rules.h"
#include "model/cost/rules/nn.h"
#include "model/cost/rules/tensor_rules.h"

#include <math.h>
#include <string.h>

static void cost_in(op *o, int64_t each)
{
	op_cost_flops(o, op_times(o, each, op_elements(o, op_in(o, 0))));
}

/* --- normalisation --- */

/* The mean and the deviation are outputs in training only. */
static void shape_skip_norm(op *o)
{
	const val *x = op_given(o, 0);

	if (!x)
		return;
	op_same(o, 0, x);
	op_same(o, 3, x);
	op_unknown(o, "engines give it in training only");
}

static void cost_skip_layer_norm(op *o)
{
	cost_in(o, 1 + op_has(o, 4) + 6 + op_has(o, 3));
}

static void cost_skip_rms_norm(op *o)
{
	cost_in(o, 1 + op_has(o, 3) + 4);
}

static void embed_shape(op *o, size_t words, int64_t dtype)
{
	const val *ids = op_need_rank(o, 0, 2), *w = ids ? op_need_rank(o, words, 2) : NULL;

	if (!w)
		return;
	sym_int out[] = {ids->dims[0], ids->dims[1], w->dims[1]};
	op_set(o, 0, dtype, 3, out);
	op_set(o, 1, ONNX_INT32, 1, out);
	op_set(o, 2, dtype, 3, out);
}

static void shape_embed_norm(op *o)
{
	embed_shape(o, 2, op_type(o, 2, 0));
}

static void shape_qembed_norm(op *o)
{
	embed_shape(o, 2, op_type(o, 8, ONNX_FLOAT));
}

/* A look-up reads only the selected rows of a table: the number of elements of the output. */
static void read_rows_only(op *o, size_t i)
{
	const val *table = op_in(o, i);
	sym_int all, rows;

	/* Without an element to write it has read nothing. */
	if (!table || sym_is(op_elements(o, op_out(o, 0)), 0))
		return;
	const sym_int bytes = sym_const(dtype_onnx_bits(table->dtype) / 8);
	all = sym_mul(o->nums, table->constant ? o->made->constant_reads : o->made->times,
		      op_elements(o, table));
	rows = sym_mul(o->nums, o->made->times, op_elements(o, op_out(o, 0)));
	o->made->read_bytes = sym_add(o->nums, o->made->read_bytes,
				      sym_mul(o->nums, bytes, sym_sub(o->nums, rows, all)));
}

/* The normalised sum of two or three embeddings, which are dequantised first where they are
 * quantised. */
static void cost_embed_norm(op *o)
{
	int64_t terms = 2 + op_has(o, 4), each = terms - 1 + 7;

	if (o->node->op[0] == 'Q')
		each += 2 * terms;
	for (size_t i = 2; i <= 4; i++)
		read_rows_only(o, i);
	op_cost_flops(o, op_times(o, each, op_elements(o, op_out(o, 0))));
}

static int64_t silu_flops(const op *o)
{
	return op_attr_int(o, "activation", 0) ? 5 : 0;
}

static void cost_group_norm(op *o)
{
	cost_in(o, 7 + silu_flops(o));
}

static void cost_skip_group_norm(op *o)
{
	cost_in(o, 1 + op_has(o, 4) + 7 + silu_flops(o));
}

/* --- activations --- */

static void cost_fast_gelu(op *o)
{
	cost_in(o, activation_flops("fastgelu") + op_has(o, 1));
}

static void shape_split_gelu(op *o)
{
	const val *x = op_need_rank(o, 0, 1);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 0);
	dims[x->rank - 1] = op_share(o, dims[x->rank - 1], sym_const(2), "halves");
	op_set(o, 0, x->dtype, x->rank, dims);
}

static void microsoft_shape_dropout(op *o)
{
	const val *x = op_need(o, 0);

	if (!x)
		return;
	op_same(o, 0, x);
	op_set(o, 1, ONNX_BOOL, x->rank, x->dims);
}

static void shape_bitmask_dropout(op *o)
{
	const val *x = op_need(o, 0);

	if (!x)
		return;
	sym_int words = sym_ceil_div(o->nums, op_elements(o, x), sym_const(32));
	op_same(o, 0, x);
	op_set(o, 1, ONNX_UINT32, 1, &words);
}

/* --- quantised elementwise --- */

static void shape_qlinear_binary(op *o)
{
	op_set_broadcast(o, (const size_t[]){0, 3}, 2, op_type(o, 0, 0));
}

static void shape_qlinear_where(op *o)
{
	op_set_broadcast(o, (const size_t[]){0, 1, 4}, 3, op_type(o, 1, 0));
}

static void shape_mul_integer(op *o)
{
	op_set_broadcast(o, (const size_t[]){0, 2}, 2, ONNX_INT32);
}

static void shape_qlinear_concat(op *o)
{
	const val *first = op_need_rank(o, 2, 1);
	int axis;

	if (!first || !op_axis(o, op_attr_int(o, "axis", 0), first->rank, &axis))
		return;
	sym_int *dims = op_copy_dims(o, first, 0);
	for (size_t i = 5; i < o->made->nin; i += 3) {
		const val *v = op_need(o, i);
		if (!v)
			return;
		if (v->rank != first->rank) {
			op_unknown(o, "its inputs have different numbers of dimensions");
			return;
		}
		dims[axis] = sym_add(o->nums, dims[axis], v->dims[axis]);
	}
	op_set(o, 0, op_type(o, 1, first->dtype), first->rank, dims);
}

static void reduced(op *o, int64_t dtype)
{
	const val *x = op_need(o, 0);
	bool gone[COST_RANK_MAX] = {false};
	const int64_t *axes;
	size_t n;

	if (!x || !op_axes(o, SIZE_MAX, x->rank, &axes, &n))
		return;
	for (size_t i = 0; i < n; i++)
		gone[axes[i]] = true;
	for (int i = 0; i < x->rank && !n; i++)
		gone[i] = true;
	math_reduce(o, x, gone, dtype);
}

static void shape_qlinear_reduce(op *o)
{
	reduced(o, op_type(o, 0, 0));
}

static void shape_reduce_integer(op *o)
{
	reduced(o, op_type(o, 0, ONNX_INT8) == ONNX_UINT8 ? ONNX_UINT32 : ONNX_INT32);
}

static void shape_order_quantize(op *o)
{
	op_set_typed(o, ONNX_INT8);
}

static void shape_order_dequantize(op *o)
{
	op_set_typed(o, op_attr_int(o, "to", ONNX_FLOAT));
}

/* --- images and signals --- */

static void shape_crop_resize(op *o)
{
	const val *x = op_need_rank(o, 0, 4), *rois = x ? op_need_rank(o, 1, 1) : NULL;
	size_t n = 0;
	const sym_int *size = op_ints(o, 3, &n);

	if (!rois)
		return;
	bool known = size && n == 2;
	sym_int dims[] = {rois->dims[0], x->dims[1],
			  known ? size[0] : op_fresh(o, "the crop's height"),
			  known ? size[1] : op_fresh(o, "the crop's width")};
	op_set(o, 0, x->dtype, 4, dims);
}

/* n samples have n/2 + 1 frequencies; each is a pair of numbers. */
static void shape_rfft(op *o)
{
	const val *x = op_need_rank(o, 0, 1);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 1);
	dims[x->rank - 1] = sym_add(
	    o->nums, sym_floor_div(o->nums, x->dims[x->rank - 1], sym_const(2)), sym_const(1));
	dims[x->rank] = sym_const(2);
	op_set(o, 0, x->dtype, x->rank + 1, dims);
}

static void shape_irfft(op *o)
{
	const val *x = op_need_rank(o, 0, 2);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 0);
	dims[x->rank - 2] = op_times(o, 2, sym_sub(o->nums, x->dims[x->rank - 2], sym_const(1)));
	op_set(o, 0, x->dtype, x->rank - 1, dims);
}

static void shape_unfold(op *o)
{
	const val *x = op_need_rank(o, 0, 1);
	int64_t size = op_attr_int(o, "size", 0), step = op_attr_int(o, "step", 1);
	int axis;

	if (!x || !op_axis(o, op_attr_int(o, "dim", -1), x->rank, &axis))
		return;
	if (size < 1 || step < 1) {
		op_unknown(o, "its size or step is not positive");
		return;
	}
	sym_int *dims = op_copy_dims(o, x, 1), room = sym_sub(o->nums, dims[axis], sym_const(size));
	dims[axis] =
	    sym_known(room) && room.v < 0
		? sym_unknown(o->nums, "its slices are longer than its input")
		: sym_add(o->nums, sym_floor_div(o->nums, room, sym_const(step)), sym_const(1));
	dims[x->rank] = sym_const(size);
	op_set(o, 0, x->dtype, x->rank + 1, dims);
}

/* --- distances --- */

static void shape_cdist(op *o)
{
	const val *a = op_need_rank(o, 0, 2), *b = a ? op_need_rank(o, 1, 2) : NULL;

	if (!b)
		return;
	sym_int dims[] = {a->dims[0], b->dims[0]};
	op_set(o, 0, a->dtype, 2, dims);
}

/* For each pair and coordinate: difference, square, sum. */
static void cost_cdist(op *o)
{
	const char *metric = op_attr_text(o, "metric");
	sym_int pairs = op_elements(o, op_out(o, 0));
	const val *a = op_in(o, 0);
	bool root = metric && strcmp(metric, "euclidean") == 0;

	if (!a || a->rank != 2 || (metric && !root && strcmp(metric, "sqeuclidean") != 0)) {
		op_cost_unknown(o, "deepclock does not count its metric");
		return;
	}
	sym_int each = sym_add(o->nums, op_times(o, 3, a->dims[1]), sym_const(root));
	op_cost_flops(o, sym_mul(o->nums, pairs, each));
}

/* --- shapes and indices --- */

static void shape_expand_dims(op *o)
{
	const val *x = op_need(o, 0);
	sym_int axis;
	int at;

	if (!x)
		return;
	if (!op_int(o, 1, &axis) || !sym_known(axis)) {
		op_unknown(o, "its axis depends on values");
		return;
	}
	if (!op_axis(o, axis.v, x->rank + 1, &at))
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank + 1);
	for (int i = 0; i <= x->rank; i++)
		dims[i] = i == at ? sym_const(1) : x->dims[i - (i > at)];
	op_set(o, 0, x->dtype, x->rank + 1, dims);
}

static void shape_finite(op *o)
{
	op_set(o, 0, ONNX_BOOL, 0, NULL);
}

static void shape_hash(op *o)
{
	op_set_typed(o, op_attr_int(o, "positive", 1) ? ONNX_UINT32 : ONNX_INT32);
}

static void shape_ngram(op *o)
{
	const val *ids = op_need_rank(o, 0, 2);
	sym_int past =
	    sym_sub(o->nums, sym_const(op_attr_int(o, "max_ngram_size", 0)), sym_const(1));

	if (!ids)
		return;
	sym_int hashes = sym_mul(o->nums, past, sym_const(op_attr_int(o, "n_head_per_ngram", 0)));
	sym_int out[] = {ids->dims[0], ids->dims[1], hashes};
	sym_int present[] = {ids->dims[0], past};
	op_set(o, 0, ids->dtype, 3, out);
	op_set(o, 1, ids->dtype, 2, present);
}

static void shape_ngram_repeat(op *o)
{
	if (op_in(o, 1))
		op_same(o, 0, op_in(o, 1));
	else
		op_unknown(o, "its input is missing");
}

static void shape_remove_padding(op *o)
{
	const val *x = op_need_rank(o, 0, 3);

	if (!x)
		return;
	sym_int out[] = {op_fresh(o, "tokens that are not padding"), x->dims[2]};
	sym_int starts = sym_add(o->nums, x->dims[0], sym_const(1)), one = sym_const(1);
	op_set(o, 0, x->dtype, 2, out);
	op_set(o, 1, ONNX_INT32, 2, x->dims);
	op_set(o, 2, ONNX_INT32, 1, &starts);
	op_set(o, 3, ONNX_INT32, 1, &one);
}

static void shape_restore_padding(op *o)
{
	const val *x = op_need_rank(o, 0, 2), *offset = x ? op_need_rank(o, 1, 2) : NULL;

	if (!offset)
		return;
	sym_int out[] = {offset->dims[0], offset->dims[1], x->dims[1]};
	op_set(o, 0, x->dtype, 3, out);
}

static void shape_bifurcation(op *o)
{
	sym_int n = op_fresh(o, "tokens after merging");

	op_set(o, 0, op_type(o, 1, 0), 1, &n);
	if (op_in(o, 2))
		op_same(o, 1, op_in(o, 2));
	op_unknown(o, "its input is missing");
}

/* The path through a matrix of costs: pairs of row and column. */
static void shape_warping(op *o)
{
	sym_int dims[] = {sym_const(2), op_fresh(o, "points of the path")};

	op_set(o, 0, ONNX_INT32, 2, dims);
}

static void shape_word_embedding(op *o)
{
	const val *words = op_need_rank(o, 0, 1), *filters = words ? op_need_rank(o, 1, 1) : NULL;

	if (!filters)
		return;
	sym_int dims[] = {words->dims[0], filters->dims[0]};
	op_set(o, 0, filters->dtype, 2, dims);
}

static void shape_tokenizer(op *o)
{
	const val *x = op_need(o, 0);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 1);
	dims[x->rank] = op_fresh(o, "the most tokens of a text");
	op_set(o, 0, ONNX_STRING, x->rank + 1, dims);
}

static void shape_embedding(op *o)
{
	const val *w = op_need_rank(o, 0, 2), *ids = w ? op_need(o, 1) : NULL;

	if (!ids)
		return;
	sym_int *dims = op_copy_dims(o, ids, 1);
	dims[ids->rank] = w->dims[1];
	op_set(o, 0, w->dtype, ids->rank + 1, dims);
}

static void microsoft_shape_unique(op *o)
{
	const val *x = op_need_rank(o, 0, 1);

	if (!x)
		return;
	sym_int n = op_fresh(o, "values that differ");
	op_set(o, 0, x->dtype, 1, &n);
	op_set(o, 1, ONNX_INT64, 1, x->dims);
	op_set(o, 2, ONNX_INT64, 1, &n);
}

/* How many numbers of the last dimension a byte holds. */
static int64_t packed_in_byte(const op *o)
{
	int64_t bits = op_attr_int(o, "bits", 4);

	return op_type(o, 0, 0) == ONNX_UINT8 && (bits == 2 || bits == 4) ? 8 / bits : 1;
}

static void shape_gather_quantized(op *o)
{
	const val *x = op_need_rank(o, 0, 1), *at = x ? op_need(o, 1) : NULL;
	int axis, rank = 0;

	if (!at || !op_axis(o, op_attr_int(o, "gather_axis", 0), x->rank, &axis))
		return;
	sym_int *dims = op_dims(o, (size_t)x->rank + (size_t)at->rank);
	for (int i = 0; i < x->rank; i++) {
		for (int k = 0; k < at->rank && i == axis; k++)
			dims[rank++] = at->dims[k];
		if (i != axis)
			dims[rank++] = x->dims[i];
	}
	if (axis != x->rank - 1)
		dims[rank - 1] = op_times(o, packed_in_byte(o), dims[rank - 1]);
	op_set(o, 0, op_type(o, 2, 0), rank, dims);
}

/* It reads the rows of the table that it looks up, their scales and zero points, and the indices.
 */
static void gather_quantized_read(op *o, const val *x)
{
	sym_table *t = o->nums;
	const val *at = op_in(o, 1), *scales = op_in(o, 2);
	const int64_t block = op_attr_int(o, "block_size", 128);
	const sym_int out = op_elements(o, op_out(o, 0));
	const sym_int bits = sym_const(dtype_onnx_bits(x->dtype) / packed_in_byte(o));
	const sym_int blocks = sym_ceil_div(t, out, sym_const(block > 0 ? block : 1));
	sym_int all = sym_mul(t, out, bits);

	all = sym_add(t, all, op_times(o, dtype_onnx_bits(at->dtype), op_elements(o, at)));
	all = sym_add(t, all, op_times(o, dtype_onnx_bits(scales->dtype), blocks));
	if (op_has(o, 3))
		all = sym_add(t, all, sym_mul(t, blocks, bits));
	o->made->read_bytes = sym_mul(t, o->made->times, sym_ceil_div(t, all, sym_const(8)));
}

static void cost_gather_quantized(op *o)
{
	const val *x = op_in(o, 0);

	if (x) {
		op_packed(o, 0, op_times(o, packed_in_byte(o), op_elements(o, x)));
		if (op_in(o, 1) && op_in(o, 2))
			gather_quantized_read(o, x);
	}
	op_cost_flops(o, op_times(o, 2, op_elements(o, op_out(o, 0))));
}

/* --- hyper-connections and gates --- */

static void shape_pre_mix(op *o)
{
	const val *x = op_need_rank(o, 0, 1);
	int64_t branches = op_attr_int(o, "num_branches", 0);

	if (!x)
		return;
	sym_int *dims = op_copy_dims(o, x, 0);
	if (branches > 0) {
		dims[x->rank - 1] = op_share(o, dims[x->rank - 1], sym_const(branches), "branches");
		op_set(o, 0, x->dtype, x->rank, dims);
	} else if (x->rank < 2) {
		op_unknown(o, "its input has too few dimensions");
	} else {
		dims[x->rank - 2] = dims[x->rank - 1];
		op_set(o, 0, x->dtype, x->rank - 1, dims);
	}
}

/* Every stream becomes a weighted sum of all streams, plus the weighted output of the branch. */
static void cost_post_mix(op *o)
{
	const val *mix = op_in(o, 3);
	sym_int elements = op_elements(o, op_in(o, 0)), macs = sym_const(0);

	if (mix)
		macs = mix->rank > 0
			   ? sym_mul(o->nums, elements, mix->dims[mix->rank - 1])
			   : sym_unknown(o->nums, "the shape of its stream_mix is not known");
	op_cost_macs(o, macs, op_times(o, 2, elements));
}

/* The parameters of a row whose outputs are like inputs: the input of each output. */
typedef struct alike_form {
	size_t input[2];
} alike_form;

static void shape_alike(op *o)
{
	const alike_form *f = o->row->form;

	for (size_t i = 0; i < 2; i++)
		if (op_in(o, f->input[i]))
			op_same(o, i, op_in(o, f->input[i]));
	op_unknown(o, "its input is missing");
}

/* 5 for each of a: +, softplus, *; 4 for each of b: sigmoid */
static void cost_gate(op *o)
{
	sym_int beta = op_in(o, 3) ? op_times(o, 4, op_elements(o, op_in(o, 3))) : sym_const(0);

	cost_in(o, 5);
	op_cost_more(o, beta);
}

static void shape_varlen_conv(op *o)
{
	const val *x = op_in(o, 0), *state = op_in(o, 4);
	int64_t slots = op_attr_int(o, "state_update_capacity", 0);

	if (!x || !state) {
		op_unknown(o, "its input is missing");
		return;
	}
	op_same(o, 0, x);
	op_same(o, 1, state);
	if (state->rank == 3) {
		sym_int update[] = {state->dims[0], sym_const(slots), state->dims[1]};
		op_set(o, 2, x->dtype, 3, update);
	}
	op_unknown(o, "the shape of its state is not known");
}

static const op_row microsoft_other_rows[] = {
    {"BiasDropout", microsoft_shape_dropout, cost_each, 2, .roles = ".p.cc",
     .how = "FLOPs per element: 2 additions"},
    {"BiasSplitGelu", shape_split_gelu, cost_each, 8, .roles = ".p",
     .how = "FLOPs per output element: 2 +, 5 of Gelu, *"},
    {"BifurcationDetector", .shape = shape_bifurcation},
    {"BitmaskBiasDropout", shape_bitmask_dropout, cost_each, 2, .roles = ".p.cc",
     .how = "FLOPs per element: 2 additions"},
    {"BitmaskDropout", shape_bitmask_dropout, .roles = ".cc"},
    {"CDist", shape_cdist, cost_cdist,
     .how = "FLOPs: 3 per pair of rows and coordinate, 1 root per pair"},
    {"CropAndResize", shape_crop_resize, cost_uncounted, .roles = "..cc"},
    {"DequantizeWithOrder", shape_order_dequantize, cost_each, 1, .roles = ".c",
     .how = "FLOPs per element: *"},
    {"DynamicTimeWarping", shape_warping, cost_each_in, 3,
     .how = "FLOPs per input element: 2 comparisons, +"},
    {"EmbedLayerNormalization", shape_embed_norm, cost_embed_norm, .roles = "..ppppp.c",
     .how = "FLOPs per output element: sum of the embeddings, and 7 of LayerNormalization"},
    {"EngramGate", shape_alike, cost_each, 11, .form = &(const alike_form){{0, 0}},
     .roles = "...ppp", .how = "FLOPs per element: two normalisations of 4, *, sum, *"},
    {"ExpandDims", shape_expand_dims, .traffic = TRAFFIC_VIEW, .roles = ".c"},
    {"FastGelu", shape_same_first, cost_fast_gelu, .roles = ".p",
     .how = "FLOPs per element: 9 (tanh approximation), 1 with a bias"},
    {"GatherBlockQuantized", shape_gather_quantized, cost_gather_quantized, .traffic = TRAFFIC_PICK,
     .roles = "c.cc",
     .how = "FLOPs per element: -, *; parameters: weights, however they are packed"},
    {"GatherND", shape_gather_nd, .traffic = TRAFFIC_PICK},
    {"GemmaRotaryEmbedding", shape_alike, .form = &(const alike_form){{1, 3}},
     .cost = cost_uncounted},
    {"GridSample", shape_grid_sample, .cost = cost_uncounted},
    {"GroupNorm", shape_same_first, cost_group_norm, .roles = ".pp",
     .how = "FLOPs per element: 7, and 5 with SiLU"},
    {"HyperConnectionPostMix", shape_same_first, cost_post_mix, .how = "MACs: elements x streams"},
    {"HyperConnectionPreMix", shape_pre_mix, cost_each_in, 2,
     .how = "FLOPs per input element: *, +"},
    {"Irfft", shape_irfft, .cost = cost_uncounted},
    {"IsAllFinite", shape_finite, .cost = cost_uncounted},
    {"LinearAttentionGate", shape_alike, cost_gate, .form = &(const alike_form){{0, 3}},
     .roles = ".pp.", .how = "FLOPs per element: +, 3 of Softplus, *; 4 of Sigmoid for each of b"},
    {"MulInteger", shape_mul_integer, cost_each, 3, .roles = ".c.c",
     .how = "FLOPs per element: -, -, *"},
    {"MurmurHash3", shape_hash, .cost = cost_uncounted},
    {"NGramHashMapping", shape_ngram, cost_uncounted, .roles = ".cc"},
    {"NGramRepeatBlock", shape_ngram_repeat, .cost = cost_uncounted},
    {"Pad", shape_pad, .roles = ".cc"},
    {"QEmbedLayerNormalization", shape_qembed_norm, cost_embed_norm, .roles = "..ppppp.c",
     .how = "as EmbedLayerNormalization; 2 more per embedding to dequantise it"},
    {"QLinearAdd", shape_qlinear_binary, cost_each, 10, .roles = ".cc.cccc",
     .how = "FLOPs per element: 4 to dequantise both, +, 5 to quantise it"},
    {"QLinearConcat", shape_qlinear_concat, cost_each, 7,
     .roles = "cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.cc.",
     .how = "FLOPs per element: 2 to dequantise it, 5 to quantise it"},
    {"QLinearMul", shape_qlinear_binary, cost_each, 10, .roles = ".cc.cccc",
     .how = "FLOPs per element: 4 to dequantise both, *, 5 to quantise it"},
    {"QLinearReduceMean", shape_qlinear_reduce, cost_in_out, 5, .flops_in = 1, .roles = ".cccc",
     .how = "FLOPs: 1 per input element, 5 per output element to quantise it"},
    {"QLinearWhere", shape_qlinear_where, cost_each, 7, .roles = "..cc.cccc",
     .how = "FLOPs per element: 2 to dequantise it, 5 to quantise it"},
    {"QuantizeWithOrder", shape_order_quantize, cost_each, 4, .roles = ".c",
     .how = "FLOPs per element: /, round, and 2 to saturate"},
    {"Range", shape_range, .traffic = TRAFFIC_WRITE},
    {"ReduceSumInteger", shape_reduce_integer, cost_each_in, 1,
     .how = "FLOPs: 1 per input element"},
    {"RemovePadding", .shape = shape_remove_padding},
    {"RestorePadding", .shape = shape_restore_padding},
    {"Rfft", shape_rfft, .cost = cost_uncounted},
    {"SkipGroupNorm", shape_same, cost_skip_group_norm, .roles = ".pp.p",
     .how = "FLOPs per element: 1 or 2 sums, 7 of the norm, 5 with SiLU"},
    {"SkipLayerNormalization", shape_skip_norm, cost_skip_layer_norm, .roles = "..ppp",
     .how = "FLOPs per element: 1 or 2 sums, 6 of the norm, 1 with beta"},
    {"SkipSimplifiedLayerNormalization", shape_skip_norm, cost_skip_rms_norm, .roles = "..pp",
     .how = "FLOPs per element: 1 or 2 sums, 4 of the norm"},
    {"Tokenizer", .shape = shape_tokenizer},
    {"TorchEmbedding", shape_embedding, .traffic = TRAFFIC_PICK, .roles = "p.cc"},
    {"UnfoldTensor", .shape = shape_unfold},
    {"Unique", microsoft_shape_unique, .cost = cost_uncounted},
    {"VarlenCausalConvWithState", shape_varlen_conv, cost_causal_conv, .roles = ".pcp.c",
     .how = "MACs: elements of the input x taps"},
    {"WordConvEmbedding", shape_word_embedding, cost_uncounted, .roles = ".ppp"},
};

const op_family op_family_microsoft_other = {"com.microsoft", microsoft_other_rows,
					     sizeof microsoft_other_rows /
						 sizeof *microsoft_other_rows};
