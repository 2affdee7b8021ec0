#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The libraries export what their headers declare, and what tests/checks/symbols lists. Prints TAP.

    symbols.py BUILD-DIR            compares headers, list and libraries
    symbols.py --update             writes the list anew from the headers

The list is in the repository so that a change of the interface is seen in its diff.
"""
import subprocess
import sys
from pathlib import Path

import house

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / 'tests/checks/symbols'
HEAD = f'# {house.SPDX}\n# Exported functions; written by tests/checks/symbols.py --update\n'

# Of each library: where it is built, and whose headers declare its functions.
LIBRARIES = {
    'libiris-1.so': ('iris', 'iris/'),
    'libiris-client-1.so': ('clients/iris-client', 'clients/iris-client/'),
}


def declared(tree, folder):
    """What the installed headers of a folder say is exported."""
    return {name for header in house.public_headers(tree, folder)
            for name, *_ in house.available_functions(tree, header)}


def exported(library):
    listing = subprocess.run(['nm', '-D', '--defined-only', '--extern-only', library],
                             check=True, capture_output=True, text=True).stdout
    # A version of the symbols is listed as an absolute one.
    return {line.split()[-1].split('@')[0] for line in listing.splitlines() if line.split()[-2] != 'A'}


def listed():
    """The checked-in list, by library."""
    symbols = {name: set() for name in LIBRARIES}
    for line in LIST.read_text().splitlines() if LIST.exists() else []:
        if line and not line.startswith('#'):
            library, symbol = line.split()
            symbols.setdefault(library, set()).add(symbol)
    return symbols


def present(tree):
    """The libraries whose sources are in the tree."""
    return [name for name, (_, folder) in LIBRARIES.items() if declared(tree, folder)]


def update(tree):
    lines = [f'{library} {symbol}\n' for library in present(tree)
             for symbol in sorted(declared(tree, LIBRARIES[library][1]))]
    LIST.write_text(HEAD + '\n' + ''.join(lines))


def compare(name, one, other, says_one, says_other):
    """A TAP case: two sets of symbols are equal and not empty."""
    for symbol in sorted(one - other):
        print(f'# {symbol}: {says_one}, but not {says_other}')
    for symbol in sorted(other - one):
        print(f'# {symbol}: {says_other}, but not {says_one}')
    good = one == other and bool(one)
    print(f'{"ok" if good else "not ok"} - {name}')
    return good


def main():
    tree = house.Tree(ROOT)
    if sys.argv[1:] == ['--update']:
        update(tree)
        return 0
    build = Path(sys.argv[1])
    in_list = listed()
    good = True
    for library in present(tree):
        built_in, folder = LIBRARIES[library]
        headers = declared(tree, folder)
        good &= compare(f'{library} exports what its headers declare and nothing else', headers,
                        exported(build / built_in / library),
                        'declared in a header', 'exported')
        good &= compare(f'tests/checks/symbols lists what {library} exports (or: --update)',
                        in_list[library], headers, 'listed', 'declared in a header')
    return not good


if __name__ == '__main__':
    sys.exit(main())
