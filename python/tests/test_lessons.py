# SPDX-License-Identifier: Apache-2.0
"""The lesson notebooks run from a clean state in a Jupyter kernel; a failing cell raises."""

import importlib.util
import os

from support import Case, deepclock, main, needs

needs("torch", "PyTorch")
HERE = os.path.dirname(os.path.abspath(__file__))
LESSONS = os.path.join(HERE, "..", "..", "examples", "python", "lessons")
PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(deepclock.__file__)))


class LessonTest(Case):
    def notebook(self, name):
        """Runs a notebook and returns the texts that it prints."""
        for module in ("nbclient", "nbformat", "ipykernel", "torchvision"):
            if importlib.util.find_spec(module) is None:
                self.skipTest(f"there is no {module}")
        import nbclient
        import nbformat

        notebook = nbformat.read(os.path.join(LESSONS, name + ".ipynb"), 4)
        places = [p for p in (os.environ.get("DEEPCLOCK_TEST_TORCH"), PACKAGES) if p]
        env = dict(os.environ, OMP_NUM_THREADS="1", PYTHONPATH=os.pathsep.join(places), LESSONS_TIME="100ms",
                   LESSONS_RUNS="20", IPYTHONDIR=self.path("ipython"))
        client = nbclient.NotebookClient(notebook, timeout=500, kernel_name="python3",
                                         resources={"metadata": {"path": self.folder}})
        client.execute(env=env)
        # A lap of more than a second is displayed, because the cell showed it while it was open; others are printed.
        return "".join(o["text"] if "text" in o else o.get("data", {}).get("text/plain", "") + "\n"
                       for c in notebook.cells for o in c.get("outputs", ()))

    def test_comparisons(self):
        text = self.notebook("comparisons")
        self.assertRegex(text, r"training \| loss .* wall, .* cpu")
        self.assertRegex(text, r"epoch 3/3 \| loss .* \| accuracy ")
        self.assertRegex(text, r"weighted avg +0\.\d\d +0\.\d\d +0\.\d\d +2000")
        self.assertIn("'outputs': 'agree'", text)

    def test_performance(self):
        text = self.notebook("performance")
        self.assertIn("20 runs: ResNet on torch", text)
        self.assertRegex(text, r"batch 64 +\d")

    def test_training(self):
        text = self.notebook("training")
        self.assertRegex(text, r"Epoch 5/5 - Test Acc: 0\.\d+")
        self.assertRegex(text, r"Epoch 5/5 \| loss .* \| Test Acc ")
        self.assertIn("Epoch: 5 laps", text)
        self.assertRegex(text, r"\d\d:\d\d:\d\d night \| ")

    def test_run_time(self):
        text = self.notebook("runtime")
        self.assertIn("ResNet-18   1,814,073,344 MACs   11,689,512 parameters", text)
        self.assertIn("VGG-16     15,470,264,320 MACs  138,357,544 parameters", text)
        self.assertIn("LeNet-5           416,520 MACs       61,706 parameters", text)
        self.assertRegex(text, r"matmul +5 ")
        self.assertIn("{'step': 3, 'forward': 3, 'softmax': 3}", text)

    def test_profiling(self):
        text = self.notebook("profiling")
        self.assertRegex(text, r"raw times: (.* (sec|msec|usec)(, )?){5}")
        self.assertRegex(text, r"(n|u|m|)sec per loop")
        self.assertRegex(text, r"C extension +\d")
        if importlib.util.find_spec("numba"):  # the compiling call separately, then a row of the ranking
            self.assertRegex(text, r"Numba \| \d.*\n(.*\n)*?Numba 2 \| \d.*\n(.*\n)*?Numba 3 \| \d")
            self.assertRegex(text, r"\n +Numba +\d")
        else:
            self.assertIn("pip install numba", text)
        self.assertRegex(text, r"learn +1 ")
        self.assertRegex(text, r"nn_memory\.py:\d+ \(learn\)")
        self.assertRegex(text, r"m @ m +10 ")


if __name__ == "__main__":
    main()
