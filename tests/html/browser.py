# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium for the tests of report pages.

    with browser.Page(path) as page:
        page.js("return document.title")

  browser.py PAGE.html OUT.png [--dark] [--width N] [--height N] [--at SECTION]    a screenshot
"""

import argparse
import atexit
import os
import sys
import time

try:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None


def missing():
    """Returns why no browser is available, or None if one is."""
    if webdriver is None:
        return "Selenium for Python is not installed (Debian: python3-selenium)"
    for program in ("chromium", "chromedriver"):
        if not any(os.access(os.path.join(d, program), os.X_OK) for d in os.environ["PATH"].split(os.pathsep)):
            return f"{program} is not installed (Debian: chromium, chromium-driver)"
    return None


running = []  # the browser: starting one takes longer than most pages


def quit_browser():
    while running:
        running.pop().quit()


def started():
    if not running:
        options = webdriver.ChromeOptions()
        for word in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--force-device-scale-factor=1"):
            options.add_argument(word)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        running.append(webdriver.Chrome(service=Service("chromedriver"), options=options))
        running[0].set_script_timeout(120)
        atexit.register(quit_browser)
    return running[0]


class Page:
    """A file, open in a separate tab. Leaving it fails if the page wrote errors to the console."""

    def __init__(self, path, width=1280, height=900, dark=False, errors=True):
        self.path, self.size, self.dark, self.errors = os.path.abspath(path), (width, height), dark, errors

    def __enter__(self):
        self.driver = started()
        try:
            self.driver.switch_to.new_window("tab")
            self.driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
            # A window has a minimum width; a phone's page size is set by the device metrics.
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": self.size[0], "height": self.size[1], "deviceScaleFactor": 1, "mobile": False})
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
                {"name": "prefers-color-scheme", "value": "dark" if self.dark else "light"}]})
            self.driver.get("file://" + self.path)
            self.wait("return document.documentElement.dataset.ready === 'yes'")
        except BaseException:
            quit_browser()
            raise
        return self

    def __exit__(self, kind, *_):
        kept = False
        try:
            if kind is None:
                assert not self.console() or not self.errors, self.said
                self.driver.close()
                self.driver.switch_to.window(self.driver.window_handles[0])
                kept = True
        finally:
            if not kept:  # the state of a failed case must not reach the next
                quit_browser()

    def js(self, script, *args):
        return self.driver.execute_script(script, *args)

    def wait(self, script, seconds=120):
        """Waits until the script returns a true value, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            found = self.js(script)
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError(f"waited {seconds} s for: {script}; {self.console()}")

    def console(self):
        """Returns the errors of the page, including refused content."""
        self.said = getattr(self, "said", []) + [
            e["message"] for e in self.driver.get_log("browser") if e["level"] == "SEVERE"]
        return self.said

    def find(self, css):
        return self.driver.find_elements("css selector", css)

    def picture(self, path, whole=True):
        if whole:
            height = self.js("return document.documentElement.scrollHeight")
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": self.size[0], "height": min(height, 12000), "deviceScaleFactor": 1, "mobile": False})
            time.sleep(0.5)
        self.driver.save_screenshot(path)


def main():
    parser = argparse.ArgumentParser(description="a picture of a report page")
    parser.add_argument("page")
    parser.add_argument("out")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--height", type=int, default=900)
    parser.add_argument("--at", help="the id of the part to begin with; only the window is pictured then")
    args = parser.parse_args()
    why = missing()
    if why:
        sys.exit(f"browser: {why}")
    with Page(args.page, args.width, args.height, args.dark) as page:
        if args.at:
            page.js("document.getElementById(arguments[0]).scrollIntoView()", args.at)
            time.sleep(0.3)
        page.picture(args.out, whole=not args.at)


if __name__ == "__main__":
    main()
