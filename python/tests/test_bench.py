# SPDX-License-Identifier: Apache-2.0
"""Measuring functions, models and programs, and the options of all of them."""

import datetime
import functools
import itertools
import os
import signal
import subprocess
import sys
import threading
import time
import warnings

from support import Case, deepclock, main, short, work


class MaxTimeWithRuns(Case):
    """The limit that is reached first ends the measurement."""

    def test_first_of_the_two(self):
        long = deepclock.bench(time.sleep, 0.002, runs=1000000, max_time="200ms", warmup=0, no_history=True)
        self.assertTrue(5 < long["runs/count"].value < 1000)
        short = deepclock.bench(time.sleep, 0.002, runs=5, max_time="60s", warmup=0, no_history=True)
        self.assertEqual(short["runs/count"].value, 5)


class FunctionTest(Case):
    def test_arguments_and_count(self):
        calls = []

        def f(*args):
            calls.append(args)

        r = deepclock.bench(f, 1, "two", **short(runs=10, group=1))
        self.assertEqual(set(calls), {(1, "two")})
        self.assertEqual(r["runs/count"].value, 10)
        self.assertEqual(len(calls), 10 + r["runs/warmup"].value)
        self.assertTrue(r.facts["subject/name"].value.endswith("f"))

    def test_a_lambda_is_named_by_its_place(self):
        r = deepclock.bench(lambda: None, **short())
        line = sys._getframe().f_lineno - 1
        self.assertEqual(r.facts["subject/name"].value, f"lambda (test_bench.py:{line})")

    def test_the_first_call_of_a_jit_is_apart(self):
        def jit(f):
            compiled = []

            def g(*args):
                if not compiled:
                    time.sleep(0.05)
                    compiled.append(True)
                return f(*args)
            return g

        for r in (deepclock.bench(jit(sum), (1, 2), **short()),
                  deepclock.bench("g(x)", setup="g = jit(sum); x = (1, 2)", globals={"jit": jit}, **short())):
            self.assertGreaterEqual(r["time/first_run"].value, 50e6)
            self.assertLess(r["latency/median"].value, r["time/first_run"].value)

    def test_repeated_compilations_are_noted(self):
        class Function:
            """Compiles for each new shape, and counts, as tf.function does."""
            __name__ = "step"

            def __init__(self):
                self.shapes = set()

            def experimental_get_tracing_count(self):
                return len(self.shapes)

            def __call__(self, shape):
                self.shapes.add(shape)

        for call in (lambda step, n: lambda: step(next(n)), lambda step, n: functools.partial(lambda f: f(next(n)), step)):
            r = deepclock.bench(call(Function(), itertools.cycle((1, 2, 3))), **short(runs=10, group=1))
            self.assertEqual((r.facts["compiled/times"].value, r.facts["compiled/again"].value), (3, 2))
            self.assertIn("TensorFlow compiled step again twice", next(n.text for n in r.notes if n.code == "recompiled"))
        step = Function()
        r = deepclock.bench(step, 1, **short(runs=10, group=1))
        self.assertEqual((r.facts["compiled/times"].value, r.facts["compiled/again"].value), (1, 0))
        r = deepclock.bench(step, 1, **short(runs=10, group=1))
        self.assertNotIn("recompiled", [n.code for n in r.notes])
        self.assertNotIn("compiled/times", r.facts)

    def test_waiting_for_a_processor_is_apart(self):
        def spin():
            end = time.thread_time() + 0.015
            while time.thread_time() < end:
                pass

        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
        try:
            r = deepclock.bench(spin, **short(runs=40, group=1))
        finally:
            other.kill()
            other.wait()
            os.sched_setaffinity(0, before)
        less = r["latency/less_run_delay"]
        if less.absent and "the kernel does not count" in less.absent:
            self.skipTest(less.absent)
        # A spinning run takes its own 15 ms, however long it waits.
        self.assertTrue(14.9e6 < less.value < 25e6, less)
        self.assertGreater(r["latency/mean"].value, 1.2 * less.value)
        self.assertEqual(r.facts["samples/undisturbed_of"].value, 40)

    def test_no_arguments(self):
        self.assertEqual(deepclock.bench(work, **short())["runs/count"].value, 20)

    def test_exception_comes_out(self):
        n = 0

        def f():
            nonlocal n
            n += 1
            if n == 7:
                raise LookupError("the seventh")

        with self.assertRaisesRegex(LookupError, "the seventh"):
            deepclock.bench(f, **short(group=1))
        self.assertEqual(n, 7)

    def test_not_callable(self):
        with self.assertRaisesRegex(TypeError, "bench_model"):
            deepclock.bench("zoo:resnet18")
        self.assertRaises(TypeError, deepclock.bench)

    def test_what_would_not_run(self):
        async def coroutine():
            pass

        def generator():
            yield

        self.assertRaisesRegex(TypeError, "asyncio.run", deepclock.bench, coroutine)
        self.assertRaisesRegex(TypeError, "goes through", deepclock.bench, generator)

        async def both():
            yield

        class Called:
            async def __call__(self):
                pass

        self.assertRaisesRegex(TypeError, "goes through", deepclock.bench, both)
        for f in (functools.partial(coroutine), Called()):
            self.assertRaisesRegex(TypeError, "a coroutine function.*asyncio.run", deepclock.bench, f)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # it is never awaited
            self.assertRaisesRegex(TypeError, "returned a coroutine", deepclock.bench, lambda: coroutine())
        self.assertEqual(deepclock.bench(functools.partial(abs, 1), **short()).incomplete, False)

    def test_interrupted(self):
        """Ctrl-C returns the partial record, in Python code and in code without Python."""
        for f in (work, lambda: time.sleep(0.001), (sum, [1, 2, 3])):
            f, args = (f, ()) if callable(f) else (f[0], f[1:])
            timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
            timer.start()
            r = deepclock.bench(f, *args, time="120s", warmup=1, no_history=True)
            timer.join()
            self.assertTrue(r.incomplete)
            self.assertIn("interrupted", [n.code for n in r.notes])
            self.assertGreater(r["latency/median"].value, 0)

    def test_other_handlers(self):
        """An exception of a signal handler is raised, not treated as an interruption."""
        def handler(number, frame):
            raise TimeoutError("too long")

        before = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with self.assertRaisesRegex(TimeoutError, "too long"):
            deepclock.bench(work, time="120s", no_history=True)

    def test_other_threads_run(self):
        """Other threads run while a function that never releases the GIL is measured."""
        turns = 0
        over = threading.Event()

        def count():
            nonlocal turns
            while not over.wait(0.001):
                turns += 1

        thread = threading.Thread(target=count)
        thread.start()
        deepclock.bench(sum, (1, 2, 3), time="1s", warmup=1, no_history=True)
        over.set()
        thread.join()
        self.assertGreater(turns, 3)


