#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page about irisctl does what it says: each command is run, and prints what is shown.

    test-irisctl-guide.py PATH-OF-irisd PATH-OF-irisctl SOURCE-DIRECTORY

In what is shown, … stands for any text that has no tab and no end of line in it, and [N] for the exit status N.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

IRISD, IRISCTL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve(), pathlib.Path(sys.argv[3])
PAGE = SOURCE / "doc/guide/items.md"


def steps():
    """Each command with what it is to print."""
    for block in re.findall(r"^```console\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        for step in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, shown = step.partition("\n")
            yield command, shown


def fits(shown, printed):
    return re.fullmatch(re.escape(shown).replace("…", r"[^\t\n]+"), printed) is not None


class Guide(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        base = directory.name
        self.work = os.path.join(base, "work")
        run = os.path.join(base, "run")
        os.mkdir(self.work)
        os.mkdir(run, 0o700)
        self.environment = dict(os.environ, IRIS_RUNTIME_DIR=run, LC_ALL="C.UTF-8", TZ="UTC",
                                PATH="%s:%s" % (IRISCTL.parent, os.environ["PATH"]))
        self.irisd = subprocess.Popen([IRISD, "--journal", os.path.join(base, "journal"),
                                       "--topology=package:2 core:1 pu:1", "--places=package"],
                                      env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(self.irisd.wait)
        self.addCleanup(self.irisd.terminate)
        subprocess.run([IRISCTL, "--wait", "60", "status"], env=self.environment, check=True, stdout=subprocess.DEVNULL)

    def test_what_a_test_compares_can_differ(self):
        self.assertTrue(fits("a … b\n", "a 1.5 b\n"))
        self.assertFalse(fits("a … b\n", "a 1\tb\n"))
        self.assertFalse(fits("a.b\n", "axb\n"))

    def test_the_page(self):
        n = 0
        for command, shown in steps():
            n += 1
            done = subprocess.run(["bash", "-c", command], cwd=self.work, env=self.environment, timeout=120,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
            printed = done.stdout
            if printed and not printed.endswith("\n"):
                printed += "\n"
            if done.returncode != 0:
                printed += "[%d]\n" % done.returncode
            self.assertTrue(fits(shown, printed), "$ %s\nshown:\n%s\nprinted:\n%s" % (command, shown, printed))
        self.assertGreater(n, 20)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
