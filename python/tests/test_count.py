# SPDX-License-Identifier: Apache-2.0
"""deepclock.count: calls of Python and C functions, equal to the counts of the standard library's profiler."""

import asyncio
import cProfile
import json
import marshal
import multiprocessing
import os
import pstats
import re
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from unittest import mock

from support import Case, deepclock, main


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def even(n):
    return True if n == 0 else odd(n - 1)


def odd(n):
    return False if n == 0 else even(n - 1)


def produces(n):
    for i in range(n):
        try:
            yield i
        except KeyError:
            yield -1


class Thing:
    def __init__(self, value):
        self.value = value

    def __lt__(self, other):
        return self.value < other.value

    @property
    def double(self):
        return 2 * self.value


class Words(list):
    def append(self, value):
        super().append(str(value))


def raises(n):
    if n == 0:
        raise ValueError("x")
    raises(n - 1)


async def request(n):
    await asyncio.sleep(0)
    return n


async def together():
    return await asyncio.gather(*(request(i) for i in range(5)))


def work():
    fib(12)
    even(30)
    sum(produces(20))
    g = produces(3)
    next(g)
    g.throw(KeyError)
    g.close()
    sorted([Thing(3), Thing(1), Thing(2)])[0].double
    w = Words()
    for i in range(7):
        w.append(i)
    try:
        raises(5)
    except ValueError:
        pass
    for text in "1", "x":
        try:
            int(text), [].index(text)
        except ValueError:
            pass
    json.dumps({"a": [1, 2.5, None, {"b": "c"}]}, indent=1)
    re.sub("a(b*)", lambda m: m.group(1), "abbab")
    max(map(len, ["a", "bb"]), key=lambda n: -n)
    exec("def f(): return len('abc')\nf(); f()", {})
    "a,b".split(","), {}.get(1), [1].copy(), "%s" % 3, print(end="")


def counts(stats):
    """Returns calls and primitive calls in total and by caller, without the profilers' own functions."""
    def of(label):  # addresses differ from run to run
        return (*label[:2], re.sub(" at 0x[0-9a-f]+", "", label[2]))

    return {of(label): (primitive, calls, {of(caller): tuple(row[:2]) for caller, row in callers.items()})
            for label, (primitive, calls, _, _, callers) in stats.items()
            if "_lsprof" not in label[2] and "counting.py" not in label[0]}


def profiled(function):
    p = cProfile.Profile()
    p.enable()
    function()
    p.disable()
    p.create_stats()
    return p.stats


def counted(function, **options):
    with deepclock.count(**options) as c:
        function()
    return c


