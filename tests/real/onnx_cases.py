#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Inferred shapes against the standard's own tests: for every single-operator case of the onnx
package, each output of `deepclock cost` has exactly the expected output's shape and type, or is
absent because it depends on values. The lists below name the absent operators; any difference from
them fails the test. Prints TAP.

  onnx_cases.py --program build/deepclock [--list] [--every N] [CASE...]     all, or those with this prefix
"""

import functools
import json
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from common import arguments, expect, installed, run, skip_all

# In the unchanged cases all input values are unknown, so operators that take a size as an input are absent.
SIZE_IS_INPUT = set("""
    AffineGrid BlackmanWindow CenterCropPad Col2Im Compress ConstantOfShape DFT Expand HammingWindow
    HannWindow ImageDecoder Loop MaxUnpool MelWeightMatrix NonMaxSuppression NonZero OneHot Pad Range
    ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum
    ReduceSumSquare Reshape Resize STFT Slice Split Squeeze StringNormalizer StringSplit Tile TopK
    Unique Unsqueeze Upsample
    Cast CastLike If Log
""".split())  # the last four: in these operators written as functions
# With the inputs stored as initializers only these are absent: their shapes are data-dependent.
# Cast is the last operator of Range written as a function of half-precision numbers.
SIZE_IS_DATA = set("""
    ImageDecoder Loop NonMaxSuppression StringNormalizer StringSplit Unique Cast
""".split())


def main():
    options = arguments(__doc__, ("--list", {"action": "store_true", "help": "every case that is not exact"}),
                        ("--every", {"type": int, "default": 1, "help": "only each N-th case"}))
    sys.path.insert(0, installed("onnx"))  # Debian's package is too old for the newest operators
    try:
        import onnx
        from onnx.backend.test.case.node import collect_testcases
        cases = collect_testcases(None)[::options.every]
    except (ImportError, AttributeError) as e:  # Debian's onnx 1.12 does not fit its NumPy
        skip_all(e, "the onnx package")
    names = {t: n for t, n in NAMES.items()}

    def judge(case, store):
        with tempfile.NamedTemporaryFile(suffix=".onnx") as f:
            model = type(case.model)()
            model.CopyFrom(case.model)
            for v in model.graph.output:  # declared types must not be copied into the result
                v.ClearField("type")
            del model.graph.value_info[:]
            if store:
                store_inputs(model, case.data_sets[0][0])
            f.write(model.SerializeToString())
            f.flush()
            done = subprocess.run([options.program, "cost", f.name, "--format", "json"],
                                  capture_output=True, text=True, timeout=60)
        if done.returncode != 0:
            return [("wrong", case.name, "", done.stderr.strip())]
        record = json.loads(done.stdout)
        found = {o["name"]: (o, op["type"]) for op in record["ops"] for o in op["outputs"]}
        results = []
        inputs, expected = case.data_sets[0]
        for value, want in zip(case.model.graph.output, expected):
            if value.name not in found:  # an output that is an input
                continue
            got, op = found[value.name]
            if not hasattr(want, "shape") and not hasattr(want, "dims"):
                ok = isinstance(got["shape"], dict)
                results.append(("sequence" if ok else "wrong", case.name, op, str(got)))
                continue
            kind = value.type.tensor_type.elem_type
            shape, real = got["shape"], list(want.shape if hasattr(want, "shape") else want.dims)
            exact = shape == real
            absent = isinstance(shape, dict) or (
                len(shape) == len(real)
                and all(a == b or isinstance(a, str) for a, b in zip(shape, real)))
            right_type = got["dtype"] == names.get(kind, "?") or (absent and not exact
                                                                 and got["dtype"] == "?")
            state = "wrong" if not right_type else "exact" if exact else "absent" if absent \
                else "wrong"
            results.append((state, case.name, op,
                            f"{got['dtype']} {shape}, expected {names.get(kind)} {real}"))
        return results

    @functools.cache
    def results_of(store):
        with ThreadPoolExecutor(2) as pool:
            results = [r for rs in pool.map(lambda c: judge(c, store), cases) for r in rs]
        count = {s: sum(r[0] == s for r in results) for s in ("exact", "absent", "sequence", "wrong")}
        print(f"# onnx {onnx.__version__}: {len(cases)} cases, {len(results)} outputs: "
              + ", ".join(f"{n} {s}" for s, n in count.items()))
        for r in results:
            if r[0] == "wrong" or (options.list and r[0] == "absent"):
                print("#", *r)
        return results

    def no_shape_is_wrong(store):
        wrong = sum(r[0] == "wrong" for r in results_of(store))
        expect(wrong == 0, f"{wrong} are wrong")

    def absent_are(store, allowed):
        absent = {r[2] for r in results_of(store) if r[0] == "absent"}
        expect(absent == allowed, f"more or fewer than written down: {sorted(absent ^ allowed)}")

    run([case for store, allowed, how in ((False, SIZE_IS_INPUT, "inputs open"), (True, SIZE_IS_DATA, "inputs stored"))
         for case in ((f"{how}: no inferred shape is wrong", functools.partial(no_shape_is_wrong, store)),
                      (f"{how}: the operators written down are absent, no others",
                       functools.partial(absent_are, store, allowed)))], options.prefixes)


def store_inputs(model, values):
    import numpy as np
    from onnx import numpy_helper

    for value, data in zip(list(model.graph.input), values):
        if hasattr(data, "SerializeToString") and hasattr(data, "dims"):
            tensor = type(data)()
            tensor.CopyFrom(data)
            tensor.name = value.name
        elif isinstance(data, (np.ndarray, np.generic)):
            try:
                tensor = numpy_helper.from_array(np.asarray(data), value.name)
            except Exception:  # a type that this version cannot store
                continue
        else:
            continue
        model.graph.initializer.append(tensor)
        model.graph.input.remove(value)


NAMES = {1: "float32", 2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64",
         8: "string", 9: "bool", 10: "float16", 11: "float64", 12: "uint32", 13: "uint64",
         14: "complex64", 15: "complex128", 16: "bfloat16", 17: "float8e4m3fn",
         18: "float8e4m3fnuz", 19: "float8e5m2", 20: "float8e5m2fnuz", 21: "uint4", 22: "int4",
         23: "float4e2m1", 24: "float8e8m0", 25: "uint2", 26: "int2"}

if __name__ == "__main__":
    main()
