# SPDX-License-Identifier: Apache-2.0
"""Maps each aten call to operators of deepclock's table.

This table has no costs: a row maps a call to the operators that `deepclock cost
--operators` lists, and how its arguments become their inputs and attributes. `price()` gets the cost of each from the
library and adds them up.

    relu                    -> Relu(self)
    addmm                   -> Gemm(mat1, mat2, self; alpha, beta)
    convolution_backward    -> Conv for each of the two gradients that is needed, ReduceSum of the bias

Names are those of the schema without namespace and overload; `add_`, `add.out` and `_foreach_add`
are rows of `add`. A gradient is the arithmetic of its formula, written in operators: that of the
sigmoid y is grad * (1 - y) * y, so Sub, Mul, Mul.
"""

import torch

from ._operators import (ROWS, Arguments, Operator, each, first_out, integers, like,
                         linear_ops, moves, on, one, product, row, sized, softmax_gradient, sparse_ops, spec,
                         stored, sum_all, two, wide)


def _table_of(text, make):
    for line in text.strip().splitlines():
        types, _, names = line.partition(":")
        for name in names.split():
            ROWS[name] = make(*types.split())


_table_of("""
Add: add __add __iadd bias_add
Sub: sub rsub subtract
Mul: mul multiply __mul ger outer
Div: div divide true_divide
Pow: pow float_power
Mod: remainder fmod
Max: maximum fmax
Min: minimum fmin
Less: lt less
LessOrEqual: le less_equal
Greater: gt greater
GreaterOrEqual: ge greater_equal
Equal: eq ne equal not_equal isclose
And: logical_and
Or: logical_or
Xor: logical_xor
BitwiseAnd: bitwise_and __and __iand
BitwiseOr: bitwise_or __or __ior
BitwiseXor: bitwise_xor __xor __ixor
BitShift: bitwise_left_shift bitwise_right_shift __lshift __rshift __ilshift __irshift
""", two)

_table_of("""
Acos: acos arccos
Acosh: acosh arccosh
Asin: asin arcsin
Asinh: asinh arcsinh
Atan: atan arctan
Atanh: atanh arctanh
Ceil: ceil
Cos: cos
Cosh: cosh
Erf: erf erfc erfinv
Exp: exp exp2
Floor: floor trunc fix
Log: log log2 log10
Neg: neg negative
Not: logical_not
BitwiseNot: bitwise_not
Reciprocal: reciprocal
Round: round
Sign: sign sgn signbit
Sin: sin
Sinh: sinh
Sqrt: sqrt
Tan: tan
Tanh: tanh
Relu: relu
Sigmoid: sigmoid
Swish: silu
Mish: mish
HardSwish: hardswish
HardSigmoid: hardsigmoid
Elu: elu
Celu: celu
Selu: selu
LeakyRelu: leaky_relu rrelu rrelu_with_noise rrelu_with_noise_functional
Softplus: softplus
ThresholdedRelu: threshold
Shrink: hardshrink softshrink
PRelu: prelu _prelu_kernel
IsNaN: isnan
IsInf: isinf isfinite isposinf isneginf
Exp Sub: expm1
Add Log: log1p
Softplus Neg: log_sigmoid_forward log_sigmoid
Sqrt Reciprocal: rsqrt
Mul: square ldexp
Div Floor: floor_divide
Sub Log Div: logit
Div Atan: atan2 angle
Exp Exp Add Log: logaddexp
Sub Mul Add: lerp
Log Mul: xlogy
Clip: nan_to_num
Where: where masked_fill masked_scatter
Mul Mul: native_dropout _fused_dropout _masked_scale
Mul Sub Mul: tanh_backward
Sub Mul Mul: sigmoid_backward
Greater Where: threshold_backward
Greater Mul: leaky_relu_backward rrelu_with_noise_backward
Less Greater Where: hardtanh_backward hardshrink_backward softshrink_backward
Less LessOrEqual Div Add Mul: hardswish_backward
Less Greater Mul: hardsigmoid_backward
Sigmoid Sub Mul Add Mul Mul: silu_backward
Greater Mul Exp Mul Mul: elu_backward
Mul Exp Add Div Mul: softplus_backward
Sigmoid Softplus Tanh Mul Sub Mul Mul Add Mul: mish_backward
Exp Add Div Mul: log_sigmoid_backward
""", each)


def _with_value(type_):
    return lambda a: on(first_out(a), type_, *(["Mul"] if a.value not in (None, 1) else []), "Add")


ROWS["abs"] = ROWS["absolute"] = like("x", "Abs")  # a complex number has a real one

ROWS["addcmul"], ROWS["addcdiv"] = _with_value("Mul"), _with_value("Div")