class OptionTest(Case):
    def test_a_time_is_refused_as_it_was_given(self):
        for function in (lambda: deepclock.bench(work, max_time=-1), lambda: deepclock.compare({"a": work, "b": work}, max_time=-1)):
            with self.assertRaisesRegex(deepclock.ArgumentError, "'max-time': '-1s' is negative"):
                function()

    def test_unknown(self):
        with self.assertRaisesRegex(TypeError, r"bench\(\) has no option 'maxtime'; did you mean "
                                               "'max_time'"):
            deepclock.bench(work, maxtime=3)
        with self.assertRaisesRegex(TypeError, "has no option 'colour'"):
            deepclock.bench(work, colour="red")

    def test_forms_of_values(self):
        r = deepclock.bench(work, runs="20", warmup=2, level=0.9, no_history=True)
        self.assertEqual(r.facts["plan/level"].value, 0.9)
        for t in (0.05, "50ms", datetime.timedelta(milliseconds=50)):
            r = deepclock.bench(work, time=t, warmup=1, no_history=True)
            self.assertEqual(r.facts["plan/time"].value, 50_000_000, t)

    def test_wrong_values(self):
        for options in ({"runs": []}, {"runs": True}, {"runs": 1.5}, {"runs": -1}, {"time": "5"},
                        {"check_outputs": "yes"}, {"statistic": "averge"}, {"time": True}, {"save": 3}, {"figures": ["a"]},
                        {"max_time": float("nan")}, {"max_time": float("inf")}):
            with self.assertRaises((TypeError, deepclock.ArgumentError), msg=options):
                deepclock.bench(work, **options)

    def test_wrong_subjects_are_named(self):
        for call, words in ((lambda: deepclock.compare({1: work, 2: work}), r"compare\(\): the name of a subject is a str, not int"),
                            (lambda: deepclock.compare({"a": 1, "b": work}), r"compare\(\): a subject is a function, .* not int"),
                            (lambda: deepclock.bench_model(5), r"bench_model\(\) takes the path of a model or zoo:NAME, not int")):
            self.assertRaisesRegex(TypeError, words, call)
        with self.assertRaisesRegex(deepclock.ArgumentError, "--processes is 3, and functions as 'a' are compared in one process: leave it out"):
            deepclock.compare({"a": work, "b": work}, processes=3)

    def test_pins_until_it_ends(self):
        before, during = os.sched_getaffinity(0), []
        cpu = min(before)

        def fails():
            during.append(os.sched_getaffinity(0))
            raise KeyError
        for call in (lambda: deepclock.bench(lambda: during.append(os.sched_getaffinity(0)), **short(cpus=cpu)),
                     lambda: self.assertRaises(KeyError, deepclock.bench, fails, **short(cpus=cpu)),
                     lambda: deepclock.compare({"a": lambda: 1, "b": lambda: 2}, cpus=cpu, rounds=6),
                     lambda: deepclock.bench_load("zoo:two_layer", engine="null", cpus=cpu, requests=5, no_history=True)):
            call()
            self.assertEqual(os.sched_getaffinity(0), before)
        self.assertEqual(during, [{cpu}] * len(during))

    def test_pins_within_pins(self):
        every, after = ",".join(map(str, sorted(os.sched_getaffinity(0)))), []
        cpu = min(os.sched_getaffinity(0))

        def outer():
            deepclock.bench(work, **short(cpus=every))
            after.append(os.sched_getaffinity(0))
        deepclock.bench(outer, **short(cpus=cpu))
        self.assertEqual(after, [{cpu}] * len(after))

    def test_save(self):
        r = deepclock.bench(work, **short(save=self.path("r.json")))
        self.assertEqual(deepclock.load(self.path("r.json")).id, r.id)

    def test_what_cannot_be_saved_is_not_measured(self):
        calls = []
        for options in ({"save": self.path("none/r.json")}, {"html": self.path("none/r.html")}):
            with self.subTest(options), self.assertRaises(deepclock.IoError) as caught:
                deepclock.bench(lambda: calls.append(1), **short(**options))
            self.assertIn("none/r", caught.exception.filename)
        with self.assertRaisesRegex(deepclock.ArgumentError, "commit"):
            deepclock.bench(lambda: calls.append(1), **short(save=self.path("r.json"), commit="a b", no_history=None))
        self.assertEqual((calls, os.listdir(self.folder)), ([], []))

    def test_a_proxy_has_any_attribute(self):
        class Proxy:
            def __getattr__(self, name):
                return Proxy()

            def __call__(self):
                return work()

        self.assertEqual(deepclock.bench(Proxy(), **short())["runs/count"].value, 20)
        record = deepclock.bench(functools.partial(work, 3), **short())
        self.assertEqual(record.facts["subject/name"].value, "functools.partial")

    def test_title(self):
        r = deepclock.bench(work, **short(title="batch 8", save=self.path("r.json")))
        self.assertEqual((r.command, r.facts["subject/title"].value), ("batch 8", "batch 8"))
        self.assertEqual(deepclock.load(self.path("r.json")), r)
        self.assertRegex(str(r), r"^batch 8: .*work")
        self.assertIn("| batch 8 |", r.report("markdown"))
        self.assertTrue(deepclock.bench(work, **short()).command.startswith("deepclock bench "))

    def test_texts_that_are_not_utf8(self):
        page = os.fsencode(self.path("r")) + b"\xff.html"
        title = os.fsdecode(b"caf\xe9")
        r = deepclock.bench(work, **short(title=title, html=page, source_root=b"/\xff"))
        self.assertEqual(r.facts["subject/title"].value, "caf\ufffd")  # U+FFFD, as in JSON
        self.assertTrue(os.path.exists(page))
        with deepclock.count(title=title) as c:
            work()
        self.assertEqual(os.fsencode(c.record.command), b"caf\xe9")

    def test_progress(self):
        seen = []
        r = deepclock.bench(work, time="1s", warmup=1, progress=seen.append, no_history=True)
        self.assertFalse(r.incomplete)
        self.assertIsNone(seen.pop())
        self.assertIn("measure", [p.phase for p in seen])
        with self.assertRaises(ZeroDivisionError):
            deepclock.bench(work, progress=lambda p: 1 / 0, **short(time="1s", runs=None))


