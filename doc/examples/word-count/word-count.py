#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the words of the files on the command line: a message for each file to the workers of a
work-stealing scheduler, a message with the count back to the main context.
"""
import sys

import gi

gi.require_version('Iris', '1')
from gi.repository import GLib, Iris  # noqa: E402


def count_file(message, counted):
    """On a worker; Python's own lock lets one at a time compute, but several wait for files."""
    answer = Iris.Message.new(message.what)
    try:
        with open(message.get_string('path'), 'rb') as file:
            answer.set_int64('words', len(file.read().split()))
    except OSError:
        answer.set_int64('words', -1)
    counted.post(answer)


def main(paths):
    loop = GLib.MainLoop()
    workers = Iris.WSScheduler.new()
    main_context = Iris.GMainScheduler.new(None)
    files, counted = Iris.Port.new(), Iris.Port.new()
    words = {}

    def file_counted(message):
        """In the main context, one at a time."""
        words[message.what] = message.get_int64('words')
        if len(words) == len(paths):
            loop.quit()

    Iris.Arbiter.receive(workers, files, count_file, counted)
    Iris.Arbiter.receive(main_context, counted, file_counted)
    for number, path in enumerate(paths):
        message = Iris.Message.new(number)
        message.set_string('path', path)
        files.post(message)
    if paths:
        loop.run()

    for number, path in enumerate(paths):
        print('unreadable' if words[number] < 0 else words[number], path)
    print(sum(count for count in words.values() if count > 0), 'total')
    return 1 if any(count < 0 for count in words.values()) else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
