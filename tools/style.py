#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rules of the source text: no work left for later, no path of one machine, no trailing blanks, a licence
line in each source, short files, opening comments on how a file works, one file for a static name, scripts
that a shell and Python can parse.

  style.py [--self-test]
"""

import os
import re
import shutil
import subprocess
import check as c

CODE = (".c", ".h", ".def", ".cpp")
SCRIPTS = (".py", ".js", ".mjs", ".sh", ".build", ".bash", ".zsh", ".fish")
TEXT = (*CODE, *SCRIPTS, ".md", ".txt", ".toml", ".yml", "Makefile", ".clang-format", ".gitignore",
        ".ci/run")
LINES_MAX = 900
# A file of src with more lines opens with a comment on how it works, of HEAD_MIN lines at least, besides the licence.
HEADLESS_MAX = 200
HEAD_MIN = 4
# Split in two, so that this file does not match itself.
UNDONE = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
MACHINE = re.compile(r"(?<![\w.])(/wor" r"k/|/roo" r"t/|/tmp/bas" r"h_jobs|/hom" r"e/\w)")
# clang-format 14 may produce such a line when it breaks a long one.
GLUED = re.compile(r"^ \*[A-Za-z(]", re.MULTILINE)
# Words that the field has better terms for, in comments of src and include: programs, files and threads do not
# speak, and a role has a name. A name of the code (`said`, .says, tells:) is not meant.
VAGUE = re.compile(r"(?<![\w.`&>-])(says?|said|tells?|told|asks|wants|whoever|whom|nobody|somebody|anybody|folders?|anew|mends?|"
                   r"meanwhile|(?:stands?|stood) (?:in|behind|beside|ready)|in front of|for want of|hand(?:s|ed)? (?:over|on)|"
                   r"taken (?:for|back)|other way round|none the \w+)(?![\w`(:=\[-])")
BLANKS = re.compile(r"(?<![ \t])[ \t]+$", re.MULTILINE)
LICENCE = "SPDX-License-Identifier: Apache-2.0"
# Data files and expected outputs are not source text.
EXEMPT = re.compile(r"^tests/(data|real|fuzz/corpus|accuracy/data)/.*\.(txt|md|json)$")
ROOT_FILE = re.compile(r"\.|[A-Z][A-Za-z]+(\.md)?$|(meson|meson_options|pyproject|build|action)\.|\w+\.(c|py|sh|md)$")


def is_shell(path, text):
    first = text.split("\n", 1)[0]
    return path.endswith((".sh", ".bash")) or bool(re.match(r"#!.*\b(ba|da)?sh\b", first))


def lines(path, text):
    rules = [(UNDONE, "says {}: do it, or leave it out"), (MACHINE, "a path of one machine: {}"),
             (BLANKS, "ends in blanks")]
    if path.endswith(CODE):
        rules.append((GLUED, "a blank is missing behind the comment's star"))
    for rule, complaint in rules:
        for m in rule.finditer(text):
            yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: {complaint.format(m[0])}"


# A C lvalue or call: p, o->p, list[i].p, f(x).
NAME = r"[A-Za-z_]\w*(?:->\w+|\.\w+|\[[^\[\]]*\]|\([^()]*\))*"
NULL_TEST = re.compile(rf"(?:\b(?:if|while) \(|&&|\|\|)\s*\*?{NAME} [!=]= NULL\b|[!=]= NULL\s*(?:&&|\|\||\?)")
SIZE_OF_VALUE = re.compile(r"\bsizeof\((?:\*|\w+(?:->|\.)|(?!\w+_t\[)\w+\[)")


TYPE = r"(?:(?:const|unsigned|signed|long|struct|enum|volatile|_Atomic|static) +)*[A-Za-z_]\w*(?: +\**(?:const )?| *\*+ *)"
LOCAL = re.compile(TYPE + r"[A-Za-z_]\w*(?:\[[^\]]*\])*(?:, *\**\w+(?:\[[^\]]*\])*)*;$")
VALUED = re.compile(TYPE + r"[A-Za-z_]\w*(?:\[[^\]]*\])*\s*(?:=|,|:)|static const|typedef|enum |.*\(\*\w+\)\(")
STATEMENT = re.compile(r"(?:return|goto|else|break|continue|case|default|do|if|for|while|switch)\b")


def late_locals(path, text):
    """Checks that locals without a value are declared at the head of their block, by the tabs of a formatted file."""
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", lambda m: "\n" * m[0].count("\n"), c.code(text), flags=re.MULTILINE)
    head, last, until, skipped = {}, ";", None, 0  # head[depth]: only declarations so far; until: skipped
    for number, line in enumerate(text.split("\n"), 1):
        said, depth = line.strip(), len(line) - len(line.lstrip("\t"))
        if not said:
            continue
        goes_on, last = not last.endswith((";", "{", "}", ":")), said
        if until:  # an initialiser, or the members of a type
            until = None if said.endswith(until) and depth <= skipped else until
        elif depth == 0:
            head = {1: True} if said == "{" else {}
        elif not head:  # of a type
            continue
        elif not goes_on and re.match(r"(?:static |const |typedef )*(?:struct|enum|union) ?\w* ?\{$", said):
            until, skipped = ";", depth
        else:
            local = not goes_on and not STATEMENT.match(said) and LOCAL.match(said)
            if local and head.get(depth) is False:
                yield f"{path}:{number}: a local is declared at the head of its block, or with its value"
            if not goes_on and not STATEMENT.match(said) and VALUED.match(said):
                until, skipped = ("};", 99) if said.endswith("{") else (None, 0)
            elif not local and not goes_on:
                head[depth] = False
            if said.endswith("{") and not until:
                head[depth + 1] = True


def form(path, text):
    """Checks one form where C allows two; not in macros, which need their parentheses."""
    text = re.sub(r"^[ \t]*#.*(?:\\\n.*)*$", lambda m: "\n" * m[0].count("\n"), c.code(text), flags=re.MULTILINE)
    for m in NULL_TEST.finditer(text):
        yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: a condition says p or !p, and does not compare with NULL"
    for m in SIZE_OF_VALUE.finditer(text):
        yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: sizeof of a value has no parentheses"


def vague(path, text):
    """Checks the words of comments."""
    for m in re.finditer(r"/\*.*?\*/", text, re.DOTALL):
        for word in VAGUE.finditer(re.sub(r"\s*\n[ \t*]*", " ", m[0])):
            yield f"{path}:{text.count(chr(10), 0, m.start()) + 1}: a comment with '{word[0]}': use the field's term"


def whole(root, path, text):
    source = path.endswith((*CODE, *SCRIPTS)) or path.endswith(("Makefile", ".ci/run"))
    if source and text and LICENCE not in text[:4000]:
        yield f"{path}: has no line '{LICENCE}'"
    if text and not text.endswith("\n"):
        yield f"{path}: its last line has no end"
    if path.endswith((*CODE, ".py")) and text.count("\n") > LINES_MAX:
        yield f"{path}: {text.count(chr(10))} lines: at most {LINES_MAX}, cut it in parts"
    if path.endswith(".py"):
        try:
            compile(text, path, "exec")
        except SyntaxError as e:
            yield f"{path}:{e.lineno}: no Python: {e.msg}"


def head(path, text):
    """Checks that a longer file of src opens with how it works: the algorithm, the invariants, the source."""
    opening = re.match(r"/\*.*?\*/", text, re.DOTALL)
    said = sum(LICENCE not in line for line in opening[0].split("\n")) if opening else 0
    if text.count("\n") > HEADLESS_MAX and said < HEAD_MIN:
        yield f"{path}: {said} lines at its head say how it works: at least {HEAD_MIN}"


# A file is replaced as a whole by dck_replace alone; 'trace' keeps the trace of an earlier run.
RENAMES = re.compile(r"\b(?:renameat2?|rename|mkostemps?|mkstemps?)\(")
MAY_RENAME = ("src/os/file/file.c", "src/os/file/path.c", "src/cli/commands/cmd_trace.c")


def replaced(path, text):
    for m in RENAMES.finditer(c.code(text)) if path not in MAY_RENAME else ():
        yield f"{path}: calls {m[0][:-1]}(): a file is replaced by dck_replace_open() (unstable.h)"


# Start of a static function's definition or declaration.
STATIC = re.compile(r"^static (?:inline )?[^;{}()=]*?\b([a-z_0-9]+)\(", re.MULTILINE)


def same_statics(root):
    """Checks that a static function's name occurs in one file of src, so that stack traces are unambiguous."""
    homes = {}
    for path in c.files(os.path.join(root, "src"), ".c", ".h"):
        for name in set(STATIC.findall(c.code(c.read(root, "src/" + path)))) - {"__attribute__"}:
            homes.setdefault(name, []).append(path)
    for name, paths in sorted(homes.items()):
        if len(paths) > 1:
            yield f"src: {name}() is static in {' and '.join(sorted(paths))}: put the file's word in front"


