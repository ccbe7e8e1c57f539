# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.cost() against counts by hand, published counts, the ONNX count of the same network,
and torch.utils.flop_counter if available."""

import json
import re
import sys
import threading
import unittest
import warnings

from support import Case, deepclock, main, needs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = needs("torch", "PyTorch")
    from torch import nn
    from torch.nn import functional
try:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import torchvision
except ImportError:
    torchvision = None
try:
    from torch.utils.flop_counter import FlopCounterMode
except ImportError:
    FlopCounterMode = None

NEW = tuple(int(n) for n in re.findall(r"\d+", torch.__version__)[:2]) >= (2, 0)


def cost(module, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return deepclock.torch.cost(module, *inputs, **options)


def value(record, tag):
    metric = record[tag]
    assert metric.value is not None, metric.absent
    return metric.value


def ops(record):
    return json.loads(record.to_json())["ops"]


def rows(record):
    table = json.loads(record.to_json())["tables"][0]
    keys = [c["key"] for c in table["columns"]]
    return {row[0]: dict(zip(keys, row)) for row in table["rows"]}


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.fc = nn.Linear(8, 10)

    def forward(self, x):
        x = functional.relu(self.norm(self.conv(x)))
        return self.fc(x.mean((2, 3)))


class Forward(Case):
    def test_by_hand(self):
        r = cost(Small().eval(), torch.randn(2, 3, 16, 16))
        places = 2 * 16 * 16
        self.assertEqual(value(r, "cost/macs"), places * 8 * 27 + 2 * 8 * 10)
        conv = places * 8 * (2 * 27 + 1)                  # bias 1
        norm, relu = places * 8 * 2, places * 8
        mean = places * 8 + 2 * 8                         # one division per result
        self.assertEqual(value(r, "cost/flops"), conv + norm + relu + mean + 2 * 10 * (2 * 8 + 1))
        self.assertEqual(value(r, "cost/params"), 8 * 27 + 8 + 16 + 90)
        self.assertEqual(value(r, "cost/buffers"), 16)
        self.assertEqual(value(r, "cost/coverage"), 1)
        table = rows(r)
        self.assertEqual(table["conv"]["macs"], places * 8 * 27)
        self.assertEqual(table["conv"]["params"], 8 * 27 + 8)
        self.assertEqual(table["norm"]["macs"], 0)
        self.assertEqual(table["(all)"]["flops"], value(r, "cost/flops"))
        self.assertEqual([o["type"] for o in ops(r)],
                         ["Conv", "BatchNormalization", "Relu", "ReduceMean", "Gemm"])
        self.assertEqual(ops(r)[0]["params"], 8 * 27 + 8)
        self.assertEqual(ops(r)[0]["class"], "torch.nn.modules.conv.Conv2d")
        self.assertIn("test_torch_cost.py:", ops(r)[0]["line"])
        self.assertEqual(ops(r)[0]["code"], "x = functional.relu(self.norm(self.conv(x)))")

    def test_tree_adds_up(self):
        r = cost(Small().eval(), torch.randn(2, 3, 16, 16))
        tree = json.loads(r.to_json())["trees"][0]
        self.assertEqual(tree["name"], "modules")
        keys = [c["key"] for c in tree["columns"]]
        for key in ("macs", "flops", "params"):
            column = 2 + keys.index(key)
            self.assertEqual(sum(n[column] for n in tree["nodes"]), value(r, "cost/" + key))
        frames = {f["name"]: f for f in tree["frames"]}
        self.assertTrue(frames["conv (Conv2d)"]["file"].endswith("conv.py"))
        self.assertTrue(frames["Small"]["file"].endswith("test_torch_cost.py"))
        with open(__file__) as f:
            self.assertEqual(f.readlines()[frames["Small"]["line"] - 1], "class Small(nn.Module):\n")
        self.assertIn("conv (Conv2d)", r.report(details=True))

    def test_what_is_outside_of_modules(self):
        r = cost(lambda a, b: torch.softmax(a @ b, -1), torch.randn(4, 5), torch.randn(5, 6))
        self.assertEqual(value(r, "cost/macs"), 4 * 5 * 6)
        self.assertEqual(value(r, "cost/flops"), 2 * 4 * 5 * 6 + 5 * 4 * 6)
        self.assertEqual(value(r, "cost/params"), 0)

    def test_shared_and_repeated(self):
        class Tied(nn.Module):
            def __init__(self):
                super().__init__()
                self.embed = nn.Embedding(50, 16)
                self.layer = nn.Linear(16, 16)
                self.again = self.layer
                self.head = nn.Linear(16, 50, bias=False)
                self.head.weight = self.embed.weight

            def forward(self, x):
                x = self.embed(x)
                for _ in range(3):
                    x = self.layer(x)
                return self.head(self.again(x))

        r = cost(Tied(), torch.arange(7).reshape(1, 7))
        self.assertEqual(value(r, "cost/params"), 50 * 16 + 16 * 17)
        self.assertEqual(value(r, "cost/macs"), 7 * (4 * 16 * 16 + 16 * 50))
        self.assertEqual(rows(r)["layer"]["calls"], 4)
        self.assertEqual(rows(r)["layer"]["macs"], 7 * 4 * 16 * 16)
        self.assertEqual(sum(o["params"] for o in ops(r)), 50 * 16 + 16 * 17)

    def test_inputs(self):
        class Two(nn.Module):
            def forward(self, a, b=None):
                return a @ b

        a, b = torch.randn(3, 4), torch.randn(4, 5)
        for given in ((a, b), ((a, b),), ({"a": a, "b": b},)):
            self.assertEqual(value(cost(Two(), *given), "cost/macs"), 60)
        self.assertEqual(value(cost(Two(), a, named={"b": b}), "cost/macs"), 60)

        class Dict(nn.Module):
            def forward(self, batch):
                return batch["a"] @ batch["b"]

        self.assertEqual(value(cost(Dict(), {"a": a, "b": b}), "cost/macs"), 60)

    def test_modes(self):
        """Gradients on, off or in inference mode: the calls differ, the counts do not."""
        m = nn.Sequential(nn.Linear(8, 16), nn.GELU(), nn.LayerNorm(16), nn.Linear(16, 4)).eval()
        x = torch.randn(2, 5, 8)
        seen = set()
        for mode in (torch.enable_grad, torch.no_grad, torch.inference_mode):
            with mode():
                r = cost(m, x)
                seen.add((value(r, "cost/macs"), value(r, "cost/flops")))
        with torch.inference_mode():
            seen.add((value(cost(m, torch.randn(2, 5, 8)), "cost/macs"), value(r, "cost/flops")))
        self.assertEqual(len(seen), 1)

    def test_products_in_inference_mode(self):
        """There a product of a matrix and a batch of matrices is one call, as is torch.inner."""
        a, b, c = torch.randn(3, 4), torch.randn(5, 4, 6), torch.randn(6, 4)
        for mode in (torch.no_grad, torch.inference_mode):
            with mode():
                self.assertEqual(value(cost(lambda: a @ b), "cost/macs"), 5 * 3 * 4 * 6)
                self.assertEqual(value(cost(lambda: b @ torch.ones(6, 2)), "cost/macs"), 5 * 4 * 6 * 2)
                self.assertEqual(value(cost(lambda: torch.inner(a, c)), "cost/macs"), 3 * 4 * 6)

    @unittest.skipUnless(hasattr(torch, "_grouped_mm"), "this PyTorch has no products in groups")
    def test_products_in_groups(self):
        offsets = torch.tensor([16, 32], dtype=torch.int32)
        wide = torch.randn(32, 16, dtype=torch.bfloat16)
        groups = torch.randn(2, 16, 16, dtype=torch.bfloat16)
        for f, macs in ((lambda: torch._grouped_mm(wide, groups, offs=offsets), 32 * 16 * 16),
                        (lambda: torch._grouped_mm(groups, wide.t(), offs=offsets), 16 * 16 * 32),
                        (lambda: torch._grouped_mm(wide.t(), wide, offs=offsets), 16 * 32 * 16)):
            self.assertEqual(value(cost(f), "cost/macs"), macs)

    def test_meta(self):
        """A network that does not fit into memory."""
        m = nn.Sequential(nn.Linear(2, 2).to("meta"))
        m[0].weight = nn.Parameter(torch.empty(1 << 20, 1 << 20, device="meta"))
        m[0].bias = None
        r = cost(m, torch.empty(8, 1 << 20, device="meta"))
        self.assertEqual(value(r, "cost/macs"), 8 << 40)
        self.assertEqual(value(r, "cost/weight_bytes"), 4 << 40)

    def test_recurrent(self):
        """The counts do not depend on how PyTorch runs them: one kernel per layer, or one call per gate."""
        x = torch.randn(5, 2, 8)
        for make, gates in ((nn.LSTM, 4), (nn.GRU, 3), (nn.RNN, 1)):
            m = make(8, 16, num_layers=2, bidirectional=True)
            macs = 5 * 2 * gates * 16 * 2 * ((8 + 16) + (32 + 16))
            for backward in (False, True):
                r = cost(m, x, backward=backward)
                self.assertEqual(value(r, "cost/macs"), macs)
            self.assertGreater(value(r, "cost/backward_macs"), macs)

    def test_transforms(self):
        transform = 5 * 8 * 3 // 2                        # 5 n log2(n), half of it for real input
        r = cost(torch.fft.rfft, torch.randn(3, 8))
        self.assertEqual(value(r, "cost/flops"), 3 * transform)
        r = cost(torch.fft.rfft2, torch.randn(3, 8, 8))
        self.assertEqual(value(r, "cost/flops"), 3 * (8 * transform + 5 * 2 * transform))

    def test_what_depends_on_values(self):
        """MACs are known even if the other operations are not."""
        if torchvision is None:
            self.skipTest("torchvision is not installed")

        def boxes(x, y):
            return torchvision.ops.nms(x @ y, torch.rand(6), 0.5)

        r = cost(boxes, torch.rand(6, 5), torch.rand(5, 4))
        self.assertEqual(value(r, "cost/macs"), 6 * 5 * 4)
        self.assertIsNone(r["cost/flops"].value)
        self.assertIn("nms", r["cost/flops"].absent)
        self.assertIn("at least 240;", r["cost/flops"].absent)
        self.assertEqual(r.facts["cost/flops_at_least"].value, 240)
        self.assertIn("120 MACs, at least 240 FLOPs", r.facts["result/answer"].value)

    def test_unknown_is_named_and_not_zero(self):
        class Solve(nn.Module):
            def forward(self, x):
                return torch.linalg.matrix_exp(x @ x)

        r = cost(Solve(), torch.eye(4))
        self.assertIsNone(r["cost/macs"].value)
        self.assertIn("at least 64; aten.linalg_matrix_exp", r["cost/macs"].absent)
        self.assertIn("at least 64 MACs, at least 128 FLOPs", r.facts["result/answer"].value)
        self.assertIn("matrix_exp", next(n.text for n in r.notes if n.code == "cost-unknown"))
        self.assertLess(value(r, "cost/coverage"), 1)
        self.assertIn("64 MACs", next(n.text for n in r.notes if n.code == "cost-unknown"))

    def test_depth(self):
        m = nn.Sequential(nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4))), nn.Linear(4, 4))
        r = cost(m, torch.randn(1, 4), depth=1)
        self.assertEqual(list(rows(r)), ["(all)", "0", "1"])
        tree = json.loads(r.to_json())["trees"][0]
        self.assertEqual(len(tree["nodes"]), 3)
        column = 2 + [c["key"] for c in tree["columns"]].index("macs")
        self.assertEqual([n[column] for n in tree["nodes"]], [0, 32, 16])
        self.assertEqual(list(rows(cost(m, torch.randn(1, 4), depth=0))), ["(all)"])
        for wrong in (-1, 1.5, "1", True):
            with self.assertRaisesRegex(deepclock.ArgumentError, "depth="):
                cost(m, torch.randn(1, 4), depth=wrong)

    def test_a_failure_leaves_nothing_behind(self):
        class Bad(nn.Module):
            def forward(self, x):
                raise ValueError("bad")

        before = nn.Module.__call__
        with self.assertRaisesRegex(ValueError, "bad"):
            cost(nn.Sequential(Bad()), torch.randn(1))
        self.assertIs(nn.Module.__call__, before)
        self.assertEqual(value(cost(nn.Linear(2, 3), torch.randn(1, 2)), "cost/macs"), 6)

    def test_other_threads_are_not_counted(self):
        stop, layer = threading.Event(), nn.Linear(64, 64)

        def work():
            while not stop.is_set():
                layer(torch.randn(2, 64))

        thread = threading.Thread(target=work)
        thread.start()
        try:
            counts = {value(cost(nn.Sequential(layer, layer), torch.randn(2, 64)), "cost/macs")
                      for _ in range(20)}
        finally:
            stop.set()
            thread.join()
        self.assertEqual(counts, {2 * 2 * 64 * 64})

    def test_two_threads_count(self):
        before = nn.Module.__call__
        found = []

        def work(n):
            m = nn.Sequential(nn.Linear(n, n), nn.Linear(n, n))
            for _ in range(10):
                found.append((n, value(cost(m, torch.randn(1, n)), "cost/macs"), 2 * n * n))

        threads = [threading.Thread(target=work, args=(n,)) for n in (8, 16, 24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(found), 30)
        for n, got, want in found:
            self.assertEqual(got, want, n)
        self.assertIs(nn.Module.__call__, before)


class Scripted(Case):
    """TorchScript modules, alone and inside other modules."""

    def made(self):
        m = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(4 * 36, 5))
        x = torch.randn(2, 3, 8, 8)
        script = torch.jit.script(m)
        return m, x, {"script": script, "trace": torch.jit.trace(m.eval(), x),
                      "freeze": torch.jit.freeze(torch.jit.script(m.eval())), "part": nn.Sequential(script)}

    def test_as_the_module_that_they_were_made_from(self):
        m, x, made = self.made()
        want = cost(m.eval(), x)
        for kind, scripted in made.items():
            with self.subTest(kind):
                r = cost(scripted.eval() if kind != "freeze" else scripted, x)
                self.assertEqual(value(r, "cost/macs"), value(want, "cost/macs"))
                if kind != "freeze":  # freezing turns parameters into constants, and fuses the norm
                    self.assertEqual(value(r, "cost/flops"), value(want, "cost/flops"))
                    self.assertEqual(value(r, "cost/params"), value(want, "cost/params"))
        self.assertIn("deepclock.torch.cost(Sequential)", cost(made["script"], x).to_json())
        self.assertEqual(rows(cost(made["part"], x))["0.4"]["class"], "Linear")

    def test_backward_and_what_is_left(self):
        m, x, made = self.made()
        want = cost(m.train(), x, backward=True)
        script = made["script"].train()
        before = {k: t.clone() for k, t in script.state_dict().items()}
        r = cost(script, x, backward=True)
        self.assertEqual(value(r, "cost/backward_macs"), value(want, "cost/backward_macs"))
        for k, t in script.state_dict().items():
            self.assertTrue(torch.equal(t, before[k]), k)


class HigherOrder(Case):
    @unittest.skipUnless(hasattr(torch, "cond"), "this PyTorch has no torch.cond")
    def test_cond_and_while_loop(self):
        def f(x):
            return torch.cond(x.sum() > 0, lambda x: x @ x.t(), lambda x: (x @ x.t()) @ x @ x.t(), (x,))

        self.assertEqual(value(cost(f, torch.ones(3, 4)), "cost/macs"), 36)
        self.assertEqual(value(cost(f, -torch.ones(3, 4)), "cost/macs"), 108)
        on_meta = cost(f, torch.empty(3, 4, device="meta"))
        self.assertIn("values", on_meta["cost/macs"].absent)
        from torch._higher_order_ops.while_loop import while_loop
        layer = nn.Linear(4, 4)

        def loop(x):
            return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, layer(y)), (torch.tensor(0), x))[1]

        self.assertEqual(value(cost(loop, torch.randn(2, 4)), "cost/macs"), 3 * 2 * 16)

    def test_flex_attention(self):
        try:
            from torch.nn.attention.flex_attention import flex_attention
        except ImportError:
            self.skipTest("this PyTorch has no flex_attention")
        r = cost(lambda q: flex_attention(q, q, q), torch.randn(1, 2, 16, 8))
        self.assertEqual(value(r, "cost/macs"), 2 * 16 * 16 * 8 * 2)
        self.assertIsNone(r["cost/flops"].value)
        self.assertIn("score_mod", r["cost/flops"].absent)


class Nested(Case):
    def test_padded_encoder(self):
        """In evaluation mode it drops the padding; each sequence is counted separately."""
        layer = nn.TransformerEncoderLayer(32, 4, 48, batch_first=True)
        m = nn.TransformerEncoder(layer, 2).eval()
        padding = torch.zeros(2, 6, dtype=torch.bool)
        padding[1, 4:] = True
        r = cost(m, torch.randn(2, 6, 32), named={"src_key_padding_mask": padding})
        one = [n * 32 * 32 * 4 + 2 * n * n * 32 + 2 * n * 32 * 48 for n in (6, 4)]
        self.assertEqual(value(r, "cost/macs"), 2 * sum(one))
        self.assertEqual(value(r, "cost/coverage"), 1)

    def test_layouts(self):
        items = [torch.randn(3, 8), torch.randn(5, 8)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            layouts = {"strided": {}, **({"jagged": {"layout": torch.jagged}} if hasattr(torch, "jagged") else {})}
            for name, options in layouts.items():
                with self.subTest(name):
                    make = torch.nested.nested_tensor if hasattr(torch, "nested") else torch.nested_tensor
                    r = cost(nn.Sequential(nn.Linear(8, 4), nn.ReLU()), make(items, **options))
                    self.assertEqual(value(r, "cost/macs"), 8 * 8 * 4)
                    self.assertEqual(value(r, "cost/flops"), 8 * (8 * 4 * 2 + 4 + 4))
                    self.assertIn("input/0", r.to_json())

    @unittest.skipUnless(hasattr(torch, "jagged"), "this PyTorch has no jagged tensors")
    def test_attention(self):
        make = torch.nested.nested_tensor
        n = make([torch.randn(3, 2, 8), torch.randn(5, 2, 8)], layout=torch.jagged).transpose(1, 2)
        r = cost(functional.scaled_dot_product_attention, n, n, n)
        self.assertEqual(value(r, "cost/macs"), 2 * 8 * 2 * (9 + 25))


class Conventions(Case):
    @unittest.skipIf(FlopCounterMode is None, "torch before 2.1 has no flop_counter")
    def test_a_users_formula(self):
        from torch.utils.flop_counter import flop_registry, register_flop_formula
        library = torch.library.Library("deepclock_test", "FRAGMENT")
        library.define("product(Tensor a, Tensor b) -> Tensor")
        library.impl("product", lambda a, b: a @ b, "CPU")
        op = torch.ops.deepclock_test.product
        self.assertIn("no row", cost(op, torch.randn(4, 5), torch.randn(5, 6))["cost/macs"].absent)

        @register_flop_formula(op)
        def formula(a, b, *args, out_shape=None, **kwargs):
            return 2 * a[0] * a[1] * b[1]

        try:
            r = cost(op, torch.randn(4, 5), torch.randn(5, 6))
            self.assertEqual((value(r, "cost/macs"), value(r, "cost/flops")), (120, 240))
        finally:
            del flop_registry[op]

    def test_bags(self):
        bag, i = nn.EmbeddingBag(10, 8, mode="sum"), torch.randint(0, 10, (4, 10))
        self.assertEqual(value(cost(bag, i), "cost/flops"), 320)
        self.assertEqual(value(cost(bag, i, named={"per_sample_weights": torch.ones(4, 10)}), "cost/flops"), 640)
        self.assertEqual(value(cost(nn.EmbeddingBag(10, 8), i), "cost/flops"), 320 + 32)
        back = [value(cost(bag, i, named=named, backward=True), "cost/backward_flops")
                for named in ({}, {"per_sample_weights": torch.ones(4, 10)})]
        self.assertEqual(back[1] - back[0], 320)

    def test_complex_numbers_are_two_real_ones(self):
        z, w = (torch.randn(4, 5, dtype=torch.complex64) for _ in range(2))
        for f, macs, flops in ((lambda: z @ w.t(), 4 * 80, 8 * 80), (lambda: z * w, 0, 6 * 20),
                               (lambda: z + w, 0, 2 * 20), (lambda: z * 0.5, 0, 2 * 20), (lambda: z * 2j, 0, 6 * 20),
                               (lambda: z / w, 0, 11 * 20), (lambda: z.abs(), 0, 4 * 20),
                               (lambda: z.sum(), 0, 2 * 20), (lambda: torch.fft.fft(z[:, :4]), 0, 4 * 5 * 4 * 2)):
            r = cost(f)
            self.assertEqual((value(r, "cost/macs"), value(r, "cost/flops")), (macs, flops))
        r = cost(lambda: (z @ w.t()).tanh())
        self.assertEqual(value(r, "cost/macs"), 320)
        self.assertIn("Tanh of complex numbers", r["cost/flops"].absent)

    def test_linear_algebra(self):
        """LAPACK Working Note 41, and the third edition of Matrix Computations."""
        a, b = torch.eye(6) * 2, torch.randn(6, 2)
        lu = 2 * 6 ** 3 // 3 - 18 + 5                              # 2/3 n^3 - n^2 / 2 + 5/6 n
        la = torch.linalg
        for f, flops in ((lambda: la.solve(a, b), lu + 2 * (2 * 36 - 6)),
                         (lambda: la.inv(a), 2 * 216 - 18 - 36 + 5 + 10),
                         (lambda: la.cholesky(a), 72 + 18 + 1), (lambda: torch.cholesky_solve(b, a), 2 * 2 * 36),
                         (lambda: la.solve_triangular(a, b, upper=True), 2 * 36),
                         (lambda: la.det(a), lu + 6), (lambda: la.svd(a, full_matrices=False), 22 * 216),
                         (lambda: la.eigh(a), 9 * 216), (lambda: la.eig(a), 25 * 216),
                         (lambda: la.qr(torch.randn(3, 8, 4)),
                          3 * ((2 * 8 * 16 - 128 / 3 + 32 + 16 + 56 / 3) + (4 * 128 - 2 * 12 * 16 + 256 / 3 + 48
                                                                            - 32 - 16 - 16 / 3)))):
            r = cost(f)
            self.assertEqual((value(r, "cost/macs"), value(r, "cost/flops")), (0, round(flops)))
        self.assertGreater(value(cost(la.pinv, torch.randn(6, 4)), "cost/macs"), 0)

    def test_sparse_products(self):
        dense = torch.randn(5, 3)
        for sparse in (torch.eye(5).to_sparse(), torch.eye(5).to_sparse_csr()):
            r = cost(lambda: sparse @ dense)
            self.assertEqual(value(r, "cost/macs"), 5 * 3)

    def test_quantized_linear(self):
        if "fbgemm" not in torch.backends.quantized.supported_engines:
            self.skipTest("this PyTorch has no quantised kernels")
        m = torch.ao.quantization.quantize_dynamic(nn.Sequential(nn.Linear(8, 16)), {nn.Linear})
        self.assertEqual(value(cost(m, torch.randn(2, 8)), "cost/macs"), 2 * 8 * 16)

    def test_bytes_of_wrapped_weights(self):
        """A weight of a subclass that wraps other tensors, as quantised ones are, takes their bytes."""
        try:
            from torch.testing._internal.two_tensor import TwoTensor
        except ImportError:
            self.skipTest("this PyTorch has no such subclass")
        m = nn.Linear(8, 16, bias=False)
        m.weight = nn.Parameter(TwoTensor(m.weight.detach(), torch.ones(16, 8)))
        r = cost(m, torch.randn(2, 8))
        self.assertEqual((value(r, "cost/params"), value(r, "cost/weight_bytes")), (128, 2 * 128 * 4))

    def test_smooth_interpolation(self):
        """Scaled to a quarter, the filter of bilinear interpolation reads 8 pixels, fewer at the borders."""
        r = cost(lambda x: functional.interpolate(x, size=(16, 4), mode="bilinear", antialias=True),
                 torch.randn(1, 1, 16, 16))
        taps = 6 + 8 + 8 + 6
        self.assertEqual(value(r, "cost/flops"), 2 * 16 * taps)

    def test_an_optimiser_with_a_closure(self):
        m = nn.Linear(4, 2)
        with self.assertRaisesRegex(deepclock.ArgumentError, "LBFGS calls a closure"):
            cost(m, torch.randn(3, 4), optimizer=torch.optim.LBFGS(m.parameters()))


class FastPaths(Case):
    """Fused calls of nn.MultiheadAttention and the encoder layers."""

    LAYER = 4 * (64 * 32 * 32 * 4 + 4 * 64 * 64 * 8 * 2 + 64 * 2 * 32 * 48)

    def layer(self):
        return nn.TransformerEncoderLayer(32, 4, 48, batch_first=True).eval()

    def test_encoder_layer(self):
        m, x = self.layer(), torch.randn(4, 64, 32)
        fast = cost(m, x)
        self.assertIn("_transformer_encoder_layer_fwd", ops(fast)[0]["name"])
        slow = cost(m.train(), x)
        self.assertGreater(len(ops(slow)), 5)
        self.assertEqual(value(fast, "cost/macs"), self.LAYER)
        self.assertEqual(value(slow, "cost/macs"), self.LAYER)

    def test_hooks_of_others_are_left_alone(self):
        m = self.layer()
        called = []
        m.linear1.register_forward_hook(lambda *a: called.append(1))
        r = cost(m, torch.randn(4, 64, 32))
        self.assertEqual(value(r, "cost/macs"), self.LAYER)
        self.assertEqual(len(m.linear1._forward_hooks), 1)

    def test_multihead_attention(self):
        m = nn.MultiheadAttention(32, 4, batch_first=True)
        q, k = torch.randn(2, 10, 32), torch.randn(2, 12, 32)
        want = 2 * (10 * 32 * 32 * 2 + 12 * 32 * 32 * 2 + 10 * 12 * 32 * 2)
        for training in (True, False):
            self.assertEqual(value(cost(m.train(training), q, k, k), "cost/macs"), want)
        self.assertEqual(value(cost(m.eval(), q, q, q, named={"need_weights": False}), "cost/macs"),
                         2 * (10 * 32 * 32 * 4 + 10 * 10 * 32 * 2))

    @unittest.skipUnless(hasattr(functional, "scaled_dot_product_attention"), "torch 1.13 has none")
    def test_scaled_dot_product(self):
        q = torch.randn(2, 4, 10, 8, requires_grad=True)
        k = torch.randn(2, 4, 12, 8, requires_grad=True)
        f = functional.scaled_dot_product_attention
        macs = 2 * 4 * 10 * 12 * 16
        self.assertEqual(value(cost(f, q, k, k), "cost/macs"), macs)
        r = cost(f, q, k, k, backward=True)
        # four gradients, and the scores again if the kernel did not save them
        self.assertIn(value(r, "cost/backward_macs"), (2 * macs, 5 * macs // 2))
        grouped = torch.randn(2, 2, 12, 8)
        if "enable_gqa" in (f.__doc__ or ""):
            self.assertEqual(value(cost(lambda: f(q.detach(), grouped, grouped, enable_gqa=True)),
                                   "cost/macs"), macs)


class Training(Case):
    def test_backward_of_convolutions(self):
        m = nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 8, 3, groups=4))
        x = torch.randn(1, 3, 10, 10)
        r = cost(m, x, backward=True)
        first, second = 64 * 8 * 27, 36 * 8 * 18
        self.assertEqual(value(r, "cost/macs"), first + second)
        self.assertEqual(value(r, "cost/backward_macs"), first + 2 * second)
        table = rows(r)
        self.assertEqual(table["0"]["backward_macs"], first)
        self.assertEqual(table["2"]["backward_macs"], 2 * second)
        self.assertGreater(table["1"]["backward_flops"], 0)
        x.requires_grad_()
        self.assertEqual(value(cost(m, x, backward=True), "cost/backward_macs"), 2 * (first + second))

    def test_backward_by_module(self):
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = nn.Linear(8, 16), nn.Linear(16, 8)

            def forward(self, x):
                y = x @ torch.ones(8, 8)
                return self.b(torch.sigmoid(self.a(y))) + y

        r = cost(Net(), torch.randn(4, 8, requires_grad=True), backward=True)
        table = rows(r)
        self.assertEqual(table["a"]["backward_macs"], 2 * 4 * 8 * 16)
        self.assertEqual(table["b"]["backward_macs"], 2 * 4 * 8 * 16)
        self.assertEqual(table["(all)"]["backward_macs"], 4 * 4 * 8 * 16 + 4 * 8 * 8)
        self.assertEqual(value(r, "cost/backward_macs"), table["(all)"]["backward_macs"])

    def test_everything_is_put_back(self):
        m = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Dropout(0.5), nn.Flatten(),
                          nn.Linear(4 * 36, 2))
        x, t = torch.randn(2, 3, 8, 8), torch.tensor([0, 1])
        optimizer = torch.optim.Adam(m.parameters())
        functional.cross_entropy(m(x), t).backward()
        optimizer.step()
        before = {k: v.clone() for k, v in m.state_dict().items()}
        gradients = [p.grad for p in m.parameters()]
        copies = [g.clone() for g in gradients]
        state = json.dumps(optimizer.state_dict(), default=lambda v: v.tolist())
        random = torch.get_rng_state()
        r = cost(m, x, optimizer=optimizer, loss=lambda y: functional.cross_entropy(y, t))
        for k, v in m.state_dict().items():
            self.assertTrue(torch.equal(v, before[k]), k)
        for p, g, c in zip(m.parameters(), gradients, copies):
            self.assertIs(p.grad, g)
            self.assertTrue(torch.equal(g, c))
        self.assertEqual(json.dumps(optimizer.state_dict(), default=lambda v: v.tolist()), state)
        self.assertTrue(torch.equal(torch.get_rng_state(), random))
        self.assertGreater(value(r, "cost/training_flops"),
                           value(r, "cost/flops") + value(r, "cost/backward_flops"))
        fresh = torch.optim.Adam(m.parameters())
        cost(m, x, optimizer=fresh)
        self.assertFalse(fresh.state)

    def test_optimizers(self):
        """An optimiser's count does not depend on the implementation of its loop over the parameters."""
        def flops(make, **options):
            m = nn.Sequential(nn.Linear(32, 16), nn.Linear(16, 8))
            r = cost(m, torch.randn(1, 32), optimizer=make(m.parameters(), **options))
            return value(r, "cost/optimizer_flops"), 32 * 16 + 16 + 16 * 8 + 8

        per = {}
        kinds = [("loop", {"foreach": False}), ("foreach", {"foreach": True})]
        for name, make, options in (("sgd", torch.optim.SGD, {"lr": 0.1}),
                                    ("momentum", torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
                                    ("adam", torch.optim.Adam, {}),
                                    ("adamw", torch.optim.AdamW, {})):
            for kind, more in kinds + ([("fused", {"fused": True})] if NEW else []):
                try:
                    all_, n = flops(make, **options, **more)
                except (TypeError, RuntimeError) as e:
                    self.assertEqual(kind, "fused", e)
                    continue
                per.setdefault(name, {})[kind] = all_ / n
        self.assertEqual(round(per["sgd"]["loop"]), 2)
        for name, kinds in per.items():
            for kind, flop in kinds.items():  # work once per step or tensor is small
                self.assertAlmostEqual(flop, kinds["loop"], delta=0.1, msg=f"{name} {kind} {per}")
        self.assertEqual(round(per["adam"]["loop"]), 13)
        self.assertEqual(round(per["adamw"]["loop"]), 14)

    def test_no_gradient_is_an_error(self):
        with self.assertRaises(deepclock.ArgumentError):
            cost(nn.ReLU(), torch.randn(3), backward=True)

    def test_checkpoints_are_recomputed(self):
        from torch.utils.checkpoint import checkpoint

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))

            def forward(self, x):
                return checkpoint(self.a, x, use_reentrant=False)

        r = cost(Net(), torch.randn(4, 8, requires_grad=True), backward=True)
        one = 4 * 64
        self.assertEqual(value(r, "cost/macs"), 2 * one)
        again = r.facts["cost/recomputed_flops"].value // (2 * one + 4 * 8)
        self.assertIn(again, (1, 2))  # PyTorch 2 stops early, at the last tensor needed
        self.assertEqual(value(r, "cost/backward_macs"), (4 + again) * one)


