#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link of a Markdown page leads to an existing file and heading, and every file of the tree
that a page names exists. The index links to every document, pages stay within their sizes, and prose
has the field's words."""

import fnmatch
import os
import re

import check

LINK = re.compile(r"\]\(([^)\s#:]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"(?m)^    .*$|^```[^`]*^```|`[^`\n]*`")
INDEX = "docs/index.md"
# Definitions and formulas only; for each version, what a user can do.
WORDS_MAX = {"docs/reference/methods.md": 2999}
VERSION_LINES_MAX = {"CHANGELOG.md": 40}
# `src/stat/`, `tools/links.py`, `src/report/NAME.c`; in pages about the tree also `links.py` and `cli/show.c`.
NAMED = re.compile(r"`((?:src|tests|tools|include|docs|bench|examples|python|plugins)/[\w./*-]*[/.][\w*]*)`")
SHORT = re.compile(r"`([\w./*-]+\.(?:c|h|def|py|js|mjs))`")
ABOUT_TREE = re.compile(r"^src/|CONTRIBUTING|SECURITY|architecture")
PLACEHOLDER = re.compile(r"[A-Z]{2,}")
# Words of no standard meaning here: directory, another process, after, stored, reported, automatically.
PRIVATE = re.compile(r"\b(folders?|who(?:ever|m)|(?:no|some|any)body|mend(?:ed|s)?|anew|meanwhile|told|tells?|stands?|"
                     r"by (?:itself|themselves)|in front of|behind|neighbours?|dearer|another one|so (?:much|long))\b")
PROSE = re.compile(r"docs/|README\.md$|CONTRIBUTING\.md$")


def anchor(heading):
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(text):
    """Returns GitHub's anchors of the headings of a page."""
    return {anchor(h) for h in re.findall(r"(?m)^#+ (.*)$", text)}


def targets(page, text):
    """Returns (path from the root, heading) of each link of a page."""
    for path, anchor in LINK.findall(CODE.sub("", text)):
        yield os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page, anchor


def tree(root):
    """Returns all files and directories, directories with a trailing slash."""
    found = set()
    for path in check.files(root, ""):
        found.add(path)
        while path := os.path.dirname(path):
            found.add(path + "/")
    return found


def missing(page, text, paths):
    full = set(NAMED.findall(text))
    short = set(SHORT.findall(text)) - full if ABOUT_TREE.search(page) else set()
    for name in sorted(full | short):
        pattern = PLACEHOLDER.sub("*", name)
        if not fnmatch.filter(paths, pattern) and not (name in short and fnmatch.filter(paths, "*/" + pattern)):
            yield f"{page}: names {name}, which does not exist"


def words(page, text):
    if PROSE.match(page):
        for word in sorted(set(PRIVATE.findall(CODE.sub("", text)))):
            yield f"{page}: has the word '{word}'; the field has another"


def sizes(page, text):
    words, most = len(text.split()), WORDS_MAX.get(page)
    if most and words > most:
        yield f"{page}: has {words} words, more than {most}"
    for version in re.split(r"(?m)^## ", text)[1:] if page in VERSION_LINES_MAX else ():
        lines = version.splitlines()
        if len(lines) > VERSION_LINES_MAX[page]:
            yield f"{page}: version {lines[0]} has {len(lines)} lines, more than {VERSION_LINES_MAX[page]}"


def violations(root):
    pages, paths = check.files(root, ".md"), tree(root)
    linked = set()
    for page in pages:
        text = check.read(root, page)
        yield from sizes(page, text)
        yield from missing(page, text, paths)
        yield from words(page, text)
        for target, anchor in targets(page, text):
            if page == INDEX:
                linked.add(target)
            if not os.path.exists(os.path.join(root, target)):
                yield f"{page}: the link to {target} leads nowhere"
            elif anchor and anchor not in anchors(check.read(root, target)):
                yield f"{page}: {target} has no heading '{anchor}'"
    for page in sorted(p for p in pages if p.startswith("docs/") and p != INDEX):
        if page not in linked:
            yield f"{INDEX}: does not link to {page}"


CASES = (
    ("a file that is there", {"a.md": "[b](d/b.md#two-words)", "d/b.md": "# Two words\n[a](../a.md)"},
     None),
    ("a file that is not", {"d/a.md": "[b](a/b.md)"}, "d/a.md: the link to d/a/b.md leads nowhere"),
    ("a heading that is not", {"a.md": "# One\n[b](#two)"}, "a.md: a.md has no heading 'two'"),
    ("an index of all pages", {INDEX: "[a](d/a.md#one)", "docs/d/a.md": "# One"}, None),
    ("a page that the index lacks", {INDEX: "`[a](d/a.md)`", "docs/d/a.md": ""},
     "docs/index.md: does not link to docs/d/a.md"),
    ("a page that is too long", {"docs/reference/methods.md": 3000 * "a ", INDEX: "[m](reference/methods.md)"},
     "has 3000 words"),
    ("a version that is too long", {"CHANGELOG.md": "# A\n## 2\nb\n## 1\n" + 40 * "a\n"},
     "version 1 has 41 lines"),
    ("files that are named", {"a.md": "`tools/b.py` `tools/` `tools/N*.py` `c.py`", "tools/b.py": "", "tools/Na.py": ""},
     None),
    ("a file that is named and gone", {"a.md": "`tools/b.py` `tools/c.py`", "tools/b.py": ""},
     "a.md: names tools/c.py, which does not exist"),
    ("a short name that is gone", {"CONTRIBUTING.md": "`b.py` `NAME.py` `x/c.py`", "tools/b.py": ""},
     "CONTRIBUTING.md: names x/c.py"),
    ("words of code and of other files", {"README.md": "`folder`\n\n    folder\n", "a.md": "A folder."}, None),
    ("a private word", {"README.md": "It is kept in a folder."}, "README.md: has the word 'folder'"),
    ("code and other sites", {"a.md": "`x[i](j)`\n\n    f[0](1)\n\n[s](https://a.b/c.md#d)"}, None),
)

if __name__ == "__main__":
    check.run(lambda root=check.ROOT: violations(root), lambda: check.misses(violations, CASES))
