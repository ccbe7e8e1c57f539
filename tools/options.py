#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documented options and exit statuses are those that exist, the notes with a row are those that the
source writes, and pages name only these.

--help explains every option. The page of a command names each option too, or links to the page of
another command that names the same option with the same explanation. A default on the page equals
that of --help. The index of the documents links to the list of all options, and that list to the
pages that document each: two clicks. --list prints the list.

  options.py [--self-test | --list] deepclock
"""

import os
import re
import subprocess
import sys

import check as c

OPTION = re.compile(r"(?<![\w-])(--[a-z][a-z0-9-]*)")
PAGE_OF = "docs/commands/{}.md"
INDEX, LIST = "docs/index.md", "docs/reference/options.md"
LIST_HEAD = """<!-- SPDX-License-Identifier: Apache-2.0 -->
# All options

Each option with the pages of commands that document it. `deepclock COMMAND --help` explains all options of a command.
`tools/options.py --list build/deepclock` prints this page.

| option | documented in |
|---|---|
"""
DEFAULT = re.compile(r"\(default: ([^)]*)\)")
# A default in a page: `--time` (2 s, or less), or a cell of a table without blanks.
STATED = (re.compile(r"`(--[a-z-]+)`\s+\((\d[\d.,]*(?:\s?(?:%|[a-zA-Z]+))?)(?=[ ,;)])"),
          re.compile(r"^\| `(--[a-z-]+)[^`|]*` \| `?(\d[^\s|`]*|(?<=`)[^\s|`]+)`? \|", re.MULTILINE))
# Options of every command, which 'deepclock help' and README describe once.
GENERAL = {"--help", "--quiet", "--verbose", "--colour", "--version"}
CODE = re.compile(r'\brecord_note(?:_as)?\s*\([^;"]*?"([a-z0-9-]+)",')
ROW = re.compile(r'^(?:NOTE|NOTE_OWN_REMEDY)\("([a-z0-9-]+)",', re.MULTILINE)
PYTHON_CODE = re.compile(r'\bnote\(\s*"([a-z0-9-]+)",')
# Matches "note `few-passes`", "notes `a`, `b`" in a page.
NOTED = re.compile(r"\bnotes?\s+((?:`[a-z0-9-]+`(?:,\s+|\s+and\s+|\s+or\s+)?)+)")
# The remedy of a row that record_note() appends: the strings after the condition's.
FIXED = re.compile(r'^NOTE\("([a-z0-9-]+)",\s*\w+,(?:\s*"(?:[^"\\\n]|\\.)*")+,((?:\s*"(?:[^"\\\n]|\\.)*")+)\)', re.MULTILINE)
OWN = re.compile(r"\brecord_remedy\(([^;]*)\);")
NOTES_FILE = "src/record/notes.def"
# Only several processes of one measurement have the notes of this file.
PROCESSES = ("processes.c",)
# The code may come from a table.
NAMED = re.compile(r'\.code\s*=\s*"([a-z0-9-]+)"')


def ask(program, *args):
    return subprocess.run([*program, *args], check=True, capture_output=True, text=True,
                          env=dict(os.environ, COLUMNS="200")).stdout


def commands(program):
    """Returns {command: its help}."""
    listed = re.search(r"^Commands:\n((?:  .*\n)+)", ask(program, "help"), re.MULTILINE)
    return {m[1]: ask(program, m[1], "--help")
            for m in re.finditer(r"^  ([a-z]+)", listed[1], re.MULTILINE)}


def shown(text):
    """Returns {option: its explanation} of the rows of --help, without options in examples."""
    return {OPTION.search(m[1])[1]: " ".join(m[2].split())
            for m in re.finditer(r"^  ((?:-\w, )?--\S+)(.*(?:\n {20,}\S.*)*)", text, re.MULTILINE)}


def documented(page):
    """Returns {option: has a table row}: options of a table's first column, and the others."""
    rows = set(OPTION.findall("\n".join(re.findall(r"^\|([^|]*)\|", page, re.MULTILINE))))
    return {o: o in rows for o in OPTION.findall(page)}


def read(root, path):
    return c.read(root, path) if os.path.exists(os.path.join(root, path)) else ""


def pages_of(root, help_of):
    """Returns {command: its page} of the commands with a page."""
    pages = {command: read(root, PAGE_OF.format(command)) for command in help_of}
    return {command: page for command, page in sorted(pages.items()) if page}


