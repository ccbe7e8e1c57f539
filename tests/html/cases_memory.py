# SPDX-License-Identifier: Apache-2.0
"""Memory on the page: use over time with its peaks, and its allocators, by path, function and line."""

import json

import browser

C = """
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *text(size_t n) { return memset(malloc(n), 'x', n); }

int main(void) {
        char *big = text(3000000), *lost = text(1234);
        for (int i = 0; i < 1000; i++)
                free(text(64));
        usleep(150000);
        free(big);
        usleep(50000);
        return lost == NULL;
}
"""


def case_memory(run):
    run.compile(C, "words")
    run("memory", "--rate", "200", "--quiet", "--no-history", "--save", "m.json", "--html", "m.html", "--", "./words")
    with open("m.json", encoding="utf-8") as f:
        record = json.load(f)
    values = {m["tag"]: m.get("value") for m in record["metrics"]}
    heap = next(s for s in record["series"] if s["tag"] == "memory/heap")
    with browser.Page("m.html") as page:
        uses = page.js("return [...document.querySelectorAll('#memory .use')].map(g => d3.select(g).datum()).map(u => ({ tag: u.tag, top: u.top, points: u.points }))")
        mine = next(u for u in uses if u["tag"] == "memory/heap")
        assert [p[1] for p in mine["points"]] == heap["values"] and mine["top"][1] == max(heap["values"])
        labels = page.js("return [...document.querySelectorAll('#memory .peaklabel')].map(e => e.textContent)")
        assert len(labels) == len(uses) and any("2.863 MiB" in text or f"{values['memory/heap_peak'] / 2 ** 20:.3f} MiB" in text for text in labels), labels
        boxes = sorted(page.js("return [...document.querySelectorAll('#memory .peaklabel')].map(e => { const b = e.getBoundingClientRect(); return [b.top, b.bottom]; })"))
        assert all(a[1] <= b[0] + 4 for a, b in zip(boxes, boxes[1:])), boxes
        said = "return document.querySelector('#memory svg.calls').getAttribute('aria-label')"
        assert "at peak" in page.js(said)
        marks = """return [...document.querySelectorAll('#memory .mark')].map(g => [d3.select(g).datum().to - d3.select(g).datum().from, g.getAttribute('aria-label')])"""
        assert page.js(marks)[0][0] == 1
        # The line, the function and its location are in tables.
        rows = page.js("return [...document.querySelectorAll('#memory tbody tr')].map(e => e.textContent)")
        assert any(row.startswith("text") for row in rows), rows
        assert any("words.c:6" in row for row in rows), rows
        # Leaks are another weight of the same paths.
        keys = [c["key"] for c in next(t for t in record["trees"] if t["name"] == "allocations")["columns"]]
        page.js("const s = [...document.querySelectorAll('#memory select')][0]; s.value = arguments[0]; s.dispatchEvent(new Event('change'))", keys.index("leaked"))
        assert "leaked" in page.js(said) and "1.205 KiB" in page.js(said), page.js(said)
        page.js("document.querySelector('#memory [data-flag=lines]').click()")
        assert any("text:6" in text for text in page.js("return [...document.querySelectorAll('#memory .mark text')].map(e => e.textContent)"))
