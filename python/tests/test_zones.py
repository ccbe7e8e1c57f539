# SPDX-License-Identifier: Apache-2.0
"""Zones, ranges and marks of a Python program, and recording them from inside."""

import asyncio
import contextlib
import copy
import fractions
import functools
import gc
import glob
import inspect
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
import time
import types
import weakref
from unittest import mock

from support import Case, deepclock, main


def calls(record):
    return {row["name"]: row["calls"] for row in record.tables["zones"]}


def row(record, name):
    return next(row for row in record.tables["zones"] if row["name"] == name)


@deepclock.zone
def plain(a, b=2):
    """Adds."""
    return a + b


class Net:
    @deepclock.zone
    def forward(self, x):
        return x

    @deepclock.zone("named")
    @staticmethod
    def of_none(x):
        return x

    @deepclock.zone
    @classmethod
    def of_class(cls):
        return cls


@deepclock.zone
def produces():
    got = []
    try:
        while len(got) < 3:
            got.append((yield len(got)))
    except KeyError as error:
        yield error
    return got


@deepclock.zone
async def request(seconds):
    with deepclock.zone("inside"):
        await asyncio.sleep(seconds)
    return seconds


@deepclock.zone
async def batches():
    try:
        for i in range(3):
            await asyncio.sleep(0)
            yield i
    finally:
        deepclock.mark("closed")


