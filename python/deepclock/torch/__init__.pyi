# SPDX-License-Identifier: Apache-2.0
# What type checkers see of deepclock.torch; python/tests/test_stubs.py compares it with the functions.
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from os import PathLike
from types import TracebackType
from typing import Any, TypeVar, Union

from .._deepclock import Record

_T = TypeVar("_T")
_Self = TypeVar("_Self")
_Module = Callable[..., Any]
_Named = Union[Mapping[str, Any], None]
_Time = Union[float, str, timedelta]
_File = Union[str, PathLike[str], None]

def bench(module: _Module, *inputs: Any, named: _Named = None, transfers: bool = False, threads: Union[int, None] = None,
          device: Any = None, items: Union[float, None] = None, title: Union[str, None] = None, **options: Any) -> Record: ...
def cost(module: _Module, *inputs: Any, named: _Named = None, backward: bool = False,
         loss: Union[Callable[..., Any], None] = None, optimizer: Any = None, depth: Union[int, None] = None,
         as_: Union[str, None] = None, save: _File = None) -> Record: ...
def devices(module: _Module, *example: Any, inputs: Union[Callable[[int], Any], None] = None, named: _Named = None,
            devices: Any = None, threads: Any = None, dtype: Any = None, layout: Any = None,
            batch: Union[Sequence[int], int, None] = None, labels: Any = None, target_names: Any = None,
            transfers: bool = True, rtol: Union[float, None] = None, title: Union[str, None] = None,
            **options: Any) -> Record: ...
def load(module: _Module, *inputs: Any, named: _Named = None, threads: Union[int, None] = None, device: Any = None,
         items: Union[float, None] = None, title: Union[str, None] = None, **options: Any) -> Record: ...
def modes(module: _Module, *inputs: Any, named: _Named = None, which: Union[Sequence[str], None] = None,
          threads: Union[int, None] = None, rtol: Union[float, None] = None, title: Union[str, None] = None,
          **options: Any) -> Record: ...
def pitfalls(module: _Module, *inputs: Any, named: _Named = None, threads: Union[int, None] = None,
             device: Any = None, title: Union[str, None] = None, only: Union[str, Sequence[str], None] = None,
             skip: Union[str, Sequence[str], None] = None, **options: Any) -> Record: ...
def profile(module: _Module, *inputs: Any, named: _Named = None, backward: bool = False,
            loss: Union[Callable[..., Any], None] = None, runs: Union[int, None] = None, max_time: _Time = 2.0,
            threads: Union[int, None] = None, device: Any = None, roofs: Union[Record, bool, None] = None,
            save: _File = None) -> Record: ...

class Schedule(tuple[int, int, int, int]):
    wait: int
    warmup: int
    active: int
    repeat: int
    def kind(self, step: int) -> str: ...

def schedule(*, wait: int = 2, warmup: int = 1, active: int = 3, repeat: int = 1) -> Schedule: ...

class profiling:
    record: Union[Record, None]
    schedule: Schedule
    def __init__(self, module: Union[_Module, None] = None, *, schedule: Union[Schedule, None] = None,
                 optimizer: Any = None, roofs: Union[Record, bool, None] = None) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(self, kind: Union[type[BaseException], None], error: Union[BaseException, None],
                 trace: Union[TracebackType, None]) -> None: ...
    def step(self) -> None: ...

_Part = AbstractContextManager[object]

class steps:
    total: Union[int, None]
    warmup: int
    steps: list[Any]
    record: Union[Record, None]
    outside_ns: int
    to_device: _Part
    h2d: _Part
    forward: _Part
    loss: _Part
    backward: _Part
    optimiser: _Part
    optimizer: _Part
    def __init__(self, total: Union[int, None] = None, *, module: Any = None, optimizer: Any = None, device: Any = None,
                 warmup: int = 2, operators: bool = True, live: Union[bool, None] = None, seed: int = 1) -> None: ...
    def __enter__(self: _Self) -> _Self: ...
    def __exit__(self, kind: Union[type[BaseException], None], error: Union[BaseException, None],
                 trace: Union[TracebackType, None]) -> None: ...
    def __call__(self, batches: Iterable[_T]) -> Iterator[_T]: ...

def throughput(module: _Module, *example: Any, inputs: Union[Callable[[int], Any], None] = None, named: _Named = None,
               threads: Union[int, Sequence[int], str, None] = None, device: Any = None,
               title: Union[str, None] = None, **options: Any) -> Record: ...

def __getattr__(name: str) -> Any: ...
