# SPDX-License-Identifier: Apache-2.0
"""Memory of Python's objects: `with deepclock.memory() as m: ...`, then `m.record`."""

from typing import Any, Optional

from . import _deepclock
from .line_memory import lines as _lines


class memory:
    """Records the allocations by Python's allocators while its block runs, in all threads of this process.

    `record` has the bytes held at the peak, by function and line, with exact call paths of Python:
    tables "memory/functions" and "memory/lines", the tree "allocations"; and what of it was still held at the end.

    Allocations since the start of the block count, in requested bytes, as in tracemalloc. Memory
    that C libraries allocate directly is not included: tensors of PyTorch, arrays of NumPy before 2.5.

    Several may run at a time, also one inside another. A child made by fork() does not record. UnsupportedError in a
    sub-interpreter, and in a Python without the GIL.

    `deepclock.memory.lines(f)` reports each line of a function instead.
    """

    lines = _lines

    def __init__(self) -> None:
        self._number = self._told = self._record = self._raised = None
        self._lines_told = None
        self._title = "deepclock.memory()"

    def __enter__(self) -> "memory":
        return self.start()

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self._raised = kind and kind.__name__
        self._end()

    def __del__(self):
        if getattr(self, "_number", None) is not None:
            _deepclock._heap_stop(self._number)

    def __repr__(self):
        return "<deepclock.memory>"

    def start(self) -> "memory":
        """Starts, as entering the block does; returns the object itself."""
        if self._number is not None:
            raise _deepclock.ArgumentError("this recording runs already: each block needs a separate deepclock.memory()")
        _pair_ns()
        self._told = self._record = self._raised = None
        _deepclock._heap_start(self._began)
        return self

    def _began(self, number):
        self._number = number

    def stop(self) -> "Optional[_deepclock.Record]":
        """Stops, as leaving the block does; returns the record, None if it did not record."""
        self._end()
        return self.record

    def _end(self):
        if self._number is not None:
            self._told = _deepclock._heap_stop(self._number)
            self._number = None

    @property
    def held(self) -> Optional[int]:
        """Bytes allocated since the start of the block and not yet freed."""
        return self._now()[0]

    @property
    def peak(self) -> Optional[int]:
        """Peak of `held` until now."""
        return self._now()[1]

    def _now(self):
        if self._number is not None:
            return _deepclock._heap_now(self._number) or (None, None)
        return (self._told[0]["held"], self._told[0]["peak"]) if self._told else (None, None)

    @property
    def record(self) -> "Optional[_deepclock.Record]":
        """The Record; None before its end, and in a child of the process that recorded."""
        if self._record is None and self._told is not None:
            from . import _heap_report

            self._record = _heap_report.record_of(self._told, self._title, self._raised, _pair_ns(), self._lines_told)
        return self._record


def _pair_ns():
    """Returns the recording overhead of an allocation and its free; measured once."""
    global _pair
    if _pair is None:
        plain = min(_deepclock._heap_pair_ns(2000) for _ in range(5))
        number = _deepclock._heap_start()
        try:
            _pair = max(0.0, min(_deepclock._heap_pair_ns(2000) for _ in range(5)) - plain)
        finally:
            _deepclock._heap_stop(number)
    return _pair


_pair = None
