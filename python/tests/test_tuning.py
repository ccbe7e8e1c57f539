# SPDX-License-Identifier: Apache-2.0
"""deepclock.tuned_session: the settings that reach ONNX Runtime, seen by a module of its name."""

import json
import sys
import types
import unittest.mock

from support import Case, deepclock, main

COLUMNS = ("option", "python", "c", "setting", "value")


class Options:
    def __init__(self):
        self.entries = {}

    def add_session_config_entry(self, key, value):
        self.entries[key] = value


def runtime():
    """Returns a module like onnxruntime, whose sessions have their arguments."""
    m = types.ModuleType("onnxruntime")
    m.SessionOptions = Options
    m.ExecutionMode = types.SimpleNamespace(ORT_PARALLEL="parallel")
    m.GraphOptimizationLevel = types.SimpleNamespace(ORT_ENABLE_BASIC="basic")
    m.InferenceSession = lambda model, options, providers: types.SimpleNamespace(
        model=model, options=options, providers=providers)
    return m


class TunedSessionTest(Case):
    def record(self, settings, first="options = onnxruntime.SessionOptions()", before=()):
        """Returns a saved record with these settings, as deepclock.tune() makes one."""
        space = self.path("space.txt")
        with open(space, "w") as f:
            f.write("sleep_ns=1000000\n")
        r = deepclock.tune("zoo:simplenet", engine="null", engine_option="sleep_ns=2000000", space=space,
                           trial="1ms", max_time="2s", no_history=True)
        saved = json.loads(r.report("json"))
        absent = {"absent": "it is not a setting of the session"}
        rows = [["x", "import onnxruntime", "x", absent, absent]] + [["x", "x", "x", *s] for s in before]
        rows += [["session", first, "", absent, absent]] + [["x", "x", "x", *s] for s in settings]
        saved["tables"].append({"name": "tune/apply", "title": "Applied by",
                                "columns": [{"key": k, "title": k} for k in COLUMNS], "rows": rows})
        with open(self.path("r.json"), "w") as f:
            json.dump(saved, f)
        return deepclock.load(self.path("r.json"))

    def test_settings(self):
        r = self.record([["intra_op_num_threads", "2"], ["execution_mode", "ORT_PARALLEL"],
                         ["graph_optimization_level", "ORT_ENABLE_BASIC"], ["enable_mem_pattern", "False"],
                         ["session.intra_op.allow_spinning", "0"]])
        with unittest.mock.patch.dict(sys.modules, onnxruntime=runtime()):
            s = deepclock.tuned_session(r, "m.onnx")
        self.assertEqual((s.model, s.providers), ("m.onnx", ["CPUExecutionProvider"]))
        o = s.options
        self.assertEqual((o.intra_op_num_threads, o.execution_mode, o.graph_optimization_level, o.enable_mem_pattern),
                         (2, "parallel", "basic", False))
        self.assertEqual(o.entries, {"session.intra_op.allow_spinning": "0"})

    def test_variant(self):
        # It is made before the session, so its row comes first.
        r = self.record([["intra_op_num_threads", "2"]], before=[["variant", "v/net.fp16.onnx"]])
        with unittest.mock.patch.dict(sys.modules, onnxruntime=runtime()):
            s = deepclock.tuned_session(r, "net.onnx")
        self.assertEqual((s.model, s.options.intra_op_num_threads), ("v/net.fp16.onnx", 2))

    def test_unknown_settings(self):
        # A record is data: nothing but the known settings is set.
        r = self.record([["__class__", "x"]])
        with unittest.mock.patch.dict(sys.modules, onnxruntime=runtime()):
            self.assertRaisesRegex(ValueError, "unknown here: __class__", deepclock.tuned_session, r, "m.onnx")

    def test_device(self):
        r = self.record([])
        saved = json.loads(r.report("json"))
        absent = {"absent": "it is not a setting of the session"}
        saved["tables"][-1]["rows"].append(["device=cuda", absent, absent, absent, absent])
        with open(self.path("r.json"), "w") as f:
            json.dump(saved, f)
        r = deepclock.load(self.path("r.json"))
        with unittest.mock.patch.dict(sys.modules, onnxruntime=runtime()):
            self.assertRaisesRegex(ValueError, "device=cuda", deepclock.tuned_session, r, "m.onnx")
            s = deepclock.tuned_session(r, "m.onnx", providers=["CUDAExecutionProvider"])
        self.assertEqual(s.providers, ["CUDAExecutionProvider"])

    def test_not_there(self):
        r = self.record([])
        with unittest.mock.patch.dict(sys.modules, {"onnxruntime": None}):
            self.assertRaisesRegex(ImportError, "pip install onnxruntime", deepclock.tuned_session, r, "m.onnx")
        r = self.record([], first="config = {}")
        self.assertRaisesRegex(ValueError, "not ONNX Runtime", deepclock.tuned_session, r, "m.onnx")


main()