@unittest.skipIf(torchvision is None, "torchvision is not installed")
class Torchvision(Case):
    # MACs as torchvision's own weights publish them ("GFLOPS"), to the last digit
    MACS = {"resnet18": 1814073344, "mobilenet_v3_small": 56510400, "swin_t": 4490566656,
            "squeezenet1_0": 818924576}

    def network(self, name):
        return getattr(torchvision.models, name)(weights=None).eval()

    def test_published(self):
        for name, macs in self.MACS.items():
            m = self.network(name).to("meta")
            r = cost(m, torch.empty(1, 3, 224, 224, device="meta"))
            self.assertEqual(value(r, "cost/macs"), macs, name)
            self.assertEqual(value(r, "cost/params"), sum(p.numel() for p in m.parameters()), name)

    def test_onnx(self):
        """The exported ONNX graph has the same counts."""
        for name in ("resnet18", "mobilenet_v3_small"):
            m, x, path = self.network(name), torch.randn(1, 3, 64, 64), self.path(name + ".onnx")
            for p in m.parameters():  # the exporter deduplicates equal tensors
                nn.init.normal_(p)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                options = {"dynamo": False} if NEW else {}
                torch.onnx.export(m, x, path, training=torch.onnx.TrainingMode.PRESERVE,
                                  do_constant_folding=False, **options)
            graph, own = deepclock.cost(path), cost(m, x)
            for tag in ("cost/macs", "cost/params"):
                self.assertEqual(value(graph, tag), value(own, tag), (name, tag))
            self.assertAlmostEqual(value(graph, "cost/flops") / value(own, "cost/flops"), 1, delta=0.02)


