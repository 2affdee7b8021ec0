#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Schedules whose runs go to other nodes: each occurrence runs once, where it is to run, whatever happens to its home.

    test_schedules.py IRISD IRISCTL
"""
import sys

from processes import Folder, end_on_signals, wait_until
from tap import demand, expect, run
from test_bridge import World, fetch

DONE = 3  # of the states in SCHEDULES_REPLY


class Schedule:
    """Due each second. A run prints an id of its own, and notes that and its node in a file."""

    def __init__(self, home, name, *options):
        self.home, self.name = home, name
        self.file = home.nodes.folder.path / f'runs-{name}'
        self.file.touch()
        script = f'id=$(cat /proc/sys/kernel/random/uuid); echo $id $RIG_NODE >>{self.file}; echo $id'
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

    def check(self, faults):
        """Its home has an item for each run that it has counted, each with the end of one run, and no run is left."""
        items = [item['item'] for item in self.home.json('list', '--key', f'schedule/{self.name}/')]
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


CASES = (each_occurrence_runs_once_over_restarts_of_its_home, runs_wait_for_a_node_that_is_away_up_to_the_limit)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
