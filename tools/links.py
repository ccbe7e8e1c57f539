#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link of a Markdown page leads to a file that is there, and to a heading in it."""

import os
import re

import check

LINK = re.compile(r"\]\(([^)\s#:]*)(?:#([^)\s]*))?\)")
CODE = re.compile(r"(?m)^    .*$|^```[^`]*^```|`[^`\n]*`")


def anchors(text):
    """The names that GitHub gives the headings of a page."""
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-")
            for h in re.findall(r"(?m)^#+ (.*)$", text)}


def violations(root):
    for page in check.files(root, ".md"):
        text = check.read(root, page)
        for path, anchor in LINK.findall(CODE.sub("", text)):
            target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(os.path.join(root, target)):
                yield f"{page}: the link to {path} leads nowhere"
            elif anchor and anchor not in anchors(check.read(root, target)):
                yield f"{page}: {target} has no heading '{anchor}'"


CASES = (
    ("a file that is there", {"a.md": "[b](d/b.md#two-words)", "d/b.md": "# Two words\n[a](../a.md)"},
     None),
    ("a file that is not", {"d/a.md": "[b](a/b.md)"}, "d/a.md: the link to a/b.md leads nowhere"),
    ("a heading that is not", {"a.md": "# One\n[b](#two)"}, "a.md: a.md has no heading 'two'"),
    ("code and other sites", {"a.md": "`x[i](j)`\n\n    f[0](1)\n\n[s](https://a.b/c.md#d)"}, None),
)

if __name__ == "__main__":
    check.run(lambda root=check.ROOT: violations(root), lambda: check.misses(violations, CASES))
