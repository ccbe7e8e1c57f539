# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job on the page."""

import json
import os

import browser

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data")
STEPS, SLOW = 10, 1


def columns(*keys):
    return [{"key": key, "title": key, **({"unit": unit} if unit else {})} for key, unit in keys]


def spans_of(step, ms):
    """A step of three ranks, in which SLOW works `ms` longer, until all leave the collective."""
    rows = []
    for rank in range(3):
        work = 4 + (ms if rank == SLOW else 0)
        for kind, name, begin, end in (("step", "step", 0, ms + 6), ("part", "forward", 0, work), ("collective", "collective:sum", work, ms + 5)):
            rows.append([step, rank, kind, name, int(1e6 * begin), int(1e6 * end)])
    return rows


def case_ranks(run):
    with open(os.path.join(DATA, "record_machine.json"), encoding="utf-8") as f:
        record = json.load(f)
    waits = [[0 if rank == SLOW else 10e6 + 1e6 * step for step in range(STEPS)] for rank in range(3)]
    record["tables"] = [
        {"name": "ranks", "title": "Ranks", "columns": columns(("rank", "1"), ("wait", "ns"), ("cost", "ns")),
         "rows": [[rank, sum(w) / STEPS, 0] for rank, w in enumerate(waits)]},
        {"name": "ranks/times", "title": "Ranks by time", "columns": columns(("rank", "1"), ("from", "1"), ("to", "1"), ("wait", "ns"), ("cost", "ns")),
         "rows": [[rank, step + 3, step + 3, w[step], 0] for rank, w in enumerate(waits) for step in range(STEPS)]},
        {"name": "ranks/spans", "title": "Steps", "columns": columns(("step", "1"), ("rank", "1"), ("kind", ""), ("name", ""), ("begin", "ns"), ("end", "ns")),
         "rows": spans_of(12, 19) + spans_of(7, 9)}]
    with open("job.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "job.json", "-o", "job.html")
    with browser.Page("job.html") as page:
        cells = page.js("""return [...document.querySelectorAll('#ranks .rank-time')].map(e => { const d = d3.select(e).datum();
            return [d.rank, d.from, +e.getAttribute('fill-opacity'), +e.getAttribute('x'), +e.getAttribute('y')]; })""")
        assert [c[:2] for c in cells] == [[rank, step + 3] for rank in range(3) for step in range(STEPS)], cells
        for rank, step, dark, x, y in cells:
            assert abs(dark - (0.05 + 0.95 * waits[rank][step - 3] / 19e6)) < 1e-9, (rank, step, dark)
        assert len({c[4] for c in cells}) == 3 and sorted(c[3] for c in cells[:STEPS]) == [c[3] for c in cells[:STEPS]]
        def tip(mark, at):
            return page.js("""const e = document.querySelectorAll(arguments[0])[arguments[1]];
                e.dispatchEvent(new MouseEvent('mousemove', { clientX: 300, clientY: 300, bubbles: true }));
                return document.getElementById('tip').innerText""", mark, at)

        said = tip("#ranks .rank-time", 2)
        assert "rank 0, steps 5 to 5" in said and "12 ms" in said, said
        said = tip("#ranks .rank-span", 1)
        assert "rank 0: forward" in said and "4 ms" in said, said
        # One step of all ranks, and the other one: who comes last to the collective.
        for at, (step, ms) in enumerate(((12, 19), (7, 9))):
            page.js(f"""const s = document.querySelector('#ranks .controls select'); s.value = {at}; s.dispatchEvent(new Event('change')); return 1""")
            spans = page.js("""return [...document.querySelectorAll('#ranks .rank-span')].map(e => { const d = d3.select(e).datum();
                return [d.rank, d.kind, +e.getAttribute('x'), +e.getAttribute('width'), +e.getAttribute('y')]; })""")
            assert [s[:2] for s in spans] == [row[1:3] for row in spans_of(step, ms)], spans
            begins = [s[2] for s in spans if s[1] == "collective"]
            assert max(begins) == begins[SLOW] > begins[0] == begins[2], begins
            whole = spans[0][3]
            assert all(abs(s[3] / whole - (row[5] - row[4]) / 1e6 / (ms + 6)) < 0.01 for s, row in zip(spans, spans_of(step, ms))), spans
            assert sorted(s[4] for s in spans) == [s[4] for s in spans]
        # The bars begin at 0, whatever the range of the values.
        bars = page.js("return [...document.querySelectorAll('#ranks .bar')].map(e => [d3.select(e).datum().value, +e.getAttribute('width')])")
        assert len(bars) == 6 and abs(bars[0][1] / bars[2][1] - 1) < 1e-9 and bars[1][1] == 0 < bars[0][1], bars
        assert page.js("return document.documentElement.scrollWidth") <= 1280
    # A wait that is absent is left blank, and the others keep their colours.
    record["tables"][1]["rows"][0][3] = {"absent": "x"}
    with open("absent.json", "w", encoding="utf-8") as f:
        json.dump(record, f)
    run("report", "absent.json", "-o", "absent.html")
    with browser.Page("absent.html") as page:
        shown = page.js("return [...document.querySelectorAll('#ranks .rank-time')].map(e => +e.getAttribute('fill-opacity'))")
        assert shown == [0] + [c[2] for c in cells[1:]], shown
        assert "19 ms" in page.js("return document.querySelector('#ranks [data-name=ranks-times] svg').getAttribute('aria-label')")
