# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.throughput: a module at many batch sizes; tensors as labels."""

import resource
import threading
import time

from support import Case, deepclock, main, needs

torch = needs("torch", "PyTorch")

torch.set_num_threads(1)
QUICK = {"point_time": "10ms", "rounds": 2, "no_history": True}


class Grow(torch.nn.Module):
    """Each item needs 4 MiB during the call."""

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
            if row["flops"] is not None:  # PyTorch 1.13 lacks some operators on meta tensors
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
        with self.assertRaisesRegex(deepclock.UnsupportedError, "--in-flight is for models"):
            deepclock.torch.throughput(torch.relu, torch.ones(1), in_flight=2)

    def test_memory_is_a_border(self):
        """A failed allocation ends the growth of the batch; the resource limits are restored."""
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
        sizes = [1, 2, 4]  # explicit, because on a busy machine a search may stop early
        # The allocator's error, as a device raises it.
        out = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
        for error, status in ((out("CUDA out of memory"), "memory"), (ValueError("too many"), "error")):
            r = deepclock.torch.throughput(Refuse(2, error), torch.randn(1, 4), batch=sizes, **QUICK)
            self.assertEqual(points(r)[4]["status"], status)
            self.assertLessEqual(r["throughput/best_batch"].value, 2)
        with self.assertRaisesRegex(KeyError, "first"):
            deepclock.torch.throughput(Refuse(0, KeyError("first")), torch.randn(1, 4), **QUICK)
        # Ctrl-C returns the partial record.
        r = deepclock.torch.throughput(Refuse(2, KeyboardInterrupt()), torch.randn(1, 4), batch=sizes, **QUICK)
        self.assertTrue(r.incomplete)
        self.assertEqual(points(r)[1]["trials"], 1)


class Slow(torch.nn.Module):
    """A call whose time in float64 falls with the batch size, and in float32 does not."""

    def forward(self, x):
        time.sleep(0.008 / len(x) if x.dtype is torch.float64 else 0.002)
        return x * 2


class DevicesTest(Case):
    def test_crossover(self):
        r = deepclock.torch.devices(Slow(), torch.randn(2, 3), dtype=["float32", "float64"], batch=[1, 16], rounds=12,
                                    trial="1ms", save=self.path("r.json"))
        over = list(r.tables["compare/over"])
        self.assertEqual([row["verdict"] for row in over], ["slower", "faster"])
        m = r["compare/crossover"]
        self.assertEqual((m.lo, m.hi), (1, 16))
        self.assertTrue(1 < m.value < 16)
        self.assertEqual(r.facts["result/answer"].value,
                         "compared with float32: float64 is faster from between batch=1 and 16")
        self.assertEqual([row["outputs"] for row in r.tables["devices/outputs"]], ["agree", "agree"])
        self.assertEqual(deepclock.load(self.path("r.json")), r)

    def test_settings_and_labels(self):
        torch.manual_seed(0)
        m, x = torch.nn.Conv2d(3, 4, 3), torch.randn(300, 3, 5, 5)
        net = torch.nn.Sequential(m, torch.nn.Flatten(), torch.nn.Linear(36, 3))
        labels, threads = net(x).argmax(1), torch.get_num_threads()
        r = deepclock.torch.devices(net, x, layout=["contiguous", "channels_last"], threads=[1, 2], labels=labels, rounds=6,
                                    trial="1us", no_history=True)
        self.assertEqual(torch.get_num_threads(), threads)
        self.assertTrue(net.training)
        names = ["1 thread, contiguous", "1 thread, channels_last", "2 threads, contiguous", "2 threads, channels_last"]
        self.assertEqual([row["setting"] for row in r.tables["devices/predictions"]], names)
        self.assertGreater(min(r.tables["devices/predictions"]["accuracy"]), 0.98)
        self.assertEqual(r.tables["devices/predictions"]["changed"][0], 0)
        self.assertEqual(len(r.tables["devices/classes"]), 12)
        self.assertEqual({row["outputs"] for row in r.tables["devices/outputs"]}, {"agree"})

    def test_sizes(self):
        from deepclock.torch import devices as _  # noqa: F401  (the function hides its module)
        import sys
        sizes = sys.modules["deepclock.torch.devices"]._sizes
        for given, found in ((None, []), (8, [8]), ("64", [64]), ("1, 8,64", [1, 8, 64]), ((1, 8), [1, 8]), (range(1, 3), [1, 2]),
                             (torch.tensor([1, 8]), [1, 8]), (torch.tensor(8), [8])):
            self.assertEqual(sizes(given), found)
        for wrong in (0, "", "x", 2.5, [1, 2.5], [0], [None], object()):
            with self.assertRaisesRegex(deepclock.ArgumentError, "batch="):
                sizes(wrong)

    def test_differences_and_mistakes(self):
        x = torch.full((2, 3), 1.0)
        r = deepclock.torch.devices(lambda x: x / 3, x, dtype=["float32", "float64"], rtol=1e-12, rounds=6,
                                    trial="1us", no_history=True)
        self.assertIn("outputs-differ", [n.code for n in r.notes])
        for wrong in ({}, {"threads": 1}, {"dtype": ["seven", "float32"]}, {"layout": ["x"]}, {"threads": [1, 2], "batch": [0]}):
            with self.assertRaises(deepclock.ArgumentError):
                deepclock.torch.devices(torch.relu, x, **wrong)

        def fail(batch):
            if batch > 1:
                raise KeyError("no such batch")
            return torch.ones(batch, 2)
        with self.assertRaises(KeyError):
            deepclock.torch.devices(torch.relu, inputs=fail, dtype=["float32", "float64"], batch=[2, 4], rounds=6)


