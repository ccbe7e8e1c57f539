#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents as a site (tools/site.py), built and opened in Chromium through a local server: its search finds a page, pictures and tables
are there, every public C symbol and Python function is on its page; a broken link fails the build.

  site.py BUILD
"""

import functools
import http.server
import os
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path[:0] = [HERE, os.path.join(ROOT, "tests", "real")]
import browser  # noqa: E402
import common  # noqa: E402
from common import expect  # noqa: E402

BUILD = os.path.abspath(sys.argv[1])
WHERE = os.path.join(BUILD, "site")
ENV = {**os.environ, "PYTHONPATH": f"{BUILD}/mkdocs:{BUILD}/python:{ROOT}/tools", "PYTHONDONTWRITEBYTECODE": "1"}


def need():
    if not os.path.exists(os.path.join(BUILD, "mkdocs", "material", "__init__.py")):
        raise common.Skipped("MkDocs is not installed: 'make test-all' fetches mkdocs-material")


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def builds():
    done = subprocess.run([sys.executable, os.path.join(ROOT, "tools", "site.py"), WHERE], env=ENV, capture_output=True, text=True,
                          check=False)
    expect(done.returncode == 0 and "WARNING" not in done.stderr, done.stdout + done.stderr)
    c = read(WHERE + ".src/docs/reference/c-api.md")
    for row in read(os.path.join(ROOT, "tools", "exports.txt")).splitlines():
        name, _, header = row.partition(" ")
        if row[:1] != "#" and header not in ("-", "unstable.h"):
            expect(name in c, f"{name} of {header} is not on the page of the C interface")
    python = read(WHERE + ".src/docs/reference/python-api.md")
    expect(all(f"\n## deepclock.{name}\n" in python for name in ("bench", "compare", "Record", "lap", "trace")), "Python")


def broken():
    script = ("import os, sys, site_of_docs as s\n"
              "s.c.ROOT = os.getcwd()\n"
              "sys.exit(s.main(os.path.abspath('out')))\n")
    for path, text in {"README.md": "# A\n", "docs/index.md": "# B\n## 1. C\n[d](d.md)\n",
                       "docs/d.md": "# D\n[gone](index.md#gone)\n",
                       # The pages that are made link to these.
                       "docs/c.md": "# C\n", "docs/python.md": "# P\n", "docs/reference/abi.md": "# A\n"}.items():
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
    with open(os.path.join(ROOT, "tools", "site.py"), encoding="utf-8") as f, open("site_of_docs.py", "w", encoding="utf-8") as g:
        g.write(f.read())  # 'site' is a module of Python
    ran = functools.partial(subprocess.run, [sys.executable, "-c", script], env=ENV, capture_output=True, text=True, check=False)
    done = ran()
    expect(done.returncode == 1 and "#gone" in done.stderr, done.stdout + done.stderr)
    with open("docs/d.md", "w", encoding="utf-8") as f:
        f.write("# D\n[there](index.md#1-c)\n")
    done = ran()
    expect(done.returncode == 0, done.stdout + done.stderr)


def until(driver, script):
    for _ in range(600):
        value = driver.execute_script(script)
        if value:
            return value
        time.sleep(0.1)
    raise AssertionError(f"never true: {script}")


def searches():
    if browser.missing():
        raise common.Skipped(browser.missing())
    handler = functools.partial(Quiet, directory=WHERE)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        driver, address = browser.started(), f"http://127.0.0.1:{server.server_address[1]}/"
        driver.get(address + "index.html")
        expect(until(driver, "return [...document.images].every(i => i.complete && i.naturalWidth > 0)"), "pictures")
        expect(driver.execute_script("return document.querySelectorAll('article table').length") >= 2, "tables")
        driver.execute_script("document.querySelector('[data-md-component=search-query]').focus()")
        driver.switch_to.active_element.send_keys("warm-up")
        found = until(driver, "return [...document.querySelectorAll('a.md-search-result__link')].map(a => a.href)")
        expect(any(url.startswith(address + "docs/") for url in found), found)
        driver.get(found[0])
        expect("warm-up" in until(driver, "return document.querySelector('article')?.innerText.toLowerCase()"), found[0])
        driver.get(address + "docs/reference/options.html")
        expect(driver.execute_script("return document.querySelectorAll('article tr').length") > 100, "the table of options")
        wrong = [e["message"] for e in driver.get_log("browser") if e["level"] == "SEVERE"]
        expect(not wrong, wrong)
        browser.quit_browser()
        server.shutdown()


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


if __name__ == "__main__":
    common.run([("the site is built, with both interfaces", builds), ("a broken link", broken), ("its search in Chromium", searches)], need=need)
