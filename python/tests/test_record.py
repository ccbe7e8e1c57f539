# SPDX-License-Identifier: Apache-2.0
"""Record and its parts."""

import concurrent.futures
import copy
import errno
import json
import math
import multiprocessing
import os
import pathlib
import pickle
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import warnings
from unittest import mock

from deepclock import _program
from support import Case, deepclock, main, short, work


class RecordTest(Case):
    @classmethod
    def setUpClass(cls):
        cls.record = deepclock.bench(work, **short(runs=500))

    def test_equals_its_json(self):
        told = json.loads(self.record.to_json())
        self.assertEqual(told["id"], self.record.id)
        self.assertEqual([m["tag"] for m in told["metrics"]], list(self.record.metrics))
        for m in told["metrics"]:
            ours = self.record[m["tag"]]
            self.assertEqual(ours.value, m.get("value"), m["tag"])
            self.assertEqual(ours.absent, m.get("absent"), m["tag"])
            self.assertEqual((ours.lo, ours.hi, ours.level),
                             (m.get("lo"), m.get("hi"), m.get("level")), m["tag"])
            self.assertEqual(ours.how, m.get("how"), m["tag"])
        self.assertEqual(list(self.record.series["latency"].values),
                         next(s for s in told["series"] if s["tag"] == "latency")["values"])
        for f in told["facts"]:
            self.assertEqual(self.record.facts[f["section"] + "/" + f["key"]].value, f.get("value"))
        self.assertEqual([n.code for n in self.record.notes], [n["code"] for n in told["notes"]])

    def test_is_a_value(self):
        for again in (pickle.loads(pickle.dumps(self.record)), copy.deepcopy(self.record), copy.copy(self.record),
                      deepclock.parse(self.record.to_json())):
            self.assertEqual(again, self.record)
            self.assertEqual(hash(again), hash(self.record))
            self.assertEqual(again.to_json(), self.record.to_json())
        told = json.loads(self.record.to_json())
        told["command"] = "another"
        self.assertNotEqual(deepclock.parse(json.dumps(told)), self.record)  # with the same id
        self.assertNotEqual(deepclock.bench(work, **short()), self.record)
        self.assertNotEqual(self.record, self.record.to_json())
        self.assertEqual(len({self.record, deepclock.parse(self.record.to_json())}), 1)
        odd = deepclock.bench_command([b"true", b"\xff"], **short(runs=3))  # invalid UTF-8
        self.assertEqual(pickle.loads(pickle.dumps(odd)), odd)
        with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            self.assertEqual(pool.submit(deepclock.parse, self.record.to_json()).result(timeout=60), self.record)

    def test_is_a_mapping(self):
        self.assertEqual(list(self.record), list(self.record.metrics))
        self.assertEqual(self.record.get("latency/median").value, self.record["latency/median"].value)
        self.assertIsNone(self.record.get("latency/nothing"))
        self.assertEqual(self.record.get("latency/nothing", 3), 3)
        self.assertEqual({tag: m.value for tag, m in self.record.items()},
                         {tag: m.value for tag, m in dict(self.record).items()})
        self.assertEqual([m.tag for m in self.record.values()], self.record.keys())

    def test_metric(self):
        told = json.loads(self.record.to_json())
        median = next(m for m in told["metrics"] if m["tag"] == "latency/median")
        median.update(value=2000.5, lo=1500, hi=3000, level=0.95)
        median.pop("narrow", None)  # set on a busy machine
        m = deepclock.parse(json.dumps(told))["latency/median"]
        self.assertEqual((float(m), m.value, m.lo, m.hi, m.level),
                         (2000.5, 2000.5, 1500, 3000, 0.95))
        self.assertEqual(repr(m), "<latency/median 2.00 µs, 1.50 µs to 3.00 µs at 95 %>")
        self.assertIsNone(m.narrow)
        median["narrow"] = "too slow"
        m = deepclock.parse(json.dumps(told))["latency/median"]
        self.assertEqual(m.narrow, "too slow")
        self.assertEqual(repr(m), "<latency/median 2.00 µs, 1.50 µs to 3.00 µs* at 95 %>")
        self.assertEqual(m.unit, "ns")
        self.assertEqual(m.better, "lower")
        self.assertIn("latency/median", self.record)
        self.assertNotIn("latency/nothing", self.record)

    def test_absent(self):
        m = self.record["latency/p999"]  # 500 runs are too few
        self.assertIsNone(m.value)
        self.assertTrue(m.absent)
        with self.assertRaises(ValueError):
            float(m)

    def test_unknown_tag(self):
        with self.assertRaises(KeyError) as caught:
            self.record["latency/medain"]
        self.assertIsInstance(caught.exception, deepclock.AbsentError)
        self.assertIn("did you mean 'latency/median'?", str(caught.exception))

    def test_errors_of_files_have_their_names(self):
        missing = self.path("none/r.json")
        for call in (deepclock.load, self.record.save, lambda path: deepclock.bench(work, **short(save=path))):
            with self.assertRaises(OSError) as caught:
                call(missing)
            again = pickle.loads(pickle.dumps(caught.exception))
            for error in (caught.exception, again, copy.copy(caught.exception)):
                self.assertEqual((error.errno, error.filename), (errno.ENOENT, missing))
            self.assertEqual((type(again), str(again), again.code), (type(caught.exception), str(caught.exception),
                                                                     caught.exception.code))

    def test_other_errors_of_files_have_their_names(self):
        for call, name in ((deepclock.bench_model, "none.onnx"), (deepclock.trace(self.path("none/t.json")).start, None),
                           (lambda path: self.record.figures(path), "none/ecdf.svg"),
                           (lambda path: deepclock.History(path, existing=True), "none.db")):
            path = self.path(name or "none/t.json")
            with self.subTest(path), self.assertRaises(OSError) as caught:
                call(path) if name else call()
            self.assertEqual(caught.exception.filename, path)

    def test_a_full_disk_loses_no_record(self):
        for options in ({"save": "/dev/full"}, {"html": "/dev/full"}):
            with self.subTest(options), self.assertRaises(deepclock.IoError) as caught:
                deepclock.bench(work, **short(**options))
            self.assertEqual(caught.exception.record["runs/count"].value, 20)
            self.assertEqual(caught.exception.errno, errno.ENOSPC)
        self.assertIsNone(deepclock.Error("x").record)

    def interrupted(self, call):
        """Calls it; a signal's handler raises after a while."""
        def handler(number, frame):
            raise InterruptedError("planted")

        before = signal.signal(signal.SIGUSR1, handler)
        timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGUSR1))
        try:
            timer.start()
            with self.assertRaisesRegex(InterruptedError, "planted"):
                call()
        finally:
            timer.join()
            signal.signal(signal.SIGUSR1, before)

    def test_a_signal_ends_waiting_for_a_pipe(self):
        pipe = self.path("pipe")
        os.mkfifo(pipe)
        self.interrupted(lambda: deepclock.load(pipe))
        for text, says in ((self.record.to_json(), None), ("{", f"while reading the record '{pipe}': this is not JSON")):
            writer = threading.Thread(target=pathlib.Path(pipe).write_text, args=(text,))
            writer.start()
            if says is None:
                self.assertEqual(deepclock.load(pipe), self.record)
            else:
                self.assertRaisesRegex(deepclock.FormatError, says, deepclock.load, pipe)
            writer.join()

    def test_a_signal_ends_waiting_for_a_history(self):
        path = self.path("h.db")
        with deepclock.History(path) as h:
            other = sqlite3.connect(path, isolation_level=None)
            self.addCleanup(other.close)
            other.execute("begin immediate")
            self.interrupted(lambda: h.add(self.record))
            other.execute("commit")
            self.assertTrue(h.add(self.record))  # and the next call works
        other.execute("pragma journal_mode=delete")
        other.execute("begin exclusive")
        self.interrupted(lambda: deepclock.History(path))
        with self.assertRaisesRegex(deepclock.IoError, "another program holds it"):
            deepclock.History(path, wait=0.05)

    def test_width(self):
        self.assertRaisesRegex(deepclock.ArgumentError, "width=-1: a number of columns", self.record.report, width=-1)

    def test_survives_its_record(self):
        values = deepclock.bench(work, **short()).series["latency"].values
        self.assertEqual(len(values.tolist()), len(values))

    def test_array(self):
        values = self.record.series["latency"].values
        view = memoryview(values)
        self.assertTrue(view.readonly)
        self.assertEqual((view.format, view.ndim, view.shape), ("d", 1, (len(values),)))
        self.assertEqual(view.tolist(), list(values))
        self.assertEqual(values[-1], values.tolist()[-1])
        self.assertEqual(values[2:4].tolist(), values.tolist()[2:4])
        self.assertRaises(IndexError, values.__getitem__, len(values))
        self.assertEqual(values.__dlpack_device__(), (1, 0))
        with self.assertRaises(BufferError):
            values.__dlpack__(copy=False)
        del view

    def test_numpy(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("numpy is not installed")
        values = self.record.series["latency"].values
        array = numpy.asarray(values)
        self.assertEqual(array.dtype, numpy.float64)
        self.assertFalse(array.flags.writeable)
        self.assertEqual(array.tolist(), values.tolist())
        if hasattr(numpy, "from_dlpack"):
            copied = numpy.from_dlpack(values)
            self.assertEqual(copied.tolist(), values.tolist())

    def test_saves_and_loads(self):
        for name in (self.path("r.json"), pathlib.Path(self.path("s.json"))):
            self.record.save(name)
            self.assertEqual(deepclock.load(name).to_json(), self.record.to_json())
        self.assertEqual(deepclock.parse(self.record.to_json()).to_json(), self.record.to_json())

    def test_bad_files(self):
        with self.assertRaises(FileNotFoundError):
            deepclock.load(self.path("nothing.json"))
        with self.assertRaises(deepclock.FormatError):
            deepclock.parse(b"{")
        with self.assertRaises(OSError):
            self.record.save(self.path("no/such/folder.json"))
        with self.assertRaises(ValueError):
            deepclock.load("a\0b")

    def test_reports(self):
        self.assertIn("median", str(self.record))
        self.assertIn("latency/median", self.record.report("csv"))
        with self.assertRaises(deepclock.AbsentError):
            self.record.report("jsn")

    def test_errno_of_files(self):
        with self.assertRaises(OSError) as caught:
            deepclock.load(self.path("none.json"))
        self.assertEqual(caught.exception.errno, errno.ENOENT)
        os.symlink("a", self.path("a"))
        with self.assertRaises(OSError) as caught:
            deepclock.load(self.path("a"))
        self.assertEqual(caught.exception.errno, errno.ELOOP)

    def test_reports_of_operators_and_call_paths(self):
        r = deepclock.cost("zoo:simplenet", quiet=True)
        program = [_program.path(), "report", self.path("r.json")]
        r.save(self.path("r.json"))
        for options in ({"by": "type"}, {"by": "node", "sort": "params", "top": 3}, {"tree": "modules", "depth": 2},
                        {"by": "function", "sort": "total", "top": 4, "weight": "macs"}):
            words = [w for name, value in options.items() for w in (f"--{name}", str(value))]
            out = subprocess.run([*program, *words], stdout=subprocess.PIPE, text=True, check=True,
                                 env={**os.environ, "LC_ALL": "C.UTF-8", "COLUMNS": "80"}).stdout
            rest = "deepclock report " + self.path("r.json") + " --details"
            self.assertEqual(r.report(**options, rest=rest).rstrip(), out.rstrip(), options)
        self.assertNotEqual(r.report("csv", by="type"), r.report("csv", by="node"))
        for wrong, error in (({"by": "modul"}, "did you mean 'module'"), ({"tree": "x"}, "no tree"), ({"diff": True}, "two records"),
                             ({"sort_by": "time"}, "sort")):
            with self.assertRaisesRegex(Exception, error, msg=wrong):
                r.report(**wrong)

    def test_figures(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # without librsvg there is no PNG
            names = self.record.figures(os.path.join(self.folder, "new", "pictures"))
        self.assertEqual(["ecdf", "histogram", "runs"], names)
        files = os.listdir(os.path.join(self.folder, "new", "pictures"))
        self.assertEqual({f"{name}.svg" for name in names}, {f for f in files if f.endswith(".svg")})

    def test_one_figure(self):
        path = os.path.join(self.folder, "ecdf.svg")
        self.assertEqual(["ecdf"], self.record.figures(path))
        with open(path, "rb") as f:
            self.assertEqual(deepclock._deepclock._figures(self.record)["ecdf"][0], f.read())
        self.assertEqual(["ecdf.svg"], [f for f in os.listdir(self.folder) if f.startswith("ecdf")])
        with self.assertRaisesRegex(deepclock.AbsentError, "nothing for the figure 'ratios'"):
            self.record.figures(os.path.join(self.folder, "ratios.svg"))
        with self.assertRaisesRegex(deepclock.AbsentError, "nothing for the figure 'timeline'"):
            self.record.figures(os.path.join(self.folder, "timeline.svg"))
        with self.assertRaisesRegex(ValueError, "no figure is named 'nothing' .*timeline, histogram, ecdf"):
            self.record.figures(os.path.join(self.folder, "nothing.svg"))
        os.mkdir(os.path.join(self.folder, "directory.svg"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self.assertEqual(3, len(self.record.figures(os.path.join(self.folder, "directory.svg"))))

    def test_timeline_of_a_trace(self):
        events = [{"ph": ph, "ts": 100 * i + at, "pid": 1, "tid": 1, "name": name}
                  for i in range(3) for ph, at, name in (("B", 0, "step"), ("B", 10, "forward"), ("E", 40, "forward"), ("E", 90, "step"))]
        path = os.path.join(self.folder, "trace.json")
        with open(path, "w", encoding="utf-8") as f:
            json.dump({"traceEvents": events}, f)
        trace = deepclock.load(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            self.assertIn("timeline", trace.figures(os.path.join(self.folder, "all")))
        one = os.path.join(self.folder, "timeline.svg")
        self.assertEqual(["timeline"], trace.figures(one))
        with open(one, encoding="utf-8") as f, open(os.path.join(self.folder, "all", "timeline.svg"), encoding="utf-8") as g:
            text = f.read()
            self.assertEqual(text, g.read())
        self.assertIn("forward", text)
        self.assertIn("timeline", trace.report("html"))

    def test_shows_a_page(self):
        opened = []
        with tempfile.TemporaryDirectory() as folder, mock.patch("webbrowser.open", opened.append):
            path = self.record.show(pathlib.Path(folder) / "run.html")
            with open(path, encoding="utf-8") as f:
                self.assertEqual(f.read(), self.record.report("html"))
            self.assertEqual(opened, ["file://" + path])
            path = self.record.show(os.fsencode(folder) + b"/a #1\xff.html")
            self.assertEqual(opened[1:], [f"file://{folder}/a%20%231%FF.html"])
            self.assertTrue(os.path.exists(path))
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # without librsvg
                self.assertIn("ecdf", self.record.figures(os.fsencode(folder) + b"/pictures"))
            with self.assertRaises(OSError):
                self.record.show(pathlib.Path(folder) / "none" / "run.html")
            with mock.patch.dict("os.environ", TMPDIR=folder), mock.patch("tempfile.tempdir", None):
                path = self.record.show()
            self.assertEqual(os.stat(os.path.dirname(path)).st_mode & 0o77, 0)

    def test_tables(self):
        r = deepclock.cost("zoo:resnet18", no_history=True)
        self.assertGreater(r["cost/macs"].value, 0)
        for table in r.tables.values():
            self.assertEqual(len(table), len(list(table)))
            for row in table:
                self.assertEqual(list(row), [c.key for c in table.columns])
            first = table.columns[0].key
            self.assertEqual(table[first], [row[first] for row in table])
            self.assertEqual(table.cell(0, first).value, table[0][first])
            self.assertEqual((table[:], table[1:], table[::-1]),
                             (list(table), list(table)[1:], list(table)[::-1]))

    def test_history_and_threads(self):
        path = self.path("h.db")
        with deepclock.History(path) as h, concurrent.futures.ThreadPoolExecutor(4) as pool:
            h.add(self.record)
            other = sqlite3.connect(path, isolation_level=None)
            self.addCleanup(other.close)
            other.execute("begin immediate")
            waits = pool.submit(h.add, self.record)
            other.execute("commit")  # not reached if the wait held the GIL
            self.assertFalse(waits.result())
            listed = [pool.submit(h.list) for _ in range(40)]
            self.assertEqual({len(each.result()) for each in listed}, {1})
        self.assertRaisesRegex(ValueError, "closed", h.list)

    def test_keys_that_are_no_tag(self):
        for key in ("latency/median\0z", "\udc80"):
            self.assertNotIn(key, self.record)
            self.assertIsNone(self.record.get(key))
            self.assertRaises(deepclock.AbsentError, lambda: self.record[key])
        self.assertNotIn(5, self.record)

    def test_only_made_by_measuring(self):
        for o in (self.record, self.record["latency/median"], self.record.series["latency"],
                  self.record.series["latency"].values):
            self.assertRaises(TypeError, type(o))
        self.assertFalse(math.isnan(self.record["latency/median"].value))


class TextTest(Case):
    def test_quantities(self):
        self.assertEqual([deepclock.time_text(n) for n in (0, 720, 17.8e6, -2e9)], ["0 ns", "720 ns", "17.8 ms", "-2.00 s"])
        self.assertEqual([deepclock.bytes_text(n) for n in (12, 4.23 * 2**20, -(2**30))], ["12 B", "4.23 MiB", "-1.00 GiB"])
        self.assertEqual([deepclock.si_text(n) for n in (1814073344, 0.00179)], ["1.81 G", "0.00179"])
        self.assertRaises(TypeError, deepclock.time_text, "1 ms")

    def test_values_that_change_while_they_are_read(self):
        class One:
            def __init__(self, values):
                self.values = values

            def __float__(self):
                self.values.clear()
                return 1.0

            __str__ = __fspath__ = lambda self: self.values.clear() or "1"

        def values(n):
            values = []
            values += [One(values) for _ in range(n)]
            return values

        self.assertEqual(deepclock.estimate(values(1000)).value, 1)
        with self.assertRaises(deepclock.ArgumentError):
            deepclock.bench(int, runs=5, quiet=True, no_history=True, title=values(1000), max_time="x")
        self.assertRaises(IndexError, deepclock.bench_command, values(1000))

    def test_numbers_beyond_a_float(self):
        huge = 10**400
        for call in (lambda: deepclock.bytes_text(huge), lambda: deepclock.estimate([huge] * 20),
                     lambda: deepclock.estimate([1.0] * 20, level=huge), lambda: deepclock.History(":memory:", wait=huge),
                     lambda: deepclock.bench(int, max_time=huge)):
            with self.assertRaisesRegex(ValueError, "the range of a float"):
                call()


class Seconds(Case):
    def test_measured_and_seconds(self):
        record = deepclock.bench(sum, [1], **short(runs=20, warmup=5))
        series = record.series["latency"]
        self.assertEqual(series.measured.tolist(), series.values.tolist()[series.warmup:])
        self.assertEqual(series.seconds.tolist(), [ns / 1e9 for ns in series.measured])
        with deepclock.lap("seconds", quiet=True) as lap:
            lap["loss"] = 1
        self.assertIsNone(deepclock.laps_record().series["laps/seconds/loss"].seconds)
        median = record["latency/median"]
        self.assertEqual(median.seconds, median.value / 1e9)
        self.assertIsNone(record["runs/count"].seconds)
        self.assertIsNone(record["latency/p999"].seconds)

    def test_format(self):
        record = deepclock.bench(sum, [1], **short(runs=20, warmup=5))
        median, ns = record["latency/median"], record["latency/median"].value
        self.assertEqual(f"{median}", median.text)
        for unit, of in (("ns", 1), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)):
            self.assertEqual(f"{median:{unit}}", f"{ns / of:.4g} {unit}")
            self.assertEqual(format(median, ".3f " + unit), f"{ns / of:.3f} {unit}")
        self.assertEqual(f"{median:.1f}", f"{ns:.1f}")
        self.assertEqual(f"{record['runs/count']:.0f}", "20")
        self.assertEqual(f"{record['latency/p999']:ms}", record["latency/p999"].text)
        for wrong in ("q", "q ms", "9" * 100 + "ms"):
            with self.assertRaises(ValueError):
                format(median, wrong)


class OtherPythonTest(Case):
    def imported(self, *built):
        """Imports a copy of the package that has extensions for these tags only; returns what is printed."""
        with tempfile.TemporaryDirectory() as where:
            package = os.path.join(where, "deepclock")
            shutil.copytree(os.path.dirname(deepclock.__file__), package,
                            ignore=shutil.ignore_patterns("*.so", "*.p", "__pycache__"))
            for tag in built:
                pathlib.Path(package, f"_deepclock.{tag}.so").touch()
            told = subprocess.run([sys.executable, "-c", "import deepclock"], capture_output=True, text=True, check=False,
                                  env=dict(os.environ, PYTHONPATH=where))
        self.assertEqual(told.returncode, 1)
        return told.stderr.replace(package, "PACKAGE").splitlines()[-1]

    def test_one_that_it_was_not_built_for_is_named(self):
        mine = f"CPython {sys.version_info[0]}.{sys.version_info[1]}"
        told = self.imported("cpython-30-x86_64-linux-gnu", "cpython-31t-x86_64-linux-gnu")
        self.assertIn("ImportError: deepclock in PACKAGE was built for CPython 3.0 on x86_64-linux-gnu, "
                      f"CPython 3.1t on x86_64-linux-gnu, and this is {mine}", told)
        self.assertIn(f"run it with that Python, or install it for this one: {sys.executable} -m pip install", told)
        self.assertIn("ImportError: deepclock in PACKAGE has no extension: install it: ", self.imported())


if __name__ == "__main__":
    main()
