#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Renders the documents as a site with search, by MkDocs and its theme Material: make site

  site.py DIR

The pages are those that GitHub shows, at the same places of a tree in which their links lead to the same files, so no link is rewritten
except those to directories. The order is that of docs/index.md. Two pages are made: the C interface from the comments of the headers, and the
Python interface from the docstrings of the package. A link, heading or file that does not exist is an error. The site needs no network.
"""

import inspect
import logging
import os
import re
import shutil
import sys

import check as c
import links

try:
    from mkdocs.commands.build import build
    from mkdocs.config import load_config
    from mkdocs.exceptions import Abort
except ImportError:
    sys.exit("site: MkDocs is not installed: 'tools/setup.sh build test extras' fetches it (mkdocs-material)")

INDEX, C_PAGE, PYTHON_PAGE = "docs/index.md", "docs/reference/c-api.md", "docs/reference/python-api.md"
NAMED = re.compile(r"\[([^\]]*)\]\(([^)\s#]*\.md)")
COMMENTED = re.compile(r"/\*((?:[^*]|\*(?!/))*)\*/\n((?:(?!/\*|#|\n|\}).*\n)+)")
PAGES = re.compile(r"^(README|CONTRIBUTING|CHANGELOG|SECURITY)\.md$|^(docs|examples)/|^plugins/|^tests/fixtures/README")


# --- the pages that are made

def plain(comment):
    """Returns the text of a C comment."""
    lines = [re.sub(r"^\s*\* ?", "", line) for line in comment.strip().splitlines()]
    return "\n".join(line for line in lines if not line.startswith("SPDX-"))


def escaped(text):
    """Returns text in which Markdown sees no markup; indented lines are code."""
    return "\n".join(line if line.startswith("\t") or line.startswith("    ") else re.sub(r"([\\`*_<>\[\]|#])", r"\\\1", line)
                     for line in text.splitlines())


def declaration(block):
    """Returns (name, code) of the declarations after a comment, or None if none is public."""
    found = re.search(r"\bDCK_API\b[^;{]*?\b(dck_\w+)\s*(?:\(|\[|;)", block) or re.search(r"^(?:typedef )?(?:struct|enum) (dck_\w+) \{", block, re.M)
    if not found:
        found = re.search(r"^#?\s*(?:static inline\b[^\n]*?\b)(dck_\w+)\(", block, re.M)
    return found and found[1]


def c_page():
    text = ["<!-- SPDX-License-Identifier: Apache-2.0 -->\n# The C interface\n\nFrom the comments of the headers; "
            "[C](../c.md) explains their use, [the ABI](abi.md) what stays.\n"]
    for header in c.files(c.ROOT, ".h"):
        if not header.startswith("include/deepclock/") or header.endswith("/unstable.h"):
            continue
        source = c.read(c.ROOT, header)
        head = re.match(r"/\* (\S+) - (.*?)\*/", source, re.S)
        text.append(f"\n## {head[1]}\n\n[The header](../../{header})\n\n{escaped(plain(head[2]))}\n")
        for m in COMMENTED.finditer(source, head.end()):
            block, comment = m[2], plain(m[1])
            name = declaration(block)
            if not name:
                continue
            # A struct goes on after blank lines and comments.
            if re.match(r"typedef (struct|enum)", block):
                block = source[m.start(2):source.index("\n}", m.start(2))] + source[source.index("\n}", m.start(2)):].split(";", 1)[0] + ";\n"
            text.append(f"\n### {name}\n\n```c\n{block.rstrip()}\n```\n\n{escaped(comment)}\n")
        shown = "".join(text)
        rest = [m[0] for m in re.finditer(r"(?m)^[ \t]*DCK_API\b[^;{]*?\b(dck_\w+)\s*(?:\([^;{]*|\[\]);", source) if m[1] not in shown]
        if rest:
            text.append("\n### More of " + head[1] + "\n\n```c\n" + "\n".join(rest) + "\n```\n")
    return "".join(text)


def python_page():
    import deepclock  # the package that was built
    text = ["<!-- SPDX-License-Identifier: Apache-2.0 -->\n# The Python interface\n\nFrom the docstrings of the package; "
            "[Python](../python.md) explains their use.\n"]
    for name in sorted(dir(deepclock), key=str.lower):
        value = getattr(deepclock, name)
        if name.startswith(("_", "load_ipython", "unload_ipython")) or inspect.ismodule(value) or not inspect.getdoc(value):
            continue
        text.append(f"\n## deepclock.{name}\n\n{signature(name, value)}```text\n{inspect.getdoc(value)}\n```\n")
        for member in sorted(vars(value)) if inspect.isclass(value) else ():
            own = getattr(value, member)
            if not member.startswith("_") and (inspect.isroutine(own) or inspect.isdatadescriptor(own)) and inspect.getdoc(own):
                text.append(f"\n### {name}.{member}\n\n{signature(member, own)}```text\n{inspect.getdoc(own)}\n```\n")
    return "".join(text)


def signature(name, value):
    try:
        return f"```python\n{name}{inspect.signature(value)}\n```\n\n"
    except (TypeError, ValueError):
        return ""


# --- the tree

def put(to, text):
    os.makedirs(os.path.dirname(to), exist_ok=True)
    with open(to, "w", encoding="utf-8") as f:
        f.write(text)


def listing(folder):
    names = sorted(n for n in os.listdir(os.path.join(c.ROOT, folder)) if not c.SKIPPED.match(n))
    return f"# {folder}\n\n" + "".join(f"- [{n}]({n})\n" for n in names if os.path.isfile(os.path.join(c.ROOT, folder, n)))


def tree(to):
    """Copies the pages, and all that they link to."""
    for page in c.files(c.ROOT, ".md"):
        if PAGES.match(page):
            put(os.path.join(to, page), c.read(c.ROOT, page))
    for page, text in ((C_PAGE, c_page()), (PYTHON_PAGE, python_page())):
        put(os.path.join(to, page), text)
    todo = c.files(to, ".md")
    while todo:
        page = todo.pop()
        text = c.read(to, page)
        for target, _ in links.targets(page, text):
            here, there = os.path.join(c.ROOT, target), os.path.join(to, target)
            if os.path.isdir(here):
                index = os.path.join(target, "README.md")
                relative = os.path.relpath(target, os.path.dirname(page))
                text = re.sub(r"\]\(" + re.escape(relative) + r"/?\)", f"]({relative}/README.md)", text)
                if not os.path.exists(os.path.join(to, index)):
                    put(os.path.join(to, index), listing(target))
                    todo.append(index)
            elif not os.path.exists(there):
                os.makedirs(os.path.dirname(there), exist_ok=True)
                shutil.copy(here, there)
        put(os.path.join(to, page), text)


def navigation():
    """Returns the pages in the order of the index, by its headings."""
    text = links.CODE.sub("", c.read(c.ROOT, INDEX))
    found = [{"deepclock": "README.md"}, {"The book": INDEX}]
    for part in re.split(r"(?m)^## ", text)[1:]:
        title = part.split("\n", 1)[0]
        pages = {}
        for name, path in NAMED.findall(part):
            target = os.path.normpath(os.path.join(os.path.dirname(INDEX), path))
            if PAGES.match(target) and target not in ("README.md", INDEX):
                pages.setdefault(target, name)
        if pages:
            found.append({re.sub(r"^\d+\. ", "", title): [{name: page} for page, name in pages.items()]})
    next(iter(found[-1].values())).extend([{"The C interface": C_PAGE}, {"The Python interface": PYTHON_PAGE}])
    return found


def slug(heading, _separator):
    return links.anchor(heading)


def render(to):
    source = to + ".src"
    shutil.rmtree(source, ignore_errors=True)
    tree(source)
    extensions = ["tables", "toc", "attr_list", "pymdownx.superfences", "pymdownx.highlight"]
    put(to + ".yml", "site_name: deepclock\n")
    config = load_config(
        to + ".yml", docs_dir=os.path.abspath(source), site_dir=os.path.abspath(to), use_directory_urls=False, strict=True,
        nav=navigation(), plugins=["search"], markdown_extensions=extensions,
        theme={"name": "material", "font": False, "features": ["navigation.indexes", "navigation.top", "search.highlight", "search.suggest"],
               "palette": [{"media": "(prefers-color-scheme: light)", "scheme": "default", "primary": "indigo"},
                           {"media": "(prefers-color-scheme: dark)", "scheme": "slate", "primary": "indigo"}]},
        validation={"nav": {"omitted_files": "info", "not_found": "warn"},
                    "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn", "unrecognized_links": "warn"}})
    config.mdx_configs["toc"] = {"slugify": slug, "permalink": True}
    build(config)


def main(to):
    logging.basicConfig(format="%(message)s", level=logging.WARNING)
    try:
        render(to)
    except Abort:
        return 1
    print(f"site: {to}/index.html")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1].rstrip("/")))