# Results with existing contents, or contents that the caller gave; nothing is computed.
_table_of("""
Cast: _nested_tensor_from_mask _nested_tensor_from_tensor_list _nested_from_padded to_padded_tensor _nested_from_padded_and_nested_example clone _to_copy copy contiguous to lift_fresh_copy _copy_from _copy_from_and_resize type_as _conj_physical
Transpose: permute_copy transpose_copy t_copy
Tile: repeat tile
Expand: expand_copy repeat_interleave
Pad: constant_pad_nd reflection_pad1d reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d _pad_circular
Slice: flip roll rot90 slice_copy select_copy narrow_copy unfold_copy as_strided_copy slice_scatter select_scatter as_strided_scatter diagonal_scatter slice_backward select_backward unfold_backward diagonal_backward fliplr value_selecting_reduction_backward trace_backward
Concat: cat stack _cat concat
Trilu: tril triu
GatherElements: gather take take_along_dim
Gather: index masked_select _unsafe_index _pack_padded_sequence masked_scatter_backward
MaxUnpool: max_unpool2d max_unpool3d
ScatterElements: scatter index_fill index_copy put
OneHot: one_hot
DepthToSpace: pixel_shuffle channel_shuffle
SpaceToDepth: pixel_unshuffle im2col
Compress: compress
Split: split_copy split_with_sizes_copy unbind_copy
ConstantOfShape: zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full zero fill scalar_tensor eye _efficientzerotensor
Range: arange linspace logspace tril_indices triu_indices
RandomUniformLike: rand randint rand_like randint_like randperm uniform random
RandomNormalLike: randn normal randn_like exponential geometric cauchy log_normal poisson
Bernoulli: bernoulli
Shape: sym_size sym_stride sym_numel sym_storage_offset size numel is_same_size
Identity: _linalg_check_errors _nested_tensor_from_mask_left_aligned _nested_tensor_size _nested_get_values _nested_get_offsets _unsafe_view unsafe_split unsafe_split_with_sizes as_strided squeeze unsqueeze t transpose swapaxes swapdims profiler._record_function_enter_new profiler._record_function_enter profiler._record_function_exit empty empty_like new_empty empty_strided new_empty_strided empty_permuted resize resize_as set _local_scalar_dense item detach_copy alias_copy view_copy view_as_real_copy view_as_complex_copy _reshape_copy reshape _reshape_alias lift_fresh lift detach alias is_pinned _pin_memory record_stream _assert_async _functional_assert_async _assert_scalar _functional_assert_scalar _assert_tensor_metadata _version _has_same_storage_numel complex real imag resolve_conj resolve_neg
""", moves)
ROWS["bernoulli"] = each("Bernoulli")  # a comparison for each element


# --- products

@row("mm", "bmm", "matmul", "mv", "dot", "vdot", "inner", "_grouped_mm", "_scaled_mm", "_scaled_mm_v2",
     "_scaled_grouped_mm", "_scaled_grouped_mm_v2")
def _matmul(a):
    left = a.x
    right = next(v for v in (a.mat2, a.other, a.vec, a.tensor) if v is not None)
    if a.name_ == "inner" and right.dim() > 1:  # of the last axes of both
        return linear_ops(left, sized(right, product(right.shape[:-1]), right.shape[-1]), None, a.out)
    return _times(left, right, "grouped" in a.name_)


def _times(left, right, grouped=False):
    if stored(left) is not None or stored(right) is not None:
        return sparse_ops(left, right)
    l, r = spec(left), spec(right)
    if grouped and len(l[1]) + len(r[1]) == 5:  # rows or columns in groups, a matrix for each group
        l, r = (l[0], l[1][-2:]), (r[0], r[1][-2:])
    return [Operator("MatMul", (l, r))]


row("_int_mm")(one("MatMulInteger", "x", "mat2"))


@row("addmm", "_addmm_activation", "_sparse_addmm")
def _addmm(a):
    if stored(a.mat1) is not None or stored(a.mat2) is not None:
        return sparse_ops(a.mat1, a.mat2) + (on(a.out, "Add") if a.beta != 0 else [])
    ops = [Operator("Gemm", (spec(a.mat1), spec(a.mat2), spec(a.x) if a.beta != 0 else None),
                    {"alpha": float(a.alpha), "beta": float(a.beta or 1)})]
    if "use_gelu" in a._values:
        ops += on(a.out, "Gelu" if a.use_gelu else "Relu")
    return ops


@row("addmv", "baddbmm", "addbmm")
def _added(a):
    left = next(v for v in (a.mat, a.batch1) if v is not None)
    right = next(v for v in (a.vec, a.batch2) if v is not None)
    ops = _times(left, right)
    if a.beta != 0:
        ops += on(a.out, "Add") + (on(a.x, "Mul") if a.beta != 1 else [])
    return ops + (on(a.out, "Mul") if a.alpha != 1 else [])


