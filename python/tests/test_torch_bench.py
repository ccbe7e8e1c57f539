# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.bench: the module's state, devices, and its numbers compared with a manual loop."""

import ast
import collections
import datetime
import inspect
import itertools
import os
import time

from support import Case, deepclock, main, needs, short

torch = needs("torch", "PyTorch")

from deepclock.torch import _device  # noqa: E402


def network():
    torch.manual_seed(1)
    return torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.Dropout(0.5), torch.nn.ReLU(),
                               torch.nn.Linear(256, 64))


class Seen(torch.nn.Module):
    """Records the state in which it is called."""

    def __init__(self):
        super().__init__()
        self.inner = network()
        self.states = set()

    def forward(self, x, scale=1):
        self.states.add((self.training, self.inner[1].training, torch.is_grad_enabled(),
                         torch.get_num_threads()))
        return self.inner(x) * scale


class CompiledTest(Case):
    def setUp(self):
        if not hasattr(torch, "compile"):
            self.skipTest("this PyTorch compiles nothing")
        import torch._dynamo.utils as utils
        if not hasattr(utils, "get_compilation_metrics"):
            self.skipTest("PyTorch lists no compilations")

    def changing(self):
        torch._dynamo.reset()
        f = torch.compile(lambda x: (x * 2).sum(), dynamic=False, backend="eager")
        inputs = itertools.cycle([torch.zeros(n) for n in (3, 4, 5)])
        return lambda: f(next(inputs))

    def test_bench_counts_recompilations(self):
        r = deepclock.bench(self.changing(), **short())
        self.assertEqual((r.facts["compiled/times"].value, r.facts["compiled/again"].value), (3, 2))
        self.assertGreater(r.facts["compiled/time"].value, 0)
        note = next(n for n in r.notes if n.code == "recompiled")
        self.assertIn("recompiled twice", note.text)
        self.assertIn("<lambda> (test_torch_bench.py:", note.text)
        self.assertNotIn("compiled/times", deepclock.bench(lambda: None, **short()).facts)

    def test_torch_bench_of_one_shape(self):
        torch._dynamo.reset()
        m = torch.compile(torch.nn.Linear(4, 4), backend="eager")
        r = deepclock.torch.bench(m, torch.zeros(2, 4), **short())
        self.assertEqual(r.facts["compiled/again"].value, 0)
        self.assertNotIn("recompiled", [n.code for n in r.notes])

    def test_lap(self):
        call = self.changing()
        taken = []
        for _ in range(4):
            with deepclock.lap("step", quiet=True) as lap:
                call()
            taken.append((lap.get("compiled"), lap.get("recompiled")))
            if taken[-1][0]:
                self.assertIn(f"compiled 1 | recompiled {taken[-1][1]} | compile ", lap.line)
                self.assertLess(lap["compile_seconds"], lap["wall_seconds"])
        self.assertEqual(taken, [(1, 0), (1, 1), (1, 1), (None, None)])

    def test_backward_is_no_recompilation(self):
        torch._dynamo.reset()
        m = torch.compile(torch.nn.Linear(4, 4), backend="aot_eager", dynamic=False)
        with deepclock.lap("step", quiet=True) as lap:
            m(torch.zeros(2, 4)).sum().backward()
        self.assertEqual((lap["compiled"], lap["recompiled"]), (1, 0))

    def test_more_than_pytorch_keeps(self):
        torch._dynamo.reset()
        f = torch.compile(lambda x: x * 2, dynamic=False, backend="eager")
        with torch._dynamo.config.patch(recompile_limit=100):
            with deepclock.lap("step", quiet=True) as lap:
                for n in range(2, 72):
                    f(torch.zeros(n))
        self.assertEqual(lap["compiled"], 70)

    def test_steps_name_those_that_recompiled(self):
        torch._dynamo.reset()
        f = torch.compile(lambda x: x * 2, dynamic=False, backend="eager")
        with deepclock.torch.steps() as s:
            for x in s([torch.zeros(n) for n in (4, 4, 4, 4, 3)]):
                with s.forward:
                    f(x)
        text = next(n.text for n in s.record.notes if n.code == "recompiled")
        self.assertIn("torch.compile recompiled once in step 5 of 5: ", text)
        self.assertEqual(s.record.facts["compiled/times"].value, 2)


