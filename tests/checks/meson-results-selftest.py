#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Shows that meson-results.py loses nothing: a small project whose tests go wrong in every way. TAP."""
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent

# name, protocol, shell script, lines that must come out (each is "VERDICT - NAME...")
TESTS = [
    ('good', 'tap', 'echo 1..2; echo ok 1 - a; echo ok 2 - b',
     ['ok - good: 1 - a', 'ok - good: 2 - b']),
    ('bad', 'tap', 'echo 1..2; echo ok 1 - a; echo not ok 2 - b; exit 1',
     ['ok - bad: 1 - a', 'not ok - bad: 2 - b']),
    ('bad-status-zero', 'tap', 'echo 1..1; echo not ok 1 - a',
     ['not ok - bad-status-zero: 1 - a']),
    ('leaks', 'tap', 'echo 1..1; echo ok 1 - a; exit 23',
     ['ok - leaks: 1 - a', 'not ok - leaks: ends well']),
    ('crashes', 'tap', 'echo 1..2; echo ok 1 - a; kill -SEGV $$',
     ['ok - crashes: 1 - a', 'not ok - crashes: ends well']),
    ('stops-short', 'tap', 'echo 1..3; echo ok 1 - a',
     ['ok - stops-short: 1 - a', 'not ok - stops-short: ends well']),
    ('hangs', 'tap', 'echo 1..2; echo ok 1 - a; exec tail -f /dev/null',
     ['ok - hangs: 1 - a', 'not ok - hangs: ends well']),
    ('empty', 'tap', 'true', ['not ok - empty: has a test case']),
    ('skips', 'tap', 'echo 1..0 # SKIP no such machine', ['skipped - skips']),
    ('skips-one', 'tap', 'echo 1..2; echo ok 1 - a; echo "ok 2 - b # SKIP why"',
     ['ok - skips-one: 1 - a', 'skipped - skips-one: 2 - b']),
    ('plain-good', 'exitcode', 'true', ['ok - plain-good']),
    ('plain-bad', 'exitcode', 'false', ['not ok - plain-bad: ends well']),
    ('plain-skips', 'exitcode', 'exit 77', ['skipped - plain-skips']),
]


def outcome(root):
    """Sets the project up, runs its tests, and returns what meson-results.py makes of them."""
    build = "project('selftest')\nsh = find_program('sh')\n"
    for name, protocol, script, _ in TESTS:
        (root / f'{name}.sh').write_text(script + '\n')
        build += (f"test('{name}', sh, args: files('{name}.sh'), protocol: '{protocol}', "
                  f"suite: 'of-{name[0]}', timeout: 2)\n")
    (root / 'meson.build').write_text(build)
    quiet = {'stdout': subprocess.DEVNULL, 'stderr': subprocess.DEVNULL, 'cwd': root}
    subprocess.run(['meson', 'setup', 'b'], check=True, **quiet)
    subprocess.run(['meson', 'test', '-C', 'b'], check=False, **quiet)
    return subprocess.run([sys.executable, HERE / 'meson-results.py', 'b'], check=True, cwd=root,
                          capture_output=True, text=True)


def main():
    with tempfile.TemporaryDirectory() as name:
        said = outcome(Path(name))
    lines = [line.replace(' - b: ', ' - ', 1) for line in said.stdout.splitlines()]
    print(f'1..{len(TESTS) + 2}')
    bad = 0
    wanted_in_all = 0
    for number, (name, _, script, wanted) in enumerate(TESTS, 1):
        found = [line for line in lines if line.split(' - ', 1)[1].split(':')[0] == name]
        good = len(found) == len(wanted) and all(
            f.startswith(w) for f, w in zip(sorted(found), sorted(wanted)))
        if not good:
            print(f'# wanted {wanted}, found {found}')
        print(f'{"ok" if good else "not ok"} {number} - {name}: "{script.replace("#", "")}"')
        bad += not good
        wanted_in_all += len(wanted)
    good = len(lines) == wanted_in_all
    print(f'{"ok" if good else "not ok"} {len(TESTS) + 1} - nothing else is counted')
    bad += not good
    shown = {line.split(',')[0].split(' ')[-1] for line in said.stderr.splitlines() if line.startswith('--- ')}
    wrong = {name for name, _, _, wanted in TESTS if any(line.startswith('not ok') for line in wanted)} - {'empty'}
    print(f'{"ok" if shown == wrong else "not ok"} {len(TESTS) + 2} - the last lines of what failed are shown, of nothing else')
    return bad > 0 or shown != wrong


if __name__ == '__main__':
    sys.exit(main())
