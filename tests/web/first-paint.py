#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""How long the live page takes to its first paint, and to the first figures, in Chromium without anything in its cache.

    first-paint.py URL|BUILD-DIRECTORY [LOADS]

With a build directory it starts an irisd with 64 places and its irisd-web.
"""
import contextlib
import os
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "integration"))
from web import Machine  # noqa: E402  (the path above)
from webdriver import Browser, why_not

PAINT = """const entry = performance.getEntriesByName("first-contentful-paint")[0];
const figures = performance.getEntriesByName("figures")[0];
return entry && figures ? [entry.startTime, figures.startTime] : null"""


@contextlib.contextmanager
def serve(build):
    machine = Machine(*(os.path.join(build, name) for name in ("daemon/irisd", "clients/irisctl/irisctl", "clients/web/irisd-web")))
    try:
        machine.start_irisd("--topology", "package:4 l3:4 core:4 pu:1", "--places", "core")
        yield machine.start_web().url
    finally:
        machine.close()


def measure(url, loads):
    browser = Browser()
    seen = []
    try:
        browser.resize(1600, 1000)
        for _ in range(loads):
            browser.open("about:blank")
            browser.command("Network.clearBrowserCache")
            browser.open(url)
            seen.append(browser.until(PAINT))
    finally:
        browser.close()
    for name, values in zip(("first paint", "first figures"), zip(*seen)):
        print("%-14s median %6.1f ms, worst %6.1f ms of %d loads" % (name, statistics.median(values), max(values), loads))


def main():
    if why_not():
        sys.exit(why_not())
    loads = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    print("load of the machine: %.1f %.1f %.1f" % os.getloadavg())
    with contextlib.nullcontext(sys.argv[1]) if "://" in sys.argv[1] else serve(sys.argv[1]) as url:
        measure(url, loads)


if __name__ == "__main__":
    main()
