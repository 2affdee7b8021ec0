# SPDX-License-Identifier: LGPL-2.1-or-later
"""Chromium, driven through chromedriver by plain WebDriver requests."""
import base64
import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time

PATIENCE = 240  # seconds; only against hanging
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"


def why_not():
    """Why no browser can be driven; None if one can."""
    missing = [name for name in ("chromium", "chromedriver") if shutil.which(name) is None]
    return "%s not installed" % " and ".join(missing) if missing else None


class Browser:
    def __init__(self):
        self.home = tempfile.TemporaryDirectory()
        # Chromium keeps what it needs below its home; a socket's path must not be long.
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                       encoding="utf-8", env=dict(os.environ, HOME=self.home.name, TMPDIR=self.home.name))
        for line in self.driver.stdout:
            started = re.search(r"started successfully on port (\d+)", line)
            if started:
                break
        else:
            raise AssertionError("chromedriver did not start")
        self.connection = http.client.HTTPConnection("127.0.0.1", int(started.group(1)), timeout=PATIENCE)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
                     "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-extensions"]
        self.path = ""
        value = self.ask("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome", "goog:chromeOptions": {"args": arguments, "binary": shutil.which("chromium")},
            "goog:loggingPrefs": {"browser": "ALL"}}}})
        self.path = "/session/" + value["sessionId"]

    def close(self):
        try:
            self.ask("DELETE", "")
        finally:
            self.driver.terminate()
            self.driver.wait(PATIENCE)
            self.driver.stdout.close()
            self.remove_home()

    def remove_home(self):
        """Chromium's last processes end after the driver, and may write meanwhile."""
        until = time.monotonic() + PATIENCE
        while os.path.exists(self.home.name):
            try:
                self.home.cleanup()
            except OSError:
                if time.monotonic() > until:
                    raise

    def ask(self, method, path, body=None):
        self.connection.request(method, self.path + path, None if body is None else json.dumps(body),
                                {"Content-Type": "application/json"})
        answer = self.connection.getresponse()
        value = json.loads(answer.read())["value"]
        if answer.status != 200:
            raise AssertionError("%s %s: %s" % (method, path, value.get("message", value)))
        return value

    def post(self, path, **body):
        return self.ask("POST", path, body)

    def open(self, url):
        self.post("/url", url=url)

    def script(self, script, *arguments):
        return self.post("/execute/sync", script=script, args=list(arguments))

    def command(self, name, **parameters):
        """One of the commands of Chromium's DevTools."""
        return self.post("/goog/cdp/execute", cmd=name, params=parameters)

    def resize(self, width, height, dark=False, still=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.command("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])

    def until(self, script, *arguments, why=None):
        """What a script says, once that is true."""
        end = time.monotonic() + PATIENCE
        while True:
            value = self.script(script, *arguments)
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError("%s; the page says: %s" % (why or script, self.script("return document.body.innerText")))

    def sees(self, pattern, inside="body"):
        """Waits until the visible text matches."""
        return self.until("const node = document.querySelector(arguments[1]);"
                          "return node && new RegExp(arguments[0], 'm').test(node.innerText)", pattern, inside,
                          why="no %r in %s" % (pattern, inside))

    def sees_no(self, pattern, inside="body"):
        return self.until("const node = document.querySelector(arguments[1]);"
                          "return !node || !new RegExp(arguments[0], 'm').test(node.innerText)", pattern, inside,
                          why="%r is in %s" % (pattern, inside))

    def find(self, selector, text=None):
        """The first visible element with a text; as a person finds it."""
        return self.until("""return [...document.querySelectorAll(arguments[0])].find(node => (node.tagName === "OPTION" || node.checkVisibility())
            && (arguments[1] === null || new RegExp(arguments[1]).test(node.innerText)))""", selector, text,
                          why="no %s with %r" % (selector, text))[ELEMENT]

    def click(self, selector, text=None):
        self.post("/element/%s/click" % self.find(selector, text))

    def write(self, selector, text):
        self.post("/element/%s/value" % self.find(selector), text=text)

    def press(self, *keys):
        """Keys pressed one after the other, where the focus is."""
        self.post("/actions", actions=[{"type": "key", "id": "keys", "actions": [
            {"type": kind, "value": key} for key in keys for kind in ("keyDown", "keyUp")]}])

    def shoot(self, path, whole=True):
        """A picture of the page, all of its length."""
        options = {"captureBeyondViewport": whole}
        if whole:
            size = self.command("Page.getLayoutMetrics")["cssContentSize"]
            options["clip"] = {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.command("Page.captureScreenshot", format="png", **options)["data"]))

    def complaints(self):
        """What scripts got wrong since the last time; a request that is refused is not among it."""
        return [entry["message"] for entry in self.post("/se/log", type="browser")
                if entry["level"] == "SEVERE" and "Failed to load resource" not in entry["message"]]

    def new_tab(self, url):
        self.post("/window", handle=self.post("/window/new", type="tab")["handle"])
        self.open(url)
