# SPDX-License-Identifier: Apache-2.0
# Written by python/tests/stubs.py: change that, and run it.
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from os import PathLike
from types import TracebackType
from typing import Any, Final, Protocol, SupportsFloat, SupportsIndex, TypeVar, Union, final, overload

_T = TypeVar("_T")
_F = TypeVar("_F", bound=Callable[..., Any])
_Path = Union[str, bytes, PathLike[str], PathLike[bytes]]
_Value = Union[bool, int, float, str, None]
_Number = Union[float, str]
_Time = Union[float, str, timedelta]
_Text = Union[_Path, float, Sequence[object]]
_List = Union[str, float, Sequence[object], Mapping[str, object]]

class _Array(Protocol):
    @property
    def __dlpack__(self) -> Callable[..., Any]: ...

class _Column(Protocol):  # of one value for each item: also a pandas.Series
    @property
    def tolist(self) -> Callable[..., Any]: ...

_Show = Union[bool, Callable[[Union["Progress", None]], object]]
_Words = Union[Sequence[_Path], str]
_Subject = Union[Callable[[], object], _Path, Sequence[_Path]]

__version__: Final[str]
SCHEMA: Final[int]
_formats: Final[str]  # names of report formats, separated by blanks
_endings: Final[str]  # endings of files that set a format

class Error(Exception):
    code: int
    status: str
    native_code: int
    record: Union[Record, None]  # of which a file could not be written

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

