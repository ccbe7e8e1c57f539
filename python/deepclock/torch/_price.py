# SPDX-License-Identifier: Apache-2.0
"""The cost of an aten call: the sum over its operators by deepclock's table."""

import functools
import sys
import typing

import torch

from deepclock import _deepclock

from . import _aten, _aten_fused, _aten_linalg  # noqa: F401  they fill ROWS
from ._operators import (HIGHER_ORDER, ROWS, Arguments, Operator, Unpriced, bytes_in, first_out, formula, lengths,
                         product, spec, tensors_in)


class Price(typing.NamedTuple):
    """The cost of a call; None is unknown, and `why` is the reason."""
    types: tuple
    macs: typing.Optional[int]
    flops: typing.Optional[int]
    read_bytes: typing.Optional[int]
    write_bytes: typing.Optional[int]
    why: str = ""
    least_macs: int = 0   # lower bounds: the known part
    least_flops: int = 0
    type: str = ""  # the operator with the MACs, or the only one; "": several
    peers: tuple = ()  # what each counter of _cost_peers() counts, None is not known; (): none is known


class _Schema(typing.NamedTuple):
    name: str
    row: typing.Optional[typing.Callable]
    arguments: tuple  # (name, default)
    view: bool
    changes: bool     # an argument that is written to


def _base_name(schema):
    namespace, _, name = schema.name.partition("::")
    if name.endswith("_") and not name.endswith("__") and any(
            x.alias_info is not None and x.alias_info.is_write for x in schema.arguments):
        name = name[:-1]
    if name.startswith("__") and name.endswith("__"):
        name = name[:-2]
    return name if namespace in ("aten", "prims") else f"{namespace}.{name}"


@functools.lru_cache(maxsize=None)
def schema_of(func):
    schema = func._schema
    name = _base_name(schema)
    writes = [x.alias_info is not None and x.alias_info.is_write for x in schema.arguments]
    aliases = [x.alias_info is not None for x in schema.returns]
    view = bool(aliases) and all(aliases) and not any(writes)
    arguments = tuple((x.name, x.default_value if x.has_default_value() else None)
                      for x in schema.arguments)
    return _Schema(name, ROWS.get(name), arguments, view, any(writes))


def is_view(func):
    """Its result is the memory of an argument."""
    return schema_of(func).view


def name_of(func):
    """ "aten.addmm", without the overload; "higher_order.flex_attention"."""
    if not hasattr(func, "_schema"):
        return f"higher_order.{func.name()}"
    return func._schema.name.replace("::", ".")


def written(func, args, kwargs):
    """The arguments that the call writes to."""
    values = dict(zip((x.name for x in func._schema.arguments), args), **kwargs)
    return [values[x.name] for x in func._schema.arguments
            if x.alias_info is not None and x.alias_info.is_write and values.get(x.name) is not None]


def has_row(func):
    s = schema_of(func)
    return s.row is not None or s.view or s.name.startswith("_foreach_") or _formula_of(func) is not None


def _formula_of(func):
    """The formula of torch.utils.flop_counter.register_flop_formula() for it, or None."""
    counter = sys.modules.get("torch.utils.flop_counter")  # a user who registers one has loaded it
    return counter and counter.flop_registry.get(getattr(func, "overloadpacket", func))


def bind(func, args, kwargs, out):
    """The arguments by their names."""
    s = schema_of(func)
    values = dict(s.arguments)
    values.update(zip((name for name, _ in s.arguments), args))
    values.update(kwargs)
    a = Arguments(values, out)
    a.name_ = s.name
    return a


def _foreach(a, name):
    """`_foreach_add(list, list)` is `add` of each."""
    inner = ROWS.get(name[len("_foreach_"):])
    if name in ROWS:
        inner = ROWS[name]
    if inner is None:
        raise Unpriced(f"deepclock has no row for {name}")
    lists = {k: v for k, v in a._values.items() if isinstance(v, (list, tuple))}
    ops = []
    for i, x in enumerate(a._values["self"]):
        values = {k: (v[i] if i < len(v) else None) if k in lists else v
                  for k, v in a._values.items()}
        values = {{"tensors1": "other", "tensor1": "tensor1", "weights": "weight"}.get(k, k): v
                  for k, v in values.items()}
        for scalar in ("scalar", "scalars"):
            if values.get(scalar) is not None:
                values.setdefault("value", values[scalar])
                values.setdefault("other", values[scalar])
        part = Arguments(values, x)
        part.name_ = name[len("_foreach_"):]
        ops += inner(part)
    return ops


