#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What ./run --nodes shows: any file name, and an end in the middle.

    test_show.py IRISD IRISCTL
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile

from processes import end_on_signals, patience
from servers import program
from tap import demand, expect, run

SHOW = pathlib.Path(__file__).resolve().with_name('show.py')


def start(directory):
    program()
    return subprocess.Popen([sys.executable, SHOW, *sys.argv[1:3], '2', directory], stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def make_files(directory):
    folder = pathlib.Path(directory) / 'two words'
    folder.mkdir()
    for number in range(120):
        (folder / f'file {number}').write_text(str(number))
    for name in (b'not \xff UTF-8', b'two\nlines'):
        pathlib.Path(os.fsdecode(os.path.join(os.fsencode(folder), name))).write_bytes(name)


def any_file_name_is_hashed():
    with tempfile.TemporaryDirectory() as directory:
        make_files(directory)
        with start(directory) as shown:
            text = shown.communicate(timeout=patience())[0]
        expect(shown.returncode, 0, text)
        demand('All is well: 122 files on 2 nodes' in text, text)


def a_signal_ends_it_without_logs():
    with tempfile.TemporaryDirectory() as directory:
        make_files(directory)
        with start(directory) as shown:
            for line in shown.stdout:
                if line.startswith('Hashing'):
                    break
            shown.send_signal(signal.SIGTERM)
            rest = shown.communicate(timeout=patience())[0]
        expect(shown.returncode, 128 + signal.SIGTERM, rest)
        demand(not [line for line in rest.splitlines() if line.startswith('# ')], rest)


if __name__ == '__main__':
    end_on_signals()
    sys.exit(run([any_file_name_is_hashed, a_signal_ends_it_without_logs]))
