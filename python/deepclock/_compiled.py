# SPDX-License-Identifier: Apache-2.0
"""Compilations by torch.compile during a measurement, from PyTorch's own list; does not import PyTorch.

Compilations of torch.jit.script are not counted: PyTorch publishes no number of them.
"""

import os
import sys
import typing

from . import _deepclock

_NAMED = 3  # maximum number of functions in a text


class Compiled(typing.NamedTuple):
    """Compilations between mark() and since(); `again` counts functions that had been compiled before."""
    times: int
    again: int
    seconds: float
    functions: tuple  # "f (net.py:17)"; if any were recompiled, only these
    reason: str       # of the last recompilation; "": not known
    lost: int         # compilations dropped from PyTorch's list: not in `again` and `seconds`


def _listed():
    """Returns PyTorch's list of the last 64 compilations, oldest first; empty without compilations or before PyTorch
    2.2."""
    get = getattr(sys.modules.get("torch._dynamo.utils"), "get_compilation_metrics", None)
    return get() if get else []


def _total():
    counters = getattr(sys.modules.get("torch._dynamo.utils"), "counters", None)
    return counters["frames"]["total"] if counters else 0


def mark():
    """Returns the current position in the list, for since()."""
    return _listed()[-1:], _total()


def since(begin) -> typing.Optional[Compiled]:
    """Returns the compilations since mark() returned `begin`; None: nothing was compiled."""
    last, total = begin
    new = _listed()
    for i, one in enumerate(new):
        if last and one is last[0]:
            new = new[i + 1:]
            break
    forward = [one for one in new if getattr(one, "is_forward", None) is not False]  # not backward passes
    if not forward:
        return None
    again = [one for one in forward if _number(one) > 0]
    reason = (getattr(again[-1], "recompile_reason", None) or "") if again else ""
    lost = max(0, _total() - total - len(forward))
    return Compiled(len(forward) + lost, len(again), sum(map(_seconds, new)),
                    tuple(dict.fromkeys(map(_name, again or forward))), reason.splitlines()[0] if reason else "", lost)


def together(parts) -> typing.Optional[Compiled]:
    """Returns the sum of several results of since(), with the last reason."""
    parts = [part for part in parts if part]
    named = [part for part in parts if part.again] or parts
    if not parts:
        return None
    return Compiled(sum(part.times for part in parts), sum(part.again for part in parts),
                    sum(part.seconds for part in parts), tuple(dict.fromkeys(f for part in named for f in part.functions)),
                    named[-1].reason, sum(part.lost for part in parts))


def _number(one):
    """Returns how often its function had been compiled before: the second number of "0/1"."""
    last = str(one.compile_id).rpartition("/")[2].partition("_")[0]
    return int(last) if last.isdigit() else 0


def _seconds(one):
    return getattr(one, "entire_frame_compile_time_s", None) or (getattr(one, "duration_us", None) or 0) / 1e6


def _name(one):
    file = one.co_filename or "?"
    if "torch/_dynamo/" in file:  # the frame around a module of PyTorch, such as Sequential
        return "a module"
    return f"{one.co_name} ({os.path.basename(file)}:{one.co_firstlineno})"


def times_text(n):
    return {1: "once", 2: "twice"}.get(n, f"{n} times")


def note(out, compiled, when):
    """Writes the facts, and a warning about recompilations, into a record builder."""
    out.fact("compiled", "times", compiled.times, "1")
    out.fact("compiled", "again", compiled.again, "1")
    out.fact("compiled", "time", compiled.seconds * 1e9, "ns")
    if not compiled.again:
        return
    names = ", ".join(compiled.functions[:_NAMED])
    if len(compiled.functions) > _NAMED:
        names += f" and {len(compiled.functions) - _NAMED} more"
    least = "at least " if compiled.lost else ""
    took = _deepclock.time_text(compiled.seconds * 1e9)
    all_took = f"{took}" if compiled.times == compiled.again else f"{took} with the first compilations"
    out.note("recompiled", f"torch.compile recompiled {least}{times_text(compiled.again)} {when}: {least}{all_took}; {names}"
                           + (f"; {compiled.reason}" if compiled.reason else ""))
