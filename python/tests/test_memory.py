# SPDX-License-Identifier: Apache-2.0
"""Memory of Python's objects: exact bytes by call path, with concurrent threads and recordings."""

import gc
import json
import os
import subprocess
import sys
import threading
import tracemalloc
import unittest

from support import Case, deepclock, main

GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
BYTES = sys.getsizeof(b"")


def hold(n, size):
    kept = []
    for _ in range(n):
        kept.append(bytes(size))
    return kept


def let_go(n, size):
    for _ in range(n):
        bytes(size)


def many(n):
    return {i: str(i) * 3 for i in range(n)}


def inner():
    return bytes(5000)


def outer(n):
    if n:
        return outer(n - 1)
    return inner(), inner()


def yields(n):
    for _ in range(n):
        yield bytes(2000)


def rows(record, table):
    return [row for row in record.tables[table] if row["file"] and os.path.basename(row["file"]) == "test_memory.py"]


def row(record, table, name):
    found = [r for r in rows(record, table) if name in (r["name"], r.get("function"))]
    return found[0] if len(found) == 1 else {key: sum(r[key] or 0 for r in found) for key in
                                             ("at_peak", "allocated", "allocations", "temporary", "held")}


def nodes(record):
    """{path of names: own weights by key}"""
    tree = json.loads(record.to_json())["trees"][0]
    keys = [c["key"] for c in tree["columns"]]
    names = [f if isinstance(f, str) else f["name"] for f in tree["frames"]]
    paths, found = [], {}
    for parent, frame, *weights in tree["nodes"]:
        paths.append((paths[parent] if parent >= 0 else ()) + (names[frame].split(" ")[0],))
        found.setdefault(paths[-1], []).append(dict(zip(keys, weights)))
    return found


