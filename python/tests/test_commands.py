# SPDX-License-Identifier: Apache-2.0
"""Every function that corresponds to a command of the program, and that it has all options of the command."""

import html
import json
import keyword
import os
import pathlib
import re
import shutil
import subprocess
import sys
import warnings

from deepclock import _program
from support import Case, deepclock, main, needs_model, short, work

# Options of the program only: output format, and actions that do not measure.
OF_THE_PROGRAM = {"help", "version", "colour", "format", "out", "details", "verbose", "per", "by", "sort",
                  "top", "operators", "list", "worker-fd", "worker-of", "color"}
FUNCTIONS = {"bench": ("rank",), "compare": ("compare",), "cost": ("cost",), "profile": ("profile",),
             "throughput": ("throughput",), "tune": ("tune",), "load": ("bench_load",), "generate": ("generate",), "accuracy": ("accuracy",),
             "pitfalls": ("pitfalls",), "machine": ("machine",), "inspect": ("inspect",)}


def program_options(command):
    text = subprocess.run([_program.path(), command, "--help"], check=True, capture_output=True,
                          text=True, env={"NO_COLOR": "1", "COLUMNS": "200"}).stdout
    return set(re.findall(r"^ +(?:-\w, )?--([a-z][a-z-]*)", text, re.MULTILINE)) - OF_THE_PROGRAM


class OptionsTest(Case):
    def test_numbers_and_texts_of_other_types(self):
        class One:
            """As an array or a tensor of one number."""
            def __index__(self):
                raise TypeError("only integers")

            def __float__(self):
                return 0.25

        r = deepclock.bench(work, **short(runs=None, level=0.9, precision=One(), max_time=0.2))
        self.assertEqual(r.facts["plan/precision"].value, 0.25)
        for limits in (["p50<=1h", "mean<=1h"], ("p50<=1h", "mean<=1h")):
            r = deepclock.bench_load(work, time=0.2, slo=limits, no_history=True)
            self.assertIn(r.verdict, ("met", "inconclusive"))
            self.assertEqual(len([key for key in r.facts if key.startswith("plan/slo/")]), 2)

    def test_a_text_for_a_shell_is_not_cut(self):
        out = self.path("out")
        deepclock.bench_command(f"echo 'a  b';\necho \"$((1 + 1))\" >{out}; echo 'c  d' >>{out}", shell=True, runs=1,
                                warmup=0, no_history=True)
        with open(out, encoding="utf-8") as f:
            self.assertEqual(f.read(), "2\nc  d\n")

    def test_every_option_of_the_program(self):
        for command, functions in FUNCTIONS.items():
            theirs = program_options(command)
            self.assertIn("save", theirs, command)
            for function in functions:
                ours = {o[0] for o in deepclock.options(function)}
                self.assertEqual(theirs - ours, set(), function)
                self.assertEqual(ours - theirs - {"title", "no-progress", "quiet"}, set(), function)

    def test_docstrings(self):
        for functions in (*FUNCTIONS.values(), ("bench", "bench_model", "bench_command")):
            for function in functions:
                doc = getattr(deepclock, function).__doc__
                for option in deepclock.options(function):
                    name = option[0].replace("-", "_") + "_" * keyword.iskeyword(option[0])
                    self.assertIn(f"\n  {name}: ", doc, function)

    def test_a_keyword_of_python(self):
        self.assertEqual(deepclock.cost("zoo:resnet18", as_="fvcore").facts["cost/as"].value, "fvcore")

    def test_what_goes_together(self):
        with self.assertRaisesRegex(deepclock.ArgumentError, "exclude each other"):
            deepclock.compare("zoo:lenet5", vary={"threads": "1,2"}, modes=True)
        with self.assertRaisesRegex(deepclock.ArgumentError, "empty"):
            deepclock.bench(work, statistic="")


