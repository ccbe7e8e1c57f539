# SPDX-License-Identifier: Apache-2.0
"""deepclock.torch.modes: eager mode compared with PyTorch's ways to compile a module."""

import glob
import os
import signal
import sys
import types

from support import Case, deepclock, main, needs

torch = needs("torch", "PyTorch")

from deepclock import _program  # noqa: E402

deepclock.torch.modes  # imports the module, which has the function's name
implementation = sys.modules["deepclock.torch.modes"]
# In a build directory the library is next to the program.
for library in glob.glob(os.path.join(os.path.dirname(_program.path() or ""), "ort", "libonnxruntime.so.*")):
    os.environ.setdefault("DEEPCLOCK_ORT", library)
QUICK = {"rounds": 6, "trial": "1ms", "max_time": "300ms"}


def network():
    torch.manual_seed(0)
    return torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.ReLU(),
                               torch.nn.Flatten(), torch.nn.Linear(4 * 36, 5))


def rows(record):
    return {row["mode"]: row for row in record.tables["modes"]}


class InterruptTest(Case):
    """Ctrl-C ends all of a function that measures several times, and the record says so."""

    def interrupted(self, call, phase, runs=2, **options):
        """Ctrl-C when this phase has had that number of runs or rounds."""
        def watch(progress):
            if progress and progress.phase == phase and progress.runs >= runs and not sent:
                sent.append(phase)
                os.kill(os.getpid(), signal.SIGINT)

        sent, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            record = call(network(), torch.randn(2, 3, 8, 8), progress=watch, no_history=True, **options)
        finally:
            signal.signal(signal.SIGINT, before)
        self.assertEqual((sent, record.incomplete), ([phase], True))
        self.assertIn("interrupted", [note.code for note in record.notes])
        return record

    def test_functions_that_measure_several_times(self):
        t, long = deepclock.torch, {"max_time": "60s", "margin": "0.001%"}
        self.interrupted(t.pitfalls, "measure", time="60s")
        self.interrupted(t.pitfalls, "rounds", 0, time="500ms", only="gradients-on,training-mode")
        self.interrupted(t.devices, "rounds", threads=[1, 2], **long)
        self.interrupted(t.devices, "batch=2", 0, threads=[1, 2], batch=[1, 2], **{**long, "max_time": "4s"})
        self.interrupted(t.modes, "measure", which="eager", max_time="60s")
        self.interrupted(t.modes, "rounds", which="inference_mode", **long)


