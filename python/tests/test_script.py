# SPDX-License-Identifier: Apache-2.0
"""Scripts under `python -m deepclock COMMAND` have the same environment, output and exit as under `python`."""

import os
import subprocess
import sys
import time
import unittest
import unittest.mock

from support import Case, limit, main

# A minimal command that runs scripts.
COMMAND = [sys.executable, "-c", """
import os, sys
from deepclock import _script
sys.path[0] = os.getcwd()  # as under python -m
script = _script.split(_script.parser("test", "nothing"), sys.argv[1:])
sys.argv[:] = ["deepclock"]
_script.at_exit(script, lambda: print("END", file=sys.stderr))
_script.run(script)
"""]

SEEN = """
import __main__, os, sys
print(__name__, sys.argv, __file__ if "__file__" in globals() else None, sys.path[0], __package__, bool(__spec__))
print(sorted(k for k in globals() if k.startswith("__")), __main__ is sys.modules["__main__"], __main__.__dict__ is globals())
"""


class Scripts(Case):
    def both(self, *words, **more):
        """Runs the script under Python and under the command; returns (exit status, stdout, stderr) of each."""
        done = []
        for before in ([sys.executable], COMMAND):
            p = subprocess.run([*before, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
            done.append((p.returncode, p.stdout, p.stderr))
        return done

    def same(self, *words, end=True):
        plain, under = self.both(*words)
        self.assertEqual((plain[0], plain[1], plain[2] + ("END\n" if end else "")), under)
        return under

    def write(self, name, text):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_what_it_sees(self):
        path = self.write("a/script.py", SEEN)
        os.symlink(path, self.path("link.py"))
        self.write("pack/__init__.py", "")
        self.write("pack/__main__.py", SEEN)
        self.write("pack/part.py", SEEN)
        self.same("a/script.py", "x", "--details", "-o", "y")
        self.same(path)
        self.same("link.py")
        self.same("-m", "pack.part", "-x")
        self.same("-m", "pack")
        code, out, _ = self.both("-c", SEEN, "1", "-2")[1]
        self.assertEqual((code, out.split("\n")[0]), (0, "__main__ ['-c', '1', '-2'] None  None False"))

    def test_options_of_the_program(self):
        """Words before "--" are options of the program, whose values are not scripts; --html works for both."""
        self.write("script.py", "x = [0] * 1000")
        page = self.path("page.html")
        for words in (["memory", "--rate", "100", "--html", page, "--", "true"], ["memory", "--html", page, "script.py"],
                      ["count", "--events", "page-faults", "--html", page, "--", "true"]):
            done = subprocess.run([sys.executable, "-m", "deepclock", *words], cwd=self.folder, text=True, capture_output=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            with open(page, encoding="utf-8") as file:
                self.assertIn("<html", file.read())
            os.remove(page)
        done = subprocess.run([sys.executable, "-m", "deepclock", "memory", "--pid", str(os.getpid()), "--time", "100ms"],
                              text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([sys.executable, "-m", "deepclock", "count", "--nothing", "script.py"], cwd=self.folder, text=True,
                              capture_output=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("option '--nothing'", done.stderr)

    def test_folder_is_a_program(self):
        self.write("program/__main__.py", "import beside, sys; print(__name__, beside.x, sys.argv)")
        self.write("program/beside.py", "x = 7")
        self.same("program", "1")

    def test_how_it_ends(self):
        for text in ("pass", "import sys; sys.exit(3)", "import sys; sys.exit('so')", "raise SystemExit",
                     "import atexit, sys; atexit.register(print, 'later'); sys.exit(2)",
                     "import threading, time\n"
                     "threading.Thread(target=lambda: (time.sleep(0.2), print('late'))).start()"):
            with self.subTest(text):
                self.same(self.write("script.py", text))
        self.same(self.write("script.py", "import os; os._exit(5)"))

    def test_streams_that_the_script_replaces(self):
        """The result goes where the script's output goes, also to an object with write() and flush() alone."""
        text = ("import sys\nclass Tee:\n    def __init__(self, to): self.write, self.flush = to.write, to.flush\n"
                "sys.stdout, sys.stderr = Tee(sys.stdout), Tee(sys.stderr)\n"
                "import deepclock\ndeepclock.bench(sum, [1], runs=3, warmup=1, no_history=True)\n")
        for command in "count", "memory":
            p = subprocess.run([sys.executable, "-m", "deepclock", command, self.write("script.py", text)], text=True, capture_output=True)
            self.assertEqual((p.returncode, p.stderr), (0, ""), command)
            self.assertIn("script.py", p.stdout)

    def test_closed_stdout(self):
        p = subprocess.run(f'exec "{sys.executable}" -m deepclock version >&-', shell=True, text=True, stderr=subprocess.PIPE)
        self.assertNotIn("Traceback", p.stderr)

    def test_exceptions(self):
        for text in ("def f():\n    1 / 0\nf()", "import nothing_of_this_name", "x = = 1",
                     "try:\n    1 / 0\nexcept Exception as e:\n    raise ValueError('x') from e",
                     "import sys\nsys.excepthook = lambda *e: print('mine', e[0].__name__)\nraise KeyError"):
            with self.subTest(text):
                plain, under = self.both(self.write("script.py", text))
                self.assertEqual(plain[:2], under[:2])
                self.assertEqual(under[0], 1)
                theirs = [line for line in plain[2].splitlines() if not line.startswith("  File")]
                for line in theirs:
                    self.assertIn(line, under[2])
                self.assertNotIn("_script.py", under[2])

    def test_what_is_not_there(self):
        for words in (["nothing.py"], ["-m", "nothing_of_this_name"], ["-m", "nothing_of_this.name"]):
            plain, under = self.both(*words)
            self.assertEqual(plain[0], under[0], words)
            self.assertNotIn("Traceback", under[2])

    def test_pickle_and_processes(self):
        self.same(self.write("script.py", "import multiprocessing, pickle\n"
                             "class C: pass\n"
                             "def f(x): return 2 * x\n"
                             "if __name__ == '__main__':\n"
                             "    print(type(pickle.loads(pickle.dumps(C()))) is C)\n"
                             "    for how in 'fork', 'spawn':\n"
                             "        with multiprocessing.get_context(how).Pool(1) as p:\n"
                             "            print(p.map(f, [1, 2]))\n"))

    def test_forked_child_ends_alone(self):
        self.same(self.write("script.py", "import os, sys\n"
                             "if os.fork() == 0:\n    sys.exit(3)\n"
                             "print(os.waitstatus_to_exitcode(os.wait()[1]))\n"))

    def test_wrong_usage(self):
        for words in ([], ["-c"], ["-m"], ["--format", "nothing", "x.py"]):
            code, _, errors = self.both(*words)[1]
            self.assertEqual(code, 2, words)
            self.assertIn("usage:", errors)


    def test_no_history_is_an_option_of_every_script_command(self):
        for command in "count", "memory":
            p = subprocess.run([sys.executable, "-m", "deepclock", command, "--no-history", "-q", "-c", "print(5)"],
                               text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual((p.returncode, p.stdout, p.stderr), (0, "5\n", ""), command)


class Trace(Case):
    def test_script_is_traced(self):
        script = self.path("script.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write("import deepclock, sys\nwith deepclock.zone('work'):\n    print(sys.argv[1:], __name__)\n")
        p = subprocess.run([sys.executable, "-m", "deepclock", "trace", "--no-history", "--quiet", "-o", "t.pftrace", "--format", "csv",
                            script, "-o"],
                           cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertEqual(p.stdout.splitlines()[0], "['-o'] __main__")
        self.assertIn("work", p.stdout)
        self.assertTrue(os.path.getsize(self.path("t.pftrace")))
        p = subprocess.run([sys.executable, "-m", "deepclock", "trace", "--no-history", "-q", "-o", "u.pftrace", "-s", "r.json", script],
                           cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertTrue(os.path.getsize(self.path("r.json")))


class Hangs(Case):
    """Not collected: Limits runs it."""

    def hangs(self):
        time.sleep(100)


class Limits(unittest.TestCase):
    def test_a_case_that_hangs(self):
        result = unittest.TestResult()
        with unittest.mock.patch.object(limit, "SECONDS", 1), unittest.mock.patch.object(limit, "HEAVY_SECONDS", 1):
            Hangs("hangs").run(result)
        self.assertIn("Hangs.hangs: still running after 1 s and killed", result.errors[0][1])


if __name__ == "__main__":
    main()