class CountingTest(Case):
    def test_cost(self):
        r = deepclock.cost("zoo:resnet18", batch=2)
        self.assertEqual(r["cost/params"].value, 11689512)
        self.assertEqual(sum(op["macs"] for op in r.ops), r["cost/macs"].value)
        conv = next(op for op in r.ops if op["type"] == "Conv")
        self.assertEqual(conv["outputs"][0]["shape"], (2, 64, 112, 112))
        self.assertIn("--batch 2", r.command)

    def test_inspect(self):
        r = deepclock.inspect("zoo:resnet18")
        self.assertIn("inspect/summary", r.tables)

    def test_zoo(self):
        names = [n.name for n in deepclock.zoo()]
        self.assertIn("resnet18", names)
        data = deepclock.zoo_bytes(names[0], batch=3)
        with open(self.path("m.onnx"), "wb") as f:
            f.write(data)
        self.assertGreater(deepclock.cost(self.path("m.onnx"))["cost/macs"].value, 0)
        self.assertRaises(deepclock.AbsentError, deepclock.zoo_bytes, "nothing")

    def test_engines(self):
        self.assertIn("ort", [e.name for e in deepclock.engines()])

    def test_program_of_a_linked_package(self):
        # A symbolic link to the package, as of an editable installation: the program is next to the link's target.
        os.symlink(_program.HERE, self.path("deepclock"))
        done = subprocess.run([sys.executable, "-m", "deepclock", "--version"], capture_output=True, text=True, check=False,
                              cwd=self.folder, env=dict(os.environ, PYTHONPATH=self.folder))
        self.assertIn(deepclock.__version__, done.stdout, done.stderr)

    @needs_model
    def test_engines_are_those_of_the_interpreter(self):
        # A package onnxruntime on this interpreter's path only: every way to measure finds it, each in a fresh process.
        capi = os.path.join(self.folder, "onnxruntime", "capi")
        os.makedirs(capi)
        library = shutil.copy(_program.onnxruntime(), os.path.join(capi, "libonnxruntime.so.1.99"))
        open(os.path.join(self.folder, "onnxruntime", "__init__.py"), "w", encoding="utf-8").close()
        env = {k: v for k, v in os.environ.items() if k not in ("DEEPCLOCK_ORT", "ORT_DYLIB_PATH", "VIRTUAL_ENV")}
        env.update(PYTHONPATH=os.pathsep.join([self.folder, os.path.dirname(_program.HERE)]), PATH="/usr/bin:/bin")

        def out(*words):
            return subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False, env=env,
                                  cwd=self.folder).stdout.split()
        engines = "[e.facts.get('library') for e in deepclock.engines() if e.name == 'ort'][0]"
        bench = "deepclock.bench_model('zoo:simplenet', runs=5, warmup=1, no_history=True).facts['engine/library'].value"
        self.assertEqual(out("-c", f"import deepclock; print({engines}, {bench}, {engines})"), [library] * 3)
        said = out("-m", "deepclock", "engines", "ort", "--format", "csv")
        self.assertIn(library, ",".join(said))
        os.chmod(library, 0o777)  # world-writable: not trusted, another library is used
        self.assertNotIn(library, out("-c", f"import deepclock; print({engines})"))