def listed(root, help_of):
    """Returns the list of all options: those of each command on its page, and the general options."""
    found = {}
    for command, page in pages_of(root, help_of).items():
        have = GENERAL if command == "help" else set(shown(help_of[command])) - GENERAL
        for o in have & set(documented(page)):
            found.setdefault(o, []).append(f"[{command}](../commands/{command}.md)")
    return LIST_HEAD + "".join(f"| `{o}` | {', '.join(found[o])} |\n" for o in sorted(found))


def clicks(root, help_of):
    """Checks that the index links to the list, and the list to a page for each option."""
    page = listed(root, help_of)
    if read(root, LIST) != page:
        yield f"{LIST}: is not the list that 'tools/options.py --list' prints"
    if os.path.relpath(LIST, "docs") not in read(root, INDEX):
        yield f"{INDEX}: does not link to {LIST}"
    for o in sorted(set().union(GENERAL, *map(shown, help_of.values())) - set(documented(page))):
        yield f"{LIST}: leads to no page that documents {o}"


def options(root, help_of):
    rows = {command: shown(text) for command, text in help_of.items()}
    every = set().union(*rows.values()) | GENERAL
    pages = pages_of(root, help_of)
    named = {command: documented(page) for command, page in pages.items()}
    for command, page in pages.items():
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


def defaults(root, help_of):
    for command, page in pages_of(root, help_of).items():
        have = {o: DEFAULT.search(text) for o, text in shown(help_of[command]).items()}
        for o, stated in [m.groups() for pattern in STATED for m in pattern.finditer(page)]:
            value = re.sub(r"\s", "", stated).replace("min", "m")
            if have.get(o) and value != have[o][1]:
                yield f"{PAGE_OF.format(command)}: {o} is {stated} by default, in --help {have[o][1]}"


def formats(root, help_of):
    """Checks that the page of report names each value of --format."""
    path = PAGE_OF.format("report")
    listed = re.search(r": ([a-z, ]+) or ([a-z]+)", shown(help_of.get("report", "")).get("--format", ""))
    for name in [*listed[1].split(", "), listed[2]] if listed else []:
        if f"`{name}`" not in read(root, path):
            yield f"{path}: does not document the format {name}, which 'deepclock report --help' shows"


def extensions(root):
    """Checks that lists of extensions that select a format match the tables of formats."""
    def rows(header, table):
        text = re.sub(r"\\\n\s*", "", read(root, "include/deepclock/" + header))
        lines = re.findall(r"^#define DCK_%s.*" % table, text, re.MULTILINE)
        return set(re.findall(r'X\([^"]*"(\.[a-z.]+)"', "\n".join(lines)))

    calls = rows("trace.h", "CALLS_FORMAT_MAP")
    writers, traces = rows("report.h", "WRITER_") | calls, rows("trace.h", "TRACE_FORMAT_") | calls
    for path in [*c.files(root, ".md"), *c.files(root, ".py")]:
        if not path.startswith(("docs/", "python/deepclock/")):
            continue
        for list_ in re.findall(r"extension\s[^.]*?selects\s+the\s+format:(.*?)(?:\n\n|\|\n|\Z)",
                                c.read(root, path), re.DOTALL):
            found = set(re.findall(r'[`"](\.[a-z.]+)[`"]', list_)) - {".gz"}
            have = writers if ".html" in found else traces
            for ext in sorted(have ^ found if found else ()):
                yield f"{path}: {'does not list' if ext in have else 'lists'} {ext} among the extensions of formats"


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
    for path in c.files(root, ".md"):
        for named in NOTED.findall(c.read(root, path)):
            for note in sorted(set(re.findall(r"[a-z0-9-]+", named)) - described - {"and", "or"}):
                yield f"{path}: names the note '{note}', which {page} does not describe"


def literals(text):
    """Returns the C strings of text, as one."""
    return "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', text))


def remedied(path, help_of):
    """Returns the commands whose records have the notes that the file writes: with the remedies of
    their rows, and with those that the file writes itself."""
    part = path.split("/")
    command = {"cost_report": "cost", "roofline": "machine"}.get(part[2], part[2])
    if part[1] in ("study", "profiler") and command in help_of:
        return [command], [command]
    if part[1] != "measure" or not {"bench", "load", "profile"} <= set(help_of):
        return [], []
    # What load does not ask of the common diagnostics has separate remedies there.
    own = ["bench", "profile"]
    return (own if part[2] in PROCESSES else [*own, "load"]), own


