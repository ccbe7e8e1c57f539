# SPDX-License-Identifier: Apache-2.0
"""The engine 'openvino': its answers against ONNX Runtime's, the formats that it reads itself, its options."""

import json
import os
import shutil
import struct
import subprocess
import sys

from support import Case, deepclock, main, short
from tflite_file import tflite

from deepclock import _program

if not _program.library("openvino"):
    print("1..0 # skip OpenVINO is not there: tools/setup.sh fetches it")
    sys.exit(0)


def run(*words, status=0, **env):
    """Returns what the program prints, and its messages."""
    done = subprocess.run([_program.path(), *words], capture_output=True, text=True, check=False,
                          env=dict(os.environ, **env))
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


# --- models in other formats: y = x + c, x of ROWS x 3

def ir(rows, version=11):
    """Returns a model of OpenVINO in its own format: https://docs.openvino.ai/2026/documentation/openvino-ir-format.html"""
    def port(number, name=None):
        names = f' names="{name}"' if name else ""
        return f'<port id="{number}" precision="FP32"{names}><dim>{rows}</dim><dim>3</dim></port>'
    constant = '<port id="0" precision="FP32"><dim>1</dim><dim>3</dim></port>'
    return f"""<?xml version="1.0"?>
<net name="sum" version="{version}"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="{'?' if rows < 0 else rows},3" element_type="f32"/>
<output>{port(0, "x")}</output></layer>
<layer id="1" name="c" type="Const" version="opset1"><data element_type="f32" shape="1,3" offset="0" size="12"/>
<output>{constant}</output></layer>
<layer id="2" name="sum" type="Add" version="opset1"><data auto_broadcast="numpy"/>
<input>{port(0)}{constant.replace('id="0"', 'id="1"')}</input><output>{port(2, "y")}</output></layer>
<layer id="3" name="y/result" type="Result" version="opset1"><input>{port(0)}</input></layer>
</layers><edges><edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
<edge from-layer="1" from-port="0" to-layer="2" to-port="1"/><edge from-layer="2" from-port="2" to-layer="3" to-port="0"/>
</edges></net>""", struct.pack("<3f", 1, 2, 3)


class NetworksTest(Case):
    """Every built-in network gives the answers of ONNX Runtime."""

    def agree(self, name, *words):
        out, _ = run("accuracy", name, "--vary", "engine=ort,openvino", "--format", "json", *words)
        facts = {(f["section"], f["key"]): f.get("value") for f in json.loads(out)["facts"]}
        self.assertIn(facts["difference", "verdict"], ("close", "identical"))

    def test_open_sizes(self):
        model = self.path("open.onnx")
        run("zoo", "bert_mini", "--symbolic", "-o", model)
        self.agree(model, "--dim", "batch=2", "--dim", "seq=17")
        self.agree(model, "--batch", "3", "--engine-option", "openvino:shapes=open")


def network_test(name, words):
    return lambda self: self.agree("zoo:" + name, *words)


# The large ones are in tests/real/real_models.py.
for _name, _words in {"simplenet": (), "two_layer": (), "conv2d": (), "matmul": (), "bert_mini": (), "squeezenet1_1": (),
                      "mobilenet_v2": (), "resnet18": ()}.items():
    setattr(NetworksTest, "test_" + _name, network_test(_name, _words))


class FormatsTest(Case):
    def model(self, name, data, weights=None):
        with open(self.path(name), "wb") as f:
            f.write(data if isinstance(data, bytes) else data.encode())
        if weights:
            with open(self.path(name.rsplit(".", 1)[0] + ".bin"), "wb") as f:
                f.write(weights)
        return self.path(name)

    def measured(self, model, shape, *words):
        out, _ = run("bench", model, "--engine", "openvino", "--runs", "20", "--warmup", "2", "--format", "json", *words)
        facts = {f["section"] + "/" + f["key"]: f.get("value") for f in json.loads(out)["facts"]}
        self.assertEqual(facts["engine/name"], "openvino")
        self.assertIn(shape + " float32", facts["subject/input/x"])

    def test_its_own_format(self):
        xml, weights = ir(2)
        self.measured(self.model("sum.xml", xml, weights), "2x3")
        xml, weights = ir(-1)
        self.measured(self.model("open.xml", xml, weights), "5x3", "--batch", "5")

    def test_tensorflow_lite(self):
        self.measured(self.model("sum.tflite", tflite(4)), "4x3")

    def test_formats_are_of_this_engine(self):
        self.model("sum.tflite", tflite(4))
        _, said = run("bench", self.path("sum.tflite"), status=1)
        self.assertIn("--engine litert or openvino", said)

    def test_damaged(self):
        # One sentence, and nothing of the library's readers.
        xml, weights = ir(2)
        files = {"cut.xml": xml[:400], "version.xml": xml.replace('version="11"', 'version="99"'), "short.xml": xml,
                 "page.xml": "<html>no model</html>", "cut.tflite": tflite(4)[:100], "page.tflite": b"no model at all",
                 "empty.tflite": b"", "empty.xml": b""}
        for name, data in files.items():
            with self.subTest(name):
                model = self.model(name, data, weights[:4] if name == "short.xml" else weights)
                out, said = run("bench", model, "--engine", "openvino", "--runs", "5", status=1)
                self.assertEqual((out, said.count("\n")), ("", 1), said)
                self.assertTrue(said.startswith("deepclock: "), said)
        _, said = run("bench", self.path("none.xml"), "--engine", "openvino", status=1)
        self.assertIn("there is no file", said)