def shell(root, scripts):
    if not scripts:
        return
    if not shutil.which("shellcheck"):
        print("skipped: shellcheck is not installed")
        return
    # Cases of tests/cli are written as typed by hand: only errors count there.
    for severity, some in (("warning", [p for p in scripts if not p.startswith("tests/cli/")]),
                           ("error", [p for p in scripts if p.startswith("tests/cli/")])):
        if some:
            yield from subprocess.run(["shellcheck", "--shell=bash", "--severity=" + severity,
                                       "--exclude=SC1010", "--format=gcc", *some], cwd=root,
                                      capture_output=True, text=True).stdout.splitlines()


def strays(root):
    """Checks that the root has only files of known kinds; others were left over by a test or by hand."""
    for name in sorted(os.listdir(root)):
        if os.path.isfile(os.path.join(root, name)) and not ROOT_FILE.match(name):
            yield f"{name}: what does it at the root? Remove it"


def check(root=c.ROOT):
    scripts = []
    yield from strays(root)
    yield from same_statics(root)
    for path in c.files(root, *TEXT):
        if EXEMPT.match(path):
            continue
        text = c.read(root, path)
        yield from lines(path, text)
        if path.endswith((".c", ".h")):
            yield from form(path, text)
        if path.endswith(".c") and not path.startswith(("tests/", "bench/")):
            yield from late_locals(path, text)
        if path.startswith("src/") and path.endswith(".c"):
            yield from head(path, text)
            yield from replaced(path, text)
        if path.startswith(("src/", "include/")) and path.endswith((".c", ".h")):
            yield from vague(path, text)
        # A test case is a command without a licence line.
        if not path.startswith("tests/cli/") or path.endswith(".py"):
            yield from whole(root, path, text)
        if is_shell(path, text):
            scripts.append(path)
    yield from shell(root, scripts)


