# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.profile(): times that add up, compared with counts and with planted times."""

import json
import signal
import time
import warnings

from support import Case, deepclock, main, needs

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    torch = needs("torch", "PyTorch")
    from torch import nn

SHORT = {"runs": 5, "roofs": False}


def profile(module, *inputs, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return deepclock.torch.profile(module, *inputs, **{**SHORT, **options})


def opened(record):
    return json.loads(record.to_json())


def rows(record, name):
    table = next(t for t in opened(record)["tables"] if t["name"] == name)
    keys = [c["key"] for c in table["columns"]]
    return {row[0]: dict(zip(keys, row)) for row in table["rows"]}


def fact(record, section, key):
    return next(f.get("value") for f in opened(record)["facts"] if (f["section"], f["key"]) == (section, key))


def nodes(record):
    """{path of names: [own calls, own time]}"""
    tree = next(t for t in opened(record)["trees"] if t["name"] == "modules")
    paths, found = [], {}
    for parent, frame, *weights in tree["nodes"]:
        paths.append((paths[parent] if parent >= 0 else ()) + (tree["frames"][frame]["name"],))
        of = dict(zip((c["key"] for c in tree["columns"]), weights))
        found[paths[-1]] = [of["calls"], of["self"]]
    return found


class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.norm = nn.BatchNorm2d(8)
        self.head = nn.Sequential(nn.ReLU(), nn.Flatten(), nn.Linear(8 * 6 * 6, 10))

    def forward(self, x):
        return self.head(self.norm(self.conv(x)))


class Sleeper(nn.Module):
    def forward(self, x):
        time.sleep(0.01)
        return x + 1


IMAGES = torch.ones(4, 3, 8, 8)


class Times(Case):
    def adds_up(self, record):
        wall = fact(record, "profile", "time_profiled") - fact(record, "profile", "time_of_deepclock")
        own = [w[1] for w in nodes(record).values()]
        self.assertGreaterEqual(min(own), 0)
        self.assertAlmostEqual(sum(own) / wall, 1, places=9)

    def test_own_times_of_the_tree_add_up_to_a_run(self):
        self.adds_up(profile(Small(), IMAGES))
        self.adds_up(profile(Small(), IMAGES, backward=True))
        self.adds_up(profile(lambda x: (x @ x).relu(), torch.ones(8, 8)))
        self.adds_up(profile(nn.TransformerEncoderLayer(16, 2, batch_first=True), torch.ones(2, 5, 16)))

    def test_modules_have_the_time_of_all_in_them(self):
        r = rows(profile(Small(), IMAGES), "profile/modules")
        self.assertEqual(list(r), ["(all)", "conv", "norm", "head", "head.0", "head.1", "head.2"])
        for above, below in (("(all)", ("conv", "norm", "head")), ("head", ("head.0", "head.1", "head.2"))):
            self.assertAlmostEqual(r[above]["forward"], r[above]["self"] + sum(r[b]["forward"] for b in below), delta=1)
        self.assertEqual({k: v["class"] for k, v in r.items()}["head.2"], "Linear")

    def test_time_in_a_modules_own_code_is_that_modules(self):
        record = profile(nn.Sequential(nn.ReLU(), Sleeper(), nn.ReLU()), torch.ones(4))
        r = rows(record, "profile/modules")
        self.assertGreater(r["1"]["self"], 9e6)
        self.assertEqual(max(r, key=lambda k: r[k]["self"]), "1")
        self.assertGreater(nodes(record)[("Sequential", "1 (Sleeper)")][1], 9e6)

    def test_interrupted_between_runs(self):
        """Ctrl-C in the third run or later returns the complete runs until then."""
        class Interrupts(nn.Module):
            calls = 0

            def forward(self, x):
                self.calls += 1
                if self.calls == 12:
                    signal.raise_signal(signal.SIGINT)
                return x + 1

        record = profile(Interrupts(), torch.zeros(3), runs=50)
        self.assertTrue(record.incomplete)
        self.assertIn("interrupted", [n.code for n in record.notes])
        self.assertIs(signal.getsignal(signal.SIGINT), signal.default_int_handler)

    def test_profiling_is_measured_beside_plain_runs(self):
        record = profile(nn.Sequential(Sleeper()), torch.ones(4), runs=10)
        self.assertGreater(record["latency/mean"].value, 1e7)
        self.assertGreater(record["profile/perturbation"].value, 0.5)
        self.assertEqual(len(record.series["latency"].values), 10)
        self.assertEqual(fact(record, "profile", "runs"), 10)


class Operators(Case):
    def test_have_parameters_and_the_order_of_the_graph(self):
        """Sums by module and the order of the modules equal those of cost()."""
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 64, 5), nn.Flatten(),
                            nn.Linear(64 * 2 * 2, 4))
        for options in ({}, {"backward": True}):
            ops = opened(profile(net, IMAGES, **options))["ops"]
            counted = opened(deepclock.torch.cost(net, IMAGES))["ops"]

            def params(rows_):
                sums = {}
                for op in rows_:
                    sums[op.get("scope", "")] = sums.get(op.get("scope", ""), 0) + op["params"]
                return {scope: n for scope, n in sums.items() if n}
            self.assertEqual(params(ops), params(counted))
            scopes = list(dict.fromkeys(op["scope"] for op in ops if "scope" in op))
            self.assertEqual(scopes, sorted(scopes))

    def test_of_all_have_a_rate(self):
        record = profile(Small(), IMAGES)
        self.assertAlmostEqual(record["profile/flop_rate"].value,
                               1e9 * record["cost/flops"].value / record["latency/mean"].value)
        self.assertEqual(record["cost/params"].value, sum(p.numel() for p in Small().parameters()))
        self.assertIn("FLOP/s", fact(record, "result", "answer"))
        self.assertIsNone(profile(nn.Identity(), IMAGES)["profile/flop_rate"].value)


