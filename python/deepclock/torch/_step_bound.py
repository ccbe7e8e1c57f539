# SPDX-License-Identifier: Apache-2.0
"""What bounds a training step, from measured evidence by stated rules; pure functions of it.

What takes the largest share of a step bounds it:

    data loading   waiting for batches
    transfer       moving them to the device
    launch         launching the operators takes longer than computing them
    compute        the operators themselves
    waiting        forward, loss, backward or optimiser, or what the loop does besides, while neither this
                   thread nor one that works for it runs: sleep, input and output, locks, remote calls
    other          what the loop does besides
    deepclock      taking the step apart: the step is too short for it

On a device, forward, loss, backward and optimiser are launch where the program, at the end of a step,
waits for the device less than a tenth of it: the device then waits for the program. On the CPU they
are launch where as many operators on single numbers would take at least half of the time.
"""

import dataclasses
import os
import typing

COMPUTING = ("forward", "loss", "backward", "optimiser")
WAITS = 0.1
HALF = 0.5
#: From this share on, what does not bound the step is named too.
ALSO = 0.1


@dataclasses.dataclass
class Evidence:
    wall_ns: float  # of the steps that were taken apart, mean
    share: typing.Dict[str, float]  # of each part in their time
    workers: int = 0  # processes of the DataLoader
    workers_busy: typing.Optional[float] = None  # share of the time in which they compute
    is_loader: bool = True  # batches come from a DataLoader
    operators: typing.Optional[int] = None  # in a step, on the CPU
    computing_ns: float = 0.0  # forward, loss, backward and optimiser, median
    empty_operator_ns: typing.Optional[float] = None
    wait_share: typing.Optional[float] = None  # for the device, of steps that were left whole
    whole_share: typing.Optional[typing.Dict[str, float]] = None
    waits: typing.Dict[str, float] = dataclasses.field(default_factory=dict)  # share of each part's time


@dataclasses.dataclass
class Bound:
    by: str
    share: float
    sentence: str
    remedy: str
    rule: str
    others: typing.List[str]


def bound_of(e):
    """A Bound."""
    shares = e.whole_share or e.share
    computing = sum(shares[p] for p in COMPUTING)
    waits = {p: e.waits.get(p, 0.0) * shares[p] for p in (*COMPUTING, "other")}
    kind, why = _computing(e)
    found = {
        "data loading": shares["data"],
        "transfer": e.share["to_device"],
        kind: computing + (e.wait_share or 0) - sum(waits[p] for p in COMPUTING),
        "waiting": sum(waits.values()),
        "other": max(0.0, shares["other"] - (e.wait_share or 0) - waits["other"]),
        "deepclock": shares.get("deepclock", 0.0),
    }
    by = max(found, key=found.get)
    longest = max(waits, key=waits.get)
    told = {name: (_sentence(name, share, why, longest), _remedy(name, e)) for name, share in found.items()}
    return Bound(
        by, found[by], told[by][0] if by == "deepclock" else f"{by} bounds it: {told[by][0]}", told[by][1],
        "the largest share of a step; " + why,
        [f"{told[name][0]}: {told[name][1]}" for name, share in found.items()
         if name != by and share >= ALSO and name not in ("compute", "launch", "deepclock")])


def _computing(e):
    """(launch or compute, the evidence in words)"""
    if e.wait_share is not None:
        if e.wait_share < WAITS:
            return "launch", (f"at the end of a step the program waits {100 * e.wait_share:.0f} % of it "
                              "for the device, so the device waits for the program")
        return "compute", (f"at the end of a step the program waits {100 * e.wait_share:.0f} % of it for "
                           "the device")
    if e.operators is None or not e.empty_operator_ns:
        return "compute", "operators were not counted"
    empty = e.operators * e.empty_operator_ns
    why = (f"{e.operators} operators on single numbers would take {empty / 1e6:.3g} ms, where these "
           f"take {e.computing_ns / 1e6:.3g} ms")
    return ("launch" if empty >= HALF * e.computing_ns else "compute"), why


def _sentence(name, share, why, longest):
    percent = f"{100 * share:.0f} % of a step"
    return {
        "data loading": f"{percent} waits for data",
        "transfer": f"{percent} moves batches to the device",
        "launch": f"{percent} is operators that are shorter than their launch overhead ({why})",
        "compute": f"{percent} is operators that compute",
        "waiting": f"{percent} waits without using a core, most of it in {longest}",
        "other": f"{percent} is in no part of the step",
        "deepclock": f"it is too short to be taken apart, which takes {percent}",
    }[name]


def _remedy(name, e):
    if name == "data loading":
        return _data_remedy(e)
    return {
        "transfer": "let the DataLoader pin its memory (pin_memory=True) and move with "
                    "non_blocking=True, or keep the data on the device",
        "launch": "larger batches, torch.compile, an optimiser with foreach=True or fused=True",
        "compute": "fewer or cheaper operators, a lower precision, a faster machine; "
                   "deepclock.torch.profile() lists the operators",
        "waiting": "sleep, input and output, locks or remote calls; `deepclock sample --wall` shows the functions "
                   "that wait, `deepclock trace` their calls",
        "deepclock": "take several steps as one: larger batches, or a loop over groups of batches",
        "other": "check what else the loop does: .item(), logging, metrics; or give steps() "
                 "module= and optimizer=, or mark the parts",
    }[name]


def _data_remedy(e):
    cores = len(os.sched_getaffinity(0))
    if not e.is_loader:
        return ("the source of the batches is slow; a torch.utils.data.DataLoader with num_workers loads "
                "them in parallel")
    if e.workers == 0:
        return (f"the program loads them itself: DataLoader(num_workers=N) loads in other processes "
                f"(there are {cores} cores), or make a batch cheaper")
    busy = f"its {e.workers} processes compute {100 * (e.workers_busy or 0):.0f} % of the time"
    if e.workers_busy is None:
        return f"more than {e.workers} workers, or cheaper batches"
    if e.workers_busy >= 0.8:
        return (f"{busy}: more of them (there are {cores} cores), or cheaper transforms")
    return (f"{busy} and wait else: for a disk or a network (faster storage, more workers, a larger "
            "prefetch_factor), or for a core that others keep busy")
