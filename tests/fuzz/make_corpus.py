#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes small ONNX models that use every part of the format: make_corpus.py FOLDER"""

import sys
from pathlib import Path

import numpy
from onnx import TensorProto as T
from onnx import helper, numpy_helper


def value(name, dtype, shape):
    return helper.make_tensor_value_info(name, dtype, shape)


def node(op, inputs, outputs, **attributes):
    return helper.make_node(op, inputs.split(), outputs.split(), **attributes)


def ints(name, *values):
    return helper.make_tensor(name, T.INT64, [len(values)], values)


def model(graph, **more):
    return helper.make_model(graph, producer_name="corpus",
                             opset_imports=[helper.make_opsetid("", 17),
                                            helper.make_opsetid("com.microsoft", 1)], **more)


def embedding():
    return model(helper.make_graph(
        [node("Gather", "table ids", "e"), node("Unsqueeze", "mask axes", "u"),
         node("Cast", "u", "f", to=T.FLOAT), node("Sub", "one f", "s"),
         node("Mul", "e s", "y"), node("OneHot", "ids depth values", "o"),
         node("GatherND", "table ids", "g"), node("Add", "ids two", "p"),
         node("GatherElements", "table p", "h", axis=-1)],
        "embedding", [value("ids", T.INT64, ["batch", "seq"]), value("mask", T.INT64, [2, 3])],
        [value("y", T.FLOAT, None)],
        [helper.make_tensor("table", T.FLOAT, [3, 2], range(6)), ints("axes", 1), ints("two", 2),
         numpy_helper.from_array(numpy.array(1.0, numpy.float32), "one"), ints("depth", 4),
         numpy_helper.from_array(numpy.zeros(2, numpy.float16), "values")]))


def fused():
    return model(helper.make_graph(
        [helper.make_node("EmbedLayerNormalization",
                          ["i", "s", "w", "p", "t", "g", "b", "m", "x"], ["y", "z"],
                          domain="com.microsoft"),
         node("DequantizeLinear", "q c", "d"), node("Transpose", "d", "r", perm=[1, 0]),
         node("Gather", "r i", "k", axis=1)],
        "fused", [value(n, T.INT32, [1, 4]) for n in "isxm"], [value("y", T.FLOAT, [1, 4, 2])],
        [helper.make_tensor(n, T.FLOAT, [2, 2], range(4)) for n in "wptgb"] +
        [helper.make_tensor("q", T.INT8, [2, 3], range(6)),
         helper.make_tensor("c", T.FLOAT, [], [0.5])]))


def branches():
    body = helper.make_graph([node("Gather", "table x", "then_y")], "then", [],
                             [value("then_y", T.FLOAT, [1, 2])])
    other = helper.make_graph([node("Constant", "", "else_y", value_ints=[1, 2, 3]),
                               node("Constant", "", "v", value_float=1.5),
                               node("Constant", "", "t", value_strings=["a", "bc"]),
                               node("Constant", "", "f", value_floats=[1.0, 2.0])],
                              "else", [], [value("else_y", T.INT64, [3])])
    return model(helper.make_graph(
        [node("If", "cond", "y", then_branch=body, else_branch=other)], "branches",
        [value("x", T.INT64, [1]), value("cond", T.BOOL, [])], [value("y", T.FLOAT, None)],
        [helper.make_tensor("table", T.DOUBLE, [2, 2], range(4))]))


def kinds():
    sparse = helper.make_sparse_tensor(helper.make_tensor("sparse", T.FLOAT, [1], [2.0]),
                                       ints("", 3), [5])
    external = T(name="far", data_type=T.FLOAT, dims=[1000], data_location=T.EXTERNAL)
    external.external_data.add(key="location", value="nowhere.bin")
    m = model(helper.make_graph(
        [node("SequenceConstruct", "a b", "s"), helper.make_node("Twice", ["a"], ["y"],
                                                                 domain="local")],
        "kinds",
        [value("a", T.FLOAT, [-1, None, "n"]), value("b", T.UINT8, []),
         helper.make_tensor_sequence_value_info("q", T.FLOAT, [2])],
        [value("y", T.FLOAT, None)],
        [external, helper.make_tensor("text", T.STRING, [2], [b"a", b"b"]),
         helper.make_tensor("wide", T.UINT64, [2], [1, 2**64 - 1]),
         helper.make_tensor("flag", T.BOOL, [1], [True])],
        sparse_initializer=[sparse], value_info=[value("s", T.FLOAT, ["n"])]),
        functions=[helper.make_function("local", "Twice", ["p"], ["r"], [node("Add", "p p", "r")],
                                        [helper.make_opsetid("", 17)], ["alpha"])])
    m.metadata_props.add(key="k", value="v")
    return m


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for make in (embedding, fused, branches, kinds):
        (folder / (make.__name__ + ".onnx")).write_bytes(make().SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main())