class StateTest(Case):
    def test_eval_no_grad_threads_and_back(self):
        m = Seen()
        m.inner[1].eval()  # one part in another mode than the rest
        before = torch.get_num_threads()
        r = deepclock.torch.bench(m, torch.zeros(4, 64), threads=1, **short())
        self.assertEqual(m.states, {(False, False, False, 1)})
        self.assertTrue(m.training and m.inner[0].training and not m.inner[1].training)
        self.assertTrue(torch.is_grad_enabled())
        self.assertEqual(torch.get_num_threads(), before)
        facts = r.facts
        self.assertEqual(facts["subject/mode"].value, "eval")
        self.assertEqual(facts["subject/gradients"].value, "no_grad")
        self.assertEqual(facts["engine/threads"].value, 1)
        self.assertEqual(facts["engine/version"].value, torch.__version__)
        self.assertEqual(facts["subject/input/0"].value, "float32 4x64")
        self.assertEqual(facts["subject/parameters"].value, sum(p.numel() for p in m.parameters()))
        self.assertEqual(r["runs/count"].value, 20)

    def test_state_comes_back_after_a_failure(self):
        m = Seen()
        with self.assertRaises(RuntimeError):
            deepclock.torch.bench(m, torch.zeros(4, 63), threads=1, **short())
        self.assertTrue(m.training and m.inner[1].training and torch.is_grad_enabled())

    def test_threads_is_a_number_above_0(self):
        m, x = Seen(), torch.zeros(4, 64)
        for measure in (deepclock.torch.bench, deepclock.torch.load, deepclock.torch.pitfalls, deepclock.torch.profile,
                        deepclock.torch.modes):
            for threads in (0, -1, "x", 1.5, True):
                with self.assertRaisesRegex(deepclock.ArgumentError, "threads is a whole number above 0, not "):
                    measure(m, x, threads=threads)
        with self.assertRaises(deepclock.ArgumentError):
            deepclock.torch.profile(m, x, threads=0, backward=True)
        self.assertTrue(m.training and m.inner[1].training and not m.states)

    def test_options(self):
        m = network()
        r = deepclock.torch.bench(m, torch.zeros(8, 64), statistic="p90", **short(save=self.path("r.json")))
        self.assertEqual(r.facts["plan/statistic"].value, "p90")
        self.assertEqual(r.facts["subject/items_per_run"].value, 8)
        kept = deepclock.load(self.path("r.json"))
        self.assertEqual((kept.id, kept.facts["engine/name"].value), (r.id, "torch"))
        self.assertEqual(len(deepclock.torch.bench(m, torch.zeros(8, 64), **short(db=self.path("none.db"))).id), len(r.id))
        self.assertFalse(os.path.exists(self.path("none.db")))
        with self.assertRaisesRegex(TypeError, "did you mean 'max_time'"):
            deepclock.torch.bench(m, torch.zeros(8, 64), maxtime=1)
        with self.assertRaisesRegex(deepclock.ArgumentError, "move it there"):
            deepclock.torch.bench(m, torch.zeros(8, 64), device="meta")
        self.assertEqual(deepclock.torch.bench(m, torch.zeros(8, 64), device="cpu", items=3,
                                               **short()).facts["subject/items_per_run"].value, 3)

    def test_page(self):
        """The page is of the whole record, with the title and the facts of PyTorch."""
        page = self.path("r.html")
        r = deepclock.torch.bench(network(), torch.zeros(8, 64), title="a network", **short(html=page))
        with open(page, encoding="utf-8") as f:
            self.assertEqual(f.read(), r.report("html"))
        r = deepclock.bench(lambda: None, title="nothing", **short(html=page))  # with torch there
        with open(page, encoding="utf-8") as f:
            self.assertEqual((f.read(), r.command), (r.report("html"), "nothing"))
        calls = []
        with self.assertRaises(deepclock.IoError):
            deepclock.torch.bench(lambda x: calls.append(1), torch.zeros(8), **short(save=self.path("none/r.json")))
        self.assertEqual(calls, [])

    def test_history(self):
        """The stored record equals the returned one, including the facts of PyTorch."""
        path = self.path("h.db")
        r = deepclock.torch.bench(network(), torch.zeros(8, 64), **short(db=path, no_history=False, commit="abc"))
        with deepclock.History(path) as history:
            kept = history.get(r.id)
            self.assertEqual([e.commit for e in history.list()], ["abc"])
        self.assertEqual(kept.to_json(), r.to_json())
        self.assertEqual(kept.facts["engine/name"].value, "torch")

    def test_named_and_nested_inputs(self):
        class Nested(torch.nn.Module):
            def forward(self, pair, *, table):
                return pair[0] + pair[1] + table["b"]
        x = torch.ones(5)
        r = deepclock.torch.bench(Nested(), (x, x), named={"table": {"b": x}}, **short())
        self.assertEqual(r.facts["subject/input/table"].value, "float32 5")
        self.assertEqual(deepclock.torch.bench(torch.relu, x, **short()).facts["subject/kind"].value,
                         "PyTorch function")

    def test_transfers_on_the_cpu(self):
        r = deepclock.torch.bench(network(), torch.zeros(1, 64), transfers=True, **short())
        self.assertIsNone(r["transfer/to_device"].value)
        self.assertIn("CPU", r["transfer/from_device"].absent)


