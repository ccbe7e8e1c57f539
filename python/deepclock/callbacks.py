# SPDX-License-Identifier: Apache-2.0
"""Laps and zones of a training loop of another library.

    model.fit(x, y, epochs=5, callbacks=[deepclock.callbacks.Laps()])             # Keras
    lightning.Trainer(max_epochs=5, callbacks=[deepclock.callbacks.Laps()])       # Lightning
    transformers.Trainer(model, args, callbacks=[deepclock.callbacks.Laps()])     # transformers

Profile() in the same place of the latter two profiles some of its steps, as deepclock.torch.profiling().

These libraries are not imported: the object has the methods that their loops call, and any loop may call them.
"""

import collections.abc
import math
from typing import Any, Optional

from . import _deepclock
from .laps import lap

_DONE_NOTHING = ("setup", "teardown", "set_model", "load_state_dict", "configure_sharded_model")


class _Callback:
    def __getattr__(self, name):
        # Other callback methods do nothing.
        if name.startswith(("on_", "_implements_")) or name in _DONE_NOTHING:
            return _nothing
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def state_key(self):
        return f"deepclock.callbacks.{type(self).__name__}"

    def state_dict(self):
        return {}


class Laps(_Callback):
    """A lap of each epoch, of each validation and of the training around them; on the timeline also a
    zone of each step, and of the backward pass where the loop reports it.

    An epoch's lap has the numbers that the loop logs, and counts items where batches are shown
    (Lightning), else steps. total: epochs; None: the loop's number. steps: a lap of each step too, which
    prints nothing. The other options are as for deepclock.lap.
    """

    def __init__(self, total: Optional[int] = None, *, steps: bool = False, quiet: bool = False, stamps: bool = False,
                 live: Optional[bool] = None, tensorboard: Any = None) -> None:
        self._asked_total = self._total = total
        self._steps = steps
        self._options = {"stamps": stamps, "live": live, "tensorboard": tensorboard}
        self._quiet = quiet
        self._open = []  # laps
        self._zones = 0
        self._items = 0
        self._unit = None
        self._logs_follow = False  # of an epoch that has ended

    # --- callbacks of Keras, and loops like it

    def set_params(self, params):
        if self._asked_total is None and params:
            self._total = params.get("epochs")

    def on_train_begin(self, *told, **more):
        self._close(0)
        self._begins("training")

    def on_train_end(self, *told, **more):
        self._close(0)
        self._total = self._asked_total  # another training may have another number

    def on_epoch_begin(self, *told, **more):
        if self._total is None:
            self._total = _epochs(told)
        self._items, self._unit = 0, None
        self._begins("epoch", total=self._total)

    def on_epoch_end(self, *told, **more):
        of = self._find("epoch")
        if of is None:
            return
        for name, value in _numbers(told, more).items():
            of[name] = value
        if self._items:
            of.value("items", self._items, self._unit)
        # transformers' Trainer logs next if its control requests that, as with logging_strategy="epoch".
        self._logs_follow = any(getattr(o, "should_log", None) is True for o in told)
        if not self._logs_follow:
            self._ends("epoch")

    def on_train_batch_begin(self, *told, **more):
        if self._steps:
            self._begins("step", quiet=True)
        else:
            self._zones += 1
            _deepclock.push("step")

    def on_train_batch_end(self, *told, **more):
        n = _batch_size(told)
        if n is None:
            n, self._unit = 1, "steps"
        self._items += n
        if self._steps:
            self._ends("step")
        else:
            self._pop()

    def on_test_begin(self, *told, **more):
        self._begins("validation")

    def on_test_end(self, *told, **more):
        self._ends("validation")

    # --- the same in Lightning, whose first argument is the trainer

    def on_train_start(self, *told, **more):
        self.on_train_begin(*told)

    def on_train_epoch_start(self, *told, **more):
        self.on_epoch_begin(*told)

    def on_train_epoch_end(self, *told, **more):
        self.on_epoch_end(*told)

    def on_train_batch_start(self, *told, **more):
        self.on_train_batch_begin(*told)

    def on_before_backward(self, *told, **more):
        self._zones += 1
        _deepclock.push("backward")

    def on_after_backward(self, *told, **more):
        self._pop()

    def on_validation_start(self, *told, **more):
        if not getattr(told[0] if told else None, "sanity_checking", False):
            self._begins("validation")

    def on_validation_end(self, *told, **more):
        self._ends("validation")

    def on_exception(self, *told, **more):
        self.on_train_end()

    # --- the same in transformers' Trainer, whose first arguments are its arguments, state and control

    def on_step_begin(self, *told, **more):
        self.on_train_batch_begin(*told)

    def on_step_end(self, *told, **more):
        self.on_train_batch_end()

    def on_log(self, *told, **more):
        of = self._find("epoch")
        of = self._find("training") if of is None else of  # an empty lap is false
        for name, value in _numbers((), more).items() if of is not None else ():
            of[name] = value
        self._logged()

    def on_prediction_step(self, *told, **more):
        if self._find("validation") is None:
            self._begins("validation")

    def on_evaluate(self, *told, **more):
        of = self._find("validation")
        for name, value in _numbers((more.get("metrics"),), {}).items() if of is not None else ():
            of[name] = value
        self._ends("validation")

    on_predict = on_evaluate

    # ---

    def _logged(self):
        if self._logs_follow:
            self._logs_follow = False
            self._ends("epoch")

    def _begins(self, name, **options):
        self._logged()
        options = {**self._options, "quiet": self._quiet, **options}
        self._open.append(lap(name, **options).start())

    def _find(self, name):
        return next((of for of in reversed(self._open) if of.name == name), None)

    def _ends(self, name):
        for n in range(len(self._open) - 1, -1, -1):  # laps are dicts: compare by identity
            if self._open[n].name == name:
                self._close(n)
                return

    def _close(self, n):
        """Ends all but the first n laps, including laps that an exception has left open."""
        self._logs_follow = False
        while self._zones and n == 0:
            self._pop()
        while len(self._open) > n:
            self._open.pop().stop()

    def _pop(self):
        if self._zones:
            self._zones -= 1
            _deepclock.pop()