class Shares(Case):
    def test_recording_costs_more_for_lists(self):
        """A call with lists costs more to record than one on a number."""
        from deepclock.torch._profile_timer import overhead_of
        overhead = overhead_of(None)
        self.assertGreater(overhead.list, 0)
        self.assertAlmostEqual(overhead.of(4), overhead.call + 4 * overhead.list)

    def test_are_of_the_faster_half_of_the_runs(self):
        from deepclock.torch._profile_report import _chosen, _merged
        self.assertEqual(_chosen([5, 1, 9, 2, 3], True), [1, 3, 4])
        self.assertEqual(_chosen([5, 1, 9, 2, 3], False), [1, 3, 4, 0, 2])  # an optimizer may run in some steps
        runs = [{"a": [2, 10], "b": [1, 4]}, {"a": [2, 50]}]
        self.assertEqual(_merged(runs), {"a": (2, 30), "b": (0.5, 2)})

    def test_are_of_the_plain_run(self):
        """100 ns in calls and 900 ns between them with the profiler correspond to 40 and 260 ns without it."""
        class Row:
            def __init__(self, calls, ns):
                self.ns, self.excess = ns, 10 * calls

        class Module:
            between = 900

        from deepclock.torch._profile_report import Plain
        rows_ = [Row(1, 60), Row(5, 40)]
        plain = Plain(300, rows_, {None: Module()})
        self.assertAlmostEqual(plain.share(rows_[:1]), 50 / 300)
        self.assertAlmostEqual(plain.share(rows_[1:]), 0)
        self.assertAlmostEqual(plain.share(rows_, 900), 1)
        longer = Plain(25, rows_, {None: Module()})  # the calls alone took longer than a plain run
        self.assertAlmostEqual(longer.share(rows_[:1]), 1)

    def test_add_up_and_agree_with_the_headline(self):
        for options in ({}, {"backward": True}):
            record = profile(Small(), IMAGES, **options)
            table = record.tables["profile/modules"]
            self.assertLessEqual(table["share"][0], 1 + 1e-9)
            operators = record.tables["profile/operators"]
            self.assertLessEqual(sum(operators["share"]), 1 + 1e-9)
            self.assertEqual(operators["share"], sorted(operators["share"], reverse=True))
            self.assertIn(f"{operators[0]['operator']} takes {100 * operators[0]['share']:.0f} % of", fact(record, "result", "answer"))
            perturbation = record["profile/perturbation"].value
            answer = fact(record, "result", "answer")
            self.assertIn(f"profiling makes it {perturbation:.2f} times as long", answer)
            self.assertEqual("too long" in answer, perturbation > 1.5)

    def test_time_limits(self):
        layer, x = nn.Linear(4, 4), torch.ones(2, 4)
        self.assertGreater(profile(layer, x, runs=None, max_time="0.1s")["latency/mean"].value, 0)
        for wrong in (-1, 0, "4 apples", True, None):
            with self.assertRaises(deepclock.ArgumentError):
                profile(layer, x, max_time=wrong)


