# SPDX-License-Identifier: Apache-2.0
"""Memory of each line: planted allocations are found on their lines, with the peak within the line."""

import contextlib
import io
import os
import sys
import threading
import unittest

from support import Case, deepclock, main

from deepclock.line_memory import LineMemory

GIL = getattr(sys, "_is_gil_enabled", lambda: True)()
MIB = 1 << 20
BYTES = sys.getsizeof(b"")
ARRAY = sys.getsizeof(bytearray())


def touched(n):
    return bytearray(b"x") * n


def planted(n):
    a = touched(64 * MIB)
    b = len(touched(96 * MIB))
    for _ in range(n):
        b += 1
    del a
    return b


def down(n):
    if n:
        return down(n - 1)
    return len(touched(50 * MIB))


def loops(n):
    a = []
    for i in range(n): a.append(i)
    b = touched(64 * MIB)
    return len(b)


def yields(n):
    for _ in range(n):
        yield bytes(3000)


def raises():
    kept = bytes(4000)
    raise KeyError(len(kept))


def told(m, function):
    """{line within the function: Row}"""
    return {row.line - function.__code__.co_firstlineno: row for row in m.rows if row.code is function.__code__}


@unittest.skipUnless(GIL, "without the GIL the allocators are refused")
class LinesOfMemory(Case):
    def test_kinds_of_methods(self):
        class Kinds:
            @deepclock.memory.lines
            @staticmethod
            def of_none(n):
                return n

            @deepclock.memory.lines
            @classmethod
            def of_class(cls, n):
                return cls, n

            @deepclock.memory.lines
            def of_object(self, n):
                return self, n

        with contextlib.redirect_stderr(io.StringIO()) as err:
            one = Kinds()
            self.assertEqual((one.of_none(1), Kinds.of_none(2)), (1, 2))
            self.assertEqual((one.of_class(1), Kinds.of_class(2)), ((Kinds, 1), (Kinds, 2)))
            self.assertEqual((one.of_object(1), Kinds.of_object(one, 2)), ((one, 1), (one, 2)))
            self.assertEqual(deepclock.memory.lines(one.of_object.__func__.__wrapped__)(one, 3), (one, 3))
        self.assertEqual(err.getvalue().count("resident at most"), 7)

    def test_equal_bytes_are_said_once(self):
        class Watched:
            tells_peaks = True

            def __init__(self, peak):
                self.peak = peak

            def rows(self):
                return [(planted.__code__, 1, 1, 0, 40 * MIB, 4 * MIB, self.peak, 0, 0)]

        self.assertRegex(LineMemory(Watched(4 * MIB + 1)).answer(), r" adds the most: 4\.\d+ MiB in 1 run; 4\d\.\d MiB resident")
        self.assertRegex(LineMemory(Watched(9 * MIB)).answer(), r" 4\.\d+ MiB in 1 run, and 9\.\d+ MiB for a while inside it; ")

    def test_planted_bytes(self):
        with deepclock.memory.lines(planted) as m:
            planted(7)
            planted(3)
        rows = told(m, planted)
        self.assertEqual({line: row.runs for line, row in rows.items()}, {1: 2, 2: 2, 3: 12, 4: 10, 5: 2, 6: 2})
        # Exact by the allocators, approximate by the resident set.
        self.assertLess(abs(rows[1].python_added - 2 * 64 * MIB), 1000)
        self.assertLess(abs(rows[2].python_added), 1000)
        self.assertLess(abs(rows[2].python_peak - 96 * MIB), 1000)
        self.assertLess(abs(rows[5].python_added + 2 * 64 * MIB), 1000)
        self.assertGreater(rows[1].added, 110 * MIB)
        self.assertLess(rows[2].added, 20 * MIB)
        self.assertLess(rows[5].added, -110 * MIB)
        self.assertGreater(rows[1].resident, 64 * MIB)
        self.assertLess(max(rows[line].added for line in (3, 4, 6)), 8 * MIB)
        if m.rows and m.record.tables["memory/source"]["peak"][0] is not None:
            self.assertGreater(rows[2].peak, 80 * MIB)
            self.assertLess(rows[4].peak, 8 * MIB)

    def test_the_peak_of_a_line_is_that_of_what_it_calls(self):
        with deepclock.memory.lines(down) as m:
            down(5)
        rows = told(m, down)
        self.assertEqual({line: row.runs for line, row in rows.items()}, {1: 6, 2: 5, 3: 1})
        for line in (2, 3):
            self.assertGreaterEqual(rows[line].python_peak, 50 * MIB)
            if m.record.tables["memory/source"]["peak"][0] is not None:
                self.assertGreater(rows[line].peak, 40 * MIB)
        self.assertLess(rows[1].python_peak, MIB)

    def test_generators_exceptions_threads(self):
        with deepclock.memory.lines(yields, raises, planted, python=True) as m:
            kept = []
            for item in yields(5):
                kept.append(item)
                kept.append(touched(MIB))  # not memory of its lines
            with self.assertRaises(KeyError):
                raises()
            threads = [threading.Thread(target=planted, args=(4,)) for _ in range(2)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        rows = told(m, yields)
        self.assertLess(abs(rows[2].python_added - 5 * (3000 + BYTES)), 1000)
        self.assertEqual(rows[2].runs, 5)
        self.assertLess(abs(told(m, raises)[1].python_added - 4000 - BYTES), 200)
        self.assertEqual(told(m, planted)[4].runs, 8)

    def test_many_turns(self):
        with deepclock.memory.lines(loops) as m:
            loops(20000)
        first = loops.__code__.co_firstlineno
        of = {row.line - first: row for row in m.rows}
        # sys.monitoring has no event for a jump back to the current line.
        self.assertIn(of[2].runs, (1,) if hasattr(sys, "monitoring") else (20000, 20001))
        self.assertEqual((of[1].runs, of[3].runs), (1, 1))
        if GIL:
            self.assertGreaterEqual(of[2].python_added, 20000 * 8)
        self.assertLess(of[2].added, 16 * MIB)
        self.assertGreater(of[3].added, 60 * MIB)

    @unittest.skipIf(hasattr(sys, "monitoring"), "from Python 3.12 on no trace function is needed")
    def test_trace_functions_of_others(self):
        def hook(*event):
            return None

        ended, seen = threading.Event(), []

        def runs_longer():
            ended.wait()
            seen.append(sys.gettrace())

        threading.settrace(hook)
        self.addCleanup(threading.settrace, None)
        thread = None
        with deepclock.memory.lines(planted):
            thread = threading.Thread(target=runs_longer)
            thread.start()
        ended.set()
        thread.join()
        self.assertIs(threading._trace_hook, hook)
        self.assertEqual(seen, [None])
        with deepclock.memory.lines(planted):
            sys.settrace(hook)
        self.addCleanup(sys.settrace, None)
        self.assertIs(sys.gettrace(), hook)

    def test_decorator(self):
        @deepclock.memory.lines
        def f(n, *, add):
            """What it says."""
            kept = bytes(n)
            return kept + add

        class Net:
            @deepclock.memory.lines
            def forward(self, n):
                return [self, n]

        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.assertEqual(f(5, add=b"1"), bytes(5) + b"1")
            net = Net()
            self.assertEqual(net.forward(3), [net, 3])
        self.assertEqual((f.__name__, f.__doc__), ("f", "What it says."))
        text = said.getvalue()
        self.assertIn("kept = bytes(n)", text)
        self.assertIn("return [self, n]", text)
        self.assertIn("increment", text)
        with self.assertRaises(TypeError):
            deepclock.memory.lines(yields)(3)
        with self.assertRaises(TypeError):
            deepclock.memory.lines(len)
        with self.assertRaises(TypeError):
            deepclock.memory.lines()

    def test_decorator_of_a_function_that_raises(self):
        said = io.StringIO()

        @deepclock.memory.lines
        def fails():
            raise KeyError("planted")

        with contextlib.redirect_stderr(said), self.assertRaises(KeyError):
            fails()
        self.assertIn('raise KeyError("planted")', said.getvalue())

    def test_a_record(self):
        m = deepclock.memory.lines(planted, python=False)
        self.assertIsNone(m.record)
        with m:
            planted(2)
        table = m.record.tables["memory/source"]
        self.assertEqual(table["occurrences"], [1, 1, 3, 2, 1, 1])
        self.assertEqual(table["source"][1], "b = len(touched(96 * MIB))")
        self.assertEqual(set(table["python"]), {None})
        self.assertEqual(os.path.basename(table["file"][0]), "test_line_memory.py")
        self.assertIn("planted", str(m))
        with self.assertRaises(deepclock.ArgumentError):
            with m:
                m.__enter__()
        self.assertIsNone(sys.gettrace())


if __name__ == "__main__":
    main()
