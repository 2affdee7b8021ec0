#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The rig itself: items with a ledger by id, at one irisd without a cluster, and what the ledger reports.

    test_items.py IRISD IRISCTL
"""
import sys

from items import Items
from nodes import Nodes
from processes import Folder, end_on_signals
from tap import demand, expect, run

WORKERS = 2
KILLS = 5


def alone(folder):
    return Nodes(folder, sys.argv[1], sys.argv[2], count=1).start()[0]


def items_survive_kills_of_their_irisd():
    with Folder() as folder:
        node = alone(folder)
        items = Items(node, 'x')
        items.start()
        for number in range(KILLS):
            items.wait_for(20 * (number + 1))
            node.restart()
        items.wait_for(20 * (KILLS + 1)).finish()
        return items.check(twice=KILLS * WORKERS)


def the_ledger_reports(change, words):
    """What the ledger says of items that went well, after a change."""
    with Folder() as folder:
        items = Items(alone(folder), 'x', count=10)
        items.start()
        items.wait_for(10).finish()
        items.check()
        change(items)
        try:
            items.check()
        except AssertionError as error:
            demand(words in str(error), str(error))
            return
        raise AssertionError('it says that all is well')


def an_item_without_an_end_is_reported():
    the_ledger_reports(lambda items: items.ends.pop('x-3'), 'lost')


def an_item_that_ran_twice_is_reported():
    def again(items):
        with open(items.runs_file, 'a', encoding='ascii') as runs:
            runs.write('x-3\n')
    the_ledger_reports(again, 'runs too many')


def an_item_that_never_ran_is_reported():
    def never(items):
        items.runs_file.write_text('\n'.join(ident for ident in items.runs() if ident != 'x-3'))
    the_ledger_reports(never, 'never ran')


def the_end_of_another_item_is_reported():
    the_ledger_reports(lambda items: items.ends.update({'x-3': 'x-4'}), 'ended otherwise')


CASES = (items_survive_kills_of_their_irisd, an_item_without_an_end_is_reported, an_item_that_ran_twice_is_reported,
         an_item_that_never_ran_is_reported, the_end_of_another_item_is_reported)

if __name__ == '__main__':
    end_on_signals()
    sys.exit(run(CASES))
