/* tensor_image.c - padding, resampling (Resize, GridSample, AffineGrid) and regions of images.
 * https://onnx.ai/onnx/operators/onnx__Resize.html and related pages.
 *
 * Resize takes sizes or scales. A scaled size is computed as engines do, by a product in single
 * precision that is rounded towards zero, so that shapes equal theirs. An open size can be scaled
 * by a whole number or by its reciprocal; any other scale of it is absent, with a reason. A size
 * that depends on values is a new symbol (op_fresh()).
 *
 * Cost of interpolation: each output element is a weighted sum of p neighbours, which takes p
 * products and p - 1 sums: 2^k neighbours (linear) or 4^k (cubic) in the k dimensions that change.
 * AffineGrid is a product of matrices for each coordinate. A cost that depends on the regions, or
 * on the contents (NonMaxSuppression, MaxRoiPool), is absent.
 *
 * Rows are in the order of strcmp(), since they are found by bisection.
 *
 * SPDX-License-Identifier: Apache-2.0 */
#include "model/cost/rules/tensor_rules.h"

#include <math.h>
#include <string.h>

/* Reads the axes that the attribute `axes` or an input names, in that order; all axes if neither
 * exists. False after op_unknown(). */
static bool axes_in_order(op *o, size_t input, int rank, int *axis, size_t *ret_n)
{
	size_t n = 0;
	const sym_int *list = op_list(o, "axes", input, &n);

	if (!list && op_in(o, input))
		return op_unknown(o, "its axes depend on values");
	if (!list)
		n = (size_t)rank;
	if (n > (size_t)rank)
		return op_unknown(o, "it names more axes than there are dimensions");
	for (size_t i = 0; i < n; i++) {
		if (list && !sym_known(list[i]))
			return op_unknown(o, "its axes depend on values");
		if (!op_axis(o, list ? list[i].v : (int64_t)i, rank, &axis[i]))
			return false;
	}
	*ret_n = n;
	return true;
}

void shape_pad(op *o)
{
	const val *v = op_need(o, 0);
	size_t n = 0, naxes;
	/* In opset 1 the attribute has another name. */
	const sym_int *pads = op_list(o, op_attr(o, "paddings") ? "paddings" : "pads", 1, &n);
	int axis[COST_RANK_MAX];

	if (!v || v->rank > COST_RANK_MAX || !axes_in_order(o, 3, v->rank, axis, &naxes))
		return;
	sym_int *dims = op_copy_dims(o, v, 0);
	if (pads && n != 2 * naxes) {
		op_unknown(o, "it has %zu paddings for %zu dimensions", n, naxes);
		return;
	}
	for (size_t i = 0; i < naxes; i++) {
		sym_int sum = pads ? sym_add(o->nums, pads[i], pads[naxes + i])
				   : sym_unknown(o->nums, "computed");
		dims[axis[i]] = sym_unknown_reason(sum) ? op_fresh(o, "a padded size")
							: sym_add(o->nums, dims[axis[i]], sum);
	}
	op_set(o, 0, v->dtype, v->rank, dims);
}

/* --- Resize --- */

/* Returns size times scale as engines compute it: the product in single precision, rounded towards
 * zero. */
static sym_int image_scaled(op *o, sym_int size, double scale)
{
	if (!(scale > 0) || !(scale < 0x1p31))
		return sym_unknown(o->nums, "its scale is not positive");
	if (scale == 1)
		return size;
	if (sym_known(size)) {
		double out = floor((double)((float)scale * (float)size.v));
		return out < 0x1p53 ? sym_const((int64_t)out)
				    : sym_unknown(o->nums, "it is too large");
	}
	if (scale == floor(scale))
		return sym_mul(o->nums, size, sym_const((int64_t)scale));
	if (1 / scale == floor(1 / scale) && 1 / scale < 0x1p31)
		return sym_floor_div(o->nums, size, sym_const((int64_t)(1 / scale)));
	return sym_unknown(o->nums, "%s times %g", sym_text(o->nums, size), scale);
}

static sym_int halves_up(op *o, double v)
{
	double out = floor(v + 0.5);

	return out >= 0 && out < 0x1p53 ? sym_const((int64_t)out)
					: sym_unknown(o->nums, "a size is too large");
}

/* Scales all axes alike: by the largest scale that fits into the sizes, or by the smallest one that
 * covers them. */
