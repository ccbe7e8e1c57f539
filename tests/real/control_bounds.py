#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The costs that 'deepclock cost' reports for models with If, Loop and Scan, compared with hand-computed numbers.
Prints TAP; needs the onnx package, which parses the models from text.

  control_bounds.py --program build/deepclock [CASE...]     all, or those whose name begins so

A MatMul of [2,3] and [3,4] has 2 * 3 * 4 = 24 MACs and 48 FLOPs; Neg of n elements has n FLOPs."""

import json
import subprocess
import sys

from common import Skipped, arguments, expect, fact, installed, run

A = "a = MatMul(x, w)"  # 24 MACs
B = "b = MatMul(x, v)"  # 2 * 3 * 10 = 60 MACs
WEIGHTS = "float[3,4] w, float[3,10] v, float[3,3] q"
HEAD = f"g (bool c, bool d, int64 m, float[2,3] x, {WEIGHTS}) => "
DROP = "then_branch = t () => (float[2,4] a) { a = MatMul(x, w) }, else_branch = e () => (float[2,4] n) " \
       "{ b = MatMul(x, v) n = MatMul(x, w) }"  # 24, or 60 + 24 = 84

ROUND = "(int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { o = MatMul(p, q) k2 = Identity(k) }"

# Name, text of the model, options, (lower bound of MACs, upper bound): None: no such bound; a known
# number is both, and FLOPs may follow. A lower bound of 0 is reported if there is an upper bound.
CASES = [
    ("if_differs", HEAD + f"(float[2,4] y) {{ y = If (c) <{DROP}> }}", [], (24, 84)),
    ("if_and_more", HEAD + f"(float[2,4] y, float[2,10] b) {{ y = If (c) <{DROP}> {B} }}", [], (84, 144)),
    ("if_alike", HEAD + "(float[2,4] y) { y = If (c) <then_branch = t () => (float[2,4] a) { a = MatMul(x, w) }, "
     "else_branch = e () => (float[2,4] n) { h = MatMul(x, w) n = Neg(h) }> }", [], (24, 24)),
    ("if_constant", HEAD + f"(float[2,4] y) {{ k = Constant <value = bool[1] {{1}}> () y = If (k) <{DROP}> }}",
     [], (24, 24)),
    ("if_given", HEAD + f"(float[2,4] y) {{ y = If (c) <{DROP}> }}", ["--input", "c=0"], (84, 84)),
    # 24, or the inner one: 24 to 84, and 60.
    ("if_in_if", HEAD + "(float[2,4] y) { y = If (c) <then_branch = t () => (float[2,4] a) { a = MatMul(x, w) }, "
     f"else_branch = e () => (float[2,4] o) {{ {B} o = If (d) <{DROP}> }}> }}", [], (24, 144)),
    # Two conditions that are treated as independent: 24 or 84, twice.
    ("two_ifs", HEAD + f"(float[2,4] y, float[2,4] z) {{ y = If (c) <{DROP}> z = If (d) <{DROP}> }}", [], (48, 168)),
    # The next node has the rows that the branch produced, 2 or 3: absent, with the lower bound 0.
    ("if_makes_shape", HEAD + "(float[r,4] y) { s = If (c) <then_branch = t () => (float[2,3] o) { o = Neg(x) }, "
     "else_branch = e () => (float[3,3] p) { p = Neg(q) }> h = MatMul(x, w) y = MatMul(s, w) }", [], (24, None)),
    # 9 MACs for each row and column: MatMul(v [2,3], q [3,3]) has 18.
    ("loop_constant", HEAD + "(float[2,3] y) { n = Constant <value = int64[1] {5}> () y = Loop (n, , x) <body = l "
     "(int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { k2 = Identity(k) o = MatMul(p, q) }> }",
     [], (90, 90)),
    ("loop_unknown", HEAD + "(float[2,3] y) { y = Loop (m, , x) <body = l (int64 i, bool k, float[2,3] p) => "
     "(bool k2, float[2,3] o) { k2 = Identity(k) o = MatMul(p, q) }> }", [], (None, None)),
    ("loop_given", HEAD + "(float[2,3] y) { y = Loop (m, , x) <body = l (int64 i, bool k, float[2,3] p) => "
     "(bool k2, float[2,3] o) { k2 = Identity(k) o = MatMul(p, q) }> }", ["--input", "m=7"], (126, 126)),
    # The body decides when the loop ends: after at least 1 iteration, at most 5; before it another 24.
    ("loop_ends", HEAD + "(float[2,3] y, float[2,4] a) { " + A + " n = Constant <value = int64[1] {5}> () y = Loop "
     "(n, , x) <body = l (int64 i, bool k, float[2,3] p) => (bool d, float[2,3] o) { o = MatMul(p, q) }> }",
     [], (42, 114)),
    # The first condition is unknown too: 0 or 5 iterations.
    ("loop_may_not_begin", HEAD + "(float[2,3] y, float[2,4] a) { " + A + " n = Constant <value = int64[1] {5}> () "
     "y = Loop (n, c, x) <body = l (int64 i, bool k, float[2,3] p) => (bool d, float[2,3] o) { o = MatMul(p, q) }> }",
     [], (24, 114)),
    # 3 iterations of an If of 18 or 0.
    ("if_in_loop", HEAD + "(float[2,3] y) { n = Constant <value = int64[1] {3}> () y = Loop (n, , x) <body = l "
     "(int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { k2 = Identity(k) o = If (c) <then_branch = t () "
     "=> (float[2,3] s) { s = MatMul(p, q) }, else_branch = e () => (float[2,3] u) { u = Neg(p) }> }> }", [], (0, 54)),
    # No MACs, or a Loop of 1 to 4 iterations with 18.
    ("loop_in_if", HEAD + "(float[2,3] y) { y = If (c) <then_branch = t () => (float[2,3] s) { s = Neg(x) }, "
     "else_branch = e () => (float[2,3] u) { n = Constant <value = int64[1] {4}> () u = Loop (n, , x) <body = l "
     "(int64 i, bool k, float[2,3] p) => (bool d, float[2,3] o) { o = MatMul(p, q) }> }> }", [], (0, 72)),
    # 2 steps over the rows of two inputs; in each an If of 3 * 4 = 12 MACs, or of 0.
    ("if_in_scan", "g (bool c, float[1,4] h, float[2,3] x, float[2,4] z, float[3,4] w) => (float[1,4] y) { y = Scan "
     "<num_scan_inputs = 2, body = l (float[1,4] p, float[3] r, float[4] f) => (float[1,4] o) { t = Add(p, f) "
     "o = If (c) <then_branch = b () => (float[1,4] s) { j = MatMul(r, w) s = Add(t, j) }, else_branch = e () => "
     "(float[1,4] u) { u = Neg(t) }> }> (h, x, z) }", [], (0, 24)),
    # The loop-carried state decides: it grows by 2 rows in each iteration, 2 + 4 + 6 + 8 + 10 of 9 MACs.
    ("loop_grows", HEAD + "(float[r,3] y) { n = Constant <value = int64[1] {5}> () y = Loop (n, , x) <body = l "
     "(int64 i, bool k, float[r,3] p) => (bool k2, float[s,3] o) { k2 = Identity(k) h = MatMul(p, q) "
     "o = Concat <axis = 0> (h, x) }> }", [], (270, 270, 540)),
    # Two states are swapped: 2, 4, 2, 4 and 2 rows are multiplied.
    ("loop_swaps", "g (float[2,3] x, float[4,3] z, float[3,3] q) => (float[r,3] y, float[s,3] u) { n = Constant <value "
     "= int64[1] {5}> () y, u = Loop (n, , x, z) <body = l (int64 i, bool k, float[r,3] a, float[s,3] b) => "
     "(bool k2, float[s,3] ob, float[r,3] oa) { k2 = Identity(k) ob = Identity(b) oa = MatMul(a, q) }> }",
     [], (126, 126, 252)),
    # No iteration: the count is 0 or less, or the condition is false.
    ("loop_empty", HEAD + "(float[2,4] z) { n = Constant <value = int64[1] {-3}> () y = Loop (n, , x) <body = l "
     f"{ROUND}> z = MatMul(y, w) }}", [], (24, 24, 48)),
    ("loop_not_begun", HEAD + "(float[2,4] z) { f = Constant <value = bool {0}> () y = Loop (m, f, x) <body = l "
     f"{ROUND}> z = MatMul(y, w) }}", [], (24, 24, 48)),
    # The condition of the body ends the loop after i = 3: 4 iterations, each with a Less.
    ("loop_ends_by_number", HEAD + "(float[2,3] y) { n = Constant <value = int64[1] {100}> () h = Constant <value = "
     "int64 {3}> () y = Loop (n, , x) <body = l (int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) "
     "{ o = MatMul(p, q) k2 = Less(i, h) }> }", [], (72, 72, 148)),
    # while t < 6, with t loop-carried and no count: 6 iterations, each with an Add and a Less.
    ("loop_ends_by_state", "g (float[2,3] x, float[3,3] q) => (float[2,3] y, int64 e) { t0 = Constant <value = int64 "
     "{0}> () y, e = Loop (, , x, t0) <body = l (int64 i, bool k, float[2,3] p, int64 t) => (bool k2, float[2,3] o, "
     "int64 t2) { o = MatMul(p, q) one = Constant <value = int64 {1}> () t2 = Add(t, one) six = Constant <value = "
     "int64 {6}> () k2 = Less(t2, six) }> }", [], (108, 108, 228)),
    # The loop may not start, and it ends after one iteration.
    ("loop_once_or_never", HEAD + "(float[2,3] y) { y = Loop (, c, x) <body = l (int64 i, bool k, float[2,3] p) => "
     "(bool k2, float[2,3] o) { o = MatMul(p, q) k2 = Constant <value = bool {0}> () }> }", [], (0, 18)),
    # The values decide on the next iteration, without an upper bound.
    ("loop_without_limit", HEAD + "(float[2,3] y) { t = Constant <value = bool {1}> () y = Loop (, t, x) <body = l "
     "(int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { o = MatMul(p, q) s = ReduceSum <keepdims = 0> (o) "
     "z = Constant <value = float {0.0}> () k2 = Greater(s, z) }> }", [], (18, None)),
    ("loop_of_any_length", HEAD + "(float[2,3] y) { n = Constant <value = int64[1] {9223372036854775807}> () y = Loop "
     "(n, , x) <body = l (int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { o = MatMul(p, q) s = ReduceSum "
     "<keepdims = 0> (o) z = Constant <value = float {0.0}> () k2 = Greater(s, z) }> }", [], (18, None)),
    # The count of the inner loop is the iteration number of the outer loop: 0 + 1 + 2 + 3 + 4.
    ("loop_triangle", HEAD + "(float[2,3] y) { n = Constant <value = int64[1] {5}> () y = Loop (n, , x) <body = l "
     "(int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { k2 = Identity(k) o = Loop (i, , p) <body = l2 "
     "(int64 i2, bool e, float[2,3] u) => (bool e2, float[2,3] t) { e2 = Identity(e) t = MatMul(u, q) }> }> }",
     [], (180, 180, 360)),
    # The first of 5 iterations takes one branch, the others the Neg of 6 elements; each compares.
    ("loop_first_differs", HEAD + "(float[2,3] y) { n = Constant <value = int64[1] {5}> () z = Constant <value = int64 "
     "{0}> () y = Loop (n, , x) <body = l (int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o) { k2 = Identity(k) "
     "f = Equal(i, z) o = If (f) <then_branch = t () => (float[2,3] s) { s = MatMul(p, q) }, else_branch = e () => "
     "(float[2,3] u) { u = Neg(p) }> }> }", [], (18, 18, 36 + 4 * 6 + 5)),
    # N iterations, one for each row of x, over N rows: 9 * N * N.
    ("loop_of_shape", "g (float[N,3] x, float[3,3] q) => (float[N,3] y) { s = Shape <start = 0, end = 1> (x) "
     "y = Loop (s, , x) <body = l (int64 i, bool k, float[N,3] p) => (bool k2, float[N,3] o) { o = MatMul(p, q) "
     "k2 = Identity(k) }> }", [], ("9*N^2", "9*N^2")),
    # The results of 5 iterations are stacked: 5 * 18, and 5 * 24 after the loop.
    ("loop_stacks", HEAD + "(float[n,2,4] z) { n = Constant <value = int64[1] {5}> () y, s = Loop (n, , x) <body = l "
     "(int64 i, bool k, float[2,3] p) => (bool k2, float[2,3] o, float[2,3] o2) { k2 = Identity(k) o = MatMul(p, q) "
     "o2 = Neg(o) }> z = MatMul(s, w) }", [], (210, 210, 420 + 5 * 6)),
    # Backwards over the second axis: 7 steps of 3 * 4 MACs and an Add of 4.
    ("scan_backwards", "g (float[1,4] h, float[3,7] x, float[3,4] w) => (float[1,4] y) { y = Scan <num_scan_inputs = 1, "
     "scan_input_axes = [1], scan_input_directions = [1], body = l (float[1,4] p, float[3] r) => (float[1,4] o) "
     "{ t = MatMul(r, w) o = Add(p, t) }> (h, x) }", [], (84, 84, 168 + 28)),
    ("scan_of_nothing", "g (float[1,4] h, float[0,3] x, float[3,4] w) => (float[1,4] y) { y = Scan <num_scan_inputs = 1, "
     "body = l (float[1,4] p, float[3] r) => (float[1,4] o) { t = MatMul(r, w) o = Add(p, t) }> (h, x) }", [], (0, 0, 0)),
    # 5 steps or 10 of 2 * (16 * 3 + 16 * 4) MACs.
    ("if_of_lstms", "g (bool c, float[5,2,3] x, float[1,16,3] W, float[1,16,4] R) => (float[1,2,4] y) { y = If (c) "
     "<then_branch = t () => (float[1,2,4] a) { f, a = LSTM <hidden_size = 4> (x, W, R) }, else_branch = e () => "
     "(float[1,2,4] b) { z = Concat <axis = 0> (x, x) h, b = LSTM <hidden_size = 4> (z, W, R) }> }", [], (1120, 2240)),
    # The bounds of a function's body count for each of its calls.
    ("if_in_function", "g (bool c, float[2,3] x, float[3,4] w, float[3,10] v) => (float[2,4] y, float[2,4] z) "
     "{ y = loc.pick(c, x, w, v) z = loc.pick(c, x, w, v) } <domain: \"loc\", opset_import: [\"\" : 17]> "
     f"pick (c, x, w, v) => (y) {{ y = If (c) <{DROP}> }}", [], (48, 168)),
    # The batch is symbolic: N rows in both branches, 12 MACs or 36 for each.
    ("if_open_batch", "g (bool c, float[N,3] x, float[3,4] w, float[4,4] q) => (float[N,4] y) { y = If (c) "
     "<then_branch = t () => (float[N,4] a) { a = MatMul(x, w) }, else_branch = e () => (float[N,4] b) "
     "{ h = MatMul(x, w) k = MatMul(h, q) b = Add(h, k) }> }", [], ("12*N", "28*N")),
    # 3 * 3 MACs at N * (H-2) * (H-2) positions: H-2 is negative for H=1, so it has no bound; 12 * N are certain.
    ("if_beside_convolution", "g (bool c, float[N,1,H,H] x, float[1,1,3,3] k, float[N,3] u, float[3,4] w) => "
     "(float[N,1,h,h2] z, float[N,4] y) { z = Conv(x, k) m = MatMul(u, w) y = If (c) <then_branch = t () => "
     "(float[N,4] a) { a = Neg(m) }, else_branch = e () => (float[N,4] b) { f = NonZero(m) r = ReduceMax "
     "<axes = [0, 1]> (f) s = ConstantOfShape(r) g = Reshape(s, r) o = MatMul(g, g) b = Add(m, o) }> }", [],
     ("12*N", None)),
]


def cost(program, text, options):
    try:
        import onnx
        import onnx.parser
    except ImportError as e:
        raise Skipped(f"{e}: install python3-onnx") from e
    model = onnx.parser.parse_model('<ir_version: 8, opset_import: ["" : 17, "loc" : 1]>\n' + text)
    with open("model.onnx", "wb") as f:
        f.write(model.SerializeToString())
    done = subprocess.run([program, "cost", "model.onnx", "--format", "json", *options], capture_output=True,
                          text=True, timeout=60)
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def check(program, text, options, least, most, flops=None):
    record = cost(program, text, options)
    macs, all_flops = (next(m for m in record["metrics"] if m["tag"] == f"cost/{what}") for what in ("macs", "flops"))
    answer = fact(record, "result", "answer")
    found = (fact(record, "cost", "macs_at_least"), fact(record, "cost", "macs_at_most"))

    expect(flops is None or all_flops.get("value") == flops, f"{all_flops}, not {flops}")
    if isinstance(least, str) and least == most:
        expect(fact(record, "cost", "macs_formula") == least, f"{fact(record, 'cost', 'macs_formula')}, not {least}")
        return
    if least is not None and least == most:
        expect(macs.get("value") == least and found == (None, None), f"{macs} {found}, not {least}")
        return
    expect("value" not in macs, f"{macs}")
    expect(found == (least, most), f"{found}, not {(least, most)}: {answer}")
    for words, limit in (("at least", least), ("at most", most)):
        expect((words in answer.split("parameters")[0]) == (limit not in (None, 0)), answer)
        if limit and not macs["absent"].startswith("open sizes: "):
            expect(f"{words} {limit}" in macs["absent"], macs["absent"])


def main():
    sys.path.insert(0, installed("onnx"))  # the version of Debian 12 cannot parse an omitted input
    args = arguments(__doc__)
    run([(name, lambda c=case: check(args.program, *c[:2], *c[2])) for name, *case in CASES], args.prefixes)


if __name__ == "__main__":
    main()
