# SPDX-License-Identifier: Apache-2.0
"""Call paths: the flame graph has the marks and widths of the record's weights, also after each interaction; and
the results of the scripts equal those of `report`."""

import json
import os
import shutil
import subprocess
import unittest

import browser

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = """
import json, random
def inner(n): return sum(random.random() for _ in range(n))
def deep(n): return inner(2000) if n == 0 else deep(n - 1) + inner(100)
def outer():
    for _ in range(600): deep(12); json.loads(json.dumps(list(range(3000))))
outer()
"""


def totals_of(tree, column):
    """Returns the total weight of each path: {('main', 'f'): 12.5}; adjacent frames of the import system are merged."""
    paths, totals = [], {}
    importlib = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
    for node in tree["nodes"]:
        f = tree["frames"][node[1]]
        name = json.dumps([f["name"], f.get("file"), f.get("module"), f.get("start_line", 0)])
        path = paths[node[0]] if node[0] >= 0 else ()
        if f.get("file") not in importlib or not path or json.loads(path[-1])[1] not in importlib:
            path += (name,)
        paths.append(path)
        for n in range(len(path)):
            totals[path[:n + 1]] = totals.get(path[:n + 1], 0) + node[2 + column]
    return totals


def sampled(run, name):
    with open("work.py", "w", encoding="utf-8") as f:
        f.write(WORK)
    run("sample", "--quiet", "--no-history", "--save", name + ".json", "--html", name + "-made.html", "--sources", "--", "/usr/bin/python3", "work.py")
    with open(name + ".json", encoding="utf-8") as f:
        return json.load(f)


MARKS = """return [...document.querySelectorAll('#calls .mark')].map(g => { const r = g.querySelector('rect'), m = d3.select(g).datum();
    return { node: m.node, level: m.level, share: m.to - m.from, x: Number(r.getAttribute('x')), y: Number(r.getAttribute('y')),
             width: Number(r.getAttribute('width')), label: g.getAttribute('aria-label') }; })"""


def case_calls(run):
    record = sampled(run, "s")
    run("report", "s.json", "-o", "s.html")
    with browser.Page("s.html") as page:
        tree = record["trees"][0]
        keys = [c["key"] for c in tree["columns"]]

        def check(column):
            totals, marks = totals_of(tree, column), page.js(MARKS)
            whole = sum(t for path, t in totals.items() if len(path) == 1)
            width = marks[0]["width"]
            wanted = sorted(t / whole for path, t in totals.items() if t / whole * width >= 0.5 and len(path) <= 25)
            shown = sorted(m["share"] for m in marks[1:])
            assert len(wanted) == len(shown), (len(wanted), len(shown))
            assert all(abs(a - b) < 1e-9 for a, b in zip(wanted, shown))
            assert all(abs(m["width"] - m["share"] * width) < 1e-6 for m in marks)
            return marks

        marks = check(keys.index("time"))
        page.js("const s = document.querySelector('#calls .controls select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", keys.index("samples"))
        assert "samples" in page.js("return document.querySelector('#calls svg').getAttribute('aria-label')")
        check(keys.index("samples"))
        page.js("const s = document.querySelector('#calls .controls select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", keys.index("time"))
        # A flame graph is the same chart upside down.
        page.js("document.querySelector('[data-form=flame]').click()")
        flame = page.js(MARKS)
        assert [m["share"] for m in flame] == [m["share"] for m in marks]
        assert flame[0]["y"] == max(m["y"] for m in flame) and marks[0]["y"] == 0
        page.js("document.querySelector('[data-form=sunburst]').click()")
        assert page.js("return document.querySelectorAll('#calls .mark path').length") > 3
        page.js("document.querySelector('[data-form=icicle]').click()")
        # Keys: to the heaviest child, zoom into it, and out again.
        first = max((m for m in marks if m["level"] == 1), key=lambda m: m["share"])
        send = "document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: arguments[0], bubbles: true, cancelable: true }))"
        page.js("document.querySelector('#calls .mark').focus()")
        page.js(send, "ArrowDown")
        assert page.js("return d3.select(document.activeElement).datum().node") == first["node"]
        page.js(send, "Enter")
        zoomed = page.js(MARKS)
        assert zoomed[0]["node"] == first["node"] and zoomed[0]["share"] == 1
        assert page.js("return document.querySelectorAll('#calls .crumbs button').length") == 2
        assert page.js("return document.activeElement.classList.contains('mark')")
        assert len(page.js("return [...document.querySelectorAll('#calls .around td')].map(e => e.textContent)")) > 0
        page.js(send, "Escape")
        assert page.js(MARKS) == marks
        # Search: the share of the matches, and their names.
        word = "deep"
        page.js("const i = document.querySelector('#calls .controls input'); i.value = arguments[0]; i.dispatchEvent(new Event('input'))", word)
        column, outer = keys.index("time"), 0
        totals = totals_of(tree, column)
        for path, t in totals.items():
            if any(word in part.lower() for part in path[-1:]) and not any(word in part.lower() for part in path[:-1]):
                outer += t
        share = 100 * outer / sum(t for path, t in totals.items() if len(path) == 1)
        said = page.js("return document.querySelector('#calls .controls [role=status]').textContent")
        assert f"{share:.1f} %" in said, (share, said)
        found = page.js("return [...document.querySelectorAll('#calls .mark.found')].map(g => g.getAttribute('aria-label'))")
        assert found and all(word in label.lower() for label in found), found[:3]
        # Callers: the outermost level has functions with their self weight.
        page.js("document.querySelector('#calls [data-flag=upside]').click()")
        own = {}
        for node in tree["nodes"]:
            f = tree["frames"][node[1]]
            key = json.dumps([f["name"], f.get("file"), f.get("module"), f.get("start_line", 0)])
            own[key] = own.get(key, 0) + node[2 + column]
        heaviest = max(own.values()) / sum(own.values())
        marks = page.js(MARKS)
        assert abs(max(m["share"] for m in marks if m["level"] == 1) - heaviest) < 1e-9
        # The table sorted by another column; a row's callers.
        page.js("document.querySelector('#calls th[data-key=ncalls] button').click()")
        assert page.js("return document.querySelector('#calls th[data-key=ncalls]').getAttribute('aria-sort')") == "descending"


