#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Items and results that are larger than a message of NATS: whole at the other end, once, and removed afterwards.

    test_bodies.py IRISD IRISCTL
"""
import base64
import contextlib
import hashlib
import json
import random
import sys

from nats import ApiError
from nodes import Nodes
from processes import Folder, end_on_signals, patience, wait_until
from servers import Servers
from tap import demand, expect, run
from test_bridge import IrisdError, LEASE_MS, LOST_ATTEMPTS, call, fetch, submit

MIB = 1 << 20
DURABLE = 2
CHUNK = 128 << 10
BUCKET, STREAM = 'iris_bodies', 'OBJ_iris_bodies'
# Of which a node has stored only a part when it is killed.
LARGE = 50 * MIB
LIMITS = {'max-body': 64 * MIB, 'max-output': 64 * MIB, 'in-flight-bytes': 512 * MIB}


class World:
    def __init__(self, folder, count=2, limits=None, **cluster):
        self.folder, self.servers = folder, Servers(folder)
        self.nodes = Nodes(folder, sys.argv[1], sys.argv[2], self.servers, count, limits={**LIMITS, **(limits or {})},
                           **{'lease-ms': LEASE_MS, 'lost-attempts': LOST_ATTEMPTS, **cluster}).start()

    def stored(self):
        return self.nodes.messages(STREAM)

    def wait_until_empty(self):
        wait_until(lambda: self.nodes.messages('IRIS') == 0, 'the stream of items is empty')
        wait_until(lambda: self.stored() == 0, 'nothing is left of the bodies')


def kill_while_it_stores(world, node, begin, end):
    """Kills a node in the middle of a large body; returns what begin(number of the try) did, and how many chunks are there.

    On a busy machine the body may be whole before: then end() waits until nothing is left of it, and another one begins.
    """
    for number in range(10):
        with world.servers.connect() as nats:
            heard = nats.subscribe(f'$O.{BUCKET}.C.>')
            nats.api('INFO')
            begun = begin(number)
            nats.next(heard, patience())
            node.kill()
        left = world.stored()
        if left < LARGE // CHUNK:
            return begun, left
        node.start()
        end(begun)
        world.wait_until_empty()
        world.nodes.wait_for_all()
    raise AssertionError(f'{node.name} was killed too late each time')


def make(size, seed=1):
    return random.Random(seed).randbytes(size)


def send(at, body, /, klass=DURABLE, service='echo', **header):
    """Submits an item with a body; its number, or the refusal."""
    header = {name.replace('_', '-'): value for name, value in header.items()}
    return call(at, ('SUBMIT', {'service': service, 'class': klass, 'detach': True, **header}, body))[0]


def number_of(answer):
    demand(not isinstance(answer, IrisdError), f'{answer}')
    return answer.header['item']


def expect_body(answer, body):
    demand(not isinstance(answer, IrisdError), f'{answer}')
    expect(len(answer.body), len(body), 'bytes of the result')
    demand(answer.body == body, 'the result is another one')


def large_items_and_results_come_whole():
    with Folder() as folder:
        world = World(folder)
        first, told = world.nodes[0], []
        for size in (MIB, 5 * MIB + CHUNK, 50 * MIB):
            body = make(size)
            answer = fetch(first, number_of(send(first, body, node='n2', strict=True)))
            expect_body(answer, body)
            expect(answer.header.get('node'), 'n2')
            world.wait_until_empty()
            told.append(f'{size} bytes')
        # Small ones beside large ones are not kept from ending.
        large = [number_of(send(first, make(2 * MIB, seed), node='n2', strict=True)) for seed in range(3)]
        small = [number_of(send(first, b'small', node='n2', strict=True)) for _ in range(20)]
        for number in small:
            expect_body(fetch(first, number), b'small')
        for seed, number in enumerate(large):
            expect_body(fetch(first, number), make(2 * MIB, seed))
        world.wait_until_empty()
        return ', '.join(told)


def a_volatile_item_has_a_large_result_too():
    with Folder() as folder:
        world = World(folder)
        body = make(3 * MIB)
        code = f"head -c {len(body)} /dev/zero"
        ends = call(world.nodes[0], ('SUBMIT', {'service': 'command', 'class': 0, 'node': 'n2', 'strict': True, 'args': ['sh', '-c', code]}, b''))
        demand(not isinstance(ends[0], IrisdError), ends[0])
        world.wait_until_empty()


def objects_are_laid_out_as_tools_of_nats_read_them():
    with Folder() as folder:
        world = World(folder)
        first, other = world.nodes.all
        other.kill()
        body = make(3 * MIB + 5)
        number = number_of(send(first, body, node='n2', strict=True))
        wait_until(lambda: world.nodes.messages('IRIS') == 1, 'the item is in the stream')
        servers = world.servers
        subjects = servers.api('STREAM.INFO.' + STREAM, {'subjects_filter': f'$O.{BUCKET}.M.>'})['state']['subjects']
        expect(len(subjects), 1, 'objects')
        subject = next(iter(subjects))
        meta = servers.ask(lambda nats: nats.direct_get(STREAM, subject), 'its description').json()
        with servers.connect() as nats:
            expect(base64.urlsafe_b64decode(subject.rpartition('.')[2]).decode(), meta['name'])
            expect((meta['bucket'], meta['size'], meta['chunks']), (BUCKET, len(body), -(-len(body) // CHUNK)))
            expect(meta['digest'], 'SHA-256=' + base64.urlsafe_b64encode(hashlib.sha256(body).digest()).decode())
            found, sequence = b'', 1
            for _ in range(meta['chunks']):
                chunk = nats.request('$JS.API.DIRECT.GET.' + STREAM, json.dumps({'seq': sequence, 'next_by_subj': f'$O.{BUCKET}.C.{meta["nuid"]}'}), timeout=patience())
                demand(len(chunk.data) <= CHUNK, 'a chunk is too long')
                found, sequence = found + chunk.data, int(chunk.headers['Nats-Sequence']) + 1
            demand(found == body, 'the chunks are not the body')
        other.start()
        expect_body(fetch(first, number), body)
        world.wait_until_empty()


def a_host_that_dies_while_it_stores_a_result_leaves_nothing():
    with Folder() as folder:
        world = World(folder)
        first, other = world.nodes.all

        def begin(number):
            gate, begun = folder.path / f'gate{number}', folder.path / f'begun{number}'
            item = submit(first, ['sh', '-c', f'touch {begun}; while ! test -e {gate}; do sleep 0.05; done; head -c {LARGE} /dev/zero'], node='n2')
            wait_until(begun.exists, 'the item runs')
            gate.touch()
            return item
        item, left = kill_while_it_stores(world, other, begin, lambda item: fetch(first, item))
        answer = fetch(first, item)
        expect_body(answer, bytes(LARGE))
        expect(answer.header.get('node'), 'n1')
        world.wait_until_empty()
        return f'{left} chunks of {LARGE // CHUNK} were left'


def what_a_home_leaves_that_dies_while_it_stores_goes_by_its_age():
    with Folder() as folder:
        world = World(folder)
        first, body = world.nodes[0], folder.path / 'body'
        body.write_bytes(make(LARGE))
        client = folder.process('client')

        # A volatile item is lost with its home, so no one is left who could remove its body.
        def begin(number):
            client.spawn([first.nodes.irisctl, '--dir', str(first.dir), 'send', 'sha256', '--node', 'n2', '--strict', '--file', str(body)],
                         env=first.env)

        def end(begun):
            client.kill()
            wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the item has ended')
            world.servers.api('STREAM.PURGE.' + STREAM, {})
        left = kill_while_it_stores(world, first, begin, end)[1]
        client.kill()
        expect(world.nodes.messages('IRIS'), 0, 'items that were published before n1 was killed')
        first.start()
        config = world.servers.api('STREAM.INFO.' + STREAM)['config']
        expect(config['max_age'], 24 * 3600 * 10**9, 'the age of bodies, and of ends')
        # A day that passes in a second.
        world.servers.api('STREAM.UPDATE.' + STREAM, {**config, 'max_age': 10**9, 'duplicate_window': 10**9})
        world.wait_until_empty()
        return f'{left} chunks of {LARGE // CHUNK} were left'


def a_home_that_dies_gets_the_large_result_afterwards():
    with Folder() as folder:
        world = World(folder)
        first = world.nodes[0]
        gate, ran = folder.path / 'gate', folder.path / 'ran'
        number = submit(first, ['sh', '-c', f'echo x >>{ran}; while ! test -e {gate}; do sleep 0.05; done; head -c {5 * MIB} /dev/zero'],
                        node='n2', strict=True)
        wait_until(ran.exists, 'the item runs')
        first.kill()
        gate.touch()
        wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the item has ended')
        first.start()
        expect_body(fetch(first, number), bytes(5 * MIB))
        expect(ran.read_text(), 'x\n', 'runs')
        world.wait_until_empty()


def a_full_store_makes_large_items_wait():
    with Folder() as folder:
        world = World(folder, **{'bodies-bytes': 16 * MIB, 'max-away': 8})
        first, other = world.nodes.all
        other.kill()
        # Half of the store is for items: two of 3 MiB. What waits beyond is irisd's, until that says BUSY.
        numbers = [number_of(send(first, make(3 * MIB, seed), node='n2', strict=True)) for seed in range(8)]
        wait_until(lambda: world.nodes.messages('IRIS') == 2, 'two items are in the stream')
        busy = send(first, b'one too many', node='n2')
        demand(isinstance(busy, IrisdError) or busy.type == 'BUSY', f'{busy}')
        refused = send(first, b'', node='n2')
        demand('max-away' in str(refused) or getattr(refused, 'header', {}).get('limit') == 'max-away', f'{refused}')
        other.start()
        for seed, number in enumerate(numbers):
            expect_body(fetch(first, number), make(3 * MIB, seed))
        # What can never fit is refused by name.
        answer = fetch(first, number_of(send(first, make(9 * MIB), node='n2')))
        expect(answer.name, 'too-large')
        demand('bodies-bytes' in str(answer), answer)
        answer = fetch(first, submit(first, ['head', '-c', str(9 * MIB), '/dev/zero'], node='n2', strict=True))
        expect(answer.name, 'too-large')
        demand('bodies-bytes' in str(answer), answer)
        world.wait_until_empty()


def a_body_that_was_changed_does_not_run():
    with Folder() as folder:
        world = World(folder)
        first, other = world.nodes.all
        other.kill()
        numbers = [number_of(send(first, make(2 * MIB, seed), node='n2', strict=True)) for seed in range(2)]
        wait_until(lambda: world.nodes.messages('IRIS') == 2, 'the items are in the stream')
        servers = world.servers
        subjects = servers.api('STREAM.INFO.' + STREAM, {'subjects_filter': f'$O.{BUCKET}.C.>'})['state']['subjects']
        expect(len(subjects), 2, 'objects')
        for subject, kept in zip(subjects, (True, False)):
            last = servers.ask(lambda nats: nats.direct_get(STREAM, subject), 'the last chunk').headers['Nats-Sequence']
            if kept:
                servers.store(subject, bytes(CHUNK), 'changed')
            # An answer that was lost is asked for again, and then there is no such message.
            with contextlib.suppress(ApiError):
                servers.api('STREAM.MSG.DELETE.' + STREAM, {'seq': int(last)})
        other.start()
        texts = []
        for number in numbers:
            answer = fetch(first, number)
            expect(answer.name, 'internal')
            texts.append(str(answer))
        demand(any('digest' in text for text in texts) and any('not in the store' in text for text in texts), texts)
        world.wait_until_empty()


CASES = (large_items_and_results_come_whole, a_volatile_item_has_a_large_result_too, objects_are_laid_out_as_tools_of_nats_read_them,
         a_host_that_dies_while_it_stores_a_result_leaves_nothing,
         what_a_home_leaves_that_dies_while_it_stores_goes_by_its_age, a_home_that_dies_gets_the_large_result_afterwards,
         a_full_store_makes_large_items_wait, a_body_that_was_changed_does_not_run)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
