# SPDX-License-Identifier: Apache-2.0
"""Fresh processes of a script: in bench(f, processes=6) the script is started again six times, with the same command, and
each of these workers measures that call alone, as pyperf does.

A worker knows its call by its number among the calls with `processes`. The earlier ones of these return there what they
returned in the script; when the worker has measured its own it ends, with its `finally` blocks and atexit functions.
"""

import os
import sys
import time

from . import _deepclock

# In a worker: the number of its call, the process that started it, and the directory of the records.
VARIABLE = "DEEPCLOCK_WORKER"
_RESULT = "result.json"
_OF_PARENT = ("save", "html", "sources", "source_root", "figures", "db", "commit", "title", "progress",
              "pin_start")
_END_SECONDS = 10      # limit for the end of a worker that has measured
_CANCEL_SECONDS = 2    # limit for writing the incomplete record after Ctrl-C

try:
    _DIRECTORY = os.getcwd()
except OSError:
    _DIRECTORY = None
_records = []          # of the calls with `processes` until now
_calls = 0


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
    except (TypeError, ValueError):
        return 0       # the library refuses it
    return n if n > 1 else 0


def command():
    """Returns the words that start this script again. UnsupportedError: why they cannot be known."""
    main, words = sys.modules.get("__main__"), list(getattr(sys, "orig_argv", ()))
    of_text = "-c" in words[1:] and not hasattr(main, "__file__")
    reason = None
    if hasattr(sys.modules.get("builtins"), "get_ipython"):
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
    global _calls
    words = None if _worker else command()
    _calls += 1
    if not _worker:
        import tempfile

        with tempfile.TemporaryDirectory(prefix="deepclock-workers-") as directory:
            for i, earlier in enumerate(_records):
                earlier.save(os.path.join(directory, f"{i + 1}.json"))
            record = measure(fn, *args, _start=lambda number: _start(words, directory), **options)
        _records.append(record)
        return record
    mine, directory = _worker
    if _calls < mine:
        return _deepclock.load(os.path.join(directory, f"{_calls}.json"))
    if _calls == mine:
        here = {name: value for name, value in options.items() if name not in _OF_PARENT}
        record = measure(fn, *args, **{**here, "processes": 1, "no_history": True, "quiet": True})
        record.save(os.path.join(directory, "part.json"))
        os.rename(os.path.join(directory, "part.json"), os.path.join(directory, _RESULT))
    _end()


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
    environment = {**os.environ, VARIABLE: f"{len(_records) + 1}:{os.getpid()}:{directory}"}
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
                text = f.read()
            os.unlink(result)
            return text
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
    return f"the script, started again, {how} before it had measured call {len(_records) + 1} with processes{said}"