class Loops(Case):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.net = Small()
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.01)
        self.x = torch.randn(2, 3, 8, 8)
        self.calls = torch.nn.Module.__call__, torch.autograd.backward
        self.patched = []

    def train(self):
        self.patched.append((torch.nn.Module.__call__, torch.autograd.backward) != self.calls)
        self.net(self.x).sum().backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def profiling(self, **plan):
        return deepclock.torch.profiling(self.net, schedule=deepclock.torch.schedule(**plan),
                                         optimizer=self.optimizer, roofs=False)

    def test_active_steps_have_what_cost_counts(self):
        with self.profiling(wait=2, warmup=1, active=2, repeat=2) as p:
            for _ in range(13):
                self.train()
                p.step()
        self.assertEqual(self.patched, [n % 5 >= 2 and n < 10 for n in range(13)])
        cost = deepclock.torch.cost(self.net, self.x, backward=True)
        self.assertEqual(p.record["cost/macs"].value, cost["cost/macs"].value + cost["cost/backward_macs"].value)
        self.assertEqual({k: fact(p.record, "plan", k) for k in p.schedule._fields}, p.schedule._asdict())
        self.assertEqual([len(p.record.series[s].values) for s in ("latency", "profile/latency")], [5, 4])
        self.assertEqual(fact(p.record, "subject", "input/0"), "float32 2x3x8x8")
        self.assertTrue(any(name.startswith("optimizer: aten.") for name in rows(p.record, "profile/operators")))
        self.assertGreater(rows(p.record, "profile/modules")["conv"]["backward"], 0)
        tree = nodes(p.record)
        whole = fact(p.record, "profile", "time_profiled") - fact(p.record, "profile", "time_of_deepclock")
        self.assertAlmostEqual(sum(ns for _, ns in tree.values()), whole, delta=0.001 * whole)

    def test_an_exception_leaves_the_complete_steps(self):
        with self.assertRaises(KeyError), self.profiling(wait=2, warmup=0, active=3) as p:
            for n in range(5):
                self.train()
                if n == 3:
                    raise KeyError(n)
                p.step()
        self.assertTrue(p.record.incomplete)
        self.assertEqual(fact(p.record, "profile", "runs"), 1)
        self.assertIn("no warm-up step", p.record["cost/macs"].absent)
        self.assertEqual((torch.nn.Module.__call__, torch.autograd.backward), self.calls)

    def test_a_step_after_the_block_is_refused(self):
        with deepclock.torch.profiling(schedule=deepclock.torch.schedule(wait=1, active=1, repeat=0)) as p:
            for _ in range(4):
                torch.ones(3).sum()
                p.step()
        with self.assertRaisesRegex(RuntimeError, "after the end"):
            p.step()
        self.assertEqual(torch.utils._python_dispatch._len_torch_dispatch_stack() if hasattr(
            torch.utils._python_dispatch, "_len_torch_dispatch_stack") else 0, 0)

    def test_a_block_without_an_active_step_says_which_would_be(self):
        with self.assertRaisesRegex(deepclock.ArgumentError, "first active step is number 4"), self.profiling() as p:
            p.step()
        with self.assertRaisesRegex(deepclock.ArgumentError, "wait=0"):
            deepclock.torch.schedule(wait=0)

    def test_callback_of_trainers(self):
        """Simulates the trainers' sequence of calls, without the trainers."""
        plan = deepclock.torch.schedule(wait=1, warmup=1, active=1)
        hf, lightning = (deepclock.callbacks.Profile(schedule=plan, roofs=False) for _ in range(2))
        hf.on_train_begin(object(), object(), object(), model=self.net, optimizer=self.optimizer)
        for _ in range(4):
            self.train()
            hf.on_step_end(object(), object(), object(), model=self.net)
        hf.on_train_end(object(), object(), object())
        self.assertIn("conv", rows(hf.record, "profile/modules"))
        lightning.setup(object(), self.net, stage="fit")
        lightning.on_train_start(object(), self.net)
        for n in range(3):
            self.train()
            lightning.on_train_batch_end(object(), self.net, None, None, n)
        lightning.on_exception(object(), self.net, KeyError())
        self.assertTrue(lightning.record.incomplete)


