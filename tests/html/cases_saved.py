# SPDX-License-Identifier: Apache-2.0
"""The buttons of charts: each saves its chart as self-contained SVG and PNG, and its numbers as CSV."""

import base64
import csv
import io
import json
import subprocess
import xml.etree.ElementTree as xml

import browser

S = "{http://www.w3.org/2000/svg}"


def saved(page, within="body"):
    """Presses the buttons of all charts, and returns {file name: bytes}; a second file of a name is NAME~2."""
    page.js("""window.saved = [];
        HTMLAnchorElement.prototype.click = function () { window.saved.push([this.download, this.href]); };
        window.wanted = [...document.querySelectorAll(arguments[0] + ' .save button')];
        for (const b of window.wanted) b.click();""", within)
    page.wait("return window.saved.length >= window.wanted.length")
    files = {}
    for name, href in page.js("return window.saved"):
        kind, content = href.split(";base64,")
        assert kind == {"svg": "data:image/svg+xml", "png": "data:image/png", "csv": "data:text/csv"}[name[-3:]], (name, kind)
        n = 2
        full = name
        while full in files:
            full = f"{name}~{n}"
            n += 1
        files[full] = base64.b64decode(content)
    return files


def size_of(png):
    assert png[:8] == b"\x89PNG\r\n\x1a\n", png[:8]
    return int.from_bytes(png[16:20], "big"), int.from_bytes(png[20:24], "big")


def stand_alone(files):
    """Checks: well-formed, no script, style or external resources; the PNG twice as large; numbers in every CSV."""
    for name, content in files.items():
        if ".svg" not in name:
            continue
        root = xml.fromstring(content)
        for e in root.iter():
            assert e.tag not in (S + "script", S + "style", S + "foreignObject"), (name, e.tag)
            assert not any(k.startswith("on") or k == "style" for k in e.attrib), (name, e.attrib)
            assert e.get("href", "data:image/png").startswith("data:image/png"), (name, e.get("href"))
            assert "var(" not in " ".join(e.attrib.values()), (name, e.attrib)
        width, height = size_of(files[name.replace(".svg", ".png")])
        assert abs(width - 2 * float(root.get("width"))) <= 1 and abs(height - 2 * float(root.get("height"))) <= 1, name
        numbers = rows_of(files[name.replace(".svg", ".csv")])
        assert len(numbers) > 1 and all(len(row) == len(numbers[0]) for row in numbers), (name, numbers[:2])
        assert not any(word in ("NaN", "undefined", "Infinity", "[object Object]") for row in numbers for word in row), (name, numbers)


def rows_of(content):
    return list(csv.reader(io.StringIO(content.decode(), newline="")))


def columns_of(content):
    head, *rows = rows_of(content)
    return {title: [row[i] for row in rows] for i, title in enumerate(head)}


def marks(svg, name):
    """Returns the number of elements with this class."""
    return sum(name in e.get("class", "").split() for e in xml.fromstring(svg).iter())


def rewritten(name, record):
    with open(f"{name}.json", "w", encoding="utf-8") as f:
        json.dump(record, f)


def case_charts_are_saved(run):
    """Light colours in a dark page, which keeps its theme; the runs in the CSV equal those of the record."""
    record, path = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "5")
    with browser.Page(path, dark=True) as page:
        assert page.js("return [...document.querySelectorAll('.figure[data-name]')].every(f => f.querySelectorAll('.save button').length === 3)")
        files = saved(page)
        assert page.js("return document.documentElement.dataset.theme") == "dark"
    stand_alone(files)
    assert {name[:-4] for name in files} == {"ecdf", "lag", "phases", "histogram", "runs"}, files.keys()
    assert b"rgb(0, 114, 178)" in files["histogram.svg"], "not the colours of paper"
    series = next(s for s in record["series"] if s["tag"] == "latency")
    measured = series["values"][series["warmup"]:]
    runs = columns_of(files["runs.csv"])
    assert list(runs) == ["phase", "run", "since the first run [ns]", "time of a run [ns]"], runs
    assert [float(v) for v in runs["time of a run [ns]"]] == series["values"]
    assert [int(v) for v in runs["since the first run [ns]"]] == [t - series["at_ns"][0] for t in series["at_ns"]]
    assert runs["phase"] == ["warmup"] * series["warmup"] + ["measured"] * len(measured)
    assert [float(v) for v in columns_of(files["ecdf.csv"])["time of a run [ns]"]] == sorted(measured)
    lag = columns_of(files["lag.csv"])
    assert [float(v) for v in lag["a run [ns]"]] == measured[:-1] and [float(v) for v in lag["the next [ns]"]] == measured[1:]
    assert sum(int(v) for v in columns_of(files["histogram.csv"])["runs"]) == page_bins(measured, files)


