#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The page about several nodes does what it says: each command is run at n1, and prints what is shown.

    test_guide.py IRISD IRISCTL SOURCE-DIRECTORY

… stands for any text without an end of line.
"""
import pathlib
import re
import shlex
import sys

from nodes import Nodes
from processes import Folder, end_on_signals
from servers import Servers
from tap import demand, run


def steps(page):
    for block in re.findall(r'^```console\n(.*?)^```$', page, re.M | re.S):
        for step in re.split(r'^\$ ', block, flags=re.M)[1:]:
            command, _, shown = step.partition('\n')
            yield command, shown


def fits(shown, printed):
    # What a service returns need not end a line.
    return re.fullmatch(re.escape(shown.rstrip()).replace('…', '[^\n]+'), printed.rstrip()) is not None


def what_a_test_compares_can_differ():
    demand(fits('a …\n', 'a 1.5 b\n'), 'it does not fit')
    demand(not fits('a …\n', 'b 1\n') and not fits('a …\n', 'a 1\nc\n'), 'it fits')


def the_page():
    page = (pathlib.Path(sys.argv[3]) / 'doc/guide/cluster.md').read_text(encoding='utf-8')
    with Folder() as folder:
        nodes = Nodes(folder, sys.argv[1], sys.argv[2], Servers(folder)).start()
        count = 0
        for command, shown in steps(page):
            program, *arguments = shlex.split(command)
            demand(program == 'irisctl', command)
            printed = nodes[0].irisctl(*arguments)
            demand(fits(shown, printed), f'{command}: shown\n{shown}printed\n{printed}')
            count += 1
        demand(count >= 6, f'{count} commands')
        return f'{count} commands'


if __name__ == '__main__':
    end_on_signals()
    sys.exit(run([what_a_test_compares_can_differ, the_page]))