class ZoneTest(Case):
    def test_by_hand_and_block(self):
        with deepclock.trace() as t:
            deepclock.push("outer")
            for _ in range(5):
                with deepclock.zone("inner"):
                    deepclock.number("batch", 32)
            deepclock.pop()
            with contextlib.suppress(ValueError), deepclock.zone("raises"):
                raise ValueError
            deepclock.counter("loss", 0.5)
            deepclock.mark("here")
        self.assertEqual(calls(t.record), {"outer": 1, "inner": 5, "raises": 1})
        outer, inner = row(t.record, "outer"), row(t.record, "inner")
        self.assertAlmostEqual(outer["self"] + inner["total"], outer["total"], delta=5)
        self.assertEqual(t.record.facts["trace/unmatched_ends"].value, 0)
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)

    def test_places_and_values_are_in_the_file(self):
        path = self.path("out.json")
        with deepclock.trace(path) as t:
            with deepclock.zone("zöne\n"):
                deepclock.number("batch", 32)
            deepclock.counter("loss", 0.5)
            deepclock.mark("here")
        with open(path, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        zone = next(e for e in events if e.get("name") == "zöne ")  # a line break is a control character
        self.assertEqual(zone["args"]["batch"], 32)
        self.assertTrue(any(e["ph"] == "C" and e["args"].get("loss", e["args"].get("value")) == 0.5
                            for e in events), events)
        self.assertTrue(any(e.get("name") == "here" for e in events))
        self.assertEqual(t.path, path)

    def test_same_name_from_other_objects(self):
        with deepclock.trace() as t:
            for i in range(1000):
                deepclock.push("step" + str(i % 2))  # a new str each time
                deepclock.pop()
        self.assertEqual(calls(t.record), {"step0": 500, "step1": 500})

    def test_strange_names(self):
        class Text(str):
            __slots__ = ()

        with deepclock.trace() as t:
            for name in ("", "\udc80 alone", "x" * 1000, Text("sub")):
                with deepclock.zone(name):
                    pass
        self.assertEqual(set(calls(t.record)), {"", "\\udc80 alone", "x" * 256, "sub"})

    def test_more_names_than_there_is_room_for(self):
        code = ("import deepclock\n"
                "with deepclock.trace() as t:\n"
                "    for i in range(70000):\n"
                "        deepclock.push(f'name {i}'); deepclock.pop()\n"
                "assert sum(r['calls'] for r in t.record.tables['zones']) == 70000\n"
                "assert [r for r in t.record.tables['zones'] if r['name'] == '(other names)']\n"
                "assert 'trace-names' in [n.code for n in t.record.notes]\n"
                "with deepclock.trace() as t:\n"
                "    with deepclock.zone('new'): pass\n"
                "note, = [n for n in t.record.notes if n.code == 'trace-names']\n"
                "assert note.text.startswith(\"1 call of zones is in the row '(other names)'\"), note\n")
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_wrong_arguments(self):
        for wrong in (lambda: deepclock.push(3), lambda: deepclock.mark(None),
                      lambda: deepclock.zone(), lambda: deepclock.zone("a", "b"),
                      lambda: deepclock.zone(name="a"), lambda: deepclock.zone(3),
                      lambda: deepclock.zone(Net), lambda: deepclock.zone("a")(3),
                      lambda: deepclock.counter("loss"), lambda: deepclock.number("a", "b"),
                      lambda: deepclock.Range()):
            with deepclock.trace():
                with self.assertRaises(TypeError):
                    wrong()
        for wrong in (lambda: deepclock.push(3), lambda: deepclock.mark(3),
                      lambda: deepclock.start(3), lambda: deepclock.counter(3, 1)):
            with self.assertRaises(TypeError):  # also without a recording
                wrong()

    def test_begun_while_nothing_recorded(self):
        with deepclock.zone("before"):
            t = deepclock.trace().start()
            with deepclock.zone("within"):
                pass
        with deepclock.zone("cut"):
            record = t.stop()
        self.assertEqual(calls(record), {"within": 1, "cut": 1})
        self.assertEqual(record.facts["trace/unmatched_ends"].value, 0)
        self.assertEqual(record.facts["trace/unfinished_ranges"].value, 1)

    def test_range_ends_on_another_thread(self):
        with deepclock.trace() as t:
            r = deepclock.start("copy")
            thread = threading.Thread(target=r.end)
            thread.start()
            thread.join()
            r.end()
        self.assertEqual(calls(t.record)["copy"], 1)
        deepclock.start("nothing").end()

    def test_threads(self):
        def run():
            for _ in range(2000):
                with deepclock.zone("outer"), shared:
                    deepclock.push("inner")
                    deepclock.pop()

        shared = deepclock.zone("shared")
        with deepclock.trace(lossless=True) as t:
            threads = [threading.Thread(target=run) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(calls(t.record), {"outer": 8000, "shared": 8000, "inner": 8000})
        self.assertEqual(t.record.facts["trace/unmatched_ends"].value, 0)


class FunctionTest(Case):
    def test_a_value_is_a_number(self):
        for function in (deepclock.counter, deepclock.number):
            for wrong in ("y", None, b"1", [1]):
                with self.assertRaisesRegex(TypeError, "a value is a number, not"):
                    function("x", wrong)
            for right in (1, 2.5, True, fractions.Fraction(1, 2)):
                function("x", right)

    def test_functions(self):
        with deepclock.trace() as t:
            self.assertEqual(plain(1, b=3), 4)
            self.assertEqual(Net().forward(7), 7)
            self.assertEqual(Net.of_none(7), 7)
            self.assertIs(Net().of_class(), Net)
            with self.assertRaises(TypeError):
                plain()
            self.assertEqual(deepclock.zone("partial")(functools.partial(plain, 1))(), 3)
        self.assertEqual(calls(t.record), {"plain": 3, "Net.forward": 1, "named": 1,
                                           "Net.of_class": 1, "partial": 1})

    def test_is_still_the_function(self):
        self.assertEqual((plain.__name__, plain.__doc__, plain.__module__),
                         ("plain", "Adds.", __name__))
        self.assertEqual(str(inspect.signature(plain)), "(a, b=2)")
        self.assertIs(pickle.loads(pickle.dumps(plain)), plain)
        zone = deepclock.zone("forward")  # as a member of a module that is copied
        self.assertEqual([repr(z) for z in (copy.deepcopy(zone), pickle.loads(pickle.dumps(zone)))], [repr(zone)] * 2)
        self.assertTrue(inspect.isfunction(Net.forward))
        plain.note = 1
        self.assertEqual(plain.note, 1)
        with self.assertRaises(AttributeError):
            plain.nothing
        self.assertTrue(inspect.isgeneratorfunction(produces))
        self.assertTrue(inspect.iscoroutinefunction(request))
        self.assertTrue(inspect.isasyncgenfunction(batches))

    def test_generator_is_in_its_zone_while_it_runs(self):
        with deepclock.trace() as t:
            g = produces()
            self.assertEqual(next(g), 0)
            with deepclock.zone("consumer"):
                time.sleep(0.02)
            self.assertEqual(g.send("a"), 1)
            self.assertIsInstance(g.throw(KeyError("k")), KeyError)
            with self.assertRaises(StopIteration) as end:
                next(g)
            self.assertEqual(end.exception.value, ["a"])
            produces().close()
            begun = produces()
            next(begun)
            begun.close()
        self.assertEqual(calls(t.record), {"produces": 6, "consumer": 1})
        self.assertLess(row(t.record, "produces")["total"], row(t.record, "consumer")["total"])
        self.assertEqual(row(t.record, "consumer")["self"], row(t.record, "consumer")["total"])

    def test_cleanup_of_a_generator_is_in_its_zone(self):
        @deepclock.zone("cleans")
        def cleans():
            try:
                yield 1
                yield 2
            finally:
                time.sleep(0.02)

        @deepclock.zone("cleans too")
        async def cleans_too():
            try:
                yield 1
            finally:
                await asyncio.sleep(0.02)

        async def leave():
            g = cleans_too()
            await g.__anext__()
            await g.aclose()
            await cleans_too().aclose()

        with deepclock.trace() as t:
            for _ in cleans():
                break
            cleans().close()
            asyncio.run(leave())
        self.assertEqual(calls(t.record), {"cleans": 2, "cleans too": 2})
        for name in calls(t.record):
            self.assertGreaterEqual(row(t.record, name)["total"], 0.02e9)
        self.assertEqual(t.record.facts["trace/unmatched_ends"].value, 0)

    def test_coroutines_that_take_turns(self):
        async def all_of_them():
            return await asyncio.gather(*(request(0.03) for _ in range(10)))

        shared = deepclock.zone("shared")

        async def other():
            with shared:
                await asyncio.sleep(0.001)

        async def many():
            await asyncio.gather(*(other() for _ in range(10)))

        with deepclock.trace() as t, deepclock.zone("main"):
            self.assertEqual(asyncio.run(all_of_them()), [0.03] * 10)
            asyncio.run(many())
        self.assertEqual(calls(t.record), {"request": 10, "inside": 10, "shared": 10, "main": 1})
        # Each range lasts from its start to its end, and no range is inside another.
        self.assertGreaterEqual(row(t.record, "request")["min"], 0.03e9)
        self.assertGreaterEqual(row(t.record, "inside")["min"], 0.03e9)
        self.assertEqual(t.record.facts["trace/unmatched_ends"].value, 0)
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)

    def test_a_shared_object_and_its_times(self):
        shared = deepclock.zone("shared")
        short_began, long_began, short_ended = [], [], []

        async def short():
            with shared:
                short_began.append(time.perf_counter_ns())
                while not long_began:
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0.01)
                short_ended.append(time.perf_counter_ns())

        async def long():
            while not short_began:
                await asyncio.sleep(0.001)
            with shared:
                long_began.append(time.perf_counter_ns())
                while not short_ended:
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0.01)
                long_began.append(time.perf_counter_ns())

        async def both():
            await asyncio.gather(short(), long())

        with deepclock.trace() as t:
            asyncio.run(both())
        # If each ended the other's range, one would last from the beginning of the second to the end of the first.
        self.assertGreaterEqual(row(t.record, "shared")["min"],
                                min(short_ended[0] - short_began[0], long_began[1] - long_began[0]))
        self.assertEqual(calls(t.record), {"shared": 2})

    def test_a_shared_object_that_another_thread_had_entered(self):
        shared, inside, leave = deepclock.zone("shared"), threading.Event(), threading.Event()

        def early():
            with shared:
                inside.set()
                leave.wait()

        thread = threading.Thread(target=early)
        thread.start()
        inside.wait()
        with deepclock.trace() as t:
            with shared:
                leave.set()
                thread.join()
            with shared:
                pass
        self.assertEqual(row(t.record, "shared")["calls"], 2)
        self.assertIsNotNone(row(t.record, "shared")["max"])
        self.assertEqual(t.record.facts["trace/unmatched_ends"].value, 0)

    def test_context_managers_in_coroutines(self):
        @contextlib.contextmanager
        def step(name):
            with deepclock.zone(name):
                yield

        async def first(began):
            with step("first"):
                began.set()
                await asyncio.sleep(0.02)

        async def second(began):
            await began.wait()
            with contextlib.ExitStack() as stack:
                stack.enter_context(deepclock.zone("second"))
                await asyncio.sleep(0.04)

        async def helper():
            with step("outer"), deepclock.zone("inner"):
                pass

        async def all_of_them():
            began = asyncio.Event()
            await asyncio.gather(first(began), second(began))
            await helper()

        with deepclock.trace() as t:
            asyncio.run(all_of_them())
        self.assertGreaterEqual(row(t.record, "second")["total"], 0.04e9)
        self.assertEqual(calls(t.record), {"first": 1, "second": 1, "outer": 1, "inner": 1})
        for name in calls(t.record):
            self.assertIsNone(row(t.record, name)["self"])  # a separate range
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)

    def test_other_things_to_await(self):
        class Model:
            async def __call__(self):
                await asyncio.sleep(0.02)
                return 1

        @deepclock.zone
        @types.coroutine
        def old():
            yield from asyncio.sleep(0.02).__await__()
            return 2

        async def use():
            return await deepclock.zone("called")(Model())(), await old()

        with deepclock.trace() as t:
            self.assertEqual(asyncio.run(use()), (1, 2))
        self.assertEqual(len(calls(t.record)), 2)
        for name in calls(t.record):
            self.assertGreaterEqual(row(t.record, name)["total"], 0.02e9)

    def test_asynchronous_generator(self):
        async def use():
            return [i async for i in batches()]

        async def leave():
            g = batches()
            await g.__anext__()
            await g.aclose()

        path = self.path("out.json")
        with deepclock.trace(path) as t:
            self.assertEqual(asyncio.run(use()), [0, 1, 2])
            asyncio.run(leave())
        self.assertEqual(calls(t.record), {"batches": 6})
        with open(path, encoding="utf-8") as file:
            self.assertEqual(file.read().count('"closed"'), 2)

    def test_no_references_leak(self):
        def many():
            for _ in range(200):
                with deepclock.zone("a"):
                    deepclock.push("b")
                    deepclock.pop()
                deepclock.start("c").end()
                deepclock.counter("d", 1.5)
                plain(1)
                Net().forward(None)
                list(produces())
                with contextlib.suppress(TypeError):
                    deepclock.push(None)

        def made():
            f = deepclock.zone(lambda: f)
            f()
            return weakref.ref(f)

        gone = made()
        gc.collect()
        self.assertIsNone(gone())
        for record in (False, True):
            if record:
                t = deepclock.trace().start()
            many()
            gc.collect()
            before = sys.getallocatedblocks()
            none, a = sys.getrefcount(None), sys.getrefcount("a")
            many()
            gc.collect()
            self.assertLess(abs(sys.getallocatedblocks() - before), 50)
            self.assertLess(abs(sys.getrefcount(None) - none), 50)
            self.assertLess(abs(sys.getrefcount("a") - a), 5)
        t.stop()


