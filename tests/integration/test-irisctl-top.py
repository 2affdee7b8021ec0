#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisctl top on terminals of several sizes and kinds: what it shows, its keys, its end.

    test-irisctl-top.py PATH-OF-irisd PATH-OF-irisctl
"""
import fcntl
import json
import os
import pty
import re
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

from terminal import PATIENCE, Picture

IRISD, IRISCTL = sys.argv[1], os.path.abspath(sys.argv[2])
DOWN, UP, HOME, END, ESCAPE = "\x1bOB", "\x1bOA", "\x1bOH", "\x1bOF", "\x1b"


class Top(unittest.TestCase):
    topology = "package:2 core:2 pu:1"

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        run = os.path.join(directory.name, "run")
        os.mkdir(run, 0o700)
        self.journal = os.path.join(directory.name, "journal")
        self.environment = dict(os.environ, IRIS_RUNTIME_DIR=run, LC_ALL="C.UTF-8", TZ="UTC", TERM="xterm")
        self.environment.pop("NO_COLOR", None)
        self.irisd = None
        self.addCleanup(self.kill)
        self.start()

    def start(self, *options):
        self.irisd = subprocess.Popen([IRISD, "--journal", self.journal, "--topology=" + self.topology,
                                       "--places=package", *options], env=self.environment, stderr=subprocess.DEVNULL)
        self.irisctl("--wait", "60", "status")

    def kill(self):
        self.irisd.kill()
        self.irisd.wait()

    def irisctl(self, *arguments):
        done = subprocess.run([IRISCTL, *arguments], env=self.environment, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def submit(self, *arguments):
        return self.irisctl("submit", "--detach", *arguments).strip()

    def top(self, *arguments, interval="0.1", **more):
        environment = dict(self.environment, **more.pop("environment", {}))
        top = Picture(environment, IRISCTL, "top", "--interval", interval, *arguments, **more)
        self.addCleanup(self.end, top)
        top.shows("q: end")
        return top

    @staticmethod
    def end(top):
        try:
            os.kill(top.pid, signal.SIGKILL)
            os.waitpid(top.pid, 0)
        except ProcessLookupError:
            pass
        except ChildProcessError:
            pass

    def ends(self, top):
        self.assertEqual(top.end()[0], 0)

    @staticmethod
    def column(top, heading):
        """What is below a heading that is aligned to the left, in the order of the screen."""
        lines = top.screen.lines()
        at = lines[4].find(heading)
        return [line[at:].split(" ")[0] for line in lines[5:-1] if line.strip()]

    def orders(self, top, heading, wanted):
        until = time.monotonic() + PATIENCE
        while self.column(top, heading) != wanted:
            self.assertLess(time.monotonic(), until, top.screen.text())
            top.read()

    def test_views_are_whole_at_80_by_24(self):
        number = self.submit("--delay", "2h", "--key", "nightly", "command", "sh", "-c", "exit 3")
        for columns, rows in ((80, 24), (200, 60)):
            top = self.top(columns=columns, rows=rows)
            top.shows("^>? *0 +package:0 +0-1 +open +2/2 +[0-9]+% +0 +")
            top.shows("^ +1 +package:1 +2-3 +open +2/2 +[0-9]+% +[01] +")
            for heading in "id name cpus state active load backlog ended/s in/s out/s wait run".split():
                self.assertIn(heading, top.screen.lines()[4])
            self.assertRegex(top.screen.lines()[0], "^irisd [0-9.]+, up 0:00:[0-9]{2}, .*process %d" % self.irisd.pid)
            self.assertRegex(top.screen.lines()[1], "not ended; per second .* accepted, .* ended, .* failed, .* refused")
            self.assertRegex(top.screen.lines()[2], "client.?; journal ready; 1 persistent, 0 of them ended; .* syncs a second")
            top.write("2")
            top.shows("^.command +0 +1 +0 +0 +0 ")
            for heading in "service workers waiting leased done failed ended/s wait run".split():
                self.assertIn(heading, top.screen.lines()[4])
            top.write("\t")
            top.shows("^>? *%s +delayed +package:[01] +in (2h00m|1h59m) +0 +\\S+ +command +nightly +sh -c" % number)
            for heading in "item state place time tries owner service key arguments".split():
                self.assertIn(heading, top.screen.lines()[4])
            self.assertNotIn("…", top.screen.text())
            top.write("4")
            top.shows("^.persistent-items +[0-9.]+[kM]? +1 +0% +0 +0 *$")
            for heading in "limit value used part refused refused/s nearest".split():
                self.assertIn(heading, top.screen.lines()[4])
            top.write("q")
            self.ends(top)

    def test_numbers_stay_whole_and_texts_are_whole_in_the_details(self):
        long = "a-key-that-is-longer-than-a-line-of-eighty-columns-" * 2
        number = self.submit("--delay", "2h", "--key", long, "echo", "x")
        top = self.top()
        top.write("3")
        top.shows("^>? *%s .* echo +a-key.*…" % number)
        top.write("\r")
        top.shows("^ accepted +[0-9]{4}-")
        self.assertIn(long, re.sub(r"\s", "", top.screen.text()))
        top.resize(30, 8)
        top.shows("^ item ")
        for _ in range(60):
            if re.search("^ buried for", top.screen.text(), re.M):
                break
            before = top.screen.lines()[3:]
            top.write(DOWN)
            while top.screen.lines()[3:] == before and top.read():
                pass
        top.shows("^ buried for")
        for _ in range(200):  # no further than to the end
            top.write(DOWN)
        top.write(UP)
        top.shows("^ ended .*\nUp Down")
        top.write(ESCAPE)
        top.shows("^>? *%s " % number)
        top.write("q")
        self.ends(top)

    def test_times_and_steals_are_told(self):
        for _ in range(3):
            self.irisctl("run", "--", "true")
        with tempfile.NamedTemporaryFile("w") as words:
            words.write("x\n" * 500)
            words.flush()
            self.irisctl("submit", "--place", "package:0", "--lines", words.name, "echo")
        told = json.loads(self.irisctl("--json", "places"))
        self.assertEqual(sum(place["queue_delay"]["count"] for place in told), 503)
        self.assertEqual(sum(place["executed"] for place in told), 503)
        for place in told:
            # At the distance of the place to itself its workers steal from each other.
            own = place["distances"][place["id"]]
            stolen = sum(one["items"] for one in place["stolen_by_distance"] if one["distance"] != own)
            self.assertLessEqual(stolen, place["stolen_in"])
            if place["run_time"]["count"] > 0:
                self.assertLessEqual(place["run_time"]["median_s"], place["run_time"]["p99_s"])
                self.assertGreater(place["run_time"]["mean_s"], 0)
            else:
                self.assertIsNone(place["run_time"]["median_s"])
        status = json.loads(self.irisctl("--json", "status"))
        self.assertEqual((status["accepted"], status["ended"], status["failed"], status["in_flight"]), (503, 503, 0, 0))
        self.assertEqual(status["states"]["queued"], 0)
        self.assertEqual(status["places"][0]["queue_delay"], told[0]["queue_delay"])
        self.assertGreater(status["memory_bytes"], 0)
        self.assertEqual(status["journal_syncs"] > 0, status["journal_sync_time"]["median_s"] is not None)
        text = self.irisctl("status")
        self.assertRegex(text, "(?m)^place +executed +items/s +in +out +wait +99 % +run +99 % +busy s$")
        self.assertRegex(text, "(?m)^package:0 +[0-9]+ +[0-9.]+ +[0-9]+ +[0-9]+( +[0-9.]+[mu]?s){4} ")
        self.assertRegex(text, "memory [0-9.]+.[kM]B\n")
        self.assertTrue(all(len(line) <= 80 for line in text.splitlines()), text)
        self.assertRegex(self.irisctl("-v", "places"), "items/s +wait +99 % +run +99 % +parks")
        top = self.top(columns=80, rows=60)
        top.shows("^>? *0 +package:0")
        top.write("\r")
        for name in ("wait, 99 %", "run, 99 %", "MB/s", "executed", "failed", "steals tried", "parks"):
            top.shows("^ " + name)
        top.write("q")
        self.ends(top)

    def test_a_small_screen_still_answers(self):
        top = self.top()
        for size in ((20, 7), (7, 3), (1, 1), (300, 2)):
            top.resize(*size)
            for key in "123h\r\r\t<>/x\x1b":
                top.write(key)
        top.resize(80, 24)
        top.shows("q: end")
        top.write("1")
        top.shows("package:1")
        top.write("q")
        self.ends(top)

    def test_rows_are_sorted_filtered_and_stay_selected(self):
        numbers = [self.submit("--delay", "2h", "--key", key, "echo", key) for key in ("pear", "apple", "plum", "fig")]
        top = self.top()
        top.write("3")
        top.shows("fig")
        self.orders(top, "key", ["fig", "plum", "apple", "pear"])
        top.write("r")
        top.shows("by item up")
        self.orders(top, "key", ["pear", "apple", "plum", "fig"])
        top.write(HOME + DOWN)
        top.shows("^> *%s .*apple" % numbers[1])
        for _ in range(2):
            top.write("<")
        top.shows("by key up")
        self.orders(top, "key", ["apple", "fig", "pear", "plum"])
        top.shows("^> *%s .*apple" % numbers[1])
        top.write("/PLX")
        top.shows("Only rows with: PLX_")
        top.shows_not(" fig")
        top.write("\x7f\r")
        top.shows("2 of 4, by key up, with PL")
        self.orders(top, "key", ["apple", "plum"])
        top.write("/\x7f\x7fnowhere\r")
        top.shows("the filter selects nothing; Esc clears it")
        top.write(ESCAPE)
        top.shows("4 of 4, by key up$")
        top.write("q")
        self.ends(top)

    def test_many_places_scroll(self):
        self.kill()
        self.topology = "package:64 core:1 pu:1"
        self.start()
        top = self.top()
        top.shows("^>? *0 +package:0 ")
        self.assertNotIn("package:63", top.screen.text())
        top.write(END)
        top.shows("^> *63 +package:63 ")
        self.assertEqual(len(self.column(top, "name")), 18)
        top.resize(80, 70)
        top.shows("^ *0 +package:0 ")
        top.shows("^> *63 +package:63 ")
        top.write("q")
        self.ends(top)

    def test_an_item_is_cancelled_after_two_questions(self):
        number = self.submit("command", "sleep", "1000")
        other = self.submit("--delay", "2h", "echo", "x")
        top = self.top("--service", "command")
        top.write("c")
        top.shows("3 shows the items")
        top.write("3")
        top.shows("^> *%s +running " % number)
        self.assertNotIn("echo", top.screen.text())
        for keys in ("cn", "cyn", "cy\r"):
            top.write(keys)
            top.shows("item %s goes on" % number)
            top.write(UP)
            top.shows("q: end")
        top.write("c")
        top.shows("Cancel item %s\\? y: yes" % number)
        top.write("y")
        top.shows("does not run again. Cancel item %s for good" % number)
        top.write("y")
        top.shows("was running, and was told to stop")
        top.shows("no items; o shows")
        top.write("o")
        top.shows("^> *%s +cancelled " % number)
        top.write("c")
        top.shows("has ended: there is nothing to cancel")
        top.write("q")
        self.ends(top)
        self.assertEqual(json.loads(self.irisctl("-j", "show", other))["state"], "delayed")

    def test_an_irisd_that_goes_away_is_asked_until_it_is_back(self):
        number = self.submit("--delay", "2h", "echo", "x")
        top = self.top()
        top.write("3")
        top.shows("^> *%s +delayed " % number)
        self.kill()
        top.shows("^AWAY for [0-9]+ s, asked again each time: ")
        top.shows("^> *%s +delayed " % number)
        self.start()
        top.shows("^irisd .*process %d" % self.irisd.pid)
        top.shows("^> *%s +delayed " % number)
        self.irisd.send_signal(signal.SIGSTOP)
        top.shows("^(SILENT|AWAY)")
        self.irisd.send_signal(signal.SIGCONT)
        top.shows("^irisd .*process %d" % self.irisd.pid)
        top.write("q")
        self.ends(top)

    def test_without_a_journal_it_says_so(self):
        self.kill()
        self.irisd = subprocess.Popen([IRISD, "--topology=" + self.topology], env=self.environment,
                                      stderr=subprocess.DEVNULL)
        self.irisctl("--wait", "60", "status")
        top = self.top()
        top.shows("no journal: no persistent items")
        top.write("3")
        top.shows("^ .*journal")
        top.write("q")
        self.ends(top)

    def test_colours_are_for_terminals_that_want_them(self):
        self.submit("--delay", "2h", "echo", "x")
        for environment, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)):
            top = self.top(environment=environment)
            top.write("3")
            top.shows("^>.* delayed ")
            top.write("q")
            self.ends(top)
            self.assertEqual(top.screen.coloured, coloured, environment)

    def test_the_picture_stops_and_goes_on(self):
        top = self.top()
        top.write(" ")
        top.shows("^STOPPED: what was seen [0-9]+ s ago")
        top.write(" ")
        top.shows("^irisd ")
        top.write("h")
        top.shows("Ctrl-C +end")
        top.write("\r")
        top.shows("package:0")
        top.write("q")
        self.ends(top)

    def test_the_terminal_is_given_back(self):
        for how in ("q", "\x03", signal.SIGTERM, signal.SIGHUP):
            leader, follower = pty.openpty()
            before = termios.tcgetattr(follower)

            def lead():
                os.setsid()
                fcntl.ioctl(0, termios.TIOCSCTTY, 0)

            top = subprocess.Popen([IRISCTL, "top"], env=self.environment, stdin=follower, stdout=follower,
                                   stderr=follower, preexec_fn=lead)
            text = b""
            while b"q: end" not in text:
                text += os.read(leader, 65536)
            self.assertNotEqual(termios.tcgetattr(follower), before)
            if isinstance(how, str):
                os.write(leader, how.encode())
            else:
                top.send_signal(how)
            # What it writes at its end is read, or it would wait.
            while b"\x1b[?1049l" not in text:
                text += os.read(leader, 65536)
            self.assertEqual(top.wait(PATIENCE), 0)
            self.assertEqual(termios.tcgetattr(follower), before)
            os.close(leader)
            os.close(follower)

    def test_a_program_is_told_to_use_watch(self):
        for arguments, said in (([], "irisctl watch is for programs"), (["--json"], "irisctl watch --json is for"),
                                (["--interval", "0"], "--interval takes")):
            done = subprocess.run([IRISCTL, "top", *arguments], env=self.environment, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", timeout=PATIENCE)
            self.assertEqual(done.returncode, 2)
            self.assertIn(said, done.stderr)
        top = Picture(dict(self.environment, TERM="no-such-terminal"), IRISCTL, "top")
        status, text = top.end()
        self.assertEqual(status, 2)
        self.assertIn("ncurses does not know the terminal", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