class MeasuringTest(Case):
    def test_rank(self):
        r = deepclock.rank({"one": lambda: work(500), "two": lambda: work(3000)}, runs=8)
        self.assertIn("bench/ranking", r.tables)
        self.assertEqual(r.tables["bench/ranking"][0][r.tables["bench/ranking"].columns[0].key], "one")

    def test_rank_takes_the_options_of_several(self):
        two = {"one": lambda: work(500), "two": lambda: work(900)}
        r = deepclock.rank(two, runs=8, statistic="mean", no_history=True)
        self.assertEqual(r.facts["method/statistic"].value, "mean")
        for options in ({"time": 1}, {"group": 2}, {"idle": 1}, {"processes": 2}, {"statistic": "p99"}):
            with self.assertRaises(deepclock.ArgumentError, msg=options):
                deepclock.rank(two, **options)

    def test_compare_refuses_options_of_the_other_kind(self):
        a = deepclock.bench(work, **short(runs=50))
        with self.assertRaisesRegex(deepclock.ArgumentError, "--rounds applies to a measurement"):
            deepclock.compare({"before": a, "after": a}, rounds=6)
        with self.assertRaisesRegex(deepclock.ArgumentError, "--run-to-run applies to saved records"):
            deepclock.compare({"a": work, "b": work}, run_to_run=0.1)

    def test_scan(self):
        # With six rounds the interval is the whole range, so one delay of 50 ms would make the result undecided.
        r = deepclock.compare("cmd:sleep {n}", scan="n=0.001,0.05", rounds=20)
        self.assertEqual(r.verdict, "slower")

    def test_compare_records(self):
        a = deepclock.bench(work, **short(runs=300))
        r = deepclock.compare({"before": a, "after": a})
        self.assertIn(r.verdict, ("same", "undecided"))
        self.assertEqual(r["compare/ratio"].value, 1)
        a.save(self.path("a.json"))
        r = deepclock.compare({"before": self.path("a.json"), "after": pathlib.Path(self.path("a.json"))})
        self.assertEqual(r["compare/ratio"].value, 1)
        with self.assertRaisesRegex(deepclock.AbsentError, "cannot open"):
            deepclock.compare({"before": self.path("a.json"), "after": self.path("none.json")})
        r = deepclock.compare({"a": "cmd:true a.json", "b": "cmd:echo a.json"}, rounds=6, trial="1ms", no_history=True)
        self.assertEqual(len(r.tables["compare/alternatives"]), 2)

    def test_load_of_a_function(self):
        """Several threads of the library call a Python function."""
        r = deepclock.bench_load(work, scenario="multi", streams=3, requests=200, warmup=5)
        self.assertEqual(r["runs/count"].value, 200)
        r = deepclock.bench_load(work, rate=200, requests=40, slo="p50<=10s", warmup=5)
        self.assertIn(r.verdict, ("met", "inconclusive"))

        def broken():
            raise ZeroDivisionError

        self.assertRaises(ZeroDivisionError, deepclock.bench_load, broken, requests=10)
        # A server takes no subject; nothing listens there.
        with self.assertRaisesRegex(deepclock.Error, "cannot connect to 127.0.0.1, port 1"):
            deepclock.bench_load(url="http://127.0.0.1:1/v1/completions", model="m")
        with self.assertRaisesRegex(deepclock.ArgumentError, "threads is about models"):
            deepclock.bench_load(url="http://127.0.0.1:1/v1/completions", model="m", threads=4)
        self.assertRaises(TypeError, deepclock.bench_load)

    def test_two_servers(self):
        program = os.path.join(os.path.dirname(_program.path()), "tests", "http", "http_server")
        if not os.path.exists(program):
            self.skipTest("no server of the tests")
        options = {"model": "m", "new_tokens": 3, "rounds": 20, "max_time": "20s", "quiet": True, "no_history": True}
        with subprocess.Popen([program, "ttft=1000", "gap=15000"], stdout=subprocess.PIPE, text=True) as a, \
                subprocess.Popen([program, "ttft=20000", "gap=15000"], stdout=subprocess.PIPE, text=True) as b:
            try:
                urls = [f"http://127.0.0.1:{p.stdout.readline().strip()}/v1/completions" for p in (a, b)]
                r = deepclock.compare(url=urls, **options)
                words = [w for u in urls for w in ("--url", u)]
                for name, value in options.items():
                    words += ["--" + name.replace("_", "-")] + ([] if value is True else [str(value)])
                done = subprocess.run([_program.path(), "compare", *words, "--format", "json"], capture_output=True, text=True,
                                      check=False)
                # A long delay of the system takes part of the evidence away, never the sign.
                self.assertIn(r.verdict, ("slower", "undecided"))
                theirs = json.loads(done.stdout)
                self.assertEqual(set(r.metrics), {m["tag"] for m in theirs["metrics"]})
                self.assertEqual([t["name"] for t in theirs["tables"]], list(r.tables))
                self.assertIn("compare/ratio/ttft", r.metrics)
                with self.assertRaisesRegex(deepclock.ArgumentError, "threads has no meaning for servers"):
                    deepclock.compare(url=urls, threads=1, **options)
            finally:
                a.kill()
                b.kill()
        for urls in (["http://127.0.0.1:1/v1/completions"], ["x", "y", "z"]):
            with self.assertRaisesRegex(deepclock.ArgumentError, "two addresses, and no subjects"):
                deepclock.compare(url=urls, model="m")
        with self.assertRaisesRegex(deepclock.ArgumentError, "two addresses, and no subjects"):
            deepclock.compare({"a": work, "b": work}, url=["x", "y"], model="m")
        with self.assertRaisesRegex(deepclock.ArgumentError, "model has 3 names"):
            deepclock.compare(url=["x", "y"], model=["a", "b", "c"])
        self.assertRaises(TypeError, deepclock.compare)

    def test_pitfalls(self):
        r = deepclock.pitfalls(lambda: work(5000), only="no-warmup", time=0.2)
        self.assertIn("pitfalls/mistakes", r.tables)

    def test_accuracy_of_files(self):
        for name, text in (("labels.csv", "0\n1\n1\n0\n"), ("predictions.csv", "0\n1\n0\n0\n")):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(text)
        r = deepclock.accuracy(labels=self.path("labels.csv"), predictions=self.path("predictions.csv"))
        self.assertEqual(r["accuracy/overall"].value, 0.75)
        self.assertRaises(TypeError, deepclock.accuracy, {"a": work})

    def test_machine_takes_options_only(self):
        self.assertRaises(TypeError, deepclock.machine, "x")
        self.assertRaises(deepclock.AbsentError, deepclock.machine, cached_only=True)