class PitfallsTest(Case):
    def test_mistakes(self):
        class Modes(torch.nn.Module):
            def forward(self, x):
                time.sleep(0.004 if self.training else 0.002 if torch.is_grad_enabled() else 0.0005)
                return x * 2
        m = Modes()
        r = deepclock.torch.pitfalls(m, torch.randn(2, 3), only=["gradients-on", "training-mode", "no-sync", "few-for-tail"],
                                     time="300ms", save=self.path("r.json"), no_history=True)
        self.assertTrue(m.training)
        found = {row["mistake"]: row for row in r.tables["pitfalls/mistakes"]}
        self.assertEqual(set(found), {"gradients-on", "training-mode", "no-sync", "few-for-tail"})
        for key in ("gradients-on", "training-mode"):
            self.assertGreater(found[key]["factor"], 1.2)
            self.assertEqual(r["pitfalls/" + key].value, found[key]["factor"])
        self.assertEqual(found["no-sync"]["verdict"], "not measured")
        self.assertEqual(deepclock.load(self.path("r.json")), r)

    def test_a_module_that_cannot_be_copied(self):
        class Held(torch.nn.Linear):
            def __deepcopy__(self, memo):
                raise TypeError("it holds a file")

        r = deepclock.torch.pitfalls(Held(4, 4), torch.randn(1, 4), only="training-mode", time="10ms", no_history=True)
        row, = (row for row in r.tables["pitfalls/mistakes"] if row["mistake"] == "training-mode")
        self.assertEqual(row["verdict"], "not measured")
        self.assertIn("it holds a file", r["pitfalls/training-mode"].absent)

    def test_modules_without_inputs(self):
        for function, name in ((deepclock.pitfalls, "pitfalls"), (deepclock.throughput, "throughput"),
                               (deepclock.bench_load, "load"), (deepclock.bench_model, "bench")):
            with self.assertRaisesRegex(TypeError, rf"deepclock\.torch\.{name}\(module"):
                function(torch.nn.Linear(2, 2))


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
        # On a busy machine the effective sample size of 1000 requests may be too small.
        self.assertIn(r.verdict, ("met", "inconclusive"))
        self.assertEqual(r.facts["subject/kind"].value, "PyTorch module")
        self.assertEqual(r.facts["subject/items_per_run"].value, 3)
        self.assertEqual(deepclock.load(self.path("r.json")), r)
        r = deepclock.torch.load(m, torch.randn(3, 2), rate=2000, requests=500, slo="p50<=1ns", no_history=True)
        self.assertIn(r.verdict, ("violated", "inconclusive"))


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
