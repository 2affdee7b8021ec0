#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The library has the probes that doc/tracing.md lists, with as many arguments, or none. TAP.

    probes.py LIBRARY PAGE on|off

With "off" the build left them out: then the library must have no note of one.
"""
import re
import subprocess
import sys
from pathlib import Path


def listed(page):
    """The page's table of probes: name and arguments, by rows like | `steal` | `worker`, `n` | ... |"""
    rows = re.search(r'## Static probes\n(.*?)\n## ', page, re.DOTALL).group(1)
    return {name: len(re.findall(r'`\w+`', arguments))
            for name, arguments in re.findall(r'^\| `(\w+)` \| ([^|]*) \|', rows, re.MULTILINE)}


def noted(library):
    """The notes of the library: for each probe the numbers of arguments that its sites have."""
    notes = subprocess.run(['readelf', '--notes', '--wide', library], check=True,
                           capture_output=True, text=True).stdout
    found = {}
    for provider, name, arguments in re.findall(
            r'Provider: (\S+)\s+Name: (\S+)\s.*?Arguments:([^\n]*)', notes, re.DOTALL):
        if provider == 'iris':
            found.setdefault(name, set()).add(len(arguments.split()))
    return found


def main():
    library, page, usdt = sys.argv[1:]
    wanted = listed(Path(page).read_text())
    found = noted(library)
    print('1..2')
    good = len(wanted) >= 6
    print(f'{"ok" if good else "not ok"} 1 - the page lists probes: {", ".join(sorted(wanted))}')
    expected = {name: {n} for name, n in wanted.items()} if usdt == 'on' else {}
    same = found == expected
    print(f'{"ok" if same else "not ok"} 2 - the library has these and no others (usdt is {usdt})')
    if not same:
        print(f'# expected {expected}')
        print(f'# found    {found}')
    return not (good and same)


if __name__ == '__main__':
    sys.exit(main())
