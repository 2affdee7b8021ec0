#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live page in Chromium with figures that a test cannot have of irisd at will: an hour of history, many items, wide arrows.
test-web-live.py drives it with irisd-web and irisd.

    test-web-page.py DIRECTORY-OF-THE-PAGE FOLDER-FOR-PICTURES
"""
import http.client
import json
import os
import pathlib
import subprocess
import sys
import unittest

from webdriver import Browser, why_not

PAGE, PICTURES = sys.argv[1], pathlib.Path(sys.argv[2])
FAKE = pathlib.Path(__file__).with_name("fake-irisd-web.py")
VIEWS = ("machine", "history", "items", "workers", "limits")
ENTER, LEFT = "\ue007", "\ue012"

class Fake:
    """The server, in a process of its own, so that it can be killed and come back at the same port."""

    def __init__(self, places=4):
        self.places, self.port, self.process = places, 0, None
        self.start()

    def start(self):
        self.process = subprocess.Popen([sys.executable, FAKE, PAGE, "--places", str(self.places), "--port", str(self.port)],
                                        stdout=subprocess.PIPE, encoding="utf-8")
        self.url = self.process.stdout.readline().strip()
        self.port = int(self.url.rpartition(":")[2])
        self.set(interval_s=0.1)

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def set(self, **what):
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("POST", "/fake", json.dumps(what), {"Content-Type": "application/json"})
        try:
            return json.loads(connection.getresponse().read())
        finally:
            connection.close()

class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        PICTURES.mkdir(parents=True, exist_ok=True)

    def setUp(self):
        self.fake = Fake()
        self.addCleanup(self.fake.stop)
        self.browser.resize(1600, 1000)
        # Cookies are for a host, whatever its port.
        self.browser.command("Network.clearBrowserCookies")
        self.browser.open(self.fake.url)
        self.browser.sees("^live$", "#state")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def log_in(self, token="control"):
        self.browser.click("#login", "Log in")
        self.browser.write("dialog input", token)
        self.browser.press(ENTER)

    def view(self, name):
        self.browser.click('nav a[href="#%s"]' % name)
        self.browser.find("#view-" + name)

    def fits(self):
        """Nothing is wider than the window."""
        self.assertEqual(self.browser.script("""
            return [...document.querySelectorAll("main *, header, nav")].filter(node => !node.closest(".scroll, svg, pre, select")
                && node.checkVisibility() && node.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
                .map(node => node.tagName + "." + node.className)"""), [])

    def test_every_view_at_400_and_1600_light_and_dark(self):
        self.fake.set(steals=[[0, 1, 20.0], [2, 3, 400.0], [3, 0, 40.0]])
        self.log_in()
        self.browser.sees("anna, control", "header")
        seen = {"machine": "wait 99 %|queue", "history": "Items ended a second\\s+.* now", "items": "nightly/180|convert", "workers": "resize thumbnail",
                "limits": "in-flight-items"}
        for width in (1600, 400):
            for dark in (False, True):
                self.browser.resize(width, 900, dark=dark, still=True)
                for name in VIEWS:
                    self.view(name)
                    self.browser.sees(seen[name], "#view-" + name)
                    self.fits()
                    self.browser.shoot(PICTURES / ("%s-%d-%s.png" % (name, width, "dark" if dark else "light")))

    def test_a_large_machine_is_drawn(self):
        large = Fake(places=64)
        self.addCleanup(large.stop)
        for width in (1600, 400):
            self.browser.resize(width, 900, still=True)
            self.browser.open(large.url)
            self.browser.until("return document.querySelectorAll('.place .card').length === 64")
            large.set(steals=[[0, 1, 20.0], [62, 3, 40.0]])
            self.browser.until("return document.querySelectorAll('[data-steal]').length === 2")
            self.fits()
            self.browser.shoot(PICTURES / ("large-%d.png" % width))

    def test_nodes_are_shown_at_400_and_1600_light_and_dark(self):
        browser = self.browser
        self.assertTrue(browser.script("return document.querySelector('nav a[href=\"#nodes\"]').hidden"))
        self.fake.set(nodes=7, dead_letters=3)
        browser.until("return !document.querySelector('nav a[href=\"#nodes\"]').hidden")
        browser.sees("node n1, 0.1.0", "#about")
        for width in (1600, 400):
            for dark in (False, True):
                browser.resize(width, 900, dark=dark, still=True)
                self.view("nodes")
                browser.sees("n3\\s+gone", "#view-nodes")
                browser.sees("it survives the loss of 1 server", "#view-nodes")
                self.fits()
                # No column is cut off.
                self.assertTrue(browser.script("return [...document.querySelectorAll('#view-nodes .scroll, nav')].every(node => node.scrollWidth <= node.clientWidth + 1)"))
                browser.shoot(PICTURES / ("nodes-%d-%s.png" % (width, "dark" if dark else "light")))
        # The removed one has no card, and a row.
        self.assertEqual(browser.script("return document.querySelectorAll('.node').length"), 6)
        self.assertEqual(browser.script("return document.querySelectorAll('#view-nodes tbody tr').length"), 7)
        browser.sees("Dead letters\\s+3", "#view-nodes")
        browser.click('[data-node="n2"] button')
        browser.sees("rack r0, zone b", "dialog")
        browser.sees("same zone", "dialog")
        browser.sees("l3:1\\s+4-7", "dialog")
        self.fits()
        browser.shoot(PICTURES / "node-400.png", whole=False)

    def test_a_node_that_is_alone_says_so_in_each_view(self):
        browser, why = self.browser, "no connection to nats://192.0.2.1:4222; start it"
        self.fake.set(nodes=3, alone=why)
        browser.sees("^alone$", "#state")
        browser.sees("Node n1 is alone, without the other nodes: no connection to nats://192.0.2.1:4222; start it. Its own items run", "#banner")
        self.view("nodes")
        browser.sees("What is shown of the others is as they told it last", "#view-nodes")
        browser.sees("7 held here", "#view-nodes")
        browser.shoot(PICTURES / "nodes-alone.png")
        self.fake.set(alone="")
        browser.sees("^live$", "#state")
        browser.until("return document.querySelector('#banner').hidden && !document.querySelector('.nodes.old')")

    def test_a_large_cell_of_nodes_is_read(self):
        browser = self.browser
        self.fake.set(nodes=250)
        for width in (1600, 400):
            browser.resize(width, 900, still=True)
            self.view("nodes")
            browser.until("return document.querySelectorAll('.node').length === 60")
            browser.sees("The first 60 of 250; the table has all", "#view-nodes")
            self.fits()
            browser.shoot(PICTURES / ("nodes-250-%d.png" % width))
        browser.click("#view-nodes button", "Show all 250 rows")
        browser.until("return document.querySelectorAll('#view-nodes tbody tr').length === 250")

    def test_without_a_cluster_there_are_no_nodes(self):
        browser = self.browser
        browser.open(self.fake.url + "/#nodes")
        browser.sees("^live$", "#state")
        browser.find("#view-machine .tile")
        self.assertEqual(browser.script("return document.querySelector('#view-nodes').hidden"), True)
        self.assertEqual(browser.script("return document.querySelector('#view-nodes').innerText"), "")

    def test_a_steal_is_an_arrow_and_a_row(self):
        browser = self.browser
        self.assertEqual(browser.script("return document.querySelectorAll('[data-steal]').length"), 0)
        self.fake.set(steals=[[0, 1, 20.0], [2, 3, 400.0]])
        browser.until("return document.querySelector('[data-steal=\"2>3\"]') && document.querySelector('[data-steal=\"0>1\"]')")
        widths = browser.script("return ['0>1', '2>3'].map(key => Number(document.querySelector(`[data-steal=\"${key}\"] .arrow`).getAttribute('stroke-width')))")
        self.assertLess(widths[0], widths[1])
        browser.sees("l2:2\\s+l2:3\\s+400", "#view-machine")
        self.fake.set(steals=[])
        browser.until("return document.querySelectorAll('[data-steal]').length === 0")

    def test_why_irisd_is_not_ready_is_said(self):
        self.fake.set(ready=False)
        self.browser.sees("not ready", "#state")
        self.browser.sees("the journal's disk is full", "#banner")
        self.fake.set(ready=True)
        self.browser.sees("^live$", "#state")

    def test_an_hour_is_read_by_keys(self):
        browser = self.browser
        self.view("history")
        browser.sees("Items ended a second\\s+[0-9.]+k? now", "#view-history")
        browser.script("document.querySelector('#view-history svg').focus()")
        browser.press(LEFT, LEFT, LEFT)
        browser.sees("at [0-9:]+", "#view-history output")
        self.assertRegex(browser.script("return document.querySelector('#view-history svg').getAttribute('aria-label')"), "Items ended a second: .* at [0-9:]+")
        # A time of which nothing is known is a gap, and says so.
        self.assertEqual(browser.script("return document.querySelector('#view-history .line').getAttribute('d').split('M').length"), 3)
        browser.click("#view-history summary")
        browser.until("return document.querySelectorAll('#view-history tbody tr').length >= 9")


if __name__ == "__main__":
    if why_not():
        print("1..0 # SKIP the page is not tried in a browser: " + why_not())
        sys.exit(77)
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