static bool keep_ratio(op *o, const val *v, const sym_int *sizes, const int *axis, size_t n,
		       const char *policy, sym_int *dims)
{
	bool larger = strcmp(policy, "not_smaller") == 0;
	double scale = larger ? 0 : HUGE_VAL;

	for (size_t i = 0; i < n; i++) {
		sym_int d = v->dims[axis[i]];
		if (!sym_known(d) || d.v < 1 || !sym_known(sizes[i]))
			return op_unknown(o, "the ratio that it keeps is of open sizes");
		double own = (double)sizes[i].v / (double)d.v;
		scale = (larger ? own > scale : own < scale) ? own : scale;
	}
	for (size_t i = 0; i < n; i++)
		dims[axis[i]] = halves_up(o, scale * (double)v->dims[axis[i]].v);
	return true;
}

static void shape_resize(op *o)
{
	const val *v = op_need(o, 0);
	bool old = o->opset > 0 && o->opset < 11;
	size_t at_scales = old ? 1 : 2, nscales = 0, nsizes = 0, naxes;
	const double *scales = op_reals(o, at_scales, &nscales);
	const sym_int *sizes = old ? NULL : op_ints(o, 3, &nsizes);
	const char *policy = op_attr_text(o, "keep_aspect_ratio_policy");
	const val *stated = old ? NULL : op_in(o, 3);
	/* Sizes that are an empty list are as good as none. */
	const bool sized = stated && !(stated->rank == 1 && sym_is(stated->dims[0], 0));
	int axis[COST_RANK_MAX];

	if (!v || v->rank > COST_RANK_MAX || !axes_in_order(o, SIZE_MAX, v->rank, axis, &naxes))
		return;
	sym_int *dims = op_copy_dims(o, v, 0);
	if (sizes && nsizes == naxes && policy && strcmp(policy, "stretch") != 0) {
		if (!keep_ratio(o, v, sizes, axis, naxes, policy, dims))
			return;
	} else if (sizes && nsizes == naxes) {
		for (size_t i = 0; i < naxes; i++)
			dims[axis[i]] = sym_unknown_reason(sizes[i])
					    ? op_fresh(o, "a computed size")
					    : sizes[i];
	} else if (!sized && scales && nscales == naxes) {
		/* The region of tf_crop_and_resize does not change the size, in ONNX's inference
		 * and in ONNX Runtime. */
		for (size_t i = 0; i < naxes; i++)
			dims[axis[i]] = image_scaled(o, v->dims[axis[i]], scales[i]);
	} else if ((sizes && nsizes) || (scales && nscales && !sized)) {
		op_unknown(o, "it has sizes or scales for %zu dimensions, not for %zu",
			   sizes ? nsizes : nscales, naxes);
		return;
	} else {
		for (size_t i = 0; i < naxes; i++)
			dims[axis[i]] = op_fresh(o, "a computed size");
	}
	op_set(o, 0, v->dtype, v->rank, dims);
}

static void image_shape_upsample(op *o)
{
	const val *v = op_need(o, 0);
	size_t n = 0;
	const double *scales = op_real_list(o, "scales", 1, &n);

	if (!v)
		return;
	sym_int *dims = op_copy_dims(o, v, 0);
	if (scales && n != (size_t)v->rank) {
		op_unknown(o, "it has %zu scales for %d dimensions", n, v->rank);
		return;
	}
	for (int i = 0; i < v->rank; i++)
		dims[i] = scales ? image_scaled(o, v->dims[i], scales[i])
				 : op_fresh(o, "a computed size");
	op_set(o, 0, v->dtype, v->rank, dims);
}

/* Each output element is a weighted sum of 2 neighbours along each axis (linear), or of 4 (cubic).
 */
static void cost_interpolation(op *o, const char *mode, int axes)
{
	int64_t points = 1;
	bool linear = mode && (strcmp(mode, "linear") == 0 || strcmp(mode, "bilinear") == 0);
	bool cubic = mode && (strcmp(mode, "cubic") == 0 || strcmp(mode, "bicubic") == 0);

	for (int i = 0; i < axes && i < 16 && (linear || cubic); i++)
		points *= linear ? 2 : 4;
	op_cost_flops(o, sym_mul(o->nums, sym_const(linear || cubic ? 2 * points - 1 : 0),
				 op_elements(o, op_out(o, 0))));
}

