# SPDX-License-Identifier: Apache-2.0
"""The history of a metric as a page."""

import json

import browser


def case_trend(run):
    """The history of a metric: a point for each commit, the levels between its changes."""
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    for i in range(24):
        for m in record["metrics"]:
            if m["tag"] == "latency/median":
                m.update(value=(1000 + i % 3) * (1 if i < 12 else 2), lo=900 * (1 if i < 12 else 2), hi=1100 * (1 if i < 12 else 2), level=0.95)
        record["id"] = f"{i:032x}"
        record["began"] = f"2026-01-{i + 1:02}T00:00:00Z"
        with open("one.json", "w", encoding="utf-8") as f:
            json.dump(record, f)
        run("history", "import", "one.json", "--db", "h.db", "--commit", f"{i:02}" * 20)
    run("history", "trend", "--db", "h.db", "-o", "trend.html")
    said = json.loads(run("history", "trend", "--db", "h.db", "--format", "json"))
    t = next(t for t in said["tables"] if t["name"] == "history/points")
    at = {c["key"]: i for i, c in enumerate(t["columns"])}
    changes = [r for r in t["rows"] if isinstance(r[at["before"]], (int, float))]
    assert len(t["rows"]) == 24 and len(changes) == 1, changes
    with browser.Page("trend.html") as page:
        points = page.js("return [...document.querySelectorAll('#trend .point')].map(e => d3.select(e).datum())")
        assert [p["y"] for p in points] == [r[at["value"]] for r in t["rows"]]
        assert [p["commit"] for p in points] == [r[at["commit"]] for r in t["rows"]]
        levels = page.js("return [...document.querySelectorAll('#trend .level')].map(e => d3.select(e).datum())")
        assert [(v["from"], v["to"], v["y"]) for v in levels] == [(0, 11, changes[0][at["before"]]), (12, 23, changes[0][at["after"]])], levels
        assert len(page.find("#trend .rule-x")) == 1
        page.js("document.querySelector('#trend .point[tabindex=\"0\"]').focus()")
        assert "0000000000" in page.js("return document.getElementById('tip').textContent")
