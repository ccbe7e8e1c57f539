# SPDX-License-Identifier: Apache-2.0
"""Recording from inside a program: `with deepclock.trace("out.pftrace") as t: ...`, then `t.record`."""

import importlib as _importlib
import multiprocessing.process as _process
import multiprocessing.util as _multiprocessing
import os as _os
import sys as _sys
import warnings as _warnings
from typing import Any, Optional, Union

from . import _deepclock


class trace:
    """Records zones, laps, marks, numbers and counters of all threads while its block runs.

    `path` is the file of the trace; its extension selects the format: ".pftrace" (Perfetto), ".json"
    (Chrome), ".speedscope.json", ".folded", ".pb.gz" (pprof), ".callgrind", ".pstats", ".csv"; None: nowhere, the
    record alone. The options are as for `deepclock trace`, with `_` for `-`:
    last="64MiB", max_size=10**9, buffer="256MiB", lossless=True, ...

    A process records once at a time: ArgumentError where it does already, as under
    `deepclock trace`. A child made by fork(), and a process that multiprocessing starts while the
    block runs, whatever its start method, records into a separate file, "out.4711.pftrace".
    """

    def __init__(self, path: "Union[str, _os.PathLike[str], None]" = None, **options: Any) -> None:
        self._path = None if path is None else _os.path.abspath(_os.fsdecode(path))
        self._options = options
        self._process = None  # id of the recording process
        self._record = None

    def __enter__(self) -> "trace":
        return self.start()

    def __exit__(self, *raised: Any) -> None:
        self.stop()

    def __repr__(self):
        return f"deepclock.trace({self._path!r})"

    @property
    def path(self) -> Optional[str]:
        """The absolute path of the file, or None."""
        return self._path

    def start(self) -> "trace":
        """Starts recording, as entering the block does; returns the object itself."""
        words = _deepclock._trace_start(self._path, **self._options)
        self._process, self._followed, self._record = _os.getpid(), None, None
        try:
            self._followed = _follow_torch()
            _leave_with_workers()
            if self._path is not None:
                _inherited.told = _told(self._path, words)
                _inherited.enter()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> "Optional[_deepclock.Record]":
        """Stops, as leaving the block does; returns the record, None if it did not record."""
        if self._process is not None:
            self._process = None
            _inherited.told = None
            if self._followed:
                self._followed.end()
            made: "list[_deepclock.Record]" = []
            try:
                _deepclock._trace_stop(made)
            finally:  # the record has what an incomplete file lacks
                self._record = made[0] if made else None
        return self._record

    def dump(self) -> None:
        """With last=SIZE: writes the newest events into the file now, and continues recording."""
        _deepclock._trace_dump()

    @property
    def record(self) -> "Optional[_deepclock.Record]":
        """The Record: table "zones", and how it was measured; None before the start. It exists, as incomplete, also
        where the end of the block raises IoError because the file could not be completed.

        While it records into a Perfetto file: the record until now, read from that file. Of
        other formats, and with last=SIZE, it is not available before the end: None.
        """
        if self._process is None:
            return self._record
        perfetto = self._path is not None and _deepclock._trace_form(self._path) == "perfetto"
        if not perfetto or self._options.get("last") or self._process != _os.getpid():
            return None
        return _deepclock._trace_read(self._path) if _deepclock._trace_flush() else None