@needs_model
class ModelTest(Case):
    def test_bench(self):
        r = deepclock.bench_model("zoo:resnet18", image_size=64, threads=1, **short(runs=30))
        self.assertEqual(r["runs/count"].value, 30)
        self.assertEqual(r.facts["engine/name"].value, "ort")

    def test_several_starts_by_default(self):
        """As `deepclock bench MODEL`; what is of one process, or asked to be, is of one start."""
        quick = {"engine": "null", "engine_option": {"ns": 100000}, "warmup": 5, "precision": "100%", "no_history": True}
        phases = []
        r = deepclock.bench_model("zoo:simplenet", max_time=20, progress=lambda p: p and phases.append(p.phase), **quick)
        self.assertEqual((r.facts["method/processes"].value, r.facts["plan/processes"].value), (6, 6))
        self.assertLessEqual(r.facts["method/starting_share"].value, 0.5)
        self.assertEqual(r["latency/median"].level, 0.96875)
        self.assertIn(" of 6 starts", str(r))
        self.assertIn("processes", phases)
        for options, why in (({"processes": 1}, None), ({"runs": 20, "precision": None}, "--runs and --time are"),
                             ({"max_warmup": 1, "warmup": None}, "--max-warmup is"), ({"statistic": "p90"}, "--statistic")):
            r = deepclock.bench_model("zoo:simplenet", **{**quick, "max_time": None, "min_time": None, **options})
            self.assertEqual(r.facts["method/processes"].value, 1)
            self.assertIn(" of one start", str(r))
            share = r.facts.get("method/starting_share")
            self.assertTrue(share is None if why is None else why in share.absent, share)

    def test_a_cancelled_start(self):
        """An exception of the progress function ends the starts, and comes out."""
        def stop(p):
            if p and p.phase == "processes":
                raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            deepclock.bench_model("zoo:simplenet", engine="null", engine_option={"ns": 100000}, warmup=5, precision="100%",
                                  max_time=20, no_history=True, progress=stop)

    def test_fresh_processes(self):
        r = deepclock.bench_model("zoo:resnet18", image_size=64, threads=1, processes=2,
                                  **short(runs=10))
        self.assertEqual(r.facts["method/processes"].value, 2)

    def test_profile(self):
        r = deepclock.profile("zoo:resnet18", image_size=64, threads=1, no_roofs=True,
                              **short(runs=10, profile_runs=5))
        self.assertGreater(sum(op["time"] or 0 for op in r.ops), 0)

    def test_throughput(self):
        r = deepclock.throughput("zoo:resnet18", image_size=64, batch=[1], threads=1,
                                 point_time=0.05, rounds=2, no_history=True)
        self.assertIn("throughput/points", r.tables)

    def test_tune(self):
        space = self.path("space.txt")
        with open(space, "w") as f:
            f.write("sleep_ns=1000000,9000000\n")
        r = deepclock.tune("zoo:simplenet", engine="null", engine_option="sleep_ns=20000000", space=space, slo="p50<=1h",
                           trial="20ms", max_time="30s", no_history=True)
        self.assertIn(r.facts["tune/verdict_default"].value, ("met", "inconclusive"))
        self.assertIn("tune/front", r.tables)
        with self.assertRaisesRegex(ValueError, "no configuration for ONNX Runtime"):
            deepclock.tuned_session(r, "model.onnx")
        with self.assertRaisesRegex(deepclock.ArgumentError, "did you mean 'threads'"):
            deepclock.tune("zoo:simplenet", skip="thread")

    def test_accuracy(self):
        r = deepclock.accuracy("zoo:resnet18", image_size=64, vary={"opt": "none,all"})
        self.assertIn(r.verdict, ("identical", "close"))

    def test_vary(self):
        r = deepclock.compare("zoo:resnet18", image_size=64, engine="null", vary={"seed": "1,2"}, rounds=6,
                              trial=0.001)
        self.assertIn("compare/alternatives", r.tables)
        for vary, names in (({"seed": [1, 2]}, ["seed=1", "seed=2"]), ({"batch": (1, 2)}, ["batch=1", "batch=2"])):
            r = deepclock.compare("zoo:simplenet", engine="null", vary=vary, rounds=6, trial=0.001)
            self.assertEqual([row["subject"] for row in r.tables["compare/alternatives"]], names)
        itself = [1]
        itself.append(itself)
        self.assertRaises(RecursionError, deepclock.compare, "zoo:simplenet", vary={"threads": itself})

    def test_nested_list_is_no_input(self):
        for given in ([[1.0] * 64], [1.0, 2.0]):
            with self.assertRaisesRegex(deepclock.ArgumentError, "input takes an array or a str, not a list: give numpy"):
                deepclock.bench_model("zoo:simplenet", input={"x": given}, runs=3)