static void cost_resize(op *o)
{
	const val *v = op_in(o, 0), *out = op_out(o, 0);
	int axes = 0;

	for (int i = 0; v && out && i < v->rank && i < out->rank; i++)
		axes += !sym_same(v->dims[i], out->dims[i]);
	cost_interpolation(o, op_attr_text(o, "mode"), axes);
}

void shape_grid_sample(op *o)
{
	const val *v = op_need_rank(o, 0, 3), *grid = v ? op_need_rank(o, 1, 3) : NULL;

	if (!grid)
		return;
	if (grid->rank != v->rank) {
		op_unknown(o, "its grid has %d dimensions, not %d", grid->rank, v->rank);
		return;
	}
	sym_int *dims = op_copy_dims(o, v, 0);
	for (int i = 2; i < v->rank; i++)
		dims[i] = grid->dims[i - 1];
	op_set(o, 0, v->dtype, v->rank, dims);
}

static void cost_grid_sample(op *o)
{
	const val *v = op_in(o, 0);
	const char *mode = op_attr_text(o, "mode");

	cost_interpolation(o, mode ? mode : "linear", v ? v->rank - 2 : 0);
}

static void shape_affine_grid(op *o)
{
	const val *theta = op_need(o, 0);
	sym_int *size;
	int rank;

	if (!theta || !tensor_dims_of(o, 1, &size, &rank, "a computed size"))
		return;
	if (rank < 3) {
		op_unknown(o, "its size has %d dimensions", rank);
		return;
	}
	sym_int *dims = op_dims(o, (size_t)rank);
	dims[0] = size[0];
	for (int i = 2; i < rank; i++)
		dims[i - 1] = size[i];
	dims[rank - 1] = sym_const(rank - 2);
	op_set(o, 0, theta->dtype, rank, dims);
}

/* With k spatial dimensions each coordinate takes k products and k sums. */
static void cost_affine_grid(op *o)
{
	const val *out = op_out(o, 0);
	int64_t axes = out && out->rank > 2 ? out->rank - 2 : 0;

	op_cost_flops(o, op_times(o, 2 * axes, op_elements(o, out)));
}

/* --- regions --- */

static void regions(op *o, const val *v, const val *rois, sym_int height, sym_int width)
{
	sym_int dims[4] = {rois->dims[0], v->dims[1], height, width};

	op_set(o, 0, v->dtype, 4, dims);
}

static void shape_roi_align(op *o)
{
	const val *v = op_need_rank(o, 0, 4), *rois = v ? op_need_rank(o, 1, 2) : NULL;

	if (rois)
		regions(o, v, rois, sym_const(op_attr_int(o, "output_height", 1)),
			sym_const(op_attr_int(o, "output_width", 1)));
}

/* Each sampled point takes 8 FLOPs: four weighted neighbours, and the mean or maximum over the
 * points. */
static void cost_roi_align(op *o)
{
	int64_t ratio = op_attr_int(o, "sampling_ratio", 0);

	if (ratio < 1 || ratio > 4096) {
		op_flops_unknown(o, "how many points it samples depends on the regions");
		return;
	}
	op_cost_flops(o, op_times(o, 8 * ratio * ratio, op_elements(o, op_out(o, 0))));
}

static void shape_max_roi_pool(op *o)
{
	const val *v = op_need_rank(o, 0, 4), *rois = v ? op_need_rank(o, 1, 2) : NULL;
	size_t n = 0;
	const int64_t *shape = op_attr_ints(o, "pooled_shape", &n);

	if (rois && n != 2)
		op_unknown(o, "it has no pooled_shape of 2");
	else if (rois)
		regions(o, v, rois, sym_const(shape[0]), sym_const(shape[1]));
}

static void shape_col2im(op *o)
{
	const val *v = op_need_rank(o, 0, 3);
	sym_int *image, *block, *dims;
	int nimage, nblock;

	if (!v || !tensor_dims_of(o, 1, &image, &nimage, "a computed size") ||
	    !tensor_dims_of(o, 2, &block, &nblock, "a computed size"))
		return;
	if (nimage + 2 > COST_RANK_MAX) {
		op_unknown(o, "it would have more dimensions than any operator takes");
		return;
	}
	dims = op_dims(o, (size_t)nimage + 2);
	dims[0] = v->dims[0];
	dims[1] = sym_floor_div(o->nums, v->dims[1], op_product(o, block, (size_t)nblock));
	for (int i = 0; i < nimage; i++)
		dims[2 + i] = image[i];
	op_set(o, 0, v->dtype, nimage + 2, dims);
}

