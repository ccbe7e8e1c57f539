# SPDX-License-Identifier: Apache-2.0
"""Builds a Record from Python.

    b = Record("deepclock.torch.cost(Net)")
    b.fact("subject", "name", "Net")
    b.metric("cost/macs", 1814073344, "1", "products of aten calls")
    record = b.finish()

The library's own parser reads the JSON text of the record (docs/reference/record.md) and checks every
member, so the record equals the one that `deepclock report` would read.
"""

import datetime
import json
import math
import os
import secrets

import deepclock

from ._deepclock import _keep

_EXACT = 1 << 53  # larger integers are written as strings, because most readers use doubles


def _number(value):
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if isinstance(value, float) and math.isinf(value):
        raise ValueError("a record has finite numbers; give the reason why it is absent")
    return None if isinstance(value, float) and math.isnan(value) else value


def _valued(o, value, why):
    if value is None:
        o["absent"] = why or "not known"
    else:
        o["value"] = _number(value)
    return o


def cell(value, why=None, lo=None, hi=None, level=None):
    """Returns a table cell: a number or a text, with an interval; None: absent, for the reason `why`."""
    if value is None:
        return {"absent": why or "not known"}
    if lo is None:
        return _number(value)
    return {"value": _number(value), "lo": float(lo), "hi": float(hi), "level": float(level)}


def si(count):
    """Formats a count, "1.81 G"; small counts exactly."""
    return str(count) if abs(count) < 1000 else deepclock.si_text(count)


def _count_text(count, digits):
    """Formats a count as thop's clever_format, "1.814G"; small counts exactly."""
    for power, prefix in ((12, "T"), (9, "G"), (6, "M"), (3, "K")):
        if count is not None and abs(count) >= 10 ** power:
            return f"{count / 10 ** power:.{digits}f}{prefix}"
    return "?" if count is None else str(count)


def summary(record, digits=None):
    """Returns the text of record.summary()."""
    digits = 3 if digits is None else digits
    if isinstance(digits, bool) or not isinstance(digits, int) or not 0 <= digits <= 15:
        raise deepclock.ArgumentError(f"digits={digits!r}: a whole number from 0 to 15")

    def costs(macs, params):
        return f"{_count_text(macs, digits)} MACs, {_count_text(params, digits)} params"

    if record.macs is None and record.params is None and "cost/macs" not in record.metrics:
        raise deepclock.AbsentError("summary(): the record counts no operations: it is of another command than cost")
    whole = costs(record.macs, record.params)
    table = record.tables.get("cost/modules")
    if table is None:
        return whole
    lines = []
    for row in table:
        path = row["module"]
        if path == "(all)":
            lines.append(f"{row['class']}: {whole}")
        else:
            lines.append("  " * (path.count(".") + 1) + f"({path.rpartition('.')[2]}): {row['class']}: "
                         + costs(row["macs"], row["params"]))
    return "\n".join(lines)


class Record:
    """Collects facts, metrics, series, operators, tables, trees and notes. Units are those of
    docs/reference/record.md: "ns", "B", "FLOP", "1", "items/s", ...; None of texts."""

    def __init__(self, command):
        self._o = {
            "schema": deepclock.SCHEMA,
            "deepclock": deepclock.__version__,
            "id": secrets.token_hex(16),
            "began": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.%f000Z"),
            "command": command,
            "incomplete": False,
        }
        for key in "facts series metrics ops tables trees notes".split():
            self._o[key] = []

    def fact(self, section, key, value, unit=None, why=None):
        """Adds a fact of the configuration or the environment; value None is absent, because of `why`."""
        o = _valued({"section": section, "key": key}, value, why)
        if unit:
            o["unit"] = unit
        self._o["facts"].append(o)

    def answer(self, text):
        """Sets the result in one sentence."""
        self.fact("result", "answer", text)

    def metric(self, tag, value, unit, how="", lo=None, hi=None, level=None, why=None):
        """One value by its tag (`deepclock help metrics`); lo, hi and level: its interval."""
        o = _valued({"tag": tag}, value, why)
        o["unit"] = unit
        if value is not None and lo is not None:
            o.update(lo=float(lo), hi=float(hi), level=float(level))
        if how:
            o["how"] = how
        self._o["metrics"].append(o)

    def series(self, tag, unit, values, warmup=0, at_ns=None):
        o = {"tag": tag, "unit": unit, "warmup": int(warmup),
             "values": [None if v is None or not math.isfinite(v) else float(v) for v in values]}
        if at_ns is not None:
            o["at_ns"] = [_number(int(t)) for t in at_ns]
        self._o["series"].append(o)

    def op(self, name, type, outputs=(), scope=None, **members):
        """An operator; outputs are (name, dtype, shape). members: class_, line, code, and the numbers
        macs, flops, params, weight_bytes, read_bytes, write_bytes, time, ...; a text in place of a
        number is the reason why it is absent."""
        o = {"name": name, "type": type}
        if scope:
            o["scope"] = scope
        texts = {"class_": "class", "line": "line", "code": "code", "bound": "bound"}
        for key, text in texts.items():
            if members.get(key):
                o[text] = members[key]
        o["outputs"] = [{"name": n, "dtype": d, "shape": list(s)} for n, d, s in outputs]
        for key, value in members.items():
            if key not in texts:
                o[key] = {"absent": value} if isinstance(value, str) else _number(value)
        self._o["ops"].append(o)

    def table(self, name, title, columns, rows, summary_columns=None, summary_rows=None):
        """columns: (key, title, unit or None); rows: lists of cell(), the first of which names the
        row."""
        o = {"name": name, "title": title, "columns": _columns(columns), "rows": [list(r) for r in rows]}
        if summary_columns is not None:
            o["summary_columns"] = list(summary_columns)
        if summary_rows is not None:
            o["summary_rows"] = list(summary_rows)
        self._o["tables"].append(o)

    def tree(self, name, title, columns, nodes):
        """nodes: (index of the parent's node or -1, frame, weights of this node alone), each parent
        before its children. A frame is a name, or a tuple of name, file, line and the line where it
        begins."""
        frames = {}
        rows = []
        for parent, frame, weights in nodes:
            rows.append([parent, frames.setdefault(frame, len(frames)), *map(_number, weights)])
        self._o["trees"].append({"name": name, "title": title, "columns": _columns(columns),
                                 "frames": [_frame(f) for f in frames], "nodes": rows})

    def note(self, code, text, severity="warning"):
        """Adds a warning (`deepclock help notes`)."""
        self._o["notes"].append({"severity": severity, "code": code, "text": text})

    def incomplete(self):
        """Marks the record as incomplete: interrupted or failed; a note has the reason."""
        self._o["incomplete"] = True

    def finish(self):
        """Returns the deepclock.Record; FormatError names the invalid member."""
        text = json.dumps(self._o, allow_nan=False, ensure_ascii=False)
        # Bytes that were not UTF-8 become U+FFFD, as where the library writes JSON.
        return deepclock.parse(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))


