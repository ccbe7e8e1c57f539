#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks every built-in network with ONNX's own tools.

    check_zoo.py PROGRAM [NAME...]

PROGRAM is deepclock: it prints the list (`zoo`, first word of each line) and writes each network
(`zoo NAME -o FILE`). Each file must pass onnx.checker and strict shape inference, its number of
trained parameters must equal the published one, and a second write must give the same bytes.
If onnxruntime is installed too, the network also runs, and all its outputs must be finite
and not all equal. Without the onnx package everything is skipped. Prints TAP.
"""

import filecmp
import functools
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "real"))
import common

try:
    import numpy
    import onnx
    from onnx import checker, shape_inference
except ImportError as e:
    common.skip_all(e, "the onnx package")

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

# Sources: torchvision's and transformers' model pages; the last four by arithmetic.
PUBLISHED = {
    "resnet18": 11689512,
    "resnet50": 25557032,
    "mobilenet_v2": 3504872,
    "vgg16": 138357544,
    "squeezenet1_1": 1235496,
    "bert_base": 109482240,
    "bert_mini": 11170560,
    "llama_mini": 4096 * 256 + 4 * (2 * 256 * 256 + 2 * 256 * 64 + 3 * 256 * 688 + 2 * 256) + 256,
    "smollm2_135m": 134515008,
    "gpt_mini": (4096 + 1024) * 256 + 4 * (12 * 256 * 256 + 13 * 256) + 2 * 256,
    "gpt2": 124439808,
    "simplenet": 784 * 128 + 128 + 128 * 10 + 10,
    "two_layer": 1000 * 100 + 100 + 100 * 10 + 10,
    "conv2d": 64 * 3 * 3 * 3 + 64,
    "matmul": 1024 * 1024,
}

# Multiply-accumulates of convolutions and matrix products at the default size, one item, as counted
# by hooks in torchvision's models: equal counts show equal strides and shapes.
MACS = {
    "resnet18": 1814073344,
    "resnet50": 4089184256,
    "mobilenet_v2": 300774272,
    "vgg16": 15470264320,
    "squeezenet1_1": 349151936,
    "bert_base": 11174215680,
    "simplenet": 784 * 128 + 128 * 10,
    "two_layer": 1000 * 100 + 100 * 10,
    "conv2d": 224 * 224 * 64 * 27,
    "matmul": 1024 ** 3,
}

# Further options that must work, with the expected shapes of the first input and output.
VARIANTS = {
    "resnet18": [(["--image-size", "1024x2048"], [1, 3, 1024, 2048], [1, 1000]),
                 (["--batch", "4", "--image-size", "64"], [4, 3, 64, 64], [4, 1000]),
                 (["--symbolic"], ["batch", 3, 224, 224], ["batch", 1000])],
    "mobilenet_v2": [(["--image-size", "96"], [1, 3, 96, 96], [1, 1000])],
    "vgg16": [(["--image-size", "448x224"], [1, 3, 448, 224], [1, 1000])],
    "squeezenet1_1": [(["--image-size", "25"], [1, 3, 25, 25], [1, 1000])],
    "bert_mini": [(["--seq", "7", "--batch", "3"], [3, 7], [3, 7, 256]),
                  (["--symbolic"], ["batch", "seq"], ["batch", "seq", 256])],
    "matmul": [(["--seq", "1"], [1, 1, 1024], [1, 1, 1024])],
    "simplenet": [(["--batch", "64"], [64, 784], [64, 10])],
}
OPEN = {"batch": 2, "seq": 5}  # sizes to run symbolic networks at


def fail(text):
    raise AssertionError(text)


def write(program, name, options, path):
    subprocess.run([program, "zoo", name, *options, "-o", path], check=True)


def trained(model):
    """Returns the number of elements of float initializers without BatchNormalization's running statistics."""
    running = {i for node in model.graph.node if node.op_type == "BatchNormalization"
               for i in node.input[3:5]}
    return sum(int(numpy.prod(t.dims, dtype=numpy.int64)) for t in model.graph.initializer
               if t.data_type == onnx.TensorProto.FLOAT and t.name not in running)


def macs(model):
    """Returns the multiply-accumulates of a model with known shapes."""
    graph = shape_inference.infer_shapes(model).graph
    shape = {v.name: dims(v) for v in [*graph.value_info, *graph.input, *graph.output]}
    shape.update({t.name: list(t.dims) for t in graph.initializer})
    total = 0
    for node in graph.node:
        out = int(numpy.prod(shape[node.output[0]], dtype=numpy.int64)) if node.output[0] else 0
        if node.op_type == "Conv":
            total += out * int(numpy.prod(shape[node.input[1]][1:], dtype=numpy.int64))
        elif node.op_type in ("Gemm", "MatMul"):
            total += out * shape[node.input[0]][-1]
    return total