row("addr")(lambda a: on(a.out, "Mul", *(["Add"] if a.beta != 0 else [])))


@row("linear", "mkldnn_linear")
def _linear(a):
    return linear_ops(a.input if a.input is not None else a.x, a.weight, a.bias, a.out)


@row("linear_backward")
def _linear_backward(a):
    g, x, w = spec(a.grad_output), spec(a.x), spec(a.weight)
    rows = product(g[1][:-1])
    flat = sized(a.grad_output, rows, g[1][-1])
    ops = [Operator("MatMul", (flat, w))] if a.output_mask[0] else []
    if a.output_mask[1]:
        ops.append(Operator("MatMul", (sized(a.grad_output, g[1][-1], rows), sized(a.x, rows, x[1][-1]))))
    return ops + (sum_all(flat) if a.output_mask[2] else [])


@row("_trilinear")
def _trilinear(a):
    """nn.Bilinear: the product of the first two in all places, and its products with the third."""
    shapes = []
    for t, new in ((a.i1, a.expand1), (a.i2, a.expand2), (a.i3, a.expand3)):
        shape = list(spec(t)[1])
        for axis in new:
            shape.insert(axis, 1)
        shapes.append(shape)
    n = product(max(sizes) for sizes in zip(*shapes))
    return on(sized(a.i1, n), "Mul") + [Operator("MatMul", (sized(a.i1, 1, n), sized(a.i1, n, 1)))]


@row("_cdist_forward")
def _cdist(a):
    n, m = spec(a.x1), spec(a.x2)
    return [Operator("com.microsoft.CDist", ((n[0], n[1][-2:]), (m[0], m[1][-2:])),
                     times=product(n[1][:-2]))]


# --- convolutions

def _conv_op(x, weight, bias, a):
    x, weight = spec(x), spec(weight)
    n = len(x[1]) - 2
    attributes = {"strides": wide(a.stride, n), "pads": wide(a.padding, n) * 2,
                  "dilations": wide(a.dilation, n), "group": int(a.groups)}
    if a.transposed:
        attributes["output_padding"] = wide(a.output_padding, n)
    return Operator("ConvTranspose" if a.transposed else "Conv", (x, weight, spec(bias)), attributes)


@row("convolution", "_convolution", "convolution_overrideable", "mkldnn_convolution",
     "cudnn_convolution", "miopen_convolution", "_slow_conv2d_forward", "slow_conv3d_forward",
     "conv_depthwise3d", "_conv_depthwise2d", "slow_conv_dilated2d", "slow_conv_dilated3d",
     "cudnn_convolution_transpose", "miopen_convolution_transpose", "miopen_depthwise_convolution",
     "slow_conv_transpose2d", "slow_conv_transpose3d")
def _convolution(a):
    x = a.input if a.input is not None else a.x
    weight = a.weight
    values = dict(a._values)
    values.setdefault("dilation", 1)
    values.setdefault("groups", 1)
    if "convolution" not in a.name_:  # these have no argument of groups
        values["groups"] = spec(x)[1][1] if "depthwise" in a.name_ else 1
    values.setdefault("transposed", "transpose" in a.name_)
    values.setdefault("output_padding", 0)
    return [_conv_op(x, weight, a.bias, Arguments(values))]


@row("cudnn_convolution_relu", "cudnn_convolution_add_relu")
def _conv_relu(a):
    values = dict(a._values, transposed=False)
    extra = ["Add"] if a.z is not None else []
    return [_conv_op(a.x, a.weight, a.bias, Arguments(values))] + on(a.out, *extra, "Relu")


@row("convolution_backward", "convolution_backward_overrideable")
def _convolution_backward(a):
    """The gradients of input and weights are products of as many MACs as the convolution."""
    mask = a.output_mask
    one = _conv_op(a.input, a.weight, None, a)
    ops = [one._replace(times=int(bool(mask[0])) + int(bool(mask[1])))] if mask[0] or mask[1] else []
    return ops + (sum_all(spec(a.grad_output)) if mask[2] else [])


# --- normalisation

@row("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training",
     "_native_batch_norm_legit_functional", "cudnn_batch_norm", "miopen_batch_norm", "batch_norm",
     "_batch_norm_with_update", "_batch_norm_no_update", "_batch_norm_with_update_functional",
     "_batch_norm_impl_index")
def _batch_norm(a):
    x = spec(a.input if a.input is not None else a.x)
    channel = sized(x, x[1][1])
    training = "with_update" in a.name_ or (a.training if "training" in a._values else
                                            "no_" not in a.name_)
    return [Operator("BatchNormalization", (x, channel, channel, channel, channel),
                     {"training_mode": int(bool(training))})]


@row("native_layer_norm", "layer_norm")
def _layer_norm(a):
    return [Operator("LayerNormalization", (spec(a.input), spec(a.weight), spec(a.bias)),
                     {"axis": -len(a.normalized_shape)})]