class Counts(Case):
    def test_interrupted_call(self):
        def f():
            len("")
            signal.raise_signal(signal.SIGINT)

        record = deepclock.count(f)
        self.assertTrue(record.incomplete)

    def test_interrupted_calibration(self):
        calls = iter(range(5))

        def fifth_interrupted(f, n):
            if next(calls) == 4:  # the first that is counted
                raise KeyboardInterrupt

        with mock.patch("deepclock.counting._many", fifth_interrupted), self.assertRaises(KeyboardInterrupt):
            deepclock.count(len, [1])
        self.assertEqual([row["calls"] for row in deepclock.count(fib, 1).tables["functions"]], [1])

    def test_what_is_no_function(self):
        for wrong in (None, 5, "f"):
            with self.assertRaisesRegex(TypeError, "count.. takes a function and its arguments, or nothing for a block"):
                deepclock.count(wrong)

        async def request():
            pass

        def produces():
            yield

        class Client:
            async def __call__(self):
                pass

        for wrong, kind in ((request, "coroutine"), (produces, "generator"), (Client(), "coroutine")):
            with self.assertRaisesRegex(TypeError, f"a call of a {kind} function runs nothing of it"):
                deepclock.count(wrong)

    @unittest.skipUnless(hasattr(sys, "monitoring"), "before Python 3.12 there is no sys.monitoring")
    def test_beside_other_tools(self):
        def freed(tool):
            if sys.monitoring.get_tool(tool):
                sys.monitoring.free_tool_id(tool)

        def functions(record):
            return {row["name"]: row["calls"] for row in record.tables["functions"]}
        for tool in (2, 3):
            sys.monitoring.use_tool_id(tool, "another")
            self.addCleanup(freed, tool)
            self.assertEqual(functions(deepclock.count(fib, 10))["fib"], 177)
        sys.monitoring.use_tool_id(4, "a third")
        self.addCleanup(freed, 4)
        with self.assertRaisesRegex(deepclock.ArgumentError, "while 'another' and others use sys.monitoring"):
            deepclock.count(fib, 10)
        for tool in (2, 3, 4):
            freed(tool)
        profiler = cProfile.Profile()
        profiler.enable()
        try:
            record = deepclock.count(fib, 10)
        finally:
            profiler.disable()
        self.assertEqual(functions(record)["fib"], 177)
        self.assertIsNone(sys.monitoring.get_tool(3))

    def test_same_counts_as_the_standard_library(self):
        work()  # warm-up: imports and compiles
        self.maxDiff = None
        expected = counts(profiled(work))
        self.assertGreater(len(expected), 30)
        self.assertEqual(expected, counts(counted(work).stats))

    def test_event_loop(self):
        asyncio.run(together())

        def run():
            asyncio.run(together())

        ours, theirs = counts(counted(run).stats), counts(profiled(run))
        for name in "together", "request", "<genexpr>":
            of = [{k[2]: v[:2] for k, v in all_.items()}[name] for all_ in (ours, theirs)]
            self.assertEqual(*of, name)

    def test_times_add_up(self):
        c = counted(lambda: fib(15))
        stats = pstats.Stats(c)
        own = sum(row[2] for row in stats.stats.values())
        outermost = [row for label, row in stats.stats.items() if label[2] == "<lambda>"][0]
        self.assertAlmostEqual(own, outermost[3], delta=0.05 * own + 1e-4)
        # The total also has start and stop, where another program may preempt this one.
        self.assertLessEqual(own, c.record.metrics["counter/duration_time"].value / 1e9)
        fibs = [row for label, row in stats.stats.items() if label[2] == "fib"][0]
        self.assertEqual(fibs[:2], (1, 1973))
        self.assertLessEqual(fibs[3], outermost[3])

    def test_file_for_pstats(self):
        c = counted(work)
        c.dump_stats(self.path("x.pstats"))
        read = pstats.Stats(self.path("x.pstats"))
        self.assertEqual(counts(read.stats), counts(c.stats))
        read.sort_stats("cumulative").calc_callees()
        os.symlink("x.pstats", self.path("link"))
        os.truncate(self.path("x.pstats"), 0)
        os.chmod(self.path("x.pstats"), 0o640)
        c.dump_stats(self.path("link"))  # writes through the link
        self.assertEqual(os.readlink(self.path("link")), "x.pstats")
        self.assertEqual(stat.S_IMODE(os.stat(self.path("x.pstats")).st_mode), 0o640)
        self.assertEqual(counts(pstats.Stats(self.path("x.pstats")).stats), counts(c.stats))
        os.mkfifo(self.path("pipe"))
        reader = os.open(self.path("pipe"), os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        few = counted(lambda: fib(3))
        few.dump_stats(self.path("pipe"))  # and into the pipe
        self.assertEqual(counts(marshal.loads(os.read(reader, 1 << 16))), counts(few.stats))
        self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode))

    def test_record(self):
        record = deepclock.count(fib, 10)
        table, tree = record.tables["functions"], record.trees["calls"]
        names = [table[i]["name"] for i in range(len(table))]
        row = table[names.index("fib")]
        self.assertEqual(row["calls"], 177)
        self.assertEqual((os.path.basename(row["file"]), row["line"]), ("test_count.py", fib.__code__.co_firstlineno))
        self.assertGreater(row["total"], 0)
        self.assertGreaterEqual(len(tree), 10)  # one path for each depth

    def test_threads(self):
        def work_of_thread():
            fib(10)

        def run():
            all_ = [threading.Thread(target=work_of_thread) for _ in range(4)]
            for t in all_:
                t.start()
            for t in all_:
                t.join()

        stats = {k[2]: v[:2] for k, v in counted(run).stats.items()}
        self.assertEqual(stats["fib"], (4, 4 * 177))
        self.assertEqual(stats["work_of_thread"], (4, 4))
        # One after the other, so that memory of ended threads is reused.
        def many():
            for _ in range(50):
                t = threading.Thread(target=work_of_thread)
                t.start()
                t.join()

        c = counted(many)
        self.assertEqual({k[2]: v[:2] for k, v in c.stats.items()}["fib"], (50, 50 * 177))
        self.assertEqual(c.record.facts["count/threads"].value, 51)

    def test_thread_that_ran_before(self):
        go, done = threading.Event(), threading.Event()

        def waits():
            go.wait(60)
            fib(10)
            done.set()

        t = threading.Thread(target=waits)
        t.start()
        c = counted(lambda: (go.set(), done.wait(60)))
        t.join()
        self.assertEqual({k[2]: v[:2] for k, v in c.stats.items()}["fib"], (1, 177))

    def test_forked_children(self):
        def leaf():
            pass

        def pair():
            leaf(), leaf()

        def child():
            for _ in range(5):
                leaf()
            exec("def born(): return len('abc')\nborn(); born()", {})  # a function of the child only
            t = threading.Thread(target=pair)
            t.start()
            t.join()
            if os.fork() == 0:
                pair()
                os._exit(0)
            os.wait()
            os._exit(0)

        def killed():
            pair()
            os.kill(os.getpid(), signal.SIGKILL)

        def run():
            for what in child, killed:
                pid = os.fork()
                if pid == 0:
                    what()
                os.waitpid(pid, 0)
            with multiprocessing.get_context("fork").Pool(2) as pool:
                pool.map(fib, [3] * 10, chunksize=1)
                pool.close()
                pool.join()  # else an idle worker may be terminated before it counts
            leaf()

        c = counted(run)
        stats = {k[2]: (v[:2], {by[2]: row[:2] for by, row in v[4].items()}) for k, v in c.stats.items()}
        self.assertEqual(stats["leaf"], ((12, 12), {"run": (1, 1), "child": (5, 5), "pair": (6, 6)}))
        self.assertEqual(stats["pair"][0], (3, 3))
        self.assertEqual(stats["born"], ((2, 2), {"<module>": (2, 2)}))
        self.assertEqual(stats["fib"][0], (10, 50))
        self.assertEqual(stats["child"], ((1, 1), {"run": (1, 1)}))
        self.assertIsNone(c.record.facts["count/threads"].value)
        self.assertEqual(c.record.facts["count/processes"].value, 6)
        table = c.record.tables["functions"]
        self.assertNotIn("(no name)", {table[i]["name"] for i in range(len(table))})

    def test_child_that_closes_descriptors(self):
        """A file that gets the number of a descriptor of the counter is not written to."""
        ends = []

        def child(directory):
            os.closerange(3, 256)
            files = [os.open(os.path.join(directory, str(i)), os.O_RDWR | os.O_CREAT) for i in range(20)]
            exec("def born(): return len('abc')\nborn()", {})
            os._exit(any(os.fstat(f).st_size for f in files))

        def run(directory):
            pid = os.fork()
            if pid == 0:
                child(directory)
            ends.append(os.waitpid(pid, 0)[1])

        with tempfile.TemporaryDirectory() as directory:
            c = counted(lambda: run(directory))
        self.assertEqual(ends, [0])
        self.assertIn("born", {k[2] for k in c.stats})

    def test_child_that_forks(self):
        """Calls of os.register_at_fork() hooks in a child do not corrupt the counts of the forking process."""
        def many(name):
            exec("".join(f"def {name}{i}(): pass\n{name}{i}()\n" for i in range(300)), {})

        def leaf():
            pass

        forks = []
        os.register_at_fork(after_in_child=lambda: forks and many("hook"))

        def child():
            forks.append(True)
            for _ in range(4):
                pid = os.fork()
                if pid == 0:
                    leaf()
                    os._exit(0)
                many("own")
                os.waitpid(pid, 0)
            os._exit(0)

        def run():
            pid = os.fork()
            if pid == 0:
                child()
            os.waitpid(pid, 0)

        c = counted(run)
        stats = {k[2]: (v[:2], {by[2] for by in v[4]}) for k, v in c.stats.items()}
        self.assertEqual({name: row for name, row in stats.items() if name.startswith("own") and row[0] != (4, 4)}, {})
        self.assertEqual((stats["own299"][1], stats["leaf"]), ({"<module>"}, ((4, 4), {"child"})))
        self.assertEqual(c.record.facts["count/processes"].value, 6)
        table = c.record.tables["functions"]
        self.assertNotIn("(no name)", {table[i]["name"] for i in range(len(table))})

    def test_child_leaves_the_block(self):
        with deepclock.count() as c:
            fib(3)
            pid = os.fork()
            if pid == 0:
                fib(4)
        own = {k[2]: v[:2] for k, v in c.stats.items()}["fib"]
        if pid == 0:
            os._exit(0 if own == (1, 9) else 1)  # without the parent's calls
        self.assertEqual(os.waitpid(pid, 0)[1], 0)
        # With the child's calls until then, which may be none, some or all of its nine.
        self.assertTrue(own[0] in (1, 2) and 5 <= own[1] <= 14, own)

    def test_deep_recursion(self):
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(20000)
        self.addCleanup(sys.setrecursionlimit, before)
        threading.stack_size(256 << 20)
        self.addCleanup(threading.stack_size, 0)
        t = threading.Thread(target=lambda: even(5001))
        c = counted(lambda: (t.start(), t.join()))
        stats = {k[2]: v[:2] for k, v in c.stats.items()}
        self.assertEqual((stats["even"], stats["odd"]), ((1, 2501), (1, 2501)))

    def test_without_builtins(self):
        stats = counted(work, builtins=False).stats
        self.assertEqual([label for label in stats if label[0] == "~"], [])
        self.assertEqual({k[2]: v[:2] for k, v in stats.items()}["fib"], (1, 465))

    def test_one_at_a_time_and_again(self):
        with deepclock.count():
            with self.assertRaises(deepclock.ArgumentError):
                deepclock.count(fib, 3)
            fib(3)
        for _ in range(3):
            self.assertEqual({k[2]: v[:2] for k, v in counted(lambda: fib(5)).stats.items()}["fib"], (1, 15))

    @unittest.skipIf(hasattr(sys, "monitoring"), "test_beside_other_tools has it from Python 3.12 on")
    def test_refuses_another_profiler(self):
        def hook(*event):
            pass

        profiler = cProfile.Profile()
        profiler.enable()
        try:
            with self.assertRaisesRegex(deepclock.ArgumentError, "another profiler runs"):
                deepclock.count(fib, 3)
            fib(3)
        finally:
            profiler.disable()
        self.assertEqual([v[0] for k, v in pstats.Stats(profiler).stats.items() if k[2] == "fib"], [1])
        threading.setprofile(hook)
        self.addCleanup(threading.setprofile, None)
        deepclock.count(fib, 3)
        self.assertIs(threading._profile_hook, hook)

    @unittest.skipIf(hasattr(sys, "monitoring"), "from Python 3.12 on both count")
    def test_another_profiler_takes_its_place(self):
        profiler = cProfile.Profile()
        with deepclock.count() as c:
            fib(3)
            profiler.enable()
            fib(3)
        fib(3)
        profiler.disable()
        self.assertEqual([v[0] for k, v in pstats.Stats(profiler).stats.items() if k[2] == "fib"], [2])
        self.assertTrue(c.record.incomplete)
        self.assertIn("count-lost", [n.code for n in c.record.notes])
        with deepclock.count() as c:
            sys.setprofile(None)
        self.assertTrue(c.record.incomplete)
        with deepclock.count() as c:
            fib(3)
        self.assertFalse(c.record.incomplete)

    def test_begins_and_ends_inside_calls(self):
        c = deepclock.count()

        def begins():
            c.start()
            fib(3)

        def ends():
            fib(4)
            c.stop()
            fib(5)

        begins()
        ends()
        stats = {k[2]: v[:2] for k, v in c.stats.items()}
        self.assertEqual((stats["fib"], stats["ends"]), ((2, 14), (1, 1)))

    def test_exception_goes_on(self):
        c = deepclock.count()
        with self.assertRaises(ValueError):
            with c:
                raises(3)
        self.assertEqual({k[2]: v[:2] for k, v in c.stats.items()}["raises"], (1, 4))
        self.assertFalse(c.record.incomplete)

    def test_wrong_arguments(self):
        with self.assertRaises(TypeError):
            deepclock.count(3)

    def test_no_references_leak(self):
        def many():
            for _ in range(5):
                counted(lambda: work())

        many()
        before = sys.getrefcount(fib), sys.getrefcount(fib.__code__)
        many()
        deepclock.count(len, "a")  # releases the functions of the last counter
        after = sys.getrefcount(fib), sys.getrefcount(fib.__code__)
        self.assertLessEqual(after[1], before[1] + 1)
        self.assertEqual(after[0], before[0])