class Profile(_Callback):
    """Profiles some steps of the training, as deepclock.torch.profiling() does, whose options it takes. The module is
    the one that the loop passes to its callbacks; with transformers, the optimizer too. `record` is set when the
    training has ended. stop() ends it before, as after an exception that the loop does not report."""

    def __init__(self, module: Any = None, **options: Any) -> None:
        self.record: Any = None
        self._module, self._options = module, options
        self._profiling = None

    def on_train_begin(self, *told, **more):
        from . import torch

        self.stop()
        module = self._module or more.get("model") or next((o for o in told if hasattr(o, "named_modules")), None)
        options = self._options if more.get("optimizer") is None else {"optimizer": more["optimizer"], **self._options}
        self._profiling = torch.profiling(module, **options).__enter__()

    def on_train_batch_end(self, *told, **more):
        if self._profiling is not None:
            self._profiling.step()

    def on_train_end(self, *told, **more):
        self._ends(None)

    def on_exception(self, *told, **more):
        self._ends(next((o for o in told if isinstance(o, BaseException)), RuntimeError()))

    def stop(self) -> None:
        """Ends the profiling: its record has the steps until now, and is `incomplete`."""
        self._ends(InterruptedError())

    def _ends(self, error):
        if self._profiling is not None:
            profiling, self._profiling = self._profiling, None
            profiling.__exit__(type(error) if error is not None else None, error, None)
            self.record = profiling.record

    on_train_start, on_step_end = on_train_begin, on_train_batch_end


def _nothing(*told, **more):
    return None


def _epochs(told):
    """Returns how many epochs the loop runs. In transformers the state, which follows the arguments, has that number; the
    arguments have the requested one, which may be a fraction, or the default beside max_steps."""
    found = [getattr(o, "max_epochs", None) for o in told] + [getattr(o, "num_train_epochs", None) for o in reversed(told)]
    return next((math.ceil(n) for n in found if isinstance(n, (int, float)) and 0 < n < math.inf), None)


def _numbers(told, more):
    """Returns the logged numbers: a mapping among the arguments, or the trainer's."""
    found = [more.get("logs"), *told, *(getattr(o, "callback_metrics", None) for o in told)]
    numbers = {}
    for logs in found:
        if isinstance(logs, collections.abc.Mapping):
            for name, value in logs.items():
                try:
                    numbers[str(name)] = float(value)
                except (TypeError, ValueError, RuntimeError):  # not a number, or a tensor of several
                    pass
    return numbers


def _batch_size(told):
    """Returns the number of items of the batch in the arguments of Lightning's hook: trainer, module,
    outputs, batch, index."""
    batch = told[3] if len(told) >= 4 else None
    for _ in range(8):  # for example a dict of lists of tensors
        shape = getattr(batch, "shape", None)
        if shape is not None:
            return int(shape[0]) if len(shape) else 1
        if isinstance(batch, collections.abc.Mapping):
            batch = next(iter(batch.values()), None)
        elif isinstance(batch, (list, tuple)) and batch:
            batch = batch[0]
        else:
            return None
    return None