class Counts(Case):
    def test_products_are_those_of_cost(self):
        for options in ({}, {"backward": True}):
            with self.subTest(**options):
                model = Small()
                mine = profile(model, IMAGES, **options)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    theirs = deepclock.torch.cost(model.eval(), IMAGES, **options)
                both = theirs["cost/macs"].value + (theirs["cost/backward_macs"].value if options else 0)
                self.assertEqual(mine["cost/macs"].value, both)
                of = rows(theirs, "cost/modules")
                for path, row in rows(mine, "profile/modules").items():
                    self.assertEqual(row["macs"], of[path]["macs"] + (of[path]["backward_macs"] if options else 0), path)

    def test_calls_are_of_one_run(self):
        r = rows(profile(Small(), IMAGES, backward=True), "profile/operators")
        self.assertEqual(r["aten.addmm"]["calls"], 1)
        self.assertEqual(r["backward: aten.mm"]["calls"], 2)

    def test_backward_calls_are_of_the_module_that_made_the_nodes(self):
        record = profile(Small(), IMAGES, backward=True)
        self.assertIn(("Small", "head (Sequential)", "2 (Linear)", "backward: aten.mm"), nodes(record))
        self.assertIn(("Small", "conv (Conv2d)", "backward: aten.convolution_backward"), nodes(record))
        r = rows(record, "profile/modules")
        self.assertGreater(r["conv"]["backward"], 0)
        self.assertGreater(r["(all)"]["backward"], r["conv"]["backward"])

    def test_allocated_bytes_are_those_of_new_tensors(self):
        r = rows(profile(Small(), IMAGES), "profile/modules")
        self.assertEqual(r["conv"]["allocated"], 4 * 8 * 6 * 6 * 4)
        self.assertEqual(r["head.1"]["allocated"], 0)  # a view
        self.assertEqual(r["head.2"]["allocated"], 4 * 10 * 4)

    def test_operators_are_those_of_every_report(self):
        ops = opened(profile(Small(), IMAGES))["ops"]
        linear = next(o for o in ops if o["name"] == "head.2.aten.addmm")
        self.assertEqual((linear["scope"], linear["type"], linear["macs"]), ("head/2", "Gemm", 4 * 288 * 10))
        self.assertGreater(linear["time"], 0)
        self.assertTrue(linear["class"].endswith(".Linear"))