class MappingTest(Case):
    def test_mappings_keep_their_type(self):
        class Output(collections.OrderedDict):
            """As an output of transformers, whose members are attributes too."""
            def __setitem__(self, key, value):
                super().__setitem__(key, value)
                setattr(self, key, value)

        class Encoding(collections.UserDict):
            """As an encoding of a tokenizer, which is not a dict."""

        class Reads(torch.nn.Module):
            def forward(self, output, encoding):
                return output.logits + encoding["ids"]
        output, x = Output(), torch.ones(3, 2)
        output["logits"] = x
        r = deepclock.torch.bench(Reads(), output, Encoding(ids=x), **short())
        self.assertEqual(r.facts["subject/input/1"].value, "float32 3x2")
        self.assertEqual(r.facts["subject/items_per_run"].value, 3)
        r = deepclock.torch.throughput(Reads(), output, Encoding(ids=x), batch=2, max_time="200ms", no_history=True)
        self.assertEqual(r.tables["throughput/points"]["batch"], [2])
        packed = torch.nn.utils.rnn.pack_sequence([torch.ones(2, 4), torch.ones(1, 4)])
        moved = _device.moved(packed, torch.device("meta"))
        self.assertEqual((moved.data.device.type, moved.batch_sizes.device.type), ("meta", "cpu"))


class ModeTest(Case):
    def test_a_module_that_has_only_the_mode_of_its_export(self):
        def refuse(*mode):
            raise NotImplementedError("Calling eval() is not supported yet.")

        m = network()
        m.train = m.eval = refuse
        r = deepclock.torch.bench(m, torch.zeros(8, 64), **short())
        self.assertEqual(r.facts["subject/mode"].value, "that of its export")
        if hasattr(torch, "export") and hasattr(torch.export, "export"):
            m = torch.export.export(network().eval(), (torch.zeros(8, 64),)).module()
            r = deepclock.torch.bench(m, torch.zeros(8, 64), **short())
            self.assertEqual(r.facts["subject/mode"].value, "that of its export")

    def test_a_module_that_merges_weights_to_evaluate(self):
        class Merging(torch.nn.Linear):
            merged = False

            def train(self, mode=True):
                self.merged = not mode
                return super().train(mode)
        m = torch.nn.Sequential(Merging(64, 64), torch.nn.BatchNorm1d(64))
        m[1].eval()
        deepclock.torch.bench(m, torch.zeros(8, 64), **short())
        self.assertEqual((m.training, m[0].training, m[0].merged, m[1].training), (True, True, False, False))

    def test_autocast(self):
        types = set()

        class Sees(torch.nn.Linear):
            def forward(self, x):
                y = super().forward(x)
                types.add(y.dtype)
                return y
        m, x = Sees(64, 64), torch.zeros(8, 64)
        with torch.autocast("cpu", torch.bfloat16):
            r = deepclock.torch.bench(m, x, **short())
            loaded = deepclock.torch.load(m, x, streams=2, requests=20, no_history=True)
            self.assertTrue(m(x).requires_grad)  # PyTorch keeps cast weights until the block ends
            macs = deepclock.torch.cost(m, x).macs
            self.assertEqual(deepclock.torch.cost(m, x, backward=True)["cost/backward_macs"].value, macs)
            self.assertTrue(m(x).requires_grad)
        self.assertEqual(types, {torch.bfloat16})
        self.assertEqual({one.facts["engine/autocast"].value for one in (r, loaded)}, {"bfloat16"})
        self.assertNotIn("engine/autocast", deepclock.torch.bench(m, x, **short()).facts)


