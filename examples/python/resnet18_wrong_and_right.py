#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Common mistakes in measuring the latency of ResNet-18, and their effect compared with deepclock's result.

    python3 resnet18_wrong_and_right.py [--size 224] [--time 5s]
"""

import argparse
import time

import torch
import torchvision

import deepclock


def timed(run, times):
    """Returns the seconds of each call, by time.time()."""
    taken = []
    for _ in range(times):
        begin = time.time()
        run()
        taken.append(time.time() - begin)
    return taken


def mistakes(model, image, device):
    """Yields (method, seconds) of each; the first method includes the model's first run."""
    def run():
        return model(image)

    with torch.no_grad():
        first = timed(run, 1)[0]
    yield "one sample, and it is the first run", first
    with torch.no_grad():
        yield "the mean of ten runs, the first among them", (first + sum(timed(run, 9))) / 10
        yield "one later sample", timed(run, 1)[0]
        yield "the best of twenty", min(timed(run, 20))
        begin = time.process_time()
        for _ in range(20):
            run()
        yield "processor time in place of wall time", (time.process_time() - begin) / 20
    if device.type != "cpu":
        torch.cuda.synchronize()
        with torch.no_grad():
            yield "without waiting for the device", sum(timed(run, 20)) / 20
        torch.cuda.synchronize()
    for _ in range(3):
        run()
    yield "with gradients", sorted(timed(run, 20))[10]
    model.train()
    with torch.no_grad():
        yield "in training mode", sorted(timed(run, 20))[10]
    model.eval()


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--size", type=int, default=224, help="of the image")
    options.add_argument("--time", default="5s", help="that deepclock measures at most")
    asked = options.parse_args()

    torch.manual_seed(1)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = torchvision.models.resnet18().eval().to(device)
    image = torch.randn(1, 3, asked.size, asked.size, device=device)
    wrong = list(mistakes(model, image, device))
    record = deepclock.torch.bench(model, image, max_time=asked.time)
    print(record)
    right = record["latency/median"].value / 1e9
    print(f"{'what was done':44} {'ms':>9} {'factor':>8}")
    for what, seconds in wrong:
        print(f"{what:44} {1e3 * seconds:9.3f} {seconds / right:8.2f}")
    print(f"{'deepclock: median, warmed up, with interval':44} {1e3 * right:9.3f} {1:8.2f}")


if __name__ == "__main__":
    main()
