# SPDX-License-Identifier: Apache-2.0
"""The live progress line of the steps."""

import sys
from time import monotonic

from .._progress import is_terminal


class Line:
    """On a terminal, four times a second at most."""

    def __init__(self, live):
        self._on = is_terminal(sys.stderr) if live is None else live
        self._total, self._shown, self._width = None, 0.0, 0

    def expect(self, total):
        self._total = total

    def step(self, done, elapsed_ns, step):
        """One more step has ended."""
        if not self._on or monotonic() - self._shown < 0.25:
            return
        self._shown = monotonic()
        wall = step.wall_ns or 1
        text = f"step {done}" + (f"/{self._total}" if self._total else "")
        text += f" | {wall / 1e6:.1f} ms"
        for name, at in (("data", 0), ("forward", 2), ("backward", 4), ("optimiser", 5)):
            text += f" | {name} {100 * step.parts_ns[at] / wall:.0f} %"
        if self._total and done < self._total:
            text += f" | left {elapsed_ns / 1e9 / done * (self._total - done):.0f} s"
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def end(self):
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
