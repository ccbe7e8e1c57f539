#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The C examples run as documented on their page, and those with zones record themselves: they learn, print their
lines, and each zone is in the trace once for each time that the program entered it. Prints TAP.

  examples.py --program build/deepclock [CASE...]
"""

import glob
import json
import os
import re
import subprocess

from common import Skipped, arguments, expect, limit, run

DATA = "/usr/share/datasets/fashion-mnist"
EXAMPLES = ""
PROGRAM = ""


def example(name, *words):
    path = os.path.join(EXAMPLES, name)
    if not os.path.exists(path):
        raise Skipped(f"{name} was not built: there is no OpenBLAS (libopenblas-dev)")
    return [path, *words]


def recorded(words):
    """Returns the output of the program, and the calls of each zone in its trace."""
    done = subprocess.run([PROGRAM, "trace", "-o", "t.pftrace", "--save", "zones.json", "--", *words],
                          capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr + done.stdout)
    with open("zones.json", encoding="utf-8") as f:
        live = json.load(f)
    read = json.loads(subprocess.run([PROGRAM, "report", "t.pftrace", "--format", "json"], check=True,
                                     stdout=subprocess.PIPE, text=True).stdout)
    calls = [{row[0]: row[1]["value"] if isinstance(row[1], dict) else row[1]
              for t in record["tables"] if t["name"] == "zones" for row in t["rows"]
              if not row[0].startswith("wait: ")}
             for record in (live, read)]
    expect(calls[0] == calls[1], f"the record has {calls[0]}, the trace {calls[1]}")
    return done.stdout, calls[0]


def learns_fashion():
    """60,000 items in batches of 100, and a test of 10,000 after each epoch."""
    if not os.path.isdir(DATA):
        raise Skipped("there is no Fashion-MNIST: install dataset-fashion-mnist")
    epochs = 3
    text, calls = recorded(example("train", DATA, str(epochs), "train.json"))
    lines = re.findall(r"^epoch (\d)/3 \| loss [\d.]+ \| acc ([\d.]+) \| .* wall, .* cpu \| .* items/s", text, re.M)
    expect([int(n) for n, _ in lines] == [1, 2, 3], text)
    expect(float(lines[-1][1]) > 0.85, text)
    expect(re.search(r"^training \| .* wall", text, re.M), "no line of the whole")
    expect(re.search(r"precision +recall +f1-score +support", text), "no report of the classes")
    expect(f"accuracy                           {float(lines[-1][1]):.2f}     10000" in text, text)
    batches = 600 * epochs
    want = {"load": batches, "loss": batches, "backward": batches, "step": batches, "forward": batches + 100 * epochs,
            "test": epochs, "epoch": epochs, "training": 1}
    expect(calls == want, calls)
    expect(len(glob.glob("train.tensorboard/*tfevents*")) == 1, os.listdir("."))


def trains_two_layers():
    text, calls = recorded(example("two_layer", "two_layer.json"))
    expect(re.findall(r"^step (\d+)/500", text, re.M) == ["100", "200", "300", "400", "500"], text)
    want = {name: 500 for name in ("forward", "loss", "backward", "update", "step")}
    expect(calls == {**want, "training": 1}, calls)


def fuses():
    done = subprocess.run(example("fusion"), capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    expect(re.search(r"^ +three loops .*baseline$", done.stdout, re.M), done.stdout)
    expect(re.search(r"^ +one loop .*(faster|slower|same|undecided)", done.stdout, re.M), done.stdout)


def convolution_wrong_and_right():
    done = subprocess.run(example("convolution"), capture_output=True, text=True)
    expect(done.returncode == 0, done.stderr)
    expect(re.search(r"^a convolution of 9\.44 M MACs$", done.stdout, re.M), done.stdout)
    printed = re.search(r"^the median +([\d.]+) ms, ([\d.]+) GMAC/s$", done.stdout, re.M)
    expect(printed, done.stdout)
    rate = 9.437184 / float(printed[1])
    expect(abs(float(printed[2]) - rate) < 0.006 + 0.02 * rate, printed[0])  # two decimals are printed
    expect(re.search(r"^  median ", done.stdout, re.M), done.stdout)


def two_products_at_once():
    text, calls = recorded(example("out_of_order"))
    expect(re.search(r"^ +in order .*baseline$", text, re.M), text)
    expect(re.search(r"^ +two at once .*(faster|slower|same|undecided)", text, re.M), text)
    expect(calls["a b"] == calls["c d"] > 0, calls)


CASES = [("train: laps, zones, scalars, a report, and it learns", learns_fashion),
         ("two_layer: 500 steps, all recorded", trains_two_layers),
         ("fusion: three loops beside one", fuses),
         ("convolution: timed wrong, and right", convolution_wrong_and_right),
         ("out_of_order: two products at once, on two threads", two_products_at_once)]


def main():
    global EXAMPLES, PROGRAM
    args = arguments(__doc__)
    PROGRAM, EXAMPLES = args.program, os.path.join(os.path.dirname(args.program), "examples")
    run(CASES, args.prefixes, seconds=limit.SECONDS)


if __name__ == "__main__":
    main()
