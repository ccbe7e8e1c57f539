# SPDX-License-Identifier: Apache-2.0
"""What the rows of aten calls are made of: tensors as the library takes them, and operators of its
table.

A row is a function from the Arguments of a call to a list of Operators; `row()` puts it into ROWS
under the names of the calls.
"""

import typing

import torch

from .._accelerator import tensors_in

_DTYPES = {getattr(torch, name): name for name in (
    "float32 float64 float16 bfloat16 uint8 int8 int16 int32 int64 bool complex64 complex128 uint16 "
    "uint32 uint64").split() if hasattr(torch, name)}
_DTYPES.update({torch.quint8: "uint8", torch.qint8: "int8", torch.qint32: "int32"})
_DTYPES.update({getattr(torch, ours): theirs for ours, theirs in (
    ("float8_e4m3fn", "float8e4m3fn"), ("float8_e4m3fnuz", "float8e4m3fnuz"),
    ("float8_e5m2", "float8e5m2"), ("float8_e5m2fnuz", "float8e5m2fnuz")) if hasattr(torch, ours)})
_RANK_MAX = 16
_BY_ROWS = [getattr(torch, name) for name in ("sparse_csr", "sparse_bsr") if hasattr(torch, name)]


class Operator(typing.NamedTuple):
    """One operator of the table, repeated `times` times."""
    type: str
    inputs: tuple = ()
    attributes: dict = {}
    outputs: int = 1
    times: int = 1


def formula(type_, flops, macs=0, why=""):
    """An operator that is not in the table, with its own numbers; flops None: not known, because of `why`."""
    return Operator(type_, attributes={"macs": macs, "flops": flops, "why": why})


class Unpriced(Exception):
    """The arguments do not fit the row; the text is the reason."""


class Arguments:
    """The arguments of a call by the names in its schema; `out` is its result."""

    def __init__(self, values, out=None):
        self._values = values
        self.out = out

    def __getattr__(self, name):
        return self._values.get("self" if name == "x" else name)


# --- what operators see

def spec(t, contents=None):
    """A tensor, a number or a pair (dtype, shape) as the library takes it."""
    if t is None:
        return None
    if isinstance(t, torch.Tensor):
        return (_DTYPES.get(t.dtype, "?"), shape_of(t))
    if isinstance(t, (bool, int, float, complex)):
        return ("complex64" if isinstance(t, complex) else "float32", ())
    return tuple(t) if contents is None else (t[0], tuple(t[1]), tuple(contents))


def lengths(t):
    """Returns the number of items of a nested tensor whose sizes are a tensor (torch.strided); 0 for other tensors."""
    if not getattr(t, "is_nested", False) or t.layout != torch.strided:
        return 0
    return t._nested_tensor_size().shape[0]


def sizes_text(t):
    """"3x224x224", of a nested tensor prefixed by the number of its items: "2x(6x32, 4x32)"."""
    n = lengths(t)
    if n:
        shown = ["x".join(map(str, size)) for size in t._nested_tensor_size()[:4].tolist()]
        return f"{n}x({', '.join(shown)}{', ...' if n > 4 else ''})"
    return "x".join(map(str, t.shape))


def stored(t):
    """How many values a sparse tensor stores; None: it is dense."""
    if t.layout == torch.strided or t.is_nested:
        return None
    if t.layout == torch.sparse_coo:
        return t._values().numel()
    return t.values().numel() if hasattr(t, "crow_indices") or hasattr(t, "ccol_indices") else None


def bytes_in(t):
    """Bytes of a tensor's values; of a sparse one, of its stored values and their indices."""
    if t.layout == torch.strided or t.is_nested:
        return t.numel() * t.element_size()
    try:
        if t.layout == torch.sparse_coo:
            parts = (t._values(), t._indices())
        elif t.layout in _BY_ROWS:
            parts = (t.values(), t.crow_indices(), t.col_indices())
        else:
            parts = (t.values(), t.ccol_indices(), t.row_indices())
    except (RuntimeError, AttributeError):  # mkldnn's own layout
        return t.numel() * t.element_size()
    return sum(p.numel() * p.element_size() for p in parts)


