#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints one TAP line for each test case of the last `meson test` in a build directory.

Meson's junit file has the cases; its json file has the verdict on each test program. A program that
crashed, timed out, leaked or ended with a bad status after its last case has only good cases, so
both are needed: such a program counts as one more failure. A program without any case fails too.
"""
import json
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path


def cases(junit):
    """Yields (program, case, verdict) for every case that the junit file names."""
    for suite in ElementTree.parse(junit).getroot().iter('testsuite'):
        for case in suite.iter('testcase'):
            verdict = 'ok'
            if case.find('skipped') is not None:
                verdict = 'skipped'
            if case.find('failure') is not None or case.find('error') is not None:
                verdict = 'not ok'
            grouped = case.get('classname') == suite.get('name') and '.' in suite.get('name')
            program = suite.get('name').split('.', 1)[1] if grouped else case.get('name')
            yield program, case.get('name') if grouped else '', verdict


def main():
    build = Path(sys.argv[1])
    logs = build / 'meson-logs'
    if not (logs / 'testlog.json').exists() or not (logs / 'testlog.junit.xml').exists():
        print(f'{build}: meson test left no log', file=sys.stderr)
        return 1

    seen = {}
    for program, case, verdict in cases(logs / 'testlog.junit.xml'):
        # Of a program without cases the junit file has one entry, the verdict on the program.
        if case:
            seen.setdefault(program, []).append(verdict)
            print(f'{verdict} - {build}: {program}: {case}')

    for line in (logs / 'testlog.json').read_text().splitlines():
        test = json.loads(line)
        program, result = test['name'].split(' / ')[-1], test['result']
        verdicts = seen.get(program, [])
        if result in ('OK', 'EXPECTEDFAIL'):
            if not verdicts:
                print(f'ok - {build}: {program}')
        elif result == 'SKIP':
            # Meson calls it skipped, too, when a program prints no case at all and ends.
            why = test.get('stdout', '')
            if test.get('returncode') == 77 or '1..0' in why:
                print(f'skipped - {build}: {program}')
            elif not verdicts:
                print(f'not ok - {build}: {program}: has a test case')
        elif 'not ok' not in verdicts:
            print(f'not ok - {build}: {program}: ends well ({result}, status {test.get("returncode")})')
    return 0


if __name__ == '__main__':
    sys.exit(main())
