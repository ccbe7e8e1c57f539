# SPDX-License-Identifier: Apache-2.0
"""Operators on the page: bars, table, roofs, modules: values read back from the charts equal the record's."""

import json

import browser

PEAK, LEVELS = 300e9, {"l1": (400e9, 65536), "l2": (200e9, 4 << 20), "l3": (50e9, 32 << 20), "dram": (15e9, None)}


def profiled(run):
    """Returns the record of a real profile, with known roofs of the machine, computed here by their definition."""
    run("profile", "zoo:resnet18", "--engine", "null", "--engine-option", "ns=100000", "--engine-option",
        "operators=/conv1/Conv:30000,/maxpool/MaxPool:5000,/fc/Gemm:11000,/layer1/layer1.0/conv1/Conv:54000", "--runs", "20",
        "--warmup", "1", "--group", "1", "--profile-runs", "10", "--no-roofs", "--quiet", "--save", "p.json", "--no-history")
    with open("p.json", encoding="utf-8") as f:
        record = json.load(f)
    record["facts"].append({"section": "roofs", "key": "peak_fp32", "value": PEAK, "unit": "FLOP/s"})
    for level, (rate, size) in LEVELS.items():
        record["facts"].append({"section": "roofs", "key": f"bandwidth_{level}", "value": rate, "unit": "B/s"})
        if size:
            record["facts"].append({"section": "roofs", "key": f"capacity_{level}", "value": size, "unit": "B"})
    least_sum = 0
    for i, op in enumerate(record["ops"]):
        moved = op["read_bytes"] + op["write_bytes"]
        rate = next(r for r, size in LEVELS.values() if not size or moved <= size)
        least = 1e9 * max(op["flops"] / PEAK, moved / rate)
        op["time"] = 4 * least + 1000 * (i + 1)
        if op["flops"]:
            op["roof"] = 1e9 * op["flops"] / least
            op["rate"] = 1e9 * op["flops"] / op["time"]
            op["bound"] = "compute" if op["flops"] / PEAK >= moved / rate else "memory"
        least_sum += least
    record["ops"][3]["rate"] = {"absent": "above the roof of this machine"}
    for m in record["metrics"]:
        if m["tag"] == "profile/attainable":
            m.pop("absent", None)
            m["value"] = least_sum
    with open("p.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "p.json", "-o", "p.html")
    return record, "p.html"


def known(op, key):
    if key == "bytes":
        return op["read_bytes"] + op["write_bytes"]
    return 0 if isinstance(op.get(key), dict) else op.get(key, 0)


def near(a, b, part=1e-6):
    return abs(a - b) <= part * max(abs(a), abs(b))


def bars_of(page):
    return page.js("""return [...document.querySelectorAll('#operators .bar-row')].map(e => {
        const d = d3.select(e).datum(), parts = [...e.querySelectorAll('.part')];
        return {name: d.name, value: d.parts.reduce((s, p) => s + p[1], 0), text: d.text, wide: +parts[0].getAttribute('width')}; })""")


def choose(page, name, key):
    page.find(f"#operators .choice[aria-label='{name}'] button[data-key='{key}']")[0].click()


def case_operators(run):
    record, path = run.record("cost", "cost", "zoo:bert_mini")
    metrics = {m["tag"]: m.get("value") for m in record["metrics"]}
    with browser.Page(path) as page:
        # Bars of each grouping and weight add up to the record's metric.
        weights = page.js("return [...document.querySelectorAll(\"#operators .choice[aria-label='weight'] button\")].map(b => b.dataset.key)")
        assert weights == ["macs", "flops", "bytes", "params"], weights
        whole = {"macs": metrics["cost/macs"], "flops": metrics["cost/flops"], "params": metrics["cost/params"],
                 "bytes": metrics["cost/read_bytes"] + metrics["cost/write_bytes"]}
        for by in "module", "type":
            choose(page, "by", by)
            for weight in weights:
                choose(page, "weight", weight)
                bars = bars_of(page)
                assert sum(b["value"] for b in bars) == whole[weight], (by, weight, bars)
                widest = max(bars, key=lambda b: b["value"])
                assert all(abs(b["wide"] - max(1.5, b["value"] / widest["value"] * widest["wide"])) < 0.01 for b in bars), bars
        # The row below the table is the sum, of all rows or of those that a selected bar leaves.
        foot = "return document.querySelector('#operators tfoot td[data-key=params]').textContent"
        assert page.js(foot) == "11.17 M", page.js(foot)
        choose(page, "weight", "params")
        first = bars_of(page)[0]
        page.js("document.querySelector('#operators .bar-row').dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        rows = page.js("return [...document.querySelectorAll('#operators tbody tr')].map(tr => tr.children[1].textContent)")
        assert rows and set(rows) == {first["name"]}, (first, rows)
        assert sum(o["type"] == first["name"] for o in record["ops"]) == len(rows)
        assert page.js(foot) == first["text"].split(",")[0], (page.js(foot), first)
        page.find("#operators .chip button")[0].click()
        assert page.js(foot) == "11.17 M"
        # Sorted by a column, the first row has the maximum; the keyboard selects a bar as the mouse does.
        page.find("#operators th[data-key=bytes] button")[0].click()
        most = max(record["ops"], key=lambda o: known(o, "bytes"))
        assert page.js("return document.querySelector('#operators tbody td').title") == most["name"]
        page.js("document.querySelectorAll('#operators .bar-row')[1].focus()")
        page.driver.switch_to.active_element.send_keys("\ue007")
        assert page.js("return document.querySelector('#operators .chip').textContent").startswith("type: ")
        page.js("const s = document.querySelector('#operators input[type=search]'); s.value = 'pooler'; s.dispatchEvent(new Event('input'))")
        assert page.js("return document.querySelectorAll('#operators tbody tr').length") <= sum("pooler" in json.dumps(o) for o in record["ops"])


def case_operators_wide(run):
    """At 1400 px all columns are visible; columns of bytes, times and rates have their unit only in the title."""
    record, _ = profiled(run)
    for op in record["ops"]:
        op["memory"] = 1 << 20
    with open("p.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "p.json", "--format", "html", "--out", "p.html")
    with browser.Page("p.html", width=1400) as page:
        assert page.js("const s = document.querySelector('.operators .scroll'); return s.scrollWidth <= s.clientWidth")
        for key, unit in ("time", "s]"), ("bytes", "B]"), ("rate", "FLOP/s]"), ("memory", "B]"):
            title = page.js(f"return document.querySelector('#operators th[data-key={key}]').textContent")
            cells = page.js("const at = [...document.querySelectorAll('#operators thead th')].findIndex(th => th.dataset.key === '" + key
                            + "'); return [...document.querySelectorAll('#operators tbody tr')].map(tr => tr.children[at].textContent)")
            assert title.endswith(unit) and cells and not any(c.isalpha() for c in "".join(cells)), (title, cells)


def case_operators_unknown(run):
    """An unknown value is not shown as 0: not in the table, in a bar, or in a sum."""
    record, _ = run.record("cost", "cost", "zoo:simplenet")
    record["ops"][0]["macs"] = {"absent": "a shape is not known"}
    with open("u.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "u.json", "-o", "u.html")
    rest = sum(o["macs"] for o in record["ops"][1:])
    with browser.Page("u.html") as page:
        assert sum(b["value"] for b in bars_of(page)) == rest
        assert any(b["text"].startswith("≥ ") or b["text"] == "–" for b in bars_of(page)) or rest == 0, bars_of(page)
        assert page.js("return document.querySelector('#operators tfoot td[data-key=macs]').textContent").startswith("≥ ")
        cell = page.js("""const at = [...document.querySelectorAll('#operators thead th')].findIndex(th => th.dataset.key === 'macs');
            const td = document.getElementById('op-0').children[at]; return [td.textContent, td.title]""")
        assert cell == ["–", "absent: a shape is not known"], cell
        assert "a shape is not known (1 operator)" in page.js("return document.querySelector('#operators .absent-why').textContent")


def case_roofline(run):
    record, path = profiled(run)
    ops = record["ops"]
    with browser.Page(path) as page:
        page.js("document.getElementById('roofline').scrollIntoView()")
        dots = page.js("""return [...document.querySelectorAll('#roofline .dot')].map(e =>
            ({op: +e.dataset.op, cx: +e.getAttribute('cx'), cy: +e.getAttribute('cy'), r: +e.getAttribute('r')}))""")
        expected = {i for i, o in enumerate(ops) if o["flops"] and not isinstance(o["rate"], dict)}
        assert {d["op"] for d in dots} == expected and 3 not in expected, (dots, expected)
        # Ticks define the scales; each dot's position read by them is the record's intensity and rate.
        ticks = page.js("""return ['x', 'y'].map(a => [...document.querySelectorAll('#roofline .axis.' + a + ' .tick')].map(e =>
            [d3.select(e).datum(), +e.getAttribute('transform').match(/[(](.+),(.+)[)]/)[a === 'x' ? 1 : 2], e.textContent]))""")
        read = []
        for marks in ticks:
            assert len(marks) >= 2, ticks
            (v0, p0, _), (v1, p1, _) = marks[0], marks[-1]
            read.append(lambda p, v0=v0, p0=p0, v1=v1, p1=p1: v0 * (v1 / v0) ** ((p - p0) / (p1 - p0)))
        for d in dots:
            o = ops[d["op"]]
            # D3 sets ticks on half pixels.
            assert near(read[0](d["cx"]), o["flops"] / known(o, "bytes"), 0.02), (d, o)
            assert near(read[1](d["cy"]), o["rate"], 0.02), (d, o)
        # Areas are proportional to times, except for dots of the minimum visible size.
        large = [d for d in dots if d["r"] > 3.6]
        most = max(large, key=lambda d: d["r"])
        assert len(large) > 3 and all(near((d["r"] / most["r"]) ** 2, ops[d["op"]]["time"] / ops[most["op"]]["time"]) for d in large)
        roofs = page.js("""return [...document.querySelectorAll('#roofline .roof')].map(e => {
            const d = d3.select(e).datum(); return [d.name, d.value, +e.getAttribute('y1'), +e.getAttribute('y2')]; })""")
        assert {r[0]: r[1] for r in roofs} == {"L1": 400e9, "L2": 200e9, "L3": 50e9, "memory": 15e9, "FP32": PEAK}, roofs
        assert all(near(read[1](r[3]), PEAK, 0.02) for r in roofs), roofs
        said = page.js("return document.querySelector('#roofline .unplaced').textContent")
        assert f"Without a place: {len(ops) - len(expected)}" in said and "above the roof of this machine (1 operator)" in said, said
        # By the keys: from dot to dot, and to the row in the table.
        page.js("document.querySelector('#roofline .dot').focus()")
        page.driver.switch_to.active_element.send_keys("\ue014")
        at = page.js("return +document.activeElement.dataset.op")
        second = sorted(dots, key=lambda d: -d["r"])[1]
        assert ops[at]["time"] == ops[second["op"]]["time"], (at, second)
        assert ops[at]["name"] in page.js("return document.getElementById('tip').textContent")
        page.driver.switch_to.active_element.send_keys("\ue007")
        assert page.js("return document.querySelector('tr.marked').id") == f"op-{at}"
        assert page.js("const b = document.querySelector('tr.marked').getBoundingClientRect(); return b.top >= 0 && b.bottom <= innerHeight")
        # The possible gain of each operator.
        bars = page.js("return [...document.querySelectorAll('#roofline .bar-row')].map(e => d3.select(e).datum().parts.map(p => p[1]))")
        gain = sorted(((o["time"] - 1e9 * o["flops"] / o["roof"]) for o in ops if not isinstance(o.get("roof"), dict)), reverse=True)
        assert all(near(b[1], g) for b, g in zip(bars[:3], gain[:3])), (bars[:3], gain[:3])

        # Modules: areas are proportional to weights, which add up.
        whole = page.js("return document.querySelector('#modules svg').getBoundingClientRect().width > 300")
        assert whole
        for weight in "time", "params":
            page.find(f"#modules .choice button[data-key='{weight}']")[0].click()
            tiles = page.js("""return [...document.querySelectorAll('#modules .tile')].map(e => { const d = d3.select(e).datum();
                return {name: d.data.name, value: d.value, depth: d.depth, text: e.textContent}; })""")
            outer = {t["name"]: t["value"] for t in tiles if t["depth"] == 1}
            for name, value in outer.items():
                inside = sum(known(o, weight) for o in ops if name == "(no module)" and "scope" not in o or
                             o.get("scope", "").replace("/", ".").split(".")[0] == name)
                assert near(value, inside), (weight, name, value, inside)
            assert all(wide <= 1 for wide in page.js("""return [...document.querySelectorAll('#modules .tile')].flatMap(e =>
                [...e.querySelectorAll('text')].map(t => t.getBBox().width / e.querySelector('rect').getBBox().width))"""))
        before = len(page.find("#modules .tile"))
        page.js("""[...document.querySelectorAll('#modules .tile')].find(e => d3.select(e).datum().data.name === 'layer1')
            .dispatchEvent(new MouseEvent('click', {bubbles: true}))""")
        crumbs = page.js("return document.querySelector('#modules .crumbs').textContent")
        assert crumbs == "model › layer1", crumbs
        inside = page.js("return [...document.querySelectorAll('#modules .tile')].map(e => d3.select(e).datum()).filter(d => d.data.op).map(d => d.data.op.scope)")
        assert inside and all(s.startswith("layer1") for s in inside), inside
        page.find("#modules .crumbs button")[0].click()
        assert len(page.find("#modules .tile")) == before


def case_operators_sizes(run):
    """On a phone nothing is wider than the screen; without roofs the dots are drawn and the reason is printed."""
    run("profile", "zoo:simplenet", "--engine", "null", "--engine-option", "ns=100000", "--engine-option",
        "operators=/fc1/Gemm:50000,/relu/Relu:20000,/fc2/Gemm:30000", "--runs", "20", "--warmup", "1", "--group", "1", "--profile-runs", "5",
        "--no-roofs", "--quiet", "--no-history", "--html", "n.html")
    with browser.Page("n.html", width=390, dark=True) as page:
        assert page.js("return document.documentElement.scrollWidth") <= 390
        assert len(page.find("#roofline .dot")) == 3 and not page.find("#roofline .roof")
        assert "not requested (--no-roofs)" in page.js("return document.getElementById('roofline').textContent")
