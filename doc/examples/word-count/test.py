#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A word count program counts what Python counts, however many files there are. Prints TAP.

    test.py COMMAND...
"""
import random
import subprocess
import sys
import tempfile
from pathlib import Path

FILES = 60


def make_files(folder):
    """Files of any size, with every kind of blank and bytes that are no text."""
    numbers = random.Random(1)
    paths = []
    for i in range(FILES):
        pieces = [numbers.choice([b'word', b'\xc3\xa4', b'\x00', b'\xa0', b'\x85', b'x', b' ', b'\t', b'\n', b'\v',
                                  b'\f', b'\r', b'  ']) for _ in range(i * i)]
        path = folder / f'file-{i:02}'
        path.write_bytes(b''.join(pieces))
        paths.append(str(path))
    return paths


def expected(paths):
    lines, total = [], 0
    for path in paths:
        if Path(path).is_file():
            words = len(Path(path).read_bytes().split())
            lines.append(f'{words} {path}')
            total += words
        else:
            lines.append(f'unreadable {path}')
    return lines + [f'{total} total']


def check(name, command, paths, status):
    done = subprocess.run([*command, *paths], capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    good = lines == expected(paths) and done.returncode == status and not done.stderr
    if not good:
        print(f'# status {done.returncode}, not {status}')
        for line, wanted in zip(lines, expected(paths)):
            if line != wanted:
                print(f'# "{line}" is not "{wanted}"')
        for line in done.stderr.splitlines():
            print(f'# {line}')
    print(f'{"ok" if good else "not ok"} - {name}', flush=True)
    return good


def main():
    command = sys.argv[1:]
    print('1..3')
    with tempfile.TemporaryDirectory() as folder:
        paths = make_files(Path(folder))
        good = [check('no file has no words', command, [], 0),
                check('the words of many files are counted, in the order of the files', command, paths, 0),
                check('a file that cannot be read is told, and the others are counted', command,
                      [*paths[:3], folder + '/missing', *paths[3:5]], 1)]
    return not all(good)


if __name__ == '__main__':
    sys.exit(main())
