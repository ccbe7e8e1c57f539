#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command on a terminal of 80 columns and draws what it printed as an SVG picture.

  terminal_svg.py OUT.svg 'TITLE' -- build/deepclock bench zoo:resnet18

The picture is real output: colours, order and width are those of a terminal. TITLE follows the prompt,
as the command that a reader would type. Standard library only; text remains text in the SVG.
"""

import html
import os
import pty
import re
import subprocess
import sys

COLUMNS, FONT, WIDTH, HEIGHT, PAD = 80, 14, 8.43, 19, 14
INK = {"31": "#e5534b", "32": "#57ab5a", "33": "#c69026", "34": "#539bf5", "35": "#b083f0", "36": "#39c5cf"}


def terminal(words):
    """Returns the final screen of the command: a redrawn line counts once."""
    master, slave = pty.openpty()
    env = dict(os.environ, TERM="xterm-256color", COLUMNS=str(COLUMNS), LC_ALL="C.UTF-8")
    env.pop("NO_COLOR", None)
    with subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, env=env) as p:
        os.close(slave)
        data = b""
        while True:
            try:
                piece = os.read(master, 65536)
            except OSError:  # Linux: the last writer has closed it
                break
            if not piece:
                break
            data += piece
        p.wait()
    os.close(master)
    lines = data.decode("utf-8", "replace").replace("\r\n", "\n").split("\n")
    return [re.split(r"\r|\x1b\[2?K", line)[-1] for line in lines]


def spans(line):
    """Splits the line into (style, text)."""
    style = ""
    for i, piece in enumerate(re.split(r"\x1b\[([0-9;]*)m", line)):
        if i % 2 == 0:
            if piece:
                yield style, piece
            continue
        for code in piece.split(";"):
            if code in ("", "0"):
                style = ""
            elif code == "1":
                style += "font-weight:bold;"
            elif code == "2":
                style += "opacity:.65;"
            elif code in INK:
                style += f"fill:{INK[code]};"


def main():
    at = sys.argv.index("--")
    out, title = sys.argv[1:at]
    lines = terminal(sys.argv[at + 1:])
    while lines and not lines[-1].strip():
        lines.pop()
    lines = [f"\x1b[32m$\x1b[0m \x1b[1m{title}\x1b[0m"] + lines
    w, h = COLUMNS * WIDTH + 2 * PAD, len(lines) * HEIGHT + 2 * PAD
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w:.0f} {h}" width="{w:.0f}" height="{h}" '
           f'role="img"><title>{html.escape(title)}</title>',
           '<rect width="100%" height="100%" rx="8" fill="#22272e"/>',
           f'<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" '
           f'font-size="{FONT}" fill="#cdd9e5">']
    for row, line in enumerate(lines):
        y = PAD + row * HEIGHT + FONT
        column = 0
        for style, text in spans(line):
            x = PAD + column * WIDTH
            # textLength keeps columns aligned with any font width, and browsers join adjacent spaces that may break.
            svg.append(f'<text x="{x:.1f}" y="{y}" textLength="{len(text) * WIDTH:.1f}" style="{style}">'
                       + html.escape(text.replace(" ", "\N{NO-BREAK SPACE}")) + "</text>")
            column += len(text)
    svg.append("</g></svg>")
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(svg) + "\n")


if __name__ == "__main__":
    main()
