# SPDX-License-Identifier: Apache-2.0
"""The page itself: its first screen, sorting, sizes, and that texts of a record are never markup or script."""

import json

import browser


def case_bench(run):
    record, path = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "300", "--warmup", "5")
    latency = next(s for s in record["series"] if s["tag"] == "latency")
    median = next(m for m in record["metrics"] if m["tag"] == "latency/median")
    with browser.Page(path) as page:
        bins = page.js("return [...document.querySelectorAll('#runs .bin')].map(e => d3.select(e).datum())")
        inside = [v for v in latency["values"][latency["warmup"]:] if bins[0]["from"] <= v <= bins[-1]["to"]]
        assert sum(b["n"] for b in bins) == len(inside), (sum(b["n"] for b in bins), len(inside))
        page.js("window.scrollTo(0, 0)")
        said = page.js("return document.querySelector('.answer .value').textContent")
        assert said.startswith("median"), said
        assert str(median["value"])[:1] in said, (said, median)
        # Sorted by a click: descending first, then ascending.
        heads = page.find("#facts th button")
        heads[1].click()
        assert page.js("return document.querySelector('#facts th[data-key=value]').getAttribute('aria-sort')") == "descending"


def case_hostile_texts(run):
    """Whatever a name contains, it is shown as text."""
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    evil = "</script><img src=x onerror=\"document.title='owned'\"><!--<script>"
    for f in record["facts"]:
        if isinstance(f.get("value"), str):
            f["value"] = evil
    record["command"] = evil
    record["notes"].append({"severity": "warning", "code": "x", "text": evil})
    record["ops"] = [{"name": evil, "type": evil, "scope": evil, "outputs": [], "macs": 1, "flops": 2, "params": 3,
                      "weight_bytes": 4, "read_bytes": 5, "write_bytes": 6}]
    record["tables"] = [{"name": "x/y", "title": evil, "columns": [{"key": "a", "title": evil}, {"key": "b", "title": evil, "unit": "ns"}],
                         "rows": [[evil, 1.5]]}]
    record["trees"] = [{"name": "modules", "title": evil, "columns": [{"key": "time", "title": evil, "unit": "ns"}],
                        "frames": [{"name": evil, "file": evil}], "nodes": [[-1, 0, 7]]}]
    with open("evil.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "evil.json", "-o", "evil.html")
    with browser.Page("evil.html") as page:
        assert page.js("return document.images.length") == 0
        assert page.js("return document.title") != "owned"
        assert page.js("return document.body.textContent.includes(arguments[0])", evil)


def case_endless_texts(run):
    """Texts without a line-break opportunity, and an almost empty record, are not wider than a phone."""
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    long = "x" * 5000
    for m in record["metrics"]:
        for key in ("value", "lo", "hi", "level"):
            m.pop(key, None)
        m["absent"] = long
    record["facts"].append({"section": "subject", "key": "long", "value": long})
    record["notes"].append({"severity": "warning", "code": "x", "text": long})
    for name, r in ("long", record), ("empty", {**record, "series": [], "metrics": [], "facts": [], "notes": []}):
        with open(f"{name}.json", "w", encoding="utf-8") as f:
            json.dump(r, f)
        run("report", f"{name}.json", "-o", f"{name}.html")
        with browser.Page(f"{name}.html", width=390) as page:
            page.js("document.querySelectorAll('details').forEach(d => { d.open = true; })")
            assert page.js("return document.documentElement.scrollWidth") <= 390, name
            assert not page.js("return document.body.innerText.match(/could not be drawn|NaN|undefined/)"), name


def case_sparse_records(run):
    """A table whose cells are all absent does not hide the next; metrics are shown without facts."""
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    column = {"key": "a", "title": "a", "unit": "1"}
    record["tables"] = [{"name": "empty", "title": "Empty", "columns": [column], "rows": [[{"absent": "not measured"}]]},
                        {"name": "after", "title": "After", "columns": [column], "rows": [[4711]]}]
    del record["facts"]
    with open("sparse.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "sparse.json", "-o", "sparse.html")
    with browser.Page("sparse.html") as page:
        said = page.js("return document.getElementById('tables').innerText")
        assert "Left out: a (not measured)." in said and "After" in said and "4711" in said.replace(",", ""), said
        assert "latency/median" in page.js("return document.getElementById('facts').innerText")


def case_policy_holds(run):
    """Only embedded scripts run, and nothing is fetched."""
    _, path = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    with browser.Page(path, errors=False) as page:
        page.js("""const s = document.createElement('script'); s.textContent = 'window.owned = 1'; document.body.append(s);
                   const i = document.createElement('img'); i.src = 'https://example.org/x.png'; document.body.append(i);""")
        page.wait("return true")
        assert page.js("return window.owned === undefined")
        refused = " ".join(page.console())
        assert "script" in refused and "img-src" in refused, refused


def case_views_on_sizes(run):
    """Nothing is wider than a phone; both themes draw."""
    _, path = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    for dark in (False, True):
        with browser.Page(path, width=390, dark=dark) as page:
            wide = page.js("return document.documentElement.scrollWidth")
            assert wide <= 390, wide
            assert page.js("return document.documentElement.dataset.theme") == ("dark" if dark else "light")


def case_counters(run):
    """A program without counted functions has its counters as a chart and a table; absent ones share one message."""
    run("count", "--quiet", "--no-history", "--save", "count.json", "--", "/bin/sleep", "0.1")
    with open("count.json", encoding="utf-8") as f:
        record = json.load(f)
    record["metrics"].append({"tag": "counter/cpu-cycles", "unit": "1", "absent": "not on this machine"})
    record["metrics"] = [m for m in record["metrics"] if not (m["tag"] == "counter/cpu-cycles" and m.get("absent") != "not on this machine")]
    with open("count.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "count.json", "-o", "count.html")
    with browser.Page("count.html") as page:
        metrics = {m["tag"]: m for m in record["metrics"]}
        shown = page.js("return [...document.querySelectorAll('#counters .bar-row')].map(e => d3.select(e).datum().parts[0][1])")
        assert shown == [metrics[f"counter/{key}"]["value"] for key in ("user_time", "system_time", "duration_time")], shown
        rows = page.js("return [...document.querySelectorAll('#counters tbody tr')].map(e => e.children[0].textContent)")
        assert "page-faults" in rows and "cpu-cycles" not in rows and "user_time" not in rows, rows
        assert "cpu-cycles (not on this machine)" in page.js("return document.querySelector('#counters').textContent")
        assert "–" not in page.js("return [...document.querySelectorAll('#facts tbody td')].map(e => e.textContent)")


OVER = """const box = e => e.getBoundingClientRect(), over = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
    const words = [...document.querySelectorAll(arguments[0])].filter(e => e.textContent), marks = [...document.querySelectorAll(arguments[1])];
    return words.flatMap(w => marks.filter(m => m !== w && over(box(w), box(m))).map(m => w.textContent + ' / ' + (m.textContent || m.getAttribute('class'))));"""


def case_names_beside(run):
    """Titles, line labels and axis labels of a chart overlap none of its points and numbers."""
    run.record("b", "bench", "zoo:simplenet", "--engine", "null", "--runs", "300", "--warmup", "60")
    run("compare", "cmd:true", "cmd:sleep 0.01", "--max-time", "5s", "--quiet", "--save", "c.json", "--html", "c.html", "--no-history", status=3)
    for path, width in ("b.html", 1400), ("b.html", 390), ("c.html", 1400):
        with browser.Page(path, width=width) as page:
            for words, marks in ((".warm-name, .steady-name, .median-name, .name-of-rule", ".run, .point circle.fill"), (".axis.y > text", ".tick text")):
                over = page.js(OVER, words, marks)
                assert not over, (path, width, over)


def case_tables(run):
    """Tables: times and ids are short, an interval is next to its value, a column without known values is a message."""
    for i in range(3):
        run("bench", "zoo:simplenet", "--engine", "null", "--runs", "300", "--warmup", "1", "--quiet", "--db", "h.db", "--commit", f"c{i}")
    run("history", "trend", "--db", "h.db", "--format", "html", "-o", "t.html")
    with browser.Page("t.html", width=1400) as page:
        heads = page.js("return [...document.querySelectorAll('#tables th')].map(e => e.textContent)")
        assert heads[:4] == ["time, UTC", "id", "commit", "records"] and heads[4] in ("median [ns]", "median [\u00b5s]"), heads
        cells = page.js("return [...document.querySelectorAll('#tables tbody tr:first-child td')].map(e => [e.textContent, e.title])")
        assert len(cells[0][0]) == 19 and cells[0][1].endswith("Z") and len(cells[1][0]) == 8 and len(cells[1][1]) == 32, cells
        # On a busy machine the runs of one may depend on each other too much for an interval.
        medians = page.js("return [...document.querySelectorAll('#tables tbody tr td:nth-child(5)')].map(e => e.textContent)")
        assert any("[" in text for text in medians), medians
        assert "Left out: p of a change" in page.js("return document.querySelector('#tables').textContent")
    # The title of a listing names its contents.
    run("history", "--db", "h.db", "--html", "l.html")
    with browser.Page("l.html", width=1400) as page:
        assert page.js("return document.querySelector('h1').textContent") == "Records"
        heads = page.js("return [...document.querySelectorAll('#tables th')].map(e => e.textContent)")
        assert [h for h in heads if h.startswith("median [")] and not {"lo", "hi", "level", "unit"} & set(heads), heads


def case_odd(run):
    """A legal record without metrics: a title, laps without values, tables without rows, two columns of one title."""
    ranks = [{"key": key, "title": key, "unit": unit} for key, unit in (("rank", "1"), ("wait", "ns"), ("cost", "ns"))]
    record = {"schema": 1, "deepclock": "1", "id": "odd", "command": "deepclock odd", "metrics": [],
              "facts": [{"section": "subject", "key": "title", "value": "A title"},
                        {"section": "x", "key": "bytes", "value": str(2**60), "unit": "B"}],
              "series": [{"tag": "laps/epoch/wall", "unit": "ns", "values": [1e9, None, 2e9]},
                         {"tag": "laps/epoch/loss", "unit": "1", "values": [None, None, None]}],
              "tables": [{"name": "ranks", "title": "Ranks", "columns": ranks, "rows": [[0, 1, 1], [1, 2, 0]]},
                         {"name": "ranks/times", "title": "Ranks by time", "columns": ranks, "rows": []},
                         {"name": "t", "title": "T", "columns": [{"key": "k", "title": "name"}, {"key": "a", "title": "share", "unit": "1"},
                                                                 {"key": "b", "title": "share", "unit": "1"}],
                          "rows": [["r", {"absent": "no"}, 0.25], ["s", {"absent": "no"}, 0.5]]}]}
    with open("odd.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "odd.json", "-o", "odd.html")
    with browser.Page("odd.html") as page:
        text = page.js("return document.getElementById('record').textContent")
        assert "could not be drawn" not in text and "Left out: share (no)." in text and "0.2500" in text, text
        assert page.js("return document.querySelector('h1').textContent") == "A title"
        assert page.js("return document.title") == "A title - deepclock"
        assert page.js("return document.querySelector('#facts').textContent").count("1,048,576 TiB") == 1
        assert page.js("return document.querySelectorAll('#training .lap').length") == 2
