# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.throughput: a module at many batch sizes; tensors as labels."""

import resource
import threading

from support import Case, deepclock, main, needs

torch = needs("torch", "PyTorch")

torch.set_num_threads(1)
QUICK = {"point_time": "10ms", "rounds": 2, "no_history": True}


class Grow(torch.nn.Module):
    """Each item takes 4 MiB while it is computed."""

    def forward(self, x):
        return x.repeat(1, 1 << 12).sum(1)


class Refuse(torch.nn.Module):
    def __init__(self, most, error):
        super().__init__()
        self.most, self.error = most, error

    def forward(self, x):
        if len(x) > self.most:
            raise self.error
        return x * 2


def resident():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * resource.getpagesize()


def points(record):
    return {row["batch"]: row for row in record.tables["throughput/points"]}


class ThroughputTest(Case):
    def test_record(self):
        m = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.ReLU())
        before = torch.get_num_threads()
        r = deepclock.torch.throughput(m, torch.randn(2, 8), batch=[1, 4], save=self.path("r.json"), **QUICK)
        self.assertTrue(m.training)
        self.assertEqual(torch.get_num_threads(), before)
        self.assertEqual(list(points(r)), [1, 4])
        self.assertIn(r["throughput/best_batch"].value, (1, 4))
        self.assertGreater(r["throughput/best"].lo, 0)
        self.assertEqual(len(r.series["throughput/by_batch"].values), 2)
        self.assertEqual(r.facts["subject/kind"].value, "PyTorch module")
        self.assertEqual(r.facts["subject/input/0"].value, "float32 1x8")
        self.assertIn("this process", r.facts["method/points"].value)
        self.assertEqual(r.facts["method/inputs"].value, "the 2 items that were given, repeated")
        for row in r.tables["throughput/points"]:
            self.assertGreater(row["memory"], 1 << 20)
            cost = deepclock.torch.cost(m, torch.randn(row["batch"], 8))["cost/flops"].value
            if row["flops"] is not None:  # PyTorch 1.13 cannot do everything without memory
                self.assertAlmostEqual(row["flops"] * row["batch"] / row["throughput"] / cost, 1, 6)
        self.assertEqual(deepclock.load(self.path("r.json")), r)
        self.assertIn("throughput", r.report("html"))

    def test_inputs(self):
        seen = []

        def f(x, scale, mask):
            seen.append((x[:, 0].tolist(), scale.item(), mask.shape[0]))
            return x * scale
        deepclock.torch.throughput(f, torch.tensor([[1.0], [2.0]]), torch.tensor(3.0),
                                   named={"mask": torch.ones(2, 2)}, batch="3", **QUICK)
        self.assertEqual(set(map(str, seen)), {str(([1.0, 2.0, 1.0], 3.0, 3))})
        shapes = set()
        r = deepclock.torch.throughput(lambda x: shapes.add(tuple(x.shape)), inputs=lambda n: {"x": torch.ones(n, 5)},
                                       batch="1,2", threads=[1, 2], **QUICK)
        self.assertEqual(shapes, {(1, 5), (2, 5)})
        self.assertEqual(r.tables["throughput/points"]["threads"], [1, 1, 2, 2])
        self.assertNotIn("engine/threads", r.facts)
        for wrong in ({}, {"inputs": 3}):
            with self.assertRaises(deepclock.ArgumentError):
                deepclock.torch.throughput(f, **wrong)
        with self.assertRaises(deepclock.ArgumentError):
            deepclock.torch.throughput(f, torch.ones(1), inputs=lambda n: torch.ones(n))
        with self.assertRaisesRegex(deepclock.UnsupportedError, "--streams is for models"):
            deepclock.torch.throughput(torch.relu, torch.ones(1), streams=2)

    def test_memory_is_a_border(self):
        """A batch whose tensors cannot be had ends the growth; the limits are as before."""
        limits = resource.getrlimit(resource.RLIMIT_DATA)
        r = deepclock.torch.throughput(Grow(), torch.randn(1, 256), memory=resident() + (256 << 20), batch=[1, 512], **QUICK)
        self.assertEqual(points(r)[512]["status"], "memory")
        self.assertEqual(r["throughput/best_batch"].value, 1)
        self.assertIn("point-memory", [n.code for n in r.notes])
        self.assertEqual(resource.getrlimit(resource.RLIMIT_DATA), limits)
        r = deepclock.torch.throughput(torch.relu, torch.randn(1, 4), memory="1MiB", **QUICK)
        self.assertIsNone(r["throughput/best"].value)
        self.assertIn("no-batch-fits", [n.code for n in r.notes])

    def test_errors(self):
        # An allocator's own error, as a device raises it.
        out = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
        for error, status in ((out("CUDA out of memory"), "memory"), (ValueError("too many"), "error")):
            r = deepclock.torch.throughput(Refuse(2, error), torch.randn(1, 4), **QUICK)
            self.assertEqual(points(r)[4]["status"], status)
            self.assertLessEqual(r["throughput/best_batch"].value, 2)
        with self.assertRaisesRegex(KeyError, "first"):
            deepclock.torch.throughput(Refuse(0, KeyError("first")), torch.randn(1, 4), **QUICK)
        # Ctrl-C keeps what was measured.
        r = deepclock.torch.throughput(Refuse(2, KeyboardInterrupt()), torch.randn(1, 4), **QUICK)
        self.assertTrue(r.incomplete)
        self.assertEqual(points(r)[1]["trials"], 1)


class LoadTest(Case):
    def test_streams(self):
        seen = set()

        class Look(torch.nn.Module):
            def forward(self, x):
                seen.add((threading.get_ident(), torch.is_grad_enabled(), self.training))
                return x * 2
        m = Look()
        r = deepclock.torch.load(m, torch.randn(3, 2), streams=2, requests=1000, slo="p50<=1h", save=self.path("r.json"),
                                 no_history=True)
        self.assertEqual({look[1:] for look in seen}, {(False, False)})
        self.assertGreaterEqual(len(seen), 2)
        self.assertTrue(m.training)
        self.assertEqual(r.verdict, "holds")
        self.assertEqual(r.facts["subject/kind"].value, "PyTorch module")
        self.assertEqual(r.facts["subject/items_per_run"].value, 3)
        self.assertEqual(deepclock.load(self.path("r.json")), r)
        r = deepclock.torch.load(m, torch.randn(3, 2), rate=2000, requests=500, slo="p50<=1ns", no_history=True)
        self.assertEqual(r.verdict, "broken")


class AccuracyTest(Case):
    def test_tensors(self):
        module = torch.nn.Linear(4, 3)
        x, y = torch.randn(20, 4), torch.arange(20) % 3
        scores = module(x)
        self.assertTrue(scores.requires_grad)
        want = (scores.argmax(1) == y).float().mean().item()
        for labels, predictions in ((y, scores), (list(y), scores.argmax(1)), (tuple(y.tolist()), list(scores.argmax(1)))):
            r = deepclock.accuracy(labels=labels, predictions=predictions, no_history=True)
            self.assertAlmostEqual(r["accuracy/overall"].value, want, 6)


if __name__ == "__main__":
    main()
