#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The pages about irisctl do what they say: each command is run, and prints what is shown.

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


def read_page(name):
    return (SOURCE / "doc/guide" / name).read_text(encoding="utf-8")


def steps(page):
    """Each command with what it is to print."""
    for block in re.findall(r"^```console\n(.*?)^```$", page, re.M | re.S):
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
        self.assertGreater(run(self, read_page("items.md")), 20)

    def test_watching(self):
        self.assertGreater(run(self, read_page("watching.md")), 6)

    def test_at_a_shell(self):
        self.assertGreater(run(self, read_page("at-a-shell.md")), 19)


class OtherMachines(unittest.TestCase):
    """The server and the laptop are this machine; the folders and the port of the page are those of the test."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.work = directory.name
        self.environment = dict(os.environ, IRIS_RUNTIME_DIR=os.path.join(self.work, "run"), LC_ALL="C.UTF-8", HOME=self.work,
                                PATH="%s:%s" % (IRISCTL.parent, os.environ["PATH"]))
        self.environment.pop("XDG_CONFIG_HOME", None)
        os.mkdir(os.path.join(self.work, "run"), 0o700)
        os.mkdir(os.path.join(self.work, "etc"), 0o700)

    def start(self, config):
        path = os.path.join(self.work, "irisd.conf")
        with open(path, "w", encoding="utf-8") as out:
            out.write(config.replace("0.0.0.0:4700", "127.0.0.1:0"))
        read, write = os.pipe()
        irisd = subprocess.Popen([IRISD, "--config", path, "--ready-fd", str(write), "--topology=package:2 core:1 pu:1"],
                                 env=self.environment, stderr=subprocess.DEVNULL, pass_fds=[write])
        self.addCleanup(irisd.wait)
        self.addCleanup(irisd.terminate)
        os.close(write)
        with os.fdopen(read) as ready:
            return ready.readline().split()[2].removeprefix("tcp://")

    def test_the_page(self):
        page = read_page("other-machines.md").replace("/etc/iris", os.path.join(self.work, "etc"))
        before, config, after = re.split(r"^```ini\n(.*?)^```$", page, maxsplit=1, flags=re.M | re.S)
        n = run(self, before)
        after = after.replace("server.example:4700", self.start(config))
        self.assertGreater(n + run(self, after), 8)


def run(test, page):
    """Runs the commands of a page, and returns how many those are."""
    n = 0
    for command, shown in steps(page):
        n += 1
        done = subprocess.run(["bash", "-c", command], cwd=test.work, env=test.environment, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
        printed = done.stdout
        if printed and not printed.endswith("\n"):
            printed += "\n"
        if done.returncode != 0:
            printed += "[%d]\n" % done.returncode
        test.assertTrue(fits(shown, printed), "$ %s\nshown:\n%s\nprinted:\n%s" % (command, shown, printed))
    return n


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
