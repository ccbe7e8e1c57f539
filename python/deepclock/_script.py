# SPDX-License-Identifier: Apache-2.0
"""Scripts that run under a command of deepclock, as `python SCRIPT ARG...` runs them.

    parser = _script.parser("count", "how often and how long, for each function")
    script = _script.split(parser, words)    # None: the words start a program, after "--"
    _script.at_exit(script, lambda: _script.show(record, script.options))
    _script.run(script)

A command that runs scripts is a row of `__main__.SCRIPTS`: a module with a function
`main(words)`, which gets the words after the command's name.
"""

import argparse
import atexit
import functools
import io
import os
import runpy
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import types

from . import _deepclock, _program, _progress


class Script:
    """A script: `kind` is "file", "module" (-m) or "code" (-c), `what` the path, name or text, `words` arguments."""

    def __init__(self, kind, what, words, options=None):
        self.kind, self.what, self.words, self.options = kind, what, words, options
        self.interrupted = None  # the name of what ended it: KeyboardInterrupt (Ctrl-C) or SIGTERM
        self.status = 0

    @property
    def title(self):
        """Returns the command line, for the record."""
        before = {"file": [], "module": ["-m"], "code": ["-c"]}[self.kind]
        return " ".join(["python", *before, self.what, *self.words])


def parser(command, about):
    """Returns an argument parser with the common options of such commands; a command may add more."""
    p = argparse.ArgumentParser(
        prog=f"python -m deepclock {command}", allow_abbrev=False, description=about,
        usage=f"python -m deepclock {command} [OPTION]... SCRIPT [ARG]...\n"
              f"       python -m deepclock {command} [OPTION]... -m MODULE [ARG]...\n"
              f"       python -m deepclock {command} [OPTION]... -c CODE [ARG]...\n"
              f"       python -m deepclock {command} [OPTION]... -- PROGRAM [ARG]...",
        epilog=f"The options before -- PROGRAM: deepclock help {command}")
    output = p.add_argument_group("Output")
    output.add_argument("-f", "--format", choices=_deepclock._formats.split(),
                        help="how the result is written to stdout (default: text)")
    output.add_argument("--details", action="store_true", help="all of the result, not only the answer in a few lines")
    output.add_argument("-o", "--out", metavar="FILE",
                        help="the result in a file; its extension sets the format:" + _deepclock._endings)
    output.add_argument("-s", "--save", metavar="FILE", help="also save the record as JSON")
    output.add_argument("--html", metavar="FILE", help="the result as a page for the browser, too")
    output.add_argument("--no-history", action="store_true",
                        help="as in the program deepclock; records of scripts are not added to the history anyway")
    output.add_argument("-q", "--quiet", action="store_true", help="the script's own output alone")
    return p


def split(p, words):
    """Returns the Script that the words name, with its options; None: the words are for the program deepclock, because
    "--" or an option of the program alone comes first."""
    takes_value = {name for action in p._actions if action.nargs is None for name in action.option_strings}
    at = 0
    while at < len(words) and words[at].startswith("-") and words[at] not in ("-", "--"):
        word = words[at]
        name = word.split("=")[0] if word.startswith("--") else word[:2]
        if name not in ("-m", "-c", *p._option_string_actions):
            return None  # an option of the program: --pid 4711, --top 3 -- true
        for letter, kind in (("-m", "module"), ("-c", "code")):
            if word.startswith(letter) and not word.startswith("--") and letter not in p._option_string_actions:
                rest = ([word[2:]] if word[2:] else []) + words[at + 1:]
                if not rest:
                    p.error(f"nothing follows {letter}")
                return Script(kind, rest[0], rest[1:], _checked(p.parse_args(words[:at])))
        at += 2 if word in takes_value else 1
    if at < len(words) and words[at] == "--":
        return None
    options = p.parse_args(words[:at])
    if at >= len(words):
        p.error("there is no script")
    return Script("file", words[at], words[at + 1:], _checked(options))