@unittest.skipUnless(GIL, "without the GIL it is refused")
class Heap(Case):
    def test_held_to_the_byte_with_its_line(self):
        hold(1, 1)
        with deepclock.memory() as m:
            kept = hold(1000, 777)
        r = m.record
        lines = {x["line"]: x for x in rows(r, "memory/lines") if x["function"] == "hold"}
        first = hold.__code__.co_firstlineno
        blocks = 1000 * (777 + BYTES)
        # append() allocates the list's capacity on the same line.
        self.assertEqual(lines[first + 3]["held"] - blocks, sys.getsizeof(kept) - sys.getsizeof([]))
        self.assertGreaterEqual(lines[first + 3]["allocations"], 1000)
        self.assertEqual(row(r, "memory/functions", "hold")["total"] >= blocks, True)
        self.assertGreaterEqual(r["memory/heap_peak"].value, blocks)
        self.assertEqual(len(kept), 1000)

    def test_peak_and_held_are_those_of_tracemalloc(self):
        def work():
            a = many(3000)
            b = hold(50, 1000)
            a.clear()
            return b

        work()
        gc.collect()
        gc.disable()
        self.addCleanup(gc.enable)
        m = deepclock.memory().start()
        kept = work()
        held, peak = m.held, m.peak
        m.stop()
        del kept
        tracemalloc.start()
        kept = work()
        theirs = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertLess(abs(held - theirs[0]), 500, (held, theirs))
        self.assertLess(abs(peak - theirs[1]), 500, (peak, theirs))
        self.assertEqual(len(kept), 50)

    def test_what_made_the_peak_is_not_what_is_held(self):
        with deepclock.memory() as m:
            small = hold(10, 1000)
            hold(100, 1000)
            again = hold(20, 1000)
        of = {x["line"]: x for x in rows(m.record, "memory/lines") if x["function"] == "hold"}
        line = of[hold.__code__.co_firstlineno + 3]
        self.assertLess(abs(line["at_peak"] - 110 * (1000 + BYTES)), 3000)
        self.assertLess(abs(line["held"] - 30 * (1000 + BYTES)), 3000)
        self.assertEqual(sum(w["at_peak"] for own in nodes(m.record).values() for w in own),
                         m.record["memory/heap_peak"].value)
        self.assertEqual(sum(w["held"] for own in nodes(m.record).values() for w in own),
                         m.record["memory/heap_held"].value)
        self.assertEqual((len(small), len(again)), (10, 20))

    def test_temporary(self):
        with deepclock.memory() as m:
            let_go(500, 3000)
            kept = hold(500, 3000)
        self.assertEqual(row(m.record, "memory/functions", "let_go")["temporary"], 500)
        self.assertLessEqual(row(m.record, "memory/functions", "hold")["temporary"], 1)
        self.assertGreaterEqual(m.record["memory/temporary"].value, 500)
        self.assertEqual(len(kept), 500)

    def test_call_paths(self):
        with deepclock.memory() as m:
            kept = outer(3)
        of = {path[-5:]: own for path, own in nodes(m.record).items() if path[-1] == "inner"}
        own = of[("outer",) * 4 + ("inner",)]
        self.assertEqual(sum(w["held"] for w in own), 2 * (5000 + BYTES))
        total = row(m.record, "memory/functions", "outer")
        self.assertEqual(total["total"], 2 * (5000 + BYTES) + total["at_peak"])  # recursion counts once
        self.assertEqual(len(kept), 2)

    def test_generators_and_comprehensions(self):
        with deepclock.memory() as m:
            kept = list(yields(10))
        self.assertEqual(row(m.record, "memory/functions", "yields")["held"], 10 * (2000 + BYTES))
        self.assertEqual(len(kept), 10)

    def test_deep_recursion(self):
        def down(n):
            return down(n - 1) if n else bytes(10000)

        with deepclock.memory() as m:
            kept = down(300)
        self.assertIn(300, [path.count("Heap.test_deep_recursion.<locals>.down") + path.count("down") - 1
                            for path in nodes(m.record)])
        self.assertEqual(len(kept), 10000)

    def test_blocks_of_before_and_after(self):
        before = hold(200, 600)
        grows = bytearray(10)
        m = deepclock.memory().start()
        del before
        for i in range(200):
            grows += bytes(100)
        inside = [bytearray(100) for _ in range(200)]
        held = m.held
        m.stop()
        self.assertGreater(held, 0)
        for a in inside:
            a += bytes(1000)
        del inside, grows
        self.assertLess(abs(m.record["memory/heap_held"].value - held), 100)

    def test_nested_and_crossed(self):
        a, b = deepclock.memory(), deepclock.memory()
        a.start()
        one = hold(10, 5000)
        b.start()
        two = hold(20, 5000)
        del one
        a.stop()
        three = hold(40, 5000)
        b.stop()
        self.assertEqual([round(r["memory/heap_held"].value / 5040) for r in (a.record, b.record)], [20, 60])
        self.assertEqual([round(r["memory/heap_peak"].value / 5040) for r in (a.record, b.record)], [30, 60])
        with self.assertRaises(deepclock.ArgumentError):
            with a:
                a.start()
        self.assertEqual(len(two) + len(three), 60)

    def test_beside_tracemalloc_in_any_order(self):
        def measured(*steps):
            m = deepclock.memory()
            for step in steps:
                if step == "kept":
                    kept = hold(10, 5000)
                else:
                    {"+": m.start, "-": m.stop, "t": tracemalloc.start, "u": tracemalloc.stop}[step]()
            self.assertEqual(len(kept), 10)
            return m.record

        for steps in ("+t", "kept", "u-"), ("t+", "kept", "-u"), ("+t", "kept", "-u"), ("+tu", "kept", "-"):
            r = measured(*steps[0], "kept", *steps[2])
            self.assertGreaterEqual(r["memory/heap_held"].value, 50000, steps)
            self.assertFalse(r.incomplete, steps)
        r = measured(*"t+", "kept", *"u-")
        self.assertTrue(r.incomplete)
        self.assertIn("memory-cut", [n.code for n in r.notes])
        r = measured(*"+", "kept", *"-")
        self.assertGreaterEqual(r["memory/heap_held"].value, 50000)
        self.assertFalse(r.incomplete)

    def test_threads(self):
        kept = []

        def work(k):
            for i in range(300):
                kept.append(bytes(1000))
                let_go(3, 100 * k)

        with deepclock.memory() as m:
            for _ in range(3):
                threads = [threading.Thread(target=work, args=(k + 1,)) for k in range(6)]
                for t in threads:
                    t.start()
                for t in threads:
                    t.join()
        held = sum(r["held"] for r in rows(m.record, "memory/functions") if "work" in r["name"])
        self.assertGreaterEqual(held, 18 * 300 * (1000 + BYTES))
        self.assertLess(held, 18 * 300 * (1000 + BYTES) + sys.getsizeof(kept) + 5000)
        self.assertEqual(m.record.facts["memory/lost"].value, 0)

    def test_started_and_stopped_while_threads_allocate(self):
        done = threading.Event()

        def work():
            while not done.is_set():
                hold(20, 700)
                os.listdir("/")

        threads = [threading.Thread(target=work) for _ in range(3)]
        for t in threads:
            t.start()
        for _ in range(100):
            with deepclock.memory() as m:
                many(20)
            self.assertGreater(m.record["memory/allocations"].value, 20)
        done.set()
        for t in threads:
            t.join()

    def test_functions_that_come_and_go(self):
        with deepclock.memory() as m:
            kept = []
            for i in range(3000):
                names = {}
                exec(compile(f"def made_{i % 7}():\n    return bytes({1000 + i % 7})", f"<made {i % 7}>", "exec"), names)
                kept.append(names[f"made_{i % 7}"]())
        made = [r for r in m.record.tables["memory/functions"] if r["name"].startswith("made_")]
        self.assertEqual({(r["name"][-1], r["file"]): r["held"] for r in made},
                         {(str(k), f"<made {k}>"): sum(1000 + k + BYTES for i in range(3000) if i % 7 == k) for k in range(7)})
        self.assertEqual(len(kept), 3000)

    def test_names_of_all_scripts(self):
        names = {}
        exec(compile("def größe():\n    return bytes(3000)\ndef 函数():\n    return größe()\n", "<Ω/𝔪.py>", "exec"), names)
        with deepclock.memory() as m:
            kept = names["函数"]()
        self.assertIn(("größe", "<Ω/𝔪.py>", 3000 + BYTES),
                      [(r["name"], r["file"], r["held"]) for r in m.record.tables["memory/functions"]])
        self.assertEqual(len(kept), 3000)

    def test_nothing_is_left_behind(self):
        def turn():
            with deepclock.memory() as m:
                many(10)
            return m

        def blocks():
            gc.collect()
            return sys.getallocatedblocks()

        for _ in range(20):
            turn()
        before = blocks()
        for _ in range(200):
            turn()
        self.assertLess(blocks() - before, 50)
        forgotten = deepclock.memory().start()
        del forgotten
        self.assertIsNone(deepclock._deepclock._heap_stop(0))

    def test_a_child_does_not_record(self):
        m = deepclock.memory().start()
        there, here = os.pipe()
        child = os.fork()
        if child == 0:
            hold(10, 1000)
            m.stop()
            with deepclock.memory() as other:
                kept = hold(10, 1000)
            told = (m.record is None, other.record["memory/heap_held"].value >= 10 * 1000, len(kept))
            os.write(here, repr(told).encode())
            os._exit(0)
        kept = hold(5, 4000)
        os.waitpid(child, 0)
        m.stop()
        self.assertEqual(os.read(there, 100), b"(True, True, 10)")
        self.assertGreaterEqual(m.record["memory/heap_held"].value, 20000)
        self.assertEqual(len(kept), 5)
        os.close(there)
        os.close(here)

    def test_an_exception_and_what_the_record_says(self):
        m = deepclock.memory()
        with self.assertRaises(KeyError):
            with m:
                kept = hold(3, 100)
                raise KeyError
        self.assertTrue(m.record.incomplete)
        self.assertIn("memory-raised", [n.code for n in m.record.notes])
        self.assertIn("raw, mem, obj", m.record.facts["memory/domains"].value)
        self.assertGreater(m.record.facts["memory/own_bytes"].value, 0)
        self.assertGreaterEqual(m.record.facts["memory/own_time"].value, 0)
        self.assertEqual(len(kept), 3)

    def run_python(self, text, *flags, **more):
        return subprocess.run([sys.executable, *flags, "-c", text], capture_output=True, text=True, timeout=300, **more)

    def test_other_interpreters(self):
        ran = self.run_python("import os, sys\n"
                              "try:\n    import _interpreters as i\nexcept ImportError:\n"
                              "    import _xxsubinterpreters as i\n"
                              "made = i.create()\n"
                              "text = '''if 1:\n"
                              "    try:\n        import deepclock\n        deepclock.bench(lambda: 1, runs=3)\n"
                              "    except Exception as e:\n        import os; os.write(1, type(e).__name__.encode())\n'''\n"
                              "i.run_string(made, text)\ni.destroy(made)\n")
        self.assertEqual(ran.stdout, "ImportError", ran.stderr)

    def test_other_allocators_and_a_recording_that_nobody_ends(self):
        text = ("import deepclock\nm = deepclock.memory().start()\nx = [bytes(100) for _ in range(1000)]\n"
                "x = None\ny = [str(i) for i in range(1000)]\n")
        for flags, env in (((), {}), (("-X", "dev"), {}), ((), {"PYTHONMALLOC": "malloc"}),
                           ((), {"PYTHONMALLOC": "malloc_debug"}), ((), {"PYTHONTRACEMALLOC": "5"})):
            ran = self.run_python(text, *flags, env={**os.environ, **env})
            self.assertEqual((ran.returncode, ran.stdout, ran.stderr), (0, "", ""), (flags, env))


