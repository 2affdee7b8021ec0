#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The live page of irisd-web in Chromium, with irisd behind it, driven as a person would.

    test-web-live.py irisd irisctl irisd-web DIRECTORY-OF-THE-FIXTURE FOLDER-FOR-PICTURES

IRISD_HOLD_PLUGIN is the plug-in with the service “hold”.
"""
import json
import os
import pathlib
import signal
import sys
import unittest

sys.path.insert(0, sys.argv[4])
from web import Machine, get  # noqa: E402  (the path above)
from webdriver import Browser, why_not  # noqa: E402

PROGRAMS, PICTURES = sys.argv[1:4], pathlib.Path(sys.argv[5])
VIEWS = ("machine", "history", "items", "workers", "limits")
SEEN = {"machine": "Places", "nodes": "All machines", "history": "Items ended a second\\s+.* now", "items": "Persistent items", "workers": "Services",
        "limits": "persistent-items"}
ENTER, TAB, ESCAPE = "\ue007", "\ue004", "\ue00c"
TWO_PLACES = ("--topology", "package:2 core:2 pu:1", "--places", "package")
MANY_PLACES = ("--topology", "package:4 l3:4 core:4 pu:1", "--places", "core")


class Live(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        PICTURES.mkdir(parents=True, exist_ok=True)

    def start(self, *args, alone=False):
        self.machine = Machine(*PROGRAMS)
        self.addCleanup(self.machine.close)
        self.tokens = {role: self.machine.new_token("anna-" + role, role) for role in ("observe", "control")}
        self.irisd = (self.machine.start_irisd_alone if alone else self.machine.start_irisd)(*(args or TWO_PLACES))
        self.web = self.machine.start_web()
        self.browser.resize(1600, 900, still=True)
        # Cookies are for a host, whatever its port.
        self.browser.command("Network.clearBrowserCookies")
        self.browser.open(self.web.url)
        self.browser.sees("^(joining|alone)$" if alone else "^live$", "#state")

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])
        # Its requests end before the server does.
        self.browser.open("about:blank")

    # As a person with a keyboard.

    def tab_to(self, words, inside="body"):
        """Tab, until what has the focus has this name."""
        for _ in range(100):
            if self.browser.script("""
                    const node = document.activeElement;
                    return Boolean(node.closest(arguments[1])) && new RegExp(arguments[0]).test(
                        node.innerText || node.getAttribute("aria-label") || node.labels?.[0]?.innerText || "")""", words, inside):
                return
            self.browser.press(TAB)
        self.fail("no key leads to %r in %s" % (words, inside))

    def log_in(self, role="control"):
        self.tab_to("^Log in$")
        self.browser.press(ENTER)
        self.browser.find("dialog input")
        self.browser.press(*self.tokens[role], ENTER)
        self.browser.sees("anna-%s, %s" % (role, role), "#who")

    def view(self, name):
        self.browser.script("document.activeElement.blur()")
        self.tab_to("^%s$" % name.capitalize(), "nav")
        self.browser.press(ENTER)
        self.browser.sees(SEEN[name], "#view-" + name)

    def answer_twice(self, first, last):
        """Each question has the safe answer first."""
        for answer in first, last:
            self.browser.find("dialog:last-of-type button", answer)
            self.assertEqual(self.browser.script("return document.activeElement.innerText"), "Leave it")
            self.tab_to(answer, "dialog:last-of-type")
            self.browser.press(ENTER)

    def find_text(self, text, state):
        """The item that the search finds, opened."""
        self.browser.write('#view-items input[name="search"]', text)
        self.browser.until("return document.querySelectorAll('#view-items tbody tr').length === 1")
        self.tab_to("^[0-9]+$", "#view-items tbody")
        self.browser.press(ENTER)
        self.browser.sees("state\\s+" + state, "dialog")

    def check_view(self, name):
        """Nothing is wider than the window or its panel, and whatever takes the focus, and each picture and table, has a name."""
        wide = """return [...document.querySelectorAll("main *, header, nav")].filter(node => !node.closest(".scroll, svg, pre, select")
            && node.checkVisibility() && node.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
            .map(node => node.tagName + "." + node.className)"""
        scrolled = """return [...document.querySelectorAll(".scroll")].filter(node => node.checkVisibility() && node.scrollWidth > node.clientWidth + 1)
            .map(node => node.getAttribute("aria-label"))"""
        nameless = """return [...document.querySelectorAll("a, button, input, select, [tabindex='0'], [role=img], table, section")]
            .filter(node => node.checkVisibility() && !(node.innerText || node.getAttribute("aria-label") || node.labels?.length))
            .map(node => node.outerHTML.slice(0, 120))"""
        for script in wide, scrolled, nameless:
            self.assertEqual(self.browser.script(script), [], name)

    # The tests.

    def test_every_view_is_opened_at_400_and_1600_light_and_dark(self):
        self.start()
        self.browser.sees("sums only", "#who")
        self.browser.script("location.hash = '#items'")
        self.browser.sees("Items need a role", "#view-items")
        self.machine.submit("--delay", "1h", "--key", "nightly/1", "command", "convert", "picture 1.png", "out.png")
        self.log_in()
        for width in (1600, 400):
            for dark in (False, True):
                self.browser.resize(width, 900, dark=dark, still=True)
                for name in VIEWS:
                    self.view(name)
                    self.check_view(name)
                    self.browser.shoot(PICTURES / ("live-%s-%d-%s.png" % (name, width, "dark" if dark else "light")))

    def test_a_steal_is_seen_where_hints_name_one_place(self):
        self.start(*TWO_PLACES, "--plugin", os.environ["IRISD_HOLD_PLUGIN"])
        # The workers of place 0 are held, so place 1 takes all that is hinted there.
        for i in range(2):
            gate = self.machine.dir / ("gate-%d" % i)
            os.mkfifo(gate)
            self.machine.submit("--place", "0", "--strict", "--path", str(gate), "hold")
            with open(gate, "rb") as opened:
                self.assertEqual(opened.read(1), b"\n")
        many = self.machine.dir / "many"
        many.write_text("".join(json.dumps({"service": "sha256", "payload": "x" * 60000, "class": "volatile", "place": "0"}) + "\n"
                                for _ in range(100)))
        # Until the page has seen it, as rates are those of a second.
        for _ in range(1000):
            self.machine.irisctl("submit", "--class", "volatile", "--items", str(many))
            if self.browser.script("return document.querySelector('[data-steal=\"0>1\"] .arrow')"):
                break
        self.browser.sees("package:0\\s+package:1\\s+[0-9.]+", "#view-machine")
        self.assertIsNone(self.browser.script("return document.querySelector('[data-steal=\"1>0\"], [data-steal=\"0>0\"]')"))
        self.assertRegex(self.browser.script("return document.querySelector('.drawing svg').getAttribute('aria-label')"), "2 places: busiest is package:[01]")
        self.browser.until("return document.querySelectorAll('[data-steal]').length === 0")

    def test_an_item_is_found_followed_and_cancelled(self):
        self.start()
        pipe = self.machine.dir / "pipe"
        os.mkfifo(pipe)
        for i in range(60):
            self.machine.submit("--delay", "1h", "--key", "nightly/%d" % i, "command", "convert", "picture-%d.png" % i)
        number = self.machine.submit("command", "cat", str(pipe))
        browser = self.browser
        self.log_in()
        self.view("items")
        browser.until("return document.querySelectorAll('#view-items tbody tr').length === 50")
        browser.click("#view-items button", "More items")
        browser.until("return document.querySelectorAll('#view-items tbody tr').length === 61")
        browser.click('#view-items option[value="running,leased"]')
        browser.until("return document.querySelectorAll('#view-items tbody tr').length === 1")
        self.find_text(pipe.name, "running")
        with open(pipe, "wb", buffering=0) as written:
            for line in "the first line\n", "the second, in Greek: ένα δύο\n":
                written.write(line.encode())
                browser.sees(line.strip(), "dialog pre")
            browser.sees("the first line\nthe second", "dialog pre")
            browser.shoot(PICTURES / "live-item.png", whole=False)
            self.tab_to("^Cancel", "dialog")
            browser.press(ENTER)
            browser.sees("will be told to stop. This cannot be undone", "dialog:last-of-type")
            browser.press(TAB, ENTER)
            browser.sees("Asked again", "dialog:last-of-type")
            browser.shoot(PICTURES / "live-question.png", whole=False)
            browser.press(ESCAPE)
            browser.until("return document.querySelectorAll('dialog').length === 1")
            self.assertEqual(get(self.web, "/items/%d" % number, token=self.tokens["observe"]).json["state"], "running")
            self.tab_to("^Cancel", "dialog")
            browser.press(ENTER)
            self.answer_twice("^Cancel it", "^Yes, cancel item %d" % number)
            browser.sees("Item %d is cancelled" % number, "#told")
            browser.sees("state\\s+cancelled|no item", "dialog")
        browser.press(ESCAPE)
        browser.sees("No item is selected by these filters", "#view-items")

    def test_an_item_is_buried_and_kicked_by_those_who_may(self):
        self.start()
        browser, number = self.browser, self.machine.submit("--delay", "1h", "echo", "x")
        self.log_in("observe")
        browser.script("location.hash = '#items/%d'" % number)
        browser.sees("state\\s+delayed", "dialog")
        self.assertEqual(browser.script("return [...document.querySelectorAll('dialog button')].map(node => node.innerText)"), ["Close"])
        browser.press(ESCAPE)
        browser.until("return document.querySelector('dialog') === null")
        self.tab_to("^Log out$")
        browser.press(ENTER)
        browser.sees("sums only", "#who")
        self.log_in()
        browser.script("location.hash = '#items/%d'" % number)
        for name, state in ("Bury", "buried"), ("Kick", "delayed|queued|running|done"):
            self.tab_to("^" + name, "dialog")
            browser.press(ENTER)
            self.answer_twice("^%s it" % name, "^Yes, %s item" % name.lower())
            browser.sees("state\\s+(%s)" % state, "dialog")

    def test_a_place_is_drained_and_staffed(self):
        self.start()
        browser = self.browser
        self.log_in()
        self.view("machine")
        for name, first, last, told in ("Drain…", "Drain it", "Yes, drain", "package:1 is drained"), \
                ("Take items again…", "Open it", "Yes, open", "package:1 is open"):
            self.tab_to("^package:1$", "#view-machine")
            browser.press(ENTER)
            self.tab_to("^" + name, "dialog")
            browser.press(ENTER)
            self.answer_twice(first, last)
            browser.sees(told, "#told")
            browser.until("return (document.querySelector('g.place.drained') !== null) === arguments[0]", name == "Drain…")
            self.assertEqual("drained" in self.machine.irisctl("places"), name == "Drain…")
        self.tab_to("^package:0$", "#view-machine")
        browser.press(ENTER)
        self.tab_to("^Workers…", "dialog")
        browser.press(ENTER)
        browser.script("document.querySelector('dialog input').value = ''")
        browser.write("dialog input", "1")
        self.tab_to("^Leave it", "dialog")
        self.answer_twice("Set them", "Yes, set")
        browser.sees("package:0 has 1 active worker", "#told")
        browser.until("return document.querySelectorAll('.worker.parked').length === 2")

    @unittest.skipUnless(os.environ.get("IRIS_HAVE_CLUSTER") == "yes", "irisd was built without clusters")
    def test_a_node_whose_cluster_is_not_there_says_so(self):
        self.start(alone=True)
        browser = self.browser
        browser.sees("Node n1 is not in its cluster: .*there is no connection.* Its own items run", "#banner")
        browser.sees("^node n1,", "#about")
        for width in (1600, 400):
            browser.resize(width, 900, still=True)
            self.view("nodes")
            self.check_view("nodes")
            browser.sees("No node is known yet", "#view-nodes")
            browser.shoot(PICTURES / ("live-nodes-%d.png" % width))
        self.assertNotIn("sesame", browser.script("return document.body.innerText"))

    def test_irisd_and_irisd_web_are_killed_and_back(self):
        self.start()
        browser = self.browser
        self.log_in()
        self.irisd.end(signal.SIGKILL)
        browser.sees("irisd is away", "#state")
        browser.sees("irisd does not answer: .*What is shown was seen at", "#banner")
        self.assertIn("stale", browser.script("return document.body.className"))
        browser.shoot(PICTURES / "live-away.png", whole=False)
        self.irisd = self.machine.start_irisd(*TWO_PLACES)
        browser.sees("^live$", "#state")
        browser.sees("process %d," % self.irisd.child.pid, "#about")
        self.assertNotIn("stale", browser.script("return document.body.className"))
        self.assertEqual(self.web.end(signal.SIGKILL), -signal.SIGKILL)
        browser.sees("irisd-web is away", "#state")
        self.web = self.machine.start_web("--http", "127.0.0.1:%d" % self.web.port)
        browser.sees("^live$", "#state")
        # Its sessions ended with it.
        browser.sees("sums only", "#who")

    def test_ten_pages_of_a_large_machine_share_one_stream(self):
        self.start(*MANY_PLACES)
        browser, first = self.browser, self.browser.ask("GET", "/window")
        for width in (1600, 400):
            browser.resize(width, 900, still=True)
            browser.until("return document.querySelectorAll('.place .card').length === 64")
            self.check_view("machine")
            browser.shoot(PICTURES / ("live-large-%d.png" % width), whole=False)
        for _ in range(9):
            browser.new_tab(self.web.url)
            browser.sees("^live$", "#state")
        self.assertEqual(get(self.web, "/statistics").json["web"]["pages"], 1)
        # The six connections of the browser are not taken by streams.
        self.view("history")
        for handle in browser.ask("GET", "/window/handles"):
            if handle != first:
                browser.post("/window", handle=handle)
                browser.ask("DELETE", "/window")
        browser.post("/window", handle=first)
        browser.sees("^live$", "#state")


if __name__ == "__main__":
    if why_not():
        print("1..0 # SKIP the page is not tried in a browser: " + why_not())
        sys.exit(77)
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]], verbosity=2)
