# SPDX-License-Identifier: Apache-2.0
"""Small TensorFlow Lite files for the tests, by the schema tensorflow/lite/schema/schema.fbs. As a program it prints
tests/unit/tflite_twice.h."""

import struct


class Table(dict):
    """A table of a flatbuffer: the number of a field and its value, a pair of a struct format and a number or an object."""


def flatbuffer(root, mark):
    """Encodes tables, lists, bytes and texts, each parent before its children: https://flatbuffers.dev/internals/"""
    out = bytearray(8)
    out[4:8] = mark
    todo = [(0, root)]
    while todo:
        at, what = todo.pop(0)
        if isinstance(what, Table):
            fields, size = {}, 4
            for number, value in sorted(what.items()):
                fields[number], size = size, size + 4
            table = [fields.get(n, 0) for n in range(max(what, default=-1) + 1)]
            out += bytes(-len(out) % 4)
            if len(table) % 2:
                out += bytes(2)
            begin = len(out) + 4 + 2 * len(table)
            out += struct.pack(f"<{len(table) + 2}H", 4 + 2 * len(table), size, *table)
            out += struct.pack("<i", 4 + 2 * len(table)) + bytes(size - 4)
            for number, value in what.items():
                place = begin + fields[number]
                if isinstance(value, tuple):
                    struct.pack_into("<" + value[0], out, place, value[1])
                else:
                    todo.append((place, value))
        else:
            out += bytes(-len(out) % 4)
            begin = len(out)
            data = what.encode() if isinstance(what, str) else what
            out += struct.pack("<I", len(data))
            if isinstance(data, bytes):
                out += data + b"\0"
            else:
                for i, value in enumerate(data):
                    out += struct.pack("<i", value if isinstance(value, int) else 0)
                    if not isinstance(value, int):
                        todo.append((begin + 4 + 4 * i, value))
        struct.pack_into("<I", out, at, begin - at)
    return bytes(out)


def tflite(rows):
    """Returns a TensorFlow Lite model, by the schema tensorflow/lite/schema/schema.fbs."""
    def tensor(name, shape, data):
        return Table({0: shape, 1: ("b", 0), 2: ("I", data), 3: name})
    add = Table({0: ("I", 0), 1: [0, 1], 2: [2], 3: ("B", 11), 4: Table({0: ("b", 0)})})
    graph = Table({0: [tensor("x", [rows, 3], 0), tensor("c", [1, 3], 1), tensor("y", [rows, 3], 0)], 1: [0], 2: [2],
                   3: [add], 4: "main"})
    return flatbuffer(Table({0: ("I", 3), 1: [Table({0: ("b", 0), 2: ("i", 1), 3: ("i", 0)})], 2: [graph], 3: "sum",
                             4: [Table(), Table({0: struct.pack("<3f", 1, 2, 3)})]}), b"TFL3")


def model(tensors, inputs, outputs, operators, codes, buffers=()):
    """A file of one graph. tensors: tables; operators: tables; codes: numbers of the operators' kinds; buffers: bytes, from
    number 1 on."""
    graph = Table({0: tensors, 1: inputs, 2: outputs, 3: operators, 4: "main"})
    return flatbuffer(Table({0: ("I", 3), 1: [Table({0: ("b", code), 2: ("i", 1), 3: ("i", code)}) for code in codes],
                             2: [graph], 3: "model", 4: [Table()] + [Table({0: data}) for data in buffers]}), b"TFL3")


def tensor(name, shape, buffer=0, open_first=False):
    """A tensor of float32."""
    fields = {0: shape, 1: ("b", 0), 2: ("I", buffer), 3: name}
    if open_first:
        fields.update({7: [-1, *shape[1:]], 8: ("b", 1)})
    return Table(fields)


ADD, FULLY_CONNECTED, SOFTMAX = 0, 9, 25
# The numbers of their options in the schema's union.
OPTIONS = {ADD: 11, FULLY_CONNECTED: 8, SOFTMAX: 9}


def operator(code, inputs, outputs, options):
    """An operator of the kind `code`, which is an index of model()'s codes and the number of the kind."""
    index, kind = code
    return Table({0: ("I", index), 1: inputs, 2: outputs, 3: ("B", OPTIONS[kind]), 4: Table(options)})


def twice():
    """y = x + x, x of any number of rows of 3."""
    return model([tensor("x", [1, 3], open_first=True), tensor("y", [1, 3], open_first=True)], [0], [1],
                 [operator((0, ADD), [0, 0], [1], {0: ("b", 0)})], [ADD])


def dense(rows, weights, bias):
    """softmax(relu(x w' + b)): weights is a list of rows, one for each of the bias."""
    n, k = len(bias), len(weights[0])
    packed = struct.pack(f"<{n * k}f", *[v for row in weights for v in row])
    return model([tensor("x", [rows, k]), tensor("w", [n, k], 1), tensor("b", [n], 2), tensor("h", [rows, n]),
                  tensor("y", [rows, n])], [0], [4],
                 [operator((0, FULLY_CONNECTED), [0, 1, 2], [3], {0: ("b", 1)}),
                  operator((1, SOFTMAX), [3], [4], {0: ("f", 1.0)})],
                 [FULLY_CONNECTED, SOFTMAX], [packed, struct.pack(f"<{n}f", *bias)])


if __name__ == "__main__":
    data = twice()
    print("/* tflite_twice.h - a TensorFlow Lite file: y = x + x, x of any number of rows of 3 float32. Printed by\n"
          " * python/tests/tflite_file.py.\n *\n * SPDX-License-Identifier: Apache-2.0 */\n#ifndef TFLITE_TWICE_H\n"
          "#define TFLITE_TWICE_H\n\nstatic const unsigned char tflite_twice[] = {")
    for at in range(0, len(data), 16):
        print("\t" + " ".join(f"0x{value:02x}," for value in data[at:at + 16]))
    print("};\n\n#endif")