class Amended(Record):
    """A builder that starts with the contents of a Record; a fact or metric of the same name is replaced."""

    def __init__(self, record):
        self._o = json.loads(record.to_json())

    def fact(self, section, key, value, unit=None, why=None):
        super().fact(section, key, value, unit, why)
        facts = self._o["facts"]
        new, at = facts.pop(), len(facts) - 1
        for i, old in enumerate(facts):
            if old["section"] == section:
                at = i
                if old["key"] == key:
                    facts[i] = new
                    return
        facts.insert(at + 1, new)

    def metric(self, tag, *args, **options):
        self._o["metrics"] = [m for m in self._o["metrics"] if m["tag"] != tag]
        super().metric(tag, *args, **options)

    def without(self, section, begin):
        """Removes the facts of a section whose keys start with `begin`."""
        self._o["facts"] = [f for f in self._o["facts"] if f["section"] != section or not f["key"].startswith(begin)]

    def facts(self, rows):
        """Adds facts (section, key, value); numbers are counts."""
        for section, key, value in rows:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            self.fact(section, key, value, "1" if number else None)

    def command(self, text):
        self._o["command"] = text


def titled(record, title):
    """Returns the record with the caller's title."""
    out = Amended(record)
    out.command(title)
    out.fact("subject", "title", title)
    return out.finish()


def piped(path, limit):
    """Returns the bytes of a pipe; None if it cannot be opened."""
    try:
        file = open(os.fsencode(path), "rb")
    except (FileNotFoundError, PermissionError):  # not what the handler of a signal raises
        return None
    with file:
        data = file.read(limit + 1)
    if len(data) > limit:
        raise deepclock.LimitError(f"{path!r} is larger than {deepclock.bytes_text(limit)}, the most that is read here")
    return data


def ended(out, record):
    """Returns whether Ctrl-C or a failure ended the measurement of a record early, which `out` then states too."""
    if record.incomplete:
        out.incomplete()
        for note in record.notes:
            if note.severity == "error":
                out.note(note.code, note.text, note.severity)
    return record.incomplete


def raise_early(record):
    """Raises what ended a comparison before its first round."""
    for note in record.notes:
        if note.code == "interrupted":
            raise KeyboardInterrupt
        if note.severity == "error":
            raise deepclock.EngineError(note.text)
    raise deepclock.EngineError("the comparison has no whole round")


_KEEPING = ("save", "html", "sources", "source_root", "figures", "db", "commit", "no_history")


def keeping(options, title=None):
    """Moves the options for saving out of `options`, because the record is finished after the measurement; returns
    them with the title. Raises what would lose the record then."""
    asked = {"title": title, **{name: options.pop(name) for name in _KEEPING if name in options}}
    _keep(None, **asked)
    return asked


def kept(record, asked):
    return _keep(record, **asked)


def saved(record, path):
    """Returns the record, saved to the file unless path is None; it is not in the history."""
    return record if path is None else _keep(record, save=path, no_history=True)


def saving(path):
    """Raises what would lose the record after a measurement: a file that cannot be written."""
    _keep(None, save=path)


def _frame(frame):
    keys = "name file line start_line".split()
    values = (frame,) if isinstance(frame, str) else frame
    return {k: v for k, v in zip(keys, values) if v}


def _columns(columns):
    return [{"key": k, "title": t, "unit": u} if u else {"key": k, "title": t} for k, t, u in columns]
