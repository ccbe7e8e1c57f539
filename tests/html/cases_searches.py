# SPDX-License-Identifier: Apache-2.0
"""Searches, comparisons, trends and laps: each mark has the record's value and interval."""

import json
import os

import browser

DATA = "return [...document.querySelectorAll(arguments[0])].map(e => d3.select(e).datum())"


def table(record, name):
    t = next(t for t in record["tables"] if t["name"] == name)
    return [dict(zip((c["key"] for c in t["columns"]), row)) for row in t["rows"]]


def value(cell):
    return cell["value"] if isinstance(cell, dict) and "value" in cell else cell


def bounds(cell):
    """Returns (value, lo, hi) of a cell; without an interval, for example with too few rounds, both bounds are None."""
    return (cell["value"], cell.get("lo"), cell.get("hi")) if isinstance(cell, dict) else (cell, None, None)


def shown_bounds(d):
    return d["value"], d.get("lo"), d.get("hi")


def case_searches(run):
    batches, first = run.record("batches", "throughput", "zoo:simplenet", "--engine", "null", "--batch", "1,2,4", "--point-time", "20ms", "--rounds", "2", "--max-time", "20s")
    run("compare", "cmd:true", "cmd:sleep 0.03", "--max-time", "20s", "--quiet", "--save", "ratios.json", "--no-history", status=3)
    run("report", "ratios.json", "-o", "ratios.html")
    ranking, _ = run.record("rank", "bench", "cmd:true", "cmd:sleep 0.03", "--max-time", "5s")
    a, _ = run.record("a", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    b, _ = run.record("b", "bench", "zoo:simplenet", "--engine", "null", "--runs", "90", "--warmup", "1")
    run("report", "a.json", "b.json", "-o", "beside.html")
    requests, _ = run.record("requests", "load", "zoo:simplenet", "--engine", "null", "--rate", "500", "--requests", "400", "--warmup", "1")
    epochs = {"schema": 1, "deepclock": "0.1.0", "id": "1", "incomplete": False, "facts": [{"section": "subject", "key": "name", "value": "a training"}], "metrics": [], "notes": [], "series": [
        {"tag": "laps/epoch/wall", "unit": "ns", "warmup": 0, "at_ns": [0, 10, 20], "values": [5e9, 6e9, 7e9]},
        {"tag": "laps/epoch/loss", "unit": "1", "warmup": 0, "at_ns": [0, 10, 20], "values": [0.5, 0.25, 0.125]}]}
    with open("epochs.json", "w", encoding="utf-8") as f:
        json.dump(epochs, f)
    run("report", "epochs.json", "-o", "epochs.html")
    over = {"schema": 1, "deepclock": "0.1.0", "id": "2", "incomplete": False, "notes": [], "series": [],
            "facts": [{"section": "compare", "key": "subjects", "value": "cpu, cuda"}],
            "metrics": [{"tag": "compare/crossover", "unit": "1", "value": 8 ** 0.5, "lo": 1, "hi": 8, "level": 0.95}],
            "tables": [{"name": "compare/over", "title": "Over sizes", "columns": [
                {"key": "value", "title": "batch"}, {"key": "subject", "title": "subject"}, {"key": "base_time", "title": "first", "unit": "ns"},
                {"key": "time", "title": "time", "unit": "ns"}, {"key": "ratio", "title": "ratio", "unit": "1"}, {"key": "verdict", "title": "verdict"}],
                "rows": [["1", "cuda", 1e6, 2e6, {"value": 2, "lo": 1.9, "hi": 2.1, "level": 0.95}, "slower"],
                         ["8", "cuda", 6e6, 3e6, {"value": 0.5, "lo": 0.4, "hi": 0.6, "level": 0.95}, "faster"]]}]}
    with open("over.json", "w", encoding="utf-8") as f:
        json.dump(over, f)
    run("report", "over.json", "-o", "over.html")

    with browser.Page(first) as page:
        def look(path):
            page.driver.get("file://" + os.path.abspath(path))
            page.wait("return document.documentElement.dataset.ready === 'yes'")

        shown = page.js(DATA, "#batches .point")
        rows = table(batches, "throughput/points")
        for key in ("throughput", "latency", "memory"):
            assert sorted(d["y"] for d in shown if d.get("what") == key) == sorted(value(r[key]) for r in rows if "absent" not in str(r[key])), key
        his = {d["y"]: d.get("hi") for d in shown if d.get("what") == "throughput"}
        assert all(his[value(r["throughput"])] == (r["throughput"].get("hi") if isinstance(r["throughput"], dict) else None) for r in rows), his
        page.js("document.querySelector('#batches .point[tabindex=\"0\"]').focus()")
        assert "batch" in page.js("return document.getElementById('tip').textContent")

        look("ratios.html")
        with open("ratios.json", encoding="utf-8") as f:
            ratios = json.load(f)
        row, = [r for r in table(ratios, "compare/alternatives") if r["verdict"] != "baseline"]
        shown, = page.js(DATA, "#ratios .row")[:1]
        assert shown_bounds(shown) == bounds(row["ratio"])
        series = {s["tag"]: s["values"] for s in ratios["series"]}
        over = [y / x for x, y in zip(*(series[f"compare/rounds/{r['subject']}"] for r in table(ratios, "compare/alternatives")))]
        points = page.js(DATA, "#ratios .point")
        assert all(abs(p["y"] / o - 1) < 1e-12 for p, o in zip(points, over)) and len(points) == len(over)

        look("over.html")
        shown = page.js(DATA, "#over [data-name=over-times] .point")
        assert sorted((d["setting"], d["x"], d["y"]) for d in shown) == [("cpu", 1, 1e6), ("cpu", 8, 6e6), ("cuda", 1, 2e6), ("cuda", 8, 3e6)], shown
        assert [shown_bounds({**d, "value": d["y"]}) for d in page.js(DATA, "#over [data-name=over-ratios] .point")] == [(2, 1.9, 2.1), (0.5, 0.4, 0.6)]
        assert [d["text"] for d in page.js(DATA, "#over [data-name=over-times] .rule-x")] == ["crossover at 2.83 [1, 8]"]

        look("ratios.html")
        # The rounds of both subjects, and a ranking with the intervals of its table.
        assert sorted(d["v"] for d in page.js(DATA, "#ratios .violin-dot")) == sorted(v for t, values in series.items() if t.startswith("compare/rounds/") for v in values)

        look("rank.html")
        of = {r["subject"]: r for r in table(ranking, "bench/ranking")}
        shown = page.js(DATA, "#ranking [data-name=ranking] .row")
        assert {d["name"].split(". ")[1]: shown_bounds(d) for d in shown} == {n: bounds(r["time"]) for n, r in of.items()}
        shown = page.js(DATA, "#ranking [data-name=to-the-fastest] .row")
        assert [shown_bounds(d) for d in shown] == [bounds(r["ratio"]) for r in of.values() if isinstance(r["ratio"], dict) and "lo" in r["ratio"]]
        rounds = [v for s in ranking["series"] if s["tag"].startswith("compare/rounds/") for v in s["values"]]
        assert len(rounds) > 3 and sorted(d["v"] for d in page.js(DATA, "#ranking .violin-dot")) == sorted(rounds)

        look("beside.html")
        of = [next(m for m in r["metrics"] if m["tag"] == "latency/median")["value"] for r in (a, b)]
        assert [d["value"] for d in page.js(DATA, "#beside .row")] == of
        assert len(page.find("#beside path.share")) == 2

        look("requests.html")
        has = [m for m in requests["metrics"] if m["tag"] in ("latency/median", "latency/p90", "latency/p95", "latency/p99", "latency/p999") and "value" in m]
        shown = {d["tag"]: d["y"] for d in page.js(DATA, "#tail .percentile")}
        assert shown == {m["tag"]: m["value"] for m in has}, shown
        curve, = page.js(DATA, "#tail .tail-curve")
        assert abs(curve[-1]["x"] * (1 - max({"latency/median": 0.5, "latency/p90": 0.9, "latency/p95": 0.95, "latency/p99": 0.99, "latency/p999": 0.999}[t] for t in shown)) - 1) < 1e-9

        look("epochs.html")
        assert [d["v"] for d in page.js(DATA, "#training [data-name=loss] .lap")] == [0.5, 0.25, 0.125]
        assert [d["v"] for d in page.js(DATA, "#training [data-name=time] .lap")] == [5e9, 6e9, 7e9]


OVERLAPS = """const box = e => e.getBoundingClientRect(), a = box(document.querySelector(arguments[0]));
return [...document.querySelectorAll(arguments[1])].map(box).filter(b => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom).length"""


def case_rates(run):
    """Served requests next to the line of all requests; a percentile known at one rate only is a message, not a chart
    with one dot. Times of a column have one unit."""
    none = {"absent": "too few requests"}
    columns = [{"key": "rate", "title": "rate", "unit": "Hz"}, {"key": "served", "title": "served", "unit": "Hz"}, {"key": "median", "title": "median", "unit": "ns"},
               {"key": "p99", "title": "p99", "unit": "ns"}, {"key": "verdict", "title": "limits"}]
    rates = [[120, 119, 17e3, 29e6, "met"], [240, 217, 12e6, none, "inconclusive"], [480, 65, 31e6, none, "unstable"]]
    with open("rates.json", "w", encoding="utf-8") as f:
        json.dump({"schema": 1, "deepclock": "0.1.0", "id": "1", "incomplete": False, "facts": [{"section": "plan", "key": "slo", "value": "p99<=30ms"}], "metrics": [], "notes": [],
                   "tables": [{"name": "load/steps", "title": "Rates", "columns": columns, "rows": rates}]}, f)
    run("report", "rates.json", "-o", "rates.html")
    for width, dark in ((1400, False), (390, True)):
        with browser.Page("rates.html", width, dark=dark) as page:
            assert [d["y"] for d in page.js(DATA, "#rates [data-name=served] .point")] == [119, 217, 65]
            line = page.js("const l = document.querySelector('#rates [data-name=served] .equal'); return [getComputedStyle(l).strokeDasharray, ...['x1', 'y1', 'x2', 'y2'].map(k => Number(l.getAttribute(k)))]")
            assert line[0] != "none" and line[1] < line[3] and line[2] > line[4], line
            assert page.js(OVERLAPS, "#rates .name-of-equal", "#rates [data-name=served] .point, #rates [data-name=served] .equal") == 0
            assert not page.find("#rates [data-name=latency-p99]") and len(page.find("#rates [data-name=latency-median] .point")) == 3
            said = page.js("return document.querySelector('#rates .single').textContent")
            assert "known at one of 3 rates, 29 ms at 120 Hz (limit p99<=30ms)" in said, said
            shown = page.js("return [...document.querySelectorAll('#tables [data-key=median], #tables tbody td:nth-child(3)')].map(e => e.textContent.replace(/[\u2191\u2193\u2195]/g, '').trim())")
            assert shown == ["median [µs]", "17", "12,000", "31,000"], shown


def case_mistakes_and_titles(run):
    """Mistakes with their factors; records of several batch sizes as bars and a curve, named by their titles."""
    factors, first, paths = {"coarse-clock": 0, "session-inside": 4875.6, "batch-divided": 0.27, "no-sync": 0.9955}, "mistakes.html", []
    with open("mistakes.json", "w", encoding="utf-8") as f:
        json.dump({"schema": 1, "deepclock": "0.1.0", "id": "1", "incomplete": False, "facts": [], "metrics": [], "notes": [], "tables": [
            {"name": "pitfalls/mistakes", "title": "Mistakes", "columns": [{"key": "mistake", "title": "mistake"}, {"key": "factor", "title": "factor", "unit": "1"}, {"key": "verdict", "title": "verdict"}],
             "rows": [[name, factor, "harm"] for name, factor in factors.items()]}]}, f)
    run("report", "mistakes.json", "-o", first)
    for i, batch in enumerate((4, 1)):
        record, _ = run.record(f"b{batch}", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
        facts = [f for f in record["facts"] if (f["section"], f["key"]) != ("subject", "items_per_run")]
        facts += [{"section": "subject", "key": "items_per_run", "value": batch, "unit": "1"}, {"section": "subject", "key": "title", "value": f"batch {batch}"}]
        record["facts"] = facts
        paths.append(f"t{batch}.json")
        with open(paths[-1], "w", encoding="utf-8") as f:
            json.dump(record, f)
    run("report", *paths, "-o", "titles.html")
    for width in (1400, 390):
        with browser.Page(first, width) as page:
            rows = {d["name"]: d["value"] for d in page.js(DATA, "#mistakes .row")}
            assert rows == {k: v for k, v in factors.items() if v > 0}, (rows, factors)
            page.driver.get("file://" + os.path.abspath("titles.html"))
            page.wait("return document.documentElement.dataset.ready === 'yes'")
            assert [d["name"] for d in page.js(DATA, "#beside [data-name=medians] .row")] == ["1. batch 4", "2. batch 1"]
            assert len(page.js(DATA, "#beside [data-name=medians] .bar")) == 2
            assert [d["x"] for d in page.js(DATA, "#beside [data-name=throughput-by-batch] .point")] == [1, 4]


def case_generation(run):
    """The gap before each token, a line for each length and batch, and the time to the first token by the prompt."""
    run("generate", "zoo:llama_mini", "--engine", "null", "--engine-option", "ns=20000", "--requests", "6", "--new-tokens", "6",
        "--prompt-length", "8,16", "--quiet", "--no-history", "--html", "generation.html")
    for width in (1400, 390):
        with browser.Page("generation.html", width) as page:
            assert [d["x"] for d in page.js(DATA, "#generation [data-name=gaps] .point")] == 2 * [2, 3, 4, 5, 6]
            first = page.js(DATA, "#generation [data-name=first] .point")
            assert [d["x"] for d in first] == [8, 16] and all(d["y"] >= 20000 for d in first), first


def case_effects(run):
    """What each option does, as rows around 1, and the front as points of latency and memory."""
    cell = lambda v, lo, hi: {"value": v, "lo": lo, "hi": hi, "level": 0.95}
    column = lambda key, unit=None: {"key": key, "title": key, **({"unit": unit} if unit else {})}
    with open("effects.json", "w", encoding="utf-8") as f:
        json.dump({"schema": 1, "deepclock": "0.1.0", "id": "1", "incomplete": False, "facts": [], "metrics": [], "notes": [], "tables": [
            {"name": "tune/front", "title": "Front", "columns": [column("configuration"), column("speedup", "1"), column("latency", "ns"), column("memory", "B")],
             "rows": [["spin=0", cell(2, 1.9, 2.1), 5e6, 300 << 20], ["default", 1, 1e7, 200 << 20]]},
            {"name": "tune/effects", "title": "Effects", "columns": [column("option"), column("speedup", "1"), column("verdict")],
             "rows": [["threads=1", cell(0.4, 0.3, 0.5), "slower"], ["spin=0", cell(2, 1.9, 2.1), "faster"], ["opt=none", {"absent": "there was no time for it"}, "not known"]]}]}, f)
    run("report", "effects.json", "-o", "effects.html")
    for width in (1400, 390):
        with browser.Page("effects.html", width) as page:
            assert [(d["name"], d["value"]) for d in page.js(DATA, "#effects [data-name=effects] .row")] == [("threads=1", 0.4), ("spin=0", 2)]
            assert [(d["x"], d["y"]) for d in page.js(DATA, "#effects [data-name=front] .point")] == [(300 << 20, 5e6), (200 << 20, 1e7)]