class Memory(Case):
    """Three layers on 50 items: 40000, 40000 and 2000 bytes."""

    def model(self):
        return nn.Sequential(nn.Linear(100, 200), nn.ReLU(), nn.Linear(200, 10)), torch.ones(50, 100)

    def rows(self, **options):
        model, x = self.model()
        record = profile(model, x, **options)
        return record, rows(record, "profile/modules")

    def test_without_gradients_only_neighbours_are_held(self):
        record, r = self.rows()
        self.assertEqual(record["memory/activation_peak"].value, 80000)
        self.assertEqual(record["memory/activations"].value, 2000)
        self.assertEqual([r[k]["peak"] for k in ("(all)", "0", "1", "2")], [80000, 40000, 40000, 2000])
        self.assertEqual([r[k]["at_peak"] for k in ("(all)", "0", "1", "2")], [80000, 40000, 40000, 0])
        self.assertEqual([r[k]["stays"] for k in ("(all)", "0", "1", "2")], [2000, 0, 0, 2000])
        ops = rows(record, "profile/operators")
        self.assertEqual((ops["aten.relu"]["at_peak"], ops["aten.addmm"]["stays"]), (40000, 2000))

    def test_activations_that_the_backward_pass_needs(self):
        record, r = self.rows(backward=True)
        self.assertEqual(record["memory/activations"].value, 42000)
        self.assertEqual([r[k]["stays"] for k in ("(all)", "0", "1", "2")], [42000, 0, 40000, 2000])
        # Its gradients: of two weights and two biases, and of the activations.
        self.assertGreaterEqual(record["memory/activation_peak"].value, 42000 + 40000 + 8000)
        total = sum(o["at_peak"] for o in rows(record, "profile/operators").values())
        self.assertEqual(total, record["memory/activation_peak"].value)

    def test_what_a_module_takes_only_meanwhile(self):
        class Wide(nn.Module):
            def forward(self, x):
                return torch.ones(1000, 1000).sum() + x

        record = profile(nn.Sequential(nn.Identity(), Wide(), nn.ReLU()), torch.ones(4))
        r = rows(record, "profile/modules")
        self.assertEqual(r["2"]["peak"], 16)
        for path in ("1", "(all)"):
            self.assertGreaterEqual(r[path]["peak"], 4000000 + 4)
            self.assertLess(r[path]["peak"], 4000000 + 100)
        self.assertEqual(r["1"]["stays"], 0)

    def test_under_another_profiler_it_is_absent(self):
        model, x = self.model()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as theirs:
            record = profile(model, x)
        self.assertIn("aten::addmm", [e.key for e in theirs.key_averages()])
        self.assertIsNone(record["memory/activation_peak"].value)
        self.assertIn("profiler", record["memory/activation_peak"].absent)
        self.assertGreater(record["latency/mean"].value, 0)


class ProfilerFile(Case):
    """A file of torch.profiler, compared with the profiler's own sums."""

    def test_memory(self):
        model, x = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2)), torch.randn(2, 3, 8, 8)
        model(x).sum().backward()
        with warnings.catch_warnings(), torch.profiler.profile(
                activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True) as p:
            warnings.simplefilter("ignore")
            for _ in range(2):
                model(x).square().mean().backward()
        p.export_chrome_trace(self.path("trace.json"))
        r = deepclock.load(self.path("trace.json"))
        if r.facts["trace/allocations"].value is None:  # Debian's PyTorch 1.13 has no Kineto
            self.assertIn("profile_memory=True", r.facts["trace/allocations"].absent)
            with self.assertRaisesRegex(deepclock.AbsentError, "profile_memory=True"):
                r.report(sort="memory")
            return
        mine = {row["name"]: row for row in r.tables["operators"]}
        want = {e.key: e for e in p.key_averages() if e.key in mine}
        self.assertEqual(set(want), set(mine))
        self.assertGreater(len(want), 20)
        self.assertEqual({k: (e.cpu_memory_usage, e.self_cpu_memory_usage) for k, e in want.items()},
                         {k: (row["memory"], row["self_memory"]) for k, row in mine.items()})
        for word, key in (("memory", "memory"), ("cpu_memory_usage", "memory"), ("self_cpu_memory_usage", "self_memory")):
            shown = deepclock.parse(r.report("json", sort=word, top=5)).tables["operators"]
            self.assertEqual(shown[key], sorted((row[key] for row in mine.values()), reverse=True)[:5])
        self.assertIn("aten::empty", r.report(sort="memory"))