def remedies(root, help_of):
    """Checks that the options that a remedy names exist in each command that prints it. One after the
    name of another command is that command's."""
    rows = {m[1]: literals(m[2]) for m in FIXED.finditer(read(root, NOTES_FILE))}
    have = {command: set(shown(text)) for command, text in help_of.items()}
    every = set().union(*have.values())
    for path in c.files(root, ".c"):
        if not path.startswith(("src/study/", "src/profiler/", "src/measure/")):
            continue
        text, (fixed, own) = c.read(root, path), remedied(path, help_of)
        found = [(code, rows[code], fixed) for code in sorted(set(CODE.findall(text)) & set(rows))]
        found += [("record_remedy()", literals(m[1]), own) for m in OWN.finditer(text)]
        for code, remedy, of in found:
            for word, o in re.findall(r"(?:([a-z-]+)\s+)?(?<![\w-])(--[a-z][a-z0-9-]*)", remedy):
                for command in [word] if word in have else of:
                    if o in every - have[command]:
                        yield f"{path}: the remedy of {code} names {o}, which 'deepclock {command}' does not have"


def statuses(root, program):
    """Checks that the page of help lists the exit statuses with the program's words."""
    printed = re.search(r"^Exit status:\n((?:  .*\n)+)", ask(program, "help"), re.MULTILINE)
    rows = re.findall(r"^  (\d+) +(.*)$", printed[1] if printed else "", re.MULTILINE)
    path = PAGE_OF.format("help")
    have = re.findall(r"^- \*\*(\d+)\*\*: (.*)$", read(root, path), re.MULTILINE)
    if rows != have:
        yield f"{path}: lists the exit statuses {have}, 'deepclock help' {rows}"


def check(program, root=c.ROOT):
    help_of = commands([program])
    yield from statuses(root, [program])
    yield from options(root, help_of)
    yield from defaults(root, help_of)
    yield from formats(root, help_of)
    yield from extensions(root)
    yield from clicks(root, help_of)
    yield from notes(root)
    yield from remedies(root, help_of)


FAKE = """#!/bin/sh
case $1 in
help) printf 'Commands:\\n  help  it helps\\n  run   it runs\\n  walk  it walks\\n\\nExit status:\\n  0  fine\\n  1  bad\\n' ;;
run) printf 'Output:\\n  -o, --output FILE  where --to (default: 2s)\\n  --fast  does not wait\\n'
     printf '  --help  show this\\n\\nExamples:\\n  deepclock run --other x\\n' ;;
walk) printf 'Output:\\n  -o, --output FILE  where --to (default: 2s)\\n  --fast  does not wait\\n' ;;
esac
"""
OTHER = FAKE.replace("does not wait", "does not rest", 1)
FORMS = FAKE.replace("help  it helps", "help  it helps\\n  report  it reports").replace("esac\n", """\
report) printf 'Output:\\n  --format FORMAT  how it is written: text, json or rows (default: text)\\n' ;;
esac
""")
ALONE = FAKE[:FAKE.rindex("\\n  --fast")] + "\\n' ;;\nesac\n"
DUMB = FAKE.replace("--fast  does not wait", "--fast  ", 1)
PAGE = "| option | meaning |\n|---|---|\n| `--output FILE` | where |\n| `--fast` | no |\n"
NOTES = 'NOTE("one", INFO, "when", "what")\n'
WRITES = 'void f(void){record_note_as(b, bad ? DCK_WARN : DCK_INFO,\n\t"one", "text");}\n'
HELP = "- **0**: fine\n- **1**: bad\n"
EVERY = "".join(f"`{o}`\n" for o in sorted(GENERAL))
RUN, WALK, NOTE = "docs/commands/run.md", "docs/commands/walk.md", "src/record/notes.def"


TABLE = {"include/deepclock/trace.h": '#define DCK_TRACE_FORMAT_A(X) \\\n\tX(a, ".a", true, "a format")\n'
                                      '#define DCK_CALLS_FORMAT_MAP(X) \\\n\tX(b, ".b.c", false, "another")\n'}