def stretched(record, name, words):
    """Copies the tree: functions that match one word are three times as heavy, those that match another are removed."""
    other = json.loads(json.dumps(record))
    for t in other["trees"]:
        for node in t["nodes"]:
            f = t["frames"][node[1]]["name"]
            node[2:] = [v * (3 if words[0] in f else 0 if words[1] in f else 1) for v in node[2:]]
    with open(name, "w", encoding="utf-8") as f:
        json.dump(other, f)


def plain(v):
    """Returns a cell's value, without its interval."""
    v = v["value"] if isinstance(v, dict) and "value" in v else v
    return float(v) if isinstance(v, (int, float)) else v


def case_calls_of_two(run):
    """A difference: the tables of `report --diff`, and a chart whose width is the larger of both totals."""
    record = sampled(run, "a")
    stretched(record, "b.json", ("inner", "iterencode"))
    if shutil.which("node"):
        for words in [], ["--normalise"]:
            ours = json.loads(subprocess.run(["node", os.path.join(HERE, "calls_json.mjs"), "--diff", "a.json", "b.json", *(["normalise"] if words else [])],
                                             capture_output=True, check=True).stdout)
            theirs = json.loads(run("report", "--diff", "a.json", "b.json", "--top", "1000000", "--format", "json", *words))
            for t in theirs["tables"]:
                kept = [i for i, c in enumerate(t["columns"]) if c["key"] not in ("beyond_noise", "file")]
                rows = [[plain(row[i]) for i in kept] for row in t["rows"]]
                mine = [[plain(v) for v in row] for row in ours[t["name"]]]
                assert rows == mine and rows, (t["name"], [p for p in zip(rows, mine) if p[0] != p[1]][:2], len(rows), len(mine))
    theirs = json.loads(run("report", "--diff", "a.json", "b.json", "--format", "json"))
    run("report", "a.json", "b.json", "-o", "two.html")
    with browser.Page("two.html") as page:
        tree, wide = theirs["trees"][0], {}
        paths = []
        for node in tree["nodes"]:
            path = (paths[node[0]] if node[0] >= 0 else ()) + (node[1],)
            paths.append(path)
            for n in range(len(path) + 1):
                wide[path[:n]] = wide.get(path[:n], 0) + max(node[2:4])
        marks = page.js(MARKS.replace("#calls", "#diff"))
        width = marks[0]["width"]
        wanted = sorted(v / wide[()] for path, v in wide.items() if v / wide[()] * width >= 0.5 and len(path) <= 25)
        assert len(wanted) == len(marks), (len(wanted), len(marks))
        assert all(abs(x - y) < 1e-9 for x, y in zip(wanted, sorted(m["share"] for m in marks)))
        # Colour and sign agree.
        for g in page.js("return [...document.querySelectorAll('#diff .mark')].map(g => [g.getAttribute('class'), g.getAttribute('aria-label')])"):
            assert ("grew" in g[0]) <= (", change +" in g[1]) and ("shrank" in g[0]) <= (", change −" in g[1]), g
        first = page.js("return [...document.querySelectorAll('#diff tbody tr:first-child td')].map(e => e.textContent)")
        assert first[0] == theirs["tables"][0]["rows"][0][0], first
    # `report --diff` itself writes such a page too.
    run("report", "--diff", "a.json", "b.json", "-o", "d.html")
    with browser.Page("d.html", width=390) as page:
        assert page.js("return document.querySelectorAll('#calldiff .mark').length") > 5
        assert page.js("return document.documentElement.scrollWidth") <= 390