@unittest.skipIf(FlopCounterMode is None, "torch before 2.1 has no flop_counter")
class FlopCounter(Case):
    def check(self, m, *inputs, backward=False):
        with FlopCounterMode(display=False) as counter:
            with torch.enable_grad() if backward else torch.no_grad():
                out = m(*inputs)
            if backward:
                out.backward(torch.ones_like(out))
        r = cost(m, *inputs, backward=backward)
        macs = value(r, "cost/macs") + (value(r, "cost/backward_macs") if backward else 0)
        self.assertEqual(counter.get_total_flops(), 2 * macs)

    def test_equal(self):
        self.check(Small(), torch.randn(2, 3, 16, 16), backward=True)
        self.check(nn.TransformerEncoderLayer(32, 4, 48, batch_first=True), torch.randn(2, 10, 32),
                   backward=True)
        self.check(nn.ConvTranspose2d(4, 8, 3, stride=2), torch.randn(2, 4, 9, 9), backward=True)


class Peers(Case):
    """as_: the conventions of other counters, counted by hand."""

    def net(self):
        return nn.Sequential(nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(),
                             nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)).eval()

    def test_equal(self):
        x = torch.randn(2, 3, 8, 8)
        out, products = 2 * 4 * 8 * 8, 2 * 4 * 8 * 8 * 27 + 2 * 4 * 5
        for name, expected in (("torchvision", products), ("fvcore", products + 2 * out + out),
                               ("thop", products + 4 * out + out + 2 * 4),
                               ("ptflops", products + out + 2 * 5 + 2 * out + 2 * out + 2 * out)):
            r = cost(self.net(), x, as_=name)
            self.assertEqual(value(r, "cost/peer"), expected, name)
            self.assertIn(f"{name} counts", " ".join(r.report().split()))

    def test_products(self):
        """thop counts a linear layer on 3-dimensional input, but no product of activations."""
        x = torch.randn(2, 3, 8)
        for bias in (False, True):
            self.assertEqual(value(cost(nn.Linear(8, 4, bias=bias), x, as_="thop"), "cost/peer"), 2 * 3 * 8 * 4)
        self.assertEqual(value(cost(lambda t: t @ t.transpose(1, 2), x, as_="thop"), "cost/peer"), 0)

    def test_unknown(self):
        """Complex numbers have no convention in thop: the count is absent, and the reason names the call."""
        x = torch.randn(3, dtype=torch.complex64)
        r = cost(lambda t: torch.exp(t).real, x, as_="thop")
        self.assertIsNone(r["cost/peer"].value)
        self.assertIn("what thop counts for aten.exp is not known", " ".join(r.report().split()))

    def test_wrong(self):
        with self.assertRaisesRegex(deepclock.ArgumentError, "not one of torchvision, fvcore, thop"):
            cost(self.net(), torch.randn(1, 3, 8, 8), as_="thopp")


