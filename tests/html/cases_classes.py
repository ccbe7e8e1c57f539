# SPDX-License-Identifier: Apache-2.0
"""Predictions against labels, and the limits of a machine, on the page."""

import json
import os
import random

import browser

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")


def case_classes(run):
    rng = random.Random(3)
    labels = [rng.randrange(5) for _ in range(400)]
    guesses = [t if rng.random() < 0.5 + 0.1 * t else rng.randrange(5) for t in labels]
    for name, values in ("y.csv", labels), ("p.csv", guesses):
        with open(name, "w", encoding="utf-8") as f:
            f.write("\n".join(map(str, values)) + "\n")
    run("accuracy", "--labels", "y.csv", "--predictions", "p.csv", "--target-names", "ant,bee,cat,dog,<b>eel</b>", "--quiet", "--no-history",
        "--save", "a.json", "--html", "a.html")
    names = ["ant", "bee", "cat", "dog", "<b>eel</b>"]
    with browser.Page("a.html") as page:
        cells = page.js("""return [...document.querySelectorAll('.confusion tbody tr')].map(tr =>
            [tr.querySelector('th').textContent, [...tr.querySelectorAll('td.heat')].map(td => [+td.textContent, +td.style.getPropertyValue('--share'), td.classList.contains('same')])])""")
        assert [c[0] for c in cells] == names, cells
        for t, (_, row) in enumerate(cells):
            assert [c[0] for c in row] == [sum(a == t and b == p for a, b in zip(labels, guesses)) for p in range(5)], (t, row)
            assert [c[2] for c in row] == [p == t for p in range(5)]
            assert row[0][1] <= max(c[1] for c in row) and abs(sum(c[1] for c in row) - 0.65) < 1e-9, row
        for key in "recall", "precision":
            page.find(f"#classes .choice button[data-key='{key}']")[0].click()
            bars = page.js("""return [...document.querySelectorAll('#classes .bar-row')].map(e => [d3.select(e).datum().name, d3.select(e).datum().parts[0][1],
                +e.querySelector('.part').getAttribute('width')])""")
            for name, value, _ in bars:
                k = names.index(name)
                of = sum(v == k for v in (labels if key == "recall" else guesses))
                assert abs(value - sum(a == b == k for a, b in zip(labels, guesses)) / of) < 1e-12, (key, name, value)
            assert [b[1] for b in bars] == sorted(b[1] for b in bars) and all(abs(b[2] / b[1] - bars[0][2] / bars[0][1]) < 0.01 for b in bars)
        assert page.js("return document.documentElement.scrollWidth") <= 1280


def case_limits(run):
    with open(os.path.join(DATA, "record_machine.json"), encoding="utf-8") as f:
        metrics = {m["tag"]: m for m in json.load(f)["metrics"]}
    run("report", os.path.join(DATA, "record_machine.json"), "-o", "m.html")
    with browser.Page("m.html") as page:
        for threads in "1", "all":
            page.find(f"#limits .choice button[data-key='{threads}']")[0].click()
            rows = page.js("return [...document.querySelectorAll('#limits g.row, #limits .row')].map(e => { const d = d3.select(e).datum(); return [d.lines[0], d.value, d.text]; })")
            assert rows
            for line, value, text in rows:
                m = metrics[line.split(": ")[1]]
                assert line.endswith("/" + threads) and value == m["value"], (line, value, m)
                assert ("OP/s" in text) == ("peak" in m["tag"]) and ("FLOP/s" in text) == ("peak/fp" in m["tag"] or "peak/bf" in m["tag"]), (line, text)