class Roofs(Case):
    def machine(self):
        from deepclock._record import Record
        b = Record("test")
        for tag, value, unit in (("peak/fp32/1", 1e11, "FLOP/s"), ("bandwidth/l1_read/1", 4e11, "B/s"),
                                 ("bandwidth/dram_read/1", 1e10, "B/s"), ("bandwidth/dram_copy/1", 2e10, "B/s")):
            b.metric(tag, value, unit, "made up")
        b.fact("machine", "cache_l1d", 1000, "B")
        return b.finish()

    def test_the_least_time_is_that_of_the_slower_limit(self):
        def roof(*args):
            of = deepclock.roof(self.machine(), *args, threads=1)
            return of.attainable, of.least_ns, of.bound
        self.assertEqual(roof(1e6, 1000, "float32"), (1e11, 1e4, "compute"))
        self.assertEqual(roof(1e6, 2e6), (1e10, 1e5, "memory"))
        self.assertEqual(roof(None, 1000), (None, None, None))
        self.assertEqual(roof(0, 1000), (None, 2.5, "memory"))
        # A type without a measured peak uses the peak of float32, in deepclock.profile() too.
        for dtype in ("float64", "int64", "bfloat16", "no such type", None):
            self.assertEqual(roof(1e6, 1000, dtype), (1e11, 1e4, "compute"))
        self.assertEqual(deepclock.roof(self.machine(), 1e6, 1000), (None,) * 6)  # of all threads: not measured
        for wrong in ((None, 1, 1), (self.machine(), "1", 1), (self.machine(), 1, None)):
            self.assertRaises(TypeError, deepclock.roof, *wrong)

    def test_a_record_of_the_machine_gives_shares(self):
        record = profile(nn.Linear(64, 64), torch.ones(64, 64), threads=1, roofs=self.machine())
        row = rows(record, "profile/modules")["(all)"]
        self.assertAlmostEqual(row["roof"], record["profile/attainable"].value / next(
            o["time"] for o in opened(record)["ops"] if o["macs"]), places=6)
        self.assertIsNone(profile(nn.Linear(4, 4), torch.ones(4))["profile/attainable"].value)


class State(Case):
    def test_everything_is_afterwards_as_before(self):
        model = Small().train()
        model.norm.eval()
        model.conv.weight.grad = gradient = torch.ones_like(model.conv.weight)
        call = nn.Module.__call__
        mean = model.norm.running_mean.clone()
        for options in ({}, {"backward": True}, {"loss": lambda y: y.square().mean(), "threads": 1}):
            threads = torch.get_num_threads()
            random = torch.get_rng_state()
            profile(model, IMAGES, **options)
            self.assertTrue(model.training and not model.norm.training)
            self.assertIs(model.conv.weight.grad, gradient)
            self.assertIsNone(model.head[2].weight.grad)
            self.assertTrue(torch.equal(model.norm.running_mean, mean))
            self.assertTrue(torch.equal(torch.get_rng_state(), random))
            self.assertEqual(torch.get_num_threads(), threads)
            self.assertIs(nn.Module.__call__, call)
            self.assertFalse(model._forward_hooks or model._forward_pre_hooks)

    def test_what_the_module_raises_is_raised(self):
        class Broken(nn.Module):
            def forward(self, x):
                raise OSError("planted")
        call = nn.Module.__call__
        with self.assertRaisesRegex(OSError, "planted"):
            profile(nn.Sequential(Broken()), torch.ones(1))
        self.assertIs(nn.Module.__call__, call)
        with self.assertRaises(deepclock.ArgumentError):
            profile(nn.ReLU(), torch.ones(1), backward=True)
        with self.assertRaises(deepclock.ArgumentError):
            profile(nn.ReLU(), torch.ones(1), runs=0)

    def test_checkpoints_run_again(self):
        from torch.utils.checkpoint import checkpoint

        class Again(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 8))

            def forward(self, x):
                return checkpoint(self.inner, x, use_reentrant=False)
        record = profile(Again(), torch.ones(4, 8), backward=True)
        r = rows(record, "profile/modules")
        self.assertGreaterEqual(r["inner"]["calls"], 2)
        self.assertEqual(r["inner"]["stays"], 4 * 8 * 4)  # its output, and no inner activation
        self.assertGreater(record["memory/activation_peak"].value, r["inner"]["stays"])

    def test_a_module_that_calls_itself_again(self):
        class Twice(nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = nn.Linear(4, 4)

            def forward(self, x):
                return self.inner(self.inner(x))
        r = rows(profile(Twice(), torch.ones(2, 4), backward=True), "profile/modules")
        self.assertEqual(r["inner"]["calls"], 2)
        self.assertEqual(r["inner"]["macs"], 2 * 2 * 16 + 3 * 2 * 16)


if __name__ == "__main__":
    main()
