#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Nothing lies beside the build: every C source is compiled, every public header installed. TAP.

    built.py BUILD-DIR
"""
import json
import subprocess
import sys
from pathlib import Path

import house

ROOT = Path(__file__).resolve().parents[2]


def relative(path, start):
    path = (start / path).resolve()
    return path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else None


def compiled(build):
    """The sources that the build compiles."""
    commands = json.loads((build / 'compile_commands.json').read_text())
    return {relative(entry['file'], Path(entry['directory'])) for entry in commands}


def installed(build):
    listing = subprocess.run(['meson', 'introspect', '--installed', build], check=True,
                             capture_output=True, text=True).stdout
    return {relative(path, ROOT) for path in json.loads(listing)}


def report(name, wanted, found, verb):
    missing = sorted(set(wanted) - found)
    for path in missing:
        print(f'# {path} is not {verb}')
    good = bool(wanted) and not missing
    print(f'{"ok" if good else "not ok"} - {name}')
    return good


def main():
    tree = house.Tree(ROOT)
    build = Path(sys.argv[1]).resolve()
    # A program of others, which tests/packages compiles.
    sources = [path for path in tree.ending('.c') if not path.startswith('tests/subproject/')]
    good = report('every C source is compiled', sources, compiled(build), 'compiled')
    good &= report('every public header is installed',
                   house.public_headers(tree), installed(build), 'installed')
    return not good


if __name__ == '__main__':
    sys.exit(main())
