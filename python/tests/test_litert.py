# SPDX-License-Identifier: Apache-2.0
"""The engine 'litert': its answers against OpenVINO's, its options, what it refuses."""

import json
import os
import random
import subprocess
import sys

from support import Case, deepclock, main, short
import tflite_file

from deepclock import _program

if not _program.library("ai_edge_litert"):
    print("1..0 # skip LiteRT is not there: tools/setup.sh fetches it")
    sys.exit(0)


def run(*words, status=0, **env):
    """Returns what the program prints, and its messages."""
    done = subprocess.run([_program.path(), *words], capture_output=True, text=True, check=False,
                          env=dict(os.environ, **env))
    assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
    return done.stdout, done.stderr


class LitertCase(Case):
    def file(self, name, data):
        with open(self.path(name), "wb") as f:
            f.write(data)
        return self.path(name)

    def dense(self):
        chance = random.Random(7)
        weights = [[chance.uniform(-1, 1) for _ in range(64)] for _ in range(48)]
        return self.file("dense.tflite", tflite_file.dense(4, weights, [chance.uniform(-1, 1) for _ in range(48)]))

    def twice(self):
        return self.file("twice.tflite", tflite_file.twice())


class ModelsTest(LitertCase):
    def test_agrees(self):
        if not _program.library("openvino"):
            self.skipTest("no OpenVINO")
        for model, words in ((self.dense(), ()), (self.twice(), ("--batch", "5")),
                             (self.file("sum.tflite", tflite_file.tflite(4)), ())):
            for mode in ("delegate", "builtin", "reference"):
                with self.subTest(model=model, mode=mode):
                    out, _ = run("accuracy", model, "--vary", "engine=litert,openvino", "--format", "json", *words,
                                 "--engine-option", "litert:kernel_mode=" + mode)
                    facts = {(f["section"], f["key"]): f.get("value") for f in json.loads(out)["facts"]}
                    self.assertIn(facts["difference", "verdict"], ("close", "identical"))

    def test_record(self):
        r = deepclock.bench_model(self.dense(), engine="litert", threads=1, **short())
        for key, value in {"name": "litert", "provider": "cpu", "threads": "1", "xnnpack": "all operators"}.items():
            self.assertEqual(r.facts["engine/" + key].value, value)
        self.assertRegex(r.facts["engine/version"].value, r"^\d+\.\d+\.\d+")
        self.assertGreater(r.metrics["latency/median"].value, 0)
        self.assertGreater(r.metrics["time/session"].value, 0)

    def test_several_at_a_time(self):
        # Each request in flight has an interpreter of its own.
        r = deepclock.throughput(self.twice(), engine="litert", in_flight="1,2", batch="4", point_time="50ms", rounds=2,
                                 max_time="20s", no_history=True)
        for row in r.tables["throughput/points"]:
            self.assertGreater(row["throughput"], 0)

    def test_operators(self):
        out, _ = run("profile", self.dense(), "--engine", "litert", "--profile-runs", "20", "--runs", "20", "--warmup", "2",
                     "--format", "json")
        ops = {op["name"]: op for op in json.loads(out)["ops"]}
        # XNNPACK's names, which differ between versions.
        self.assertTrue(any(name.startswith("Fully Connected") for name in ops), list(ops))
        self.assertTrue(any(name.startswith("Softmax") for name in ops), list(ops))
        for op in ops.values():
            if op["name"] != "(between operators)":
                self.assertIn("only the engine reads", op["macs"]["absent"])
                self.assertIn("only the engine reads", op["flops"]["absent"])


    def test_tune_tries_it_where_it_can_run(self):
        out, _ = run("tune", "zoo:simplenet", "--only", "engine", "--max-time", "3s", "--details")
        self.assertNotIn("litert", out)
        out, _ = run("tune", self.dense(), "--engine", "litert", "--only", "engine", "--max-time", "3s", "--details")
        self.assertNotIn("ONNX Runtime", out)


class RefusedTest(LitertCase):
    def test_files(self):
        data = tflite_file.twice()
        for name, content in {"empty.tflite": b"", "cut.tflite": data[:200], "page.tflite": b"no model at all"}.items():
            with self.subTest(name):
                out, said = run("bench", self.file(name, content), "--engine", "litert", "--runs", "5", status=1)
                self.assertEqual((out, said.count("\n")), ("", 1), said)
        _, said = run("bench", "zoo:simplenet", "--engine", "litert", status=1)
        self.assertIn("not a TensorFlow Lite model", said)

    def test_hostile_bytes(self):
        # Whatever a byte becomes, the answer is a result or one sentence.
        data, chance = tflite_file.twice(), random.Random(3)
        for _ in range(40):
            broken = bytearray(data)
            for _ in range(3):
                broken[chance.randrange(8, len(data))] = chance.randrange(256)
            done = subprocess.run([_program.path(), "bench", self.file("broken.tflite", bytes(broken)), "--engine", "litert",
                                   "--batch", "2", "--runs", "3", "--warmup", "0", "--no-history"],
                                  capture_output=True, text=True, check=False)
            self.assertIn(done.returncode, (0, 1, 2), (broken, done.stderr))

    def test_options(self):
        model = self.dense()
        for words, status, says in (
                (("--engine-option", "signature=serve"), 2, "no signature 'serve'"),
                (("--engine-option", "kernel_mode=fast"), 2, "delegate|builtin|reference"),
                (("--engine-option", "flags=x"), 2, "whole number"),
                (("--device", "gpu"), 2, "has no device 'gpu'"),
                (("--batch", "3"), 2, "fixes axis 0")):
            with self.subTest(" ".join(words)):
                _, said = run("bench", model, "--engine", "litert", *words, status=status)
                self.assertIn(says, said)
                self.assertEqual(said.count("\n"), 1, said)

    def test_missing(self):
        _, said = run("bench", self.dense(), "--engine", "litert", status=1, DEEPCLOCK_LITERT=self.folder)
        self.assertIn("there is no libLiteRt.so in the directory", said)
        out, _ = run("engines", "litert", "--format", "csv", DEEPCLOCK_LITERT=self.folder)
        self.assertIn("litert,usable,false", out)


if __name__ == "__main__":
    main()