class OperatorCost(Case):
    """deepclock._deepclock.operator_cost()."""

    def test_arguments(self):
        f = deepclock._deepclock.operator_cost
        self.assertEqual(f("Conv", [("float32", (1, 3, 8, 8)), ("float32", (4, 3, 3, 3))],
                           {"pads": (1, 1, 1, 1)})[:6], (6912, 13824, 1200, 1024, (1, 4, 8, 8), ""))
        self.assertEqual(f("com.microsoft.Gelu", [("float16", (2, 3))])[:4], (0, 30, 12, 12))
        for wrong, error in ((("Relo", []), deepclock.AbsentError),
                             (("Relu", [("float32", (-1,))]), deepclock.ArgumentError),
                             (("Relu", [("float31", (1,))]), deepclock.ArgumentError),
                             (("Relu", [("float32", (1 << 70,))]), OverflowError),
                             (("Relu", [["float32", (1,)]]), TypeError),
                             (("Relu", [("float32",)]), TypeError),
                             (("Relu", [("int64", (2,), (1, 2, 3))]), ValueError),
                             (("Relu", 1), TypeError),
                             (("Relu", [], {1: 2}), TypeError),
                             (("Relu", [], {"a": object()}), TypeError),
                             (("Relu", [], {}, -1), deepclock.ArgumentError)):
            with self.assertRaises(error, msg=wrong):
                f(*wrong)

    def test_references(self):
        f = deepclock._deepclock.operator_cost
        inputs = [("int64", (2,), (1, 2)), None, ("float32", (2, 300))]
        attributes = {"axes": (1, 2), "mode": "linear", "alpha": 0.5}

        def run(n):
            for _ in range(n):
                f("Resize", inputs, attributes)
                try:
                    f("Relu", [("float32", (1,)), ("float32", ("x",))])
                except TypeError:
                    pass

        run(100)
        before = sys.getallocatedblocks()
        run(1000)
        self.assertLess(abs(sys.getallocatedblocks() - before), 100)


