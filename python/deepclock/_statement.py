# SPDX-License-Identifier: Apache-2.0
"""Statements as functions: `deepclock.bench("x.dot(x)", setup="...")`, `%dck`, `python -m deepclock timeit`."""

import ast
import os
import re
import sys
import textwrap
import types

from . import _compiled, _deepclock, _record, _traced, _workers

# The time limit of a statement without options for time or precision: a second or two, with its warm-up.
BRIEF = {"max_time": "1200ms", "max_warmup": "300ms"}
HOW_LONG = {"time", "max_time", "runs", "precision"}
_WARNING_WIDTH = 120


def parse(text):
    """Returns the AST nodes of a text, which may be indented as a whole."""
    text = textwrap.dedent(text).strip()
    compile(text, "<statement>", "exec", dont_inherit=True)  # refuses a return, which the function around it would allow
    return ast.parse(text, "<statement>").body


def function(statement, setup, names, title, loops=None):
    """Returns a function that runs the nodes `statement`, `loops` times unless None. The nodes `setup` run once, now;
    the statement can read their variables and the ones in `names`, and assign the former."""
    body = statement or [ast.Pass()]
    if loops is not None:
        loop = ast.parse(f"for _deepclock_i in _deepclock_repeat(None, {loops}): pass").body[0]
        loop.body, body = body, [loop]
        setup = [*ast.parse("from itertools import repeat as _deepclock_repeat").body, *setup]
    made = _outer(body, setup, names)
    code = made.__code__
    inner = next(c for c in code.co_consts if isinstance(c, types.CodeType) and c.co_name == "inner")
    shared = sorted(set(inner.co_varnames) & {*code.co_varnames, *code.co_cellvars})
    if shared:
        made = _outer([ast.Nonlocal(shared), *body], setup, names)
    run = made()
    run.__qualname__ = " ".join(title.split())[:60]
    run.__module__ = None
    return run


def _outer(body, setup, names):
    tree = ast.parse("def outer():\n    def inner():\n        pass\n    return inner")
    outer = tree.body[0]
    outer.body[0].body = list(body)
    outer.body[:0] = setup
    made = {}
    exec(compile(ast.fix_missing_locations(tree), "<statement>", "exec"), names, made)
    return made["outer"]


def brief(options):
    """Returns the options, with BRIEF if none of them limits the time."""
    given = {name: value for name, value in options.items() if value is not None}
    if HOW_LONG & set(given):
        return given
    return {**{name: value for name, value in BRIEF.items() if name != "max_warmup" or "warmup" not in given}, **given}


def doubt(record, more, told=lambda note: note.text):
    """Returns the first warning of the record in a line, or "". more: the hint to the other warnings. told(note): its
    text."""
    doubts = {}
    for note in sorted(record.notes, key=lambda note: note.severity != "error"):
        if note.severity != "info":
            text = told(note).removesuffix(note.remedy).removesuffix("; ")
            doubts.setdefault(note.code, (f"  {note.severity}: ", text))
    if not doubts:
        return ""
    rest = f" ({len(doubts) - 1} more: {more})" if len(doubts) > 1 else ""
    begin, text = next(iter(doubts.values()))
    return begin + _shortened(text, _WARNING_WIDTH + 2 - len(begin) - len(rest)) + rest


def _shortened(text, width):
    """Returns the whole clauses of the text that fit; of a long first clause, the words."""
    if len(text) > width:
        for end in reversed([m.start() for m in re.finditer(r"[,:;] | \(", text[:width + 2])]):
            if end <= width and all(text[:end].count(a) == text[:end].count(b) for a, b in ("()", "[]")):
                return text[:end]
    return textwrap.shorten(text, width, placeholder=" ...")


def _measured(fn, /, *args, **options):
    """Measures, in fresh processes of the script if several are asked for."""
    processes = _workers.count(options)
    return _workers.measured(_measured_here, processes, fn, args, options) if processes else _measured_here(fn, *args, **options)


def _measured_here(fn, /, *args, **options):
    """Measures; the record states what was compiled during the measurement."""
    counts = _traced.mark(fn)
    if sys.modules.get("torch") is None and not counts:
        return _deepclock.bench(fn, *args, **options)
    asked, begin = _record.keeping(options, options.pop("title", None)), _compiled.mark()
    record = _deepclock.bench(fn, *args, no_history=True, **options)
    for compiled, note in ((_compiled.since(begin), _compiled.note), (_traced.since(counts), _traced.note)):
        if compiled:
            out = _record.Amended(record)
            note(out, compiled, "during the measurement, warm-up included")
            record = out.finish()
    if not asked.get("no_history"):
        record = _deepclock._with_starts(record, asked.get("db"))
    return _record.kept(record, asked)


def bench(fn, /, *args, setup=None, globals=None, **options):
    if not isinstance(fn, str) or fn.startswith(("zoo:", "cmd:", "plugin:")) or os.path.exists(fn):
        if setup is not None or globals is not None:
            raise TypeError("bench(): setup and globals belong to a statement, bench(\"x.dot(x)\", setup=\"...\")")
        return _measured(fn, *args, **options)
    if args:
        raise TypeError("bench(): a statement has no arguments; it sees the names of globals and of its setup")
    names = sys._getframe(1).f_globals if globals is None else globals
    if callable(setup):
        setup()
        setup = None
    run = function(parse(fn), parse(setup or ""), names, fn)
    return _measured(run, **brief(options))


bench.__doc__ = _deepclock.bench.__doc__.replace(
    "Returns a Record.",
    "A str is a statement, measured for a second or two where no option says how long:\n"
    "bench(\"x.dot(x)\", setup=\"x = f()\", globals=globals()). The setup, a text or a function, runs once; globals are by "
    "default\nthe caller's.\n\nReturns a Record.", 1)