SCRIPT = """
import sys, threading
def keeps(n, to):
    for _ in range(n):
        to.append(bytes(1000))
    return to
kept = keeps(100, [])
print("words", sys.argv[1:])
"""


@unittest.skipUnless(GIL, "without the GIL it is refused")
class Scripts(Case):
    def under(self, text, *options, words=()):
        with open(self.path("script.py"), "w", encoding="utf-8") as file:
            file.write(text)
        ran = subprocess.run([sys.executable, "-m", "deepclock", "memory", "--save", "r.json", *options, "script.py", *words],
                             cwd=self.folder, capture_output=True, text=True, timeout=300)
        return ran, deepclock.load(self.path("r.json"))

    def test_a_script(self):
        ran, r = self.under(SCRIPT, words=("-a", "b"))
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        self.assertTrue(ran.stdout.startswith("words ['-a', 'b']\n"))
        self.assertIn("at the peak", ran.stdout)
        self.assertEqual(r.command, "python -m deepclock memory script.py -a b")
        held = sum(x["held"] for x in r.tables["memory/functions"] if x["name"].startswith("keeps"))
        self.assertGreaterEqual(held, 100 * (1000 + BYTES))
        self.assertNotIn("_run_code", [x["name"] for x in r.tables["memory/functions"]])
        self.assertFalse(r.incomplete)

    def test_the_answer_names_a_line_of_the_users(self):
        text = "import json\ndef load(n):\n return json.loads('[' + ','.join(['[1.5]'] * n) + ']')\nkept = load(50000)\n"
        ran, record = self.under(text)
        self.assertRegex(" ".join(ran.stdout.split()), r"of it by script\.py:3 \(load\)")

    def test_however_it_ends(self):
        for end, status, told in (("sys.exit(3)", 3, ""), ("1 / 0", 1, "ZeroDivisionError"),
                                  ("import os, signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
                                   "os.kill(os.getpid(), signal.SIGINT)\nimport time; time.sleep(5)", 130,
                                   "KeyboardInterrupt")):
            ran, r = self.under(SCRIPT + end)
            self.assertEqual(ran.returncode, status, ran.stderr)
            self.assertIn(told, ran.stderr)
            held = sum(x["held"] for x in r.tables["memory/functions"] if x["name"].startswith("keeps"))
            self.assertGreaterEqual(held, 100 * (1000 + BYTES))
            self.assertEqual(r.incomplete, status == 130)

    def test_sigterm(self):
        kill = "import os, signal, time\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(5)\n"
        ran, r = self.under(SCRIPT + kill)
        self.assertEqual(ran.returncode, 130, ran.stderr)
        self.assertTrue(r.incomplete)
        self.assertIn("SIGTERM ended it", [n.text for n in r.notes])
        forks = ("import os, signal, time\nchild = os.fork()\nif child == 0:\n    time.sleep(5)\ntime.sleep(0.1)\n"
                 "os.kill(child, signal.SIGTERM)\nassert os.waitpid(child, 0)[1] == signal.SIGTERM\n"
                 "signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))\nos.kill(os.getpid(), signal.SIGTERM)\ntime.sleep(5)\n")
        ran, r = self.under(SCRIPT + forks)
        self.assertEqual(ran.returncode, 7, ran.stderr)
        self.assertFalse(r.incomplete)

    def test_lines(self):
        for name in ("keeps", "script.py"):
            ran, r = self.under(SCRIPT, "--lines", name)
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))
            of = {x["name"]: x for x in r.tables["memory/source"] if x["function"] == "keeps"}
            self.assertGreaterEqual(of["script.py:5"]["python"], 100 * (1000 + BYTES))
            self.assertEqual(of["script.py:5"]["source"], "to.append(bytes(1000))")
            # The requested lines are the answer.
            self.assertEqual(next(iter(r.tables)), "memory/source")
            answer = ran.stdout.split("\n", 2)[2]
            self.assertRegex(" ".join(answer.split()), r"^script\.py:\d+ \(\S+\) adds the most")
            self.assertRegex(answer, r"\n  line .*increment .*Python .*\n")
            self.assertRegex(answer, r"\n  script\.py:5 .* 100\b")
            self.assertTrue(answer.endswith("the rest: deepclock report r.json --details\n"), answer)
            self.assertEqual(r.command, f"python -m deepclock memory --lines {name} script.py")

    def test_lines_of_no_function(self):
        for end in ("", "import sys; sys.exit()"):
            ran, r = self.under(SCRIPT + end, "--lines", "nosuch", "--lines", "keeps")
            self.assertEqual((ran.returncode, ran.stderr), (1, "deepclock: --lines nosuch: no function of that name was "
                                                               "found among those that ran\n"))
            self.assertIn("adds the most", ran.stdout)
        ran, r = self.under(SCRIPT, "--lines", "nosuch")
        self.assertEqual(ran.returncode, 1)
        self.assertIn("none of the lines ran", ran.stdout)
        ran, r = self.under("import threading\ndef late(): pass\nthreading.Timer(0.1, late).start()", "--lines", "late")
        self.assertEqual((ran.returncode, ran.stderr), (0, ""))
        ran, r = self.under(SCRIPT + "import sys; sys.exit(3)", "--lines", "nosuch")
        self.assertEqual(ran.returncode, 3)


class Refused(Case):
    @unittest.skipIf(GIL, "it has the GIL")
    def test_without_the_gil(self):
        with self.assertRaises(deepclock.UnsupportedError):
            deepclock.memory().start()


class Profiled(Case):
    def test_a_bare_profile(self):
        for decorator in ("@profile", "@profile(precision=4)"):
            with open(self.path("nn.py"), "w", encoding="utf-8") as file:
                file.write(decorator + "\ndef learn():\n    a = bytearray(3 << 20)\n    return a\n"
                           "def other():\n    return 1\nlearn(), other()\n")
            p = subprocess.run([sys.executable, "-m", "deepclock", "memory", "--save", "r.json", "nn.py"], cwd=self.folder,
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((p.returncode, p.stderr), (0, ""))
            self.assertRegex(p.stdout, r"nn\.py:3 \(learn\) adds the most: 3\.\d+ MiB in 1 run")
            self.assertEqual(list(deepclock.load(self.path("r.json")).tables["memory/source"]["name"]), ["nn.py:3", "nn.py:4"])


if __name__ == "__main__":
    main()
