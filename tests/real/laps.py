#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The scalars of laps, read back by TensorBoard itself: every value, time and rate of every lap occurs
once, and equals the record's. Prints TAP.

  laps.py --program build/examples/two_layer
"""

import json
import struct
import subprocess
import sys

from common import arguments, expect, installed, run, skip_all


def as_float(v):
    return struct.unpack("f", struct.pack("f", v))[0]


def read_back(program, accumulator):
    subprocess.run([program, "record.json", "events"], stdout=subprocess.DEVNULL, check=True)
    with open("record.json", encoding="utf-8") as f:
        series = {s["tag"]: s["values"] for s in json.load(f)["series"]}
    events = accumulator("events", size_guidance={"scalars": 0})
    events.Reload()
    scalars = {tag: events.Scalars(tag) for tag in events.Tags()["scalars"]}
    for name, laps in (("step", 500), ("training", 1)):
        for scalar, tag, scale in (("loss", "loss", 1), ("items", "items", 1),
                                   ("wall_seconds", "wall", 1e9), ("cpu_seconds", "cpu", 1e9)):
            want = series.get(f"laps/{name}/{tag}")
            got = scalars.get(f"{name}/{scalar}")
            if name == "training" and tag in ("loss", "items"):
                expect(want is None and got is None, f"{name} has no {tag}")
                continue
            expect([e.step for e in got] == list(range(1, laps + 1)), f"steps of {name}/{scalar}")
            expect([e.value for e in got] == [as_float(v / scale) for v in want],
                   f"{name}/{scalar} is not the record's")
    rates = [as_float(i * 1e9 / w) for i, w in zip(series["laps/step/items"], series["laps/step/wall"])]
    expect([e.value for e in scalars["step/items_per_second"]] == rates, "rates")
    expect(all(e.value > 1e6 for e in scalars["step/resident_bytes"]), "memory")
    times = [e.wall_time for e in scalars["step/loss"]]
    expect(times == sorted(times), "laps end one after the other")


def main():
    args = arguments(__doc__)
    sys.path.insert(0, installed("tensorboard"))
    try:
        from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    except ImportError as e:
        skip_all(e, "tensorboard")
    run([("TensorBoard reads what the laps measured",
          lambda: read_back(args.program, EventAccumulator))], args.prefixes)


if __name__ == "__main__":
    main()
