# SPDX-License-Identifier: Apache-2.0
"""Stopwatches of epochs, steps and experiments: `with deepclock.lap("epoch", total=5) as lap: ...`."""

import atexit as _atexit
import math as _math
import operator as _operator
import os as _os
import sys as _sys
import time as _time
import warnings as _warnings
from typing import Any, Optional

from . import _accelerator, _compiled, _deepclock, _progress


class lap(dict):
    """A stopwatch: wall time, CPU time of the process, and that of an accelerator of PyTorch in use.

        with deepclock.lap("epoch", total=5) as lap:
            ...
            lap["loss"] = 0.2
            lap.items = 60000

        epoch 3/5 | loss 0.2 | 6.10 s wall, 11.9 s cpu | 9,836 items/s | left 12.2 s

    It is a dict of its numbers, as any logger takes them: the ones that are given, and once it has ended
    wall_seconds, cpu_seconds, device_seconds (accelerators with events) and items_per_second; if torch.compile compiled
    during it, also compiled, recompiled (how often) and compile_seconds.

    The record and TensorBoard have the first 16 numbers that laps of a name are given; the dict has all.

    total: the expected number of laps of this name in the enclosing lap; the line then has the time that the others
    will take. After this number of laps the next one has number 1 again. quiet: prints nothing. stamps: date and time before the line. live: the open laps,
    on a terminal or in a notebook, from its first second on; None: unless quiet. tensorboard: a
    directory for the numbers of all laps from now on, written as each ends.
    """

    def __init__(self, name: str, *, total: Optional[int] = None, quiet: bool = False, stamps: bool = False,
                 live: Optional[bool] = None, tensorboard: Any = None) -> None:
        super().__init__()
        if total is not None and not (hasattr(total, "__index__") and 0 <= _operator.index(total) < 2**64):
            raise _deepclock.ArgumentError(f"total={total!r}: the number of laps that are expected")
        self.name = name
        self.index = None
        self.line = ""
        self._total = None if total is None else _operator.index(total)
        self._quiet = quiet
        self._stamps = stamps
        self._live = not quiet if live is None else live
        self._tensorboard = tensorboard
        self._clock = None
        self._device = self._compiled = None
        self.on_board = False  # True: a notebook shows its line

    def __enter__(self) -> "lap":
        return self.start()

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.stop()

    def __reduce__(self):
        return dict, (dict(self),)  # a copy, and a pickled lap, is the dict of its numbers

    def __repr__(self):
        return f"<deepclock.lap {self.name!r} {dict(self)!r}>"

    def start(self) -> "lap":
        """Starts, as entering the block does; returns the lap itself."""
        if self._clock is not None:
            raise _deepclock.ArgumentError(f"the lap '{self.name}' has begun already")
        _shown.want(self._live, self._tensorboard)
        self.clear()
        self._device = _accelerator.span()
        self._compiled = _compiled.mark()
        self._clock = _deepclock._Lap(self.name)
        if self._total is not None:
            self._clock.total(self._total)
        _shown.begins(self)
        return self

    def stop(self):
        """Ends the lap, as leaving the block does; returns the line."""
        if self._clock is None:
            return self.line
        device = failure = None
        try:
            device = self._device() if self._device else None
        except BaseException as error:  # the work of the block failed on the device, or Ctrl-C while it was awaited
            failure = error
        if device is not None:
            self._clock.value("device", device * 1e9, "ns")
        compiled = _compiled.since(self._compiled)
        if compiled:
            for key, value in (("compiled", compiled.times), ("recompiled", compiled.again)):
                if key not in self:
                    self[key] = value
            self._clock.value("compile", compiled.seconds * 1e9, "ns")
        wall, cpu, self.index, self.line = self._clock.end()
        self._clock = self._device = None
        stamp = _time.strftime("%Y-%m-%d %H:%M:%S ") if self._stamps else ""
        self.on_board = _shown.ends(stamp + self.line)
        took = {"wall_seconds": wall / 1e9, "cpu_seconds": cpu / 1e9, "device_seconds": device,
                "compile_seconds": compiled.seconds if compiled else None}
        if "items" in self and wall:
            took["items_per_second"] = self["items"] / wall * 1e9
        super().update((key, value) for key, value in took.items() if value is not None)
        if not self._quiet and not self.on_board:
            _printed(_shown.erase() + stamp + self.line)
        if failure is not None and not isinstance(failure, Exception):
            raise failure
        if failure is not None:
            _warnings.warn(f"the lap '{self.name}' has no time of its device, whose work failed: {failure}",
                           RuntimeWarning, stacklevel=3)
        return self.line

    def value(self, name: str, value: Any, unit: Optional[str] = None) -> None:
        """A number with a unit: lap.value("read", 3e9, "B"). What float() takes is one."""
        if self._clock is None and name not in _TOOK:
            raise _deepclock.ArgumentError(
                f"the lap '{self.name}' is not open: {name!r} belongs to none"
            )
        value = value if isinstance(value, int) else float(value.detach() if hasattr(value, "detach") else value)
        if name == "items" and not 0 <= value < _math.inf:
            raise _deepclock.ArgumentError(f"items={value!r}: a finite number from 0 on is needed")
        if self._clock is not None:
            self._clock.value(name, value, unit)
        super().__setitem__(name, value)

    def __setitem__(self, name: str, value: Any) -> None:
        self.value(name, value)

    def update(self, *others, **values):
        for name, value in dict(*others, **values).items():
            self[name] = value

    def setdefault(self, name, value):
        if name not in self:
            self[name] = value
        return self[name]

    def __ior__(self, other):
        self.update(other)
        return self

    @property
    def items(self):
        """How many items were worked on, for the rate; called, the pairs of the dict."""
        n = self.get("items", 0)
        of = _Items(n) if n == int(n) else _PartItems(n)
        of._pairs = super().items
        return of

    @items.setter
    def items(self, n):
        self["items"] = n

    @property
    def wall(self) -> Optional[float]:
        """Wall time in seconds, until now while it is open."""
        return self._clock.elapsed() / 1e9 if self._clock else self.get("wall_seconds")

    @property
    def cpu(self) -> Optional[float]:
        """CPU time of all threads of the process in seconds; None before the end."""
        return self.get("cpu_seconds")

    @property
    def device(self) -> Optional[float]:
        """Seconds between two events of the accelerator; None: no accelerator, no events, or the lap has not ended."""
        return self.get("device_seconds")

    @property
    def rate(self) -> Optional[float]:
        """Items per second; None: no items, or it has not ended."""
        return self.get("items_per_second")