def shape_of(t):
    try:
        shape = tuple(int(n) for n in t.shape)
    except (RuntimeError, TypeError, ValueError) as e:  # nested and sparse tensors, open sizes
        raise Unpriced(f"a tensor has no plain shape ({str(e).splitlines()[0][:80]})") from None
    if len(shape) > _RANK_MAX:
        raise Unpriced(f"a tensor has {len(shape)} dimensions, the most are {_RANK_MAX}")
    return shape


def sized(like, *shape):
    """The element type of `like` with another shape."""
    return (spec(like)[0], tuple(int(n) for n in shape))


def integers(values):
    """A small tensor of integers with its contents."""
    values = tuple(int(v) for v in values)
    return ("int64", (len(values),), values)


def first_out(a):
    """The first tensor that the call makes; of a call that makes none, that it changes."""
    for t in tensors_in(a.out):
        return t
    return a.x


def wide(values, n):
    """aten writes one number for all dimensions."""
    values = [values] if isinstance(values, int) else list(values)
    return tuple(values) if len(values) == n else tuple(values[:1] * n)


def product(shape):
    n = 1
    for size in shape:
        n *= int(size)
    return n


# --- rows

ROWS = {}

#: name of a higher-order operator: function from (its arguments, its result) to Operators
HIGHER_ORDER = {}


def row(*names):
    def add(f):
        for name in names:
            ROWS[name] = f
        return f
    return add


_BINARY = set("Add Sub Mul Div Pow Mod Max Min Less LessOrEqual Greater GreaterOrEqual Equal And Or Xor "
              "BitwiseAnd BitwiseOr BitwiseXor BitShift".split())


def on(what, *types):
    """These operators, each on all elements of `what`."""
    s = spec(what)
    return [Operator(t, (s, s) if t in _BINARY else (s, s, s) if t == "Where" else (s,))
            for t in types]


def each(*types):
    """An elementwise call: these operators for each element of its result."""
    return lambda a: on(first_out(a), *types)


def like(argument, *types):
    """The same for each element of an argument."""
    return lambda a: on(getattr(a, argument), *types)


def one(type_, *arguments):
    """One operator whose inputs are these arguments."""
    return lambda a: [Operator(type_, tuple(spec(getattr(a, name)) for name in arguments))]


def two(type_):
    """A call of two operands that broadcast; `alpha` multiplies the second one."""
    def build(a):
        other = a.other if a.other is not None else a.exponent
        ops = [Operator(type_, (spec(a.x), spec(other)))]
        if a.alpha not in (None, 1):
            ops += on(a.other if isinstance(a.other, torch.Tensor) else a.x, "Mul")
        return ops
    return build


def moves(type_):
    """It moves data and computes nothing."""
    def build(a):
        return [Operator(type_, (spec(first_out(a)),))]
    return build


def sum_all(s):
    return [Operator("ReduceSum", (s,))]


def sparse_ops(left, right):
    """A product with a sparse matrix: each value that it stores meets a row of the other one."""
    n = stored(left)
    if n is not None and stored(right) is not None:
        raise Unpriced("how many products two sparse matrices have depends on where their values are")
    if n is None:
        n, rows = stored(right), shape_of(left)[-2] if left.dim() > 1 else 1
    else:
        rows = shape_of(right)[-1] if right.dim() > 1 else 1
    return [Operator("MatMul", (sized(left, n, 1), sized(right, 1, rows)))]


def linear_ops(x, weight, bias, out):
    w = spec(weight)
    ops = [Operator("MatMul", (spec(x), (w[0], w[1][::-1])))]
    return ops + (on(out, "Add") if bias is not None else [])


def softmax_gradient(s):
    return on(s, "Mul") + sum_all(s) + on(s, "Sub", "Mul")