def case_sources(run):
    """Source lines are in a page if requested, and only from files that call paths name."""
    sampled(run, "s")
    with open("s.json", encoding="utf-8") as f:
        record = json.load(f)
    os.mkfifo("pipe")
    for file in "pipe", "absent.c", "/dev/zero", ".":
        record["trees"][0]["frames"].append({"name": "x", "file": file, "line": 1})
    with open("s.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "s.json", "-o", "plain.html")
    with open("s-made.html", encoding="utf-8") as f:
        assert '<script id="deepclock-sources"' in f.read()
    run("report", "s.json", "--sources", "-o", "s.html")
    run("view", "s.json", "--sources", "-o", "viewed.html", "--no-browser")
    with open("s.html", "rb") as f, open("viewed.html", "rb") as g:
        assert f.read() == g.read()
    with open("plain.html", encoding="utf-8") as f:
        assert '<script id="deepclock-sources"' not in f.read()
    with browser.Page("s.html") as page:
        texts = page.wait("const t = [...document.querySelectorAll('#calls td.mono')].map(e => [e.previousSibling.textContent, e.textContent]); return t.length ? t : null")
        own = [text for place, text in texts if place.split(":")[0].endswith("work.py")]
        assert own and all(text in WORK for text in own), texts[:5]
        assert page.js("return [...document.querySelectorAll('#calls td')].some(e => /heat[1-5]/.test(e.className))")


def case_calls_as_the_program(run):
    """Functions, callers and callees equal those of the program to the last bit."""
    if not shutil.which("node"):
        raise unittest.SkipTest("node is not installed")
    record = sampled(run, "s")
    heaviest = run("report", "s.json", "--by", "function", "--top", "1", "--sort", "total", "--format", "json")
    name = json.loads(heaviest)["tables"][0]["rows"][0][0]
    name = "deep" if any(f["name"] == "deep" for f in record["trees"][0]["frames"]) else name
    said = json.loads(subprocess.run(["node", os.path.join(HERE, "calls_json.mjs"), "s.json", name], capture_output=True, check=True).stdout)
    for table, words in ("functions", ["--by", "function"]), ("callers", ["--callers", name]), ("callees", ["--callees", name]):
        t = json.loads(run("report", "s.json", *words, "--top", "1000000", "--format", "json"))["tables"][0]
        at = {c["key"]: i for i, c in enumerate(t["columns"])}
        theirs = sorted((str(r[at["name"]]), float(r[at["self"]]), float(r[at["total"]])) for r in t["rows"])
        ours = sorted((r["name"], float(r["self"]), float(r["total"])) for r in said[table] if r["self"] or r["total"])
        assert theirs == ours and ours, (table, [p for p in zip(theirs, ours) if p[0] != p[1]][:3])
