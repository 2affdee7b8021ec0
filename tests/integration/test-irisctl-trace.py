#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""irisctl trace against the rules of the trace event format, as Perfetto reads it.

    test-irisctl-trace.py PATH-OF-irisd PATH-OF-irisctl
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

IRISD, IRISCTL = sys.argv[1], os.path.abspath(sys.argv[2])
PATIENCE_S = 120


def ns(event, key):
    """Microseconds with three digits, as a whole number."""
    return round(event[key] * 1000)


class TimeLine:
    """What a file says, and each rule that it breaks."""

    def __init__(self, text):
        self.root = json.loads(text)
        self.mistakes = []
        self.slices = collections.defaultdict(list)
        self.names = {}
        self.flows = collections.defaultdict(list)
        for event in self.root['traceEvents']:
            self.take(event)
        self.check_names()
        for track, slices in self.slices.items():
            self.check_nesting(track, slices)
        self.check_flows()
        self.check_workers()

    def rule(self, holds, *what):
        if not holds:
            self.mistakes.append(what)

    def take(self, event):
        phase = event.get('ph')
        self.rule(phase in ('M', 'X', 's', 'f'), 'phase', event)
        self.rule(isinstance(event.get('pid'), int) and isinstance(event.get('name'), str), 'pid and name', event)
        if phase == 'M':
            self.names[event['name'], event['pid'], event.get('tid')] = event['args'].get('name')
            return
        other = self.root['otherData']
        self.rule(isinstance(event.get('tid'), int), 'tid', event)
        self.rule(0 <= ns(event, 'ts') <= other['to_ns'] - other['from_ns'], 'a time outside', event)
        track = event['pid'], event['tid']
        if phase == 'X':
            self.rule(ns(event, 'dur') >= 0 and event['cat'] in ('item', 'park', 'steal'), 'slice', event)
            self.slices[track].append((ns(event, 'ts'), ns(event, 'ts') + ns(event, 'dur'), event))
        else:
            self.flows[event['id']].append((phase, track, ns(event, 'ts'), event))

    def check_names(self):
        for pid, tid in self.slices:
            self.rule(self.names.get(('process_name', pid, None)), 'a process without a name', pid)
            self.rule(self.names.get(('thread_name', pid, tid)), 'a thread without a name', pid, tid)
        names = [name for (what, *_), name in self.names.items() if what == 'process_name']
        self.rule(len(set(names)) == len(names), 'a name twice', names)

    def check_nesting(self, track, slices):
        """Slices of a thread lie in each other or beside each other, and are told in the order of their ends."""
        if self.names.get(('thread_name', *track)) != 'queues':
            ends = [end for _, end, event in slices if event['cat'] != 'steal']
            self.rule(ends == sorted(ends), 'order', track)
        stack = []
        for begin, end, event in sorted(slices, key=lambda one: (one[0], -one[1])):
            while stack and stack[-1] <= begin:
                stack.pop()
            self.rule(not stack or end <= stack[-1], 'a slice that lies across another', track, event)
            stack.append(end)

    def check_flows(self):
        """An arrow has two ends, the first not later, each within a slice."""
        for number, ends in self.flows.items():
            self.rule([phase for phase, *_ in ends] == ['s', 'f'], 'an arrow without two ends', number, ends)
            if len(ends) == 2:
                self.rule(ends[0][2] <= ends[1][2], 'an arrow back in time', ends)
            for phase, track, when, event in ends:
                self.rule(any(begin <= when <= end for begin, end, _ in self.slices[track]), 'an end without a slice', event)
                self.rule(phase == 's' or event.get('bp') == 'e', 'an arrow to the next slice', event)

    def check_workers(self):
        """What the summary says of each worker is in its line."""
        for worker in self.root['otherData']['workers']:
            items = [one for one in self.slices[worker['place'] + 1, worker['worker']] if one[2]['cat'] == 'item']
            self.rule(len(items) == worker['noted'], 'items that are not in the line', worker, len(items))


class Trace(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix='iris-')
        self.addCleanup(folder.cleanup)
        self.environment = dict(os.environ, IRIS_RUNTIME_DIR=folder.name + '/run')
        self.irisd = subprocess.Popen([IRISD, '--topology=package:2 core:2 pu:1', '--places=package', '--no-bind'],
                                      env=self.environment, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(self.irisd.wait)
        self.addCleanup(self.irisd.kill)
        self.irisctl('--wait', '60', 'status')

    def irisctl(self, *words, text=None):
        done = subprocess.run([IRISCTL, *words], env=self.environment, input=text, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def work(self, ended):
        """Items for one place of two, until the test has seen what it wants."""
        while not ended.is_set():
            self.irisctl('map', '--place', 'package:0', 'sha256', IRISCTL, IRISD, *[IRISCTL] * 20)

    def test_items_and_steals_follow_the_format(self):
        ended = threading.Event()
        worker = threading.Thread(target=self.work, args=(ended,))
        worker.start()
        try:
            until = time.monotonic() + PATIENCE_S
            items = steals = 0
            while items == 0 or steals == 0:
                self.assertLess(time.monotonic(), until, 'no items or steals on the time line')
                line = TimeLine(self.irisctl('trace', '--seconds', '0.2'))
                self.assertEqual(line.mistakes, [])
                categories = [event['cat'] for slices in line.slices.values() for *_, event in slices]
                items, steals = items + categories.count('item'), steals + len(line.flows)
        finally:
            ended.set()
            worker.join()

    def test_an_idle_irisd_has_a_time_line(self):
        line = TimeLine(self.irisctl('trace', '--seconds', '0.01'))
        self.assertEqual(line.mistakes, [])
        self.assertEqual(len(line.root['otherData']['workers']), 4)
        self.assertEqual(sum(name == 'queues' for name in line.names.values()), 2)

    def test_the_reader_sees_mistakes(self):
        def event(**more):
            return {'ph': 'X', 'pid': 1, 'tid': 0, 'ts': 1.0, 'dur': 2.0, 'cat': 'item', 'name': 'x', **more}

        named = [{'ph': 'M', 'pid': 1, 'name': 'process_name', 'args': {'name': 'a'}},
                 {'ph': 'M', 'pid': 1, 'tid': 0, 'name': 'thread_name', 'args': {'name': 'b'}}]
        other = {'from_ns': 0, 'to_ns': 10000, 'workers': []}
        for events, what in (([event()], 'a process without a name'), (named + [event(ts=11.0)], 'a time outside'),
                             (named + [event(), event(ts=2.0)], 'a slice that lies across another'),
                             (named + [event(), event(ph='s', id=1)], 'an arrow without two ends'),
                             (named + [event(), event(ph='s', id=1, ts=9.0)], 'an end without a slice'),
                             (named + [event(ts=5.0), event()], 'order'), (named + [event(ph='B')], 'phase')):
            try:
                found = TimeLine(json.dumps({'traceEvents': events, 'otherData': other})).mistakes
            except KeyError:
                found = [('phase',)]
            self.assertIn(what, [mistake[0] for mistake in found])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
