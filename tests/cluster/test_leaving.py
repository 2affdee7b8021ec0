#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nodes that leave for good, and nodes of a later irisd.

    test_leaving.py IRISD IRISCTL
"""
import hmac
import json
import secrets
import sys

from processes import Folder, end_on_signals, patience, wait_until
from tap import demand, expect, run
from test_bridge import call, fetch, submit
from test_where import World


def a_node_leaves_for_good():
    with Folder() as folder:
        world = World(folder)
        first = world.first
        world.other.kill()
        strict = submit(first, ['true'], node='n2', strict=True)
        soft = submit(first, ['true'], node='n2')
        demand('it is here' in first.irisctl('node', 'remove', 'n2', status=None), 'a node that is here was removed')
        # The soft one is drained by another node; the strict one has to be decided by a person.
        expect(fetch(first, soft).header.get('node'), 'n1', 'where the soft item ran')
        # An idle node may take it before that, from one that stands still.
        wait_until(lambda: 'n2' not in world.nodes.known_to(first), 'n2 is gone')
        text = first.irisctl('node', 'remove', 'n2', status=None)
        demand('1 strict items wait for it' in text, text)
        first.irisctl('cancel', strict)
        wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the item is out of the stream')
        demand('removed' in first.irisctl('node', 'remove', 'n2'), 'n2 was not removed')
        wait_until(lambda: [one['state'] for one in first.json('nodes')['nodes'] if one['name'] == 'n2'] != [1], 'n2 is not here')
        refusal = call(first, ('SUBMIT', {'service': 'echo', 'node': 'n2', 'strict': True}, b''))[0]
        expect(getattr(refusal, 'name', refusal), 'no-such-node')
        # It comes back, and is a node like any other.
        world.other.start()
        wait_until(lambda: 'n2' in world.nodes.known_to(first), 'n2 is back')
        expect(fetch(first, submit(first, ['true'], node='n2', strict=True)).header.get('node'), 'n2')


# More often than a message could be delivered if nodes that cannot read it used up a number of tries.
GIVEN_BACK = 7


def a_message_of_a_later_irisd_is_for_a_node_that_can_read_it():
    with Folder() as folder:
        world = World(folder)
        letter = bytearray(b'IRSC\x7f\x01\x03' + secrets.token_bytes(200))
        world.servers.store('iris.w.any.soft.-.command', bytes(letter), 'later')

        def deliveries():
            return world.servers.api('CONSUMER.INFO.IRIS.any', {})['delivered']['consumer_seq']
        wait_until(lambda: deliveries() >= GIVEN_BACK, 'nodes that cannot read it give it back', 120)
        with world.servers.connect() as nats:
            expect(world.nodes.messages('IRIS_DEAD'), 0, 'dead letters')
            # Here the test is the node that can. Pulls have their turns, so it asks for as long as irisd does.
            taken = wait_until(lambda: nats.pull('IRIS', 'any', 1, 60), 'the other node gets it', 120)[0]
            expect(taken.data, bytes(letter))
            nats.ack(taken, patience())
            wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the stream is empty')
        expect(fetch(world.first, submit(world.first, ['true'], any_node=True)).header.get('exit-status'), 0)


def an_entry_of_a_later_irisd_is_read_as_far_as_it_is_known():
    with Folder() as folder:
        world = World(folder)
        entry = json.loads(world.servers.ask(lambda nats: nats.direct_get('KV_iris_nodes', '$KV.iris_nodes.n2'), 'an entry').data)
        entry.update(format=entry.get('format', 1) + 1, version='99.0', incarnation=secrets.token_hex(8), later={'of': ['a', 'later', 'one']})
        entry['signature'] = hmac.digest(world.nodes.secret.read_bytes().strip(), f'iris-node\nn9\n{entry["incarnation"]}'.encode(),
                                         'sha256').hex()
        later = json.dumps(entry).encode()
        world.servers.ask(lambda nats: nats.store('$KV.iris_nodes.n9', later, **{'Nats-TTL': '1h'}), 'a later entry')
        wait_until(lambda: 'n9' in world.nodes.known_to(world.first), 'n9 is known')
        expect([one.get('version') for one in world.first.json('nodes')['nodes'] if one['name'] == 'n9'], ['99.0'])


CASES = (a_node_leaves_for_good, a_message_of_a_later_irisd_is_for_a_node_that_can_read_it,
         an_entry_of_a_later_irisd_is_read_as_far_as_it_is_known)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