EXTENSIONS = "The extension of FILE selects the format: `.a`, `.b.c`; a further `.gz` compresses.\n\n"


def self_test(*_):
    def asked(where):
        program = os.path.join(where, "program")
        os.chmod(program, 0o755)
        if not os.path.exists(os.path.join(where, LIST)):
            c.tree(where, {LIST: listed(where, commands([program]))})
        return check(program, where)

    good = {"program": FAKE, RUN: PAGE, WALK: "Options: [run](run.md).\n", NOTE: NOTES,
            "src/measure/a.c": WRITES, PAGE_OF.format("help"): EVERY + HELP,
            INDEX: "[options](reference/options.md)\n"}
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
        ("formats that are documented",
         {**good, "program": FORMS, "docs/commands/report.md": "`--format`: `text`, `json`, `rows`\n"}, None),
        ("a format that is not", {**good, "program": FORMS, "docs/commands/report.md": "`--format`: `text`, `json`\n"},
         "report.md: does not document the format rows"),
        ("extensions that are the table's", {**good, **TABLE, RUN: PAGE + EXTENSIONS}, None),
        ("an extension that is not listed", {**good, **TABLE, RUN: PAGE + EXTENSIONS.replace(", `.b.c`", "")},
         "run.md: does not list .b.c among"),
        ("an extension of no format", {**good, **TABLE, RUN: PAGE + EXTENSIONS.replace(".b.c", ".b.c`, `.d")},
         "run.md: lists .d among"),
        ("an option without an explanation", {**good, "program": DUMB, WALK: PAGE, RUN: PAGE},
         "--help' does not explain --fast"),
        ("an exit status that is not listed", {**good, PAGE_OF.format("help"): EVERY + HELP[:14]},
         "lists the exit statuses"),
        ("an exit status in other words",
         {**good, PAGE_OF.format("help"): EVERY + HELP.replace("bad", "worse")}, "lists the exit statuses"),
        ("an option that no page documents",
         {**good, PAGE_OF.format("help"): EVERY.replace("--quiet", "quiet") + HELP},
         "leads to no page that documents --quiet"),
        ("a list of other options", {**good, LIST: LIST_HEAD + EVERY + "`--output` `--fast`\n"},
         "is not the list"),
        ("an index without the list", {**good, INDEX: ""}, "does not link to"),
        ("a default that is the same", {**good, RUN: PAGE + "`--output` (2 s, or less)\n"}, None),
        ("another default", {**good, RUN: PAGE + "`--output` (3 s)\n"}, "--output is 3 s by default"),
        ("another default in a table", {**good, RUN: PAGE + "| `--output TIME` | 3s | for so long |\n"},
         "--output is 3s by default"),
        ("a note without a row", {**good, NOTE: ""}, "describe the note 'one'"),
        ("notes of a page", {**good, RUN: PAGE + "(note\n`one`)\n"}, None),
        ("a note of a page that does not exist", {**good, RUN: PAGE + "notes `one`, `two`\n"},
         "run.md: names the note 'two'"),
        ("a remedy that its command has", {**good, "src/study/run/a.c": WRITES.replace('"one"', '"two"'),
          NOTE: NOTES + 'NOTE("two", INFO, "a "\n"b",\n "give --fast, "\n"or walk --fast")\n'}, None),
        ("a remedy with another command's option", {**good, "program": ALONE, WALK: "It has `--output`.\n", "src/study/walk/a.c":
          WRITES.replace('"one"', '"two"'), NOTE: NOTES + 'NOTE("two", INFO, "a",\n "give --fast")\n'},
         "a.c: the remedy of two names --fast, which 'deepclock walk' does not have"),
        ("a remedy of the file itself", {**good, "program": ALONE, WALK: "It has `--output`.\n", "src/study/walk/a.c":
          'void g(void){record_remedy(b, "give %s"\n" or --fast", x);}\n'},
         "a.c: the remedy of record_remedy() names --fast"),
        ("a row without a note", {**good, NOTE: NOTES + 'NOTE_OWN_REMEDY("two", INFO, "a", "")\n'},
         "describes the note 'two'"),
    ])


if __name__ == "__main__":
    if sys.argv[1:2] == ["--list"]:
        sys.stdout.write(listed(c.ROOT, commands(sys.argv[2:])))
    else:
        c.run(check, self_test)
