# SPDX-License-Identifier: Apache-2.0
"""The callbacks under the call sequences of Keras and Lightning, and under both libraries themselves."""

import contextlib
import importlib.util
import io
import os
import subprocess
import sys

from support import Case, deepclock, main

Laps = deepclock.callbacks.Laps


class Tensor:
    def __init__(self, *shape):
        self.shape = shape


class Trainer:
    """The attributes of Lightning's Trainer that the callbacks read."""

    max_epochs = 3
    callback_metrics = {"loss": 0.5, "picture": [1, 2], "name": "text"}
    sanity_checking = False


class CallbackTest(Case):
    def setUp(self):
        super().setUp()
        deepclock.laps_reset()

    def laps(self):
        return {row["name"]: row["laps"] for row in deepclock.laps_record().tables["laps"]}

    def test_as_keras_tells(self):
        c = Laps(stamps=False)
        with contextlib.redirect_stdout(io.StringIO()) as out, deepclock.trace() as t:
            c.set_params({"epochs": 2, "steps": 3, "verbose": 0})
            c.set_model(None)
            c.on_train_begin(None)
            for epoch in range(2):
                c.on_epoch_begin(epoch, None)
                for batch in range(3):
                    c.on_train_batch_begin(batch, None)
                    c.on_train_batch_end(batch, {"loss": 0.5})
                c.on_test_begin(None)
                c.on_test_batch_begin(0, None)
                c.on_test_end({"loss": 1})
                c.on_epoch_end(epoch, {"loss": 0.25, "val_loss": 1})
            c.on_train_end(None)
        lines = out.getvalue().splitlines()
        self.assertRegex(lines[1], r"^epoch 1/2 \| loss 0.25 \| val_loss 1 \| .* steps/s \| left ")
        self.assertEqual(self.laps(), {"training": 1, "epoch": 2, "validation": 2})
        self.assertEqual({r["name"]: r["calls"] for r in t.record.tables["zones"]},
                         {"training": 1, "epoch": 2, "validation": 2, "step": 6})
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)

    def test_another_training(self):
        c, lines = Laps(), []
        for epochs in (2, 1):
            with contextlib.redirect_stdout(io.StringIO()) as out:
                c.set_params({"epochs": epochs})
                c.on_train_begin(None)
                for epoch in range(epochs):
                    c.on_epoch_begin(epoch, None)
                    c.on_epoch_end(epoch, {})
                c.on_train_end(None)
            lines.append(out.getvalue())
        self.assertIn("epoch 2/2", lines[0])
        self.assertIn("epoch 1/1", lines[1])

    def test_as_lightning_tells(self):
        c, trainer, module = Laps(steps=True), Trainer(), object()
        with contextlib.redirect_stdout(io.StringIO()) as out, deepclock.trace() as t:
            c.setup(trainer, module, stage="fit")
            trainer.sanity_checking = True
            c.on_validation_start(trainer, module)
            c.on_validation_end(trainer, module)
            trainer.sanity_checking = False
            c.on_train_start(trainer, module)
            c.on_train_epoch_start(trainer, module)
            for i in range(3):
                batch = {"input": [Tensor(32, 10)], "label": Tensor(32)}
                c.on_train_batch_start(trainer, module, batch, i)
                c.on_before_backward(trainer, module, None)
                c.on_after_backward(trainer, module)
                c.on_train_batch_end(trainer, module, None, batch, i)
            c.on_train_epoch_end(trainer, module)
            c.on_train_end(trainer, module)
            c.teardown(trainer, module, stage="fit")
        self.assertRegex(out.getvalue(), r"(?m)^epoch 1/3 \| loss 0.5 \| .* \w+/s \| left ")
        self.assertEqual(self.laps(), {"training": 1, "epoch": 1, "step": 3})
        self.assertEqual(list(deepclock.laps_record().series["laps/epoch/items"].values), [96])
        self.assertEqual({r["name"]: r["calls"] for r in t.record.tables["zones"]},
                         {"training": 1, "epoch": 1, "step": 3, "backward": 3})

    def test_as_transformers_tells(self):
        class Arguments:
            num_train_epochs, max_steps = 3.0, 6

        class State:
            num_train_epochs = 2  # what max_steps makes of it

        c, told = Laps(), (Arguments(), State(), object())
        with contextlib.redirect_stdout(io.StringIO()) as out, deepclock.trace() as t:
            c.on_init_end(*told)
            c.on_train_begin(*told, model=None)
            for _ in range(2):
                c.on_epoch_begin(*told, model=None)
                for _ in range(3):
                    c.on_step_begin(*told, model=None)
                    c.on_substep_end(*told, model=None)
                    c.on_pre_optimizer_step(*told, model=None)
                    self.assertIsNone(c.on_step_end(*told, model=None))
                c.on_log(*told, model=None, logs={"loss": 0.5, "text": "x"})
                c.on_epoch_end(*told, model=None)
                for _ in range(2):
                    c.on_prediction_step(*told, model=None)
                c.on_evaluate(*told, model=None, metrics={"eval_loss": 0.25})
            c.on_train_end(*told, model=None)
        self.assertRegex(out.getvalue(), r"(?m)^epoch 1/2 \| loss 0.5 \| .* steps/s \| left ")
        self.assertRegex(out.getvalue(), r"(?m)^validation .*eval_loss 0.25 ")
        self.assertEqual(self.laps(), {"training": 1, "epoch": 2, "validation": 2})
        self.assertEqual({r["name"]: r["calls"] for r in t.record.tables["zones"]},
                         {"training": 1, "epoch": 2, "validation": 2, "step": 6})
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)

    def test_what_transformers_logs_after_an_epoch(self):
        class Control:
            should_log = True

        c, told = Laps(), (object(), object(), Control())
        with contextlib.redirect_stdout(io.StringIO()) as out:
            c.on_train_begin(*told)
            for logs in ({"loss": 0.5}, None, {"loss": 0.25}, None):  # None: the Trainer has logged at this step before
                c.on_epoch_begin(*told)
                c.on_step_begin(*told)
                c.on_step_end(*told)
                c.on_epoch_end(*told)
                if logs:
                    c.on_log(*told, logs=logs)
                c.on_prediction_step(*told)
                c.on_evaluate(*told, metrics={"eval_loss": 1})
            c.on_train_end(*told)
        self.assertRegex(out.getvalue(), r"(?m)^epoch \| loss 0.5 \| .*\nvalidation ")
        self.assertRegex(out.getvalue(), r"(?m)^epoch 2 \| [^l].*\nvalidation 2 ")
        self.assertRegex(out.getvalue(), r"(?m)^epoch 3 \| loss 0.25 \| ")
        self.assertEqual(self.laps(), {"training": 1, "epoch": 4, "validation": 4})

    def test_an_exception_closes_all(self):
        c, trainer = Laps(quiet=True), Trainer()
        with deepclock.trace() as t:
            c.on_train_start(trainer, None)
            c.on_train_epoch_start(trainer, None)
            c.on_train_batch_start(trainer, None, None, 0)
            c.on_exception(trainer, None, KeyError())
            c.on_train_epoch_end(trainer, None)
            c.on_validation_end(trainer, None)
        self.assertEqual(self.laps(), {"training": 1, "epoch": 1})
        self.assertEqual(t.record.facts["trace/unfinished_ranges"].value, 0)

    def test_has_nothing_else(self):
        c = Laps()
        c.on_something_new(1, 2)
        with self.assertRaises(AttributeError):
            c.something_else


