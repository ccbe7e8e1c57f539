# SPDX-License-Identifier: Apache-2.0
"""The Python examples run as documented."""

import glob
import importlib.util
import os
import re
import subprocess
import sys

from support import Case, deepclock, main, needs

needs("torch", "PyTorch")
EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "python")
PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(deepclock.__file__)))
DATA = "/usr/share/datasets/fashion-mnist"


class ExampleTest(Case):
    def run_example(self, name, *words):
        done = subprocess.run([sys.executable, "-W", "ignore", os.path.join(EXAMPLES, name), *words],
                              capture_output=True, text=True, cwd=self.folder,
                              env=dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=PACKAGES))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_train(self):
        if not os.path.isdir(DATA):
            self.skipTest("there is no Fashion-MNIST: install dataset-fashion-mnist")
        text = self.run_example("train_fashion_mnist.py", "--epochs", "2", "--items", "6000", "--tensorboard",
                                self.path("board"), "--save", self.path("steps.json"))
        for n in (1, 2):
            self.assertRegex(text, rf"epoch {n}/2 \| .*loss .*s wall, .*s cpu \| .* items/s")
        self.assertRegex(text, r"training \| .*s wall")
        self.assertGreater(float(re.search(r"^accuracy (0\.\d+)$", text, re.M)[1]), 0.6)
        self.assertRegex(text, r"Ankle boot +0\.\d\d +0\.\d\d +0\.\d\d +1000")
        self.assertTrue(glob.glob(self.path("board/*tfevents*")))
        record = deepclock.load(self.path("steps.json"))
        self.assertEqual(record["steps/count"].value, 120)
        table = record.tables["steps"]
        total = dict(zip(table["part"], table["total"]))
        self.assertEqual(total.pop("step"), sum(total.values()))
        self.assertTrue(all(total[p] > 0 for p in ("data", "forward", "loss", "backward", "optimiser")))

    def test_wrong_and_right(self):
        if importlib.util.find_spec("torchvision") is None:
            self.skipTest("there is no torchvision")
        text = self.run_example("resnet18_wrong_and_right.py", "--size", "64", "--time", "500ms")
        rows = re.findall(r"^(\S.*\S) +(\d+\.\d{3}) +(\d+\.\d\d)$", text, re.M)
        self.assertGreaterEqual(len(rows), 8, text)
        right = float(rows[-1][1])
        for _, ms, factor in rows:  # the factor matches the milliseconds
            self.assertAlmostEqual(float(factor), float(ms) / right, delta=0.02 + 0.01 * float(factor))


if __name__ == "__main__":
    main()