static void shape_center_crop_pad(op *o)
{
	const val *v = op_need(o, 0);
	size_t n = 0, naxes;
	const sym_int *shape = op_ints(o, 1, &n);
	int axis[COST_RANK_MAX];

	if (!v || v->rank > COST_RANK_MAX || !axes_in_order(o, SIZE_MAX, v->rank, axis, &naxes))
		return;
	if (shape && n != naxes) {
		op_unknown(o, "it has %zu sizes for %zu dimensions", n, naxes);
		return;
	}
	sym_int *dims = op_copy_dims(o, v, 0);
	for (size_t i = 0; i < naxes; i++)
		dims[axis[i]] = shape && !sym_unknown_reason(shape[i])
				    ? shape[i]
				    : op_fresh(o, "a computed size");
	op_set(o, 0, v->dtype, v->rank, dims);
}

/* ONNX Runtime's, in ONNX's domain: takes off a border of left, top, right, bottom, or takes that
 * many rows and columns behind its left and top. */
static void shape_crop(op *o)
{
	const val *v = op_need_rank(o, 0, 4);
	size_t n = 0, nscale = 0;
	const int64_t *border = op_attr_ints(o, "border", &n),
		      *scale = op_attr_ints(o, "scale", &nscale);

	if (!v)
		return;
	if (v->rank != 4 || !border || n != 4 || (scale && nscale && nscale != 2)) {
		op_unknown(o, "its border or scale does not fit its input");
		return;
	}
	sym_int *dims = op_copy_dims(o, v, 0);
	for (int i = 0; i < 2; i++) {
		const int64_t before = border[1 - i], after = border[3 - i];

		dims[2 + i] =
		    scale && nscale
			? sym_const(scale[i])
			: sym_sub(o->nums, sym_sub(o->nums, dims[2 + i], sym_const(before)),
				  sym_const(after));
	}
	op_set(o, 0, v->dtype, 4, dims);
}

static void shape_nms(op *o)
{
	sym_int dims[2] = {op_fresh(o, "boxes that are kept"), sym_const(3)};

	op_set(o, 0, ONNX_INT64, 2, dims);
}

static void shape_image_decoder(op *o)
{
	const char *format = op_attr_text(o, "pixel_format");
	bool grey = format && strcmp(format, "Grayscale") == 0;
	sym_int dims[3] = {op_fresh(o, "the height of an image"),
			   op_fresh(o, "the width of an image"), sym_const(grey ? 1 : 3)};

	op_set(o, 0, ONNX_UINT8, 3, dims);
}

static const op_row tensor_image_rows[] = {
    {"AffineGrid", shape_affine_grid, cost_affine_grid, .roles = ".c",
     .how = "FLOPs per coordinate: a product and a sum for each spatial dimension"},
    {"CenterCropPad", shape_center_crop_pad, .traffic = TRAFFIC_PICK, .roles = ".c"},
    {"Col2Im", shape_col2im, cost_each_in, 1, .roles = ".c",
     .how = "FLOPs: 1 sum per input element"},
    {"Crop", shape_crop, .traffic = TRAFFIC_PICK},
    {"GridSample", shape_grid_sample, cost_grid_sample,
     .how = "FLOPs per output element: "
	    "2 p - 1 with p = 2^k (linear) or 4^k (cubic) neighbours in k dimensions, 0 (nearest)"},
    {"ImageDecoder", shape_image_decoder, cost_by_values, .how = "not known: it depends on values"},
    {"MaxRoiPool", shape_max_roi_pool, cost_by_values, .how = "not known: it depends on values"},
    {"NonMaxSuppression", shape_nms, cost_by_values, .roles = "..c",
     .how = "not known: it depends on values"},
    {"Pad", shape_pad, .roles = ".c"},
    {"Resize", shape_resize, cost_resize, .roles = ".c",
     .how = "FLOPs per output element: 2 p - 1 with p = 2^k (linear) or 4^k (cubic) neighbours in "
	    "the k dimensions that change, 0 (nearest)"},
    {"RoiAlign", shape_roi_align, cost_roi_align,
     .how = "FLOPs per output element: 8 for each sampled point; "
	    "not known where their number depends on the regions"},
    {"Upsample", image_shape_upsample, cost_resize, .roles = ".c", .how = "as Resize"},
};

const op_family op_family_tensor_image = {"", tensor_image_rows,
					  sizeof tensor_image_rows / sizeof *tensor_image_rows};