class RealTest(Case):
    def run_here(self, code, *modules):
        missing = [m for m in modules if importlib.util.find_spec(m) is None]
        if missing:
            self.skipTest(", ".join(missing) + " not installed")
        env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(os.path.abspath(
            deepclock.__file__)))}
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=self.folder, env=env,
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.assertEqual(ran.returncode, 0, ran.stdout)
        return ran.stdout

    def test_lightning(self):
        name = "lightning" if importlib.util.find_spec("lightning") else "pytorch_lightning"
        out = self.run_here(LIGHTNING % name, "torch", name)
        self.assertRegex(out, r"(?m)^epoch 2/2 \| loss [\d.]+ \| val [\d.]+ \| .* items/s$")
        self.assertIn("{'epoch': 2, 'training': 1, 'validation': 2}", out)
        self.assertIn("{'backward': 20, 'epoch': 2, 'step': 20, 'training': 1, 'validation': 2}", out)

    def test_keras(self):
        out = self.run_here(KERAS, "torch", "keras")
        self.assertRegex(out, r"(?m)^epoch 2/2 \| loss [\d.]+ \| val_loss [\d.]+ \| .* steps/s$")
        self.assertIn("{'epoch': 2, 'training': 1, 'validation': 2}", out)
        self.assertIn("{'epoch': 2, 'step': 16, 'training': 1, 'validation': 2}", out)


TOLD = """
print(dict(sorted((r["name"], r["laps"]) for r in deepclock.laps_record().tables["laps"])))
print(dict(sorted((r["name"], r["calls"]) for r in t.record.tables["zones"])))
"""
LIGHTNING = """
import torch, deepclock, %s as L
class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(10, 2)
    def loss(self, batch, name):
        loss = torch.nn.functional.cross_entropy(self.layer(batch[0]), batch[1])
        self.log(name, loss)
        return loss
    def training_step(self, batch, i):
        return self.loss(batch, "loss")
    def validation_step(self, batch, i):
        self.loss(batch, "val")
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
data = torch.utils.data.TensorDataset(torch.randn(640, 10), torch.randint(0, 2, (640,)))
loader = torch.utils.data.DataLoader(data, 64)
with deepclock.trace() as t:
    L.Trainer(max_epochs=2, callbacks=[deepclock.callbacks.Laps()], logger=False, accelerator="cpu",
              enable_checkpointing=False, enable_progress_bar=False,
              enable_model_summary=False).fit(Net(), loader, loader)
""" + TOLD
KERAS = """
import os
os.environ["KERAS_BACKEND"] = "torch"
import deepclock, keras, numpy
model = keras.Sequential([keras.layers.Input((10,)), keras.layers.Dense(2)])
model.compile("sgd", "mse")
with deepclock.trace() as t:
    model.fit(numpy.random.randn(320, 10), numpy.random.randn(320, 2), epochs=2, verbose=0,
              validation_split=0.2, callbacks=[deepclock.callbacks.Laps()])
""" + TOLD

if __name__ == "__main__":
    main()
