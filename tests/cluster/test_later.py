#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Items that wait for their time and then run at another node: also if their home is down then, and never twice.

    test_later.py IRISD IRISCTL
"""
import contextlib
import functools
import sys
import time
from collections import Counter

from processes import Folder, end_on_signals, wait_until
from tap import demand, expect, run
from test_bridge import World, call, fetch, submit

# No time that a test waits for, but one that never comes.
FAR_MS = 24 * 3600 * 1000
# Long enough to do something before it. A machine that is too slow for that gets longer.
SOON_MS = 15000
LONGER = (1, 5, 25)
WAITS = 'delayed'


class TooLate(Exception):
    """An item was due before the test had done what belongs before that."""


def before_it_is_due(soon_ms):
    """A case with items that are due so soon: all again with more time if it was too short."""
    def decorate(case):
        @functools.wraps(case)
        def tried():
            for longer in LONGER:
                with Folder() as folder, contextlib.suppress(TooLate):
                    return case(World(folder), soon_ms * longer)
            raise AssertionError(f'{soon_ms * longer} ms were too short')
        return tried
    return decorate


def check_time(begun, soon_ms):
    if time.time() > begun + soon_ms / 1000:
        raise TooLate


def state(node, item):
    return node.json('show', item)['state']


def subjects(world, stream, under):
    """What a stream has below a subject."""
    found = world.servers.api(f'STREAM.INFO.{stream}', {'subjects_filter': under})['state']
    return sorted((found.get('subjects') or {}).keys())


def copies(world):
    return subjects(world, 'IRIS_LATER', 'iris.l.>')


def get_time(world):
    """When the only item that waits in the cluster is due; None while it is written anew."""
    waiting = copies(world)
    copy = waiting and world.servers.ask(lambda nats: [nats.direct_get('IRIS_LATER', waiting[0])], 'the copy')[0]
    return copy.headers['Nats-Schedule'] if copy else None


def wait_for_copies(world, count):
    wait_until(lambda: len(copies(world)) == count, f'{count} items wait in the cluster')


def wait_for_copies_in_time(world, count, begun, soon_ms):
    def waits():
        check_time(begun, soon_ms)
        return len(copies(world)) == count
    wait_until(waits, f'{count} items wait in the cluster')


def check_nothing_is_left(world):
    world.check_ends()
    wait_until(lambda: world.nodes.messages('IRIS_LATER') == 0, 'the stream of schedules is empty')


def wait_for_runs(path, count):
    wait_until(lambda: path.exists() and len(path.read_text().split()) >= count, f'{count} runs')


@before_it_is_due(SOON_MS)
def others_run_what_is_due_while_its_home_is_down(world, soon_ms):
    first = world.nodes[0]
    begun, ran = time.time(), world.folder.path / 'ran'
    numbers = [submit(first, ['sh', '-c', f'echo {number} >>{ran}; date +%s.%N'], delay_ms=soon_ms,
                      **({'any_node': True} if number % 3 else {'node': 'n2', 'strict': number % 2 == 0}))
               for number in range(12)]
    states = {state(first, number) for number in numbers}
    wait_for_copies_in_time(world, 12, begun, soon_ms)
    expect(states, {WAITS})
    first.kill()
    check_time(begun, soon_ms)
    wait_for_runs(ran, 12)
    # With the home down they have ended, and their ends are kept for it.
    wait_until(lambda: world.nodes.messages('IRIS_ENDS') == 12, 'all have ended')
    first.start()
    for number in numbers:
        answer = fetch(first, number)
        demand(float(answer.body) >= begun + soon_ms / 1000, f'item {number} ran before its time')
        demand(answer.header.get('node') in ('n2', 'n3'), f'{answer.header}')
    expect(sorted(map(int, ran.read_text().split())), list(range(12)), 'runs')
    check_nothing_is_left(world)


def its_home_sends_what_is_due_while_it_is_up():
    with Folder() as folder:
        world = World(folder, count=2)
        first, ran = world.nodes[0], folder.path / 'ran'
        at = int(time.time() * 1000) + 4000
        numbers = [submit(first, ['sh', '-c', f'echo x >>{ran}; date +%s.%N'], node='n2', strict=True, at_ms=at) for _ in range(10)]
        for number in numbers:
            answer = fetch(first, number)
            demand(float(answer.body) * 1000 >= at, f'item {number} ran before its time')
            expect(answer.header.get('node'), 'n2')
        expect(ran.read_text(), 10 * 'x\n', 'runs')
        check_nothing_is_left(world)


def what_is_cancelled_before_its_time_never_runs():
    with Folder() as folder:
        world = World(folder, count=2)
        first, ran = world.nodes[0], folder.path / 'ran'
        number = submit(first, ['touch', str(ran)], node='n2', strict=True, delay_ms=FAR_MS)
        wait_for_copies(world, 1)
        call(first, ('CANCEL', {'item': number}, b''))
        expect(fetch(first, number).name, 'cancelled')
        wait_for_copies(world, 0)
        # Also one that waited before a restart of its home.
        number = submit(first, ['touch', str(ran)], node='n2', strict=True, delay_ms=FAR_MS)
        wait_for_copies(world, 1)
        first.restart()
        expect(state(first, number), WAITS)
        call(first, ('CANCEL', {'item': number}, b''))
        expect(fetch(first, number).name, 'cancelled')
        wait_for_copies(world, 0)
        world.nodes.wait_for_all()
        expect(fetch(first, submit(first, ['true'], node='n2', strict=True)).header.get('exit-status'), 0)
        demand(not ran.exists(), 'a cancelled item ran')
        check_nothing_is_left(world)


def a_change_at_its_home_is_one_of_the_copy():
    with Folder() as folder:
        world = World(folder, count=2)
        first, ran = world.nodes[0], folder.path / 'ran'
        sooner, kicked, paused = (submit(first, ['sh', '-c', f'echo {name} >>{ran}'], node='n2', strict=True, delay_ms=FAR_MS)
                                  for name in ('sooner', 'kicked', 'paused'))
        wait_for_copies(world, 3)
        call(first, ('SUSPEND', {'item': paused}, b''))
        wait_for_copies(world, 2)
        call(first, ('KICK', {'item': kicked}, b''))
        expect(fetch(first, kicked).header.get('node'), 'n2')
        wait_for_copies(world, 1)
        before = get_time(world)
        call(first, ('EDIT', {'item': sooner, 'delay-ms': SOON_MS}, b''))
        wait_until(lambda: (get_time(world) or before) < before or 'sooner' in ran.read_text(), 'the copy has the new time')
        first.kill()
        wait_for_runs(ran, 2)
        first.start()
        expect(fetch(first, sooner).header.get('node'), 'n2')
        # The paused one waits again when it is resumed.
        call(first, ('RESUME', {'item': paused}, b''))
        wait_for_copies(world, 1)
        expect(state(first, paused), WAITS)
        call(first, ('CANCEL', {'item': paused}, b''))
        expect(ran.read_text(), 'kicked\nsooner\n', 'runs')
        check_nothing_is_left(world)


def a_home_that_is_killed_again_and_again_runs_nothing_twice():
    with Folder() as folder:
        world = World(folder)
        first, ran = world.nodes[0], folder.path / 'ran'
        ran.touch()
        numbers = []
        for _ in range(3):
            # Until it knows the others, an item for any node stays with it.
            world.nodes.wait_for_all()
            for number in range(8):
                numbers.append(submit(first, ['sh', '-c', f'echo {len(numbers)} $RIG_NODE >>{ran}'], any_node=True, delay_ms=1500 + 700 * number))
            first.restart()
        for number in numbers:
            expect(fetch(first, number).header.get('exit-status'), 0)
        runs = [line.split() for line in ran.read_text().splitlines()]
        expect({int(number) for number, _ in runs}, set(range(len(numbers))), 'that ran')
        # One that was due late may have run where the home was just killed, and again elsewhere.
        killed = Counter(number for number, node in runs if node == 'n1')
        expect([number for number, count in Counter(number for number, _ in runs).items() if count - 1 > killed[number]], [], 'twice')
        check_nothing_is_left(world)


@before_it_is_due(3000)
def a_long_run_goes_on_while_its_home_comes_back(world, soon_ms):
    first, ran, gate, begun = world.nodes[0], world.folder.path / 'ran', world.folder.path / 'gate', time.time()
    number = submit(first, ['sh', '-c', f'echo x >>{ran}; while ! test -e {gate}; do sleep 0.05; done'], any_node=True, delay_ms=soon_ms)
    wait_for_copies_in_time(world, 1, begun, soon_ms)
    first.kill()
    check_time(begun, soon_ms)
    wait_for_runs(ran, 1)
    first.start()
    # Its home finds that it has become an item, and waits for the end.
    wait_until(lambda: first.json('status')['cluster']['away'] == 1, 'its home has it again')
    gate.touch()
    expect(fetch(first, number).header.get('exit-status'), 0)
    expect(ran.read_text(), 'x\n', 'runs')
    check_nothing_is_left(world)


@before_it_is_due(5000)
def what_an_operator_removed_is_sent_by_its_home(world, soon_ms):
    first, ran, begun = world.nodes[0], world.folder.path / 'ran', time.time()
    number = submit(first, ['sh', '-c', f'echo x >>{ran}'], node='n2', strict=True, delay_ms=soon_ms)
    wait_for_copies_in_time(world, 1, begun, soon_ms)
    world.servers.api('STREAM.PURGE.IRIS_LATER', {})
    check_time(begun, soon_ms)
    expect(fetch(first, number).header.get('node'), 'n2')
    expect(ran.read_text(), 'x\n', 'runs')
    check_nothing_is_left(world)


def without_the_stream_of_schedules_the_home_holds_them():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        config = world.servers.api('STREAM.INFO.IRIS_LATER')['config']
        world.servers.api('STREAM.DELETE.IRIS_LATER', {})
        kept = {name: value for name, value in config.items() if name not in ('allow_msg_schedules', 'metadata')}
        world.servers.api('STREAM.CREATE.IRIS_LATER', kept)
        number = submit(first, ['true'], node='n2', strict=True, delay_ms=3000)
        wait_until(lambda: 'so they wait for this node' in first.process.text(), 'its log says so')
        demand('Stream IRIS_LATER: allow_msg_schedules' in first.irisctl('cluster', 'check', status=None), 'check says nothing')
        expect(fetch(first, number).header.get('node'), 'n2')


CASES = (others_run_what_is_due_while_its_home_is_down, its_home_sends_what_is_due_while_it_is_up,
         what_is_cancelled_before_its_time_never_runs, a_change_at_its_home_is_one_of_the_copy,
         a_home_that_is_killed_again_and_again_runs_nothing_twice, a_long_run_goes_on_while_its_home_comes_back,
         what_an_operator_removed_is_sent_by_its_home, without_the_stream_of_schedules_the_home_holds_them)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
