# SPDX-License-Identifier: Apache-2.0
"""The runs of a measurement: the marks equal the record's runs, also when thinned; the phases add up."""

import json
import math
import os

import browser

DATA = "return [...document.querySelectorAll(arguments[0])].map(e => d3.select(e).datum())"


def case_runs(run):
    record, path = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "400", "--warmup", "20", "--group", "1")
    latency = next(s for s in record["series"] if s["tag"] == "latency")
    # A synthetic record next to it: the maximum number of stored runs, of several kinds, and a steady point.
    large = json.loads(json.dumps(record))
    values = [1e6 * (3 if i < 900 else 1) + 1e4 * math.sin(i) + (5e7 if i % 20000 == 19999 else 0) for i in range(131972)]
    for s in large["series"]:
        if s["tag"] == "latency":
            s.update(values=values, warmup=900, at_ns=[1000000 * i for i in range(len(values))])
    large["facts"].append({"section": "method", "key": "steady_after", "value": 700000000, "unit": "ns"})
    for m in large["metrics"]:
        m.update({k: v for k, v in zip(("value", "lo", "hi", "level"), (1e6, 0.99e6, 1.01e6, 0.95))} if m["tag"] == "latency/median" else {})
    with open("large.json", "w", encoding="utf-8") as f:
        json.dump(large, f)
    run("report", "large.json", "-o", "large.html")
    with browser.Page(path) as page:
        dots = page.js(DATA, "#runs .time .run")
        assert len(dots) == 420 and [d["low"] for d in dots] == latency["values"], len(dots)
        bins = page.js(DATA, "#runs .bin")
        inside = [v for v in latency["values"][20:] if bins[0]["from"] <= v <= bins[-1]["to"]]
        assert sum(b["n"] for b in bins) == len(inside)
        told = {d["tag"]: d["c"] for d in page.js(DATA, "#runs .shares g.percentile")}
        of = {m["tag"]: m for m in record["metrics"]}
        assert all(c["value"] == of[tag]["value"] and c.get("hi") == of[tag].get("hi") for tag, c in told.items()), told
        # The phases add up to the time until the last run ended, and the keyboard reaches them.
        phases = page.js(DATA, "#phases .phase")
        wall = latency["at_ns"][20] + of["time/measured"]["value"]
        assert abs(sum(p["ns"] for p in phases) - wall) < 1, (phases, wall)
        assert {p["tag"]: p["ns"] for p in phases if p.get("tag") == "time/measured"} == {"time/measured": of["time/measured"]["value"]}
        page.js("document.querySelector('#phases .phase[tabindex]').focus()")
        assert page.js("return !document.getElementById('tip').hidden")
        page.js("document.querySelector('#runs .histogram details').open = true")
        page.wait("return document.querySelectorAll('#runs .histogram tbody tr').length > 0")

        page.driver.get("file://" + os.path.abspath("large.html"))
        page.wait("return document.documentElement.dataset.ready === 'yes'")
        columns = page.js(DATA, "#runs .time path.runs")
        assert [sum(p["n"] for p in c) for c in columns] == [131072], [len(c) for c in columns]
        assert len(page.js(DATA, "#runs .time .run")) == 900
        assert max(p["high"] for p in columns[-1]) == max(values), "the greatest is still there"
        assert "131,972 runs are more" in page.js("return document.querySelector('#runs .time').textContent")
        x = page.js("return +document.querySelector('#runs .steady').getAttribute('x1')")
        band = page.js("const b = document.querySelector('#runs .warmup'); return [+b.getAttribute('x'), +b.getAttribute('width')]")
        assert abs((x - band[0]) / band[1] - 700 / 900) < 0.2, (x, band)
