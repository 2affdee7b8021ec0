# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs functions as the cases of a test program and prints TAP; CK_RUN_CASE selects one, as it does for the others."""
import os
import sys
import time
import traceback


class Skipped(Exception):
    """The machine has not what this case needs."""


def run(cases, prepare=None):
    """Each case is a function; what prepare returns is given to it. A text that it returns is told beside its name."""
    wanted = os.environ.get('CK_RUN_CASE')
    cases = [case for case in cases if wanted in (None, case.__name__)]
    print(f'1..{len(cases)}', flush=True)
    failed = 0
    for number, case in enumerate(cases, 1):
        name, start = case.__name__.replace('_', ' '), time.monotonic()
        try:
            how = case(*([prepare()] if prepare else []))
            print(f'ok {number} - {name}', flush=True)
            print(f'# {name}: {how + ", " if how else ""}{time.monotonic() - start:.1f} s', flush=True)
        except Skipped as why:
            print(f'ok {number} - {name} # SKIP {why}', flush=True)
        except Exception:
            failed += 1
            print(f'not ok {number} - {name}', flush=True)
            print('# ' + traceback.format_exc().replace('\n', '\n# '), file=sys.stderr, flush=True)
    return failed > 0


def expect(found, wanted, what=''):
    if found != wanted:
        raise AssertionError(f'{what + ": " if what else ""}found {found!r}, expected {wanted!r}')


def demand(condition, what):
    if not condition:
        raise AssertionError(what)
