#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python/deepclock/_deepclock.pyi: the fixed part below, and the functions with options from the
library's own tables.

  stubs.py > python/deepclock/_deepclock.pyi
"""

import keyword
import sys

from deepclock import options

HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Written by python/tests/stubs.py: change that, and run it.
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from types import TracebackType
from typing import Any, Final, Union, final

_Path = Union[str, bytes, PathLike[str], PathLike[bytes]]
_Value = Union[bool, int, float, str, None]
_Number = Union[float, str]
_Time = Union[float, str, timedelta]
_Text = Union[_Path, float, Sequence[object]]
_List = Union[str, float, Sequence[object], Mapping[str, object]]
_Show = Union[bool, Callable[[Union["Progress", None]], object]]
_Words = Union[Sequence[_Path], str]
_Subject = Union[Callable[[], object], _Path, Sequence[_Path]]

__version__: Final[str]
SCHEMA: Final[int]

class Error(Exception):
    code: int
    status: str
    native_code: int

class NoMemoryError(Error, MemoryError): ...
class ArgumentError(Error, ValueError): ...
class UnsupportedError(Error, NotImplementedError): ...
class AbsentError(Error, KeyError, FileNotFoundError): ...
class IoError(Error, OSError): ...
class FormatError(Error, ValueError): ...
class VersionError(Error, ValueError): ...
class EngineError(Error, RuntimeError): ...
class DeviceError(Error, RuntimeError): ...
class LimitError(Error, RuntimeError): ...
class CancelError(Error): ...

'''

# Named tuples: the fields of each.
TUPLES = {
    "Fact": {"section": "str", "key": "str", "value": "_Value", "unit": "str", "absent": "Union[str, None]"},
    "Note": {"severity": "str", "code": "str", "text": "str", "under": "Union[str, None]"},
    "Column": {"key": "str", "title": "str", "unit": "str"},
    "Cell": {"value": "_Value", "lo": "Union[float, None]", "hi": "Union[float, None]",
             "level": "Union[float, None]", "absent": "Union[str, None]"},
    "Progress": {"phase": "str", "runs": "int", "elapsed_ns": "int", "estimate_ns": "float", "lo_ns": "float",
                 "hi_ns": "float", "done_ratio": "float", "eta_ns": "float"},
    "Network": {"name": "str", "help": "str", "params": "int", "input": "str", "source": "str"},
    "Engine": {"name": "str", "help": "str", "usable": "bool", "why_not": "Union[str, None]",
               "facts": "dict[str, str]"},
    "HistoryEntry": {"id": "str", "at_unix_ns": "int", "command": "Union[str, None]",
                     "subject": "Union[str, None]", "engine": "Union[str, None]", "cpu": "Union[str, None]",
                     "commit": "Union[str, None]", "incomplete": "bool", "value": "_Value",
                     "lo": "Union[float, None]", "hi": "Union[float, None]"},
}

# Objects that show a part of a record: their attributes, and the rest of their bodies.
OBJECTS = {
    "Array": ({"shape": "tuple[int, ...]"}, """
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def tolist(self) -> list[Any]: ...
    def __dlpack__(self, *, stream: object = None, max_version: object = None, dl_device: object = None,
                   copy: Union[bool, None] = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...
"""),
    "Metric": ({"tag": "str", "name": "str", "help": "str", "unit": "str", "better": "Union[str, None]",
                "value": "_Value", "absent": "Union[str, None]", "lo": "Union[float, None]",
                "hi": "Union[float, None]", "level": "Union[float, None]", "how": "Union[str, None]"}, """
    def __float__(self) -> float: ...
"""),
    "Series": ({"tag": "str", "unit": "str", "warmup": "int", "values": "Array", "at_ns": "Union[Array, None]"},
               """
    def __len__(self) -> int: ...
"""),
    "Table": ({"name": "str", "title": "str", "columns": "list[Column]"}, """
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[dict[str, _Value]]: ...
    def cell(self, row: int, key: str, /) -> Cell: ...
"""),
    "Tree": ({"name": "str", "title": "str", "columns": "list[Column]", "frames": "list[str]",
              "nodes": "list[tuple[int, int]]", "weights": "Array"}, """
    def __len__(self) -> int: ...
"""),
    "Record": ({"facts": "dict[str, Fact]", "metrics": "dict[str, Metric]", "series": "dict[str, Series]",
                "tables": "dict[str, Table]", "trees": "dict[str, Tree]", "ops": "list[dict[str, Any]]",
                "notes": "list[Note]", "id": "str", "version": "str", "command": "Union[str, None]",
                "began_unix_ns": "int", "incomplete": "bool", "verdict": "Union[str, None]", "gate": "str"}, """
    def __getitem__(self, key: str, /) -> Metric: ...
    def __contains__(self, key: object, /) -> bool: ...
    def to_json(self) -> str: ...
    def to_pandas(self, table: Union[str, None] = None, /) -> Any: ...
    def save(self, path: _Path, /) -> None: ...
    def report(self, format: str = "text", *, details: bool = False, width: int = 80, utf8: bool = True,
               colour: bool = False) -> str: ...
    def _repr_html_(self) -> str: ...
"""),
}

REST = '''
@final
class History:
    def __new__(cls, path: Union[_Path, None] = None, *, existing: bool = False) -> History: ...
    @property
    def path(self) -> str: ...
    def add(self, record: Record, commit: Union[str, None] = None) -> bool: ...
    def get(self, id: str, /) -> Record: ...
    def baseline(self, record: Record, /) -> Record: ...
    def list(self, metric: str = "latency/median", /, **options: Any) -> list[HistoryEntry]: ...
    def trend(self, metric: str = "latency/median", /, **options: Any) -> Record: ...
    def prune(self, **options: Any) -> tuple[int, int, int]: ...
    def remove(self, id: str, /) -> str: ...
    def load(self, path: _Path, commit: Union[str, None] = None) -> tuple[int, int]: ...
    def check(self) -> tuple[int, int]: ...
    def close(self) -> None: ...
    def __enter__(self) -> History: ...
    def __exit__(self, kind: Union[type[BaseException], None], value: Union[BaseException, None],
                 trace: Union[TracebackType, None], /) -> None: ...

def load(path: _Path, /) -> Record: ...
def parse(json: Union[str, bytes], /) -> Record: ...
def zoo() -> list[Network]: ...
def zoo_bytes(name: str, /, *, batch: Union[_Number, None] = ..., image_size: Union[_Number, None] = ...,
              seq: Union[_Number, None] = ..., symbolic: Union[bool, None] = ...,
              seed: Union[_Number, None] = ...) -> bytes: ...
def engines() -> list[Engine]: ...
def options(function: str, /) -> list[tuple[str, str, Union[str, None], Union[str, None], str]]: ...
def progress_text(progress: Progress, utf8: bool, width: int, /) -> str: ...

def estimate(values: object, statistic: str = "median", level: float = 0.95) -> Any: ...
def operator_cost(type: str, inputs: Sequence[Any], attributes: Mapping[str, Any] = ..., outputs: int = 1) -> Any: ...
def laps_record() -> Record: ...
def laps_reset() -> None: ...

# Parts that have their own modules.
def __getattr__(name: str) -> Any: ...
'''

FUNCTIONS = {
    "bench": "fn: Callable[..., object], /, *args: object",
    "bench_model": "model: _Path, /, *",
    "bench_command": "words: _Words, /, *",
    "rank": "subjects: Union[Mapping[str, _Subject], _Path], /, *",
    "compare": "subjects: Union[Mapping[str, Union[_Subject, Record]], _Path], /, *",
    "cost": "model: _Path, /, *",
    "profile": "model: _Path, /, *",
    "throughput": "model: _Path, /, *",
    "bench_load": "subject: _Subject, /, *",
    "accuracy": "models: Union[_Path, Mapping[str, _Path], None] = ..., /, *",
    "pitfalls": "subject: _Subject, /, *",
    "machine": "*",
    "inspect": "model: _Path, /, *",
}
TYPES = {"flag": "bool", "count": "_Number", "bytes": "_Number", "real": "_Number", "share": "_Number",
         "time": "_Time", "text": "_Text", "choice": "str", "list": "_List"}


def text():
    out = [HEAD]
    for name, fields in TUPLES.items():
        out.append(f"@final\nclass {name}(tuple[Any, ...]):\n"
                   "    n_fields: Final[int]\n    n_sequence_fields: Final[int]\n    n_unnamed_fields: Final[int]\n")
        out += [f"    @property\n    def {field}(self) -> {kind}: ...\n" for field, kind in fields.items()]
        out.append("\n")
    for name, (attributes, body) in OBJECTS.items():
        out.append(f"@final\nclass {name}:\n")
        out += [f"    @property\n    def {field}(self) -> {kind}: ...\n" for field, kind in attributes.items()]
        out.append(body.lstrip("\n") + "\n")
    for name, arguments in FUNCTIONS.items():
        out.append(f"def {name}(\n    {arguments},\n")
        out += [f"    {option.replace('-', '_')}{'_' * keyword.iskeyword(option)}: Union[{TYPES[kind]}, None] = ...,\n"
                for option, kind, *_ in options(name)]
        out.append("    progress: Union[_Show, None] = ...,\n) -> Record: ...\n")
    return "".join(out).rstrip("\n") + "\n" + REST


if __name__ == "__main__":
    sys.stdout.write(text())
