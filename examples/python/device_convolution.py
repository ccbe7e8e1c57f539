#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A 2D convolution of an image on a GPU, timed wrong (until the call returns), right (until a tested barrier has waited)
and with transfers, and on the processor. Needs no other package.

    python3 device_convolution.py [--device webgpu] [--directory .] [--time 1s]

Draws image.png, writes a Laplace filter as edges.onnx and its result as edges.png.
"""

import argparse
import array
import os
import struct
import sys
import zlib

import deepclock

SIZE = 128
KERNEL = (-1, -1, -1, -1, 8, -1, -1, -1, -1)
MISSING = ("A GPU needs a Vulkan driver and: pip install onnxruntime onnxruntime-ep-webgpu "
           "(docs/reference/devices.md)")


def draw():
    """Returns a disc and a square on grey, row by row."""
    def pixel(x, y):
        if (x - 50) ** 2 + (y - 56) ** 2 < 1200:
            return 0.9
        return 0.2 if 70 < x < 110 and 70 < y < 110 else 0.5
    return array.array("f", [pixel(x, y) for y in range(SIZE) for x in range(SIZE)])


def filtered(image):
    """Returns the convolution in plain Python; outside of the image there are zeros."""
    def pixel(x, y):
        return sum(KERNEL[3 * i + j] * image[SIZE * (y + i - 1) + x + j - 1] for i in range(3) for j in range(3)
                   if 0 <= y + i - 1 < SIZE and 0 <= x + j - 1 < SIZE)
    return array.array("f", [pixel(x, y) for y in range(SIZE) for x in range(SIZE)])


def png(image):
    """Returns a PNG of 8-bit grey."""
    grey = bytes(round(255 * min(1, max(0, value))) for value in image)
    rows = b"".join(b"\0" + grey[SIZE * y:SIZE * (y + 1)] for y in range(SIZE))

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", SIZE, SIZE, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def message(*fields):
    """Returns a protobuf message: (number, int), (number, text) or (number, bytes) each."""
    def varint(n):
        return bytes([n]) if n < 128 else bytes([n & 127 | 128]) + varint(n >> 7)
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            value = value.encode() if isinstance(value, str) else value
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def onnx():
    """Returns a model of one Conv, from image to edges."""
    shape = message(*((1, message((1, n))) for n in (1, 1, SIZE, SIZE)))
    tensor = message((1, message((1, 1), (2, shape))))  # of float32
    pads = message((1, "pads"), *((8, 1) for _ in range(4)), (20, 7))
    node = message((1, "image"), (1, "kernel"), (2, "edges"), (4, "Conv"), (5, pads))
    kernel = message(*((1, n) for n in (1, 1, 3, 3)), (2, 1), (8, "kernel"), (9, struct.pack("<9f", *KERNEL)))
    graph = message((1, node), (2, "edges"), (5, kernel), (11, message((1, "image"), (2, tensor))),
                    (12, message((1, "edges"), (2, tensor))))
    return message((1, 8), (7, graph), (8, message((2, 17))))


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--device", default="webgpu", help="webgpu, webgpu:1, cuda ...")
    options.add_argument("--directory", default=".", help="of the files")
    options.add_argument("--time", default="1s", help="of each measurement, at most")
    asked = options.parse_args()

    image, path = draw(), os.path.join(asked.directory, "edges.onnx")
    for name, data in (("image.png", png(image)), ("edges.png", png(filtered(image))), ("edges.onnx", onnx())):
        with open(os.path.join(asked.directory, name), "wb") as f:
            f.write(data)
    tensor = memoryview(image).cast("B").cast("f", (1, 1, SIZE, SIZE))

    def bench(device, **other):
        return deepclock.bench_model(path, device=device, input={"image": tensor}, max_time=asked.time,
                                     max_warmup=asked.time, no_history=True, **other)

    def show(what, record, metric="latency/median"):
        value = record[metric].value
        print(f"{what:52} {value / 1e6:10.4f} ms" + (f"  x {value / right:.4g}" if right else ""))

    right = None
    try:
        show("on the processor", bench("cpu"))
    except deepclock.Error as e:
        sys.exit(str(e))
    try:
        bound = bench(asked.device)
        copied = bench(asked.device, transfers="include")
    except deepclock.Error as e:
        print(f"not on {asked.device}: {e}\n{MISSING}")
        return
    right = bound["latency/median"].value
    show(f"on {asked.device}, until the call returns: wrong", bound, "device/enqueue")
    show("  until the barrier has waited", bound)
    show("  the first run, which compiles", bound, "time/first_run")
    show("  with the image copied there and the edges back", copied)
    print(f"  the device: {bound.facts['engine/device'].value}\n  the barrier: {bound.facts['device/barrier'].value}")
    both = deepclock.accuracy(path, vary=[f"device=cpu,{asked.device}"], input={"image": tensor}, no_history=True)
    print(f"  largest difference of the outputs from the processor's: {both['difference/max_abs'].value:.3g}")


if __name__ == "__main__":
    main()
