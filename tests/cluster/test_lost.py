#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Items whose message is gone from the stream, though they have no end: their home publishes them again.

    test_lost.py IRISD IRISCTL
"""
import base64
import sys

from processes import Folder, end_on_signals, wait_until
from tap import demand, expect, run
from test_bridge import World, fetch, submit

WORDS = 'has lost the item'
# How often a message is asked for depends on it. Who loses a lease here gets the item again.
QUICK = {'lease-ms': 1500}


def message(nats, sequence):
    return nats.api('STREAM.MSG.GET.IRIS', {'seq': sequence})['message']


def last(nats):
    return nats.api('STREAM.INFO.IRIS')['state']['last_seq']


def delete(nats, sequence):
    nats.api('STREAM.MSG.DELETE.IRIS', {'seq': sequence})


def name(found):
    """The item's own, from the id of its message."""
    headers = base64.b64decode(found['hdrs']).decode()
    return next(line for line in headers.split('\r\n') if line.startswith('Nats-Msg-Id')).rpartition('-')[2].strip()


def losses(node):
    return node.process.text().count(WORDS)


def what_no_host_got_is_published_again_and_what_a_host_put_anew_is_not():
    with Folder() as folder:
        world = World(folder, count=2, **QUICK)
        first, other = world.nodes.all
        other.kill()
        runs = [folder.path / 'moved', folder.path / 'lost']
        numbers = []
        with world.servers.connect() as nats:
            for number, ran in enumerate(runs):
                numbers.append(submit(first, ['sh', '-c', f'echo x >>{ran}; echo well'], node='n2', strict=True))
                wait_until(lambda: world.nodes.messages('IRIS') == number + 1, 'the stream has it')
                if number == 0:
                    # As a host does: first the new one, then the old one is acknowledged.
                    moved = message(nats, last(nats))
                    subject = moved['subject'] + '.' + name(moved)
                    nats.store(subject, base64.b64decode(moved['data']))
                    delete(nats, moved['seq'])
            lost = message(nats, last(nats))
            delete(nats, lost['seq'])
            wait_until(lambda: world.nodes.messages('IRIS') == 2, 'the stream has it again', 200)
            demand(name(lost) in first.process.text(), 'no warning tells it')
            again = message(nats, last(nats))
            demand(b'Iris-Again' in base64.b64decode(again['hdrs']), 'its end is not looked for before it runs')
        expect(losses(first), 1, 'lost items')
        other.start()
        for number, ran in zip(numbers, runs):
            expect(fetch(first, number).body, b'well\n')
            expect(ran.read_text(), 'x\n', 'runs')
        world.check_ends()
        expect(world.nodes.messages('IRIS_ENDS'), 2, 'ends')


def an_item_that_is_lost_while_it_runs_ends_once():
    with Folder() as folder:
        world = World(folder, count=2, **QUICK)
        first = world.nodes[0]
        ran, gate = folder.path / 'ran', folder.path / 'gate'
        number = submit(first, ['sh', '-c', f'echo x >>{ran}; while ! test -e {gate}; do sleep 0.02; done; echo well'], node='n2', strict=True)
        wait_until(ran.exists, 'it runs')
        with world.servers.connect() as nats:
            delete(nats, last(nats))
        expect(world.nodes.messages('IRIS'), 0, 'messages')
        wait_until(lambda: world.nodes.messages('IRIS') == 1, 'the stream has it again', 200)
        gate.touch()
        expect(fetch(first, number).body, b'well\n')
        world.check_ends()
        # The same node has got it again, so it goes on.
        expect(ran.read_text(), 'x\n', 'runs')
        expect(world.nodes.messages('IRIS_ENDS'), 1, 'ends')
        expect(losses(first), 1, 'lost items')


CASES = (what_no_host_got_is_published_again_and_what_a_host_put_anew_is_not, an_item_that_is_lost_while_it_runs_ends_once)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
