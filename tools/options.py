#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Options and exit statuses documented = those that exist, and notes with a row = notes that are
written.

--help explains every option. The page of a command names each of them too, or links to the page of
another command that has the option with the same explanation and names it.

  options.py [--self-test] deepclock
"""

import os
import re
import subprocess
import check as c

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)")
PAGE_OF = "docs/commands/{}.md"
# Every command has them; 'deepclock help' and README describe them once.
GENERAL = {"--help", "--quiet", "--verbose", "--colour", "--version"}
CODE = re.compile(r'\brecord_note(?:_as)?\s*\([^;"]*?"([a-z0-9-]+)",')
ROW = re.compile(r'^(?:NOTE|SAID)\("([a-z0-9-]+)",', re.MULTILINE)
PYTHON_CODE = re.compile(r'\bnote\(\s*"([a-z0-9-]+)",')
# The code may come out of a table.
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
    """{option: its explanation} of the rows of --help: not of what an example mentions."""
    return {OPTION.search(m[1])[1]: " ".join(m[2].split())
            for m in re.finditer(r"^  ((?:-\w, )?--\S+)(.*(?:\n {20,}\S.*)*)", text, re.MULTILINE)}


def documented(page):
    """{option: has a row of its own}: options of a table's first column, and the rest."""
    rows = set(OPTION.findall("\n".join(re.findall(r"^\|([^|]*)\|", page, re.MULTILINE))))
    return {o: o in rows for o in OPTION.findall(page)}


def options(root, help_of):
    rows = {command: shown(text) for command, text in help_of.items()}
    every = set().union(*rows.values()) | GENERAL
    pages = {command: c.read(root, PAGE_OF.format(command)) for command in rows
             if os.path.exists(os.path.join(root, PAGE_OF.format(command)))}
    named = {command: documented(page) for command, page in pages.items()}
    for command, page in sorted(pages.items()):
        path, have = PAGE_OF.format(command), rows[command]
        linked = [other for other in pages if f"]({other}.md" in page]
        for o in sorted(set(have) - set(named[command]) - GENERAL):
            if not any(o in named[x] and rows[x].get(o) == have[o] for x in linked):
                yield f"{path}: does not document {o}, which 'deepclock {command} --help' shows"
        for o, row in sorted(named[command].items()):
            if o not in have and (row or o not in every):
                yield f"{path}: documents {o}, which 'deepclock {command}' does not have"
        for o in sorted(o for o, text in have.items() if len(text.split()) < 2):
            yield f"{path}: 'deepclock {command} --help' does not explain {o}"


def notes(root):
    written = {}
    for path in c.files(root, ".c"):
        if path.startswith("src/") and not path.startswith("src/cli/"):
            text = c.read(root, path)
            for m in [*CODE.finditer(text), *NAMED.finditer(text)]:
                written.setdefault(m[1], path)
    for path in c.files(root, ".py"):
        if path.startswith("python/deepclock/"):
            for m in PYTHON_CODE.finditer(c.read(root, path)):
                written.setdefault(m[1], path)
    page = "src/record/notes.def"
    described = set(ROW.findall(c.read(root, page)))
    for note in sorted(set(written) - described):
        yield f"{page}: does not describe the note '{note}', which {written[note]} writes"
    for note in sorted(described - set(written)):
        yield f"{page}: describes the note '{note}', which nothing writes"


def statuses(root, program):
    """The page of help lists the exit statuses in the words in which the program prints them."""
    printed = re.search(r"^Exit status:\n((?:  .*\n)+)", ask(program, "help"), re.MULTILINE)
    rows = re.findall(r"^  (\d+) +(.*)$", printed[1] if printed else "", re.MULTILINE)
    path = PAGE_OF.format("help")
    page = c.read(root, path) if os.path.exists(os.path.join(root, path)) else ""
    listed = re.findall(r"^- \*\*(\d+)\*\*: (.*)$", page, re.MULTILINE)
    if rows != listed:
        yield f"{path}: lists the exit statuses {listed}, 'deepclock help' {rows}"


def check(program, root=c.ROOT):
    yield from statuses(root, [program])
    yield from options(root, commands([program]))
    yield from notes(root)


FAKE = """#!/bin/sh
case $1 in
help) printf 'Commands:\\n  run   it runs\\n  walk  it walks\\n\\nExit status:\\n  0  fine\\n  1  bad\\n' ;;
run) printf 'Output:\\n  -o, --output FILE  where --to\\n  --fast  does not wait\\n'
     printf '  --help  show this\\n\\nExamples:\\n  deepclock run --other x\\n' ;;
walk) printf 'Output:\\n  -o, --output FILE  where --to\\n  --fast  does not wait\\n' ;;
esac
"""
OTHER = FAKE.replace("does not wait", "does not rest", 1)
DUMB = FAKE.replace("--fast  does not wait", "--fast  ", 1)
PAGE = "| option | meaning |\n|---|---|\n| `--output FILE` | where |\n| `--fast` | no |\n"
NOTES = 'NOTE("one", INFO, "when", "what")\n'
WRITES = 'void f(void){record_note_as(b, bad ? DCK_WARN : DCK_INFO,\n\t"one", "text");}\n'
HELP = "- **0**: fine\n- **1**: bad\n"
RUN, WALK, NOTE = "docs/commands/run.md", "docs/commands/walk.md", "src/record/notes.def"


def self_test(*_):
    def asked(where):
        program = os.path.join(where, "program")
        os.chmod(program, 0o755)
        return check(program, where)

    good = {"program": FAKE, RUN: PAGE, WALK: "Options: [run](run.md).\n", NOTE: NOTES,
            "src/measure/a.c": WRITES, PAGE_OF.format("help"): HELP}
    yield from c.misses(asked, [
        ("a good tree", good, None),
        ("an undocumented option", {**good, RUN: PAGE.replace("--fast", "fast"), WALK: PAGE},
         "does not document --fast"),
        ("an option that is gone", {**good, RUN: PAGE + "| `--slow` | gone |\n"},
         "documents --slow"),
        ("one that is gone, in the text", {**good, RUN: PAGE + "\nUse `--slow`.\n"},
         "documents --slow"),
        ("a page without a link", {**good, WALK: "It has `--output`.\n"},
         "walk.md: does not document --fast"),
        ("an option that means something else there", {**good, "program": OTHER},
         "walk.md: does not document --fast"),
        ("an option without an explanation", {**good, "program": DUMB, WALK: PAGE, RUN: PAGE},
         "--help' does not explain --fast"),
        ("an exit status that is not listed", {**good, PAGE_OF.format("help"): HELP[:14]},
         "lists the exit statuses"),
        ("an exit status in other words",
         {**good, PAGE_OF.format("help"): HELP.replace("bad", "worse")}, "lists the exit statuses"),
        ("a note without a row", {**good, NOTE: ""}, "describe the note 'one'"),
        ("a row without a note", {**good, NOTE: NOTES + 'SAID("two", INFO, "a", "")\n'},
         "describes the note 'two'"),
    ])


if __name__ == "__main__":
    c.run(check, self_test)
