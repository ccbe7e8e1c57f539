# SPDX-License-Identifier: Apache-2.0
"""Accessibility: screen readers, colour vision deficiency, keyboard only; and print."""

import os

import browser

# Relative luminance and contrast as WCAG 2.2 defines them; a colour of the style as the browser computes it.
CONTRASTS = """
const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
const probe = document.body.appendChild(document.createElement('i'));
const of = name => { probe.style.color = `var(${name})`; return luminance(getComputedStyle(probe).color.match(/[\\d.]+/g).map(Number)); };
const ratio = (a, b) => (Math.max(of(a), of(b)) + 0.05) / (Math.min(of(a), of(b)) + 0.05);
return arguments[0].map(([a, b]) => [a, b, ratio(a, b)]);
"""
TEXTS = [(ink, paper) for ink in ("--ink", "--dim", "--c1", "--good", "--bad") for paper in ("--paper", "--raised")] + \
    [("--ink", "--warn-paper"), ("--ink", "--mark"), ("--paper", "--c1"), ("--warn", "--warn-paper")]
MARKS = [(f"--c{i}", "--paper") for i in range(1, 9)]

# Views that draw a table of the record, and the table of each.
ELSEWHERE = {"batches": "tables", "rates": "tables", "ratios": "tables", "trend": "tables", "tail": "facts", "roofline": "operators"}

# Charts without a summary, without marks that the keyboard reaches, and without a list of the numbers in their section.
CHARTS = """
const charts = [...document.querySelectorAll('.figure > svg')], said = e => (e.getAttribute('aria-label') || '').trim();
const path = e => `${e.closest('section').id}: ${said(e)}`;
return { n: charts.length, silent: charts.filter(e => said(e).length < 8).map(path),
    unreached: charts.filter(e => !e.querySelector('[tabindex="0"]')).map(path),
    unlisted: charts.filter(e => ![e.closest('section').id, arguments[0][e.closest('section').id]]
        .some(id => document.querySelector(`#${id} table, #${id} details`))).map(path),
    titles: document.querySelectorAll('svg title').length,
    nameless: [...document.querySelectorAll('button, input, select, canvas:not([aria-hidden])')].filter(e => !(e.textContent.trim() || said(e) ||
        (e.labels && e.labels.length) || e.title || e.closest('[aria-label]'))).map(e => e.outerHTML),
    moving: [...document.querySelectorAll('*')].filter(e => { const s = getComputedStyle(e); return s.transitionDuration !== '0s' || s.animationName !== 'none'; }).length };
"""


def case_access(run):
    run.record("bench", "bench", "zoo:simplenet", "--engine", "null", "--runs", "200", "--warmup", "5")
    run("cost", "zoo:simplenet", "--quiet", "--html", "cost.html", "--no-history")
    run("throughput", "zoo:simplenet", "--engine", "null", "--batch", "1,2", "--point-time", "20ms", "--rounds", "2", "--max-time", "20s", "--quiet", "--html", "batches.html", "--no-history")
    for dark in False, True:
        with browser.Page("bench.html", dark=dark) as page:
            for pairs, least in (TEXTS, 4.5), (MARKS, 3):
                poor = [p for p in page.js(CONTRASTS, pairs) if not p[2] >= least]
                assert not poor, (dark, poor)
            if dark: # print is always light
                page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
                assert page.js("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
                assert page.js("return getComputedStyle(document.querySelector('.bar')).display") == "none"
    with browser.Page("bench.html") as page:
        for path in "bench.html", "cost.html", "batches.html":
            page.driver.get("file://" + os.path.abspath(path))
            page.wait("return document.documentElement.dataset.ready === 'yes'")
            found = page.js(CHARTS, ELSEWHERE)
            assert found.pop("n") > 0 and not any(found.values()), (path, found)