row("native_group_norm", "group_norm")(one("GroupNormalization", "input", "weight", "bias"))
row("rms_norm", "_fused_rms_norm")(one("RMSNormalization", "input", "weight"))


def _norm_gradient(s, mask, weight):
    """x' = (x - mean) * r; of the input r * (g - mean(g) - x' * mean(g x')), g = grad * weight; of
    the weight the sum of grad * x'; of the bias the sum of grad."""
    ops = on(s, "Sub", "Mul") if mask[0] or mask[1] else []
    if mask[0]:
        ops += on(s, "Mul") if weight is not None else []
        ops += sum_all(s) + on(s, "Mul") + sum_all(s) + on(s, "Mul", "Sub", "Sub", "Mul")
    if mask[1]:
        ops += on(s, "Mul") + sum_all(s)
    return ops + (sum_all(s) if len(mask) > 2 and mask[2] else [])


row("native_layer_norm_backward", "native_group_norm_backward")(
    lambda a: _norm_gradient(spec(a.input), a.output_mask, a.weight))


@row("_fused_rms_norm_backward")
def _rms_norm_backward(a):
    s = spec(a.input)
    ops = on(s, "Mul")
    if a.output_mask[0]:
        ops += (on(s, "Mul") if a.weight is not None else []) + on(s, "Mul") + sum_all(s)
        ops += on(s, "Mul", "Sub", "Mul")
    return ops + (on(s, "Mul") + sum_all(s) if a.output_mask[1] else [])


@row("native_batch_norm_backward", "cudnn_batch_norm_backward", "miopen_batch_norm_backward",
     "batch_norm_backward", "_batch_norm_impl_index_backward")
def _batch_norm_backward(a):
    s = spec(a.input)
    mask = a.output_mask or (True, True, True)
    training = a.train if a.train is not None else a.update if a.update is not None else True
    if training:
        return _norm_gradient(s, mask, a.weight)
    ops = on(s, "Mul") if mask[0] else []  # the statistics do not depend on the input
    ops += on(s, "Sub", "Mul", "Mul") + sum_all(s) if mask[1] else []
    return ops + (sum_all(s) if mask[2] else [])


@row("_weight_norm_interface", "_weight_norm")
def _weight_norm(a):
    """v * (g / the norm of v)."""
    return on(a.v, "Mul") + sum_all(spec(a.v)) + on(a.v, "Mul")


@row("_weight_norm_interface_backward")
def _weight_norm_backward(a):
    """(grad - v' * sum(grad * v')) * g / |v|; of g the sum alone."""
    return on(a.saved_v, "Mul") + sum_all(spec(a.saved_v)) + on(a.saved_v, "Mul", "Sub", "Mul")


# --- activations that more than their elements decide

@row("gelu")
def _gelu(a):
    return [Operator("Gelu", (spec(a.x),), {"approximate": a.approximate or "none"})]


@row("gelu_backward")
def _gelu_backward(a):
    """grad * (cdf(x) + x * pdf(x)); or the same of the approximation by tanh."""
    if a.approximate == "tanh":
        return on(a.x, *("Mul Mul Mul Add Mul Tanh Add Mul Mul Sub Mul Mul Add Mul Mul Mul Add "
                         "Mul").split())
    return on(a.x, *"Mul Erf Add Mul Mul Mul Exp Mul Mul Add Mul".split())


@row("hardtanh", "clamp", "clip", "clamp_min", "clamp_max", "relu6")
def _clip(a):
    low = a.min if a.min is not None else a.min_val
    high = a.max if a.max is not None else a.max_val
    if a.name_ == "relu6":
        low = high = 0.0
    return [Operator("Clip", (spec(first_out(a)), None if low is None else ("float32", ()),
                              None if high is None else ("float32", ())))]


row("_softmax", "softmax", "_safe_softmax", "_masked_softmax")(each("Softmax"))
row("_log_softmax", "log_softmax")(each("LogSoftmax"))


@row("_softmax_backward_data", "_masked_softmax_backward")
def _softmax_backward(a):
    return softmax_gradient(spec(a.grad_output if a.grad_output is not None else a.grad))


@row("_log_softmax_backward_data")
def _log_softmax_backward(a):
    s = spec(a.grad_output)
    return sum_all(s) + on(s, "Exp", "Mul", "Sub")


row("glu")(like("out", "Sigmoid", "Mul"))
row("glu_backward")(like("grad_output", "Sigmoid", "Mul", "Sub", "Mul", "Mul", "Mul"))


row("_prelu_kernel_backward", "prelu_backward")(lambda a: on(a.x, "Greater", "Mul", "Mul") + sum_all(spec(a.x)))
row("native_dropout_backward")(like("grad_output", "Mul", "Mul"))


# --- pools and images

