# SPDX-License-Identifier: Apache-2.0
"""IPython and Jupyter: `%load_ext deepclock`.

    %dck f(x)                          measures a statement, in a second or two
    %dck --precision 1% -o r f(x)      with options of `deepclock bench`; r: the Record
    %%dck                              measures a cell; a statement in the first line runs before
    %dck_lines -f Net.forward net(x)   time of each line of a function
    %dck_memory net(x)                 how much memory it needs
    %dck_memory -f Net.forward net(x)  and each line of a function
    %dck_cells on                      the time of every cell, also while it runs
"""

import linecache
import os
import textwrap
import threading

import IPython
from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, line_magic, magics_class, no_var_expand

from . import _deepclock, _progress, _statement
from .heap import memory
from .lines import Lines, code_of

LIVE_EVERY_S = 0.5


def load(shell):
    if not hasattr(shell, "register_magics"):
        raise TypeError(f"the shell of IPython is needed, not {type(shell).__name__}: write %load_ext deepclock in a cell")
    shell.register_magics(Dck(shell))


def unload(shell):
    for kind, names in (("line", ("dck", "dck_lines", "dck_memory", "dck_cells")), ("cell", ("dck", "dck_memory"))):
        for name in names:
            magic = shell.magics_manager.magics[kind].pop(name, None)
            if name == "dck_cells" and magic:
                magic("off")


@magics_class
class Dck(Magics):
    """The magics of deepclock."""

    def __init__(self, shell):
        super().__init__(shell)
        self._cells = []  # laps of the running cells, while the lines are on: a cell may run another cell

    @no_var_expand
    @line_cell_magic
    def dck(self, line, cell=None):
        """%dck [options] STATEMENT: measures it for a second or two.

        Options: those of `deepclock bench` (--precision 1%, --max-time 5s, --runs 100, ...: these three
        and --time set the duration instead), --details: all of the result and every note in full, and
        -o NAME: assigns the Record. The statement can read your variables; the ones that it assigns are local, as in a
        function. %%dck measures the cell; a statement in its first line runs once before.
        """
        options, assign, rest = _options(line)
        setup, statement = (rest, cell) if cell is not None else ("", rest)
        if not statement.strip():
            raise UsageError("%dck needs a statement: %dck f(x)")
        details = options.pop("details", False)
        live = _progress.live_output()
        if live:
            options.setdefault("progress", live)
        record = _deepclock.bench(self._function(statement, setup), **_statement.brief(options))
        text = record.report("text", details=True) if details else _headline(record)
        if not live or not live.ends(text):
            print(text)
        self._assign(assign, record)

    @no_var_expand
    @line_magic
    def dck_lines(self, line):
        """%dck_lines -f FUNCTION [-f FUNCTION] [-o NAME] STATEMENT: time of each line of functions.

        The time of a line includes its callees. Each line that runs becomes slower (Python before
        3.12: each call of any function too): the part that is inside the times is measured and
        shown below the table.
        -o NAME: assigns a list of (function, line, how often, nanoseconds).
        """
        names, assign, statement = _own_options(line, "f")
        if not names or not statement.strip():
            raise UsageError("%dck_lines needs functions and a statement: %dck_lines -f f f(x)")
        functions = [eval(name, self.shell.user_ns) for name in names]
        run = self._function(statement)
        try:
            lines = Lines(*functions)
        except TypeError as error:
            raise UsageError(str(error)) from None
        with lines:
            run()
        for name, function in zip(names, functions):
            print(_lines_text(name, code_of(function), lines))
        print(f"Being watched is {_deepclock.time_text(lines.watching_ns())} of each run of a line.")
        self._assign(assign, [(code.co_name, *row) for code, *row in lines.rows()])

    @no_var_expand
    @line_cell_magic
    def dck_memory(self, line, cell=None):
        """%dck_memory [-o NAME] STATEMENT: peak resident memory, and its increase.
        %dck_memory -f FUNCTION [-f FUNCTION] [-o NAME] STATEMENT: the same for each line of functions, and what
        was requested from Python's own allocators.

        -o NAME: assigns a dict of bytes: before, peak, after; with -f the Record.
        """
        names, assign, statement = _own_options(line, "f")
        if names:
            self._memory_of_lines(names, assign, statement if cell is None else statement + "\n" + cell)
            return
        told = _memory(self._function(statement if cell is None else cell,
                                      "" if cell is None else statement))
        peak, more, stayed = (_deepclock.bytes_text(told[at] - below) for at, below in
                              (("peak", 0), ("peak", told["before"]), ("after", told["before"])))
        print(f"peak {peak}: {more} more than before; {stayed} of it stayed{told.pop('how')}")
        self._assign(assign, told)

    def _memory_of_lines(self, names, assign, statement):
        if not statement.strip():
            raise UsageError("%dck_memory -f needs a statement: %dck_memory -f f f(x)")
        run = self._function(statement)
        try:
            lines = memory.lines(*(eval(name, self.shell.user_ns) for name in names))
        except TypeError as error:
            raise UsageError(str(error)) from None
        with lines:
            run()
        print(lines)
        self._assign(assign, lines.record)

    @line_magic
    def dck_cells(self, line):
        """%dck_cells on|off: shows elapsed time while a cell runs, and a line with elapsed and CPU time
        when it has ended."""
        if line.strip() not in ("on", "off"):
            raise UsageError("%dck_cells on, or %dck_cells off")
        events = self.shell.events
        for event, call in (("pre_run_cell", self._before), ("post_run_cell", self._after)):
            if call in events.callbacks[event]:
                events.unregister(event, call)
            if line.strip() == "on":
                events.register(event, call)
        while line.strip() == "off" and self._cells:
            self._cells.pop().stop()

    def _before(self, info=None):
        from .laps import lap

        self._cells.append(lap("cell", quiet=True, live=True).start())

    def _after(self, result=None):
        if self._cells:
            lap = self._cells.pop()
            line = lap.stop()
            if not lap.on_board:
                print(line)

    def _assign(self, name, value):
        if name:
            self.shell.user_ns[name] = value

    def _function(self, statement, setup=""):
        """Returns the statement as a function that sees the user's variables."""
        return _statement.function(*(_statement.parse(self.shell.transform_cell(textwrap.dedent(text)))
                                     for text in (statement, setup)), self.shell.user_ns, statement)


