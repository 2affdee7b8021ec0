#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Items between three irisd: where they run, how they end, and that each has one end, whatever dies meanwhile.

    test_bridge.py IRISD IRISCTL
"""
import asyncio
import pathlib
import secrets
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'clients/python'))
from irisd_client import IrisdError, wire  # noqa: E402
from irisd_client.connection import Connection  # noqa: E402

from items import Faults, Items  # noqa: E402
from nodes import Nodes  # noqa: E402
from processes import Folder, end_on_signals, patience, wait_until  # noqa: E402
from pulse import Pulse  # noqa: E402
from servers import Servers  # noqa: E402
from tap import demand, expect, run  # noqa: E402

LEASE_MS = 5000
# On a machine with much other work leases run out where no node dies; no item is to end by that.
LOST_ATTEMPTS = 1000


class World:
    def __init__(self, folder, count=3, **cluster):
        self.folder, self.servers = folder, Servers(folder)
        self.nodes = Nodes(folder, sys.argv[1], sys.argv[2], self.servers, count, **{'lease-ms': LEASE_MS, 'lost-attempts': LOST_ATTEMPTS, **cluster}).start()
        self.faults = Faults()
        Pulse(folder, self.servers, self.faults)

    def submit(self, at, prefix, count, script='', window=16, **header):
        items = Items(at, prefix, count=count, script=script, window=window, **header)
        items.start()
        return items

    def check_ends(self):
        """Nothing waits any more, and no end was ever replaced."""
        wait_until(lambda: self.nodes.messages('IRIS') == 0, 'the stream of items is empty')
        state = self.servers.api('STREAM.INFO.IRIS_ENDS')['state']
        expect(state.get('num_deleted', 0), 0, 'ends that another end has replaced')


def call(node, *requests):
    """The answers to requests on a connection of their own, ERROR as it is."""
    async def wait(awaited, what):
        try:
            return await asyncio.wait_for(awaited, limit := patience())
        except asyncio.TimeoutError as error:
            raise AssertionError(f'{node.name} answers {what}: not within {limit:.0f} s') from error

    async def talk():
        connection = Connection(lambda message: None, lambda error: None, session=secrets.token_hex(wire.SESSION_SIZE // 2).encode())
        await wait(connection.open(node.endpoint, 'test'), 'HELLO')
        answers = []
        for kind, header, body in requests:
            try:
                answers.append(await wait(connection.call(kind, header, body), kind))
            except IrisdError as error:
                answers.append(error)
        connection.close()
        return answers
    return asyncio.run(talk())


def submit(at, args, **header):
    """The number of a durable command."""
    header = {name.replace('_', '-'): value for name, value in header.items()}
    answer = call(at, ('SUBMIT', {'service': 'command', 'class': 2, 'detach': True, 'args': args, **header}, b''))[0]
    if isinstance(answer, IrisdError):
        raise answer
    return answer.header['item']


def fetch(node, item):
    """The end of an item, which may take a busy machine a while."""
    answers = []

    def ended():
        answers[:] = call(node, ('FETCH', {'item': item, 'wait-ms': 5000}, b''))
        return isinstance(answers[0], IrisdError) or answers[0].type != 'PENDING'
    wait_until(ended, f'item {item} ends', 200)
    return answers[0]


def items_run_where_they_are_sent():
    with Folder() as folder:
        world = World(folder)
        first = world.nodes[0]
        strict = world.submit(first, 'strict', 20, node='n2', strict=True)
        soft = world.submit(first, 'soft', 20, node='n3')
        spread = world.submit(first, 'any', None, any_node=True, script='sleep 0.02; ')
        wait_until(lambda: len(spread.nodes) > 1 or spread.error, 'items for any node run at several')
        told = []
        for items in (strict, soft, spread):
            items.wait_for(items.count or 60).finish()
            told.append(items.check(world.faults))
        expect(set(strict.nodes), {'n2'}, 'where strict items ran')
        world.check_ends()
        return '; '.join(told)


def idle_nodes_take_what_waits_at_another():
    with Folder() as folder:
        world = World(folder)
        # As many wait there until another node takes some.
        items = world.submit(world.nodes[0], 'x', None, window=120, node='n2', script='sleep 0.1; ')
        wait_until(lambda: set(items.nodes) > {'n2'} or items.error, 'some run elsewhere')
        items.finish()
        told = items.check(world.faults)
        bound = world.submit(world.nodes[0], 'y', 60, window=60, node='n2', strict=True, script='sleep 0.05; ')
        bound.wait_for(60).finish()
        expect(set(bound.nodes), {'n2'}, 'where strict items ran')
        world.check_ends()
        return told


def an_item_that_fails_there_fails_here():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        answer = fetch(first, submit(first, ['sh', '-c', 'echo out; exit 7'], node='n2', strict=True))
        expect(answer.header.get('exit-status'), 7)
        expect(answer.header.get('node'), 'n2')
        answer = fetch(first, submit(first, ['/no/such/program'], node='n2', strict=True))
        demand(isinstance(answer, IrisdError), f'{answer}')
        expect(answer.name, 'no-such-command')
        world.check_ends()


def an_item_is_tried_again_as_often_as_it_may_be():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        answer = fetch(first, submit(first, ['/no/such/program'], node='n2', retries=2, backoff_ms=50))
        expect(answer.name, 'no-such-command')
        world.check_ends()
        # The consumer counts what it delivered: the first time, and twice again.
        expect(world.servers.api('CONSUMER.INFO.IRIS.n2_soft', {})['delivered']['consumer_seq'], 3, 'deliveries')


def a_cancelled_item_does_not_run():
    with Folder() as folder:
        world = World(folder, count=2)
        first, other = world.nodes.all
        other.kill()
        ran = folder.path / 'ran'
        number = submit(first, ['touch', str(ran)], node='n2', strict=True)
        wait_until(lambda: world.nodes.messages('IRIS') == 1, 'the item is in the stream')
        call(first, ('CANCEL', {'item': number}, b''))
        expect(fetch(first, number).name, 'cancelled')
        wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the item is out of the stream')
        other.start()
        later = submit(first, ['true'], node='n2', strict=True)
        expect(fetch(first, later).header.get('exit-status'), 0)
        demand(not ran.exists(), 'the cancelled item ran')


def a_cancelled_item_stops_where_it_runs():
    with Folder() as folder:
        world = World(folder, count=2)
        first, other = world.nodes.all
        begun, pid = folder.path / 'begun', None
        number = submit(first, ['sh', '-c', f'echo $$ >{begun}.new; mv {begun}.new {begun}; exec sleep 1000'], node='n2', strict=True)
        wait_until(begun.exists, 'the item runs')
        pid = int(begun.read_text())
        call(first, ('CANCEL', {'item': number}, b''))
        expect(fetch(first, number).name, 'cancelled')
        wait_until(lambda: not pathlib.Path(f'/proc/{pid}').exists(), 'its process is gone')
        world.check_ends()


def an_item_whose_host_dies_runs_elsewhere_and_ends_once():
    with Folder() as folder:
        world = World(folder)
        first = world.nodes[0]
        items = world.submit(first, 'x', None, any_node=True, script='sleep 0.1; ')
        wait_until(lambda: items.nodes['n3'] > 0 or items.error, 'items run at n3')
        with world.faults.during(world.nodes[2]):
            world.nodes[2].kill()
            items.wait_for(len(items.ends) + 60).finish()
        told = items.check(world.faults)
        world.check_ends()
        return told


def the_end_waits_for_a_home_that_died():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        gate, ran = folder.path / 'gate', folder.path / 'ran'
        number = submit(first, ['sh', '-c', f'echo x >>{ran}; while ! test -e {gate}; do sleep 0.05; done; echo done'],
                        node='n2', strict=True)
        wait_until(ran.exists, 'the item runs')
        first.kill()
        gate.touch()
        wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the item has ended')
        first.start()
        answer = fetch(first, number)
        expect(answer.body, b'done\n')
        expect(ran.read_text(), 'x\n', 'runs')
        world.check_ends()


def a_home_that_is_killed_again_and_again_loses_nothing():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        items = world.submit(first, 'x', None, node='n2')
        for number in range(5):
            items.wait_for(20 * (number + 1))
            # What it ran itself when it was killed runs again.
            with world.faults.during(first):
                first.restart()
        items.wait_for(120).finish()
        told = items.check(world.faults)
        world.check_ends()
        return told


def what_is_not_signed_never_runs():
    with Folder() as folder:
        world = World(folder, count=1)
        letters = (b'not ours', b'IRSC\x01\x01', b'IRSC\x01\x01' + bytes(200))
        for number, letter in enumerate(letters):
            world.servers.store('iris.w.n1.soft.-.command', letter, f'letter-{number}')
        wait_until(lambda: world.nodes.messages('IRIS_DEAD') == len(letters), 'all are dead letters')
        wait_until(lambda: world.nodes.messages('IRIS') == 0, 'the stream of items is empty')


def an_item_for_any_node_goes_to_one_that_has_its_service():
    with Folder() as folder:
        world = World(folder)
        first, second = world.nodes[0], world.nodes[1]
        (folder.path / 'served.py').write_text('def rare(job):\n    return "done"\n')
        python = pathlib.Path(__file__).resolve().parents[2] / 'clients/python'
        worker = folder.process('worker')
        worker.spawn([sys.executable, '-m', 'irisd_client', 'serve', '--endpoint', second.endpoint, 'rare=served:rare'],
                     env=dict(second.env, PYTHONPATH=f'{python}:{folder.path}'))

        def known():
            try:
                return submit(first, [], service='rare')
            except IrisdError as error:
                expect(error.name, 'unknown-service')
        numbers = [wait_until(known, 'n1 knows the service of n2')]
        numbers += [submit(first, [], service='rare', any_node=True) for _ in range(12)]
        for number in numbers:
            answer = fetch(first, number)
            expect(answer.body, b'done')
            expect(answer.header.get('node'), 'n2')
            # No other node has had it before.
            expect(answer.header.get('attempts', 1), 1)
        world.check_ends()


CASES = (items_run_where_they_are_sent, idle_nodes_take_what_waits_at_another, an_item_that_fails_there_fails_here, an_item_is_tried_again_as_often_as_it_may_be,
         a_cancelled_item_does_not_run, a_cancelled_item_stops_where_it_runs, an_item_whose_host_dies_runs_elsewhere_and_ends_once,
         the_end_waits_for_a_home_that_died, a_home_that_is_killed_again_and_again_loses_nothing, what_is_not_signed_never_runs,
         an_item_for_any_node_goes_to_one_that_has_its_service)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
