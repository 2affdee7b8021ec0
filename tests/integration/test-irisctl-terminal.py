#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisctl on a terminal: widths, colours, keys, interrupts.

    test-irisctl-terminal.py PATH-OF-irisd PATH-OF-irisctl
"""
import fcntl
import json
import os
import pty
import re
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import time
import unicodedata
import unittest

from terminal import PATIENCE, Terminal

IRISD, IRISCTL = sys.argv[1], os.path.abspath(sys.argv[2])
ESCAPE = re.compile(r"\x1b\[[?0-9;]*[A-Za-z]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def plain(text):
    return ESCAPE.sub("", text).replace("\r", "")


def width(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class OnATerminal(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        run = os.path.join(directory.name, "run")
        os.mkdir(run, 0o700)
        self.environment = dict(os.environ, IRIS_RUNTIME_DIR=run, LC_ALL="C.UTF-8", TZ="UTC", TERM="xterm")
        self.environment.pop("NO_COLOR", None)
        self.directory = directory.name
        self.start()

    def start(self, *more):
        self.irisd = subprocess.Popen([IRISD, "--journal", os.path.join(self.directory, "journal"),
                                       "--topology=package:2 core:2 pu:1", "--places=package", *more],
                                      env=self.environment, stderr=subprocess.DEVNULL)
        self.addCleanup(self.irisd.wait)
        self.addCleanup(self.irisd.kill)
        self.irisctl("--wait", "60", "status")

    def start_in_cluster(self):
        """As a node of a cluster whose servers are not there: their port is taken, and refuses."""
        refusing = socket.socket()
        self.addCleanup(refusing.close)
        refusing.bind(("127.0.0.1", 0))
        secret, config = (os.path.join(self.directory, name) for name in ("secret", "irisd.conf"))
        with open(secret, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("0123456789abcdef0123456789abcdef")
        with open(config, "w", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
            file.write("[cluster]\nurl = nats://127.0.0.1:%d\nnode = n1\nsecret-file = %s\n" % (refusing.getsockname()[1], secret))
        self.irisd.kill()
        self.irisd.wait()
        self.start("--config", config)

    def irisctl(self, *arguments, status=0):
        done = subprocess.run([IRISCTL, *arguments], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def on_terminal(self, *arguments, **size):
        return Terminal(self.environment, IRISCTL, *arguments, **size)

    def submit(self, *arguments):
        return self.irisctl("submit", "--detach", *arguments).strip()

    def item(self, number, **wanted):
        """The item, once it is as wanted."""
        until = time.monotonic() + PATIENCE
        while True:
            item = json.loads(self.irisctl("-j", "show", number))
            if all(item[name] == value for name, value in wanted.items()):
                return item
            self.assertLess(time.monotonic(), until, item)

    def assert_fits(self, text, columns):
        for line in plain(text).split("\n"):
            self.assertLessEqual(width(line), columns, line)

    def test_tables_fit_the_terminal(self):
        self.submit("--delay", "2h", "--key", "a-rather-long-key", "command", "sh", "-c", "echo " + "long " * 40)
        self.submit("--delay", "2h", "echo", "日本" * 40)
        self.irisctl("cron", "*/10 8-17 * * mon-fri", "--zone", "Europe/Berlin", "--name", "日本" * 9, "--", "true")
        for command in ("places", "list", "status", "services", "workers", "schedules"):
            for columns in (80, 40, 7):
                status, text = self.on_terminal(command, columns=columns).end()
                self.assertEqual(status, 0)
                if command == "places" and columns == 80:
                    self.assertNotIn("…", text)
                if command != "status":
                    self.assert_fits(text, columns)

    def test_a_terminal_is_told_that_nothing_is_there(self):
        for command, said in (("list", "no items"), ("workers", "no worker processes"),
                              ("schedules", "there are no schedules")):
            status, text = self.on_terminal(command).end()
            self.assertEqual((status, text.strip()), (0, said))
            self.assertIn("when" if command == "schedules" else "service", self.irisctl(command))

    def test_without_progress_no_bar_is_wiped(self):
        status, text = self.on_terminal("send", "echo", "hello").end()
        self.assertEqual((status, text.strip()), (0, "hello"))

    def test_a_pipe_gets_whole_lines_without_colours(self):
        self.submit("--delay", "2h", "command", "echo", "long " * 40)
        text = self.irisctl("list")
        self.assertIn("long " * 40, text)
        self.assertNotIn("\x1b", text + self.irisctl("places"))

    def test_colours_are_for_terminals_that_want_them(self):
        self.submit("--delay", "2h", "echo", "x")
        self.assertRegex(self.on_terminal("list").end()[1], COLOUR)
        for name, value in (("NO_COLOR", "1"), ("TERM", "dumb")):
            before = dict(self.environment)
            self.environment[name] = value
            self.assertNotRegex(self.on_terminal("list").end()[1], "\x1b")
            self.environment = before

    def test_list_and_show_tell_command_due_time_place_and_attempts(self):
        later = self.submit("--delay", "2h", "command", "sh", "-c", "echo 'a  b'; exit", "it's")
        item = self.item(later, state="delayed")
        self.assertEqual(item["args"], ["sh", "-c", "echo 'a  b'; exit", "it's"])
        self.assertAlmostEqual(item["due"] - item["accepted"], 7200, delta=1)
        self.assertIn(item["place"], ("package:0", "package:1"))
        self.assertEqual((item["attempts"], item["crashes"], item["started"]), (0, 0, 0))
        shown = self.irisctl("show", later)
        line = re.search("^command +(.*)$", shown, re.M).group(1)
        words = subprocess.run(["sh", "-c", "printf '%s\\n' " + line], stdout=subprocess.PIPE, encoding="utf-8",
                               check=True).stdout
        self.assertEqual(words.splitlines(), item["args"])
        self.assertRegex(shown, "(?m)^due +[0-9]{4}-")
        self.assertRegex(shown, "(?m)^time +in (2h00m|1h59m)$")
        self.assertRegex(self.irisctl("list"), "(?m) delayed +\\S+ +package:[01] +0 +in (2h00m|1h59m) +command +sh -c ")
        due = int(time.time()) + 3600
        self.assertEqual(self.item(self.submit("--at", "@%d" % due, "echo", "x"))["due"], due)

    def test_list_and_show_tell_how_long_an_item_has_run(self):
        fifo = os.path.join(self.environment["IRIS_RUNTIME_DIR"], "fifo")
        os.mkfifo(fifo)
        number = self.submit("command", "cat", fifo)
        first = self.item(number, state="running")
        self.assertGreater(first["started"], 0)
        until = time.monotonic() + PATIENCE
        while self.item(number)["elapsed"] <= first["elapsed"]:
            self.assertLess(time.monotonic(), until)
        self.assertRegex(self.irisctl("list"), "(?m) running +\\S+ +package:[01] +0 +for [0-9.]+s +command +cat ")
        with open(fifo, "w"):
            pass
        self.irisctl("wait", number)
        ended = self.item(number)
        self.assertEqual(ended["attempts"], 1)
        self.assertAlmostEqual(ended["elapsed"], ended["ended"] - ended["started"], delta=0.002)
        self.assertRegex(self.irisctl("show", number), "(?m)^time +took ")

    def test_watch_fits_is_drawn_anew_at_another_size_and_ends_with_q(self):
        # So long an interval that the second picture is due to the size alone.
        watch = self.on_terminal("watch", "--interval", "1")
        watch.expect("Press q")
        self.assert_fits(watch.text, 80)
        self.assertNotIn("…", watch.text)
        before = len(watch.text)
        watch.resize(40, 8)
        watch.expect("\x1b\\[2J", before)
        watch.expect("Press q", before)
        picture = watch.text[watch.text.index("\x1b[2J", before):]
        self.assert_fits(picture.split("Press q")[0], 40)
        self.assertLess(plain(picture.split("Press q")[0]).count("\n"), 8)
        self.assertFalse(watch.flags() & (termios.ECHO | termios.ICANON))
        watch.write("xq")
        watch.expect("\x1b\\[\\?25h")
        self.assertEqual(watch.end()[0], 0)

    @unittest.skipUnless(os.environ.get("IRIS_HAVE_CLUSTER") == "yes", "irisd was built without clusters")
    def test_nodes_are_watched_in_the_size_of_the_terminal(self):
        self.start_in_cluster()
        for columns, rows in ((80, 24), (40, 6)):
            watch = self.on_terminal("nodes", "--watch", "--interval", "0.1", columns=columns, rows=rows)
            watch.expect("node n1, not in the")
            watch.expect("Press q")
            picture = watch.text.split("Press q")[0]
            self.assert_fits(picture, columns)
            self.assertLess(plain(picture).count("\n"), rows)
            watch.write("q")
            watch.expect("\x1b\\[\\?25h")
            self.assertEqual(watch.end()[0], 0)
        lines = self.irisctl("nodes", "--watch", "--count", "2", "--interval", "0.1").splitlines()
        self.assertEqual(len(lines), 2)
        self.assertRegex(lines[1], "^node n1, not in the cluster: .*; 0 here, 0 draining, 0 gone; 0 running, 0 waiting, 0 away$")
        looks = [json.loads(line) for line in self.irisctl("nodes", "--watch", "--json", "-n", "2", "-i", "0.1").splitlines()]
        self.assertEqual([(look["node"], look["state"], look["nodes"]) for look in looks], [("n1", 1, [])] * 2)
        self.irisctl("nodes", "--count", "2", status=2)
        self.irisctl("nodes", "--watch", "--interval", "0", status=2)

    def test_without_a_cluster_there_are_no_nodes_to_watch(self):
        done = subprocess.run([IRISCTL, "nodes", "--watch"], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              encoding="utf-8", timeout=PATIENCE)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("this irisd is in no cluster, so there are no nodes to watch: ", done.stderr)

    def test_watch_gives_the_terminal_back(self):
        for how in ("q", "\x03"):
            leader, follower = pty.openpty()
            before = termios.tcgetattr(follower)

            def lead():
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

            watch = subprocess.Popen([IRISCTL, "watch"], env=self.environment, stdin=follower, stdout=follower,
                                     stderr=follower, preexec_fn=lead)
            text = b""
            while b"Press q" not in text:
                text += os.read(leader, 65536)
            os.write(leader, how.encode())
            self.assertEqual(watch.wait(PATIENCE), 0)
            self.assertEqual(termios.tcgetattr(follower), before)
            os.close(leader)
            os.close(follower)

    def test_load_is_of_workers_and_never_above_all_of_their_time(self):
        # Commands run beside the workers: they are no load, however many and however long.
        for _ in range(12):
            self.submit("command", "sleep", "1000")
        until = time.monotonic() + PATIENCE
        while self.count_running() < 4:  # as many as there are workers
            self.assertLess(time.monotonic(), until)
        watch = subprocess.Popen([IRISCTL, "watch", "--json", "--interval", "0.1"], env=self.environment,
                                 stdout=subprocess.PIPE, encoding="utf-8")
        loads = [1]
        # Workers that have just started a command are busy, soon they are not.
        while max(loads) > 0:
            loads = [place["load"] for place in json.loads(watch.stdout.readline())["places"]]
            self.assertLessEqual(max(loads), 1)
            self.assertLess(time.monotonic(), until, loads)
        watch.send_signal(signal.SIGINT)
        watch.communicate()
        self.assertGreaterEqual(self.count_running(), 4)
        self.irisctl("cancel", "--all", "--yes")

    def count_running(self):
        return sum(item["state"] == "running" for item in json.loads(self.irisctl("-j", "list")))

    def test_interrupted_questions_say_that_the_item_goes_on(self):
        number = self.submit("command", "sleep", "1000")
        for command in (("result", number), ("wait", number), ("wait", "--all")):
            text = self.interrupt(command)
            # The signal may have come before the question.
            while "before irisd was asked" in text:
                text = self.interrupt(command)
            self.assertNotIn("cancelled", text)
            self.assertRegex(text, "interrupted: .* go(es)? on")
            self.assertEqual(text.count("irisctl:"), 1)
            self.item(number, state="running")
        self.irisctl("cancel", number)

    def interrupt(self, command):
        """What a command that waits says to Ctrl-C."""
        asking = self.on_terminal(*command)
        # Connected, and so behind the installation of its signal handlers.
        while not (self.catches(asking.pid, signal.SIGINT)
                   and json.loads(self.irisctl("-j", "status"))["clients"] >= 2):
            pass
        asking.write("\x03")
        status, text = asking.end()
        self.assertEqual(status, 130)
        return text

    @staticmethod
    def catches(pid, number):
        with open("/proc/%d/status" % pid, encoding="utf-8") as file:
            caught = int(re.search("(?m)^SigCgt:\\s*([0-9a-f]+)$", file.read()).group(1), 16)
        return caught >> (number - 1) & 1

    def test_a_text_ends_with_a_newline_on_a_terminal(self):
        number = self.submit("--key", "text", "echo", "no newline")
        self.assertEqual(self.irisctl("send", "echo", "no newline"), "no newline")
        for command in (("send", "echo", "no newline"), ("result", number)):
            status, text = self.on_terminal(*command).end()
            self.assertEqual((status, plain(text)), (0, "no newline\n"))
        self.assertEqual(plain(self.on_terminal("send", "echo", "one\n").end()[1]), "one\n")

    def test_json_and_verbose_may_come_before_the_command(self):
        self.assertEqual(json.loads(self.irisctl("-j", "list")), [])
        self.assertIn("endpoint", self.irisctl("-v", "places"))
        done = subprocess.run([IRISCTL, "-v", "send", "echo", "x"], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", check=True, timeout=PATIENCE)
        self.assertIn("accepted as", done.stderr)

    def test_an_unknown_number_has_one_exit_status(self):
        for command in (("show",), ("result",), ("wait",), ("cancel",), ("kick",), ("bury",)):
            self.irisctl(*command, "4711", status=2)

    def test_one_is_singular(self):
        self.submit("--delay", "2h", "echo", "x")
        done = subprocess.run([IRISCTL, "cancel", "--all"], env=self.environment, stdin=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, encoding="utf-8", check=False, timeout=PATIENCE)
        self.assertIn("would cancel 1 item:", done.stderr)
        self.assertIn("1 client;", self.irisctl("status"))

    def test_a_time_of_day_is_the_next_one(self):
        for text in ("00:00", "23:59", "12:30:15"):
            item = self.item(self.submit("--at", text, "echo", "x"))
            clock = time.strftime("%H:%M:%S", time.gmtime(item["due"]))
            self.assertTrue(clock.startswith(text), clock)
            self.assertTrue(-1 <= item["due"] - item["accepted"] <= 86400)
        for text in ("24:00", "18", "6:00pm", "18:0x"):
            self.irisctl("submit", "--detach", "--at", text, "echo", "x", status=2)
        done = subprocess.run([IRISCTL, "submit", "--detach", "--at", "2001-01-01T00:00:00Z", "echo", "x"],
                              env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
                              check=True, timeout=PATIENCE)
        self.assertIn("is in the past", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