class HistoryTest(Case):
    def test_all_of_it(self):
        db = self.path("h.db")
        with self.assertRaises(deepclock.AbsentError):
            deepclock.History(db, existing=True)
        self.assertRaises(ValueError, deepclock.History, db, wait=-1)
        a = deepclock.bench(work, **{**short(), "no_history": None, "db": db, "commit": "abc"})
        b = deepclock.bench(work, **short())
        with deepclock.History(db, wait=1.5) as h:
            self.assertEqual(h.path, db)
            self.assertTrue(h.add(b))
            self.assertFalse(h.add(b))
            self.assertEqual([e.id for e in h.list()], [b.id, a.id])
            self.assertEqual(h.list("runs/count", limit=1)[0].value, 20)
            self.assertEqual(h.list(at_commit="abc")[0].commit, "abc")
            self.assertEqual(h.list(subject="nothing*"), [])
            self.assertEqual(h.get("last").to_json(), b.to_json())
            self.assertEqual(h.baseline(b).id, a.id)
            self.assertEqual(len(h.trend().tables["history/points"]), 2)
            self.assertEqual(h.alarms("latency/median").facts["alarms/too_few_points"].value, 1)
            self.assertRaises(deepclock.AbsentError, h.alarms, "latency/nothing")
            self.assertRaises(deepclock.ArgumentError, h.commits, "abc", "ab")
            self.assertEqual(h.commits("abc", "f").facts["commits/of_one_commit"].value, 1)
            with self.assertRaisesRegex(deepclock.ArgumentError, "latency/p99"):
                h.trend("latency/p99", undisturbed=True)
            self.assertEqual(h.check()[0], 2)
            self.assertEqual(h.prune(keep=1, dry_run=True)[0], 1)
            self.assertRaises(deepclock.ArgumentError, h.prune, keep=1, limit=1)
            self.assertEqual(h.remove(a.id[:8]), a.id)
            a.save(self.path("a.json"))
            self.assertEqual(h.load(self.path("a.json")), (1, 0))
            self.assertRaises(TypeError, h.list, subjekt="x")
            self.assertRaises(TypeError, h.add, 3)
        self.assertRaises(ValueError, h.list)
        self.assertRaises(deepclock.ArgumentError, deepclock.compare, {"a": a, "b": b}, history=True, db=db)
        r = deepclock.compare({"now": b}, history=True, db=db)
        self.assertIsNotNone(r.verdict)

    def test_damaged(self):
        with open(self.path("h.db"), "w", encoding="utf-8") as f:
            f.write("no database" * 100)
        self.assertRaises(deepclock.FormatError, deepclock.History, self.path("h.db"))


