#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options documented = options that exist, and notes documented = notes that are written.

  options.py [--self-test] deepclock
"""

import os
import re
import subprocess
import check as c

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)")
# Every command has them; 'deepclock help' and README describe them once.
GENERAL = {"--help", "--quiet", "--verbose", "--colour", "--version"}
CODE = re.compile(r'\brecord_note\s*\(\s*[^,"]+,\s*[^,"]+,\s*"([a-z0-9-]+)"')
# The severity may be chosen by an expression, the code may come out of a table.
NAMED = re.compile(r'\.code\s*=\s*"([a-z0-9-]+)"')


def ask(program, *args):
    return subprocess.run([*program, *args], check=True, capture_output=True, text=True,
                          env=dict(os.environ, COLUMNS="200")).stdout


def commands(program):
    """{command: its help}"""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", ask(program, "help"), re.MULTILINE)
    return {m[1]: ask(program, m[1], "--help")
            for m in re.finditer(r"^  ([a-z]+)", listed[1], re.MULTILINE)}


def shown(text):
    """Options that have a row of their own in --help: not those that an example mentions."""
    return {o for row in re.findall(r"^  ((?:-\w, )?--\S+)", text, re.MULTILINE)
            for o in OPTION.findall(row)}


def documented(page):
    """{option: has a row of its own}: options of a table's first column, and the rest."""
    rows = set(OPTION.findall("\n".join(re.findall(r"^\|([^|]*)\|", page, re.MULTILINE))))
    return {o: o in rows for o in OPTION.findall(page)}


def options(root, help_of):
    every = set().union(*(shown(text) for text in help_of.values())) | GENERAL
    for command, text in sorted(help_of.items()):
        path = f"docs/{command}.md"
        if not os.path.exists(os.path.join(root, path)):
            continue
        have, page = shown(text), documented(c.read(root, path))
        for o in sorted(have - set(page) - GENERAL):
            yield f"{path}: does not document {o}, which 'deepclock {command} --help' shows"
        for o in sorted(o for o, row in page.items() if o not in have and (row or o not in every)):
            yield f"{path}: documents {o}, which 'deepclock {command}' does not have"


def notes(root):
    written = {}
    for path in c.files(root, ".c"):
        if path.startswith("src/bench/"):
            text = c.read(root, path)
            for m in [*CODE.finditer(text), *NAMED.finditer(text)]:
                written.setdefault(m[1], path)
    page = "docs/notes.md"
    described = set(re.findall(r"^\| `([a-z0-9-]+)` \|", c.read(root, page), re.MULTILINE))
    for note in sorted(set(written) - described):
        yield f"{page}: does not describe the note '{note}', which {written[note]} writes"
    for note in sorted(described - set(written)):
        yield f"{page}: describes the note '{note}', which nothing writes"


def check(program, root=c.ROOT):
    yield from options(root, commands([program]))
    yield from notes(root)


FAKE = """#!/bin/sh
case $1 in
help) printf 'Commands:\\n  run   it runs\\n\\nExamples:\\n' ;;
run) printf 'Output:\\n  -o, --output FILE  where --to\\n  --fast  no\\n  --help  this\\n\\nExamples:\\n'
     printf '  deepclock run --other x\\n' ;;
esac
"""
PAGE = "| option | meaning |\n|---|---|\n| `--output FILE` | where |\n| `--fast` | no |\n"
NOTES = "| `one` | info | when | what |\n"
WRITES = 'void f(void){record_note(b, bad ? DCK_WARN : DCK_INFO,\n\t"one", "text");}\n'


def self_test(*_):
    def asked(where):
        program = os.path.join(where, "program")
        os.chmod(program, 0o755)
        return check(program, where)

    good = {"program": FAKE, "docs/run.md": PAGE, "docs/notes.md": NOTES, "src/bench/a.c": WRITES}
    yield from c.misses(asked, [
        ("a good tree", good, None),
        ("an undocumented option", {**good, "docs/run.md": PAGE.replace("--fast", "fast")},
         "does not document --fast"),
        ("an option that is gone", {**good, "docs/run.md": PAGE + "| `--slow` | gone |\n"},
         "documents --slow"),
        ("one that is gone, in the text", {**good, "docs/run.md": PAGE + "\nUse `--slow`.\n"},
         "documents --slow"),
        ("a note without a row", {**good, "docs/notes.md": "# Notes\n"}, "describe the note 'one'"),
        ("a row without a note", {**good, "docs/notes.md": NOTES + "| `two` | info | a | b |\n"},
         "describes the note 'two'"),
    ])


if __name__ == "__main__":
    c.run(check, self_test)
