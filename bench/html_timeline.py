#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Time to open the page of a large trace in headless Chromium, and frame rate of its timeline.

  html_timeline.py BUILD [EVENTS...]        default: 10000 1000000 10000000

For each number of events: bench_timeline_make makes the trace, `deepclock report` writes the page, and a browser opens
it until the timeline is drawn. Then it pans, zooms in and out, and scrolls over the tracks for 3 seconds each, one step
per frame. Frames are callbacks of requestAnimationFrame(), which the browser limits to 60 per second.
Needs Chromium and Selenium; exits with 77 without them.
"""

import os
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "html"))
import browser  # noqa: E402

FRAMES = """
const [what, done] = arguments, v = document.querySelector('#timeline').timeline, times = [], work = [];
let sign = 1, n = 0;
const begun = performance.now();
v.show(0, what === 'tracks' ? v.t.ended : v.t.ended / 8);
const frame = now => {
  times.push(now);
  if (now - begun > 3000) { done([times, work]); return; }
  requestAnimationFrame(frame);
  n++;
  const from = performance.now();
  if (what === 'along') { if (v.to >= v.t.ended) sign = -1; if (v.from <= 0) sign = 1; v.move(0.02 * sign); }
  else if (what === 'zoom') v.zoom(n % 240 < 120 ? 0.96 : 1 / 0.96);
  else v.scroller.scrollTop = (n * 7) % Math.max(1, v.total - v.high);
  if (what !== 'tracks') { v.asked = true; v.drawNow(); v.asked = false; }
  work.push(performance.now() - from);
};
requestAnimationFrame(frame);
"""


def opened(page):
    """Returns the time from the start of navigation until the timeline was drawn, in ms, by the page's clock."""
    page.wait("const v = document.querySelector('#timeline').timeline; return v && v.frames > 0")
    return page.js("return document.querySelector('#timeline').timeline.drawnAt")


def rate(page, what):
    times, work = page.driver.execute_async_script(FRAMES, what)
    steps = sorted(b - a for a, b in zip(times, times[1:]))
    return (len(steps) / (times[-1] - times[0]) * 1e3, steps[len(steps) // 2], steps[int(len(steps) * 0.95)],
            sorted(work)[int(len(work) * 0.95)])


def main():
    build = os.path.abspath(sys.argv[1])
    sizes = [int(n) for n in sys.argv[2:]] or [10000, 1000000, 10000000]
    why = browser.missing()
    if why:
        print(f"html_timeline: skipped: {why}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            trace, page_path = os.path.join(folder, "t.pftrace"), os.path.join(folder, "t.html")
            subprocess.run([f"{build}/bench/bench_timeline_make", str(n), trace], check=True)
            spent = {}
            for name, words in (("table alone", ["--format", "json", "-o", page_path + ".json"]), ("page", ["-o", page_path])):
                before, begun = os.times(), time.monotonic()
                subprocess.run([f"{build}/deepclock", "report", trace, *words], check=True)
                after = os.times()
                spent[name] = (time.monotonic() - begun, after.children_user + after.children_system - before.children_user - before.children_system)
            print(f"{n:,} events: {os.path.getsize(trace) / 1e6:.1f} MB of trace; read for its table {spent['table alone'][1]:.2f} s of CPU, "
                  f"for the page {spent['page'][1]:.2f} s ({spent['page'][0]:.2f} s in all); page {os.path.getsize(page_path) / 1e6:.2f} MB")
            with browser.Page(page_path) as page:
                print(f"  drawn {opened(page):.0f} ms after it was opened")
                for what in ("along", "zoom", "tracks"):
                    fps, median, p95, work = rate(page, what)
                    print(f"  {what:7} {fps:5.1f} frames/s; between frames: median {median:.1f} ms, 95 % {p95:.1f} ms; drawing, 95 %: {work:.1f} ms", flush=True)


main()
