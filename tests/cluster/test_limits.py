#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A node at a limit of its own leaves to the others what they may take.

    test_limits.py IRISD IRISCTL
"""
import asyncio
import base64
import json
import sys
import threading

from nodes import Nodes
from processes import Folder, end_on_signals, patience, wait_until
from servers import Servers
from tap import expect, run
from test_bridge import LEASE_MS, Connection, IrisdError, call

TOTAL_BYTES = 16 << 20
BODY = b'x' * (TOTAL_BYTES // 16)
FOR_EVER_MS = 3600000


class Burden(threading.Thread):
    """Items of a client that wait at a node, until that is full."""

    def __init__(self, node):
        super().__init__(daemon=True)
        self.node, self.full, self.enough, self.error = node, threading.Event(), threading.Event(), None
        self.start()

    async def fill(self):
        connection = Connection(lambda message: None, lambda error: None)
        await connection.open(self.node.endpoint, 'burden')
        waiting = []
        try:
            while True:
                answer = await connection.call('SUBMIT', {'service': 'echo', 'delay-ms': FOR_EVER_MS}, BODY)
                waiting.append(answer.id)
        except IrisdError as error:
            expect(error.name, 'busy')
        self.full.set()
        await asyncio.to_thread(self.enough.wait)
        for ident in waiting:
            connection.send('CANCEL', {'target': ident})
        # What comes after it has been done before.
        await connection.call('LIST')
        connection.close()

    def run(self):
        try:
            asyncio.run(self.fill())
        except Exception as error:  # pylint: disable=broad-except
            self.error = error
            self.full.set()

    def wait(self):
        if not self.full.wait(patience()) or self.error:
            raise AssertionError(f'{self.node.name} was not filled: {self.error!r}')
        return self

    def end(self):
        self.enough.set()
        self.join(patience())


def a_full_node_takes_nothing_that_others_may_take():
    with Folder() as folder:
        servers = Servers(folder)
        nodes = Nodes(folder, sys.argv[1], sys.argv[2], servers, 2, **{'lease-ms': LEASE_MS})
        nodes[1].limits.update({'total-bytes': TOTAL_BYTES, 'in-flight-bytes': TOTAL_BYTES})
        nodes[1].write_config()
        nodes.start()

        def tells_full():
            stored = servers.api('STREAM.MSG.GET.KV_iris_nodes', {'last_by_subj': '$KV.iris_nodes.n2'})['message']
            return json.loads(base64.b64decode(stored['data']))['load']['full']
        expect(tells_full(), False)
        burden = Burden(nodes[1]).wait()
        wait_until(tells_full, 'n2 tells that it is full')
        for _ in range(20):
            answer = call(nodes[0], ('SUBMIT', {'service': 'echo', 'any-node': True, 'quiet': True}, b'any'))[0]
            expect((answer.type, answer.header.get('node')), ('RESULT', 'n1'))
        expect(set(nodes[0].json('status')['cluster']['steals_refused']), {'backlog', 'size', 'distance', 'apart'})
        burden.end()
        wait_until(lambda: not tells_full(), 'n2 tells that it has room')
        # The consumer says how many ask. It may be that one is about to ask again.
        wait_until(lambda: servers.api('CONSUMER.INFO.IRIS.any').get('num_waiting') == 2, 'both nodes ask for items for any node')


if __name__ == '__main__':
    end_on_signals()
    sys.exit(run((a_full_node_takes_nothing_that_others_may_take,)))
