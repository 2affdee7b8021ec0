#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rig itself: items with a ledger by id, at one irisd without a cluster, and what the ledger reports.

    test_items.py IRISD IRISCTL
"""
import sys
from types import SimpleNamespace

from items import Faults, Items
from nodes import Nodes
from processes import Folder, end_on_signals
from tap import demand, expect, run

KILLS = 5


def alone(folder):
    return Nodes(folder, sys.argv[1], sys.argv[2], count=1).start()[0]


def items_survive_kills_of_their_irisd():
    with Folder() as folder:
        node = alone(folder)
        items = Items(node, 'x')
        items.start()
        faults = Faults()
        for number in range(KILLS):
            items.wait_for(20 * (number + 1))
            with faults.during(node):
                node.restart()
        items.wait_for(20 * (KILLS + 1)).finish()
        return items.check(faults)


def the_ledger_reports(change, words, faults=None):
    """What the ledger says of items that went well, after a change."""
    with Folder() as folder:
        items = Items(alone(folder), 'x', count=10)
        items.start()
        items.wait_for(10).finish()
        items.check()
        change(items)
        try:
            items.check(faults)
        except AssertionError as error:
            demand(words in str(error), str(error))
            return
        raise AssertionError('it says that all is well')


def an_item_without_an_end_is_reported():
    the_ledger_reports(lambda items: items.ends.pop('x-3'), 'lost')


def run_again(items, node='n1'):
    with open(items.runs_file, 'a', encoding='ascii') as runs:
        runs.write(f'x-3 {node}\n')


def an_item_that_ran_twice_is_reported():
    the_ledger_reports(run_again, 'runs too many')


def a_fault_explains_what_was_under_way_at_its_node():
    """One run more, of an item that ran there and had no end before; and no other."""
    def fault(nodes=('n1',), begin=0.0, end=float('inf')):
        faults = Faults()
        with faults.during(*(SimpleNamespace(name=name) for name in nodes)):
            pass
        faults.all[0][:2] = begin, end
        return faults

    with Folder() as folder:
        items = Items(alone(folder), 'x', count=10)
        items.start()
        items.wait_for(10).finish()
        begun, ended = items.begun['x-3'], items.ended['x-3']
        run_again(items)
        for good in (fault(), fault(()), fault(begin=ended), fault(end=begun)):
            items.check(good)
        for bad in (fault(['n2']), fault(begin=ended + 1e-3), fault(end=begun - 1e-3)):
            try:
                items.check(bad)
            except AssertionError as error:
                demand('runs too many' in str(error), str(error))
                continue
            raise AssertionError(f'{bad.all} explains it')
        run_again(items, 'n2')
        try:
            items.check(fault())
        except AssertionError:
            return
        raise AssertionError('one fault explains two runs')


def an_item_that_never_ran_is_reported():
    def never(items):
        items.runs_file.write_text(''.join(f'{ident} n1\n' for ident in items.runs() if ident != 'x-3'))
    the_ledger_reports(never, 'never ran')


def the_end_of_another_item_is_reported():
    the_ledger_reports(lambda items: items.ends.update({'x-3': 'x-4'}), 'ended otherwise')


CASES = (items_survive_kills_of_their_irisd, an_item_without_an_end_is_reported, an_item_that_ran_twice_is_reported,
         a_fault_explains_what_was_under_way_at_its_node, an_item_that_never_ran_is_reported, the_end_of_another_item_is_reported)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