class OptionsTest(Case):
    def test_record(self):
        r = deepclock.bench_model("zoo:simplenet", engine="openvino", threads=1,
                                  engine_option=["performance_hint=throughput", "num_streams=1"], **short())
        for key, value in {"name": "openvino", "provider": "cpu", "threads": "1", "streams": "1", "precision": "dynamic",
                           "performance_hint": "throughput", "execution_mode": "accuracy"}.items():
            self.assertEqual(r.facts["engine/" + key].value, value)
        self.assertGreater(r.metrics["latency/median"].value, 0)
        self.assertNotIn("engine/max_isa", r.facts)

    def test_instruction_set(self):
        out, _ = run("bench", "zoo:simplenet", "--engine", "openvino", "--runs", "5", "--format", "json", OV_CPU_MAX_ISA="SSE41")
        self.assertIn(["max_isa", "SSE41"], [[f["key"], f.get("value")] for f in json.loads(out)["facts"]])

    def test_options_of_one_engine(self):
        r = deepclock.compare("zoo:simplenet", vary=["engine=ort,openvino"], rounds=6, check_outputs=True, trial="1ms",
                              engine_option=["openvino:num_streams=1", "ort:spin=0"], no_history=True,
                              engine_lib="openvino:" + _program.library("openvino"))
        self.assertIn("difference/verdict", r.facts)
        self.assertIn(r.facts["difference/verdict"].value, ("close", "identical"))
        for name in ("ort", "openvino"):
            self.assertIn(f"compare/rounds/engine={name}", r.series)

    def test_in_flight(self):
        # Two requests of one session at the same time: OpenVINO's are asynchronous.
        for engine, option in (("ort", "spin=0"), ("openvino", "num_streams=2")):
            with self.subTest(engine):
                r = deepclock.throughput("zoo:simplenet", engine=engine, engine_option=option, in_flight="1,2", batch="4",
                                         threads="2", point_time="50ms", rounds=2, max_time="20s", no_history=True)
                rows = list(r.tables["throughput/points"])
                self.assertEqual([row["in_flight"] for row in rows], [1, 2])
                for row in rows:
                    self.assertGreater(row["throughput"], 0)
                    self.assertGreater(row["latency"], 0)
                self.assertIn(r.facts["throughput/best_in_flight"].value, (1, 2))

    def test_memory(self):
        # Fresh processes show how much memory each needs, too.
        r = deepclock.compare("zoo:simplenet", vary=["engine=ort,openvino"], rounds=6, trial="1ms", fresh=True, no_history=True)
        for row in r.tables["compare/startup"]:
            self.assertGreater(row["session"], 0)
            self.assertGreater(row["peak_memory"], 1 << 20)

    def test_refused(self):
        for words, status, says in (
                (("--engine-option", "performance_hnt=latency"), 2, "did you mean 'performance_hint'?"),
                (("--engine-option", "performance_hint=fast"), 2, "latency|throughput|cumulative_throughput"),
                (("--engine-option", "num_streams=x"), 1, "refuses NUM_STREAMS=X for CPU"),
                (("--engine-option", "openvino:x=1"), 2, "no option 'x'"),
                (("--interop-threads", "2"), 2, "no option 'interop_threads'"),
                (("--device", "npu"), 1, "finds no device 'NPU' here"),
                (("--device", "cuda:0"), 2, "has no device 'cuda:0'"),
                (("--shape", "input=2x7"), 2, "input")):
            with self.subTest(" ".join(words)):
                _, said = run("bench", "zoo:simplenet", "--engine", "openvino", *words, status=status)
                self.assertIn(says, said)
                self.assertEqual(said.count("\n"), 1, said)

    def test_automatic_device(self):
        r = deepclock.bench_model("zoo:simplenet", engine="openvino", device="auto", **short())
        self.assertEqual(r.facts["engine/provider"].value, "auto")

    def test_cache(self):
        for _ in range(2):
            run("bench", "zoo:simplenet", "--engine", "openvino", "--runs", "5", "--engine-option", "cache_dir=" + self.folder)
        self.assertTrue([name for name in os.listdir(self.folder) if name.endswith(".blob")])