def operators_of(func, args, kwargs, out):
    """The operators of the table that a call is. Unpriced: none are known."""
    if not hasattr(func, "_schema"):
        return _higher_order(func, args, out)
    s = schema_of(func)
    a = bind(func, args, kwargs, out)
    if s.name.startswith("_foreach_"):
        return _foreach(a, s.name)
    if s.row is not None and not s.view:
        return s.row(a)
    if s.view:
        return [Operator("Identity", (spec(first_out(a)),))]
    if _formula_of(func) is not None:
        flops = int(_formula_of(func)(*args, **kwargs, out_val=out))  # it counts products alone
        return [formula(s.name, flops, flops // 2)]
    raise Unpriced(f"deepclock has no row for {func}")


def _higher_order(func, args, out):
    name = func.name()
    if any(isinstance(v, torch.Tensor) and v.device.type == "meta" for v in args) and name in (
            "cond", "while_loop"):
        raise Unpriced("what runs depends on values, which tensors without memory do not have")
    if name not in HIGHER_ORDER:
        raise Unpriced("deepclock has no row for this higher-order operator")
    return HIGHER_ORDER[name](args, out)


def _operator_price(o):
    if "flops" in o.attributes:  # formula()
        return o.attributes["macs"], o.attributes["flops"], None, None, None, o.attributes["why"]
    price_ = _table_price(o.type, o.inputs, tuple(o.attributes.items()), o.outputs)
    return _of_complex(o, price_) if any(s and s[0].startswith("complex") for s in o.inputs) else price_


def _as_module(o):
    """The operator as the counters of _cost_peers() know it: a product with a matrix is a layer with
    weights, the mean of all positions is global average pooling."""
    shapes = [s[1] for s in o.inputs if s]
    if o.type == "MatMul" and len(shapes) == 2 and len(shapes[0]) >= 2 == len(shapes[1]):
        dtype, x = o.inputs[0]
        return o._replace(type="Gemm", inputs=((dtype, (product(x[:-1]), x[-1])), o.inputs[1]))
    if o.type == "ReduceMean" and len(shapes[0]) > 2 and o.inputs[1][2] == tuple(range(2, len(shapes[0]))):
        return o._replace(type="GlobalAveragePool", inputs=o.inputs[:1], attributes={})
    return o


def _peers(ops):
    """What each counter counts of these operators."""
    if any("flops" in o.attributes for o in ops):  # formula()
        return ()
    if any(s and s[0].startswith("complex") for o in ops for s in o.inputs):
        return ()
    parts = [(o.times, _operator_price(_as_module(o))[6]) for o in ops]
    return tuple(None if None in column else sum(n * times for n, (times, _) in zip(column, parts))
                 for column in zip(*(counted for _, counted in parts)))


@functools.lru_cache(maxsize=65536)
def _table_price(type_, inputs, attributes, outputs):
    return _deepclock.operator_cost(type_, inputs, dict(attributes), outputs)


# FLOPs of one operation on complex numbers, in operations on real ones: if both operands are complex, and
# if one of them is real. A product of complex numbers is 4 products and 2 sums of real ones.
_COMPLEX = {
    "Add": (2, 1), "Sub": (2, 1), "Mul": (6, 2), "Div": (11, 2), "Equal": (3, 3), "Neg": (2, 2),
    "Reciprocal": (6, 6), "Abs": (4, 4), "Exp": (5, 5), "ReduceSum": (2, 2), "ReduceMean": (2, 2),
    "CumSum": (2, 2), "ReduceProd": (6, 6), "CumProd": (6, 6), "Where": (1, 1), "RandomNormalLike": (2, 2),
    "RandomUniformLike": (2, 2),
}


def _of_complex(o, price_):
    """In real arithmetic: 4 MACs for one of complex numbers."""
    macs, flops = price_[:2]
    if macs:
        return (4 * macs, flops and 8 * macs + 2 * (flops - 2 * macs), *price_[2:])
    if not flops:
        return price_
    if o.type not in _COMPLEX:
        return (macs, None, *price_[2:5], f"FLOPs of {o.type} of complex numbers have no convention")
    both = all(s is None or s[0].startswith("complex") for s in o.inputs[:2])
    by_complex = o.type == "Div" and o.inputs[1][0].startswith("complex")
    return (macs, flops * _COMPLEX[o.type][0 if both or by_complex else 1], *price_[2:])


# They read only the shapes of their inputs.
_WRITES = {"ConstantOfShape", "Range", "RandomUniformLike", "RandomNormalLike", "Bernoulli", "Shape"}


def bytes_of(value):
    """Of all tensors, each once."""
    seen, n = set(), 0
    for t in tensors_in(value):
        if id(t) not in seen:
            seen.add(id(t))
            n += bytes_in(t)
    return n


def _traffic(ops, parts, args, kwargs, out):
    """Returns the bytes read and written: of one operator by the table; of a call of several, and of one whose
    result has another shape, its input and output tensors, each once."""
    if ops[0].type in _WRITES:
        return 0, bytes_of(out)
    if len(ops) == 1 and ops[0].times == 1:
        price = parts[0]
        result = next(iter(tensors_in(out)), None)
        if price[2] is not None and price[3] is not None and (
                result is None or price[4] == tuple(result.shape)):
            return price[2], price[3]
    return bytes_of((args, kwargs)), bytes_of(out)


def price(func, args, kwargs, out):
    """A Price; for a call without operators in the table, one whose MACs and FLOPs are None."""
    n = max((lengths(t) for t in tensors_in((args, kwargs, out))), default=0)
    if not n:
        return _price_of_one(func, args, kwargs, out)
    parts = [_price_of_one(func, *(_item(v, i) for v in (args, kwargs, out))) for i in range(n)]
    return parts[0]._replace(
        macs=None if any(p.macs is None for p in parts) else sum(p.macs for p in parts),
        flops=None if any(p.flops is None for p in parts) else sum(p.flops for p in parts),
        peers=(), least_macs=sum(p.least_macs for p in parts), least_flops=sum(p.least_flops for p in parts),
        read_bytes=bytes_of((args, kwargs)), write_bytes=bytes_of(out))


def _item(value, i):
    """The i-th item of nested tensors, as a batch of one without memory."""
    if isinstance(value, torch.Tensor):
        if not lengths(value):
            return value
        return torch.empty(1, *value._nested_tensor_size()[i].tolist(), dtype=value.dtype, device="meta")
    if isinstance(value, (list, tuple)):
        return type(value)(_item(v, i) for v in value)
    if isinstance(value, dict):
        return {k: _item(v, i) for k, v in value.items()}
    return value


def _price_of_one(func, args, kwargs, out):
    try:
        ops = operators_of(func, args, kwargs, out)
        parts = [_operator_price(o) for o in ops]
        read, write = _traffic(ops, parts, args, kwargs, out)
    except Unpriced as e:
        return Price((), None, None, None, None, str(e))
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, StopIteration,
            RuntimeError) as e:
        return Price((), None, None, None, None,
                     f"its arguments are unknown to deepclock ({type(e).__name__}: {e})"[:200])
    types = tuple(dict.fromkeys(o.type for o in ops))
    macs = flops = 0
    why = ""
    for o, p in zip(ops, parts):
        macs = None if macs is None or p[0] is None else macs + o.times * p[0]
        flops = None if flops is None or p[1] is None else flops + o.times * p[1]
        why = why or (p[5] if p[0] is None or p[1] is None else "")
    products = {o.type for o, p in zip(ops, parts) if p[0]} or set(types)
    return Price(types, macs, flops, read, write, why, sum(o.times * (p[0] or 0) for o, p in zip(ops, parts)),
                 sum(o.times * (p[1] or 2 * (p[0] or 0)) for o, p in zip(ops, parts)),
                 products.pop() if len(products) == 1 else "", _peers(ops))
