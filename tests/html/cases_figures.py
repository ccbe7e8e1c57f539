# SPDX-License-Identifier: Apache-2.0
"""--figures: what C does not draw is drawn by the browser, as files that stand alone."""

import glob
import json
import os
import subprocess
import xml.etree.ElementTree as xml

S = "{http://www.w3.org/2000/svg}"


def names(folder):
    svg, png = ({os.path.splitext(os.path.basename(f))[0] for f in glob.glob(f"{folder}/*.{e}")} for e in ("svg", "png"))
    return svg, png


def marks(path, name):
    """How many elements have that class."""
    return sum(name in e.get("class", "").split() for e in xml.parse(path).getroot().iter())


def size_of(png):
    with open(png, "rb") as f:
        head = f.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n", head
    return int.from_bytes(head[16:20], "big"), int.from_bytes(head[20:24], "big")


def stands_alone(path):
    """Well-formed, without script, style or anything that is fetched; its PNG is twice as large."""
    root = xml.parse(path).getroot()
    for e in root.iter():
        assert e.tag not in (S + "script", S + "style", S + "foreignObject"), (path, e.tag)
        assert not any(k.startswith("on") or k == "style" for k in e.attrib), (path, e.attrib)
        assert e.get("href", "data:image/png").startswith("data:image/png"), (path, e.get("href"))
        assert "var(" not in " ".join(e.attrib.values()), (path, e.attrib)
    assert size_of(path[:-3] + "png") == (2 * int(root.get("width")), 2 * int(float(root.get("height")))), path


def case_figures_of_runs(run):
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "100", "--warmup", "5")
    run("report", "bench.json", "--figures", "out")
    svg, png = names("out")
    assert {"ecdf", "lag", "phases", "histogram", "runs"} <= svg, svg
    assert png >= {"ecdf", "lag", "phases"}, png
    for name in ("ecdf", "lag", "phases"):
        stands_alone(f"out/{name}.svg")
    values = next(s for s in record["series"] if s["tag"] == "latency")["values"][5:]
    told = [e.text for e in xml.parse("out/lag.svg").getroot().iter(S + "title") if e.text.startswith("run ")]
    assert 0 < len(told) == marks("out/lag.svg", "pair-of-runs") <= len(values) - 1, len(told)
    # Of several records each has its number; what is of all together has none.
    run("report", "bench.json", "bench.json", "--figures", "both")
    svg, _ = names("both")
    assert {"ecdf-1", "ecdf-2", "medians", "ecdfs"} <= svg and "ecdf" not in svg, svg
    # No profile of the browser, and no page, stays.
    assert not glob.glob(os.path.join(os.environ.get("TMPDIR", "/tmp"), "deepclock-run-*", "profile"))


def case_figures_of_paths_and_names(run):
    record, _ = run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")
    evil = "</title></text><script>alert(1)</script>\u0001\ufffe&<b onload='x'>\ud83d\ude00"
    record["trees"] = [{"name": "samples", "title": evil, "columns": [{"key": "time", "title": "time", "unit": "ns"}],
                        "frames": [{"name": evil, "file": evil}, {"name": "b"}], "nodes": [[-1, 0, 7], [0, 1, 5], [0, 0, 3]]}]
    record["ops"] = [{"name": evil + str(i), "type": evil, "scope": f"a/{evil}", "outputs": [], "macs": 10 ** 6 + i, "flops": 2, "params": 3,
                      "weight_bytes": 4, "read_bytes": 5, "write_bytes": 6} for i in range(3)]
    with open("evil.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "evil.json", "--figures", "out")
    svg, _ = names("out")
    assert {"sunburst", "operators", "treemap", "icicle", "flamegraph"} <= svg, svg
    for name in ("sunburst", "operators", "treemap"):
        stands_alone(f"out/{name}.svg")
    assert marks("out/sunburst.svg", "mark") == 4  # all, and three paths
    assert marks("out/treemap.svg", "single") == 3
    assert any("<script>alert(1)" in (e.text or "") for e in xml.parse("out/sunburst.svg").getroot().iter(S + "title"))


def case_figures_of_searches(run):
    record, _ = run.record("t", "throughput", "zoo:simplenet", "--engine", "null", "--batch", "1,2,4")
    run("report", "t.json", "--figures", "out")
    rows = next(t for t in record["tables"] if t["name"] == "throughput/points")["rows"]
    for name in ("batch-latency", "pareto"):
        stands_alone(f"out/{name}.svg")
        assert marks(f"out/{name}.svg", "point") == len(rows), name


def case_figures_of_a_trace(run):
    trace = [{"ph": "X", "name": "</text><script>", "ts": 10 * i, "dur": 8, "pid": 1, "tid": 2 + i % 2} for i in range(40)]
    with open("t.json", "w", encoding="utf-8") as f:
        json.dump({"traceEvents": trace}, f)
    run("report", "t.json", "--figures", "out")
    stands_alone("out/timeline.svg")
    root = xml.parse("out/timeline.svg").getroot()
    assert len(list(root.iter(S + "image"))) == 1 and marks("out/timeline.svg", "track") >= 2


def case_figures_without_a_browser(run):
    """Its absence is said, with the remedy, and is no failure; a browser that fails is one, and what C draws is there."""
    run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "60", "--warmup", "1")

    def figures(folder, path):
        return subprocess.run([run.path, "report", "bench.json", "--figures", folder], capture_output=True, text=True, env={**os.environ, "PATH": path})
    done = figures("none", "/nonexistent")
    assert done.returncode == 0 and "Debian: chromium" in done.stderr, done
    assert names("none")[0] == {"histogram", "runs"}, names("none")
    os.mkdir("bin")
    with open("bin/chromium", "w", encoding="utf-8") as f:
        f.write("#!/bin/sh\nexit 7\n")
    os.chmod("bin/chromium", 0o755)
    done = figures("broken", os.path.abspath("bin") + ":/usr/bin:/bin")
    assert done.returncode == 1 and "exit status 7" in done.stderr, done
    assert names("broken")[0] == {"histogram", "runs"}, names("broken")
