#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""A program that counts primes counts as many as this test does, and tells what is no number. Prints TAP.

    test.py COMMAND...
"""
import subprocess
import sys

LIMITS = [0, 1, 2, 3, 100, 5, 2000, 7919, 7920, 10]


def count(limit):
    return sum(all(number % divisor for divisor in range(2, number)) for number in range(2, limit))


def expected(texts):
    good = all(text.isdecimal() for text in texts)
    lines = ['all counted' if good else 'not all counted']
    return lines + [f'{count(int(text))} below {text}' if text.isdecimal() else f'not a number: {text}' for text in texts]


def check(name, command, texts, status):
    done = subprocess.run([*command, *texts], capture_output=True, text=True, check=False, timeout=100)
    lines = done.stdout.splitlines()
    good = lines == expected(texts) and done.returncode == status and not done.stderr
    if not good:
        print(f'# status {done.returncode}, not {status}')
        for line in [f'"{line}" is not expected' for line in lines if line not in expected(texts)] \
                + [f'"{line}" is missing' for line in expected(texts) if line not in lines] + done.stderr.splitlines():
            print(f'# {line}')
    print(f'{"ok" if good else "not ok"} - {name}', flush=True)
    return good


def main():
    command, texts = sys.argv[1:], [str(limit) for limit in LIMITS]
    print('1..3')
    good = [check('a group of no task is over at once', command, [], 0),
            check('each task has its result, and the group waits for all', command, texts, 0),
            check('an error is that of one task and of the group, and the others go on', command,
                  [*texts[:3], 'many', *texts[3:6]], 1)]
    return not all(good)


if __name__ == '__main__':
    sys.exit(main())