class TraceTest(Case):
    def test_one_at_a_time(self):
        with deepclock.trace() as t:
            with self.assertRaises(deepclock.ArgumentError) as error:
                with deepclock.trace():
                    self.fail("it began")
            self.assertIn("records a timeline already", str(error.exception))
            with deepclock.zone("still"):
                pass
        self.assertEqual(calls(t.record), {"still": 1})
        with t, deepclock.zone("again"):
            pass
        self.assertEqual(calls(t.record), {"again": 1})

    def test_start_that_fails_records_no_longer(self):
        def interrupted():
            raise KeyboardInterrupt

        with mock.patch("deepclock.tracing._follow_torch", interrupted), self.assertRaises(KeyboardInterrupt):
            deepclock.trace().start()
        with mock.patch.dict(sys.modules, torch=None), deepclock.trace() as t:
            pass
        self.assertIsNotNone(t.record)

    def test_record_of_a_file_that_is_incomplete(self):
        t = deepclock.trace("/dev/full")
        with self.assertRaises(deepclock.IoError), t:
            for _ in range(10000):
                with deepclock.zone("kept"):
                    pass
        self.assertEqual(calls(t.record), {"kept": 10000})
        self.assertTrue(t.record.incomplete)

    def test_record_while_it_runs(self):
        t = deepclock.trace(self.path("out.pftrace"))
        self.assertIsNone(t.record)
        with t:
            with deepclock.zone("first"):
                pass
            self.assertEqual(calls(t.record), {"first": 1})
            with deepclock.zone("second"):
                pass
        self.assertEqual(calls(t.record), {"first": 1, "second": 1})
        with deepclock.trace() as t:
            self.assertIsNone(t.record)

    def test_options(self):
        with deepclock.trace(self.path("out.pftrace"), last="1MiB") as t:
            with deepclock.zone("a"):
                pass
            t.dump()
            self.assertGreater(os.path.getsize(t.path), 0)
        for wrong in ({"lost": 1}, {"buffer": "x"}, {"limit": "a=1s"}, {"max_size": 1}):
            with self.assertRaises((TypeError, ValueError), msg=str(wrong)):
                deepclock.trace(self.path("out.pftrace"), **wrong).start()
        with self.assertRaises(OSError):
            deepclock.trace(self.path("none/out.pftrace")).start()
        self.assertFalse(deepclock._deepclock._trace_active())

    def test_names_with_nul(self):
        def with_each(name):
            for f in (deepclock.zone, deepclock.push, deepclock.mark, deepclock.start, lambda n: deepclock.counter(n, 1),
                      lambda n: deepclock.number(n, 1), lambda n: deepclock.lap(n).start()):
                with self.assertRaises(ValueError):
                    f(name)
        for name in ("a\0b", "\0", "\u0416\0", type("Name", (str,), {})("a\0")):
            with_each(name)
            with deepclock.trace(self.path("out.pftrace")):
                with_each(name)

    def test_threads_have_their_names(self):
        seen = []
        def work():
            with deepclock.zone("work"):
                with open("/proc/thread-self/comm") as comm:
                    seen.append(comm.read().rstrip("\n"))
        with deepclock.trace(self.path("out.pftrace")):
            work()
            for name in ("loader", "\u0416" * 9):
                thread = threading.Thread(target=work, name=name)
                thread.start()
                thread.join()
        with open("/proc/self/comm") as comm:
            self.assertEqual(seen, [comm.read().rstrip("\n"), "loader", "\u0416" * 7])

    def test_fork_and_workers(self):
        path = self.path("out.pftrace")
        with deepclock.trace(path) as t:
            with deepclock.zone("parent"):
                pass
            worker = multiprocessing.get_context("fork").Process(target=_work)
            worker.start()
            worker.join()
        self.assertEqual(worker.exitcode, 0)
        self.assertEqual(calls(t.record), {"parent": 1})
        child = deepclock._deepclock._trace_read(self.path(f"out.{worker.pid}.pftrace"))
        self.assertEqual(calls(child), {"worker": 3})
        self.assertFalse(child.incomplete)

    def test_workers_of_every_start_method(self):
        with open(self.path("pools.py"), "w", encoding="utf-8") as file:
            file.write(POOLS)
        ran = subprocess.run([sys.executable, self.path("pools.py")], stdout=subprocess.PIPE, text=True,
                             cwd=self.path(""), check=True)
        self.assertEqual(ran.stdout.split(), ["spawn", "8", "forkserver", "8", "environment", "0"])

    def test_options_that_workers_inherit(self):
        path = self.path("b.json")
        for options, told in (
                (dict(last="1MiB", limit={"a": "1s", "b": "2s"}, lossless=True, waits=5e-5, percentiles=None),
                 dict(LAST="1MiB", LIMIT="a=1s\nb=2s", LOSSLESS="true", WAITS="50000ns")),
                (dict(max_size=1e9, buffer=64e6, percentiles=["p50", "p99"]),
                 dict(MAX_SIZE="1000000000.0", BUFFER="64000000.0", PERCENTILES="p50,p99"))):
            with deepclock.trace(path, **options):
                told = {"DEEPCLOCK_TRACE_" + name: text for name, text in told.items()}
                self.assertEqual(deepclock.tracing._inherited.told,
                                 {"DEEPCLOCK_TRACE": path, "DEEPCLOCK_TRACE_BY": str(os.getpid()), **told})
            self.assertIsNone(deepclock.tracing._inherited.told)

    def test_when_it_is_decided_what_a_worker_inherits(self):
        made_before = multiprocessing.Process(target=print)
        with deepclock.trace(self.path("c.json")):
            made_inside = multiprocessing.Process(target=print)
            for process in (made_before, made_inside):
                self.assertIn(b"c.json", pickle.dumps(process._config["deepclock.trace"]))
        for process in (made_before, made_inside):
            self.assertEqual(pickle.loads(pickle.dumps(process._config["deepclock.trace"])), {})

    def test_one_recorder_under_deepclock_trace(self):
        """`deepclock trace` preloads a library into Python that has a recorder, as the extension does."""
        program = os.path.join(os.path.dirname(deepclock.__file__), "..", "..", "deepclock")
        if not os.path.isfile(program):
            self.skipTest("the program deepclock is not built beside the package")
        with open(self.path("script.py"), "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        for more in ([], ["--no-waits"]):
            ran = subprocess.run([program, "trace", "-o", self.path("out.pftrace"), "--save",
                                  self.path("record.json"), "--format", "json", *more, "--",
                                  sys.executable, self.path("script.py")],
                                 check=True, stdout=subprocess.PIPE, text=True)
            self.assertIn("records already", ran.stdout)
            record = deepclock.load(self.path("record.json"))
            self.assertEqual(calls(record)["outer"], 1)
            self.assertEqual(calls(record)["epoch"], 1)
            self.assertEqual(calls(record)["by NVTX"], 1)
            self.assertEqual(glob.glob(self.path("out.*")), [self.path("out.pftrace")])
            if "wait: sleep" in calls(record):  # the wait is inside the sleeping zone
                self.assertLess(row(record, "by NVTX")["self"], 0.02e9)
            else:
                self.assertIsNotNone(record.facts["method/waits_from"].absent)

    def test_zone_in_the_last_destructor(self):
        script = """
import deepclock, os
class Last:
    def __call__(self):
        pass
    def __del__(self, zone=deepclock.zone("last"), write=os.write):
        with zone: write(1, b"ended")
deepclock.trace().start()
os.register_at_fork(before=Last())  # the interpreter frees it last
"""
        self.assertEqual(subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, check=True).stdout, b"ended")

    def test_exit_in_the_middle(self):
        path = self.path("out.pftrace")
        code = ("import deepclock, sys, os\n"
                f"t = deepclock.trace({path!r}).start()\n"
                "with deepclock.zone('a'): pass\n"
                "deepclock.push('b')\n"
                "os._exit(deepclock._deepclock._trace_leave() - 1) if len(sys.argv) > 1 else sys.exit()\n")
        for more in ([], ["leaves"]):
            subprocess.run([sys.executable, "-c", code, *more], check=True)
            record = deepclock._deepclock._trace_read(path)
            self.assertEqual(calls(record), {"a": 1, "b": 1})
            self.assertFalse(record.incomplete)