class ShowingTest(Case):
    def test_pages_and_figures(self):
        page, folder = self.path("run.html"), self.path("pictures")
        with warnings.catch_warnings(record=True) as said: # without librsvg
            warnings.simplefilter("always")
            r = deepclock.bench(work, **short(runs=300, html=page, figures=folder))
        with open(page, encoding="utf-8") as f:
            text = f.read()
        self.assertEqual(text, r.report("html"))
        self.assertEqual(["<script id=\"deepclock-sources\"" in t for t in (text, r.report("html", sources=True))], [False, True])
        drawn = sorted(os.listdir(folder))
        self.assertEqual([f for f in drawn if f.endswith(".svg")], ["ecdf.svg", "histogram.svg", "runs.svg"])
        self.assertEqual(len(drawn), 3 if any("no PNG" in str(w.message) for w in said) else 6)
        with self.assertRaises(OSError):
            deepclock.bench(work, **short(runs=30, html=self.path("none/run.html")))

    def test_figures_that_cannot_be_drawn(self):
        """They are refused before anything is measured, or the record is returned without them."""
        calls, file = [], self.path("file")
        open(file, "w", encoding="utf-8").close()
        for figures, error in ((file, OSError), (file + "/below", OSError), (self.path("none/ecdf.svg"), OSError),
                               (self.path("nothing.svg"), deepclock.ArgumentError), (self.path("ecdf.pdf"), deepclock.ArgumentError)):
            with self.assertRaises(error):
                deepclock.bench(lambda: calls.append(1), **short(figures=figures))
        self.assertEqual(calls, [])
        with self.assertWarnsRegex(RuntimeWarning, "nothing for the figure 'roofline'"):
            r = deepclock.bench(work, **short(figures=self.path("roofline.svg")))
        self.assertEqual(r["runs/count"].value, 20)
        with self.assertRaises(deepclock.ArgumentError):
            r.figures(self.path("ecdf.pdf"))

    def test_none_is_the_default_of_a_report(self):
        r = deepclock.bench(work, **short())
        self.assertEqual(r.report(None, details=None, width=None, utf8=None, colour=None, sources=None, rest=None, source_root=None),
                         r.report())

    def test_source_root(self):
        r = deepclock.parse(json.dumps({
            "schema": 1, "deepclock": "0.1.0", "id": "0" * 32, "began": "2026-01-01T00:00:00Z", "command": "x",
            "incomplete": False, "facts": [], "series": [], "metrics": [], "ops": [], "tables": [], "notes": [],
            "trees": [{"name": "samples", "title": "t", "columns": [{"key": "self", "title": "self", "unit": "ns"}],
                       "frames": [{"name": "f", "file": self.path("f.c"), "line": 1, "module": "m"}],
                       "nodes": [[-1, 0, 1000]]}]}))
        with open(self.path("f.c"), "w", encoding="utf-8") as f:
            f.write("the line of f\n")
        folder = os.path.dirname(self.path("f.c"))
        roots = (None, folder, os.fsencode(folder), pathlib.Path(folder))
        self.assertEqual(["the line of f" in r.report("html", sources=True, source_root=d) for d in roots], [False, True, True, True])
        self.assertIn("the line of f", r.report("html", source_root=folder))
        self.assertRaises(TypeError, r.report, "html", source_root=[1, 2j])

    def test_html(self):
        r = deepclock.bench(work, **short(runs=300, title="<b>&"))
        text = r._repr_html_()
        for part in ("latency/median", "<svg", "&lt;b&gt;&amp;"):
            self.assertIn(part, text)
        self.assertNotIn("<b>&", text)
        # Numbers are formatted as in the text report, never as plain nanoseconds.
        m = r["latency/median"]
        self.assertIn(f"<td>{m.text}</td><td>{m._interval or ''}</td>", text) # too few runs: no interval
        self.assertRegex(m.text, r"^[\d.]+ (ns|\S?s)$")
        self.assertNotRegex(text, r">[\d.,]+e[+-]\d+|\d ns</text>\s*<text[^>]*>\d{4,}")
        # Every record shows its result, also without metrics.
        with deepclock.trace(None) as t, deepclock.zone("<zone>"):
            pass
        for r in (deepclock.cost("zoo:resnet18"), t.record, deepclock.compare({"a": work, "b": work}, rounds=6)):
            text = r._repr_html_()
            self.assertIn(html.escape(str(r)), text)
            self.assertEqual("<table" in text, bool(r.metrics))
            self.assertNotIn("<zone>", text)

    def test_pandas(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        r = deepclock.cost("zoo:resnet18")
        self.assertIsInstance(r.to_pandas(), pandas.DataFrame)
        with deepclock.trace(None) as t:
            pass
        self.assertEqual((len(t.record.metrics), len(t.record.to_pandas())), (0, 0))
        self.assertEqual(list(t.record.to_pandas().columns), list(r.to_pandas().columns))
        self.assertEqual(len(r.to_pandas("ops")), len(r.ops))
        self.assertRaises(deepclock.AbsentError, r.to_pandas, "nothing")
        r = deepclock.bench(work, **short())
        frame = r.to_pandas("latency")
        self.assertEqual(frame["value"].tolist(), r.series["latency"].values.tolist())


if __name__ == "__main__":
    main()
