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


# More ordered restarts than an item has deliveries of which no end comes: 1 + lost-attempts.
RESTARTS = 8


def restart_in_order(node):
    """SIGTERM: it gives up at once what it has, as if that took longer than handover-ms, and starts again."""
    expect(node.process.terminate(), 0, 'the exit status')
    node.start()


def begun(folder, name):
    """How often an item has begun: a line for each."""
    path = folder.path / name
    return len(path.read_text().split()) if path.exists() else 0


def start_at_a_host(world, folder, count):
    """One that runs until there is a file, and others behind it, which wait for the only command that may run."""
    script = 'echo x >>"$0/ran-$1"; until test -e "$0/go"; do sleep 0.05; done; echo "$1"'
    numbers = [submit(world.nodes[0], ['sh', '-c', script, str(folder.path), str(number)], node='n2', strict=True, retries=0)
               for number in range(count)]
    wait_until(lambda: begun(folder, 'ran-0') == 1, 'the first runs')
    wait_until(lambda: world.nodes[1].json('status')['cluster']['guests'] == count, 'the host has all')
    return numbers


def ordered_restarts_of_a_host_use_up_no_tries():
    with Folder() as folder:
        world = World(folder, count=2, limits={'handover-ms': 1, 'commands-per-place': 1}, **{'lost-attempts': 0, 'lease-ms': int(patience(LEASE_MS))})
        first, host = world.nodes.all
        numbers = start_at_a_host(world, folder, 4)
        for _ in range(RESTARTS):
            restart_in_order(host)
            wait_until(lambda: host.json('status')['cluster']['guests'] == len(numbers), 'the host has all again')
        (folder.path / 'go').touch()
        for place, number in enumerate(numbers):
            expect(fetch(first, number).body, f'{place}\n'.encode())
        world.check_ends()
        expect(world.nodes.messages('IRIS_DEAD'), 0, 'dead letters')


def kills_of_a_host_count_beside_ordered_restarts():
    with Folder() as folder:
        world = World(folder, count=2, limits={'handover-ms': 1}, **{'lost-attempts': 1, 'lease-ms': int(patience(LEASE_MS))})
        first, host = world.nodes.all
        number = start_at_a_host(world, folder, 1)[0]
        for count, end in enumerate((host.restart, lambda: restart_in_order(host), lambda: restart_in_order(host)), 2):
            end()
            wait_until(lambda: begun(folder, 'ran-0') == count, f'it begins for the {count}. time')
        host.restart()
        answer = fetch(first, number)
        expect(answer.name, 'worker-lost')
        expect(begun(folder, 'ran-0'), 4, 'runs')
        world.check_ends()


def an_item_that_was_given_back_can_be_cancelled_without_its_host():
    with Folder() as folder:
        world = World(folder, count=2, limits={'handover-ms': 1})
        first, host = world.nodes.all
        number = start_at_a_host(world, folder, 1)[0]
        expect(host.process.terminate(), 0, 'the exit status')
        expect(world.nodes.messages('IRIS'), 1, 'messages')
        first.irisctl('cancel', number)
        expect(fetch(first, number).name, 'cancelled')
        world.check_ends()


CASES = (an_item_is_tried_more_often_than_five_times, an_item_that_costs_nodes_ends_by_a_limit, a_kicked_item_runs_again_and_has_another_end,
         ordered_restarts_of_a_host_use_up_no_tries, kills_of_a_host_count_beside_ordered_restarts,
         an_item_that_was_given_back_can_be_cancelled_without_its_host)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