class Script(Case):
    def run_it(self, text, *options, after=()):
        path = self.path("script.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return subprocess.run([sys.executable, "-m", "deepclock", "count", *options, path, *after], cwd=self.folder,
                              text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_script(self):
        p = self.run_it("import sys, threading\n"
                        "def f(): return 1\n"
                        "def late(): [f() for _ in range(5)]\n"
                        "threading.Timer(0.1, late).start()\n"
                        "for _ in range(10): f()\n"
                        "sys.exit(3)\n", "--save", "r.json", "--format", "json")
        self.assertEqual((p.returncode, p.stderr), (3, ""))
        record = deepclock.load(self.path("r.json"))
        self.assertTrue(record.id)
        self.assertEqual(json.loads(p.stdout)["id"], record.id)
        table = record.tables["functions"]
        calls = {table[i]["name"]: table[i]["calls"] for i in range(len(table))}
        self.assertEqual((calls["f"], calls["late"], calls["<module>"]), (15, 1, 1))
        self.assertFalse([name for name in calls if "at_exit" in name])

    def test_file_for_pstats(self):
        p = self.run_it("def f(): pass\nfor _ in range(7): f()\n", "-o", "x.pstats")
        self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "", ""))
        stats = pstats.Stats(self.path("x.pstats")).stats
        self.assertEqual({k[2]: v[:2] for k, v in stats.items()}["f"], (7, 7))

    def test_orders(self):
        text = "def f(n): return n and f(n - 1)\ndef g(): f(20)\nfor _ in range(3): g()\n"
        # On a busy machine the interpreter's exit may take longer than the script.
        for word, column in (("cumulative", "total"), ("ncalls", "calls"), ("calls", "calls")):
            p = self.run_it(text, "--sort", word, "--no-builtins", "--save", "r.json", "-q")
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            record = deepclock.load(self.path("r.json"))
            values = [row[column] for row in record.tables["functions"]]
            self.assertEqual(values, sorted(values, reverse=True))
            self.assertEqual({r["name"]: r["calls"] for r in record.tables["functions"]}["f"], 63)
            self.assertEqual({r["name"]: r["primitive"] for r in record.tables["functions"]}["f"], 3)
            whole, primitive = (record.facts[f"count/{key}"].value for key in ("calls", "primitive_calls"))
            self.assertIn(f"; {whole} function calls ({primitive} primitive) in ", record.facts["result/answer"].value)
            self.assertEqual(whole - primitive, 60)
        with self.assertRaisesRegex(deepclock.ArgumentError, "sort='nothing'"):
            deepclock.count(sort="nothing")
        for wrong in ({"top": -1}, {"top": "3"}, {"title": 5}):  # not after the block
            with self.subTest(wrong), self.assertRaises((deepclock.ArgumentError, TypeError)):
                deepclock.count(**wrong)
        for title, kept in (("a\0b", "a?b"), ("\ud800", "?"), ("caf\udce9", "caf\udce9")):  # a record can have no other text
            with deepclock.count(title=title) as c:
                pass
            self.assertEqual(c.record.command, kept)

    def test_options_of_cprofile(self):
        p = self.run_it("pass", "-s", "time")
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertIn("-s is --save FILE; cProfile's -s time is --sort time", p.stderr)
        self.assertFalse(os.path.exists(self.path("time")))
        self.assertEqual(self.run_it("pass", "--save", "time", "-q").returncode, 0)
        self.assertTrue(os.path.exists(self.path("time")))
        p = self.run_it("pass", "--times", "sampled")
        self.assertEqual((p.returncode, p.stdout), (2, ""))
        self.assertIn("--times is for programs after '--'", p.stderr)

    def test_files_that_cannot_be_written(self):
        for option in ("--save", "--html", "--out"):
            p = self.run_it("print('ran')", option, "none/r.json")
            self.assertEqual((p.returncode, p.stdout), (1, ""), option)
            self.assertRegex(p.stderr, "^deepclock: .*none/r.json")
        # It was there at the beginning.
        for text, status in (("", 1), ("raise SystemExit(3)", 3), ("os._exit(0)", 1)):
            os.mkdir(self.path("later"))
            p = self.run_it(f"import shutil, os\nshutil.rmtree('later')\n{text}", "--save", "later/r.json")
            self.assertEqual(p.returncode, status, text)
            self.assertNotIn("Traceback", p.stderr)
            self.assertIn("function calls", p.stdout)
            self.assertNotIn("deepclock report", p.stdout)

    def test_script_elsewhere(self):
        os.mkdir(self.path("other"))
        p = self.run_it("import os\nos.chdir('other')", "--save", "r.json")
        self.assertEqual(p.returncode, 0, p.stderr)
        self.assertIn("deepclock report r.json --details", p.stdout)
        self.assertEqual(os.listdir(self.path("other")), [])
        deepclock.load(self.path("r.json"))

    def test_names_that_are_not_utf8(self):
        script = os.fsencode(self.path("caf")) + b"\xe9.py"
        with open(script, "w", encoding="utf-8") as file:
            file.write("def gr\u00f6\u00dfe(): pass\ngr\u00f6\u00dfe()\n")
        for encoding in ("utf-8", "ascii"):
            p = subprocess.run([sys.executable, "-m", "deepclock", "count", "--format", "csv", script], cwd=self.folder,
                               env={**os.environ, "PYTHONIOENCODING": encoding}, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((p.returncode, p.stderr), (0, b""))
            self.assertRegex(p.stdout, b"functions/gr.*/calls")

    def test_forked_child_is_counted(self):
        p = self.run_it("import os\ndef f(): pass\n"
                        "if os.fork() == 0:\n    f()\n    raise SystemExit\n"
                        "os.wait()\nf()\n", "--format", "csv")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertEqual(re.findall(r"functions/f/calls\",(\d+)", p.stdout), ["2"])

    def test_leaves_at_once(self):
        p = self.run_it("import os\ndef f(): pass\n"
                        "if os.fork() == 0:\n    os._exit(0)\n"
                        "os.wait()\nfor _ in range(9): f()\nos._exit(3)\n", "--save", "r.json", "--format", "csv")
        self.assertEqual((p.returncode, p.stderr), (3, ""))
        self.assertEqual(re.findall(r"functions/f/calls\",(\d+)", p.stdout), ["9"])
        deepclock.load(self.path("r.json"))

    @unittest.skipUnless(hasattr(os, "kill"), "no signals")
    def test_interrupted(self):
        p = self.run_it("import os, signal\ndef f(): os.kill(os.getpid(), signal.SIGINT)\nf()\n",
                        "--save", "r.json", "-q")
        self.assertEqual(p.returncode, 130)
        self.assertIn("KeyboardInterrupt", p.stderr)
        self.assertTrue(deepclock.load(self.path("r.json")).incomplete)

    @unittest.skipUnless(hasattr(os, "kill"), "no signals")
    def test_sigterm(self):
        p = self.run_it("import os, signal, time\ndef f(): os.kill(os.getpid(), signal.SIGTERM); time.sleep(5)\nf()\n",
                        "--save", "r.json")
        self.assertEqual((p.returncode, p.stderr), (130, ""))
        r = deepclock.load(self.path("r.json"))
        self.assertTrue(r.incomplete)
        self.assertNotIn("terminated", [row["name"] for row in r.tables["functions"]])

    def test_program(self):
        p = subprocess.run([sys.executable, "-m", "deepclock", "count", "--no-history", "--format", "csv", "--", "true"],
                           cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(p.returncode, 0)
        self.assertIn("counter/page-faults", p.stdout)


if __name__ == "__main__":
    main()