class CommandTest(Case):
    def test_words(self):
        r = deepclock.bench_command([sys.executable, "-c", "pass"], **short(runs=3))
        self.assertEqual(r["runs/count"].value, 3)
        r = deepclock.bench_command("sh -c 'exit 3'", any_exit=True, **short(runs=3))
        self.assertEqual(r["runs/count"].value, 3)
        with self.assertRaises(RuntimeError) as caught:
            deepclock.bench_command("sh -c 'exit 3'", **short(runs=3))
        self.assertEqual(caught.exception.status, "E_ENGINE")
        with self.assertRaises(deepclock.AbsentError):
            deepclock.bench_command(["deepclock-no-such-program"], **short())

    def test_without_the_gil(self):
        turns = 0
        over = threading.Event()

        def count():
            nonlocal turns
            while not over.wait(0.01):
                turns += 1

        thread = threading.Thread(target=count)
        thread.start()
        deepclock.bench_command(["sleep", "0.3"], runs=2, warmup=0, no_history=True)
        over.set()
        thread.join()
        self.assertGreater(turns, 5)


class ModelTest(Case):
    def test_null_engine(self):
        r = deepclock.bench_model("zoo:resnet18", engine="null", **short())
        self.assertEqual(r["runs/count"].value, 20)
        r = deepclock.bench_model("zoo:resnet18", engine="null", image_size=64,
                                  shape={"input": (1, 3, 64, 64)}, **short())
        self.assertIn("1x3x64x64", r.command + str(r.facts))

    def test_absent(self):
        with self.assertRaises(deepclock.AbsentError):
            deepclock.bench_model(self.path("none.onnx"))


