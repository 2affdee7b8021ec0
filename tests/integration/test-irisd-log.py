#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisd's log: an item can be followed by its fields from its acceptance to its end.

    test-irisd-log.py PATH-OF-irisd PATH-OF-irisctl
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

IRISD, IRISCTL = sys.argv[1:3]
GIVE_UP_S = 120


class Log(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="iris-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.environment = dict(os.environ, IRIS_RUNTIME_DIR=str(self.folder / "run"), XDG_CONFIG_HOME=str(self.folder))
        self.environment.pop("JOURNAL_STREAM", None)

    def serve(self, *options, work):
        """Runs irisd while work () does something, and returns what it logged."""
        ready, ready_write = os.pipe()
        with open(self.folder / "log", "w+b") as log:
            irisd = subprocess.Popen([IRISD, "--journal", self.folder / "journal", "--topology=package:1 core:1 pu:1", "--no-bind",
                                      "--ready-fd=%d" % ready_write, *options],
                                     env=self.environment, pass_fds=[ready_write], stdin=subprocess.DEVNULL, stderr=log)
            os.close(ready_write)
            try:
                with os.fdopen(ready) as pipe:
                    self.assertTrue(pipe.readline().startswith("ready "), log.seek(0) or log.read())
                work()
            finally:
                irisd.terminate()
                status = irisd.wait(GIVE_UP_S)
            self.assertEqual(status, 0)
            log.seek(0)
            return log.read().decode()

    def irisctl(self, *words, status=0):
        done = subprocess.run([IRISCTL, *words], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=GIVE_UP_S, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout.decode()

    def some_items(self):
        self.irisctl("send", "echo", "hello")
        number = self.irisctl("submit", "--detach", "command", "false").split()[0]
        self.irisctl("wait", number, status=1)
        self.number = int(number)

    def events(self, *options):
        lines = self.serve("--log-format=json", *options, work=self.some_items).splitlines()
        return [json.loads(line) for line in lines]

    def test_every_item_is_followed_at_debug(self):
        events = self.events("--log-level=debug")
        self.assertEqual({"time", "level", "message", "file", "line", "function"} - set(events[0]), set())
        requests = {event["request"] for event in events if event.get("service") == "echo"}
        self.assertEqual(len(requests), 1)
        echo = [event for event in events if event.get("request") in requests]
        self.assertEqual([event["level"] for event in echo], ["debug", "debug"])
        self.assertIn("was accepted", echo[0]["message"])
        self.assertIn("is done", echo[1]["message"])
        self.assertEqual(echo[1]["place"], 0)
        self.assertTrue(echo[1]["client"])

        command = [event for event in events if event.get("item") == self.number]
        self.assertEqual([(event["level"], event["service"]) for event in command],
                         [("debug", "command"), ("info", "command")])
        self.assertIn("the command exited with status 1", command[1]["message"])

    def test_each_way_to_end_is_told(self):
        numbers = {}

        def submit(name, *words):
            numbers[name] = int(self.irisctl("submit", "--detach", *words).split()[0])
            return str(numbers[name])

        def work():
            self.irisctl("cancel", submit("cancelled", "--delay", "1h", "echo", "x"))
            buried = submit("buried", "--delay", "1h", "echo", "x")
            self.irisctl("bury", buried)
            self.irisctl("cancel", buried)
            self.irisctl("wait", submit("retried", "--retries", "1", "--backoff", "1ms", "command", "false"), status=1)
            self.irisctl("wait", submit("expired", "--delay", "10ms", "--deadline", "1ms", "echo", "x"), status=1)
            submit("kept", "--delay", "1h", "echo", "x")

        log = self.serve("--log-format=json", "--log-level=debug", work=work)
        log += self.serve("--log-format=json", "--log-level=debug", work=lambda: self.irisctl("cancel", str(numbers["kept"])))
        events = [json.loads(line) for line in log.splitlines()]
        for name, told in (("cancelled", ["was accepted", "was cancelled before it ran"]),
                           ("buried", ["was accepted", "is buried", "was cancelled while it was buried"]),
                           ("retried", ["was accepted", "failed for the 1. time, and is tried again", "failed: the command exited"]),
                           ("expired", ["was accepted", "deadline"]),
                           ("kept", ["was accepted", "is put off", "goes on", "was cancelled before it ran"])):
            messages = [event["message"] for event in events if event.get("item") == numbers[name]]
            self.assertEqual(len(messages), len(told), messages)
            for message, words in zip(messages, told):
                self.assertIn(words, message)

    def test_only_failures_are_logged_by_default(self):
        about_items = [event for event in self.events() if "request" in event]
        self.assertEqual([event["item"] for event in about_items], [self.number])

    def test_lines_are_the_default(self):
        text = self.serve(work=self.some_items)
        self.assertIn("irisd: serving at ipc://", text)
        self.assertIn("irisd: item %d (command) failed: the command exited with status 1\n" % self.number, text)

    def test_a_wrong_format_is_refused(self):
        done = subprocess.run([IRISD, "--log-format=yaml"], env=self.environment, stdin=subprocess.DEVNULL, timeout=GIVE_UP_S,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("choose auto, lines, json or journal", done.stderr.decode())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
