#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of a convolution on a GPU, in C and in Python: on SwiftShader the call returns long before the run has
ended; without the device they print what to install; the images are right in any case. Prints TAP.

  device_examples.py --program build/deepclock [CASE...]
"""

import os
import re
import struct
import subprocess
import sys
import zlib

from common import Skipped, arguments, expect, limit, run

PROGRAM = ""


def grey_png(path):
    """Returns the rows of an 8-bit grey PNG, whose checksums must be right."""
    with open(path, "rb") as f:
        data = f.read()
    expect(data[:8] == b"\x89PNG\r\n\x1a\n", f"{path} is no PNG")
    at, packed, width = 8, b"", 0
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        expect(zlib.crc32(data[at + 4:at + 8 + size]) == struct.unpack(">I", data[at + 8 + size:at + 12 + size])[0],
               f"{path}: checksum of {kind}")
        if kind == b"IHDR":
            width = struct.unpack(">I", data[at + 8:at + 12])[0]
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += 12 + size
    rows = zlib.decompress(packed)
    return [rows[i + 1:i + 1 + width] for i in range(0, len(rows), width + 1)]


def convolution_on_a_device(words, device):
    """Runs an example on a device, or on a missing one; the images are written in any case."""
    build = os.path.dirname(PROGRAM)
    driver, provider = "/usr/lib/chromium/vk_swiftshader_icd.json", os.path.join(build, "webgpu", "onnxruntime_ep_webgpu")
    env = dict(os.environ, VK_DRIVER_FILES=driver, VK_ICD_FILENAMES=driver, ORT_WEBGPU_EP_ALLOW_SOFTWARE_ADAPTER="1",
               DEEPCLOCK_ORT_PROVIDER=provider, PYTHONPATH=os.path.join(build, "python"))
    if not device.startswith("no") and not (os.path.exists(driver) and os.path.isdir(provider)):
        raise Skipped("no WebGPU provider or no SwiftShader here")
    done = subprocess.run(words, capture_output=True, text=True, env=env)
    if "not found" in done.stderr and "ONNX Runtime" in done.stderr:
        raise Skipped(done.stderr.strip())
    expect(done.returncode == 0, done.stderr + done.stdout)
    image, edges = grey_png("image.png"), grey_png("edges.png")
    expect(len(image) == len(edges) == len(edges[0]) == 128, "size")
    for value, wanted in ((image[0][0], 127.5), (image[56][50], 229.5), (image[100][100], 51)):
        expect(abs(value - wanted) < 1, f"the picture has {value} in place of {wanted}")
    expect(edges[56][50] == edges[100][100] == 0 < max(edges[90]), "the filter keeps areas")
    expect(os.path.getsize("edges.onnx") > 100, "no model")
    expect(re.search(r"^on the processor", done.stdout, re.M), done.stdout)
    return done.stdout


def convolution_timed_on_a_device(words):
    text = convolution_on_a_device(words("webgpu"), "webgpu")
    factors = [float(f) for f in re.findall(r" x ([\d.e-]+)$", text, re.M)]
    expect(len(factors) == 4 and factors[0] < 0.2 and factors[1] == 1, text)
    expect(float(re.search(r"from the processor's: (\S+)$", text, re.M)[1]) < 1e-3, text)


def convolution_without_a_device(words):
    text = convolution_on_a_device(words("none"), "none")
    expect(re.search(r"^not on none: .*\n.*pip install onnxruntime onnxruntime-ep-webgpu", text, re.M), text)


def device_in_c(device):
    return [os.path.join(os.path.dirname(PROGRAM), "examples", "device_convolution"), device]


def device_in_python(device):
    here = os.path.dirname(os.path.abspath(__file__))
    return [sys.executable, os.path.join(here, "..", "..", "examples", "python", "device_convolution.py"), "--device", device]


CASES = [("device_convolution: on SwiftShader, timed wrong and right", lambda: convolution_timed_on_a_device(device_in_c)),
         ("device_convolution.py: on SwiftShader, timed wrong and right", lambda: convolution_timed_on_a_device(device_in_python)),
         ("device_convolution: without a device", lambda: convolution_without_a_device(device_in_c)),
         ("device_convolution.py: without a device", lambda: convolution_without_a_device(device_in_python))]


def main():
    global PROGRAM
    args = arguments(__doc__)
    PROGRAM = args.program
    run(CASES, args.prefixes, seconds=limit.SECONDS)


if __name__ == "__main__":
    main()
