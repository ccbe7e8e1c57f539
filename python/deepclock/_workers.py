# SPDX-License-Identifier: Apache-2.0
"""Fresh processes of a script: in bench(f, processes=6) the script is started again six times, with the same command, and
each of these workers measures that call alone, as pyperf does.

A worker knows its call by its number among the calls with `processes`. The earlier ones of these return there what they
returned in the script, or raise what they raised; when the worker has measured its own, or that has raised, it ends, with
its `finally` blocks and atexit functions.
"""

import os
import pickle
import sys
import time

from . import _deepclock

# In a worker: the number of its call, the process that started it, and the directory of the records.
VARIABLE = "DEEPCLOCK_WORKER"
_RESULT = "result"     # pickled: the record's JSON as bytes, or why there is none as a str
_OF_PARENT = ("save", "html", "sources", "source_root", "figures", "db", "commit", "title", "progress",
              "pin_start")
_END_SECONDS = 10      # limit for the end of a worker that has measured
_CANCEL_SECONDS = 2    # limit for writing the incomplete record after Ctrl-C

try:
    _DIRECTORY = os.getcwd()
except OSError:
    _DIRECTORY = None
_outcomes = []         # of the calls with `processes` until now, pickled: the record's JSON, or the exception


def _worker_of():
    """Returns the number of the call and the directory; None: this process is not a worker, which a child
    of a worker is not either."""
    number, parent, directory = (os.environ.get(VARIABLE, "").split(":", 2) + ["", ""])[:3]
    return (int(number), directory) if parent == str(os.getppid()) and number.isdigit() else None


_worker = _worker_of()


def count(options):
    """Returns the number of processes that the options ask for, if it is above 1; else 0."""
    try:
        n = int(options.get("processes") or 1)
    except (TypeError, ValueError, OverflowError):
        return 0       # the library refuses it
    return n if n > 1 else 0


def _tests():
    """Returns what runs the calling function as a test: its tests would begin again, and it catches the SystemExit by which
    a worker ends; None: nothing does."""
    frame = sys._getframe(1)
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if name.partition(".")[0] == "_pytest":
            return "pytest"
        if name in ("unittest.case", "doctest"):
            return name.partition(".")[0]
        frame = frame.f_back
    return None


def command():
    """Returns the words that start this script again. UnsupportedError: why they cannot be known."""
    main, words = sys.modules.get("__main__"), list(getattr(sys, "orig_argv", ()))
    of_text = "-c" in words[1:] and not hasattr(main, "__file__")
    reason, tests = None, _tests()
    if tests:
        reason = f"in a test of {tests} all tests before it would run again, too"
    elif hasattr(sys.modules.get("builtins"), "get_ipython"):
        reason = "in a notebook or IPython there is no script to start again"
    elif hasattr(sys, "ps1"):
        reason = "in an interactive session there is no script to start again"
    elif "multiprocessing" in sys.modules and sys.modules["multiprocessing"].parent_process() is not None:
        reason = "a process of multiprocessing cannot be started again"
    elif not of_text and not os.path.isfile(getattr(main, "__file__", None) or ""):
        if _DIRECTORY is None or not os.path.isfile(os.path.join(_DIRECTORY, getattr(main, "__file__", None) or "")):
            reason = "the program was read from the standard input, or is not a file that can be started again"
    if not reason and not sys.executable:
        reason = "the path of the interpreter is not known"
    if reason:
        raise _deepclock.UnsupportedError(f"bench(f, processes=N) starts the script again: {reason}; leave processes out")
    return [sys.executable, *(words[1:] or _words_again(main))]


def _words_again(main):
    """Before Python 3.10 the command's words are not kept."""
    import subprocess

    flags, name = subprocess._args_from_interpreter_flags(), getattr(getattr(main, "__spec__", None), "name", None)
    if not name:
        return [*flags, *sys.argv]
    module = name[:-len(".__main__")] if name.endswith(".__main__") else name
    return [*flags, "-m", module, *sys.argv[1:]]


