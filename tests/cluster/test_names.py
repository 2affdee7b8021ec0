#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Names that users choose are parts of what nodes publish: odd ones come as they are, and long ones hold nothing up.

    test_names.py IRISD IRISCTL
"""
import sys

from nodes import Nodes
from processes import Folder, end_on_signals
from servers import Servers
from tap import demand, expect, run
from test_asks import name_of
from test_bridge import LEASE_MS, call, fetch, submit

# The most bytes of a string of a request.
MOST_STRING = 4096


class World:
    def __init__(self, folder):
        self.folder, self.servers = folder, Servers(folder)
        self.nodes = Nodes(folder, sys.argv[1], sys.argv[2], self.servers, 2, **{'lease-ms': LEASE_MS}).start()
        self.first = self.nodes[0]

    def send(self, service, **header):
        """What n1 answers to an item for n2, at last."""
        header = {name.replace('_', '-'): value for name, value in header.items()}
        return name_of(call(self.first, ('SUBMIT', {'service': service, 'node': 'n2', 'quiet': True, **header}, b''))[0])


def odd_names_come_as_they_are():
    with Folder() as folder:
        world = World(folder)
        for name in ('*', '>', 'a.b', 'a b', '-', '=', 'ä', 'x' * 128):
            expect(world.send(name, strict=True), 'unknown-service', name)
            expect(world.send('echo', hint_name=name, strict=True), 'no-such-place', name)
        expect(world.nodes.messages('IRIS_DEAD'), 0)


def long_names_are_refused_and_hold_nothing_up():
    with Folder() as folder:
        world = World(folder)
        connects = world.first.json('status')['cluster']['connects']
        # Three bytes of a subject for each of the second one.
        for name in ('x' * MOST_STRING, 'ä' * (MOST_STRING // 2)):
            expect(world.send(name), 'bad-argument', 'the name of a service')
            expect(world.send('echo', hint_name=name), 'bad-argument', 'the name of a place')
        demand('there' in world.first.irisctl('run', '--node', 'n2', '--', 'echo', 'there'), 'another item does not run')
        fetch(world.first, submit(world.first, ['true'], node='n2', keep_ms=600000))
        expect(world.first.json('status')['cluster']['connects'], connects, 'the servers have ended the connection')


if __name__ == '__main__':
    end_on_signals()
    sys.exit(run((odd_names_come_as_they_are, long_names_are_refused_and_hold_nothing_up)))