@final
class Fact(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def section(self) -> str: ...
    @property
    def key(self) -> str: ...
    @property
    def value(self) -> _Value: ...
    @property
    def unit(self) -> str: ...
    @property
    def absent(self) -> Union[str, None]: ...

@final
class Note(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def severity(self) -> str: ...
    @property
    def code(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def remedy(self) -> str: ...
    @property
    def cause(self) -> Union[str, None]: ...

@final
class Column(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def key(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def unit(self) -> str: ...

@final
class Cell(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def value(self) -> _Value: ...
    @property
    def lo(self) -> Union[float, None]: ...
    @property
    def hi(self) -> Union[float, None]: ...
    @property
    def level(self) -> Union[float, None]: ...
    @property
    def absent(self) -> Union[str, None]: ...

@final
class Frame(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def name(self) -> str: ...
    @property
    def file(self) -> Union[str, None]: ...
    @property
    def line(self) -> Union[int, None]: ...
    @property
    def module(self) -> Union[str, None]: ...
    @property
    def start_line(self) -> Union[int, None]: ...

@final
class Progress(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def phase(self) -> str: ...
    @property
    def runs(self) -> int: ...
    @property
    def elapsed_ns(self) -> int: ...
    @property
    def estimate_ns(self) -> float: ...
    @property
    def lo_ns(self) -> float: ...
    @property
    def hi_ns(self) -> float: ...
    @property
    def done_ratio(self) -> float: ...
    @property
    def eta_ns(self) -> float: ...
    @property
    def runs_total(self) -> int: ...

@final
class Network(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def name(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def params(self) -> int: ...
    @property
    def input(self) -> str: ...
    @property
    def source(self) -> str: ...

@final
class Engine(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def name(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def usable(self) -> bool: ...
    @property
    def why_not(self) -> Union[str, None]: ...
    @property
    def facts(self) -> dict[str, str]: ...

@final
class Roof(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def peak(self) -> Union[float, None]: ...
    @property
    def bandwidth(self) -> Union[float, None]: ...
    @property
    def least_ns(self) -> Union[float, None]: ...
    @property
    def attainable(self) -> Union[float, None]: ...
    @property
    def bound(self) -> Union[str, None]: ...
    @property
    def level(self) -> Union[str, None]: ...

@final
class HistoryEntry(tuple[Any, ...]):
    n_fields: Final[int]
    n_sequence_fields: Final[int]
    n_unnamed_fields: Final[int]
    @property
    def id(self) -> str: ...
    @property
    def at_unix_ns(self) -> int: ...
    @property
    def command(self) -> Union[str, None]: ...
    @property
    def subject(self) -> Union[str, None]: ...
    @property
    def engine(self) -> Union[str, None]: ...
    @property
    def cpu(self) -> Union[str, None]: ...
    @property
    def commit(self) -> Union[str, None]: ...
    @property
    def incomplete(self) -> bool: ...
    @property
    def value(self) -> _Value: ...
    @property
    def lo(self) -> Union[float, None]: ...
    @property
    def hi(self) -> Union[float, None]: ...

@final
class Array:
    @property
    def shape(self) -> tuple[int, ...]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...
    def __buffer__(self, flags: int, /) -> memoryview: ...
    def tolist(self) -> list[Any]: ...
    def __dlpack__(self, *, stream: object = None, max_version: object = None, dl_device: object = None,
                   copy: Union[bool, None] = None) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

@final
class Metric:
    @property
    def tag(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def help(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def better(self) -> Union[str, None]: ...
    @property
    def value(self) -> _Value: ...
    @property
    def absent(self) -> Union[str, None]: ...
    @property
    def seconds(self) -> Union[float, None]: ...
    @property
    def text(self) -> str: ...
    @property
    def lo(self) -> Union[float, None]: ...
    @property
    def hi(self) -> Union[float, None]: ...
    @property
    def level(self) -> Union[float, None]: ...
    @property
    def how(self) -> Union[str, None]: ...
    @property
    def narrow(self) -> Union[str, None]: ...
    def __float__(self) -> float: ...
    def __format__(self, format_spec: str, /) -> str: ...

@final
class Series:
    @property
    def tag(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def warmup(self) -> int: ...
    @property
    def values(self) -> Array: ...
    @property
    def measured(self) -> Array: ...
    @property
    def seconds(self) -> Union[Array, None]: ...
    @property
    def at_ns(self) -> Union[Array, None]: ...
    def __len__(self) -> int: ...

@final
class Table:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> list[Column]: ...
    def __len__(self) -> int: ...
    @overload
    def __getitem__(self, key: int, /) -> dict[str, _Value]: ...
    @overload
    def __getitem__(self, key: slice, /) -> list[dict[str, _Value]]: ...
    @overload
    def __getitem__(self, key: str, /) -> list[Any]: ...
    def __iter__(self) -> Iterator[dict[str, _Value]]: ...
    def cell(self, row: int, key: str, /) -> Cell: ...

@final
class Tree:
    @property
    def name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def columns(self) -> list[Column]: ...
    @property
    def frames(self) -> list[Frame]: ...
    @property
    def nodes(self) -> list[tuple[int, int]]: ...
    @property
    def weights(self) -> Array: ...
    def __len__(self) -> int: ...

@final
class Record:
    @property
    def facts(self) -> dict[str, Fact]: ...
    @property
    def metrics(self) -> dict[str, Metric]: ...
    @property
    def series(self) -> dict[str, Series]: ...
    @property
    def tables(self) -> dict[str, Table]: ...
    @property
    def trees(self) -> dict[str, Tree]: ...
    @property
    def ops(self) -> list[dict[str, Any]]: ...
    @property
    def notes(self) -> list[Note]: ...
    @property
    def id(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def command(self) -> Union[str, None]: ...
    @property
    def began_unix_ns(self) -> int: ...
    @property
    def incomplete(self) -> bool: ...
    @property
    def verdict(self) -> Union[str, None]: ...
    @property
    def macs(self) -> Union[int, None]: ...
    @property
    def params(self) -> Union[int, None]: ...
    @property
    def gate(self) -> str: ...
    def __getitem__(self, key: str, /) -> Metric: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __iter__(self) -> Iterator[str]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[Callable[[bytes], Record], tuple[bytes]]: ...
    @overload
    def get(self, __tag: str, __default: None = None) -> Union[Metric, None]: ...
    @overload
    def get(self, __tag: str, __default: _T) -> Union[Metric, _T]: ...
    def keys(self) -> list[str]: ...
    def values(self) -> list[Metric]: ...
    def items(self) -> list[tuple[str, Metric]]: ...
    def to_json(self) -> str: ...
    def to_pandas(self, table: Union[str, None] = None, /) -> Any: ...
    def save(self, path: _Path, /) -> None: ...
    def report(self, format: str = "text", *, details: bool = False, width: int = 80, utf8: bool = True,
               colour: bool = False, sources: bool = False, rest: Union[str, None] = None,
               source_root: Union[_Path, None] = None, by: Union[str, None] = None, sort: Union[str, None] = None,
               top: Union[_Number, None] = None, tree: Union[str, None] = None, weight: Union[str, None] = None,
               depth: Union[_Number, None] = None, callers: Union[str, None] = None,
               callees: Union[str, None] = None) -> str: ...
    def summary(self, digits: int = 3) -> str: ...
    def figures(self, path: _Path, /) -> list[str]: ...
    def show(self, path: _Path | None = None) -> str: ...
    def _repr_html_(self) -> str: ...

def bench(
    fn: Union[Callable[..., object], str], /, *args: object,
    setup: Union[str, Callable[[], object], None] = ..., globals: Union[dict[str, Any], None] = ...,
    statistic: Union[_Text, None] = ...,
    precision: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    min_runs: Union[_Number, None] = ...,
    min_time: Union[_Time, None] = ...,
    max_time: Union[_Time, None] = ...,
    runs: Union[_Number, None] = ...,
    time: Union[_Time, None] = ...,
    warmup: Union[_Text, None] = ...,
    max_warmup: Union[_Time, None] = ...,
    group: Union[_Number, None] = ...,
    processes: Union[_Number, None] = ...,
    idle: Union[_Time, None] = ...,
    keep: Union[_Number, None] = ...,
    check_outputs: Union[bool, None] = ...,
    trace: Union[_Path, None] = ...,
    pin_start: Union[bool, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def bench_model(
    model: _Path, /, *,
    statistic: Union[_Text, None] = ...,
    precision: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    min_runs: Union[_Number, None] = ...,
    min_time: Union[_Time, None] = ...,
    max_time: Union[_Time, None] = ...,
    runs: Union[_Number, None] = ...,
    time: Union[_Time, None] = ...,
    warmup: Union[_Text, None] = ...,
    max_warmup: Union[_Time, None] = ...,
    group: Union[_Number, None] = ...,
    processes: Union[_Number, None] = ...,
    idle: Union[_Time, None] = ...,
    keep: Union[_Number, None] = ...,
    check_outputs: Union[bool, None] = ...,
    trace: Union[_Path, None] = ...,
    pin_start: Union[bool, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def bench_command(
    words: _Words, /, *,
    statistic: Union[_Text, None] = ...,
    precision: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    min_runs: Union[_Number, None] = ...,
    min_time: Union[_Time, None] = ...,
    max_time: Union[_Time, None] = ...,
    runs: Union[_Number, None] = ...,
    time: Union[_Time, None] = ...,
    warmup: Union[_Text, None] = ...,
    max_warmup: Union[_Time, None] = ...,
    group: Union[_Number, None] = ...,
    processes: Union[_Number, None] = ...,
    idle: Union[_Time, None] = ...,
    keep: Union[_Number, None] = ...,
    check_outputs: Union[bool, None] = ...,
    trace: Union[_Path, None] = ...,
    pin_start: Union[bool, None] = ...,
    shell: Union[bool, None] = ...,
    any_exit: Union[bool, None] = ...,
    output: Union[_Text, None] = ...,
    directory: Union[_Path, None] = ...,
    setup: Union[_Text, None] = ...,
    prepare: Union[_Text, None] = ...,
    cleanup: Union[_Text, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def rank(
    subjects: Union[Mapping[str, _Subject], _Path], /, *,
    statistic: Union[_Text, None] = ...,
    precision: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    min_runs: Union[_Number, None] = ...,
    min_time: Union[_Time, None] = ...,
    max_time: Union[_Time, None] = ...,
    runs: Union[_Number, None] = ...,
    time: Union[_Time, None] = ...,
    warmup: Union[_Text, None] = ...,
    max_warmup: Union[_Time, None] = ...,
    group: Union[_Number, None] = ...,
    processes: Union[_Number, None] = ...,
    idle: Union[_Time, None] = ...,
    keep: Union[_Number, None] = ...,
    check_outputs: Union[bool, None] = ...,
    trace: Union[_Path, None] = ...,
    pin_start: Union[bool, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    shell: Union[bool, None] = ...,
    any_exit: Union[bool, None] = ...,
    output: Union[_Text, None] = ...,
    directory: Union[_Path, None] = ...,
    setup: Union[_Text, None] = ...,
    prepare: Union[_Text, None] = ...,
    cleanup: Union[_Text, None] = ...,
    scan: Union[_List, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def compare(
    subjects: Union[Mapping[str, Union[_Subject, Record]], _Path, None] = ..., /, *,
    vary: Union[_List, None] = ...,
    modes: Union[bool, None] = ...,
    history: Union[bool, None] = ...,
    url: Union[_List, None] = ...,
    model: Union[_List, None] = ...,
    prompt_length: Union[_Number, None] = ...,
    new_tokens: Union[_Number, None] = ...,
    shared_prefix: Union[_Number, None] = ...,
    prompt_file: Union[_Path, None] = ...,
    header_file: Union[_Path, None] = ...,
    cacert: Union[_Path, None] = ...,
    timeout: Union[_Time, None] = ...,
    margin: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    statistic: Union[str, None] = ...,
    undisturbed: Union[bool, None] = ...,
    rounds: Union[_Number, None] = ...,
    max_rounds: Union[_Number, None] = ...,
    max_time: Union[_Time, None] = ...,
    trial: Union[_Time, None] = ...,
    trials: Union[_Number, None] = ...,
    keep_sessions: Union[bool, None] = ...,
    fresh: Union[bool, None] = ...,
    processes: Union[_Number, None] = ...,
    aa: Union[bool, None] = ...,
    over: Union[_Text, None] = ...,
    check_outputs: Union[bool, None] = ...,
    order_seed: Union[_Number, None] = ...,
    metric: Union[_Text, None] = ...,
    run_to_run: Union[_Number, None] = ...,
    force: Union[bool, None] = ...,
    scaling: Union[str, None] = ...,
    pool: Union[bool, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    shell: Union[bool, None] = ...,
    any_exit: Union[bool, None] = ...,
    output: Union[_Text, None] = ...,
    directory: Union[_Path, None] = ...,
    setup: Union[_Text, None] = ...,
    prepare: Union[_Text, None] = ...,
    cleanup: Union[_Text, None] = ...,
    scan: Union[_List, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def cost(
    model: _Path, /, *,
    as_: Union[str, None] = ...,
    backward: Union[bool, None] = ...,
    run: Union[bool, None] = ...,
    strict: Union[bool, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def profile(
    model: _Path, /, *,
    profile_runs: Union[_Number, None] = ...,
    no_roofs: Union[bool, None] = ...,
    no_memory: Union[bool, None] = ...,
    statistic: Union[_Text, None] = ...,
    precision: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    min_runs: Union[_Number, None] = ...,
    min_time: Union[_Time, None] = ...,
    max_time: Union[_Time, None] = ...,
    runs: Union[_Number, None] = ...,
    time: Union[_Time, None] = ...,
    warmup: Union[_Text, None] = ...,
    max_warmup: Union[_Time, None] = ...,
    group: Union[_Number, None] = ...,
    processes: Union[_Number, None] = ...,
    idle: Union[_Time, None] = ...,
    keep: Union[_Number, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def throughput(
    model: _Path, /, *,
    batch: Union[_Text, None] = ...,
    min_batch: Union[_Number, None] = ...,
    max_batch: Union[_Number, None] = ...,
    batch_dim: Union[_Text, None] = ...,
    threads: Union[_Text, None] = ...,
    in_flight: Union[_Text, None] = ...,
    slo: Union[_Text, None] = ...,
    memory: Union[_Number, None] = ...,
    statistic: Union[str, None] = ...,
    precision: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    rounds: Union[_Number, None] = ...,
    point_time: Union[_Time, None] = ...,
    max_time: Union[_Time, None] = ...,
    resume: Union[_Path, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def tune(
    model: _Path, /, *,
    goal: Union[str, None] = ...,
    only: Union[_Text, None] = ...,
    skip: Union[_Text, None] = ...,
    space: Union[_Path, None] = ...,
    max_time: Union[_Time, None] = ...,
    trial: Union[_Time, None] = ...,
    slo: Union[_Text, None] = ...,
    max_memory: Union[_Number, None] = ...,
    max_error: Union[_Number, None] = ...,
    labels: Union[_Text, _Column, None] = ...,
    inputs: Union[_List, _Array, None] = ...,
    min_accuracy: Union[_Number, None] = ...,
    min_change: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    quantize: Union[_Path, None] = ...,
    resume: Union[_Path, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def bench_load(
    subject: Union[_Subject, None] = ..., /, *,
    scenario: Union[str, None] = ...,
    rate: Union[_Number, None] = ...,
    arrivals: Union[str, None] = ...,
    trace: Union[_Path, None] = ...,
    streams: Union[_Number, None] = ...,
    serial: Union[bool, None] = ...,
    time: Union[_Time, None] = ...,
    requests: Union[_Number, None] = ...,
    max_queue: Union[_Number, None] = ...,
    slo: Union[_List, None] = ...,
    confidence: Union[_Number, None] = ...,
    find_peak: Union[bool, None] = ...,
    precision: Union[_Number, None] = ...,
    max_time: Union[_Time, None] = ...,
    warmup: Union[_Text, None] = ...,
    max_warmup: Union[_Time, None] = ...,
    level: Union[_Number, None] = ...,
    keep: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    url: Union[_Text, None] = ...,
    model: Union[_Text, None] = ...,
    prompt_length: Union[_Number, None] = ...,
    new_tokens: Union[_Number, None] = ...,
    shared_prefix: Union[_Number, None] = ...,
    prompt_file: Union[_Path, None] = ...,
    header_file: Union[_Path, None] = ...,
    cacert: Union[_Path, None] = ...,
    timeout: Union[_Time, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    shell: Union[bool, None] = ...,
    any_exit: Union[bool, None] = ...,
    output: Union[_Text, None] = ...,
    directory: Union[_Path, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def generate(
    model: _Path, /, *,
    prompt_length: Union[_Text, None] = ...,
    new_tokens: Union[_Number, None] = ...,
    batch: Union[_Text, None] = ...,
    requests: Union[_Number, None] = ...,
    time: Union[_Time, None] = ...,
    warmup: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    prompt_file: Union[_Path, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def accuracy(
    models: Union[_Path, Mapping[str, _Path], None] = ..., /, *,
    vary: Union[_List, None] = ...,
    rtol: Union[_Text, None] = ...,
    atol: Union[_Text, None] = ...,
    labels: Union[_Text, _Column, None] = ...,
    predictions: Union[_List, _Column, None] = ...,
    inputs: Union[_List, _Array, None] = ...,
    output: Union[_Text, None] = ...,
    top_k: Union[_Number, None] = ...,
    target_names: Union[_Text, None] = ...,
    label_list: Union[_Text, None] = ...,
    digits: Union[_Number, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def pitfalls(
    subject: _Subject, /, *,
    time: Union[_Time, None] = ...,
    margin: Union[_Number, None] = ...,
    level: Union[_Number, None] = ...,
    only: Union[_Text, None] = ...,
    skip: Union[_Text, None] = ...,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    shell: Union[bool, None] = ...,
    any_exit: Union[bool, None] = ...,
    output: Union[_Text, None] = ...,
    directory: Union[_Path, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def machine(
    *,
    refresh: Union[bool, None] = ...,
    quick: Union[bool, None] = ...,
    threads: Union[_Number, None] = ...,
    cached_only: Union[bool, None] = ...,
    keep: Union[bool, None] = ...,
    device: Union[_Text, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...
def inspect(
    model: _Path, /, *,
    engine: Union[_Text, None] = ...,
    engine_lib: Union[_List, None] = ...,
    engine_option: Union[_List, None] = ...,
    device: Union[_Text, None] = ...,
    transfers: Union[str, None] = ...,
    threads: Union[_Number, None] = ...,
    interop_threads: Union[_Number, None] = ...,
    opt: Union[str, None] = ...,
    cpus: Union[_Text, None] = ...,
    batch: Union[_Number, None] = ...,
    no_batch_check: Union[bool, None] = ...,
    items: Union[_Number, None] = ...,
    shape: Union[_List, None] = ...,
    dim: Union[_List, None] = ...,
    input: Union[_List, _Array, None] = ...,
    input_pool: Union[_Number, None] = ...,
    image_size: Union[_Text, None] = ...,
    seq: Union[_Number, None] = ...,
    seed: Union[_Number, None] = ...,
    save: Union[_Path, None] = ...,
    html: Union[_Path, None] = ...,
    sources: Union[bool, None] = ...,
    source_root: Union[_Path, None] = ...,
    figures: Union[_Path, None] = ...,
    db: Union[_Path, None] = ...,
    commit: Union[_Text, None] = ...,
    no_history: Union[bool, None] = ...,
    quiet: Union[bool, None] = ...,
    no_progress: Union[bool, None] = ...,
    title: Union[_Text, None] = ...,
    progress: Union[_Show, None] = ...,
) -> Record: ...

@final
class History:
    def __new__(cls, path: Union[_Path, None] = None, *, existing: bool = False, wait: float = 30.0) -> History: ...
    @property
    def path(self) -> str: ...
    def add(self, record: Record, commit: Union[str, None] = None) -> bool: ...
    def get(self, id: str, /) -> Record: ...
    def baseline(self, record: Record, /) -> Record: ...
    def list(self, metric: str = "latency/median", /, **options: Any) -> list[HistoryEntry]: ...
    def trend(self, metric: str = "latency/median", /, **options: Any) -> Record: ...
    def commits(self, before: str, after: str, metric: str = "latency/median", /, **options: Any) -> Record: ...
    def alarms(self, metric: Union[str, None] = None, /, **options: Any) -> Record: ...
    def prune(self, **options: Any) -> tuple[int, int, int]: ...
    def remove(self, id: str, /) -> str: ...
    def load(self, path: _Path, commit: Union[str, None] = None) -> tuple[int, int]: ...
    def check(self) -> tuple[int, int]: ...
    def close(self) -> None: ...
    def __enter__(self) -> History: ...
    def __exit__(self, kind: Union[type[BaseException], None], value: Union[BaseException, None],
                 trace: Union[TracebackType, None], /) -> None: ...

class _Zone:
    @property
    def name(self) -> str: ...
    def __enter__(self) -> _Zone: ...
    def __exit__(self, *raised: object) -> None: ...
    def __call__(self, function: _F, /) -> _F: ...

@overload
def zone(name: str, /) -> _Zone: ...
@overload
def zone(function: _F, /) -> _F: ...

@final
class Range:
    def end(self) -> None: ...

def push(name: str, /) -> None: ...
def pop() -> None: ...
def mark(name: str, /) -> None: ...
def number(name: str, value: Union[SupportsFloat, SupportsIndex], /) -> None: ...
def counter(name: str, value: Union[SupportsFloat, SupportsIndex], /) -> None: ...
def start(name: str, /) -> Range: ...

def load(path: _Path, /) -> Record: ...
def parse(json: Union[str, bytes], /) -> Record: ...
def zoo() -> list[Network]: ...
def zoo_bytes(name: str, /, *, batch: Union[_Number, None] = ..., image_size: Union[_Number, None] = ...,
              seq: Union[_Number, None] = ..., symbolic: Union[bool, None] = ...,
              seed: Union[_Number, None] = ...) -> bytes: ...
def engines() -> list[Engine]: ...
def options(function: str, /) -> list[tuple[str, str, Union[str, None], Union[str, None], str]]: ...
def progress_text(progress: Progress, utf8: bool, width: int, /) -> str: ...
def time_text(ns: float, /) -> str: ...
def bytes_text(bytes: float, /) -> str: ...
def si_text(value: float, /) -> str: ...

def estimate(values: object, statistic: str = "median", level: float = 0.95) -> Any: ...
def roof(machine: Record, flops: Union[float, None], bytes: float, dtype: Union[str, None] = "float32",
         threads: Union[int, None] = None) -> Roof: ...
def operator_cost(type: str, inputs: Sequence[Any], attributes: Mapping[str, Any] = ..., outputs: int = 1) -> Any: ...
def laps_record() -> Record: ...
def laps_reset() -> None: ...

# Parts that have their own modules.
def __getattr__(name: str) -> Any: ...
