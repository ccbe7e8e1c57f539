# SPDX-License-Identifier: Apache-2.0
"""Statements: deepclock.bench("x.dot(x)", setup="..."), and python -m deepclock timeit with timeit's options."""

import re
import subprocess
import sys

from support import Case, deepclock, main, short

from deepclock import _statement, _timeit_script

DATA = [1, 2, 3]
# Two calls are short, the next two long.
ALTERNATING = ("import itertools, time; calls = itertools.count()\ndef run(): "
               "time.sleep(0.0005 if next(calls) % 4 < 2 else 0.004)")


class Statements(Case):
    def test_bench(self):
        record = deepclock.bench("total = sum(x) + sum(DATA)", setup="x = [4]", **short())
        self.assertEqual(record["runs/count"].value, 20)
        self.assertIn("total = sum(x) + sum(DATA), 20 runs", str(record))
        record = deepclock.bench("sum(y)", globals={"y": [1]}, **short())
        self.assertEqual(record["runs/count"].value, 20)

    def test_indented_statements(self):
        for text in ("for x in DATA:\n    x + 1", "\n    for x in DATA:\n        x + 1\n    x + 2\n", "  sum(DATA)"):
            self.assertEqual(deepclock.bench(text, **short())["runs/count"].value, 20)

    def test_setup_runs_once_and_is_assigned(self):
        seen = []
        deepclock.bench("n += 1\nseen.append(n)", setup="n = 0", globals={"seen": seen}, **short(warmup=0))
        self.assertEqual(seen, list(range(1, 21)))
        seen.clear()
        for result in (None, "no statement", seen):  # what a function returns is dropped
            seen.clear()
            deepclock.bench("pass", setup=lambda: (seen.append(1), result)[1], **short())
            self.assertEqual(seen, [1])

    def test_wrong(self):
        for wrong, error in ((("x y",), SyntaxError), (("return 1",), SyntaxError), (("nothing_of_this_name",), NameError), (("pass", 1), TypeError),
                             (("zoo:resnet18",), TypeError)):
            with self.assertRaises(error):
                deepclock.bench(*wrong, **short())
        with self.assertRaisesRegex(TypeError, "setup and globals belong to a statement"):
            deepclock.bench(sum, [1], setup="pass")

    def test_how_long(self):
        self.assertEqual(_statement.brief({"runs": 3}), {"runs": 3})
        self.assertEqual(_statement.brief({"max_time": None, "seed": 1})["max_time"], "1200ms")
        self.assertEqual(_statement.brief({"warmup": 2}), {"max_time": "1200ms", "warmup": 2})