class ranks:
    """Measures this process as one rank of a job while its block runs: which rank holds the others up.

    Each rank of a program that torchrun, mpirun or srun started has the block, with the same options, as for `deepclock ranks`:
    step="batch", collective=["Allreduce"], wait="2min", rendezvous="/shared/job7". Collectives of torch.distributed are
    recorded as under `python -m deepclock ranks`.

        with deepclock.ranks() as job:
            train()
        if job.record: print(job.record)       # at rank 0

    The end of the block waits at rank 0 for the other ranks, at most for `wait`, and at most 2 s after Ctrl-C: the record is
    then incomplete, and KeyboardInterrupt is raised. Errors: ArgumentError where the process
    records already, as under `deepclock ranks` or in a deepclock.trace block; IoError where the part of this rank is lost.
    """

    def __init__(self, **options: Any) -> None:
        self._options = options
        self._begun: Any = None
        self._record: "Optional[_deepclock.Record]" = None

    def __enter__(self) -> "ranks":
        return self.start()

    def __exit__(self, *raised: Any) -> None:
        self._end(raised[0] is not None and issubclass(raised[0], KeyboardInterrupt))

    def start(self) -> "ranks":
        """Begins, as entering the block does; returns the object itself."""
        from . import _collectives

        _collectives.install()  # before the job, which would be left begun if this failed
        self._begun = _deepclock._ranks_begin(**self._options)
        self._record = None
        return self

    def stop(self) -> "Optional[_deepclock.Record]":
        """Ends, as leaving the block does; returns the record of the job at rank 0, None at the others."""
        return self._end(False)

    def _end(self, interrupted):
        begun, self._begun = self._begun, None
        if begun is not None:
            made: "list[_deepclock.Record]" = []
            try:
                _deepclock._ranks_end(begun, made, interrupted)
            finally:  # also after Ctrl-C
                self._record = made[0] if made else None
        return self._record

    @property
    def record(self) -> "Optional[_deepclock.Record]":
        """The Record of the job, after the end at rank 0; else None."""
        return self._record


def _follow_torch():
    """Makes ranges of torch.profiler.record_function zones, if PyTorch has been imported."""
    if _sys.modules.get("torch") is None:  # None in the table forbids the import
        return None
    try:
        # Type checkers of programs that trace need not read all of PyTorch.
        followed = _importlib.import_module("._torch_ranges", __package__).followed
    except ImportError:
        return None  # its own import has not ended, or failed
    followed.begin()
    return followed


def _leave_with_workers():
    """Closes the recordings of workers that multiprocessing forks, which end by os._exit()."""
    global _hooked
    if not _hooked:
        _hooked = True
        _multiprocessing.register_after_fork(_Worker(), _Worker.begins)


class _Worker:
    alive = []

    def __init__(self):
        self.alive.append(self)  # the registry has weak references only

    def begins(self):
        _multiprocessing.Finalize(None, _deepclock._trace_leave, exitpriority=-1000)


# --- processes that multiprocessing starts as new interpreters, also from a server that started before the recording:
# each Process has a copy of its parent's _config, which is pickled when it starts.


class _Inherited:
    """Starts recording when it is unpickled in a process started by "spawn" or "forkserver", if its parent records."""

    told = None  # environment variables while this process records

    def enter(self):
        _process.current_process()._config["deepclock.trace"] = self

    def __reduce__(self):
        return (_inherit, (self.told,)) if self.told else (dict, ())  # dict: deepclock is not imported there


_inherited = _Inherited()
_inherited.enter()


def _told(path, words):
    """Returns the environment variables that make a child record; src/profiler/trace/trace_options.c reads them."""
    told = {"": path, "_BY": str(_os.getpid())}
    told.update(("_" + name.upper().replace("-", "_"), text) for name, text in words.items())
    return {"DEEPCLOCK_TRACE" + name: text for name, text in told.items()}


def _inherit(told):
    before = {name: _os.environ.get(name) for name in told}
    _os.environ.update(told)
    try:
        _deepclock._trace_start_told()
        _leave_with_workers()
        _follow_torch()
    except _deepclock.Error as error:
        _warnings.warn(f"this process is not recorded as its parent is: {error}", RuntimeWarning)
    finally:
        for name, text in before.items():
            if text is None:
                _os.environ.pop(name, None)
            else:
                _os.environ[name] = text
    _inherited.told = told
    return _inherited


_hooked = False
if _deepclock._trace_active():
    _leave_with_workers()
    _follow_torch()
