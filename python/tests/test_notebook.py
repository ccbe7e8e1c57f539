# SPDX-License-Identifier: Apache-2.0
"""The magics in plain IPython and in a Jupyter kernel, and line timing."""

import importlib.util
import os
import subprocess
import sys
import threading
import time

from support import Case, deepclock, main

from deepclock.lines import Lines, code_of


def slow(n):
    total = 0
    for i in range(n):
        total += i
    time.sleep(0.02)
    return total


def yields(n):
    for i in range(n):
        yield i
    time.sleep(0.01)


def raises():
    time.sleep(0.01)
    raise KeyError


class LinesTest(Case):
    def lines(self, function, lines):
        code = code_of(function)
        return {line - code.co_firstlineno: (n, ns) for of, line, n, ns in lines.rows() if of is code}

    def test_lines_of_a_function(self):
        with Lines(slow) as lines:
            slow(10)
            slow(10)
        told = self.lines(slow, lines)
        self.assertEqual({line: n for line, (n, _) in told.items()},
                         {1: 2, 2: 22, 3: 20, 4: 2, 5: 2})
        self.assertGreaterEqual(told[4][1], 0.04e9)
        self.assertGreater(lines.watching_ns(), 0)

    def test_others_are_not_told(self):
        with Lines(slow) as lines:
            list(yields(3))
        self.assertEqual(lines.rows(), [])
        with self.assertRaises(TypeError):
            Lines(len)

    def test_generator_and_exception(self):
        with Lines(yields, raises) as lines:
            for _ in yields(3):
                time.sleep(0.01)  # not time of its lines
            for _ in range(2):
                try:
                    raises()
                except KeyError:
                    pass
            g = yields(3)
            next(g)
            try:
                g.throw(ValueError)
            except ValueError:
                pass
            deepclock.zone("wrapped")(raises)
        told = self.lines(yields, lines)
        self.assertEqual([told[line][0] for line in (2, 3)], [4, 1])
        self.assertGreaterEqual(told[3][1], 0.01e9)
        self.assertLess(told[2][1], told[3][1])
        told = self.lines(raises, lines)
        self.assertEqual([told[line][0] for line in (1, 2)], [2, 2])
        self.assertGreaterEqual(told[1][1], 0.02e9)

    def test_recursion_and_threads(self):
        def down(n):
            if n:
                down(n - 1)

        with Lines(down) as lines:
            threads = [threading.Thread(target=down, args=(5,)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual([n for n, _ in self.lines(down, lines).values()], [12, 10])

    def test_leaves_no_trace(self):
        before = sys.gettrace()
        with Lines(slow):
            pass
        self.assertIs(sys.gettrace(), before)
        if hasattr(sys, "monitoring"):
            self.assertNotIn("deepclock", [sys.monitoring.get_tool(i) for i in range(6)])


SCRIPT = r"""
%load_ext deepclock
data = list(range(100))
def f(n):
    total = sum(data)
    return total + n
%dck --runs=30 -w 2 --no-history -o one f(3)
assert one["runs/count"].value == 30, one
%dck -r 20 -w 2 f(3); f(4)
%dck --details -r 20 -w 2 f(5)
get_ipython().run_cell_magic("dck", "-r 20 --warmup 2 -o two n = 5", "f(n)\nassigned = f(n)")
get_ipython().run_cell_magic("dck", "-r 20 -w 2", "for i in range(2):\n    f(i)")
assert two["runs/count"].value == 20 and "assigned" not in dir()
%dck_lines -f f -o lines f(1); f(2)
assert [(name, n) for name, line, n, ns in lines] == [("f", 2), ("f", 2)], lines
%dck_memory -o memory big = bytearray(64 << 20)
assert memory["peak"] - memory["before"] > 60 << 20, memory
%dck_memory -f f -o by_line f(1); f(2)
assert by_line.tables["memory/source"]["occurrences"] == [2, 2], by_line
%dck_cells on
get_ipython().run_cell("x = 1")
%dck_cells off
get_ipython().run_cell("x = 2")
from IPython.core.error import UsageError
for wrong in (("dck", "--nothing 3 f(1)"), ("dck", ""), ("dck_lines", "f(1)"), ("dck_lines", "-f len f(1)"), ("dck_memory", "-f len f(1)"), ("dck_memory", "-f f")):
    try:
        get_ipython().run_line_magic(*wrong)
    except UsageError as error:
        print(error)
%unload_ext deepclock
assert not [name for kind in get_ipython().magics_manager.magics.values() for name in kind if name.startswith("dck")]
%load_ext deepclock
print("the", "end")
"""


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return ", ".join(missing) + " not installed" if missing else None


class MagicsTest(Case):
    def setUp(self):
        super().setUp()
        self.env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(deepclock.__file__))),
                    "IPYTHONDIR": self.path("ipython"), "HOME": self.folder,
                    "PYTHONWARNINGS": "ignore", "JUPYTER_PLATFORM_DIRS": "1"}

    def run_it(self, *words):
        return subprocess.run([sys.executable, *words], cwd=self.folder, env=self.env, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout

    def test_no_shell(self):
        if needs("IPython"):
            self.skipTest(needs("IPython"))
        with self.assertRaisesRegex(TypeError, "shell of IPython"):
            deepclock.load_ipython_extension(object())

    def test_plain_ipython(self):
        if needs("IPython"):
            self.skipTest(needs("IPython"))
        with open(self.path("script.ipy"), "w", encoding="utf-8") as file:
            file.write(SCRIPT)
        out = self.run_it("-m", "IPython", "--no-banner", "--colors=NoColor", "script.ipy")
        self.check(out)

    def check(self, out):
        self.assertNotIn("Traceback", out)
        self.assertRegex(out, r"f\(3\), 30 runs\n  median [\d.]+ .s  ")
        self.assertIn("f(3); f(4), 20 runs", out)
        self.assertEqual(out.count("\nPhases\n"), 1)
        self.assertRegex(out, r"(?m)^ +\d+ +2 +[\d.]+ \w+ +[\d.]+ \w+ +[\d.]+%      total = sum\(data\)$")
        self.assertRegex(out, r"(?m)^Being watched is [\d.]+ \w+ of each run of a line\.$")
        self.assertRegex(out, r"(?m)^peak [\d.]+ \wiB: 6\d\.\d MiB more than before; ")
        self.assertEqual(out.count("cell | "), 1)
        self.assertNotIn("cell 3 | ", out)
        self.assertIn("%dck has no option --nothing", out)
        self.assertIn("has no lines of Python", out)
        self.assertIn("%dck_lines needs functions and a statement", out)
        self.assertIn("the end", out)

    def test_kernel_of_jupyter(self):
        if needs("nbclient", "nbformat", "ipykernel"):
            self.skipTest(needs("nbclient", "nbformat", "ipykernel"))
        with open(self.path("run.py"), "w", encoding="utf-8") as file:
            file.write(NOTEBOOK % (sys.executable, SCRIPT))
        out = self.run_it("run.py")
        self.check(out)
        self.assertRegex(out, r"display epoch 1/2 1\.\d+ s\n")
        self.assertRegex(out, r"display cell \d+ 1\.\d+ s\n")
        self.assertIn("page 1 1 0 True", out)
        left = out.rstrip().splitlines()[-6:]
        self.assertRegex(left[0], r"^left 'epoch 1/2 \| 1\.\d+ s wall.*'$")
        self.assertRegex(left[1], r"^left 'cell \d+ \| 1\.\d+ s wall.*'$")
        self.assertRegex(left[2], r"^left 'sum\(.*\), \d+ runs\\n  median ")
        self.assertRegex(left[3], r"^left 'A \| 1\.\d+ s wall[^']*'$")  # the laps of %dck_cells have ended
        self.assertRegex(left[4], r"^left 'B \| 1\.\d+ s wall[^']*'$")
        self.assertRegex(left[5], r"^left 'ended after [\d.]+ m?s'$")
        self.assertNotIn("''", "".join(left))


    def test_a_statement_is_answered_in_few_lines(self):
        if needs("IPython"):
            self.skipTest(needs("IPython"))
        from deepclock import notebook

        class Note:
            def __init__(self, severity, code, text, remedy=""):
                self.severity, self.code, self.text, self.remedy = severity, code, text, remedy

        class Record:
            notes = [Note("warning", "a", "first; advice", "advice"), Note("info", "i", "not shown"), Note("warning", "a", "again"),
                     Note("warning", "b", "long " * 100), Note("error", "c", "long " * 100)]

            def __str__(self):
                return "f(x), 3 runs\n  median 1 ms\n\nrest"

        lines = notebook._headline(Record()).splitlines()
        self.assertEqual(lines[:2], ["f(x), 3 runs", "  median 1 ms"])
        self.assertRegex(lines[2], r"^  error: long long .* \.\.\. \(2 more: %dck --details\)$")
        self.assertEqual(len(lines), 3)
        self.assertLessEqual(len(lines[2]), 122)


NOTEBOOK = r'''
import json, nbclient, nbformat, os, sys
directory = os.path.join("kernels", "kernels", "here")
os.makedirs(directory)
with open(os.path.join(directory, "kernel.json"), "w") as file:
    json.dump({"argv": [%r, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
               "display_name": "here", "language": "python"}, file)
os.environ["JUPYTER_PATH"] = os.path.abspath("kernels")
cells = [r"""%s""", """import deepclock, time
with deepclock.lap("epoch", total=2): time.sleep(1.8)""",
         """print(deepclock.bench(sum, [1], runs=20).show("page.html"))""", "%%dck_cells on", "time.sleep(1.8)", "%%dck_cells off",
         "%%dck --warmup 2 --no-history sum(range(100000))",
         "with deepclock.lap('A'): time.sleep(1.2)", "with deepclock.lap('B'): time.sleep(1.2)",
         "record = deepclock.bench(time.sleep, .01, runs=50, warmup=10, no_history=True)"]
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
shown = []

class Client(nbclient.NotebookClient):
    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] == "update_display_data":
            shown.append(msg["content"]["data"]["text/plain"])
        return super().process_message(msg, cell, cell_index)

Client(notebook, kernel_name="here", timeout=300).execute()
for cell in notebook.cells:
    for output in cell.outputs:
        print(output.get("text", ""), *output.get("traceback", []))
for text in shown:
    print("display", text)
page = [o["data"]["text/html"] for o in notebook.cells[2].outputs if "text/html" in o.get("data", {})]
print("page", len(page), page[0].count("<iframe srcdoc="), page[0].count("<script"), os.path.exists("page.html"))
for cell in (1, 4, 6, 7, 8, 9):
    left = [o["data"]["text/plain"] for o in notebook.cells[cell].outputs if o.output_type == "display_data"]
    print("left", *map(repr, left))
'''


if __name__ == "__main__":
    main()