class Timeit(Case):
    def timeit(self, *words):
        return subprocess.run([sys.executable, "-m", "deepclock", "timeit", *words], cwd=self.folder, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def test_options_of_timeit(self):
        p = self.timeit("-v", "-n", "20", "-r", "7", "-u", "usec", "-s", "x = 5", "-s", "y = [x]", "sum(y)", "x += 1")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        time = r"[\d.e+-]+ usec"
        self.assertRegex(p.stdout, rf"^raw times: ({time}, ){{6}}{time}\n\n20 loops, best of 7: {time} per loop\n"
                                   rf"median {time} per loop ")
        p = self.timeit("-r", "2", "-n", "1")
        self.assertRegex(p.stdout, r"^1 loop, best of 2: [\d.e+-]+ [nu]sec per loop\n"
                                   r"median .* \(no interval: 50 % needs 6 independent runs, there are 2\)\n")

    def test_by_itself(self):
        p = self.timeit("--save", "r.json", "sum(range(100))")
        self.assertRegex(p.stdout, r"^\d+ loops, best of \d+: \S+ \w+ per loop\nmedian \S+ \w+ per loop ")
        self.assertEqual(deepclock.load(self.path("r.json")).command, "python -m deepclock timeit 'sum(range(100))'")

    def test_cpu_time(self):
        p = self.timeit("-p", "-r", "2", "-n", "1")
        self.assertIn("(no interval: 50 % needs 6 independent runs, there are 2)", p.stdout)
        p = self.timeit("-p", "-r", "6", "-n", "2", "import time; time.sleep(0.02)")
        self.assertEqual((p.returncode, p.stderr), (0, ""))
        self.assertRegex(p.stdout, r"^2 loops, best of 6: [\d.e+-]+ [un]sec per loop\nmedian ")
        p = self.timeit("-p", "-r", "60", "-n", "1", "-s", "import os, signal; n = []", "n.append(1)",
                        "if len(n) > 20: os.kill(os.getpid(), signal.SIGINT)")  # the runs until Ctrl-C
        self.assertEqual((p.returncode, p.stderr), (130, ""))
        self.assertRegex(p.stdout, r"^1 loop, best of 20: ")

    def test_two_groups_are_of_a_loop(self):
        record = deepclock.bench(self.alternating(), runs=60, warmup=1, group=1, no_history=True)
        notes = [note for note in record.notes if note.code == "two-modes"]
        self.assertEqual(len(notes), 1, record.notes)
        times = [float(t) * {"ms": 1, "s": 1000}[u] for t, u in re.findall(r"near ([\d.]+) (\w+)", notes[0].text)]
        told = _timeit_script._per_loop(record, notes[0], 1000, lambda seconds: f"{seconds * 1e6:.4g} usec")
        per_loop = [float(t) for t in re.findall(r"near ([\d.e+]+) usec", told)]
        self.assertEqual(len(per_loop), 2, told)
        for of_loop, of_run in zip(per_loop, times):
            self.assertAlmostEqual(of_loop / of_run, 1, delta=0.01)
        unit = r"[\d.e+]+ (?:usec|ns|µs|ms|s)"  # the same sentence, but for the times
        self.assertEqual(re.sub(f"near {unit}", "near", told), re.sub(f"near {unit}", "near", notes[0].text.split("; ")[0]))
        out = self.timeit("-n", "2", "-r", "60", "-u", "msec", "-s", ALTERNATING, "run()").stdout
        median = float(re.search(r"median (\S+) msec", out)[1])
        for t in re.findall(r"near (\S+) msec", out):  # another warning may be the first
            self.assertTrue(median / 20 < float(t) < median * 20, out)
        self.assertNotRegex(out, r"near \S+ (ns|µs|ms|s)\b")

    @staticmethod
    def alternating():
        names = {}
        exec(ALTERNATING, names)
        return lambda: (names["run"](), names["run"]())

    def test_a_warning_is_cut_between_clauses(self):
        class Note:
            severity, code = "warning", "not-steady"
            text = ("warm-up ended after 0.3 s without a steady state: still rising by 3.1 % within the last half of its "
                    "runs, of which there were 2,000,000; give more --max-warmup")
            remedy = "give more --max-warmup"

        class Record:
            notes = [Note]

        self.assertEqual(_statement.doubt(Record, "more"), "  warning: warm-up ended after 0.3 s without a steady state: "
                                                           "still rising by 3.1 % within the last half of its runs")
        Note.text = "the samples fall into two groups, 88 % near 520 ns and 12 % near 600 ns, between which the median can jump"
        self.assertEqual(_statement._shortened(Note.text, 100), Note.text[:71])
        Note.text = "the latency fell by 94.6 % [94.3, 94.6] during the measurement; x"
        Note.remedy = "x"
        self.assertEqual(_statement.doubt(Record, "more"), f"  warning: {Note.text[:-3]}")
        self.assertEqual(_statement._shortened(Note.text, 34), "the latency fell by 94.6 % ...")

    def test_interrupted_before_a_run_is_measured(self):
        p = self.timeit("-n", "1", "-r", "3", "-s", "import os, signal; n = []", "n.append(1)",
                        "if len(n) > 1: os.kill(os.getpid(), signal.SIGINT)")
        self.assertEqual((p.returncode, p.stdout), (130, ""))
        self.assertEqual(p.stderr, "deepclock: interrupted before a run was measured\n")
        p = self.timeit("import os, signal; os.kill(os.getpid(), signal.SIGINT)")
        self.assertEqual((p.returncode, p.stderr), (130, "deepclock: interrupted before a run was measured\n"))

    def test_wrong(self):
        for words, code, text in ((("a +",), 1, "SyntaxError"), (("nothing_here",), 1, "NameError"), (("-n", "x"), 2, "-n"),
                                  (("-p", "--save", "f", "pass"), 2, "no record")):
            p = self.timeit(*words)
            self.assertEqual((p.returncode, p.stdout), (code, ""))
            self.assertIn(text, p.stderr)
            self.assertNotIn("_timeit_script.py\"", p.stderr)


if __name__ == "__main__":
    main()