def _checked(options):
    """Returns the options with the paths of their files, which the script may call chdir() before; ends the process
    where a file cannot be written."""
    options.shown = options.save
    for name in ("save", "html", "out"):
        path = getattr(options, name)
        if path is not None:
            setattr(options, name, os.path.abspath(path))
            if not attempted(_deepclock._keep, None, save=getattr(options, name)):
                sys.exit(1)
    return options


def attempted(call, *args, **options):
    """Returns whether the call has succeeded; else a line on stderr has the reason."""
    try:
        call(*args, **options)
        return True
    except _deepclock.Error as error:
        print(f"deepclock: {error}", file=sys.stderr)
    except OSError as error:
        print(f"deepclock: cannot write the result: {error.strerror or error}", file=sys.stderr)
    return False


def at_exit(script, end, stop=lambda code: None):
    """Calls stop() and end() once when the interpreter exits: after the script's threads and its own atexit functions, or
    by os._exit() or SIGTERM, which omit those; not in forked processes. stop(code): that code object is of the function that
    calls it. A script's own handler of SIGTERM replaces the one from here. Where end() returns false, because it could not
    write something, the exit status is not 0."""
    leave, ends = os._exit, [end]

    def once():
        if ends:
            stop(once.__code__)
            if ends.pop()() is False and not script.status:
                if "multiprocessing.util" in sys.modules:
                    sys.modules["multiprocessing.util"]._exit_function()  # else called after this one
                for stream in (sys.stdout, sys.stderr):
                    try:
                        stream.flush()
                    except (AttributeError, OSError, ValueError):
                        pass
                leave(1)

    @functools.wraps(leave)
    def _exit(status):
        try:
            if ends:
                stop(_exit.__code__)
                ended = ends.pop()()
                status = status or int(ended is False)
                sys.stdout.flush()
        finally:
            leave(status)

    measured = os.getpid()

    def terminated(number, frame):
        stop(terminated.__code__)
        if ends:
            script.interrupted = "SIGTERM"
            _exit(130)
        # In a forked process, or in the middle of the report.
        signal.signal(number, signal.SIG_DFL)
        if os.getpid() != measured:
            os.kill(os.getpid(), number)

    os.register_at_fork(after_in_child=ends.clear)
    atexit.register(once)
    os._exit = _exit
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL:
        signal.signal(signal.SIGTERM, terminated)