def _pool(type_, x, n, kernel, stride, padding, dilation=1, ceil=False):
    x = spec(x)
    if len(x[1]) == n + 1:
        x = (x[0], (1,) + x[1])
    return [Operator(type_, (x,), {
        "kernel_shape": wide(kernel, n), "strides": wide(stride or kernel, n),
        "pads": wide(padding, n) * 2, "dilations": wide(dilation, n), "ceil_mode": int(bool(ceil))})]


def _dimensions(a):
    return int(next(c for c in a.name_ if c in "123"))


@row("max_pool1d", "max_pool2d", "max_pool3d", "max_pool1d_with_indices", "max_pool2d_with_indices",
     "max_pool3d_with_indices", "mkldnn_max_pool2d", "mkldnn_max_pool3d", "quantized_max_pool2d")
def _max_pool(a):
    return _pool("MaxPool", a.x, _dimensions(a), a.kernel_size, a.stride, a.padding, a.dilation or 1,
                 a.ceil_mode)


@row("avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool2d_backward", "avg_pool3d_backward")
def _avg_pool(a):
    """The gradient gives each element of a window its share, which costs the same as the pool."""
    return _pool("AveragePool", a.x, _dimensions(a), a.kernel_size, a.stride, a.padding,
                 ceil=a.ceil_mode)


