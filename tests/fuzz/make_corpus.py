#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_corpus.py DIR: writes small ONNX models that use every part of the format and every kind of rule."""

import sys
from pathlib import Path

import numpy
import onnx
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


# Cases of the onnx package, one for each kind of rule.
CASES = """basic_conv_with_padding convtranspose_dilations maxpool_2d_ceil averagepool_2d_pads
lstm_with_peepholes gru_seq_length rnn_seq_length loop11 loop13_seq loop16_seq_none scan9_sum
scan_sum if if_opt if_seq einsum_batch_matmul einsum_batch_diagonal resize_downsample_scales_cubic
resize_upsample_sizes_nearest resize_tf_crop_and_resize qlinearconv qlinearmatmul_3D matmulinteger
convinteger_with_padding dequantizelinear_axis dynamicquantizelinear_expanded
layer_normalization_3d_axis1_epsilon_expanded hardswish_expanded sequence_insert_at_front
sequence_map_add_1_sequence_1_tensor optional_get_element_sequence gemm_all_attributes
reshape_zero_and_negative_dim slice_negative_axes split_variable_parts_1d onehot_with_axis
range_int32_type_negative_delta_expanded tile expand_dim_changed constant_pad top_k gathernd_example_int32
scatternd nonzero_example unique_sorted_with_axis roialign_aligned_true nonmaxsuppression_two_batches
dft gridsample stft adam momentum_multiple tfidfvectorizer_tf_only_bigrams_skip0 where_example
reduce_sum_keepdims_example transpose_all_permutations_3 concat_3d_axis_negative_1 unsqueeze_two_axes
batchnorm_epsilon_training_mode bernoulli_expanded sce_mean_3d_expanded""".split()


def chain(op, n, first, **more):
    """Each node has the two previous results as inputs."""
    nodes = [node("Shape", "x", "v0")]
    nodes += [node(op, f"v{i} v{max(i - 1, 0)}", f"v{i + 1}") for i in range(n)]
    nodes.append(node("ConstantOfShape", f"v{n}", "y"))
    return model(helper.make_graph(nodes, op, [value("x", T.FLOAT, first)],
                                   [value("y", T.FLOAT, None)]), **more)


def call(name, inputs, outputs):
    return helper.make_node(name, inputs.split(), outputs.split(), domain="own")


def functions(levels, last):
    """Each function calls the next one twice; the last calls `last`."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("own", 1)]
    m = model(helper.make_graph([call("f0", "x", "y")], "functions", [value("x", T.FLOAT, ["N"])],
                                [value("y", T.FLOAT, None)]),
              functions=[helper.make_function(
                  "own", f"f{i}", ["a"], ["c"],
                  [call(f"f{i + 1}" if i + 1 < levels else last, pair, to)
                   for pair, to in (("a", "b"), ("b", "c"))], opsets)
                  for i in range(levels)])
    return m


def huge():
    big = 2**62
    constants = [ints("big", big, big), ints("low", -2**63, 2**63 - 1), ints("zero", 0, 0)]
    return model(helper.make_graph(
        [node("Tile", "x big", "a"), node("Expand", "x big", "b"),
         node("ConstantOfShape", "big", "c"), node("Reshape", "x low", "d"),
         node("Slice", "x low big", "e"), node("MatMul", "w w", "f"), node("Relu", "w", "g"),
         node("Pad", "x low", "h"), node("Split", "x zero", "i j"), node("Resize", "x r s big", "k"),
         node("Gather", "big low", "l"), node("Concat", "w w", "m", axis=-1),
         node("Range", "start end step", "n"), node("Unsqueeze", "x low", "o"),
         node("Flatten", "w", "p", axis=2), node("Size", "w", "q")],
        "huge", [value("x", T.FLOAT, [2, "N"]), value("w", T.FLOAT, [big, big])],
        [value("a", T.FLOAT, None)],
        constants + [helper.make_tensor(n, T.INT64, [], [v])
                     for n, v in (("start", 0), ("end", big), ("step", 1))]))


def cycle():
    return model(helper.make_graph(
        [node("Add", "x c", "a"), node("Relu", "a", "b"), node("Relu", "b", "c")], "cycle",
        [value("x", T.FLOAT, [2])], [value("c", T.FLOAT, [2])]))


def wrong_kinds():
    nodes = [node("Conv", "x w", "a", kernel_shape="text", strides=[0, 0], group=0),
             node("Conv", "x w", "b", pads=[-9, 1, 2**62, 3], dilations=[-1, 2**62]),
             node("Transpose", "x", "c", perm=[0, 0, 9, -1]), node("Concat", "x w", "d"),
             node("Einsum", "x w", "e", equation="a...,->...b,"), node("Cast", "x", "f", to=-1),
             node("MaxPool", "x", "g", kernel_shape=[0, -1], auto_pad="SAME_UPPER"),
             node("LSTM", "x w", "h i j", hidden_size=-1), node("Gemm", "x", "k", transA=2.5),
             node("ReduceSum", "x", "l", axes=[99]), node("Split", "x", "m n", split=[2**62, -3]),
             node("Reshape", "x", "o"), node("SequenceAt", "x w", "p"), node("If", "x", "q")]
    return model(helper.make_graph(nodes, "kinds", [value("x", T.FLOAT, [1, 3, 8, 8]),
                                                    value("w", T.FLOAT, [4, 3, 3, "K"])],
                                   [value("a", T.FLOAT, None)]))


def trips():
    body = helper.make_graph(
        [node("MatMul", "s s", "t"), node("Concat", "g g", "u", axis=0),
         node("Identity", "go", "more")], "body",
        [value("i", T.INT64, []), value("go", T.BOOL, []), value("s", T.FLOAT, None),
         value("g", T.FLOAT, None)],
        [value("more", T.BOOL, []), value("t", T.FLOAT, None), value("u", T.FLOAT, None)])
    return model(helper.make_graph(
        [node("Loop", "n c x x", "y z", body=body)], "trips", [value("x", T.FLOAT, [3, 3])],
        [value("y", T.FLOAT, None)],
        [helper.make_tensor("n", T.INT64, [], [2**62]), helper.make_tensor("c", T.BOOL, [], [True])]))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    cases = Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"
    for name in CASES:
        path = cases / f"test_{name}" / "model.onnx"
        if path.exists():
            (folder / f"{name}.onnx").write_bytes(path.read_bytes())
        else:
            print(f"the onnx package has no case {name}", file=sys.stderr)
    own = {"embedding": embedding(), "fused": fused(), "branches": branches(), "kinds": kinds(),
           "sums": chain("Add", 60, ["N", "M"]), "products": chain("Mul", 60, ["N", "M"]),
           "quotients": chain("Div", 60, ["N", 7]), "recursion": functions(3, "f0"),
           "laughs": functions(40, "f40"), "few_functions": functions(4, "f4"), "huge": huge(),
           "cycle": cycle(), "wrong_kinds": wrong_kinds(), "trips": trips()}
    for name, m in own.items():
        (folder / f"{name}.onnx").write_bytes(m.SerializeToString())


if __name__ == "__main__":
    main()