class ArgumentTest(Case):
    def test_without_sense(self):
        t, nn, net, x = deepclock.torch, torch.nn, network(), torch.ones(1, 64)
        for call, kind, says in (
                (lambda: t.bench(nn.Linear, x), deepclock.ArgumentError, "Linear is a class: give a module of it"),
                (lambda: t.cost(nn.Linear, x), deepclock.ArgumentError, "Linear is a class"),
                (lambda: t.profile(nn.Linear, x), deepclock.ArgumentError, "Linear is a class"),
                (lambda: t.modes(nn.Linear, x), deepclock.ArgumentError, "Linear is a class"),
                (lambda: t.cost(x, x), deepclock.ArgumentError, "a module or a function is measured, not Tensor"),
                (lambda: t.profile(net, x, max_time=-1), deepclock.ArgumentError, "max_time is a time above 0"),
                (lambda: t.profile(net, x, runs=0), deepclock.ArgumentError, "runs is a whole number"),
                (lambda: t.profile(net, x, max_time="soon"), deepclock.ArgumentError, "'soon' is not a time"),
                (lambda: t.throughput(net, x, runs=3), TypeError, r"^throughput\(\) has no option 'runs'"),
                (lambda: t.profile(net, x, max_tme=1), TypeError, "has no option 'max_tme'; did you mean 'max_time'"),
                (lambda: t.cost(net, x, backwards=True), TypeError, "did you mean 'backward'"),
                (lambda: t.steps(net), deepclock.ArgumentError, "total is the number of steps, not"),
                (lambda: t.steps(warmup=0), deepclock.ArgumentError, "1 or more")):
            with self.assertRaisesRegex(kind, says):
                call()

    def test_each_saves_its_record(self):
        for call in (deepclock.torch.cost, deepclock.torch.profile):
            path = self.path(call.__name__ + ".json")
            record = call(network(), torch.ones(1, 64), save=path)
            self.assertEqual(deepclock.load(path).id, record.id)

    def test_a_device_that_is_not_there(self):
        t, net, x = deepclock.torch, network(), torch.ones(1, 64)
        missing = next(name for name in ("xpu", "mps", "cuda") if not getattr(getattr(torch, name, None), "is_available", lambda: False)())
        for call in (lambda device: t.devices(net, x, devices=["cpu", device]),
                     lambda device: t.bench(net, x, device=device), lambda device: t.profile(net, x, device=device),
                     lambda device: t.throughput(net, x, device=device), lambda device: t.load(net, x, device=device),
                     lambda device: t.pitfalls(net, x, device=device), lambda device: t.steps(2, device=device),
                     lambda device: deepclock.bench(len, "", device=device)):
            with self.assertRaisesRegex(deepclock.ArgumentError, f"device='{missing}': PyTorch .* finds no such device here"):
                call(missing)
            with self.assertRaisesRegex(deepclock.ArgumentError, "device='nosuch': "):
                call("nosuch")

    def test_types_are_those_of_the_functions(self):
        """deepclock/torch/__init__.pyi has every public function, with its arguments and defaults."""
        path = os.path.join(os.path.dirname(deepclock.__file__), "torch", "__init__.pyi")
        with open(path, encoding="utf-8") as f:
            nodes = {n.name: n for n in ast.parse(f.read()).body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
        for name in deepclock.torch.__all__:
            node, real = nodes.get(name), getattr(deepclock.torch, name)
            if node is None:
                continue  # any type
            if isinstance(node, ast.ClassDef):
                node = next(n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__")
                real = real.__init__
            told = [a.arg for a in node.args.args + node.args.kwonlyargs]
            kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
            self.assertEqual(told, [p.name for p in inspect.signature(real).parameters.values() if p.kind not in kinds], name)

    def test_times_as_everywhere(self):
        net, x = network(), torch.ones(1, 64)
        for limit in ("50ms", 0.05, datetime.timedelta(milliseconds=50)):
            self.assertIn("profile/operators", deepclock.torch.profile(net, x, max_time=limit, roofs=False).tables)


class HistoryTest(Case):
    def test_earlier_starts_of_a_function(self):
        """As without PyTorch."""
        path = self.path("h.db")
        records = [deepclock.bench(itertools.count, **short(db=path, no_history=False)) for _ in range(3)]
        self.assertEqual([r.facts["history/earlier"].value for r in records[1:]], [1, 2])
        self.assertNotIn("history/earlier", records[0].facts)


class LoopTest(Case):
    def test_beside_a_loop_by_hand(self):
        """Interleaved; the interval of the ratio contains 1. A busy machine widens it. There are many runs because
        the first ones are slower after any other work, such as the pause after a warm-up."""
        m, x = network().eval(), torch.randn(16, 64)
        ratios = []
        for _ in range(15):
            with torch.no_grad():
                times = []
                for _ in range(550):
                    begin = time.perf_counter_ns()
                    m(x)
                    times.append(time.perf_counter_ns() - begin)
            by_hand = sorted(times[50:])[250]
            ours = deepclock.torch.bench(m, x, **short(runs=500, warmup=50, group=1))["latency/median"].value
            ratios.append(ours / by_hand)
        e = deepclock.estimate(ratios)
        self.assertTrue(e.lo <= 1.03 and e.hi >= 0.97, (e, ratios))


class DeviceTest(Case):
    """A real one; test_torch_accelerator.py has doubles."""

    @staticmethod
    def accelerator():
        return next((name for name in ("cuda", "xpu") if hasattr(torch, name)
                     and getattr(torch, name).is_available()), None)

    def test_accelerator(self):
        name = self.accelerator()
        if name is None:
            self.skipTest("there is no accelerator")
        m = network().to(name)
        r = deepclock.torch.bench(m, torch.zeros(4, 64), transfers=True, **short())
        self.assertTrue(r.facts["engine/device"].value.startswith(name))
        self.assertGreater(r["transfer/to_device"].value, 0)


if __name__ == "__main__":
    main()
