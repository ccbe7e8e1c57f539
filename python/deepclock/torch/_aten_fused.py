# SPDX-License-Identifier: Apache-2.0
"""Rows of calls that are whole layers: attention, encoder layers, recurrent cells, optimisers."""

from ._operators import (HIGHER_ORDER, Operator, Unpriced, formula, integers, like, linear_ops, on, product, row, sized,
                         softmax_gradient, spec)


# --- attention

def _four(t):
    """[batch, heads, length, size]; fewer dimensions get a 1, more go into the batch."""
    dtype, shape = spec(t)
    while len(shape) < 4:
        shape = shape[:-2] + (1,) + shape[-2:] if len(shape) == 3 else (1,) + shape
    return (dtype, (product(shape[:-3]),) + shape[-3:])


def _swapped(s):
    """From [batch, length, heads, size]."""
    return (s[0], (s[1][0], s[1][2], s[1][1], s[1][3]))


def _attention_op(q, k, v, masked):
    attributes = {"is_causal": int(bool(masked))}
    return [Operator("Attention", (q, k, v), attributes)]


_SDPA = ("scaled_dot_product_attention _scaled_dot_product_flash_attention "
         "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_efficient_attention "
         "_scaled_dot_product_cudnn_attention _scaled_dot_product_fused_attention_overrideable "
         "_scaled_dot_product_attention_math_for_mps "
         "_scaled_dot_product_fused_attention_overrideable").split()


@row(*_SDPA)
def _attention(a):
    masked = a.is_causal or next((m for m in (a.attn_mask, a.attn_bias) if m is not None), None) is not None
    return _attention_op(_four(a.query), _four(a.key), _four(a.value), masked)


@row("_flash_attention_forward", "_efficient_attention_forward")
def _attention_inside(a):
    if any(v is not None for v in (a.cum_seq_q, a.cu_seqlens_q)):
        raise Unpriced("its lengths are in a tensor")
    q, k, v = (_swapped(_four(t)) for t in (a.query, a.key, a.value))
    return _attention_op(q, k, v, a.is_causal or a.bias is not None or a.custom_mask_type)


row(*(f"{_name}_backward" for _name in _SDPA))(
    lambda a: _attention_gradient(_four(a.query), _four(a.key), _four(a.value)))


@row("_flash_attention_backward", "_efficient_attention_backward")
def _attention_inside_backward(a):
    if any(v is not None for v in (a.cum_seq_q, a.cu_seqlens_q)):
        raise Unpriced("its lengths are in a tensor")
    return _attention_gradient(*(_swapped(_four(t)) for t in (a.query, a.key, a.value)))


def _attention_gradient(q, k, v):
    """The scores again, and four products: the gradients of value, probabilities, query, key."""
    batch, heads, rows, size = q[1]
    keys, value = k[1][2], v[1][3]
    scores = (q[0], (batch, heads, rows, keys))
    turned = (q[0], (batch, heads, keys, rows))
    values = (q[0], (batch, heads, value, keys))
    out = (q[0], (batch, heads, rows, value))
    wide_k = (q[0], (batch, heads, keys, size))
    return ([Operator("MatMul", (q, (q[0], (batch, heads, size, keys)))),
             Operator("MatMul", (turned, out)),
             Operator("MatMul", (out, values)),
             Operator("MatMul", (scores, wide_k)),
             Operator("MatMul", (turned, q))]
            + on(scores, "Mul", "Sub", "Exp") + softmax_gradient(scores) + on(scores, "Mul"))