def run(script, begin=lambda: None):
    """Calls begin() and runs the script as __main__. An exception of the script ends this process as it would end
    Python."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=__builtins__, __annotations__={})
    try:
        run_code = _prepare(script, main.__dict__)
    except (OSError, ImportError) as e:
        print(f"{sys.executable}: {e}", file=sys.stderr)
        sys.exit(2 if isinstance(e, OSError) else 1)
    except (SyntaxError, ValueError) as e:  # in the script's text: shown without frames of deepclock
        sys.excepthook(type(e), e.with_traceback(None), None)
        sys.exit(1)
    sys.modules["__main__"] = main
    try:
        begin()
        run_code()
    except SystemExit as e:
        script.status = 0 if e.code is None else e.code if isinstance(e.code, int) else 1
        raise
    except BaseException as e:
        script.status = 1
        script.interrupted = "KeyboardInterrupt" if isinstance(e, KeyboardInterrupt) else None
        e.__traceback__ = _theirs(e.__traceback__)
        sys.excepthook(type(e), e, e.__traceback__)
        sys.exit(130 if script.interrupted else 1)


def _prepare(script, names):
    """Returns a function that runs the script in `names`; sets sys.argv and sys.path as Python does."""
    sys.argv[:] = [script.what, *script.words]
    if script.kind == "code":
        sys.argv[0] = "-c"
        _path_first("")
        return _runner(compile(script.what, "<string>", "exec", dont_inherit=True), names)
    if script.kind == "module":
        try:
            name, spec, code = runpy._get_module_details(script.what, ImportError)
        except ImportError as e:
            raise ImportError(str(e)) from None
        sys.argv[0] = spec.origin
        names.update(__file__=spec.origin, __cached__=spec.cached, __loader__=spec.loader, __package__=spec.parent,
                     __spec__=spec)
        return _runner(code, names)
    if os.path.isdir(script.what) or script.what.endswith((".zip", ".pyz")):
        # runpy searches for its __main__.py.
        _path_first(script.what)
        return functools.partial(runpy.run_path, script.what, run_name="__main__")
    import importlib.machinery

    with io.open_code(os.path.abspath(script.what)) as file:
        text = file.read()
    _path_first(os.path.dirname(os.path.realpath(script.what)))
    names.update(__file__=script.what if sys.version_info < (3, 9) else os.path.abspath(script.what), __cached__=None,
                 __loader__=importlib.machinery.SourceFileLoader("__main__", os.path.abspath(script.what)))
    return _runner(compile(text, names["__file__"], "exec", dont_inherit=True), names)


def _runner(code, names):
    return functools.partial(exec, code, names)  # no Python frame of deepclock around it


def _path_first(folder):
    # With -P or -I neither the directory of `python -m` nor the script's is in sys.path.
    if not getattr(sys.flags, "safe_path", False) and not sys.flags.isolated:
        sys.path[0] = folder


def _theirs(trace):
    """Returns the traceback without the frames of this package and of runpy that lead to the script."""
    ours = (os.path.dirname(os.path.abspath(__file__)) + os.sep, runpy.__file__)
    while trace and (os.path.abspath(trace.tb_frame.f_code.co_filename).startswith(ours)
                     or trace.tb_frame.f_code.co_filename == "<frozen runpy>"):
        trace = trace.tb_next
    return trace


def show(record, options):
    """Writes the record as the options of parser() request; returns whether all of it could be written. What fails does
    not skip the next."""
    saved = options.save is not None and attempted(record.save, options.save)
    well = saved or options.save is None
    if options.html:
        well &= _report(record, ["--format", "html", "--out", options.html])
    if options.out:  # the extension selects the format, as for `deepclock report`
        well &= _report(record, ["--out", options.out, *(["--format", options.format] if options.format else [])])
    elif not options.quiet and sys.stdout is not None:
        terminal = _progress.is_terminal(sys.stdout)
        rest = f"deepclock report {shlex.quote(options.shown)} --details" if saved else "--details"
        text = record.report(options.format or "text", details=options.details,
                             width=shutil.get_terminal_size().columns if terminal else 80,
                             utf8="utf" in (getattr(sys.stdout, "encoding", None) or "").lower(), colour=terminal,
                             rest=None if options.details else rest)
        well &= attempted(_print, text if text.endswith("\n") else text + "\n")
    return well


def _print(text):
    """Prints a text whose names may be no text of the stream's encoding."""
    try:
        print(text, end="", flush=True)
    except UnicodeEncodeError:
        encoding = sys.stdout.encoding
        try:
            data = text.encode(encoding, "surrogateescape")  # as they are in the file system
        except UnicodeEncodeError:
            data = text.encode(encoding, "replace")
        if hasattr(sys.stdout, "buffer"):
            sys.stdout.buffer.write(data)
            sys.stdout.flush()
        else:
            print(data.decode(encoding, "replace"), end="", flush=True)


def _report(record, words):
    """Returns whether the program `deepclock report` has done it."""
    path = _program.path()
    if path is None:
        print("deepclock: the program deepclock, which writes this format, is not installed", file=sys.stderr)
        return False
    with tempfile.TemporaryDirectory(prefix="deepclock-") as folder:
        kept = os.path.join(folder, "record.json")
        return attempted(record.save, kept) and subprocess.run([path, "report", *words, kept], check=False).returncode == 0


def command(words):
    """Executes the program deepclock with these words in this process; returns an exit code if it cannot."""
    path = _program.path()
    if path is None:
        print("deepclock: the program deepclock is not where the package was installed, "
              "nor on the PATH: install the package again", file=sys.stderr)
        return 1
    if sys.stdout is not None:
        sys.stdout.flush()
    _program.libraries_offer()
    os.execv(path, ["deepclock", *words])


def interpreter():
    """Returns the command that starts this Python with its current flags."""
    return [sys.executable, *subprocess._args_from_interpreter_flags()]
