# SPDX-License-Identifier: Apache-2.0
"""The page itself: its first screen, sorting, sizes, and that no text of a record is anything but text."""

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
        # Sorted by hand: the greatest first, then the least.
        heads = page.find("#facts th button")
        heads[1].click()
        assert page.js("return document.querySelector('#facts th[data-key=value]').getAttribute('aria-sort')") == "descending"


def case_hostile_texts(run):
    """Whatever a name says, it is a text."""
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
    """Texts without a place to break, and a record of almost nothing, are no wider than a phone."""
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


def case_policy_holds(run):
    """Nothing but what was embedded runs, and nothing is fetched."""
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