def _adaptive(type_, x, out, n):
    """Windows may overlap: in each dimension the elements of all of them."""
    x, out = spec(x), spec(out)
    sizes = [sum(-(-(i + 1) * big // small) - i * big // small for i in range(small))
             for big, small in zip(x[1][-n:], out[1][-n:])]
    lead = x[1][:-n]
    return [Operator(type_, ((x[0], (1,) * (2 - len(lead)) + lead + tuple(sizes)),))]


row("_adaptive_avg_pool2d", "_adaptive_avg_pool3d", "adaptive_avg_pool1d", "adaptive_avg_pool2d",
    "adaptive_avg_pool3d", "mkldnn_adaptive_avg_pool2d")(
    lambda a: _adaptive("GlobalAveragePool", a.x, first_out(a), _dimensions(a)))
row("adaptive_max_pool1d", "adaptive_max_pool2d", "adaptive_max_pool3d")(
    lambda a: _adaptive("GlobalMaxPool", a.x, first_out(a), _dimensions(a)))


row("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward",
    "mkldnn_adaptive_avg_pool2d_backward")(
    lambda a: _adaptive("GlobalAveragePool", a.x, a.grad_output, _dimensions(a)))
row("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward",
    "adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward", "max_pool2d_backward")(
    like("grad_output", "Add"))


def _resize(name, small, big):
    """The gradient of a resize has the same products, in the other direction."""
    mode = "nearest" if "nearest" in name else "cubic" if "cubic" in name else "linear"
    big = spec(big)
    return [Operator("Resize", (spec(small), None, None, integers(big[1])), {"mode": mode})]


_UPSAMPLE = ["upsample_nearest1d", "upsample_nearest2d", "upsample_nearest3d",
             "_upsample_nearest_exact1d", "_upsample_nearest_exact2d", "_upsample_nearest_exact3d",
             "upsample_linear1d", "upsample_bilinear2d", "upsample_trilinear3d", "upsample_bicubic2d"]


def _taps(size, made, radius, scale, corners):
    """How many pixels a filter that grows with the scale takes for all pixels of one line."""
    if corners:
        scale = (size - 1) / (made - 1) if made > 1 else 0.0
    else:
        scale = 1 / scale if scale else size / made
    support = radius * max(scale, 1.0)
    middles = (scale * (i + 0.5) for i in range(made))
    return sum(min(int(m + support + 0.5), size) - max(int(m - support + 0.5), 0) for m in middles)


@row("_upsample_bilinear2d_aa", "_upsample_bicubic2d_aa", "_upsample_bilinear2d_aa_backward",
     "_upsample_bicubic2d_aa_backward")
def _upsample_smooth(a):
    """Along the rows, then along the columns; 2 FLOPs for each pixel that the filter takes."""
    backward = a.name_.endswith("backward")
    small, big = (first_out(a), a.grad_output) if backward else (a.x if a.x is not None else a.input, a.out)
    (*lead, height, width), made = spec(small)[1], spec(big)[1]
    radius = 2 if "cubic" in a.name_ else 1
    rows = _taps(width, made[-1], radius, a.scales_w, a.align_corners) if width != made[-1] else 0
    columns = _taps(height, made[-2], radius, a.scales_h, a.align_corners) if height != made[-2] else 0
    return on(sized(small, product(lead) * (height * rows + made[-1] * columns)), "Mul", "Add")


@row(*_UPSAMPLE)
def _upsample(a):
    return _resize(a.name_, a.x if a.x is not None else a.input, a.out)


@row(*(f"{_name}_backward" for _name in _UPSAMPLE))
def _upsample_backward(a):
    if "nearest" in a.name_:
        return on(a.grad_output, "Add")
    return _resize(a.name_, first_out(a), a.grad_output)


@row("grid_sampler_2d", "grid_sampler_3d", "cudnn_grid_sampler", "grid_sampler")
def _grid(a):
    mode = ("linear", "nearest", "cubic")[int(a.interpolation_mode or 0)]
    return [Operator("GridSample", (spec(a.input), spec(a.grid)), {"mode": mode})]


# of the input and of the grid, each as many products as forward
row("grid_sampler_2d_backward", "grid_sampler_3d_backward")(lambda a: [o._replace(times=2) for o in _grid(a)])
row("col2im")(like("x", "Add"))


row(*(f"{kind}_pad{n}d_backward" for kind in ("reflection", "replication") for n in "123"))(
    like("grad_output", "Add"))


# --- Fourier transforms

def _dft(a, shape, real):
    """One transform after the other; the last axis is that of the real numbers."""
    ops = []
    axes = [d % len(shape) for d in a.dim]
    for i, axis in enumerate(reversed(axes)):
        n = shape[axis]
        parts = 1 if real and i == 0 else 2
        ops.append(Operator("DFT", (("float32", (product(shape) // n if n else 0, n, parts)),), {"axis": 1}))
        if real and i == 0:
            shape = (*shape[:axis], n // 2 + 1, *shape[axis + 1:])
    return ops


row("_fft_c2c")(lambda a: _dft(a, spec(a.x)[1], False))
row("_fft_r2c")(lambda a: _dft(a, spec(a.x)[1], True))


row("_fft_c2r")(lambda a: _dft(a, spec(a.out)[1], True))


# --- reductions

def _parts(t):
    """A complex tensor as real numbers, two for each; any other as it is."""
    dtype, shape = spec(t)
    return ("float32", (*shape, 2)) if dtype.startswith("complex") else (dtype, shape)


def _axes(a):
    dim = a.dim if a.dim is not None else a.axis
    rank = len(spec(a.x)[1])
    if dim is None or (isinstance(dim, (list, tuple)) and not dim):
        return tuple(range(rank))
    return tuple(sorted({d % rank for d in ([dim] if isinstance(dim, int) else dim)})) if rank else ()


def reduces(*types):
    """The first type reduces the axes of the call, or all; the others run on the reduced elements."""
    def build(a):
        axes = _axes(a)
        x = spec(a.x)
        if not axes:
            return on(x, *types[1:]) or [Operator("Identity", (x,))]
        ops = [Operator(types[0], (x, integers(axes)), {"keepdims": int(bool(a.keepdim))})]
        return ops + on(first_out(a), *types[1:])
    return build


for _type, _names in (("ReduceSum", "sum nansum count_nonzero trace"), ("ReduceMean", "mean nanmean"),
                      ("ReduceMax", "amax any"), ("ReduceMin", "amin all"), ("ReduceProd", "prod"),
                      ("ReduceLogSumExp", "logsumexp")):
    for _name in _names.split():
        ROWS[_name] = reduces(_type)


def _extreme(type_):
    reduce = reduces(type_)
    return lambda a: (two("Max")(a) if a.other is not None else reduce(a))


ROWS["max"], ROWS["min"] = _extreme("ReduceMax"), _extreme("ReduceMin")


row("aminmax", "_aminmax")(lambda a: reduces("ReduceMin")(a) + reduces("ReduceMax")(a))


@row("argmax", "argmin")
def _arg(a):
    x = spec(a.x)
    name = "ArgMax" if a.name_ == "argmax" else "ArgMin"
    if a.dim is None:
        return [Operator(name, (sized(x, product(x[1])),))]
    return [Operator(name, (x,), {"axis": int(a.dim), "keepdims": int(bool(a.keepdim))})]


@row("var", "var_mean", "std", "std_mean", "_std", "_var")
def _variance(a):
    """The mean, and the sum of the squared differences from it, over their number."""
    axes = integers(_axes(a))
    x = spec(a.x)
    root = ["Sqrt"] if "std" in a.name_ else []
    return ([Operator("ReduceMean", (x, axes))] + on(x, "Sub")
            + [Operator("ReduceSumSquare", (x, axes))] + on(first_out(a), "Div", *root))


@row("norm", "linalg_vector_norm", "_foreach_norm", "frobenius_norm")
def _norm(a):
    order = a.ord if a.ord is not None else a.p if a.p is not None else 2
    name = {1: "ReduceL1", 2: "ReduceL2", float("inf"): "ReduceMax"}.get(order)
    s = _parts(a.x)
    axes = integers((*_axes(a), *range(len(spec(a.x)[1]), len(s[1]))))
    if name is None:
        return on(a.x, "Abs", "Pow") + [Operator("ReduceSum", (spec(a.x), axes))] + on(first_out(a), "Pow")
    if name != "ReduceL2" and s != spec(a.x):
        return on(a.x, "Abs") + [Operator(name, (s, axes))]
    return [Operator(name, (s, axes), {"keepdims": int(bool(a.keepdim))})]


for _type, _names in (("CumSum", "cumsum"), ("CumProd", "cumprod"), ("Max", "cummax _cummax_helper"),
                      ("Min", "cummin _cummin_helper")):
    for _name in _names.split():
        ROWS[_name] = like("x", *_type.split()) if _type in ("Max", "Min") else (
            lambda a, t=_type: [Operator(t, (spec(a.x), ("int64", (), (int(a.dim),))))])
ROWS["logcumsumexp"] = like("x", "Exp", "Add", "Log")
ROWS["diff"] = like("x", "Sub")


# one comparison for each element at least
row("topk", "sort", "argsort", "kthvalue", "median", "nanmedian", "mode", "msort")(like("x", "Greater"))


@row("unique", "_unique", "_unique2", "unique_dim", "unique_consecutive", "isin", "bucketize",
     "searchsorted", "histc", "bincount", "nonzero", "nonzero_static", "multinomial")
def _compares(a):
    x = next(v for v in (a.x, a.elements, a.input) if isinstance(v, torch.Tensor))
    return on(x, "Greater")


# --- picking

row("embedding", "_embedding")(one("Gather", "weight", "indices"))


@row("index_select")
def _index_select(a):
    return [Operator("Gather", (spec(a.x), spec(a.index)), {"axis": int(a.dim)})]


_BAG_SUM, _BAG_MEAN, _BAG_MAX = range(3)


def _picked(a, like_):
    """A row of the table for each index."""
    return sized(like_, product(spec(a.indices)[1]), spec(like_)[1][1])


@row("_embedding_bag", "_embedding_bag_forward_only")
def _embedding_bag(a):
    weighted = ["Mul"] if a.per_sample_weights is not None else []
    return (on(_picked(a, a.weight), *weighted, "Max" if a.mode == _BAG_MAX else "Add")
            + (on(first_out(a), "Div") if a.mode == _BAG_MEAN else []))


@row("_embedding_bag_backward", "_embedding_bag_dense_backward")
def _embedding_bag_backward(a):
    weighted = ["Mul"] if a.per_sample_weights is not None else []
    return on(_picked(a, a.grad), *weighted, "Add") + (on(a.grad, "Div") if a.mode == _BAG_MEAN else [])


@row("_embedding_bag_per_sample_weights_backward")
def _embedding_bag_weights_backward(a):
    s = _picked(a, a.grad)
    return on(s, "Mul") + sum_all(s)


@row("embedding_dense_backward", "embedding_backward")
def _embedding_backward(a):
    return on(a.grad_output if a.grad_output is not None else a.grad, "Add")


@row("index_put", "_index_put_impl", "_unsafe_index_put")
def _index_put(a):
    return on(a.values, "Add") if a.accumulate else moves("ScatterElements")(a)


@row("index_add", "scatter_add", "index_reduce", "scatter_reduce", "put_add")
def _scatter_add(a):
    source = next(v for v in (a.source, a.src, a.index) if isinstance(v, torch.Tensor))
    return on(source, "Add")


# --- losses

def _reduced(a, s):
    return [] if a.reduction == 0 else sum_all(s) + (on(a.out, "Div") if a.reduction == 1 else [])


def loss(*types):
    def build(a):
        s = spec(a.x)
        return on(s, *types) + _reduced(a, s)
    return build


ROWS["mse_loss"] = loss("Sub", "Mul")
ROWS["smooth_l1_loss"] = ROWS["huber_loss"] = loss("Sub", "Abs", "Less", "Mul", "Mul", "Where")
ROWS["binary_cross_entropy"] = loss("Log", "Mul", "Sub", "Sub", "Log", "Mul", "Add", "Neg")
ROWS["binary_cross_entropy_with_logits"] = loss("Softplus", "Sub", "Mul", "Add")
ROWS["soft_margin_loss"] = loss("Mul", "Neg", "Softplus")
ROWS["mse_loss_backward"] = like("x", "Sub", "Mul", "Mul")
ROWS["smooth_l1_loss_backward"] = ROWS["huber_loss_backward"] = like(
    "x", "Sub", "Abs", "Less", "Mul", "Where", "Mul")
ROWS["binary_cross_entropy_backward"] = like("x", "Sub", "Sub", "Mul", "Div", "Mul")


@row("nll_loss_forward", "nll_loss2d_forward", "nll_loss_nd", "nll_loss")
def _nll(a):
    weight = spec(a.weight)
    return [Operator("NegativeLogLikelihoodLoss", (spec(a.x), spec(a.target), weight),
                     {"reduction": ("none", "mean", "sum")[int(a.reduction)]})]


# log(exp(a) + exp(b) + exp(c)) of the three states before, less their largest, and the score of the symbol
_CTC = "Max Max Sub Sub Sub Exp Exp Exp Add Add Log Add Add".split()


# a step of the forward algorithm for each time and each state (labels with blanks between them)
row("_ctc_loss")(lambda a: on(a.out[1], *_CTC))


@row("_ctc_loss_backward")
def _ctc_backward(a):
    """The same steps backwards, log(exp(a) + exp(b)) of each state into its symbol, and the gradient of
    each score."""
    return (on(a.log_alpha, *_CTC, *"Add Max Sub Sub Exp Exp Add Log Add".split())
            + on(a.log_probs, *"Exp Add Sub Exp Sub Mul".split()))


row("nll_loss_backward", "nll_loss2d_backward")(
    lambda a: on(a.target, "Neg", *(["Mul"] if a.weight is not None else [])))


# --- quantised layers: PyTorch packs their weights

@row("quantize_per_tensor", "quantize_per_channel", "quantize_per_tensor_dynamic")
def _quantize(a):
    return on(a.x if a.x is not None else a.input, "QuantizeLinear")


ROWS["dequantize"] = each("DequantizeLinear")
ROWS["_empty_affine_quantized"] = ROWS["q_scale"] = ROWS["q_zero_point"] = moves("Identity")


def _unpacked(a):
    """(weight, bias or None)"""
    packed = next(v for v in (a.W_prepack, a.packed_weight, a.packed) if v is not None)
    weight, bias, *_ = packed.unpack()
    return weight, bias


def _after_product(a, bias):
    """Results in 32 bits become floating or 8 bits wide."""
    types = (["Add"] if bias is not None else []) + (["Relu"] if "relu" in a.name_ else [])
    return on((("float32",) + spec(a.out)[1:]), *types) + on(a.out, "DequantizeLinear" if "dynamic" in a.name_
                                                             else "QuantizeLinear")


@row("quantized.linear", "quantized.linear_relu", "quantized.linear_dynamic", "quantized.linear_relu_dynamic")
def _quantized_linear(a):
    weight, bias = _unpacked(a)
    w = spec(weight)
    ops = on(a.X, "DynamicQuantizeLinear") if "dynamic" in a.name_ else []
    return ops + [Operator("MatMulInteger", (("uint8", spec(a.X)[1]), ("int8", w[1][::-1])))] + _after_product(a, bias)


@row("quantized.linear_dynamic_fp16", "quantized.linear_relu_dynamic_fp16")
def _half_linear(a):
    weight, bias = _unpacked(a)
    return linear_ops(a.X, weight, bias, a.out) + (on(a.out, "Relu") if "relu" in a.name_ else [])


@row(*(f"quantized.conv{n}d{relu}" for n in (1, 2, 3) for relu in ("", "_relu")))
def _quantized_conv(a):
    weight, bias = _unpacked(a)
    packed = next(v for v in (a.W_prepack, a.packed_weight) if v is not None)
    n = int(a.name_[len("quantized.conv")])
    values = Arguments({"stride": packed.stride(), "padding": packed.padding(), "dilation": packed.dilation(),
                        "groups": packed.groups()})
    x, w = sized(a.qx, *spec(a.qx)[1]), spec(weight)
    if n == 1 and len(w[1]) == 4:  # packed as one of two dimensions
        x = (x[0], (*x[1][:2], 1, x[1][2]))
    return [_conv_op(("float32", x[1]), ("float32", w[1]), None, values)] + _after_product(a, bias)


# --- torchvision's own

@row("torchvision.roi_align")
def _roi_align(a):
    rois = spec(a.rois)
    batch = ("int64", (rois[1][0],))
    return [Operator("RoiAlign", (spec(a.input), (rois[0], (rois[1][0], 4)), batch), {
        "output_height": int(a.pooled_height), "output_width": int(a.pooled_width),
        "sampling_ratio": int(a.sampling_ratio)})]


@row("torchvision.nms")
def _nms(a):
    n = spec(a.dets)[1][0]
    return [Operator("NonMaxSuppression", (sized(a.dets, 1, n, 4), sized(a.scores, 1, 1, n)))]


@row("torchvision.deform_conv2d")
def _deform_conv(a):
    return [Operator("DeformConv", (spec(a.input), spec(a.weight), spec(a.offset), spec(a.bias),
                                    spec(a.mask) if a.use_mask else None), {
        "strides": (a.stride_h, a.stride_w), "pads": (a.pad_h, a.pad_w) * 2,
        "dilations": (a.dilation_h, a.dilation_w), "group": int(a.groups),
        "offset_group": int(a.offset_groups)})]