def dims(value):
    return [d.dim_param or d.dim_value for d in value.type.tensor_type.shape.dim]


def check_structure(path, expect_in, expect_out):
    checker.check_model(path)
    model = onnx.load(path)
    for t in model.graph.initializer:
        if t.data_type != onnx.TensorProto.FLOAT:
            continue
        a = numpy.frombuffer(t.raw_data, numpy.float32)
        tiny = (a != 0) & (numpy.abs(a) < numpy.finfo(numpy.float32).tiny)
        if not numpy.isfinite(a).all() or tiny.any():
            fail(f"'{t.name}' has values that are subnormal or not finite")
        # Shape inference does not need the weights, and is fast without them.
        t.ClearField("raw_data")
    inferred = shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    if expect_in and dims(model.graph.input[0]) != expect_in:
        fail(f"first input is {dims(model.graph.input[0])}, not {expect_in}")
    if expect_out and dims(inferred.graph.output[0]) != expect_out:
        fail(f"first output is {dims(inferred.graph.output[0])}, not {expect_out}")
    known = {v.name for v in [*inferred.graph.value_info, *inferred.graph.output]}
    for node in inferred.graph.node:
        if any(o not in known for o in node.output):
            fail(f"no shape for {node.name}")
    names = [node.name for node in inferred.graph.node]
    if len(set(names)) != len(names):
        fail("two nodes of one name")
    return model


def check_run(path, model):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    random = numpy.random.default_rng(1)
    feed = {}
    for value in model.graph.input:
        shape = [OPEN.get(d, d) for d in dims(value)]
        if value.type.tensor_type.elem_type == onnx.TensorProto.FLOAT:
            feed[value.name] = random.standard_normal(shape).astype(numpy.float32)
        elif "mask" in value.name:
            feed[value.name] = numpy.ones(shape, numpy.int64)
        else:
            high = 2 if "type" in value.name else 30522
            feed[value.name] = random.integers(0, high, shape, dtype=numpy.int64)
    spread = []
    for out, value in zip(session.run(None, feed), session.get_outputs()):
        if not numpy.isfinite(out).all():
            fail(f"'{value.name}' is not finite")
        spread.append(float(out.std()))
        if not 1e-4 < spread[-1] < 1e4:
            fail(f"'{value.name}' has deviation {spread[-1]}")
    return ", ".join(f"{s:.3g}" for s in spread)


def check(program, name, folder):
    path = os.path.join(folder, name + ".onnx")
    again = os.path.join(folder, "again.onnx")
    write(program, name, [], path)
    write(program, name, [], again)
    if not filecmp.cmp(path, again, shallow=False):
        fail("two writes differ")
    os.unlink(again)
    model = check_structure(path, None, None)
    count = trained(model)
    if count != PUBLISHED[name]:
        fail(f"{count:,} parameters, published are {PUBLISHED[name]:,}")
    text = f"{count:,} parameters"
    if name in MACS:
        work = macs(model)
        if work != MACS[name]:
            fail(f"{work:,} multiply-accumulates, expected are {MACS[name]:,}")
        text += f", {work:,} multiply-accumulates"
    if onnxruntime:
        text += f", outputs' deviation {check_run(path, model)}"
    os.unlink(path)
    for options, expect_in, expect_out in VARIANTS.get(name, []):
        write(program, name, options, path)
        model = check_structure(path, expect_in, expect_out)
        if onnxruntime:
            check_run(path, model)
        os.unlink(path)
        text += ", " + " ".join(options)
    return text


def main():
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    program = os.path.abspath(sys.argv[1])
    listed = subprocess.run([program, "zoo"], check=True, capture_output=True, text=True).stdout
    words = {line.split()[0] for line in listed.splitlines() if line.strip()}

    def is_as_published(name):
        if name not in words:
            fail("not listed by 'zoo'")
        print(f"# {name}: {check(program, name, os.getcwd())}")

    print(f"# onnx {onnx.__version__}; "
          + (f"run with ONNX Runtime {onnxruntime.__version__}" if onnxruntime else
             "not run: onnxruntime is not installed"))
    common.run([(name, functools.partial(is_as_published, name)) for name in sys.argv[2:] or PUBLISHED])


if __name__ == "__main__":
    sys.exit(main())
