/* ops_microsoft_blocked.c - operators in layouts of ONNX Runtime's own: com.microsoft.nchwc, which
 * models saved with all optimisations have, and com.ms.internal.nhwc.
 *
 * NCHWc keeps the shape [batch, channels, ...]; channels are in blocks of 8 or 16 (AVX-512), and
 * weights are padded to whole blocks, so that such a model has more parameters and products than
 * the one it was made from, and computes them.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "cost/ops_nn.h"

#include <string.h>

static const conv_form blocked = {.x = 0, .w = 1, .bias = 2, .add = 3};
static const conv_form nhwc = {.x = 0, .w = 1, .bias = 2, .add = OPS_ABSENT, .channels_last = true};

#define BLOCK_MAX 16

static int64_t first_type(const op *o)
{
	return op_in(o, 0) ? op_in(o, 0)->dtype : 0;
}

static void shape_conv(op *o)
{
	conv_shape(o, &blocked, first_type(o));
}

static void cost_conv(op *o)
{
	conv_cost(o, &blocked);
}

static void shape_pool(op *o)
{
	pool_shape(o, false);
}

static void cost_pool(op *o)
{
	pool_cost(o, 1, 0);
}

static void shape_global_pool(op *o)
{
	pool_global_shape(o, false);
}

static bool channels_last(const op *o)
{
	return op_attr_int(o, "channels_last", 0) != 0;
}

static void shape_reorder_input(op *o)
{
	const val *x = op_need_rank(o, 0, 3);
	bool last = channels_last(o);

	if (!x)
		return;
	num *dims = op_dims(o, (size_t)x->rank), channels = x->dims[last ? x->rank - 1 : 1];
	dims[0] = x->dims[0];
	dims[1] = num_known(channels) && channels.v % BLOCK_MAX == 0
		      ? channels
		      : num_none(o->nums, "its channels are padded to the blocks of the machine "
					  "that saved the model");
	for (int i = 2; i < x->rank; i++)
		dims[i] = x->dims[last ? i - 1 : i];
	op_set(o, 0, x->dtype, x->rank, dims);
}

static void shape_reorder_output(op *o)
{
	const val *x = op_need_rank(o, 0, 3);
	bool last = channels_last(o);
	int64_t channels = op_attr_int(o, "channels", 0);

	if (!x)
		return;
	num *dims = op_dims(o, (size_t)x->rank);
	dims[0] = x->dims[0];
	dims[last ? x->rank - 1 : 1] =
	    channels > 0 ? num_int(channels) : num_none(o->nums, "its channels are not stated");
	for (int i = 2; i < x->rank; i++)
		dims[last ? i - 1 : i] = x->dims[i];
	op_set(o, 0, x->dtype, x->rank, dims);
}

static void shape_upsample(op *o)
{
	const val *x = op_need_rank(o, 0, 2);
	size_t n = 0;
	const int64_t *scales = op_attr_ints(o, "scales", &n);

	if (!x)
		return;
	if (!scales || n != (size_t)x->rank) {
		op_unknown(o, "its scales do not fit %d dimensions", x->rank);
		return;
	}
	num *dims = op_dims(o, n);
	for (size_t i = 0; i < n; i++)
		dims[i] = ops_times(o, scales[i], x->dims[i]);
	op_set(o, 0, x->dtype, x->rank, dims);
}

/* Two dimensions interpolated: a weighted sum of four. */
static void cost_upsample(op *o)
{
	const char *mode = op_attr_text(o, "mode");
	bool nearest = !mode || strcmp(mode, "nearest") == 0;

	op_cost(o, num_int(0), ops_times(o, nearest ? 0 : 7, op_elements(o, op_out(o, 0))));
}

static const op_row nchwc_rows[] = {
    {.name = "AveragePool",
     .shape = shape_pool,
     .cost = cost_pool,
     .how = "FLOPs: elements of the window per output element"},
    {.name = "Conv",
     .shape = shape_conv,
     .cost = cost_conv,
     .roles = ".pp.",
     .how = "as FusedConv, padded channels included"},
    {.name = "GlobalAveragePool",
     .shape = shape_global_pool,
     .cost = cost_each_in,
     .flops = 1,
     .how = "FLOPs: 1 per input element"},
    {.name = "GlobalMaxPool",
     .shape = shape_global_pool,
     .cost = cost_each_in,
     .flops = 1,
     .how = "FLOPs: 1 per input element"},
    {.name = "MaxPool",
     .shape = shape_pool,
     .cost = cost_pool,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
    {.name = "ReorderInput", .shape = shape_reorder_input},
    {.name = "ReorderOutput", .shape = shape_reorder_output},
    {.name = "Upsample",
     .shape = shape_upsample,
     .cost = cost_upsample,
     .how = "FLOPs per output element: 7 when it interpolates linearly (4 *, 3 +)"},
};

const op_family op_family_nchwc = {"com.microsoft.nchwc", nchwc_rows,
				   sizeof nchwc_rows / sizeof *nchwc_rows};

/* --- channels last --- */

static void shape_nhwc_conv(op *o)
{
	conv_shape(o, &nhwc, first_type(o));
}

static void cost_nhwc_conv(op *o)
{
	conv_cost(o, &nhwc);
}

static void shape_nhwc_pool(op *o)
{
	pool_shape(o, true);
}

static void shape_nhwc_global_pool(op *o)
{
	pool_global_shape(o, true);
}

static const op_row nhwc_rows[] = {
    {.name = "AveragePool",
     .shape = shape_nhwc_pool,
     .cost = cost_pool,
     .how = "FLOPs: elements of the window per output element"},
    {.name = "BatchNormalization",
     .shape = shape_same_first,
     .cost = cost_each,
     .flops = 2,
     .roles = ".ppbb",
     .how = "FLOPs per element: *, +"},
    {.name = "Conv",
     .shape = shape_nhwc_conv,
     .cost = cost_nhwc_conv,
     .roles = ".pp",
     .how = "as Conv of ONNX"},
    {.name = "GlobalAveragePool",
     .shape = shape_nhwc_global_pool,
     .cost = cost_each_in,
     .flops = 1,
     .how = "FLOPs: 1 per input element"},
    {.name = "GlobalMaxPool",
     .shape = shape_nhwc_global_pool,
     .cost = cost_each_in,
     .flops = 1,
     .how = "FLOPs: 1 per input element"},
    {.name = "InstanceNormalization",
     .shape = shape_same_first,
     .cost = cost_layer_norm,
     .roles = ".pp",
     .how = "FLOPs per element: 7"},
    {.name = "MaxPool",
     .shape = shape_nhwc_pool,
     .cost = cost_pool,
     .how = "FLOPs: elements of the window per output element (comparisons)"},
};

const op_family op_family_nhwc = {"com.ms.internal.nhwc", nhwc_rows,
				  sizeof nhwc_rows / sizeof *nhwc_rows};