def measured(measure, n, fn, args, options):
    """measure(fn, *args, **options) in n fresh processes of the script; in one of them its part, after which it ends."""
    if _worker:
        return _in_worker(measure, fn, args, options)
    import tempfile

    try:
        words = command()
        with tempfile.TemporaryDirectory(prefix="deepclock-workers-") as directory:
            _write(directory, "earlier", (_outcomes, _label(fn)))
            record = measure(fn, *args, _start=lambda number: _start(words, directory), **options)
    except BaseException as error:
        _outcomes.append(_pickled(error))
        raise
    _outcomes.append(_pickled(record.to_json().encode()))
    return record


def _in_worker(measure, fn, args, options):
    mine, directory = _worker
    with open(os.path.join(directory, "earlier"), "rb") as f:
        earlier, label = pickle.load(f)
    _outcomes.append(None)
    if len(_outcomes) < mine:
        outcome = pickle.loads(earlier[len(_outcomes) - 1])
        if isinstance(outcome, BaseException):
            raise outcome
        return _deepclock.parse(outcome)
    if len(_outcomes) == mine:
        here = {name: value for name, value in options.items() if name not in _OF_PARENT}
        try:
            if _label(fn) != label:
                raise RuntimeError(f"its call {mine} with processes measures {_label(fn)}, not {label}")
            record = measure(fn, *args, **{**here, "processes": 1, "no_history": True, "quiet": True})
            _write(directory, _RESULT, record.to_json().encode())
        except Exception as error:
            _write(directory, _RESULT, f"{type(error).__name__}: {error}"[:300])
    _end()


def _label(fn):
    return fn if isinstance(fn, str) else getattr(fn, "__qualname__", type(fn).__qualname__)


def _pickled(outcome):
    try:
        text = pickle.dumps(outcome)
        pickle.loads(text)
        return text
    except Exception:
        return pickle.dumps(_deepclock.EngineError(f"{type(outcome).__name__}: {outcome}"))


def _write(directory, name, value):
    part = os.path.join(directory, "part")
    with open(part, "wb") as f:
        pickle.dump(value, f)
    os.rename(part, os.path.join(directory, name))


def _end():
    import threading

    if threading.current_thread() is not threading.main_thread():
        os._exit(0)    # SystemExit would end this thread alone
    raise SystemExit(0)


def _start(words, directory):
    """Starts a worker and waits for it. Returns the record's JSON, or why there is none as a str."""
    import signal
    import subprocess

    result = os.path.join(directory, _RESULT)
    environment = {**os.environ, VARIABLE: f"{len(_outcomes) + 1}:{os.getpid()}:{directory}"}
    with open(os.path.join(directory, "stderr"), "w+b") as errors:
        # A session of its own: Ctrl-C comes to it once, from here.
        worker = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors,
                                  env=environment, cwd=_DIRECTORY, start_new_session=True)
        try:
            _wait(worker, result, None)
        except KeyboardInterrupt:
            worker.send_signal(signal.SIGINT)
            if not _wait(worker, result, _CANCEL_SECONDS):
                raise
        finally:
            _kill(worker)
        try:
            with open(result, "rb") as f:
                outcome = pickle.load(f)
            os.unlink(result)
            return outcome if isinstance(outcome, bytes) else f"the script, started again, raised {outcome}"
        except FileNotFoundError:
            errors.seek(0)
            return _failure(worker.returncode, errors.read())


def _wait(worker, result, seconds):
    """Waits until the worker has ended, at most for `seconds` unless None, and for its end after its result. Returns
    whether there is a result."""
    import subprocess

    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        try:
            worker.wait(0.25)
            break
        except subprocess.TimeoutExpired:
            if seconds is None and end is None and os.path.exists(result):
                end = time.monotonic() + _END_SECONDS
    return os.path.exists(result)


def _kill(worker):
    """Ends the worker and what it has left in its session."""
    import signal

    try:
        os.killpg(worker.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    worker.wait()


def _failure(code, errors):
    lines = errors.decode("utf-8", "replace").strip().splitlines()
    how = f"was killed by signal {-code}" if code < 0 else f"ended with exit status {code}"
    said = f": {lines[-1][:300]}" if lines and code else ""
    return f"the script, started again, {how} before it had measured call {len(_outcomes) + 1} with processes{said}"
