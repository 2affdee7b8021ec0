#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The programs of the guide compile, and print what the guide says. Prints TAP.

    guide.py FOLDER LIBRARY COMPILER...
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# A program, and after "It prints" what it prints, indented by four.
PROGRAM = re.compile(r'^```c\n(.*?)^```$', re.DOTALL | re.MULTILINE)
OUTPUT = re.compile(r'\n\nIt prints\n\n((?:    .*\n)+)')
# Pages without a program in C.
NO_PROGRAM = {'at-a-shell', 'cluster', 'items', 'languages', 'other-machines', 'plugins', 'service', 'watching', 'workers'}
ROOT = Path(__file__).resolve().parents[2]
WARNINGS = ['-Wall', '-Wextra', '-Wno-unused-parameter', '-Werror']


def flags(library):
    """For a library that was built and not installed."""
    built = Path(library).resolve().parent
    env = os.environ | {'PKG_CONFIG_PATH': str(built.parent / 'meson-uninstalled')}
    said = subprocess.run(['pkg-config', '--cflags', '--libs', 'libiris-1'], check=True,
                          capture_output=True, text=True, env=env)
    return [f'-Wl,-rpath,{built}', *said.stdout.split()]


def run(compiler, library, folder, name, source):
    """What a program prints; raises CalledProcessError."""
    program, file = folder / name, folder / (name + '.c')
    file.write_text(source)
    subprocess.run([*compiler, '-std=gnu11', *WARNINGS, '-o', program, file, *flags(library)],
                   check=True, capture_output=True, text=True)
    return subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout


def main():
    pages, library, compiler = sorted(Path(sys.argv[1]).glob('*.md')), sys.argv[2], sys.argv[3:]
    results = []

    def report(good, name, why=''):
        results.append(bool(good))
        for line in str(why).splitlines() if not good else []:
            print(f'# {line}')
        print(f'{"ok" if good else "not ok"} {len(results)} - {name}', flush=True)

    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            text = page.read_text()
            programs = list(PROGRAM.finditer(text))
            if page.stem in NO_PROGRAM:
                report(not programs, f'{page.name} has no program')
                continue
            report(programs, f'{page.name} has a program')
            for number, program in enumerate(programs):
                says = OUTPUT.match(text, program.end())
                try:
                    wanted = re.sub('^    ', '', says.group(1), flags=re.MULTILINE) if says else None
                    printed = run(compiler, library, Path(folder), f'{page.stem}-{number}', program.group(1))
                    report(printed == wanted, f'{page.name}: its program {number + 1} prints what it says',
                           f'printed: {printed!r}\nwanted:  {wanted!r}')
                except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
                    report(False, f'{page.name}: its program {number + 1} compiles and runs',
                           f'{error}\n{error.stderr or ""}')
    print(f'1..{len(results)}')
    return not results or not all(results)


if __name__ == '__main__':
    sys.exit(main())