class LibraryTest(Case):
    def environment(self):
        env = {k: v for k, v in os.environ.items() if k not in ("DEEPCLOCK_OPENVINO", "VIRTUAL_ENV")}
        env.update(PYTHONPATH=os.pathsep.join([self.folder, os.path.dirname(_program.HERE)]), PATH="/usr/bin:/bin")
        return env

    def test_package_of_the_interpreter(self):
        # A package openvino on this interpreter's path only.
        libs = os.path.join(self.folder, "openvino", "libs")
        shutil.copytree(os.path.dirname(_program.library("openvino")), libs, symlinks=False)
        with open(os.path.join(self.folder, "openvino", "__init__.py"), "w", encoding="utf-8"):
            pass
        code = ("import deepclock; print(deepclock.bench_model('zoo:simplenet', engine='openvino', runs=5, warmup=1,"
                " no_history=True).facts['engine/library'].value)")
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=self.folder,
                              env=self.environment())
        self.assertTrue(done.stdout.startswith(libs), done.stdout + done.stderr)

    def test_missing(self):
        for value, says in ((self.folder, "there is no libopenvino_c.so* in the directory"),
                            (self.path("no.so"), "there is no file"), (_program.path(), "cannot load")):
            _, said = run("bench", "zoo:simplenet", "--engine", "openvino", status=1, DEEPCLOCK_OPENVINO=value)
            self.assertIn(says, said)
            self.assertIn("DEEPCLOCK_OPENVINO" if says[0] == "t" else _program.path(), said)
            out, _ = run("engines", "openvino", "--format", "csv", DEEPCLOCK_OPENVINO=value)
            self.assertIn("openvino,usable,false", out)


class ProfileTest(Case):
    def operators(self, model):
        out, _ = run("profile", model, "--engine", "openvino", "--no-roofs", "--profile-runs", "20", "--runs", "20",
                     "--warmup", "2", "--format", "json")
        return {op["name"]: op for op in json.loads(out)["ops"]}

    def test_nodes(self):
        # One is named by its output, for it has the name of the model's; the activation is part of the product.
        ops = self.operators("zoo:simplenet")
        self.assertEqual(set(ops) - {"(between operators)"}, {"/fc1/Gemm", "/fc2/Gemm"})
        self.assertEqual(ops["/fc1/Gemm"]["type"], "FullyConnected")
        self.assertEqual(ops["/fc1/Gemm"]["macs"], 784 * 128)
        self.assertEqual([o["name"] if isinstance(o, dict) else o for o in ops["/fc1/Gemm"]["origins"]], ["/fc1/Gemm", "/relu/Relu"])

    def test_fused(self):
        # A product and its bias are one node, with the bias's name: it is shown as the product.
        op = self.operators("zoo:bert_mini")["/encoder/layer.0/attention/self/query/MatMul"]
        self.assertEqual((op["type"], op["macs"]), ("FullyConnected", 128 * 256 * 256))
        self.assertIn("/encoder/layer.0/attention/self/query/Add", op["origins"])

    def test_names_of_its_own(self):
        # Convolutions with a folded normalisation have names that OpenVINO makes: no other row has their work.
        ops = self.operators("zoo:mobilenet_v2")
        self.assertEqual(ops["/GlobalAveragePool"]["macs"], 0)
        self.assertIn("absent", ops["/features/features.0/features.0.0/Conv"]["time"])
        self.assertTrue(any(op["type"] == "Convolution" and name.startswith("Multiply") for name, op in ops.items()))

    def test_no_structure(self):
        xml, weights = ir(2)
        for name, data in (("sum.xml", xml.encode()), ("sum.bin", weights)):
            with open(self.path(name), "wb") as f:
                f.write(data)
        ops = self.operators(self.path("sum.xml"))
        self.assertIn("sum", ops)
        self.assertIn("only the engine reads", ops["sum"]["macs"]["absent"])


if __name__ == "__main__":
    main()