class CompareTest(Case):
    def test_planted(self):
        r = deepclock.compare({"a": lambda: work(2000), "b": lambda: work(4000)}, rounds=12,
                              trial="2ms", no_history=True)
        self.assertEqual(r.verdict, "slower")
        self.assertEqual(r.gate, "violated")
        self.assertGreater(r["compare/ratio"].value, 1.2)

    def test_identical(self):
        """Identical functions get no verdict; bench/python_compare.py counts errors with the default margin."""
        r = deepclock.compare({"a": lambda: work(2000), "b": lambda: work(2000)}, rounds=12, trial="2ms", margin=0.5,
                              no_history=True)
        self.assertIn(r.verdict, ("same", "undecided"))

    def test_undisturbed(self):
        """The decision is by undisturbed runs, or there is none; never by the others."""
        works = {"a": lambda: work(2000), "b": lambda: work(8000)}
        r = deepclock.compare(works, rounds=12, trial="2ms", undisturbed=True, no_history=True)
        self.assertEqual(r.facts["compare/metric"].value, "latency/undisturbed")
        self.assertIn((r.verdict, r.gate), (("slower", "violated"), ("undecided", "inconclusive")))
        with self.assertRaisesRegex(deepclock.ArgumentError, "undisturbed and --statistic"):
            deepclock.compare(works, statistic="mean", undisturbed=True)

    def test_what_does_not_go(self):
        self.assertRaises(TypeError, deepclock.compare, work)
        self.assertRaises(deepclock.ArgumentError, deepclock.compare, {"a": work})
        r = deepclock.bench(work, **short())
        self.assertRaises(deepclock.ArgumentError, deepclock.compare, {"a": work, "b": r})
        self.assertRaisesRegex(deepclock.ArgumentError, r"compare\(\)", deepclock.rank, {"a": r, "b": r})
        self.assertRaisesRegex(deepclock.ArgumentError, "at least one subject", deepclock.rank, {})


if __name__ == "__main__":
    main()