def self_test():
    spdx = "/* " + LICENCE + " */\n"
    cases = [
        ("a stray file", {"a_script_x7Tz": "#!/bin/sh\n"}, "at the root"),
        ("a good file", {"a.c": spdx + "int x;\n", "a.py": "# " + LICENCE + "\nx = 1\n"}, None),
        ("something left", {"a.c": spdx + "/* TO" "DO */\n"}, "says TO" "DO"),
        ("a machine's path", {"a.md": "see /wor" "k/main\n"}, "one machine"),
        ("blanks", {"a.md": "text \n"}, "ends in blanks"),
        ("star", {"a.c": "/* SPDX-License-Identifier: Apache-2.0\n *glued */\n"}, "a blank is missing"),
        ("no licence", {"a.c": "int x;\n"}, "has no line"),
        ("no last newline", {"a.md": "text"}, "has no end"),
        ("a long file", {"a.c": spdx + "int f(void);\n" * LINES_MAX}, "at most"),
        ("a file without a head", {"src/a.c": spdx + "int f(void);\n" * HEADLESS_MAX}, "0 lines at its head"),
        ("a head of three lines", {"src/a.c": "/* a.c - counts.\n *\n * Sorted.\n * " + LICENCE + " */\n"
                                   + "int f(void);\n" * HEADLESS_MAX}, "3 lines at its head"),
        ("a head", {"src/a.c": "/* a.c - counts.\n *\n * Sorted by name,\n * so found by bisection.\n * " + LICENCE + " */\n"
                    + "int f(void);\n" * HEADLESS_MAX}, None),
        ("a short file without one", {"src/a.c": spdx + "int f(void);\n" * (HEADLESS_MAX - 1)}, None),
        ("NULL in a condition", {"a.c": spdx + "int f(int *p) { if (p->x[1] == NULL) return 1; }\n"}, "p or !p"),
        ("NULL as a value", {"a.c": spdx + "int f(int *p) { return p == NULL; }\n"}, None),
        ("sizeof of a value", {"a.c": spdx + "int f(int *p) { return sizeof(*p); }\n"}, "no parentheses"),
        ("sizeof of a type", {"a.c": spdx + "#define N(a) sizeof((a)[0])\nint n = sizeof(int);\n"}, None),
        ("a late local", {"a.c": spdx + "int f(void)\n{\n\tg();\n\tint x;\n\treturn x;\n}\n"}, "at the head"),
        ("locals", {"a.c": spdx + "int f(void)\n{\n\tstatic const int t[] = {\n\t    1,\n\t};\n\tint x;\n\n"
                    "\tg();\n\tint y = 1;\n\treturn x + y;\n}\n"}, None),
        ("one static name twice", {f"src/{n}.c": spdx + "static int f(void)\n{\n\treturn 1;\n}\n" for n in "ab"}, "static in"),
        ("a call of one", {"src/a.c": spdx + "static int f(void)\n{\n\treturn 1;\n}\n", "src/b.c": spdx + "int g(void)\n"
                           "{\n\treturn f();\n}\n"}, None),
        ("another replacement of files", {"src/a.c": spdx + "int f(void) { return rename(a, b); }\n"}, "dck_replace_open"),
        ("the replacement of files", {"src/os/file/file.c": spdx + "int f(void) { return rename(a, b); }\n"}, None),
        ("a vague word", {"src/a.h": spdx + "/* What the file\n * says. */\n"}, "with 'says'"),
        ("a term", {"src/a.h": spdx + "/* `told`: .says of a thread_watch, tells: emits. */\nconst char *says; /* text */\n"}, None),
        ("no Python", {"a.py": "# " + LICENCE + "\nif\n"}, "no Python"),
    ]
    if shutil.which("shellcheck"):
        cases.append(("a bad script", {"a.sh": f"#!/bin/sh\n# {LICENCE}\necho $g\n"},
                      "SC2154"))
    yield from c.misses(check, cases)


if __name__ == "__main__":
    c.run(check, self_test)
