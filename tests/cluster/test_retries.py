#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Items of another node that fail: how often they are tried, when that ends, and what a kick does.

    test_retries.py IRISD IRISCTL
"""
import sys

from processes import Folder, end_on_signals, patience, wait_until
from tap import demand, expect, run
from test_bridge import LEASE_MS, World, call, fetch, submit


def an_item_is_tried_more_often_than_five_times():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        answer = fetch(first, submit(first, ['/no/such/program'], node='n2', strict=True, retries=8, backoff_ms=10))
        expect(answer.name, 'no-such-command')
        world.check_ends()
        # The consumer counts what it delivered: the first time, and eight times again.
        expect(world.servers.api('CONSUMER.INFO.IRIS.n2_strict', {})['delivered']['consumer_seq'], 9, 'deliveries')
        expect(world.nodes.messages('IRIS_DEAD'), 0, 'dead letters')


def an_item_that_costs_nodes_ends_by_a_limit():
    with Folder() as folder:
        # A lease that runs out because the machine is busy would be one more that is lost.
        world = World(folder, count=2, **{'lost-attempts': 1, 'lease-ms': int(patience(LEASE_MS))})
        first, other = world.nodes.all
        ran = folder.path / 'ran'
        ran.touch()
        number = submit(first, ['sh', '-c', f'echo x >>{ran}; exec sleep 1000'], node='n2', strict=True)
        for count in (1, 2):
            wait_until(lambda: len(ran.read_text().split()) == count, f'it runs for the {count}. time')
            other.restart()
        answer = fetch(first, number)
        expect(answer.name, 'worker-lost')
        demand('lost-attempts' in str(answer), answer)
        expect(ran.read_text(), 'x\nx\n', 'runs')
        world.check_ends()
        letter = world.servers.ask(lambda nats: nats.direct_get('IRIS_DEAD', 'iris.x.n2.lost'), 'the dead letter')
        demand(letter is not None and 'lost-attempts' in letter.headers['Iris-Reason'], 'there is no dead letter')


def a_kicked_item_runs_again_and_has_another_end():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        program = folder.path / 'program'
        number = submit(first, [str(program)], node='n2', strict=True, bury=True)
        wait_until(lambda: 'buried' in first.irisctl('show', number, status=None), 'the item is buried')
        expect(world.nodes.messages('IRIS_ENDS'), 1, 'ends')
        (folder.path / 'new').write_text('#!/bin/sh\necho well\n')
        (folder.path / 'new').chmod(0o755)
        (folder.path / 'new').rename(program)
        # Killed after the kick was answered, its home still knows the new name.
        call(first, ('KICK', {'item': number}, b''))
        first.restart()
        answer = fetch(first, number)
        expect(answer.body, b'well\n')
        expect(world.nodes.messages('IRIS_ENDS'), 2, 'ends')
        world.check_ends()


CASES = (an_item_is_tried_more_often_than_five_times, an_item_that_costs_nodes_ends_by_a_limit, a_kicked_item_runs_again_and_has_another_end)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
