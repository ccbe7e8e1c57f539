# SPDX-License-Identifier: Apache-2.0
"""device= of functions, and accelerators in deepclock.torch and laps: on doubles of CUDA, XPU, MPS and another one, whose
queue is asynchronous (accelerator_double.py). No real accelerator is needed or used."""

import contextlib
import io
import itertools
import re
import subprocess
import sys
import time

from support import Case, deepclock, main, needs, short

torch = needs("torch", "PyTorch")

from accelerator_double import Accelerator  # noqa: E402
from deepclock import _accelerator, _timeit_script  # noqa: E402

WORK_S = 0.005
WORK_NS = WORK_S * 1e9
KINDS = ("cuda", "xpu", "mps", "privateuseone")
#: Those that PyTorch shows a program to have begun to use.
FOUND = KINDS if hasattr(torch, "accelerator") else KINDS[:3]


def codes(record):
    return [note.code for note in record.notes]


def worker(gpu, returns=True, work_s=WORK_S):
    """A function whose work is WORK_S; a call returns in a small part of that."""
    x = gpu.tensor(torch.ones(3))

    def f():
        gpu.launch(work_s)
        return x if returns else None
    return f


class DeviceTest(Case):
    def test_the_work_and_not_the_call(self):
        for kind in KINDS:
            with self.subTest(kind), Accelerator(kind) as gpu:
                work_ns = 4 * WORK_NS
                r = deepclock.bench(worker(gpu, work_s=4 * WORK_S), device=kind, **short(runs=10))
                self.assertGreaterEqual(r["latency/min"].value, work_ns)
                enqueue = r["device/enqueue"]
                self.assertLess(min(r.series["enqueue"].values), work_ns / 10)
                if enqueue.lo is not None:  # a busy machine may leave too few independent samples
                    self.assertTrue(enqueue.lo <= enqueue.value <= enqueue.hi)
                self.assertGreaterEqual(r["device/time"].value, 0.999 * work_ns)
                self.assertGreaterEqual(len(r.series["device"].values), 6)
                self.assertTrue(r.facts["device/barrier"].value.startswith(f"torch.{kind}.synchronize()"))
                self.assertIn("after the end of the call, ", r.facts["device/barrier_proof"].value)
                self.assertEqual(r.facts["engine/device"].value, "mps" if kind == "mps" else f"{kind}:0")
                self.assertEqual(r.facts["engine/library"].value, f"torch {torch.__version__}")
                self.assertIn("until the device has ended", r.facts["method/enclosed"].value)
                self.assertIn("no input", r["transfer/to_device"].absent)
                self.assertGreater(r["transfer/from_device"].value, 0)
                self.assertNotIn("device-not-awaited", codes(r))
                self.assertGreaterEqual(gpu.synchronized, 12)

    def test_a_number_and_a_device_object(self):
        with Accelerator("cuda", 1) as gpu:
            for device in ("cuda:1", "cuda", torch.device("cuda", 1)):
                r = deepclock.bench(worker(gpu), device=device, **short(runs=3))
                self.assertEqual(r.facts["engine/device"].value, "cuda:1")
                self.assertEqual(r.facts["device/name"].value, "a double")

    def test_synchronize_that_returns(self):
        """Its time would be that of the call; a copy of the result is used instead."""
        with Accelerator("xpu", synchronize_waits=False) as gpu:
            r = deepclock.bench(worker(gpu), device="xpu", **short(runs=10))
            self.assertGreaterEqual(r["latency/min"].value, WORK_NS)
            self.assertEqual(r.facts["device/barrier"].value,
                             "torch.xpu.synchronize() and a copy of a number of each result to the host")
            self.assertIn("barrier-returns", codes(r))

    def test_a_large_result(self):
        """Its copy takes twice as long as the work, and varies by more: no run ends with it."""
        with Accelerator("cuda", copy_s=WORK_S / 500) as gpu:
            result = gpu.tensor(torch.zeros(1000))

            def f():
                gpu.launch(WORK_S)
                return result
            r = deepclock.bench(f, device="cuda", **short(runs=20))
            self.assertLess(r["latency/min"].value, 3 * WORK_NS)
            self.assertGreaterEqual(r["transfer/from_device"].value, 2 * WORK_NS)

    def test_nothing_is_returned(self):
        """Then nothing is certain to wait, and the record does not claim it."""
        with Accelerator("cuda") as gpu:
            r = deepclock.bench(worker(gpu, returns=False), device="cuda", **short(runs=5))
            self.assertGreaterEqual(r["latency/min"].value, WORK_NS)
            self.assertEqual(r.facts["device/barrier"].value, "torch.cuda.synchronize()")
            self.assertIn("returns no tensor", r.facts["device/barrier_proof"].absent)
            self.assertIn("no output", r["transfer/from_device"].absent)
            self.assertGreaterEqual(r["device/time"].value, 0.999 * WORK_NS)

    def test_results_in_containers(self):
        with Accelerator("cuda") as gpu:
            f = worker(gpu)
            r = deepclock.bench(lambda: {"a": [(1, f())]}, device="cuda", **short(runs=3))
            self.assertIn("left of", r.facts["device/barrier_proof"].value)

    def test_without_warmup(self):
        with Accelerator("cuda") as gpu:
            r = deepclock.bench(worker(gpu), device="cuda", **short(runs=3, warmup=0))
            self.assertGreaterEqual(r["latency/min"].value, WORK_NS)
            self.assertIn("no warm-up", r.facts["device/barrier_proof"].absent)
            self.assertIn("no warm-up", r["device/time"].absent)

    def test_events(self):
        for options, why in (({"clock_rate": 1.3}, "the device's clock is wrong"),
                             ({"events": "elsewhere"}, "the work is not in the current stream"),
                             ({"events": None}, "'xpu'")):
            with self.subTest(why), Accelerator("xpu", **options) as gpu:
                r = deepclock.bench(worker(gpu), device="xpu", **short(runs=3))
                self.assertIsNone(r["device/time"].value)
                self.assertIn(why, r["device/time"].absent)
                self.assertGreaterEqual(r["latency/min"].value, WORK_NS)

    def test_events_elsewhere_on_a_busy_machine(self):
        """Where calls are delayed, the work is over before the second event is recorded, as it is between true events."""
        calls = itertools.count(1)
        with Accelerator("xpu", events="elsewhere") as gpu:
            f = worker(gpu)

            def delayed():
                if next(calls) % 7 == 0:
                    time.sleep(10 * WORK_S)
                return f()
            r = deepclock.bench(delayed, device="xpu", **short(runs=3))
            self.assertIsNone(r["device/time"].value)
            self.assertIn("the work is not in the current stream", r["device/time"].absent)

    def test_an_error_of_the_device_stays(self):
        """It appears in the call that waits, later than the call that caused it, and again in each after it."""
        for fail_at in (1, 5):
            with self.subTest(fail_at), Accelerator("cuda", fail_at=fail_at) as gpu:
                with self.assertRaisesRegex(RuntimeError, "illegal memory access"):
                    deepclock.bench(worker(gpu), device="cuda", **short(runs=5))

    def test_statement_and_arguments(self):
        with Accelerator("cuda") as gpu:
            r = deepclock.bench("f()", globals={"f": worker(gpu)}, device="cuda", runs=3, warmup=1, no_history=True)
            self.assertGreaterEqual(r["latency/min"].value, WORK_NS)
            r = deepclock.bench(gpu.launch, WORK_S, device="cuda", **short(runs=3))
            self.assertGreaterEqual(r["latency/min"].value, WORK_NS)

    def test_other_functions(self):
        with Accelerator("cuda") as gpu:
            f, g = worker(gpu), (lambda: gpu.launch(10 * WORK_S))
            r = deepclock.compare({"f": f, "g": g}, device="cuda", rounds=20, no_history=True)
            self.assertEqual(r.verdict, "slower")
            # Other programs delay the end of both waits.
            self.assertGreater(r.tables["compare/alternatives"]["ratio"][1], 1.5)
            self.assertLess(r.tables["compare/alternatives"]["ratio"][1], 11)
            r = deepclock.rank({"g": g, "f": f}, device="cuda", runs=6, warmup=1, no_history=True)
            self.assertGreaterEqual(min(r.tables["bench/ranking"]["time"]), WORK_NS)
            r = deepclock.bench_load(f, device="cuda", streams=2, time="200ms", no_history=True)
            self.assertGreaterEqual(r["latency/p50" if "latency/p50" in r else "latency/median"].value, WORK_NS)
            # The launch alone, which a busy machine delays too.
            r = deepclock.pitfalls(worker(gpu, work_s=4 * WORK_S), device="cuda", only="no-sync", time="200ms", no_history=True)
            self.assertLess(r["pitfalls/no-sync"].value, 0.5)

    def test_timeit(self):
        out = io.StringIO()
        with Accelerator("cuda") as gpu, contextlib.redirect_stdout(out):
            sys.modules["accelerator_double"].worker = worker(gpu)
            code = _timeit_script.main(["--device", "cuda", "-n", "2", "-r", "6", "-u", "msec", "-s",
                                        "from accelerator_double import worker", "worker()"])
        self.assertEqual(code, 0)
        best = re.match(r"2 loops, best of 6: (\S+) msec per loop\n", out.getvalue())
        self.assertGreaterEqual(float(best[1]), 0.99 * WORK_S * 1e3)

    def test_what_cannot_be(self):
        f = lambda: None  # noqa: E731
        for device, says in (("nothing", "nothing"), ("xpu:3", "finds no such device here")):
            with self.assertRaisesRegex(deepclock.ArgumentError, says):
                deepclock.bench(f, device=device, **short())
        with self.assertRaisesRegex(deepclock.ArgumentError, r"no torch\.fpga\.synchronize"):
            _accelerator.waiter(torch.device("fpga"))
        self.assertIsNone(_accelerator.waiter(torch.device("cpu")))
        self.assertNotIn("device/barrier", deepclock.bench(f, device="cpu", **short()).facts)

    def test_without_pytorch(self):
        done = subprocess.run([sys.executable, "-c", "import deepclock\n"
                               "try: deepclock.bench(lambda: 0, device='cuda')\n"
                               "except deepclock.ArgumentError as e: print(e)"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, "device='cuda': the devices of functions are those of PyTorch, which is not imported: "
                                      "import torch first\n")


class NoteTest(Case):
    """A function that leaves work on an accelerator, measured without device=."""

    def test_the_time_is_of_enqueueing(self):
        for kind in FOUND:
            with self.subTest(kind), Accelerator(kind) as gpu:
                r = deepclock.bench(worker(gpu, work_s=4 * WORK_S), **short())
                self.assertLess(r["latency/min"].value, WORK_NS)
                text = next(n.text for n in r.notes if n.code == "device-not-awaited")
                self.assertIn("the time is that of enqueueing work", text)
                self.assertIn(f'device="{kind}" waits', text)

    def test_not_where_nothing_is_left(self):
        # A call that is much longer than what one wait may differ by from the next.
        with Accelerator("cuda") as gpu:
            f = worker(gpu)
            for waits in (lambda: f().cpu(), lambda: sum(range(20000))):
                self.assertNotIn("device-not-awaited", codes(deepclock.bench(waits, **short(runs=5))))
        with Accelerator("cuda", initialized=False) as gpu:
            self.assertNotIn("device-not-awaited", codes(deepclock.bench(worker(gpu), **short())))
            self.assertEqual(gpu.synchronized, 0)

    def test_of_one_of_several(self):
        with Accelerator("cuda") as gpu:
            r = deepclock.compare({"a": lambda: sum(range(100)), "b": worker(gpu)}, rounds=6, no_history=True)
            self.assertIn("device-not-awaited", codes(r))

    def test_interrupted_after_the_measurement(self):
        """The calls that look for work that is left are no part of the record: Ctrl-C does not lose it."""
        calls = []

        def f():
            calls.append(1)
            if len(calls) > 20:
                raise KeyboardInterrupt
        with Accelerator("cuda"):
            r = deepclock.bench(f, runs=10, warmup=2, group=1, no_history=True)
            self.assertEqual((r["runs/count"].value, r.incomplete), (10, False))
            self.assertGreater(len(calls), 20)

    def test_an_error_that_nothing_waited_for(self):
        with Accelerator("cuda", fail_at=3) as gpu:
            r = deepclock.bench(worker(gpu), **short(runs=5))
            text = next(n.text for n in r.notes if n.code == "device-not-awaited")
            self.assertIn("illegal memory access", text)


class Later(torch.nn.Module):
    """A module on the double: its work is WORK_S."""

    def __init__(self, gpu, work_s=WORK_S):
        super().__init__()
        self.gpu, self.work_s = gpu, work_s
        self.weight = torch.nn.Parameter(gpu.tensor(torch.ones(4)), requires_grad=False)

    def forward(self, x):
        self.gpu.launch(self.work_s)
        return x


class TorchTest(Case):
    def test_bench(self):
        for kind in KINDS:
            with self.subTest(kind), Accelerator(kind) as gpu:
                r = deepclock.torch.bench(Later(gpu), torch.ones(2, 4), device=kind, transfers=True, **short(runs=5))
                self.assertGreaterEqual(r["latency/min"].value, WORK_NS)
                self.assertLess(min(r.series["enqueue"].values), WORK_NS / 2)
                self.assertGreaterEqual(r["device/time"].value, 0.999 * WORK_NS)
                self.assertEqual(r.facts["engine/name"].value, "torch")
                self.assertIn("left of", r.facts["device/barrier_proof"].value)
                for way in ("to_device", "from_device"):
                    self.assertGreater(r[f"transfer/{way}"].value, 0)
                    self.assertIn("bytes from pageable memory", r[f"transfer/{way}"].how)

    def test_the_others(self):
        with Accelerator("xpu") as gpu:
            m, x = Later(gpu), torch.ones(2, 4)
            r = deepclock.torch.load(m, x, device="xpu", streams=1, time="100ms", no_history=True)
            self.assertGreaterEqual(r["latency/median"].value, WORK_NS)
            r = deepclock.torch.throughput(m, x, device="xpu", batch=[1, 2], point_time="50ms", rounds=2, no_history=True)
            self.assertLess(r["throughput/best"].value, 2 / WORK_S)
            r = deepclock.torch.pitfalls(Later(gpu, 4 * WORK_S), x, device="xpu", only="no-sync", time="200ms", no_history=True)
            self.assertLess(r["pitfalls/no-sync"].value, 0.5)
            r = deepclock.torch.profile(m, x, device="xpu", runs=5, roofs=False)
            self.assertGreaterEqual(r["latency/mean"].value, WORK_NS)

    def test_another_device(self):
        net, x = torch.nn.Linear(2, 2), torch.ones(1, 2)
        t = deepclock.torch
        for call in (t.bench, t.load, t.throughput, t.pitfalls, t.profile):
            with self.assertRaisesRegex(deepclock.ArgumentError, "device='cuda:1': .* finds no such device here"):
                call(net, x, device="cuda:1")
            with self.assertRaisesRegex(deepclock.ArgumentError, "device='nothing'"):
                call(net, x, device="nothing")

    def test_steps_use_the_device_in_use(self):
        for kind in FOUND:
            with self.subTest(kind), Accelerator(kind) as gpu:
                with deepclock.torch.steps(live=False) as s:
                    for _ in s(range(8)):
                        with s.forward:
                            gpu.launch(WORK_S)
                self.assertTrue(s.record.facts["engine/device"].value.startswith(kind))
                self.assertGreaterEqual(s.record["steps/wall"].value, 0.9 * WORK_NS)


class LapTest(Case):
    def test_by_events(self):
        for kind in FOUND:
            with self.subTest(kind), Accelerator(kind) as gpu:
                with deepclock.lap("work", quiet=True) as lap:
                    gpu.launch(WORK_S)
                self.assertGreaterEqual(lap.device, 0.999 * WORK_S)
                self.assertGreaterEqual(lap.wall, WORK_S)

    def test_without_events_it_waits(self):
        with Accelerator("xpu", events=None) as gpu:
            with deepclock.lap("work", quiet=True) as lap:
                gpu.launch(WORK_S)
            self.assertIsNone(lap.device)
            self.assertGreaterEqual(lap.wall, WORK_S)

    def test_not_in_use(self):
        with Accelerator("cuda", initialized=False) as gpu:
            with deepclock.lap("work", quiet=True) as lap:
                gpu.launch(WORK_S)
            self.assertIsNone(lap.device)
            self.assertEqual(gpu.synchronized, 0)


if __name__ == "__main__":
    main()