# The forkserver's server starts before the recording. Processes started after the recording do not record.
POOLS = """
import glob, multiprocessing, os
import deepclock

def work(i):
    with deepclock.zone("work"):
        return i

def use(context):
    with context.Pool(2) as pool:
        pool.map(work, range(8))
        pool.close()
        pool.join()

if __name__ == "__main__":
    before = dict(os.environ)
    server = multiprocessing.get_context("forkserver")
    use(server)
    for method in ("spawn", "forkserver"):
        with deepclock.trace(method + ".pftrace", buffer="1MiB"):
            use(multiprocessing.get_context(method))
        use(server)
        records = map(deepclock._deepclock._trace_read, glob.glob(method + ".*.pftrace"))
        print(method, sum(row["calls"] for r in records for row in r.tables["zones"]))
    print("environment", len(set(before.items()) ^ set(os.environ.items())))
"""

# A stand-in for NVTX, which loads the library named by NVTX_INJECTION64_PATH: its ranges are recorded too.
SCRIPT = """
import ctypes, os, time
front = ctypes.CDLL(os.environ["NVTX_INJECTION64_PATH"], mode=0)
import deepclock
class Site(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("file", ctypes.c_char_p), ("line", ctypes.c_uint32),
                ("id", ctypes.c_uint32)]
with deepclock.zone("outer"), deepclock.lap("epoch", quiet=True):
    front.dck_zone_push(ctypes.byref(Site(b"by NVTX", b"", 0, 0)))
    time.sleep(0.02)
    front.dck_zone_pop()
try:
    deepclock.trace().start()
except deepclock.ArgumentError:
    print("records already")
"""


def _work():
    for _ in range(3):
        with deepclock.zone("worker"):
            pass


if __name__ == "__main__":
    main()