# --- options before a statement


def _word(text):
    """Returns the first word and the unchanged rest of the text."""
    text = text.lstrip()
    n = next((i for i, c in enumerate(text) if c.isspace()), len(text))
    return text[:n], text[n:].lstrip()


def _variable(text):
    word, rest = _word(text)
    if not word.isidentifier():
        raise UsageError(f"-o {word}: that is not the name of a variable")
    return word, rest


def _options(text):
    """Returns the options of bench as keyword arguments, the name of -o, the statement."""
    rows = {name: (name, value) for name, _, value in _deepclock._option_rows()}
    rows["details"] = ("details", False)
    letters = {letter: rows[name] for name, letter, _ in _deepclock._option_rows() if letter}
    options, assign = {}, None
    while text.lstrip().startswith("-"):
        word, rest = _word(text)
        if word == "--":
            return options, assign, rest
        if word == "-o":
            assign, text = _variable(rest)
            continue
        name, equals, value = word[2:].partition("=") if word.startswith("--") else (word[1:], "", "")
        row = rows.get(name) if word.startswith("--") else letters.get(name)
        if row is None:
            if not word.startswith("--"):
                break  # -x is a statement too
            raise UsageError(f"%dck has no option {word.partition('=')[0]}: those of "
                             "`deepclock bench`, and -o NAME; -- stands before a statement that "
                             "begins with --")
        if row[1] and not equals:
            value, rest = _word(rest)
        key = row[0].replace("-", "_")
        value = value if row[1] else True
        options[key] = [*options[key], value] if isinstance(options.get(key), list) else value
        text = rest
    return options, assign, text


