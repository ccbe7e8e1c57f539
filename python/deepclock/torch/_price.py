# SPDX-License-Identifier: Apache-2.0
"""What an aten call costs: its operators priced by deepclock's table, and added up."""

import functools
import typing

from deepclock import _deepclock

from . import _aten, _aten_fused  # noqa: F401  they fill ROWS
from ._operators import ROWS, Arguments, Operator, Unpriced, first_out, spec, tensors_in


class Price(typing.NamedTuple):
    """What a call costs; None is not known, and `why` says the reason."""
    types: tuple
    macs: typing.Optional[int]
    flops: typing.Optional[int]
    read_bytes: typing.Optional[int]
    write_bytes: typing.Optional[int]
    why: str = ""
    type: str = ""  # the one that has the MACs, or the only one; "": there are several


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
    """ "aten.addmm", without the overload."""
    return func._schema.name.replace("::", ".")


def written(func, args, kwargs):
    """The arguments that the call writes to."""
    values = dict(zip((x.name for x in func._schema.arguments), args), **kwargs)
    return [values[x.name] for x in func._schema.arguments
            if x.alias_info is not None and x.alias_info.is_write and values.get(x.name) is not None]


def has_row(func):
    s = schema_of(func)
    return s.row is not None or s.view or s.name.startswith("_foreach_")


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
    s = schema_of(func)
    a = bind(func, args, kwargs, out)
    if s.name.startswith("_foreach_"):
        return _foreach(a, s.name)
    if s.row is not None and not s.view:
        return s.row(a)
    if s.view:
        return [Operator("Identity", (spec(first_out(a)),))]
    raise Unpriced(f"deepclock has no row for {func}")


@functools.lru_cache(maxsize=65536)
def _operator_price(type_, inputs, attributes, outputs):
    return _deepclock.operator_cost(type_, inputs, dict(attributes), outputs)


# They read nothing of what they are given but its shape.
_WRITES = {"ConstantOfShape", "Range", "RandomUniformLike", "RandomNormalLike", "Bernoulli", "Shape"}


def bytes_of(value):
    """Of all tensors, each once."""
    seen, n = set(), 0
    for t in tensors_in(value):
        if id(t) not in seen:
            seen.add(id(t))
            n += t.numel() * t.element_size()
    return n


def _traffic(ops, parts, args, kwargs, out):
    """An operator moves what the table says; of a call that is several, and of one whose result has
    another shape, the tensors it takes and gives, each once."""
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
    """A Price; of a call that the table has no operators for, one whose MACs and FLOPs are None."""
    try:
        ops = operators_of(func, args, kwargs, out)
        parts = [_operator_price(o.type, o.inputs, tuple(o.attributes.items()), o.outputs) for o in ops]
        read, write = _traffic(ops, parts, args, kwargs, out)
    except Unpriced as e:
        return Price((), None, None, None, None, str(e))
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, StopIteration,
            RuntimeError) as e:
        return Price((), None, None, None, None,
                     f"its arguments are none that deepclock knows ({type(e).__name__}: {e})"[:200])
    types = tuple(dict.fromkeys(o.type for o in ops))
    macs = flops = 0
    why = ""
    for o, p in zip(ops, parts):
        macs = None if macs is None or p[0] is None else macs + o.times * p[0]
        flops = None if flops is None or p[1] is None else flops + o.times * p[1]
        why = why or (p[5] if p[0] is None or p[1] is None else "")
    products = {o.type for o, p in zip(ops, parts) if p[0]} or set(types)
    return Price(types, macs, flops, read, write, why, products.pop() if len(products) == 1 else "")