def _printed(text):
    encoding = getattr(_sys.stdout, "encoding", None) or "utf-8"
    if "utf" not in encoding.lower():
        text = text.replace("µ", "u")
    try:
        print(text, flush=True)
    except UnicodeEncodeError:
        print(text.encode(encoding, "replace").decode(encoding), flush=True)
    except ValueError:
        pass  # the stream is closed


_TOOK = ("wall_seconds", "cpu_seconds", "device_seconds", "compile_seconds", "items_per_second")


class _Items(int):
    """`lap.items` is the number, and `lap.items()` the method of a dict."""

    def __call__(self):
        return self._pairs()

    def __reduce__(self):
        return int, (int(self),)  # a copy, and a pickled one, is the number


class _PartItems(float):
    """The same of a number that is not whole."""

    def __call__(self):
        return self._pairs()

    def __reduce__(self):
        return float, (float(self),)


# --- live display


class _Shown:
    """One per process, as in the library: the directory requested last is used."""

    def __init__(self):
        self.forget()

    def forget(self):
        self.asked = (False, None)
        self.open = 0
        self.board = None

    def want(self, live, tensorboard):
        live = live and _progress.is_terminal(_sys.stderr)
        folder = None if tensorboard is None else _os.path.abspath(_os.fspath(tensorboard))
        asked = (self.asked[0] or live, folder or self.asked[1])
        if asked == self.asked:
            return
        if self.asked == (False, None):
            _atexit.register(self.close)
        _deepclock._laps_start(2, *asked)
        self.asked = asked

    def close(self):
        self.forget()
        _deepclock._laps_stop()

    def begins(self, lap):
        self.open += 1
        if lap._live and not self.asked[0] and self.board is None and "IPython" in _sys.modules:
            from . import notebook

            self.board = notebook.live_board()

    def ends(self, line):
        """If a notebook shows the line, leaves it there when the last open lap ends, and returns true."""
        self.open -= 1
        if self.open > 0 or not self.board:
            return False
        board, self.board = self.board, None
        return board.close(line)

    def erase(self):
        return "\r\033[K" if self.asked[0] and _progress.is_terminal(_sys.stdout) else ""


_shown = _Shown()
_os.register_at_fork(after_in_child=_shown.forget)