class Rows(Case):
    """The table of aten calls compared with actual calls."""

    def test_types_exist(self):
        from deepclock.torch import _aten, _aten_fused, _operators
        for module in (_aten, _aten_fused, _operators):
            with open(module.__file__, encoding="utf-8") as f:
                text = f.read()
            names = set(re.findall(r'Operator\("([\w.]+)"', text))
            for table in re.findall(r'_table_of\("""(.*?)"""', text, re.DOTALL):
                for line in table.strip().splitlines():
                    names |= set(line.partition(":")[0].split())
            for name in names:
                deepclock._deepclock.operator_cost(name, [])

    def test_shapes(self):
        """If a call is one operator, the operator's rule infers the shape of the call's output."""
        from deepclock.torch import _price
        from torch.utils._python_dispatch import TorchDispatchMode
        checked = set()

        class Check(TorchDispatchMode):
            def __torch_dispatch__(self, func, types, args=(), kwargs=None):
                out = func(*args, **(kwargs or {}))
                if _price.is_view(func) or not isinstance(out, (torch.Tensor, tuple)):
                    return out
                made = _price.operators_of(func, args, kwargs or {}, out)
                first = out if isinstance(out, torch.Tensor) else out[0]
                if len(made) == 1 and made[0].type not in ("Identity", "ConstantOfShape"):
                    got = deepclock._deepclock.operator_cost(*made[0][:4])
                    if got[4] is not None and None not in got[4]:
                        name = func._schema.name
                        assert got[4] == tuple(first.shape), (name, made[0], got, first.shape)
                        checked.add(name.partition("::")[2].strip("_"))
                return out

        x, w = torch.randn(2, 6, 8, 8), torch.randn(4, 3, 3, 3)
        v, m = torch.randn(7), torch.randn(7, 5)
        with Check(), torch.no_grad():
            functional.conv2d(x, w, stride=2, padding=1, dilation=2, groups=2)
            functional.conv_transpose2d(x, torch.randn(6, 3, 3, 3), stride=2, padding=1,
                                        output_padding=1, groups=2)
            functional.conv1d(x[0], torch.randn(5, 8, 3))
            functional.max_pool2d(x, 3, 2, 1, ceil_mode=True)
            functional.avg_pool2d(x, 2)
            functional.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)
            functional.grid_sample(x, torch.randn(2, 5, 5, 2), align_corners=False)
            functional.layer_norm(x, (8, 8))
            functional.group_norm(x, 3)
            functional.gelu(x)
            functional.embedding(torch.tensor([[1, 2]]), m)
            torch.addmm(torch.randn(5), torch.randn(3, 7), m)
            v @ m, m.t() @ v, v @ v, torch.bmm(x[0], x[1])
            x.sum((1, 3)), x.mean(2, keepdim=True), x.amax(1), x.argmax(2), x.prod(1)
            x.logsumexp(1), x.cumsum(2), x.clamp(0, 1), x.norm(dim=1)
            x + v[0], x * x, x > 0, x[:, :1] / x, m.index_select(1, torch.tensor([1, 2]))
            functional.nll_loss(m, torch.arange(5).repeat(2)[:7] % 5)
        self.assertGreaterEqual(len(checked), 25, sorted(checked))