class ModesTest(Case):
    def test_all_that_are_quick(self):
        m = network()
        r = deepclock.torch.modes(m, torch.randn(2, 3, 8, 8), which=("trace", "script", "onnxruntime"),
                                  save=self.path("r.json"), **QUICK)
        self.assertTrue(m.training)
        found = rows(r)
        self.assertEqual(list(found), ["eager", "trace", "script", "onnxruntime"])
        self.assertEqual(found["eager"]["verdict"], "baseline")
        for name in ("trace", "script"):
            self.assertEqual(found[name]["outputs"], "agree")
            self.assertGreater(found[name]["prepare"], 0)
            self.assertGreater(found[name]["first_call"], 0)
            self.assertGreater(found[name]["ratio"], 0)
            self.assertEqual(len(r.series[f"modes/{name}"].values), 6)
        if found["onnxruntime"]["outputs"] == "absent":
            why = r.tables["modes"].cell(3, "call").absent
            self.assertRegex(why, "ONNX Runtime|onnxscript")
        else:
            self.assertEqual(found["onnxruntime"]["outputs"], "agree")
            self.assertGreater(found["onnxruntime"]["first_call"], 0)
            self.assertLess(found["onnxruntime"]["max_difference"], 1e-3)
        self.assertTrue(r.facts["result/answer"].value)
        self.assertEqual(deepclock.load(self.path("r.json")).id, r.id)

    def test_compile(self):
        r = deepclock.torch.modes(torch.nn.Linear(4, 4), torch.randn(2, 4), which=("compile",), **QUICK)
        row = rows(r)["compile"]
        if hasattr(torch, "compile"):
            self.assertEqual(row["outputs"], "agree", r.notes)
            self.assertGreater(row["first_call"], rows(r)["eager"]["first_call"])
        else:
            self.assertIn("has no torch.compile", r.tables["modes"].cell(1, "call").absent)

    def test_conversions_and_export(self):
        torch.set_num_threads(1)
        m, x = network().eval(), torch.randn(2, 3, 8, 8)
        state = torch.get_rng_state()
        r = deepclock.torch.modes(m, x, which=("inference_mode", "channels_last", "bfloat16", "export"), **QUICK)
        self.assertTrue(torch.equal(torch.get_rng_state(), state))
        self.assertEqual(next(m.parameters()).dtype, torch.float32)
        for name, row in rows(r).items():
            if name != "export" or hasattr(torch, "export"):
                self.assertEqual(row["outputs"], "agree", name)
        r = deepclock.torch.modes(torch.nn.Linear(4, 4), torch.randn(2, 4), which="channels_last", **QUICK)
        self.assertIn("four dimensions", r.tables["modes"].cell(1, "call").absent)

    def test_random_numbers(self):
        """Each mode starts from the same seed; outputs of a mode that draws other random numbers cannot be compared."""
        class Noise(torch.nn.Module):
            def forward(self, x):
                return x + torch.rand_like(x)

        r = deepclock.torch.modes(Noise(), torch.ones(8), which=("trace", "script"), **QUICK)
        self.assertEqual([row["outputs"] for row in rows(r).values()], ["agree"] * 3)
        made = implementation.MODES

        def other(run):
            return lambda x: run.module(x) + torch.rand_like(x)

        implementation.MODES = {**made, "other": other}
        self.addCleanup(setattr, implementation, "MODES", made)
        r = deepclock.torch.modes(Noise(), torch.ones(8), which=("other",), **QUICK)
        self.assertEqual(rows(r)["other"]["outputs"], "random")
        self.assertIn("cannot be compared", next(n.text for n in r.notes if n.code == "outputs-differ"))

    def test_what_is_not_shown_is_not_denied(self):
        def row(mode, verdict, outputs="agree"):
            return {"mode": mode, "verdict": verdict, "outputs": outputs, "call": 1000.0, "ratio": 0.589, "pays_back": None}

        answer = implementation._answer
        for rows_, text in ((("trace", "undecided"),), "undecided: trace 0.589 times; more rounds"), (
                (("trace", "faster", "differ"),), "(other outputs: trace 0.589 times)"):
            said = answer([row("eager", "baseline"), row("script", "slower"), *(row(*r) for r in rows_)])
            self.assertIn("was shown to be faster than eager", said)
            self.assertIn(text, said)
        self.assertIn("no other mode could be timed than eager", answer([row("eager", "baseline"), row("export", "absent")]))
        self.assertIn("no mode is faster than eager", answer([row("eager", "baseline"), row("script", "slower")]))

    def test_what_fails_is_absent(self):
        class Odd(torch.nn.Module):
            def forward(self, x, **rest):  # TorchScript has no such arguments
                return x + len(rest)

        r = deepclock.torch.modes(Odd(), torch.ones(3), which=("script",), **QUICK)
        why = r.tables["modes"].cell(1, "call").absent
        self.assertNotIn("\n", why)
        self.assertLess(len(why), 260)
        self.assertIn("mode-absent", [n.code for n in r.notes])
        self.assertIsNotNone(rows(r)["eager"]["call"])

    def test_outputs_that_differ(self):
        class Forgets(torch.nn.Module):
            """Tracing makes a constant of its Python integer."""
            def __init__(self):
                super().__init__()
                self.calls = 0

            def forward(self, x):
                self.calls += 1
                return x * self.calls

        r = deepclock.torch.modes(Forgets(), torch.ones(3), which=("trace",), **QUICK)
        self.assertEqual(rows(r)["trace"]["outputs"], "differ")
        self.assertIn("outputs-differ", [n.code for n in r.notes])

    def test_wrong_calls(self):
        with self.assertRaisesRegex(deepclock.ArgumentError, "no mode 'jit'"):
            deepclock.torch.modes(network(), torch.ones(1), which=("jit",))
        with self.assertRaises(RuntimeError):
            deepclock.torch.modes(torch.nn.Linear(4, 4), torch.ones(3), which=())

    def test_eager_alone(self):
        r = deepclock.torch.modes(torch.nn.Linear(4, 4), torch.ones(4), which=(), max_time="200ms")
        self.assertGreater(rows(r)["eager"]["call"], 0)


class ArithmeticTest(Case):
    def test_pays_back(self):
        """Preparation took 1000 ns, the first calls 300 ns more than later ones, eager's first call 100 ns
        more. A call saves 10 ns, so the mode pays back after 120 calls."""
        eager = types.SimpleNamespace(name="eager", prepare_ns=0, first_ns=[130, 30, 40])
        mode = types.SimpleNamespace(name="m", prepare_ns=1000, first_ns=[320, 20, 20])
        times = {"eager": [30.0] * 9 + [40.0], "m": [20.0] * 10}
        eager.first_ns = [130, 30, 30]
        less = types.SimpleNamespace(value=-10.0, lo=-12.0, hi=-8.0, level=0.95)
        told = implementation._pays_back(mode, eager, times, less, "faster")
        self.assertEqual((told["value"], told["lo"], told["hi"]), (120, 100.0, 150.0))
        self.assertIn("not faster", implementation._pays_back(mode, eager, times, less, "same")["absent"])

    def test_difference(self):
        a = torch.tensor([1.0, 2.0, float("nan")])
        self.assertEqual(implementation.difference(a, a.clone())[:2], (0.0, True))
        largest, agrees, _ = implementation.difference(a[:2], a[:2] + 0.5)
        self.assertEqual((largest, agrees), (0.5, False))
        self.assertFalse(implementation.difference(a, torch.tensor([1.0, 2.0, 3.0]))[1])
        self.assertFalse(implementation.difference(a, (a, a))[1])
        self.assertTrue(implementation.difference(a[:2], a[:2] + 0.5, rtol=1)[1])


if __name__ == "__main__":
    main()
