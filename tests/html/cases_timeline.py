# SPDX-License-Identifier: Apache-2.0
"""The timeline of a trace: its sums equal the record's, and mouse and keys work as documented on the page."""

import json
import random

import browser

WAIT = "return document.querySelector('#timeline').timeline && document.querySelector('#timeline').timeline.painted"
VIEW = "const v = document.querySelector('#timeline').timeline; "


def trace(path, ranges, evil="outer"):
    """Returns Chrome's events: two threads of nested ranges, a wait, a counter, a mark."""
    rng, events = random.Random(3), []
    for tid in (7, 8):
        at = 0.0
        while len(events) < ranges * (tid - 6) / 2:
            took = rng.uniform(20, 60)
            events.append({"ph": "X", "name": evil, "pid": 7, "tid": tid, "ts": at, "dur": took})
            inside = at + 1
            for name in ("read", "multiply", "wait: lock"):
                d = rng.uniform(0.5, took / 4)
                events.append({"ph": "X", "name": name, "pid": 7, "tid": tid, "ts": inside, "dur": d})
                inside += d + 0.25
            at += took + rng.uniform(0, 5)
        events.append({"ph": "C", "name": "queue", "pid": 7, "ts": at / 2, "args": {"queue": tid}})
    events.append({"ph": "i", "name": "epoch", "pid": 7, "tid": 7, "ts": 100.5, "s": "t"})
    events.append({"ph": "M", "name": "process_name", "pid": 7, "args": {"name": "train"}})
    with open(path, "w", encoding="utf-8") as f:
        json.dump({"traceEvents": events}, f)
    return events


def zones(run, path):
    record = json.loads(run("report", path, "--format", "json"))
    table = next(t for t in record["tables"] if t["name"] == "zones")
    keys = [c["key"] for c in table["columns"]]
    return {row[0]: dict(zip(keys, row)) for row in table["rows"]}


def case_timeline(run):
    trace("trace.json", 400)
    run("report", "trace.json", "-o", "trace.html")
    table = zones(run, "trace.json")
    with browser.Page("trace.html") as page:
        page.wait(WAIT)
        sums = page.js(VIEW + "v.select(0, v.t.ended, true); return [...document.querySelectorAll('.timeline-sums tbody tr')].map("
                       "tr => [...tr.children].map(td => td.textContent))")
        assert {r[0] for r in sums} == set(table), sums
        exact = {r["name"]: r for r in page.js(VIEW + "return v.sumsNow")}
        for name, row in table.items():
            assert (exact[name]["calls"], exact[name]["total"], exact[name]["self"]) == (row["calls"], row["total"], row["self"]), (name, exact[name], row)
        # Keys: zoom in, move right, zoom out to the whole trace.
        scroller = page.find(".timeline-scroller")[0]
        span = "return (() => { " + VIEW + "return [v.from, v.to]; })()"
        scroller.send_keys("ww")
        a = page.js(span)
        scroller.send_keys("d")
        b = page.js(span)
        assert a[1] - a[0] < page.js(VIEW + "return v.t.ended") * 0.6 and b[0] > a[0], (a, b)
        scroller.send_keys("0")
        assert page.js(span)[0] == 0
        # A search steps through its matches, and fades the other ranges.
        word = page.find("#timeline input[type=search]")[0]
        word.send_keys("multi", "\n")
        assert page.js("return document.querySelector('.timeline-detail h3').textContent") == "multiply"
        first = page.js(VIEW + "return v.chosen.range")
        word.send_keys("\n")
        assert page.js(VIEW + "return v.chosen.range") != first
        said = page.js("return document.querySelector('#timeline .controls [role=status]').textContent")
        assert said.startswith(f"2 of {table['multiply']['calls']} places"), said
        # A range under the mouse, and a range selected by a click.
        scroller.send_keys("0")
        shot = page.js(VIEW + """const p = v.lines.find(l => l.node.track.tid === 7).parts.find(p => p.kind === 'rows');
            v.scroller.scrollIntoView({block: 'center'}); const box = v.canvas.getBoundingClientRect(), i = v.t.starts[p.row];
            return [box.left + v.left + (v.t.begin[i] + v.t.took[i] / 2 - v.from) / v.nsOfPixel, box.top + 22 + p.y + 8]""")
        mouse = {"x": shot[0], "y": shot[1]}
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseMoved", **mouse})
        page.wait("return !document.getElementById('tip').hidden")
        assert "outer" in page.js("return document.getElementById('tip').textContent")
        for kind in ("mousePressed", "mouseReleased"):
            page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "button": "left", "buttons": 1, "clickCount": 1, **mouse})
        page.wait("return document.querySelector('.timeline-detail h3').textContent === 'outer'")
        # Dragging selects a time.
        to = {"x": mouse["x"] + 200, "y": mouse["y"]}
        for kind, at in (("mousePressed", mouse), ("mouseMoved", to), ("mouseReleased", to)):
            page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": kind, "button": "left", "buttons": 1, "clickCount": 1, **at})
        page.wait("return document.querySelector('.timeline-sums h3').textContent.includes('selected')")
        wide = page.js(VIEW + "return (v.selected[1] - v.selected[0]) / v.nsOfPixel")
        assert abs(wide - 200) < 1.5, wide
        # Ctrl and wheel; a click on a track's name collapses it.
        page.driver.execute_cdp_cmd("Input.dispatchMouseEvent", {"type": "mouseWheel", "deltaX": 0, "deltaY": -200, "modifiers": 2, **mouse})
        page.wait("return (() => { " + VIEW + "return v.to - v.from < v.t.ended * 0.7; })()")
        high = page.js(VIEW + "return v.total")
        page.find(".timeline-label[aria-expanded=true]")[0].click()
        assert page.js(VIEW + "return v.total") < high


def case_timeline_hostile_names(run):
    """Names are shown as text, in labels, sums and the tooltip."""
    evil = "</script><img src=x onerror=\"document.title='owned'\"><!--<script>"
    trace("trace.json", 40, evil)
    run("report", "trace.json", "-o", "trace.html")
    with browser.Page("trace.html", width=390, dark=True) as page:
        page.wait(WAIT)
        page.js(VIEW + "v.select(0, v.t.ended, true); v.step(1)")
        assert page.js("return document.querySelector('.timeline-sums').textContent.includes(arguments[0])", evil)
        assert page.js("return document.querySelector('.timeline-detail h3').textContent") == evil
        assert page.js("return document.images.length") == 0 and page.js("return document.title") != "owned"
        assert page.js("return document.documentElement.scrollWidth") <= 390