class SummaryTest(Case):
    def test_is_the_tree_of_print_with_costs(self):
        net = torch.nn.Sequential(torch.nn.Linear(100, 50), torch.nn.Sequential(torch.nn.Linear(50, 4)))
        record = deepclock.torch.cost(net, torch.ones(10, 100))
        macs, params = record.macs, record.params
        self.assertEqual((macs, params), (52000, 5254))
        self.assertEqual(record.summary().splitlines(), [
            "Sequential: 52.000K MACs, 5.254K params", "  (0): Linear: 50.000K MACs, 5.050K params",
            "  (1): Sequential: 2.000K MACs, 204 params", "    (0): Linear: 2.000K MACs, 204 params"])
        self.assertIn("52.0K MACs, 5.3K params", record.summary(digits=1))
        with self.assertRaises(deepclock.ArgumentError):
            record.summary(digits="3")
        self.assertIsNone(deepclock.bench(int, runs=2, warmup=1, no_history=True).macs)

    def test_the_tree_has_no_paths_of_files(self):
        report = deepclock.torch.cost(torch.nn.Linear(4, 4), torch.ones(1, 4)).report(tree="modules", width=60)
        self.assertIn("Linear", report)
        # An installer's directory is recognised by its name; "pip install --target" may have any name.
        installed = "-packages/" in torch.__file__
        self.assertEqual("linear.py" in report, not installed)


if __name__ == "__main__":
    main()
