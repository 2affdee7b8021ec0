#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints one TAP line for each test case of the last `meson test` in a build directory.

Meson's junit file has the cases; its json file has the verdict on each test program. A program that
crashed, timed out, leaked or ended with a bad status after its last case has only good cases, so
both are needed: such a program counts as one more failure. A program without any case fails too.
The last lines of a program that failed go to the error output.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


LAST_LINES = 60


def cases(junit):
    """Yields (program, case, verdict) for every case of the programs that have cases."""
    for suite in ElementTree.parse(junit).getroot().iter('testsuite'):
        # PROJECT.PROGRAM; the suite that is called PROJECT holds the programs without cases.
        _, dot, program = suite.get('name').partition('.')
        for case in suite.iter('testcase') if dot else []:
            verdict = 'ok'
            if case.find('skipped') is not None:
                verdict = 'skipped'
            if case.find('failure') is not None or case.find('error') is not None:
                verdict = 'not ok'
            yield program, case.get('name'), verdict


def program_line(test, verdicts):
    """What the verdict on a whole program adds to those on its cases, or None."""
    result = test['result']
    if result in ('OK', 'EXPECTEDFAIL'):
        return None if verdicts else ('ok', '')
    if result == 'SKIP':
        if verdicts:
            return None
        # Meson says so, too, of a program that is to print cases, prints none, and ends well.
        said_so = test['returncode'] == 77 or '1..0' in test['stdout']
        return ('skipped', '') if said_so else ('not ok', ': has a test case')
    if 'not ok' in verdicts:
        return None
    return 'not ok', f': ends well ({result}, status {test["returncode"]})'


def excerpt(test):
    """What a person reads first of a program that failed."""
    lines = (test.get('stdout', '') + test.get('stderr', '')).splitlines()
    return '\n'.join([f'--- {test["name"]}, status {test["returncode"]}, {test["duration"]:.1f} s'] + lines[-LAST_LINES:])


def main():
    build = Path(sys.argv[1])
    junit, log = (build / 'meson-logs' / name for name in ('testlog.junit.xml', 'testlog.json'))
    if not junit.exists() or not log.exists():
        print(f'{build}: meson test left no log', file=sys.stderr)
        return 1

    verdicts = {}
    for program, case, verdict in cases(junit):
        verdicts.setdefault(program, []).append(verdict)
        print(f'{verdict} - {build}: {program.split(" / ")[-1]}: {case}')
    for test in map(json.loads, log.read_text().splitlines()):
        line = program_line(test, verdicts.get(test['name'], []))
        if test['result'] not in ('OK', 'EXPECTEDFAIL', 'SKIP'):
            print(excerpt(test), file=sys.stderr)
        if line:
            print(f'{line[0]} - {build}: {test["name"].split(" / ")[-1]}{line[1]}')
    return 0


if __name__ == '__main__':
    sys.exit(main())