def page_bins(measured, files):
    bins = columns_of(files["histogram.csv"])
    low, high = float(bins["from [ns]"][0]), float(bins["to [ns]"][-1])
    return sum(low <= v <= high for v in measured)


def case_saved_texts_are_no_formulas(run):
    """Texts equal those in the program's own CSV of operators with these names."""
    names = ["plain", "a,b", 'say "x"', "two\nlines", "=1+1", "+1", "-x", "@cmd", "\tx", "\rx", "\uff1d1", "bell\u0007\u009b\u202e.", "</script><b>"]
    record, _ = run.record("t", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    record["tables"] = [{"name": "bench/ranking", "title": "Ranking", "columns": [
        {"key": "subject", "title": "subject"}, {"key": "time", "title": "median", "unit": "ns"}, {"key": "ratio", "title": "ratio", "unit": "1"},
        {"key": "verdict", "title": "verdict"}], "rows": [[name, {"value": 1e6 + i / 3, "lo": 1e6 - 1, "hi": 1e6 + 9, "level": 0.95} if i % 2 else 1e6 + i / 3,
                                                           1 + i / 100, "slower"] for i, name in enumerate(names)]}]
    record["ops"] = [{"name": name, "type": "Conv", "outputs": [], "macs": 1, "flops": 2, "params": 3, "weight_bytes": 4, "read_bytes": 5,
                      "write_bytes": 6} for name in names]
    rewritten("t", record)
    run("report", "t.json", "-o", "t.html")
    text = subprocess.run([run.path, "report", "t.json", "--by", "node", "--format", "csv"], capture_output=True, check=True).stdout
    by_program = columns_of(text)["name"]
    with browser.Page("t.html") as page:
        files = saved(page, "#ranking")
    stand_alone(files)
    rows = rows_of(files["ranking.csv"])
    assert rows[0] == ["name", "time of a run [ns]", "from [ns]", "to [ns]", "level"], rows[0]
    for i, row in enumerate(rows[1:]):
        assert float(row[1]) == 1e6 + i / 3, row
        assert row[2:] == (["999999", "1000009", "0.95"] if i % 2 else ["", "", ""]), row
    assert sorted(row[0] for row in rows[1:]) == sorted(by_program), (rows, by_program)
    assert [row[0] for row in rows[1:]][4:8] == ["'=1+1", "'+1", "'-x", "'@cmd"]


def case_saved_searches(run):
    record, path = run.record("t", "throughput", "zoo:simplenet", "--engine", "null", "--batch", "1,2,4", "--rounds", "2", "--point-time", "20ms")
    table = next(t for t in record["tables"] if t["name"] == "throughput/points")
    key = {c["key"]: i for i, c in enumerate(table["columns"])}
    with browser.Page(path) as page:
        files = saved(page)
    stand_alone(files)
    got = columns_of(files["throughput.csv"])
    for i, row in enumerate(table["rows"]):
        rate = row[key["throughput"]]
        assert float(got["batch"][i]) == row[key["batch"]] and float(got["throughput [items/s]"][i]) == rate["value"], got
        assert [float(got[c][i]) for c in ("from [items/s]", "to [items/s]", "level")] == [rate["lo"], rate["hi"], rate["level"]], got
    for name in ("batch-latency", "pareto"):
        assert marks(files[f"{name}.svg"], "point") == len(table["rows"]), name


def case_saved_paths_and_operators(run):
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    evil = "</title></text><script>alert(1)</script>\u0001\ufffe&<b onload='x'>\ud83d\ude00"
    record["trees"] = [{"name": "samples", "title": evil, "columns": [{"key": "time", "title": "time", "unit": "ns"}],
                        "frames": [{"name": evil, "file": evil}, {"name": "b"}], "nodes": [[-1, 0, 7], [0, 1, 5], [0, 0, 3]]}]
    record["ops"] = [{"name": evil + str(i), "type": evil, "scope": f"a/{evil}", "outputs": [], "macs": 10 ** 6 + i, "flops": 2, "params": 3,
                      "weight_bytes": 4, "read_bytes": 5, "write_bytes": 6} for i in range(3)]
    rewritten("evil", record)
    run("report", "evil.json", "-o", "evil.html")
    with browser.Page("evil.html") as page:
        files = saved(page)
        # The chart of call paths is saved in its current layout.
        for form in "flame", "sunburst":
            page.js("[...document.querySelectorAll('#calls .controls button')].find(b => b.textContent.startsWith(arguments[0])).click()", form)
            files.update(saved(page, "#calls"))
    stand_alone(files)
    assert {"icicle.svg", "flamegraph.svg", "sunburst.svg", "operators.svg", "treemap.svg"} <= set(files), files.keys()
    assert marks(files["sunburst.svg"], "mark") == 4  # the root, and three paths
    assert marks(files["treemap.svg"], "single") == 3
    paths = columns_of(files["icicle.csv"])
    assert [float(v) for v in paths["self [ns]"]] == [7, 5, 3] and [float(v) for v in paths["total [ns]"]] == [15, 5, 3], paths
    assert paths["path"][1].endswith(";b"), paths
    assert [float(v) for v in columns_of(files["operators.csv"])["MACs"]] == [sum(10 ** 6 + i for i in range(3))]


def case_saved_timeline(run):
    """All visible ranges, exactly; in light colours, though the page is dark before and after."""
    trace = [{"ph": "X", "name": "</text><script>,", "ts": 10 * i, "dur": 8, "pid": 1, "tid": 2 + i % 2} for i in range(40)]
    rewritten("t", {"traceEvents": trace})
    run("report", "t.json", "-o", "t.html")
    with browser.Page("t.html", dark=True) as page:
        page.wait("return document.querySelector('#timeline .save') !== null")
        files = saved(page, "#timeline")
        page.wait("return document.querySelector('#timeline').timeline.most < 1000")
        assert page.js("return document.documentElement.dataset.theme") == "dark"
        page.js("document.querySelector('#timeline').timeline.show(0, 20000)")
        part = columns_of(saved(page, "#timeline")["timeline.csv"])
    stand_alone(files)
    root = xml.fromstring(files["timeline.svg"])
    assert len(list(root.iter(S + "image"))) == 1 and marks(files["timeline.svg"], "track") >= 2
    got = columns_of(files["timeline.csv"])
    assert sorted(float(v) for v in got["begin [ns]"]) == [10000.0 * i for i in range(40)], got
    assert set(got["took [ns]"]) == {"8000"} and set(got["name"]) == {"</text><script>,"} and set(got["ranges"]) == {"1"}
    assert sorted(float(v) for v in part["begin [ns]"]) == [0, 10000], part


def case_saved_several(run):
    """A chart of several records has a CSV row for each."""
    run.record("a", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    with open("a.json", encoding="utf-8") as f:
        median = next(m for m in json.load(f)["metrics"] if m["tag"] == "latency/median")
    run("report", "a.json", "a.json", "-o", "both.html")
    with browser.Page("both.html") as page:
        files = saved(page, "#beside")
    stand_alone(files)
    got = columns_of(files["medians.csv"])
    assert [float(v) for v in got["median of the runs [ns]"]] == [median["value"]] * 2, got
    assert len(set(columns_of(files["ecdfs.csv"])["name"])) == 2
