# SPDX-License-Identifier: Apache-2.0
"""A record that was measured, and what only Python knows of it."""

import json

from .._deepclock import _keep
from .._record import Record

_KEEPING = ("save", "db", "commit", "no_history")


def keeping(options):
    """Takes the options out that say where a record is kept: it is finished later than it is measured."""
    return {name: options.pop(name) for name in _KEEPING if name in options}


def kept(record, asked):
    return _keep(record, **asked)


class Amended(Record):
    """Begins with all that is in a Record; a fact that it has is replaced."""

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

    def facts(self, rows):
        """(section, key, value); numbers are counts."""
        for section, key, value in rows:
            number = isinstance(value, (int, float)) and not isinstance(value, bool)
            self.fact(section, key, value, "1" if number else None)
