# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.cost(): what a network computes, module by module, from one call of it.

    record = deepclock.torch.cost(torchvision.models.resnet18(), torch.randn(1, 3, 224, 224))
    print(record.report())
    record["cost/macs"].value                   # 1814073344

The module runs once; a dispatch mode sees its aten calls, and their cost follows from deepclock's table, which
`deepclock cost` uses for ONNX files.
"""

import contextlib
import linecache
import operator
import typing

import torch

from . import _backward
from ._call import arguments, hinted, name_of, plain, uncompiled
from ._counter import Counter, storage_of
from ._dispatch import is_wrapper
from ._modules import Modules, calls, frame_of
from ._inference import is_training, shape_text
from ._operators import bytes_in, tensors_in
from .. import _deepclock
from .._record import Record, cell, saved, saving, si

_OPS_MAX = 100000
_BRIEF_ROWS = 12
_CONVENTION = ("MAC: one multiply and one add of a product or convolution, 2 FLOPs; zero padding counts; "
               "causal masks are not halved; 'deepclock cost --operators' has every formula")


class _Sums:
    """Sums over the calls of one module, or of all. If the MACs or FLOPs of a call are unknown, the sums are lower bounds,
    and the reason of the first such call is stored."""

    def __init__(self):
        self.calls = self.macs = self.flops = self.read_bytes = self.write_bytes = 0
        self.backward_macs = self.backward_flops = 0
        self.params = self.buffers = 0
        self.macs_why = self.flops_why = self.backward_macs_why = self.backward_flops_why = ""

    def add(self, other):
        for key, value in vars(other).items():
            if isinstance(value, str):
                setattr(self, key, getattr(self, key) or value)
            else:
                setattr(self, key, getattr(self, key) + value)

    def count(self, call):
        p = call.price
        side = "" if call.phase == "forward" else "backward_"
        for key, n, least in (("macs", p.macs, p.least_macs), ("flops", p.flops, p.least_flops)):
            if n is None:
                why = side + key + "_why"
                setattr(self, why, getattr(self, why) or f"{call.name}: {p.why}")
            setattr(self, side + key, getattr(self, side + key) + (least if n is None else n))
        if not side:
            self.read_bytes += p.read_bytes or 0
            self.write_bytes += p.write_bytes or 0


class _Tally:
    """Everything that was counted."""

    def __init__(self, modules):
        self.modules = modules
        self.of = {path: _Sums() for path in modules.classes}
        self.phases = {}   # phase: _Sums
        self.ops = []      # calls of the forward pass
        self.unknown = {}  # name of a call: (how often, why)
        self.recomputed = 0
        self.running = None

    def seen(self, call):
        if call.phase != "forward" and self.running and self.running.stack:
            self.recomputed += call.price.flops or 0
        if call.price.macs is None or call.price.flops is None:
            n, why = self.unknown.get(call.name, (0, call.price.why))
            self.unknown[call.name] = (n + 1, why)
        phase = self.phases.setdefault(call.phase, _Sums())
        phase.count(call._replace(phase="forward"))
        phase.calls += 1
        if call.phase in ("forward", "backward"):
            self.of[call.path].count(call)
        if call.phase == "forward" and len(self.ops) < _OPS_MAX:
            self.ops.append(call)

    def totals(self):
        """Each module with all below it; calls and reasons as of _Sums."""
        sums = {path: _Sums() for path in self.of}
        for path, own in self.of.items():
            above = path
            while True:
                sums[above].add(own)
                if not above:
                    break
                above = above.rpartition(".")[0]
        for path, own in self.of.items():
            sums[path].calls = own.calls
        return sums


@hinted
def cost(module, *inputs, named=None, backward=False, loss=None, optimizer=None, depth=None, as_=None, save=None):
    """Computes the cost of one call of `module(*inputs, **named)`: MACs, FLOPs, parameters and bytes, per module and
    per aten call.

    module: an nn.Module or any callable; in the mode (train, eval) and on the device that it has. On
    the device "meta" nothing is computed and no memory is taken. inputs: as the module takes them; a
    tuple alone is all of them, a dict alone the keyword arguments. named: arguments by keyword.
    backward: the backward pass too, from ones for each floating output, or from the scalar that
    `loss(output)` gives, or from `output.loss`. optimizer: one step of it too, whose writes to
    parameters are counted and not made. Parameters, gradients, buffers, the optimiser's state and the state of the
    random numbers are restored.
    depth: modules at this number of levels below the root, and deeper ones, are added to their parent.
    as_: also the count of the forward pass by another counter's convention ("thop", "ptflops", "fvcore",
    "calflops", "torchvision", "onnx-tool"; as for `deepclock cost --as`): the metric cost/peer.
    save: a file for the record, as JSON.

    Returns a Record: metrics cost/... as of `deepclock cost`, its operators, the table
    cost/modules (each module with all below it), the tree `modules` (each alone). A call of unknown cost makes the
    totals absent, and the note cost-unknown names it.

    Raises what the module raises; ArgumentError where a loss cannot be made.
    """
    module = plain(module)
    saving(save)
    if depth is not None:
        if isinstance(depth, bool) or not hasattr(depth, "__index__") or operator.index(depth) < 0:
            raise _deepclock.ArgumentError(f"depth={depth!r}: a whole number of levels from 0 on")
        depth = operator.index(depth)
    peer = _peer(as_)
    if optimizer is not None:
        _backward.check_optimizer(optimizer)
    backward = backward or optimizer is not None or loss is not None
    args, kwargs = arguments(module, inputs, named)
    tally = _Tally(Modules(module))
    nodes = _backward.Nodes() if backward else None
    counter = Counter(tally.seen)

    def enter(path, given):
        tally.of[path].calls += 1
        if nodes and counter.phase == "forward":
            nodes.label(given, tally.running.path)

    def leave(path, result):
        if nodes and counter.phase == "forward":
            nodes.label(result, path)

    tally.running = calls(tally.modules, enter, leave)
    counter.path = lambda: tally.running.path
    with _backward.kept(module, optimizer), contextlib.ExitStack() as stack:
        stack.enter_context(uncompiled())
        stack.enter_context(torch.jit.optimized_execution(False))  # no call is fused with others
        stack.enter_context(torch.enable_grad() if backward else torch.no_grad())
        torch.clear_autocast_cache()  # weights are cast in the call that is counted, with its gradients
        stack.callback(torch.clear_autocast_cache)
        with tally.running, counter:
            output = module(*args, **kwargs)
        if backward:
            _backward.run(output, loss, counter, nodes, tally.running)
        if optimizer is not None:
            _backward.step(optimizer, counter)
    return saved(_record(tally, module, args, kwargs, depth, backward, optimizer, peer), save)


class _Peer(typing.NamedTuple):
    """A counter whose convention is shown."""
    index: int
    name: str
    unit: str
    help: str
    hidden: typing.Optional[str]


def _peer(name):
    if name is None or name == "none":
        return None
    rows = _deepclock._cost_peers()
    for i, row in enumerate(rows):
        if row[0] == name:
            return _Peer(i, *row[:4])
    raise _deepclock.ArgumentError(f"as_: {name!r} is not one of {', '.join(row[0] for row in rows)}")


def _peer_count(peer, tally):
    """(what the counter counts of the forward pass, None where it is not known; why)."""
    total = 0
    for call in tally.ops:
        counted = call.price.peers[peer.index] if call.price.peers else None
        if counted is None:
            return None, f"what {peer.name} counts for {call.name} is not known"
        total += counted
    if len(tally.ops) == _OPS_MAX:
        return None, f"the module makes more than {_OPS_MAX} calls"
    return total, ""


def _peer_put(b, peer, tally):
    """Returns the clause of the answer."""
    total, why = _peer_count(peer, tally)
    b.fact("cost", "as", peer.name)
    b.fact("cost", "as_unit", peer.unit)
    b.metric("cost/peer", total, "1", peer.help, why=why)
    if peer.hidden:
        b.note("peer-hidden", f"what {peer.name} counts depends on what the calls of a module do not show: "
               + peer.hidden)
    return f"; {why if total is None else f'{peer.name} counts {si(total)} {peer.unit}s'}"


# --- the record

def _facts(b, tally, module, args, kwargs, backward, optimizer):
    name = name_of(module)
    b.fact("subject", "kind", "module")
    b.fact("subject", "name", name)
    b.fact("subject", "producer", f"pytorch {torch.__version__}")
    if isinstance(module, torch.nn.Module):
        b.fact("subject", "mode", "training" if is_training(module) else "evaluation")
    devices = {str(t.device) for t in tensors_in((args, kwargs))}
    devices |= {str(t.device) for _, t, _ in tally.modules.held()}
    b.fact("subject", "device", ", ".join(sorted(devices)) or "cpu")
    named = [*((str(i), v) for i, v in enumerate(args)), *kwargs.items()]
    for key, value in named:
        for i, t in enumerate(tensors_in(value)):
            b.fact("subject", f"input/{key}" + (f".{i}" if not isinstance(value, torch.Tensor) else ""),
                   shape_text(t))
    b.fact("subject", "gradients", "counted" if backward else "off (torch.no_grad)")
    if optimizer is not None:
        b.fact("subject", "optimizer", type(optimizer).__name__)
    b.fact("cost", "convention", _CONVENTION)
    b.fact("cost", "operators", sum(s.calls for s in tally.phases.values()), "1")
    b.fact("cost", "unknown", sum(n for n, _ in tally.unknown.values()), "1")
    if tally.recomputed:
        b.fact("cost", "recomputed_flops", tally.recomputed, "FLOP")


def _bytes_held(t):
    """Of a subclass that wraps tensors, such as a quantised weight, those of the tensors."""
    if is_wrapper(type(t)) and not hasattr(t, "device_mesh"):  # a distributed one counts as a whole
        return sum(_bytes_held(getattr(t, name)) for name in t.__tensor_flatten__()[0])
    return bytes_in(t)


def _held(tally):
    """Parameters and buffers of each module, and their bytes."""
    trained = bytes_ = 0
    sizes = {}
    for path, t, parameter in tally.modules.held():
        n = t.numel()
        bytes_ += _bytes_held(t)
        if parameter:
            tally.of[path].params += n
            trained += n if t.requires_grad else 0
            sizes[storage_of(t)] = n
        elif t.is_floating_point():
            tally.of[path].buffers += n
    return trained, bytes_, sizes


def _metrics(b, tally, all_, bytes_, backward, optimizer):
    forward = tally.phases.get("forward", _Sums())

    def put(tag, sums, key, unit, how):
        value, why = _known(sums, key)
        b.metric(tag, value, unit, how, why=why)
        if why:  # the known part
            b.fact("cost", tag.partition("/")[2] + "_at_least", getattr(sums, key), unit)
    put("cost/macs", forward, "macs", "1",
        "convolutions, matrix products, recurrent and attention operators; no bias")
    put("cost/flops", forward, "flops", "FLOP",
        "2 x MACs, bias, and 1 for each elementary operation on an element")
    b.metric("cost/params", all_.params, "1", "parameters of all modules, each once")
    b.metric("cost/buffers", all_.buffers, "1", "floating-point buffers, such as running statistics")
    b.metric("cost/weight_bytes", bytes_, "B", "parameters and buffers, each once")
    b.metric("cost/read_bytes", forward.read_bytes, "B", "each aten call reads its inputs once")
    b.metric("cost/write_bytes", forward.write_bytes, "B", "each aten call writes its outputs once")
    known = forward.calls - sum(1 for c in tally.ops if c.price.macs is None or c.price.flops is None)
    b.metric("cost/coverage", known / forward.calls if forward.calls else None, "1",
             "aten calls whose MACs and FLOPs are known, over all that are not views",
             why="the module made no aten calls")
    moved = forward.read_bytes + forward.write_bytes
    b.metric("cost/intensity", forward.flops / moved if moved and not forward.flops_why else None, "1",
             "FLOPs over bytes read and written", why="FLOPs or bytes are not known")
    if backward:
        back, loss = tally.phases.get("backward", _Sums()), tally.phases.get("loss", _Sums())
        put("cost/backward_macs", back, "macs", "1", "products of the backward pass as it ran")
        put("cost/backward_flops", back, "flops", "FLOP", "of the backward pass as it ran")
        whole = _Sums()
        for s in (forward, loss, back):
            whole.add(s)
        put("cost/training_flops", whole, "flops", "FLOP", "forward, loss and backward")
    if optimizer is not None:
        step = tally.phases.get("optimizer", _Sums())
        put("cost/optimizer_flops", step, "flops", "FLOP", "one step, as it ran")


def _ops(b, tally, sizes):
    """Rows of the forward pass; a parameter belongs to the first call that reads it."""
    numbers = {}
    for call in tally.ops:
        p = call.price
        where = f"{call.path}.{call.name}" if call.path else call.name
        numbers[where] = n = numbers.get(where, 0) + 1
        class_ = tally.modules.classes[call.path]
        file, _, line = call.line.rpartition(":")
        code = linecache.getline(file, int(line)).strip() if file else ""
        unknown = p.why or "not known"
        b.op(f"{where}#{n}" if n > 1 else where, p.type or call.name,
             [(where, *call.out)] if call.out else [], scope=call.path.replace(".", "/") or None,
             class_=f"{class_.__module__}.{class_.__qualname__}" if class_ else None,
             line=call.line, code=code,
             macs=unknown if p.macs is None else p.macs, flops=unknown if p.flops is None else p.flops,
             params=sum(sizes.pop(s, 0) for s in call.held), weight_bytes=0,
             read_bytes=unknown if p.read_bytes is None else p.read_bytes,
             write_bytes=unknown if p.write_bytes is None else p.write_bytes)


def _shown(tally, depth):
    """Paths in the order of their definition, those above `depth`."""
    return [p for p in tally.of if depth is None or (p.count(".") + 1 if p else 0) <= depth]


def _label(tally, path):
    class_ = tally.modules.classes[path]
    name = path.rpartition(".")[2]
    return f"{name} ({class_.__name__})" if name and class_ else class_.__name__ if class_ else "function"


def _known(sums, key):
    """(a sum, "") or (None, why, and the lower bound)."""
    why = getattr(sums, key + "_why")
    value = getattr(sums, key)
    return (None, f"at least {si(value)}; {why}" if value else why) if why else (value, "")


def _sum(sums, key):
    return cell(*_known(sums, key))


def _table(b, tally, totals, depth, backward):
    columns = [("module", "module", None), ("class", "class", None), ("calls", "calls", "1"),
               ("macs", "MACs", "1"), ("share", "share", "1"), ("flops", "FLOPs", "FLOP"),
               ("params", "params", "1"), ("read_bytes", "read", "B"), ("write_bytes", "written", "B")]
    if backward:
        columns += [("backward_macs", "backward MACs", "1"), ("backward_flops", "backward FLOPs", "FLOP")]
    paths = _shown(tally, depth)
    all_ = totals[""]
    rows = []
    for path in paths:
        s = totals[path]
        class_ = tally.modules.classes[path]
        row = [path or "(all)", class_.__name__ if class_ else "function", s.calls]
        row += [_sum(s, "macs"),
                cell(s.macs / all_.macs if all_.macs and not all_.macs_why else None,
                     all_.macs_why or "no MACs"),
                _sum(s, "flops"), s.params, s.read_bytes, s.write_bytes]
        row += [_sum(s, "backward_macs"), _sum(s, "backward_flops")] if backward else []
        rows.append(row)
    top = [i for i, p in enumerate(paths) if p.count(".") == 0][:_BRIEF_ROWS]
    b.table("cost/modules", "Cost by module, each with all below it", columns, rows, [3, 4, 5, 6], top)


def _tree(b, tally, depth, backward):
    columns = [("calls", "calls", "1"), ("params", "params", "1")]
    columns += [("macs", "MACs", "1"), ("flops", "FLOPs", "FLOP")]
    columns += ([("backward_flops", "backward", "FLOP")] if backward else [])
    index, nodes = {}, []
    merged = {p: _Sums() for p in _shown(tally, depth)}
    for path, own in tally.of.items():
        above = path
        while above not in merged:
            above = above.rpartition(".")[0]
        calls_ = merged[above].calls
        merged[above].add(own)
        if above != path:
            merged[above].calls = calls_
    for path, s in merged.items():
        index[path] = len(nodes)
        parent = index[path.rpartition(".")[0]] if path else -1
        nodes.append((parent, frame_of(_label(tally, path), tally.modules.classes[path]), [getattr(s, key) for key, _, _ in columns]))
    b.tree("modules", "Modules", columns, nodes)


def _answer(tally, all_, backward, optimizer):
    forward = tally.phases.get("forward", _Sums())
    params = f"{si(all_.params)} parameters"
    numbers = []
    for key, name in (("macs", "MACs"), ("flops", "FLOPs")):
        n, why = getattr(forward, key), getattr(forward, key + "_why")
        numbers.append(f"{name} not known" if why and not n else f"{'at least ' if why else ''}{si(n)} {name}")
    text = f"{', '.join(numbers)}, {params}"
    why = forward.macs_why or forward.flops_why
    if why:
        return f"{text} ({why})"
    by_type = {}
    for call in tally.ops:
        key = call.price.type or call.name
        by_type[key] = by_type.get(key, 0) + (call.price.macs or 0)
    if forward.macs:
        most = max(by_type, key=by_type.get)
        text += f"; {most} carries {100 * by_type[most] / forward.macs:.1f} %"
    whole = forward.flops
    if backward and not tally.unknown:
        for phase in ("loss", "backward", "optimizer"):
            whole += tally.phases.get(phase, _Sums()).flops
        step = "a training step with its optimiser" if optimizer is not None else "forward and backward"
        text += f"; {step} takes {si(whole)} FLOPs"
    return text


def _record(tally, module, args, kwargs, depth, backward, optimizer, peer):
    trained, bytes_, sizes = _held(tally)
    totals = tally.totals()
    all_ = totals[""]
    b = Record(f"deepclock.torch.cost({name_of(module)})")
    _facts(b, tally, module, args, kwargs, backward, optimizer)
    b.fact("cost", "trained_params", trained, "1")
    _metrics(b, tally, all_, bytes_, backward, optimizer)
    _ops(b, tally, sizes)
    _table(b, tally, totals, depth, backward)
    _tree(b, tally, depth, backward)
    b.answer(_answer(tally, all_, backward, optimizer) + (_peer_put(b, peer, tally) if peer else ""))
    if tally.unknown:
        known = " and ".join(f"{si(sum(getattr(s, key) for s in tally.phases.values()))} {name}"
                             for key, name in (("macs", "MACs"), ("flops", "FLOPs")))
        b.note("cost-unknown", "the cost of some aten calls is not known, so totals are absent ("
               + "; ".join(f"{name}, {n} of them: {why}" for name, (n, why) in
                           list(tally.unknown.items())[:8])
               + f"); they are at least {known}")
    return b.finish()