def _own_options(text, letter):
    """Returns the values of the option of that letter, the name of -o, the statement."""
    values, assign = [], None
    while True:
        word, rest = _word(text)
        if word == "-o":
            assign, text = _variable(rest)
        elif letter and word == "-" + letter:
            value, text = _word(rest)
            values.append(value)
        else:
            return values, assign, text


# --- printing


def _headline(record):
    """Returns the result and the first warning, in three lines at most; --details shows what to do."""
    told = [*str(record).rstrip().split("\n\n")[0].split("\n")[:2], _statement.doubt(record, "%dck --details")]
    return "\n".join(line for line in told if line)


def _lines_text(name, code, lines):
    rows = {line: (n, ns) for of, line, n, ns in lines.rows() if of is code}
    total = sum(ns for _, ns in rows.values())
    if not rows:
        return f"{name} was not called"
    first, last = min(code.co_firstlineno, *rows), max(*rows, code.co_firstlineno)
    text = [f"{name}: {_deepclock.time_text(total)} in its lines, "
            f"{os.path.basename(code.co_filename)}:{first}",
            f"{'line':>6} {'runs':>9} {'time':>10} {'each':>10} {'share':>6}"]
    for line in range(first, last + 1):
        source = linecache.getline(code.co_filename, line).rstrip()
        n, ns = rows.get(line, (0, 0))
        each = _deepclock.time_text(ns / max(n, 1))
        told = (f"{n:>9,} {_deepclock.time_text(ns):>10} {each:>10} {100 * ns / max(total, 1):>5.1f}%"
                if line in rows else " " * 38)
        text.append(f"{line:>6} {told}  {source}".rstrip())
    return "\n".join(text)


# --- memory


def _resident():
    """Returns the resident bytes now, and their peak since the last reset."""
    with open("/proc/self/status", encoding="ascii") as file:
        told = dict(line.split(":", 1) for line in file)
    return tuple(int(told[key].split()[0]) * 1024 for key in ("VmRSS", "VmHWM"))


def _memory(run):
    before, _ = _resident()
    try:
        with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
            file.write("5")  # resets the peak; proc(5)
        reset = _resident()[1] <= before + (8 << 20)
    except OSError:
        reset = False
    if reset:
        run()
        after, peak = _resident()
        return {"before": before, "peak": max(peak, after), "after": after, "how": ""}
    peaks, done = [before], threading.Event()

    def look():
        while not done.wait(0.001):
            peaks.append(max(peaks.pop(), _resident()[0]))

    looks = threading.Thread(target=look, daemon=True)
    looks.start()
    try:
        run()
    finally:
        done.set()
        looks.join()
    after = _resident()[0]
    return {"before": before, "peak": max(*peaks, after), "after": after,
            "how": " (sampled every ms: this system does not reset the peak)"}


# --- laps in a notebook


class _Board:
    """Shows the open laps in the output of the running cell, from their first half second on."""

    def __init__(self):
        self._shown = None
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, name="deepclock-laps", daemon=True)
        self._thread.start()

    def _run(self):
        last = ""
        while not self._done.wait(LIVE_EVERY_S):
            text = _deepclock._laps_open_line(1)
            if text != last:
                self._show(text)
                last = text

    def _show(self, text):
        from IPython.display import display

        if self._shown is None:
            self._shown = display({"text/plain": text}, raw=True, display_id=True)
        else:
            self._shown.update({"text/plain": text}, raw=True)

    def close(self, text):
        """If anything was shown, leaves the text in its place and returns true."""
        self._done.set()
        self._thread.join()
        if self._shown is not None:
            self._show(text)
        return self._shown is not None


def live_board():
    """Returns a _Board in a notebook, else None."""
    shell = IPython.get_ipython()
    return _Board() if shell is not None and hasattr(shell, "kernel") else None
