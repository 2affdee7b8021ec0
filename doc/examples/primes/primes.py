#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the primes below each number on the command line: a task for each number, and one for all of
them, which is awaited from the main context.
"""
import sys

import gi

gi.require_version('Iris', '1')
from gi.repository import Gio, GLib, Iris  # noqa: E402


def is_prime(number):
    return number >= 2 and all(number % divisor for divisor in range(2, int(number**0.5) + 1))


def count_primes(task, text):
    """On a worker. The task ends with a number or, for what is no number, with an error."""
    if text.isdecimal():
        task.set_result(sum(is_prime(number) for number in range(2, int(text))))
    else:
        task.set_fatal_error(GLib.Error.new_literal(Gio.io_error_quark(), 'not a number', Gio.IOErrorEnum.INVALID_ARGUMENT))


def main(texts):
    loop = GLib.MainLoop()
    tasks = [Iris.Task.new(count_primes, text) for text in texts]
    all_of_them = Iris.Task.all_of(tasks)

    def all_counted(task, result):
        """In the main context."""
        try:
            task.run_finish(result)
            print('all counted')
            # A group has no result of its own.
            assert task.propagate() == (True, None)
        except GLib.Error:
            print('not all counted')
        loop.quit()

    all_of_them.run_async(None, all_counted)
    for task in tasks:
        task.run()
    loop.run()

    status = 0
    for task, text in zip(tasks, texts):
        try:
            # The group was over with the first error, others may still count.
            task.wait(-1)
            print(task.propagate_int64(), 'below', text)
        except GLib.Error:
            print('not a number:', text)
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
