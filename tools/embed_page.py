#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Generates the C source of the HTML report page: its frame, style, scripts and D3, split where data are inserted.

  embed_page.py PAGE-DIR D3 OUT.c        D3: the file d3.min.js, or '' without it
  embed_page.py --script PAGE-DIR        the joined script alone, to stdout

The script's modules are concatenated in topological order of their imports, as one function. Their import
lines and the word 'export' are left out, so top-level names must be unique in all modules.
The page's Content-Security-Policy has the hashes of the embedded scripts; no other script runs.
"""

import base64
import hashlib
import os
import re
import sys

IMPORT = re.compile(r'^import\s+\{[^}]*\}\s+from\s+"(\.\.?/(?:views/)?[a-z0-9_]+\.js)";\n', re.M)
TOP = re.compile(r"^(?:export )?(?:async )?(?:function|const|let|class) ([A-Za-z_$][\w$]*)", re.M)
CUT = {"title": "@title@", "text": "@text@", "data": "@data@"}


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as f:
        return f.read()


def joined(folder, first="page.js"):
    """Returns `first` and the modules that it imports, in order, as one script."""
    order, open_, names = [], [], {}

    def add(name):
        if name in open_:
            sys.exit(f"embed_page: {' -> '.join(open_ + [name])}: modules import each other in a circle")
        if name in order:
            return
        open_.append(name)
        text = read(folder, name)
        for other in IMPORT.findall(text):
            add(os.path.normpath(os.path.join(os.path.dirname(name), other)))
        open_.pop()
        order.append(name)
        for top in TOP.findall(text):
            if top in names:
                sys.exit(f"embed_page: {name} and {names[top]} both have '{top}' at their top")
            names[top] = name

    add(first)
    text = "".join(re.sub(r"^export ", "", IMPORT.sub("", read(folder, name)), flags=re.M) for name in order)
    rest = re.search(r"^(import|export)\b.*", text, re.M)
    if rest:
        sys.exit(f"embed_page: cannot join '{rest[0]}': write imports as import {{ a, b }} from \"./file.js\";")
    return '"use strict";\n(() => {\n' + text + "})();\n"


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def page(folder, d3):
    script, style = joined(folder), read(folder, "page.css")
    for name, text in ("the script", script), ("D3", d3):
        if "</script" in text:
            sys.exit(f"embed_page: {name} has '</script' in it, which would end it")
    policy = ("default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
              f"script-src {digest(d3)} {digest(script)}; style-src {digest(style)}")
    text = read(folder, "page.html")
    for name, what in ("policy", policy), ("style", style), ("d3", d3), ("script", script):
        text = text.replace(f"@{name}@", what)
    return text


def parts(text):
    for name, mark in CUT.items():
        if text.count(mark) != 1:
            sys.exit(f"embed_page: page.html must have {mark} once")
    return re.split("|".join(CUT.values()), text)


def array(name, text):
    data = text.encode()
    lines = (",".join(str(b) for b in data[i:i + 32]) for i in range(0, len(data), 32))
    return (f"static const unsigned char {name}[] = {{\n" + ",\n".join(lines) + "};\n")


def main():
    if sys.argv[1:2] == ["--script"]:
        sys.stdout.write(joined(sys.argv[2]))
        return
    folder, d3, out = sys.argv[1:]
    pieces = parts(page(folder, read(d3))) if d3 else []
    c = ["/* Made by tools/embed_page.py. */\n#include \"report/html/html_page.h\"\n"]
    c += [array(f"part_{i}", p) for i, p in enumerate(pieces)]
    c.append("const html_part html_parts[HTML_PARTS] = {\n" +
             "".join(f"\t{{part_{i}, sizeof part_{i}}},\n" for i in range(len(pieces))) +
             ("\t{0},\n" if not pieces else "") + "};\n")
    with open(out, "w", encoding="utf-8") as f:
        f.write("".join(c))


main()