def _heads(a, q, k, v):
    """The projections and the attention of nn.MultiheadAttention's fused kernel."""
    batch, rows, width = q[1]
    heads = int(a.num_head if a.num_head is not None else a.num_heads)
    bias = a.qkv_bias is not None
    ops = []
    for t in (q, k, v):
        ops.append(Operator("MatMul", (t, (q[0], (width, width)))))
        ops += on(t, "Add") if bias else []

    def split(t):
        return (t[0], (t[1][0], heads, t[1][1], width // heads))
    ops += _attention_op(split(q), split(k), split(v), a.mask is not None)
    ops.append(Operator("MatMul", (q, (q[0], (width, width)))))
    return ops + (on(q, "Add") if a.proj_bias is not None else [])


@row("_native_multi_head_attention")
def _multi_head(a):
    q, k, v = spec(a.query), spec(a.key), spec(a.value)
    ops = _heads(a, q, k, v)
    if a.need_weights and a.average_attn_weights:
        scores = (q[0], (q[1][0], int(a.num_head), q[1][1], k[1][1]))
        ops.append(Operator("ReduceMean", (scores, integers([1]))))
    return ops


@row("_transformer_encoder_layer_fwd")
def _encoder_layer(a):
    x = spec(a.src)
    hidden = (x[0], x[1][:-1] + (spec(a.ffn_weight_1)[1][0],))
    norm = [Operator("LayerNormalization", (x, spec(a.norm_weight_1), spec(a.norm_bias_1)))]
    ops = _heads(a, x, x, x) + norm * 2 + on(x, "Add", "Add")
    ops += linear_ops(a.src, a.ffn_weight_1, a.ffn_bias_1, hidden)
    ops += on(hidden, "Gelu" if a.use_gelu else "Relu")
    return ops + linear_ops(hidden, a.ffn_weight_2, a.ffn_bias_2, x)


def _flex(ops):
    """What its function of a score computes is not counted; masks are not halved, blocks that they leave
    out count."""
    return [*ops, formula("score_mod", None, why="what score_mod and mask_mod compute for each score is not "
                                                 "counted")]


HIGHER_ORDER["flex_attention"] = lambda args, out: _flex(_attention_op(*map(_four, args[:3]), False))
HIGHER_ORDER["flex_attention_backward"] = lambda args, out: _flex(_attention_gradient(*map(_four, args[:3])))


# --- recurrent cells

_CELLS = {2: ("LSTM", 4), 3: ("GRU", 3), 0: ("RNN", 1), 1: ("RNN", 1)}


def _cell(mode, x, steps, batch, inputs, hidden, bias, directions=1):
    type_, gates = _CELLS[int(mode)]
    return Operator(type_, (sized(x, steps, batch, inputs),
                            sized(x, directions, gates * hidden, inputs),
                            sized(x, directions, gates * hidden, hidden),
                            sized(x, directions, 2 * gates * hidden) if bias else None),
                    {"hidden_size": int(hidden),
                     "direction": "bidirectional" if directions == 2 else "forward"})


@row("mkldnn_rnn_layer")
def _mkldnn_rnn(a):
    x = spec(a.input)
    steps, batch = x[1][0], x[1][1]
    return [_cell(a.mode, x, steps, batch, x[1][2], a.hidden_size, a.has_biases)]


# the gradients of inputs and of weights, each as many products as forward
row("mkldnn_rnn_layer_backward")(lambda a: [o._replace(times=2) for o in _mkldnn_rnn(a)])


@row("_cudnn_rnn", "miopen_rnn")
def _cudnn_rnn(a):
    if a.batch_sizes or a.proj_size:
        raise Unpriced("packed sequences and projections are not priced")
    x = spec(a.input)
    batch, steps = x[1][:2] if a.batch_first else x[1][1::-1]
    directions = 2 if a.bidirectional else 1
    return [_cell(a.mode, x, steps, batch, x[1][2] if i == 0 else directions * a.hidden_size,
                  a.hidden_size, a.weight_stride0 > 2, directions) for i in range(a.num_layers)]


@row("_thnn_fused_lstm_cell")
def _lstm_cell(a):
    gates = spec(a.input_gates)
    unit = sized(gates, *gates[1][:-1], gates[1][-1] // 4)
    return (on(gates, "Add", *(["Add", "Add"] if a.input_bias is not None else []))
            + on(unit, "Sigmoid", "Sigmoid", "Sigmoid", "Tanh", "Mul", "Mul", "Add", "Tanh", "Mul"))


@row("_thnn_fused_gru_cell")
def _gru_cell(a):
    gates = spec(a.input_gates)
    unit = sized(gates, *gates[1][:-1], gates[1][-1] // 3)
    return (on(gates, "Add", *(["Add", "Add"] if a.input_bias is not None else []))
            + on(unit, "Sigmoid", "Sigmoid", "Mul", "Tanh", "Sub", "Mul", "Add"))


# --- optimisers: each the arithmetic of its loop over the parameters

def _parameters(a, types):
    return [o for t in a.x for o in on(t, *types)]


@row("_fused_adam", "_fused_adamw")
def _fused_adam(a):
    decay = [] if not a.weight_decay else ["Mul"] if "adamw" in a.name_ else ["Mul", "Add"]
    largest = ["Max"] if a.amsgrad else []
    sign = ["Neg"] if a.maximize else []
    return _parameters(a, sign + decay + "Sub Mul Add Mul Mul Mul Add".split() + largest
                       + "Sqrt Div Add Div Mul Add".split())


@row("_fused_sgd")
def _fused_sgd(a):
    types = (["Neg"] if a.maximize else []) + (["Mul", "Add"] if a.weight_decay else [])
    if a.momentum and not a.is_first_step:
        types += ["Mul", "Add"] if a.dampening == 1 else ["Mul", "Add"] + (
            ["Mul"] if a.dampening else [])
        types += ["Mul", "Add"] if a.nesterov else []
    return _parameters(a, types + ["Mul", "Add"])


@row("_fused_adagrad")
def _fused_adagrad(a):
    decay = ["Mul", "Add"] if a.weight_decay else []
    return _parameters(a, decay + "Mul Mul Add Sqrt Add Div Mul Add".split())


row("_amp_foreach_non_finite_check_and_unscale")(lambda a: _parameters(a, ["IsInf", "Mul"]))
row("_amp_update_scale")(like("x", "Mul"))
