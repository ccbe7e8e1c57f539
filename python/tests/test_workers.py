# SPDX-License-Identifier: Apache-2.0
"""bench(f, processes=N): scripts that are started again for each process."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import unittest

import deepclock
from support import Case, short

HEAD = """
    import os, sys, deepclock
    def log(name):
        with open("log", "a") as f:
            f.write(name + " " + ("worker" if "DEEPCLOCK_WORKER" in os.environ else "script") + "\\n")
    SHORT = {"runs": 20, "warmup": 2, "no_history": True, "processes": 3}
"""


class WorkersTest(Case):
    def script(self, text, name="script.py"):
        os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(HEAD) + textwrap.dedent(text))

    def run_it(self, *words, code=0, **options):
        done = subprocess.run([sys.executable, *(words or ["script.py"])], cwd=self.folder, capture_output=True, text=True,
                              timeout=50, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def lines(self, name="log"):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read().splitlines()

    def test_one_call(self):
        self.script("""
            log(" ".join(sys.argv[1:]))
            print("printed")
            print("an error", file=sys.stderr)
            if __name__ == "__main__":
                r = deepclock.bench(lambda: None, save="r.json", **SHORT)
                log("after")
                print(deepclock.load("r.json") == r)
        """)
        done = self.run_it("-W", "ignore", "script.py", "--some", "words")
        self.assertEqual(done.stdout, "printed\nTrue\n")
        self.assertEqual(done.stderr, "an error\n")
        self.assertEqual(self.lines(), ["--some words script", *3 * ["--some words worker"], "after script"])
        r = deepclock.load(self.path("r.json"))
        self.assertEqual((r.facts["method/processes"].value, r.facts["plan/processes"].value), (3, 3))
        self.assertEqual([tag for tag in r.series if tag.startswith("lat")], [f"latency/process/{i}" for i in (1, 2, 3)])
        self.assertEqual(r["latency/median"].level, 0.75)
        self.assertEqual(r["runs/count"].value, 60)
        self.assertIn(" of 3 processes", str(r))
        self.assertEqual(r.facts["subject/kind"].value, "function")
        self.assertFalse(r.incomplete)

    def test_several_calls(self):
        """A worker measures its own call alone, has the records of those before it, and comes to none after it."""
        self.script("""
            def f(name):
                if not f.last == name:
                    log(name)
                f.last = name
            f.last = None
            a = deepclock.bench(f, "a", **SHORT)
            b = deepclock.bench(f, "b" if a["runs/count"].value == 60 else "wrong", **SHORT)
            here = deepclock.bench(f, "c", **{**SHORT, "processes": 1})
            print(a["runs/count"].value, b["runs/count"].value, here["runs/count"].value)
        """)
        self.assertEqual(self.run_it().stdout, "60 60 20\n")
        self.assertEqual(self.lines(), [*3 * ["a worker"], *3 * ["b worker"], "c script"])

    def test_package_and_text(self):
        self.script("""
            import atexit
            atexit.register(log, "atexit")
            print(deepclock.bench("sum(range(10))", **SHORT).facts["method/processes"].value)
        """, "package/__main__.py")
        self.assertEqual(self.run_it("-m", "package").stdout, "3\n")
        self.assertEqual(self.lines(), [*3 * ["atexit worker"], "atexit script"])
        if sys.version_info >= (3, 10):
            text = textwrap.dedent(HEAD) + 'print(deepclock.bench(abs, 1, **SHORT).facts["method/processes"].value)'
            self.assertEqual(self.run_it("-c", text).stdout, "3\n")

    def test_where_there_is_no_script(self):
        text = textwrap.dedent(HEAD) + "deepclock.bench(abs, 1, **SHORT)\n"
        done = self.run_it("-", code=1, input=text)
        self.assertRegex(done.stderr, "UnsupportedError.*the standard input")
        done = self.run_it("-i", "-q", "-c", "1", code=0, input="import deepclock\ndeepclock.bench(abs, 1, processes=2)\n")
        self.assertRegex(done.stderr, "UnsupportedError.*interactive session")
        self.script("""
            import builtins
            builtins.get_ipython = None
            deepclock.bench(abs, 1, **SHORT)
        """)
        self.assertRegex(self.run_it(code=1).stderr, "UnsupportedError.*notebook")
        with self.assertRaisesRegex(deepclock.UnsupportedError, "a test of unittest"):
            deepclock.bench(abs, 1, **short(processes=2))

    def test_exceptions(self):
        self.script("""
            def f():
                raise LookupError("it is missing")
            try:
                deepclock.bench(f, **SHORT)
            except deepclock.EngineError as e:
                print(e)
        """)
        self.assertRegex(self.run_it().stdout, "started again, raised LookupError: it is missing")
        # Of the processes before it the record remains.
        self.script("""
            if "DEEPCLOCK_WORKER" in os.environ:
                log("begin")
                if len(open("log").readlines()) == 3:
                    os.abort()
            r = deepclock.bench(abs, 1, **SHORT)
            print(r.incomplete, r.facts["method/processes"].value, [n.text for n in r.notes if n.code == "engine-failed"])
        """)
        self.assertRegex(self.run_it().stdout, r"True 2 \['process 3 of 3 failed: .*killed by signal 6")

    def test_after_an_exception(self):
        """A worker does not run on, and calls are counted whether they raised or not."""
        self.script("""
            def slow():
                if "DEEPCLOCK_WORKER" in os.environ:
                    raise ValueError("in a worker")
            def fast():
                log("fast")
            for f in slow, fast:
                try:
                    print(deepclock.bench(f, **SHORT).facts["subject/name"].value)
                except Exception as e:
                    print(e)
                log("after")
        """)
        self.assertRegex(self.run_it().stdout, r"raised ValueError: in a worker\n.*fast")
        self.assertEqual(self.lines()[:2], ["after script", "after worker"])

    def test_a_worker_that_never_comes_there(self):
        self.script("""
            if "DEEPCLOCK_WORKER" not in os.environ:
                deepclock.bench(abs, 1, **SHORT)
        """)
        self.assertRegex(self.run_it(code=1).stderr, "EngineError: .*exit status 0 before it had measured call 1")

    def test_interrupt(self):
        """Ctrl-C ends the worker; what was measured until then is returned, and nothing runs on."""
        self.script("""
            import time
            def f():
                time.sleep(0.01)
                log(str(os.getpid()))
            r = deepclock.bench(f, **{**SHORT, "runs": 400})
            print(r.incomplete, any(n.code == "interrupted" for n in r.notes))
        """)
        script = subprocess.Popen([sys.executable, "script.py"], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        end = time.monotonic() + 40
        while time.monotonic() < end and not (os.path.exists(self.path("log")) and len(self.lines()) > 20):
            time.sleep(0.05)
        script.send_signal(signal.SIGINT)
        self.assertEqual(script.communicate(timeout=40)[0], "True True\n")
        worker = int(self.lines()[0].split()[0])
        self.assertRaises(ProcessLookupError, os.kill, worker, 0)

    def test_one_process_says_so(self):
        r = deepclock.bench(abs, 1, **short())
        self.assertIn(" of one process", str(r))
        self.assertEqual(r.facts["method/processes"].value, 1)


if __name__ == "__main__":
    unittest.main()
