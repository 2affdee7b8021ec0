#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules whose runs go to other nodes: each occurrence runs once, where it is to run, whatever happens to its home.

    test_schedules.py IRISD IRISCTL
"""
import shutil
import sys

from processes import Folder, end_on_signals, wait_until
from tap import demand, expect, run
from test_bridge import World, fetch
from test_later import subjects

DONE = 3  # of the states in SCHEDULES_REPLY


class Schedule:
    """Due each second. A run prints an id of its own, and notes that and its node in a file."""

    def __init__(self, home, name, *options, before=''):
        self.home, self.name = home, name
        self.file = home.nodes.folder.path / f'runs-{name}'
        self.file.touch()
        script = f'{before}id=$(cat /proc/sys/kernel/random/uuid); echo $id $RIG_NODE >>{self.file}; echo $id'
        home.irisctl('every', '1s', '--name', name, *options, '--', 'sh', '-c', script)

    @property
    def info(self):
        return self.home.json('schedules', self.name)[0]

    @property
    def ran(self):
        """The ids of the runs, and where each was, as the nodes that ran them tell."""
        return [tuple(line.split()) for line in self.file.read_text().splitlines()]

    def wait_for(self, count):
        wait_until(lambda: len(self.ran) >= count, f'{count} runs of {self.name}')

    def pause(self):
        self.home.irisctl('schedules', '--pause', self.name)

    @property
    def items(self):
        return self.home.json('list', '--key', f'schedule/{self.name}/')

    @property
    def due(self):
        """When the runs were due that are items of its home."""
        return sorted(int(item['key'].rsplit('/', 1)[1]) for item in self.items)

    def check(self, faults):
        """Its home has an item for each run that it has counted, each with the end of one run, and no run is left."""
        items = [item['item'] for item in self.items]
        expect(self.info['runs'], len(items), f'runs of {self.name} that are items')
        ends = {}
        for item in items:
            answer = fetch(self.home, item)
            demand(getattr(answer, 'type', None) == 'RESULT', f'item {item} of {self.name}: {answer}')
            ends[answer.body.decode().strip()] = answer.header.get('node', self.home.name)
        expect(len(ends), len(items), f'runs of {self.name} with an end of their own')
        ran = self.ran
        expect(sorted(set(ends) - {ident for ident, node in ran}), [], f'ends of {self.name} without a run')
        for ident, node in ran:
            demand(ends.get(ident, node) == node, f'{ident} ran at {node}, and its end names {ends.get(ident)}')
        again = len(ran) - len(items)
        demand(again <= sum(fault[3] for fault in faults.all), f'{again} runs of {self.name} too many, which nothing explains')
        wait_until(lambda: self.info['state'] == DONE, f'{self.name} knows the end of its last run')
        return f'{self.name}: {len(items)} due, 0 lost, {again} again'


def each_occurrence_runs_once_over_restarts_of_its_home():
    with Folder() as folder:
        world = World(folder)
        first = world.nodes[0]
        there = Schedule(first, 'there', '--node', 'n2', '--strict', '--overlap', 'wait')
        anywhere = Schedule(first, 'anywhere', '--any-node')
        expect([(one.info['node'], one.info['any-node'], one.info['strict']) for one in (there, anywhere)],
               [('n2', False, True), ('', True, False)])
        for begun in (4, 8):
            there.wait_for(begun)
            anywhere.wait_for(begun)
            first.restart()
        world.nodes.wait_for_all()
        there.wait_for(len(there.ran) + 4)
        anywhere.wait_for(len(anywhere.ran) + 4)
        for one in (there, anywhere):
            one.pause()
        told = [one.check(world.faults) for one in (there, anywhere)]
        expect({node for ident, node in there.ran}, {'n2'}, 'where strict runs were')
        world.check_ends()
        return '; '.join(told)


def runs_wait_for_a_node_that_is_away_up_to_the_limit():
    with Folder() as folder:
        world = World(folder, count=2, **{'max-away': 3})
        first, other = world.nodes.all
        other.kill()
        away = Schedule(first, 'away', '--node', 'n2', '--strict', '--overlap', 'allow', '--missed', 'skip')
        wait_until(lambda: away.info['skipped'] >= 2, 'runs are left out')
        expect(away.info['runs'], 3, 'runs that wait')
        demand('a run of the schedule “away” is left out: the limit max-away (3) is reached' in first.process.text(), 'no word about it')
        other.start()
        away.wait_for(4)
        away.pause()
        told = away.check(world.faults)
        expect({node for ident, node in away.ran}, {'n2'}, 'where the runs were')
        world.check_ends()
        return told


def wait_for_copies(world, count):
    """Until the cluster has a copy of the next run of so many schedules."""
    wait_until(lambda: len(subjects(world, 'IRIS_LATER', 'iris.l.*.next.*')) == count, f'{count} copies of next runs')


def check_times(schedule):
    """None was left out, and none made twice."""
    due = schedule.due
    expect([(one, other) for one, other in zip(due, due[1:]) if other - one != 1000], [], f'runs of {schedule.name} that do not follow each other')


def others_go_on_while_its_home_is_down():
    with Folder() as folder:
        world = World(folder)
        first = world.nodes[0]
        there = Schedule(first, 'there', '--node', 'n2', '--strict', '--overlap', 'allow')
        anywhere = Schedule(first, 'anywhere', '--any-node', '--overlap', 'allow')
        for one in (there, anywhere):
            one.wait_for(2)
        wait_for_copies(world, 2)
        first.kill()
        before = {one: len(one.ran) for one in (there, anywhere)}
        for one in (there, anywhere):
            one.wait_for(before[one] + 5)
        first.start()
        world.nodes.wait_for_all()
        wait_until(lambda: 'without this node' in first.process.text(), 'its home has heard of runs')
        # It makes the next ones itself.
        for one in (there, anywhere):
            one.wait_for(len(one.ran) + 4)
            one.pause()
        told = [one.check(world.faults) for one in (there, anywhere)]
        for one in (there, anywhere):
            check_times(one)
        expect({node for ident, node in there.ran}, {'n2'}, 'where strict runs were')
        world.check_ends()
        wait_until(lambda: world.nodes.messages('IRIS_LATER') == 2, 'of each an empty head is left')
        return '; '.join(told)


def a_home_that_stands_still_makes_no_run_twice():
    with Folder() as folder:
        world = World(folder)
        first = world.nodes[0]
        second, third = (Schedule(first, name, '--node', name, '--strict', '--overlap', 'allow') for name in ('n2', 'n3'))
        for one in (second, third):
            one.wait_for(1)
        wait_for_copies(world, 2)
        # Shorter than it takes the others to see that it is gone, and longer.
        for count in (2, 18):
            first.process.stop()
            for one in (second, third):
                one.wait_for(len(one.ran) + count)
            first.process.go_on()
            for one in (second, third):
                one.wait_for(len(one.ran) + 2)
        for one in (second, third):
            one.pause()
        for one in (second, third):
            wait_until(lambda: all(item['state'] == 'done' for item in one.items), f'runs of {one.name} have ended')
        world.check_ends()
        runs = len(second.ran) + len(third.ran)
        expect(world.nodes.messages('IRIS_ENDS'), runs, 'ends')
        return f'{runs} runs, {len(second.items) + len(third.items)} items'


def a_host_that_is_killed_leaves_the_schedule_to_others():
    with Folder() as folder:
        world, gate = World(folder), folder.path / 'gate'
        first, second, third = world.nodes.all
        held = Schedule(first, 'held', '--any-node', '--overlap', 'allow', before=f'while ! test -e {gate}; do sleep 0.05; done; ')
        wait_for_copies(world, 1)
        first.kill()
        # Both have runs that they have gone on from, and that have not ended.
        wait_until(lambda: all(node.json('status')['cluster']['guests'] > 0 for node in (second, third)), 'both have some')
        second.kill()
        third.restart()
        gate.touch()
        held.wait_for(6)
        second.start()
        first.start()
        world.nodes.wait_for_all()
        held.wait_for(len(held.ran) + 4)
        held.pause()
        told = held.check(world.faults)
        check_times(held)
        expect(len({ident for ident, node in held.ran}), len(held.due), 'runs')
        world.check_ends()
        return told


def what_is_paused_or_removed_does_not_go_on():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        paused, removed, kept = (Schedule(first, name, '--node', 'n2', '--strict', '--overlap', 'allow') for name in ('paused', 'removed', 'kept'))
        wait_for_copies(world, 3)
        paused.pause()
        first.irisctl('schedules', '--remove', 'removed')
        wait_for_copies(world, 1)
        first.kill()
        before = len(paused.ran), len(removed.ran)
        kept.wait_for(len(kept.ran) + 3)
        expect((len(paused.ran), len(removed.ran)), before, 'runs of what was paused and removed')
        first.start()
        world.nodes.wait_for_all()
        first.irisctl('schedules', '--resume', 'paused')
        wait_for_copies(world, 2)
        paused.wait_for(before[0] + 2)
        for one in (paused, kept):
            one.pause()
        told = [one.check(world.faults) for one in (paused, kept)]
        world.check_ends()
        return '; '.join(told)


def the_schedules_of_a_journal_that_is_lost_end():
    with Folder() as folder:
        world = World(folder, count=2)
        first = world.nodes[0]
        lost = Schedule(first, 'lost', '--node', 'n2', '--strict', '--overlap', 'allow')
        lost.wait_for(2)
        first.kill()
        lost.wait_for(len(lost.ran) + 2)
        shutil.rmtree(first.journal)
        first.start()
        wait_for_copies(world, 0)
        world.check_ends()
        wait_for_copies(world, 0)


def the_schedules_of_a_node_that_was_removed_end():
    with Folder() as folder:
        world = World(folder, count=2)
        first, other = world.nodes.all
        ended = Schedule(first, 'ended', '--any-node', '--overlap', 'allow')
        wait_for_copies(world, 1)
        first.kill()
        ended.wait_for(len(ended.ran) + 2)
        wait_until(lambda: 'removed node n1' in other.irisctl('node', 'remove', 'n1', status=None), 'n1 is removed')
        wait_for_copies(world, 0)
        world.check_ends()


CASES = (others_go_on_while_its_home_is_down, a_home_that_stands_still_makes_no_run_twice, a_host_that_is_killed_leaves_the_schedule_to_others,
         what_is_paused_or_removed_does_not_go_on, the_schedules_of_a_journal_that_is_lost_end,
         the_schedules_of_a_node_that_was_removed_end,
         each_occurrence_runs_once_over_restarts_of_its_home, runs_wait_for_a_node_that_is_away_up_to_the_limit)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
